/* Opens a GGUF file: maps it, parses it and checks it, so that nobody after has to. gguf_access.c
 * answers questions about an open file.
 *
 * Offset table (v2 and v3; all little-endian, nothing padded until the tensor data):
 *   0   4  magic "GGUF"
 *   4   4  version, 2 or 3
 *   8   8  tensor count
 *   16  8  metadata pair count
 *   24  .  pairs:    key = string, value type u32, value
 *       .  tensors:  name = string, dimension count u32, dimension u64 x count, type u32,
 *                    offset u64 from the start of the data section
 *       .  data section, at the next multiple of general.alignment (32 when absent)
 *   string = length u64, bytes (no NUL)
 *   array  = element type u32, count u64, elements; arrays of arrays are refused, no model has any
 *
 * Every read goes through struct reader, which never passes the end. A count is compared with the
 * bytes that are left before anything is allocated for it, so a hostile count costs nothing.
 * Tensors must lie in the file, be aligned and not overlap: no writer shares data between tensors,
 * so a file in which they overlap is damaged. */
#include "engine/gguf/gguf.h"

#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "engine/gguf/gguf_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "GGUF is read in place: little-endian only");

/* Real files have fewer than 100 pairs and, with 60 layers of 128 experts, fewer than 25000
 * tensors. The limits bound what a hostile file can make us allocate and hash. */
#define PAIRS_MAX 16384
#define KEY_BYTES_MAX 256    /* the format allows 65535; the longest key in use has 60 */
#define NAME_BYTES_MAX 64    /* the format's limit */
#define ALIGNMENT_DEFAULT 32 /* the format's default */
#define ALIGNMENT_MIN 8      /* the format asks for a multiple of 8 */
#define ALIGNMENT_MAX (1u << 20)
#define PAIR_BYTES_MIN (8 + 1 + 4 + 1)           /* key length, key, type, value */
#define TENSOR_BYTES_MIN (8 + 1 + 4 + 8 + 4 + 8) /* name length, name, count, dim, type, offset */

struct reader {
    const struct gguf *gguf;
    size_t at;
    struct td_error *err;
};

static size_t bytes_left(const struct reader *reader)
{
    return reader->gguf->file_bytes - reader->at;
}

/* The words behind the file's name. */
TD_PRINTF(3, 4)
static enum td_status refuse(const struct reader *reader, enum td_status status, const char *format,
                             ...)
{
    va_list args;
    va_start(args, format);
    status = error_set_at(reader->err, status, reader->gguf->path, format, args);
    va_end(args);
    return status;
}

static enum td_status truncated(const struct reader *reader, const char *what)
{
    return refuse(reader, TD_CORRUPT, "file ends inside %s (at byte %zu of %zu)", what, reader->at,
                  reader->gguf->file_bytes);
}

static enum td_status read_u32(struct reader *reader, const char *what, uint32_t *out)
{
    if (bytes_left(reader) < 4)
        return truncated(reader, what);
    *out = gguf_load_u32(reader->gguf->data + reader->at);
    reader->at += 4;
    return TD_OK;
}

static enum td_status read_u64(struct reader *reader, const char *what, uint64_t *out)
{
    if (bytes_left(reader) < 8)
        return truncated(reader, what);
    *out = gguf_load_u64(reader->gguf->data + reader->at);
    reader->at += 8;
    return TD_OK;
}

static enum td_status read_string(struct reader *reader, const char *what, struct td_str *out)
{
    uint64_t len = 0;
    enum td_status status = read_u64(reader, what, &len);
    if (status != TD_OK)
        return status;
    if (len > bytes_left(reader))
        return refuse(reader, TD_CORRUPT, "%s at byte %zu claims %llu bytes, %zu are left", what,
                      reader->at - 8, (unsigned long long)len, bytes_left(reader));
    *out = (struct td_str){(const char *)reader->gguf->data + reader->at, (size_t)len};
    reader->at += (size_t)len;
    return TD_OK;
}

/* Keys and tensor names end up in messages and C strings: no control characters, no NUL. */
static bool is_printable(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            return false;
    return true;
}

static enum td_status read_name(struct reader *reader, const char *what, size_t bytes_max,
                                struct td_str *out)
{
    size_t begin = reader->at;
    enum td_status status = read_string(reader, what, out);
    if (status != TD_OK)
        return status;
    if (out->len == 0 || out->len > bytes_max || !is_printable(*out))
        return refuse(reader, TD_CORRUPT,
                      "%s at byte %zu is empty, longer than %zu bytes or not text (%zu bytes)",
                      what, begin, bytes_max, out->len);
    return TD_OK;
}

static enum td_status alloc_array(struct reader *reader, size_t count, size_t bytes, void **out)
{
    *out = calloc(count ? count : 1, bytes);
    if (*out == NULL)
        return refuse(reader, TD_NO_MEMORY, "no memory for a directory of %zu entries", count);
    return TD_OK;
}

static enum td_status index_init(struct reader *reader, struct gguf_index *index, size_t count)
{
    uint32_t slot_count = 16;
    while (slot_count < 2 * count)
        slot_count *= 2;
    index->mask = slot_count - 1;
    void *slots;
    enum td_status status = alloc_array(reader, slot_count, sizeof *index->slots, &slots);
    index->slots = slots;
    return status;
}

uint32_t *gguf_index_slot(const struct gguf_index *index, struct td_str name, const void *records,
                          size_t record_bytes)
{
    ASSERT(index->slots != NULL);
    ASSERT(record_bytes >= sizeof(struct td_str));
    uint32_t at = (uint32_t)hash_mix64(hash_fnv1a64(name.data, name.len, HASH_FNV1A64_BASIS));
    for (;; at++) {
        uint32_t *slot = &index->slots[at & index->mask];
        if (*slot == 0)
            return slot;
        struct td_str other;
        memcpy(&other, (const char *)records + (size_t)(*slot - 1) * record_bytes, sizeof other);
        if (str_equal(other, name))
            return slot;
    }
}

/* Bytes of one element; 0 for strings and arrays, whose size is in the file. */
static size_t type_bytes(enum gguf_type type)
{
    static const uint8_t bytes[GGUF_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return bytes[type];
}

/* --- metadata --- */

static enum td_status read_type(struct reader *reader, struct td_str key, enum gguf_type *out)
{
    uint32_t type = 0;
    enum td_status status = read_u32(reader, "a value type", &type);
    if (status != TD_OK)
        return status;
    if (type >= GGUF_TYPE_COUNT)
        return refuse(reader, TD_CORRUPT, "key '" STR_FMT "' has unknown value type %u",
                      STR_ARG(key), type);
    *out = (enum gguf_type)type;
    return TD_OK;
}

/* Reads pair->count elements of one type, from where the reader stands. */
static enum td_status read_elements(struct reader *reader, struct gguf_pair *pair)
{
    size_t element_bytes = type_bytes(pair->element_type);
    uint64_t bytes_min = element_bytes ? element_bytes : 8; /* a string is at least its length */
    if (pair->count > bytes_left(reader) / bytes_min)
        return refuse(reader, TD_CORRUPT,
                      "key '" STR_FMT "' claims %llu elements, %zu bytes are left",
                      STR_ARG(pair->key), (unsigned long long)pair->count, bytes_left(reader));
    pair->value = reader->gguf->data + reader->at;
    if (element_bytes) {
        pair->value_bytes = (size_t)pair->count * element_bytes;
        reader->at += pair->value_bytes;
    } else {
        size_t begin = reader->at;
        for (uint64_t i = 0; i < pair->count; i++) {
            struct td_str ignored;
            enum td_status status = read_string(reader, "a string value", &ignored);
            if (status != TD_OK)
                return status;
        }
        pair->value_bytes = reader->at - begin;
    }
    if (pair->element_type == GGUF_BOOL)
        for (size_t i = 0; i < pair->value_bytes; i++)
            if (pair->value[i] > 1)
                return refuse(reader, TD_CORRUPT, "key '" STR_FMT "' is a bool of value %u",
                              STR_ARG(pair->key), pair->value[i]);
    return TD_OK;
}

static enum td_status read_pair(struct reader *reader, struct gguf_pair *pair)
{
    enum td_status status = read_name(reader, "a metadata key", KEY_BYTES_MAX, &pair->key);
    if (status != TD_OK)
        return status;
    status = read_type(reader, pair->key, &pair->type);
    if (status != TD_OK)
        return status;
    pair->element_type = pair->type;
    pair->count = 1;
    if (pair->type == GGUF_ARRAY) {
        status = read_type(reader, pair->key, &pair->element_type);
        if (status == TD_OK)
            status = read_u64(reader, "an array count", &pair->count);
        if (status != TD_OK)
            return status;
        if (pair->element_type == GGUF_ARRAY)
            return refuse(reader, TD_UNSUPPORTED, "key '" STR_FMT "' is an array of arrays",
                          STR_ARG(pair->key));
    }
    return read_elements(reader, pair);
}

static enum td_status read_pairs(struct reader *reader, struct gguf *gguf)
{
    enum td_status status = index_init(reader, &gguf->pair_index, gguf->pair_count);
    void *pairs = NULL;
    if (status == TD_OK)
        status = alloc_array(reader, gguf->pair_count, sizeof *gguf->pairs, &pairs);
    gguf->pairs = pairs;
    for (size_t i = 0; status == TD_OK && i < gguf->pair_count; i++) {
        struct gguf_pair *pair = &gguf->pairs[i];
        status = read_pair(reader, pair);
        if (status != TD_OK)
            break;
        uint32_t *slot =
            gguf_index_slot(&gguf->pair_index, pair->key, gguf->pairs, sizeof *gguf->pairs);
        if (*slot)
            return refuse(reader, TD_CORRUPT, "key '" STR_FMT "' appears twice",
                          STR_ARG(pair->key));
        *slot = (uint32_t)i + 1;
    }
    return status;
}

static enum td_status read_alignment(struct reader *reader, struct gguf *gguf)
{
    gguf->alignment = ALIGNMENT_DEFAULT;
    if (!gguf_has(gguf, "general.alignment"))
        return TD_OK;
    uint32_t alignment;
    if (!gguf_get_u32(gguf, "general.alignment", &alignment) || alignment < ALIGNMENT_MIN ||
        alignment > ALIGNMENT_MAX || (alignment & (alignment - 1)) != 0)
        return refuse(reader, TD_CORRUPT, "general.alignment is not a power of two in [%u, %u]",
                      ALIGNMENT_MIN, ALIGNMENT_MAX);
    gguf->alignment = alignment;
    return TD_OK;
}

/* --- tensor directory --- */

/* Names of types of the format that have no kernel here, for the error message only. */
static const char *type_name_known(uint32_t type)
{
    static const char *const names[TENSOR_TYPE_COUNT] = {
        [9] = "Q8_1", [15] = "Q8_K", [24] = "I8", [25] = "I16",
        [26] = "I32", [27] = "I64",  [28] = "F64"};
    return type < TENSOR_TYPE_COUNT && names[type] ? names[type] : "unknown";
}

static enum td_status unsupported_type(struct reader *reader, const struct gguf_tensor *tensor)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++) {
        const struct tensor_traits *traits = tensor_traits_get(type);
        size_t len = traits ? strlen(traits->name) : 0;
        if (traits == NULL || used + len + 2 > sizeof list)
            continue;
        list[used] = ' ';
        memcpy(list + used + 1, traits->name, len + 1);
        used += len + 1;
    }
    return refuse(reader, TD_UNSUPPORTED,
                  "tensor '" STR_FMT "' has type %u (%s); supported types:%s",
                  STR_ARG(tensor->name), tensor->type, type_name_known(tensor->type), list);
}

/* Computes the bytes of a tensor, with every product checked. */
static enum td_status size_tensor(struct reader *reader, struct gguf_tensor *tensor)
{
    const struct tensor_traits *traits = tensor_traits_get(tensor->type);
    if (traits == NULL)
        return unsupported_type(reader, tensor);
    if (tensor->dims[0] % traits->block_elements != 0)
        return refuse(reader, TD_CORRUPT,
                      "tensor '" STR_FMT "' has rows of %llu, not a multiple of %u (%s)",
                      STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
                      traits->block_elements, traits->name);
    uint64_t bytes = tensor->dims[0] / traits->block_elements;
    bool overflow = __builtin_mul_overflow(bytes, (uint64_t)traits->block_bytes, &bytes);
    for (uint32_t d = 1; d < 4; d++)
        overflow |= __builtin_mul_overflow(bytes, tensor->dims[d], &bytes);
    if (overflow || bytes > reader->gguf->file_bytes)
        return refuse(reader, TD_CORRUPT,
                      "tensor '" STR_FMT "' of [%llu, %llu, %llu, %llu] does not fit the file of "
                      "%zu bytes",
                      STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
                      (unsigned long long)tensor->dims[1], (unsigned long long)tensor->dims[2],
                      (unsigned long long)tensor->dims[3], reader->gguf->file_bytes);
    tensor->bytes = (size_t)bytes;
    return TD_OK;
}

static enum td_status read_dims(struct reader *reader, struct gguf_tensor *tensor)
{
    enum td_status status = read_u32(reader, "a dimension count", &tensor->dim_count);
    if (status != TD_OK)
        return status;
    if (tensor->dim_count < 1 || tensor->dim_count > 4)
        return refuse(reader, TD_CORRUPT, "tensor '" STR_FMT "' has %u dimensions, not 1 to 4",
                      STR_ARG(tensor->name), tensor->dim_count);
    uint64_t elements = 1;
    for (uint32_t d = 0; d < 4; d++) {
        tensor->dims[d] = 1;
        if (d < tensor->dim_count)
            status = read_u64(reader, "a dimension", &tensor->dims[d]);
        if (status != TD_OK)
            return status;
        if (tensor->dims[d] == 0 || __builtin_mul_overflow(elements, tensor->dims[d], &elements) ||
            elements > INT64_MAX)
            return refuse(reader, TD_CORRUPT,
                          "tensor '" STR_FMT "': dimension %u of %llu is zero or overflows",
                          STR_ARG(tensor->name), d, (unsigned long long)tensor->dims[d]);
    }
    return TD_OK;
}

/* The offset becomes a pointer once the start of the data section is known (place_tensors). */
static enum td_status read_tensor(struct reader *reader, struct gguf_tensor *tensor,
                                  uint64_t *offset)
{
    enum td_status status = read_name(reader, "a tensor name", NAME_BYTES_MAX, &tensor->name);
    if (status == TD_OK)
        status = read_dims(reader, tensor);
    if (status == TD_OK)
        status = read_u32(reader, "a tensor type", &tensor->type);
    if (status == TD_OK)
        status = read_u64(reader, "a tensor offset", offset);
    return status;
}

static int compare_data(const void *a, const void *b)
{
    const struct gguf_tensor *const *left = a, *const *right = b;
    return ((*left)->data > (*right)->data) - ((*left)->data < (*right)->data);
}

static enum td_status check_overlap(struct reader *reader, const struct gguf *gguf)
{
    void *array;
    enum td_status status =
        alloc_array(reader, gguf->tensor_count, sizeof(struct gguf_tensor *), &array);
    if (status != TD_OK)
        return status;
    const struct gguf_tensor **sorted = array;
    for (size_t i = 0; i < gguf->tensor_count; i++)
        sorted[i] = &gguf->tensors[i];
    qsort(sorted, gguf->tensor_count, sizeof *sorted, compare_data);
    for (size_t i = 1; status == TD_OK && i < gguf->tensor_count; i++)
        if ((const char *)sorted[i - 1]->data + sorted[i - 1]->bytes >
            (const char *)sorted[i]->data)
            status = refuse(reader, TD_CORRUPT, "tensors '" STR_FMT "' and '" STR_FMT "' overlap",
                            STR_ARG(sorted[i - 1]->name), STR_ARG(sorted[i]->name));
    free(array);
    return status;
}

/* Turns the offsets into checked pointers. */
static enum td_status place_tensors(struct reader *reader, struct gguf *gguf,
                                    const uint64_t *offsets)
{
    uint64_t data_begin =
        ((uint64_t)gguf->directory_end + gguf->alignment - 1) / gguf->alignment * gguf->alignment;
    for (size_t i = 0; i < gguf->tensor_count; i++) {
        struct gguf_tensor *tensor = &gguf->tensors[i];
        enum td_status status = size_tensor(reader, tensor);
        if (status != TD_OK)
            return status;
        uint64_t begin, end;
        if (offsets[i] % gguf->alignment != 0)
            return refuse(reader, TD_CORRUPT,
                          "tensor '" STR_FMT "': offset %llu is not a multiple of the alignment "
                          "%u",
                          STR_ARG(tensor->name), (unsigned long long)offsets[i], gguf->alignment);
        if (__builtin_add_overflow(data_begin, offsets[i], &begin) ||
            __builtin_add_overflow(begin, (uint64_t)tensor->bytes, &end) || end > gguf->file_bytes)
            return refuse(reader, TD_CORRUPT,
                          "tensor '" STR_FMT "' (offset %llu, %zu bytes) ends after the file's "
                          "%zu bytes",
                          STR_ARG(tensor->name), (unsigned long long)offsets[i], tensor->bytes,
                          gguf->file_bytes);
        tensor->data = gguf->data + begin;
    }
    return check_overlap(reader, gguf);
}

static enum td_status read_tensors(struct reader *reader, struct gguf *gguf, bool vocab_only)
{
    void *tensors = NULL, *offsets = NULL;
    enum td_status status = index_init(reader, &gguf->tensor_index, gguf->tensor_count);
    if (status == TD_OK)
        status = alloc_array(reader, gguf->tensor_count, sizeof *gguf->tensors, &tensors);
    gguf->tensors = tensors;
    if (status == TD_OK)
        status = alloc_array(reader, gguf->tensor_count, sizeof(uint64_t), &offsets);
    for (size_t i = 0; status == TD_OK && i < gguf->tensor_count; i++) {
        struct gguf_tensor *tensor = &gguf->tensors[i];
        status = read_tensor(reader, tensor, (uint64_t *)offsets + i);
        if (status != TD_OK)
            break;
        uint32_t *slot = gguf_index_slot(&gguf->tensor_index, tensor->name, gguf->tensors,
                                         sizeof *gguf->tensors);
        if (*slot)
            status = refuse(reader, TD_CORRUPT, "tensor '" STR_FMT "' appears twice",
                            STR_ARG(tensor->name));
        *slot = (uint32_t)i + 1;
    }
    gguf->directory_end = reader->at;
    if (status == TD_OK && !vocab_only)
        status = place_tensors(reader, gguf, offsets);
    free(offsets);
    return status;
}

/* --- opening --- */

static enum td_status read_header(struct reader *reader, struct gguf *gguf)
{
    uint32_t magic = 0, version = 0;
    uint64_t tensor_count = 0, pair_count = 0;
    enum td_status status = read_u32(reader, "the magic", &magic);
    if (status == TD_OK && magic != 0x46554747) /* "GGUF" */
        return refuse(reader, TD_CORRUPT, "not a GGUF file (the magic is 0x%08x)", magic);
    if (status == TD_OK)
        status = read_u32(reader, "the version", &version);
    if (status == TD_OK && version != 2 && version != 3)
        return refuse(reader, TD_UNSUPPORTED, "GGUF version %u%s; versions 2 and 3 are read",
                      version, version == 0x03000000 ? " (big-endian)" : "");
    if (status == TD_OK)
        status = read_u64(reader, "the tensor count", &tensor_count);
    if (status == TD_OK)
        status = read_u64(reader, "the metadata count", &pair_count);
    if (status != TD_OK)
        return status;
    if (tensor_count > GGUF_TENSORS_MAX || tensor_count > bytes_left(reader) / TENSOR_BYTES_MIN)
        return refuse(reader, TD_CORRUPT, "claims %llu tensors, which the file cannot hold",
                      (unsigned long long)tensor_count);
    if (pair_count > PAIRS_MAX || pair_count > bytes_left(reader) / PAIR_BYTES_MIN)
        return refuse(reader, TD_CORRUPT, "claims %llu metadata pairs, which the file cannot hold",
                      (unsigned long long)pair_count);
    gguf->tensor_count = (size_t)tensor_count;
    gguf->pair_count = (size_t)pair_count;
    return TD_OK;
}

/* **takes** the mapping when `mapped` is set: it is unmapped on failure. */
static enum td_status parse(const void *data, size_t len, bool mapped, const char *label,
                            bool vocab_only, struct gguf **out, struct td_error *err)
{
    struct gguf *gguf = calloc(1, sizeof *gguf);
    char *path = strdup(label);
    if (gguf == NULL || path == NULL) {
        free(gguf);
        free(path);
        if (mapped)
            munmap((void *)(uintptr_t)data, len);
        return error_set(err, TD_NO_MEMORY, "%s: no memory", label);
    }
    *gguf = (struct gguf){.path = path, .data = data, .file_bytes = len, .mapped = mapped};
    struct reader reader = {gguf, 0, err};
    enum td_status status = read_header(&reader, gguf);
    if (status == TD_OK)
        status = read_pairs(&reader, gguf);
    if (status == TD_OK)
        status = read_alignment(&reader, gguf);
    if (status == TD_OK)
        status = read_tensors(&reader, gguf, vocab_only);
    if (status != TD_OK) {
        gguf_close(gguf);
        return status;
    }
    *out = gguf;
    return TD_OK;
}

enum td_status gguf_open_memory(const void *data, size_t len, const char *label, bool vocab_only,
                                struct gguf **out, struct td_error *err)
{
    ASSERT(data != NULL || len == 0);
    ASSERT(label != NULL && out != NULL);
    *out = NULL;
    return parse(data, len, false, label, vocab_only, out, err);
}

enum td_status gguf_open_file(const char *path, bool vocab_only, struct gguf **out,
                              struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    *out = NULL;
    int fd;
    uint64_t len;
    enum td_status status = file_open_regular(path, 0, &fd, &len, err);
    if (status != TD_OK)
        return status;
    if (len < 1) {
        close(fd);
        return error_set(err, TD_CORRUPT, "%s: the file is empty", path);
    }
    void *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    int map_errno = errno;
    close(fd);
    if (data == MAP_FAILED)
        return error_set(err, map_errno == ENOMEM ? TD_NO_MEMORY : TD_IO,
                         "%s: cannot map %zu bytes: %s%s", path, len, strerror(map_errno),
                         map_errno == ENOMEM ? "; is the address space limited (ulimit -v)?" : "");
    return parse(data, len, true, path, vocab_only, out, err);
}

void gguf_advise(const struct gguf *gguf, int advice)
{
    if (gguf->mapped)
        (void)madvise((void *)(uintptr_t)gguf->data, gguf->file_bytes, advice);
    for (size_t i = 0; i < gguf->part_count; i++)
        gguf_advise(gguf->parts[i], advice);
}

void gguf_close(struct gguf *gguf)
{
    if (gguf == NULL)
        return;
    if (gguf->mapped)
        munmap((void *)(uintptr_t)gguf->data, gguf->file_bytes);
    for (size_t i = 0; i < gguf->part_count; i++)
        gguf_close(gguf->parts[i]); /* parts have no parts */
    free(gguf->parts);
    free(gguf->pairs);
    free(gguf->pair_index.slots);
    free(gguf->tensors);
    free(gguf->tensor_index.slots);
    free(gguf->path);
    free(gguf);
}
