/* The list is short, so each call goes through all of it. The memory is mapped: a checkpoint that
 * was never made costs nothing. One in the making has no owner and cannot be taken, so two
 * sequences of a pass never fill the same. */
#include "engine/forward/checkpoints.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/memory.h"

#include <string.h>
#include <sys/mman.h>

#define MEMORY_PAGE 4096u

uint64_t recurrent_state_bytes(const struct td_model *model)
{
    /* The limits of layer_kinds.c keep this within 64 bits. */
    uint64_t inner = (uint64_t)model->ssm_heads * model->ssm_head_size;
    uint64_t inputs = (uint64_t)model_ssm_channels(model) * (model->conv_width - 1);
    uint64_t floats = inner * model->ssm_state_size + inputs;
    uint64_t bytes = model->ssm_count ? model->ssm_count * floats * sizeof(float) : 0;
    return (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
}

static uint32_t count_for(uint64_t page_count)
{
    return page_count < CHECKPOINTS_MAX ? (uint32_t)page_count : CHECKPOINTS_MAX;
}

uint64_t checkpoints_bytes(const struct td_model *model, uint64_t page_count)
{
    return recurrent_state_bytes(model) * count_for(page_count);
}

enum td_status checkpoints_init(struct checkpoints *checkpoints, const struct td_model *model,
                                uint32_t page_count, struct td_error *err)
{
    *checkpoints = (struct checkpoints){.state_bytes = recurrent_state_bytes(model)};
    if (checkpoints->state_bytes == 0)
        return TD_OK;
    checkpoints->count = count_for(page_count);
    for (uint32_t i = 0; i < CHECKPOINTS_MAX; i++)
        checkpoints->list[i].page = CHECKPOINT_NONE;
    checkpoints->block = memory_map(checkpoints->state_bytes * checkpoints->count);
    if (checkpoints->block)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY, "no memory for %u copies of a recurrent state of %llu MiB",
                     checkpoints->count, (unsigned long long)(checkpoints->state_bytes >> 20));
}

void checkpoints_deinit(struct checkpoints *checkpoints)
{
    memory_unmap(checkpoints->block, checkpoints->state_bytes * checkpoints->count);
    checkpoints->block = NULL;
}

uint32_t checkpoint_find(const struct checkpoints *checkpoints, uint32_t page)
{
    ASSERT(page != CHECKPOINT_NONE);
    for (uint32_t i = 0; i < checkpoints->count; i++)
        if (checkpoints->list[i].page == page)
            return i;
    return CHECKPOINT_NONE;
}

uint32_t checkpoint_use(struct checkpoints *checkpoints, uint32_t page)
{
    uint32_t number = checkpoint_find(checkpoints, page);
    if (number != CHECKPOINT_NONE)
        checkpoints->list[number].used = ++checkpoints->clock;
    return number;
}

float *checkpoint_state(const struct checkpoints *checkpoints, uint32_t number)
{
    ASSERT(number < checkpoints->count);
    return (float *)(void *)(checkpoints->block + number * checkpoints->state_bytes);
}

uint32_t checkpoint_begin(struct checkpoints *checkpoints, uint32_t instead)
{
    uint32_t best = instead == CHECKPOINT_NONE ? instead : checkpoint_find(checkpoints, instead);
    for (uint32_t i = 0; i < checkpoints->count && best == CHECKPOINT_NONE; i++)
        if (checkpoints->list[i].page == CHECKPOINT_NONE && !checkpoints->list[i].in_making)
            best = i;
    bool found = best != CHECKPOINT_NONE;
    for (uint32_t i = 0; i < checkpoints->count && !found; i++)
        if (!checkpoints->list[i].in_making &&
            (best == CHECKPOINT_NONE || checkpoints->list[i].used < checkpoints->list[best].used))
            best = i;
    if (best != CHECKPOINT_NONE)
        checkpoints->list[best] = (struct checkpoint){.page = CHECKPOINT_NONE, .in_making = true};
    return best;
}

void checkpoint_end(struct checkpoints *checkpoints, uint32_t number, uint32_t page)
{
    ASSERT(number < checkpoints->count && checkpoints->list[number].in_making);
    checkpoints->list[number] = (struct checkpoint){.page = page, .used = ++checkpoints->clock};
}

void checkpoint_drop(struct checkpoints *checkpoints, uint32_t page)
{
    uint32_t number = checkpoint_find(checkpoints, page);
    if (number != CHECKPOINT_NONE)
        checkpoints->list[number].page = CHECKPOINT_NONE;
}

void checkpoint_move(struct checkpoints *checkpoints, uint32_t to, uint32_t from)
{
    uint32_t number = checkpoint_find(checkpoints, from);
    if (number != CHECKPOINT_NONE && checkpoint_find(checkpoints, to) == CHECKPOINT_NONE)
        checkpoints->list[number].page = to;
}

void recurrent_state_wipe(void *state, uint64_t bytes)
{
    if (madvise(state, bytes, MADV_DONTNEED) != 0)
        explicit_bzero(state, bytes);
}

void checkpoints_wipe_free(struct checkpoints *checkpoints)
{
    for (uint32_t i = 0; i < checkpoints->count; i++)
        if (checkpoints->list[i].page == CHECKPOINT_NONE && !checkpoints->list[i].in_making)
            recurrent_state_wipe(checkpoint_state(checkpoints, i), checkpoints->state_bytes);
}
