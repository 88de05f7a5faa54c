/* Offset table (little-endian):
 *   0      8  length of the header, n
 *   8      n  JSON: {NAME: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
 *             "__metadata__": {...}}
 *   8 + n  .  data; offsets count from here */
#include "quant/convert/safetensors.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "kernels/formats.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER_BYTES_MAX ((uint64_t)100 << 20) /* the format's own limit */
#define INDEX_BYTES_MAX ((size_t)64 << 20)
#define TENSORS_MAX 65536
#define FILES_MAX 1024
#define NAME_BYTES_MAX 512

struct shard {
    char *path;
    const uint8_t *data;
    size_t len;
    bool mapped;
};

struct safetensors {
    struct shard *shards;
    size_t shard_count;
    struct safetensor *tensors; /* sorted by name */
    size_t count, capacity;
};

static const struct {
    const char *name;
    enum safetensors_type type;
    uint64_t bytes;
} types[] = {{"F32", SAFE_F32, 4},   {"F16", SAFE_F16, 2},       {"BF16", SAFE_BF16, 2},
             {"F64", SAFE_F64, 8},   {"I32", SAFE_I32, 4},       {"I64", SAFE_I64, 8},
             {"U8", SAFE_U8, 1},     {"I8", SAFE_OTHER, 1},      {"BOOL", SAFE_OTHER, 1},
             {"I16", SAFE_OTHER, 2}, {"F8_E4M3", SAFE_OTHER, 1}, {"F8_E5M2", SAFE_OTHER, 1}};

void safetensors_close(struct safetensors *tensors)
{
    if (tensors == NULL)
        return;
    for (size_t i = 0; i < tensors->count; i++)
        free(tensors->tensors[i].name);
    for (size_t i = 0; i < tensors->shard_count; i++) {
        if (tensors->shards[i].mapped)
            munmap((void *)(uintptr_t)tensors->shards[i].data, tensors->shards[i].len);
        free(tensors->shards[i].path);
    }
    free(tensors->tensors);
    free(tensors->shards);
    free(tensors);
}

static enum td_status bad_tensor(const struct shard *shard, const char *name, const char *reason,
                                 struct td_error *err)
{
    return error_set(err, TD_CORRUPT, "%s: tensor '%.100s' %s", shard->path, name, reason);
}

static enum td_status read_shape(const struct shard *shard, const char *name,
                                 const struct json *shape, struct safetensor *out,
                                 struct td_error *err)
{
    if (json_kind_of(shape) != JSON_KIND_ARRAY || json_count(shape) > 4)
        return bad_tensor(shard, name, "has no shape of at most four dimensions", err);
    out->dim_count = (uint32_t)json_count(shape);
    out->count = 1;
    for (uint32_t d = 0; d < out->dim_count; d++) {
        int64_t dim = json_int(json_at(shape, d), -1);
        if (dim < 0 || __builtin_mul_overflow(out->count, (uint64_t)dim, &out->count))
            return bad_tensor(shard, name, "has an absurd shape", err);
        out->dims[d] = (uint64_t)dim;
    }
    return TD_OK;
}

static enum td_status read_tensor(const struct shard *shard, size_t data_at, const char *name,
                                  const struct json *entry, struct safetensor *out,
                                  struct td_error *err)
{
    struct td_str dtype = json_text(json_get(entry, "dtype"));
    const struct json *offsets = json_get(entry, "data_offsets");
    uint64_t element = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_equal(dtype, str_from(types[i].name))) {
            out->type = types[i].type;
            element = types[i].bytes;
        }
    if (element == 0)
        return bad_tensor(shard, name, "has a dtype that is not known", err);
    enum td_status status = read_shape(shard, name, json_get(entry, "shape"), out, err);
    if (status != TD_OK)
        return status;
    int64_t begin = json_int(json_at(offsets, 0), -1), end = json_int(json_at(offsets, 1), -1);
    uint64_t room = shard->len - data_at;
    if (json_count(offsets) != 2 || begin < 0 || end < begin || (uint64_t)end > room)
        return bad_tensor(shard, name, "has data_offsets outside the file", err);
    if (__builtin_mul_overflow(out->count, element, &out->bytes) ||
        out->bytes != (uint64_t)(end - begin))
        return bad_tensor(shard, name, "has data_offsets that do not fit its shape", err);
    out->data = shard->data + data_at + begin;
    return TD_OK;
}

static bool grow(struct safetensors *tensors)
{
    if (tensors->count < tensors->capacity)
        return true;
    size_t capacity = tensors->capacity ? 2 * tensors->capacity : 256;
    void *grown = realloc(tensors->tensors, capacity * sizeof *tensors->tensors);
    if (grown == NULL)
        return false;
    tensors->tensors = grown;
    tensors->capacity = capacity;
    return true;
}

/* Of two with the same begin the empty one comes first: it overlaps nothing. */
static int by_data(const void *a, const void *b)
{
    const struct safetensor *left = a, *right = b;
    if (left->data == right->data)
        return (left->bytes > right->bytes) - (left->bytes < right->bytes);
    return left->data > right->data ? 1 : -1;
}

/* No two tensors of a shard share bytes: no writer does that. */
static enum td_status refuse_overlaps(const struct shard *shard, struct safetensor *tensors,
                                      size_t count, struct td_error *err)
{
    qsort(tensors, count, sizeof *tensors, by_data);
    for (size_t i = 0; i + 1 < count; i++)
        if (tensors[i].bytes && tensors[i].data + tensors[i].bytes > tensors[i + 1].data)
            return bad_tensor(shard, tensors[i].name, "overlaps another one", err);
    return TD_OK;
}

static enum td_status read_header(struct safetensors *tensors, const struct shard *shard,
                                  const struct json *header, size_t data_at, struct td_error *err)
{
    void *iterator = NULL;
    const char *name;
    const struct json *entry;
    size_t first = tensors->count;
    while (json_next(header, &iterator, &name, &entry)) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (tensors->count == TENSORS_MAX || strlen(name) > NAME_BYTES_MAX)
            return error_set(err, TD_LIMIT,
                             "%s: more than %d tensors, or a name of more than %d "
                             "bytes",
                             shard->path, TENSORS_MAX, NAME_BYTES_MAX);
        struct safetensor tensor = {.dims = {1, 1, 1, 1}};
        enum td_status status = read_tensor(shard, data_at, name, entry, &tensor, err);
        if (status != TD_OK)
            return status;
        if (!grow(tensors) || (tensor.name = strdup(name)) == NULL)
            return error_set(err, TD_NO_MEMORY, "%s: no memory", shard->path);
        tensors->tensors[tensors->count++] = tensor;
    }
    return refuse_overlaps(shard, tensors->tensors + first, tensors->count - first, err);
}

static enum td_status read_shard(struct safetensors *tensors, const struct shard *shard,
                                 struct td_error *err)
{
    uint64_t len = 0;
    if (shard->len >= sizeof len)
        memcpy(&len, shard->data, sizeof len);
    if (shard->len < sizeof len || len > HEADER_BYTES_MAX || len > shard->len - sizeof len)
        return error_set(err, TD_CORRUPT,
                         "%s: no safetensors file: its header is to have %llu bytes, the file has "
                         "%zu",
                         shard->path, (unsigned long long)len, shard->len);
    struct json *header = NULL;
    struct td_str text = {(const char *)shard->data + sizeof len, (size_t)len};
    enum td_status status = json_parse(text, &header, err);
    if (status != TD_OK) {
        error_prefix(err, "%s: header", shard->path);
        return status == TD_NO_MEMORY ? status : TD_CORRUPT;
    }
    if (json_kind_of(header) != JSON_KIND_OBJECT)
        status = error_set(err, TD_CORRUPT, "%s: the header is no JSON object", shard->path);
    else
        status = read_header(tensors, shard, header, sizeof len + (size_t)len, err);
    json_free(header);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct safetensor *)a)->name, ((const struct safetensor *)b)->name);
}

static enum td_status finish(struct safetensors *tensors, struct td_error *err)
{
    if (tensors->count == 0)
        return error_set(err, TD_CORRUPT, "%s: there are no tensors", tensors->shards[0].path);
    qsort(tensors->tensors, tensors->count, sizeof *tensors->tensors, by_name);
    for (size_t i = 0; i + 1 < tensors->count; i++)
        if (strcmp(tensors->tensors[i].name, tensors->tensors[i + 1].name) == 0)
            return error_set(err, TD_CORRUPT, "tensor '%.100s' is in two shards",
                             tensors->tensors[i].name);
    return TD_OK;
}

/* Maps the next shard. */
static enum td_status map_shard(struct safetensors *tensors, const char *path, struct td_error *err)
{
    int fd = -1;
    uint64_t bytes = 0;
    enum td_status status = file_open_regular(path, 0, &fd, &bytes, err);
    if (status != TD_OK)
        return status;
    struct shard *shard = &tensors->shards[tensors->shard_count];
    void *data = bytes ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data == MAP_FAILED)
        return error_set(err, TD_IO, "%s: %s", path, bytes ? strerror(errno) : "is empty");
    *shard = (struct shard){strdup(path), data, (size_t)bytes, true};
    tensors->shard_count++;
    return shard->path ? read_shard(tensors, shard, err)
                       : error_set(err, TD_NO_MEMORY, "%s: no memory", path);
}

static struct safetensors *new_tensors(struct td_error *err)
{
    struct safetensors *tensors = calloc(1, sizeof *tensors);
    if (tensors)
        tensors->shards = calloc(FILES_MAX, sizeof *tensors->shards);
    if (tensors == NULL || tensors->shards == NULL) {
        error_set(err, TD_NO_MEMORY, "no memory for tensors");
        free(tensors);
        return NULL;
    }
    return tensors;
}

static enum td_status give(struct safetensors *tensors, enum td_status status,
                           struct safetensors **out, struct td_error *err)
{
    if (status == TD_OK)
        status = finish(tensors, err);
    if (status != TD_OK) {
        safetensors_close(tensors);
        return status;
    }
    *out = tensors;
    return TD_OK;
}

enum td_status safetensors_open_memory(const void *data, size_t len, struct safetensors **out,
                                       struct td_error *err)
{
    struct safetensors *tensors = new_tensors(err);
    if (tensors == NULL)
        return TD_NO_MEMORY;
    tensors->shards[0] = (struct shard){strdup("memory"), data, len, false};
    tensors->shard_count = 1;
    return give(tensors, read_shard(tensors, &tensors->shards[0], err), out, err);
}

enum td_status safetensors_open_file(const char *path, struct safetensors **out,
                                     struct td_error *err)
{
    struct safetensors *tensors = new_tensors(err);
    return tensors ? give(tensors, map_shard(tensors, path, err), out, err) : TD_NO_MEMORY;
}

static bool is_mapped(const struct safetensors *tensors, const char *path)
{
    for (size_t i = 0; i < tensors->shard_count; i++)
        if (strcmp(tensors->shards[i].path, path) == 0)
            return true;
    return false;
}

/* A shard is a file of the folder: its name has no slash. */
static enum td_status map_indexed(struct safetensors *tensors, const char *folder,
                                  const struct json *index, struct td_error *err)
{
    void *iterator = NULL;
    const char *name;
    const struct json *file;
    char path[PATH_MAX];
    while (json_next(json_get(index, "weight_map"), &iterator, &name, &file)) {
        const char *shard = json_cstr(file);
        if (shard == NULL || *shard == '\0' || *shard == '.' || strchr(shard, '/'))
            return error_set(err, TD_CORRUPT,
                             "%s/model.safetensors.index.json: the shard of '%.100s' is no file of "
                             "the folder",
                             folder, name);
        enum td_status status = path_join(path, sizeof path, folder, shard, err);
        if (status != TD_OK)
            return status;
        if (is_mapped(tensors, path))
            continue;
        if (tensors->shard_count == FILES_MAX)
            return error_set(err, TD_LIMIT, "%s: more than %d shards", folder, FILES_MAX);
        status = map_shard(tensors, path, err);
        if (status != TD_OK)
            return status;
    }
    return tensors->shard_count
               ? TD_OK
               : error_set(err, TD_CORRUPT, "%s/model.safetensors.index.json names no shard",
                           folder);
}

static enum td_status check_index(const struct safetensors *tensors, const char *folder,
                                  const struct json *index, struct td_error *err)
{
    void *iterator = NULL;
    const char *name;
    const struct json *file;
    while (json_next(json_get(index, "weight_map"), &iterator, &name, &file))
        if (safetensors_find(tensors, name) == NULL)
            return error_set(err, TD_CORRUPT,
                             "%s/%.200s has no tensor '%.100s', which the index puts there; fetch "
                             "the file again",
                             folder, json_cstr(file), name);
    return TD_OK;
}

enum td_status safetensors_open(const char *folder, struct safetensors **out, struct td_error *err)
{
    char path[PATH_MAX];
    enum td_status status = path_join(path, sizeof path, folder, "model.safetensors", err);
    if (status != TD_OK)
        return status;
    if (access(path, F_OK) == 0)
        return safetensors_open_file(path, out, err);
    struct buf text;
    struct json *index = NULL;
    struct safetensors *tensors = NULL;
    buf_init(&text, INDEX_BYTES_MAX);
    status = path_join(path, sizeof path, folder, "model.safetensors.index.json", err);
    if (status == TD_OK && access(path, F_OK) != 0)
        status =
            error_set(err, TD_NOT_FOUND,
                      "%s has neither model.safetensors nor model.safetensors.index.json", folder);
    if (status == TD_OK)
        status = buf_read_file(&text, path, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), &index, err);
    if (status == TD_OK && (tensors = new_tensors(err)) == NULL)
        status = TD_NO_MEMORY;
    if (status == TD_OK)
        status = give(tensors, map_indexed(tensors, folder, index, err), &tensors, err);
    if (status == TD_OK) {
        status = check_index(tensors, folder, index, err);
        if (status == TD_OK)
            *out = tensors;
        else
            safetensors_close(tensors);
    }
    json_free(index);
    buf_deinit(&text);
    return status;
}

/* --- access --- */

size_t safetensors_count(const struct safetensors *tensors)
{
    return tensors->count;
}

const struct safetensor *safetensors_at(const struct safetensors *tensors, size_t index)
{
    return index < tensors->count ? &tensors->tensors[index] : NULL;
}

const struct safetensor *safetensors_find(const struct safetensors *tensors, const char *name)
{
    size_t low = 0, high = tensors->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, tensors->tensors[middle].name);
        if (order == 0)
            return &tensors->tensors[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool safetensor_is_float(const struct safetensor *tensor)
{
    return tensor->type <= SAFE_F64;
}

void safetensor_read(const struct safetensor *tensor, uint64_t at, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        double wide;
        switch (tensor->type) {
        case SAFE_F32:
            out[i] = load_f32(tensor->data + 4 * (at + i));
            break;
        case SAFE_F16:
            out[i] = f16_to_f32(load_u16(tensor->data + 2 * (at + i)));
            break;
        case SAFE_BF16:
            out[i] = bf16_to_f32(load_u16(tensor->data + 2 * (at + i)));
            break;
        case SAFE_F64:
            memcpy(&wide, tensor->data + 8 * (at + i), sizeof wide);
            out[i] = (float)wide;
            break;
        default:
            out[i] = 0;
        }
    }
}

size_t safetensors_file_count(const struct safetensors *tensors)
{
    return tensors->shard_count;
}

const char *safetensors_file(const struct safetensors *tensors, size_t index, const void **data,
                             size_t *len)
{
    *data = tensors->shards[index].data;
    *len = tensors->shards[index].len;
    return tensors->shards[index].path;
}
