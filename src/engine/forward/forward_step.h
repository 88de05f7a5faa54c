/* What the files of the forward pass share: steps, which threads run item by item.
 *
 * Threads take items from a counter. So if a thread loses its core to another process, the others
 * take its share instead of waiting. An item computes the same numbers whichever thread takes it
 * and whatever else is in the batch. */
#ifndef ENGINE_FORWARD_STEP_H
#define ENGINE_FORWARD_STEP_H

#include "engine/forward/forward.h"

/* An item has about this many weight bytes: enough for the prefetcher, and few enough to share the
 * work evenly. */
#define ITEM_BYTES (48u << 10)
/* The rows of an item are a multiple of this, so that the tails of vectors are the same elements
 * however the rows are cut. */
#define ITEM_ROWS 32u

struct batch {
    struct workspace *workspace;
    const struct segment *segments;
    uint32_t segment_count;
    uint32_t row_count;
    const struct layer *layer;
    uint32_t layer_index;
    bool again;          /* the tokens were read before: nothing is stored of them */
    bool adapted;        /* the sequence of some segment has adapters */
    uint32_t left_count; /* rows that have left by an early exit */
    /* For an observer: the floats that the last forward_prepare brought into form, row i of them
     * being inputs[from[i]], or inputs[i] when from is NULL. */
    const float *inputs;
    const uint32_t *inputs_from;
    size_t inputs_size;
};

/* Whether all rows have left early, so that only keys and values remain to be made. */
static inline bool forward_all_left(const struct batch *batch)
{
    return batch->left_count == batch->row_count;
}

/* One matrix product of a step: y[t, r] = W[r] . x[t] for all rows. x is prepared before. */
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
    uint32_t item_rows;     /* rows of an item: of the matrices, or of the inputs to prepare */
    uint32_t input_count;   /* rows of inputs */
    const uint32_t *owners; /* the batch's row of each input; NULL = input i is row i */
    bool add_to_hidden;     /* the product is added to the residual stream */
    bool logits;            /* the product is scaled and capped as the model's logits are */
    bool gated;             /* products are gate and up, cut alike */
    /* attention and per-row steps */
    uint32_t span_count;      /* items that share a kv head of one row */
    const float *norm_weight; /* NULL = no norm, `input` is prepared as it is */
    const float *input;
    size_t input_size;
    const uint32_t *from; /* the row of `input` for each prepared row; NULL = row i for row i */
    unsigned forms;       /* bit set of enum activation_form to prepare */
    bool panels;          /* as many rows as kernels_panel_tokens() says go into panels */
};

/* Runs all items. bytes: how much weight or state the step reads, as a measure of its work. */
void step_run(struct step *step, size_t bytes);
/* Cuts and runs the products that `step` names. */
void step_run_products(struct step *step);
/* For a step whose inputs are prepared: forward_reduce computes A x of the adapters for all
 * products (forward_reduce_experts: for all places of experts) before the step runs. Its items then
 * call forward_add_adapters: y += B (A x) for some rows of one product and some inputs. */
void forward_reduce(const struct step *step);
void forward_reduce_experts(const struct step *step);
void forward_add_adapters(const struct step *step, uint32_t product, uint32_t row_begin,
                          uint32_t row_end, uint32_t begin, uint32_t end, uint32_t expert);
/* Adds the adapters' change of a token's embedding. */
void forward_embed_adapters(const struct td_model *model, const struct adapter_set *set, int32_t id,
                            float *hidden);
/* Shows the inputs of the step's products to the workspace's observer, if there is one.
 * forward_observe_experts: of products of experts, whose inputs are the places. */
void forward_observe(const struct step *step);
void forward_observe_experts(const struct step *step);
/* Multiplies some rows of a product, for the inputs [begin, end), with the scale of its weight. */
void forward_scale(const struct td_model *model, const struct product *product, uint32_t row_begin,
                   uint32_t row_end, size_t begin, size_t end, uint32_t expert);
/* y = norm(x): RMSNorm or LayerNorm, whose biases stand after its weights. y may be x. */
void forward_norm(const struct td_model *model, const float *x, const float *norm, size_t size,
                  float *y);
/* gate = activation(gate) * up for `count` values. */
void forward_gate(const struct td_model *model, float *gate, const float *up, size_t count);
/* hidden += residual scale * y */
void forward_add(const struct td_model *model, float *hidden, const float *y, size_t count);
/* Brings `count` rows of `input` [rows, size] into the forms that the products need, for
 * step_run_products. Many of them go into panels (kernels.h). With a norm_weight the rows are first
 * normed into workspace->normed. from: see struct step; only with a norm. */
void forward_prepare(struct batch *batch, const float *input, size_t size, uint32_t count,
                     const uint32_t *from, const float *norm_weight, unsigned forms);
/* The same without norm and panels: each row alone. */
void forward_prepare_rows(struct batch *batch, const float *input, size_t size, uint32_t count,
                          const uint32_t *from, unsigned forms);

/* hidden += W x, or hidden += norm(W x) if the output of the block has a norm. */
void forward_project(struct batch *batch, const struct weight *weight, const float *norm_weight);

/* The outputs of the pass. forward_after_layers: states, early exits and the probe after
 * layer_count layers. forward_output: at the end, the logits of the rows that have not left. */
void forward_after_layers(struct batch *batch, uint32_t layer_count, float *logits);
void forward_output(struct batch *batch, float *logits);

/* The feed-forward block of a mixture of experts. Its output, which the caller adds to the residual
 * stream, is in workspace->normed. */
void forward_experts(struct batch *batch);

static inline unsigned form_bit(const struct weight *weight)
{
    return 1u << weight->form;
}

#endif
