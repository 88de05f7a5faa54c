/* The handlers behind a real server on a loopback socket, with a tier that plays a script: what the
 * client gets for each course of an exchange, and that a client who leaves stops the work. */
#include "handler_fixture.h"

#include "api/admin/ledger_desk.h"

/* --- cases --- */

static void test_a_whole_answer_says_where_it_came_from(void)
{
    scripted.course = COURSE_ANSWER;
    CHECK(ask("POST", CHAT, "", "{" USER "}") == 200);
    CHECK(has("\"content\":\"Hello, world\""));
    CHECK(has("x-tandem-tier: cloud\r\n") && has("x-tandem-place: cloud\r\n"));
    CHECK(has("x-tandem-exchange: ex_") && has("x-request-id: req_"));
    CHECK(has("\"total_tokens\":9") && has("\"finish_reason\":\"stop\""));
    CHECK(ask("POST", "/chat/completions", "", "{" USER "}") == 200); /* without /v1 */
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_stream_is_well_formed_to_its_done(void)
{
    scripted.course = COURSE_ANSWER;
    CHECK(ask("POST", CHAT, "",
              "{" USER ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}") == 200);
    CHECK(has("text/event-stream") && has("x-tandem-tier: cloud"));
    CHECK(has("\"role\":\"assistant\"") && has("\"content\":\"Hello\""));
    CHECK(has("\"choices\":[],\"usage\":{"));
    CHECK(has("data: [DONE]\n\n"));
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_failure_before_text_is_a_status_in_openais_shape(void)
{
    scripted.course = COURSE_FAIL_AT_ONCE;
    for (int stream = 0; stream < 2; stream++) {
        int code = ask("POST", CHAT, "", stream ? "{" USER ",\"stream\":true}" : "{" USER "}");
        CHECK(code >= 500 && code < 600);
        CHECK(has("{\"error\":{\"message\":") && has("application/json"));
        CHECK(!has("event-stream"));
    }
    clear_health();
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_failure_after_text_is_a_chunk_and_done(void)
{
    scripted.course = COURSE_FAIL_AFTER_TEXT;
    CHECK(ask("POST", CHAT, "", "{" USER ",\"stream\":true}") == 200);
    CHECK(has("\"content\":\"Hello\""));
    CHECK(has("data: {\"error\":{\"message\":"));
    CHECK(has("data: [DONE]\n\n"));
    clear_health();
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_refused_key_of_ours_is_no_refusal_of_the_client(void)
{
    scripted.course = COURSE_DENIED;
    CHECK(ask("POST", CHAT, "", "{" USER "}") == 502);
    CHECK(has("\"code\":\"upstream_denied\"") && !has("x-should-retry"));
    clear_health();
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_delta_too_large_for_a_chunk_ends_in_an_error_and_done(void)
{
    scripted.course = COURSE_HUGE;
    CHECK(ask("POST", CHAT, "", "{" USER ",\"stream\":true}") == 200);
    CHECK(has("\"content\":\"Hello\"") && has("\"code\":\"chunk_too_large\""));
    const char *done = strstr(answer, "data: [DONE]\n\n");
    CHECK(done && !strstr(done + 1, "data:"));
    CHECK(becomes(&held, 0, 5000));
}

static void test_the_caller_is_the_keys_digest_or_the_peers_address(void)
{
    scripted.course = COURSE_ANSWER;
    CHECK(ask("POST", CHAT, "Authorization: Bearer secret\r\n", "{" USER "}") == 200);
    CHECK(strcmp(caller_seen, "127.0.0.1") == 0); /* keys are off */
    host.auth = auth_with("secret");
    CHECK(ask("POST", CHAT, "Authorization: Bearer secret\r\n", "{" USER "}") == 200);
    CHECK(strcmp(caller_seen, /* SHA-256 of "secret" */
                 "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b") == 0);
    auth_free(host.auth);
    host.auth = NULL;
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_client_that_leaves_stops_the_work(void)
{
    scripted.course = COURSE_NEVER_END;
    for (int stream = 0; stream < 2; stream++) {
        atomic_store(&scripted.started, 0);
        atomic_store(&scripted.cancelled, 0);
        int fd = client_open();
        client_send(fd, "POST", CHAT, "", stream ? "{" USER ",\"stream\":true}" : "{" USER "}");
        CHECK(becomes(&scripted.started, 1, 5000));
        CHECK(atomic_load(&scripted.cancelled) == 0);
        close(fd);
        CHECK(becomes(&scripted.cancelled, 1, 5000));
        CHECK(becomes(&held, 0, 5000));
    }
}

/* --- schemas are compiled beside the loop --- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static atomic_int at_gate;

static void wait_at_gate(void *ctx)
{
    (void)ctx;
    atomic_store(&at_gate, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void do_nothing(void *ctx)
{
    (void)ctx;
}

static void do_nothing_more(void *ctx, void *owner)
{
    (void)ctx;
    (void)owner;
}

/* Keeps the one background thread at the gate, and fills its line or not. */
static void hold_background(bool fill)
{
    struct background_task *task;
    const struct background_work work = {
        .run = wait_at_gate, .done = do_nothing_more, .free_ctx = do_nothing, .loop = loop};
    pthread_mutex_lock(&gate);
    atomic_store(&at_gate, 0);
    CHECK(background_submit(host.background, &work, &task, NULL) == TD_OK);
    CHECK(becomes(&at_gate, 1, 10000));
    while (fill && background_submit(host.background, &work, &task, NULL) == TD_OK)
        ;
}

#define SCHEMA(members)                                                                        \
    "{" USER ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\"," \
    "\"schema\":{" members "}}}}"

static void test_others_are_answered_while_a_schema_is_compiled(void)
{
    scripted.course = COURSE_ANSWER;
    int started = atomic_load(&scripted.started);
    hold_background(false);
    int fd = client_open();
    client_send(fd, "POST", CHAT, "", SCHEMA("\"type\":\"object\""));
    for (int i = 0; i < 3; i++) {
        CHECK(ask("POST", CHAT, "", "{" USER "}") == 200);
        CHECK(ask("POST", CHAT, "", "{" USER ",\"response_format\":{\"type\":\"json_object\"}}") ==
              200);
    }
    CHECK(atomic_load(&scripted.started) == started + 6); /* the schema's is still to come */
    pthread_mutex_unlock(&gate);
    ssize_t got = read(fd, answer, sizeof answer - 1);
    answer[got > 0 ? got : 0] = '\0';
    CHECK(strncmp(answer, "HTTP/1.1 200", 12) == 0);
    CHECK(atomic_load(&scripted.started) == started + 7);
    close(fd);
    CHECK(becomes(&held, 0, 5000));
}

static void test_a_bad_schema_is_refused_and_a_client_that_left_is_not_missed(void)
{
    int started = atomic_load(&scripted.started);
    CHECK(ask("POST", CHAT, "", SCHEMA("\"type\":\"king\"")) == 400);
    CHECK(has("\"param\":\"response_format.json_schema.schema\""));
    hold_background(false);
    int fd = client_open();
    client_send(fd, "POST", CHAT, "", SCHEMA("\"type\":\"object\""));
    /* An answer to a later request: this one was read. */
    CHECK(ask("GET", "/healthz", "", "") == 200);
    close(fd);
    CHECK(ask("GET", "/healthz", "", "") == 200);
    pthread_mutex_unlock(&gate);
    CHECK(ask("POST", CHAT, "", SCHEMA("\"type\":\"king\"")) == 400); /* the line is empty */
    CHECK(atomic_load(&scripted.started) == started);
}

static void test_a_full_line_of_schemas_is_429(void)
{
    hold_background(true);
    CHECK(ask("POST", CHAT, "", SCHEMA("\"type\":\"object\"")) == 429);
    CHECK(has("\"code\":\"queue_full\"") && has("retry-after: "));
    CHECK(ask("POST", CHAT, "", "{" USER "}") == 200);
    pthread_mutex_unlock(&gate);
}

/* --- completions: an exchange for each choice --- */

#define COMPLETE "/v1/completions"

static void test_choices_of_a_completion_come_in_order(void)
{
    scripted.course = COURSE_ANSWER;
    int started = atomic_load(&scripted.started);
    CHECK(ask("POST", COMPLETE, "", "{\"prompt\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"],\"n\":3}") ==
          200);
    const char *at = answer;
    for (int i = 0; i < 18; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"text\":\"Hello, world\",\"index\":%d,", i);
        at = at ? strstr(at, text) : NULL;
        CHECK(at != NULL);
    }
    CHECK(has("\"prompt_tokens\":42,\"completion_tokens\":36")); /* 6 x 7, 18 x 2 */
    CHECK(atomic_load(&scripted.started) == started + 18);
    CHECK(becomes(&held, 0, 10000));
}

static void test_a_failed_choice_ends_the_whole_completion(void)
{
    scripted.course = COURSE_FAIL_AT_ONCE;
    CHECK(ask("POST", COMPLETE, "", "{\"prompt\":[\"a\",\"b\"]}") >= 500);
    CHECK(has("{\"error\":{\"message\":"));
    clear_health();
    scripted.course = COURSE_FAIL_AFTER_TEXT;
    CHECK(ask("POST", COMPLETE, "", "{\"prompt\":[\"a\",\"b\"],\"stream\":true}") == 200);
    CHECK(has("\"text\":\"Hello\"") && has("data: {\"error\":{") && has("data: [DONE]\n\n"));
    CHECK(strstr(strstr(answer, "[DONE]"), "data: {") == NULL);
    clear_health();
    CHECK(becomes(&held, 0, 10000));
}

static void test_a_client_that_leaves_stops_all_choices(void)
{
    scripted.course = COURSE_NEVER_END;
    for (int stream = 0; stream < 2; stream++) {
        atomic_store(&scripted.started, 0);
        atomic_store(&scripted.cancelled, 0);
        int fd = client_open();
        client_send(fd, "POST", COMPLETE, "",
                    stream ? "{\"prompt\":[\"a\",\"b\"],\"n\":9,\"stream\":true}"
                           : "{\"prompt\":[\"a\",\"b\"],\"n\":9}");
        CHECK(becomes(&scripted.started, 8, 10000)); /* so many at a time */
        close(fd);
        CHECK(becomes(&scripted.cancelled, 8, 10000));
        CHECK(becomes(&held, 0, 10000));
    }
}

/* A conversation of its own: its class stays restricted for ever. */
#define SECRET "{\"messages\":[{\"role\":\"user\",\"content\":\"a secret\"}]}"

static void test_bad_requests_never_reach_a_tier(void)
{
    scripted.course = COURSE_ANSWER;
    atomic_store(&scripted.started, 0);
    CHECK(ask("POST", CHAT, "", "{}") == 400 && has("\"param\":\"messages\""));
    CHECK(ask("POST", CHAT, "x-tandem-mode: fast\r\n", "{" USER "}") == 400);
    CHECK(has("\"param\":\"x-tandem-mode\"") && has("x-should-retry: false"));
    CHECK(ask("POST", CHAT, "", "{" USER ",\"model\":\"none\"}") == 404);
    CHECK(has("\"code\":\"model_not_found\""));
    CHECK(ask("POST", CHAT, "x-tandem-data-class: restricted\r\n", SECRET) >= 400);
    CHECK(has("\"error\"") && has("x-should-retry: false"));
    CHECK(atomic_load(&scripted.started) == 0);
    CHECK(becomes(&held, 0, 5000));
}

static void test_unknown_paths_methods_and_sizes_are_in_openais_shape(void)
{
    static char large[8192];
    memset(large, 'x', sizeof large - 1);
    CHECK(ask("GET", "/v1/none", "", "") == 404 && has("\"error\""));
    CHECK(ask("GET", CHAT, "", "") == 405 && has("allow: POST"));
    CHECK(ask("POST", "/v1/models", "", "{}") == 405 && has("\"error\""));
    CHECK(ask("POST", CHAT, "", large) == 413 && has("\"error\""));
    CHECK(ask("GET", "/v1/models/none", "", "") == 404 && has("model_not_found"));
    CHECK(ask("GET", "/v1/models/cloud", "", "") == 200 && has("\"id\":\"cloud\""));
    CHECK(ask("GET", "/v1/models", "", "") == 200 && has("\"id\":\"auto\""));
    CHECK(ask("GET", "/healthz", "", "") == 200);
    CHECK(ask("GET", "/readyz", "", "") == 503 && has("the test says so"));
    CHECK(ask("GET", "/metrics", "", "") == 200 && has("tandem_http_requests_total{code=\"404\"}"));
    CHECK(ask("GET", "/tandem/v1/exchanges/x", "", "") == 503 && has("no ledger"));
    CHECK(ask("GET", "/tandem/v1/exchanges?limit=0", "", "") == 400);
}

static void test_pages_of_other_origins_are_refused(void)
{
    atomic_store(&scripted.started, 0);
    CHECK(ask("POST", CHAT, "Origin: https://evil.example\r\n", "{" USER "}") == 403);
    CHECK(ask("OPTIONS", CHAT, "Origin: https://evil.example\r\n", "") == 403);
    CHECK(atomic_load(&scripted.started) == 0);
    CHECK(ask("OPTIONS", CHAT, "Origin: https://ok.example\r\n", "") == 204);
    CHECK(has("access-control-allow-origin: https://ok.example"));
    CHECK(ask("GET", "/v1/models", "Origin: http://localhost\r\n", "") == 200); /* its own */
}

/* A page of http://a.example:8080 whose name was made to resolve to this machine: to the browser
 * its origin is the server's own. */
static void test_a_page_with_a_rebound_name_is_refused(void)
{
    static const struct {
        const char *host;
        int code;
    } cases[] = {{"a.example:8080", 403}, {"127.0.0.1.a.example", 403}, {"127.0.0.1:8080", 200},
                 {"localhost:8080", 200}, {"[::1]:8080", 200},          {"my.localhost", 200},
                 {".localhost.de", 403}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        int fd = client_open();
        int len = snprintf(text, sizeof text,
                           "GET /v1/models HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n"
                           "Connection: close\r\n\r\n",
                           cases[i].host, cases[i].host);
        CHECK(write(fd, text, (size_t)len) == len);
        CHECK(read(fd, answer, 12) == 12 && atoi(answer + 9) == cases[i].code);
        close(fd);
    }
}

static void test_keys_are_required_when_configured(void)
{
    struct auth *auth = auth_with("secret");
    host.auth = auth;
    CHECK(ask("POST", CHAT, "", "{" USER "}") == 401 && has("\"code\":\"invalid_api_key\""));
    CHECK(ask("GET", "/metrics", "", "") == 401);
    CHECK(ask("GET", "/healthz", "", "") == 200);
    CHECK(ask("POST", CHAT, "Authorization: Bearer secret\r\n", "{" USER "}") == 200);
    CHECK(ask("GET", "/v1/models", "x-api-key: secret\r\n", "") == 200);
    const struct auth_keys none = {.clients = STR(" \n,")}, two = {.clients = STR("new\nother")};
    CHECK(auth_set(auth, &none, NULL) == TD_NOT_FOUND); /* never to an open door */
    CHECK(ask("GET", "/v1/models", "x-api-key: secret\r\n", "") == 200);
    CHECK(auth_set(auth, &two, NULL) == TD_OK);
    CHECK(ask("GET", "/v1/models", "x-api-key: secret\r\n", "") == 401);
    CHECK(ask("GET", "/v1/models", "x-api-key: other\r\n", "") == 200);
    host.auth = NULL;
    auth_free(auth);
}

static void cancel_all(void *ctx)
{
    api_cancel(ctx);
}

static struct ledger_desk *desk; /* freed when the loop has stopped */

/* A look-up waits for the ledger's next commit; the server's end must not find it freed. */
static void test_a_look_up_that_waits_is_answered_at_the_end(void)
{
    char path[] = "/tmp/test_chat_handler-XXXXXX";
    struct ledger *ledger = NULL;
    struct td_error err = {0};
    REQUIRE(mkdtemp(path) != NULL);
    char file[64], *const suffixes[] = {"", "-wal", "-shm"};
    snprintf(file, sizeof file, "%s/ledger.db", path);
    REQUIRE(ledger_open(file, &ledger, &err) == TD_OK);
    desk = ledger_desk_new(file, NULL, NULL);
    REQUIRE(desk != NULL);
    host.ledger_desk = desk;
    int fd = client_open();
    client_send(fd, "GET", "/tandem/v1/exchanges/ex_none", "", "");
    nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
    CHECK(loop_post(loop, cancel_all, api));
    size_t len = 0;
    for (ssize_t got; (got = read(fd, answer + len, sizeof answer - 1 - len)) > 0;)
        len += (size_t)got;
    answer[len] = '\0';
    CHECK(atoi(answer + 9) == 503 && has("shutting_down"));
    close(fd);
    ledger_close(ledger);
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/ledger.db%s", path, suffixes[i]);
        unlink(file);
    }
    rmdir(path);
}

int main(void)
{
    if (!process_start())
        return 1;
    RUN(test_a_whole_answer_says_where_it_came_from);
    RUN(test_a_stream_is_well_formed_to_its_done);
    RUN(test_a_failure_before_text_is_a_status_in_openais_shape);
    RUN(test_a_failure_after_text_is_a_chunk_and_done);
    RUN(test_a_refused_key_of_ours_is_no_refusal_of_the_client);
    RUN(test_a_delta_too_large_for_a_chunk_ends_in_an_error_and_done);
    RUN(test_the_caller_is_the_keys_digest_or_the_peers_address);
    RUN(test_a_client_that_leaves_stops_the_work);
    RUN(test_others_are_answered_while_a_schema_is_compiled);
    RUN(test_a_bad_schema_is_refused_and_a_client_that_left_is_not_missed);
    RUN(test_a_full_line_of_schemas_is_429);
    RUN(test_choices_of_a_completion_come_in_order);
    RUN(test_a_failed_choice_ends_the_whole_completion);
    RUN(test_a_client_that_leaves_stops_all_choices);
    RUN(test_bad_requests_never_reach_a_tier);
    RUN(test_unknown_paths_methods_and_sizes_are_in_openais_shape);
    RUN(test_pages_of_other_origins_are_refused);
    RUN(test_a_page_with_a_rebound_name_is_refused);
    RUN(test_keys_are_required_when_configured);
    RUN(test_a_look_up_that_waits_is_answered_at_the_end);
    process_stop();
    ledger_desk_free(desk);
    return test_finish();
}
