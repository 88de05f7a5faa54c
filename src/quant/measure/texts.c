#include "quant/measure/texts.h"

#include "base/core/error.h"

#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)

enum td_status texts_take(struct texts *texts, int32_t *ids, size_t count, struct td_error *err)
{
    if (texts->count == texts->capacity) {
        size_t capacity = texts->capacity ? 2 * texts->capacity : 16;
        int32_t **grown = realloc(texts->ids, capacity * sizeof *grown);
        texts->ids = grown ? grown : texts->ids;
        size_t *counts = grown ? realloc(texts->counts, capacity * sizeof *counts) : NULL;
        texts->counts = counts ? counts : texts->counts;
        if (counts == NULL) {
            free(ids);
            return error_set(err, TD_NO_MEMORY, "no memory for %zu texts", capacity);
        }
        texts->capacity = capacity;
    }
    texts->ids[texts->count] = ids;
    texts->counts[texts->count++] = count;
    texts->token_count += count;
    return TD_OK;
}

enum td_status texts_add(struct texts *texts, const struct td_model *model, struct td_str text,
                         struct td_error *err)
{
    struct buf ids;
    buf_init(&ids, SIZE_MAX / 2);
    const struct tokenizer_options options = {.add_special = true, .parse_special = true};
    enum td_status status = tokenizer_encode(model->tokenizer, text, &options, &ids, err);
    size_t count = ids.len / sizeof(int32_t);
    if (status == TD_OK && count != 0) {
        void *taken = buf_take(&ids);
        status = taken ? texts_take(texts, taken, count, err)
                       : error_set(err, TD_NO_MEMORY, "no memory for %zu tokens", count);
    }
    buf_deinit(&ids);
    return status;
}

enum td_status texts_add_file(struct texts *texts, const struct td_model *model, const char *path,
                              struct td_error *err)
{
    struct buf file;
    buf_init(&file, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&file, path, err);
    if (status == TD_OK)
        status = texts_add(texts, model, buf_view(&file), err);
    buf_deinit(&file);
    return status;
}

void texts_deinit(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->ids[i]);
    free(texts->ids);
    free(texts->counts);
    *texts = (struct texts){0};
}
