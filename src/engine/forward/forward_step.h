/* What the files of the forward pass share: steps, which threads run item by item.
 *
 * Work is cut into items that threads take from a counter: a thread that loses its core to somebody
 * else costs its share and not everybody's wait. Every item computes the same numbers whoever takes
 * it and whatever stands beside it in the batch. */
#ifndef ENGINE_FORWARD_STEP_H
#define ENGINE_FORWARD_STEP_H

#include "engine/forward/forward.h"

/* Items of about this many weight bytes: long enough for the prefetcher, short enough to share
 * fairly. */
#define ITEM_BYTES (48u << 10)
/* Rows of an item are a multiple of this, so that vector tails fall on the same elements however
 * the rows are cut. */
#define ITEM_ROWS 32u

struct batch {
    struct workspace *workspace;
    const struct segment *segments;
    uint32_t segment_count;
    uint32_t row_count;
    const struct layer *layer;
    uint32_t layer_index;
    bool adapted;        /* a segment's sequence has adapters */
    uint32_t left_count; /* rows that have left by an early exit */
};

/* Whether only keys and values are still to be made. */
static inline bool forward_all_left(const struct batch *batch)
{
    return batch->left_count == batch->row_count;
}

/* One matrix product of a step: y[t, r] = W[r] . x_t for all rows, x prepared beforehand. */
struct product {
    const struct weight *weight;
    float *y;
    size_t y_stride;
};

struct step {
    struct batch *batch;
    void (*item)(struct step *step, uint32_t index);
    uint32_t item_count;
    atomic_uint next;
    /* matmul steps */
    struct product products[3];
    uint32_t product_count;
    uint32_t item_rows;     /* of the matrices; of the inputs when they are prepared */
    uint32_t input_count;   /* rows of inputs */
    const uint32_t *owners; /* row of the batch that each input is of; NULL = the same */
    bool add_to_hidden;     /* the product is added to the residual stream */
    bool logits;            /* the product is scaled and capped as the model's logits are */
    bool gated;             /* products are gate and up, cut alike */
    /* attention and per-row steps */
    uint32_t span_count;      /* items that share a kv head of one row */
    const float *norm_weight; /* NULL: no norm, `input` is prepared as it is */
    const float *input;
    size_t input_size;
    const uint32_t *from; /* row of `input` for each prepared one; NULL = the same */
    unsigned forms;       /* bit set of enum activation_form to prepare */
    bool panels;          /* in panels, as many as kernels_panel_tokens() says */
};

/* Runs all items. bytes: weights or state that the step reads, as a measure of its work. */
void step_run(struct step *step, size_t bytes);
/* Cuts and runs the products that `step` names. */
void step_run_products(struct step *step);
/* Of steps whose inputs are prepared: A x of the adapters' changes, for all products (of experts:
 * all places), before the step runs; then, in its items, y += B (A x) for some rows of one product
 * and some inputs. */
void forward_reduce(const struct step *step);
void forward_reduce_experts(const struct step *step);
void forward_add_adapters(const struct step *step, uint32_t product, uint32_t row_begin,
                          uint32_t row_end, uint32_t begin, uint32_t end, uint32_t expert);
/* The adapters' change of what a token looks up. */
void forward_embed_adapters(const struct td_model *model, const struct adapter_set *set, int32_t id,
                            float *hidden);
/* gate = activation(gate) * up for `count` values. */
void forward_gate(const struct td_model *model, float *gate, const float *up, size_t count);
/* hidden += residual scale * y */
void forward_add(const struct td_model *model, float *hidden, const float *y, size_t count);
/* Brings rows of `input` [?, size], `count` of them, into the forms that the products need, for
 * step_run_products: many of them in panels (kernels.h). First normed into workspace->normed when
 * there is a norm_weight. from: see struct step; only with a norm. */
void forward_prepare(struct batch *batch, const float *input, size_t size, uint32_t count,
                     const uint32_t *from, const float *norm_weight, unsigned forms);
/* The same without norm and panels: each row stands alone. */
void forward_prepare_rows(struct batch *batch, const float *input, size_t size, uint32_t count,
                          const uint32_t *from, unsigned forms);

/* What leaves the pass: states, early exits and the probe after so many layers; at the end the
 * logits of the rows that have not left. */
void forward_after_layers(struct batch *batch, uint32_t layer_count, float *logits);
void forward_output(struct batch *batch, float *logits);

/* The feed-forward block of a mixture of experts: what is to be added to the residual stream is
 * left in workspace->normed. */
void forward_experts(struct batch *batch);

static inline unsigned form_bit(const struct weight *weight)
{
    return 1u << weight->form;
}

#endif
