#include "engine/tokenizer/infill.h"

#include "base/core/error.h"
#include "engine/tokenizer/tokenizer_internal.h"

#define KEY(name) "tokenizer.ggml." name
#define TEXTS_MAX 7

/* Texts of published models: Qwen and CodeGemma, StarCoder, SantaCoder, DeepSeek, CodeLlama (with
 * and without the mark of a space), GLM. */
static const struct {
    const char *key, *older, *texts[TEXTS_MAX];
} marks[INFILL_MARKS] = {
    {KEY("fim_pre_token_id"),
     KEY("prefix_token_id"),
     {"<|fim_prefix|>", "<fim_prefix>", "<fim-prefix>", "<｜fim▁begin｜>", "▁<PRE>", "<PRE>",
      "<|code_prefix|>"}},
    {KEY("fim_suf_token_id"),
     KEY("suffix_token_id"),
     {"<|fim_suffix|>", "<fim_suffix>", "<fim-suffix>", "<｜fim▁hole｜>", "▁<SUF>", "<SUF>",
      "<|code_suffix|>"}},
    {KEY("fim_mid_token_id"),
     KEY("middle_token_id"),
     {"<|fim_middle|>", "<fim_middle>", "<fim-middle>", "<｜fim▁end｜>", "▁<MID>", "<MID>",
      "<|code_middle|>"}},
};

/* They end a gap: the end of it, padding, and the beginning of another file. */
static const char *const end_keys[] = {KEY("fim_pad_token_id"), KEY("fim_rep_token_id"),
                                       KEY("fim_sep_token_id")};
static const char *const end_texts[] = {"▁<EOT>",        "<|fim_pad|>", "<fim_pad>",
                                        "<|repo_name|>", "<reponame>",  "<|file_sep|>"};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static enum td_status read_id(const struct tokenizer *tokenizer, const struct gguf *gguf,
                              const char *key, int32_t *id, struct td_error *err)
{
    uint32_t value;
    if (!gguf_get_u32(gguf, key, &value) || value == UINT32_MAX)
        return TD_OK;
    if (value >= tokenizer->count)
        return error_set(err, TD_CORRUPT, "%s is %u, but there are %u tokens", key, value,
                         tokenizer->count);
    *id = (int32_t)value;
    return TD_OK;
}

static enum td_status find_mark(struct tokenizer *tokenizer, const struct gguf *gguf, size_t mark,
                                struct td_error *err)
{
    int32_t id = -1;
    enum td_status status = read_id(tokenizer, gguf, marks[mark].key, &id, err);
    if (status == TD_OK && id < 0)
        status = read_id(tokenizer, gguf, marks[mark].older, &id, err);
    for (size_t i = 0; status == TD_OK && i < TEXTS_MAX && id < 0; i++)
        id = tokenizer_find(tokenizer, str_from(marks[mark].texts[i]));
    tokenizer->infill[mark] = id;
    return status;
}

static void mark_end(struct tokenizer *tokenizer, int32_t id)
{
    if (id < 0)
        return;
    tokenizer->tokens[id].type = TOKEN_CONTROL;
    tokenizer->tokens[id].is_end = true;
}

static enum td_status mark_ends(struct tokenizer *tokenizer, const struct gguf *gguf,
                                struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < COUNT_OF(end_keys); i++) {
        int32_t id = -1;
        status = read_id(tokenizer, gguf, end_keys[i], &id, err);
        mark_end(tokenizer, id);
    }
    for (size_t i = 0; i < COUNT_OF(end_texts); i++)
        mark_end(tokenizer, tokenizer_find(tokenizer, str_from(end_texts[i])));
    return status;
}

enum td_status infill_load(struct tokenizer *tokenizer, const struct gguf *gguf,
                           struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; i < INFILL_MARKS; i++)
        tokenizer->infill[i] = -1;
    for (size_t i = 0; status == TD_OK && i < INFILL_MARKS && !tokenizer->wordpiece; i++)
        status = find_mark(tokenizer, gguf, i, err);
    if (status != TD_OK || infill_missing(tokenizer))
        return status;
    for (size_t i = 0; i < INFILL_MARKS; i++)
        tokenizer->tokens[tokenizer->infill[i]].type = TOKEN_CONTROL;
    return mark_ends(tokenizer, gguf, err);
}

const char *infill_missing(const struct tokenizer *tokenizer)
{
    for (size_t i = 0; i < INFILL_MARKS; i++)
        if (tokenizer->infill[i] < 0)
            return marks[i].key;
    return NULL;
}

enum td_status infill_encode(const struct tokenizer *tokenizer, const struct infill_gap *gap,
                             struct buf *ids, struct td_error *err)
{
    static const struct tokenizer_options begins = {0}, goes_on = {.goes_on = true};
    const char *missing = infill_missing(tokenizer);
    enum td_status status = TD_OK;
    if (missing)
        return error_set(err, TD_UNSUPPORTED, "the model fills no gaps: its file has no %s",
                         missing);
    if (tokenizer_adds_bos(tokenizer) && !gap->ids)
        buf_append(ids, &tokenizer->bos, sizeof tokenizer->bos);
    buf_append(ids, &tokenizer->infill[0], sizeof *tokenizer->infill);
    if (gap->ids)
        buf_append(ids, gap->ids, gap->id_count * sizeof *gap->ids);
    else
        status = tokenizer_encode(tokenizer, gap->before, &begins, ids, err);
    buf_append(ids, &tokenizer->infill[1], sizeof *tokenizer->infill);
    if (status == TD_OK) /* the text after a gap does not begin with SentencePiece's space */
        status = tokenizer_encode(tokenizer, gap->after, &goes_on, ids, err);
    buf_append(ids, &tokenizer->infill[2], sizeof *tokenizer->infill);
    return status == TD_OK && ids->failed ? error_set(err, TD_NO_MEMORY, "no memory for a prompt")
                                          : status;
}
