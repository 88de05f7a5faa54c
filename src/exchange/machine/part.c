/* The states of an exchange's parts lie in one block, each at a boundary that suits any type. */
#include "exchange/machine/part.h"

#include "base/core/assertion.h"
#include "exchange/machine/exchange_core.h"

#include <stdalign.h>
#include <stdlib.h>

static size_t aligned(size_t bytes)
{
    size_t step = alignof(max_align_t);
    return (bytes + step - 1) / step * step;
}

bool parts_init(struct part_states *states)
{
    size_t bytes = 1, at = 0;
    for (size_t i = 0; exchange_parts[i]; i++)
        bytes += aligned(exchange_parts[i]->state_bytes);
    states->block = calloc(1, bytes);
    if (!states->block)
        return false;
    for (size_t i = 0; exchange_parts[i]; i++) {
        ASSERT(i < EXCHANGE_PARTS_MAX);
        states->of[i] = (char *)states->block + at;
        at += aligned(exchange_parts[i]->state_bytes);
    }
    return true;
}

void *part_state(const struct exchange *ex, const struct exchange_part *part)
{
    size_t i = 0;
    while (exchange_parts[i] != part) {
        ASSERT(exchange_parts[i]); /* every part is in the table */
        i++;
    }
    return ex->parts.of[i];
}

/* Calls that hook of every part that has it; `state` is the part's in the call's arguments. */
#define EACH_PART(hook, ...)                      \
    for (size_t i = 0; exchange_parts[i]; i++) {  \
        void *state = ex->parts.of[i];            \
        if (exchange_parts[i]->hook)              \
            exchange_parts[i]->hook(__VA_ARGS__); \
    }

void parts_inform(struct exchange *ex, const struct route *route)
{
    EACH_PART(inform, ex, state, route)
}

void parts_prepare(struct exchange *ex, const struct route *route)
{
    EACH_PART(prepare, ex, state, route)
}

void parts_planned(struct exchange *ex)
{
    EACH_PART(planned, ex, state)
}

void parts_started(struct exchange *ex)
{
    EACH_PART(started, ex, state)
}

bool parts_may_go_on(struct exchange *ex, size_t tier)
{
    for (size_t i = 0; exchange_parts[i]; i++)
        if (exchange_parts[i]->may_go_on &&
            !exchange_parts[i]->may_go_on(ex, ex->parts.of[i], tier))
            return false;
    return true;
}

void parts_left(struct exchange *ex)
{
    EACH_PART(left, ex, state)
}

bool parts_judged(struct exchange *ex)
{
    bool waits = false;
    for (size_t i = 0; exchange_parts[i] && !waits; i++)
        waits = exchange_parts[i]->judged && exchange_parts[i]->judged(ex, ex->parts.of[i]);
    return waits;
}

bool parts_answered(struct exchange *ex)
{
    bool waits = false;
    for (size_t i = 0; exchange_parts[i] && !waits; i++)
        waits = exchange_parts[i]->answered && exchange_parts[i]->answered(ex, ex->parts.of[i]);
    return waits;
}

void parts_committing(struct exchange *ex)
{
    EACH_PART(committing, ex, state)
}

void parts_ended(struct exchange *ex, enum exchange_end end)
{
    EACH_PART(ended, ex, state, end)
}

void parts_release(struct exchange *ex)
{
    if (!ex->parts.block)
        return;
    EACH_PART(release, ex, state)
    free(ex->parts.block);
    ex->parts.block = NULL;
}
