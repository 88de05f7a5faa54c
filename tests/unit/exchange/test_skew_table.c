/* When two tiers count as skewed, and until when. */
#include "exchange/memory/skew_table.h"
#include "test.h"

#include <math.h>
#include <stdio.h>

static const struct tier_facts facts[] = {{.name = "local"}, {.name = "office"}, {.name = "cloud"}};
static const struct skew_sides sides = {{"cloud", "local"}, {"v1", "w1"}};

static size_t skewed(struct skew_table *table)
{
    struct skew_signal out = {.count = 9};
    skew_table_read(table, facts, 3, &out);
    return out.count;
}

static void count(struct skew_table *table, const struct skew_sides *of, int same, int differ)
{
    for (int i = 0; i < same || i < differ; i++) {
        if (i < same)
            skew_table_count(table, of, true);
        if (i < differ)
            skew_table_count(table, of, false);
    }
}

static void test_only_what_is_sure_skews_and_only_what_is_calm_ends_it(void)
{
    struct skew_table *table = skew_table_new();
    REQUIRE(table);
    skew_table_set_most(table, 0.5);
    count(table, &sides, 0, SKEW_COMPARED_MIN - 1);
    CHECK(skewed(table) == 0); /* too few */
    count(table, &sides, 0, 1);
    REQUIRE(skewed(table) == 1);
    struct skew_signal out;
    skew_table_read(table, facts, 3, &out);
    CHECK(out.pairs[0].tiers[0] == 2 && out.pairs[0].tiers[1] == 0);
    CHECK(out.pairs[0].differ == 1 && out.pairs[0].compared == SKEW_COMPARED_MIN);
    const struct skew_sides other_way = {{"local", "cloud"}, {"w1", "v1"}};
    count(table, &other_way, 24, 0); /* 20 of 44 differ: under the limit, but not calm */
    CHECK(skewed(table) == 1);
    count(table, &other_way, 7, 0); /* 20 of 51 */
    CHECK(skewed(table) == 0);
    count(table, &sides, 0, 5); /* 25 of 56: over the calm share, and not surely over the limit */
    CHECK(skewed(table) == 0);
    skew_table_free(table);
}

static void test_a_share_that_is_just_sure_does_not_flutter(void)
{
    struct skew_table *table = skew_table_new();
    REQUIRE(table);
    skew_table_set_most(table, 0.5);
    unsigned seed = 1, changes = 0;
    size_t before = 0;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        skew_table_count(table, &sides, (seed >> 16 & 0x7fff) < 14090);
        changes += skewed(table) != before;
        before = skewed(table);
    }
    CHECK(changes == 1); /* a judgement of its own after each answer changes hundreds of times */
    skew_table_free(table);
}

static void test_old_answers_fade_and_another_version_begins_anew(void)
{
    struct skew_table *table = skew_table_new();
    REQUIRE(table);
    skew_table_set_most(table, 0.5);
    count(table, &sides, 0, 5000);
    CHECK(skewed(table) == 1);
    count(table, &sides, 400, 0); /* two memories later the old ones weigh little */
    CHECK(skewed(table) == 0);
    count(table, &sides, 0, 1000);
    CHECK(skewed(table) == 1);
    const struct skew_sides updated = {{"local", "cloud"}, {"w2", "v1"}};
    count(table, &updated, 1, 0);
    CHECK(skewed(table) == 0);
    skew_table_free(table);
}

static void test_the_ledgers_counts_come_back_and_a_limit_is_judged_anew(void)
{
    struct skew_table *table = skew_table_new();
    REQUIRE(table);
    skew_table_set_most(table, 0.5);
    skew_table_restore(table, &sides, 4000, 400);
    CHECK(skewed(table) == 1);
    skew_table_restore(table, &sides, 400, 400); /* older: the first one counts */
    CHECK(skewed(table) == 1);
    skew_table_set_most(table, 1);
    CHECK(skewed(table) == 1); /* not calm */
    const struct skew_sides same = {{"office", "office"}, {"a", "a"}};
    const struct skew_sides unknown = {{"gone", "local"}, {NULL, ""}};
    skew_table_restore(table, &same, 100, 0);
    skew_table_restore(table, &unknown, 100, -1);
    skew_table_restore(table, &unknown, (double)NAN, 0);
    skew_table_set_most(table, 0.5);
    skew_table_restore(table, &unknown, 100, 0);
    CHECK(skewed(table) == 1);      /* a tier that is gone is in no ladder */
    for (int i = 0; i < 200; i++) { /* more than there is room for */
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        skew_table_count(table, &(struct skew_sides){{name, "local"}, {NULL, NULL}}, true);
    }
    CHECK(skewed(table) == 1);
    skew_table_free(table);
    skew_table_free(NULL);
}

int main(void)
{
    RUN(test_only_what_is_sure_skews_and_only_what_is_calm_ends_it);
    RUN(test_a_share_that_is_just_sure_does_not_flutter);
    RUN(test_old_answers_fade_and_another_version_begins_anew);
    RUN(test_the_ledgers_counts_come_back_and_a_limit_is_judged_anew);
    return test_finish();
}
