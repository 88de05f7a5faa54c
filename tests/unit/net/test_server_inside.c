/* Requests of the process itself: they are handled and answered like others, and can be ended. */
#include "http_fixture.h"
#include "test.h"

struct asked {
    struct fixture *fixture;
    const char *path;
    bool cancels;
    struct http_request *request;
    atomic_int code; /* -1 = nothing came */
    char body[64];
};

static void on_done(void *ctx, int code, struct td_str body)
{
    struct asked *asked = ctx;
    snprintf(asked->body, sizeof asked->body, STR_FMT, STR_ARG(body));
    asked->request = NULL;
    asked->code = code;
}

static void ask(void *ctx)
{
    struct asked *asked = ctx;
    static const char *const headers[] = {"Content-Type: text/plain", NULL};
    const struct http_inside inside = {.path = asked->path,
                                       .headers = headers,
                                       .body = STR("words"),
                                       .done = on_done,
                                       .ctx = asked};
    asked->request = http_inside_new(asked->fixture->server, &inside);
    CHECK(asked->request && http_request_is_inside(asked->request));
    http_inside_begin(asked->request);
    fixture_handle(asked->fixture, asked->request);
}

static void cancel(void *ctx)
{
    struct asked *asked = ctx;
    http_inside_cancel(asked->request);
}

static void run(struct fixture *fixture, struct asked *asked, long wait_ms)
{
    asked->fixture = fixture;
    asked->code = -1;
    CHECK(loop_post(fixture->loop, ask, asked));
    for (long i = 0; i < wait_ms && asked->code < 0; i += 5)
        sleep_ms(5);
    if (asked->cancels)
        CHECK(loop_post(fixture->loop, cancel, asked));
}

static void test_it_is_answered_at_once_later_or_not_at_all(void)
{
    struct fixture fixture = {0};
    struct server_options options = fixture_options();
    options.host = NULL;
    REQUIRE(fixture_make(&fixture, options) && fixture_run(&fixture));
    struct asked echo = {.path = "/echo"}, late = {.path = "/late"}, stream = {.path = "/stream"},
                 hang = {.path = "/hang", .cancels = true};
    run(&fixture, &echo, 60000);
    CHECK(echo.code == 200 && strcmp(echo.body, "words") == 0);
    run(&fixture, &late, 60000);
    CHECK(late.code == 200 && strcmp(late.body, "late") == 0);
    run(&fixture, &stream, 60000); /* there is no whole reply */
    CHECK(stream.code == 0);
    run(&fixture, &hang, 100);
    for (int i = 0; i < 12000 && fixture.gone == 0; i++)
        sleep_ms(5);
    CHECK(hang.code == -1 && fixture.gone == 1);
    fixture_stop(&fixture);
    server_free(fixture.server);
    loop_event_free(fixture.loop);
}

static void test_a_head_that_is_refused_makes_no_request(void)
{
    struct fixture fixture = {0};
    struct server_options options = fixture_options();
    options.host = NULL;
    REQUIRE(fixture_make(&fixture, options));
    static const char *const bad[] = {"X-Bad: a\r\nContent-Length: 7", "Content-Length: 8", NULL};
    const struct http_inside inside = {.path = "/echo", .headers = bad, .done = on_done};
    CHECK(!http_inside_new(fixture.server, &inside));
    server_free(fixture.server);
    loop_event_free(fixture.loop);
}

int main(void)
{
    RUN(test_it_is_answered_at_once_later_or_not_at_all);
    RUN(test_a_head_that_is_refused_makes_no_request);
    return test_finish();
}
