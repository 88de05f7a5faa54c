/* Models in several files, NAME-00001-of-00003.gguf and so on: how they are named, and how they
 * become one. Any thread. */
#ifndef ENGINE_GGUF_SPLIT_H
#define ENGINE_GGUF_SPLIT_H

#include "engine/gguf/gguf.h"

#define GGUF_PARTS_MAX 1024 /* files of a model; the largest of 2026 have some 60 */

struct gguf_part_name {
    uint32_t number, count; /* number is from 1 to count */
    size_t stem_len;        /* bytes before "-00001-of-00003.gguf" */
};

/* Whether `name`, a file's name, path or address, ends as the parts of a model do, with at most
 * GGUF_PARTS_MAX of them. */
bool gguf_part_parse(const char *name, struct gguf_part_name *out);
/* The name of another part of the same model. False when `out` is too small. */
bool gguf_part_format(char *out, size_t size, const char *name, const struct gguf_part_name *parsed,
                      uint32_t number);

/* Makes one model of its parts, in order; parts[0] becomes it and owns the others. **takes** all of
 * them, also on failure. TD_CORRUPT when they do not belong together: the metadata of each says
 * which part of how many it is (split.no from 0, split.count) and how many tensors the whole has
 * (split.tensors.count). */
TD_MUST_CHECK enum td_status gguf_join(struct gguf **parts, size_t count, struct gguf **out,
                                       struct td_error *err);

#endif
