/* The first part of a split model has all the metadata; every part has a directory of its own
 * tensors. After joining there is one directory, and the parts stay mapped. Which file belongs
 * where is said twice, by names and by metadata; both must agree, so that a renamed file cannot
 * give wrong weights. */
#include "engine/gguf/gguf_split.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/gguf/gguf_format.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- names ---------------------------------------------------------------------------------- */

static const char part_pattern[] = "-#####-of-#####.gguf";
enum { PATTERN_LEN = sizeof part_pattern - 1 };

bool gguf_part_parse(const char *name, struct gguf_part_name *out)
{
    size_t len = strlen(name);
    uint32_t numbers[2] = {0, 0};
    if (len <= PATTERN_LEN)
        return false;
    const char *ending = name + len - PATTERN_LEN;
    for (size_t i = 0; i < PATTERN_LEN; i++) {
        if (part_pattern[i] != '#') {
            if (ending[i] != part_pattern[i])
                return false;
            continue;
        }
        if (!ascii_is_digit(ending[i]))
            return false;
        uint32_t *number = &numbers[i > 6];
        *number = *number * 10 + (uint32_t)(ending[i] - '0');
    }
    *out = (struct gguf_part_name){numbers[0], numbers[1], len - PATTERN_LEN};
    return out->number >= 1 && out->number <= out->count && out->count <= GGUF_PARTS_MAX;
}

bool gguf_part_format(char *out, size_t size, const char *name, const struct gguf_part_name *parsed,
                      uint32_t number)
{
    int len = snprintf(out, size, "%.*s-%05u-of-%05u.gguf", (int)parsed->stem_len, name, number,
                       parsed->count);
    return len > 0 && (size_t)len < size;
}

/* ---- joining -------------------------------------------------------------------------------- */

static enum td_status check_part(const struct gguf *part, size_t index, size_t count,
                                 struct td_error *err)
{
    uint32_t no, parts;
    if (!gguf_get_u32(part, "split.count", &parts) || !gguf_get_u32(part, "split.no", &no))
        return error_set(err, TD_CORRUPT,
                         "%s: is to be part %zu of %zu of a model, but its metadata names no part "
                         "(split.no, split.count)",
                         part->path, index + 1, count);
    if (parts != count || no != index)
        return error_set(err, TD_CORRUPT,
                         "%s: is to be part %zu of %zu of a model, but its metadata says part %llu "
                         "of %u; was the file renamed?",
                         part->path, index + 1, count, (unsigned long long)no + 1, parts);
    return TD_OK;
}

/* Says of both files when a name is in two of them. */
static enum td_status add_tensors(struct gguf *whole, const struct gguf *part, struct gguf **parts,
                                  size_t count, struct td_error *err)
{
    for (size_t i = 0; i < part->tensor_count; i++) {
        const struct gguf_tensor *tensor = &part->tensors[i];
        uint32_t *slot = gguf_index_slot(&whole->tensor_index, tensor->name, whole->tensors,
                                         sizeof *whole->tensors);
        for (size_t p = 0; *slot && p < count; p++)
            if (*gguf_index_slot(&parts[p]->tensor_index, tensor->name, parts[p]->tensors,
                                 sizeof *parts[p]->tensors))
                return error_set(err, TD_CORRUPT, "%s: tensor '" STR_FMT "' is in %s as well",
                                 part->path, STR_ARG(tensor->name), parts[p]->path);
        whole->tensors[whole->tensor_count] = *tensor;
        *slot = (uint32_t)++whole->tensor_count;
    }
    return TD_OK;
}

/* Fills *whole, which has no tensors yet, with those of all parts. */
static enum td_status collect(struct gguf *whole, size_t total, struct gguf **parts, size_t count,
                              struct td_error *err)
{
    uint32_t slots = 2;
    while (slots < 2 * total)
        slots *= 2;
    whole->tensor_index = (struct gguf_index){calloc(slots, sizeof(uint32_t)), slots - 1};
    whole->tensors = calloc(total ? total : 1, sizeof *whole->tensors);
    if (whole->tensor_index.slots == NULL || whole->tensors == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", parts[0]->path);
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < count; i++)
        status = add_tensors(whole, parts[i], parts, count, err);
    return status;
}

static enum td_status check_parts(struct gguf **parts, size_t count, size_t *total,
                                  struct td_error *err)
{
    uint32_t expected = 0;
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        enum td_status status = check_part(parts[i], i, count, err);
        if (status != TD_OK)
            return status;
        *total += parts[i]->tensor_count; /* at most GGUF_PARTS_MAX times 2^20 */
    }
    if (*total > GGUF_TENSORS_MAX)
        return error_set(err, TD_LIMIT, "%s: its parts have %zu tensors; at most %u are read",
                         parts[0]->path, *total, GGUF_TENSORS_MAX);
    if (gguf_get_u32(parts[0], "split.tensors.count", &expected) && expected != *total)
        return error_set(err, TD_CORRUPT,
                         "%s: the model has %u tensors, but its %zu parts have %zu", parts[0]->path,
                         expected, count, *total);
    return TD_OK;
}

enum td_status gguf_join(struct gguf **parts, size_t count, struct gguf **out, struct td_error *err)
{
    ASSERT(count >= 1 && count <= GGUF_PARTS_MAX);
    struct gguf whole = {0};
    size_t total;
    enum td_status status = check_parts(parts, count, &total, err);
    struct gguf **others = calloc(count, sizeof *others);
    if (status == TD_OK && others == NULL)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory", parts[0]->path);
    if (status == TD_OK)
        status = collect(&whole, total, parts, count, err);
    if (status != TD_OK) {
        free(whole.tensors);
        free(whole.tensor_index.slots);
        free(others);
        for (size_t i = 0; i < count; i++)
            gguf_close(parts[i]);
        return status;
    }
    struct gguf *first = parts[0];
    free(first->tensors);
    free(first->tensor_index.slots);
    first->tensors = whole.tensors;
    first->tensor_count = whole.tensor_count;
    first->tensor_index = whole.tensor_index;
    memcpy(others, parts + 1, (count - 1) * sizeof *others);
    first->parts = others;
    first->part_count = count - 1;
    *out = first;
    return TD_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static enum td_status open_parts(const char *path, const struct gguf_part_name *name,
                                 bool vocab_only, struct gguf **parts, size_t *opened,
                                 struct td_error *err)
{
    char other[4400];
    for (uint32_t i = 0; i < name->count; i++) {
        if (!gguf_part_format(other, sizeof other, path, name, i + 1))
            return error_set(err, TD_INVALID, "%s: the path is too long", path);
        enum td_status status = gguf_open_file(other, vocab_only, &parts[i], err);
        if (status == TD_NOT_FOUND || status == TD_IO) {
            struct td_error cause = err ? *err : (struct td_error){0};
            if (err)
                *err = (struct td_error){0};
            return error_set(err, status, "part %u of %u of the model %.*s is missing: %.300s",
                             i + 1, name->count, (int)name->stem_len, path, cause.message);
        }
        if (status != TD_OK)
            return status;
        *opened = i + 1;
    }
    return TD_OK;
}

enum td_status gguf_open(const char *path, bool vocab_only, struct gguf **out, struct td_error *err)
{
    struct gguf_part_name name;
    uint32_t count = 1;
    size_t opened = 0;
    struct gguf *file;
    *out = NULL;
    enum td_status status = gguf_open_file(path, vocab_only, &file, err);
    if (status != TD_OK)
        return status;
    if (!gguf_get_u32(file, "split.count", &count) || count <= 1) {
        *out = file;
        return TD_OK;
    }
    gguf_close(file);
    if (!gguf_part_parse(path, &name) || name.count != count)
        return error_set(err, TD_INVALID,
                         "%s: is one of %u files of a model, which must be named "
                         "NAME-00001-of-%05u.gguf and so on (at most %d)",
                         path, count, count, GGUF_PARTS_MAX);
    struct gguf **parts = calloc(name.count, sizeof *parts);
    if (parts == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    status = open_parts(path, &name, vocab_only, parts, &opened, err);
    if (status == TD_OK)
        status = gguf_join(parts, name.count, out, err);
    else
        for (size_t i = 0; i < opened; i++)
            gguf_close(parts[i]);
    free(parts);
    return status;
}
