/* What the files of the forward pass share: steps, which threads run item by item. forward.c says
 * how. Called on the session's thread; items on any of its pool. */
#ifndef ENGINE_FORWARD_H
#define ENGINE_FORWARD_H

#include "engine/session.h"

/* Items of about this many weight bytes: long enough for the prefetcher, short enough to share
 * fairly. */
#define ITEM_BYTES (48u << 10)
/* Rows of an item are a multiple of this, so that vector tails fall on the same elements however
 * the rows are cut. */
#define ITEM_ROWS 32u

struct chunk {
    struct td_session *session;
    const struct layer *layer;
    uint32_t layer_index;
    uint32_t token_count;
    uint32_t position;  /* of the chunk's first token */
    const int32_t *ids; /* [token_count] */
};

/* One matrix product of a step: y[t, r] = W[r] . x_t for all tokens, x prepared beforehand. */
struct product {
    const struct weight *weight;
    float *y;
    size_t y_stride;
};

struct step {
    struct chunk *chunk;
    void (*item)(struct step *step, uint32_t index);
    uint32_t item_count;
    atomic_uint next;
    /* matmul steps */
    struct product products[3];
    uint32_t product_count;
    uint32_t item_rows;
    uint32_t token_begin, token_count;
    bool add_to_hidden; /* the product is added to the residual stream */
    bool logits;        /* the product is scaled and capped as the model's logits are */
    bool gated;         /* products are gate and up, cut alike */
    /* attention and per-token steps */
    uint32_t group_parts;     /* items that share a kv head of one token */
    const float *norm_weight; /* NULL: no norm, `input` is prepared as it is */
    const float *input;
    size_t input_size;
    bool by_token;  /* input rows are the tokens', not those of the pairs (forward_experts.c) */
    unsigned forms; /* bit set of enum activation_form to prepare */
};

/* Runs all items. bytes: weights or state that the step reads, as a measure of its work. */
void step_run(struct step *step, size_t bytes);
/* Cuts and runs the products that `step` names. */
void step_run_products(struct step *step);
/* gate = activation(gate) * up for `count` values. */
void forward_gate(const struct td_model *model, float *gate, const float *up, size_t count);
/* Brings one row into the forms of a bit set, as row `row` of session->activations. */
void forward_prepare_row(const struct td_session *session, const float *x, size_t size,
                         unsigned forms, size_t row);
/* Brings `input` [tokens, size] (normed first when norm_weight, into session->normed) into the
 * forms that the products need. */
void forward_prepare(struct chunk *chunk, const float *input, size_t size, const float *norm_weight,
                     uint32_t token_begin, unsigned forms);

/* The feed-forward block of a mixture of experts: what is to be added to the residual stream is
 * left in session->normed. */
void forward_experts(struct chunk *chunk);

static inline unsigned form_bit(const struct weight *weight)
{
    return 1u << weight->form;
}

#endif
