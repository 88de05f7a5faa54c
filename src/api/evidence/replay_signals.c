/* Signals as the ledger's JSON has them, for a policy whose tiers may be others than those of
 * the record. */
#include "api/evidence/replay_signals.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#include <math.h>
#include <string.h>

static double number(const struct json *root, const char *name)
{
    return json_number(json_get(root, name), (double)NAN);
}

static uint32_t count(const struct json *root, const char *name)
{
    int64_t value = json_int(json_get(root, name), 0);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void read_tokens(const struct json *root, const struct tier_facts *facts, size_t tier_count,
                        struct tier_state *states)
{
    const struct json *tokens = json_get(root, "prompt_tokens"), *value;
    const char *name;
    uint32_t most = 0;
    for (void *at = NULL; json_next(tokens, &at, &name, &value);) {
        int64_t here = json_int(value, 0);
        if (here > most && here <= UINT32_MAX)
            most = (uint32_t)here;
    }
    for (size_t i = 0; i < tier_count; i++) {
        int64_t own = json_int(json_get(tokens, facts[i].name), -1);
        states[i] = (struct tier_state){.reachable = true,
                                        .prompt_tokens =
                                            own >= 0 && own <= UINT32_MAX ? (uint32_t)own : most};
    }
}

static void read_judgement(const struct json *root, struct signals *out)
{
    struct td_str task = json_text(json_get(root, "task"));
    out->gain = number(root, "gain");
    out->p_local = number(root, "p_local");
    out->p_strong = number(root, "p_strong");
    out->judged = json_kind_of(json_get(root, "gain")) != JSON_KIND_ABSENT;
    out->task_p = json_number(json_get(root, "task_p"), 0);
    if (task.len > 0 && task.len < sizeof out->task)
        memcpy(out->task, task.data, task.len);
}

static void read_moment(const struct json *root, struct signals *out)
{
    out->moment = (struct moment){
        .hour = (int)json_int(json_get(root, "hour"), -1),
        .weekday = (int)json_int(json_get(root, "weekday"), -1),
        .battery = number(root, "battery"),
        .day_tokens = number(root, "day_tokens"),
    };
    enum td_network network;
    if (names_network_parse(json_text(json_get(root, "network")), &network))
        out->moment.network = network;
    int64_t language = json_int(json_get(root, "language"), 0);
    if (language >= LANGUAGE_OTHER && language <= LANGUAGE_SPANISH)
        out->language = (enum rule_language)language;
    const struct json *weights = json_get(root, "weights");
    if (weights) {
        out->weights.set = true;
        out->weights.latency = json_number(json_get(weights, "latency"), 0);
        out->weights.privacy = json_number(json_get(weights, "privacy"), 0);
        out->weights.cost = json_number(json_get(weights, "cost"), 0);
    }
}

/* What was remembered then. */
static void read_earlier(const struct json *earlier, const struct tier_facts *facts,
                         size_t tier_count, struct signals *out)
{
    struct td_str tier = json_text(json_get(earlier, "tier"));
    bool conversation = str_equal(json_text(json_get(earlier, "by")), STR("conversation"));
    for (size_t i = 0; i < tier_count && tier.len > 0; i++)
        if (str_equal(tier, str_from(facts[i].name)))
            out->remembered = (struct remembered){
                .by = conversation ? REMEMBERED_CONVERSATION : REMEMBERED_SIMILAR,
                .tier = i,
                .margin = json_number(json_get(earlier, "margin"), 0),
            };
}

bool replay_signals_read(const struct json *root, const struct ledger_history *row,
                         const struct tier_facts *facts, size_t tier_count,
                         struct replay_signals *read)
{
    *read = (struct replay_signals){.signals = {.mode = TD_MODE_AUTO}};
    struct signals *out = &read->signals;
    memcpy(read->facts, facts, tier_count * sizeof *facts);
    if (!names_class_parse(json_text(json_get(root, "data_class")), &out->data_class))
        return false;
    if (!names_mode_parse(json_text(json_get(root, "mode")), &out->mode))
        out->mode = TD_MODE_AUTO;
    out->prompt_bytes = count(root, "prompt_bytes");
    out->message_count = count(root, "message_count");
    out->tokens_max = count(root, "tokens_max");
    out->slo_ms = count(root, "slo_ms");
    out->slo_ttft_ms = count(root, "slo_ttft_ms");
    out->deadline_ms = count(root, "deadline_ms");
    out->first_deadline_ms = count(root, "first_deadline_ms");
    out->code = json_bool(json_get(root, "code"), false);
    out->maths = json_bool(json_get(root, "maths"), false);
    out->question = json_bool(json_get(root, "question"), false);
    out->multi_step = json_bool(json_get(root, "multi_step"), false);
    out->fresh = json_bool(json_get(root, "fresh"), false);
    out->jailbreak = json_bool(json_get(root, "jailbreak"), false);
    out->batch = json_bool(json_get(root, "batch"), false);
    out->probe = json_number(json_get(root, "probe"), 0);
    out->user = row->user;
    out->draw = row->id ? explore_draw(row->id) : 1;
    out->app = json_cstr(json_get(root, "app"));
    out->budget_used = number(root, "budget_used");
    read->key_terms = key_terms_none;
    if (json_get(root, "key_terms") &&
        key_terms_read(json_get(root, "key_terms"), &read->key_terms, NULL, NULL) == TD_OK)
        out->key_terms = &read->key_terms;
    read_judgement(root, out);
    read_moment(root, out);
    read_tokens(root, facts, tier_count, read->states);
    read_earlier(json_get(json_get(root, "decision"), "earlier"), facts, tier_count, out);
    read->weights = out->weights;
    plan_record_read(json_get(root, "plan"), &read->lists, out, &read->weights, read->facts,
                     read->states, tier_count);
    return true;
}
