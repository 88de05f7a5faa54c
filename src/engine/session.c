/* Opening, sizing and truncating sessions. The forward pass is in forward.c.
 *
 * The cache is laid out [layer, kv head, position, head_size], so that a head's attention reads one
 * straight run of memory. The block is mapped, not allocated: a context that is never filled never
 * costs memory. */
#include "engine/session.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTEXT_DEFAULT_MAX 4096
#define BLOCK_ALIGN 64 /* a cache line, and the widest vector */

/* Hands out pieces of the block; with base NULL it only counts. */
struct carver {
    uint8_t *base;
    size_t used;
    bool overflow;
};

static void *carve(struct carver *carver, size_t count, size_t element_bytes)
{
    size_t bytes, begin = carver->used;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) ||
        __builtin_add_overflow(bytes, BLOCK_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(begin, bytes / BLOCK_ALIGN * BLOCK_ALIGN, &carver->used))
        carver->overflow = true;
    return carver->base && !carver->overflow ? carver->base + begin : NULL;
}

static size_t kv_element_bytes(enum td_kv_type type)
{
    return type == TD_KV_F32 ? 4 : 2;
}

/* Elements of the keys (or the values) of all layers; sizes are bounded by model.c and the
 * context. */
static size_t kv_element_count(const struct td_model *model, uint32_t context_size)
{
    return (size_t)model->layer_count * model->kv_head_count * model->head_size * context_size;
}

static void carve_experts(struct td_session *session, struct carver *carver, size_t chunk)
{
    const struct td_model *model = session->model;
    struct session_experts *experts = &session->experts;
    size_t pairs = chunk * model->expert_used_count, count = model->expert_count;
    if (count == 0)
        return;
    experts->scores = carve(carver, chunk * count, sizeof(float));
    experts->weights = carve(carver, pairs, sizeof(float));
    experts->chosen = carve(carver, pairs, sizeof(uint32_t));
    experts->row_of = carve(carver, pairs, sizeof(uint32_t));
    experts->token_of = carve(carver, pairs, sizeof(uint32_t));
    experts->first_row = carve(carver, count + 1, sizeof(uint32_t));
    experts->active = carve(carver, count, sizeof(uint32_t));
    experts->output = carve(carver, pairs * model->embedding_size, sizeof(float));
}

/* `rows`: of inputs that are prepared at the same time. */
static void carve_activations(struct td_session *session, struct carver *carver, size_t rows)
{
    const struct td_model *model = session->model;
    size_t widest = model->embedding_size, heads = (size_t)model->head_count * model->head_size;
    widest = model->ffn_size > widest ? model->ffn_size : widest;
    widest = heads > widest ? heads : widest;
    widest = (widest + 255) / 256 * 256; /* whole blocks of the widest form */
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++)
        session->activations[form] = carve(
            carver, rows, model->kernels->activation_bytes((enum activation_form)form, widest));
}

static void carve_all(struct td_session *session, struct carver *carver)
{
    const struct td_model *model = session->model;
    size_t chunk = SESSION_CHUNK_TOKENS;
    size_t heads = (size_t)model->head_count * model->head_size;
    size_t kv_heads = (size_t)model->kv_head_count * model->head_size;
    size_t kv_count = kv_element_count(model, session->context_size);
    session->keys = carve(carver, kv_count, kv_element_bytes(session->kv_type));
    session->values = carve(carver, kv_count, kv_element_bytes(session->kv_type));
    session->ids = carve(carver, session->context_size, sizeof *session->ids);
    session->hidden = carve(carver, chunk * model->embedding_size, sizeof(float));
    session->normed = carve(carver, chunk * model->embedding_size, sizeof(float));
    session->query = carve(carver, chunk * heads, sizeof(float));
    session->key = carve(carver, chunk * kv_heads, sizeof(float));
    session->value = carve(carver, chunk * kv_heads, sizeof(float));
    session->attended = carve(carver, chunk * heads, sizeof(float));
    size_t ffn_rows = chunk * (model->expert_count ? model->expert_used_count : 1);
    session->gate = carve(carver, ffn_rows * model->ffn_size, sizeof(float));
    session->up = carve(carver, ffn_rows * model->ffn_size, sizeof(float));
    for (int i = 0; i < 2; i++)
        session->cos_sin[i] =
            carve(carver, chunk * model->ropes[ROPE_GLOBAL].pair_count * 2, sizeof(float));
    carve_activations(session, carver, ffn_rows);
    carve_experts(session, carver, chunk);
    session->logits = carve(carver, model->vocab_count, sizeof(float));
    session->candidates = carve(carver, model->vocab_count, sizeof *session->candidates);
}

/* Checks options and fills what the sizes depend on. */
static enum td_status apply_options(struct td_session *session,
                                    const struct td_session_options *options, struct td_error *err)
{
    const struct td_model *model = session->model;
    if (model->vocab_only)
        return error_set(err, TD_INVALID, "%s: opened for its vocabulary only, it cannot run",
                         gguf_path(model->gguf));
    session->context_size = options->context_tokens;
    if (session->context_size == 0)
        session->context_size =
            model->context_size < CONTEXT_DEFAULT_MAX ? model->context_size : CONTEXT_DEFAULT_MAX;
    if (session->context_size > model->context_size)
        return error_set(err, TD_INVALID, "a context of %u tokens asked for, %s was trained for %u",
                         session->context_size, model->name, model->context_size);
    bool far = session->context_size > model->long_rope_from;
    session->ropes[0] = &model->ropes[far ? ROPE_LONG : ROPE_GLOBAL];
    session->ropes[1] = &model->ropes[ROPE_LOCAL];
    session->kv_type = options->kv_type;
    if (session->kv_type != TD_KV_F16 && session->kv_type != TD_KV_F32)
        return error_set(err, TD_INVALID, "unknown cache type %d", (int)options->kv_type);
    return TD_OK;
}

/* --- memory --- */

/* The control group's limit (v2), or UINT64_MAX. */
static uint64_t cgroup_limit(void)
{
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    uint64_t limit = UINT64_MAX;
    if (file == NULL)
        return limit;
    if (fscanf(file, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX; /* "max" */
    fclose(file);
    return limit;
}

static uint64_t ram_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t bytes =
        pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    uint64_t limit = cgroup_limit();
    return limit < bytes ? limit : bytes;
}

static double mebibytes(double bytes)
{
    return bytes / 1048576.0;
}

enum td_status session_check_memory(const struct td_model *model,
                                    const struct td_session_options *options,
                                    uint32_t session_count, uint64_t ram_bytes,
                                    struct td_error *err)
{
    struct td_session session = {.model = model};
    enum td_status status = apply_options(&session, options, err);
    if (status != TD_OK)
        return status;
    struct carver carver = {0};
    carve_all(&session, &carver);
    if (ram_bytes == 0)
        ram_bytes = ram_size();
    double cache = 2.0 * (double)kv_element_count(model, session.context_size) *
                   (double)kv_element_bytes(session.kv_type);
    double work = (double)carver.used - cache, weights = (double)gguf_file_bytes(model->gguf);
    double needed = weights + session_count * (cache + work);
    if (!carver.overflow && needed <= (double)ram_bytes)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY,
                     "%s: weights %.0f MiB + %u x (cache of %u tokens %.0f MiB + working memory "
                     "%.0f MiB) = %.0f MiB, "
                     "the machine has %.0f MiB; use a smaller context or fewer slots",
                     model->name, mebibytes(weights), session_count, session.context_size,
                     mebibytes(cache), mebibytes(work), mebibytes(needed),
                     mebibytes((double)ram_bytes));
}

/* --- opening --- */

static enum td_status map_block(struct td_session *session, struct td_error *err)
{
    struct carver carver = {0};
    carve_all(session, &carver);
    session->block_bytes = carver.used;
    session->block = mmap(NULL, carver.used, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (session->block == MAP_FAILED) {
        session->block = NULL;
        return error_set(err, TD_NO_MEMORY, "no memory for a session of %.0f MiB",
                         mebibytes((double)carver.used));
    }
    carver = (struct carver){.base = session->block};
    carve_all(session, &carver);
    return TD_OK;
}

enum td_status session_new(const struct td_model *model, const struct td_session_options *options,
                           struct thread_pool *pool, struct td_session **out, struct td_error *err)
{
    *out = NULL;
    enum td_status status = session_check_memory(model, options, 1, 0, err);
    if (status != TD_OK)
        return status;
    struct td_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a session");
    session->model = model;
    session->pool = pool;
    status = apply_options(session, options, err);
    if (status == TD_OK)
        status = map_block(session, err);
    if (status == TD_OK && pool == NULL) {
        session->pool = thread_pool_new(options->thread_count);
        session->owns_pool = true;
        if (session->pool == NULL)
            status =
                error_set(err, TD_NO_MEMORY, "no memory for %u threads", options->thread_count);
    }
    if (status != TD_OK) {
        td_session_free(session);
        return status;
    }
    *out = session;
    return TD_OK;
}

enum td_status td_session_new(const struct td_model *model,
                              const struct td_session_options *options, struct td_session **out,
                              struct td_error *err)
{
    static const struct td_session_options defaults = {.kv_type = TD_KV_F16};
    return session_new(model, options ? options : &defaults, NULL, out, err);
}

void td_session_free(struct td_session *session)
{
    if (session == NULL)
        return;
    if (session->block)
        munmap(session->block, session->block_bytes);
    if (session->owns_pool)
        thread_pool_free(session->pool);
    free(session);
}

uint32_t td_session_length(const struct td_session *session)
{
    return session->length;
}

void td_session_truncate(struct td_session *session, uint32_t count)
{
    if (count < session->length)
        session->length = count;
}

uint32_t session_common_prefix(const struct td_session *session, const int32_t *ids, size_t count)
{
    uint32_t same = 0;
    while (same < session->length && same < count && session->ids[same] == ids[same])
        same++;
    return same;
}
