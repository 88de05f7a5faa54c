/* The upstream client against our own server, against sockets that misbehave, and against TLS. */
#include "client_fixture.h"

static void test_a_body_with_any_bytes_comes_back(void)
{
    struct call call = {0};
    struct client_request request = request_for(&call, url_of("/echo"));
    static char body[200000];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)i;
    request.method = "POST";
    request.headers =
        (const char *const[]){"Content-Type: application/json", "X-Key: secret", NULL};
    request.body = (struct td_str){body, sizeof body};
    call_alone(&call, &request);
    CHECK(call.status == TD_OK && call.code == 200 && call.headers_count == 1);
    CHECK(strcmp(call.content_type, "application/octet-stream") == 0 &&
          call.retry_after[0] == '\0');
    CHECK(str_equal(buf_view(&call.body), request.body));
    buf_deinit(&call.body);
}

static void test_other_methods_and_empty_bodies(void)
{
    static const char *const methods[] = {"POST", "DELETE", "PUT", "HEAD", "GET"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct call call = {0};
        struct client_request request = request_for(&call, url_of("/peer"));
        request.method = methods[i];
        call_alone(&call, &request);
        CHECK(call.status == TD_OK && call.code == 200);
        CHECK(call.body.len == (strcmp(methods[i], "HEAD") == 0 ? 0 : 9));
        buf_deinit(&call.body);
    }
}

static void test_redirects_are_not_followed_and_retry_after_is_told(void)
{
    struct call call = {0};
    struct client_request request = request_for(&call, url_of("/moved"));
    call_alone(&call, &request);
    CHECK(call.status == TD_OK && call.code == 302 && strcmp(call.retry_after, "7") == 0);
    buf_deinit(&call.body);
}

static void test_300_streams_at_once(void)
{
    static struct call calls[CALLS_MAX];
    memset(calls, 0, sizeof calls);
    loop_begin();
    for (int i = 0; i < CALLS_MAX; i++) {
        struct client_request request = request_for(&calls[i], url_of("/stream"));
        call_start(&calls[i], &request);
    }
    loop_until_all_ended();
    loop_end();
    for (int i = 0; i < CALLS_MAX; i++) {
        CHECK(calls[i].status == TD_OK && calls[i].done_count == 1 && calls[i].body.len == 5 * 12);
        buf_deinit(&calls[i].body);
    }
}

static void test_a_slow_answer_holds_up_no_other(void)
{
    struct call slow = {0}, quick = {0};
    loop_begin();
    struct client_request request = request_for(&slow, url_of("/hang"));
    request.first_timeout_ms = 2000;
    call_start(&slow, &request);
    request = request_for(&quick, url_of("/peer"));
    request.total_timeout_ms = 1500;
    call_start(&quick, &request);
    loop_until_all_ended();
    loop_end();
    CHECK(slow.status == TD_TIMEOUT && quick.status == TD_OK && quick.code == 200);
    buf_deinit(&slow.body), buf_deinit(&quick.body);
}

static void test_each_timeout_says_what_was_late(void)
{
    struct call first = {0}, idle = {0}, total = {0}, none = {0};
    loop_begin();
    struct client_request request = request_for(&first, url_of("/hang"));
    request.first_timeout_ms = 200;
    request.idle_timeout_ms = 50;
    call_start(&first, &request);
    request = request_for(&idle, url_of("/quiet"));
    request.first_timeout_ms = 60000;
    request.idle_timeout_ms = 200;
    call_start(&idle, &request);
    request = request_for(&total, url_of("/quiet"));
    request.total_timeout_ms = 300;
    request.idle_timeout_ms = 60000;
    call_start(&total, &request);
    request = request_for(&none, url_of("/stream")); /* 50 ms long, never silent for 40 */
    request.first_timeout_ms = request.idle_timeout_ms = 400;
    request.connect_timeout_ms = 400;
    call_start(&none, &request);
    loop_until_all_ended();
    loop_end();
    CHECK(first.status == TD_TIMEOUT && strstr(first.err.message, "127.0.0.1: no first byte"));
    CHECK(strstr(first.err.message, "within 200 ms") && first.headers_count == 0);
    CHECK(idle.status == TD_TIMEOUT && strstr(idle.err.message, "silent for 200 ms"));
    CHECK(idle.headers_count == 1 && idle.body.len > 0);
    CHECK(total.status == TD_TIMEOUT &&
          strstr(total.err.message, "no complete answer within 300 ms"));
    CHECK(none.status == TD_OK);
    buf_deinit(&first.body), buf_deinit(&idle.body), buf_deinit(&total.body),
        buf_deinit(&none.body);
}

static int listen_on(uint16_t *port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, backlog) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void note_progress(struct call *call)
{
    if (call->body.len <= 240)
        client_note_progress(call->transfer);
}

/* The stream has 12 bytes every 10 ms, and no end. */
static void test_with_notes_of_progress_bytes_alone_do_not_end_a_silence(void)
{
    struct call deaf = {0}, noting = {0}, bytes = {0};
    loop_begin();
    struct client_request request = request_for(&deaf, url_of("/drip"));
    request.idle_timeout_ms = 300;
    request.total_timeout_ms = 5000;
    request.notes_progress = request.discreet = true;
    call_start(&deaf, &request);
    request.ctx = &noting;
    buf_init(&noting.body, 4096);
    noting.while_body = note_progress;
    call_start(&noting, &request);
    request.ctx = &bytes;
    buf_init(&bytes.body, 4096);
    request.notes_progress = false;
    request.total_timeout_ms = 1500;
    call_start(&bytes, &request);
    loop_until_all_ended();
    loop_end();
    CHECK(deaf.status == TD_TIMEOUT &&
          strcmp(deaf.err.message, "the answer was silent for 300 ms") == 0);
    CHECK(noting.status == TD_TIMEOUT && strstr(noting.err.message, "silent for 300 ms"));
    CHECK(bytes.status == TD_TIMEOUT && strstr(bytes.err.message, "no complete answer"));
    CHECK(deaf.body.len > 0 && deaf.body.len < noting.body.len && noting.body.len < bytes.body.len);
    buf_deinit(&deaf.body), buf_deinit(&noting.body), buf_deinit(&bytes.body);
}

static void test_a_connection_that_is_not_accepted_times_out(void)
{
    uint16_t port;
    int listen_fd = listen_on(&port, 0), fill[4];
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < 4;
         i++) { /* the queue is full after one or two; later ones are not accepted */
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(fill[i], (struct sockaddr *)&address, sizeof address);
    }
    struct call call = {0};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    struct client_request request = request_for(&call, url);
    request.connect_timeout_ms = 200;
    request.first_timeout_ms = 10;
    call_alone(&call, &request);
    CHECK(call.status == TD_TIMEOUT && strstr(call.err.message, "no connection within 200 ms"));
    for (int i = 0; i < 4; i++)
        close(fill[i]);
    close(listen_fd);
    buf_deinit(&call.body);
}

static void test_unreachable_hosts_are_unavailable(void)
{
    uint16_t port;
    close(listen_on(&port, 1));
    char url[200];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    struct call refused = {0}, unknown = {0};
    struct client_request request = request_for(&refused, url);
    call_alone(&refused, &request);
    CHECK(refused.status == TD_UNAVAILABLE && strstr(refused.err.message, "127.0.0.1: "));
    /* A label of 64 characters cannot be a name, so no name server is asked. */
    snprintf(url, sizeof url, "http://%064d.invalid/", 0);
    request = request_for(&unknown, url);
    call_alone(&unknown, &request);
    CHECK(unknown.status == TD_UNAVAILABLE && strstr(unknown.err.message, "does not resolve"));
    buf_deinit(&refused.body), buf_deinit(&unknown.body);
}

/* A server that sends `text` to one client after the first bytes from it, and closes. */
struct rude {
    int fd;
    const char *text;
    bool reset;
};

static void *rude_thread(void *ctx)
{
    struct rude *rude = ctx;
    char request[4096];
    int fd = accept(rude->fd, NULL, NULL);
    receive(fd, request, sizeof request, "\r\n\r\n", 30000, NULL);
    send_text(fd, rude->text);
    /* A head without an end: one long line, or many. */
    bool line = str_ends_with(str_from(rude->text), STR("X: "));
    bool lines = str_ends_with(str_from(rude->text), STR("OK\r\n"));
    for (int i = 0; (line || lines) && i < 40000; i++)
        if (send(fd, line ? "aaaaaaaaaa" : "A: aaaaa\r\n", 10, MSG_NOSIGNAL) < 0)
            break;
    sleep_ms(30);
    if (rude->reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                   sizeof(struct linger));
    close(fd);
    return NULL;
}

static void test_broken_answers_have_their_status(void)
{
    static const struct {
        const char *text;
        bool reset;
        enum td_status status;
        const char *words;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", false, TD_UNAVAILABLE, "cut off"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", false,
         TD_UNAVAILABLE, ": "},
        {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", true, TD_UNAVAILABLE, ": "},
        {"", false, TD_UNAVAILABLE, "closed without an answer"},
        {"", true, TD_UNAVAILABLE, ": "},
        {"this is not HTTP at all\r\n\r\n", false, TD_CORRUPT, "not HTTP"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n0\r\n\r\n", false,
         TD_CORRUPT, "chunks"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nlonger\r\n0\r\n\r\n", false,
         TD_CORRUPT, "chunks"},
        {"HTTP/1.1 200 OK\r\nX: ", false, TD_CORRUPT, "head of the answer is too large"},
        {"HTTP/1.1 200 OK\r\n", false, TD_CORRUPT, "head of the answer is too large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t port;
        struct rude rude = {.text = cases[i].text, .reset = cases[i].reset};
        rude.fd = listen_on(&port, 1);
        pthread_t thread;
        pthread_create(&thread, NULL, rude_thread, &rude);
        char url[64];
        snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
        struct call call = {0};
        struct client_request request = request_for(&call, url);
        call_alone(&call, &request);
        CHECK(call.status == cases[i].status);
        CHECK(strstr(call.err.message, "127.0.0.1: ") && strstr(call.err.message, cases[i].words));
        pthread_join(thread, NULL);
        close(rude.fd);
        buf_deinit(&call.body);
    }
}

static void test_an_interim_answer_is_not_the_answer(void)
{
    uint16_t port;
    struct rude rude = {.text =
                            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                            "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok"};
    rude.fd = listen_on(&port, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, rude_thread, &rude);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    struct call call = {0};
    struct client_request request = request_for(&call, url);
    call_alone(&call, &request);
    CHECK(call.status == TD_OK && call.code == 200 && call.headers_count == 1);
    CHECK(strcmp(call.content_type, "a/b") == 0 && str_equal(buf_view(&call.body), STR("ok")));
    pthread_join(thread, NULL);
    close(rude.fd);
    buf_deinit(&call.body);
}

static void test_answers_over_the_limit_are_stopped(void)
{
    struct call call = {0};
    struct client_request request = request_for(&call, url_of("/big"));
    request.response_bytes_max = 100000;
    call_alone(&call, &request);
    CHECK(call.status == TD_LIMIT && call.body.len <= 100000);
    CHECK(strstr(call.err.message, "larger than 100000 bytes"));
    buf_deinit(&call.body);
}

static struct call calls[3];

static void cancel_second(struct call *call)
{
    call->while_body = NULL;
    call_cancel(&calls[1]);
}

static void cancel_itself_and_start_third(struct call *call)
{
    struct client_request request = request_for(&calls[2], url_of("/stream"));
    call_start(&calls[2], &request);
    call_cancel(call);
}

static void cancel_itself_when_done(struct call *call)
{
    client_cancel(call->transfer); /* too late, and harmless */
}

static void start_third_when_done(struct call *call)
{
    client_cancel(call->transfer);
    struct client_request request = request_for(&calls[2], url_of("/stream"));
    call_start(&calls[2], &request);
}

static void calls_begin(void)
{
    for (int i = 0; i < 3; i++)
        buf_deinit(&calls[i].body);
    memset(calls, 0, sizeof calls);
    loop_begin();
}

static void calls_finish(void)
{
    loop_until_all_ended();
    loop_end();
    for (int i = 0; i < 3; i++)
        CHECK(!calls[i].called_after_cancel && calls[i].done_count + calls[i].cancelled <= 1);
}

static void test_cancelling_from_inside_callbacks(void)
{
    calls_begin();
    struct client_request request = request_for(&calls[0], url_of("/stream"));
    calls[0].while_body = cancel_second;
    calls[0].while_done = cancel_itself_when_done;
    call_start(&calls[0], &request);
    request = request_for(&calls[1], url_of("/quiet"));
    call_start(&calls[1], &request);
    calls_finish();
    CHECK(calls[0].status == TD_OK && calls[1].cancelled && calls[1].done_count == 0);

    calls_begin();
    request = request_for(&calls[0], url_of("/quiet"));
    calls[0].while_body = cancel_itself_and_start_third;
    call_start(&calls[0], &request);
    request = request_for(&calls[1], url_of("/quiet"));
    calls[1].while_headers = call_cancel;
    call_start(&calls[1], &request);
    calls_finish();
    CHECK(calls[0].cancelled && calls[1].cancelled && calls[1].body.len == 0);
    CHECK(calls[2].status == TD_OK && calls[2].done_count == 1 && calls[2].body.len == 60);

    calls_begin();
    request = request_for(&calls[0], url_of("/peer"));
    calls[0].while_done = start_third_when_done;
    call_start(&calls[0], &request);
    calls_finish();
    CHECK(calls[0].done_count == 1 && calls[2].done_count == 1 && calls[2].status == TD_OK);
    for (int i = 0; i < 3; i++)
        buf_deinit(&calls[i].body);
    memset(calls, 0, sizeof calls);
}

static void cancel_first(void *ctx)
{
    (void)ctx;
    call_cancel(&calls[0]);
}

/* The server would never answer: it sees the client go because the transfer was stopped. */
static void test_cancelling_stops_the_transfer(void)
{
    int gone = fixture.gone;
    calls_begin();
    struct client_request request = request_for(&calls[0], url_of("/hang"));
    call_start(&calls[0], &request);
    struct loop_timer *timer = loop_timer_new(loop, cancel_first, NULL);
    loop_timer_start(loop, timer, 100);
    loop_until_all_ended();
    CHECK(wait_for(&fixture.gone, gone + 1));
    CHECK(calls[0].done_count == 0 && calls[0].cancelled);
    loop_timer_free(loop, timer);
    loop_end();
    calls_begin(); /* cancelled right after the start, before anything happened */
    request = request_for(&calls[0], url_of("/hang"));
    call_start(&calls[0], &request);
    call_cancel(&calls[0]);
    calls_finish();
    client_cancel(NULL);
    buf_deinit(&calls[0].body);
}

static void stop_soon(void *ctx)
{
    (void)ctx;
    loop_event_stop(loop);
}

static void test_freeing_the_client_calls_nobody(void)
{
    calls_begin();
    for (int i = 0; i < 3; i++) {
        struct client_request request = request_for(&calls[i], url_of(i == 1 ? "/hang" : "/quiet"));
        call_start(&calls[i], &request);
    }
    struct loop_timer *timer = loop_timer_new(loop, stop_soon, NULL);
    loop_timer_start(loop, timer, 100);
    loop_event_run(loop);
    loop_timer_free(loop, timer);
    loop_end();
    for (int i = 0; i < 3; i++) {
        CHECK(calls[i].done_count == 0);
        buf_deinit(&calls[i].body);
    }
    memset(calls, 0, sizeof calls);
}

static void test_wrong_requests_are_refused_without_their_secrets(void)
{
    static const char *const bad_header[] = {"Authorization: Bearer SECRET\r\nX: y", NULL};
    static const char *const no_colon[] = {"SECRET", NULL};
    const struct {
        const char *url;
        bool allow_http;
        const char *const *headers;
        enum td_status status;
    } cases[] = {
        {"http://example.test/", false, NULL, TD_DENIED},
        {"ftp://example.test/", true, NULL, TD_DENIED},
        {"file:///etc/passwd", true, NULL, TD_INVALID},
        {"https://user:SECRET@example.test/", true, NULL, TD_INVALID},
        {"https://", true, NULL, TD_INVALID},
        {"nonsense", true, NULL, TD_INVALID},
        {"https://example.test/", true, bad_header, TD_INVALID},
        {"https://example.test/", true, no_colon, TD_INVALID},
    };
    loop_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call call = {0};
        struct client_request request = request_for(&call, cases[i].url);
        request.allow_http = cases[i].allow_http;
        request.headers = cases[i].headers;
        struct td_error err = {0};
        enum td_status status = client_start(client, &request, &call.transfer, &err);
        CHECK(status == cases[i].status && err.status == status);
        CHECK(err.message[0] && strstr(err.message, "SECRET") == NULL);
        if (status != cases[i].status)
            fprintf(stderr, "%s: %s\n", cases[i].url, err.message);
    }
    loop_end();
}

static void test_loopback_is_not_proxied(void)
{
    uint16_t port;
    close(listen_on(&port, 1));
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", port);
    setenv("http_proxy", proxy, 1);
    setenv("ALL_PROXY", proxy, 1);
    struct call direct = {0}, proxied = {0};
    struct client_request request = request_for(&direct, url_of("/peer"));
    call_alone(&direct, &request);
    CHECK(direct.status == TD_OK && direct.code == 200);
    request = request_for(&proxied, "http://example.test/");
    call_alone(&proxied, &request);
    CHECK(proxied.status == TD_UNAVAILABLE && strstr(proxied.err.message, "example.test: "));
    /* The port of the closed proxy in the message shows that it was tried. */
    static const struct {
        const char *url;
        bool proxied;
    } cases[] = {{"http://127.example.test:1/", true},
                 {"http://127.0.0.1.example.test:1/", true},
                 {"http://localhost.example.test:1/", true},
                 {"http://mylocalhost:1/", true},
                 {"http://127.0.0.2:1/", false},
                 {"http://localhost:1/", false},
                 {"http://app.localhost:1/", false},
                 {"http://[::1]:1/", false}};
    snprintf(proxy, sizeof proxy, "port %u", port);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call call = {0};
        request = request_for(&call, cases[i].url);
        call_alone(&call, &request);
        CHECK(call.status == TD_UNAVAILABLE);
        bool tried = strstr(call.err.message, proxy) != NULL;
        if (tried != cases[i].proxied)
            fprintf(stderr, "%s: %s\n", cases[i].url, call.err.message);
        CHECK(tried == cases[i].proxied);
        buf_deinit(&call.body);
    }
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    buf_deinit(&direct.body), buf_deinit(&proxied.body);
}

/* --- TLS: a server of the openssl tool with its own certificate --- */

static char tls_dir[] = "/tmp/td_net_tls_XXXXXX";

static bool run_shell(const char *format, const char *argument)
{
    char command[1024];
    snprintf(command, sizeof command, format, argument);
    return system(command) == 0;
}

/* Starts the server and returns its port, or 0. *said must stay open, because the server dies when
 * it cannot write its next message. */
static unsigned tls_start(pid_t *child, FILE **said)
{
    int out[2], in[2];
    char line[256];
    unsigned port = 0;
    if (pipe(out) != 0 || pipe(in) != 0 || (*child = fork()) < 0)
        return 0;
    if (*child == 0) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(out[1], 2);
        close(in[1]), close(out[0]);
        if (chdir(tls_dir) == 0)
            execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-key", "key.pem",
                   "-cert", "cert.pem", "-www", (char *)NULL);
        _exit(127);
    }
    close(in[0]), close(out[1]);
    close(in[1]);
    *said = fdopen(out[0], "r");
    while (port == 0 && fgets(line, sizeof line, *said))
        if (strncmp(line, "ACCEPT ", 7) == 0 && strrchr(line, ':'))
            port = (unsigned)atoi(strrchr(line, ':') + 1);
    return port;
}

static void tls_call(const char *host, unsigned port, bool trusted, struct call *call)
{
    char url[128], ca_file[128];
    snprintf(url, sizeof url, "https://%s:%u/", host, port);
    snprintf(ca_file, sizeof ca_file, "%s/cert.pem", tls_dir);
    struct client_request request = request_for(call, url);
    request.allow_http = false;
    request.ca_file = trusted ? ca_file : NULL;
    request.headers = (const char *const[]){"Authorization: Bearer SECRET", NULL};
    request.connect_timeout_ms = 5000;
    call_alone(call, &request);
    CHECK(strstr(call->err.message, "SECRET") == NULL);
    buf_deinit(&call->body);
}

static void test_tls_is_verified(void)
{
    REQUIRE(mkdtemp(tls_dir) != NULL);
    pid_t child = 0;
    unsigned port = 0;
    FILE *said = NULL;
    if (run_shell(
            "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
            "key.pem -out cert.pem -days 2 -subj /CN=localhost -addext "
            "subjectAltName=DNS:localhost >/dev/null 2>&1",
            tls_dir))
        port = tls_start(&child, &said);
    CHECK(port != 0);
    if (port) {
        struct call trusted = {0}, untrusted = {0}, misnamed = {0};
        tls_call("localhost", port, true, &trusted);
        CHECK(trusted.status == TD_OK && trusted.code == 200);
        tls_call("localhost", port, false, &untrusted);
        CHECK(untrusted.status == TD_UNAVAILABLE &&
              strstr(untrusted.err.message, "localhost: SSL"));
        tls_call("127.0.0.1", port, true, &misnamed); /* the certificate is for localhost only */
        CHECK(misnamed.status == TD_UNAVAILABLE && strstr(misnamed.err.message, "127.0.0.1: SSL"));
    }
    if (said)
        fclose(said);
    if (child > 0) {
        kill(child, SIGTERM);
        waitpid(child, NULL, 0);
    }
    run_shell("rm -rf %s", tls_dir);
}

int main(void)
{
    if (!fixture_start(&fixture, fixture_options()))
        return 1;
    RUN(test_a_body_with_any_bytes_comes_back);
    RUN(test_other_methods_and_empty_bodies);
    RUN(test_redirects_are_not_followed_and_retry_after_is_told);
    RUN(test_300_streams_at_once);
    RUN(test_a_slow_answer_holds_up_no_other);
    RUN(test_each_timeout_says_what_was_late);
    RUN(test_with_notes_of_progress_bytes_alone_do_not_end_a_silence);
    RUN(test_a_connection_that_is_not_accepted_times_out);
    RUN(test_unreachable_hosts_are_unavailable);
    RUN(test_broken_answers_have_their_status);
    RUN(test_an_interim_answer_is_not_the_answer);
    RUN(test_answers_over_the_limit_are_stopped);
    RUN(test_cancelling_from_inside_callbacks);
    RUN(test_cancelling_stops_the_transfer);
    RUN(test_freeing_the_client_calls_nobody);
    RUN(test_wrong_requests_are_refused_without_their_secrets);
    RUN(test_loopback_is_not_proxied);
    if (run_shell("openssl version >/dev/null 2>&1%s", ""))
        RUN(test_tls_is_verified);
    else
        SKIP("test_tls_is_verified", "there is no openssl program");
    fixture_end(&fixture);
    return test_finish();
}
