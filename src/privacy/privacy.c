#include "privacy/privacy.h"

#include "privacy/escaped.h"
#include "privacy/rules.h"
#include "privacy/scan.h"
#include "privacy/spans.h"
#include "privacy/strict.h"
#include "privacy/tally.h"

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

/* The pass, and what other sources say: the operator's rules, and what shows when escapes are read. What
 * cannot be looked at is restricted as a whole. */
static void scan_all(struct td_str text, bool strict, scan_fn *emit, void *ctx)
{
    struct privacy_span *others;
    size_t count = privacy_rules_find(text, &others);
    if (count == SIZE_MAX || !escaped_find(text, strict, &others, &count)) {
        const struct privacy_span whole = privacy_unread(text);
        if (count != SIZE_MAX)
            free(others);
        emit(ctx, &whole);
        return;
    }
    scan_text(text, others, count, strict, emit, ctx);
    free(others);
}

size_t privacy_scan(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct span_list list = {spans, capacity, 0};
    scan_all(text, false, list_span, &list);
    return list.count;
}

size_t privacy_scan_strict(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct span_list out = {spans, capacity, 0};
    struct spans found = {0}, more = {0};
    scan_all(text, true, spans_add, &found);
    if (!found.failed && !strict_find(text, found.spans, found.count, spans_add, &more))
        more.failed = true;
    if (found.failed || more.failed) {
        const struct privacy_span whole = privacy_unread(text);
        list_span(&out, &whole);
    } else {
        for (size_t i = 0, k = 0; i < found.count || k < more.count;)
            if (k == more.count || (i < found.count && found.spans[i].begin < more.spans[k].begin))
                list_span(&out, &found.spans[i++]);
            else
                list_span(&out, &more.spans[k++]);
    }
    free(found.spans);
    free(more.spans);
    return out.count;
}

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
        privacy_tally_add(verdict->found, span->kind, span->rule);
}

enum td_data_class privacy_classify(struct td_str text, struct privacy_tally *found)
{
    struct verdict verdict = {found, TD_CLASS_PUBLIC};
    scan_all(text, false, judge_span, &verdict);
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
