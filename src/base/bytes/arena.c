/* An arena is a list of chunks, and an allocation takes the next bytes of the newest chunk. Nothing
 * is freed alone, so an allocation costs a few instructions and a request cannot leak. Chunks come
 * zeroed from calloc, so every allocation is zeroed. The limit counts the bytes that callers asked
 * for, without rounding, so that it means the same on every machine. */
#include "base/bytes/arena.h"

#include "base/core/assertion.h"
#include "base/core/shortage.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first chunk holds a small request, and each further one is twice as large, up to this: what
 * is not used must be cleared all the same, and thousands of streams hold a chunk each. */
#define FIRST_CHUNK_BYTES 2048
#define CHUNK_BYTES_MAX 16384

struct chunk {
    struct chunk *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    struct chunk *chunks; /* newest first */
    size_t used, bytes_max;
};

struct arena *arena_new(size_t bytes_max)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena)
        arena->bytes_max = bytes_max;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static struct chunk *chunk_add(struct arena *arena, size_t bytes)
{
    size_t capacity = arena->chunks ? 2 * arena->chunks->capacity : FIRST_CHUNK_BYTES;
    if (capacity > CHUNK_BYTES_MAX)
        capacity = CHUNK_BYTES_MAX;
    if (bytes > capacity)
        capacity = bytes;
    struct chunk *chunk = calloc(1, sizeof *chunk + capacity);
    if (chunk == NULL) {
        shortage_note();
        return NULL;
    }
    chunk->capacity = capacity;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    ASSERT(arena != NULL);
    const size_t align = alignof(max_align_t);
    if (bytes > arena->bytes_max - arena->used)
        return NULL;
    size_t rounded = (bytes + align - 1) / align * align;
    if (rounded == 0)
        rounded = align;
    struct chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->capacity - chunk->used < rounded) {
        chunk = chunk_add(arena, rounded);
        if (chunk == NULL)
            return NULL;
    }
    void *result = chunk->data + chunk->used;
    chunk->used += rounded;
    arena->used += bytes;
    return result;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, struct td_str text)
{
    if (text.len == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, text.len + 1);
    if (copy && text.len)
        memcpy(copy, text.data, text.len);
    return copy; /* the memory is zeroed, so the text ends with NUL */
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}
