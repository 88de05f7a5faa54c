/* Writer and reader stand side by side, so that a new input of the plan is added to both. Numbers
 * are written whole: a forecast that is rounded may fall on the other side of a deadline. */
#include "router/plan/plan_record.h"

#include "base/json.h"
#include "base/str.h"

#include <math.h>

/* --- writing --- */

static void put_number(struct json *object, const char *name, double value)
{
    if (value > 0 || value < 0)
        json_put(object, name, json_new_double(value));
}

static void put_count(struct json *object, const char *name, uint64_t value)
{
    if (value > 0)
        json_put(object, name, json_new_int((int64_t)value));
}

static void put_flag(struct json *object, const char *name, bool value)
{
    if (value)
        json_put(object, name, json_new_bool(true));
}

static void put_text(struct json *object, const char *name, const char *value)
{
    if (value)
        json_put(object, name, json_new_cstr(value));
}

static void put_texts(struct json *object, const char *name, const char *const *texts, size_t count)
{
    struct json *list = count ? json_new_array() : NULL;
    for (size_t i = 0; list && i < count; i++)
        json_push(list, json_new_cstr(texts[i]));
    if (list)
        json_put(object, name, list);
}

static struct json *weights_of(const struct td_weights *weights)
{
    struct json *object = json_new_object();
    put_number(object, "latency", weights->latency);
    put_number(object, "privacy", weights->privacy);
    put_number(object, "cost", weights->cost);
    return object;
}

/* A tier of the program itself has its window and its abilities from its model. */
static bool is_in_process(const struct tier_facts *facts)
{
    return facts->place == TD_PLACE_DEVICE && !facts->loopback;
}

static struct json *thresholds_of(const struct tier_facts *facts)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < RISK_LEVEL_COUNT; i++)
        json_push(list, json_new_double(facts->threshold[i])); /* INFINITY becomes null */
    return list;
}

static struct json *tier_of(const struct tier_facts *facts, const struct tier_state *state)
{
    struct json *tier = json_new_object();
    put_count(tier, "tokens", state->prompt_tokens);
    put_flag(tier, "loopback", facts->loopback);
    put_flag(tier, "no_key", !facts->has_key);
    put_flag(tier, "no_model", facts->model_fault && !facts->model_fault->stands_in);
    if (is_in_process(facts)) {
        put_count(tier, "context", facts->context_tokens);
        put_count(tier, "lacks", facts->lacks);
        put_flag(tier, "adapts", facts->adapts_always);
        put_flag(tier, "uncalibrated", facts->uncalibrated);
        if (facts->has_thresholds)
            json_put(tier, "thresholds", thresholds_of(facts));
    }
    put_flag(tier, "unreachable", !state->reachable);
    put_count(tier, "rest", (uint64_t)state->rest);
    put_count(tier, "rest_ms", state->rest_ms);
    put_count(tier, "rest_http", (uint64_t)(state->rest_http > 0 ? state->rest_http : 0));
    put_number(tier, "ttft_p95_ms", state->ttft_p95_ms);
    put_number(tier, "total_p50_ms", state->total_p50_ms);
    put_number(tier, "total_p95_ms", state->total_p95_ms);
    put_flag(tier, "unloaded", state->unloaded);
    put_count(tier, "load_ms", state->load_ms);
    put_number(tier, "wait_ms", state->wait_ms);
    put_number(tier, "first_ms", state->forecast_ttft_ms);
    put_number(tier, "whole_ms", state->forecast_total_ms);
    return tier;
}

static struct json *ramp_of(const struct ramp_signal *ramp)
{
    struct json *object = json_new_object();
    put_flag(object, "stopped", ramp->stopped);
    put_flag(object, "taken", ramp->taken);
    put_number(object, "percent", ramp->percent);
    return object;
}

static struct json *remembered_of(const struct remembered *remembered, const char *tier)
{
    struct json *object = json_new_object();
    put_count(object, "by", (uint64_t)remembered->by);
    put_text(object, "tier", tier);
    put_number(object, "margin", remembered->margin);
    put_flag(object, "no_money", remembered->no_money);
    put_flag(object, "no_loss", remembered->no_loss);
    return object;
}

static void put_limits(struct json *root, const struct signals *signals)
{
    put_text(root, "budget", signals->budget);
    put_number(root, "budget_left_usd", signals->budget ? signals->budget_left_usd : 0);
    put_count(root, "capped_at", signals->capped_at);
    put_text(root, "consent", signals->consent_missing);
    if (signals->masked)
        json_put(root, "masked", json_new_cstr(names_class(signals->masked_class)));
}

struct json *plan_record_write(const struct plan_record_input *in)
{
    const struct signals *signals = in->signals;
    struct json *root = json_new_object(), *tiers = json_new_object();
    size_t regions = 0;
    json_put(root, "class", json_new_cstr(names_class(signals->class_found)));
    json_put(root, "mode", json_new_cstr(names_mode(in->mode)));
    if (in->weights->set)
        json_put(root, "weights", weights_of(in->weights));
    put_count(root, "needs", signals->needs);
    put_flag(root, "prompt_only", signals->prompt_only);
    put_text(root, "sampling", signals->sampling);
    put_count(root, "prompt_tokens", signals->prompt_tokens);
    put_flag(root, "on_battery", signals->moment.on_battery);
    put_flag(root, "battery_low", signals->moment.battery_low);
    put_limits(root, signals);
    while (signals->regions && signals->regions[regions])
        regions++;
    put_texts(root, "regions", signals->regions, regions);
    if (!in->keep_nothing)
        put_texts(root, "tags", signals->tags, signals->tag_count);
    if (signals->ramp.on)
        json_put(root, "draw", ramp_of(&signals->ramp));
    if (signals->remembered.by != REMEMBERED_NOTHING && signals->remembered.tier < in->tier_count)
        json_put(root, "remembered",
                 remembered_of(&signals->remembered, in->facts[signals->remembered.tier].name));
    for (size_t i = 0; i < in->tier_count; i++)
        json_put(tiers, in->facts[i].name, tier_of(&in->facts[i], &in->states[i]));
    json_put(root, "tiers", tiers);
    return root;
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
        read_thresholds(json_get(tier, "thresholds"), facts);
    }
    uint32_t rest = count(tier, "rest");
    *state = (struct tier_state){
        .reachable = !flag(tier, "unreachable"),
        .rest = rest < REST_COUNT ? (enum tier_rest)rest : REST_NONE,
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
    };
}

static void read_remembered(const struct json *record, const struct tier_facts *facts,
                            size_t tier_count, struct remembered *out)
{
    struct td_str tier = json_text(json_get(record, "tier"));
    uint32_t by = count(record, "by");
    *out = (struct remembered){.by = REMEMBERED_NOTHING};
    for (size_t i = 0; i < tier_count; i++)
        if (tier.len > 0 && by <= REMEMBERED_CONVERSATION &&
            str_equal(tier, str_from(facts[i].name)))
            *out = (struct remembered){.by = (enum remembered_by)by,
                                       .tier = i,
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
    out->sampling = json_cstr(json_get(record, "sampling"));
    out->prompt_tokens = count(record, "prompt_tokens");
    out->moment.on_battery = flag(record, "on_battery");
    out->moment.battery_low = flag(record, "battery_low");
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
    for (size_t i = 0; i < tier_count; i++) {
        const struct json *tier = json_get(json_get(record, "tiers"), facts[i].name);
        if (tier)
            read_tier(tier, &facts[i], &states[i]);
    }
}
