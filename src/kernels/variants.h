/* The functions in the kernel tables. Only kernels_<cpu>.c and the variants include this. The
 * contracts are in struct kernels. */
#ifndef KERNELS_VARIANTS_H
#define KERNELS_VARIANTS_H

#include "kernels/kernels.h"

/* NULL when this build or this CPU lacks the variant. TD_CPU_AUTO = the best one. */
const struct kernels *kernels_variant(enum td_cpu cpu);
extern const struct kernels kernels_ref;
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avx512;
extern const struct kernels kernels_neon;

#define KERNELS_DECLARE(isa)                                                                     \
    void activation_prepare_##isa(enum activation_form form, const float *x, size_t cols,        \
                                  void *out);                                                    \
    void matmul_##isa(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols, \
                      size_t row_begin, size_t row_end, const void *activations,                 \
                      size_t act_stride, size_t tokens, float *y, size_t y_stride);              \
    void dequantize_##isa(enum tensor_type type, const void *row, size_t cols, float *out);      \
    void rms_norm_##isa(const float *x, const float *w, size_t n, float eps, float *y);          \
    void layer_norm_##isa(const float *x, const float *w, const float *b, size_t n, float eps,   \
                          float *y);                                                             \
    void gelu_##isa(float *x, size_t n);                                                         \
    void silu_multiply_##isa(float *gate, const float *up, size_t n);                            \
    void gelu_multiply_##isa(float *gate, const float *up, size_t n);                            \
    void add_##isa(float *x, const float *y, size_t n);                                          \
    void add_scaled_##isa(float *x, const float *y, float factor, size_t n);                     \
    void scale_##isa(float *x, float factor, size_t n);                                          \
    void soft_cap_##isa(float *x, float cap, size_t n);                                          \
    void rope_##isa(float *head, const float *cos_sin, size_t n_rot, bool interleaved);          \
    void ssm_step_##isa(const struct ssm_task *task);                                            \
    void attend_##isa(const struct attend_task *task);                                           \
    void kv_store_##isa(const float *key, const float *value, size_t head_size,                  \
                        enum td_kv_type kv_type, size_t at, void *keys, void *values);           \
    void kv_load_##isa(enum td_kv_type kv_type, const void *keys, const void *values,            \
                       size_t head_size, size_t count, float *keys_out, float *values_out);      \
    void logit_stats_##isa(const float *logits, size_t n, struct logit_stats *out);              \
    void block_maxima_##isa(const float *logits, size_t n, float *maxima);                       \
    void block_exp_sums_##isa(const float *logits, size_t n, float max, float factor, float *sums);

KERNELS_DECLARE(ref)
KERNELS_DECLARE(avx2)
KERNELS_DECLARE(avx512)
KERNELS_DECLARE(neon)
/* NEON with dot product instructions: the same bits as matmul_neon. */
void matmul_dotprod(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                    size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                    size_t tokens, float *y, size_t y_stride);

#define KERNELS_DECLARE_PANELS(isa)                                                             \
    void matmul_panels_##isa(enum tensor_type type, const void *weights, size_t row_bytes,      \
                             size_t cols, size_t row_begin, size_t row_end, const void *panels, \
                             size_t act_stride, size_t tokens, float *y, size_t y_stride);

/* avxvnni: panel_prepare_avx2 makes its panels, too. */
KERNELS_DECLARE_PANELS(avx2)
KERNELS_DECLARE_PANELS(avxvnni)
KERNELS_DECLARE_PANELS(avx512)
void panel_prepare_avx2(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out);

/* All of NEON give the bits of matmul_neon. dotprod: panel_prepare_neon makes its panels, too. */
KERNELS_DECLARE_PANELS(neon)
KERNELS_DECLARE_PANELS(dotprod)
KERNELS_DECLARE_PANELS(i8mm)
void panel_prepare_neon(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out);
void panel_prepare_i8mm(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out);
void panel_prepare_avx512(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                          size_t tokens, void *out);

/* The same in every variant. */
enum activation_form activation_form_of(enum tensor_type type);
size_t activation_form_bytes(enum activation_form form, size_t cols);

#endif
