/* Small heads that a model file may bring beside the model (docs/heads.md): early exits, which
 * guess the next token from the middle of the model, and a probe, which guesses after the prompt
 * whether the answer will be right. They are metadata and not tensors, because other runtimes
 * refuse files with tensors that they do not know, and skip keys. Immutable after loading; any
 * thread. */
#ifndef ENGINE_HEADS_H
#define ENGINE_HEADS_H

#include "engine/model/model.h"

#define EXITS_MAX 16
#define PROBE_STAGES_MAX 3
/* Outputs of a probe's stage: what an evaluation keeps on the stack. */
#define PROBE_WIDTH_MAX 256

struct exit_head {
    uint32_t layer; /* reads the residual stream after so many layers */
    const float *norm;
    struct weight output; /* [vocab, embedding]; the model's own when it brings none */
};

/* y = W x + b; ReLU between stages, a sigmoid after the last. */
struct probe_stage {
    const float *weight; /* [out, in] */
    const float *bias;   /* [out] */
    uint32_t in, out;
};

struct probe {
    uint32_t layer;  /* reads the residual stream after so many layers */
    bool last, mean; /* of the prompt's last token, of all its tokens; both: one after the other */
    struct probe_stage stages[PROBE_STAGES_MAX];
    uint32_t stage_count; /* 0 = there is no probe */
    /* The first stage's columns for the mean, [out, embedding]: it is linear, so that the mean of
     * the products is the product of the mean, and `out` numbers a token are kept instead of
     * all. */
    struct weight mean_weight;
};

struct heads {
    struct exit_head exits[EXITS_MAX]; /* by layer, ascending */
    uint32_t exit_count;
    struct probe probe;
    void *blocks[EXITS_MAX + 2 * PROBE_STAGES_MAX + EXITS_MAX + 1]; /* what the pointers point to */
    uint32_t block_count;
};

/* Reads the heads of model->gguf into model->heads, which stays NULL where there are none. */
TD_MUST_CHECK enum td_status heads_load(struct td_model *model, struct td_error *err);
void heads_free(struct heads *heads); /* accepts NULL */

/* The exit after so many layers, or NULL. */
const struct exit_head *heads_exit_at(const struct td_model *model, uint32_t layer);
/* Numbers that the probe keeps for each position; 0 = none. */
uint32_t heads_kept_width(const struct td_model *model);

/* Probability that the answer will be right, above 0: hidden [embedding] of the last token;
 * kept_mean [heads_kept_width]: the mean over the positions of what was kept. */
float probe_evaluate(const struct probe *probe, const float *hidden, const double *kept_mean);

#endif
