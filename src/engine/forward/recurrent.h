/* The recurrent state of sequences: what a Mamba-2 layer knows of all positions before, in a size
 * that does not grow with them. A sequence has the state after its last position only. So
 *
 * - when positions are forgotten, the state is that of a checkpoint (checkpoints.h) before them,
 *   and forward_run reads the tokens from there again. They change nothing that is stored.
 * - a pass makes checkpoints at the ends of pages: at each multiple of CHECKPOINT_TOKENS, where a
 *   shared beginning was seen to end, and at the last end of a page, in place of the one there
 *   before.
 *
 * To keep the inputs of the layers by position, as for short convolutions, would take several times
 * the memory of the keys and values. All calls do nothing for models without such layers. */
#ifndef ENGINE_RECURRENT_H
#define ENGINE_RECURRENT_H

#include "engine/forward/forward_step.h"

#define CHECKPOINT_TOKENS 512

/* Brings the state to a position that is at most the sequence's length: its own, if it is one, or
 * the nearest checkpoint's, or the beginning. */
void recurrent_restore(struct sequence *sequence);

/* Before a pass whose rows are placed, and after it. */
void recurrent_begin(struct batch *batch);
void recurrent_end(struct batch *batch, bool done);

#endif
