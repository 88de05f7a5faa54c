/* Budgets that several nodes have together: what is told and heard, a start, and the last of
 * one. */
#include "base/time/clock.h"
#include "exchange/limits/spending.h"
#include "ledger/store/key_store.h"
#include "test.h"
#include "tier/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY_MS 86400000u

struct hands {
    uint64_t wall_ms;
    struct clock clock;
};

static uint64_t hands_monotonic(void *ctx)
{
    return ((struct hands *)ctx)->wall_ms * 1000000;
}

static uint64_t hands_wall(void *ctx)
{
    return ((struct hands *)ctx)->wall_ms;
}

static void hands_init(struct hands *hands)
{
    *hands = (struct hands){.wall_ms = 20000ull * DAY_MS + DAY_MS / 2,
                            .clock = {hands_monotonic, hands_wall, hands}};
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static struct spending *node_new(struct hands *hands, uint32_t entries_max, uint32_t nodes)
{
    struct spending *spending = spending_new(&hands->clock, entries_max);
    CHECK(spending && spending_share(spending));
    spending_set_nodes(spending, nodes);
    return spending;
}

/* What the one has not told yet comes to the other, whose rows are `own`. Returns how many sums. */
static size_t tell(struct spending *from, struct spending *to, double own_usd)
{
    struct key_spent told[64];
    size_t count = spending_take(from, told, 64);
    for (size_t i = 0; i < count; i++) {
        told[i].others_usd = told[i].own_usd;
        told[i].own_usd = own_usd;
        spending_hear(to, &told[i], false);
    }
    return count;
}

static void test_what_one_node_spends_counts_on_the_others(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *a = node_new(&hands, 100, 1), *b = node_new(&hands, 100, 1);
    uint64_t anna = spending_key("day", "t1", "anna"), all = spending_key("all", NULL, "");
    struct key_spent told[2];
    spending_settle(a, anna, 0, 2);
    spending_settle(a, all, 0, 2);
    spending_settle(a, all, 0, 0); /* nothing is nothing new */
    CHECK(near(spending_today(b, anna), 0));
    CHECK(tell(a, b, 0) == 2 && tell(a, b, 0) == 0);
    CHECK(near(spending_today(b, anna), 2) && near(spending_spent(b, all), 2));
    spending_settle(b, all, 0, 1);
    CHECK(tell(b, a, 2) == 1 && near(spending_today(a, all), 3) && near(spending_today(b, all), 3));
    spending_settle(a, all, 0, 0.5);
    CHECK(spending_take(a, told, 2) == 1 && near(told[0].own_usd, 2.5) && near(told[0].usd, 0.5));
    spending_give_back(a, told, 1); /* it could not be kept */
    CHECK(tell(a, b, 1) == 1 && near(spending_today(b, all), 3.5));
    hands.wall_ms += DAY_MS;
    CHECK(near(spending_today(a, all), 0) && near(spending_today(b, all), 0));
    spending_give_back(a, told, 1); /* of a day that is over */
    spending_hear(b, &told[0], false);
    CHECK(tell(a, b, 0) == 0 && near(spending_today(b, all), 0));
    spending_free(a);
    spending_free(b);
}

static void test_others_are_taken_to_spend_what_a_node_has_not_told_yet(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *a = node_new(&hands, 100, 3);
    uint64_t all = spending_key("all", NULL, "");
    struct key_spent told[2];
    spending_settle(a, all, 0, 2);
    CHECK(near(spending_today(a, all), 6));
    CHECK(spending_take(a, told, 2) == 1 && near(spending_today(a, all), 6));
    spending_settle(a, all, 0, 1);
    CHECK(spending_take(a, told, 2) == 1 && near(told[0].usd, 1));
    CHECK(near(spending_today(a, all), 5)); /* the first two dollars' time is over */
    CHECK(spending_take(a, told, 2) == 0 && near(spending_today(a, all), 3));
    CHECK(spending_take(a, told, 2) == 0);
    spending_settle(a, all, 0, 1);
    CHECK(spending_take(a, told, 2) == 1);
    spending_give_back(a, told, 1);
    CHECK(near(spending_today(a, all), 6));
    CHECK(spending_take(a, told, 2) == 1 && near(told[0].usd, 1) && near(told[0].own_usd, 4));
    spending_free(a);
}

static void test_a_start_knows_what_was_recorded_and_what_is_in_rows_once(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *a = node_new(&hands, 100, 2), *alone = spending_new(&hands.clock, 100);
    uint64_t all = spending_key("all", NULL, ""), old = spending_key("old", NULL, "");
    struct key_spent row = {.own_usd = 1, .others_usd = 2}, told[2];
    spending_restore(a, all, 3.25); /* of which a quarter is in no row */
    spending_restore(a, old, 5);    /* no row has it */
    snprintf(row.whom, sizeof row.whom, "b%016llx", (unsigned long long)all);
    char month[11];
    key_store_periods(hands.wall_ms, row.period, month);
    spending_hear(a, &row, true);
    CHECK(near(spending_today(a, all), 3.25) && near(spending_today(a, old), 5));
    CHECK(spending_take(a, told, 2) == 0);
    spending_set_nodes(a, 2);
    spending_set_nodes(a, 2);
    row.others_usd = 4;
    spending_hear(a, &row, false);
    CHECK(near(spending_today(a, all), 5.25));
    spending_settle(a, all, 0, 1);
    CHECK(spending_take(a, told, 2) == 1 && near(told[0].own_usd, 2));
    spending_restore(alone, all, 3.25);
    CHECK(near(spending_spent(alone, all), 3.25) && spending_take(alone, told, 2) == 0);
    spending_hear(alone, &row, true); /* nobody is there */
    CHECK(near(spending_spent(alone, all), 3.25));
    spending_free(a);
    spending_free(alone);
}

static void test_a_start_counts_what_others_had_not_told_yet_once(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *a = node_new(&hands, 100, 2);
    uint64_t all = spending_key("all", NULL, ""), late = spending_key("late", NULL, "");
    struct key_spent row = {.own_usd = 1, .others_usd = 2};
    char month[11];
    key_store_periods(hands.wall_ms, row.period, month);
    spending_restore(a, all, 5); /* of which another node is to tell 1, and nobody tells 1 */
    spending_restore(a, late, 4);
    snprintf(row.whom, sizeof row.whom, "b%016llx", (unsigned long long)all);
    spending_hear(a, &row, true);
    CHECK(near(spending_today(a, all), 5));
    row.others_usd = 3;
    spending_hear(a, &row, false);
    CHECK(near(spending_today(a, all), 5));
    spending_hear(a, &row, false); /* the same again */
    CHECK(near(spending_today(a, all), 5));
    row.own_usd = 0;
    row.others_usd = 4.5;
    snprintf(row.whom, sizeof row.whom, "b%016llx", (unsigned long long)late);
    spending_hear(a, &row, false); /* there was no row at the start */
    CHECK(near(spending_today(a, late), 4.5));
    spending_set_nodes(a, 2); /* some seconds later: by now everybody has told it */
    spending_set_nodes(a, 2);
    snprintf(row.whom, sizeof row.whom, "b%016llx", (unsigned long long)all);
    row.others_usd = 3.5;
    row.own_usd = 1;
    spending_hear(a, &row, false);
    CHECK(near(spending_today(a, all), 5.5));
    spending_free(a);
}

static void test_all_sums_are_told_also_when_they_are_many(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *a = node_new(&hands, 20000, 1), *b = node_new(&hands, 20000, 1);
    size_t count = 0, some;
    for (int i = 0; i < 9000; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        spending_settle(a, spending_key("day", NULL, name), 0, 1 + i);
    }
    while ((some = tell(a, b, 0)) > 0)
        count += some;
    CHECK(count == 9000 && tell(a, b, 0) == 0);
    CHECK(near(spending_today(b, spending_key("day", NULL, "u0")), 1));
    CHECK(near(spending_today(b, spending_key("day", NULL, "u8999")), 9000));
    spending_settle(a, spending_key("day", NULL, "u7"), 0, 1);
    CHECK(tell(a, b, 0) == 1 && near(spending_today(b, spending_key("day", NULL, "u7")), 9));
    spending_free(a);
    spending_free(b);
}

/* A server of announcements for two nodes, as reach_script has it (src/cluster/share_scripts.h). */
struct server {
    double announced[2];
    bool away;
    uint32_t lost, asked;
};
struct server_door {
    struct server *server;
    int node;
};

static enum shared_room reach(void *ctx, const struct shared_sum *sum, double *granted,
                              double *others)
{
    struct server_door *door = ctx;
    struct server *server = door->server;
    if (server->away)
        return SHARED_AWAY;
    server->asked++;
    *others = fmax(server->announced[!door->node], sum->others);
    bool room = *others + sum->own <= sum->budget;
    *granted = room ? fmin(sum->own + sum->more, sum->budget - *others) : sum->had;
    server->announced[door->node] = *granted;
    return room ? SHARED_ROOM : SHARED_FULL;
}

static uint32_t losses(void *ctx)
{
    return ((struct server_door *)ctx)->server->lost;
}

static bool is_away(void *ctx, uint32_t *nodes)
{
    *nodes = 2;
    return ((struct server_door *)ctx)->server->away;
}

static void test_nobody_spends_the_last_of_a_budget_twice(void)
{
    struct hands hands;
    hands_init(&hands);
    struct server server = {.lost = 0};
    struct server_door ctx[2] = {{&server, 0}, {&server, 1}};
    struct spending *nodes[2];
    struct shared_limits doors[2];
    uint64_t all = spending_key("all", NULL, "");
    double whole = 0;
    for (int i = 0; i < 2; i++) {
        nodes[i] = node_new(&hands, 100, 2);
        doors[i] = (struct shared_limits){
            .ctx = &ctx[i], .reach = reach, .losses = losses, .away = is_away};
        spending_ask(nodes[i], &doors[i]);
    }
    for (int i = 0; i < 1000; i++) {
        struct spending *node = nodes[i % 2];
        if (!spending_fits(node, all, 100, 0.25))
            continue;
        spending_promise(node, all, 0.25);
        spending_settle(node, all, 0.25, 0.25);
        whole += 0.25;
    }
    CHECK(whole > 98 && whole <= 100);
    CHECK(server.asked < 1000); /* not for each of them */
    /* Without the server each takes the other to spend what it does. */
    server.away = true;
    server.lost++;
    uint64_t other = spending_key("other", NULL, "");
    for (whole = 0; spending_fits(nodes[0], other, 100, 1) && whole < 1000; whole++)
        spending_settle(nodes[0], other, 0, 1);
    CHECK(whole >= 49 && whole <= 51);
    CHECK(spending_fits(nodes[1], other, 100, 1));
    for (int i = 0; i < 2; i++)
        spending_free(nodes[i]);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    RUN(test_what_one_node_spends_counts_on_the_others);
    RUN(test_others_are_taken_to_spend_what_a_node_has_not_told_yet);
    RUN(test_a_start_knows_what_was_recorded_and_what_is_in_rows_once);
    RUN(test_a_start_counts_what_others_had_not_told_yet_once);
    RUN(test_all_sums_are_told_also_when_they_are_many);
    RUN(test_nobody_spends_the_last_of_a_budget_twice);
    return test_finish();
}
