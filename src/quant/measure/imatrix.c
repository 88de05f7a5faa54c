/* Offset table of the older form (.dat; all little-endian, nothing padded):
 *   0  4  i32 number of entries
 *      .  entries: i32 length of the name, name, i32 calls, i32 values, f32 x values
 *      .  optionally: i32 chunks, i32 length of a data set's name, name
 * A value is sum(x^2) / inputs * calls, so value / calls is the mean. */
#include "quant/measure/imatrix.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/gguf/gguf_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ENTRIES_MAX 65536
#define VALUES_MAX ((uint64_t)1 << 26) /* of an entry: 128 experts of half a million columns */
#define DAT_BYTES_MAX ((size_t)2 << 30)
/* A column that no text used is still not free: its share of the mean. */
#define LEAST_IMPORTANCE 1e-3f

struct imatrix {
    struct imatrix_entry *entries;
    size_t count, capacity;
};

struct imatrix *imatrix_new(void)
{
    return calloc(1, sizeof(struct imatrix));
}

void imatrix_free(struct imatrix *imatrix)
{
    for (size_t i = 0; imatrix && i < imatrix->count; i++) {
        free(imatrix->entries[i].sums);
        free(imatrix->entries[i].counts);
        free(imatrix->entries[i].importance);
    }
    if (imatrix)
        free(imatrix->entries);
    free(imatrix);
}

static struct imatrix_entry *find(const struct imatrix *imatrix, struct td_str name)
{
    for (size_t i = 0; imatrix && i < imatrix->count; i++)
        if (str_equal(name, str_from(imatrix->entries[i].name)))
            return &imatrix->entries[i];
    return NULL;
}

const struct imatrix_entry *imatrix_find(const struct imatrix *imatrix, struct td_str name)
{
    return find(imatrix, name);
}

size_t imatrix_count(const struct imatrix *imatrix)
{
    return imatrix ? imatrix->count : 0;
}

const struct imatrix_entry *imatrix_at(const struct imatrix *imatrix, size_t index)
{
    return index < imatrix_count(imatrix) ? &imatrix->entries[index] : NULL;
}

struct imatrix_entry *imatrix_add(struct imatrix *imatrix, struct td_str name, uint32_t cols,
                                  uint32_t experts)
{
    struct imatrix_entry *entry = find(imatrix, name);
    if (entry)
        return entry->cols == cols && entry->experts == experts ? entry : NULL;
    if (cols == 0 || experts == 0 || (uint64_t)cols * experts > VALUES_MAX ||
        name.len >= sizeof entry->name || imatrix->count == ENTRIES_MAX)
        return NULL;
    if (imatrix->count == imatrix->capacity) {
        size_t capacity = imatrix->capacity ? 2 * imatrix->capacity : 64;
        void *grown = realloc(imatrix->entries, capacity * sizeof *imatrix->entries);
        if (grown == NULL)
            return NULL;
        imatrix->entries = grown;
        imatrix->capacity = capacity;
    }
    entry = &imatrix->entries[imatrix->count];
    *entry = (struct imatrix_entry){.cols = cols, .experts = experts};
    memcpy(entry->name, name.data, name.len);
    entry->sums = calloc((size_t)cols * experts, sizeof *entry->sums);
    entry->counts = calloc(experts, sizeof *entry->counts);
    if (entry->sums == NULL || entry->counts == NULL) {
        free(entry->sums);
        free(entry->counts);
        return NULL;
    }
    imatrix->count++;
    return entry;
}

struct imatrix_entry *imatrix_entry_at(struct imatrix *imatrix, size_t index)
{
    return index < imatrix->count ? &imatrix->entries[index] : NULL;
}

static void settle_expert(const struct imatrix_entry *entry, uint32_t expert)
{
    const double *sums = entry->sums + (size_t)expert * entry->cols;
    float *out = entry->importance + (size_t)expert * entry->cols;
    double total = 0;
    for (uint32_t i = 0; i < entry->cols; i++)
        total += sums[i];
    double mean = total / entry->cols;
    for (uint32_t i = 0; i < entry->cols; i++) {
        /* An expert that no text used: every column the same. */
        float relative = entry->counts[expert] && mean > 0 ? (float)(sums[i] / mean) : 1.0f;
        out[i] = relative > LEAST_IMPORTANCE ? relative : LEAST_IMPORTANCE;
    }
}

enum td_status imatrix_settle(struct imatrix *imatrix, struct td_error *err)
{
    for (size_t i = 0; i < imatrix->count; i++) {
        struct imatrix_entry *entry = &imatrix->entries[i];
        size_t values = (size_t)entry->cols * entry->experts;
        for (size_t v = 0; v < values; v++)
            if (!isfinite(entry->sums[v]) || entry->sums[v] < 0)
                return error_set(err, TD_CORRUPT,
                                 "importance of '%s': value %zu is negative or no number",
                                 entry->name, v);
        if (entry->importance == NULL)
            entry->importance = malloc(values * sizeof *entry->importance);
        if (entry->importance == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for the importance of '%s'",
                             entry->name);
        for (uint32_t e = 0; e < entry->experts; e++)
            settle_expert(entry, e);
    }
    return TD_OK;
}

/* --- the older form --- */

struct reader {
    const uint8_t *data;
    size_t at, len;
};

static bool read_i32(struct reader *reader, int32_t *out)
{
    if (reader->len - reader->at < sizeof *out)
        return false;
    memcpy(out, reader->data + reader->at, sizeof *out);
    reader->at += sizeof *out;
    return true;
}

static bool read_entry(struct reader *reader, struct imatrix *imatrix)
{
    int32_t name_len, calls, values;
    if (!read_i32(reader, &name_len) || name_len <= 0 || name_len > 64 ||
        reader->len - reader->at < (size_t)name_len)
        return false;
    struct td_str name = {(const char *)reader->data + reader->at, (size_t)name_len};
    reader->at += (size_t)name_len;
    if (!read_i32(reader, &calls) || !read_i32(reader, &values) || values <= 0 ||
        (size_t)values > (reader->len - reader->at) / sizeof(float))
        return false;
    /* The form does not say how many experts the values are of; the model will (quantize.c). */
    if (find(imatrix, name))
        return false;
    struct imatrix_entry *entry = imatrix_add(imatrix, name, (uint32_t)values, 1);
    if (entry == NULL)
        return false;
    entry->counts[0] = calls > 0 ? (uint64_t)calls : 1;
    for (int32_t i = 0; i < values; i++) {
        float value;
        memcpy(&value, reader->data + reader->at + (size_t)i * sizeof value, sizeof value);
        entry->sums[i] = (double)value;
    }
    reader->at += (size_t)values * sizeof(float);
    return true;
}

enum td_status imatrix_read_dat(const void *data, size_t len, const char *label,
                                struct imatrix **out, struct td_error *err)
{
    struct reader reader = {data, 0, len};
    struct imatrix *imatrix = imatrix_new();
    int32_t count = 0;
    if (imatrix == NULL)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", label);
    enum td_status status = TD_OK;
    if (!read_i32(&reader, &count) || count <= 0 || count > ENTRIES_MAX)
        status = error_set(err, TD_CORRUPT, "%s: neither GGUF nor an importance matrix", label);
    for (int32_t i = 0; status == TD_OK && i < count; i++)
        if (!read_entry(&reader, imatrix))
            status = error_set(err, TD_CORRUPT,
                               "%s: entry %d of %d, near byte %zu of %zu, is cut "
                               "off or wrong",
                               label, (int)i, (int)count, reader.at, len);
    if (status == TD_OK)
        status = imatrix_settle(imatrix, err);
    if (status != TD_OK) {
        imatrix_free(imatrix);
        return status;
    }
    *out = imatrix;
    return TD_OK;
}

/* --- GGUF --- */

static enum td_status take_sums(const struct gguf *gguf, const struct gguf_tensor *sums,
                                struct imatrix *imatrix, struct td_error *err)
{
    char name[80];
    struct td_str stem = str_slice(sums->name, 0, sums->name.len - strlen(".in_sum2"));
    snprintf(name, sizeof name, STR_FMT ".counts", STR_ARG(stem));
    const struct gguf_tensor *counts = gguf_find_tensor(gguf, name);
    uint64_t experts = sums->dims[1];
    if (counts == NULL || sums->type != TENSOR_F32 || counts->type != TENSOR_F32 ||
        counts->bytes / sizeof(float) != experts || sums->dims[2] != 1 || sums->dims[3] != 1 ||
        sums->dims[0] > UINT32_MAX || experts > UINT32_MAX)
        return error_set(err, TD_CORRUPT, "%s: '" STR_FMT "' has no counts, or not of its shape",
                         gguf_path(gguf), STR_ARG(stem));
    struct imatrix_entry *entry =
        imatrix_add(imatrix, stem, (uint32_t)sums->dims[0], (uint32_t)experts);
    if (entry == NULL)
        return error_set(err, TD_LIMIT, "%s: '" STR_FMT "' is too large", gguf_path(gguf),
                         STR_ARG(stem));
    for (size_t i = 0; i < (size_t)entry->cols * entry->experts; i++)
        entry->sums[i] = (double)((const float *)sums->data)[i];
    for (uint32_t e = 0; e < entry->experts; e++) {
        float count = ((const float *)counts->data)[e];
        if (!(count >= 0) || count > 1e18f)
            return error_set(err, TD_CORRUPT, "%s: a count of '" STR_FMT "' is no number",
                             gguf_path(gguf), STR_ARG(stem));
        entry->counts[e] = (uint64_t)count;
    }
    return TD_OK;
}

static enum td_status take_gguf(const struct gguf *gguf, struct imatrix *imatrix,
                                struct td_error *err)
{
    struct td_str kind = {0};
    if (!gguf_get_string(gguf, "general.type", &kind) || !str_equal(kind, STR("imatrix")))
        return error_set(err, TD_INVALID,
                         "%s is a GGUF file, but not an importance matrix (general.type is not "
                         "\"imatrix\"); 'tandem imatrix' makes one",
                         gguf_path(gguf));
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        if (str_ends_with(tensor->name, STR(".in_sum2")) && tensor->name.len > 8)
            status = take_sums(gguf, tensor, imatrix, err);
    }
    return status == TD_OK ? imatrix_settle(imatrix, err) : status;
}

static enum td_status read_old(const char *path, struct imatrix **out, struct td_error *err)
{
    struct buf file;
    buf_init(&file, DAT_BYTES_MAX);
    enum td_status status = buf_read_file(&file, path, err);
    if (status == TD_OK)
        status = imatrix_read_dat(file.data, file.len, path, out, err);
    buf_deinit(&file);
    return status;
}

enum td_status imatrix_read(const char *path, struct imatrix **out, struct td_error *err)
{
    char magic[4] = "";
    int fd = -1;
    enum td_status status = file_open_regular(path, 0, &fd, NULL, err);
    if (status != TD_OK)
        return status;
    bool is_gguf = read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "GGUF", 4) == 0;
    close(fd);
    if (!is_gguf)
        return read_old(path, out, err);
    struct gguf *gguf = NULL;
    struct imatrix *imatrix = imatrix_new();
    status = gguf_open(path, false, &gguf, err);
    if (status == TD_OK && imatrix == NULL)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    if (status == TD_OK)
        status = take_gguf(gguf, imatrix, err);
    gguf_close(gguf);
    if (status != TD_OK) {
        imatrix_free(imatrix);
        return status;
    }
    *out = imatrix;
    return TD_OK;
}

/* --- writing --- */

static void put_origin(struct buf *pairs, const struct imatrix_origin *origin)
{
    gguf_put_string(pairs, "general.type", STR("imatrix"));
    gguf_put_strings(pairs, "imatrix.datasets", origin->dataset_count);
    for (size_t i = 0; i < origin->dataset_count; i++)
        gguf_put_element(pairs, str_from(origin->datasets[i]));
    gguf_put_u32(pairs, "imatrix.chunk_count", origin->chunk_count);
    gguf_put_u32(pairs, "imatrix.chunk_size", origin->chunk_size);
}

static enum td_status append_entry(struct gguf_writer *writer, const struct imatrix_entry *entry,
                                   struct td_error *err)
{
    size_t values = (size_t)entry->cols * entry->experts;
    size_t most = values > entry->experts ? values : entry->experts;
    float *row = malloc(most * sizeof *row);
    if (row == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the importance of '%s'", entry->name);
    for (size_t i = 0; i < values; i++)
        row[i] = (float)entry->sums[i];
    enum td_status status = gguf_writer_append(writer, row, values * sizeof *row, err);
    for (uint32_t e = 0; e < entry->experts; e++)
        row[e] = (float)entry->counts[e];
    if (status == TD_OK)
        status = gguf_writer_append(writer, row, entry->experts * sizeof *row, err);
    free(row);
    return status;
}

enum td_status imatrix_write(const struct imatrix *imatrix, const struct imatrix_origin *origin,
                             const char *path, struct td_error *err)
{
    struct buf pairs;
    struct gguf_writer *writer = NULL;
    struct gguf_write_tensor *tensors = calloc(2 * imatrix->count + 1, sizeof *tensors);
    char(*names)[2][80] = calloc(imatrix->count + 1, sizeof *names);
    enum td_status status = TD_OK;
    if (tensors == NULL || names == NULL)
        status = error_set(err, TD_NO_MEMORY, "%s: no memory", path);
    for (size_t i = 0; status == TD_OK && i < imatrix->count; i++) {
        const struct imatrix_entry *entry = &imatrix->entries[i];
        snprintf(names[i][0], sizeof names[i][0], "%s.in_sum2", entry->name);
        snprintf(names[i][1], sizeof names[i][1], "%s.counts", entry->name);
        tensors[2 * i] = (struct gguf_write_tensor){
            str_from(names[i][0]), TENSOR_F32, 2, {entry->cols, entry->experts, 1, 1}};
        tensors[2 * i + 1] = (struct gguf_write_tensor){
            str_from(names[i][1]), TENSOR_F32, 2, {1, entry->experts, 1, 1}};
    }
    buf_init(&pairs, GGUF_HEAD_BYTES_MAX);
    put_origin(&pairs, origin);
    const struct gguf_head head = {&pairs, 4, tensors, 2 * imatrix->count, 0};
    if (status == TD_OK)
        status = gguf_writer_new(path, &head, &writer, err);
    for (size_t i = 0; status == TD_OK && i < imatrix->count; i++)
        status = append_entry(writer, &imatrix->entries[i], err);
    if (status == TD_OK)
        status = gguf_writer_finish(writer, err);
    gguf_writer_free(writer);
    buf_deinit(&pairs);
    free(tensors);
    free(names);
    return status;
}
