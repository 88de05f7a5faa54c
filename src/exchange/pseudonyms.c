#include "exchange/pseudonyms.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "exchange/egress.h"
#include "exchange/restore_delta.h"
#include "privacy/restore.h"

#include <stdlib.h>

#define DEPTH_MAX 64 /* as deep as base/json.h reads */
#define TEXT_BYTES_MAX ((size_t)64 << 20)

struct pseudonyms {
    struct vault_hold *hold;
    struct vault_uses uses;
    struct restore_table *table;
    struct td_request request;
    struct td_completion completion;
    struct td_message *messages;
    struct json *body;
    enum td_data_class rest;
    struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX]; /* what `replaced` names */
    struct egress_replaced replaced[PRIVACY_TALLY_ROWS_MAX];
    size_t replaced_count;
    struct restore_delta *deltas[PSEUDONYM_ANSWERS_MAX];
};

/* --- the three passes over a request --- */

struct walk {
    struct mask *mask;
    struct pseudonyms *out;
    struct td_error *err;
    enum td_status status;
    enum walk_step { WALK_READ, WALK_FIND, WALK_WRITE } step;
};

static void raise_rest(struct walk *walk, enum td_data_class data_class)
{
    if (data_class > walk->out->rest)
        walk->out->rest = data_class;
}

/* The text's masked form in the last step, else NULL. */
static struct json *walk_text(struct walk *walk, struct td_str text)
{
    struct json *masked = NULL;
    struct buf out;
    if (walk->step == WALK_READ)
        mask_read(walk->mask, text);
    if (walk->step == WALK_FIND)
        walk->status = mask_find(walk->mask, text, walk->err);
    if (walk->step != WALK_WRITE)
        return NULL;
    buf_init(&out, TEXT_BYTES_MAX);
    walk->status = mask_write(walk->mask, text, &out, &walk->out->rest, walk->err);
    if (walk->status == TD_OK)
        masked = json_new_text(buf_view(&out));
    buf_deinit(&out);
    return masked;
}

static struct json *walk_value(struct walk *walk, const struct json *value, int depth);

/* Names of members stay: a private one is what is left. */
static struct json *walk_object(struct walk *walk, const struct json *value, int depth)
{
    struct json *copy = walk->step == WALK_WRITE ? json_new_object() : NULL;
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (walk->status == TD_OK && json_next(value, &iterator, &key, &member)) {
        if (depth == 0 && strcmp(key, "tandem") == 0)
            continue; /* our own options, which are not sent */
        if (copy)
            raise_rest(walk, privacy_classify(str_from(key), NULL));
        struct json *masked = walk_value(walk, member, depth + 1);
        if (copy)
            json_put(copy, key, masked);
    }
    return copy;
}

static struct json *walk_array(struct walk *walk, const struct json *value, int depth)
{
    struct json *copy = walk->step == WALK_WRITE ? json_new_array() : NULL;
    for (size_t i = 0; walk->status == TD_OK && i < json_count(value); i++) {
        struct json *masked = walk_value(walk, json_at(value, i), depth + 1);
        if (copy)
            json_push(copy, masked);
    }
    return copy;
}

static struct json *walk_value(struct walk *walk, const struct json *value, int depth)
{
    if (depth > DEPTH_MAX) {
        walk->status = error_set(walk->err, TD_LIMIT, "the request is nested too deeply");
        return NULL;
    }
    switch (json_kind_of(value)) {
    case JSON_KIND_TEXT:
        return walk_text(walk, json_text(value));
    case JSON_KIND_OBJECT:
        return walk_object(walk, value, depth);
    case JSON_KIND_ARRAY:
        return walk_array(walk, value, depth);
    case JSON_KIND_INT:
    case JSON_KIND_DOUBLE: /* a card may come as a number; it cannot be replaced there */
        if (walk->step == WALK_WRITE)
            raise_rest(walk, egress_classify_number(value, NULL));
        break;
    default:
        break;
    }
    return walk->step == WALK_WRITE ? json_clone(value) : NULL;
}

/* A request without a body of its own is sent as its messages. */
static struct json *messages_json(const struct td_request *request)
{
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < request->message_count; i++)
        json_push(list, json_new_text(request->messages[i].content));
    return list;
}

static void walk_all(struct walk *walk, const struct json *texts)
{
    struct mask *mask = walk->mask;
    for (int step = WALK_READ; step <= WALK_WRITE && walk->status == TD_OK; step++) {
        walk->step = (enum walk_step)step;
        if (walk->step == WALK_WRITE)
            walk->status = mask_seal(mask, walk->err);
        if (walk->status == TD_OK)
            walk->out->body = walk_value(walk, texts, 0);
    }
    if (walk->status == TD_OK && !walk->out->body)
        walk->status = error_set(walk->err, TD_NO_MEMORY, "no memory for a masked request");
}

/* --- the masked request --- */

/* Only what is masked may stand in it: a content that is not one text is counted as empty. */
static struct td_str masked_content(const struct json *body, bool own_body, size_t i)
{
    if (!own_body)
        return json_text(json_at(body, i));
    return json_text(json_get(json_at(json_get(body, "messages"), i), "content"));
}

static enum td_status build_request(struct pseudonyms *p, const struct td_request *request,
                                    bool own_body, struct td_error *err)
{
    p->messages = calloc(request->message_count + 1, sizeof *p->messages);
    if (!p->messages)
        return error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    p->request = *request;
    p->request.messages = p->messages;
    p->request.body = own_body ? p->body : NULL;
    p->request.user = NULL; /* stands in the body, masked */
    for (size_t i = 0; i < request->message_count; i++)
        p->messages[i] = (struct td_message){.role = request->messages[i].role,
                                             .content = masked_content(p->body, own_body, i)};
    if (request->completion) {
        p->completion = *request->completion;
        p->completion.text = json_text(json_get(p->body, "prompt"));
        p->completion.ids = NULL;
        p->completion.id_count = 0;
        p->request.completion = &p->completion;
        for (size_t i = 0; i < request->message_count; i++)
            p->messages[i].content = p->completion.text;
    }
    return TD_OK;
}

static void count_replaced(struct pseudonyms *p, const struct mask *mask)
{
    _Static_assert(PRIVACY_TALLY_ROWS_MAX <= EGRESS_REPLACED_MAX,
                   "a request can have more types than a line of the egress ledger");
    p->replaced_count = privacy_tally_rows(mask_replaced(mask), p->rows);
    for (size_t i = 0; i < p->replaced_count; i++)
        p->replaced[i] = (struct egress_replaced){p->rows[i].name, p->rows[i].count};
}

static enum td_status mask_request(struct pseudonyms *p, const struct mask_rules *rules,
                                   const struct td_request *request, struct td_error *err)
{
    bool own_body = request->body != NULL;
    struct json *texts = own_body ? NULL : messages_json(request);
    struct vault *vault = vault_hold_lock(p->hold);
    struct walk walk = {
        .mask = mask_new(vault, rules, &p->uses), .out = p, .err = err, .status = TD_OK};
    if (!walk.mask || (!own_body && !texts))
        walk.status = error_set(err, TD_NO_MEMORY, "no memory for a masked request");
    else
        walk_all(&walk, own_body ? request->body : texts);
    if (walk.status == TD_OK) {
        count_replaced(p, walk.mask);
        p->table = restore_table_new(vault, &p->uses);
        for (size_t i = 0; i < PSEUDONYM_ANSWERS_MAX; i++) {
            p->deltas[i] = p->table ? restore_delta_new(p->table) : NULL;
            if (!p->deltas[i])
                walk.status = error_set(err, TD_NO_MEMORY, "no memory for a masked request");
        }
    }
    mask_free(walk.mask);
    vault_hold_unlock(p->hold);
    json_free(texts);
    return walk.status == TD_OK ? build_request(p, request, own_body, err) : walk.status;
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
    egress_conversation_digest(identity, key, owner);
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
    json_free(p->body);
    free(p->messages);
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
    restore_delta_reset(p->deltas[answer]);
}

const struct tier_piece *pseudonyms_restore(struct pseudonyms *p, size_t answer,
                                            const struct tier_piece *piece)
{
    return restore_delta_piece(p->deltas[answer], piece);
}

const struct tier_piece *pseudonyms_end(struct pseudonyms *p, size_t answer)
{
    return restore_delta_end(p->deltas[answer]);
}

struct pseudonym_counts pseudonyms_count(const struct pseudonyms *p, size_t answer)
{
    struct restore_counts counts = restore_delta_counts(p->deltas[answer]);
    return (struct pseudonym_counts){p->uses.count, counts.seen, counts.restored};
}
