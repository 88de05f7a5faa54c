/* Reads LoRA adapters. The layout is llama.cpp's (convert_lora_to_gguf.py):
 *
 *   general.type          "adapter"
 *   general.architecture  the base model's
 *   adapter.type          "lora"
 *   adapter.lora.alpha    f32; absent or 0: the factor is the scale alone, without alpha / rank
 *   NAME.lora_a           [in, rank] of the model's matrix NAME [in, out]; of experts
 *                         [in, rank, experts]
 *   NAME.lora_b           [rank, out]; of experts [rank, out, experts]
 *   token_embd.weight.lora_a [rank, vocab], .lora_b [rank, embedding]: changes what tokens look up,
 *                         and not a last matrix that is tied to it
 *
 * A tensor that the model has no place for is an error, as in models. Halves in F32, F16 and BF16
 * stay as they are. Quantised halves become F32: they are small, and their type has nothing to do
 * with that of the model. */
#include "engine/model/adapter.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ALPHA_MAX 1e6f
#define HALF_ALIGN 64 /* a cache line, and the widest vector */

/* The adapter that is being read. */
struct load {
    struct td_adapter *adapter;
    const struct gguf *gguf;
    struct td_error *err;
    float *row;        /* room for the longest row */
    size_t block_used; /* bytes of adapter->block */
};

/* The words behind the file's name. */
TD_PRINTF(3, 4)
static enum td_status refuse(const struct load *load, enum td_status status, const char *format,
                             ...)
{
    va_list args;
    va_start(args, format);
    status = error_set_at(load->err, status, gguf_path(load->gguf), format, args);
    va_end(args);
    return status;
}

/* --- keys --- */

static enum td_status expect_string(const struct load *load, const char *key, const char *expected,
                                    enum td_status otherwise)
{
    struct td_str value;
    if (!gguf_get_string(load->gguf, key, &value))
        return refuse(load, TD_CORRUPT, "not a LoRA adapter: %s is missing or not a string", key);
    if (str_equal(value, str_from(expected)))
        return TD_OK;
    return refuse(load, otherwise, "%s is '" STR_FMT "', expected '%s'", key,
                  STR_ARG(str_slice(value, 0, 64)), expected);
}

static enum td_status read_keys(struct load *load)
{
    struct td_adapter *adapter = load->adapter;
    const char *path = gguf_path(load->gguf);
    enum td_status status = expect_string(load, "general.type", "adapter", TD_INVALID);
    if (status == TD_OK)
        status = expect_string(load, "adapter.type", "lora", TD_UNSUPPORTED);
    if (status == TD_OK)
        status = expect_string(load, "general.architecture", adapter->model->architecture->name,
                               TD_INVALID);
    if (status != TD_OK)
        return status;
    if (gguf_has(load->gguf, "adapter.alora.invocation_tokens"))
        return error_set(load->err, TD_UNSUPPORTED,
                         "%s: an adapter that begins at its invocation tokens (aLoRA)", path);
    if (gguf_has(load->gguf, "adapter.lora.alpha") &&
        (!gguf_get_f32(load->gguf, "adapter.lora.alpha", &adapter->alpha) || adapter->alpha < 0 ||
         adapter->alpha > ALPHA_MAX))
        return error_set(load->err, TD_CORRUPT, "%s: adapter.lora.alpha is no number in [0, %g]",
                         path, (double)ALPHA_MAX);
    return TD_OK;
}

/* --- names and shapes --- */

/* Cuts "blk.0.attn_q.weight.lora_a" to "blk.0.attn_q.weight", NUL-terminated. False if the name
 * ends in neither .lora_a nor .lora_b. */
static bool stem_of(struct td_str name, char out[static 80], bool *is_a)
{
    *is_a = str_ends_with(name, STR(".lora_a"));
    if ((!*is_a && !str_ends_with(name, STR(".lora_b"))) || name.len >= 80)
        return false;
    memcpy(out, name.data, name.len - 7);
    out[name.len - 7] = '\0';
    return true;
}

static enum td_status bad_shape(const struct load *load, const char *stem,
                                const struct gguf_tensor *a, const struct gguf_tensor *b,
                                const struct gguf_tensor *base)
{
    return refuse(
        load, TD_INVALID,
        "lora_a [%llu, %llu, %llu] and lora_b [%llu, %llu, %llu] do not fit the model's '%s' "
        "[%llu, %llu, %llu]: made for another model, or not as [in, rank] and [rank, out]",
        (unsigned long long)a->dims[0], (unsigned long long)a->dims[1],
        (unsigned long long)a->dims[2], (unsigned long long)b->dims[0],
        (unsigned long long)b->dims[1], (unsigned long long)b->dims[2], stem,
        (unsigned long long)base->dims[0], (unsigned long long)base->dims[1],
        (unsigned long long)base->dims[2]);
}

/* Checks the shapes against the table above and gives the rank. */
static enum td_status check_shapes(const struct load *load, const char *stem, bool embedding,
                                   const struct gguf_tensor *a, const struct gguf_tensor *b,
                                   const struct gguf_tensor *base, uint32_t *rank)
{
    uint64_t in = embedding ? a->dims[1] : a->dims[0], a_rank = embedding ? a->dims[0] : a->dims[1];
    uint64_t wanted_in = embedding ? base->dims[1] : base->dims[0];
    uint64_t wanted_out = embedding ? base->dims[0] : base->dims[1];
    if (in != wanted_in || b->dims[1] != wanted_out || b->dims[0] != a_rank ||
        a->dims[2] != base->dims[2] || b->dims[2] != base->dims[2] || a->dims[3] != 1 ||
        b->dims[3] != 1)
        return bad_shape(load, stem, a, b, base);
    if (a_rank > ADAPTER_RANK_MAX)
        return refuse(load, TD_LIMIT, "'%s' has rank %llu, at most %d are taken", stem,
                      (unsigned long long)a_rank, ADAPTER_RANK_MAX);
    *rank = (uint32_t)a_rank;
    return TD_OK;
}

/* --- data --- */

static enum tensor_type kept_type(uint32_t type)
{
    bool kept = type == TENSOR_F32 || type == TENSOR_F16 || type == TENSOR_BF16;
    return kept ? (enum tensor_type)type : TENSOR_F32;
}

static size_t kept_bytes(const struct gguf_tensor *tensor)
{
    size_t element = kept_type(tensor->type) == TENSOR_F32 ? 4 : 2;
    size_t count = (size_t)(tensor->dims[0] * tensor->dims[1] * tensor->dims[2]);
    return (count * element + HALF_ALIGN - 1) / HALF_ALIGN * HALF_ALIGN;
}

/* Copies a half into the block, row by row. A value that is not a number is an error. */
static enum td_status copy_half(struct load *load, const struct gguf_tensor *tensor,
                                struct weight *out)
{
    const struct kernels *kernels = load->adapter->model->kernels;
    size_t cols = (size_t)tensor->dims[0], rows = (size_t)(tensor->dims[1] * tensor->dims[2]);
    size_t from_bytes = tensor->bytes / rows;
    *out = (struct weight){.type = kept_type(tensor->type),
                           .form = ACTIVATION_F32,
                           .rows = (uint32_t)tensor->dims[1],
                           .cols = (uint32_t)cols};
    out->row_bytes = cols * (out->type == TENSOR_F32 ? 4 : 2);
    out->expert_bytes = tensor->dims[2] > 1 ? out->rows * out->row_bytes : 0;
    uint8_t *to = (uint8_t *)load->adapter->block + load->block_used;
    load->block_used += kept_bytes(tensor);
    out->data = to;
    for (size_t r = 0; r < rows; r++, to += out->row_bytes) {
        const uint8_t *from = (const uint8_t *)tensor->data + r * from_bytes;
        kernels->dequantize((enum tensor_type)tensor->type, from, cols, load->row);
        for (size_t c = 0; c < cols; c++)
            if (!isfinite(load->row[c]))
                return refuse(load, TD_CORRUPT,
                              "tensor '" STR_FMT "' has a value that is no number (row %zu, "
                              "column %zu)",
                              STR_ARG(tensor->name), r, c);
        memcpy(to, out->type == tensor->type ? (const void *)from : load->row, out->row_bytes);
    }
    return TD_OK;
}

/* The rows of b that belong to one part of a fused matrix. */
static struct weight slice_rows(const struct weight *b, const struct matrix *matrix)
{
    struct weight part = *b;
    part.data = (const uint8_t *)b->data + matrix->row_begin * b->row_bytes;
    part.rows = matrix->rows;
    return part;
}

static enum td_status load_pair(struct load *load, const char *stem, const struct gguf_tensor *a)
{
    struct td_adapter *adapter = load->adapter;
    const struct td_model *model = adapter->model;
    char name[96];
    snprintf(name, sizeof name, "%s.lora_b", stem);
    const struct gguf_tensor *b = gguf_find_tensor(load->gguf, name);
    const struct gguf_tensor *base = gguf_find_tensor(model->gguf, stem);
    if (b == NULL)
        return refuse(load, TD_CORRUPT, "'%s' is missing beside its lora_a", name);
    if (base == NULL)
        return refuse(load, TD_INVALID,
                      "changes '%s', which the model '%s' does not have: made for another "
                      "model",
                      stem, model->name);
    bool embedding = strcmp(stem, "token_embd.weight") == 0;
    uint32_t rank = 0, parts = 0;
    struct weight a_kept, b_kept;
    enum td_status status = check_shapes(load, stem, embedding, a, b, base, &rank);
    if (status == TD_OK)
        status = copy_half(load, a, &a_kept);
    if (status == TD_OK)
        status = copy_half(load, b, &b_kept);
    for (uint32_t i = 0; status == TD_OK && i < model->matrix_count; i++) {
        bool tied = embedding && i != model->embedding.number;
        if (model->matrices[i].tensor != base || tied)
            continue;
        adapter->pairs[i].a = a_kept;
        adapter->pairs[i].b = embedding ? b_kept : slice_rows(&b_kept, &model->matrices[i]);
        parts++;
    }
    if (status == TD_OK && parts == 0)
        return refuse(load, TD_UNSUPPORTED, "changes '%s', which is no matrix", stem);
    adapter->info.matrix_count++;
    if (rank > adapter->info.rank_max)
        adapter->info.rank_max = rank;
    return status;
}

/* --- the whole file --- */

/* Checks that every tensor is half of a pair; gives the sum of their bytes and the longest row. */
static enum td_status survey(const struct load *load, size_t *bytes, size_t *cols_max)
{
    size_t count = gguf_tensor_count(load->gguf);
    *bytes = *cols_max = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(load->gguf, i);
        char stem[80], partner[96];
        bool is_a;
        if (!stem_of(tensor->name, stem, &is_a))
            return refuse(load, TD_UNSUPPORTED,
                          "tensor '" STR_FMT "' is neither NAME.lora_a nor NAME.lora_b",
                          STR_ARG(tensor->name));
        snprintf(partner, sizeof partner, "%s.lora_%c", stem, is_a ? 'b' : 'a');
        if (gguf_find_tensor(load->gguf, partner) == NULL)
            return refuse(load, TD_CORRUPT, "'%s' is missing beside its other half", partner);
        /* A weight takes at least 2 bits of the file, so these sums cannot overflow. */
        *bytes += kept_bytes(tensor);
        if (tensor->dims[0] > *cols_max)
            *cols_max = (size_t)tensor->dims[0];
    }
    if (count == 0)
        return refuse(load, TD_CORRUPT, "the adapter has no tensors");
    return TD_OK;
}

static enum td_status load_tensors(struct load *load)
{
    struct td_adapter *adapter = load->adapter;
    size_t bytes, cols_max;
    enum td_status status = survey(load, &bytes, &cols_max);
    if (status != TD_OK)
        return status;
    adapter->pairs = calloc(adapter->model->matrix_count, sizeof *adapter->pairs);
    adapter->block = aligned_alloc(HALF_ALIGN, bytes);
    load->row = malloc(cols_max * sizeof *load->row);
    if (adapter->pairs == NULL || adapter->block == NULL || load->row == NULL)
        return refuse(load, TD_NO_MEMORY, "no memory for an adapter of %zu bytes", bytes);
    adapter->info.bytes = bytes;
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(load->gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(load->gguf, i);
        char stem[80];
        bool is_a;
        if (stem_of(tensor->name, stem, &is_a) && is_a)
            status = load_pair(load, stem, tensor);
    }
    return status;
}

/* general.name, or the file's base name without ".gguf". */
static char *name_of(const struct gguf *gguf)
{
    struct td_str name;
    if (!gguf_get_string(gguf, "general.name", &name) || name.len == 0) {
        const char *slash = strrchr(gguf_path(gguf), '/');
        name = str_from(slash ? slash + 1 : gguf_path(gguf));
        if (str_ends_with(name, STR(".gguf")))
            name.len -= 5;
    }
    name = str_slice(name, 0, 256);
    char *copy = malloc(name.len + 1);
    for (size_t i = 0; copy && i < name.len; i++)
        copy[i] = (unsigned char)name.data[i] < 0x20 || name.data[i] == 0x7f ? '?' : name.data[i];
    if (copy)
        copy[name.len] = '\0';
    return copy;
}

static enum td_status load_gguf(const struct td_model *model, const struct gguf *gguf,
                                struct td_adapter **out, struct td_error *err)
{
    static _Atomic uint64_t serial_last;
    if (model->vocab_only)
        return error_set(err, TD_INVALID, "%s: opened for its vocabulary only, it takes no adapter",
                         gguf_path(model->gguf));
    struct td_adapter *adapter = calloc(1, sizeof *adapter);
    if (adapter == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", gguf_path(gguf));
    atomic_init(&adapter->references, 1);
    adapter->model = model;
    adapter->serial = atomic_fetch_add(&serial_last, 1) + 1;
    struct load load = {.adapter = adapter, .gguf = gguf, .err = err};
    enum td_status status = read_keys(&load);
    if (status == TD_OK)
        status = load_tensors(&load);
    free(load.row);
    if (status == TD_OK && (adapter->name = name_of(gguf)) == NULL)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory", gguf_path(gguf));
    if (status != TD_OK) {
        td_adapter_free(adapter);
        return status;
    }
    adapter->info.name = adapter->name;
    adapter->info.alpha = adapter->alpha;
    *out = adapter;
    return TD_OK;
}

enum td_status td_adapter_load(const struct td_model *model, const char *path,
                               struct td_adapter **out, struct td_error *err)
{
    ASSERT(model != NULL && path != NULL && out != NULL);
    struct gguf *gguf;
    *out = NULL;
    enum td_status status = gguf_open(path, false, &gguf, err);
    if (status != TD_OK)
        return status;
    status = load_gguf(model, gguf, out, err);
    gguf_close(gguf);
    return status;
}

enum td_status adapter_load_memory(const struct td_model *model, const void *data, size_t len,
                                   const char *label, struct td_adapter **out, struct td_error *err)
{
    ASSERT(model != NULL && label != NULL && out != NULL);
    struct gguf *gguf;
    *out = NULL;
    enum td_status status = gguf_open_memory(data, len, label, false, &gguf, err);
    if (status != TD_OK)
        return status;
    status = load_gguf(model, gguf, out, err);
    gguf_close(gguf);
    return status;
}

const struct td_adapter_info *td_adapter_get_info(const struct td_adapter *adapter)
{
    return &adapter->info;
}

/* Only the reference count of an adapter changes. */
static atomic_uint *references_of(const struct td_adapter *adapter)
{
    return (atomic_uint *)(uintptr_t)&adapter->references;
}

const struct td_adapter *adapter_retain(const struct td_adapter *adapter)
{
    atomic_fetch_add(references_of(adapter), 1);
    return adapter;
}

void td_adapter_free(struct td_adapter *adapter)
{
    if (adapter == NULL || atomic_fetch_sub(&adapter->references, 1) > 1)
        return;
    free(adapter->pairs);
    free(adapter->block);
    free(adapter->name);
    free(adapter);
}
