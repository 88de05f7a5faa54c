#include "base/core/shortage.h"

#include "base/core/error.h"

static _Thread_local uint32_t count;

uint32_t shortage_count(void)
{
    return count;
}

void shortage_note(void)
{
    count++;
}

enum td_status shortage_judge(uint32_t before, enum td_status status, struct td_error *err)
{
    if (!shortage_since(before))
        return status;
    if (err)
        *err = (struct td_error){0};
    return error_set(err, TD_NO_MEMORY, "out of memory");
}
