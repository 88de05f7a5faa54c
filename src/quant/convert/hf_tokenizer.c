/* tokenizer.json is a pipeline of the library "tokenizers". Two kinds are common, and run here:
 * byte-level BPE   (GPT-2, Llama 3, Qwen): GGUF's "gpt2" with merges; the regular expression that
 * cuts texts first has a name in GGUF, found by its text SentencePiece BPE (Llama 2, Gemma):
 * "byte_fallback"; GGUF's "llama" with scores. Its merges are in the order of the ids, so that the
 * score of a token is minus its id. Gemma 4's are not, and GGUF's "gemma4" has them. */
#include "quant/convert/hf_tokenizer.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/gguf/gguf_write.h"

#include <stdio.h>
#include <stdlib.h>

#define VOCAB_MAX (1u << 20)

enum token_kind {
    KIND_NORMAL = 1,
    KIND_UNKNOWN = 2,
    KIND_CONTROL = 3,
    KIND_USER = 4,
    KIND_UNUSED = 5,
    KIND_BYTE = 6
};

struct vocabulary {
    const struct json *model; /* tokenizer.json's "model" */
    const char **texts;       /* [count], NULL = padding */
    int32_t *kinds;           /* [count] */
    uint32_t count;
    bool byte_level;
    bool ranked; /* Gemma 4: merges instead of scores */
};

/* The regular expressions of pre-tokenizers, and GGUF's names for them. */
static const struct {
    const char *name, *regex;
} cuts[] = {
    {"llama-bpe", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
                  "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"qwen2", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
              "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"gpt-4o",
     "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
     "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
     "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
};

static enum td_status name_cut(const struct json *step, const char **name, struct td_error *err)
{
    struct td_str kind = json_text(json_get(step, "type"));
    const struct json *steps = json_get(step, "pretokenizers");
    if (str_equal(kind, STR("Sequence"))) {
        bool digits = false, byte_level = false;
        for (size_t i = 0; i < json_count(steps); i++) {
            struct td_str part = json_text(json_get(json_at(steps, i), "type"));
            digits |= str_equal(part, STR("Digits"));
            byte_level |= str_equal(part, STR("ByteLevel"));
            if (str_equal(part, STR("Split")))
                return name_cut(json_at(steps, i), name, err);
        }
        if (byte_level) {
            *name = digits ? "smollm" : "gpt-2";
            return TD_OK;
        }
    }
    if (str_equal(kind, STR("ByteLevel"))) {
        *name = "gpt-2";
        return TD_OK;
    }
    struct td_str regex = json_text(json_get(json_get(step, "pattern"), "Regex"));
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (regex.len && str_equal(regex, str_from(cuts[i].regex))) {
            *name = cuts[i].name;
            return TD_OK;
        }
    return error_set(err, TD_UNSUPPORTED,
                     "tokenizer.json: the pre-tokenizer '" STR_FMT "' with the pattern '" STR_FMT
                     "' has no name here",
                     STR_ARG(str_slice(kind, 0, 40)), STR_ARG(str_slice(regex, 0, 200)));
}

/* --- tokens --- */

static enum td_status put_token(struct vocabulary *vocabulary, const char *text, int64_t id,
                                int32_t kind, struct td_error *err)
{
    if (id < 0 || id >= vocabulary->count)
        return error_set(err, TD_CORRUPT,
                         "tokenizer.json: token '%.40s' has id %lld, the embedding has %u rows",
                         text, (long long)id, vocabulary->count);
    const char *there = vocabulary->texts[id];
    if (there && strcmp(there, text) != 0)
        return error_set(err, TD_CORRUPT, "tokenizer.json: '%.40s' and '%.40s' have the same id",
                         there, text);
    vocabulary->texts[id] = text;
    vocabulary->kinds[id] = kind;
    return TD_OK;
}

static bool is_byte_token(const char *text)
{
    return strlen(text) == 6 && strncmp(text, "<0x", 3) == 0 && text[5] == '>';
}

static enum td_status read_tokens(struct vocabulary *vocabulary, const struct json *tokenizer,
                                  struct td_error *err)
{
    void *iterator = NULL;
    const char *text;
    const struct json *id, *added = json_get(tokenizer, "added_tokens");
    const char *unknown = json_cstr(json_get(vocabulary->model, "unk_token"));
    while (json_next(json_get(vocabulary->model, "vocab"), &iterator, &text, &id)) {
        int32_t kind = KIND_NORMAL;
        if (!vocabulary->byte_level && is_byte_token(text))
            kind = KIND_BYTE;
        else if (unknown && strcmp(text, unknown) == 0)
            kind = KIND_UNKNOWN;
        enum td_status status = put_token(vocabulary, text, json_int(id, -1), kind, err);
        if (status != TD_OK)
            return status;
    }
    for (size_t i = 0; i < json_count(added); i++) {
        const struct json *token = json_at(added, i);
        const char *content = json_cstr(json_get(token, "content"));
        bool special = json_bool(json_get(token, "special"), false);
        int32_t kind = special ? KIND_CONTROL : KIND_USER;
        if (content && unknown && strcmp(content, unknown) == 0)
            kind = KIND_UNKNOWN;
        enum td_status status =
            content ? put_token(vocabulary, content, json_int(json_get(token, "id"), -1), kind, err)
                    : error_set(err, TD_CORRUPT, "tokenizer.json: an added token has no content");
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

static void write_tokens(const struct vocabulary *vocabulary, struct buf *pairs, uint64_t *count)
{
    char padding[32];
    gguf_put_strings(pairs, "tokenizer.ggml.tokens", vocabulary->count);
    for (uint32_t i = 0; i < vocabulary->count; i++) {
        if (vocabulary->texts[i] == NULL) {
            snprintf(padding, sizeof padding, "[PAD%u]", i);
            vocabulary->kinds[i] = KIND_UNUSED;
        }
        gguf_put_element(pairs, str_from(vocabulary->texts[i] ? vocabulary->texts[i] : padding));
    }
    gguf_put_i32s(pairs, "tokenizer.ggml.token_type", vocabulary->kinds, vocabulary->count);
    *count += 2;
}

/* A merge is "left right" or ["left", "right"]. */
static enum td_status write_merges(const struct vocabulary *vocabulary, struct buf *pairs,
                                   uint64_t *count, struct td_error *err)
{
    const struct json *merges = json_get(vocabulary->model, "merges");
    gguf_put_strings(pairs, "tokenizer.ggml.merges", json_count(merges));
    struct buf both;
    buf_init(&both, 1 << 20);
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < json_count(merges); i++) {
        const struct json *merge = json_at(merges, i);
        buf_clear(&both);
        if (json_kind_of(merge) == JSON_KIND_ARRAY && json_count(merge) == 2) {
            buf_append_str(&both, json_text(json_at(merge, 0)));
            buf_append_char(&both, ' ');
            buf_append_str(&both, json_text(json_at(merge, 1)));
        } else {
            buf_append_str(&both, json_text(merge));
        }
        if (both.failed || str_find(buf_view(&both), STR(" "), 0) == SIZE_MAX)
            status = error_set(err, TD_CORRUPT, "tokenizer.json: merge %zu is no pair of texts", i);
        gguf_put_element(pairs, buf_view(&both));
    }
    buf_deinit(&both);
    *count += 1;
    return status;
}

static enum td_status write_scores(const struct vocabulary *vocabulary, struct buf *pairs,
                                   uint64_t *count, struct td_error *err)
{
    float *scores = malloc(vocabulary->count * sizeof *scores);
    if (scores == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %u tokens", vocabulary->count);
    for (uint32_t i = 0; i < vocabulary->count; i++)
        scores[i] = vocabulary->kinds[i] == KIND_NORMAL ? -(float)i : 0;
    gguf_put_floats(pairs, "tokenizer.ggml.scores", scores, vocabulary->count);
    free(scores);
    *count += 1;
    return TD_OK;
}

/* --- special tokens --- */

/* A token in tokenizer_config.json is its text, or an object with it. */
static int64_t id_of(const struct vocabulary *vocabulary, const struct json *token)
{
    const char *text = json_cstr(token);
    text = text ? text : json_cstr(json_get(token, "content"));
    for (uint32_t i = 0; text && i < vocabulary->count; i++)
        if (vocabulary->texts[i] && strcmp(vocabulary->texts[i], text) == 0)
            return i;
    return -1;
}

static void write_specials(const struct vocabulary *vocabulary, const struct json *config,
                           const struct json *model, struct buf *pairs, uint64_t *count)
{
    static const struct {
        const char *token, *id, *key;
    } specials[] = {{"bos_token", "bos_token_id", "tokenizer.ggml.bos_token_id"},
                    {"eos_token", "eos_token_id", "tokenizer.ggml.eos_token_id"},
                    {"unk_token", NULL, "tokenizer.ggml.unknown_token_id"},
                    {"pad_token", "pad_token_id", "tokenizer.ggml.padding_token_id"}};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const struct json *number = specials[i].id ? json_get(model, specials[i].id) : NULL;
        if (json_kind_of(number) == JSON_KIND_ARRAY)
            number = json_at(number, 0);
        int64_t id = id_of(vocabulary, json_get(config, specials[i].token));
        id = id >= 0 ? id : json_int(number, -1);
        if (id < 0 || id >= vocabulary->count)
            continue;
        gguf_put_u32(pairs, specials[i].key, (uint32_t)id);
        *count += 1;
    }
}

/* Whether the pipeline's last step puts BOS before a text. */
static bool adds_bos(const struct json *tokenizer, const struct json *config)
{
    const struct json *said = json_get(config, "add_bos_token");
    const struct json *step = json_get(tokenizer, "post_processor");
    if (json_kind_of(said) == JSON_KIND_BOOL)
        return json_bool(said, false);
    const struct json *steps = json_get(step, "processors");
    for (size_t i = 0; i < json_count(steps); i++)
        if (str_equal(json_text(json_get(json_at(steps, i), "type")), STR("TemplateProcessing")))
            step = json_at(steps, i);
    const struct json *single = json_get(step, "single");
    return !json_absent(json_get(json_at(single, 0), "SpecialToken"));
}

static void write_rest(const struct vocabulary *vocabulary, const struct json *tokenizer,
                       const struct json *config, struct td_str chat_template, struct buf *pairs,
                       uint64_t *count)
{
    /* Gemma 4 needs it, though its tokenizer does not always say so. */
    bool bos = vocabulary->ranked || adds_bos(tokenizer, config);
    gguf_put_bool(pairs, "tokenizer.ggml.add_bos_token", bos);
    *count += 1;
    if (!vocabulary->byte_level) {
        const struct json *normalizer = json_get(tokenizer, "normalizer");
        const struct json *steps = json_get(normalizer, "normalizers");
        bool prefix = str_equal(json_text(json_get(normalizer, "type")), STR("Prepend"));
        for (size_t i = 0; i < json_count(steps); i++)
            prefix |= str_equal(json_text(json_get(json_at(steps, i), "type")), STR("Prepend"));
        gguf_put_bool(pairs, "tokenizer.ggml.add_space_prefix", prefix);
        *count += 1;
    }
    if (chat_template.len == 0)
        chat_template = json_text(json_get(config, "chat_template"));
    if (chat_template.len) {
        gguf_put_string(pairs, "tokenizer.chat_template", chat_template);
        *count += 1;
    }
}

static enum td_status convert(struct vocabulary *vocabulary, const struct json *tokenizer,
                              struct buf *pairs, uint64_t *count, struct td_error *err)
{
    enum td_status status = read_tokens(vocabulary, tokenizer, err);
    const char *cut = NULL;
    if (status == TD_OK && vocabulary->byte_level)
        status = name_cut(json_get(tokenizer, "pre_tokenizer"), &cut, err);
    if (status != TD_OK)
        return status;
    gguf_put_string(pairs, "tokenizer.ggml.model",
                    vocabulary->byte_level ? STR("gpt2")
                    : vocabulary->ranked   ? STR("gemma4")
                                           : STR("llama"));
    gguf_put_string(pairs, "tokenizer.ggml.pre", str_from(cut ? cut : "default"));
    *count += 2;
    write_tokens(vocabulary, pairs, count);
    return vocabulary->byte_level || vocabulary->ranked
               ? write_merges(vocabulary, pairs, count, err)
               : write_scores(vocabulary, pairs, count, err);
}

enum td_status hf_tokenizer_convert(const struct json *tokenizer, const struct json *config,
                                    const struct json *model, struct td_str chat_template,
                                    uint32_t vocab_count, struct buf *pairs, uint64_t *count,
                                    struct td_error *err)
{
    struct vocabulary vocabulary = {.model = json_get(tokenizer, "model"), .count = vocab_count};
    struct td_str kind = json_text(json_get(vocabulary.model, "type"));
    vocabulary.byte_level = !json_bool(json_get(vocabulary.model, "byte_fallback"), false);
    vocabulary.ranked = str_equal(json_text(json_get(model, "model_type")), STR("gemma4_text"));
    /* Files of old have no type. */
    if (kind.len ? !str_equal(kind, STR("BPE")) : json_absent(json_get(vocabulary.model, "merges")))
        return error_set(err, TD_UNSUPPORTED,
                         "tokenizer.json: a tokenizer of the kind '" STR_FMT "'; BPE is supported",
                         STR_ARG(str_slice(kind, 0, 40)));
    if (vocab_count == 0 || vocab_count > VOCAB_MAX)
        return error_set(err, TD_CORRUPT, "the embedding has %u rows", vocab_count);
    vocabulary.texts = calloc(vocab_count, sizeof(const char *));
    vocabulary.kinds = calloc(vocab_count, sizeof *vocabulary.kinds);
    enum td_status status = TD_OK;
    if (vocabulary.texts == NULL || vocabulary.kinds == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %u tokens", vocab_count);
    if (status == TD_OK)
        status = convert(&vocabulary, tokenizer, pairs, count, err);
    if (status == TD_OK) {
        write_specials(&vocabulary, config, model, pairs, count);
        write_rest(&vocabulary, tokenizer, config, chat_template, pairs, count);
    }
    free(vocabulary.texts);
    free(vocabulary.kinds);
    return status;
}
