/* The memory of a request: many small allocations, one free, one limit. One owner; not
 * thread-safe. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "tandem/types.h"

struct arena;

/* **returns new** (arena_free), or NULL. bytes_max bounds the sum of all allocations. */
struct arena *arena_new(size_t bytes_max);
void arena_free(struct arena *arena);

/* Zeroed, aligned for any type; lives until arena_free. NULL when the limit is reached or memory is
 * short. */
void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_alloc_array(struct arena *arena, size_t count, size_t element_bytes);

/* NUL-terminated copies; NULL when the limit is reached. */
char *arena_copy(struct arena *arena, struct td_str text);
char *arena_printf(struct arena *arena, const char *format, ...) TD_PRINTF(2, 3);

#endif
