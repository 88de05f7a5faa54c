/* Encoders: BERT (Devlin et al. 2018) and related models. They read a whole text at once and give
 * one vector for each token. They have no cache and no next token. A struct bert is immutable and
 * part of its model; a workspace belongs to one thread. */
#ifndef ENGINE_BERT_H
#define ENGINE_BERT_H

#include "base/thread/thread_pool.h"
#include "engine/model/model.h"

#include <stdatomic.h>

struct bert_linear {
    struct weight weight; /* rows 0 = there is none */
    const float *bias;    /* [rows]; NULL = none */
};

struct bert_norm {
    const float *weight, *bias; /* [embedding] */
};

struct bert_layer {
    struct bert_linear q, k, v, o;
    struct bert_norm attention_norm; /* both norms come after the residual addition */
    struct bert_linear gate;         /* [ffn, embedding]; none = GELU instead of SwiGLU */
    struct bert_linear up, down;
    struct bert_norm output_norm;
};

struct bert {
    struct weight positions; /* [positions, embedding]; rows 0 = rope instead */
    struct weight types;     /* [token types, embedding]; rows 0 = none */
    struct bert_norm embedding_norm;
    struct bert_layer layers[]; /* [layers of the model] */
};

/* Looks up all tensors into model->encoder: **returns new** (free). */
TD_MUST_CHECK enum td_status bert_load(struct td_model *model, struct td_error *err);

struct bert_text {
    const int32_t *ids;
    uint32_t count;
    uint32_t second; /* tokens from here on are of type 1, a second text; 0 = there is none */
};

/* Most texts of one run. */
#define BERT_TEXTS_MAX 64

struct bert_workspace;

/* Working memory for texts that have row_max tokens together. **borrows** model and pool. **returns
 * new** (bert_workspace_free). */
TD_MUST_CHECK enum td_status bert_workspace_new(const struct td_model *model, uint32_t row_max,
                                                struct thread_pool *pool,
                                                struct bert_workspace **out, struct td_error *err);
void bert_workspace_free(struct bert_workspace *workspace);
/* How many bytes such a workspace maps; UINT64_MAX = the number overflows. */
uint64_t bert_workspace_bytes(const struct td_model *model, uint32_t row_max);

/* Gives the last layer's output for each token of the texts, text by text: *out is [sum of counts,
 * embedding], **borrows** until the next run. A text's numbers do not depend on the other texts.
 * `cancel`, unless NULL, ends the run between two layers when it is set. TD_INVALID, TD_LIMIT (a
 * text has more tokens than positions, all together have more than row_max, or there are more than
 * BERT_TEXTS_MAX texts), TD_CANCELLED. */
TD_MUST_CHECK enum td_status bert_run(struct bert_workspace *workspace,
                                      const struct bert_text *texts, size_t text_count,
                                      const atomic_bool *cancel, const float **out,
                                      struct td_error *err);

#endif
