/* Requests with large bodies are handled on another loop, and their connections come home. */
#include "http_fixture.h"
#include "net/server/body_budget.h"
#include "test.h"

#define LARGE SERVER_LARGE_BYTES

/* small.server reads all requests, and large.server handles the large ones. */
struct pair {
    struct fixture small, large;
    struct body_budget budget;
};

static char body[2 * LARGE], reply[4 * LARGE];

static bool pair_start(struct pair *pair)
{
    pair->budget = (struct body_budget){.bytes_max = 16u << 20};
    struct server_options options = fixture_options();
    options.budget = &pair->budget;
    bool made = fixture_make(&pair->small, options);
    options.host = NULL;
    made = made && fixture_make(&pair->large, options);
    if (!made)
        return false;
    server_set_large(pair->small.server, pair->large.server);
    memset(body, 'b', sizeof body);
    return fixture_run(&pair->large) && fixture_run(&pair->small);
}

static void pair_free(struct pair *pair)
{
    server_free(pair->large.server);
    loop_event_free(pair->large.loop);
    server_free(pair->small.server);
    loop_event_free(pair->small.loop);
    CHECK(atomic_load(&pair->budget.held) == 0 && atomic_load(&pair->budget.working) == 0);
}

static void pair_end(struct pair *pair)
{
    fixture_stop(&pair->small);
    fixture_stop(&pair->large);
    pair_free(pair);
}

static void post(int fd, const char *path, size_t len)
{
    char head[128];
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", path,
             len);
    CHECK(send_text(fd, head) && send_bytes(fd, body, len));
}

/* The next reply of a connection that is kept, up to the end of `text`. */
static bool replies(int fd, const char *text)
{
    receive(fd, reply, sizeof reply, text, 30000, NULL);
    return code_of(reply) == 200 && strstr(reply, text);
}

static bool asks(int fd)
{
    return send_text(fd, "GET /header HTTP/1.1\r\nHost: a\r\nx-test: small\r\n\r\n") &&
           replies(fd, "small");
}

static void test_a_large_body_is_handled_on_the_other_loop(void)
{
    struct pair pair;
    REQUIRE(pair_start(&pair));
    int fd = dial(pair.small.port);
    post(fd, "/peer", LARGE - 1);
    CHECK(replies(fd, "127.0.0.1") && pair.small.handled == 1 && pair.large.handled == 0);
    post(fd, "/peer", LARGE);
    CHECK(replies(fd, "127.0.0.1") && pair.small.handled == 1 && pair.large.handled == 1);
    CHECK(asks(fd) && pair.small.handled == 2); /* the same connection */
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n18000\r\n");
    send_bytes(fd, body, 0x18000);
    send_text(fd, "\r\n0\r\n\r\n");
    CHECK(replies(fd, "\r\n\r\n") && strstr(reply, "Content-Length: 98304\r\n"));
    CHECK(pair.large.handled == 2);
    close(fd);
    pair_end(&pair);
}

static void test_small_requests_are_answered_while_a_large_one_holds_up_its_loop(void)
{
    struct pair pair;
    REQUIRE(pair_start(&pair));
    atomic_store(&pair.large.held, true);
    int large = dial(pair.small.port), small = dial(pair.small.port);
    post(large, "/block", LARGE);
    CHECK(wait_for(&pair.large.handled, 1));
    for (int i = 0; i < 20; i++)
        CHECK(asks(small));
    atomic_store(&pair.large.held, false);
    CHECK(replies(large, "at last"));
    close(large);
    close(small);
    pair_end(&pair);
}

static void test_pipelined_requests_are_answered_in_order(void)
{
    struct pair pair;
    REQUIRE(pair_start(&pair));
    int fd = dial(pair.small.port);
    send_text(fd, "GET /header HTTP/1.1\r\nHost: a\r\nx-test: first\r\n\r\n");
    post(fd, "/late", LARGE);
    send_text(fd, "GET /header HTTP/1.1\r\nHost: a\r\nx-test: third\r\n\r\n");
    CHECK(replies(fd, "third"));
    const char *first = strstr(reply, "first"), *second = strstr(reply, "late");
    CHECK(first && second && first < second && second < strstr(reply, "third"));
    CHECK(pair.small.handled == 2 && pair.large.handled == 1);
    close(fd);
    pair_end(&pair);
}

static void test_a_client_that_leaves_is_noticed_on_the_other_loop(void)
{
    struct pair pair;
    REQUIRE(pair_start(&pair));
    int fd = dial(pair.small.port);
    post(fd, "/hang", LARGE);
    CHECK(wait_for(&pair.large.handled, 1));
    close(fd);
    CHECK(wait_for(&pair.large.gone, 1));
    fd = dial(pair.small.port);
    post(fd, "/late", LARGE);
    close(fd);
    CHECK(wait_for(&pair.large.answered, 1)); /* into the void */
    pair_end(&pair);
}

static void test_a_guest_whose_client_leaves_gives_back_its_place(void)
{
    struct pair pair;
    struct server_options options = fixture_options();
    options.connection_max = 1;
    REQUIRE(fixture_make(&pair.small, options));
    options.host = NULL;
    REQUIRE(fixture_make(&pair.large, options));
    pair.budget = (struct body_budget){0};
    server_set_large(pair.small.server, pair.large.server);
    REQUIRE(fixture_run(&pair.large) && fixture_run(&pair.small));
    int guest = dial(pair.small.port);
    post(guest, "/hang", LARGE);
    CHECK(wait_for(&pair.large.handled, 1));
    int other = dial(pair.small.port);
    receive(other, reply, sizeof reply, "\r\n\r\n", 30000, NULL);
    CHECK(code_of(reply) == 503); /* its place is taken, though it is elsewhere */
    close(other);
    close(guest);
    CHECK(wait_for(&pair.large.gone, 1));
    other = dial(pair.small.port);
    CHECK(asks(other));
    close(other);
    pair_end(&pair);
}

static void test_what_the_other_loop_does_not_take_is_handled_at_home(void)
{
    struct pair pair;
    REQUIRE(pair_start(&pair));
    fixture_stop(&pair.large);
    int fd = dial(pair.small.port);
    post(fd, "/peer", LARGE);
    CHECK(replies(fd, "127.0.0.1") && pair.small.handled == 1);
    CHECK(asks(fd));
    close(fd);
    fixture_stop(&pair.small);
    pair_free(&pair);
}

static void test_a_guest_whose_home_has_ended_is_answered(void)
{
    struct pair pair;
    bool closed;
    REQUIRE(pair_start(&pair));
    int fd = dial(pair.small.port);
    post(fd, "/stream", LARGE);
    CHECK(wait_for(&pair.large.handled, 1));
    fixture_stop(&pair.small);
    receive(fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed && code_of(reply) == 200 && strstr(reply, "0\r\n\r\n"));
    close(fd);
    fixture_stop(&pair.large);
    pair_free(&pair);
}

/* Clients that leave at any moment of a move, and loops that end meanwhile. */
static void test_clients_may_leave_at_any_moment(void)
{
    static const char *const paths[] = {"/echo", "/hang", "/stream", "/careless", "/big"};
    struct pair pair;
    REQUIRE(pair_start(&pair));
    int kept[24] = {0};
    for (int i = 0; i < 240; i++) {
        int *fd = &kept[i % 24];
        if (*fd)
            close(*fd);
        *fd = dial(pair.small.port);
        post(*fd, paths[i % 5], LARGE + (size_t)i * 64);
        if (i % 4 == 0)
            send_text(*fd, "GET /header HTTP/1.1\r\nHost: a\r\nx-test: y\r\n\r\n");
        if (i % 6 == 0) {
            close(*fd);
            *fd = 0;
        } else if (i % 7 == 0) {
            receive(*fd, reply, 1000, NULL, 5, NULL);
        }
    }
    int fd = dial(pair.small.port);
    CHECK(asks(fd));
    close(fd);
    pair_end(&pair);
    for (int i = 0; i < 24; i++)
        if (kept[i])
            close(kept[i]);
}

int main(void)
{
    RUN(test_a_large_body_is_handled_on_the_other_loop);
    RUN(test_small_requests_are_answered_while_a_large_one_holds_up_its_loop);
    RUN(test_pipelined_requests_are_answered_in_order);
    RUN(test_a_client_that_leaves_is_noticed_on_the_other_loop);
    RUN(test_a_guest_whose_client_leaves_gives_back_its_place);
    RUN(test_what_the_other_loop_does_not_take_is_handled_at_home);
    RUN(test_a_guest_whose_home_has_ended_is_answered);
    RUN(test_clients_may_leave_at_any_moment);
    return test_finish();
}
