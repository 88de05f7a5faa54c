/* One forward pass over a batch: tokens of any number of sequences go through the layers together,
 * so that the weights are read once for all of them. What a token comes to does not depend on what
 * else is in the batch, on how a text is cut into batches, or on the threads. Called on the
 * workspace's thread. */
#ifndef ENGINE_FORWARD_H
#define ENGINE_FORWARD_H

#include "engine/forward/sequence.h"
#include "engine/forward/workspace.h"

/* Some next tokens of one sequence, and what is wanted of them. A sequence stands in at most one
 * segment of a batch. */
struct segment {
    struct sequence *sequence;
    const int32_t *ids; /* [count] */
    uint32_t count;
    uint32_t logit_rows; /* the last so many tokens want logits */
    /* When the flags of all segments are set the pass ends between two layers; NULL: it has
     * none. */
    const atomic_bool *cancel;

    /* Residual stream after so many layers (0 = the embeddings), of the last hidden_rows tokens. */
    uint32_t hidden_layer;
    uint32_t hidden_rows; /* 0 = not wanted */
    float *hidden_out;    /* [hidden_rows, embedding] */
    /* The last normed_rows tokens as the output matrix sees them, after the last norm. */
    uint32_t normed_rows; /* 0 = not wanted */
    float *normed_out;    /* [normed_rows, embedding] */

    /* A single token with logits leaves at the first early exit (heads.h) whose best token has at
     * least this probability; 0 = none does. *layers_run is then, and else too, the number of
     * layers behind its logits. */
    float exit_threshold;
    uint32_t *layers_run; /* NULL = not wanted */
    /* The probe's answer at the last token; left as it is by a model without one. */
    float *probe_out; /* NULL = not wanted */
};

/* Runs all segments, at most workspace->row_max tokens together. logits [sum of logit_rows, vocab],
 * in the order of the segments (may be NULL when there are none). Afterwards the sequences are
 * longer by their segments; after a failure they are as before: TD_LIMIT (a context is full),
 * TD_BUSY (the pool of pages is), TD_INVALID, TD_CANCELLED. */
TD_MUST_CHECK enum td_status forward_run(struct workspace *workspace,
                                         const struct segment *segments, uint32_t segment_count,
                                         float *logits, struct td_error *err);

#endif
