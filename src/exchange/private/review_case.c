/* All texts are masked together, so that a value has the same surrogate in the question and in
 * every candidate. The vault is the case's own and goes with it, because an answer may come days
 * after the conversation's vault was wiped. */
#include "exchange/private/review_case.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "exchange/private/classify.h"
#include "ledger/record/ledger.h"
#include "privacy/pseudonym/restore.h"
#include "privacy/pseudonym/vault_json.h"

/* --- writing --- */

static struct td_str question_text(const struct review_case *what, size_t i)
{
    return i < what->request->message_count
               ? what->request->messages[i].content
               : what->candidates[i - what->request->message_count].text;
}

static size_t text_count(const struct review_case *what)
{
    return what->request->message_count + what->candidate_count;
}

static struct json *question_json(const struct review_case *what)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < what->request->message_count; i++) {
        struct json *row = json_new_object();
        json_put(row, "from", json_new_cstr(names_role(what->request->messages[i].role)));
        json_put(row, "text", json_new_text(what->request->messages[i].content));
        json_push(list, row);
    }
    return list;
}

static struct json *candidates_json(const struct review_case *what)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < what->candidate_count; i++) {
        const struct review_candidate *from = &what->candidates[i];
        struct json *row = json_new_object();
        json_put(row, "tier", json_new_cstr(from->tier));
        json_put(row, "model", json_new_cstr(from->model));
        json_put(row, "place", json_new_cstr(names_place(from->place)));
        json_put(row, "confidence", json_new_double(from->confidence));
        json_put(row, "text", json_new_text(from->text));
        json_push(list, row);
    }
    return list;
}

static struct json *reasons_json(const struct review_case *what)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < what->reason_count; i++) {
        struct json *row = json_new_object();
        json_put(row, "code", json_new_cstr(reason_code_name(what->reasons[i].code)));
        json_put(row, "tier", json_new_cstr(what->reasons[i].tier));
        json_put(row, "text", json_new_cstr(what->reasons[i].text));
        json_push(list, row);
    }
    return list;
}

/* --- masking --- */

static struct json *masked_json(const struct review_case *what, const struct reading *masked,
                                enum td_data_class rest, const struct vault *vault)
{
    struct json *object = json_new_object(), *question = json_new_array(),
                *candidates = json_new_array();
    size_t part = 0;
    for (size_t i = 0; i < text_count(what); i++) {
        struct td_str text = question_text(what, i);
        if (text.len > 0)
            text = reading_part_text(masked, part++);
        json_push(i < what->request->message_count ? question : candidates, json_new_text(text));
    }
    json_put(object, "class", json_new_cstr(names_class(classify_higher(rest, what->unmasked))));
    json_put(object, "question", question);
    json_put(object, "candidates", candidates);
    json_put(object, "vault", vault_json_write(vault));
    return object;
}

static enum td_status mask_reading(const struct review_case *what, const struct reading *reading,
                                   struct vault *vault, struct json **out, struct td_error *err)
{
    struct vault_uses uses = {0};
    struct reading masked;
    enum td_data_class rest = TD_CLASS_PUBLIC;
    reading_init(&masked);
    struct mask *mask = mask_new(vault, what->rules, &uses);
    enum td_status status = mask ? mask_find(mask, reading, err)
                                 : error_set(err, TD_NO_MEMORY, "no memory for a masked question");
    if (status == TD_OK)
        status = mask_seal(mask, err);
    if (status == TD_OK)
        status = mask_write(mask, &masked, &rest, err);
    if (status == TD_OK && (masked.failed || masked.count != reading->count))
        status = error_set(err, TD_INTERNAL, "the masked texts are not those of the question");
    if (status == TD_OK)
        *out = masked_json(what, &masked, rest, vault);
    mask_free(mask);
    vault_uses_deinit(&uses);
    reading_deinit(&masked);
    return status;
}

/* NULL: nothing could be masked. **returns new** */
static struct json *mask_texts(const struct review_case *what)
{
    struct json *out = NULL;
    struct vault *vault = NULL;
    struct reading reading;
    if (!what->rules || !what->rules->scanner || vault_new(&vault, NULL) != TD_OK)
        return NULL;
    reading_init(&reading);
    for (size_t i = 0; i < text_count(what); i++)
        if (question_text(what, i).len > 0)
            reading_add(&reading, question_text(what, i), READING_LINE);
    if (reading.failed || mask_reading(what, &reading, vault, &out, NULL) != TD_OK)
        out = NULL;
    reading_deinit(&reading);
    vault_free(vault);
    return out;
}

enum td_status review_case_write(const struct review_case *what, struct buf *out,
                                 struct td_error *err)
{
    struct json *object = json_new_object(), *masked = mask_texts(what);
    json_put(object, "question", question_json(what));
    json_put(object, "candidates", candidates_json(what));
    json_put(object, "route", json_new_cstr(what->route));
    json_put(object, "reasons", reasons_json(what));
    json_put(object, "cost_of_error_usd", json_new_double(what->cost_of_error_usd));
    json_put(object, "review_usd", json_new_double(what->review_usd));
    if (masked)
        json_put(object, "masked", masked);
    json_write(object, out);
    json_free(object);
    return out->failed ? error_set(err, TD_LIMIT, "the question is too long for a review") : TD_OK;
}

/* --- the way back --- */

enum td_status review_case_restore(const struct json *what, struct td_str text, struct buf *out,
                                   struct td_error *err)
{
    struct vault *vault = NULL;
    struct vault_uses uses = {0};
    struct restorer restorer;
    const struct json *kept = json_get(json_get(what, "masked"), "vault");
    if (!kept) {
        buf_append_str(out, text);
        return TD_OK;
    }
    enum td_status status = vault_json_read(kept, &vault, err);
    if (status == TD_OK)
        status = vault_uses_all(vault, &uses, err);
    struct restore_table *table = status == TD_OK ? restore_table_new(vault, &uses) : NULL;
    if (table && restorer_init(&restorer, table, false)) {
        restorer_feed(&restorer, text, out);
        restorer_end(&restorer, out);
        restorer_deinit(&restorer);
    } else if (status == TD_OK) {
        status = error_set(err, TD_NO_MEMORY, "no memory to restore an answer");
    }
    restore_table_free(table);
    vault_uses_deinit(&uses);
    vault_free(vault);
    return status;
}

void review_case_learn(struct ledger *ledger, struct ledger_shadow *said, bool right)
{
    said->agreement = right;
    said->same = right;
    said->kind = "review";
    (void)!ledger_put_shadow(ledger, said, NULL);
}
