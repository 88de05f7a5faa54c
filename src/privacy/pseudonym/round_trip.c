/* The restorer itself reads the masked text, so that the check can never be more lenient than an
 * answer is. What it reports is compared with the places that were replaced. A surrogate that is
 * read where none was put is a stray; a place where anything but its value comes back is lost. */
#include "privacy/pseudonym/round_trip.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "privacy/text/escaped.h"
#include "privacy/text/spell.h"

/* --- checking --- */

struct reading {
    const struct round_trip_text *text;
    bool *strays;
    size_t next;      /* the place that is read */
    uint64_t done;    /* of the masked text, up to where `back` has it */
    struct buf back;  /* what comes back from the place so far */
    struct buf value; /* scratch */
};

static void copy_up_to(struct reading *reading, uint64_t end)
{
    if (end > reading->done)
        buf_append_str(&reading->back,
                       str_slice(reading->text->masked, (size_t)reading->done, (size_t)end));
    reading->done = end;
}

static void begin_place(struct reading *reading)
{
    const struct round_trip_text *text = reading->text;
    buf_clear(&reading->back);
    if (reading->next < text->place_count && reading->done < text->places[reading->next].begin)
        reading->done = text->places[reading->next].begin;
}

static void end_place(struct reading *reading)
{
    struct round_trip_place *place = &reading->text->places[reading->next++];
    struct td_str value = str_slice(reading->text->text, place->span.begin, place->span.end);
    if (reading->done <= place->end)
        copy_up_to(reading, place->end);
    else
        place->lost = true;
    if (escaped_next(value, 0) != SIZE_MAX) {
        buf_clear(&reading->value);
        escaped_value(value, &reading->value);
        value = buf_view(&reading->value);
    }
    place->lost |= !str_equal(buf_view(&reading->back), value);
    begin_place(reading);
}

static void see(void *ctx, const struct restore_place *met)
{
    struct reading *reading = ctx;
    const struct round_trip_text *text = reading->text;
    while (reading->next < text->place_count && text->places[reading->next].end <= met->begin)
        end_place(reading);
    if (reading->next == text->place_count || met->begin < text->places[reading->next].begin ||
        met->end > text->places[reading->next].end) {
        reading->strays[met->owner] = true;
        if (met->end > reading->done) /* the places that it reaches into are lost */
            reading->done = met->end;
        return;
    }
    copy_up_to(reading, met->begin);
    buf_append_str(&reading->back, met->value);
    reading->done = met->end;
}

bool round_trip_check(const struct restore_table *table, const struct round_trip_text *text,
                      bool *strays)
{
    struct reading reading = {.text = text, .strays = strays};
    buf_init(&reading.back, VAULT_VALUE_BYTES_MAX * 16);
    buf_init(&reading.value, VAULT_VALUE_BYTES_MAX * 16);
    begin_place(&reading);
    bool ok = restore_read(table, text->masked, see, &reading);
    while (reading.next < text->place_count)
        end_place(&reading);
    ok = ok && !reading.value.failed; /* too long for `back` is lost */
    buf_deinit(&reading.back);
    buf_deinit(&reading.value);
    return ok;
}

/* --- what did not come back --- */

/* Does the byte always separate words, whatever stands beside it? Not a backslash or '%': they may
 * begin an escape. */
static bool separates(struct td_str text, size_t offset)
{
    unsigned char c = (unsigned char)text.data[offset];
    struct sign sign = spell_at(str_slice(text, offset, offset + 1), 0, false);
    return c < 0x80 && c != '\\' && c != '%' && !spell_is_significant(&sign);
}

struct privacy_span round_trip_widen(const struct round_trip_text *text,
                                     const struct round_trip_place *place)
{
    struct privacy_span span = place->span;
    struct td_str all = text->text, written = str_slice(text->masked, place->begin, place->end);
    if (spell_count(written) == written.len) { /* it is a word already */
        while (span.begin > 0 && separates(all, span.begin - 1))
            span.begin--;
        while (span.end < all.len && separates(all, span.end))
            span.end++;
    }
    while (span.begin > 0 && !separates(all, span.begin - 1))
        span.begin--;
    while (span.end < all.len && !separates(all, span.end))
        span.end++;
    return span;
}
