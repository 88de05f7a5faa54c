/* The kernel table: every arithmetic loop of the engine, in a reference and per-ISA variants.
 *
 * A function <op>_ref is the definition of an operation. The variants, <op>_<isa>.c in x86/ and
 * arm/, are compiled with the flags of that instruction set only, and are called only through this
 * table. Functions take plain arguments, allocate nothing and start no threads; the engine splits
 * rows among threads. Any thread may call them.
 *
 * Matrix product: weights W are [rows, cols] as the file stores them (row-major blocks).
 * Activations are prepared once into the form that the weight type multiplies with, so that q, k
 * and v, or gate and up, share this work. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "tandem/engine.h"

/* One row a type that is read: GGUF's number of it, its name, and the weights and bytes of a block
 * (formats.h, blocks_low.h). The reference only needs a function in blocks_ref.c or blocks_low.c
 * that takes a block apart. Each variant has a table of its own functions, except for the types of
 * blocks_low.h, which share one function for rows and one for panels. */
/* clang-format off */
#define TENSOR_TYPES(x) \
    x(TENSOR_F32, 0, "F32", 1, 4)                                \
    x(TENSOR_F16, 1, "F16", 1, 2)                                \
    x(TENSOR_Q4_0, 2, "Q4_0", BLOCK_32, Q4_0_BYTES)              \
    x(TENSOR_Q4_1, 3, "Q4_1", BLOCK_32, Q4_1_BYTES)              \
    x(TENSOR_Q5_0, 6, "Q5_0", BLOCK_32, Q5_0_BYTES)              \
    x(TENSOR_Q5_1, 7, "Q5_1", BLOCK_32, Q5_1_BYTES)              \
    x(TENSOR_Q8_0, 8, "Q8_0", BLOCK_32, Q8_0_BYTES)              \
    x(TENSOR_Q2_K, 10, "Q2_K", SUPER_BLOCK, Q2_K_BYTES)          \
    x(TENSOR_Q3_K, 11, "Q3_K", SUPER_BLOCK, Q3_K_BYTES)          \
    x(TENSOR_Q4_K, 12, "Q4_K", SUPER_BLOCK, Q4_K_BYTES)          \
    x(TENSOR_Q5_K, 13, "Q5_K", SUPER_BLOCK, Q5_K_BYTES)          \
    x(TENSOR_Q6_K, 14, "Q6_K", SUPER_BLOCK, Q6_K_BYTES)          \
    x(TENSOR_IQ2_XXS, 16, "IQ2_XXS", SUPER_BLOCK, IQ2_XXS_BYTES) \
    x(TENSOR_IQ2_XS, 17, "IQ2_XS", SUPER_BLOCK, IQ2_XS_BYTES)    \
    x(TENSOR_IQ3_XXS, 18, "IQ3_XXS", SUPER_BLOCK, IQ3_XXS_BYTES) \
    x(TENSOR_IQ1_S, 19, "IQ1_S", SUPER_BLOCK, IQ1_S_BYTES)       \
    x(TENSOR_IQ4_NL, 20, "IQ4_NL", BLOCK_32, IQ4_NL_BYTES)       \
    x(TENSOR_IQ3_S, 21, "IQ3_S", SUPER_BLOCK, IQ3_S_BYTES)       \
    x(TENSOR_IQ2_S, 22, "IQ2_S", SUPER_BLOCK, IQ2_S_BYTES)       \
    x(TENSOR_IQ4_XS, 23, "IQ4_XS", SUPER_BLOCK, IQ4_XS_BYTES)    \
    x(TENSOR_IQ1_M, 29, "IQ1_M", SUPER_BLOCK, IQ1_M_BYTES)       \
    x(TENSOR_BF16, 30, "BF16", 1, 2)                             \
    x(TENSOR_TQ1_0, 34, "TQ1_0", SUPER_BLOCK, TQ1_0_BYTES)       \
    x(TENSOR_TQ2_0, 35, "TQ2_0", SUPER_BLOCK, TQ2_0_BYTES)       \
    x(TENSOR_MXFP4, 39, "MXFP4", BLOCK_32, MXFP4_BYTES)          \
    x(TENSOR_NVFP4, 40, "NVFP4", NVFP4_BLOCK, NVFP4_BYTES)       \
    x(TENSOR_Q1_0, 41, "Q1_0", Q1_0_BLOCK, Q1_0_BYTES)           \
    x(TENSOR_Q2_0, 42, "Q2_0", Q2_0_BLOCK, Q2_0_BYTES)
/* clang-format on */

#define TENSOR_TYPE_VALUE(type, number, name, elements, bytes) type = number,
enum tensor_type {
    TENSOR_TYPES(TENSOR_TYPE_VALUE) TENSOR_TYPE_COUNT = 43 /* more than the highest number */
};

struct tensor_traits {
    const char *name;        /* "Q4_0"; NULL = not supported */
    uint32_t block_elements; /* 1, 32, 64, 128 or 256 */
    uint32_t block_bytes;
};

/* NULL when the type is unknown or not supported. */
const struct tensor_traits *tensor_traits_get(uint32_t type);

/* Forms that an activation row [cols] takes before a product. */
enum activation_form {
    ACTIVATION_F32,    /* for F32, F16, BF16 weights */
    ACTIVATION_Q8_32,  /* int8 blocks of 32 with scale and sum, for types in blocks of 32 and those
                        * of blocks_low.h */
    ACTIVATION_Q8_256, /* int8 blocks of 256 with scale and 16-sums, for types in blocks of 256 */
    ACTIVATION_FORM_COUNT
};

/* Tokens of a panel; see panels in struct kernels. */
#define KERNELS_PANEL_TOKENS 16

struct logit_stats {
    float max;       /* largest logit */
    uint32_t argmax; /* lowest index that has it */
    float second;    /* second largest logit */
    double sum_exp;  /* sum of exp(logit - max) */
    /* sum of exp(logit - max) * (logit - max); entropy = log(sum_exp) - sum_exp_x / sum_exp */
    double sum_exp_x;
};

/* The state of the softmax of one query head; it begins as {-INFINITY, 0}. */
struct attend_state {
    float maximum; /* of the scores */
    float total;   /* sum of exp(score - maximum) */
};

/* Some query rows (heads that share a kv head, of tokens that see the same positions) and the
 * positions [begin, end) of one page, begin < end <= KV_PAGE_TOKENS. Online softmax (Milakov &
 * Gimelshein 2018; Dao et al. 2022, section 3.1): states and sums are continued. Scores q.k * scale
 * go through soft_cap when cap > 0. The result of a row depends only on that row and the positions.
 * It does not depend on the other rows, or on whether the page is as stored or as kv_load makes
 * it. Only the reference reads all types as stored; see kv_type_is_read_directly. */
struct attend_task {
    const void *keys, *values; /* of one head in a page */
    const void *next_keys;     /* of the page after it, to prefetch; may be NULL */
    enum td_kv_type kv_type;
    size_t head_size;
    size_t begin, end;
    float scale, cap;
    const float *q; /* [rows, head_size] */
    size_t rows;
    struct attend_state *states; /* [rows] */
    float *sums; /* [rows, kv_value_columns]: sums of exp(score - maximum) * value */
};

/* One step of some rows of a Mamba-2 head, which share decay, dt, B and C (Dao & Gu 2024,
 * Transformers are SSMs, eq. 1 with the scalar A of section 5): for each row r
 *   state[r] = decay * state[r] + (dt * x[r]) * b, y[r] = state[r] . c */
struct ssm_task {
    float *state; /* [rows, size] */
    size_t rows, size;
    const float *x;     /* [rows] */
    const float *b, *c; /* [size] */
    float decay, dt;
    float *y; /* [rows]; may be x */
};

/* With 64 a vocabulary has several hundred blocks, more than a usual top-k. */
#define LOGIT_BLOCK 64u

struct kernels {
    /* "ref", "avx2", "avx2-vnni", "avx512", "neon", "neon-dotprod", "neon-i8mm" */
    const char *name;

    /* The form that weights of a type multiply with, and the size of a form. */
    enum activation_form (*form_of)(enum tensor_type type);
    size_t (*activation_bytes)(enum activation_form form, size_t cols); /* multiple of 64 */
    void (*activation_prepare)(enum activation_form form, const float *x, size_t cols, void *out);

    /* y[t * y_stride + r] = sum over c of W[r, c] x[t, c], for r in [row_begin, row_end), t in
     * [0, tokens). W points at row 0; rows are row_bytes apart. Prepared activations are act_stride
     * bytes apart. The result of one (r, t) depends neither on `tokens` nor on the row range. */
    void (*matmul)(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                   size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                   size_t tokens, float *y, size_t y_stride);

    /* Panels: the fast form for many tokens, only for the forms in panel_forms (bits 1 << form).
     * NULL in variants that have none. panel_prepare brings up to KERNELS_PANEL_TOKENS rows of x,
     * x_stride floats apart, into one panel of KERNELS_PANEL_TOKENS * activation_bytes() bytes.
     * matmul_panels is matmul on panels, which are KERNELS_PANEL_TOKENS * act_stride bytes apart.
     * The last panel may hold fewer tokens. The results are the same bits as those of matmul. */
    unsigned panel_forms;
    unsigned panel_least; /* fewer tokens are faster as rows than in a panel that is not full */
    void (*panel_prepare)(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                          size_t tokens, void *out);
    void (*matmul_panels)(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                          size_t row_begin, size_t row_end, const void *panels, size_t act_stride,
                          size_t tokens, float *y, size_t y_stride);

    /* One stored row to float. Exact to the bit for every variant. */
    void (*dequantize)(enum tensor_type type, const void *row, size_t cols, float *out);

    /* y = x / sqrt(mean(x^2) + eps) * w (RMSNorm, Zhang & Sennrich 2019, eq. 4). y may be x. */
    void (*rms_norm)(const float *x, const float *w, size_t n, float eps, float *y);
    /* y = (x - mean(x)) / sqrt(variance(x) + eps) * w + b (Ba et al. 2016, eq. 4; the variance is
     * the mean of the squared distances). y may be x. */
    void (*layer_norm)(const float *x, const float *w, const float *b, size_t n, float eps,
                       float *y);
    /* x[i] = gelu(x[i]), gelu(x) = x Phi(x) in its exact form */
    void (*gelu)(float *x, size_t n);
    /* gate[i] = silu(gate[i]) * up[i] */
    void (*silu_multiply)(float *gate, const float *up, size_t n);
    /* gate[i] = gelu(gate[i]) * up[i], gelu in its tanh form */
    void (*gelu_multiply)(float *gate, const float *up, size_t n);
    void (*add)(float *x, const float *y, size_t n);                      /* x += y */
    void (*add_scaled)(float *x, const float *y, float factor, size_t n); /* x += factor * y */
    void (*scale)(float *x, float factor, size_t n);                      /* x *= factor */
    /* x = cap * tanh(x / cap), cap > 0: soft limits (Gemma team 2024, Gemma 2, section 2). */
    void (*soft_cap)(float *x, float cap, size_t n);

    /* Rotates one head by the angles of one position (RoFormer, Su et al. 2021, eq. 34). cos_sin
     * holds n_rot/2 pairs (cos, sin). interleaved: pairs (2i, 2i+1); else (i, i + n_rot/2). */
    void (*rope)(float *head, const float *cos_sin, size_t n_rot, bool interleaved);

    void (*ssm_step)(const struct ssm_task *task);

    /* Attention over pages of keys and values: see kv_page.h and struct attend_task. */
    void (*attend)(const struct attend_task *task);
    /* Stores the key and value [head_size] of one position at position `at` of a page. */
    void (*kv_store)(const float *key, const float *value, size_t head_size,
                     enum td_kv_type kv_type, size_t at, void *keys, void *values);
    /* Converts the first `count` positions of a page to TD_KV_F32; the rest of the output stays. */
    void (*kv_load)(enum td_kv_type kv_type, const void *keys, const void *values, size_t head_size,
                    size_t count, float *keys_out, float *values_out);

    void (*logit_stats)(const float *logits, size_t n, struct logit_stats *out);
    /* For the sampler, by blocks of LOGIT_BLOCK logits; the last block may be shorter.
     * maxima[b] = the largest logit of the block. */
    void (*block_maxima)(const float *logits, size_t n, float *maxima);
    /* sums[b] = sum of exp((logit - max) * factor); max is at least the largest logit, factor > 0.
     * Terms below exp(-87) may be left out. */
    void (*block_exp_sums)(const float *logits, size_t n, float max, float factor, float *sums);
};

/* How many of `tokens`, from the first on, go into panels. The others stay rows. */
static inline size_t kernels_panel_tokens(const struct kernels *kernels, enum activation_form form,
                                          size_t tokens)
{
    if (!(kernels->panel_forms & 1u << form))
        return 0;
    return tokens % KERNELS_PANEL_TOKENS < kernels->panel_least
               ? tokens / KERNELS_PANEL_TOKENS * KERNELS_PANEL_TOKENS
               : tokens;
}

/* The best variant the CPU has, or the one asked for. NULL with TD_UNSUPPORTED when the CPU lacks
 * it. */
const struct kernels *kernels_get(enum td_cpu cpu, struct td_error *err);
bool kernels_cpu_parse(const char *name, enum td_cpu *out); /* auto ref avx2 avx512 neon */

#endif
