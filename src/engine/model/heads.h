/* Small heads that a model file may have (docs/heads.md). Early exits predict the next token in the
 * middle of the model. A probe predicts after the prompt whether the answer will be right. They are
 * metadata instead of tensors, because other runtimes ignore unknown keys but refuse unknown
 * tensors. Immutable after loading; any thread. */
#ifndef ENGINE_HEADS_H
#define ENGINE_HEADS_H

#include "engine/model/model.h"

#define EXITS_MAX 16
#define PROBE_STAGES_MAX 3
/* Most outputs of a probe's stage. An evaluation keeps them on the stack. */
#define PROBE_WIDTH_MAX 256

struct exit_head {
    uint32_t layer; /* reads the residual stream after this many layers */
    const float *norm;
    struct weight output; /* [vocab, embedding]; the model's own if the exit has none */
};

/* y = W x + b; ReLU between stages, a sigmoid after the last. */
struct probe_stage {
    const float *weight; /* [out, in] */
    const float *bias;   /* [out] */
    uint32_t in, out;
};

struct probe {
    uint32_t layer;  /* reads the residual stream after this many layers */
    bool last, mean; /* input: the prompt's last token, the mean of all, or one after the other */
    struct probe_stage stages[PROBE_STAGES_MAX];
    uint32_t stage_count; /* 0 = there is no probe */
    /* The first stage's columns for the mean, [out, embedding]. The stage is linear, so the mean of
     * the products is the product of the mean. So only `out` numbers are kept for each token. */
    struct weight mean_weight;
};

struct heads {
    struct exit_head exits[EXITS_MAX]; /* by layer, ascending */
    uint32_t exit_count;
    struct probe probe;
    void *blocks[EXITS_MAX + 2 * PROBE_STAGES_MAX + EXITS_MAX + 1]; /* the memory of all arrays */
    uint32_t block_count;
};

/* Reads the heads of model->gguf into model->heads, which stays NULL if there are none. */
TD_MUST_CHECK enum td_status heads_load(struct td_model *model, struct td_error *err);
void heads_free(struct heads *heads); /* accepts NULL */

/* The exit after `layer` layers, or NULL. */
const struct exit_head *heads_exit_at(const struct td_model *model, uint32_t layer);
/* Numbers that the probe keeps for each position; 0 = none. */
uint32_t heads_kept_width(const struct td_model *model);

/* The probability, above 0, that the answer will be right. hidden: [embedding], of the last token.
 * kept_mean: [heads_kept_width], the mean over all positions of the kept numbers. */
float probe_evaluate(const struct probe *probe, const float *hidden, const double *kept_mean);

#endif
