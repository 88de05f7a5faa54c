/* Answers questions about an open GGUF file. gguf.c has checked everything, so nothing here can be
 * out of range. */
#include "engine/gguf/gguf.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "engine/gguf/gguf_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *gguf_path(const struct gguf *gguf)
{
    return gguf->path;
}

uint64_t gguf_file_bytes(const struct gguf *gguf)
{
    uint64_t bytes = gguf->file_bytes;
    for (size_t i = 0; i < gguf->part_count; i++)
        bytes += gguf->parts[i]->file_bytes;
    return bytes;
}

static const struct gguf_pair *find(const struct gguf *gguf, const char *key)
{
    ASSERT(key != NULL);
    uint32_t slot =
        *gguf_index_slot(&gguf->pair_index, str_from(key), gguf->pairs, sizeof *gguf->pairs);
    return slot ? &gguf->pairs[slot - 1] : NULL;
}

bool gguf_has(const struct gguf *gguf, const char *key)
{
    return find(gguf, key) != NULL;
}

/* A scalar of any integer type as sign and magnitude. */
static bool get_integer(const struct gguf_pair *pair, bool *negative, uint64_t *magnitude)
{
    int64_t value;
    *negative = false;
    switch (pair->type) {
    case GGUF_U8:
        *magnitude = pair->value[0];
        return true;
    case GGUF_U16:
        *magnitude = (uint64_t)pair->value[0] | (uint64_t)pair->value[1] << 8;
        return true;
    case GGUF_U32:
        *magnitude = gguf_load_u32(pair->value);
        return true;
    case GGUF_U64:
        *magnitude = gguf_load_u64(pair->value);
        return true;
    case GGUF_I8:
        value = (int8_t)pair->value[0];
        break;
    case GGUF_I16:
        value = (int16_t)(pair->value[0] | pair->value[1] << 8);
        break;
    case GGUF_I32:
        value = (int32_t)gguf_load_u32(pair->value);
        break;
    case GGUF_I64:
        value = (int64_t)gguf_load_u64(pair->value);
        break;
    default:
        return false;
    }
    *negative = value < 0;
    *magnitude = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    return true;
}

static bool get_float(const struct gguf_pair *pair, double *out)
{
    if (pair->type == GGUF_F32) {
        float value;
        memcpy(&value, pair->value, sizeof value);
        *out = (double)value;
        return true;
    }
    if (pair->type == GGUF_F64) {
        memcpy(out, pair->value, sizeof *out);
        return true;
    }
    return false;
}

bool gguf_get_u32(const struct gguf *gguf, const char *key, uint32_t *out)
{
    const struct gguf_pair *pair = find(gguf, key);
    bool negative;
    uint64_t magnitude;
    if (pair == NULL || !get_integer(pair, &negative, &magnitude) || negative ||
        magnitude > UINT32_MAX)
        return false;
    *out = (uint32_t)magnitude;
    return true;
}

bool gguf_get_f32(const struct gguf *gguf, const char *key, float *out)
{
    const struct gguf_pair *pair = find(gguf, key);
    double value;
    if (pair == NULL || !get_float(pair, &value))
        return false;
    *out = (float)value;
    return isfinite(*out);
}

bool gguf_get_bool(const struct gguf *gguf, const char *key, bool *out)
{
    const struct gguf_pair *pair = find(gguf, key);
    if (pair == NULL || pair->type != GGUF_BOOL)
        return false;
    *out = pair->value[0] != 0;
    return true;
}

/* A string record: u64 length, bytes. */
static struct td_str string_at(const uint8_t *record)
{
    return (struct td_str){(const char *)record + 8, (size_t)gguf_load_u64(record)};
}

bool gguf_get_string(const struct gguf *gguf, const char *key, struct td_str *out)
{
    const struct gguf_pair *pair = find(gguf, key);
    if (pair == NULL || pair->type != GGUF_STRING)
        return false;
    *out = string_at(pair->value);
    return true;
}

bool gguf_get_array(const struct gguf *gguf, const char *key, enum gguf_type *type,
                    const void **data, uint64_t *count)
{
    ASSERT(type && data && count);
    const struct gguf_pair *pair = find(gguf, key);
    if (pair == NULL || pair->type != GGUF_ARRAY || pair->element_type == GGUF_STRING)
        return false;
    *type = pair->element_type;
    *data = pair->value;
    *count = pair->count;
    return true;
}

/* Finds the pair whose value holds the address. Pairs are in the order of the file, so this is a
 * binary search, and a walk over a vocabulary of 10^5 strings does not hash its key each time. */
static const struct gguf_pair *pair_around(const struct gguf *gguf, const uint8_t *address)
{
    size_t low = 0, high = gguf->pair_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (gguf->pairs[middle].value <= address)
            low = middle;
        else
            high = middle;
    }
    return &gguf->pairs[low];
}

bool gguf_next_string(const struct gguf *gguf, const char *key, const void **cursor,
                      struct td_str *out)
{
    /* The cursor is the last record that was given, so it never points into another array. */
    const uint8_t *record = *cursor;
    const struct gguf_pair *pair = record ? pair_around(gguf, record) : find(gguf, key);
    if (pair == NULL || pair->type != GGUF_ARRAY || pair->element_type != GGUF_STRING)
        return false;
    const uint8_t *next = record ? record + 8 + string_at(record).len : pair->value;
    if (next >= pair->value + pair->value_bytes)
        return false;
    *cursor = next;
    *out = string_at(next);
    return true;
}

uint64_t gguf_array_count(const struct gguf *gguf, const char *key)
{
    const struct gguf_pair *pair = find(gguf, key);
    return pair && pair->type == GGUF_ARRAY ? pair->count : 0;
}

const struct gguf_tensor *gguf_find_tensor(const struct gguf *gguf, const char *name)
{
    uint32_t slot =
        *gguf_index_slot(&gguf->tensor_index, str_from(name), gguf->tensors, sizeof *gguf->tensors);
    return slot ? &gguf->tensors[slot - 1] : NULL;
}

size_t gguf_tensor_count(const struct gguf *gguf)
{
    return gguf->tensor_count;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, size_t index)
{
    return index < gguf->tensor_count ? &gguf->tensors[index] : NULL;
}

uint64_t gguf_fingerprint(const struct gguf *gguf)
{
    uint64_t hash = hash_words64(gguf->data, gguf->directory_end);
    for (size_t i = 0; i < gguf->part_count; i++)
        hash = hash * 0x9e3779b97f4a7c15u ^ gguf_fingerprint(gguf->parts[i]); /* order counts */
    return hash;
}

/* A string may be long and hold any byte: it is cut, and control characters become spaces. */
static void describe_string(struct td_str text, char *value, size_t value_size)
{
    size_t len = text.len < value_size - 1 ? text.len : value_size - 1;
    for (size_t i = 0; i < len; i++)
        value[i] = (unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f ? ' ' : text.data[i];
    while (len < text.len && len > 0 && ((unsigned char)text.data[len] & 0xc0) == 0x80)
        len--; /* never end inside a UTF-8 character */
    value[len] = '\0';
}

bool gguf_describe(const struct gguf *gguf, size_t index, struct td_str *key, enum gguf_type *type,
                   char *value, size_t value_size)
{
    ASSERT(value != NULL || value_size == 0);
    if (index >= gguf->pair_count)
        return false;
    const struct gguf_pair *pair = &gguf->pairs[index];
    *key = pair->key;
    *type = pair->type;
    if (value_size == 0)
        return true;
    bool negative;
    uint64_t magnitude;
    double number;
    if (pair->type == GGUF_ARRAY)
        snprintf(value, value_size, "[%" PRIu64 " elements]", pair->count);
    else if (pair->type == GGUF_STRING)
        describe_string(string_at(pair->value), value, value_size);
    else if (pair->type == GGUF_BOOL)
        snprintf(value, value_size, "%s", pair->value[0] ? "true" : "false");
    else if (get_integer(pair, &negative, &magnitude))
        snprintf(value, value_size, "%s%" PRIu64, negative ? "-" : "", magnitude);
    else if (get_float(pair, &number))
        snprintf(value, value_size, "%.9g", number);
    return true;
}
