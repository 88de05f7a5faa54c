/* The expressions of vocabularies since 2024. Their alternatives are tried in the order in which
 * they stand, as a regular expression does. Where one would backtrack, the comment says how the
 * same end is found without. U is an upper-case, title-case, modifier or other letter or a mark, W
 * the same with lower case for the first two:
 *
 *   gpt-4o   [^\r\n\p{L}\p{N}]?U*W+C?|[^\r\n\p{L}\p{N}]?U+W*C?|\p{N}{1,3}|
 *             ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+    C: (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   tekken   the same without C, and with \p{N} for \p{N}{1,3}
 *   kimi-k2  \p{Han}+| before those of gpt-4o; U and W without \p{Han}; [\r\n]* for [\r\n/]*
 *   qwen35   C|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|
 *            \s*[\r\n]+|\s+(?!\S)|\s+
 *   seed-coder  C|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+ */
#include "engine/tokenizer/pretokenizer_stages.h"

#include "engine/tokenizer/pretokenizer_characters.h"

static bool is_line_break(struct character c)
{
    return c.code_point == '\r' || c.code_point == '\n';
}

static size_t numbers_up_to(struct td_str text, size_t begin, int count)
{
    size_t at = begin;
    for (int i = 0; i < count && character_at(text, at).classes & UNICODE_NUMBER; i++)
        at += character_at(text, at).len;
    return at;
}

/* C of the expressions: its length at `at`, which may be the end. */
static size_t contraction_at(struct td_str text, size_t at)
{
    return at < text.len ? contraction_len(text, at, true) : 0;
}

/* `\s*[\r\n]+|\s+(?!\S)|\s+`, at white space. */
static size_t end_of_lines_or_space(struct td_str text, size_t begin)
{
    size_t breaks = end_of_line_breaks(text, begin);
    return breaks > begin ? breaks : end_of_white_space(text, begin);
}

/* A run of X, or ` ?[^\s\p{L}\p{N}]+` and then any of `after`; 0 when there is none. */
static size_t end_of_symbols(struct td_str text, size_t begin, const char *after)
{
    size_t at = text.data[begin] == ' ' ? begin + 1 : begin;
    size_t end = run_of_symbols(text, at);
    if (end == at)
        return 0;
    while (end < text.len && text.data[end] != '\0' && strchr(after, text.data[end]))
        end++;
    return end;
}

/* ---- gpt-4o, tekken, kimi-k2 ---------------------------------------------------------------- */

/* Script=Han (Unicode 16, Scripts.txt): first and last of each range. */
static const uint32_t han_ranges[][2] = {
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
    {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739}, {0x2B740, 0x2B81D},
    {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
    {0x30000, 0x3134A}, {0x31350, 0x323AF},
};

static bool is_han(uint32_t c)
{
    for (size_t i = 0; i < sizeof han_ranges / sizeof *han_ranges && han_ranges[i][0] <= c; i++)
        if (c <= han_ranges[i][1])
            return true;
    return false;
}

struct cased_rules {
    bool without_han; /* Han characters are pieces of their own */
    bool contractions;
    int digits_max;
    const char *after_symbols;
};

/* U with `except` = UNICODE_LOWER, W with UNICODE_UPPER. */
static bool is_letter_but(const struct cased_rules *rules, struct character c, uint16_t except)
{
    return c.classes & (UNICODE_LETTER | UNICODE_ANY_MARK) && !(c.classes & except) &&
           !(rules->without_han && is_han(c.code_point));
}

static size_t run_of_letters_but(const struct cased_rules *rules, struct td_str text, size_t at,
                                 uint16_t except)
{
    for (;;) {
        struct character c = character_at(text, at);
        if (!is_letter_but(rules, c, except))
            return at;
        at += c.len;
    }
}

/* U*W+ at `begin`: the run of U, then that of W. Where no W follows, U* gives back up to its last
 * character that is a W as well, which is then the whole of W+. Returns `begin` for no match. */
static size_t end_of_lower_word(const struct cased_rules *rules, struct td_str text, size_t begin)
{
    size_t upper = begin, last = begin;
    for (;;) {
        struct character c = character_at(text, upper);
        if (!is_letter_but(rules, c, UNICODE_LOWER))
            break;
        upper += c.len;
        if (is_letter_but(rules, c, UNICODE_UPPER))
            last = upper;
    }
    size_t end = run_of_letters_but(rules, text, upper, UNICODE_UPPER);
    return end > upper ? end : last;
}

/* The two alternatives of words. A character that may stand before a word is tried as that first,
 * and then, when it is a mark, as part of the word. */
static size_t end_of_cased_word(const struct cased_rules *rules, struct td_str text, size_t begin)
{
    struct character first = character_at(text, begin);
    bool before = !is_line_break(first) && !(first.classes & (UNICODE_LETTER | UNICODE_NUMBER));
    size_t word = before ? begin + first.len : begin;
    size_t end = end_of_lower_word(rules, text, word);
    if (end == word && before)
        end = end_of_lower_word(rules, text, word = begin);
    if (end == word) { /* U+W*: no W follows */
        word = before ? begin + first.len : begin;
        end = run_of_letters_but(rules, text, word, UNICODE_LOWER);
    }
    if (end == word)
        return begin;
    return rules->contractions ? end + contraction_at(text, end) : end;
}

static size_t stage_cased(const struct cased_rules *rules, struct td_str text, size_t begin)
{
    size_t end = begin;
    struct character c = character_at(text, begin);
    while (rules->without_han && is_han(character_at(text, end).code_point))
        end += character_at(text, end).len;
    if (end == begin)
        end = end_of_cased_word(rules, text, begin);
    if (end == begin && c.classes & UNICODE_NUMBER)
        end = numbers_up_to(text, begin, rules->digits_max);
    if (end > begin)
        return end;
    end = end_of_symbols(text, begin, rules->after_symbols);
    return end ? end : end_of_lines_or_space(text, begin);
}

size_t stage_gpt4o(struct td_str text, size_t begin)
{
    static const struct cased_rules rules = {false, true, 3, "\r\n/"};
    return stage_cased(&rules, text, begin);
}

size_t stage_tekken(struct td_str text, size_t begin)
{
    static const struct cased_rules rules = {false, false, 1, "\r\n/"};
    return stage_cased(&rules, text, begin);
}

size_t stage_kimi(struct td_str text, size_t begin)
{
    static const struct cased_rules rules = {true, true, 3, "\r\n"};
    return stage_cased(&rules, text, begin);
}

/* ---- qwen35, seed-coder --------------------------------------------------------------------- */

size_t stage_qwen35(struct td_str text, size_t begin)
{
    const uint16_t word = UNICODE_LETTER | UNICODE_ANY_MARK;
    size_t contraction = contraction_len(text, begin, true);
    if (contraction)
        return begin + contraction;
    struct character c = character_at(text, begin);
    bool before = !is_line_break(c) && !(c.classes & (UNICODE_LETTER | UNICODE_NUMBER));
    if (before && character_at(text, begin + c.len).classes & word)
        return run_of(text, begin + c.len, word);
    if (c.classes & word)
        return run_of(text, begin, word);
    if (c.classes & UNICODE_NUMBER)
        return begin + c.len;
    size_t at = c.code_point == ' ' ? begin + 1 : begin, end = at;
    while (is_symbol(character_at(text, end)) &&
           !(character_at(text, end).classes & UNICODE_ANY_MARK))
        end += character_at(text, end).len;
    if (end == at)
        return end_of_lines_or_space(text, begin);
    while (end < text.len && is_line_break(character_at(text, end)))
        end++;
    return end;
}

size_t stage_seed_coder(struct td_str text, size_t begin)
{
    size_t contraction = contraction_len(text, begin, true);
    if (contraction)
        return begin + contraction;
    struct character c = character_at(text, begin);
    if (c.classes & UNICODE_LETTER)
        return run_of(text, begin, UNICODE_LETTER);
    if (c.classes & UNICODE_NUMBER)
        return begin + c.len;
    if (!is_line_break(c) && character_at(text, begin + c.len).classes & UNICODE_LETTER)
        return run_of(text, begin + c.len, UNICODE_LETTER);
    size_t end = end_of_symbols(text, begin, "");
    return end ? end : end_of_lines_or_space(text, begin);
}

/* ---- deepseek-v3 ---------------------------------------------------------------------------- */

/* \p{N}{1,3} */
static size_t three_numbers_len(struct td_str text, size_t at)
{
    return numbers_up_to(text, at, 3) - at;
}

size_t stage_three_numbers(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, three_numbers_len);
}

/* [一-龥぀-ゟ゠-ヿ]+ */
static size_t kana_and_ideographs_len(struct td_str text, size_t begin)
{
    for (size_t at = begin;;) {
        struct character c = character_at(text, at);
        uint32_t p = c.code_point;
        if (!((p >= 0x4E00 && p <= 0x9FA5) || (p >= 0x3040 && p <= 0x30FF)))
            return at - begin;
        at += c.len;
    }
}

size_t stage_kana_and_ideographs(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, kana_and_ideographs_len);
}

/* [\p{P}\p{S}] of ASCII, and then [A-Za-z]+ */
static size_t marked_word_len(struct td_str text, size_t begin)
{
    size_t at = begin + 1;
    char first = text.data[begin];
    if (first <= ' ' || first > '~' || ascii_is_alnum(first))
        return 0;
    while (at < text.len && ascii_is_alnum(text.data[at]) && !ascii_is_digit(text.data[at]))
        at++;
    return at > begin + 1 ? at - begin : 0;
}

/* [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|
 * \s+(?!\S)|\s+ ; other characters are gaps */
static size_t deepseek_v3_len(struct td_str text, size_t begin)
{
    const uint16_t word = UNICODE_LETTER | UNICODE_ANY_MARK;
    const uint16_t marks = UNICODE_PUNCTUATION | UNICODE_SYMBOL;
    size_t marked = marked_word_len(text, begin);
    if (marked)
        return marked;
    struct character c = character_at(text, begin);
    bool before = !is_line_break(c) && !(c.classes & (UNICODE_LETTER | marks));
    if (before && character_at(text, begin + c.len).classes & word)
        return run_of(text, begin + c.len, word) - begin;
    if (c.classes & word)
        return run_of(text, begin, word) - begin;
    size_t at = c.code_point == ' ' ? begin + 1 : begin, end = run_of(text, at, marks);
    if (end > at) {
        while (end < text.len && is_line_break(character_at(text, end)))
            end++;
        return end - begin;
    }
    return c.classes & UNICODE_SPACE ? end_of_lines_or_space(text, begin) - begin : 0;
}

size_t stage_deepseek_v3(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, deepseek_v3_len);
}

/* ---- deepseek-coder ------------------------------------------------------------------------- */

static bool is_letter(struct character c)
{
    return c.classes & UNICODE_LETTER;
}

/* \s?\p{L}+ */
static size_t spaced_letters_len(struct td_str text, size_t at)
{
    return spaced_run_len(text, at, is_letter);
}

size_t stage_spaced_letters(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, spaced_letters_len);
}

static bool is_punctuation(struct character c)
{
    return c.classes & UNICODE_PUNCTUATION;
}

/* \s?\p{P}+ */
static size_t spaced_punctuation_len(struct td_str text, size_t at)
{
    return spaced_run_len(text, at, is_punctuation);
}

size_t stage_spaced_punctuation(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, spaced_punctuation_len);
}

/* ---- bloom, viking, superbpe ---------------------------------------------------------------- */

/* [^(\s|.,!?…。，、।۔،)], where "(", "|" and ")" are members of the set */
static bool is_bloom_word(struct character c)
{
    switch (c.code_point) {
    case '(':
    case '|':
    case '.':
    case ',':
    case '!':
    case '?':
    case ')':
    case 0x2026: /* … */
    case 0x3002: /* 。 */
    case 0xFF0C: /* ， */
    case 0x3001: /* 、 */
    case 0x0964: /* । */
    case 0x06D4: /* ۔ */
    case 0x060C: /* ، */
        return false;
    default:
        return c.len != 0 && !(c.classes & UNICODE_SPACE);
    }
}

/* A space and a run of such characters */
static size_t bloom_len(struct td_str text, size_t begin)
{
    size_t at = text.data[begin] == ' ' ? begin + 1 : begin, end = at;
    while (is_bloom_word(character_at(text, end)))
        end += character_at(text, end).len;
    return end > at ? end - begin : 0;
}

size_t stage_bloom(struct td_str text, size_t begin)
{
    return end_of_match_or_gap(text, begin, bloom_len);
}

/* (?=(\d{3})+(?!\d)): cuts a run of numbers, which is a piece by now, into threes from its end. */
size_t stage_thousands(struct td_str text, size_t begin)
{
    size_t count = 0, at = begin;
    for (; character_at(text, at).classes & UNICODE_NUMBER; count++)
        at += character_at(text, at).len;
    if (count < 3)
        return text.len;
    return numbers_up_to(text, begin, count % 3 ? (int)(count % 3) : 3);
}
