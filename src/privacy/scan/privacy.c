/* The one scan in its forms: findings, the class alone, one text or several as a reading.
 *
 * It brings three sources together: what the operator's rules find in each text, what shows when
 * escapes and disguises are read, and the pass with names and detectors, which settles them all.
 * Every failure ends the same way: what could not be looked at is one restricted finding. */
#include "privacy/scan/privacy.h"

#include "base/str.h"
#include "privacy/kind/spans.h"
#include "privacy/scan/escaped_find.h"
#include "privacy/scan/rules.h"
#include "privacy/scan/scan.h"
#include "privacy/scan/scanner.h"
#include "privacy/scan/tally.h"
#include "privacy/scan/traces.h"
#include "privacy/text/reading.h"

#include <assert.h>
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
};

static struct source source_of(const struct privacy_scanner *scanner, const struct reading *reading)
{
    return (struct source){scanner, buf_view(&reading->text), reading, NULL};
}

/* What the operator's rules find in each of the reading's texts. False without memory. */
static bool find_by_rules(const struct privacy_rules *rules, const struct reading *reading,
                          struct spans *found)
{
    struct td_str all = buf_view(&reading->text);
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->parts[i].goes_on)
            continue;
        size_t begin = reading->parts[i].begin;
        struct privacy_span *spans;
        size_t count =
            privacy_rules_find(rules, str_slice(all, begin, reading_text_end(reading, i)), &spans);
        for (size_t k = 0; count != SIZE_MAX && k < count; k++) {
            spans[k].begin += begin;
            spans[k].end += begin;
            spans_add(found, &spans[k]);
        }
        if (count == SIZE_MAX)
            return false;
        free(spans);
    }
    return !found->failed;
}

/* The pass, and what other sources say: the operator's rules, and what shows when escapes are read.
 * What cannot be looked at is restricted as a whole. */
static void scan_all(const struct source *source, bool strict, span_fn *emit, void *ctx)
{
    const struct privacy_scanner *scanner = source->scanner;
    struct spans others = {0};
    bool ok = scanner != NULL;
    if (ok && source->reading) {
        ok = !source->reading->failed &&
             find_by_rules(privacy_scanner_rules(scanner), source->reading, &others);
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
        return;
    }
    const struct scan_beside beside = {privacy_scanner_names(scanner),
                                       others.spans,
                                       others.count,
                                       strict,
                                       source->reading,
                                       source->rereader};
    scan_text(source->text, &beside, emit, ctx);
    free(others.spans);
}

/* Names that are but likely, wherever they stand, and numbers of no known kind. */
static void scan_strict(const struct source *source, struct span_list *out)
{
    struct spans found = {0}, more = {0};
    scan_all(source, true, spans_add, &found);
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
    assert(spans != NULL || capacity == 0);
    struct span_list list = {spans, capacity, 0};
    if (strict)
        scan_strict(source, &list);
    else
        scan_all(source, false, list_span, &list);
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

size_t privacy_scan_reading(const struct privacy_scanner *scanner, const struct reading *reading,
                            bool strict, struct privacy_span *spans, size_t capacity)
{
    const struct source source = source_of(scanner, reading);
    return list_findings(&source, strict, spans, capacity);
}

static void drop_span(void *ctx, const struct privacy_span *span)
{
    (void)ctx;
    (void)span;
}

void privacy_reread(const struct privacy_scanner *scanner, struct td_str text,
                    const struct rereader *rereader)
{
    scan_all(&(struct source){.scanner = scanner, .text = text, .rereader = rereader}, false,
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
    assert(source->text.data != NULL || source->text.len == 0);
    struct verdict verdict = {found, TD_CLASS_PUBLIC};
    scan_all(source, false, judge_span, &verdict);
    return verdict.data_class;
}

enum td_data_class privacy_classify(const struct privacy_scanner *scanner, struct td_str text,
                                    struct privacy_tally *found)
{
    return classify(&(struct source){.scanner = scanner, .text = text}, found);
}

enum td_data_class privacy_classify_reading(const struct privacy_scanner *scanner,
                                            const struct reading *reading,
                                            struct privacy_tally *found)
{
    const struct source source = source_of(scanner, reading);
    return classify(&source, found);
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
