/* From a route and what is known now to a ladder: constraints prune it, then start.c chooses where
 * it starts. What prunes is never weighed.
 *
 * There are two tables of constraints. A tier that breaks a *permission* (class, mode, kind, name,
 * context) was never a candidate. A tier that only lacks *availability* (no key, unreachable, too
 * slow for the deadline) would have been one. So the order of climbing is chosen with it, and then
 * closes the gap. That makes "reduced" and the fallback order come out right.
 *
 * To add a constraint, write a function here, give it a row in one of the tables, and give its
 * reason a code in policy.h and a name in policy.c. */
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/key_terms.h"
#include "base/text/names.h"
#include "privacy/scan/privacy.h"
#include "router/plan/critical_use.h"
#include "router/plan/plan_internal.h"
#include "router/plan/reach.h"
#include "router/plan/thresholds.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A look at fewer tokens says little. */
#define G2_EVERY_LEAST 8

/* True when the tier is removed. *why is then a whole sentence that names the fact. */
typedef bool constraint_fn(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES]);

struct constraint {
    enum reason_code code;
    constraint_fn *removes;
};

bool removed(char why[static REASON_TEXT_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, REASON_TEXT_BYTES, format, args);
    va_end(args);
    return true;
}

static bool other_than_named(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    return q->named != SIZE_MAX && q->named != tier &&
           removed(why, "the request names tier %s", q->facts[q->named].name);
}

static bool outside_route_kind(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    bool device = q->facts[tier].place == TD_PLACE_DEVICE;
    if (q->route->kind == ROUTE_LOCAL_ONLY && !device)
        return removed(why, "route %s is local-only and %s is off the device", q->route->name,
                       q->facts[tier].name);
    if (q->route->kind == ROUTE_CLOUD_ONLY && device)
        return removed(why, "route %s is cloud-only and %s is on the device", q->route->name,
                       q->facts[tier].name);
    return false;
}

static bool outside_mode(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    bool device = q->facts[tier].place == TD_PLACE_DEVICE;
    if (q->mode == TD_MODE_ONLY_LOCAL && !device)
        return removed(why, "mode only-local allows no tier off the device");
    if (q->mode == TD_MODE_ONLY_CLOUD && device)
        return removed(why, "mode only-cloud allows no tier on the device");
    return false;
}

static bool forbidden_by_class(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    enum td_data_class data_class = policy_class_for(q->route, q->signals, facts);
    return !reach_allowed(facts, data_class) &&
           removed(why, "%s data may not reach %s (%s%s%s%s)", names_class(data_class), facts->name,
                   names_place(facts->place), facts->region ? ", region " : "",
                   facts->region ? facts->region : "", facts->ruled ? "; privacy.classes" : "");
}

/* Clients set max_tokens generously: it is a ceiling, no demand. So a quarter of the context is
 * enough room to begin with. An answer that the tier's limit cuts is judged as unfinished
 * (exchange/limits/gates.h). */
static bool beyond_context(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    uint32_t limit = q->facts[tier].context_tokens;
    uint32_t prompt = q->states[tier].prompt_tokens;
    if (limit == 0)
        return false;
    /* Not even one token of an answer would fit. */
    if (prompt > limit || (prompt == limit && !q->prompt_only))
        return removed(why, "prompt of %u tokens exceeds %s's limit of %u", prompt,
                       q->facts[tier].name, limit);
    uint32_t reserve = q->tokens_max < limit / 4 ? q->tokens_max : limit / 4;
    return reserve > limit - prompt &&
           removed(why, "prompt of %u tokens and an answer of up to %u exceed %s's limit of %u",
                   prompt, q->tokens_max, q->facts[tier].name, limit);
}

/* The first row that the tier lacks gives the sentence: the tier's name stands between its
 * halves. */
static const struct {
    unsigned missing; /* of enum capability */
    const char *before, *after;
    const char *member; /* of the request, that asks for it; NULL = a promise */
} lacking[] = {
    {CAPABILITY_TOOLS, "the request brings tools and ", " cannot call any", "tools"},
    {CAPABILITY_FOREIGN_TOOLS, "the request brings tools in a form that ", " does not know",
     "tools"},
    {CAPABILITY_WHOLE_TOOLS, NULL, NULL, "tools"}, /* its sentence says why, too */
    {CAPABILITY_ADAPTERS, "the request asks for an adapter and ", " has none", "tandem.adapters"},
    {CAPABILITY_COMPLETION, "the request is a text to complete and ", " only chats", "prompt"},
    {CAPABILITY_PROMPT_IDS, "the prompt is token ids of the local model, which ", " cannot read",
     "prompt"},
    {CAPABILITY_NO_TRAIN, "", " does not promise not to train on what it is sent", NULL},
    {CAPABILITY_NO_RETENTION, "", " does not promise not to keep what it is sent", NULL},
    {CAPABILITY_IMAGE, "the request has an image and ", " takes none", "messages"},
    {CAPABILITY_AUDIO, "the request has audio and ", " takes none", "messages"},
    {CAPABILITY_FILE, "the request has a file and ", " takes none", "messages"},
    {CAPABILITY_INFILL, NULL, NULL, NULL},   /* its sentence says what is missing, too */
    {CAPABILITY_SAMPLING, NULL, NULL, NULL}, /* its sentence names the setting, too */
    {CAPABILITY_GRAMMAR, "the request asks for an output format that ", " cannot promise",
     "grammar"},
    {CAPABILITY_FORMATS, "the request asks for an output format that ", " cannot promise",
     "response_format"},
};

const char *plan_missing_member(const struct signals *signals, const struct tier_facts *facts)
{
    unsigned missing = signals->needs & facts->lacks;
    for (size_t i = 0; missing && i < sizeof lacking / sizeof *lacking; i++)
        if (missing & lacking[i].missing)
            return lacking[i].missing == CAPABILITY_SAMPLING ? signals->sampling
                   : lacking[i].missing == CAPABILITY_INFILL ? signals->infill_member
                   : lacking[i].missing & CAPABILITY_FORMATS && signals->format_member
                       ? signals->format_member
                       : lacking[i].member;
    return NULL;
}

static bool without_capability(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const char *name = q->facts[tier].name;
    unsigned missing = q->needs & q->facts[tier].lacks;
    for (size_t i = 0; missing && i < sizeof lacking / sizeof *lacking; i++) {
        if (!(missing & lacking[i].missing))
            continue;
        if (lacking[i].missing == CAPABILITY_SAMPLING)
            return removed(why, "the request sets %s, which %s does not have",
                           q->signals->sampling ? q->signals->sampling : "a sampler", name);
        if (lacking[i].missing == CAPABILITY_INFILL)
            return removed(why, "the request has text after a gap (%s), and %.64s fills none: %s%s",
                           q->signals->infill_member ? q->signals->infill_member : "suffix", name,
                           q->facts[tier].infill_missing ? "its model's file has no "
                                                         : "it has no tokens for that",
                           q->facts[tier].infill_missing ? q->facts[tier].infill_missing : "");
        if (lacking[i].missing == CAPABILITY_WHOLE_TOOLS)
            return removed(why, "%.64s cannot promise the arguments of a call%s%.180s", name,
                           q->signals->call_fault ? ": " : "",
                           q->signals->call_fault ? q->signals->call_fault : "");
        return removed(why, "%s%s%s", lacking[i].before, name, lacking[i].after);
    }
    return false;
}

static bool without_consent(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    return q->signals->consent_missing && q->facts[tier].place != TD_PLACE_DEVICE &&
           removed(why, "route %s asks for a consent before anything leaves, and %s",
                   q->route->name, q->signals->consent_missing);
}

static bool outside_region(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    const char *said = facts->region ? facts->region : "not said";
    for (size_t i = 0; q->signals->regions && q->signals->regions[i]; i++)
        if (!reach_resides(facts, q->signals->regions[i]))
            return removed(
                why, "the request must stay in region %.40s, and the region of %.64s is %.40s",
                q->signals->regions[i], facts->name, said);
    return q->route->region && !reach_resides(facts, q->route->region) &&
           removed(why, "route %.64s stays in region %.40s, and the region of %.64s is %.40s",
                   q->route->name, q->route->region, facts->name, said);
}

static bool without_key(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    if (facts->has_key)
        return false;
    if (facts->key_hint)
        return removed(why, "tier %s has no API key (set %s)", facts->name, facts->key_hint);
    return removed(why, "tier %s has no API key", facts->name);
}

static bool without_model(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct model_fault *fault = q->facts[tier].model_fault;
    return fault && !fault->stands_in &&
           removed(why, "tier %s has no model (%s): %s", q->facts[tier].name, fault->code,
                   fault->text);
}

static bool is_critical(const struct question *q)
{
    const struct signals *signals = q->signals;
    if (critical_use_named(q->route->name) ||
        (signals->rule && signals->rule->name && critical_use_named(signals->rule->name)))
        return true;
    for (size_t i = 0; i < signals->tag_count; i++)
        if (critical_use_named(signals->tags[i]))
            return true;
    return false;
}

static bool unproven(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    return facts->unproven && is_critical(q) &&
           removed(why, "tier %s: its model may not answer questions of medicine and law (%s)",
                   facts->name, facts->unproven);
}

void plan_rest_text(const struct tier_state *state, char out[static REASON_TEXT_BYTES])
{
    static const char *const texts[REST_COUNT] = {
        [REST_NONE] = "could not be reached lately and is resting",
        [REST_UNREACHED] = "could not be reached lately and is resting",
        [REST_FAILING] = "failed lately and is resting",
        [REST_ASKED] = "asked to be left alone",
        [REST_REFUSING] = "refused every request lately and is resting",
        [REST_TRIED] = "failed lately, and another request is trying it now",
        [REST_SLOWED] = "was overloaded lately and is asked less at a time",
        [REST_CONCURRENT] = "has as many requests at a time as limits.concurrent allows",
        [REST_REQUESTS] = "had as many requests as limits.requests_per_minute allows",
        [REST_TOKENS] = "had as many tokens as limits.tokens_per_minute allows",
        [REST_SHARED] = "keeps its free places for other API keys, which had less of it",
    };
    const char *text =
        state->captive && state->rest == REST_UNREACHED
            ? "could not be reached lately, as a web page came in its place: the network "
              "may want a sign-in (a captive portal)"
            : texts[state->rest];
    size_t len = (size_t)snprintf(out, REASON_TEXT_BYTES, "%s", text);
    if (state->rest_http)
        len += (size_t)snprintf(out + len, REASON_TEXT_BYTES - len, " (HTTP %d)", state->rest_http);
    if (state->rest_ms)
        snprintf(out + len, REASON_TEXT_BYTES - len, ", for another %u s",
                 (state->rest_ms + 999) / 1000);
}

static bool offline(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    char text[REASON_TEXT_BYTES];
    if (q->states[tier].reachable)
        return false;
    plan_rest_text(&q->states[tier], text);
    return removed(why, "tier %s %.200s", q->facts[tier].name, text);
}

/* Nothing is sent that cannot arrive. A server on this machine needs no network. */
static bool without_network(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    return q->signals->moment.network == TD_NETWORK_OFFLINE && facts->place != TD_PLACE_DEVICE &&
           !facts->loopback &&
           removed(why, "the device is offline and %s is elsewhere", facts->name);
}

/* 0 = none. */
static double sooner(uint32_t a, uint32_t b)
{
    return fmin(a ? (double)a : (double)INFINITY, b ? (double)b : (double)INFINITY);
}

static double first_text_ms(const struct signals *signals)
{
    return sooner(signals->slo_ttft_ms, signals->first_deadline_ms);
}

static double whole_answer_ms(const struct signals *signals)
{
    return sooner(signals->slo_ms, signals->deadline_ms);
}

/* How long after a deadline of the request the tier would come; 0 also when nothing is known. */
static double late_ms(const struct question *q, size_t tier)
{
    const struct tier_state *state = &q->states[tier];
    double first = state->forecast_ttft_ms - first_text_ms(q->signals);
    double whole = state->forecast_total_ms - whole_answer_ms(q->signals);
    return fmax(fmax(first, whole), 0);
}

bool plan_explain_slow(const struct tier_facts *facts, const struct tier_state *state,
                       double first_ms, double whole_ms, char why[static REASON_TEXT_BYTES])
{
    if (state->forecast_ttft_ms > first_ms)
        return removed(why, "%.64s may take %.0f ms to its first text, and %.0f ms are left",
                       facts->name, state->forecast_ttft_ms, first_ms);
    return state->forecast_total_ms > whole_ms &&
           removed(why, "%.64s may take %.0f ms for its answer, and %.0f ms are left", facts->name,
                   state->forecast_total_ms, whole_ms);
}

/* When no tier can make it, the one that is late by the least stays: its answer may come in time
 * after all, and part of one is better than none. */
static bool too_slow(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    return late_ms(q, tier) > q->late_ms_max &&
           plan_explain_slow(&q->facts[tier], &q->states[tier], first_text_ms(q->signals),
                             whole_answer_ms(q->signals), why);
}

/* Somebody else can: what nobody else may answer is still answered here, slowly. */
static bool spared(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct moment *moment = &q->signals->moment;
    return q->relieved && q->facts[tier].place == TD_PLACE_DEVICE &&
           removed(why, "%.64s is spared: %.120s", q->facts[tier].name,
                   moment->device_why ? moment->device_why : "the device has no strength left");
}

static bool outside_rule(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct routing_rule *rule = q->rule;
    const struct tier_facts *facts = &q->facts[tier];
    bool device = facts->place == TD_PLACE_DEVICE;
    if (!rule)
        return false;
    if (rule->deny)
        return removed(why, "rule '%.60s' denies the request: %.100s", rule->name, rule->deny);
    if (rule->only == RULE_ONLY_LOCAL && !device)
        return removed(why, "rule '%.60s' allows no tier off the device", rule->name);
    if (rule->only == RULE_ONLY_CLOUD && device)
        return removed(why, "rule '%.60s' allows no tier on the device", rule->name);
    if (rule->tiers && !(rule->tiers >> tier & 1))
        return removed(why, "rule '%.60s' does not list %.60s", rule->name, facts->name);
    return rule->places && !(rule->places >> facts->place & 1) &&
           removed(why, "rule '%.60s' does not allow the %s place of %.60s", rule->name,
                   names_place(facts->place), facts->name);
}

/* Tiers that cost nothing may go on. */
static bool beyond_budget(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    bool spent = q->signals->budget && q->signals->budget_used >= 1;
    bool short_of = q->signals->budget && facts->review_usd > q->signals->budget_left_usd;
    bool costs = facts->input_usd_per_mtok > 0 || facts->output_usd_per_mtok > 0;
    return ((spent && costs) || (short_of && facts->people)) &&
           removed(why, "the budget '%.60s' is spent for %s", q->signals->budget,
                   q->signals->budget_period ? q->signals->budget_period : "today");
}

/* What the operator has given to the caller's API key. */
static bool outside_key_terms(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct key_terms *terms = q->signals->key_terms;
    const struct tier_facts *facts = &q->facts[tier];
    if (!terms)
        return false;
    enum td_data_class data_class = policy_class_for(q->route, q->signals, facts);
    if (terms->classes && !(terms->classes >> data_class & 1))
        return removed(why, "the API key may not send %s data", names_class(data_class));
    return !key_list_has(terms->tiers, str_from(facts->name)) &&
           removed(why, "the API key may not use %.64s", facts->name);
}

/* Whatever asks for it, the caller's own mode included: a cap that its caller can lift is none. */
static bool beyond_cap(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    return q->signals->capped_at && q->facts[tier].place != TD_PLACE_DEVICE &&
           removed(why, "the caller has had its %u escalation%s an hour", q->signals->capped_at,
                   PLURAL(q->signals->capped_at));
}

/* A client that wants its answer at once is not helped by one of tomorrow. */
static bool beyond_people(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    double wanted_ms = sooner(q->signals->slo_ttft_ms, q->signals->slo_ms);
    return facts->people && wanted_ms < facts->sla_s * 1000.0 &&
           removed(why, "people answer at %.64s within %u min, and %.0f ms are asked for",
                   facts->name, facts->sla_s / 60, wanted_ms);
}

static bool beyond_keeping(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    return q->facts[tier].people && q->signals->keep_nothing &&
           removed(why, "nothing of the request may be kept, and a ticket of %.64s is",
                   q->facts[tier].name);
}

static bool full(const struct question *q, size_t tier, char why[REASON_TEXT_BYTES])
{
    const struct tier_facts *facts = &q->facts[tier];
    return facts->people && q->states[tier].tickets >= facts->tickets_max &&
           removed(why, "%u tickets wait at %.64s, as many as may", q->states[tier].tickets,
                   facts->name);
}

static const struct constraint permissions[] = {
    {REASON_REMOVED_KEY_TERMS, outside_key_terms},   {REASON_REMOVED_NAMED, other_than_named},
    {REASON_REMOVED_ROUTE_KIND, outside_route_kind}, {REASON_REMOVED_MODE, outside_mode},
    {REASON_REMOVED_CLASS, forbidden_by_class},      {REASON_REMOVED_REGION, outside_region},
    {REASON_REMOVED_CONSENT, without_consent},       {REASON_REMOVED_RULE, outside_rule},
    {REASON_REMOVED_CAPABILITY, without_capability}, {REASON_REMOVED_CONTEXT, beyond_context},
    {REASON_REMOVED_BUDGET, beyond_budget},          {REASON_REMOVED_CAPPED, beyond_cap},
    {REASON_REMOVED_TOO_SLOW, beyond_people},        {REASON_REMOVED_CAPABILITY, beyond_keeping},
};
static const struct constraint availability[] = {
    {REASON_REMOVED_NO_KEY, without_key}, {REASON_REMOVED_NO_MODEL, without_model},
    {REASON_REMOVED_UNPROVEN, unproven},  {REASON_REMOVED_OFFLINE, without_network},
    {REASON_REMOVED_OFFLINE, offline},    {REASON_REMOVED_TOO_SLOW, too_slow},
    {REASON_REMOVED_DEVICE, spared},      {REASON_REMOVED_FULL, full},
};

bool tier_is_available(const struct question *q, size_t tier)
{
    char why[REASON_TEXT_BYTES];
    for (size_t i = 0; i < sizeof availability / sizeof *availability; i++)
        if (availability[i].removes(q, tier, why))
            return false;
    return true;
}

static bool prune(const struct question *q, size_t tier, const struct constraint *constraints,
                  size_t count, struct plan *out)
{
    char why[REASON_TEXT_BYTES];
    for (size_t i = 0; i < count; i++) {
        if (constraints[i].removes(q, tier, why)) {
            plan_add_reason(out, constraints[i].code, q->facts[tier].name, "%s", why);
            out->spent = out->spent || constraints[i].code == REASON_REMOVED_BUDGET;
            return true;
        }
    }
    return false;
}

/* The route's tiers as indices, and the named one although its route may not list it. */
static size_t ladder_of(const struct question *q, size_t tier_count, size_t ladder[RUNGS_MAX],
                        struct plan *out)
{
    size_t count = 0;
    bool has_named = q->named == SIZE_MAX;
    for (size_t i = 0; i < q->route->tier_count && i < RUNGS_MAX; i++) {
        size_t tier = 0;
        while (tier < tier_count && strcmp(q->facts[tier].name, q->route->tiers[i]) != 0)
            tier++;
        if (tier == tier_count) {
            plan_add_reason(out, REASON_REMOVED_OFFLINE, q->route->tiers[i],
                            "tier %s is not configured", q->route->tiers[i]);
            continue;
        }
        has_named = has_named || tier == q->named;
        ladder[count++] = tier;
    }
    if (!has_named) {
        if (count == RUNGS_MAX)
            count--; /* all others are removed anyway */
        ladder[count++] = q->named;
    }
    return count;
}

/* Gates of a device that is spared do not climb to its larger models. */
static bool is_spared(const struct question *q, const struct plan *plan, size_t tier, size_t start)
{
    return plan->decision.by == DECIDED_BY_DEVICE && q->signals->moment.spares_power &&
           q->facts[start].place == TD_PLACE_DEVICE && q->facts[tier].place == TD_PLACE_DEVICE &&
           q->facts[tier].model_bytes > q->facts[start].model_bytes;
}

/* Climbing order: from the start upward, then what lies below it, nearest first, then what is
 * spared. Tiers that are not available leave the order with their reason. */
static void order_rungs(const struct question *q, const size_t *ladder, size_t count, size_t start,
                        struct plan *out)
{
    size_t parted[RUNGS_MAX], parted_count = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        size_t at = i % count;
        bool climbs = start + at < count, last = i >= count;
        size_t tier = ladder[climbs ? start + at : count - 1 - at];
        if (is_spared(q, out, tier, ladder[start]) != last)
            continue;
        climbs = climbs && !last;
        if (prune(q, tier, availability, sizeof availability / sizeof *availability, out)) {
            out->reduced = true;
            out->missing |= 1u << tier;
            continue;
        }
        if (climbs && skew_parts(q, ladder[start], tier)) {
            parted[parted_count++] = tier;
            continue;
        }
        out->rungs[out->rung_count++] = tier;
        out->climb_count += climbs;
    }
    for (size_t i = 0; i < parted_count; i++) { /* they answer where nobody else can */
        out->rungs[out->rung_count++] = parted[i];
        plan_add_reason(out, REASON_PARTED, q->facts[parted[i]].name,
                        "no gate takes this conversation to %s: it says something else too often",
                        q->facts[parted[i]].name);
    }
}

/* Of tiers that may both answer: whoever reads the reasons is asked for an update. */
static void explain_skew(const struct question *q, const size_t *ladder, size_t count,
                         struct plan *out)
{
    char why[REASON_TEXT_BYTES];
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const struct skew_pair *pair = skew_between(q->signals, ladder[i], ladder[j]);
            if (!pair)
                continue;
            skew_explain(q, pair, why);
            plan_add_reason(out, REASON_SKEWED, q->facts[ladder[i]].name, "%s", why);
        }
}

static bool was_too_slow(const struct plan *plan, const char *tier)
{
    for (size_t i = 0; i < plan->reason_count; i++)
        if (plan->reasons[i].code == REASON_REMOVED_TOO_SLOW && plan->reasons[i].tier == tier)
            return true;
    return false;
}

/* The start is another one because the intended one is too slow. */
static void explain_deadline(const struct question *q, size_t intended, struct plan *out)
{
    const char *name = q->facts[out->rungs[0]].name;
    struct decision *decision = &out->decision;
    plan_add_reason(out, REASON_CHOSEN_SLO, name, "%s stands in for %s, which is too slow", name,
                    q->facts[intended].name);
    decision->by = DECIDED_BY_SLO;
    decision->runner_up = intended;
    removed(decision->flip, "with %.0f ms more time it starts on %s", ceil(late_ms(q, intended)),
            q->facts[intended].name);
}

static void explain_start(const struct question *q, const struct start *start, size_t intended,
                          struct plan *out)
{
    const char *name = q->facts[out->rungs[0]].name;
    struct decision *decision = &out->decision;
    decision->start = out->rungs[0];
    if (decision->runner_up == SIZE_MAX && out->rung_count > 1)
        decision->runner_up = out->rungs[1];
    if (out->rungs[0] != intended && was_too_slow(out, q->facts[intended].name))
        explain_deadline(q, intended, out);
    else if (out->rungs[0] != intended)
        plan_add_reason(out, REASON_CHOSEN_ONLY, name,
                        "%s stands in for %s, which is not available", name,
                        q->facts[intended].name);
    else if (out->rung_count == 1 && start->code == REASON_CHOSEN_START)
        plan_add_reason(out, REASON_CHOSEN_ONLY, name, "%s is the only tier that may answer", name);
    else
        plan_add_reason(out, start->code, name, "%s", start->text);
    if (decision->ramp.on && q->signals->ramp.stopped)
        plan_add_reason(out, REASON_RAMP_NOT_TAKEN, q->route->ramp_to,
                        "canary stopped: nobody is taken to %s", q->route->ramp_to);
    else if (decision->ramp.on && !decision->ramp.taken)
        plan_add_reason(out, REASON_RAMP_NOT_TAKEN, q->route->ramp_to,
                        "canary %g %%: not taken to %s", decision->ramp.percent, q->route->ramp_to);
    if (decision->moved[0])
        plan_add_reason(out, REASON_MOVED, name, "%s", decision->moved);
}

/* Who waits for an answer is told that loading is part of the waiting. */
static void explain_loading(const struct question *q, struct plan *out)
{
    for (size_t i = 0; i < out->rung_count; i++) {
        const struct tier_state *state = &q->states[out->rungs[i]];
        const char *name = q->facts[out->rungs[i]].name;
        if (state->unloaded && state->load_ms)
            plan_add_reason(out, REASON_UNLOADED, name,
                            "the model of %s must be loaded first, which took %u ms the last time",
                            name, state->load_ms);
        else if (state->unloaded)
            plan_add_reason(out, REASON_UNLOADED, name, "the model of %s must be loaded first",
                            name);
    }
}

static void explain_denial(const struct question *q, struct plan *out)
{
    if (!q->rule || !q->rule->deny)
        return;
    out->decision.by = DECIDED_BY_DENIAL;
    explain_rule(q, out->decision.flip);
}

/* Says which tiers may answer. Returns how many. */
static size_t permit(const struct question *q, size_t tier_count, size_t permitted[RUNGS_MAX],
                     struct plan *out)
{
    size_t ladder[RUNGS_MAX], count = ladder_of(q, tier_count, ladder, out), permitted_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!prune(q, ladder[i], permissions, sizeof permissions / sizeof *permissions, out))
            permitted[permitted_count++] = ladder[i];
    return permitted_count;
}

/* By how much the least late of the tiers that can be asked is late: nearly always 0. People
 * save no time, so none is left for them. */
static double least_late_ms(const struct question *q, const size_t *ladder, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (!q->facts[ladder[i]].people && tier_is_available(q, ladder[i]))
            least = fmin(least, late_ms(q, ladder[i]));
    return isinf(least) ? 0 : least;
}

static bool can_relieve(const struct question *q, const size_t *ladder, size_t count)
{
    for (size_t i = 0; q->signals->moment.device_level >= DEVICE_WALL && i < count; i++)
        if (q->facts[ladder[i]].place != TD_PLACE_DEVICE && !q->facts[ladder[i]].people &&
            tier_is_available(q, ladder[i]))
            return true;
    return false;
}

void plan_make(const struct route *route, size_t named, const struct signals *signals,
               const struct tier_facts *facts, const struct tier_state *states, size_t tier_count,
               struct plan *out)
{
    memset(out, 0, sizeof *out);
    out->route = route;
    out->gates = route->gates;
    thresholds_apply(&out->gates, signals->task);
    out->mode = signals->mode != TD_MODE_AUTO ? signals->mode : route->mode;
    out->decision.start = out->decision.runner_up = out->decision.fresh = SIZE_MAX;
    ASSERT(tier_count == 0 || (facts != NULL && states != NULL));
    struct question q = {
        .route = route,
        .named = named < tier_count ? named : SIZE_MAX,
        .mode = out->mode,
        .tokens_max = signals->tokens_max,
        .prompt_only = signals->prompt_only,
        .needs = signals->needs | route->needs,
        .signals = signals,
        .facts = facts,
        .states = states,
        .rule = signals->rule,
        .late_ms_max = INFINITY,
    };
    if (q.rule && q.rule->stays) {
        out->gates.g1_on = out->gates.g2_on = out->gates.g3_on = false;
        out->gates.g2_abandon_under = 0;
    }
    if (signals->moment.device_level > DEVICE_USUAL && out->gates.g2_every > G2_EVERY_LEAST)
        out->gates.g2_every = (out->gates.g2_every + 1) / 2; /* hopeless ones end earlier */
    size_t permitted[RUNGS_MAX], permitted_count = permit(&q, tier_count, permitted, out);
    if (permitted_count == 0) {
        explain_denial(&q, out);
        return;
    }
    q.late_ms_max = least_late_ms(&q, permitted, permitted_count);
    q.relieved = can_relieve(&q, permitted, permitted_count);
    struct start start;
    start_choose(&q, &out->gates, permitted, permitted_count, &start, &out->decision);
    order_rungs(&q, permitted, permitted_count, start.position, out);
    if (out->rung_count > 0)
        explain_start(&q, &start, permitted[start.position], out);
    explain_loading(&q, out);
    explain_skew(&q, permitted, permitted_count, out);
}
