/* The one scan in its forms: findings, the class alone, one text or several as a reading.
 *
 * It brings three sources together: what the operator's rules find in each text, what shows when
 * escapes and disguises are read, and the pass with names and detectors, which settles them all.
 * Every failure ends the same way: what could not be looked at is one restricted finding. */
#include "privacy/scan/privacy.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/kind/spans.h"
#include "privacy/scan/escaped_find.h"
#include "privacy/scan/remembered.h"
#include "privacy/scan/rules.h"
#include "privacy/scan/scan.h"
#include "privacy/scan/scanner.h"
#include "privacy/scan/tally.h"
#include "privacy/scan/traces.h"
#include "privacy/text/reading.h"

#include <stdlib.h>

struct span_list {
    struct privacy_span *spans;
    size_t capacity, count;
};

static void list_span(void *ctx, const struct privacy_span *span)
{
    struct span_list *list = ctx;
    if (list->count < list->capacity)
        list->spans[list->count] = *span;
    list->count++;
}

/* --- several texts, or one --- */

struct source {
    const struct privacy_scanner *scanner; /* NULL: nothing is looked at */
    struct td_str text;
    const struct reading *reading; /* NULL: one text */
    const struct rereader *rereader;
    /* Of a stretch: the reading that it is of, and where in it the text begins. Else NULL. */
    const struct reading *whole;
    size_t base;
};

static struct source source_of(const struct privacy_scanner *scanner, const struct reading *reading)
{
    return (struct source){
        .scanner = scanner, .text = buf_view(&reading->text), .reading = reading, .whole = reading};
}

/* What the operator's rules find in each of the reading's texts, of which the source may be a
 * stretch. False without memory. */
static bool find_by_rules(const struct source *source, struct spans *found)
{
    const struct privacy_rules *rules = privacy_scanner_rules(source->scanner);
    const struct reading *reading = source->whole;
    struct td_str all = buf_view(&reading->text);
    const size_t from = source->base, to = from + source->text.len;
    for (size_t i = 0; i < reading->count && reading->parts[i].begin < to; i++) {
        size_t begin = reading->parts[i].begin;
        if (reading->parts[i].goes_on || reading_text_end(reading, i) <= from)
            continue;
        struct privacy_span *spans;
        size_t count =
            privacy_rules_find(rules, str_slice(all, begin, reading_text_end(reading, i)), &spans);
        for (size_t k = 0; count != SIZE_MAX && k < count; k++) {
            size_t first = spans[k].begin + begin, end = spans[k].end + begin;
            if (end <= from || first >= to)
                continue;
            spans[k].begin = first > from ? first - from : 0;
            spans[k].end = (end < to ? end : to) - from;
            spans_add(found, &spans[k]);
        }
        if (count == SIZE_MAX)
            return false;
        free(spans);
    }
    return !found->failed;
}

/* The pass, and what other sources say: the operator's rules, and what shows when escapes are read.
 * What cannot be looked at is restricted as a whole; then false. */
static bool scan_all(const struct source *source, bool strict, span_fn *emit, void *ctx)
{
    const struct privacy_scanner *scanner = source->scanner;
    struct spans others = {0};
    bool ok = scanner != NULL;
    if (ok && source->reading) {
        ok = !source->reading->failed && find_by_rules(source, &others);
    } else if (ok) {
        others.count =
            privacy_rules_find(privacy_scanner_rules(scanner), source->text, &others.spans);
        ok = others.count != SIZE_MAX;
    }
    if (!ok || !escaped_find(scanner, source->text, strict, source->rereader, &others.spans,
                             &others.count)) {
        const struct privacy_span whole = privacy_unread(source->text);
        free(others.spans);
        emit(ctx, &whole);
        return false;
    }
    const struct scan_beside beside = {privacy_scanner_names(scanner),
                                       others.spans,
                                       others.count,
                                       strict,
                                       source->reading,
                                       source->rereader};
    scan_text(source->text, &beside, emit, ctx);
    free(others.spans);
    return true;
}

/* Names that are but likely, wherever they stand, and numbers of no known kind. */
static void scan_strict(const struct source *source, struct span_list *out)
{
    struct spans found = {0}, more = {0};
    (void)scan_all(source, true, spans_add, &found);
    if (source->scanner && !found.failed &&
        !traces_find(privacy_scanner_names(source->scanner), source->text, &found, spans_add,
                     &more))
        more.failed = true;
    if (found.failed || more.failed) {
        const struct privacy_span whole = privacy_unread(source->text);
        list_span(out, &whole);
    } else {
        for (size_t i = 0, k = 0; i < found.count || k < more.count;)
            if (k == more.count || (i < found.count && found.spans[i].begin < more.spans[k].begin))
                list_span(out, &found.spans[i++]);
            else
                list_span(out, &more.spans[k++]);
    }
    free(found.spans);
    free(more.spans);
}

static size_t list_findings(const struct source *source, bool strict, struct privacy_span *spans,
                            size_t capacity)
{
    ASSERT(spans != NULL || capacity == 0);
    struct span_list list = {spans, capacity, 0};
    if (strict)
        scan_strict(source, &list);
    else
        (void)scan_all(source, false, list_span, &list);
    return list.count;
}

size_t privacy_scan(const struct privacy_scanner *scanner, struct td_str text,
                    struct privacy_span *spans, size_t capacity)
{
    return list_findings(&(struct source){.scanner = scanner, .text = text}, false, spans,
                         capacity);
}

size_t privacy_scan_strict(const struct privacy_scanner *scanner, struct td_str text,
                           struct privacy_span *spans, size_t capacity)
{
    return list_findings(&(struct source){.scanner = scanner, .text = text}, true, spans, capacity);
}

/* Do only texts hold the finding in which guesses give no class? part: the first that may. */
static bool lies_aside(const struct privacy_scanner *scanner, const struct reading *reading,
                       const struct privacy_span *span, size_t part)
{
    const struct reading_part *parts = reading->parts;
    bool aside = false;
    for (; part < reading->count && parts[part].begin < span->end; part++) {
        aside = privacy_scanner_sets_aside(scanner, (enum reading_from)parts[part].from);
        if (!aside)
            return false;
    }
    return aside;
}

/* A guess in instructions is still a finding, but of class public. */
static void lower_guesses(const struct privacy_scanner *scanner, const struct reading *reading,
                          struct privacy_span *spans, size_t count)
{
    for (size_t i = 0, part = 0; i < count; i++) {
        while (part < reading->count && reading->parts[part].end <= spans[i].begin)
            part++;
        if (spans[i].guessed && lies_aside(scanner, reading, &spans[i], part))
            spans[i].data_class = TD_CLASS_PUBLIC;
    }
}

size_t privacy_scan_reading(const struct privacy_scanner *scanner, const struct reading *reading,
                            bool strict, struct privacy_span *spans, size_t capacity)
{
    const struct source source = source_of(scanner, reading);
    size_t count = list_findings(&source, strict, spans, capacity);
    if (!strict)
        lower_guesses(scanner, reading, spans, count < capacity ? count : capacity);
    return count;
}

static void drop_span(void *ctx, const struct privacy_span *span)
{
    (void)ctx;
    (void)span;
}

void privacy_reread(const struct privacy_scanner *scanner, struct td_str text,
                    const struct rereader *rereader)
{
    (void)scan_all(&(struct source){.scanner = scanner, .text = text, .rereader = rereader}, false,
                   drop_span, NULL);
}

/* --- the class --- */

struct verdict {
    struct privacy_tally *found;
    enum td_data_class data_class;
};

static void judge_span(void *ctx, const struct privacy_span *span)
{
    struct verdict *verdict = ctx;
    if (span->data_class > verdict->data_class)
        verdict->data_class = span->data_class;
    if (verdict->found != NULL)
        privacy_tally_add(verdict->found, span);
}

static enum td_data_class classify(const struct source *source, struct privacy_tally *found)
{
    ASSERT(source->text.data != NULL || source->text.len == 0);
    struct verdict verdict = {found, TD_CLASS_PUBLIC};
    (void)scan_all(source, false, judge_span, &verdict);
    return verdict.data_class;
}

enum td_data_class privacy_classify(const struct privacy_scanner *scanner, struct td_str text,
                                    struct privacy_tally *found)
{
    return classify(&(struct source){.scanner = scanner, .text = text}, found);
}

/* --- a reading of which some was read before --- */

/* The parts of a stretch, with its places. False without memory. */
static bool cut_parts(const struct reading *whole, size_t begin, size_t end, struct reading *out)
{
    *out = (struct reading){.text = {.data = whole->text.data + begin, .len = end - begin}};
    out->parts = malloc((whole->count + 1) * sizeof *out->parts);
    for (size_t i = 0; out->parts && i < whole->count; i++) {
        struct reading_part part = whole->parts[i];
        if (part.end < begin || part.begin > end)
            continue;
        part.begin = part.begin > begin ? part.begin - begin : 0;
        part.end = (part.end < end ? part.end : end) - begin;
        out->parts[out->count++] = part;
    }
    return out->parts != NULL;
}

struct shifted {
    struct spans *spans;
    size_t base;
};

static void add_shifted(void *ctx, const struct privacy_span *span)
{
    struct shifted *found = ctx;
    struct privacy_span own = *span;
    own.begin += found->base;
    own.end += found->base;
    spans_add(found->spans, &own);
}

static bool scan_stretch(void *ctx, size_t begin, size_t end, struct spans *found)
{
    const struct source *source = ctx;
    struct shifted to = {found, begin};
    struct reading parts;
    struct source own = *source;
    bool ok = cut_parts(source->reading, begin, end, &parts);
    parts.failed = !ok;
    own.text = buf_view(&parts.text);
    own.reading = &parts;
    own.base = begin;
    ok &= scan_all(&own, false, add_shifted, &to);
    free(parts.parts);
    return ok;
}

/* Below this a scan takes less than a tenth of a millisecond, and is one. */
#define UNITS_BYTES_MIN 8192

bool privacy_find_reading(const struct privacy_scanner *scanner, const struct reading *reading,
                          struct td_str caller, struct spans *out)
{
    struct source source = source_of(scanner, reading);
    bool ok = true;
    if (scanner && !reading->failed && reading->count > 0 && reading->text.len >= UNITS_BYTES_MIN)
        ok = scan_memory_find(caller.data ? privacy_scanner_memory(scanner) : NULL, reading, caller,
                              scan_stretch, &source, out);
    else
        (void)scan_all(&source, false, spans_add, out);
    lower_guesses(scanner, reading, out->spans, out->count);
    return ok && !out->failed;
}

enum td_data_class privacy_classify_reading(const struct privacy_scanner *scanner,
                                            const struct reading *reading, struct td_str caller,
                                            struct privacy_tally *found)
{
    struct verdict verdict = {found, TD_CLASS_PUBLIC};
    struct spans spans = {0};
    if (!privacy_find_reading(scanner, reading, caller, &spans))
        verdict.data_class = TD_CLASS_RESTRICTED;
    for (size_t i = 0; i < spans.count; i++)
        judge_span(&verdict, &spans.spans[i]);
    free(spans.spans);
    return verdict.data_class;
}

bool privacy_may_reach(enum td_data_class data_class, enum td_place place)
{
    switch (data_class) {
    case TD_CLASS_PUBLIC:
        return true;
    case TD_CLASS_SENSITIVE:
    case TD_CLASS_CONTRACTUAL:
        return place == TD_PLACE_DEVICE || place == TD_PLACE_PREMISES;
    default: /* restricted, and anything unknown */
        return place == TD_PLACE_DEVICE;
    }
}
