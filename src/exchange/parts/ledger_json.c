/* Signals and reasons of an exchange as the ledger keeps them. `tandem explain`, `tandem report`
 * and replays read the members again, so their names stay. */
#include "exchange/parts/ledger_json.h"

#include "base/core/str.h"
#include "base/json/json_writer.h"
#include "base/key_terms.h"
#include "base/text/names.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/part_consistency.h"
#include "exchange/parts/part_second.h"
#include "router/plan/plan_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A few kilobytes at most. */
#define JSON_BYTES_MAX (64 * 1024)
/* Of them a list takes 20 bytes a message. */
#define TURNS_MAX 256

static char *text_of(struct buf *text)
{
    char *taken = text->failed ? NULL : buf_take(text);
    buf_deinit(text);
    return taken;
}

static void put_findings(const struct exchange *ex, struct json_writer *to)
{
    struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX];
    size_t count = ex->findings ? privacy_tally_rows(ex->findings, rows) : 0;
    json_writer_open(to, "findings", '{');
    for (size_t i = 0; i < count; i++)
        json_writer_int(to, rows[i].name, rows[i].count);
    json_writer_close(to, '}');
}

static void put_number(struct json_writer *to, const char *name, double value)
{
    if (isfinite(value))
        json_writer_double(to, name, value);
}

static const char *tier_name(const struct exchange *ex, size_t tier)
{
    return tier < ex->services->tier_count ? ex->facts[tier].name : NULL;
}

/* What limits a key to some tiers, classes and names: a replay has to know. */
static void put_key_terms(const struct key_terms *terms, struct json_writer *to)
{
    struct key_terms narrow = key_terms_none;
    if (!terms || (!terms->classes && !*terms->tiers && !*terms->models))
        return;
    struct json *object = json_new_object();
    narrow.classes = terms->classes;
    memcpy(narrow.tiers, terms->tiers, sizeof narrow.tiers);
    memcpy(narrow.models, terms->models, sizeof narrow.models);
    key_terms_put(&narrow, object);
    json_writer_tree(to, "key_terms", object);
}

/* What was known beside the text; only what there is, because most requests have little of it. */
static void put_moment(const struct exchange *ex, struct json_writer *to)
{
    const struct signals *signals = &ex->signals;
    const struct moment *moment = &signals->moment;
    if (signals->app)
        json_writer_text(to, "app", signals->app);
    if (!ex->request.keep_nothing && ex->request.key_id)
        json_writer_text(to, "key_id", ex->request.key_id);
    if (moment->network != TD_NETWORK_UNKNOWN)
        json_writer_text(to, "network", names_networks[moment->network]);
    json_writer_int(to, "hour", moment->hour);
    json_writer_int(to, "weekday", moment->weekday);
    json_writer_int(to, "language", (int)signals->language);
    put_number(to, "battery", moment->battery);
    put_number(to, "day_tokens", moment->day_tokens);
    put_number(to, "budget_used", signals->budget_used);
    put_key_terms(signals->key_terms, to);
    if (signals->batch)
        json_writer_bool(to, "batch", true);
    if (signals->weights.set) {
        json_writer_open(to, "weights", '{');
        json_writer_double(to, "latency", signals->weights.latency);
        json_writer_double(to, "privacy", signals->weights.privacy);
        json_writer_double(to, "cost", signals->weights.cost);
        json_writer_close(to, '}');
    }
}

/* What was remembered and what came of it; replay reads tier, by and margin. */
static void put_earlier(const struct exchange *ex, struct json_writer *to)
{
    const struct decision *decision = &ex->plan.decision;
    const struct remembered *remembered = &ex->signals.remembered;
    bool conversation = remembered->by == REMEMBERED_CONVERSATION;
    json_writer_open(to, "earlier", '{');
    json_writer_text(to, "by", conversation ? "conversation" : "similar");
    json_writer_text(to, "result", keeping_name(decision->keeping));
    json_writer_text(to, "tier", tier_name(ex, remembered->tier));
    json_writer_double(to, "margin", remembered->margin);
    if (decision->keeping == KEEPING_KEPT) {
        json_writer_text(to, "fresh", tier_name(ex, decision->fresh));
        put_number(to, "given_up", decision->given_up);
        put_number(to, "usd", part_consistency_kept_usd(ex));
    }
    json_writer_close(to, '}');
}

/* How likely each start was, where a draw decided; elsewhere the start was certain. */
static void put_propensity(const struct exchange *ex, struct json_writer *to)
{
    json_writer_open(to, "propensity", '{');
    for (size_t i = 0; i < ex->services->tier_count; i++) {
        double propensity = decision_propensity(&ex->plan.decision, i);
        if (propensity > 0)
            json_writer_double(to, tier_name(ex, i), propensity);
    }
    json_writer_close(to, '}');
}

/* Where it began and what would have changed that. */
static void put_decision(const struct exchange *ex, struct json_writer *to)
{
    const struct decision *decision = &ex->plan.decision;
    json_writer_open(to, "decision", '{');
    json_writer_text(to, "by", decided_by_name(decision->by));
    json_writer_text(to, "rule", ex->signals.rule ? ex->signals.rule->name : NULL);
    json_writer_text(to, "start", tier_name(ex, decision->start));
    json_writer_text(to, "runner_up", tier_name(ex, decision->runner_up));
    if (decision->flip[0])
        json_writer_text(to, "flip", decision->flip);
    if (decision->keeping != KEEPING_NONE)
        put_earlier(ex, to);
    if (decision->ramp.on) {
        json_writer_open(to, "ramp", '{');
        json_writer_text(to, "to", ex->plan.route->ramp_to);
        json_writer_double(to, "percent", decision->ramp.percent);
        json_writer_bool(to, "taken", decision->ramp.taken);
        json_writer_close(to, '}');
    }
    if (decision->exploring.share > 0)
        put_propensity(ex, to);
    if (decision->scored) {
        json_writer_open(to, "scores_usd", '{');
        for (size_t i = 0; i < decision->scored_count; i++)
            json_writer_double(to, tier_name(ex, decision->scored_tiers[i]), decision->score[i]);
        json_writer_close(to, '}');
    }
    json_writer_close(to, '}');
}

static void put_pseudonyms(const struct pseudonym_counts *counts, struct json_writer *to)
{
    json_writer_open(to, "pseudonyms", '{');
    json_writer_int(to, "sent", (int64_t)counts->sent);
    json_writer_int(to, "seen", (int64_t)counts->seen);
    json_writer_int(to, "restored", (int64_t)counts->restored);
    json_writer_close(to, '}');
}

/* What each attempt wrote, where one wrote a call. */
static void put_kinds(const struct exchange *ex, struct json_writer *to)
{
    bool calls = false;
    for (size_t i = 0; i < ex->attempt_count; i++)
        calls |= ex->attempts[i]->kind == CONFIDENCE_CALL;
    if (!calls)
        return;
    json_writer_open(to, "kinds", '[');
    for (size_t i = 0; i < ex->attempt_count; i++)
        json_writer_text(to, NULL, confidence_kind_name(ex->attempts[i]->kind));
    json_writer_close(to, ']');
}

/* Gates looked at an answer, or left it before it was whole. */
static bool attempt_is_judged(const struct attempt *attempt)
{
    return attempt->gated && (attempt->judged.left_by || attempt->judged.confidence > 0 ||
                              attempt->judged.threshold > 0);
}

/* What the gates of each attempt compared last; null where none looked at an answer. */
static void put_gates(const struct exchange *ex, struct json_writer *to)
{
    bool judged = false;
    for (size_t i = 0; i < ex->attempt_count; i++)
        judged |= attempt_is_judged(ex->attempts[i]);
    if (!judged)
        return;
    json_writer_open(to, "gates", '[');
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct gate_verdict *verdict = &ex->attempts[i]->judged;
        if (!attempt_is_judged(ex->attempts[i])) {
            json_writer_text(to, NULL, NULL);
            continue;
        }
        json_writer_open(to, NULL, '{');
        json_writer_text(to, "left_by", verdict->left_by ? gate_name(verdict->left_by) : NULL);
        json_writer_double(to, "value", verdict->confidence);
        json_writer_double(to, "least", verdict->threshold);
        json_writer_int(to, "tokens", verdict->token_count);
        json_writer_close(to, '}');
    }
    json_writer_close(to, ']');
}

/* What the classifier and the local model say of the prompt. */
static void put_judgement(const struct exchange *ex, struct json_writer *to)
{
    const struct signals *signals = &ex->signals;
    put_kinds(ex, to);
    put_gates(ex, to);
    if (signals->judged) {
        json_writer_double(to, "gain", signals->gain);
        if (signals->gain < signals->gain_whole)
            json_writer_double(to, "gain_whole", signals->gain_whole);
        json_writer_double(to, "p_local", signals->p_local);
        json_writer_double(to, "p_strong", signals->p_strong);
        json_writer_text(to, "task", *signals->task ? signals->task : NULL);
        json_writer_double(to, "task_p", signals->task_p);
    }
    if (signals->probe > 0)
        json_writer_double(to, "probe", signals->probe);
    if (signals->not_mine > 0)
        json_writer_double(to, "not_mine", signals->not_mine);
    for (size_t i = ex->services->tier_count; i-- > 0;)
        if (ex->facts[i].confidence_model) { /* the last tier's */
            json_writer_text(to, "confidence_model", ex->facts[i].confidence_model->digest);
            break;
        }
}

static void put_plan(const struct exchange *ex, struct json_writer *to)
{
    const struct plan_record_input input = {.signals = &ex->signals,
                                            .mode = ex->request.mode,
                                            .weights = &ex->request.weights,
                                            .facts = ex->facts,
                                            .states = ex->states,
                                            .tier_count = ex->services->tier_count,
                                            .keep_nothing = ex->request.keep_nothing};
    plan_record_write(&input, "plan", to);
}

/* [[role, bytes], ...] in the order of the stored prompt. Longer conversations have none. */
static void put_turns(const struct exchange *ex, struct json_writer *to)
{
    if (ex->request.message_count > TURNS_MAX)
        return;
    json_writer_open(to, "turns", '[');
    for (size_t i = 0; i < ex->request.message_count; i++) {
        const struct td_message *message = &ex->request.messages[i];
        json_writer_open(to, NULL, '[');
        json_writer_text(to, NULL, names_role(message->role));
        json_writer_int(to, NULL, (int64_t)message->content.len);
        json_writer_close(to, ']');
    }
    json_writer_close(to, ']');
}

/* Where an answer that was kept was looked for. `tandem report` reads the members. */
static void put_cache(const struct exchange *ex, struct json_writer *to)
{
    const struct exchange_summary *summary = &ex->answer.summary;
    if (summary->cache == TIER_CACHE_NONE && !(summary->cache_saved_usd > 0))
        return;
    json_writer_text(to, "cache",
                     summary->cache == TIER_CACHE_NONE ? "miss" : tier_cache_name(summary->cache));
    if (tier_cache_is_kept(summary->cache))
        json_writer_int(to, "cache_age_s", summary->cache_facts.age_s);
    if (summary->cache == TIER_CACHE_SIMILAR)
        json_writer_double(to, "cache_similarity", (double)summary->cache_facts.similarity);
    json_writer_double(to, "cache_saved_usd", summary->cache_saved_usd);
}

/* What a check of the answer came to; `tandem explain` prints it. */
static void put_verification(const struct exchange *ex, struct json_writer *to)
{
    const struct verification *verification = &ex->answer.summary.verification;
    if (verification->state == VERIFICATION_NONE)
        return;
    json_writer_open(to, "verification", '{');
    json_writer_text(to, "state", verification_state_name(verification->state));
    json_writer_text(to, "by", verification->by == VERIFY_SCORE ? "score" : "answer");
    json_writer_text(to, "tier", verification->tier);
    json_writer_text(to, "checked", verification->checked);
    json_writer_text(to, "stakes", verification->high ? "high" : "low");
    json_writer_double(to, "cost_usd", verification->cost_usd);
    json_writer_double(to, "ms", verification->ms);
    json_writer_close(to, '}');
}

char *ledger_json_signals(const struct exchange *ex, bool with_turns)
{
    const struct signals *signals = &ex->signals;
    struct json_writer writer, *to = &writer;
    struct buf text;
    buf_init(&text, JSON_BYTES_MAX);
    json_writer_begin(to, &text);
    json_writer_open(to, NULL, '{');
    json_writer_text(to, "data_class", names_class(signals->data_class));
    json_writer_text(to, "mode", names_mode(signals->mode));
    json_writer_int(to, "prompt_bytes", signals->prompt_bytes);
    json_writer_open(to, "prompt_tokens", '{');
    for (size_t i = 0; i < ex->services->tier_count; i++)
        json_writer_int(to, ex->facts[i].name, ex->states[i].prompt_tokens);
    json_writer_close(to, '}');
    json_writer_int(to, "message_count", signals->message_count);
    json_writer_int(to, "tokens_max", signals->tokens_max);
    json_writer_int(to, "slo_ttft_ms", ex->request.slo_ttft_ms);
    json_writer_int(to, "slo_ms", ex->request.slo_ms);
    json_writer_int(to, "first_deadline_ms", signals->first_deadline_ms);
    json_writer_int(to, "deadline_ms", signals->deadline_ms);
    json_writer_bool(to, "code", signals->code);
    json_writer_bool(to, "maths", signals->maths);
    json_writer_bool(to, "question", signals->question);
    json_writer_bool(to, "multi_step", signals->multi_step);
    json_writer_bool(to, "fresh", signals->fresh);
    json_writer_bool(to, "jailbreak", signals->jailbreak);
    if (with_turns)
        put_turns(ex, to);
    put_judgement(ex, to);
    put_moment(ex, to);
    put_plan(ex, to);
    put_findings(ex, to);
    if (ex->plan.route && ex->plan.route->consent)
        json_writer_text(to, "consent",
                         ex->signals.consent_missing ? ex->signals.consent_missing : "valid");
    if (ex->trace.restarted)
        json_writer_bool(to, "trace_restarted", true);
    if (ex->request.keep_nothing)
        json_writer_bool(to, "zero_retention", true);
    put_decision(ex, to);
    put_cache(ex, to);
    put_verification(ex, to);
    part_second_write(ex, to);
    if (ex->staying)
        staying_write(&ex->staying->facts, "documents", to);
    if (ex->answer.summary.pseudonyms.sent > 0)
        put_pseudonyms(&ex->answer.summary.pseudonyms, to);
    json_writer_close(to, '}');
    return text_of(&text);
}

char *ledger_json_reasons(const struct exchange *ex)
{
    struct json_writer writer, *to = &writer;
    struct buf text;
    buf_init(&text, JSON_BYTES_MAX);
    json_writer_begin(to, &text);
    json_writer_open(to, NULL, '[');
    for (size_t i = 0; i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        json_writer_open(to, NULL, '{');
        json_writer_text(to, "code", reason_code_name(reason->code));
        json_writer_text(to, "tier", reason->tier);
        json_writer_text(to, "text", reason->text);
        json_writer_close(to, '}');
    }
    json_writer_close(to, ']');
    return text_of(&text);
}

const char *ledger_json_version(const struct tier_facts *facts, uint64_t server_identity,
                                char out[static LEDGER_VERSION_BYTES])
{
    if (facts->model_version || server_identity == 0)
        return facts->model_version;
    snprintf(out, LEDGER_VERSION_BYTES, "%016" PRIx64, server_identity);
    return out;
}
