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

#include "base/ascii.h"
#include "base/assertion.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/utf8.h"

#define STAGES_MAX 6

/* Returns where the piece that begins at `begin` ends: begin < text.len, begin < the result. */
typedef size_t (*stage_function)(struct td_str text, size_t begin);

struct pretokenizer {
    const char *names; /* comma-separated */
    bool ignore_merges;
    bool add_bos;
    stage_function stages[STAGES_MAX + 1]; /* ended by NULL */
};

struct character {
    uint32_t code_point;
    uint32_t len; /* bytes; 0 = past the end */
    uint8_t classes;
};

static struct character character_at(struct td_str text, size_t at)
{
    if (at >= text.len)
        return (struct character){0};
    unsigned char first = (unsigned char)text.data[at];
    if (first < 0x80)
        return (struct character){first, 1, unicode_class_of(first)};
    size_t end = at;
    uint32_t code_point = utf8_next(text, &end);
    return (struct character){code_point, (uint32_t)(end - at), unicode_class_of(code_point)};
}

static size_t run_of(struct td_str text, size_t at, uint8_t classes)
{
    for (;;) {
        struct character c = character_at(text, at);
        if (!(c.classes & classes))
            return at;
        at += c.len;
    }
}

#define WORD_CLASSES (UNICODE_SPACE | UNICODE_LETTER | UNICODE_NUMBER)

/* [^\s\p{L}\p{N}] */
static bool is_symbol(struct character c)
{
    return c.len != 0 && !(c.classes & WORD_CLASSES);
}

static size_t run_of_symbols(struct td_str text, size_t at)
{
    for (;;) {
        struct character c = character_at(text, at);
        if (!is_symbol(c))
            return at;
        at += c.len;
    }
}

/* Length of 's 't 'm 'd 're 've 'll at `at`, or 0. */
static size_t contraction_len(struct td_str text, size_t at, bool any_case)
{
    if (text.data[at] != '\'')
        return 0;
    char c[2] = {0};
    for (size_t i = 0; i < 2 && at + 1 + i < text.len; i++) {
        c[i] = text.data[at + 1 + i];
        if (any_case)
            c[i] = (char)ascii_lower(c[i]);
    }
    if (c[0] == 's' || c[0] == 't' || c[0] == 'm' || c[0] == 'd')
        return 2;
    if ((c[0] == 'r' && c[1] == 'e') || (c[0] == 'v' && c[1] == 'e') ||
        (c[0] == 'l' && c[1] == 'l'))
        return 3;
    return 0;
}

/* \s+(?!\S)|\s+ : a run of white space, without its last character when a word follows it. `begin`
 * is at white space. */
static size_t end_of_white_space(struct td_str text, size_t begin)
{
    size_t end = begin, last = begin;
    for (;;) {
        struct character c = character_at(text, end);
        if (!(c.classes & UNICODE_SPACE))
            break;
        last = end;
        end += c.len;
    }
    return end < text.len && last > begin ? last : end;
}

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

/* \s*[\r\n]+ : the end of the last line break in the run of white space, or `begin`. */
static size_t end_of_line_breaks(struct td_str text, size_t begin)
{
    size_t end = begin;
    for (size_t at = begin;;) {
        struct character c = character_at(text, at);
        if (!(c.classes & UNICODE_SPACE))
            return end;
        at += c.len;
        if (c.code_point == '\r' || c.code_point == '\n')
            end = at;
    }
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

/* The stages below make a piece of each match and of each gap between matches. `length` gives the
 * bytes of a match at `at`, or 0. */
static inline size_t end_of_match_or_gap(struct td_str text, size_t begin,
                                         size_t (*length)(struct td_str text, size_t at))
{
    size_t match = length(text, begin);
    if (match)
        return begin + match;
    size_t at = begin;
    do
        at += character_at(text, at).len;
    while (at < text.len && length(text, at) == 0);
    return at;
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

/* \s?X+ for the class of character that `is_x` knows */
static size_t spaced_run_len(struct td_str text, size_t begin, bool (*is_x)(struct character c))
{
    struct character first = character_at(text, begin);
    size_t at = first.classes & UNICODE_SPACE ? begin + first.len : begin;
    size_t end = at;
    for (;;) {
        struct character c = character_at(text, end);
        if (c.len == 0 || !is_x(c))
            break;
        end += c.len;
    }
    return end > at ? end - begin : 0;
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

static const struct pretokenizer pretokenizers[] = {
    {.names = "gpt-2,phi-2,mpt,olmo,jais", .stages = {stage_gpt2}},
    {.names = "llama-bpe,llama3,llama-v3,falcon3,pixtral",
     .ignore_merges = true,
     .add_bos = true,
     .stages = {stage_llama3}},
    {.names = "dbrx,smaug-bpe", .stages = {stage_llama3}},
    {.names = "qwen2,deepseek-r1-qwen,stablelm2", .stages = {stage_qwen2}},
    {.names = "smollm,starcoder,refact,command-r,codeshell,exaone,minerva-7b",
     .stages = {stage_each_number, stage_gpt2}},
    {.names = "default",
     .stages = {stage_punctuation, stage_gpt2, stage_numbers, stage_three_digits}},
    {.names = "falcon", .stages = {stage_falcon_punctuation, stage_gpt2, stage_three_digits}},
    {.names = "deepseek-llm",
     .stages = {stage_line_break, stage_deepseek_word, stage_deepseek_mark, stage_trailing_space,
                stage_deepseek_ideographs, stage_numbers}},
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
        size_t len = strlen(pretokenizers[i].names);
        if (used + len + 2 > out_size)
            break;
        if (used)
            out[used++] = ',';
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
