/* Memory of what is to be run: whether it fits this machine, with the arithmetic; its block, and
 * the block's pieces. Any thread; no state. */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include "engine/model/model.h"

struct memory_need {
    uint64_t cache_tokens; /* of all sequences together */
    uint64_t cache_bytes;  /* UINT64_MAX where a size cannot be counted */
    uint64_t work_bytes;
};

/* This machine's memory, or its control group's limit, in bytes. */
uint64_t memory_ram_bytes(void);

/* TD_NO_MEMORY when the model's weights and `need` are more than ram_bytes (0 = this machine's). */
TD_MUST_CHECK enum td_status memory_check(const struct td_model *model,
                                          const struct memory_need *need, uint64_t ram_bytes,
                                          struct td_error *err);

/* TD_NO_MEMORY when weights of so many bytes alone are more than ram_bytes: before any is
 * touched. */
TD_MUST_CHECK enum td_status memory_check_weights(const char *path, uint64_t weight_bytes,
                                                  uint64_t ram_bytes, struct td_error *err);

/* A block of zeroes whose pages are touched when first used; NULL when there is none.
 * **returns new** (memory_unmap). */
void *memory_map(uint64_t bytes);
void memory_unmap(void *block, uint64_t bytes); /* accepts NULL */

/* Hands out the pieces of a block from its beginning, each on a cache line of its own; with base
 * NULL it only counts. `overflow`: `used` is no longer true. */
struct carver {
    uint8_t *base;
    size_t used;
    bool overflow;
};

/* **borrows** of the block; NULL while it only counts. */
void *carve(struct carver *carver, size_t count, size_t element_bytes);

#endif
