#include "api/review/review_desk.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/private/review_case.h"
#include "tier/review/review.h"

#include <stdio.h>
#include <string.h>

enum shown { SHOWN_WHOLE, SHOWN_REDACTED, SHOWN_WITHHELD };
static const char *const shown_names[] = {"whole", "redacted", "withheld", NULL};

/* --- what somebody sees --- */

static struct json *time_json(int64_t at_s)
{
    return at_s ? json_new_int(at_s) : json_new_null();
}

static struct json *row_json(const struct queued *row)
{
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("review_ticket"));
    json_put(object, "id", json_new_cstr(row->id));
    json_put(object, "tier", json_new_cstr(row->queue));
    json_put(object, "exchange", json_new_cstr(row->about));
    json_put(object, "state", json_new_cstr(queued_state_name(row->state)));
    json_put(object, "data_class", json_new_cstr(names_class((enum td_data_class)row->data_class)));
    json_put(object, "created", json_new_int(row->created_s));
    json_put(object, "expires", json_new_int(row->expires_s));
    json_put(object, "lease_until", time_json(row->state == QUEUED_TAKEN ? row->lease_s : 0));
    json_put(object, "holder", json_new_cstr(*row->holder ? row->holder : NULL));
    json_put(object, "takes", json_new_int(row->takes));
    json_put(object, "ended", time_json(row->ended_s));
    json_put(object, "outcome", json_new_cstr(*row->outcome ? row->outcome : NULL));
    return object;
}

static bool list_row(void *ctx, const struct queued *row)
{
    json_push(ctx, row_json(row));
    return true;
}

enum td_status review_desk_list(const struct review_desk *desk, const struct queue_filter *filter,
                                struct json **out, struct td_error *err)
{
    struct queue_filter mine = *filter;
    struct json *list = json_new_array();
    mine.owner = desk->viewer.owner;
    enum td_status status = queue_store_each(desk->queue, &mine, list_row, list, err);
    *out = json_new_object();
    json_put(*out, "object", json_new_cstr("list"));
    json_put(*out, "data", list);
    return status;
}

/* One ticket as it was found. */
struct found {
    struct queued row;
    struct json *what, *result; /* the case, and of an ended one the result */
};

static bool note_found(void *ctx, const struct queued *row)
{
    struct found *found = ctx;
    found->row = *row;
    (void)!json_parse(row->body, &found->what, NULL);
    (void)!json_parse(row->result, &found->result, NULL);
    return true;
}

static void found_deinit(struct found *found)
{
    json_free(found->what);
    json_free(found->result);
}

static enum td_status find(const struct review_desk *desk, const char *id, struct found *found,
                           struct td_error *err)
{
    *found = (struct found){.what = NULL};
    enum td_status status =
        queue_store_find(desk->queue, desk->viewer.owner, id, note_found, found, err);
    found->row.body = found->row.result = (struct td_str){NULL, 0};
    return status;
}

static enum shown shown_of(const struct review_desk *desk, const struct found *found)
{
    const struct json *masked = json_get(found->what, "masked");
    enum td_data_class left;
    if (found->row.data_class <= (int)desk->viewer.clearance)
        return SHOWN_WHOLE;
    return names_class_parse(json_text(json_get(masked, "class")), &left) &&
                   left <= desk->viewer.clearance
               ? SHOWN_REDACTED
               : SHOWN_WITHHELD;
}

/* A list of the case with its texts as they may be seen. */
static struct json *texts_json(const struct found *found, enum shown shown, const char *member)
{
    const struct json *list = json_get(found->what, member);
    const struct json *masked = json_get(json_get(found->what, "masked"), member);
    struct json *out = json_new_array();
    for (size_t i = 0; i < json_count(list); i++) {
        struct json *row = json_clone(json_at(list, i));
        if (json_get(row, "from"))
            json_put(row, "role", json_clone(json_get(row, "from")));
        json_put(row, "content",
                 shown == SHOWN_WHOLE      ? json_clone(json_get(row, "text"))
                 : shown == SHOWN_REDACTED ? json_clone(json_at(masked, i))
                                           : json_new_null());
        json_remove(row, "from");
        json_remove(row, "text");
        json_push(out, row);
    }
    return out;
}

/* A reason may quote the request. */
static struct json *reasons_json(const struct found *found, enum shown shown)
{
    struct json *out = json_clone(json_get(found->what, "reasons"));
    struct json *plain = json_new_array();
    if (shown == SHOWN_WHOLE) {
        json_free(plain);
        return out;
    }
    for (size_t i = 0; i < json_count(out); i++) {
        struct json *row = json_clone(json_at(out, i));
        json_remove(row, "text");
        json_push(plain, row);
    }
    json_free(out);
    return plain;
}

static void list_note(void *ctx, int64_t at_s, const char *who, const char *what)
{
    struct json *row = json_new_object();
    json_put(row, "at", json_new_int(at_s));
    json_put(row, "who", json_new_cstr(who));
    json_put(row, "what", json_new_cstr(what));
    json_push(ctx, row);
}

static enum td_status show(const struct review_desk *desk, const struct found *found,
                           struct json **out, struct td_error *err)
{
    enum shown shown = shown_of(desk, found);
    struct json *looks = json_new_array(), *object = row_json(&found->row);
    char what[32];
    snprintf(what, sizeof what, "saw it %s", shown_names[shown]);
    enum td_status status =
        queue_store_note(desk->queue, found->row.id, desk->viewer.who, what, err);
    if (status == TD_OK)
        status = queue_store_notes(desk->queue, found->row.id, list_note, looks, err);
    json_put(object, "shown", json_new_cstr(shown_names[shown]));
    json_put(object, "question", texts_json(found, shown, "question"));
    json_put(object, "candidates", texts_json(found, shown, "candidates"));
    json_put(object, "route", json_clone(json_get(found->what, "route")));
    json_put(object, "reasons", reasons_json(found, shown));
    json_put(object, "cost_of_error_usd", json_clone(json_get(found->what, "cost_of_error_usd")));
    json_put(object, "review_usd", json_clone(json_get(found->what, "review_usd")));
    json_put(object, "answer",
             found->result && shown == SHOWN_WHOLE ? json_clone(json_get(found->result, "text"))
                                                   : json_new_null());
    json_put(object, "looks", looks);
    if (status == TD_OK)
        *out = object;
    else
        json_free(object);
    return status;
}

enum td_status review_desk_show(const struct review_desk *desk, const char *id, struct json **out,
                                struct td_error *err)
{
    struct found found;
    enum td_status status = find(desk, id, &found, err);
    if (status == TD_OK)
        status = show(desk, &found, out, err);
    found_deinit(&found);
    return status;
}

/* --- answers --- */

/* The number of a candidate; -1 = the wish names none. */
static enum td_status read_candidate(const struct found *found, const struct json *wish,
                                     int64_t *out, const char **param, struct td_error *err)
{
    const struct json *value = json_get(wish, "candidate");
    int64_t count = (int64_t)json_count(json_get(found->what, "candidates"));
    *out = json_absent(value) ? -1 : json_int(value, -2);
    if (*out >= -1 && *out < count && (*out >= 0 || json_absent(value)))
        return TD_OK;
    *param = "candidate";
    return count == 0 ? error_set(err, TD_INVALID, "the ticket has no candidates: give a text")
                      : error_set(err, TD_INVALID, "candidate must be a number from 0 to %lld",
                                  (long long)count - 1);
}

static enum td_status read_text(const struct json *wish, bool wanted, struct td_str *out,
                                const char **param, struct td_error *err)
{
    const struct json *value = json_get(wish, "text");
    *out = json_text(value);
    *param = "text";
    if (!json_absent(value) && json_kind_of(value) != JSON_KIND_TEXT)
        return error_set(err, TD_INVALID, "text must be a string");
    if (out->len > REVIEW_TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "text has %zu bytes, and may have %zu", out->len,
                         REVIEW_TEXT_BYTES_MAX);
    if (wanted && str_trim(*out).len == 0)
        return error_set(err, TD_INVALID, "text must say something");
    return TD_OK;
}

/* What the client gets for the wish, and what it is called. */
static enum td_status write_answer(const struct found *found, enum shown shown, const char *verb,
                                   const struct json *wish, struct buf *text, int64_t *candidate,
                                   const char **outcome, const char **param, struct td_error *err)
{
    struct td_str typed;
    bool edits = strcmp(verb, "edit") == 0, rejects = strcmp(verb, "reject") == 0;
    enum td_status status = read_candidate(found, wish, candidate, param, err);
    if (status != TD_OK)
        return status;
    if (edits && *candidate < 0) {
        *param = "candidate";
        return error_set(err, TD_INVALID, "edit names the candidate that the text is made of");
    }
    if (rejects)
        *candidate = -1;
    bool accepts = !edits && !rejects && *candidate >= 0;
    status = read_text(wish, !accepts && !rejects, &typed, param, err);
    if (status != TD_OK)
        return status;
    if (accepts && typed.len > 0)
        return error_set(err, TD_INVALID,
                         "a candidate is accepted without a text; to change it, edit it");
    *outcome = rejects ? "rejected" : accepts ? "accepted" : edits ? "edited" : "answered";
    if (accepts)
        typed = json_text(
            json_get(json_at(json_get(found->what, "candidates"), (size_t)*candidate), "text"));
    if (rejects)
        return TD_OK;
    if (!accepts && shown == SHOWN_REDACTED)
        return review_case_restore(found->what, typed, text, err);
    buf_append_str(text, typed);
    return TD_OK;
}

static void note_given(void *ctx, int64_t at_s, const char *who, const char *what)
{
    struct review_verdict *verdict = ctx;
    (void)at_s;
    bool ours = strcmp(who, REVIEW_NOTE_WHO) == 0;
    verdict->interim |= ours && strcmp(what, REVIEW_NOTE_INTERIM) == 0;
    verdict->notice |= ours && strcmp(what, REVIEW_NOTE_NOTICE) == 0;
}

static void fill_verdict(const struct review_desk *desk, const struct found *found,
                         const char *outcome, int64_t candidate, struct review_verdict *out)
{
    struct json *list = json_new_array();
    const struct json *from = json_get(found->what, "candidates");
    snprintf(out->exchange, sizeof out->exchange, "%s", found->row.about);
    snprintf(out->tier, sizeof out->tier, "%s", found->row.queue);
    out->accepted = strcmp(outcome, "accepted") == 0 ? candidate : -1;
    for (size_t i = 0; i < json_count(from); i++) {
        struct json *row = json_clone(json_at(from, i));
        json_remove(row, "text");
        json_push(list, row);
    }
    out->candidates = list;
    (void)!queue_store_notes(desk->queue, found->row.id, note_given, out, NULL);
}

static enum td_status finish(const struct review_desk *desk, const struct found *found,
                             const char *verb, const struct json *wish,
                             struct review_verdict *verdict, const char **param,
                             struct td_error *err)
{
    struct buf text, result;
    int64_t candidate = -1;
    const char *outcome = NULL;
    enum shown shown = shown_of(desk, found);
    if (shown == SHOWN_WITHHELD)
        return error_set(err, TD_DENIED, "who may see nothing of a ticket cannot answer it");
    buf_init(&text, 2 * REVIEW_TEXT_BYTES_MAX + REVIEW_CASE_BYTES_MAX);
    buf_init(&result, QUEUED_TEXT_BYTES_MAX);
    enum td_status status =
        write_answer(found, shown, verb, wish, &text, &candidate, &outcome, param, err);
    struct json *object = json_new_object();
    json_put(object, "text", json_new_text(buf_view(&text)));
    json_put(object, "candidate", candidate < 0 ? json_new_null() : json_new_int(candidate));
    json_put(object, "by", json_new_cstr(desk->viewer.who));
    json_put(object, "note",
             status == TD_OK && strcmp(outcome, "rejected") == 0 && json_get(wish, "text")
                 ? json_clone(json_get(wish, "text"))
                 : json_new_null());
    json_write(object, &result);
    json_free(object);
    if (status == TD_OK && (text.failed || result.failed))
        status = error_set(err, TD_LIMIT, "the answer is too long to be kept");
    if (status == TD_OK)
        status = queue_store_finish(desk->queue, found->row.id, desk->viewer.who, outcome,
                                    buf_view(&result), err);
    if (status == TD_OK)
        fill_verdict(desk, found, outcome, candidate, verdict);
    buf_deinit(&text);
    buf_deinit(&result);
    return status;
}

/* --- steps --- */

/* The way through the tickets to the first one that is open and may be seen. */
struct next {
    const struct review_desk *desk;
    char id[QUEUED_ID_BYTES], last[QUEUED_ID_BYTES]; /* "" = none; the one that was looked at */
    bool withheld, more;
};

static bool note_next(void *ctx, const struct queued *row)
{
    struct next *next = ctx;
    struct found found = {.row = *row};
    snprintf(next->last, sizeof next->last, "%s", row->id);
    next->more = true;
    if (row->state != QUEUED_OPEN)
        return true;
    if (row->data_class > (int)next->desk->viewer.clearance)
        (void)!json_parse(row->body, &found.what, NULL);
    bool withheld = shown_of(next->desk, &found) == SHOWN_WITHHELD;
    found_deinit(&found);
    next->withheld |= withheld;
    if (!withheld)
        snprintf(next->id, sizeof next->id, "%s", row->id);
    return withheld;
}

/* The oldest that is open and that the reviewer may see. Of two who ask at once one may find it
 * taken, and asks again. */
static enum td_status take_next(const struct review_desk *desk, char id[static QUEUED_ID_BYTES],
                                struct td_error *err)
{
    struct next next = {.desk = desk, .more = true};
    enum td_status status = TD_OK;
    while (status == TD_OK && next.more && !*next.id) {
        const struct queue_filter filter = {
            .owner = desk->viewer.owner, .waiting = true, .after = next.last};
        next.more = false;
        status = queue_store_each(desk->queue, &filter, note_next, &next, err);
    }
    snprintf(id, QUEUED_ID_BYTES, "%s", next.id);
    if (status != TD_OK || *id)
        return status;
    return error_set(err, TD_NOT_FOUND,
                     next.withheld ? "no ticket is open that you may see" : "no ticket is open");
}

enum td_status review_desk_step(const struct review_desk *desk, const char *id, const char *verb,
                                const struct json *wish, struct json **out,
                                struct review_verdict *verdict, const char **param,
                                struct td_error *err)
{
    struct found found = {.what = NULL};
    char next[QUEUED_ID_BYTES] = "";
    const char *who = desk->viewer.who;
    bool takes = strcmp(verb, "take") == 0 || strcmp(verb, "renew") == 0;
    enum td_status status = TD_OK;
    *verdict = (struct review_verdict){.accepted = -1};
    *param = NULL;
    if (!id)
        status = take_next(desk, next, err);
    if (status == TD_OK)
        status = find(desk, id ? id : next, &found, err);
    if (status == TD_OK && takes && shown_of(desk, &found) == SHOWN_WITHHELD)
        status = error_set(err, TD_DENIED, "you may see nothing of the ticket %s", found.row.id);
    if (status == TD_OK && takes)
        status = queue_store_take(desk->queue, found.row.id, who,
                                  desk->lease_s(desk->ctx, found.row.queue), err);
    else if (status == TD_OK && strcmp(verb, "release") == 0)
        status = queue_store_release(desk->queue, found.row.id, who, err);
    else if (status == TD_OK)
        status = finish(desk, &found, verb, wish, verdict, param, err);
    char taken[QUEUED_ID_BYTES];
    snprintf(taken, sizeof taken, "%s", found.row.id);
    found_deinit(&found);
    return status == TD_OK ? review_desk_show(desk, taken, out, err) : status;
}

/* --- the client --- */

static bool note_answer(void *ctx, const struct queued *row)
{
    struct json **out = ctx, *result = NULL, *message = json_new_null();
    bool rejected = strcmp(row->outcome, "rejected") == 0;
    const char *status = row->state <= QUEUED_TAKEN     ? "pending"
                         : row->state == QUEUED_EXPIRED ? "expired"
                         : rejected                     ? "rejected"
                                                        : "answered";
    if (row->state == QUEUED_ENDED && !rejected &&
        json_parse(row->result, &result, NULL) == TD_OK) {
        json_free(message);
        message = json_new_object();
        json_put(message, "role", json_new_cstr("assistant"));
        json_put(message, "content", json_clone(json_get(result, "text")));
        json_free(result);
    }
    json_free(*out);
    *out = json_new_object();
    json_put(*out, "object", json_new_cstr("review_answer"));
    json_put(*out, "exchange", json_new_cstr(row->about));
    json_put(*out, "ticket", json_new_cstr(row->id));
    json_put(*out, "status", json_new_cstr(status));
    json_put(*out, "outcome", json_new_cstr(*row->outcome ? row->outcome : NULL));
    json_put(*out, "message", message);
    return true;
}

enum td_status review_desk_answer(struct queue_store *queue, const char *owner,
                                  const char *exchange, struct json **out, struct td_error *err)
{
    const struct queue_filter filter = {.owner = owner, .about = exchange};
    *out = NULL;
    enum td_status status = queue_store_each(queue, &filter, note_answer, out, err);
    if (status == TD_OK && !*out)
        status = error_set(err, TD_NOT_FOUND, "nobody reviews an exchange '%.40s'", exchange);
    return status;
}
