/* Copies a record into one block: the struct, its attempts, then all strings. One table lists the
 * string members by offset, so that measuring and copying cannot differ. A block costs one
 * allocation when it is put and one free when it is written. */
#include "ledger/record/record.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <stdlib.h>
#include <string.h>

/* The string members of both structs, by offset. */
#define AT(member) offsetof(struct ledger_exchange, member)
static const size_t exchange_strings[] = {
    AT(id),         AT(user),         AT(route),          AT(policy_version), AT(requested_model),
    AT(tier),       AT(model),        AT(place),          AT(data_class),     AT(finish),
    AT(disclosure), AT(signals_json), AT(reasons_json),   AT(prompt_text),    AT(answer_text),
    AT(trace_id),   AT(span_id),      AT(parent_span_id), AT(request_id),     AT(tenant),
};
#undef AT
#define AT(member) offsetof(struct ledger_attempt, member)
static const size_t attempt_strings[] = {AT(tier),  AT(model),   AT(place),
                                         AT(error), AT(span_id), AT(model_version)};
#undef AT

static const char **string_at(void *base, size_t offset)
{
    return (const char **)(void *)((char *)base + offset);
}

static bool add_string(size_t *bytes, const char *text)
{
    return text == NULL || !__builtin_add_overflow(*bytes, strlen(text) + 1, bytes);
}

/* The bytes of all strings; SIZE_MAX when they overflow. */
static size_t strings_bytes(const struct ledger_exchange *exchange)
{
    size_t bytes = 0;
    struct ledger_exchange copy = *exchange;
    for (size_t i = 0; i < sizeof exchange_strings / sizeof exchange_strings[0]; i++)
        if (!add_string(&bytes, *string_at(&copy, exchange_strings[i])))
            return SIZE_MAX;
    for (size_t a = 0; a < exchange->attempt_count; a++) {
        struct ledger_attempt attempt = exchange->attempts[a];
        for (size_t i = 0; i < sizeof attempt_strings / sizeof attempt_strings[0]; i++)
            if (!add_string(&bytes, *string_at(&attempt, attempt_strings[i])))
                return SIZE_MAX;
    }
    return bytes;
}

static void move_string(const char **text, char **free_space)
{
    if (*text == NULL)
        return;
    size_t len = strlen(*text) + 1;
    memcpy(*free_space, *text, len);
    *text = *free_space;
    *free_space += len;
}

enum td_status record_new(const struct ledger_exchange *exchange, size_t bytes_max,
                          struct record **out, struct td_error *err)
{
    *out = NULL;
    if (exchange->id == NULL || exchange->id[0] == '\0')
        return error_set(err, TD_INVALID, "an exchange without an id cannot be recorded");
    if (exchange->wall_ms > INT64_MAX)
        return error_set(err, TD_INVALID, "exchange %s: its time is out of range", exchange->id);
    if (exchange->attempt_count > LEDGER_ATTEMPTS_MAX)
        return error_set(err, TD_INVALID, "exchange %s: %zu attempts; the ledger holds at most %d",
                         exchange->id, exchange->attempt_count, LEDGER_ATTEMPTS_MAX);
    ASSERT(exchange->attempts != NULL || exchange->attempt_count == 0);
    size_t fixed = sizeof(struct record) + exchange->attempt_count * sizeof(struct ledger_attempt);
    size_t strings = strings_bytes(exchange);
    if (strings > bytes_max || fixed > bytes_max - strings)
        return error_set(err, TD_LIMIT, "exchange %s: record larger than %zu bytes", exchange->id,
                         bytes_max);
    struct record *record = malloc(fixed + strings);
    if (record == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a ledger record of %zu bytes",
                         fixed + strings);
    record->exchange = *exchange;
    record->feedback = (struct ledger_feedback){0};
    record->shadow = (struct ledger_shadow){0};
    record->reaction = (struct ledger_reaction){0};
    record->policy = (struct ledger_policy){0};
    record->is_model = false;
    record->exchange.attempts = record->attempts;
    record->seq = 0;
    record->bytes = fixed + strings;
    char *free_space = (char *)record + fixed;
    for (size_t i = 0; i < sizeof exchange_strings / sizeof exchange_strings[0]; i++)
        move_string(string_at(&record->exchange, exchange_strings[i]), &free_space);
    for (size_t a = 0; a < exchange->attempt_count; a++) {
        record->attempts[a] = exchange->attempts[a];
        for (size_t i = 0; i < sizeof attempt_strings / sizeof attempt_strings[0]; i++)
            move_string(string_at(&record->attempts[a], attempt_strings[i]), &free_space);
    }
    *out = record;
    return TD_OK;
}

enum td_status record_new_feedback(const struct ledger_feedback *feedback, size_t bytes_max,
                                   struct record **out, struct td_error *err)
{
    *out = NULL;
    if (feedback->exchange == NULL || feedback->exchange[0] == '\0')
        return error_set(err, TD_INVALID, "feedback without an exchange cannot be recorded");
    if (!(feedback->score >= 0 && feedback->score <= 1) || feedback->wall_ms > INT64_MAX)
        return error_set(err, TD_INVALID, "feedback on %s: a score must be from 0 to 1",
                         feedback->exchange);
    size_t strings = 0;
    if (!add_string(&strings, feedback->exchange) || !add_string(&strings, feedback->comment) ||
        strings > bytes_max)
        return error_set(err, TD_LIMIT, "feedback on %s: larger than %zu bytes", feedback->exchange,
                         bytes_max);
    struct record *record = calloc(1, sizeof *record + strings);
    if (record == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for feedback of %zu bytes", strings);
    record->feedback = *feedback;
    record->bytes = sizeof *record + strings;
    char *free_space = (char *)record + sizeof *record;
    move_string(&record->feedback.exchange, &free_space);
    move_string(&record->feedback.comment, &free_space);
    *out = record;
    return TD_OK;
}

enum td_status record_new_shadow(const struct ledger_shadow *shadow, size_t bytes_max,
                                 struct record **out, struct td_error *err)
{
    *out = NULL;
    if (shadow->exchange == NULL || shadow->exchange[0] == '\0' || shadow->tier == NULL ||
        shadow->kind == NULL)
        return error_set(err, TD_INVALID,
                         "a shadow without an exchange, a tier or a kind cannot be recorded");
    if (shadow->agreement < 0 || shadow->agreement > 1 || shadow->wall_ms > INT64_MAX)
        return error_set(err, TD_INVALID, "shadow of %s: an agreement must be from 0 to 1",
                         shadow->exchange);
    size_t strings = 0;
    if (!add_string(&strings, shadow->exchange) || !add_string(&strings, shadow->tier) ||
        !add_string(&strings, shadow->kind) || !add_string(&strings, shadow->place) ||
        !add_string(&strings, shadow->model) || !add_string(&strings, shadow->model_version) ||
        strings > bytes_max)
        return error_set(err, TD_LIMIT, "shadow of %s: larger than %zu bytes", shadow->exchange,
                         bytes_max);
    struct record *record = calloc(1, sizeof *record + strings);
    if (record == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a shadow of %zu bytes", strings);
    record->shadow = *shadow;
    record->bytes = sizeof *record + strings;
    char *free_space = (char *)record + sizeof *record;
    move_string(&record->shadow.exchange, &free_space);
    move_string(&record->shadow.tier, &free_space);
    move_string(&record->shadow.kind, &free_space);
    move_string(&record->shadow.place, &free_space);
    move_string(&record->shadow.model, &free_space);
    move_string(&record->shadow.model_version, &free_space);
    *out = record;
    return TD_OK;
}

enum td_status record_new_reaction(const struct ledger_reaction *reaction, struct record **out,
                                   struct td_error *err)
{
    *out = NULL;
    if (reaction->exchange == NULL || reaction->exchange[0] == '\0' ||
        reaction->kind == REACTION_NONE || reaction->kind >= REACTION_COUNT ||
        reaction->wall_ms > INT64_MAX)
        return error_set(err, TD_INVALID,
                         "a reaction without an exchange or a kind cannot be recorded");
    size_t strings = strlen(reaction->exchange) + 1;
    struct record *record = calloc(1, sizeof *record + strings);
    if (record == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a reaction");
    record->reaction = *reaction;
    record->bytes = sizeof *record + strings;
    char *free_space = (char *)record + sizeof *record;
    move_string(&record->reaction.exchange, &free_space);
    *out = record;
    return TD_OK;
}

enum td_status record_new_policy(const struct ledger_policy *policy, size_t bytes_max,
                                 struct record **out, struct td_error *err)
{
    *out = NULL;
    if (policy->version == NULL || policy->text == NULL || policy->wall_ms > INT64_MAX)
        return error_set(err, TD_INVALID, "a policy without a version or text cannot be recorded");
    size_t strings = 0;
    if (!add_string(&strings, policy->version) || !add_string(&strings, policy->text) ||
        strings > bytes_max)
        return error_set(err, TD_LIMIT, "policy %s: larger than %zu bytes", policy->version,
                         bytes_max);
    struct record *record = calloc(1, sizeof *record + strings);
    if (record == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a policy of %zu bytes", strings);
    record->policy = *policy;
    record->bytes = sizeof *record + strings;
    char *free_space = (char *)record + sizeof *record;
    move_string(&record->policy.version, &free_space);
    move_string(&record->policy.text, &free_space);
    *out = record;
    return TD_OK;
}
