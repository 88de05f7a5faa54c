/* A confidence model is right only for the model that it was trained with. That model is known
 * by samples of its weights, and by what its template and tokenizer make of fixed texts. At most
 * 1 MiB of its files is read. A model in several files is sampled as if they were one. */
#include "app/setup/model/model_identity.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "engine/gguf/gguf_split.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Spread evenly over the file, the last at its end: weights that were trained further differ
 * everywhere, and a whole hash would read gigabytes at each start. */
#define SAMPLE_COUNT 16
#define SAMPLE_BYTES 65536u

#define PROBE_TEXT                                                              \
    STR("Tandem 2.5, na\xc3\xafve: \"42 \xe2\x82\xac\"\n\tif (x) { return; }  " \
        "\xe4\xbd\xa0\xe5\xa5\xbd")

static void set_digest(char out[static CONFIDENCE_DIGEST_BYTES], uint64_t hash)
{
    snprintf(out, CONFIDENCE_DIGEST_BYTES, "%016" PRIx64, hash);
}

static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?'; /* a name out of a file: it goes into JSON and logs */
}

#define PATH_BYTES 4400

/* Where a sample is in a model of one or several files. */
struct weights {
    const char *path; /* of any of its files */
    bool is_split;
    struct gguf_part_name part;
    uint64_t begin; /* of file `number` in the whole, in bytes */
    uint32_t number;
};

static bool part_path(const struct weights *weights, char *out, size_t size)
{
    if (!weights->is_split)
        return snprintf(out, size, "%s", weights->path) < (int)size;
    return gguf_part_format(out, size, weights->path, &weights->part, weights->number);
}

/* Reads up to SAMPLE_BYTES at `at` of the whole, over the ends of files. */
static enum td_status read_sample(struct weights *weights, uint64_t at, unsigned char *sample,
                                  size_t *len, struct td_error *err)
{
    char path[PATH_BYTES];
    *len = 0;
    weights->begin = 0;
    for (weights->number = 1;; weights->number++) {
        uint64_t bytes;
        int fd;
        if (!part_path(weights, path, sizeof path))
            return error_set(err, TD_INVALID, "%.200s: the path is too long", weights->path);
        enum td_status status = file_open_regular(path, 0, &fd, &bytes, err);
        if (status != TD_OK)
            return status;
        uint64_t from = at + *len - weights->begin;
        ssize_t got = from < bytes ? pread(fd, sample + *len, SAMPLE_BYTES - *len, (off_t)from) : 0;
        if (got < 0)
            status = error_set(err, TD_IO, "cannot read %s: %s", path, strerror(errno));
        close(fd);
        if (status != TD_OK)
            return status;
        *len += (size_t)got;
        weights->begin += bytes;
        if (*len == SAMPLE_BYTES || !weights->is_split || weights->number >= weights->part.count)
            break;
    }
    return TD_OK;
}

static enum td_status hash_weights(const char *path, uint64_t bytes,
                                   char out[static CONFIDENCE_DIGEST_BYTES], struct td_error *err)
{
    struct weights weights = {.path = path};
    unsigned char *sample = malloc(SAMPLE_BYTES);
    uint64_t hash = hash_fnv1a64(&bytes, sizeof bytes, HASH_FNV1A64_BASIS);
    enum td_status status =
        sample ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory to read %s", path);
    uint64_t room = bytes > SAMPLE_BYTES ? bytes - SAMPLE_BYTES : 0;
    weights.is_split = gguf_part_parse(path, &weights.part);
    for (uint64_t i = 0; i < SAMPLE_COUNT && status == TD_OK; i++) {
        uint64_t at =
            room / (SAMPLE_COUNT - 1) * i + room % (SAMPLE_COUNT - 1) * i / (SAMPLE_COUNT - 1);
        size_t len;
        status = read_sample(&weights, at, sample, &len, err);
        if (status == TD_OK)
            hash = hash_fnv1a64(sample, len, hash);
    }
    free(sample);
    set_digest(out, hash);
    return status;
}

static enum td_status hash_template(const struct td_model *model,
                                    char out[static CONFIDENCE_DIGEST_BYTES], struct td_error *err)
{
    const struct td_message messages[] = {
        {.role = TD_ROLE_USER, .content = STR("one")},
        {.role = TD_ROLE_ASSISTANT, .content = STR("two")},
        {.role = TD_ROLE_USER, .content = STR("three\n\nfour ")},
    };
    char *text = NULL;
    size_t len = 0;
    enum td_status status = td_template_render(model, messages, 3, &text, &len, err);
    if (status == TD_OK)
        set_digest(out, hash_fnv1a64(text, len, HASH_FNV1A64_BASIS));
    free(text);
    return status;
}

static enum td_status hash_tokenizer(const struct td_model *model,
                                     char out[static CONFIDENCE_DIGEST_BYTES], struct td_error *err)
{
    int32_t ids[256];
    size_t count = 0;
    enum td_status status =
        td_tokenize(model, PROBE_TEXT, true, false, ids, sizeof ids / sizeof *ids, &count, err);
    if (status == TD_OK)
        set_digest(out, hash_fnv1a64(ids, count * sizeof *ids, HASH_FNV1A64_BASIS));
    return status;
}

enum td_status model_identity_read(const struct td_model *model, const char *path,
                                   struct confidence_binding *out, struct td_error *err)
{
    const struct td_model_info *info = td_model_get_info(model);
    memset(out, 0, sizeof *out);
    copy(out->model, sizeof out->model, info->name);
    copy(out->quantization, sizeof out->quantization, info->quantization);
    copy(out->fingerprint, sizeof out->fingerprint, info->fingerprint);
    enum td_status status = hash_weights(path, info->file_bytes, out->weights, err);
    if (status == TD_OK)
        status = hash_template(model, out->template, err);
    if (status == TD_OK)
        status = hash_tokenizer(model, out->tokenizer, err);
    return status;
}

void model_identity_of_server(const char *model, uint64_t server_identity,
                              struct confidence_binding *out)
{
    memset(out, 0, sizeof *out);
    copy(out->model, sizeof out->model, model);
    copy(out->quantization, sizeof out->quantization, "server");
    set_digest(out->fingerprint, server_identity);
}
