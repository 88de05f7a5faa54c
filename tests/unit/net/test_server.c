/* The server with real sockets: replies, streams, leaving clients, deadlines, limits, shutting
 * down. */
#include "http_fixture.h"
#include "test.h"

#define STREAMS 300

static char reply[64 * 1024];

static size_t ask(const struct fixture *fixture, const char *request, bool *closed)
{
    int fd = dial(fixture->port);
    send_text(fd, request);
    size_t len = receive(fd, reply, sizeof reply, NULL, 300, closed);
    close(fd);
    return len;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void test_replies_with_length_and_keeps_the_connection(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    bool closed;
    ask(&fixture, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", &closed);
    CHECK(code_of(reply) == 200 && !closed);
    CHECK(strstr(reply, "Content-Length: 5\r\n") && strstr(reply, "\r\n\r\nhello"));
    CHECK(strstr(reply, "X-Good: value\r\n") && !strstr(reply, "X-Bad") &&
          !strstr(reply, "X-Injected"));
    CHECK(strstr(reply, "\r\nDate: ") && strstr(reply, " GMT\r\n"));
    ask(&fixture, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n", NULL);
    CHECK(strstr(reply, "\r\n\r\n127.0.0.1"));
    ask(&fixture, "HEAD /peer HTTP/1.1\r\nHost: a\r\n\r\n", &closed);
    CHECK(code_of(reply) == 200 && strstr(reply, "Content-Length: 9\r\n") && !closed);
    CHECK(strlen(strstr(reply, "\r\n\r\n")) == 4);
    ask(&fixture, "OPTIONS /nothing HTTP/1.1\r\nHost: a\r\n\r\n", &closed);
    CHECK(code_of(reply) == 204 && !strstr(reply, "Content-Length") && !closed);
    ask(&fixture, "GET /a%20b%2Fc?x=%31 HTTP/1.1\r\nHost: a\r\n\r\n", NULL);
    CHECK(code_of(reply) == 404 && strstr(reply, "\r\n\r\n/a b/c"));
    ask(&fixture, "GET /header HTTP/1.1\r\nHost: a\r\nX-TEST: \t some value \r\n\r\n", NULL);
    CHECK(strstr(reply, "\r\n\r\nsome value") && strstr(reply, "Content-Length: 10\r\n"));
    ask(&fixture, "GET /peer HTTP/1.0\r\n\r\n", &closed);
    CHECK(strstr(reply, "Connection: close\r\n") && closed);
    ask(&fixture, "GET /peer HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &closed);
    CHECK(strstr(reply, "Connection: keep-alive\r\n") && !closed);
    ask(&fixture, "GET /peer HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", &closed);
    CHECK(strstr(reply, "Connection: close\r\n") && closed);
    fixture_end(&fixture);
}

static void test_a_stream_is_chunked_and_the_connection_goes_on(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    bool closed;
    ask(&fixture, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /peer HTTP/1.1\r\nHost: a\r\n\r\n",
        &closed);
    CHECK(strstr(reply, "Transfer-Encoding: chunked\r\n") && !closed);
    CHECK(count_of(reply, "c\r\ndata: tick\n\n\r\n") == 5 && count_of(reply, "\r\n0\r\n\r\n") == 1);
    CHECK(count_of(reply, "HTTP/1.1 200 OK") == 2 && strstr(reply, "\r\n\r\n127.0.0.1"));
    ask(&fixture, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &closed);
    CHECK(!strstr(reply, "chunked") && closed && count_of(reply, "data: tick\n\n") == 5);
    ask(&fixture, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n", &closed);
    CHECK(!strstr(reply, "tick") && !closed);
    fixture_end(&fixture);
}

/* The reply has no end, so an event that waited for more bytes would never arrive. */
static void test_the_first_event_arrives_while_the_reply_goes_on(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    for (int i = 0; i < 20; i++) {
        bool closed;
        int fd = dial(fixture.port);
        send_text(fd, "GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n");
        receive(fd, reply, sizeof reply, "data: one", 20000, &closed);
        CHECK(strstr(reply, "data: one") && !closed);
        close(fd);
    }
    CHECK(wait_for(&fixture.gone, 20));
    fixture_end(&fixture);
}

/* One client that sends `request`, waits for `until`, and leaves by close or by reset. */
static void leave(struct fixture *fixture, const char *request, const char *until, bool reset)
{
    int before = fixture->gone, handled = fixture->handled;
    int fd = dial(fixture->port);
    send_text(fd, request);
    if (until)
        receive(fd, reply, sizeof reply, until, 30000, NULL);
    CHECK(wait_for(&fixture->handled, handled + 1));
    sleep_ms(20);
    CHECK(fixture->gone == before);
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                   sizeof(struct linger));
    close(fd);
    CHECK(wait_for(&fixture->gone, before + 1));
}

static void test_a_leaving_client_is_noticed_while_nothing_is_sent(void)
{
    static const char hang[] = "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char quiet[] = "GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n";
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    for (int reset = 0; reset < 2; reset++) {
        leave(&fixture, hang, NULL, reset);
        leave(&fixture, quiet, "data: one", reset);
        leave(&fixture, "GET /careless HTTP/1.1\r\nHost: a\r\n\r\n", NULL, reset);
        leave(&fixture, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\nGET /peer HTTP/1.1\r\n", NULL, reset);
        leave(&fixture, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n", "chunked", reset);
    }
    int fd = dial(fixture.port);
    int before = fixture.gone;
    send_text(fd, hang);
    shutdown(fd, SHUT_WR);
    CHECK(wait_for(&fixture.gone, before + 1));
    close(fd);
    fixture_end(&fixture);
}

static void test_a_reply_after_the_client_left_goes_nowhere(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    send_text(fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(wait_for(&fixture.handled, 1));
    close(fd);
    CHECK(wait_for(&fixture.answered, 1));
    ask(&fixture, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n", NULL);
    CHECK(strstr(reply, "\r\n\r\nlate"));
    fixture_end(&fixture);
}

static void test_pipelining_beyond_the_limit_ends_the_connection_only(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    send_text(fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    static char flood[256 * 1024];
    memset(flood, 'x', sizeof flood);
    CHECK(send_bytes(fd, flood, sizeof flood));
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(strstr(reply, "Connection: close\r\n") && strstr(reply, "\r\n\r\nlate") && closed);
    CHECK(count_of(reply, "HTTP/1.1") == 1);
    close(fd);
    fixture_end(&fixture);
}

static void test_many_pipelined_requests_are_answered_in_order(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    char request[128];
    for (int i = 0; i < 500; i++) {
        snprintf(request, sizeof request, "GET /n%03d HTTP/1.1\r\nHost: a\r\n\r\n", i);
        CHECK(send_text(fd, request));
    }
    static char replies[256 * 1024];
    receive(fd, replies, sizeof replies, "/n499", 30000, NULL);
    CHECK(count_of(replies, "HTTP/1.1 404") == 500);
    const char *at = replies;
    for (int i = 0; i < 500 && at; i++) {
        snprintf(request, sizeof request, "\r\n\r\n/n%03d", i);
        at = strstr(at, request);
    }
    CHECK(at != NULL);
    close(fd);
    fixture_end(&fixture);
}

static void test_slow_requests_meet_their_deadline(void)
{
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.header_timeout_ms = 300;
    REQUIRE(fixture_start(&fixture, options));
    static const char slow[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nxxxxxxxxxx";
    int fd = dial(fixture.port), body_fd = dial(fixture.port), silent_fd = dial(fixture.port);
    send_bytes(body_fd, slow, sizeof slow - 1);
    size_t sent = 0;
    /* A byte every 50 ms: a time-out per read would never fire. */
    struct pollfd answered = {.fd = fd, .events = POLLIN};
    while (sent + 1 < sizeof slow && poll(&answered, 1, 50) == 0)
        send_bytes(fd, slow + sent++, 1);
    CHECK(sent + 1 < sizeof slow); /* the answer came first */
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 20000, &closed);
    CHECK(code_of(reply) == 408 && strstr(reply, "{\"error\":{\"code\":408") && closed);
    receive(body_fd, reply, sizeof reply, NULL, 20000, &closed);
    CHECK(code_of(reply) == 408 && closed);
    CHECK(receive(silent_fd, reply, sizeof reply, NULL, 20000, &closed) == 0 && closed);
    close(fd), close(body_fd), close(silent_fd);
    fixture_end(&fixture);
}

/* Of each part of a request: what comes at once, and the byte that then comes again and again. The
 * one deadline holds for all of them. */
static void test_no_part_of_a_request_may_come_byte_by_byte(void)
{
#define HEAD "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"
    static const char *const begun[] = {
        "POST /",      HEAD "X-",         HEAD "X: ",        HEAD "Content-Length: 1000\r\n\r\n",
        CHUNKED "1;a", CHUNKED "3E8\r\n", CHUNKED "0\r\nX: "};
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.header_timeout_ms = 300;
    REQUIRE(fixture_start(&fixture, options));
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        int fd = dial(fixture.port), sent = 0;
        struct pollfd answered = {.fd = fd, .events = POLLIN};
        bool closed;
        send_bytes(fd, begun[i], strlen(begun[i]));
        while (sent < 100 && poll(&answered, 1, 50) == 0) {
            send_bytes(fd, "a", 1);
            sent++;
        }
        if (sent == 100)
            fprintf(stderr, "no deadline after: %s\n", begun[i]);
        CHECK(sent < 100);
        receive(fd, reply, sizeof reply, NULL, 20000, &closed);
        CHECK(code_of(reply) == 408 && closed);
        close(fd);
    }
    fixture_end(&fixture);
#undef HEAD
#undef CHUNKED
}

static void test_no_timeout_ends_a_quiet_reply(void)
{
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.header_timeout_ms = 100;
    options.idle_timeout_ms = 100;
    REQUIRE(fixture_start(&fixture, options));
    int fd = dial(fixture.port);
    send_text(fd, "GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n");
    bool closed;
    receive(fd, reply, sizeof reply, NULL, 700, &closed);
    CHECK(strstr(reply, "data: one") && !closed && fixture.gone == 0);
    close(fd);
    int idle_fd = dial(fixture.port);
    send_text(idle_fd, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n");
    receive(idle_fd, reply, sizeof reply, NULL, 1500, &closed);
    CHECK(code_of(reply) == 200 && closed); /* an idle connection ends */
    close(idle_fd);
    fixture_end(&fixture);
}

static void test_connections_above_the_limit_get_503(void)
{
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.connection_max = 3;
    REQUIRE(fixture_start(&fixture, options));
    int held[3];
    for (int i = 0; i < 3; i++) {
        held[i] = dial(fixture.port);
        send_text(held[i], "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    CHECK(wait_for(&fixture.handled, 3));
    bool closed;
    ask(&fixture, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n", &closed);
    CHECK(code_of(reply) == 503 && strstr(reply, "Retry-After: 1\r\n") && closed);
    CHECK(strstr(reply, "Content-Type: application/json\r\n") && strstr(reply, "{\"error\""));
    close(held[0]);
    CHECK(wait_for(&fixture.gone, 1));
    ask(&fixture, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n", NULL);
    CHECK(code_of(reply) == 200);
    close(held[1]), close(held[2]);
    fixture_end(&fixture);
}

static void test_a_large_body_comes_whole_and_a_larger_one_is_refused_early(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    size_t body_bytes = 1024 * 1024;
    char *body = malloc(body_bytes), *got = malloc(body_bytes + 4096);
    for (size_t i = 0; i < body_bytes; i++)
        body[i] = (char)(i * 31 + i / 251);
    int fd = dial(fixture.port);
    send_text(
        fd,
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\nConnection: close\r\n\r\n");
    CHECK(send_bytes(fd, body, body_bytes));
    size_t len = receive(fd, got, body_bytes + 4096, NULL, 30000, NULL);
    CHECK(len > body_bytes && memcmp(got + len - body_bytes, body, body_bytes) == 0);
    close(fd);
    fd = dial(fixture.port);
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n");
    bool closed;
    for (int i = 0; i < 4; i++) /* the client reads late and must get everything */
        send_bytes(fd, body, 64 * 1024);
    receive(fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(code_of(reply) == 413 && strstr(reply, "{\"error\":{\"code\":413") && closed);
    close(fd);
    free(body), free(got);
    fixture_end(&fixture);
}

static void test_a_client_that_expects_100_continue_is_told_to_go_on(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    send_text(
        fd, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    receive(fd, reply, sizeof reply, "\r\n\r\n", 30000, NULL);
    CHECK(strcmp(reply, "HTTP/1.1 100 Continue\r\n\r\n") == 0);
    send_text(fd, "ok");
    receive(fd, reply, sizeof reply, "\r\n\r\nok", 30000, NULL);
    CHECK(code_of(reply) == 200);
    close(fd);
    fixture_end(&fixture);
}

static void test_a_producer_is_paused_by_a_slow_reader_and_loses_nothing(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    send_text(fd, "GET /big HTTP/1.0\r\n\r\n");
    sleep_ms(200);
    CHECK(fixture.answered == 0); /* 8 MB do not fit into the sockets, so the server waits */
    char *got = malloc(BIG_BYTES + 4096);
    bool closed;
    size_t len = receive(fd, got, BIG_BYTES + 4096, NULL, 30000, &closed);
    CHECK(closed && len > BIG_BYTES && fixture.answered == 1);
    CHECK(len - (size_t)(strstr(got, "\r\n\r\n") + 4 - got) == BIG_BYTES);
    free(got);
    close(fd);
    fixture_end(&fixture);
}

static void test_300_streams_at_once(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    static int fds[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = dial(fixture.port);
        send_text(fds[i], i % 3 == 2 ? "GET /quiet HTTP/1.1\r\nHost: a\r\n\r\n"
                                     : "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    int whole = 0;
    for (int i = 0; i < STREAMS; i++)
        if (i % 3 != 2) {
            receive(fds[i], reply, sizeof reply, "\r\n0\r\n\r\n", 30000, NULL);
            whole += count_of(reply, "data: tick\n\n") == 5;
        }
    CHECK(whole == STREAMS * 2 / 3 && fixture.answered == STREAMS * 2 / 3);
    for (int i = 0; i < STREAMS; i++)
        close(fds[i]);
    CHECK(wait_for(&fixture.gone, STREAMS / 3));
    fixture_end(&fixture);
}

struct stop {
    struct fixture *fixture;
    atomic_int done;
    uint32_t active;
};

static void stop_accepting(void *ctx)
{
    struct stop *stop = ctx;
    server_stop_accepting(stop->fixture->server);
    stop->active = server_active(stop->fixture->server);
    stop->done++;
}

static void test_stopping_lets_replies_finish_and_closes_idle_connections(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int idle_fd = dial(fixture.port), late_fd = dial(fixture.port), stream_fd = dial(fixture.port);
    send_text(idle_fd, "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n");
    receive(idle_fd, reply, sizeof reply, "127.0.0.1", 30000, NULL);
    send_text(late_fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    send_text(stream_fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(wait_for(&fixture.handled, 3));
    struct stop stop = {.fixture = &fixture};
    CHECK(loop_post(fixture.loop, stop_accepting, &stop) && wait_for(&stop.done, 1));
    CHECK(stop.active == 2);
    bool closed;
    receive(idle_fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed);
    receive(late_fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(strstr(reply, "Connection: close\r\n") && strstr(reply, "\r\n\r\nlate") && closed);
    receive(stream_fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(count_of(reply, "data: tick\n\n") == 5 && strstr(reply, "\r\n0\r\n\r\n") && closed);
    close(idle_fd), close(late_fd), close(stream_fd);
    CHECK(loop_post(fixture.loop, stop_accepting, &stop) && wait_for(&stop.done, 2));
    CHECK(stop.active == 0);
    fixture_end(&fixture);
}

static void test_freeing_the_server_tells_those_who_wait(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port), half_fd = dial(fixture.port);
    send_text(fd, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n");
    send_text(half_fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
    CHECK(wait_for(&fixture.handled, 1));
    fixture_end(&fixture);
    CHECK(fixture.gone == 1);
    close(fd), close(half_fd);
}

static void test_two_loops_share_a_port_and_others_are_told_it_is_taken(void)
{
    struct fixture first, second;
    struct server_options options = fixture_options();
    options.reuse_port = true;
    REQUIRE(fixture_start(&first, options));
    options.port = first.port;
    REQUIRE(fixture_start(&second, options));
    for (int i = 0; i < 64; i++) {
        ask(&first, "GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", NULL);
        CHECK(code_of(reply) == 200);
    }
    CHECK(first.handled > 0 && second.handled > 0);
    options.reuse_port = false;
    struct loop *loop;
    struct server *server;
    struct td_error err = {0};
    REQUIRE(loop_event_new(&loop, &err) == TD_OK);
    CHECK(server_new(loop, &options, fixture_handle, NULL, &server, &err) == TD_BUSY);
    CHECK(strstr(err.message, "cannot listen on 127.0.0.1 port"));
    loop_event_free(loop);
    fixture_end(&second);
    fixture_end(&first);
}

static void test_a_stream_that_is_not_whole_has_no_normal_end(void)
{
    struct fixture fixture;
    char out[4096];
    bool closed;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    int fd = dial(fixture.port);
    send_text(fd, "GET /abort HTTP/1.1\r\nHost: a\r\n\r\nGET /peer HTTP/1.1\r\nHost: a\r\n\r\n");
    receive(fd, out, sizeof out, NULL, 30000, &closed);
    CHECK(closed && code_of(out) == 200 && strstr(out, "data: part\n\n\r\n"));
    CHECK(!strstr(out, "0\r\n\r\n") && !strstr(out, "127.0.0.1")); /* nor another answer */
    close(fd);
    fd = dial(fixture.port);
    send_text(fd, "GET /abort HTTP/1.0\r\n\r\n");
    ssize_t got;
    while ((got = recv(fd, out, sizeof out, 0)) > 0)
        continue;
    CHECK(got < 0); /* reset: an end would look whole */
    close(fd);
    fixture_end(&fixture);
}

int main(void)
{
    RUN(test_replies_with_length_and_keeps_the_connection);
    RUN(test_a_stream_is_chunked_and_the_connection_goes_on);
    RUN(test_the_first_event_arrives_while_the_reply_goes_on);
    RUN(test_a_leaving_client_is_noticed_while_nothing_is_sent);
    RUN(test_a_reply_after_the_client_left_goes_nowhere);
    RUN(test_pipelining_beyond_the_limit_ends_the_connection_only);
    RUN(test_many_pipelined_requests_are_answered_in_order);
    RUN(test_slow_requests_meet_their_deadline);
    RUN(test_no_part_of_a_request_may_come_byte_by_byte);
    RUN(test_no_timeout_ends_a_quiet_reply);
    RUN(test_connections_above_the_limit_get_503);
    RUN(test_a_large_body_comes_whole_and_a_larger_one_is_refused_early);
    RUN(test_a_client_that_expects_100_continue_is_told_to_go_on);
    RUN(test_a_producer_is_paused_by_a_slow_reader_and_loses_nothing);
    RUN(test_300_streams_at_once);
    RUN(test_stopping_lets_replies_finish_and_closes_idle_connections);
    RUN(test_freeing_the_server_tells_those_who_wait);
    RUN(test_two_loops_share_a_port_and_others_are_told_it_is_taken);
    RUN(test_a_stream_that_is_not_whole_has_no_normal_end);
    return test_finish();
}
