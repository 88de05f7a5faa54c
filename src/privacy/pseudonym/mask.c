/* Masking the texts of one request: every private value is replaced by its surrogate, wherever it
 * stands. mask_find.c finds the values and mask_write.c makes the masked reading. This file gives
 * out the surrogates and makes sure that every value would come back.
 *
 * It does so by a trial: the restorer reads the masked texts as an answer that repeats them. A
 * surrogate that it sees in a wrong place is drawn again. A value that does not come back is joined
 * with its neighbours and gets a word of letters. The trial uses the restorer's own rules, so the
 * two cannot disagree. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/known_values.h"
#include "privacy/pseudonym/mask_internal.h"
#include "privacy/scan/scanner.h"
#include "privacy/text/escaped.h"

#include <stdlib.h>

#define ROUNDS_MAX 8 /* of drawing other surrogates */

struct mask *mask_new(struct vault *vault, const struct mask_rules *rules, struct vault_uses *uses)
{
    ASSERT(rules->scanner != NULL);
    struct mask *mask = calloc(1, sizeof *mask);
    if (mask == NULL)
        return NULL;
    mask->vault = vault;
    mask->rules = *rules;
    mask->uses = uses;
    return mask;
}

static void drop_text(struct mask_text *text)
{
    free(text->found.spans);
    free(text->places);
    buf_deinit(&text->masked);
    *text = (struct mask_text){0};
}

void mask_free(struct mask *mask)
{
    if (mask == NULL)
        return;
    word_set_deinit(&mask->words);
    free(mask->left.spans);
    for (size_t i = 0; i < mask->text_count; i++)
        drop_text(&mask->texts[i]);
    free(mask->texts);
    free((void *)mask->rule_of);
    free(mask);
}

/* --- surrogates --- */

typedef enum td_status replace_fn(struct vault *vault, enum privacy_kind kind, struct td_str value,
                                  const struct word_set *taken, struct vault_uses *uses,
                                  struct buf *out, struct td_error *err);

/* Notes that this rule found the value of the entry that was used last. */
static bool note_rule(struct mask *mask, const char *rule)
{
    if (mask->rule_of == NULL)
        mask->rule_of = calloc(VAULT_ENTRIES_MAX, sizeof *mask->rule_of);
    if (mask->rule_of != NULL)
        mask->rule_of[mask->uses->last] = rule;
    return mask->rule_of != NULL;
}

static enum td_status replace(struct mask *mask, struct td_str text,
                              const struct privacy_span *span, replace_fn *by, struct buf *out,
                              struct td_error *err)
{
    struct td_str value = str_slice(text, span->begin, span->end);
    struct buf plain; /* "M\u00fcller" and "Müller" are one value */
    buf_init(&plain, value.len + 1);
    if (escaped_next(value, 0) != SIZE_MAX) {
        escaped_value(value, &plain);
        value = buf_view(&plain);
    }
    bool ok = !plain.failed && !mask->words.failed;
    enum td_status status =
        ok ? by(mask->vault, span->kind, value, &mask->words, mask->uses, out, err) : TD_OK;
    if (ok && status == TD_OK && span->kind == PRIVACY_CUSTOM)
        ok = note_rule(mask, span->rule);
    buf_deinit(&plain);
    return ok ? status : error_set(err, TD_NO_MEMORY, "no memory for surrogates");
}

/* Gives every finding its surrogate. */
static enum td_status replace_found(struct mask *mask, struct td_error *err)
{
    enum td_status status = TD_OK;
    struct buf surrogate;
    buf_init(&surrogate, MASK_TEXT_BYTES_MAX);
    for (size_t i = 0; i < mask->text_count; i++) {
        const struct mask_text *text = &mask->texts[i];
        for (size_t k = 0; status == TD_OK && k < text->found.count; k++) {
            buf_clear(&surrogate);
            status =
                replace(mask, text->text, &text->found.spans[k], vault_replace, &surrogate, err);
        }
    }
    buf_deinit(&surrogate);
    return status;
}

static enum td_status write_places(struct mask *mask, struct mask_text *text,
                                   const struct spans *spans, struct td_error *err)
{
    size_t done = 0;
    struct buf *out = &text->masked;
    free(text->places);
    text->places = spans->count > 0 ? calloc(spans->count, sizeof *text->places) : NULL;
    text->place_count = spans->count;
    buf_clear(out);
    if (text->places == NULL)
        return spans->count > 0 ? error_set(err, TD_NO_MEMORY, "no memory for surrogates") : TD_OK;
    for (size_t i = 0; i < spans->count; i++) {
        const struct privacy_span *span = &spans->spans[i];
        buf_append_str(out, str_slice(text->text, done, span->begin));
        text->places[i] = (struct round_trip_place){.span = *span, .begin = out->len};
        enum td_status status = replace(mask, text->text, span, vault_replace, out, err);
        if (status != TD_OK)
            return status;
        text->places[i].end = out->len;
        done = span->end;
    }
    buf_append_str(out, str_slice(text->text, done, text->text.len));
    return out->failed ? error_set(err, TD_LIMIT, "a text with its surrogates is too large")
                       : TD_OK;
}

static enum td_status write_texts(struct mask *mask, struct td_error *err)
{
    struct known_values *known =
        known_values_new(mask->rules.scanner, mask->vault, mask->uses, mask->rule_of);
    if (known == NULL)
        return error_set(err, TD_LIMIT, "the private values are too long to be looked for");
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < mask->text_count; i++) {
        struct mask_text *text = &mask->texts[i];
        struct spans all = {0};
        if (text->fixed)
            continue;
        status = known_values_find(known, text->text, &text->found, MASK_SPANS_MAX, &all)
                     ? write_places(mask, text, &all, err)
                     : mask_too_many(err);
        free(all.spans);
    }
    known_values_free(known);
    return status;
}

/* --- until every value comes back --- */

struct round_trip_text mask_round_trip(const struct mask_text *text)
{
    return (struct round_trip_text){.text = text->text,
                                    .masked = text->place_count > 0 ? buf_view(&text->masked)
                                                                    : text->text,
                                    .places = text->places,
                                    .place_count = text->place_count};
}

/* Does the surrogate name a day that stands in a text, in whatever form? */
static bool is_day_of_texts(const struct mask *mask, const struct vault_entry *entry)
{
    char day[DATE_DAY_BYTES];
    return entry->kind == PRIVACY_DATE && date_forms_day(entry->surrogate, day) &&
           word_set_has(&mask->words, str_from(day));
}

/* Marks the values that do not come back, and retires the surrogates that are read where none was
 * put. No surrogate is a word of the texts (word_set.h). But an answer chooses the ending of a
 * name, the grouping of a number and the form of a day, so one of these may still be in a text. */
static enum td_status check_texts(struct mask *mask, bool *good, struct td_error *err)
{
    const struct vault_uses *uses = mask->uses;
    struct restore_table *table = restore_table_new(mask->vault, uses);
    bool *strays = calloc(uses->count + 1, sizeof *strays);
    bool ok = table != NULL && strays != NULL;
    *good = true;
    for (size_t i = 0; ok && i < mask->text_count; i++) {
        const struct round_trip_text text = mask_round_trip(&mask->texts[i]);
        ok = round_trip_check(table, &text, strays);
        for (size_t k = 0; k < text.place_count; k++)
            *good &= !text.places[k].lost;
    }
    restore_table_free(table);
    for (size_t i = 0; ok && i < uses->count; i++) {
        struct vault_entry entry = vault_at(mask->vault, uses->entries[i]);
        if (!strays[i] && !is_day_of_texts(mask, &entry))
            continue;
        vault_retire(mask->vault, uses->entries[i]);
        *good = false;
    }
    free(strays);
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for surrogates");
}

/* A lost value is widened to what it is joined to, and gets a word of letters as surrogate. */
static enum td_status widen_lost(struct mask *mask, struct mask_text *text, struct td_error *err)
{
    const struct round_trip_text echo = mask_round_trip(text);
    enum td_status status = TD_OK;
    struct spans found = {0};
    struct buf surrogate;
    buf_init(&surrogate, MASK_TEXT_BYTES_MAX);
    for (size_t i = 0; i < echo.place_count; i++) {
        const struct round_trip_place *place = &echo.places[i];
        if (place->span.end > mask_covered(&found))
            mask_join(&found, place->lost ? round_trip_widen(&echo, place) : place->span);
    }
    for (size_t i = 0, k = 0; status == TD_OK && i < found.count; i++) {
        bool lost = false;
        for (; k < echo.place_count && echo.places[k].span.begin < found.spans[i].end; k++)
            lost |= echo.places[k].lost;
        buf_clear(&surrogate);
        if (lost)
            status =
                replace(mask, text->text, &found.spans[i], vault_replace_by_word, &surrogate, err);
    }
    buf_deinit(&surrogate);
    free(text->found.spans);
    text->found = found;
    return found.failed ? error_set(err, TD_NO_MEMORY, "no memory for surrogates") : status;
}

enum td_status mask_seal(struct mask *mask, struct td_error *err)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool good = false;
        vault_uses_clear(mask->uses);
        enum td_status status = replace_found(mask, err);
        if (status == TD_OK)
            status = write_texts(mask, err);
        if (status == TD_OK)
            status = check_texts(mask, &good, err);
        if (status != TD_OK || good)
            return status;
        for (size_t i = 0; status == TD_OK && i < mask->text_count; i++)
            status = widen_lost(mask, &mask->texts[i], err);
        if (status != TD_OK)
            return status;
    }
    return error_set(err, TD_LIMIT,
                     "no surrogates were found with which every private value would come back: ask "
                     "a tier that may see the values");
}

enum td_status mask_one(struct mask *mask, struct td_str text, struct buf *out,
                        enum td_data_class *rest, struct td_error *err)
{
    struct reading reading, masked;
    reading_init(&reading);
    reading_init(&masked);
    reading_add(&reading, text, READING_LINE);
    enum td_status status = mask_find(mask, &reading, err);
    if (status == TD_OK)
        status = mask_seal(mask, err);
    if (status == TD_OK)
        status = mask_write(mask, &masked, rest, err);
    if (status == TD_OK)
        buf_append_str(out, buf_view(&masked.text));
    reading_deinit(&reading);
    reading_deinit(&masked);
    return out->failed ? error_set(err, TD_LIMIT, "a text with its surrogates is too large")
                       : status;
}

const struct privacy_tally *mask_replaced(const struct mask *mask)
{
    return &mask->replaced;
}
