/* A pass takes the place for its checkpoint before it runs, and the layers copy their part of the
 * state when they come to its position (ssm.c). Until the pass is done the sequence has no state:
 * if it is cancelled between two layers, some of them have gone on and others have not. */
#include "engine/forward/recurrent.h"

#include "base/core/assertion.h"

#include <string.h>

void recurrent_restore(struct sequence *sequence)
{
    struct checkpoints *checkpoints = &sequence->pool->checkpoints;
    if (sequence->state == NULL || sequence->state_at <= sequence->length)
        return;
    for (uint32_t pages = sequence->length / KV_PAGE_TOKENS; pages > 0; pages--) {
        uint32_t number = checkpoint_use(checkpoints, sequence->pages[pages - 1]);
        if (number == CHECKPOINT_NONE)
            continue;
        memcpy(sequence->state, checkpoint_state(checkpoints, number), checkpoints->state_bytes);
        sequence->state_at = pages * KV_PAGE_TOKENS;
        return;
    }
    sequence_reset_state(sequence);
}

/* Where between `begin` and `end` a checkpoint is made; 0 = nowhere. *passes: the next one takes
 * its place. */
static uint32_t choose_place(const struct sequence *sequence, uint32_t begin, uint32_t end,
                             bool *passes)
{
    uint32_t kept = end / CHECKPOINT_TOKENS * CHECKPOINT_TOKENS;
    uint32_t last = end / KV_PAGE_TOKENS * KV_PAGE_TOKENS;
    *passes = false;
    if (sequence->parted_at > begin && sequence->parted_at <= end)
        return sequence->parted_at;
    if (kept > begin)
        return kept;
    *passes = true;
    return last > begin ? last : 0;
}

static void begin_checkpoint(struct sequence *sequence, uint32_t count, struct workspace_part *part)
{
    struct checkpoints *checkpoints = &sequence->pool->checkpoints;
    bool passes;
    uint32_t begin = sequence->length;
    uint32_t at = choose_place(sequence, begin, begin + count, &passes);
    uint32_t instead = CHECKPOINT_NONE;
    if (at == 0)
        return;
    part->page = sequence->pages[at / KV_PAGE_TOKENS - 1];
    part->kept_rows = at - begin;
    if (checkpoint_use(checkpoints, part->page) != CHECKPOINT_NONE)
        return;
    if (passes && sequence->passing_page != 0) /* it is before `begin`: see sequence_truncate */
        instead = sequence->pages[sequence->passing_page - 1];
    part->checkpoint = checkpoint_begin(checkpoints, instead);
    if (passes)
        sequence->passing_page = at / KV_PAGE_TOKENS;
}

void recurrent_begin(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    uint32_t row = 0;
    if (workspace->parts == NULL)
        return;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        ASSERT(segment->sequence->state_at == segment->sequence->length);
        workspace->parts[i] =
            (struct workspace_part){.first_row = row, .checkpoint = CHECKPOINT_NONE};
        begin_checkpoint(segment->sequence, segment->count, &workspace->parts[i]);
        segment->sequence->state_at = STATE_NOWHERE; /* until the pass is done */
        row += segment->count;
    }
}

void recurrent_end(struct batch *batch, bool done)
{
    const struct workspace *workspace = batch->workspace;
    for (uint32_t i = 0; workspace->parts && i < batch->segment_count; i++) {
        const struct workspace_part *part = &workspace->parts[i];
        struct sequence *sequence = batch->segments[i].sequence;
        if (part->checkpoint != CHECKPOINT_NONE)
            checkpoint_end(&sequence->pool->checkpoints, part->checkpoint,
                           done ? part->page : CHECKPOINT_NONE);
        if (done)
            sequence->state_at = sequence->length + batch->segments[i].count;
    }
}
