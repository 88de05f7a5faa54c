/* A list of findings that grows. A failure to grow is noted in the list, because whoever adds to it
 * cannot answer; who reads it must ask. */
#include "privacy/kind/spans.h"

#include "base/core/assertion.h"

#include <stdlib.h>

const char *span_name(const struct privacy_span *span)
{
    return span->kind == PRIVACY_CUSTOM && span->rule ? span->rule : privacy_kind_name(span->kind);
}

void spans_add(void *ctx, const struct privacy_span *span)
{
    struct spans *list = ctx;
    ASSERT(span->begin <= span->end);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct privacy_span *spans = realloc(list->spans, capacity * sizeof *spans);
        if (spans == NULL) {
            list->failed = true;
            return;
        }
        list->spans = spans;
        list->capacity = capacity;
    }
    list->spans[list->count++] = *span;
}
