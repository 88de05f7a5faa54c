/* Reads a vocabulary from GGUF metadata. The first token waits for this, so it is built for speed:
 * texts stay in the mapped file, tables are sized once, and no single token allocates anything.
 *
 * Keys, all beginning with "tokenizer.ggml.":
 *   model        "llama" (SentencePiece BPE), "gemma4" (the same with merges instead of scores),
 *                "gpt2" (byte-level BPE) or "bert" (WordPiece)
 *   pre          pre-tokenizer of byte-level BPE; absent = "default"
 *   tokens       array of strings; the index is the id
 *   token_type   array of i32 (enum token_type), optional
 *   scores       array of f32, "llama" only
 *   merges       array of strings "left right" in the order of their rank, "gpt2" and "gemma4"
 *   bos_token_id eos_token_id eot_token_id eom_token_id unknown_token_id   u32
 *   fim_pre_token_id fim_suf_token_id fim_mid_token_id                     u32 (infill.h)
 *   cls_token_id seperator_token_id (sic)                                  u32, WordPiece
 *   add_bos_token add_eos_token add_space_prefix                           bool
 *   add_sep_token normalizer.lowercase normalizer.strip_accents            bool, WordPiece
 *
 * The file is hostile. Counts and ids are checked, and a vocabulary whose texts were chosen to
 * collide in the hash tables is refused, because it would take hours. */
#include "engine/tokenizer/tokenizer_internal.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/tokenizer/infill.h"

#include <stdio.h>
#include <stdlib.h>

#define TOKENS_MAX (UINT32_C(1) << 20) /* largest published vocabulary: 262 144 */
#define MERGES_MAX (UINT32_C(1) << 22) /* published files have about two for each token */
#define TOKEN_BYTES_MAX (UINT32_C(1) << 16)
#define MERGE_BYTES_MAX 4095   /* 12 bits of a slot; the longest published ones have about 300 */
#define SPECIAL_BYTES_MAX 1024 /* compared at each place of a text; published ones have up to 50 */

#define KEY(name) "tokenizer.ggml." name
#define SPACE_MARK "\xE2\x96\x81" /* U+2581 */

/* --- pieces --- */

/* The byte that a text like "<0x0A>" stands for (upper-case digits), or -1. */
static int parse_byte_token(const struct token *token)
{
    if (token->len != 6 || memcmp(token->text, "<0x", 3) != 0 || token->text[5] != '>')
        return -1;
    int value = 0;
    for (int i = 3; i < 5; i++) {
        int digit = ascii_hex_value(token->text[i]);
        if (digit < 0 || ascii_is_lower(token->text[i]))
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The first piece of a word begins with a space. Which of the two spellings the vocabulary uses is
 * known before the first piece is written. */
static size_t write_wordpiece(const struct tokenizer *tokenizer, struct td_str text, char *out)
{
    bool first = str_starts_with(text, STR(SPACE_MARK));
    size_t skipped = first ? strlen(SPACE_MARK) : 0;
    if (tokenizer->hash_marks) {
        first = !str_starts_with(text, STR("##"));
        skipped = first ? 0 : 2;
    }
    if (first)
        out[0] = ' ';
    memcpy(out + first, text.data + skipped, text.len - skipped);
    return text.len - skipped + first;
}

/* Writes the piece of a token to `out` and returns its length. `out` has room for token->len + 1
 * bytes: a piece is never longer than the token's text and a space. */
static size_t write_piece(struct tokenizer *tokenizer, const struct token *token, char *out)
{
    struct td_str text = {token->text, token->len};
    size_t len = 0;
    int byte = token->type == TOKEN_BYTE ? parse_byte_token(token) : -1;
    if (byte >= 0) {
        out[0] = (char)byte;
        return 1;
    }
    if (token->type == TOKEN_CONTROL || token->type == TOKEN_UNKNOWN ||
        token->type == TOKEN_USER_DEFINED || token->type == TOKEN_BYTE) {
        memcpy(out, text.data, text.len);
        if (token->type == TOKEN_USER_DEFINED && str_find(text, STR(SPACE_MARK), 1) != SIZE_MAX)
            tokenizer->merges_cross_spaces = true;
        return text.len;
    }
    if (tokenizer->wordpiece)
        return write_wordpiece(tokenizer, text, out);
    bool after_other = false;
    for (size_t at = 0; at < text.len;) {
        if ((unsigned char)text.data[at] < 0x80 &&
            (text.data[at] > ' ' || tokenizer->sentencepiece)) {
            out[len++] = text.data[at++]; /* stands for itself in both alphabets */
            after_other = true;
            continue;
        }
        size_t begin = at;
        uint32_t code_point = utf8_next(text, &at);
        int as_byte = tokenizer->sentencepiece ? -1 : byte_level_decode(code_point);
        if (tokenizer->sentencepiece && code_point == 0x2581) {
            out[len++] = ' ';
            tokenizer->merges_cross_spaces |= after_other;
        } else if (as_byte >= 0 && at - begin > 1) {
            out[len++] = (char)as_byte;
        } else {
            memcpy(out + len, text.data + begin, at - begin);
            len += at - begin;
            after_other = true;
        }
    }
    return len;
}

/* --- tokens --- */

static const char *const end_texts[] = {
    /* names of published models for the end of a turn or of a text */
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<end_of_turn>",
    "<|return|>",
    "<|call|>",
    "<|EOT|>",
    "<|end_of_turn|>",
    "<|end_of_role|>",
    "<EOT>",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
    "[EOS]",
    "<turn|>",
};

static bool is_end_text(const struct token *token)
{
    if (token->len == 0 || (token->text[0] != '<' && token->text[0] != '['))
        return false; /* nearly all tokens end here; this runs for each of them */
    for (size_t i = 0; i < sizeof(end_texts) / sizeof(end_texts[0]); i++)
        if (str_equal((struct td_str){token->text, token->len}, str_from(end_texts[i])))
            return true;
    return false;
}

/* Some files give their end-of-turn token another type than control, so that a message could write
 * it. It becomes a control token here. "</s>" may also be an ordinary token (Qwen's, for HTML):
 * then it stays text when it is generated, but a template's mark may spell it. */
static void mark_end(struct token *token)
{
    bool sentence_end = token->len == 4 && memcmp(token->text, "</s>", 4) == 0;
    if (token->type == TOKEN_BYTE || !(sentence_end || is_end_text(token)))
        return;
    if (sentence_end && token->type != TOKEN_CONTROL && token->type != TOKEN_USER_DEFINED) {
        token->in_marks = true;
        return;
    }
    token->type = TOKEN_CONTROL;
    token->is_end = true;
}

/* Finds the array `key` of 32-bit elements, one for each token. *data = NULL when it is absent. */
static enum td_status number_array(const struct gguf *gguf, const char *key, uint32_t count,
                                   enum gguf_type wanted, const char **data, struct td_error *err)
{
    enum gguf_type type;
    const void *found;
    uint64_t found_count;
    *data = NULL;
    if (!gguf_has(gguf, key))
        return TD_OK;
    if (!gguf_get_array(gguf, key, &type, &found, &found_count))
        return error_set(err, TD_CORRUPT, "%s: not an array of numbers", key);
    if (type != wanted && !(wanted == GGUF_I32 && type == GGUF_U32))
        return error_set(err, TD_CORRUPT, "%s: unexpected element type %d", key, (int)type);
    if (found_count != count)
        return error_set(err, TD_CORRUPT, "%s: %llu elements for %u tokens", key,
                         (unsigned long long)found_count, count);
    *data = found;
    return TD_OK;
}

static enum td_status allocate_tokens(struct tokenizer *tokenizer, const struct gguf *gguf,
                                      struct td_error *err)
{
    uint64_t count = gguf_array_count(gguf, KEY("tokens"));
    if (count == 0)
        return error_set(err, TD_CORRUPT, "the file has no vocabulary (%s)", KEY("tokens"));
    if (count > TOKENS_MAX)
        return error_set(err, TD_LIMIT, "%llu tokens; at most %u are supported",
                         (unsigned long long)count, TOKENS_MAX);
    tokenizer->count = (uint32_t)count;
    tokenizer->tokens = calloc(count, sizeof(*tokenizer->tokens));
    tokenizer->piece_offsets = calloc(count + 1, sizeof(*tokenizer->piece_offsets));
    if (!tokenizer->tokens || !tokenizer->piece_offsets || !slot_table_init(&tokenizer->ids, count))
        return error_set(err, TD_NO_MEMORY, "no memory for a vocabulary of %llu tokens",
                         (unsigned long long)count);
    return TD_OK;
}

static uint8_t type_at(const char *types, uint32_t id)
{
    int32_t type = TOKEN_NORMAL;
    if (types)
        memcpy(&type, types + (size_t)id * sizeof(type), sizeof(type));
    return type >= TOKEN_NORMAL && type <= TOKEN_BYTE ? (uint8_t)type : TOKEN_NORMAL;
}

/* Makes room for `more` bytes after the `used` ones in tokenizer->pieces. */
static bool reserve_pieces(struct tokenizer *tokenizer, size_t *capacity, size_t used, size_t more)
{
    if (used + more <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : (size_t)tokenizer->count * 8;
    if (wanted < used + more)
        wanted = used + more;
    char *pieces = realloc(tokenizer->pieces, wanted);
    if (pieces == NULL)
        return false;
    tokenizer->pieces = pieces;
    *capacity = wanted;
    return true;
}

static enum td_status load_tokens(struct tokenizer *tokenizer, const struct gguf *gguf,
                                  struct td_error *err)
{
    const char *types;
    enum td_status status = allocate_tokens(tokenizer, gguf, err);
    if (status == TD_OK)
        status = number_array(gguf, KEY("token_type"), tokenizer->count, GGUF_I32, &types, err);
    if (status != TD_OK)
        return status;
    const void *cursor = NULL;
    struct td_str text;
    size_t capacity = 0, used = 0;
    uint32_t id = 0;
    for (; id < tokenizer->count && gguf_next_string(gguf, KEY("tokens"), &cursor, &text); id++) {
        if (text.len > TOKEN_BYTES_MAX)
            return error_set(err, TD_LIMIT, "token %u has %zu bytes; at most %u are supported", id,
                             text.len, TOKEN_BYTES_MAX);
        struct token *token = &tokenizer->tokens[id];
        *token = (struct token){
            .text = text.data, .len = (uint32_t)text.len, .type = type_at(types, id)};
        mark_end(token);
        if (!reserve_pieces(tokenizer, &capacity, used, text.len + 1))
            return error_set(err, TD_NO_MEMORY, "no memory for the vocabulary");
        used += write_piece(tokenizer, token, tokenizer->pieces + used);
        if (used > UINT32_MAX / 2)
            return error_set(err, TD_LIMIT, "the texts of the vocabulary exceed 2 GiB");
        tokenizer->piece_offsets[id + 1] = (uint32_t)used;
        if (text.len > 0 && !tokenizer_insert_token(tokenizer, id))
            return error_set(err, TD_CORRUPT, "token texts collide; the vocabulary is not genuine");
    }
    if (id < tokenizer->count)
        return error_set(err, TD_CORRUPT, "%s: not an array of strings", KEY("tokens"));
    return TD_OK;
}

/* --- what each kind of vocabulary adds --- */

/* Maps a score to a number; a higher score gets a lower number. -0 equals 0, NaN is the worst. */
static uint32_t priority_of_score(float score)
{
    uint32_t bits;
    score += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof(bits));
    uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    uint32_t priority = score != score ? UINT32_MAX : ~ascending;
    return priority == MERGE_NONE ? MERGE_NONE - 1 : priority;
}

static enum td_status load_scores(struct tokenizer *tokenizer, const struct gguf *gguf,
                                  struct td_error *err)
{
    const char *scores;
    enum td_status status =
        number_array(gguf, KEY("scores"), tokenizer->count, GGUF_F32, &scores, err);
    if (status != TD_OK)
        return status;
    if (scores == NULL)
        return error_set(err, TD_CORRUPT, "a SentencePiece vocabulary without %s", KEY("scores"));
    tokenizer->priorities = malloc((size_t)tokenizer->count * sizeof(*tokenizer->priorities));
    if (tokenizer->priorities == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the vocabulary");
    for (uint32_t id = 0; id < tokenizer->count; id++) {
        float score;
        memcpy(&score, scores + (size_t)id * sizeof(score), sizeof(score));
        tokenizer->priorities[id] = priority_of_score(score);
    }
    return TD_OK;
}

static enum td_status load_merges(struct tokenizer *tokenizer, const struct gguf *gguf,
                                  struct td_error *err)
{
    uint64_t count = gguf_array_count(gguf, KEY("merges"));
    if (count > MERGES_MAX)
        return error_set(err, TD_LIMIT, "%llu merges; at most %u are supported",
                         (unsigned long long)count, MERGES_MAX);
    if (!slot_table_init(&tokenizer->merge_offsets, count))
        return error_set(err, TD_NO_MEMORY, "no memory for %llu merges", (unsigned long long)count);
    const void *cursor = NULL;
    struct td_str merge;
    uint64_t loaded = 0;
    for (; loaded < count && gguf_next_string(gguf, KEY("merges"), &cursor, &merge); loaded++) {
        if (loaded == 0)
            tokenizer->merges = merge.data;
        uintptr_t offset = (uintptr_t)merge.data - (uintptr_t)tokenizer->merges;
        if (merge.len > MERGE_BYTES_MAX || offset >= MERGE_NONE - 1)
            return error_set(err, TD_LIMIT, "merge %llu is longer than %d bytes or beyond 4 GiB",
                             (unsigned long long)loaded, MERGE_BYTES_MAX);
        if (merge.len > tokenizer->merge_len_max)
            tokenizer->merge_len_max = (uint32_t)merge.len;
        if (!tokenizer_insert_merge(tokenizer, merge, (uint32_t)offset))
            return error_set(err, TD_CORRUPT, "merges collide; the vocabulary is not genuine");
    }
    if (loaded < count)
        return error_set(err, TD_CORRUPT, "%s: not an array of strings", KEY("merges"));
    return TD_OK;
}

static enum td_status find_pretokenizer(struct tokenizer *tokenizer, const struct gguf *gguf,
                                        struct td_error *err)
{
    struct td_str name;
    if (!gguf_get_string(gguf, KEY("pre"), &name))
        name = STR("default");
    tokenizer->pre = pretokenizer_find(name);
    if (tokenizer->pre)
        return TD_OK;
    char known[TD_ERROR_BYTES - 128];
    pretokenizer_list(known, sizeof(known));
    return error_set(err, TD_UNSUPPORTED,
                     "pre-tokenizer '" STR_FMT
                     "' is not supported (there are %s, and other names of these)",
                     STR_ARG(str_slice(name, 0, 64)), known);
}

/* BERT's own spelling, with ## before the later pieces of a word, has no U+2581 at all. */
static bool uses_hash_marks(const struct gguf *gguf)
{
    const void *cursor = NULL;
    struct td_str text;
    bool hashes = false;
    while (gguf_next_string(gguf, KEY("tokens"), &cursor, &text)) {
        if (str_starts_with(text, STR(SPACE_MARK)))
            return false;
        hashes |= text.len > 2 && str_starts_with(text, STR("##"));
    }
    return hashes;
}

static void prepare_wordpiece(struct tokenizer *tokenizer, const struct gguf *gguf)
{
    tokenizer->hash_marks = uses_hash_marks(gguf);
    tokenizer->lowercases = true;
    gguf_get_bool(gguf, KEY("normalizer.lowercase"), &tokenizer->lowercases);
    /* when the file does not say: accents are stripped if letters are lowercased, as in BERT */
    tokenizer->strips_accents = tokenizer->lowercases;
    gguf_get_bool(gguf, KEY("normalizer.strip_accents"), &tokenizer->strips_accents);
}

static void find_byte_tokens(struct tokenizer *tokenizer)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        size_t len = 6;
        if (tokenizer->sentencepiece)
            snprintf(text, sizeof(text), "<0x%02X>", byte);
        else
            len = byte_level_encode((unsigned char)byte, text);
        tokenizer->byte_ids[byte] =
            tokenizer_find_hashed(tokenizer, text, len, text_hash(text, len, HASH_FNV1A64_BASIS));
    }
}

/* --- special tokens --- */

static enum td_status special_id(const struct tokenizer *tokenizer, const struct gguf *gguf,
                                 const char *key, int32_t otherwise, int32_t *id,
                                 struct td_error *err)
{
    uint32_t value;
    *id = otherwise >= 0 && (uint32_t)otherwise < tokenizer->count ? otherwise : -1;
    if (!gguf_get_u32(gguf, key, &value))
        return TD_OK;
    if (value != UINT32_MAX && value >= tokenizer->count)
        return error_set(err, TD_CORRUPT, "%s is %u, but there are %u tokens", key, value,
                         tokenizer->count);
    *id = value == UINT32_MAX ? -1 : (int32_t)value;
    return TD_OK;
}

/* [CLS] and [SEP] are BOS and EOS. Files name them by several keys, or only by their texts. */
static enum td_status load_wordpiece_ids(struct tokenizer *tokenizer, const struct gguf *gguf,
                                         struct td_error *err)
{
    const struct {
        const char *text, *keys[3];
        int32_t *out;
    } ids[] = {
        {"[CLS]", {KEY("bos_token_id"), KEY("cls_token_id")}, &tokenizer->bos},
        {"[SEP]",
         {KEY("eos_token_id"), KEY("separator_token_id"), KEY("seperator_token_id")},
         &tokenizer->eos},
        {"[UNK]", {KEY("unknown_token_id")}, &tokenizer->unknown},
    };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        int32_t id = tokenizer_find(tokenizer, str_from(ids[i].text));
        for (size_t k = 0; k < 3 && ids[i].keys[k]; k++) {
            enum td_status status = special_id(tokenizer, gguf, ids[i].keys[k], id, &id, err);
            if (status != TD_OK)
                return status;
        }
        if (id < 0)
            return error_set(err, TD_CORRUPT, "a WordPiece vocabulary without %s", ids[i].text);
        tokenizer->tokens[id].type = TOKEN_CONTROL; /* even if the file has no token types */
        *ids[i].out = id;
    }
    tokenizer->adds_bos = tokenizer->adds_eos = true;
    gguf_get_bool(gguf, KEY("add_bos_token"), &tokenizer->adds_bos);
    gguf_get_bool(gguf, KEY("add_eos_token"), &tokenizer->adds_eos);
    gguf_get_bool(gguf, KEY("add_sep_token"), &tokenizer->adds_eos);
    tokenizer->space_prefix = true; /* decoding drops it at the start */
    return TD_OK;
}

static enum td_status load_special_ids(struct tokenizer *tokenizer, const struct gguf *gguf,
                                       struct td_error *err)
{
    if (tokenizer->wordpiece)
        return load_wordpiece_ids(tokenizer, gguf, err);
    bool sp = tokenizer->sentencepiece; /* ids 0, 1, 2 are unknown, BOS, EOS by convention */
    int32_t end_of_turn = -1, end_of_message = -1;
    enum td_status status =
        special_id(tokenizer, gguf, KEY("bos_token_id"), sp ? 1 : -1, &tokenizer->bos, err);
    if (status == TD_OK)
        status =
            special_id(tokenizer, gguf, KEY("eos_token_id"), sp ? 2 : -1, &tokenizer->eos, err);
    if (status == TD_OK)
        status = special_id(tokenizer, gguf, KEY("unknown_token_id"), sp ? 0 : -1,
                            &tokenizer->unknown, err);
    if (status == TD_OK)
        status = special_id(tokenizer, gguf, KEY("eot_token_id"), -1, &end_of_turn, err);
    if (status == TD_OK)
        status = special_id(tokenizer, gguf, KEY("eom_token_id"), -1, &end_of_message, err);
    if (status != TD_OK)
        return status;
    const int32_t ends[] = {tokenizer->eos, end_of_turn, end_of_message};
    for (size_t i = 0; i < 3; i++)
        if (ends[i] >= 0)
            tokenizer->tokens[ends[i]].is_end = true;
    tokenizer->adds_bos = sp || pretokenizer_adds_bos(tokenizer->pre);
    gguf_get_bool(gguf, KEY("add_bos_token"), &tokenizer->adds_bos);
    gguf_get_bool(gguf, KEY("add_eos_token"), &tokenizer->adds_eos);
    tokenizer->space_prefix = sp && !tokenizer->ranked;
    if (sp)
        gguf_get_bool(gguf, KEY("add_space_prefix"), &tokenizer->space_prefix);
    return TD_OK;
}

static int compare_specials(const void *a, const void *b, void *context)
{
    const struct tokenizer *tokenizer = context;
    uint32_t id_a = *(const uint32_t *)a, id_b = *(const uint32_t *)b;
    const struct token *x = &tokenizer->tokens[id_a], *y = &tokenizer->tokens[id_b];
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    if (order == 0 && x->len != y->len)
        order = x->len < y->len ? -1 : 1;
    return order ? order : id_a < id_b ? -1 : 1;
}

static bool is_special(const struct token *token)
{
    return token->len > 0 && (token->type == TOKEN_CONTROL || token->type == TOKEN_UNKNOWN ||
                              token->type == TOKEN_USER_DEFINED || token->in_marks);
}

static enum td_status load_specials(struct tokenizer *tokenizer, struct td_error *err)
{
    for (uint32_t id = 0; id < tokenizer->count; id++) {
        if (!is_special(&tokenizer->tokens[id]))
            continue;
        if (tokenizer->tokens[id].len > SPECIAL_BYTES_MAX)
            return error_set(err, TD_LIMIT, "special token %u is longer than %d bytes", id,
                             SPECIAL_BYTES_MAX);
        tokenizer->special_count++;
    }
    tokenizer->specials = malloc(((size_t)tokenizer->special_count + 1) * sizeof(uint32_t));
    if (tokenizer->specials == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the vocabulary");
    uint32_t filled = 0;
    for (uint32_t id = 0; id < tokenizer->count; id++)
        if (is_special(&tokenizer->tokens[id]))
            tokenizer->specials[filled++] = id;
    qsort_r(tokenizer->specials, filled, sizeof(uint32_t), compare_specials, tokenizer);
    uint32_t at = 0;
    for (unsigned byte = 0; byte <= 256; byte++) {
        while (at < filled &&
               (unsigned char)tokenizer->tokens[tokenizer->specials[at]].text[0] < byte)
            at++;
        tokenizer->special_first[byte] = at;
    }
    return TD_OK;
}

/* Phi-3 drops the white space after its special tokens. Its tokenizer_config.json says so, but GGUF
 * has no key for it. So the model is recognised by its name, as llama.cpp does. */
static void mark_strip_right(struct tokenizer *tokenizer, const struct gguf *gguf)
{
    struct td_str name;
    char lower[64];
    if (!gguf_get_string(gguf, "general.name", &name) || name.len >= sizeof(lower))
        return;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = (char)ascii_lower(name.data[i]);
    struct td_str model = {lower, name.len};
    if (str_find(model, STR("phi-3"), 0) == SIZE_MAX && str_find(model, STR("phi3"), 0) == SIZE_MAX)
        return;
    static const char *const kept[] = {"<unk>", "<s>", "<|endoftext|>"};
    for (uint32_t i = 0; i < tokenizer->special_count; i++) {
        struct token *token = &tokenizer->tokens[tokenizer->specials[i]];
        token->strip_right = true;
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
            if (str_equal((struct td_str){token->text, token->len}, str_from(kept[k])))
                token->strip_right = false;
    }
}

static enum td_status load(struct tokenizer *tokenizer, const struct gguf *gguf,
                           struct td_error *err)
{
    struct td_str model = {0}, kind = {0};
    if (gguf_get_string(gguf, "general.type", &kind) && str_equal(kind, STR("adapter")))
        return error_set(
            err, TD_INVALID,
            "%s is an adapter, not a model: load its model, and give the adapter with --lora",
            gguf_path(gguf));
    gguf_get_string(gguf, KEY("model"), &model);
    tokenizer->ranked = str_equal(model, STR("gemma4"));
    tokenizer->sentencepiece = tokenizer->ranked || str_equal(model, STR("llama"));
    tokenizer->wordpiece = str_equal(model, STR("bert"));
    bool byte_level = str_equal(model, STR("gpt2"));
    if (!tokenizer->sentencepiece && !tokenizer->wordpiece && !byte_level)
        return error_set(err, TD_UNSUPPORTED,
                         "%s: tokenizer '" STR_FMT
                         "' is not supported (there are llama, gemma4, gpt2, bert)",
                         gguf_path(gguf), STR_ARG(str_slice(model, 0, 64)));
    enum td_status status = TD_OK;
    if (byte_level)
        status = find_pretokenizer(tokenizer, gguf, err);
    if (tokenizer->wordpiece)
        prepare_wordpiece(tokenizer, gguf);
    if (status == TD_OK)
        status = load_tokens(tokenizer, gguf, err);
    if (status == TD_OK && tokenizer->sentencepiece && !tokenizer->ranked)
        status = load_scores(tokenizer, gguf, err);
    if (status == TD_OK && (byte_level || tokenizer->ranked))
        status = load_merges(tokenizer, gguf, err);
    if (status == TD_OK)
        status = load_special_ids(tokenizer, gguf, err);
    if (status == TD_OK)
        status = infill_load(tokenizer, gguf, err);
    if (status == TD_OK)
        status = load_specials(tokenizer, err);
    if (status == TD_OK && !tokenizer->wordpiece) {
        find_byte_tokens(tokenizer);
        mark_strip_right(tokenizer, gguf);
    }
    return status;
}

enum td_status tokenizer_open(const struct gguf *gguf, struct tokenizer **out, struct td_error *err)
{
    ASSERT(gguf != NULL && out != NULL);
    struct tokenizer *tokenizer = calloc(1, sizeof(*tokenizer));
    *out = NULL;
    if (tokenizer == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a tokenizer");
    enum td_status status = load(tokenizer, gguf, err);
    if (status != TD_OK) {
        tokenizer_close(tokenizer);
        return status;
    }
    *out = tokenizer;
    return TD_OK;
}

void tokenizer_close(struct tokenizer *tokenizer)
{
    if (tokenizer == NULL)
        return;
    free(tokenizer->tokens);
    free(tokenizer->ids.slots);
    free(tokenizer->pieces);
    free(tokenizer->piece_offsets);
    free(tokenizer->merge_offsets.slots);
    free(tokenizer->priorities);
    free(tokenizer->specials);
    free(tokenizer);
}
