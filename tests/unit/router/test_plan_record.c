/* A record of what a plan was made from gives the same plan again, through JSON as a text. */
#include "router/plan/plan_record.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/json/json.h"
#include "test.h"

#include <math.h>

enum { TIERS = 4, WORDS = 4, EXCHANGES = 10000 };

static const char *const names[TIERS] = {"local", "office", "near", "cloud"};
static const char *const words[WORDS] = {"legal", "draft", "now", "tax"};
static const char *const regions[] = {"eu", "us", "de"};

struct world {
    struct rng rng;
    struct tier_facts facts[TIERS];
    struct tier_state states[TIERS];
    struct route route;
    struct routing_rule rule;
    struct routing_rules rules;
    struct policy policy;
    struct td_weights weights, app_weights;
    struct signals signals;
    const char *tags[TD_TAGS_MAX], *regions[TD_REGIONS_MAX + 1];
    size_t named;
    enum td_mode mode;
};

static bool chance(struct world *w, double share)
{
    return rng_double(&w->rng) < share;
}

static uint32_t below(struct world *w, uint32_t bound)
{
    return (uint32_t)(rng_double(&w->rng) * bound);
}

static double some(struct world *w, double share, double most)
{
    return chance(w, share) ? most * rng_double(&w->rng) : 0;
}

static struct td_weights weights_by_lot(struct world *w, double share)
{
    struct td_weights weights = {.set = chance(w, share)};
    if (weights.set)
        weights = (struct td_weights){some(w, 0.7, 1), some(w, 0.7, 1), some(w, 0.7, 1), true};
    return weights;
}

static void make_tiers(struct world *w)
{
    for (size_t i = 0; i < TIERS; i++) {
        w->facts[i] = (struct tier_facts){
            .name = names[i],
            .model = "m",
            .place = (enum td_place)i,
            .has_key = !chance(w, 0.1),
            .loopback = i > 0 && chance(w, 0.3),
            .context_tokens = i == 0 ? 1000 + below(w, 5000) : 8192,
            .lacks = i == 0 ? below(w, 2048) & below(w, 2048) & below(w, 2048) : 0,
            .region = i > 1 && chance(w, 0.5) ? "eu-central-1" : NULL,
            .people = i == 3 && chance(w, 0.3),
            .sla_s = 5,
            .tickets_max = 3,
            .sees = 0xf,
            .pseudonyms = true,
            .input_usd_per_mtok = (double)i,
            .output_usd_per_mtok = 4.0 * (double)i,
            .adapts_always = i == 0 && chance(w, 0.1),
            .uncalibrated = i == 0 && chance(w, 0.2),
            .has_thresholds = i == 0 && chance(w, 0.2),
            .threshold = {INFINITY, chance(w, 0.3) ? INFINITY : 0.8, 0.5},
        };
        w->facts[i].ruled = w->facts[i].people;
        w->states[i] = (struct tier_state){
            .reachable = !chance(w, 0.15),
            .prompt_tokens = 1 + below(w, 3000),
            .ttft_p95_ms = some(w, 0.7, 3000),
            .total_p50_ms = some(w, 0.7, 9000),
            .total_p95_ms = some(w, 0.7, 20000),
            .unloaded = i == 0 && chance(w, 0.1),
            .load_ms = below(w, 3000),
            .wait_ms = some(w, 0.4, 20000),
            .forecast_ttft_ms = some(w, 0.7, 3000),
            .forecast_total_ms = some(w, 0.7, 20000),
            .tickets = w->facts[i].people ? below(w, 6) : 0,
        };
        if (!w->states[i].reachable) {
            w->states[i].rest = (enum tier_rest)(1 + below(w, REST_COUNT - 1));
            w->states[i].rest_ms = below(w, 60000);
            w->states[i].rest_http = chance(w, 0.5) ? 503 : 0;
        }
    }
    if (chance(w, 0.1)) /* filled to the last token, which is enough where nothing is written */
        w->facts[0].context_tokens = w->states[0].prompt_tokens;
}

/* Conditions on what only the record has. */
static void ask_by_lot(struct world *w)
{
    struct routing_rule *rule = &w->rule;
    if (chance(w, 0.4)) { /* one tag or another of two, or none of these */
        uint64_t tags = 0;
        for (int i = 0; i < 2; i++)
            tags |= routing_rules_add_name(&w->rules, RULE_TAG, words[below(w, WORDS)]);
        rule->any[RULE_TAG] = chance(w, 0.7) ? tags : ~tags;
    }
    if (chance(w, 0.2))
        *(chance(w, 0.5) ? &rule->yes : &rule->no) = RULE_ON_BATTERY;
    if (chance(w, 0.2))
        *(chance(w, 0.5) ? &rule->yes : &rule->no) |= chance(w, 0.5) ? RULE_TOOLS : RULE_MEDIA;
    if (chance(w, 0.2)) {
        rule->asked = 1u << RULE_TOKENS;
        rule->range[RULE_TOKENS].over = below(w, 3000);
    }
}

static void make_policy(struct world *w)
{
    w->route = (struct route){
        .name = "auto",
        .kind = ROUTE_HYBRID,
        .tiers = {names[0], names[1], names[2], names[3]},
        .tier_count = TIERS,
        .start = chance(w, 0.3) ? names[below(w, TIERS)] : NULL,
        .mode = (enum td_mode)below(w, 3),
        .pseudonyms = chance(w, 0.5),
        .region = chance(w, 0.1) ? "eu" : NULL,
        .ramp_to = chance(w, 0.3) ? names[3] : NULL,
        .overflow_after_ms = chance(w, 0.7) ? 2000 : 0,
        .explore_share = some(w, 0.3, 0.5),
        .gates = {.g2_on = chance(w, 0.5),
                  .g3_on = chance(w, 0.5),
                  .g3_given = chance(w, 0.3),
                  .risk = (int)below(w, RISK_LEVEL_COUNT),
                  .commit_tokens = 32,
                  .g0_tokens_over = chance(w, 0.3) ? 1500 : 0,
                  .g0_gain_over = some(w, 0.3, 1),
                  .g0_p_local_under = some(w, 0.3, 1)},
        .weights = weights_by_lot(w, 0.2),
    };
    w->rule = (struct routing_rule){.name = "r", .start = RULE_START_NONE, .data_class = -1};
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        w->rule.any[i] = RULE_WHATEVER;
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++)
        w->rule.range[i] = (struct rule_range){-(double)INFINITY, (double)INFINITY};
    if (chance(w, 0.5)) /* it raises the class that it asks for */
        w->rule.any[RULE_CLASS] = UINT64_C(1) << TD_CLASS_PUBLIC;
    if (chance(w, 0.5))
        w->rule.data_class = TD_CLASS_SENSITIVE;
    if (chance(w, 0.3))
        w->rule.start = RULE_START_CLOUD;
    w->rule.weights = weights_by_lot(w, 0.3);
    w->rules = (struct routing_rules){.rules = &w->rule, .count = chance(w, 0.6)};
    ask_by_lot(w);
    w->app_weights = weights_by_lot(w, 0.3);
    w->policy = (struct policy){.routes = &w->route,
                                .route_count = 1,
                                .rules = &w->rules,
                                .weights = weights_by_lot(w, 0.2),
                                .worth = {0.001, 0.001, 0.02}};
}

static void make_request(struct world *w)
{
    w->mode = (enum td_mode)(chance(w, 0.7) ? TD_MODE_AUTO : below(w, 5));
    w->weights = weights_by_lot(w, 0.3);
    w->named = chance(w, 0.1) ? below(w, TIERS) : SIZE_MAX;
    for (size_t i = 0; i < 3; i++)
        w->tags[i] = words[below(w, WORDS)];
    w->regions[0] = regions[below(w, 3)];
    w->signals = (struct signals){
        .data_class = (enum td_data_class)below(w, 4),
        .masked = chance(w, 0.3),
        .consent_missing = chance(w, 0.05) ? "nobody gave one" : NULL,
        .regions = chance(w, 0.1) ? w->regions : NULL,
        .mode = w->mode,
        .tokens_max = below(w, 2000),
        .prompt_only = chance(w, 0.2),
        .keep_nothing = chance(w, 0.2),
        .needs = chance(w, 0.3) ? 1u << below(w, 14) : 0,
        .judged = chance(w, 0.8),
        .gain = rng_double(&w->rng) * 2 - 1,
        .p_local = rng_double(&w->rng),
        .p_strong = rng_double(&w->rng),
        .prompt_tokens = w->states[0].prompt_tokens,
        .tags = w->tags,
        .tag_count = below(w, 4),
        .batch = chance(w, 0.1),
        .draw = rng_double(&w->rng),
        .slo_ttft_ms = chance(w, 0.2) ? 200 + below(w, 3000) : 0,
        .slo_ms = chance(w, 0.3) ? 200 + below(w, 20000) : 0,
        .deadline_ms = 600000,
        .moment = {.hour = (int)below(w, 24),
                   .battery = 50,
                   .on_battery = chance(w, 0.2),
                   .battery_low = chance(w, 0.1),
                   .device_level = (enum device_level)(chance(w, 0.2) ? DEVICE_WALL : DEVICE_USUAL),
                   .device_why = "the device is hot",
                   .spares_power = chance(w, 0.2),
                   .network = (enum td_network)below(w, 4),
                   .day_tokens = NAN},
        .budget_used = NAN,
        .capped_at = chance(w, 0.1) ? 10 : 0,
    };
    if (w->signals.needs & CAPABILITY_SAMPLING)
        w->signals.sampling = "top_a";
    if (w->signals.masked)
        w->signals.masked_class = TD_CLASS_PUBLIC;
    if (chance(w, 0.3)) {
        w->signals.budget = "team";
        w->signals.budget_used = rng_double(&w->rng) * 1.2;
        w->signals.budget_left_usd = rng_double(&w->rng) / 100;
    }
    if (w->route.ramp_to && chance(w, 0.7))
        w->signals.ramp = (struct ramp_signal){true, chance(w, 0.2), chance(w, 0.5), 12.5};
    if (chance(w, 0.3))
        w->signals.remembered =
            (struct remembered){(enum remembered_by)(1 + below(w, 2)), below(w, TIERS),
                                rng_double(&w->rng) / 4, chance(w, 0.2), chance(w, 0.2)};
    if (chance(w, 0.4))
        w->signals.skew =
            (struct skew_signal){.policy = (enum skew_policy)below(w, 3),
                                 .local_share = 0.3,
                                 .draw = rng_double(&w->rng),
                                 .goes_on = w->signals.remembered.by == REMEMBERED_CONVERSATION,
                                 .pairs = {{{1 + below(w, TIERS - 1), 0}, rng_double(&w->rng), 20}},
                                 .count = 1};
}

/* What people read of a record; replay_signals.c takes these from members of their own. */
static void keep_what_is_read_elsewhere(const struct signals *from, struct signals *to)
{
    *to = *from;
    to->data_class = TD_CLASS_PUBLIC;
    to->mode = TD_MODE_AUTO;
    to->masked = to->prompt_only = to->keep_nothing = false;
    to->masked_class = TD_CLASS_PUBLIC;
    to->consent_missing = to->sampling = to->budget = NULL;
    to->regions = to->tags = NULL;
    to->tag_count = 0;
    to->needs = to->capped_at = to->prompt_tokens = 0;
    to->budget_left_usd = 0;
    to->moment.on_battery = to->moment.battery_low = false;
    to->ramp = (struct ramp_signal){.on = false};
    to->remembered = (struct remembered){.by = REMEMBERED_NOTHING};
    to->skew = (struct skew_signal){.count = 0};
    to->weights = (struct td_weights){.set = false};
    to->rule = NULL;
}

static struct json *through_text(const struct plan_record_input *input)
{
    struct buf text;
    struct json_writer writer;
    struct json *again = NULL;
    buf_init(&text, 1 << 20);
    json_writer_begin(&writer, &text);
    plan_record_write(input, NULL, &writer);
    CHECK(json_parse(buf_view(&text), &again, NULL) == TD_OK);
    buf_deinit(&text);
    return again;
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
    bool same = a->rung_count == b->rung_count && a->climb_count == b->climb_count &&
                a->mode == b->mode && a->reason_count == b->reason_count &&
                a->decision.by == b->decision.by && a->decision.start == b->decision.start &&
                a->decision.runner_up == b->decision.runner_up && a->reduced == b->reduced &&
                a->spent == b->spent;
    for (size_t i = 0; same && i < TIERS; i++)
        same = decision_propensity(&a->decision, i) == decision_propensity(&b->decision, i);
    for (size_t i = 0; same && i < a->rung_count; i++)
        same = a->rungs[i] == b->rungs[i];
    for (size_t i = 0; same && i < a->reason_count; i++)
        same = a->reasons[i].code == b->reasons[i].code &&
               strcmp(a->reasons[i].text, b->reasons[i].text) == 0;
    return same;
}

static void test_the_same_policy_makes_the_same_plan_of_ten_thousand_records(void)
{
    static struct world w;
    static struct plan then, now;
    size_t moved = 0, empty = 0, drawn = 0, skewed = 0, full = 0;
    rng_init(&w.rng, 7);
    for (int i = 0; i < EXCHANGES; i++) {
        make_tiers(&w);
        make_policy(&w);
        make_request(&w);
        struct signals read;
        keep_what_is_read_elsewhere(&w.signals, &read);
        policy_apply_rules(&w.policy, &w.route, &w.weights, &w.app_weights, &w.signals);
        plan_make(&w.route, w.named, &w.signals, w.facts, w.states, TIERS, &then);
        const struct plan_record_input input = {&w.signals, w.mode, &w.weights, w.facts,
                                                w.states,   TIERS,  false};
        struct json *record = through_text(&input);
        struct tier_facts facts[TIERS];
        struct tier_state states[TIERS];
        struct plan_record_lists lists;
        struct td_weights weights = {.set = false};
        for (size_t t = 0; t < TIERS; t++) { /* as the configuration alone has them */
            facts[t] = w.facts[t];
            facts[t].has_key = true;
            facts[t].loopback = false;
            states[t] = (struct tier_state){.reachable = true};
            facts[t].adapts_always = facts[t].uncalibrated = facts[t].has_thresholds = false;
            if (t == 0)
                facts[t].context_tokens = facts[t].lacks = 0;
        }
        plan_record_read(record, &lists, &read, &weights, facts, states, TIERS);
        policy_apply_rules(&w.policy, &w.route, &weights, &w.app_weights, &read);
        plan_make(&w.route, w.named, &read, facts, states, TIERS, &now);
        moved += !same_plan(&then, &now);
        empty += then.rung_count == 0;
        drawn += then.decision.by == DECIDED_BY_DRAW;
        skewed += then.decision.by == DECIDED_BY_SKEW;
        for (size_t r = 0; r < then.reason_count; r++)
            full += then.reasons[r].code == REASON_REMOVED_FULL;
        plan_deinit(&then);
        plan_deinit(&now);
        json_free(record);
    }
    CHECK(moved == 0);
    CHECK(drawn > 0 && full > 0 && skewed > 0);
    CHECK(empty > EXCHANGES / 100 && empty < EXCHANGES * 9 / 10); /* the lots are worth something */
}

static void test_nonsense_in_a_record_changes_nothing_that_could_break(void)
{
    static const char *const texts[] = {
        "{}", "[]",
        "{\"class\":\"public\",\"mode\":\"auto\",\"tiers\":{\"local\":{\"rest\":99,\"rest_http\":-"
        "5,"
        "\"tokens\":-1,\"wait_ms\":\"x\"}},\"regions\":[1,\"eu\",\"a\",\"b\"],\"tags\":\"t\","
        "\"needs\":1e300,\"remembered\":{\"by\":77,\"tier\":\"local\"}}",
        "{\"class\":\"public\",\"mode\":\"auto\",\"skew\":{\"policy\":77,\"pairs\":[7,{\"tier\":"
        "\"local\",\"other\":\"no such\"},{\"tier\":3},{}]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json *record = NULL;
        struct tier_facts facts = {.name = "local", .has_key = true};
        struct tier_state state = {.reachable = true};
        struct plan_record_lists lists;
        struct td_weights weights = {.set = false};
        struct signals signals = {.data_class = TD_CLASS_RESTRICTED};
        CHECK(json_parse(str_from(texts[i]), &record, NULL) == TD_OK);
        plan_record_read(record, &lists, &signals, &weights, &facts, &state, 1);
        CHECK(state.rest == REST_NONE && state.prompt_tokens == 0 && !weights.set);
        CHECK(signals.remembered.by == REMEMBERED_NOTHING);
        CHECK(signals.skew.count == 0 && signals.skew.policy == SKEW_WARN);
        json_free(record);
    }
}

int main(void)
{
    RUN(test_the_same_policy_makes_the_same_plan_of_ten_thousand_records);
    RUN(test_nonsense_in_a_record_changes_nothing_that_could_break);
    return test_finish();
}
