/* Matching, names, and the search for rules that nothing is left for, checked against trying every
 * request of a small world. */
#include "router/plan/routing_rules.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

static struct routing_rule any_rule(const char *name)
{
    struct routing_rule rule = {.name = name, .start = RULE_START_NONE, .data_class = -1};
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        rule.any[i] = RULE_WHATEVER;
    return rule;
}

static struct rule_facts nothing_known(void)
{
    struct rule_facts facts = {.flags = 0};
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        facts.has[i] = RULE_OTHER_BIT;
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++)
        facts.number[i] = (double)NAN;
    return facts;
}

static void bound(struct routing_rule *rule, enum rule_number number, double over, double under)
{
    rule->asked |= 1u << number;
    rule->range[number] = (struct rule_range){over, under};
}

static void test_all_conditions_must_hold(void)
{
    struct routing_rule rules[2] = {any_rule("narrow"), any_rule("wide")};
    struct routing_rules set = {.rules = rules, .count = 2};
    uint64_t code = routing_rules_add_name(&set, RULE_TASK, "code");
    uint64_t maths = routing_rules_add_name(&set, RULE_TASK, "maths");
    CHECK(code != maths && routing_rules_add_name(&set, RULE_TASK, "code") == code);
    rules[0].any[RULE_TASK] = code | maths;
    rules[0].yes = RULE_QUESTION;
    rules[0].no = RULE_FRESH;
    bound(&rules[0], RULE_TOKENS, 100, INFINITY);
    struct rule_facts facts = nothing_known();
    CHECK(routing_rules_match(&set, &facts) == &rules[1]);
    facts.has[RULE_TASK] = routing_rules_name_bit(&set, RULE_TASK, "maths");
    facts.number[RULE_TOKENS] = 101;
    facts.flags = RULE_QUESTION | RULE_CODE;
    CHECK(routing_rules_match(&set, &facts) == &rules[0]);
    facts.number[RULE_TOKENS] = 100; /* bounds are exclusive */
    CHECK(routing_rules_match(&set, &facts) == &rules[1]);
    facts.number[RULE_TOKENS] = (double)NAN; /* what is not known is not over */
    CHECK(routing_rules_match(&set, &facts) == &rules[1]);
    facts.number[RULE_TOKENS] = 101;
    facts.flags |= RULE_FRESH;
    CHECK(routing_rules_match(&set, &facts) == &rules[1]);
    facts.flags = 0;
    CHECK(routing_rules_match(&set, &facts) == &rules[1]);
    CHECK(routing_rules_name_bit(&set, RULE_TASK, "poems") == RULE_OTHER_BIT);
    CHECK(routing_rules_name_bit(&set, RULE_TASK, NULL) == RULE_OTHER_BIT);
}

static void test_the_table_of_names_has_an_end(void)
{
    static char names[RULE_NAMES_MAX + 1][8];
    struct routing_rules set = {.count = 0};
    for (size_t i = 0; i <= RULE_NAMES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "u%zu", i);
        uint64_t bit = routing_rules_add_name(&set, RULE_USER, names[i]);
        CHECK((bit == 0) == (i == RULE_NAMES_MAX) && bit != RULE_OTHER_BIT);
    }
}

static void test_a_rule_under_a_wider_one_is_found(void)
{
    struct routing_rule rules[2] = {any_rule("wide"), any_rule("narrow")};
    struct routing_rules set = {.rules = rules, .count = 2};
    bool alone = false;
    bound(&rules[0], RULE_TOKENS, 100, INFINITY);
    bound(&rules[1], RULE_TOKENS, 200, 300);
    CHECK(routing_rules_find_shadow(&set, 1, &alone) == 0 && alone);
    bound(&rules[1], RULE_TOKENS, 99, 300);
    CHECK(routing_rules_find_shadow(&set, 1, &alone) == SIZE_MAX);
    CHECK(routing_rules_find_shadow(&set, 0, &alone) == SIZE_MAX);
}

static void test_rules_that_cover_one_together_are_found(void)
{
    struct routing_rule rules[4] = {any_rule("low"), any_rule("high"), any_rule("unknown"),
                                    any_rule("rest")};
    struct routing_rules set = {.rules = rules, .count = 4};
    bool alone = true;
    bound(&rules[0], RULE_GAIN, -INFINITY, 0.5);
    bound(&rules[1], RULE_GAIN, 0.4, INFINITY);
    rules[2].yes = RULE_CODE;
    rules[3].yes = RULE_CODE;
    bound(&rules[3], RULE_GAIN, -1, 1);
    CHECK(routing_rules_find_shadow(&set, 3, &alone) == 2 && alone);
    rules[2] = any_rule("maths");
    rules[2].yes = RULE_MATHS;
    CHECK(routing_rules_find_shadow(&set, 3, &alone) == 1 && !alone);
    /* The bound itself is in neither: 0.4 stays. */
    bound(&rules[0], RULE_GAIN, -INFINITY, 0.4);
    CHECK(routing_rules_find_shadow(&set, 3, &alone) == SIZE_MAX);
    /* And with nothing asked, an unknown gain is left. */
    bound(&rules[0], RULE_GAIN, -INFINITY, 0.5);
    rules[3].asked = 0;
    CHECK(routing_rules_find_shadow(&set, 3, &alone) == SIZE_MAX);
}

/* A small world: 3 tasks, 2 flags, one number with 15 interesting values or unknown. */
static struct routing_rule random_rule(struct rng *rng)
{
    struct routing_rule rule = any_rule("random");
    uint64_t bits = rng_u64(rng);
    if (bits & 1)
        rule.any[RULE_TASK] = (bits >> 1 & 7) ? bits >> 1 & 7 : 7;
    if (bits & 16)
        rule.any[RULE_CLASS] = (bits >> 5 & 7) ? bits >> 5 & 7 : 1;
    rule.yes = (uint32_t)(bits >> 8 & 3 & (bits >> 10));
    rule.no = (uint32_t)(bits >> 12 & 3 & (bits >> 14)) & ~rule.yes;
    if (bits >> 16 & 1)
        bound(&rule, RULE_TOKENS, (double)(bits >> 17 & 3) - 1, (double)(bits >> 19 & 3) + 2);
    return rule;
}

static bool somebody_matches(const struct routing_rules *set, size_t index)
{
    for (unsigned world = 0; world < 3 * 3 * 4 * 16; world++) {
        struct rule_facts facts = nothing_known();
        unsigned value = world / 36;
        facts.has[RULE_TASK] = UINT64_C(1) << world % 3;
        facts.has[RULE_CLASS] = UINT64_C(1) << world / 3 % 3;
        facts.flags = world / 9 % 4;
        facts.number[RULE_TOKENS] = value ? (double)value / 2 - 2 : (double)NAN;
        if (routing_rules_match(set, &facts) == &set->rules[index])
            return true;
    }
    return false;
}

static void test_shadows_agree_with_trying_every_request(void)
{
    struct rng rng;
    rng_init(&rng, 7);
    size_t shadowed = 0;
    for (size_t round = 0; round < 4000; round++) {
        struct routing_rule rules[6];
        struct routing_rules set = {.rules = rules, .count = 6};
        bool alone;
        for (size_t i = 0; i < 6; i++)
            rules[i] = random_rule(&rng);
        /* In this world there is no fourth task or class. */
        rules[5].any[RULE_TASK] &= 7;
        rules[5].any[RULE_CLASS] &= 7;
        if (!rule_is_possible(&rules[5]))
            continue;
        bool found = routing_rules_find_shadow(&set, 5, &alone) != SIZE_MAX;
        shadowed += found;
        CHECK(found == !somebody_matches(&set, 5));
    }
    CHECK(shadowed > 100 && shadowed < 3900);
}

static void test_impossible_conditions_are_seen(void)
{
    struct routing_rule rule = any_rule("x");
    CHECK(rule_is_possible(&rule));
    bound(&rule, RULE_GAIN, 0.5, 0.5);
    CHECK(!rule_is_possible(&rule));
    rule = any_rule("x");
    rule.yes = rule.no = RULE_CODE;
    CHECK(!rule_is_possible(&rule));
    rule = any_rule("x");
    rule.any[RULE_HOUR] = 0;
    CHECK(!rule_is_possible(&rule));
}

static void test_the_flip_names_the_nearest_bound(void)
{
    struct routing_rule rule = any_rule("long");
    struct rule_facts facts = nothing_known();
    char text[RULE_FLIP_BYTES];
    bound(&rule, RULE_TOKENS, 2000, INFINITY);
    bound(&rule, RULE_GAIN, 0.1, INFINITY);
    facts.number[RULE_TOKENS] = 2100;
    facts.number[RULE_GAIN] = 0.9;
    rule_explain_flip(&rule, facts.number, text);
    CHECK(strstr(text, "tokens of at most 2000 instead of 2100") && strstr(text, "'long'"));
    rule = any_rule("code");
    rule.any[RULE_TASK] = 1;
    rule_explain_flip(&rule, facts.number, text);
    CHECK(strstr(text, "another task") != NULL);
    rule = any_rule("all");
    rule_explain_flip(&rule, facts.number, text);
    CHECK(strcmp(text, "without rule 'all', which always matches") == 0);
}

int main(void)
{
    RUN(test_all_conditions_must_hold);
    RUN(test_the_table_of_names_has_an_end);
    RUN(test_a_rule_under_a_wider_one_is_found);
    RUN(test_rules_that_cover_one_together_are_found);
    RUN(test_shadows_agree_with_trying_every_request);
    RUN(test_impossible_conditions_are_seen);
    RUN(test_the_flip_names_the_nearest_bound);
    return test_finish();
}
