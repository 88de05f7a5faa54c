/* Rules, applications and budgets of a configuration: what is compiled, and every mistake with its
 * file, line and reason. */
#include "scanners.h"
#include "test.h"

#include "app/config/config.h"
#include "app/config/presets.h"
#include "app/evidence/policy_cases.h"
#include "app/setup/policy/policy_build.h"
#include "base/core/str.h"

#include <math.h>

static const struct policy_learned nothing = {.confined = false};

static const char *home_only(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "HOME") == 0 ? "/home/test" : NULL;
}

static struct config *parse(const char *text, struct td_error *err)
{
    struct config *config = NULL;
    *err = (struct td_error){0};
    enum td_status status =
        config_parse("test.yaml", str_from(text), home_only, NULL, &config, err);
    CHECK((status == TD_OK) == (config != NULL));
    return config;
}

#define TIERS                                                               \
    "tiers:\n- {name: local, kind: local}\n- {name: cloud, kind: openai}\n" \
    "routes:\n- {name: auto, kind: hybrid, tiers: [local, cloud]}\n"        \
    "- {name: private, kind: local-only, tiers: [local]}\n" /* 6 lines */

static void test_a_rule_is_compiled_to_bits_and_ranges(void)
{
    struct td_error err;
    struct config *config = parse(
        TIERS
        "apps:\n- {name: web, key_env: WEB}\nrules:\n- name: all\n  when:\n"
        "    task: [code, maths]\n    route: auto\n    app: web\n    user: [a, b]\n    tag: t\n"
        "    class: [public, sensitive]\n    language: de\n    priority: batch\n"
        "    hours: [22-2, 9]\n    days: [sat, sun]\n    tokens_over: 2000\n    gain_over: 0.3\n"
        "    slo_ms_under: 100\n    code: true\n    fresh: false\n"
        "    device: {battery_under: 20, network: [offline, metered], on_battery: true}\n"
        "  then: {tiers: [local], start: local, class: sensitive, escalate: false,\n"
        "         weights: {cost: 0.5}}\n",
        &err);
    if (!config)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(config != NULL && config->rule_set.count == 1);
    const struct routing_rule *rule = &config->rule_set.rules[0];
    CHECK(rule->any[RULE_TASK] == 3 && rule->any[RULE_ROUTE] == 1 && rule->any[RULE_APP] == 1);
    CHECK(rule->any[RULE_USER] == 3 && rule->any[RULE_TAG] == 1 && rule->any[RULE_CLASS] == 3);
    CHECK(rule->any[RULE_LANGUAGE] == 1u << LANGUAGE_GERMAN && rule->any[RULE_PRIORITY] == 2);
    CHECK(rule->any[RULE_NETWORK] == (1u << TD_NETWORK_OFFLINE | 1u << TD_NETWORK_METERED));
    CHECK(rule->any[RULE_HOUR] == (1u << 22 | 1u << 23 | 1u | 2u | 1u << 9));
    CHECK(rule->any[RULE_DAY] == (1u << 5 | 1u << 6));
    CHECK(rule->asked ==
          (1u << RULE_TOKENS | 1u << RULE_GAIN | 1u << RULE_SLO_MS | 1u << RULE_BATTERY));
    CHECK(rule->range[RULE_TOKENS].over == 2000 && isinf(rule->range[RULE_TOKENS].under));
    CHECK(rule->yes == (RULE_CODE | RULE_ON_BATTERY) && rule->no == RULE_FRESH);
    CHECK(rule->tiers == 1 && rule->start == 0 && rule->stays && rule->weights.cost == 0.5);
    CHECK(rule->data_class == TD_CLASS_SENSITIVE && !rule->deny);
    config_free(config);
}

#define RULE(when, then) "- {name: r, when: {" when "}, then: {" then "}}\n"

static void test_mistakes_in_rules_name_line_and_reason(void)
{
    static const struct {
        const char *text, *words[4];
    } cases[] = {
        {"rules:\n- {name: r, then: {only: local}, wen: {}}\n", {"test.yaml:8", "'wen'", "'when'"}},
        {"rules:\n- {name: r}\n", {"test.yaml:8", "(r)", "'then'"}},
        {"rules:\n- {name: r, then: {}}\n", {"test.yaml:8", "'r'", "does nothing"}},
        {"rules:\n" RULE("toknes_over: 1", "only: local"), {"test.yaml:8", "'tokens_over'"}},
        {"rules:\n" RULE("tokens_over: many", "only: local"), {"test.yaml:8", "number", "many"}},
        {"rules:\n" RULE("class: secret", "only: local"), {"test.yaml:8", "secret", "restricted"}},
        {"rules:\n" RULE("class: []", "only: local"), {"test.yaml:8", "list"}},
        {"rules:\n" RULE("hours: 25", "only: local"), {"test.yaml:8", "'25'", "22-6"}},
        {"rules:\n" RULE("hours: 9-9", "only: local"), {"test.yaml:8", "'9-9'"}},
        {"rules:\n" RULE("route: atuo", "only: local"), {"test.yaml:8", "'atuo'", "'auto'"}},
        {"rules:\n" RULE("app: web", "only: local"), {"test.yaml:8", "app", "'web'"}},
        {"rules:\n" RULE("gain_over: 0.5, gain_under: 0.5", "only: local"),
         {"test.yaml:8", "never match", "gain"}},
        {"rules:\n" RULE("code: maybe", "only: local"), {"test.yaml:8", "maybe", "true"}},
        {"rules:\n" RULE("", "tiers: clod"), {"test.yaml:8", "'clod'", "'cloud'"}},
        {"rules:\n" RULE("", "start: clodu"), {"test.yaml:8", "'clodu'"}},
        {"rules:\n" RULE("", "only: local, tiers: cloud"), {"test.yaml:8", "leaves no tier"}},
        {"rules:\n" RULE("", "places: premises"), {"test.yaml:8", "leaves no tier"}},
        {"rules:\n" RULE("route: private", "only: cloud"), {"test.yaml:8", "leaves no tier"}},
        {"rules:\n" RULE("", "only: local, start: cloud"), {"test.yaml:8", "starts on 'cloud'"}},
        {"rules:\n" RULE("", "deny: no, only: local"), {"test.yaml:8", "denies"}},
        {"rules:\n" RULE("", "weights: {cost: 2}"), {"test.yaml:8", "cost", "from 0 to 1"}},
        {"rules:\n" RULE("", "only: local") RULE("", "deny: x"), {"test.yaml:9", "'r'", "line 8"}},
        {"rules:\n- {name: a, when: {tokens_over: 10}, then: {only: local}}\n"
         "- {name: b, when: {tokens_over: 20, code: true}, then: {only: cloud}}\n",
         {"test.yaml:9", "'b'", "never be reached", "'a'"}},
        {"rules:\n- {name: a, when: {gain_over: 0.2}, then: {only: local}}\n"
         "- {name: b, when: {gain_under: 0.3}, then: {only: local}}\n"
         "- {name: c, when: {gain_over: -0.5}, then: {only: local}}\n",
         {"test.yaml:10", "'c'", "never be reached", "rules down to 'b'"}},
        {"rules: {name: a}\n", {"test.yaml:7", "list"}},
        {"policy: {preset: s2-matirx}\n", {"s2-matirx", "'s2-matrix'"}},
        {"apps:\n- {name: a}\n", {"test.yaml:8", "one of key_env", "'a'"}},
        {"apps:\n- {name: a, key_env: A, key_file: B}\n", {"test.yaml:8", "one of key_env"}},
        {"apps:\n- {name: a, key_sha256: abc}\n", {"test.yaml:8", "64", "'a'"}},
        {"apps:\n- {name: a, key_env: A}\n- {name: a, key_env: B}\n", {"test.yaml:9", "two apps"}},
        {"budgets:\n- {name: b}\n", {"test.yaml:8", "'usd_per_day'"}},
        {"budgets:\n- {name: b, per_day: 5}\n", {"test.yaml:8", "unit", "usd_per_day"}},
        {"budgets:\n- {name: b, usd_per_day: 5 EUR}\n", {"test.yaml:8", "number", "5 EUR"}},
        {"budgets:\n- {name: b, usd_per_day: 0}\n", {"test.yaml:8", "usd_per_day"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct td_error err;
        snprintf(text, sizeof text, TIERS "%s", cases[i].text);
        struct config *config = parse(text, &err);
        CHECK(config == NULL);
        config_free(config);
        for (size_t w = 0; w < 4 && cases[i].words[w]; w++) {
            if (!strstr(err.message, cases[i].words[w]))
                fprintf(stderr, "case %zu: '%s' is not in: %s\n", i, cases[i].words[w],
                        err.message);
            CHECK(strstr(err.message, cases[i].words[w]) != NULL);
        }
    }
}

static void test_prices_need_their_unit(void)
{
    static const char *const prices[] = {"{input: 1}", "{output: 1}", "{output_per_mtok: 1}"};
    struct td_error err;
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "tiers:\n- name: c\n  kind: openai\n  price: %s\n", prices[i]);
        CHECK(parse(text, &err) == NULL);
        CHECK(strstr(err.message, "test.yaml:4") && strstr(err.message, "unit") &&
              strstr(err.message, "_usd_per_mtok"));
    }
    CHECK(parse("tiers:\n- {name: c, kind: openai, price: 0.15}\n", &err) == NULL);
    CHECK(strstr(err.message, "test.yaml:2") && strstr(err.message, "price"));
}

static void test_every_preset_compiles_after_the_operators_own_rules(void)
{
    for (const struct preset *preset = presets; preset->name; preset++) {
        char text[512];
        struct td_error err;
        snprintf(text, sizeof text,
                 TIERS "rules:\n- {name: mine, when: {user: me}, then: {only: local}}\n"
                       "policy: {preset: %s}\n",
                 preset->name);
        struct config *config = parse(text, &err);
        if (!config)
            fprintf(stderr, "%s\n", err.message);
        REQUIRE(config != NULL);
        CHECK(config->rule_set.count > 4 && config->rules[0].line == 8 && !config->rules[1].line);
        config_free(config);
    }
}

static void test_the_version_follows_what_decides_and_not_comments(void)
{
    static const char *const texts[] = {
        TIERS "rules:\n- {name: r, when: {tokens_over: 5}, then: {only: local}}\n",
        TIERS "rules: # a comment\n- {name: r, when: {tokens_over: 5}, then: {only: local}}\n",
        TIERS "rules:\n- {name: r, when: {tokens_over: 6}, then: {only: local}}\n",
        TIERS "policy: {error_usd: 1}\n",
        TIERS "policy: {weights: {cost: 1}}\n",
        TIERS "budgets: [{name: b, usd_per_day: 1}]\n"};
    char versions[6][17];
    for (size_t i = 0; i < 6; i++) {
        static struct policy_parts parts;
        struct td_error err;
        struct config *config = parse(texts[i], &err);
        REQUIRE(config != NULL);
        CHECK(policy_build(config, &nothing, &parts, &err) == TD_OK);
        memcpy(versions[i], parts.version, sizeof parts.version);
        config_free(config);
    }
    CHECK(strcmp(versions[0], versions[1]) == 0);
    for (size_t i = 2; i < 6; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(versions[i], versions[j]) != 0);
}

static void test_a_rule_on_what_nobody_predicts_is_refused(void)
{
    static struct policy_parts parts;
    struct td_error err;
    struct config *config =
        parse(TIERS "rules:\n- {name: r, when: {task: code}, then: {only: local}}\n", &err);
    REQUIRE(config != NULL);
    CHECK(policy_build(config, &nothing, &parts, &err) == TD_INVALID);
    CHECK(strstr(err.message, "test.yaml:8") && strstr(err.message, "router.classifier"));
    config_free(config);
}

static void test_assertions_are_read_and_told_apart(void)
{
    static const struct {
        const char *expect, *mismatch;
    } cases[] = {
        {"tier: local, rule: long", ""},
        {"tier: cloud", "tier: expected cloud, got local"},
        {"rule: none, denied: true", "rule: expected none, got long; denied: expected true"},
        {"removed: cloud", ""},
        {"removed: local", "removed: expected local"},
        {"reason: removed_rule, by: route", ""},
        {"reason: removed_class", "reason: expected removed_class"},
    };
    static struct policy_parts parts;
    struct td_error err = {0};
    struct config *config =
        parse(TIERS "rules:\n- {name: long, when: {tokens_over: 9}, then: {only: local}}\n", &err);
    REQUIRE(config != NULL && policy_build(config, &nothing, &parts, &err) == TD_OK);
    const struct policy_subject subject = {config, &parts.policy, NULL, plain_scanner()};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct policy_cases read;
        struct policy_outcome outcome;
        char text[512];
        snprintf(text, sizeof text, "tests:\n- {name: t, given: {tokens: 10}, expect: {%s}}\n",
                 cases[i].expect);
        REQUIRE(policy_cases_read("t.yaml", str_from(text), arena, &read, &err) == TD_OK);
        REQUIRE(read.count == 1);
        CHECK(policy_case_run(&subject, &read.cases[0], &outcome, &err) == TD_OK);
        CHECK(cases[i].mismatch[0] ? strstr(outcome.mismatch, cases[i].mismatch) != NULL
                                   : !outcome.mismatch[0]);
        arena_free(arena);
    }
    config_free(config);
}

static void test_broken_assertions_name_their_line(void)
{
    static const struct {
        const char *text, *words[2];
    } cases[] = {
        {"- a\n", {"t.yaml:1", "'tests'"}},
        {"tests:\n- {name: t, expect: {}}\n", {"t.yaml:2", "expects nothing"}},
        {"tests:\n- {name: t}\n", {"t.yaml:2", "'expect'"}},
        {"tests:\n- {name: t, given: {txet: a}, expect: {tier: x}}\n", {"t.yaml:2", "'text'"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        struct arena *arena = arena_new(1u << 20);
        struct policy_cases read;
        CHECK(policy_cases_read("t.yaml", str_from(cases[i].text), arena, &read, &err) ==
              TD_INVALID);
        CHECK(strstr(err.message, cases[i].words[0]) && strstr(err.message, cases[i].words[1]));
        arena_free(arena);
    }
}

int main(void)
{
    RUN(test_a_rule_is_compiled_to_bits_and_ranges);
    RUN(test_mistakes_in_rules_name_line_and_reason);
    RUN(test_prices_need_their_unit);
    RUN(test_every_preset_compiles_after_the_operators_own_rules);
    RUN(test_the_version_follows_what_decides_and_not_comments);
    RUN(test_a_rule_on_what_nobody_predicts_is_refused);
    RUN(test_assertions_are_read_and_told_apart);
    RUN(test_broken_assertions_name_their_line);
    return test_finish();
}
