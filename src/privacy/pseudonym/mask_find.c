/* Finding the private values of all texts of a request. They are read as one text (reading.h),
 * because a value may stand across the border of two texts; a finding is then cut into one piece
 * for each. Findings that overlap become one, and each is widened to whole words, so that a
 * surrogate always stands where the restorer can recognise it. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/mask_internal.h"
#include "privacy/scan/privacy.h"
#include "privacy/text/escaped.h"
#include "privacy/text/spell.h"

#include <stdlib.h>

enum td_status mask_too_many(struct td_error *err)
{
    return error_set(err, TD_LIMIT, "more private values than can be replaced (%u)",
                     MASK_SPANS_MAX);
}

enum td_status mask_scan(const struct mask *mask, const struct reading *reading, bool strict,
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
    return mask_too_many(err);
}

static bool is_wanted(const struct mask *mask, const struct privacy_span *span)
{
    return mask->rules.classes[span->data_class <= TD_CLASS_RESTRICTED ? span->data_class
                                                                       : TD_CLASS_RESTRICTED] ||
           mask->rules.kinds[span->kind];
}

/* Where the character before the offset begins. It is UTF-8, or it is written \u00f8 with any
 * number of backslashes. */
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

/* A finding may begin with the digits of "%3D" or "%40". It then begins after them, because a
 * surrogate in their place could be read as the digits of another escape. */
static size_t after_percent(struct td_str text, struct privacy_span span)
{
    size_t begin = span.begin, at = begin - (begin > 0 && text.data[begin - 1] == '%');
    while (at + 3 < span.end && text.data[at] == '%' && spell_at(text, at, false).end == at + 3)
        begin = at += 3;
    return begin;
}

/* Widens the finding to whole words, but not before the floor. What a detector saw through an
 * encoding may end in the middle of a word, and the restorer would not recognise a surrogate
 * there. */
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
    /* A quoted local part does not begin with a letter, but its surrogate does. */
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
    span.begin = after_percent(text, span);
    return span;
}

size_t mask_covered(const struct spans *found)
{
    return found->count > 0 ? found->spans[found->count - 1].end : 0;
}

void mask_join(struct spans *found, struct privacy_span span)
{
    while (found->count > 0 && span.begin < mask_covered(found)) {
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
        buf_init(&text->masked, MASK_TEXT_BYTES_MAX);
        word_set_add(&mask->words, text->text);
    }
    return true;
}

/* Adds a finding to the parts that it lies in, from *part on. A piece in each part is a value of
 * its own. */
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
            piece.kind = PRIVACY_ID; /* half a mail address is no address */
        struct mask_text *text = &mask->texts[i];
        size_t floor = mask_covered(&text->found);
        if (!in->fixed && piece.end > floor && piece.begin < piece.end)
            mask_join(&text->found, whole_words(text->text, piece, floor));
    }
}

/* Would only a strict scan have found it? Strictness replaces more, but what it finds and does not
 * replace keeps no request on the device. */
static bool is_strict_only(const struct mask *mask, const struct privacy_span *span)
{
    return mask->rules.strict && (span->kind == PRIVACY_PERSON || span->kind == PRIVACY_PLACE ||
                                  span->kind == PRIVACY_ORGANIZATION || span->kind == PRIVACY_ID);
}

/* Sorts the findings: what the rules want is replaced, the rest is kept for mask_write. */
static void take_findings(struct mask *mask, const struct spans *all)
{
    const struct td_str text = buf_view(&mask->reading->text);
    for (size_t i = 0, part = 0; i < all->count; i++) {
        const struct privacy_span *span = &all->spans[i];
        char day[DATE_DAY_BYTES];
        if (is_wanted(mask, span)) {
            find_in_parts(mask, span, &part);
            continue;
        }
        if (span->data_class > TD_CLASS_PUBLIC && !is_strict_only(mask, span))
            spans_add(&mask->left, span);
        if (span->kind == PRIVACY_DATE &&
            date_forms_day(str_slice(text, span->begin, span->end), day))
            word_set_add(&mask->words, str_from(day)); /* no surrogate may be this day */
    }
}

enum td_status mask_find(struct mask *mask, const struct reading *reading, struct td_error *err)
{
    struct spans all;
    ASSERT(mask->reading == NULL); /* called once */
    if (reading->failed)
        return error_set(err, TD_LIMIT, "the request is too large or nested too deeply");
    if (!begin_texts(mask, reading))
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    enum td_status status = mask_scan(mask, reading, mask->rules.strict, &all, err);
    if (status != TD_OK)
        return status;
    take_findings(mask, &all);
    free(all.spans);
    bool failed = mask->left.failed;
    size_t count = 0;
    for (size_t i = 0; i < mask->text_count; i++) {
        failed |= mask->texts[i].found.failed;
        count += mask->texts[i].found.count;
    }
    if (failed)
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    return count <= MASK_SPANS_MAX ? TD_OK : mask_too_many(err);
}
