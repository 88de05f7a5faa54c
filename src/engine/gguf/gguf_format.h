/* What gguf.c (opens and checks), gguf_split.c (joins), gguf_access.c (answers), gguf_copy.c and
 * gguf_write.c (write) share. Nobody else includes this. */
#ifndef ENGINE_GGUF_FORMAT_H
#define ENGINE_GGUF_FORMAT_H

#include "engine/gguf/gguf.h"

#include <string.h>

#define GGUF_TYPE_COUNT 13
#define GGUF_TENSORS_MAX 65536u

/* One metadata pair. All pointers lie inside the file. */
struct gguf_pair {
    struct td_str key;
    enum gguf_type type;
    enum gguf_type element_type; /* of an array; else the same as type */
    uint64_t count;              /* elements; 1 for a scalar or string */
    const uint8_t *value;        /* first byte of the value (array: of the first element) */
    size_t value_bytes;
};

/* Open addressing, linear probing; a slot holds index + 1, 0 = empty. */
struct gguf_index {
    uint32_t *slots;
    uint32_t mask;
};

struct gguf {
    char *path;
    const uint8_t *data;
    size_t file_bytes;
    bool mapped;
    uint32_t alignment;
    size_t directory_end; /* first byte after the tensor directory */
    struct gguf_pair *pairs;
    size_t pair_count;
    struct gguf_index pair_index;
    struct gguf_tensor *tensors;
    size_t tensor_count;
    struct gguf_index tensor_index;
    /* Of a model in several files: the others. Their tensors are in the tables above as well. */
    struct gguf **parts;
    size_t part_count;
};

/* The slot of `name`: *slot holds index + 1. 0 = the name is absent and may be put there. The first
 * member of a record is its name, a struct td_str. */
uint32_t *gguf_index_slot(const struct gguf_index *index, struct td_str name, const void *records,
                          size_t record_bytes);

/* Little-endian loads from any address; the build refuses big-endian machines. */
static inline uint32_t gguf_load_u32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}
static inline uint64_t gguf_load_u64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

#endif
