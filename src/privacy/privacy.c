#include "privacy/privacy.h"

#include "privacy/escaped.h"
#include "privacy/rules.h"
#include "privacy/scan.h"
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
static void scan_all(struct td_str text, scan_fn *emit, void *ctx)
{
    struct privacy_span *others;
    size_t count = privacy_rules_find(text, &others);
    if (count == SIZE_MAX || !escaped_find(text, &others, &count)) {
        const struct privacy_span whole = privacy_unread(text);
        if (count != SIZE_MAX)
            free(others);
        emit(ctx, &whole);
        return;
    }
    scan_text(text, others, count, emit, ctx);
    free(others);
}

size_t privacy_scan(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct span_list list = {spans, capacity, 0};
    scan_all(text, list_span, &list);
    return list.count;
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
    scan_all(text, judge_span, &verdict);
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
