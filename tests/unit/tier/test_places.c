/* Keys that fight for a tier's places get their shares, whoever asks how often. */
#include "base/crypto/rng.h"
#include "test.h"
#include "tier/health.h"
#include "tier/tier.h"

#include <math.h>

enum { KEYS_MAX = 3, RUNNING_MAX = 64, CLIENTS_MAX = 128 };

/* A key and its clients: each asks, is answered after some time, or asks again after a while. */
struct world {
    struct tier_health *health;
    struct rng rng;
    uint64_t now_ms;
    struct contender {
        uint32_t weight, clients;
        double length_ms, again_ms; /* means: how long an answer takes, when a client asks again */
        double place_ms;            /* got */
        uint64_t answers;
    } keys[KEYS_MAX];
    size_t key_count;
    struct client {
        uint32_t key;
        uint64_t due_ms; /* asks then, or is answered then */
        bool running;
        struct tier_ticket ticket;
    } clients[CLIENTS_MAX];
    size_t client_count;
};

static uint64_t around(struct world *w, double mean_ms)
{
    return (uint64_t)(mean_ms * (0.5 + rng_double(&w->rng))) + 1;
}

static void add_key(struct world *w, uint32_t weight, uint32_t clients, double length_ms,
                    double again_ms)
{
    w->keys[w->key_count] = (struct contender){weight, clients, length_ms, again_ms, 0, 0};
    for (uint32_t i = 0; i < clients; i++)
        w->clients[w->client_count++] =
            (struct client){.key = (uint32_t)w->key_count, .due_ms = around(w, again_ms)};
    w->key_count++;
}

static void step(struct world *w, struct client *client)
{
    struct contender *key = &w->keys[client->key];
    const struct tier_entry entry = {.sharer = client->key + 1, .weight = key->weight};
    const struct tier_result good = {.status = TD_OK};
    struct tier_state why = {0};
    if (client->running) {
        key->place_ms += (double)(w->now_ms - client->ticket.since_ms);
        key->answers++;
        tier_health_leave(w->health, 0, &client->ticket, &good, w->now_ms);
        client->running = false;
        client->due_ms = w->now_ms + 1;
        return;
    }
    client->running = tier_health_enter(w->health, 0, &entry, w->now_ms, &client->ticket, &why);
    if (!client->running)
        tier_health_want(w->health, 0, &entry, w->now_ms);
    client->due_ms = w->now_ms + around(w, client->running ? key->length_ms : key->again_ms);
}

static void run_for(struct world *w, uint64_t ms)
{
    for (uint64_t end = w->now_ms + ms; w->now_ms < end; w->now_ms++)
        for (size_t i = 0; i < w->client_count; i++)
            if (w->clients[i].due_ms <= w->now_ms)
                step(w, &w->clients[i]);
}

static void begin(struct world *w, uint32_t places)
{
    *w = (struct world){.now_ms = 1000, .health = tier_health_new(1, NULL, NULL)};
    rng_init(&w->rng, 7);
    tier_health_set_limits(w->health, 0, (struct tier_limits){.concurrent = places});
}

/* Each key's part of the time that places were kept, against what its weight says. */
static void expect_shares(const struct world *w, const char *what)
{
    double all = 0, weights = 0;
    for (size_t i = 0; i < w->key_count; i++) {
        all += w->keys[i].place_ms;
        weights += w->keys[i].weight;
    }
    for (size_t i = 0; i < w->key_count; i++) {
        double share = w->keys[i].place_ms / all, due = w->keys[i].weight / weights;
        printf("%s: key %zu with %u clients has %.3f of the places, %.3f is due\n", what, i + 1,
               w->keys[i].clients, share, due);
        CHECK(fabs(share / due - 1) < 0.1);
    }
}

static void test_a_key_with_ten_times_the_clients_has_no_more_places(void)
{
    struct world w;
    begin(&w, 8);
    add_key(&w, 1, 80, 300, 50);
    add_key(&w, 1, 8, 300, 50);
    run_for(&w, 120000);
    expect_shares(&w, "equal weights");
    tier_health_free(w.health);
}

static void test_places_go_by_weight_and_by_time_and_also_where_there_is_one(void)
{
    struct world w;
    begin(&w, 6);
    add_key(&w, 2, 30, 200, 100);
    add_key(&w, 1, 30, 900, 100); /* its answers are long */
    add_key(&w, 1, 10, 200, 300);
    run_for(&w, 200000);
    expect_shares(&w, "weights 2, 1, 1");
    tier_health_free(w.health);
    begin(&w, 1);
    add_key(&w, 1, 40, 200, 20);
    add_key(&w, 1, 4, 200, 200);
    run_for(&w, 200000);
    expect_shares(&w, "one place");
    tier_health_free(w.health);
}

/* Nobody else is there: no place stays empty. And who came once and left does not hold it up. */
static void test_a_key_that_is_alone_has_all_places(void)
{
    struct world w;
    begin(&w, 4);
    add_key(&w, 1, 20, 100, 10);
    run_for(&w, 20000);
    CHECK(w.keys[0].place_ms > 0.93 * 4 * 20000);
    const struct tier_entry other = {.sharer = 99, .weight = 1};
    tier_health_want(w.health, 0, &other, w.now_ms);
    w.keys[0].place_ms = 0;
    run_for(&w, 20000);
    CHECK(w.keys[0].place_ms > 0.88 * 4 * 20000);
    tier_health_free(w.health);
}

static void test_without_a_limit_nobody_is_kept_out(void)
{
    struct world w;
    struct tier_ticket ticket;
    struct tier_state why = {0};
    begin(&w, 0);
    for (uint64_t key = 1; key <= 200; key++) {
        const struct tier_entry entry = {.sharer = key, .weight = 1};
        tier_health_want(w.health, 0, &entry, w.now_ms);
        CHECK(tier_health_enter(w.health, 0, &entry, w.now_ms, &ticket, &why));
        if (key % 2)
            tier_health_leave(w.health, 0, &ticket, NULL, w.now_ms + 5);
    }
    tier_health_free(w.health);
}

int main(void)
{
    RUN(test_a_key_with_ten_times_the_clients_has_no_more_places);
    RUN(test_places_go_by_weight_and_by_time_and_also_where_there_is_one);
    RUN(test_a_key_that_is_alone_has_all_places);
    RUN(test_without_a_limit_nobody_is_kept_out);
    return test_finish();
}
