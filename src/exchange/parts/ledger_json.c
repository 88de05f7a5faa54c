/* Signals and reasons of an exchange as the ledger keeps them. `tandem explain`, `tandem report`
 * and replays read the members again, so their names stay. */
#include "exchange/parts/ledger_json.h"

#include "base/json.h"
#include "base/key_terms.h"
#include "base/names.h"
#include "base/str.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/part_consistency.h"
#include "router/plan/plan_record.h"

#include <math.h>

/* A few kilobytes at most. */
#define JSON_BYTES_MAX (64 * 1024)
/* Of them a list takes 20 bytes a message. */
#define TURNS_MAX 256

static char *text_of(struct json *value)
{
    struct buf text;
    buf_init(&text, JSON_BYTES_MAX);
    json_write(value, &text);
    json_free(value);
    char *taken = buf_take(&text);
    buf_deinit(&text);
    return taken;
}

static struct json *findings_of(const struct exchange *ex)
{
    struct json *findings = json_new_object();
    struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX];
    size_t count = privacy_tally_rows(&ex->findings, rows);
    for (size_t i = 0; i < count; i++)
        json_put(findings, rows[i].name, json_new_int(rows[i].count));
    return findings;
}

static void put_number(struct json *object, const char *key, double value)
{
    if (isfinite(value))
        json_put(object, key, json_new_double(value));
}

static const char *tier_name(const struct exchange *ex, size_t tier)
{
    return tier < ex->services->tier_count ? ex->facts[tier].name : NULL;
}

/* What limits a key to some tiers, classes and names: a replay has to know. */
static void put_key_terms(const struct key_terms *terms, struct json *root)
{
    struct key_terms narrow = key_terms_none;
    if (!terms || (!terms->classes && !*terms->tiers && !*terms->models))
        return;
    struct json *object = json_new_object();
    narrow.classes = terms->classes;
    memcpy(narrow.tiers, terms->tiers, sizeof narrow.tiers);
    memcpy(narrow.models, terms->models, sizeof narrow.models);
    key_terms_put(&narrow, object);
    json_put(root, "key_terms", object);
}

/* What was known beside the text; only what there is, because most requests have little of it. */
static void put_moment(const struct exchange *ex, struct json *root)
{
    const struct signals *signals = &ex->signals;
    const struct moment *moment = &signals->moment;
    if (signals->app)
        json_put(root, "app", json_new_cstr(signals->app));
    if (!ex->request.keep_nothing && ex->request.key_id)
        json_put(root, "key_id", json_new_cstr(ex->request.key_id));
    if (moment->network != TD_NETWORK_UNKNOWN)
        json_put(root, "network", json_new_cstr(names_networks[moment->network]));
    json_put(root, "hour", json_new_int(moment->hour));
    json_put(root, "weekday", json_new_int(moment->weekday));
    json_put(root, "language", json_new_int((int)signals->language));
    put_number(root, "battery", moment->battery);
    put_number(root, "day_tokens", moment->day_tokens);
    put_number(root, "budget_used", signals->budget_used);
    put_key_terms(signals->key_terms, root);
    if (signals->batch)
        json_put(root, "batch", json_new_bool(true));
    if (signals->weights.set) {
        struct json *weights = json_new_object();
        json_put(weights, "latency", json_new_double(signals->weights.latency));
        json_put(weights, "privacy", json_new_double(signals->weights.privacy));
        json_put(weights, "cost", json_new_double(signals->weights.cost));
        json_put(root, "weights", weights);
    }
}

/* What was remembered and what came of it; replay reads tier, by and margin. */
static struct json *earlier_of(const struct exchange *ex)
{
    const struct decision *decision = &ex->plan.decision;
    const struct remembered *remembered = &ex->signals.remembered;
    struct json *earlier = json_new_object();
    bool conversation = remembered->by == REMEMBERED_CONVERSATION;
    json_put(earlier, "by", json_new_cstr(conversation ? "conversation" : "similar"));
    json_put(earlier, "result", json_new_cstr(keeping_name(decision->keeping)));
    json_put(earlier, "tier", json_new_cstr(tier_name(ex, remembered->tier)));
    json_put(earlier, "margin", json_new_double(remembered->margin));
    if (decision->keeping == KEEPING_KEPT) {
        json_put(earlier, "fresh", json_new_cstr(tier_name(ex, decision->fresh)));
        put_number(earlier, "given_up", decision->given_up);
        put_number(earlier, "usd", part_consistency_kept_usd(ex));
    }
    return earlier;
}

/* How likely each start was, where a draw decided; elsewhere the start was certain. */
static struct json *propensity_of(const struct exchange *ex)
{
    struct json *root = json_new_object();
    for (size_t i = 0; i < ex->services->tier_count; i++) {
        double propensity = decision_propensity(&ex->plan.decision, i);
        if (propensity > 0)
            json_put(root, tier_name(ex, i), json_new_double(propensity));
    }
    return root;
}

/* Where it began and what would have changed that. */
static struct json *decision_of(const struct exchange *ex)
{
    const struct decision *decision = &ex->plan.decision;
    struct json *root = json_new_object();
    json_put(root, "by", json_new_cstr(decided_by_name(decision->by)));
    json_put(root, "rule", json_new_cstr(ex->signals.rule ? ex->signals.rule->name : NULL));
    json_put(root, "start", json_new_cstr(tier_name(ex, decision->start)));
    json_put(root, "runner_up", json_new_cstr(tier_name(ex, decision->runner_up)));
    if (decision->flip[0])
        json_put(root, "flip", json_new_cstr(decision->flip));
    if (decision->keeping != KEEPING_NONE)
        json_put(root, "earlier", earlier_of(ex));
    if (decision->ramp.on) {
        struct json *ramp = json_new_object();
        json_put(ramp, "to", json_new_cstr(ex->plan.route->ramp_to));
        json_put(ramp, "percent", json_new_double(decision->ramp.percent));
        json_put(ramp, "taken", json_new_bool(decision->ramp.taken));
        json_put(root, "ramp", ramp);
    }
    if (decision->exploring.share > 0)
        json_put(root, "propensity", propensity_of(ex));
    if (decision->scored) {
        struct json *scores = json_new_object();
        for (size_t i = 0; i < decision->scored_count; i++)
            json_put(scores, tier_name(ex, decision->scored_tiers[i]),
                     json_new_double(decision->score[i]));
        json_put(root, "scores_usd", scores);
    }
    return root;
}

static struct json *pseudonyms_of(const struct pseudonym_counts *counts)
{
    struct json *object = json_new_object();
    json_put(object, "sent", json_new_int((int64_t)counts->sent));
    json_put(object, "seen", json_new_int((int64_t)counts->seen));
    json_put(object, "restored", json_new_int((int64_t)counts->restored));
    return object;
}

/* What each attempt wrote, where one wrote a call. */
static void put_kinds(const struct exchange *ex, struct json *root)
{
    bool calls = false;
    for (size_t i = 0; i < ex->attempt_count; i++)
        calls |= ex->attempts[i].kind == CONFIDENCE_CALL;
    if (!calls)
        return;
    struct json *kinds = json_new_array();
    for (size_t i = 0; i < ex->attempt_count; i++)
        json_push(kinds, json_new_cstr(confidence_kind_name(ex->attempts[i].kind)));
    json_put(root, "kinds", kinds);
}

/* What the classifier and the local model say of the prompt. */
static void put_judgement(const struct exchange *ex, struct json *root)
{
    const struct signals *signals = &ex->signals;
    put_kinds(ex, root);
    if (signals->judged) {
        json_put(root, "gain", json_new_double(signals->gain));
        if (signals->gain < signals->gain_whole)
            json_put(root, "gain_whole", json_new_double(signals->gain_whole));
        json_put(root, "p_local", json_new_double(signals->p_local));
        json_put(root, "p_strong", json_new_double(signals->p_strong));
        json_put(root, "task", *signals->task ? json_new_cstr(signals->task) : json_new_null());
        json_put(root, "task_p", json_new_double(signals->task_p));
    }
    if (signals->probe > 0)
        json_put(root, "probe", json_new_double(signals->probe));
    if (signals->not_mine > 0)
        json_put(root, "not_mine", json_new_double(signals->not_mine));
    for (size_t i = 0; i < ex->services->tier_count; i++)
        if (ex->facts[i].confidence_model)
            json_put(root, "confidence_model",
                     json_new_cstr(ex->facts[i].confidence_model->digest));
}

static struct json *plan_of(const struct exchange *ex)
{
    const struct plan_record_input input = {.signals = &ex->signals,
                                            .mode = ex->request.mode,
                                            .weights = &ex->request.weights,
                                            .facts = ex->facts,
                                            .states = ex->states,
                                            .tier_count = ex->services->tier_count,
                                            .keep_nothing = ex->request.keep_nothing};
    return plan_record_write(&input);
}

/* [[role, bytes], ...] in the order of the stored prompt. Longer conversations have none. */
static void put_turns(const struct exchange *ex, struct json *root)
{
    struct json *turns = json_new_array();
    for (size_t i = 0; i < ex->request.message_count && i < TURNS_MAX; i++) {
        const struct td_message *message = &ex->request.messages[i];
        struct json *turn = json_new_array();
        json_push(turn, json_new_cstr(names_role(message->role)));
        json_push(turn, json_new_int((int64_t)message->content.len));
        json_push(turns, turn);
    }
    if (ex->request.message_count <= TURNS_MAX)
        json_put(root, "turns", turns);
    else
        json_free(turns);
}

/* Where an answer that was kept was looked for. `tandem report` reads the members. */
static void put_cache(const struct exchange *ex, struct json *root)
{
    const struct exchange_summary *summary = &ex->answer.summary;
    if (summary->cache == TIER_CACHE_NONE && !(summary->cache_saved_usd > 0))
        return;
    json_put(root, "cache", json_new_cstr(summary->cache == TIER_CACHE_HIT ? "hit" : "miss"));
    if (summary->cache == TIER_CACHE_HIT)
        json_put(root, "cache_age_s", json_new_int(summary->cache_age_s));
    json_put(root, "cache_saved_usd", json_new_double(summary->cache_saved_usd));
}

char *ledger_json_signals(const struct exchange *ex, bool with_turns)
{
    const struct signals *signals = &ex->signals;
    struct json *root = json_new_object();
    struct json *tokens = json_new_object();
    if (!root || !tokens) {
        json_free(root);
        json_free(tokens);
        return NULL;
    }
    for (size_t i = 0; i < ex->services->tier_count; i++)
        json_put(tokens, ex->facts[i].name, json_new_int(ex->states[i].prompt_tokens));
    json_put(root, "data_class", json_new_cstr(names_class(signals->data_class)));
    json_put(root, "mode", json_new_cstr(names_mode(signals->mode)));
    json_put(root, "prompt_bytes", json_new_int(signals->prompt_bytes));
    json_put(root, "prompt_tokens", tokens);
    json_put(root, "message_count", json_new_int(signals->message_count));
    json_put(root, "tokens_max", json_new_int(signals->tokens_max));
    json_put(root, "slo_ttft_ms", json_new_int(ex->request.slo_ttft_ms));
    json_put(root, "slo_ms", json_new_int(ex->request.slo_ms));
    json_put(root, "first_deadline_ms", json_new_int(signals->first_deadline_ms));
    json_put(root, "deadline_ms", json_new_int(signals->deadline_ms));
    json_put(root, "code", json_new_bool(signals->code));
    json_put(root, "maths", json_new_bool(signals->maths));
    json_put(root, "question", json_new_bool(signals->question));
    json_put(root, "multi_step", json_new_bool(signals->multi_step));
    json_put(root, "fresh", json_new_bool(signals->fresh));
    json_put(root, "jailbreak", json_new_bool(signals->jailbreak));
    if (with_turns)
        put_turns(ex, root);
    put_judgement(ex, root);
    put_moment(ex, root);
    json_put(root, "plan", plan_of(ex));
    json_put(root, "findings", findings_of(ex));
    if (ex->plan.route && ex->plan.route->consent)
        json_put(
            root, "consent",
            json_new_cstr(ex->signals.consent_missing ? ex->signals.consent_missing : "valid"));
    if (ex->trace.restarted)
        json_put(root, "trace_restarted", json_new_bool(true));
    if (ex->request.keep_nothing)
        json_put(root, "zero_retention", json_new_bool(true));
    json_put(root, "decision", decision_of(ex));
    put_cache(ex, root);
    if (ex->answer.summary.pseudonyms.sent > 0)
        json_put(root, "pseudonyms", pseudonyms_of(&ex->answer.summary.pseudonyms));
    return text_of(root);
}

char *ledger_json_reasons(const struct exchange *ex)
{
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        struct json *item = json_new_object();
        if (!item)
            break;
        json_put(item, "code", json_new_cstr(reason_code_name(reason->code)));
        json_put(item, "tier", json_new_cstr(reason->tier));
        json_put(item, "text", json_new_text(str_from(reason->text)));
        json_push(list, item);
    }
    return list ? text_of(list) : NULL;
}
