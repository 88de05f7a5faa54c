/* Who may see which class: every class against six tiers, and rules drawn at random. */
#include "router/plan/reach.h"

#include "base/crypto/rng.h"
#include "privacy/scan/privacy.h"
#include "test.h"

static const char *const eu[] = {"eu", NULL}, *const baa[] = {"baa", NULL};
static const char *const baa_and_more[] = {"no-retention", "baa", NULL};

static const struct tier_facts six[] = {
    {.name = "local", .place = TD_PLACE_DEVICE},
    {.name = "house", .place = TD_PLACE_PREMISES},
    {.name = "eu-baa", .place = TD_PLACE_CLOUD, .region = "eu-west-1", .certified = baa_and_more},
    {.name = "us-baa", .place = TD_PLACE_CLOUD, .region = "us-east-1", .certified = baa},
    {.name = "eu-plain", .place = TD_PLACE_REGION, .region = "eu"},
    {.name = "plain", .place = TD_PLACE_CLOUD},
};

static void check_rule(const struct class_rule *rule, const bool wanted[6])
{
    struct class_rule rules[CLASS_COUNT] = {[TD_CLASS_CONTRACTUAL] = *rule};
    for (int t = 0; t < 6; t++) {
        struct tier_facts facts = six[t];
        facts.ruled = true;
        facts.sees = reach_classes(rules, &facts);
        CHECK(reach_allowed(&facts, TD_CLASS_CONTRACTUAL) == wanted[t]);
        CHECK(reach_allowed(&facts, TD_CLASS_PUBLIC));
        CHECK(reach_allowed(&facts, TD_CLASS_SENSITIVE) ==
              privacy_may_reach(TD_CLASS_SENSITIVE, facts.place));
        CHECK(reach_allowed(&facts, TD_CLASS_RESTRICTED) == (t == 0));
    }
}

static void test_a_rule_names_places_regions_tiers_and_certificates(void)
{
    static const char *const only[] = {"local", "us-baa", NULL};
    const unsigned everywhere = 15, cloud = 1u << TD_PLACE_CLOUD;
    check_rule(&(struct class_rule){true, everywhere, NULL, NULL, NULL},
               (bool[]){true, true, true, true, true, true});
    check_rule(&(struct class_rule){true, everywhere, eu, NULL, NULL},
               (bool[]){true, true, true, false, true, false});
    check_rule(&(struct class_rule){true, everywhere, NULL, NULL, baa},
               (bool[]){true, true, true, true, false, false});
    check_rule(&(struct class_rule){true, everywhere, eu, NULL, baa_and_more},
               (bool[]){true, true, true, false, false, false});
    check_rule(&(struct class_rule){true, everywhere, NULL, only, NULL},
               (bool[]){true, false, false, true, false, false});
    /* work that must be done where there is a certificate: not even here */
    check_rule(&(struct class_rule){true, cloud, NULL, NULL, baa},
               (bool[]){false, false, true, true, false, false});
}

static void test_without_rules_the_place_decides(void)
{
    for (int t = 0; t < 6; t++)
        for (int c = 0; c < CLASS_COUNT; c++)
            CHECK(reach_allowed(&six[t], (enum td_data_class)c) ==
                  privacy_may_reach((enum td_data_class)c, six[t].place));
    struct tier_facts longer = {.name = "t", .place = TD_PLACE_CLOUD, .region = "europe"};
    const struct class_rule rules[CLASS_COUNT] = {
        [TD_CLASS_SENSITIVE] = {true, 15, eu, NULL, NULL}};
    CHECK(
        !(reach_classes(rules, &longer) >> TD_CLASS_SENSITIVE & 1)); /* a beginning is not enough */
}

/* 100,000 tiers under rules drawn at random: restricted data and odd classes never leave, and what
 * is allowed is so for a reason that the rule gives. */
static void test_no_rule_lets_restricted_data_off_the_device(void)
{
    struct rng rng;
    rng_init(&rng, 20261122);
    for (int i = 0; i < 100000; i++) {
        struct class_rule rules[CLASS_COUNT] = {0};
        for (int c = 0; c < CLASS_COUNT; c++)
            rules[c] = (struct class_rule){rng_below(&rng, 2) != 0, (unsigned)rng_below(&rng, 16),
                                           rng_below(&rng, 2) ? eu : NULL, NULL,
                                           rng_below(&rng, 2) ? baa : NULL};
        struct tier_facts facts = six[rng_below(&rng, 6)];
        facts.ruled = true;
        facts.sees = reach_classes(rules, &facts);
        bool device = facts.place == TD_PLACE_DEVICE;
        CHECK(device || !reach_allowed(&facts, TD_CLASS_RESTRICTED));
        CHECK(reach_allowed(&facts, (enum td_data_class)(CLASS_COUNT + i % 7)) == device);
        for (int c = 0; c < TD_CLASS_RESTRICTED; c++) {
            const struct class_rule *rule = &rules[c];
            if (!rule->given || !reach_allowed(&facts, (enum td_data_class)c))
                continue;
            CHECK(rule->places >> facts.place & 1);
            CHECK(!rule->certified || facts.place < TD_PLACE_REGION || facts.certified);
            CHECK(!rule->regions || facts.place < TD_PLACE_REGION || facts.region[0] == 'e');
        }
    }
    struct tier_facts odd = {.name = "odd", .place = (enum td_place)9, .ruled = true, .sees = ~0u};
    CHECK(!reach_allowed(&odd, TD_CLASS_PUBLIC));
}

int main(void)
{
    RUN(test_a_rule_names_places_regions_tiers_and_certificates);
    RUN(test_without_rules_the_place_decides);
    RUN(test_no_rule_lets_restricted_data_off_the_device);
    return test_finish();
}
