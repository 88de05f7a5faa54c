/* A model inside the engine: checked hyperparameters, every tensor looked up and of the right shape, the
 * tokenizer and the kernel table. Immutable after model_load; any thread. */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include "engine/architecture.h"
#include "engine/gguf.h"
#include "engine/rope.h"
#include "engine/template.h"
#include "engine/token_index.h"
#include "engine/tokenizer.h"
#include "kernels/kernels.h"

/* A matrix [rows, cols] as stored in the file. */
struct weight {
    const void *data;
    size_t row_bytes;
    uint32_t rows, cols;
    enum tensor_type type;
    enum activation_form form; /* what its inputs must be prepared as */
};

/* Vectors are F32; NULL where the architecture has none. */
struct layer {
    const float *attention_norm; /* [embedding] */
    struct weight q;             /* [heads * head_size, embedding] */
    struct weight k, v;          /* [kv_heads * head_size, embedding] */
    struct weight o;             /* [embedding, heads * head_size] */
    const float *q_bias, *k_bias, *v_bias;
    const float *q_norm, *k_norm; /* [head_size] */
    const float *ffn_norm;        /* [embedding] */
    struct weight gate, up;       /* [ffn, embedding] */
    struct weight down;           /* [embedding, ffn] */
};

struct td_model {
    struct gguf *gguf;
    struct tokenizer *tokenizer;
    const struct kernels *kernels;
    const struct architecture *architecture;
    bool vocab_only;

    uint32_t context_size, layer_count, embedding_size, ffn_size, vocab_count;
    uint32_t head_count, kv_head_count, head_size;
    float norm_epsilon;
    struct rope rope;

    struct weight embedding; /* [vocab, embedding] */
    struct weight output;    /* [vocab, embedding]; the embedding when tied */
    const float *output_norm;
    struct layer *layers;

    struct token_index_slot *token_index; /* made when a grammar is first used */
    enum template_family family;
    struct td_model_info info;
    char *name;
    char fingerprint[17];
};

/* Reads hyperparameters and tensors of model->gguf into the other members (all but tokenizer, kernels and
 * info, which must be there). */
TD_MUST_CHECK enum td_status model_load(struct td_model *model, struct td_error *err);
/* The architecture's hyperparameters alone (also for vocab_only, where they may be absent). */
TD_MUST_CHECK enum td_status model_load_hyperparameters(struct td_model *model,
                                                        struct td_error *err);

#endif
