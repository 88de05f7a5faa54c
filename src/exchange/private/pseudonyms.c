/* The masked request, and the restorers of its answers.
 *
 * The scanner's reading is masked as a whole, so that a value is the same surrogate everywhere.
 * Then every text of the request is replaced by its masked part, found by where the text came from.
 * A text that the scanner was not shown has no part, and then nothing is sent. */
#include "exchange/private/pseudonyms.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/private/classify.h"
#include "exchange/private/conversation_id.h"
#include "exchange/private/restore_delta.h"
#include "privacy/pseudonym/restore.h"

#include <stdlib.h>

/* A part of the masked reading, and the text of the request that it was. */
struct sourced {
    const char *source;
    size_t part;
};

struct pseudonyms {
    struct vault_hold *hold;
    struct vault_uses uses;
    struct restore_table *table;
    struct td_request request;
    struct td_completion completion;
    struct td_message *messages;
    struct reading masked;
    struct sourced *parts; /* [part_count] of it, by their sources */
    size_t part_count;
    const struct vault_store *store;
    struct request_member *members;
    struct json *values; /* a list: the members' */
    enum td_data_class rest;
    struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX]; /* what `replaced` names */
    struct egress_replaced replaced[PRIVACY_TALLY_ROWS_MAX];
    size_t replaced_count;
    struct restore_delta *deltas[PSEUDONYM_ANSWERS_MAX];
};

/* --- what a text of the request became --- */

static int by_source(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct sourced *)a)->source;
    uintptr_t y = (uintptr_t)((const struct sourced *)b)->source;
    return x < y ? -1 : x > y;
}

static bool sort_parts(struct pseudonyms *p)
{
    p->parts = calloc(p->masked.count + 1, sizeof *p->parts);
    for (size_t i = 0; p->parts && i < p->masked.count; i++)
        if (p->masked.parts[i].source)
            p->parts[p->part_count++] = (struct sourced){p->masked.parts[i].source, i};
    if (p->part_count > 1)
        qsort(p->parts, p->part_count, sizeof *p->parts, by_source);
    return p->parts != NULL;
}

/* False: the text was not looked at. */
static bool masked_text(const struct pseudonyms *p, struct td_str text, struct td_str *out)
{
    const struct sourced wanted = {.source = text.data};
    *out = (struct td_str){NULL, 0};
    if (text.len == 0)
        return true;
    if (request_is_opaque(&p->request, text)) {
        *out = text; /* its class stays, whatever is replaced beside it */
        return true;
    }
    const struct sourced *found =
        bsearch(&wanted, p->parts, p->part_count, sizeof *p->parts, by_source);
    if (found)
        *out = reading_part_text(&p->masked, found->part);
    return found != NULL;
}

static struct json *masked_json(const struct pseudonyms *p, const struct json *value, bool *ok);

static struct json *masked_object(const struct pseudonyms *p, const struct json *value, bool *ok)
{
    struct json *copy = json_new_object();
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (json_next(value, &iterator, &key, &member))
        json_put(copy, key, masked_json(p, member, ok));
    return copy;
}

/* A copy with the masked texts. Names of members and numbers stay as they are; where one of them is
 * private, the class of what is left says so. */
static struct json *masked_json(const struct pseudonyms *p, const struct json *value, bool *ok)
{
    struct td_str text;
    struct json *list;
    switch (json_kind_of(value)) {
    case JSON_KIND_TEXT:
        *ok &= masked_text(p, json_text(value), &text);
        return json_new_text(text);
    case JSON_KIND_OBJECT:
        return masked_object(p, value, ok);
    case JSON_KIND_ARRAY:
        list = json_new_array();
        for (size_t i = 0; i < json_count(value); i++)
            json_push(list, masked_json(p, json_at(value, i), ok));
        return list;
    default:
        return json_clone(value);
    }
}

/* --- the masked request --- */

/* A name by which a caller's own are told apart is replaced whole, whatever it is made of. */
static struct json *alias_json(const struct pseudonyms *p, struct td_str name)
{
    char alias[VAULT_ALIAS_BYTES];
    vault_store_alias(p->store, str_from(p->request.caller), name, alias);
    return json_new_cstr(alias);
}

static bool mask_members(struct pseudonyms *p, const struct td_request *request, bool *ok)
{
    p->members = calloc(request->member_count + 1, sizeof *p->members);
    p->values = json_new_array();
    for (size_t i = 0; p->members && p->values && i < request->member_count; i++) {
        const struct request_member *from = &request->members[i];
        struct json *value = from->kind == REQUEST_CALLER_NAME
                                 ? alias_json(p, json_text(from->value))
                                 : masked_json(p, from->value, ok);
        if (!value)
            return false;
        json_push(p->values, value);
        p->members[i] = (struct request_member){from->name, from->kind, json_at(p->values, i)};
    }
    return p->members && p->values;
}

/* Only what is masked may stand in it. A content of several parts counts as empty: the parts stand
 * in the member, and who sends a masked request sends its members. */
static struct td_str masked_content(const struct pseudonyms *p, const struct td_request *request,
                                    size_t i, bool *ok)
{
    struct td_str content = {NULL, 0};
    if (!request->parts || request->parts[i].count == 0)
        *ok &= masked_text(p, request->messages[i].content, &content);
    return content;
}

static enum td_status build_request(struct pseudonyms *p, const struct td_request *request,
                                    struct td_error *err)
{
    bool ok = sort_parts(p);
    p->messages = calloc(request->message_count + 1, sizeof *p->messages);
    p->request = *request;
    if (!ok || !p->messages || !mask_members(p, request, &ok))
        return error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    p->request.messages = p->messages;
    p->request.members = p->members;
    /* What was not masked is not in it. */
    p->request.parts = NULL;
    p->request.schema = NULL;
    if (request->member_count > 0)
        p->request.stop_count = 0; /* they stand among the members */
    p->request.user = NULL;        /* stands among the members, by an alias */
    for (size_t i = 0; i < request->message_count; i++)
        p->messages[i] = (struct td_message){.role = request->messages[i].role,
                                             .content = masked_content(p, request, i, &ok)};
    if (request->completion) {
        p->completion = *request->completion;
        p->completion.text = json_text(request_value(&p->request, REQUEST_PROMPT));
        p->completion.ids = NULL;
        p->completion.id_count = 0;
        p->request.completion = &p->completion;
    }
    return ok ? TD_OK : error_set(err, TD_INTERNAL, "a text was not looked at");
}

static void count_replaced(struct pseudonyms *p, const struct mask *mask)
{
    _Static_assert(PRIVACY_TALLY_ROWS_MAX <= EGRESS_REPLACED_MAX,
                   "a request can have more types than a line of the egress ledger");
    p->replaced_count = privacy_tally_rows(mask_replaced(mask), p->rows);
    for (size_t i = 0; i < p->replaced_count; i++)
        p->replaced[i] = (struct egress_replaced){p->rows[i].name, p->rows[i].count};
}

static enum td_status make_restorers(struct pseudonyms *p, const struct vault *vault,
                                     struct td_error *err)
{
    p->table = restore_table_new(vault, &p->uses);
    for (size_t i = 0; i < PSEUDONYM_ANSWERS_MAX; i++) {
        p->deltas[i] = p->table ? restore_delta_new(p->table) : NULL;
        if (!p->deltas[i])
            return error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    }
    return TD_OK;
}

static enum td_status mask_request(struct pseudonyms *p, const struct mask_rules *rules,
                                   const struct td_request *request, struct td_error *err)
{
    struct reading reading;
    reading_init(&reading);
    classify_read(request, &reading);
    struct vault *vault = vault_hold_lock(p->hold);
    struct mask *mask = mask_new(vault, rules, &p->uses);
    enum td_status status = mask ? mask_find(mask, &reading, err)
                                 : error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    if (status == TD_OK)
        status = mask_seal(mask, err);
    if (status == TD_OK)
        status = mask_write(mask, &p->masked, &p->rest, err);
    if (status == TD_OK) {
        count_replaced(p, mask);
        status = make_restorers(p, vault, err);
    }
    mask_free(mask);
    vault_hold_unlock(p->hold);
    reading_deinit(&reading);
    return status == TD_OK ? build_request(p, request, err) : status;
}

enum td_status pseudonyms_new(struct vault_store *store, const struct mask_rules *rules,
                              uint64_t now_ms, const struct td_request *identity,
                              const struct td_request *request, struct pseudonyms **out,
                              struct td_error *err)
{
    uint8_t key[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    struct pseudonyms *p = calloc(1, sizeof *p);
    if (!p)
        return error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    p->store = store;
    reading_init(&p->masked);
    conversation_id_digest(identity, key, owner);
    enum td_status status = vault_store_take(store, key, owner, now_ms, &p->hold, err);
    if (status == TD_OK && identity->keep_nothing)
        vault_hold_forbid_keeping(p->hold);
    if (status == TD_OK)
        status = mask_request(p, rules, request, err);
    if (status == TD_OK)
        *out = p;
    else
        pseudonyms_free(p);
    return status;
}

void pseudonyms_free(struct pseudonyms *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < PSEUDONYM_ANSWERS_MAX; i++)
        restore_delta_free(p->deltas[i]);
    restore_table_free(p->table);
    vault_uses_deinit(&p->uses);
    vault_hold_drop(p->hold);
    json_free(p->values);
    free(p->members);
    free(p->messages);
    free(p->parts);
    reading_deinit(&p->masked);
    free(p);
}

const struct td_request *pseudonyms_request(const struct pseudonyms *p)
{
    return &p->request;
}

enum td_data_class pseudonyms_class(const struct pseudonyms *p)
{
    return p->rest;
}

const struct egress_replaced *pseudonyms_replaced(const struct pseudonyms *p, size_t *count)
{
    *count = p->replaced_count;
    return p->replaced;
}

/* --- answers --- */

void pseudonyms_begin(struct pseudonyms *p, size_t answer)
{
    ASSERT(answer < PSEUDONYM_ANSWERS_MAX);
    restore_delta_reset(p->deltas[answer]);
}

const struct tier_piece *pseudonyms_restore(struct pseudonyms *p, size_t answer,
                                            const struct tier_piece *piece)
{
    ASSERT(answer < PSEUDONYM_ANSWERS_MAX && piece);
    return restore_delta_piece(p->deltas[answer], piece);
}

const struct tier_piece *pseudonyms_end(struct pseudonyms *p, size_t answer)
{
    ASSERT(answer < PSEUDONYM_ANSWERS_MAX);
    return restore_delta_end(p->deltas[answer]);
}

struct pseudonym_counts pseudonyms_count(const struct pseudonyms *p, size_t answer)
{
    struct restore_counts counts = restore_delta_counts(p->deltas[answer]);
    return (struct pseudonym_counts){p->uses.count, counts.seen, counts.restored};
}
