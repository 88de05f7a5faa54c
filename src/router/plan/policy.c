/* Reading a policy: names of routes, tiers and adapters, what the rules see of a request, and which
 * class of data a tier would be sent. The plan itself is made in plan.c. */
#include "router/plan/policy.h"

#include "privacy/scan/privacy.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "router/plan/reach.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *reason_code_name(enum reason_code code)
{
    static const char *const names[REASON_CODE_COUNT] = {
        [REASON_ALIAS] = "alias",
        [REASON_REMOVED_CLASS] = "removed_class",
        [REASON_REMOVED_MODE] = "removed_mode",
        [REASON_REMOVED_ROUTE_KIND] = "removed_route_kind",
        [REASON_REMOVED_NO_MODEL] = "removed_no_model",
        [REASON_REMOVED_UNPROVEN] = "removed_unproven",
        [REASON_REMOVED_OFFLINE] = "removed_offline",
        [REASON_REMOVED_TOO_SLOW] = "removed_too_slow",
        [REASON_REMOVED_DEVICE] = "removed_device",
        [REASON_REMOVED_NO_KEY] = "removed_no_key",
        [REASON_REMOVED_CONTEXT] = "removed_context",
        [REASON_REMOVED_CAPABILITY] = "removed_capability",
        [REASON_REMOVED_CONSENT] = "removed_consent",
        [REASON_REMOVED_REGION] = "removed_region",
        [REASON_REMOVED_NAMED] = "removed_named",
        [REASON_REMOVED_RULE] = "removed_rule",
        [REASON_REMOVED_BUDGET] = "removed_budget",
        [REASON_REMOVED_KEY_TERMS] = "removed_key_terms",
        [REASON_REMOVED_FULL] = "removed_full",
        [REASON_REMOVED_NOT_WORTH] = "removed_not_worth",
        [REASON_REMOVED_DOCUMENT] = "removed_document",
        [REASON_REMOVED_CAPPED] = "removed_capped",
        [REASON_CHOSEN_START] = "chosen_start",
        [REASON_CHOSEN_RULE] = "chosen_rule",
        [REASON_CHOSEN_DEVICE] = "chosen_device",
        [REASON_CHOSEN_SCORE] = "chosen_score",
        [REASON_CHOSEN_SLO] = "chosen_slo",
        [REASON_CHOSEN_MODE] = "chosen_mode",
        [REASON_CHOSEN_RAMP] = "chosen_ramp",
        [REASON_UNLOADED] = "unloaded",
        [REASON_OVERFLOW] = "overflow",
        [REASON_EXPLORED] = "explored",
        [REASON_RAMP_NOT_TAKEN] = "ramp_not_taken",
        [REASON_CHOSEN_ONLY] = "chosen_only",
        [REASON_KEPT_SIMILAR] = "kept_similar",
        [REASON_KEPT_CONVERSATION] = "kept_conversation",
        [REASON_KEPT_SKEW] = "kept_skew",
        [REASON_CHOSEN_SKEW] = "chosen_skew",
        [REASON_PARTED] = "parted",
        [REASON_SKEWED] = "skewed",
        [REASON_MOVED] = "moved",
        [REASON_LEFT_LOW_CONFIDENCE] = "left_low_confidence",
        [REASON_LEFT_NOT_MINE] = "left_not_mine",
        [REASON_LEFT_PROBE] = "left_probe",
        [REASON_LEFT_UNCALIBRATED] = "left_uncalibrated",
        [REASON_LEFT_VALUES] = "left_values",
        [REASON_LEFT_STAKES] = "left_stakes",
        [REASON_LEFT_CUT] = "left_cut",
        [REASON_LEFT_ERROR] = "left_error",
        [REASON_LEFT_TIMEOUT] = "left_timeout",
        [REASON_COMPUTED] = "computed",
        [REASON_CACHE_HIT] = "cache_hit",
        [REASON_CACHE_SIMILAR] = "cache_similar",
        [REASON_CACHE_UNLIKE] = "cache_unlike",
        [REASON_SECOND_SIGNAL] = "second_signal",
        [REASON_KEPT_CONFIDENT] = "kept_confident",
        [REASON_KEPT_LAST] = "kept_last",
        [REASON_KEPT_HOPELESS] = "kept_hopeless",
        [REASON_UNJUDGED_NO_LOGPROBS] = "unjudged_no_logprobs",
        [REASON_UNJUDGED_NO_GATE] = "unjudged_no_gate",
        [REASON_UNJUDGED_FORMAT] = "unjudged_format",
        [REASON_CONFIDENCE_STALE] = "confidence_stale",
        [REASON_ODD_LOGPROBS] = "odd_logprobs",
        [REASON_REVIEW] = "review",
        [REASON_REVIEW_PENDING] = "review_pending",
        [REASON_HEDGED] = "hedged",
        [REASON_HEDGE_WON] = "hedge_won",
        [REASON_HEDGE_LOST] = "hedge_lost",
        [REASON_HEDGE_REFUSED] = "hedge_refused",
        [REASON_VERIFYING] = "verifying",
        [REASON_VERIFIED] = "verified",
        [REASON_LEFT_REFUTED] = "left_refuted",
        [REASON_UNVERIFIED] = "unverified",
        [REASON_NOT_GIVEN] = "not_given",
        [REASON_CONTINUED] = "continued",
        [REASON_DOCUMENT] = "document",
        [REASON_USAGE_REFUSED] = "usage_refused",
    };
    return (size_t)code < REASON_CODE_COUNT ? names[code] : "unknown";
}

const char *decided_by_name(enum decided_by by)
{
    static const char *const names[] = {
        "",      "denied", "mode",     "rule",    "device",       "ramp", "route", "gate",
        "score", "slo",    "overflow", "similar", "conversation", "draw", "skew",  NULL};
    return by == DECIDED_NOT ? NULL : names_table_name(names, (size_t)by);
}

const char *keeping_name(enum keeping keeping)
{
    static const char *const names[] = {"none", "same", "kept", "moved", "barred"};
    return (size_t)keeping < sizeof names / sizeof *names ? names[keeping] : "none";
}

/* --- rules --- */

static uint64_t tag_bits(const struct routing_rules *rules, const struct signals *signals)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < signals->tag_count; i++)
        bits |= routing_rules_name_bit(rules, RULE_TAG, signals->tags[i]);
    return bits ? bits : RULE_OTHER_BIT;
}

static uint32_t flags_of(const struct signals *signals)
{
    return (signals->code ? RULE_CODE : 0u) | (signals->maths ? RULE_MATHS : 0u) |
           (signals->question ? RULE_QUESTION : 0u) | (signals->multi_step ? RULE_MULTI_STEP : 0u) |
           (signals->fresh ? RULE_FRESH : 0u) | (signals->jailbreak ? RULE_JAILBREAK : 0u) |
           (signals->needs & CAPABILITY_TOOLS ? RULE_TOOLS : 0u) |
           (signals->needs & CAPABILITY_MEDIA ? RULE_MEDIA : 0u) |
           (signals->moment.on_battery ? RULE_ON_BATTERY : 0u);
}

static uint64_t bit_or_other(int number)
{
    return number < 0 || number > 62 ? RULE_OTHER_BIT : UINT64_C(1) << number;
}

void policy_read_numbers(const struct signals *signals, double out[static RULE_NUMBER_COUNT])
{
    const double nothing = (double)NAN;
    const double numbers[RULE_NUMBER_COUNT] = {
        [RULE_TOKENS] = signals->prompt_tokens,
        [RULE_ANSWER_TOKENS] = signals->tokens_max ? signals->tokens_max : nothing,
        [RULE_MESSAGES] = signals->message_count,
        [RULE_GAIN] = signals->judged ? signals->gain : nothing,
        [RULE_P_LOCAL] = signals->judged ? signals->p_local : nothing,
        [RULE_P_STRONG] = signals->judged ? signals->p_strong : nothing,
        [RULE_SLO_TTFT_MS] = signals->slo_ttft_ms ? signals->slo_ttft_ms : nothing,
        [RULE_SLO_MS] = signals->slo_ms ? signals->slo_ms : nothing,
        [RULE_BATTERY] = signals->moment.battery,
        [RULE_BUDGET] = signals->budget_used,
        [RULE_DAY_TOKENS] = signals->moment.day_tokens,
    };
    memcpy(out, numbers, sizeof numbers);
}

static void read_facts(const struct routing_rules *rules, const struct route *route,
                       const struct signals *signals, struct rule_facts *out)
{
    const struct moment *moment = &signals->moment;
    *out = (struct rule_facts){
        .has = {[RULE_TASK] =
                    routing_rules_name_bit(rules, RULE_TASK, *signals->task ? signals->task : NULL),
                [RULE_ROUTE] = routing_rules_name_bit(rules, RULE_ROUTE, route->name),
                [RULE_APP] = routing_rules_name_bit(rules, RULE_APP, signals->app),
                [RULE_USER] = routing_rules_name_bit(rules, RULE_USER, signals->user),
                [RULE_TAG] = tag_bits(rules, signals),
                [RULE_CLASS] = bit_or_other((int)signals->data_class),
                [RULE_LANGUAGE] = bit_or_other((int)signals->language),
                [RULE_NETWORK] = bit_or_other((int)moment->network),
                [RULE_PRIORITY] = bit_or_other(signals->batch),
                [RULE_HOUR] = bit_or_other(moment->hour),
                [RULE_DAY] = bit_or_other(moment->weekday)},
        .flags = flags_of(signals),
    };
    policy_read_numbers(signals, out->number);
}

const struct app *policy_find_app(const struct policy *policy, const char *key)
{
    for (size_t i = 0; key && *key && i < policy->app_count; i++)
        if (strcmp(policy->apps[i].key, key) == 0)
            return &policy->apps[i];
    return NULL;
}

void policy_apply_rules(const struct policy *policy, const struct route *route,
                        const struct td_weights *request, const struct td_weights *app,
                        struct signals *signals)
{
    signals->rule = NULL;
    signals->class_found = signals->data_class;
    signals->worth = policy->worth;
    if (policy->rules && policy->rules->count) {
        struct rule_facts facts;
        read_facts(policy->rules, route, signals, &facts);
        signals->rule = routing_rules_match(policy->rules, &facts);
    }
    const struct routing_rule *rule = signals->rule;
    if (rule && rule->data_class > (int)signals->data_class)
        signals->data_class = (enum td_data_class)rule->data_class;
    const struct td_weights *in_order[] = {request, rule ? &rule->weights : NULL, &route->weights,
                                           app, &policy->weights};
    signals->weights = (struct td_weights){.set = false};
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order && !signals->weights.set; i++)
        if (in_order[i])
            signals->weights = *in_order[i];
}

/* --- names --- */

static bool named(const char *name, const char *wanted)
{
    return name && strcmp(name, wanted) == 0;
}

size_t policy_find_adapter(const struct tier_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->adapter_count; i++)
        if (named(facts->adapters[i], name))
            return i;
    return SIZE_MAX;
}

/* As tier/local/local.c chooses them. One at scale 0 changes nothing. */
bool policy_uses_adapter(const struct tier_facts *facts, const struct td_request *request)
{
    if (facts->adapter_count == 0)
        return false;
    if (request->model && policy_find_adapter(facts, request->model) != SIZE_MAX)
        return true;
    for (size_t i = 0; i < request->adapter_count; i++)
        if (!request->adapters[i].has_scale || request->adapters[i].scale != 0)
            return true;
    return facts->adapts_always && !request->names_adapters;
}

/* "a, b, c" of all tiers, shortened. */
static void list_adapters(const struct tier_facts *facts, size_t tier_count, char out[static 200])
{
    size_t used = 0;
    snprintf(out, 200, "the configuration has none");
    for (size_t i = 0; i < tier_count; i++)
        for (size_t a = 0; a < facts[i].adapter_count && used < 150; a++)
            used += (size_t)snprintf(out + used, 200 - used, "%s%.40s", used ? ", " : "there are ",
                                     facts[i].adapters[a]);
}

enum td_status policy_check_adapters(const struct td_request *request,
                                     const struct tier_facts *facts, size_t tier_count,
                                     struct td_error *err)
{
    char known[200];
    for (size_t i = 0; i < request->adapter_count; i++) {
        const struct td_adapter_choice *choice = &request->adapters[i];
        bool found = false;
        for (size_t t = 0; t < tier_count; t++)
            found =
                found || (choice->name ? policy_find_adapter(&facts[t], choice->name) != SIZE_MAX
                                       : choice->number < facts[t].adapter_count);
        if (found)
            continue;
        list_adapters(facts, tier_count, known);
        if (choice->name)
            return error_set(err, TD_INVALID, "no adapter is named '%.60s': %s", choice->name,
                             known);
        return error_set(err, TD_INVALID, "no adapter has the number %u: %s", choice->number,
                         known);
    }
    return TD_OK;
}

/* What route and rule demand holds for a masked request, too. */
static enum td_data_class class_of(const struct route *route, const struct signals *signals,
                                   enum td_data_class data_class)
{
    int by_rule = signals->rule ? signals->rule->data_class : -1;
    if (route->data_class > data_class)
        data_class = route->data_class;
    return by_rule > (int)data_class ? (enum td_data_class)by_rule : data_class;
}

const char *policy_start_of(const struct route *route)
{
    return route->start ? route->start : route->tiers[0];
}

bool policy_sends_masked(const struct route *route, const struct signals *signals,
                         const struct tier_facts *facts)
{
    return signals->masked && route->pseudonyms && facts->pseudonyms &&
           facts->place != TD_PLACE_DEVICE &&
           !reach_allowed(facts, class_of(route, signals, signals->data_class));
}

enum td_data_class policy_class_for(const struct route *route, const struct signals *signals,
                                    const struct tier_facts *facts)
{
    return class_of(route, signals,
                    policy_sends_masked(route, signals, facts) ? signals->masked_class
                                                               : signals->data_class);
}
