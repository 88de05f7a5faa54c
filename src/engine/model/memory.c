/* Says before anything is touched whether a model and its sessions fit the memory, with the sum in
 * the message, because a process that is killed for memory later tells nobody why. Blocks are
 * mapped without reserving: a page costs memory only when it is used, so a large context is cheap
 * while it is empty. */
#include "engine/model/memory.h"

#include "base/assertion.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_ALIGN 64 /* a cache line, and the widest vector */

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

uint64_t memory_ram_bytes(void)
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

enum td_status memory_check(const struct td_model *model, const struct memory_need *need,
                            uint64_t ram_bytes, struct td_error *err)
{
    if (ram_bytes == 0)
        ram_bytes = memory_ram_bytes();
    double weights = (double)gguf_file_bytes(model->gguf), cache = (double)need->cache_bytes,
           work = (double)need->work_bytes;
    if (need->cache_bytes != UINT64_MAX && need->work_bytes != UINT64_MAX &&
        weights + cache + work <= (double)ram_bytes)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY,
                     "%s: weights %.0f MiB + cache of %" PRIu64 " tokens %.0f MiB + working memory "
                     "%.0f MiB = %.0f MiB, "
                     "the machine has %.0f MiB; use a smaller context or fewer slots",
                     model->name, mebibytes(weights), need->cache_tokens, mebibytes(cache),
                     mebibytes(work), mebibytes(weights + cache + work),
                     mebibytes((double)ram_bytes));
}

enum td_status memory_check_weights(const char *path, uint64_t weight_bytes, uint64_t ram_bytes,
                                    struct td_error *err)
{
    if (weight_bytes <= ram_bytes)
        return TD_OK;
    return error_set(err, TD_NO_MEMORY,
                     "%s: weights of %.0f MiB, the machine has %.0f MiB; use a smaller model or "
                     "one with fewer bits a weight",
                     path, mebibytes((double)weight_bytes), mebibytes((double)ram_bytes));
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
