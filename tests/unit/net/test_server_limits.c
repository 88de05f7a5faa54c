/* What a client may make the server hold: refusals on the head, the total of all bodies, places for
 * connections, and a client that shuts its sending side. */
#include "http_fixture.h"
#include "net/server/body_budget.h"
#include "test.h"

static char reply[64 * 1024];
static char block[512 * 1024];

/* Refuses /refused on its head, drops the body of /echo, and leaves a note. */
static enum http_body_use on_head(void *ctx, struct http_request *request)
{
    (void)ctx;
    const char *path = http_request_path(request);
    char *note = http_request_note(request, 16);
    CHECK(note && *note == '\0');
    snprintf(note, 16, "from the head");
    if (strcmp(path, "/refused") == 0)
        http_reply(request, 401, "text/plain", STR("no"));
    return strcmp(path, "/echo") == 0 ? HTTP_BODY_DROP : HTTP_BODY_KEEP;
}

/* `text` on a new connection, then what comes back until it closes or is quiet. */
static bool ask(const struct fixture *fixture, const char *text)
{
    bool closed;
    int fd = dial(fixture->port);
    send_text(fd, text);
    receive(fd, reply, sizeof reply, NULL, 300, &closed);
    close(fd);
    return closed;
}

static void test_a_head_is_refused_before_its_body(void)
{
    struct fixture fixture;
    REQUIRE(fixture_start(&fixture, fixture_options()));
    server_set_head(fixture.server, on_head);
    CHECK(ask(&fixture, "POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n12"));
    CHECK(code_of(reply) == 401 && strstr(reply, "Connection: close\r\n"));
    CHECK(ask(&fixture, "POST /refused HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n"));
    CHECK(code_of(reply) == 401); /* not 100 */
    /* Without a body the connection goes on, and so does what was pipelined. */
    CHECK(!ask(&fixture, "GET /refused HTTP/1.1\r\nHost: a\r\n\r\n"
                         "POST /peer HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"));
    CHECK(code_of(reply) == 401 && strstr(reply, "127.0.0.1"));
    CHECK(fixture.handled == 1);
    fixture_end(&fixture);
}

static void test_a_body_is_dropped_where_the_head_says_so(void)
{
    struct fixture fixture;
    struct body_budget budget = {.bytes_max = 1};
    struct server_options options = fixture_options();
    options.budget = &budget;
    REQUIRE(fixture_start(&fixture, options));
    server_set_head(fixture.server, on_head);
    ask(&fixture, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                  "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "3\r\nabc\r\n0\r\n\r\n");
    CHECK(code_of(reply) == 200 && strstr(reply, "Content-Length: 0\r\n"));
    CHECK(!strstr(reply, "hello") && !strstr(reply, "abc") && fixture.handled == 2);
    fixture_end(&fixture);
    CHECK(budget.held == 0 && budget.working == 0);
}

static int begin_body(const struct fixture *fixture, const char *path, size_t bytes, size_t sent)
{
    char head[160];
    int fd = dial(fixture->port);
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", path,
             bytes);
    send_text(fd, head);
    for (size_t at = 0; at < sent;) { /* as much as the server and the socket take */
        ssize_t count = send(fd, block, sent - at < sizeof block ? sent - at : sizeof block,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count <= 0)
            break;
        at += (size_t)count;
    }
    return fd;
}

/* Waits until the budget says so. */
static bool wait_held(struct body_budget *budget, size_t least, size_t most)
{
    for (int i = 0; i < 12000 && (budget->held < least || budget->held > most); i++)
        sleep_ms(5);
    return budget->held >= least && budget->held <= most;
}

static void test_bodies_of_two_loops_share_a_limit(void)
{
    enum { BODY = 1000 * 1000, LIMIT = 256 * 1024 };
    struct fixture first, second;
    struct body_budget budget = {.bytes_max = LIMIT};
    struct server_options options = fixture_options();
    options.budget = &budget;
    REQUIRE(fixture_start(&first, options) && fixture_start(&second, options));
    int fds[8];
    for (int i = 0; i < 8; i++)
        fds[i] = begin_body(i % 2 ? &first : &second, "/peer", BODY, 100 * 1000);
    /* Each loop reads one body on, so that something moves; the others wait. */
    CHECK(wait_held(&budget, LIMIT, LIMIT + 2 * 100 * 1000 + 8 * 4096));
    ask(&first, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nsmall");
    CHECK(code_of(reply) == 200 && strstr(reply, "small"));
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    CHECK(wait_held(&budget, 0, 0));
    fixture_end(&first);
    fixture_end(&second);
    CHECK(budget.held == 0 && budget.working == 0);
}

static void test_bodies_that_fill_the_limit_are_read_one_after_the_other(void)
{
    enum { BODY = 120 * 1000, COUNT = 6 };
    struct fixture fixture;
    struct body_budget budget = {.bytes_max = BODY};
    struct server_options options = fixture_options();
    options.budget = &budget;
    REQUIRE(fixture_start(&fixture, options));
    int fds[COUNT];
    for (int i = 0; i < COUNT; i++)
        fds[i] = begin_body(&fixture, "/peer", BODY, BODY);
    for (int i = 0; i < COUNT; i++) {
        receive(fds[i], reply, sizeof reply, "127.0.0.1", 30000, NULL);
        CHECK(code_of(reply) == 200);
        close(fds[i]);
    }
    fixture_end(&fixture);
    CHECK(budget.held == 0 && budget.working == 0);
}

static void test_a_body_without_room_gets_503_and_room_comes_back_with_the_answer(void)
{
    enum { BODY = 200 * 1000 };
    struct fixture fixture;
    struct body_budget budget = {.bytes_max = BODY};
    struct server_options options = fixture_options();
    options.budget = &budget;
    options.header_timeout_ms = 300;
    REQUIRE(fixture_start(&fixture, options));
    int working = begin_body(&fixture, "/hang", BODY, BODY);
    CHECK(wait_for(&fixture.handled, 1) && budget.working == BODY);
    int waiting = begin_body(&fixture, "/peer", BODY, BODY);
    receive(waiting, reply, sizeof reply, NULL, 30000, NULL);
    CHECK(code_of(reply) == 503 && strstr(reply, "Retry-After: 1\r\n"));
    close(waiting);
    close(working);
    CHECK(wait_held(&budget, 0, 0));
    int third = begin_body(&fixture, "/peer", BODY, BODY);
    receive(third, reply, sizeof reply, "127.0.0.1", 30000, NULL);
    CHECK(code_of(reply) == 200);
    close(third);
    fixture_end(&fixture);
}

static void test_those_that_wait_make_room_and_those_in_work_do_not(void)
{
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.connection_max = 4;
    REQUIRE(fixture_start(&fixture, options));
    bool closed;
    int silent = dial(fixture.port), half = dial(fixture.port), working = dial(fixture.port);
    send_text(half, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1");
    send_text(working, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(wait_for(&fixture.handled, 1));
    int others[6];
    for (int i = 0; i < 6; i++) { /* the first takes the last place, the others those of waiters */
        others[i] = dial(fixture.port);
        send_text(others[i], "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n");
        receive(others[i], reply, sizeof reply, "127.0.0.1", 30000, NULL);
        CHECK(code_of(reply) == 200);
    }
    receive(silent, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed);
    receive(half, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed);
    receive(working, reply, sizeof reply, "late", 30000, NULL);
    CHECK(code_of(reply) == 200);
    close(silent), close(half), close(working);
    for (int i = 0; i < 6; i++)
        close(others[i]);
    fixture_end(&fixture);
}

static void half_close(const struct fixture *fixture, const char *text)
{
    int fd = dial(fixture->port);
    send_text(fd, text);
    shutdown(fd, SHUT_WR);
    receive(fd, reply, sizeof reply, NULL, 30000, NULL);
    close(fd);
}

static void test_a_client_that_shuts_its_sending_side_is_answered_if_told_so(void)
{
    static const char late[] = "GET /late HTTP/1.1\r\nHost: a\r\n\r\n";
    struct fixture fixture;
    struct server_options options = fixture_options();
    REQUIRE(fixture_start(&fixture, options));
    half_close(&fixture, late);
    CHECK(reply[0] == '\0');
    CHECK(wait_for(&fixture.answered, 1)); /* into the void */
    fixture_end(&fixture);
    options.ignore_client_abort = true;
    REQUIRE(fixture_start(&fixture, options));
    half_close(&fixture, late);
    CHECK(code_of(reply) == 200 && strstr(reply, "late"));
    half_close(&fixture, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /late HTTP/1.1\r\nHost: a\r\n"
                         "\r\nGET /la");
    CHECK(strstr(reply, "data: tick") && strstr(reply, "0\r\n\r\nHTTP/1.1 200 OK"));
    CHECK(strstr(reply, "late"));
    half_close(&fixture, "GET /la");
    CHECK(reply[0] == '\0');
    fixture_end(&fixture);
}

static void test_a_large_body_has_time_as_long_as_it_comes(void)
{
    struct fixture fixture;
    struct server_options options = fixture_options();
    options.header_timeout_ms = 400;
    REQUIRE(fixture_start(&fixture, options));
    int fd = dial(fixture.port);
    send_text(fd, "POST /peer HTTP/1.1\r\nHost: a\r\nContent-Length: 786432\r\n\r\n");
    for (int i = 0; i < 6; i++) { /* a second's worth in each piece */
        send_bytes(fd, block, 128 * 1024);
        sleep_ms(150);
    }
    receive(fd, reply, sizeof reply, "127.0.0.1", 30000, NULL);
    CHECK(code_of(reply) == 200);
    close(fd);
    /* What has come earns time once. */
    fd = dial(fixture.port);
    send_text(fd, "POST /peer HTTP/1.1\r\nHost: a\r\nContent-Length: 786432\r\n\r\n");
    send_bytes(fd, block, 128 * 1024);
    receive(fd, reply, sizeof reply, "\r\n\r\n", 30000, NULL);
    CHECK(code_of(reply) == 408);
    close(fd);
    fixture_end(&fixture);
}

int main(void)
{
    RUN(test_a_head_is_refused_before_its_body);
    RUN(test_a_body_is_dropped_where_the_head_says_so);
    RUN(test_bodies_of_two_loops_share_a_limit);
    RUN(test_bodies_that_fill_the_limit_are_read_one_after_the_other);
    RUN(test_a_body_without_room_gets_503_and_room_comes_back_with_the_answer);
    RUN(test_those_that_wait_make_room_and_those_in_work_do_not);
    RUN(test_a_large_body_has_time_as_long_as_it_comes);
    RUN(test_a_client_that_shuts_its_sending_side_is_answered_if_told_so);
    return test_finish();
}
