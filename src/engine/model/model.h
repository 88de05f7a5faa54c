/* A model inside the engine: checked hyperparameters, tensors of the right shapes, the tokenizer
 * and the kernel table. Immutable after model_load; any thread. */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include "engine/gguf/gguf.h"
#include "engine/model/architecture.h"
#include "engine/model/rope.h"
#include "engine/template/jinja.h"
#include "engine/template/template.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/kernels.h"

#include <stdatomic.h>

#define WEIGHT_UNNUMBERED UINT32_MAX

/* A matrix [rows, cols], as the file stores it. */
struct weight {
    const void *data;
    size_t row_bytes;
    uint32_t rows, cols;
    enum tensor_type type;
    enum activation_form form; /* the form that its inputs are prepared into */
    size_t expert_bytes;       /* from one expert's matrix to the next; 0 = no experts */
    uint32_t number;           /* by which adapters find the matrix; or WEIGHT_UNNUMBERED */
    const float *scales;       /* that its products are multiplied with: one, or one an expert;
                                  NULL = none (tensor_take_scales) */
};

/* Where the rows of a weight are in the file. A fused tensor holds the rows of several. */
struct matrix {
    const struct gguf_tensor *tensor;
    uint32_t row_begin, rows;
};

/* The angles by which a layer rotates its queries and keys. ROPE_LONG replaces ROPE_GLOBAL in
 * sessions whose context is larger than long_rope_from. */
enum rope_kind { ROPE_GLOBAL, ROPE_LOCAL, ROPE_LONG, ROPE_KIND_COUNT, ROPE_NONE };

/* Heads of layers with a window may have another size than those of the others. */
enum head_kind { HEAD_GLOBAL, HEAD_LOCAL, HEAD_KIND_COUNT };

/* Vectors are F32; NULL where the architecture has none. Of a block that the layer does not have,
 * the matrices have no rows. */
struct layer {
    uint32_t head_count, kv_head_count;
    enum head_kind head_kind;
    uint32_t head_size;
    /* Of the kv heads of all layers, those of each kind that stand before this layer's. A layer
     * without keys of its own has the numbers of the layer whose keys it reads. */
    uint32_t kv_before[HEAD_KIND_COUNT];
    uint32_t ffn_size;
    const float *attention_norm; /* [embedding] */
    struct weight q;             /* [heads * head_size, embedding] */
    struct weight k, v;          /* [kv_heads * head_size, embedding] */
    struct weight o;             /* [embedding, heads * head_size] */
    /* A short convolution: q, k, v, o are [embedding, embedding] and mean C, B, x and the output
     * (short_conv.h). NULL = the layer has none. */
    const float *conv;   /* [embedding, model->conv_width] */
    uint32_t conv_index; /* of the model's convolutions, or of its Mamba-2 layers */
    /* A Mamba-2 layer: q, k, v, o mean (x, B, C), dt, z and the output, and conv is [q rows,
     * model->conv_width] (ssm.h). NULL = the layer is none. */
    const float *ssm_decay;     /* [ssm heads]: A, negative */
    const float *ssm_skip;      /* [ssm heads]: D */
    const float *ssm_dt_bias;   /* [ssm heads] */
    const float *ssm_conv_bias; /* [q rows] */
    const float *ssm_norm;      /* [groups, v rows / groups] */
    const float *q_bias, *k_bias, *v_bias, *o_bias;
    const float *q_norm, *k_norm;       /* [head_size], or of all heads together */
    const float *v_norm;                /* [head_size] */
    const float *sinks;                 /* [heads] */
    const float *attention_output_norm; /* [embedding] */
    const float *ffn_norm;              /* [embedding] */
    struct weight router;               /* [experts, embedding]; rows 0 = no experts */
    const float *router_bias;           /* [experts]; of a sigmoid_router only to choose */
    const float *gate_bias, *up_bias;   /* [experts, ffn] */
    const float *down_bias;             /* [experts, embedding] */
    struct weight gate, up;             /* [ffn, embedding], of one expert; gate may have no rows */
    struct weight down;                 /* [embedding, ffn], of one expert */
    struct weight shared_gate, shared_up; /* [shared ffn, embedding]; rows 0 = no shared expert */
    struct weight shared_down;            /* [embedding, shared ffn] */
    const float *ffn_output_norm;         /* [embedding] */
    struct weight input_gate;  /* [layer input, embedding] (layer_inputs.h); rows 0 = no inputs */
    struct weight input_proj;  /* [embedding, layer input] */
    const float *input_norm;   /* [embedding] */
    const float *output_scale; /* [1] */
    enum rope_kind rope;
    uint32_t window; /* positions that a query sees, including its own; 0 = all before it */
};

struct td_model {
    struct gguf *gguf;
    struct tokenizer *tokenizer;
    const struct kernels *kernels;
    const struct architecture *architecture;
    bool vocab_only;

    uint32_t context_size, layer_count, embedding_size, vocab_count;
    /* Of the layer that has most; a layer's own numbers are in struct layer. */
    uint32_t ffn_size; /* of one expert if there are experts */
    uint32_t head_count, kv_head_count, head_size;
    uint32_t local_head_size;           /* of layers with a window, at most head_size */
    uint32_t group_max;                 /* query heads that share a kv head */
    uint32_t query_width, key_width;    /* rows of q, and of k or v */
    uint32_t kv_heads[HEAD_KIND_COUNT]; /* of all layers together that have keys of their own */
    uint32_t shared_key_count;          /* last layers without keys of their own */
    uint32_t layer_input_size;          /* 0 = layers have no inputs of their own */
    uint32_t conv_count, conv_width;    /* short convolutions, and the positions that one sees */
    uint32_t ssm_count;                 /* Mamba-2 layers; their convolutions see conv_width, too */
    uint32_t ssm_heads, ssm_head_size, ssm_state_size;
    uint32_t ssm_groups;                      /* of heads that share B and C */
    uint32_t expert_count, expert_used_count; /* 0 = no experts */
    uint32_t shared_ffn_size;                 /* 0 = no shared expert */
    uint32_t dense_count, dense_ffn_size;     /* first layers, without experts beside others' */
    float norm_epsilon;
    float attention_scale;                              /* factor on q.k */
    float embedding_scale, residual_scale, logit_scale; /* factors, 1 = none */
    float attention_cap, last_cap;                      /* 0 = none */
    uint32_t window;                                    /* of layers that have one */
    struct rope ropes[ROPE_KIND_COUNT]; /* ROPE_LONG has as many pairs as ROPE_GLOBAL */
    uint32_t long_rope_from;            /* UINT32_MAX = there is no ROPE_LONG */

    struct weight embedding; /* [vocab, embedding] */
    struct weight output;    /* [vocab, embedding]; the embedding when tied */
    const float *output_norm;
    struct layer *layers;
    /* Layers point here. LayerNorms: [2, embedding] each, weights and then biases. With norms of
     * values: [head_size] ones. */
    float *norms;
    struct weight layer_tokens;   /* [vocab, layers * layer input] */
    struct weight layer_proj;     /* [layers * layer input, embedding] */
    const float *layer_proj_norm; /* [layer input] */
    struct bert *encoder;         /* instead of layers and output; NULL for decoders */
    struct matrix *matrices;      /* [matrix_count], by weight.number */
    uint32_t matrix_count;
    struct heads *heads; /* early exits and probe; NULL = the file has none */

    atomic_uint *weight_users;            /* who computes with the weights now (memory.h) */
    struct token_index_slot *token_index; /* made when a grammar is first used */
    enum template_family family;
    struct jinja *jinja; /* the file's own template; NULL = none, or the interpreter refused it */
    struct td_model_info info;
    char *name;
    char fingerprint[17];
};

static inline uint32_t model_head_size(const struct td_model *model, enum head_kind kind)
{
    return kind == HEAD_LOCAL ? model->local_head_size : model->head_size;
}

/* What the convolution of a Mamba-2 layer runs over: x, B and C. */
static inline uint32_t model_ssm_channels(const struct td_model *model)
{
    return model->ssm_heads * model->ssm_head_size + 2 * model->ssm_groups * model->ssm_state_size;
}

/* Reads hyperparameters and tensors of model->gguf into the other members. Tokenizer, kernels and
 * architecture must be set. */
TD_MUST_CHECK enum td_status model_load(struct td_model *model, struct td_error *err);
/* Reads the hyperparameters alone. With vocab_only they may be absent. */
TD_MUST_CHECK enum td_status model_load_hyperparameters(struct td_model *model,
                                                        struct td_error *err);
/* Sets rope, window, heads and sizes of each of model->layers, which must be set. */
TD_MUST_CHECK enum td_status model_load_layer_kinds(struct td_model *model, struct td_error *err);

/* Renders `input` with model->jinja, which must be set, and tokenizes the text. The BOS and EOS
 * texts of `input` are filled in here. *ids **returns new** (free). */
TD_MUST_CHECK enum td_status model_tokenize_chat(const struct td_model *model,
                                                 const struct jinja_input *input, int32_t **ids,
                                                 size_t *count, struct td_error *err);

/* The layer's matrix `number`, from 0; its rows may be 0. NULL after the last one. */
struct weight *model_layer_weight(struct layer *layer, size_t number);

/* TD_UNSUPPORTED for an encoder, which has no next token. */
TD_MUST_CHECK enum td_status model_require_decoder(const struct td_model *model,
                                                   struct td_error *err);

#endif
