#include "privacy/pseudonym/mask.h"

#include "base/error.h"
#include "base/str.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/known_values.h"
#include "privacy/pseudonym/round_trip.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/scanner.h"
#include "privacy/text/escaped.h"
#include "privacy/text/spell.h"

#include <assert.h>
#include <stdlib.h>

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define ROUNDS_MAX 8 /* of other surrogates */

struct mask_text {
    struct td_str text;
    bool fixed; /* nothing is replaced */
    struct spans found;
    struct round_trip_place *places; /* [place_count] that are replaced */
    size_t place_count;
    struct buf masked; /* empty when nothing is replaced */
};

struct mask {
    struct vault *vault;
    struct mask_rules rules;
    struct vault_uses *uses;
    struct word_set words; /* of all texts: no surrogate is one */
    const struct reading *reading;
    struct mask_text *texts; /* [text_count], the reading's parts */
    size_t text_count;
    struct spans left; /* in the reading: what was found and is not wanted */
    struct privacy_tally replaced;
    const char **rule_of; /* [VAULT_ENTRIES_MAX] that found an entry's value; NULL: none */
};

struct mask *mask_new(struct vault *vault, const struct mask_rules *rules, struct vault_uses *uses)
{
    assert(rules->scanner != NULL);
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

/* --- finding --- */

static enum td_status too_many(struct td_error *err)
{
    return error_set(err, TD_LIMIT, "more private values than can be replaced (%u)",
                     MASK_SPANS_MAX);
}

static enum td_status scan(const struct mask *mask, const struct reading *reading, bool strict,
                           struct spans *out, struct td_error *err)
{
    size_t capacity = 64;
    *out = (struct spans){0};
    for (;;) {
        struct privacy_span *spans = realloc(out->spans, capacity * sizeof *spans);
        if (spans == NULL)
            break;
        out->spans = spans;
        out->count = privacy_scan_reading(mask->rules.scanner, reading, strict, spans, capacity);
        if (out->count <= capacity)
            return TD_OK;
        if (out->count > MASK_SPANS_MAX)
            break;
        capacity = out->count;
    }
    free(out->spans);
    return too_many(err);
}

static bool is_wanted(const struct mask *mask, const struct privacy_span *span)
{
    return mask->rules.classes[span->data_class <= TD_CLASS_RESTRICTED ? span->data_class
                                                                       : TD_CLASS_RESTRICTED] ||
           mask->rules.kinds[span->kind];
}

/* Where the character before the offset begins: one of UTF-8, or one that is written \u00f8, with all
 * backslashes before it. */
static size_t character_before(struct td_str text, size_t offset)
{
    if (escaped_ends_at(text, offset)) {
        size_t before = offset >= 6 ? offset - 6 : 0;
        while (before > 0 && text.data[before - 1] == '\\')
            before--;
        return before;
    }
    size_t before = offset - 1;
    while (before > 0 && offset - before < 4 && ((unsigned char)text.data[before] & 0xc0) == 0x80)
        before--;
    return before;
}

/* Where a finding begins that has the digits of "%3D" or "%40" before the value: behind them. A
 * surrogate in their place could be read as the digits of another one. */
static size_t behind_percent(struct td_str text, struct privacy_span span)
{
    size_t begin = span.begin, at = begin - (begin > 0 && text.data[begin - 1] == '%');
    while (at + 3 < span.end && text.data[at] == '%' && spell_at(text, at, false).end == at + 3)
        begin = at += 3;
    return begin;
}

/* The word's edges around the finding, not before the floor: what was seen through an encoding may end in the
 * middle of a word, and a surrogate there would not be known again. */
static struct privacy_span whole_words(struct td_str text, struct privacy_span span, size_t floor)
{
    struct sign last = {0}, sign = {.end = span.begin};
    while (sign.end < span.end) {
        sign = spell_at(text, sign.end, false);
        last = sign;
    }
    while (spell_is_significant(&last) && !last.unspaced) {
        sign = spell_at(text, span.end, false);
        if (!spell_is_significant(&sign) || sign.unspaced)
            break;
        span.end = sign.end;
    }
    /* A quoted local part begins with no letter, but its surrogate does. */
    sign = spell_at(text, span.begin, false);
    if ((!spell_is_significant(&sign) && span.kind != PRIVACY_EMAIL) || sign.unspaced)
        return span;
    while (span.begin > floor) {
        size_t before = character_before(text, span.begin);
        sign = spell_at(str_slice(text, before, span.begin), 0, false);
        if (!spell_is_significant(&sign) || sign.unspaced || sign.end != span.begin - before)
            break;
        span.begin = before;
    }
    span.begin = behind_percent(text, span);
    return span;
}

/* Up to where there is a finding: what ends there needs no edges of its own, and is not looked at again (a
 * text may be one word with thousands of findings). */
static size_t covered(const struct spans *found)
{
    return found->count > 0 ? found->spans[found->count - 1].end : 0;
}

/* One more finding of the text; what overlaps the ones before it becomes one with them. */
static void join(struct spans *found, struct privacy_span span)
{
    while (found->count > 0 && span.begin < covered(found)) {
        const struct privacy_span *last = &found->spans[--found->count];
        size_t begin = span.begin < last->begin ? span.begin : last->begin;
        size_t end = span.end > last->end ? span.end : last->end;
        span = *last;
        span.begin = begin;
        span.end = end;
    }
    spans_add(found, &span);
}

static bool begin_texts(struct mask *mask, const struct reading *reading)
{
    mask->reading = reading;
    mask->texts = calloc(reading->count + 1, sizeof *mask->texts);
    if (mask->texts == NULL)
        return false;
    for (size_t i = 0; i < reading->count; i++) {
        struct mask_text *text = &mask->texts[mask->text_count++];
        *text = (struct mask_text){.text = reading_part_text(reading, i),
                                   .fixed = reading->parts[i].fixed};
        buf_init(&text->masked, TEXT_BYTES_MAX);
        word_set_add(&mask->words, text->text);
    }
    return true;
}

/* A finding in the parts that it is in, from *part on: each piece is a value of its own. */
static void find_in_parts(struct mask *mask, const struct privacy_span *span, size_t *part)
{
    const struct reading *reading = mask->reading;
    while (*part < reading->count && reading->parts[*part].end <= span->begin)
        ++*part;
    for (size_t i = *part; i < reading->count && reading->parts[i].begin < span->end; i++) {
        const struct reading_part *in = &reading->parts[i];
        struct privacy_span piece = *span;
        piece.begin = span->begin > in->begin ? span->begin - in->begin : 0;
        piece.end = (span->end < in->end ? span->end : in->end) - in->begin;
        bool cut = span->begin < in->begin || span->end > in->end;
        if (cut && !surrogate_is_worded(span->kind) && span->kind != PRIVACY_CUSTOM)
            piece.kind = PRIVACY_ID; /* half an address is none */
        struct mask_text *text = &mask->texts[i];
        size_t floor = covered(&text->found);
        if (!in->fixed && piece.end > floor && piece.begin < piece.end)
            join(&text->found, whole_words(text->text, piece, floor));
    }
}

/* Strictness replaces more, it keeps no more here. */
static bool is_strict_only(const struct mask *mask, const struct privacy_span *span)
{
    return mask->rules.strict && (span->kind == PRIVACY_PERSON || span->kind == PRIVACY_PLACE ||
                                  span->kind == PRIVACY_ORGANIZATION || span->kind == PRIVACY_ID);
}

enum td_status mask_find(struct mask *mask, const struct reading *reading, struct td_error *err)
{
    struct spans all;
    if (reading->failed)
        return error_set(err, TD_LIMIT, "the request is too large or nested too deeply");
    if (!begin_texts(mask, reading))
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    enum td_status status = scan(mask, reading, mask->rules.strict, &all, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0, part = 0; i < all.count; i++) {
        const struct privacy_span *span = &all.spans[i];
        char day[DATE_DAY_BYTES];
        if (is_wanted(mask, span)) {
            find_in_parts(mask, span, &part);
            continue;
        }
        if (span->data_class > TD_CLASS_PUBLIC && !is_strict_only(mask, span))
            spans_add(&mask->left, span);
        if (span->kind == PRIVACY_DATE &&
            date_forms_day(str_slice(buf_view(&reading->text), span->begin, span->end), day))
            word_set_add(&mask->words, str_from(day)); /* it is sent as it is, in whatever form */
    }
    free(all.spans);
    bool failed = mask->left.failed;
    size_t count = 0;
    for (size_t i = 0; i < mask->text_count; i++) {
        failed |= mask->texts[i].found.failed;
        count += mask->texts[i].found.count;
    }
    if (failed)
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    return count <= MASK_SPANS_MAX ? TD_OK : too_many(err);
}

/* --- surrogates --- */

typedef enum td_status replace_fn(struct vault *vault, enum privacy_kind kind, struct td_str value,
                                  const struct word_set *taken, struct vault_uses *uses,
                                  struct buf *out, struct td_error *err);

/* The entry that was used last has a value of this rule. */
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
    struct buf plain; /* "M\u00fcller" is who else stands there as M\xc3\xbcller */
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
    buf_init(&surrogate, TEXT_BYTES_MAX);
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
    struct known_values *known = known_values_new(privacy_scanner_names(mask->rules.scanner),
                                                  mask->vault, mask->uses, mask->rule_of);
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
                     : too_many(err);
        free(all.spans);
    }
    known_values_free(known);
    return status;
}

/* --- until all comes back --- */

static struct round_trip_text round_trip_of(const struct mask_text *text)
{
    return (struct round_trip_text){.text = text->text,
                                    .masked = text->place_count > 0 ? buf_view(&text->masked)
                                                                    : text->text,
                                    .places = text->places,
                                    .place_count = text->place_count};
}

/* Is a day that the surrogate names in one of the texts, however it is written there? */
static bool is_day_of_texts(const struct mask *mask, const struct vault_entry *entry)
{
    char day[DATE_DAY_BYTES];
    return entry->kind == PRIVACY_DATE && date_forms_day(entry->surrogate, day) &&
           word_set_has(&mask->words, str_from(day));
}

/* Marks the values that are lost, and retires the surrogates that stand where none was put. Words cannot be
 * the texts' (word_set.h), but a name's ending, a number's grouping and a day's form are an answer's
 * to choose. */
static enum td_status check_texts(struct mask *mask, bool *good, struct td_error *err)
{
    const struct vault_uses *uses = mask->uses;
    struct restore_table *table = restore_table_new(mask->vault, uses);
    bool *strays = calloc(uses->count + 1, sizeof *strays);
    bool ok = table != NULL && strays != NULL;
    *good = true;
    for (size_t i = 0; ok && i < mask->text_count; i++) {
        const struct round_trip_text text = round_trip_of(&mask->texts[i]);
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

/* What is lost is from now on found with what it is joined to, and a word stands for it. */
static enum td_status widen_lost(struct mask *mask, struct mask_text *text, struct td_error *err)
{
    const struct round_trip_text echo = round_trip_of(text);
    enum td_status status = TD_OK;
    struct spans found = {0};
    struct buf surrogate;
    buf_init(&surrogate, TEXT_BYTES_MAX);
    for (size_t i = 0; i < echo.place_count; i++) {
        const struct round_trip_place *place = &echo.places[i];
        if (place->span.end > covered(&found))
            join(&found, place->lost ? round_trip_widen(&echo, place) : place->span);
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
                     "no surrogates are found with which all private values would come back: ask a "
                     "tier that may see them");
}

/* --- writing --- */

/* The masked parts, with what stood between them. surrogates, values: the places of both in the two
 * readings. */
static void write_parts(struct mask *mask, struct reading *out, struct spans *surrogates,
                        struct spans *values)
{
    size_t done = 0;
    for (size_t i = 0; i < mask->text_count; i++) {
        const struct reading_part *part = &mask->reading->parts[i];
        const struct round_trip_text text = round_trip_of(&mask->texts[i]);
        size_t begin = reading_copy_part(out, mask->reading, i, done, text.masked);
        for (size_t k = 0; k < text.place_count; k++) {
            const struct round_trip_place *place = &text.places[k];
            struct privacy_span value = place->span, surrogate = place->span;
            privacy_tally_add(&mask->replaced, &value);
            value.begin += part->begin;
            value.end += part->begin;
            surrogate.begin = begin + place->begin;
            surrogate.end = begin + place->end;
            spans_add(values, &value);
            spans_add(surrogates, &surrogate);
        }
        done = part->end;
    }
}

static void raise_to(enum td_data_class *rest, enum td_data_class found)
{
    if (found > *rest)
        *rest = found;
}

/* What the masked reading still has. A finding that touches a surrogate is its own: what stands beside
 * it stood there before, and was no finding then. */
static enum td_status judge_rest(const struct mask *mask, const struct reading *masked,
                                 const struct spans *surrogates, enum td_data_class *rest,
                                 struct td_error *err)
{
    struct spans all;
    enum td_status status = scan(mask, masked, false, &all, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0, next = 0; i < all.count; i++) {
        while (next < surrogates->count && surrogates->spans[next].end <= all.spans[i].begin)
            next++;
        bool touches = next < surrogates->count && surrogates->spans[next].begin < all.spans[i].end;
        if (!touches)
            raise_to(rest, all.spans[i].data_class);
    }
    free(all.spans);
    return TD_OK;
}

/* What was a finding and no value that is replaced has all of it. */
static void judge_left(const struct spans *left, const struct spans *values,
                       enum td_data_class *rest)
{
    for (size_t i = 0, next = 0; i < left->count; i++) {
        const struct privacy_span *span = &left->spans[i];
        while (next < values->count && values->spans[next].end <= span->begin)
            next++;
        bool covered = next < values->count && values->spans[next].begin <= span->begin &&
                       values->spans[next].end >= span->end;
        if (!covered)
            raise_to(rest, span->data_class);
    }
}

enum td_status mask_write(struct mask *mask, struct reading *out, enum td_data_class *rest,
                          struct td_error *err)
{
    struct spans surrogates = {0}, values = {0};
    write_parts(mask, out, &surrogates, &values);
    enum td_status status = TD_OK;
    if (surrogates.failed || values.failed || out->failed)
        status = error_set(err, TD_LIMIT, "a request with its surrogates is too large");
    if (status == TD_OK) {
        judge_left(&mask->left, &values, rest);
        status = judge_rest(mask, out, &surrogates, rest, err);
    }
    free(surrogates.spans);
    free(values.spans);
    return status;
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
