/* A record in sentences. */
#include "app/cli/explanation.h"

#include "app/cli/command.h"
#include "app/cli/remote.h"
#include "app/config/config.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "ledger/egress/egress_read.h"
#include "ledger/record/ledger.h"
#include "privacy/kind/kind.h"

#include <stdio.h>

#define RECORD_BYTES_MAX (16u << 20)
#define REMOTE_TIMEOUT_MS 10000

static const char *text_of(const struct json *object, const char *name, const char *otherwise)
{
    const char *text = json_cstr(json_get(object, name));
    return text ? text : otherwise;
}

static void print_head(const struct json *record)
{
    printf("Exchange %s", text_of(record, "id", "?"));
    const char *time = text_of(record, "time", NULL);
    if (time)
        printf(", %s", time);
    printf("\n");
    const char *tier = text_of(record, "tier", NULL);
    if (tier)
        printf("It was answered by the tier %s (%s, %s)", tier, text_of(record, "model", "?"),
               text_of(record, "place", "?"));
    else
        printf("It was not answered by any tier");
    const struct json *confidence = json_get(record, "confidence");
    if (json_kind_of(confidence) == JSON_KIND_DOUBLE || json_kind_of(confidence) == JSON_KIND_INT)
        printf(" with confidence %.2f", json_number(confidence, 0));
    printf(", status %s.\n", text_of(record, "status", "?"));
    const char *policy = text_of(record, "policy_version", NULL); /* embeddings have none */
    const char *model = text_of(record, "requested_model", NULL);
    if (model)
        printf("The request asked for the model '%s'.\n", model);
    printf("Route %s, data class %s%s%s.\n", text_of(record, "route", "?"),
           text_of(record, "data_class", "?"), policy ? ", policy " : "", policy ? policy : "");
    printf("%lld prompt and %lld answer tokens, first text after %.1f ms, complete after %.1f ms, "
           "%.6f USD (all-cloud: %.6f USD).\n",
           (long long)json_int(json_get(record, "prompt_tokens"), 0),
           (long long)json_int(json_get(record, "completion_tokens"), 0),
           json_number(json_get(record, "ttft_ms"), 0),
           json_number(json_get(record, "total_ms"), 0),
           json_number(json_get(record, "cost_usd"), 0),
           json_number(json_get(record, "all_cloud_cost_usd"), 0));
    const char *disclosure = text_of(record, "disclosure", NULL);
    if (disclosure)
        printf("The client was told: %s\n", disclosure);
    const char *closed = text_of(record, "texts_closed", NULL);
    if (closed)
        printf("Its texts are not shown: %s\n", closed);
}

/* --- the class --- */

/* A kind of ours by its name; others are an operator's own, whose class is in the configuration of
 * then. */
static bool find_kind(const char *name, enum td_data_class *data_class)
{
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        if (strcmp(privacy_kind_name(kind), name) != 0)
            continue;
        *data_class = privacy_kind_class(kind);
        return true;
    }
    return false;
}

/* The findings that give the class. False: nothing that was found does. */
static bool list_findings(const struct json *findings, enum td_data_class wanted)
{
    void *iterator = NULL;
    const char *name;
    const struct json *count;
    bool listed = false;
    while (json_next(findings, &iterator, &name, &count)) {
        enum td_data_class own = TD_CLASS_PUBLIC;
        bool known = find_kind(name, &own);
        if (known && own != wanted)
            continue;
        if (listed)
            printf(", %s (", name);
        else
            printf("It is %s because it contains %s (", names_class(wanted), name);
        listed = true;
        if (json_int(count, 1) > 1)
            printf("%lld times, ", (long long)json_int(count, 1));
        printf("%s)", known ? names_class(own) : "a rule of your own");
    }
    return listed;
}

/* What a user can do about a class that kept a tier out. */
static void print_remedy(const struct json *record, enum td_data_class data_class)
{
    const struct json *reasons = json_get(record, "reasons");
    const char *tier = NULL;
    for (size_t i = 0; !tier && i < json_count(reasons); i++)
        if (strcmp(text_of(json_at(reasons, i), "code", ""), "removed_class") == 0)
            tier = text_of(json_at(reasons, i), "tier", NULL);
    if (tier && data_class == TD_CLASS_SENSITIVE)
        printf("To ask %s all the same, let it see surrogates: privacy.pseudonyms.on: true puts "
               "them in place of private values, and the values back into the answer.\n",
               tier);
    else if (tier)
        printf("To ask %s all the same, take these values out first: 'tandem redact' writes the "
               "text without them.\n",
               tier);
}

/* Why a text has its class. */
static void print_class(const struct json *record)
{
    enum td_data_class data_class;
    const struct json *findings = json_get(json_get(record, "signals"), "findings");
    const char *name = text_of(record, "data_class", "");
    if (!names_class_parse(str_from(name), &data_class) || data_class == TD_CLASS_PUBLIC)
        return;
    if (list_findings(findings, data_class))
        printf(".\n");
    else
        printf("It is %s because the request, its route or the conversation before says so; "
               "nothing that was found in it does.\n",
               name);
    print_remedy(record, data_class);
}

/* The names by which other systems know this request. */
static void print_trace(const struct json *record)
{
    const char *trace = text_of(record, "trace_id", NULL);
    const char *request = text_of(record, "request_id", NULL);
    const struct json *others = json_get(record, "same_trace");
    if (!trace)
        return;
    printf("Trace %s, request %s.\n", trace, request ? request : "without a name");
    if (json_bool(json_get(json_get(record, "signals"), "trace_restarted"), false))
        printf("The traceparent that came was malformed: the trace began anew here.\n");
    for (size_t i = 0; i < json_count(others); i++)
        printf("%s%s", i ? ", " : "Also in this trace: ", json_cstr(json_at(others, i)));
    if (json_count(others))
        printf(".\n");
}

static void print_reasons(const struct json *record)
{
    const struct json *reasons = json_get(record, "reasons");
    if (json_count(reasons))
        printf("\nWhy:\n");
    for (size_t i = 0; i < json_count(reasons); i++) {
        const struct json *reason = json_at(reasons, i);
        const char *tier = text_of(reason, "tier", "");
        printf("  %zu. %s [%s%s%s]\n", i + 1, text_of(reason, "text", ""),
               text_of(reason, "code", "?"), *tier ? ", " : "", tier);
    }
}

/* What decided where an exchange began, by the name in its record (router/plan/policy.c). */
static const char *decided_in_words(const char *by)
{
    static const struct {
        const char *by, *words;
    } table[] = {
        {"denied", "no tier was allowed to answer"},
        {"mode", "the request's mode decided"},
        {"rule", "a rule of the policy decided"},
        {"ramp", "the route's ramp decided"},
        {"route", "the first tier of the route's ladder"},
        {"gate", "gate G0 skipped the first tier"},
        {"score", "the best score by the request's weights"},
        {"slo", "the time that the request allows decided"},
        {"similar", "where a similar question began before"},
        {"conversation", "where this conversation began before"},
        {"skew", "fewer start on a tier that says something else (models.skewed)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].by, by) == 0)
            return table[i].words;
    return by;
}

/* Where it began, by what, who was next, and what would have changed it. */
static void print_decision(const struct json *record)
{
    const struct json *signals = json_get(record, "signals");
    const struct json *decision = json_get(signals, "decision");
    const char *by = text_of(decision, "by", NULL), *rule = text_of(decision, "rule", NULL);
    if (!by)
        return;
    printf("\nDecision: it began on %s, by %s (%s", text_of(decision, "start", "no tier"), by,
           decided_in_words(by));
    if (rule)
        printf("; rule '%s' matched", rule);
    const char *runner_up = text_of(decision, "runner_up", NULL);
    if (runner_up)
        printf("; %s was next", runner_up);
    printf(").\n");
    const char *flip = text_of(decision, "flip", NULL);
    if (flip)
        printf("What would change it: %s.\n", flip);
    void *iterator = NULL;
    const char *tier;
    const struct json *score;
    while (json_next(json_get(decision, "scores_usd"), &iterator, &tier, &score))
        printf("  score of %s: %.6f USD\n", tier, json_number(score, 0));
}

static void print_attempts(const struct json *record)
{
    const struct json *attempts = json_get(record, "attempts");
    if (json_count(attempts))
        printf("\nAttempts:\n");
    for (size_t i = 0; i < json_count(attempts); i++) {
        const struct json *attempt = json_at(attempts, i);
        const struct json *confidence = json_get(attempt, "confidence");
        printf("  %zu. %s (%s): %s", i + 1, text_of(attempt, "tier", "?"),
               text_of(attempt, "place", "?"), text_of(attempt, "outcome", "?"));
        if (confidence && json_kind_of(confidence) != JSON_KIND_NULL)
            printf(", confidence %.2f", json_number(confidence, 0));
        const char *kind = json_cstr(json_at(json_get(json_get(record, "signals"), "kinds"), i));
        if (kind)
            printf(" of a%s %s", *kind == 'a' ? "n" : "", kind);
        printf(", began after %.1f ms, %.1f ms, %.6f USD%s, %lld bytes left the device\n",
               json_number(json_get(attempt, "start_ms"), 0),
               json_number(json_get(attempt, "total_ms"), 0),
               json_number(json_get(attempt, "cost_usd"), 0),
               json_bool(json_get(attempt, "estimated"), false) ? " (estimated)" : "",
               (long long)json_int(json_get(attempt, "egress_bytes"), 0));
        const char *error = text_of(attempt, "error", NULL);
        if (error)
            printf("     %s\n", error);
    }
}

static void print_shadows(const struct json *record)
{
    const struct json *shadows = json_get(record, "shadows");
    if (json_count(shadows))
        printf("\nShadow answers, only compared:\n");
    for (size_t i = 0; i < json_count(shadows); i++) {
        const struct json *shadow = json_at(shadows, i);
        const struct json *agreement = json_get(shadow, "agreement");
        bool answered = json_kind_of(agreement) != JSON_KIND_NULL;
        printf("  %s: ", text_of(shadow, "tier", "?"));
        if (answered)
            printf("%s (agreement %.2f as %s)",
                   json_bool(json_get(shadow, "same"), false) ? "the same" : "another answer",
                   json_number(agreement, 0), text_of(shadow, "kind", "?"));
        else
            printf("no answer");
        printf(", %.1f ms, %.6f USD, %lld bytes left the device\n",
               json_number(json_get(shadow, "total_ms"), 0),
               json_number(json_get(shadow, "cost_usd"), 0),
               (long long)json_int(json_get(shadow, "egress_bytes"), 0));
    }
}

/* The kinds of values that the payloads had others for; the values themselves are on no record. */
static void print_egress(const struct json *record)
{
    const struct json *entries = json_get(record, "egress"), *count;
    if (json_count(entries))
        printf("\nWhat left the device ('tandem egress show --exchange %s'):\n",
               text_of(record, "id", "?"));
    for (size_t i = 0; i < json_count(entries); i++) {
        const struct json *entry = json_at(entries, i);
        const char *separator = "; ", *kind;
        void *iterator = NULL;
        printf("  %zu. %lld bytes to %s, %s", i + 1,
               (long long)json_int(json_get(entry, "bytes"), 0), text_of(entry, "tier", "?"),
               text_of(entry, "class", "?"));
        while (json_next(json_get(entry, "replaced"), &iterator, &kind, &count)) {
            printf("%s%lld %s", separator, (long long)json_int(count, 0), kind);
            separator = ", ";
        }
        printf(separator[0] == ',' ? " replaced\n" : "\n");
    }
}

static void print_all(const struct json *record)
{
    print_head(record);
    print_class(record);
    print_trace(record);
    print_reasons(record);
    print_decision(record);
    print_attempts(record);
    print_shadows(record);
    print_egress(record);
}

bool explanation_show(const struct json *record)
{
    command_harmless_begin();
    print_all(record);
    return command_harmless_end(true);
}

enum td_status explanation_read(const struct config *config, const char *id, struct json **out,
                                struct td_error *err)
{
    struct ledger_reader *reader = NULL;
    enum td_status status = command_open_ledger(config, &reader, err);
    if (status == TD_OK)
        status = ledger_reader_find(reader, NULL, id, out, err);
    ledger_reader_close(reader);
    if (status == TD_OK && strcmp(config->ledger.egress, "none") != 0)
        egress_add(config->ledger.egress, NULL, *out);
    return status;
}

enum td_status explanation_fetch(const char *url, const char *id, struct json **out,
                                 struct td_error *err)
{
    char path[256];
    snprintf(path, sizeof path, "/tandem/v1/exchanges/%.200s", id);
    struct remote_request request = {.base = url, .path = path, .timeout_ms = REMOTE_TIMEOUT_MS};
    return remote_ask(&request, NULL, RECORD_BYTES_MAX, out, err);
}
