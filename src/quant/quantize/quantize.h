/* Quantises a model: a plan that says which type each tensor gets, and the writing of it. One
 * thread. */
#ifndef QUANT_QUANTIZE_H
#define QUANT_QUANTIZE_H

#include "quant/encode/encode_file.h"
#include "quant/encode/mix.h"
#include "quant/measure/imatrix.h"

struct quantize_item {
    const struct gguf_tensor *tensor;
    enum tensor_type type;
    enum tensor_type wanted; /* differs from `type` where rows are no whole blocks of it */
    bool kept;               /* stays as it is, byte for byte */
    const float *importance; /* [experts, cols], NULL = none */
    /* The weights are multiplied by these before they are rounded (scaling.h); NULL = by 1. */
    const float *col_scale; /* [cols] */
    const float *row_scale; /* [rows] */
};

struct quantize_plan {
    const struct gguf *gguf;
    const struct mix *mix;
    const struct imatrix *imatrix;
    struct quantize_item *items; /* [item_count], in the order of the file */
    size_t item_count;
    size_t unweighed; /* items that are quantised without importance though there is some */
    enum tensor_type requantized; /* a quantised type among the sources; TENSOR_F32 = none */
};

/* mix NULL: each tensor keeps its type. imatrix may be NULL; **borrows** all. **returns new**
 * (quantize_plan_deinit). TD_INVALID: the importance was made for another model. TD_UNSUPPORTED: a
 * type that cannot be read. */
TD_MUST_CHECK enum td_status quantize_plan_init(struct quantize_plan *plan, const struct gguf *gguf,
                                                const struct mix *mix,
                                                const struct imatrix *imatrix,
                                                struct td_error *err);
void quantize_plan_deinit(struct quantize_plan *plan);

/* Bytes of the tensors as planned. */
uint64_t quantize_plan_bytes(const struct quantize_plan *plan);
uint64_t quantize_item_bytes(const struct quantize_item *item, enum tensor_type type);

/* Row `row` of an item as floats, with its scales. Any thread. */
void quantize_read_row(const struct quantize_item *item, uint64_t row, float *out);

/* Changes a row after it was read; see quantize_options. */
typedef void quantize_edit_fn(void *ctx, size_t item, uint64_t row, float *x, size_t cols);

struct quantize_options {
    const char *out;
    bool force;
    const atomic_bool *cancel;
    struct thread_pool *threads;
    /* Adapters merged: called for each row of items for which `edited` is true.
     * NULL = none. Several threads at once. */
    quantize_edit_fn *edit;
    bool (*edited)(void *ctx, size_t item);
    void *edit_ctx;
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* More metadata, in the form of gguf_write.h. */
    const struct buf *pairs;
    uint64_t pair_count;
};

TD_MUST_CHECK enum td_status quantize_write(const struct quantize_plan *plan,
                                            const struct quantize_options *options,
                                            struct encode_result *result, struct td_error *err);

/* "token_embd.weight=Q6_K,blk.0.attn_q.weight=Q4_K,...": for metadata. */
void quantize_put_map(const struct quantize_plan *plan, struct buf *out);

#endif
