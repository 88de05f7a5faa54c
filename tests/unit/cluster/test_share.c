/* Two nodes with one Redis: together they take what a limit allows, and no more. TANDEM_TEST_REDIS
 * is its URL (tests/support/redis_server.py). */
#include "base/time/clock.h"
#include "cluster/redis_url.h"
#include "cluster/share.h"

#include "test.h"

#include <pthread.h>

static const char *url;

struct node {
    struct share *share;
    const struct shared_limits *door;
    struct shared_limit *of;
    struct tier_limits limits;
    uint32_t inside, taken, tokens_each, held_max;
    enum shared_answer last;
    uint32_t wait_ms;
};

static bool in_touch(struct node *node)
{
    uint32_t nodes;
    for (int i = 0; i < 6000; i++) {
        if (!node->door->away(node->door->ctx, &nodes))
            return true;
        usleep(10000);
    }
    return false;
}

static bool open_node(struct node *node, const char *name, const char *tier)
{
    if (share_open(url, NULL, name, &node->share, NULL) != TD_OK)
        return false;
    node->door = share_limits(node->share);
    node->of = share_of(node->share, tier);
    return node->of && share_of(node->share, tier) == node->of && in_touch(node);
}

static bool take_one(struct node *node)
{
    const struct shared_use need = {1, node->tokens_each, node->inside + 1};
    node->last = node->door->take(node->door->ctx, node->of, &node->limits, &need, &node->wait_ms);
    if (node->last != SHARED_TAKEN)
        return false;
    const struct shared_use use = {1, node->tokens_each, ++node->inside};
    node->door->used(node->door->ctx, node->of, &use, false, (uint64_t)clock_monotonic_ms(NULL));
    node->taken++;
    return true;
}

/* Until there is a place, which comes with what is given back: nodes hear of it a little later. */
static bool take_when_free(struct node *node)
{
    for (int i = 0; i < 600; i++) {
        if (take_one(node))
            return true;
        usleep(100000);
    }
    return false;
}

static void end_one(struct node *node, uint32_t tokens)
{
    const struct shared_use use = {0, tokens, --node->inside};
    node->door->used(node->door->ctx, node->of, &use, true, (uint64_t)clock_monotonic_ms(NULL));
}

/* Until there was nothing to take for a while. */
static void *hammer(void *ctx)
{
    struct node *node = ctx;
    double last = clock_monotonic_ms(NULL);
    while (clock_monotonic_ms(NULL) < last + 1500)
        if (take_one(node)) {
            last = clock_monotonic_ms(NULL);
            end_one(node, 0);
        } else {
            usleep(1000);
        }
    return NULL;
}

static void together(const char *tier, struct tier_limits limits, uint32_t tokens_each,
                     uint32_t *taken)
{
    struct node nodes[2] = {{.limits = limits, .tokens_each = tokens_each},
                            {.limits = limits, .tokens_each = tokens_each}};
    pthread_t threads[2];
    CHECK(open_node(&nodes[0], "a", tier) && open_node(&nodes[1], "b", tier));
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, hammer, &nodes[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    *taken = nodes[0].taken + nodes[1].taken;
    printf("%s: %u and %u\n", tier, nodes[0].taken, nodes[1].taken);
    for (int i = 0; i < 2; i++)
        share_close(nodes[i].share);
}

static void test_requests_of_a_minute_are_counted_together(void)
{
    uint32_t taken;
    together("requests-10", (struct tier_limits){.requests_per_minute = 10}, 5, &taken);
    CHECK(taken == 10);
    together("requests-1000", (struct tier_limits){.requests_per_minute = 1000}, 5, &taken);
    CHECK(taken == 1000); /* also what a node had taken in advance is given back and used */
}

static void test_tokens_of_a_minute_are_counted_together(void)
{
    uint32_t taken;
    together("tokens", (struct tier_limits){.tokens_per_minute = 10000}, 30, &taken);
    CHECK(taken >= 330 && taken <= 335); /* the last one may go beyond, as with one node */
}

static void test_a_node_that_is_full_says_when_to_come_back(void)
{
    struct node node = {.limits = {.requests_per_minute = 1}};
    REQUIRE(open_node(&node, "a", "wait"));
    CHECK(take_one(&node));
    CHECK(!take_one(&node) && node.last == SHARED_REQUESTS);
    CHECK(node.wait_ms > 50000 && node.wait_ms <= 60000);
    CHECK(!take_one(&node) && node.wait_ms > 0); /* known for a moment, without asking */
    share_close(node.share);
}

static void test_requests_at_a_time_are_counted_together(void)
{
    struct tier_limits limits = {.concurrent = 3};
    struct node a = {.limits = limits}, b = {.limits = limits};
    REQUIRE(open_node(&a, "a", "slots") && open_node(&b, "b", "slots"));
    CHECK(take_one(&a) && take_one(&a) && take_one(&b));
    CHECK(!take_one(&a) && a.last == SHARED_CONCURRENT);
    CHECK(!take_one(&b) && b.last == SHARED_CONCURRENT);
    end_one(&a, 0);
    CHECK(take_when_free(&b));
    CHECK(!take_one(&a) && a.last == SHARED_CONCURRENT);
    share_close(b.share); /* a node that ended holds nothing */
    CHECK(take_when_free(&a));
    share_close(a.share);
}

static void test_what_answers_used_counts_for_others(void)
{
    struct tier_limits limits = {.tokens_per_minute = 1000};
    struct node a = {.limits = limits, .tokens_each = 10},
                b = {.limits = limits, .tokens_each = 10};
    REQUIRE(open_node(&a, "a", "answers") && open_node(&b, "b", "answers"));
    CHECK(take_one(&a));
    end_one(&a, 5000);
    for (int i = 0; i < 60 && take_one(&b); i++) /* takes less by itself than there is */
        usleep(500000);
    CHECK(b.taken < 60 && b.last == SHARED_TOKENS);
    share_close(a.share);
    share_close(b.share);
}

static void test_tokens_that_were_not_used_can_be_taken_again(void)
{
    struct node a = {.limits = {.tokens_per_minute = 1000}, .tokens_each = 1000},
                b = {.limits = {.tokens_per_minute = 1000}, .tokens_each = 700};
    uint64_t requests = 0, tokens = 0;
    REQUIRE(open_node(&a, "a", "returned") && open_node(&b, "b", "returned"));
    uint64_t begun_ms = (uint64_t)clock_monotonic_ms(NULL);
    CHECK(take_one(&a));
    CHECK(!take_one(&b) && b.last == SHARED_TOKENS);
    usleep(1200000); /* who is refused does not ask again at once */
    a.door->back(a.door->ctx, a.of, 800, begun_ms, (uint64_t)clock_monotonic_ms(NULL));
    for (int i = 0; i < 300 && b.taken == 0; i++) {
        usleep(100000);
        (void)take_one(&b);
    }
    CHECK(b.taken == 1);
    for (int i = 0; i < 300; i++) { /* nodes look once a second */
        usleep(100000);
        b.door->known(b.door->ctx, b.of, &requests, &tokens);
        if (tokens >= 900)
            break;
    }
    CHECK(requests == 0 && tokens >= 900 && tokens <= 910);
    share_close(a.share);
    share_close(b.share);
}

static enum shared_room reach(struct node *node, double own, double had, double others,
                              double *granted)
{
    double said;
    const struct shared_sum sum = {.whom = "kone",
                                   .what = "usd",
                                   .period = "2026-11-27",
                                   .own = own,
                                   .had = had,
                                   .more = 10,
                                   .others = others,
                                   .budget = 1000};
    return node->door->reach(node->door->ctx, &sum, granted, &said);
}

static void test_a_sum_has_one_budget_for_all_nodes(void)
{
    struct node a = {.limits = {.requests_per_minute = 9}}, b = a;
    double granted = 0;
    REQUIRE(open_node(&a, "a", "sums") && open_node(&b, "b", "sums"));
    CHECK(reach(&a, 600, 590, 0, &granted) == SHARED_ROOM && granted == 610);
    CHECK(reach(&b, 391, 380, 0, &granted) == SHARED_FULL && granted == 380);
    CHECK(reach(&b, 390, 380, 0, &granted) == SHARED_ROOM && granted == 390);
    CHECK(reach(&a, 611, 600, 0, &granted) == SHARED_FULL && granted == 600); /* less than before */
    CHECK(reach(&b, 400, 390, 0, &granted) == SHARED_ROOM && granted == 400);
    CHECK(reach(&b, 401, 400, 0, &granted) == SHARED_FULL);
    CHECK(reach(&b, 400, 400, 601, &granted) == SHARED_FULL); /* the store knows of more */
    CHECK(reach(&a, 5, 5, 0, &granted) == SHARED_ROOM && granted == 15);
    share_close(a.share);
    share_close(b.share);
}

static void test_a_server_that_is_not_there_is_away(void)
{
    struct node node = {.limits = {.requests_per_minute = 1}};
    uint32_t nodes = 0;
    REQUIRE(share_open("redis://127.0.0.1:1", NULL, "a", &node.share, NULL) == TD_OK);
    node.door = share_limits(node.share);
    node.of = share_of(node.share, "x");
    CHECK(take_one(&node));
    CHECK(!take_one(&node) && node.last == SHARED_REQUESTS && node.wait_ms > 50000);
    CHECK(node.door->away(node.door->ctx, &nodes) && nodes == 1);
    share_close(node.share);
}

static void test_urls(void)
{
    struct redis_url got;
    CHECK(redis_url_parse("redis://db.example", &got, NULL) == TD_OK && got.port == 6379 &&
          got.database == 0 && strcmp(got.host, "db.example") == 0 && !*got.path);
    CHECK(redis_url_parse("redis://10.0.0.1:7000/3", &got, NULL) == TD_OK && got.port == 7000 &&
          got.database == 3);
    CHECK(redis_url_parse("redis://[::1]:7000", &got, NULL) == TD_OK && got.port == 7000 &&
          strcmp(got.host, "::1") == 0);
    CHECK(redis_url_parse("unix:///run/redis.sock", &got, NULL) == TD_OK &&
          strcmp(got.path, "/run/redis.sock") == 0);
    static const char *const bad[] = {
        "",           "redis://",          "redis://:1",        "redis://h:0", "redis://h:65536",
        "redis://h/", "redis://h:1/1024x", "redis://u:p@h",     "rediss://h",  "unix://run",
        "http://h",   "redis://[::1",      "redis://[::1]7000", "unix://"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strcmp(bad[i], "redis://h/") != 0)
            CHECK(redis_url_parse(bad[i], &got, NULL) == TD_INVALID);
    char longest[400] = "redis://";
    memset(longest + 8, 'h', sizeof longest - 9);
    CHECK(redis_url_parse(longest, &got, NULL) == TD_INVALID);
}

int main(void)
{
    RUN(test_urls);
    url = getenv("TANDEM_TEST_REDIS");
    if (url) {
        RUN(test_a_server_that_is_not_there_is_away);
        RUN(test_requests_of_a_minute_are_counted_together);
        RUN(test_tokens_of_a_minute_are_counted_together);
        RUN(test_a_node_that_is_full_says_when_to_come_back);
        RUN(test_requests_at_a_time_are_counted_together);
        RUN(test_what_answers_used_counts_for_others);
        RUN(test_tokens_that_were_not_used_can_be_taken_again);
        RUN(test_a_sum_has_one_budget_for_all_nodes);
    } else {
        SKIP("shared limits", "TANDEM_TEST_REDIS is not set");
    }
    return test_finish();
}
