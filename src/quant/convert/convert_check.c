/* The engine itself judges: it loads the head of the file, with zeros in place of the weights. No
 * list of tensors that a family must have is kept here, where it could differ from the engine's.
 * The zeros are pages that are never touched, so the check takes as long as the tokenizer. They may
 * only be read: pages to write are counted whole where memory is never promised twice. */
#include "quant/convert/convert_check.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/model/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static enum td_status put(char *block, size_t at, const void *from, size_t len)
{
    size_t begin = at - at % (size_t)sysconf(_SC_PAGESIZE);
    if (mprotect(block + begin, at + len - begin, PROT_READ | PROT_WRITE) != 0)
        return TD_NO_MEMORY;
    memcpy(block + at, from, len);
    return TD_OK;
}

static enum td_status load(struct td_model *model, char *block, uint64_t len, const char *folder,
                           const char *architecture, const struct hf_weights *weights,
                           struct td_error *err)
{
    enum td_status status = gguf_open_memory(block, len, folder, false, &model->gguf, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; status == TD_OK && i < weights->count; i++) {
        const struct hf_tensor *from = &weights->tensors[i];
        const struct gguf_tensor *to = gguf_find_tensor(model->gguf, from->name);
        if (from->own && to) /* the engine looks at the values of these */
            status = put(block, (size_t)((const char *)to->data - block), from->own, to->bytes);
    }
    if (status != TD_OK)
        return status;
    model->kernels = kernels_get(TD_CPU_REF, err);
    model->architecture = architecture_find(str_from(architecture));
    status = tokenizer_open(model->gguf, &model->tokenizer, err);
    if (status != TD_OK)
        return status;
    model->vocab_count = tokenizer_count(model->tokenizer);
    return model_load(model, err);
}

/* What a tensor of ours that `message` names would be called in the folder, as another layer's is;
 * "" = no layer has it, or there is no such name. */
static void name_there(const struct hf_weights *weights, const char *message, char *out,
                       size_t size)
{
    char part[64];
    unsigned layer;
    const char *at = strstr(message, "tensor 'blk.");
    *out = '\0';
    if (at == NULL || strstr(at, "' is missing") == NULL ||
        sscanf(at, "tensor 'blk.%u%62[^']", &layer, part) != 2)
        return;
    for (size_t i = 0; i < weights->count; i++) {
        const char *name = weights->tensors[i].from ? weights->tensors[i].from->name : "";
        const char *number = strstr(name, "layers.");
        if (number == NULL || !str_ends_with(str_from(weights->tensors[i].name), str_from(part)))
            continue;
        number += strlen("layers.");
        snprintf(out, size, " (there: %.*s%u%s)", (int)(number - name), name, layer,
                 number + strspn(number, "0123456789"));
        return;
    }
}

/* The file as far as it is known: its head, and zeros; NULL where no address space is left for it,
 * and the work goes on unchecked. */
static enum td_status make_block(const struct encode_job *job, char **block, uint64_t *len,
                                 struct td_error *err)
{
    struct gguf_write_tensor *tensors = calloc(job->tensor_count + 1, sizeof *tensors);
    struct buf bytes;
    for (size_t i = 0; tensors && i < job->tensor_count; i++)
        tensors[i] = job->tensors[i].to;
    buf_init(&bytes, GGUF_HEAD_BYTES_MAX);
    const struct gguf_head head = {job->pairs, job->pair_count, tensors, job->tensor_count, 0};
    enum td_status status = tensors ? gguf_put_head(&bytes, &head, len, err) : TD_NO_MEMORY;
    void *zeros = status == TD_OK ? mmap(NULL, *len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                  : MAP_FAILED;
    *block = zeros == MAP_FAILED ? NULL : zeros;
    if (*block)
        status = put(*block, 0, bytes.data, bytes.len);
    buf_deinit(&bytes);
    free(tensors);
    return status;
}

enum td_status convert_check(const char *folder, const char *architecture,
                             const struct hf_weights *weights, const struct encode_job *job,
                             struct td_error *err)
{
    struct td_error found = {0};
    struct td_model *model = calloc(1, sizeof *model);
    uint64_t len = 0;
    char *block = NULL, there[200];
    enum td_status status = model ? make_block(job, &block, &len, err) : TD_NO_MEMORY;
    if (status == TD_OK && block) {
        status = load(model, block, len, folder, architecture, weights, &found);
        name_there(weights, found.message, there, sizeof there);
        if (status != TD_OK)
            error_set(err, status, "%s%s%s", found.message, there,
                      status == TD_CORRUPT ? "; nothing is written: fetch the folder again, or "
                                             "mend its config.json"
                                           : "");
    }
    if (status == TD_NO_MEMORY && *found.message == '\0')
        error_set(err, status, "%s: no memory", folder);
    td_model_close(model);
    memory_unmap(block, len);
    return status;
}
