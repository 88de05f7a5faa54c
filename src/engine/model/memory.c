/* Says before anything is touched whether a model and its sessions fit the memory, with the sum in
 * the message, because a process that is killed for memory later tells nobody why. Blocks are
 * mapped without reserving: a page costs memory only when it is used, so a large context is cheap
 * while it is empty. */
#include "engine/model/memory.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/machine/memory_free.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define BLOCK_ALIGN 64 /* a cache line, and the widest vector */

/* Of all models in use. Memory belongs to the process, and so does this number. */
static _Atomic uint64_t weights_in_use;

/* own: weights in use that are not another's. */
static void read_free(uint64_t own, struct memory_free *out)
{
    uint64_t others = atomic_load(&weights_in_use) - own;
    memory_free_read("", out);
    out->ram_bytes -= others < out->ram_bytes ? others : out->ram_bytes;
}

uint64_t memory_ram_bytes(void)
{
    struct memory_free left;
    read_free(0, &left);
    return left.ram_bytes;
}

void memory_hold_weights(const struct td_model *model)
{
    if (atomic_fetch_add(model->weight_users, 1) == 0)
        atomic_fetch_add(&weights_in_use, gguf_file_bytes(model->gguf));
}

void memory_release_weights(const struct td_model *model)
{
    if (atomic_fetch_sub(model->weight_users, 1) == 1)
        atomic_fetch_sub(&weights_in_use, gguf_file_bytes(model->gguf));
}

static double mebibytes(double bytes)
{
    return bytes / 1048576.0;
}

/* The bounds; of `ram_bytes` alone if it is not 0. */
static void read_bounds(uint64_t ram_bytes, uint64_t own, struct memory_free *out)
{
    *out = (struct memory_free){ram_bytes, "memory given", UINT64_MAX};
    if (ram_bytes == 0)
        read_free(own, out);
}

enum td_status memory_check(const struct td_model *model, const struct memory_need *need,
                            uint64_t ram_bytes, struct td_error *err)
{
    struct memory_free left;
    uint64_t weight_bytes = gguf_file_bytes(model->gguf);
    read_bounds(ram_bytes, atomic_load(model->weight_users) ? weight_bytes : 0, &left);
    double weights = (double)weight_bytes, cache = (double)need->cache_bytes,
           work = (double)need->work_bytes;
    bool counted = need->cache_bytes != UINT64_MAX && need->work_bytes != UINT64_MAX;
    /* The weights are in the address space already. */
    bool spacious = cache + work <= (double)left.space_bytes;
    if (counted && spacious && weights + cache + work <= (double)left.ram_bytes)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY,
                     "%s: weights %.0f MiB + cache of %" PRIu64 " tokens %.0f MiB + working memory "
                     "%.0f MiB = %.0f MiB, "
                     "%.0f MiB are free (%s); use a smaller context or fewer slots",
                     model->name, mebibytes(weights), need->cache_tokens, mebibytes(cache),
                     mebibytes(work), mebibytes(weights + cache + work),
                     mebibytes((double)(spacious ? left.ram_bytes : left.space_bytes)),
                     spacious ? left.bound : "limit of the address space");
}

enum td_status memory_check_weights(const char *path, uint64_t weight_bytes, uint64_t ram_bytes,
                                    struct td_error *err)
{
    struct memory_free left;
    read_bounds(ram_bytes, 0, &left);
    if (weight_bytes <= left.ram_bytes)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY,
                     "%s: weights of %.0f MiB, %.0f MiB are free (%s); use a smaller model or one "
                     "with fewer bits a weight",
                     path, mebibytes((double)weight_bytes), mebibytes((double)left.ram_bytes),
                     left.bound);
}

void *memory_map(uint64_t bytes)
{
    ASSERT(bytes > 0);
    if (bytes == UINT64_MAX)
        return NULL;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void memory_unmap(void *block, uint64_t bytes)
{
    if (block)
        munmap(block, bytes);
}

void *carve(struct carver *carver, size_t count, size_t element_bytes)
{
    ASSERT(element_bytes > 0);
    size_t bytes, begin = carver->used;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) ||
        __builtin_add_overflow(bytes, BLOCK_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(begin, bytes / BLOCK_ALIGN * BLOCK_ALIGN, &carver->used))
        carver->overflow = true;
    return carver->base && !carver->overflow ? carver->base + begin : NULL;
}
