/* The reasons of a plan: sentences that are kept in it while there is room, else beside it. */
#include "base/core/shortage.h"
#include "router/plan/policy.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_words[] = "no memory for the reason";

static bool lies_within(const struct plan *plan, const char *text)
{
    return (uintptr_t)text - (uintptr_t)plan->words < sizeof plan->words;
}

static const char *keep_words(struct plan *plan, const char *text)
{
    size_t size = strlen(text) + 1;
    bool fits = size <= sizeof plan->words - plan->word_bytes;
    char *kept = fits ? plan->words + plan->word_bytes : malloc(size);
    if (!kept) {
        shortage_note();
        return no_words;
    }
    plan->word_bytes += fits ? size : 0;
    return memcpy(kept, text, size);
}

void plan_add_reason(struct plan *plan, enum reason_code code, const char *tier, const char *format,
                     ...)
{
    if (plan->reason_count == REASONS_MAX)
        return;
    char text[REASON_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = keep_words(plan, text);
    plan->reasons[plan->reason_count++] = (struct reason){.code = code, .tier = tier, .text = kept};
}

void plan_deinit(struct plan *plan)
{
    for (size_t i = 0; i < plan->reason_count; i++)
        if (!lies_within(plan, plan->reasons[i].text) && plan->reasons[i].text != no_words)
            free((void *)(uintptr_t)plan->reasons[i].text);
    plan->reason_count = 0;
}
