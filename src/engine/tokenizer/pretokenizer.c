/* Cuts text as the regular expressions of the published tokenizers do, without a regex library: no
 * backtracking, linear time. Each tokenizer is a row of one to six stages. A stage cuts the pieces
 * of the stage before it, so look-ahead never passes the end of such a piece. llama.cpp, whose
 * results are the golden ones, does the same. A byte that is not UTF-8 is a character without a
 * class.
 *
 * The expressions, as published in each tokenizer.json:
 *   gpt-2     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *   llama-3   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
 *              ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *   qwen2     the same with \p{N} for \p{N}{1,3}
 * The other stages have their expressions beside the function. */
#include "engine/tokenizer/pretokenizer.h"

#include "base/core/assertion.h"
#include "engine/tokenizer/pretokenizer_characters.h"
#include "engine/tokenizer/pretokenizer_stages.h"

#define STAGES_MAX 6

struct pretokenizer {
    const char *names; /* comma-separated */
    bool ignore_merges;
    bool add_bos;
    stage_function stages[STAGES_MAX + 1]; /* ended by NULL */
};

static size_t stage_gpt2(struct td_str text, size_t begin)
{
    size_t contraction = contraction_len(text, begin, false);
    if (contraction)
        return begin + contraction;
    struct character first = character_at(text, begin);
    size_t at = begin;
    struct character c = first;
    if (first.code_point == ' ') {
        at++;
        c = character_at(text, at);
    }
    if (c.classes & UNICODE_LETTER)
        return run_of(text, at, UNICODE_LETTER);
    if (c.classes & UNICODE_NUMBER)
        return run_of(text, at, UNICODE_NUMBER);
    if (is_symbol(c))
        return run_of_symbols(text, at);
    return end_of_white_space(text, begin); /* nothing else is left */
}

static size_t stage_llama3_numbers(struct td_str text, size_t begin, int digits_max)
{
    size_t contraction = contraction_len(text, begin, true);
    if (contraction)
        return begin + contraction;
    struct character c = character_at(text, begin);
    if (c.classes & UNICODE_LETTER)
        return run_of(text, begin, UNICODE_LETTER);
    if (c.classes & UNICODE_NUMBER) {
        size_t at = begin;
        for (int i = 0; i < digits_max && character_at(text, at).classes & UNICODE_NUMBER; i++)
            at += character_at(text, at).len;
        return at;
    }
    if (c.code_point != '\r' && c.code_point != '\n' &&
        character_at(text, begin + c.len).classes & UNICODE_LETTER)
        return run_of(text, begin + c.len, UNICODE_LETTER);
    size_t at = c.code_point == ' ' ? begin + 1 : begin;
    if (is_symbol(character_at(text, at))) {
        at = run_of_symbols(text, at);
        while (at < text.len && (text.data[at] == '\r' || text.data[at] == '\n'))
            at++;
        return at;
    }
    size_t breaks = end_of_line_breaks(text, begin);
    return breaks > begin ? breaks : end_of_white_space(text, begin);
}

static size_t stage_llama3(struct td_str text, size_t begin)
{
    return stage_llama3_numbers(text, begin, 3);
}

static size_t stage_qwen2(struct td_str text, size_t begin)
{
    return stage_llama3_numbers(text, begin, 1);
}

/* \p{N} */
static size_t number_len(struct td_str text, size_t at)
{
    struct character c = character_at(text, at);
    return c.classes & UNICODE_NUMBER ? c.len : 0;
}

static size_t stage_each_number(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, number_len);
}

/* \p{N}+ */
static size_t numbers_len(struct td_str text, size_t at)
{
    return run_of(text, at, UNICODE_NUMBER) - at;
}

static size_t stage_numbers(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, numbers_len);
}

/* [0-9][0-9][0-9] */
static size_t three_digits_len(struct td_str text, size_t at)
{
    for (size_t i = 0; i < 3; i++)
        if (at + i >= text.len || !ascii_is_digit(text.data[at + i]))
            return 0;
    return 3;
}

static size_t stage_three_digits(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, three_digits_len);
}

/* [\p{P}\$\+<=>\^~\|]+ , for falcon also the backtick */
static size_t punctuation_run_len(struct td_str text, size_t begin, const char *also)
{
    size_t at = begin;
    for (;;) {
        struct character c = character_at(text, at);
        bool listed = c.code_point > 0 && c.code_point < 0x80 && strchr(also, (int)c.code_point);
        if (!(c.classes & UNICODE_PUNCTUATION) && !listed)
            return at - begin;
        at += c.len;
    }
}

static size_t punctuation_len(struct td_str text, size_t at)
{
    return punctuation_run_len(text, at, "$+<=>^~|");
}

static size_t stage_punctuation(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, punctuation_len);
}

static size_t falcon_punctuation_len(struct td_str text, size_t at)
{
    return punctuation_run_len(text, at, "$+<=>^~|`");
}

static size_t stage_falcon_punctuation(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, falcon_punctuation_len);
}

/* [\r\n] */
static size_t line_break_len(struct td_str text, size_t at)
{
    return text.data[at] == '\r' || text.data[at] == '\n';
}

static size_t stage_line_break(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, line_break_len);
}

static bool is_deepseek_word(struct character c)
{
    return c.classes & UNICODE_DEEPSEEK_WORD;
}

static size_t deepseek_word_len(struct td_str text, size_t at)
{
    return spaced_run_len(text, at, is_deepseek_word);
}

static size_t stage_deepseek_word(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, deepseek_word_len);
}

/* [!-/:-~！-／：-～‘-‟　-。], but U+3000 is white space first */
static bool is_deepseek_mark(struct character c)
{
    uint32_t p = c.code_point;
    return (p >= 0x21 && p <= 0x2F) || (p >= 0x3A && p <= 0x7E) || (p >= 0xFF01 && p <= 0xFF0F) ||
           (p >= 0xFF1A && p <= 0xFF5E) || (p >= 0x2018 && p <= 0x201F) || p == 0x3001 ||
           p == 0x3002;
}

static size_t deepseek_mark_len(struct td_str text, size_t at)
{
    return spaced_run_len(text, at, is_deepseek_mark);
}

static size_t stage_deepseek_mark(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, deepseek_mark_len);
}

/* \s+$ . Matches only in the last run of white space, so one pass finds where that begins. */
static size_t stage_trailing_space(struct td_str text, size_t begin)
{
    size_t run = begin;
    bool in_run = false;
    for (size_t at = begin; at < text.len;) {
        struct character c = character_at(text, at);
        if (!(c.classes & UNICODE_SPACE))
            in_run = false;
        else if (!in_run)
            run = at, in_run = true;
        at += c.len;
    }
    return in_run && run > begin ? run : text.len;
}

/* [一-龥ࠀ-一가-퟿]+ */
static size_t deepseek_ideographs_len(struct td_str text, size_t begin)
{
    for (size_t at = begin;;) {
        struct character c = character_at(text, at);
        uint32_t p = c.code_point;
        if (!((p >= 0x800 && p <= 0x9FA5) || (p >= 0xAC00 && p <= 0xD7FF)))
            return at - begin;
        at += c.len;
    }
}

static size_t stage_deepseek_ideographs(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, deepseek_ideographs_len);
}

/* Names as convert scripts write them into tokenizer.ggml.pre. */
static const struct pretokenizer pretokenizers[] = {
    {.names = "gpt-2,phi-2,mpt,olmo,jais,jina-es,jina-de,jina-v2-es,jina-v2-de,gigachat,a.x-4.0,"
              "mellum,modern-bert,exaone4,trillion,granite-docling",
     .stages = {stage_gpt2}},
    {.names = "llama-bpe,llama3,llama-v3,falcon3,falcon-h1,pixtral,midm-2.0,lfm2",
     .ignore_merges = true,
     .add_bos = true,
     .stages = {stage_llama3}},
    {.names = "dbrx,smaug-bpe,glm4,chatglm-bpe", .stages = {stage_llama3}},
    {.names = "qwen2,deepseek-r1-qwen,stablelm2,hunyuan,megrez,kormo,f2llmv2,solar-open,grok-2,"
              "bailingmoe,bailingmoe2,llada-moe",
     .stages = {stage_qwen2}},
    {.names = "qwen35", .stages = {stage_qwen35}},
    {.names = "seed-coder", .stages = {stage_seed_coder}},
    {.names = "gpt-4o,llama4,kanana2,minimax-m2", .stages = {stage_gpt4o}},
    {.names = "tekken", .ignore_merges = true, .add_bos = true, .stages = {stage_tekken}},
    {.names = "kimi-k2", .stages = {stage_kimi}},
    {.names = "smollm,starcoder,refact,command-r,codeshell,exaone,minerva-7b,mellum2",
     .stages = {stage_each_number, stage_gpt2}},
    {.names = "default",
     .stages = {stage_punctuation, stage_gpt2, stage_numbers, stage_three_digits}},
    {.names = "falcon", .stages = {stage_falcon_punctuation, stage_gpt2, stage_three_digits}},
    {.names = "deepseek-llm",
     .stages = {stage_line_break, stage_deepseek_word, stage_deepseek_mark, stage_trailing_space,
                stage_deepseek_ideographs, stage_numbers}},
    {.names = "deepseek-coder",
     .stages = {stage_line_break, stage_spaced_letters, stage_spaced_punctuation,
                stage_deepseek_ideographs, stage_each_number}},
    {.names = "deepseek-v3,hunyuan-dense,joyai-llm",
     .stages = {stage_three_numbers, stage_kana_and_ideographs, stage_deepseek_v3}},
    {.names = "bloom,poro-chat,gpt3-finnish", .stages = {stage_bloom}},
    {.names = "viking", .stages = {stage_bloom, stage_each_number}},
    {.names = "superbpe", .stages = {stage_numbers, stage_thousands}},
};
#define PRETOKENIZER_COUNT (sizeof(pretokenizers) / sizeof(pretokenizers[0]))

const struct pretokenizer *pretokenizer_find(struct td_str name)
{
    for (size_t i = 0; i < PRETOKENIZER_COUNT; i++) {
        struct td_str rest = str_from(pretokenizers[i].names), one;
        while (str_next(&rest, ',', &one))
            if (str_equal(one, name))
                return &pretokenizers[i];
    }
    return NULL;
}

void pretokenizer_list(char *out, size_t out_size)
{
    ASSERT(out != NULL || out_size == 0);
    size_t used = 0;
    for (size_t i = 0; i < PRETOKENIZER_COUNT; i++) {
        size_t len = strcspn(pretokenizers[i].names, ",");
        if (used + len + 3 > out_size)
            break;
        if (used) {
            out[used++] = ',';
            out[used++] = ' ';
        }
        memcpy(out + used, pretokenizers[i].names, len);
        used += len;
    }
    if (out_size)
        out[used] = '\0';
}

bool pretokenizer_ignores_merges(const struct pretokenizer *pre)
{
    return pre->ignore_merges;
}

bool pretokenizer_adds_bos(const struct pretokenizer *pre)
{
    return pre->add_bos;
}

/* Recursion is bounded by STAGES_MAX. */
static bool split_from(const stage_function *stage, struct td_str text, pretokenizer_emit emit,
                       void *context)
{
    if (*stage == NULL)
        return emit(context, text);
    for (size_t begin = 0; begin < text.len;) {
        size_t end = (*stage)(text, begin);
        if (!split_from(stage + 1, str_slice(text, begin, end), emit, context))
            return false;
        begin = end;
    }
    return true;
}

bool pretokenizer_split(const struct pretokenizer *pre, struct td_str text, pretokenizer_emit emit,
                        void *context)
{
    ASSERT(pre != NULL && pre->stages[0] != NULL);
    ASSERT(emit != NULL);
    return split_from(pre->stages, text, emit, context);
}
