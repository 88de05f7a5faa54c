/* One forward pass over a batch: tokens of any number of sequences go through the layers together,
 * so that the weights are read once for all of them. The result for a token does not depend on the
 * rest of the batch, on how a text is cut into batches, or on the threads. Called on the
 * workspace's thread. */
#ifndef ENGINE_FORWARD_H
#define ENGINE_FORWARD_H

#include "engine/forward/sequence.h"
#include "engine/forward/workspace.h"

/* Some next tokens of one sequence, and what is wanted of them. A batch has at most one segment of
 * a sequence. */
struct segment {
    struct sequence *sequence;
    const int32_t *ids; /* [count] */
    uint32_t count;
    uint32_t logit_rows; /* the last logit_rows tokens want logits */
    /* The pass ends between two layers when the flags of all segments are set. NULL = never set. */
    const atomic_bool *cancel;

    /* The residual stream after hidden_layer layers (0 = the embeddings), of the last hidden_rows
     * tokens. */
    uint32_t hidden_layer;
    uint32_t hidden_rows; /* 0 = not wanted */
    float *hidden_out;    /* [hidden_rows, embedding] */
    /* The input of the output matrix (after the last norm), of the last normed_rows tokens. */
    uint32_t normed_rows; /* 0 = not wanted */
    float *normed_out;    /* [normed_rows, embedding] */

    /* A single token with logits leaves at the first early exit (heads.h) whose best token has at
     * least this probability; 0 = off. *layers_run is always set to the number of layers that the
     * logits came through. */
    float exit_threshold;
    uint32_t *layers_run; /* NULL = not wanted */
    /* What the probe says at the last token. A model without a probe leaves it as it is. */
    float *probe_out; /* NULL = not wanted */
};

/* Runs all segments, which have at most workspace->row_max tokens together. logits: [sum of
 * logit_rows, vocab], in the order of the segments; NULL when there are none. Afterwards each
 * sequence is longer by its segment. After a failure the sequences are as before: TD_LIMIT (a
 * context is full), TD_BUSY (the pool has no free page), TD_INVALID, TD_CANCELLED. */
TD_MUST_CHECK enum td_status forward_run(struct workspace *workspace,
                                         const struct segment *segments, uint32_t segment_count,
                                         float *logits, struct td_error *err);

#endif
