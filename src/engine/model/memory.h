/* Memory of sessions: whether it fits what is free, the block that holds it, and the pieces of the
 * block. No state; any thread. */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include "engine/model/model.h"

struct memory_need {
    uint64_t cache_tokens; /* of all sequences together */
    uint64_t cache_bytes;  /* UINT64_MAX = the size overflows */
    uint64_t work_bytes;
};

/* What this process may still use of main memory, in bytes. */
uint64_t memory_ram_bytes(void);

/* The model's weights are in use from now on, or no longer. They are then not free for others,
 * although the kernel calls their pages a cache. Any thread. */
void memory_hold_weights(const struct td_model *model);
void memory_release_weights(const struct td_model *model);

/* TD_NO_MEMORY when the model's weights and `need` are more than ram_bytes (0 = what this process
 * may still use). */
TD_MUST_CHECK enum td_status memory_check(const struct td_model *model,
                                          const struct memory_need *need, uint64_t ram_bytes,
                                          struct td_error *err);

/* TD_NO_MEMORY when weight_bytes alone are more than ram_bytes (0 = what this process may still
 * use). Call it before any weight is touched. */
TD_MUST_CHECK enum td_status memory_check_weights(const char *path, uint64_t weight_bytes,
                                                  uint64_t ram_bytes, struct td_error *err);

/* A block of zeroes, whose pages take memory when they are first used. NULL when there is no
 * memory. **returns new** (memory_unmap). */
void *memory_map(uint64_t bytes);
void memory_unmap(void *block, uint64_t bytes); /* accepts NULL */

/* Gives out the pieces of a block one after another, each beginning on a cache line. With base NULL
 * it only counts. After an overflow `used` is wrong. */
struct carver {
    uint8_t *base;
    size_t used;
    bool overflow;
};

/* The next piece. **borrows** from the block; NULL when the carver only counts. */
void *carve(struct carver *carver, size_t count, size_t element_bytes);

#endif
