#include "quant/encode/encode_file.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "quant/encode/encode.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Rows that are encoded before they are written: at most this many weights, or one row. */
#define STRETCH_WEIGHTS ((uint64_t)4 << 20)
/* A raw tensor is written in pieces, so that cancelling is quick. */
#define RAW_BYTES ((size_t)16 << 20)

/* The rows [begin, begin + count) of one tensor. */
struct stretch {
    const struct encode_job *job;
    size_t index;
    uint64_t begin, count;
    size_t row_bytes;
    float *rows;    /* [count, cols] */
    uint8_t *bytes; /* [count, row_bytes] */
    atomic_ullong next, mended;
    atomic_ullong bad_row; /* the first row with a weight that is no number; UINT64_MAX = none */
};

static bool mend(float *x, size_t cols, uint64_t *mended)
{
    bool bad = false;
    for (size_t i = 0; i < cols; i++) {
        if (isfinite(x[i]))
            continue;
        bad = true;
        (*mended)++;
        x[i] = isnan(x[i]) ? 0 : copysignf(65504.0f, x[i]); /* the largest f16 */
    }
    return bad;
}

/* 0 times a weight is 0, and NaN where the weight is NaN or infinite. */
static bool looks_finite(const float *x, size_t cols)
{
    float sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= cols; i += 8)
        for (int lane = 0; lane < 8; lane++)
            sums[lane] += x[i + (size_t)lane] * 0.0f;
    for (; i < cols; i++)
        sums[0] += x[i] * 0.0f;
    for (int lane = 0; lane < 8; lane++)
        if (sums[lane] != 0.0f)
            return false;
    return true;
}

static void note_bad(struct stretch *stretch, uint64_t row)
{
    unsigned long long first = atomic_load(&stretch->bad_row);
    while (row < first && !atomic_compare_exchange_weak(&stretch->bad_row, &first, row))
        ;
}

static void encode_rows(void *ctx)
{
    struct stretch *stretch = ctx;
    const struct encode_job *job = stretch->job;
    const struct encode_tensor *tensor = &job->tensors[stretch->index];
    size_t cols = (size_t)tensor->to.dims[0];
    for (uint64_t i; (i = atomic_fetch_add(&stretch->next, 1)) < stretch->count;) {
        uint64_t row = stretch->begin + i, mended = 0;
        float *x = stretch->rows + i * cols;
        uint8_t *bytes = stretch->bytes + i * stretch->row_bytes;
        job->read_row(job->ctx, stretch->index, row, tensor->encoded ? (void *)bytes : (void *)x);
        if (tensor->encoded)
            continue;
        if (!looks_finite(x, cols) && mend(x, cols, &mended)) {
            atomic_fetch_add(&stretch->mended, mended);
            note_bad(stretch, row);
        }
        const float *importance = tensor->importance;
        if (importance)
            importance += row / tensor->to.dims[1] * cols;
        encode_row((enum tensor_type)tensor->to.type, x, importance, cols, bytes);
    }
}

static enum td_status refuse_bad(const struct stretch *stretch, struct td_error *err)
{
    const struct encode_job *job = stretch->job;
    const struct encode_tensor *tensor = &job->tensors[stretch->index];
    uint64_t row = atomic_load(&stretch->bad_row);
    size_t cols = (size_t)tensor->to.dims[0], col = 0;
    float *x = stretch->rows + (row - stretch->begin) * cols;
    job->read_row(job->ctx, stretch->index, row, x);
    while (col + 1 < cols && isfinite(x[col]))
        col++;
    return error_set(err, TD_CORRUPT,
                     "tensor '" STR_FMT "' has a weight that is no number (%s at row %llu, column "
                     "%zu): the file is damaged or its training diverged; --force writes 0 there",
                     STR_ARG(tensor->to.name), isnan(x[col]) ? "NaN" : "infinite",
                     (unsigned long long)row, col);
}

static bool is_cancelled(const struct encode_job *job)
{
    return job->cancel && atomic_load(job->cancel);
}

/* Where the work stands. */
struct run {
    const struct encode_job *job;
    struct gguf_writer *writer;
    struct encode_result *result;
    uint64_t total, done;
};

static void tell(struct run *run, uint64_t weights)
{
    run->done += weights;
    if (run->job->progress)
        run->job->progress(run->job->ctx, run->done, run->total);
}

static enum td_status encode_tensor(struct run *run, size_t index, struct td_error *err)
{
    const struct encode_job *job = run->job;
    const struct gguf_write_tensor *to = &job->tensors[index].to;
    uint64_t rows = to->dims[1] * to->dims[2] * to->dims[3], cols = to->dims[0];
    uint64_t at_once = STRETCH_WEIGHTS / cols ? STRETCH_WEIGHTS / cols : 1;
    at_once = at_once < rows ? at_once : rows;
    struct stretch stretch = {.job = job, .index = index};
    stretch.row_bytes = (size_t)(gguf_write_tensor_bytes(to) / rows);
    stretch.rows = malloc((size_t)(at_once * cols) * sizeof(float));
    stretch.bytes = malloc((size_t)at_once * stretch.row_bytes);
    enum td_status status = TD_OK;
    if (stretch.rows == NULL || stretch.bytes == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %llu rows of tensor '" STR_FMT "'",
                           (unsigned long long)at_once, STR_ARG(to->name));
    for (uint64_t row = 0; status == TD_OK && row < rows; row += stretch.count) {
        stretch.begin = row;
        stretch.count = rows - row < at_once ? rows - row : at_once;
        atomic_init(&stretch.next, 0);
        atomic_init(&stretch.mended, 0);
        atomic_init(&stretch.bad_row, UINT64_MAX);
        thread_pool_run(job->threads, encode_rows, &stretch);
        run->result->mended += atomic_load(&stretch.mended);
        if (atomic_load(&stretch.bad_row) != UINT64_MAX && !job->force)
            status = refuse_bad(&stretch, err);
        if (status == TD_OK)
            status = gguf_writer_append(run->writer, stretch.bytes,
                                        (size_t)stretch.count * stretch.row_bytes, err);
        if (status == TD_OK && is_cancelled(job))
            status = error_set(err, TD_CANCELLED, "cancelled");
        tell(run, stretch.count * cols);
    }
    free(stretch.rows);
    free(stretch.bytes);
    return status;
}

static enum td_status copy_tensor(struct run *run, size_t index, struct td_error *err)
{
    const struct encode_tensor *tensor = &run->job->tensors[index];
    size_t bytes = (size_t)gguf_write_tensor_bytes(&tensor->to);
    enum td_status status = TD_OK;
    for (size_t at = 0; status == TD_OK && at < bytes; at += RAW_BYTES) {
        size_t part = bytes - at < RAW_BYTES ? bytes - at : RAW_BYTES;
        status = gguf_writer_append(run->writer, (const uint8_t *)tensor->raw + at, part, err);
        if (status == TD_OK && is_cancelled(run->job))
            status = error_set(err, TD_CANCELLED, "cancelled");
    }
    const uint64_t *dims = tensor->to.dims;
    tell(run, dims[0] * dims[1] * dims[2] * dims[3]);
    return status;
}

enum td_status encode_file(const struct encode_job *job, const char *path,
                           struct encode_result *result, struct td_error *err)
{
    *result = (struct encode_result){0};
    struct run run = {.job = job, .result = result};
    struct gguf_write_tensor *tensors = calloc(job->tensor_count + 1, sizeof *tensors);
    if (tensors == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", job->tensor_count);
    for (size_t i = 0; i < job->tensor_count; i++) {
        const struct gguf_write_tensor *to = &job->tensors[i].to;
        ASSERT(job->tensors[i].raw || encode_knows((enum tensor_type)to->type));
        tensors[i] = *to;
        run.total += to->dims[0] * to->dims[1] * to->dims[2] * to->dims[3];
    }
    const struct gguf_head head = {job->pairs, job->pair_count, tensors, job->tensor_count,
                                   job->alignment};
    enum td_status status = gguf_writer_new(path, &head, &run.writer, err);
    for (size_t i = 0; status == TD_OK && i < job->tensor_count; i++)
        status = (job->tensors[i].raw ? copy_tensor : encode_tensor)(&run, i, err);
    if (status == TD_OK)
        status = gguf_writer_finish(run.writer, err);
    if (status == TD_OK) {
        result->file_bytes = gguf_writer_file_bytes(run.writer);
        result->weights = run.total;
    }
    gguf_writer_free(run.writer);
    free(tensors);
    return status;
}
