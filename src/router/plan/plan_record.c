/* Writer and reader stand side by side, so that a new input of the plan is added to both. Numbers
 * are written whole: a forecast that is rounded may fall on the other side of a deadline. */
#include "router/plan/plan_record.h"

#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>

/* --- writing --- */

static void put_number(struct json_writer *to, const char *name, double value)
{
    if (value > 0 || value < 0)
        json_writer_double(to, name, value);
}

static void put_count(struct json_writer *to, const char *name, uint64_t value)
{
    if (value > 0)
        json_writer_int(to, name, (int64_t)value);
}

static void put_flag(struct json_writer *to, const char *name, bool value)
{
    if (value)
        json_writer_bool(to, name, true);
}

static void put_text(struct json_writer *to, const char *name, const char *value)
{
    if (value)
        json_writer_text(to, name, value);
}

static void put_texts(struct json_writer *to, const char *name, const char *const *texts,
                      size_t count)
{
    if (count == 0)
        return;
    json_writer_open(to, name, '[');
    for (size_t i = 0; i < count; i++)
        json_writer_text(to, NULL, texts[i]);
    json_writer_close(to, ']');
}

static void put_weights(struct json_writer *to, const struct td_weights *weights)
{
    json_writer_open(to, "weights", '{');
    put_number(to, "latency", weights->latency);
    put_number(to, "privacy", weights->privacy);
    put_number(to, "cost", weights->cost);
    json_writer_close(to, '}');
}

/* A tier of the program itself has its window and its abilities from its model. */
static bool is_in_process(const struct tier_facts *facts)
{
    return facts->place == TD_PLACE_DEVICE && !facts->loopback;
}

static void put_thresholds(struct json_writer *to, const struct tier_facts *facts)
{
    json_writer_open(to, "thresholds", '[');
    for (size_t i = 0; i < RISK_LEVEL_COUNT; i++)
        json_writer_double(to, NULL, facts->threshold[i]); /* INFINITY becomes null */
    json_writer_close(to, ']');
}

static void put_tier(struct json_writer *to, const struct tier_facts *facts,
                     const struct tier_state *state, bool with_size)
{
    json_writer_open(to, facts->name, '{');
    put_count(to, "tokens", state->prompt_tokens);
    put_flag(to, "loopback", facts->loopback);
    put_flag(to, "no_key", !facts->has_key);
    put_flag(to, "no_model", facts->model_fault && !facts->model_fault->stands_in);
    if (is_in_process(facts)) {
        put_count(to, "context", facts->context_tokens);
        put_count(to, "lacks", facts->lacks);
        put_flag(to, "adapts", facts->adapts_always);
        if (with_size)
            put_number(to, "model_bytes", (double)facts->model_bytes);
        put_flag(to, "uncalibrated", facts->uncalibrated);
        put_flag(to, "unproven", facts->unproven != NULL);
        if (facts->has_thresholds)
            put_thresholds(to, facts);
    }
    put_flag(to, "unreachable", !state->reachable);
    put_flag(to, "captive", state->captive);
    put_count(to, "rest", (uint64_t)state->rest);
    put_count(to, "rest_ms", state->rest_ms);
    put_count(to, "rest_http", (uint64_t)(state->rest_http > 0 ? state->rest_http : 0));
    put_number(to, "ttft_p95_ms", state->ttft_p95_ms);
    put_number(to, "total_p50_ms", state->total_p50_ms);
    put_number(to, "total_p95_ms", state->total_p95_ms);
    put_flag(to, "unloaded", state->unloaded);
    put_count(to, "load_ms", state->load_ms);
    put_number(to, "wait_ms", state->wait_ms);
    put_number(to, "first_ms", state->forecast_ttft_ms);
    put_number(to, "whole_ms", state->forecast_total_ms);
    put_count(to, "tickets", state->tickets);
    json_writer_close(to, '}');
}

static void put_ramp(struct json_writer *to, const struct ramp_signal *ramp)
{
    json_writer_open(to, "draw", '{');
    put_flag(to, "stopped", ramp->stopped);
    put_flag(to, "taken", ramp->taken);
    put_number(to, "percent", ramp->percent);
    json_writer_close(to, '}');
}

static void put_remembered(struct json_writer *to, const struct remembered *remembered,
                           const char *tier)
{
    json_writer_open(to, "remembered", '{');
    put_count(to, "by", (uint64_t)remembered->by);
    put_text(to, "tier", tier);
    put_number(to, "margin", remembered->margin);
    put_flag(to, "no_money", remembered->no_money);
    put_flag(to, "no_loss", remembered->no_loss);
    json_writer_close(to, '}');
}

static void put_skew(struct json_writer *to, const struct skew_signal *skew,
                     const struct tier_facts *facts, size_t tier_count)
{
    json_writer_open(to, "skew", '{');
    put_count(to, "policy", (uint64_t)skew->policy);
    put_number(to, "local_share", skew->local_share);
    put_number(to, "draw", skew->draw);
    put_flag(to, "goes_on", skew->goes_on);
    json_writer_open(to, "pairs", '[');
    for (size_t i = 0; i < skew->count; i++) {
        const struct skew_pair *pair = &skew->pairs[i];
        if (pair->tiers[0] >= tier_count || pair->tiers[1] >= tier_count)
            continue;
        json_writer_open(to, NULL, '{');
        put_text(to, "tier", facts[pair->tiers[0]].name);
        put_text(to, "other", facts[pair->tiers[1]].name);
        put_number(to, "differ", pair->differ);
        put_number(to, "compared", pair->compared);
        json_writer_close(to, '}');
    }
    json_writer_close(to, ']');
    json_writer_close(to, '}');
}

static void put_limits(struct json_writer *to, const struct signals *signals)
{
    put_text(to, "budget", signals->budget);
    put_number(to, "budget_left_usd", signals->budget ? signals->budget_left_usd : 0);
    put_count(to, "capped_at", signals->capped_at);
    put_text(to, "consent", signals->consent_missing);
    if (signals->masked)
        json_writer_text(to, "masked", names_class(signals->masked_class));
}

void plan_record_write(const struct plan_record_input *in, const char *name, struct json_writer *to)
{
    const struct signals *signals = in->signals;
    size_t regions = 0;
    json_writer_open(to, name, '{');
    json_writer_text(to, "class", names_class(signals->class_found));
    json_writer_text(to, "mode", names_mode(in->mode));
    if (in->weights->set)
        put_weights(to, in->weights);
    put_count(to, "needs", signals->needs);
    put_flag(to, "prompt_only", signals->prompt_only);
    put_flag(to, "keep_nothing", signals->keep_nothing);
    put_text(to, "sampling", signals->sampling);
    put_count(to, "prompt_tokens", signals->prompt_tokens);
    put_flag(to, "on_battery", signals->moment.on_battery);
    put_flag(to, "battery_low", signals->moment.battery_low);
    put_count(to, "device_level", (uint64_t)signals->moment.device_level);
    put_text(to, "device_why", signals->moment.device_why);
    put_flag(to, "spares_power", signals->moment.spares_power);
    put_limits(to, signals);
    while (signals->regions && signals->regions[regions])
        regions++;
    put_texts(to, "regions", signals->regions, regions);
    if (!in->keep_nothing)
        put_texts(to, "tags", signals->tags, signals->tag_count);
    if (signals->ramp.on)
        put_ramp(to, &signals->ramp);
    if (signals->remembered.by != REMEMBERED_NOTHING && signals->remembered.tier < in->tier_count)
        put_remembered(to, &signals->remembered, in->facts[signals->remembered.tier].name);
    if (signals->skew.count > 0)
        put_skew(to, &signals->skew, in->facts, in->tier_count);
    json_writer_open(to, "tiers", '{');
    for (size_t i = 0; i < in->tier_count; i++)
        put_tier(to, &in->facts[i], &in->states[i], signals->moment.spares_power);
    json_writer_close(to, '}');
    json_writer_close(to, '}');
}

/* --- reading --- */

static double number(const struct json *object, const char *name)
{
    double value = json_number(json_get(object, name), 0);
    return isfinite(value) ? value : 0;
}

static uint32_t count(const struct json *object, const char *name)
{
    int64_t value = json_int(json_get(object, name), 0);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static bool flag(const struct json *object, const char *name)
{
    return json_bool(json_get(object, name), false);
}

static size_t read_texts(const struct json *list, const char **out, size_t most)
{
    size_t found = 0;
    for (size_t i = 0; i < json_count(list) && found < most; i++)
        if (json_cstr(json_at(list, i)))
            out[found++] = json_cstr(json_at(list, i));
    return found;
}

static void read_thresholds(const struct json *list, struct tier_facts *facts)
{
    facts->has_thresholds = json_count(list) == RISK_LEVEL_COUNT;
    for (size_t i = 0; facts->has_thresholds && i < RISK_LEVEL_COUNT; i++)
        facts->threshold[i] = json_number(json_at(list, i), (double)INFINITY);
}

static void read_tier(const struct json *tier, struct tier_facts *facts, struct tier_state *state)
{
    static const struct model_fault no_model = {.code = "failed",
                                                .text = "it could not be used then"};
    facts->loopback = flag(tier, "loopback");
    facts->has_key = !flag(tier, "no_key");
    facts->model_fault = flag(tier, "no_model") ? &no_model : NULL;
    if (is_in_process(facts)) {
        facts->context_tokens = count(tier, "context");
        facts->lacks = count(tier, "lacks");
        facts->adapts_always = flag(tier, "adapts");
        facts->uncalibrated = flag(tier, "uncalibrated");
        facts->unproven = flag(tier, "unproven") ? "as it was then" : NULL;
        facts->model_bytes = (uint64_t)fmin(fmax(number(tier, "model_bytes"), 0), 1e15);
        read_thresholds(json_get(tier, "thresholds"), facts);
    }
    uint32_t rest = count(tier, "rest");
    *state = (struct tier_state){
        .reachable = !flag(tier, "unreachable"),
        .rest = rest < REST_COUNT ? (enum tier_rest)rest : REST_NONE,
        .captive = flag(tier, "captive"),
        .rest_ms = count(tier, "rest_ms"),
        .rest_http = (int)(count(tier, "rest_http") % 1000),
        .prompt_tokens = count(tier, "tokens"),
        .ttft_p95_ms = number(tier, "ttft_p95_ms"),
        .total_p50_ms = number(tier, "total_p50_ms"),
        .total_p95_ms = number(tier, "total_p95_ms"),
        .unloaded = flag(tier, "unloaded"),
        .load_ms = count(tier, "load_ms"),
        .wait_ms = number(tier, "wait_ms"),
        .forecast_ttft_ms = number(tier, "first_ms"),
        .forecast_total_ms = number(tier, "whole_ms"),
        .tickets = count(tier, "tickets"),
    };
}

static size_t find_tier(const struct json *object, const char *name, const struct tier_facts *facts,
                        size_t tier_count)
{
    struct td_str tier = json_text(json_get(object, name));
    size_t i = 0;
    while (i < tier_count && !(tier.len > 0 && str_equal(tier, str_from(facts[i].name))))
        i++;
    return i;
}

static void read_skew(const struct json *record, const struct tier_facts *facts, size_t tier_count,
                      struct skew_signal *out)
{
    const struct json *pairs = json_get(record, "pairs");
    uint32_t policy = count(record, "policy");
    *out = (struct skew_signal){
        .policy = policy <= SKEW_PART ? (enum skew_policy)policy : SKEW_WARN,
        .local_share = number(record, "local_share"),
        .draw = number(record, "draw"),
        .goes_on = flag(record, "goes_on"),
    };
    for (size_t i = 0; i < json_count(pairs) && out->count < SKEW_PAIRS_MAX; i++) {
        const struct json *row = json_at(pairs, i);
        const struct skew_pair pair = {.tiers = {find_tier(row, "tier", facts, tier_count),
                                                 find_tier(row, "other", facts, tier_count)},
                                       .differ = number(row, "differ"),
                                       .compared = number(row, "compared")};
        if (pair.tiers[0] < tier_count && pair.tiers[1] < tier_count)
            out->pairs[out->count++] = pair;
    }
}

static void read_remembered(const struct json *record, const struct tier_facts *facts,
                            size_t tier_count, struct remembered *out)
{
    uint32_t by = count(record, "by");
    size_t tier = find_tier(record, "tier", facts, tier_count);
    *out = (struct remembered){.by = REMEMBERED_NOTHING};
    if (tier < tier_count && by <= REMEMBERED_CONVERSATION)
        *out = (struct remembered){.by = (enum remembered_by)by,
                                   .tier = tier,
                                   .margin = number(record, "margin"),
                                   .no_money = flag(record, "no_money"),
                                   .no_loss = flag(record, "no_loss")};
}

static void read_limits(const struct json *record, struct signals *out)
{
    out->budget = json_cstr(json_get(record, "budget"));
    out->budget_left_usd = number(record, "budget_left_usd");
    out->capped_at = count(record, "capped_at");
    out->consent_missing = json_cstr(json_get(record, "consent"));
    out->masked = names_class_parse(json_text(json_get(record, "masked")), &out->masked_class);
}

void plan_record_read(const struct json *record, struct plan_record_lists *lists,
                      struct signals *out, struct td_weights *weights, struct tier_facts *facts,
                      struct tier_state *states, size_t tier_count)
{
    const struct json *given = json_get(record, "weights"), *ramp = json_get(record, "draw");
    *lists = (struct plan_record_lists){.tags = {NULL}};
    if (!names_class_parse(json_text(json_get(record, "class")), &out->data_class) ||
        !names_mode_parse(json_text(json_get(record, "mode")), &out->mode))
        return; /* of an older program */
    *weights = (struct td_weights){.latency = number(given, "latency"),
                                   .privacy = number(given, "privacy"),
                                   .cost = number(given, "cost"),
                                   .set = given != NULL};
    out->needs = count(record, "needs");
    out->prompt_only = flag(record, "prompt_only");
    out->keep_nothing = flag(record, "keep_nothing");
    out->sampling = json_cstr(json_get(record, "sampling"));
    out->prompt_tokens = count(record, "prompt_tokens");
    out->moment.on_battery = flag(record, "on_battery");
    out->moment.battery_low = flag(record, "battery_low");
    uint32_t level = count(record, "device_level");
    out->moment.device_level = level < DEVICE_LEVEL_COUNT ? (enum device_level)level : DEVICE_USUAL;
    out->moment.device_why = json_cstr(json_get(record, "device_why"));
    out->moment.spares_power = flag(record, "spares_power");
    read_limits(record, out);
    bool resides = read_texts(json_get(record, "regions"), lists->regions, TD_REGIONS_MAX) > 0;
    out->regions = resides ? lists->regions : NULL;
    out->tag_count = read_texts(json_get(record, "tags"), lists->tags, TD_TAGS_MAX);
    out->tags = lists->tags;
    out->ramp = (struct ramp_signal){.on = ramp != NULL,
                                     .stopped = flag(ramp, "stopped"),
                                     .taken = flag(ramp, "taken"),
                                     .percent = number(ramp, "percent")};
    read_remembered(json_get(record, "remembered"), facts, tier_count, &out->remembered);
    read_skew(json_get(record, "skew"), facts, tier_count, &out->skew);
    for (size_t i = 0; i < tier_count; i++) {
        const struct json *tier = json_get(json_get(record, "tiers"), facts[i].name);
        if (tier)
            read_tier(tier, &facts[i], &states[i]);
    }
}
