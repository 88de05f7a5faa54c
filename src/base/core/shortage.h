/* Counts the allocations that failed, for each thread alone.
 *
 * Writers of buffers and trees go on after a failure, so that their callers need no check after
 * each call, and what they wrote has a hole then. Whoever uses it compares the count with that
 * before: when it has grown, neither the result nor a fault that was found in it says anything. */
#ifndef BASE_SHORTAGE_H
#define BASE_SHORTAGE_H

#include "tandem/types.h"

uint32_t shortage_count(void);
void shortage_note(void);

static inline bool shortage_since(uint32_t before)
{
    return shortage_count() != before;
}

/* `status`, or TD_NO_MEMORY in its place, with the error, when memory ran short since `before`. err
 * may be NULL. */
enum td_status shortage_judge(uint32_t before, enum td_status status, struct td_error *err);

#endif
