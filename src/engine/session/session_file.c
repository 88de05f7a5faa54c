/* Writes and reads keys and values of a sequence as bytes (the layout is in session_file.h). Pages
 * are taken apart and written position by position, because the reader's positions may begin in the
 * middle of a page. A file from another model of the same shape would give wrong answers without an
 * error, so the header has a hash of the weights. */
#include "engine/session/session_file.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"
#include "base/text/names.h"
#include "engine/model/heads.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC "TANDEMKV"
#define VERSION 1

enum {
    AT_VERSION = 8,
    AT_TYPE = 12,
    AT_FINGERPRINT = 16,
    AT_LAYERS = 32,
    AT_KV_HEADS = 36,
    AT_HEAD_SIZE = 40,
    AT_BEGIN = 44,
    AT_COUNT = 48,
    AT_FLAGS = 52,
    AT_BYTES = 56,
    AT_WEIGHTS = 64,
    AT_CHECKSUM = 72,
    FLAG_LONG_ROPE = 1,
    FLAG_STATE = 2,
    FINGERPRINT_BYTES = 16,
    SAMPLE_BYTES = 64
};

/* --- fields --- */

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)get(at, 4);
}

static uint64_t checksum(const uint8_t *data, size_t size)
{
    uint64_t hash = hash_fnv1a64(data, AT_CHECKSUM, HASH_FNV1A64_BASIS);
    return hash_fnv1a64(data + SESSION_FILE_HEADER_BYTES, size - SESSION_FILE_HEADER_BYTES, hash);
}

/* Hashes two samples of each tensor. This tells a model from one that was trained further, without
 * reading all weights. */
static uint64_t hash_weights(const struct td_model *model)
{
    uint64_t hash = HASH_FNV1A64_BASIS;
    for (size_t i = 0; i < gguf_tensor_count(model->gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(model->gguf, i);
        size_t length = tensor->bytes < SAMPLE_BYTES ? tensor->bytes : SAMPLE_BYTES;
        const uint8_t *middle = (const uint8_t *)tensor->data + (tensor->bytes - length) / 2;
        hash = hash_fnv1a64(tensor->data, length, hash);
        hash = hash_fnv1a64(middle, length, hash);
    }
    return hash;
}

/* --- parts of pages --- */

/* One array of a page: rows of KV_PAGE_TOKENS units, one unit for each position. */
struct plane {
    size_t offset; /* from the head's keys */
    size_t rows, unit_bytes;
};

enum { PLANES = 4 };

static void planes_of(const struct kv_pool *pool, enum head_kind kind, struct plane planes[PLANES])
{
    size_t size = model_head_size(pool->model, kind), columns = kv_value_columns(size);
    size_t values_at = pool->key_bytes[kind];
    enum td_kv_type keys = kv_type_of_keys(pool->kv_type);
    enum td_kv_type values = kv_type_of_values(pool->kv_type);
    size_t key_rows = keys == TD_KV_Q4_0 ? (size + 1) / 2 : size;
    size_t key_bytes = kv_elements_bytes(keys, size),
           value_bytes = kv_elements_bytes(values, columns);
    planes[0] = (struct plane){0, key_rows, key_bytes / key_rows};
    planes[1] = (struct plane){key_bytes * KV_PAGE_TOKENS, kv_part_blocks(keys, size), 2};
    planes[2] = (struct plane){values_at, 1, value_bytes};
    planes[3] =
        (struct plane){values_at + value_bytes * KV_PAGE_TOKENS, kv_part_blocks(values, size), 2};
}

/* Bytes of one position in all layers. */
static uint64_t position_bytes(const struct kv_pool *pool)
{
    struct plane planes[PLANES];
    uint64_t bytes = pool->kept_floats * sizeof(float);
    for (int kind = 0; kind < HEAD_KIND_COUNT; kind++) {
        planes_of(pool, (enum head_kind)kind, planes);
        for (int i = 0; i < PLANES; i++)
            bytes += pool->model->kv_heads[kind] * planes[i].rows * planes[i].unit_bytes;
    }
    return bytes;
}

/* Copies positions [begin, end), which are in one page, of one head; and returns how many bytes. */
static size_t copy_head(uint8_t *head, const struct plane planes[PLANES], uint32_t begin,
                        uint32_t end, const uint8_t *in, uint8_t *out)
{
    size_t copied = 0;
    for (const struct plane *plane = planes; plane < planes + PLANES; plane++) {
        size_t length = (end - begin) * plane->unit_bytes;
        for (size_t row = 0; row < plane->rows; row++, copied += length) {
            uint8_t *at = head + plane->offset +
                          (row * KV_PAGE_TOKENS + begin % KV_PAGE_TOKENS) * plane->unit_bytes;
            memcpy(out ? out + copied : at, out ? at : in + copied, length);
        }
    }
    return copied;
}

/* Copies positions [begin, end) from `in` to the pages, or from the pages to `out`. One of `in` and
 * `out` is NULL. */
static void copy_positions(const struct sequence *sequence, uint32_t begin, uint32_t end,
                           const uint8_t *in, uint8_t *out)
{
    const struct td_model *model = sequence->model;
    struct plane planes[HEAD_KIND_COUNT][PLANES];
    uint32_t own_count = model->layer_count - model->shared_key_count; /* layers with keys */
    for (int kind = 0; kind < HEAD_KIND_COUNT; kind++)
        planes_of(sequence->pool, (enum head_kind)kind, planes[kind]);
    for (uint32_t to; begin < end; begin = to) {
        uint32_t page = begin / KV_PAGE_TOKENS, page_end = (page + 1) * KV_PAGE_TOKENS;
        to = page_end < end ? page_end : end;
        for (uint32_t i = 0; i < own_count; i++)
            for (uint32_t h = 0; h < model->layers[i].kv_head_count; h++) {
                uint8_t *head = kv_page_keys(sequence->pool, sequence->pages[page], i, h);
                size_t copied =
                    copy_head(head, planes[model->layers[i].head_kind], begin, to, in, out);
                out = out ? out + copied : NULL;
                in = in ? in + copied : NULL;
            }
        size_t kept = (to - begin) * sequence->pool->kept_floats * sizeof(float);
        if (kept == 0)
            continue;
        void *at = kv_page_kept(sequence->pool, sequence->pages[page], begin);
        memcpy(out ? out : at, out ? at : in, kept);
        out = out ? out + kept : NULL;
        in = in ? in + kept : NULL;
    }
}

/* --- writing --- */

static uint64_t file_bytes(const struct sequence *sequence, uint32_t count, bool state)
{
    return SESSION_FILE_HEADER_BYTES + count * (sizeof(int32_t) + position_bytes(sequence->pool)) +
           (state ? sequence->pool->checkpoints.state_bytes : 0);
}

/* Whether the sequence knows the state of recurrent layers after `end` positions. */
static bool has_state(const struct sequence *sequence, uint32_t end)
{
    return sequence->state && sequence->state_at == end;
}

uint64_t session_file_bytes(const struct sequence *sequence, uint32_t begin, uint32_t count)
{
    return file_bytes(sequence, count, has_state(sequence, begin + count));
}

void session_file_seal(uint8_t *data, size_t size)
{
    ASSERT(size >= SESSION_FILE_HEADER_BYTES);
    put(data + AT_BYTES, size - SESSION_FILE_HEADER_BYTES, 8);
    put(data + AT_CHECKSUM, checksum(data, size), 8);
}

static bool is_long(const struct sequence *sequence)
{
    return sequence->ropes[0] == &sequence->model->ropes[ROPE_LONG];
}

void session_file_write(const struct sequence *sequence, uint32_t begin, uint32_t count,
                        uint8_t *out)
{
    ASSERT((uint64_t)begin + count <= sequence->length);
    const struct td_model *model = sequence->model;
    memset(out, 0, SESSION_FILE_HEADER_BYTES);
    memcpy(out, MAGIC, AT_VERSION);
    put(out + AT_VERSION, VERSION, 4);
    put(out + AT_TYPE, sequence->pool->kv_type, 4);
    memcpy(out + AT_FINGERPRINT, model->fingerprint, FINGERPRINT_BYTES);
    put(out + AT_LAYERS, model->layer_count, 4);
    put(out + AT_KV_HEADS, model->kv_head_count, 4);
    put(out + AT_HEAD_SIZE, model->head_size, 4);
    put(out + AT_BEGIN, begin, 4);
    put(out + AT_COUNT, count, 4);
    bool state = has_state(sequence, begin + count);
    put(out + AT_FLAGS, (is_long(sequence) ? FLAG_LONG_ROPE : 0) | (state ? FLAG_STATE : 0), 4);
    put(out + AT_WEIGHTS, hash_weights(model), 8);
    uint8_t *at = out + SESSION_FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < count; i++, at += sizeof(int32_t))
        put(at, (uint32_t)sequence->ids[begin + i], 4);
    copy_positions(sequence, begin, begin + count, NULL, at);
    size_t bytes = (size_t)session_file_bytes(sequence, begin, count);
    size_t state_bytes = state ? sequence->pool->checkpoints.state_bytes : 0;
    if (state)
        memcpy(out + bytes - state_bytes, sequence->state, state_bytes);
    session_file_seal(out, bytes);
}

/* --- reading --- */

static enum td_status check_model(const struct sequence *sequence, const uint8_t *header,
                                  struct td_error *err)
{
    const struct td_model *model = sequence->model;
    char fingerprint[FINGERPRINT_BYTES + 1] = {0};
    memcpy(fingerprint, header + AT_FINGERPRINT, FINGERPRINT_BYTES);
    for (int i = 0; i < FINGERPRINT_BYTES; i++) /* a message shows it */
        if (fingerprint[i] < '!' || fingerprint[i] > '~')
            fingerprint[i] = '?';
    if (strcmp(fingerprint, model->fingerprint) != 0)
        return error_set(err, TD_INVALID,
                         "the saved session is of another model (fingerprint %s, this one has %s)",
                         fingerprint, model->fingerprint);
    if (get(header + AT_WEIGHTS, 8) != hash_weights(model))
        return error_set(err, TD_INVALID,
                         "the saved session is of another model of the same shape: the weights "
                         "differ");
    if (get_u32(header + AT_LAYERS) != model->layer_count ||
        get_u32(header + AT_KV_HEADS) != model->kv_head_count ||
        get_u32(header + AT_HEAD_SIZE) != model->head_size)
        return error_set(
            err, TD_CORRUPT,
            "the saved session has %u layers with %u heads of %u, the model %u, %u, %u",
            get_u32(header + AT_LAYERS), get_u32(header + AT_KV_HEADS),
            get_u32(header + AT_HEAD_SIZE), model->layer_count, model->kv_head_count,
            model->head_size);
    if (get_u32(header + AT_TYPE) != (uint32_t)sequence->pool->kv_type)
        return error_set(err, TD_INVALID,
                         "the saved session's cache is of type %s, this session's of %s: open it "
                         "with the same type",
                         names_kv_type((enum td_kv_type)get_u32(header + AT_TYPE)),
                         names_kv_type(sequence->pool->kv_type));
    uint32_t flags = get_u32(header + AT_FLAGS);
    if (flags > (FLAG_LONG_ROPE | FLAG_STATE) || (flags & FLAG_STATE && sequence->state == NULL))
        return error_set(err, TD_CORRUPT, "the saved session has flags %#x", flags);
    if ((flags & FLAG_LONG_ROPE) != is_long(sequence))
        return error_set(err, TD_INVALID,
                         "the saved session's context and this one are on different sides of %u "
                         "tokens, where the model's rope changes: open it with such a context",
                         model->long_rope_from);
    return TD_OK;
}

enum td_status session_file_check(const struct sequence *sequence,
                                  const uint8_t header[SESSION_FILE_HEADER_BYTES], uint64_t *bytes,
                                  struct td_error *err)
{
    *bytes = 0;
    if (memcmp(header, MAGIC, AT_VERSION) != 0)
        return error_set(err, TD_CORRUPT, "not a saved session: it does not begin with " MAGIC);
    if (get_u32(header + AT_VERSION) != VERSION)
        return error_set(err, TD_UNSUPPORTED, "a saved session of version %u, this build reads %d",
                         get_u32(header + AT_VERSION), VERSION);
    enum td_status status = check_model(sequence, header, err);
    if (status != TD_OK)
        return status;
    uint32_t begin = get_u32(header + AT_BEGIN), count = get_u32(header + AT_COUNT);
    if (begin != sequence->length)
        return error_set(err, TD_INVALID, "the saved positions begin at %u, the session holds %u",
                         begin, sequence->length);
    if (count > sequence->context_size - begin)
        return error_set(err, TD_LIMIT, "%u saved positions after %u do not fit the context of %u",
                         count, begin, sequence->context_size);
    *bytes = file_bytes(sequence, count, get_u32(header + AT_FLAGS) & FLAG_STATE);
    uint64_t said = get(header + AT_BYTES, 8);
    if (said != *bytes - SESSION_FILE_HEADER_BYTES)
        return error_set(err, TD_CORRUPT,
                         "the saved session says that it has %" PRIu64
                         " bytes, %u positions have %" PRIu64,
                         said, count, *bytes - SESSION_FILE_HEADER_BYTES);
    return TD_OK;
}

uint32_t session_file_count(const uint8_t header[SESSION_FILE_HEADER_BYTES])
{
    return get_u32(header + AT_COUNT);
}

static enum td_status check_ids(const struct sequence *sequence, const uint8_t *ids, uint32_t count,
                                struct td_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (get_u32(ids + i * sizeof(int32_t)) >= sequence->model->vocab_count)
            return error_set(err, TD_CORRUPT, "saved token %u is %u, outside the vocabulary of %u",
                             i, get_u32(ids + i * sizeof(int32_t)), sequence->model->vocab_count);
    return TD_OK;
}

enum td_status session_file_verify(const struct sequence *sequence, const uint8_t *data,
                                   size_t size, struct td_error *err)
{
    uint64_t bytes;
    if (size < SESSION_FILE_HEADER_BYTES)
        return error_set(err, TD_CORRUPT, "a saved session of %zu bytes: its header alone has %d",
                         size, SESSION_FILE_HEADER_BYTES);
    enum td_status status = session_file_check(sequence, data, &bytes, err);
    if (status != TD_OK)
        return status;
    if (bytes != size)
        return error_set(err, TD_CORRUPT,
                         "a saved session of %zu bytes that should have %" PRIu64
                         ": it was cut off or something was added",
                         size, bytes);
    if (checksum(data, size) != get(data + AT_CHECKSUM, 8))
        return error_set(err, TD_CORRUPT, "the saved session's checksum is wrong: it was damaged");
    return check_ids(sequence, data + SESSION_FILE_HEADER_BYTES, get_u32(data + AT_COUNT), err);
}

enum td_status session_file_read(struct sequence *sequence, const uint8_t *data,
                                 struct td_error *err)
{
    ASSERT(get_u32(data + AT_BEGIN) == sequence->length);
    uint32_t count = get_u32(data + AT_COUNT);
    const uint8_t *ids = data + SESSION_FILE_HEADER_BYTES;
    enum td_status status = sequence_reserve(sequence, count, err);
    if (status != TD_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        sequence->ids[sequence->length + i] = (int32_t)get_u32(ids + i * sizeof(int32_t));
    copy_positions(sequence, sequence->length, sequence->length + count,
                   ids + count * sizeof(int32_t), NULL);
    sequence->length += count;
    size_t state_bytes = sequence->pool->checkpoints.state_bytes;
    if (get_u32(data + AT_FLAGS) & FLAG_STATE) {
        memcpy(sequence->state, data + file_bytes(sequence, count, false), state_bytes);
        sequence->state_at = sequence->length;
    }
    return TD_OK;
}
