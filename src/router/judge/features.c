/* One walk over the canonical text counts everything that the features need: bytes by kind, words,
 * numbers, lines, choices and markers. The features are then functions of those counts. */
#include "router/judge/features.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define CHOICES_MAX 8
#define MARKS_NEEDED 2 /* one word of a kind occurs by chance */
#define RECENT_YEARS 3 /* models are usually trained on what is older */

/* What one walk over the canonical text counts. */
struct walk {
    const struct utterance *utterance;
    uint32_t markers[MARKER_NONE];
    uint32_t words, word_bytes, long_words, numbers, sentences, lines, list_lines, year;
    uint32_t byte_kinds[8]; /* by enum byte_kind */
    uint32_t choices, choice_numbers;
    uint32_t choice_bytes[CHOICES_MAX];
    size_t first_choice; /* offset */
    bool in_choice, blanks, asks;
    uint32_t code_signs;
    uint32_t before[2]; /* hashes of the two words before; 0 = none */
};

enum byte_kind {
    BYTE_OTHER,
    BYTE_WORD,
    BYTE_DIGIT,
    BYTE_OPERATOR,
    BYTE_BRACKET,
    BYTE_COMMA,
    BYTE_QUOTE,
    BYTE_HIGH
};

/* Letters, digits, the apostrophe and all that is not ASCII make words. */
static const uint8_t ascii_kinds[128] = {
    ['a'] = BYTE_WORD,      ['b'] = BYTE_WORD,     ['c'] = BYTE_WORD,     ['d'] = BYTE_WORD,
    ['e'] = BYTE_WORD,      ['f'] = BYTE_WORD,     ['g'] = BYTE_WORD,     ['h'] = BYTE_WORD,
    ['i'] = BYTE_WORD,      ['j'] = BYTE_WORD,     ['k'] = BYTE_WORD,     ['l'] = BYTE_WORD,
    ['m'] = BYTE_WORD,      ['n'] = BYTE_WORD,     ['o'] = BYTE_WORD,     ['p'] = BYTE_WORD,
    ['q'] = BYTE_WORD,      ['r'] = BYTE_WORD,     ['s'] = BYTE_WORD,     ['t'] = BYTE_WORD,
    ['u'] = BYTE_WORD,      ['v'] = BYTE_WORD,     ['w'] = BYTE_WORD,     ['x'] = BYTE_WORD,
    ['y'] = BYTE_WORD,      ['z'] = BYTE_WORD,     ['\''] = BYTE_WORD,    ['0'] = BYTE_DIGIT,
    ['1'] = BYTE_DIGIT,     ['2'] = BYTE_DIGIT,    ['3'] = BYTE_DIGIT,    ['4'] = BYTE_DIGIT,
    ['5'] = BYTE_DIGIT,     ['6'] = BYTE_DIGIT,    ['7'] = BYTE_DIGIT,    ['8'] = BYTE_DIGIT,
    ['9'] = BYTE_DIGIT,     ['='] = BYTE_OPERATOR, ['+'] = BYTE_OPERATOR, ['*'] = BYTE_OPERATOR,
    ['/'] = BYTE_OPERATOR,  ['^'] = BYTE_OPERATOR, ['<'] = BYTE_OPERATOR, ['>'] = BYTE_OPERATOR,
    ['\\'] = BYTE_OPERATOR, ['('] = BYTE_BRACKET,  [')'] = BYTE_BRACKET,  ['['] = BYTE_BRACKET,
    [']'] = BYTE_BRACKET,   ['{'] = BYTE_BRACKET,  ['}'] = BYTE_BRACKET,  [';'] = BYTE_BRACKET,
    ['_'] = BYTE_BRACKET,   [','] = BYTE_COMMA,    ['"'] = BYTE_QUOTE,
};

static enum byte_kind kind_of(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < 0x80 ? (enum byte_kind)ascii_kinds[byte] : BYTE_HIGH;
}

static bool in_word(char c)
{
    enum byte_kind kind = kind_of(c);
    return kind == BYTE_WORD || kind == BYTE_DIGIT || kind == BYTE_HIGH;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static float log_of(uint32_t count)
{
    return log1pf((float)count);
}

/* A line "a. ..." or "(a) ..." is a choice, "1. ..." or "- ..." one of a list. */
static void begin_line(struct walk *walk, size_t at)
{
    const char *text = walk->utterance->text + at;
    walk->lines++;
    walk->in_choice = false;
    size_t skip = *text == '(';
    char mark = text[skip + (*text ? 1 : 0)];
    if (text[skip] >= 'a' && text[skip] <= 'h' && (mark == '.' || mark == ')')) {
        if (walk->choices == 0)
            walk->first_choice = at;
        if (walk->choices < CHOICES_MAX) {
            walk->in_choice = true;
            walk->choice_bytes[walk->choices++] = 0;
        }
    } else if ((is_digit(*text) && (text[1] == '.' || text[1] == ')')) ||
               (*text == '-' && text[1] == ' ')) {
        walk->list_lines++;
    }
}

static void count_marker(struct walk *walk, uint32_t hash)
{
    enum marker marker = marker_find(hash);
    if (marker == MARKER_NONE)
        return;
    walk->markers[marker]++;
    if (marker == MARKER_FRESH_TOPIC || marker == MARKER_FRESH_TIME)
        walk->markers[MARKER_FRESH]++;
}

static void take_number(struct walk *walk, const char *text, size_t len)
{
    walk->numbers++;
    if (len == 4 && (text[0] == '1' || text[0] == '2') && is_digit(text[1]) && is_digit(text[2]) &&
        is_digit(text[3])) {
        uint32_t year = (uint32_t)((text[0] - '0') * 1000 + (text[1] - '0') * 100 +
                                   (text[2] - '0') * 10 + (text[3] - '0'));
        if (year >= 1000 && year < 2100 && year > walk->year)
            walk->year = year;
    }
    if (walk->in_choice)
        walk->choice_numbers |= 1u << (walk->choices - 1);
}

/* A word again and again is one. */
static size_t take_word(struct walk *walk, size_t at)
{
    const char *text = walk->utterance->text;
    size_t end = at;
    uint32_t hash = MARKER_WORD_BASIS;
    while (in_word(text[end]))
        hash = marker_byte(hash, (unsigned char)text[end++]);
    if (hash == walk->before[0])
        return end;
    if (is_digit(text[at]))
        take_number(walk, text + at, end - at);
    uint32_t pair = marker_phrase(walk->before[0], hash);
    count_marker(walk, hash);
    if (walk->before[0])
        count_marker(walk, pair);
    if (walk->before[1])
        count_marker(walk, marker_phrase(marker_phrase(walk->before[1], walk->before[0]), hash));
    if (walk->words == 0)
        walk->asks = marker_find(hash) == MARKER_QUESTION;
    walk->words++;
    walk->word_bytes += (uint32_t)(end - at);
    walk->long_words += end - at > 8;
    walk->before[1] = walk->before[0];
    walk->before[0] = hash;
    return end;
}

/* Signs that only code has. */
static bool is_code_sign(const char *text)
{
    switch (*text) {
    case '#':
        return strncmp(text, "#include", 8) == 0;
    case '(':
        return strncmp(text, "();", 3) == 0;
    case ')':
        return strncmp(text, "):\n", 3) == 0;
    case '=':
        return strncmp(text, "=> ", 3) == 0;
    case '<':
        return text[1] == '/';
    case ':':
        return text[1] == ':';
    default:
        return false;
    }
}

static void take_byte(struct walk *walk, size_t at)
{
    const char *text = walk->utterance->text;
    char c = text[at];
    if (c == '\n')
        begin_line(walk, at + 1);
    if (c == '.' || c == '?' || c == '!' || c == '\n') {
        char next = text[at + 1];
        walk->sentences += next == ' ' || next == '\n' || next == '\0';
    }
    walk->code_signs += is_code_sign(text + at);
    if (c == '_' && text[at + 1] == '_')
        walk->blanks = true;
    if (c != ' ' && c != '-')
        walk->before[0] = walk->before[1] = 0; /* phrases do not cross a full stop */
}

static void walk_text(struct walk *walk)
{
    const struct utterance *utterance = walk->utterance;
    if (utterance->len > 0)
        begin_line(walk, 0);
    for (size_t at = 0; at < utterance->len;) {
        size_t end = at + 1;
        if (in_word(utterance->text[at]))
            end = take_word(walk, at);
        else
            take_byte(walk, at);
        if (walk->in_choice)
            walk->choice_bytes[walk->choices - 1] += (uint32_t)(end - at);
        for (; at < end; at++)
            walk->byte_kinds[kind_of(utterance->text[at])]++;
    }
}

static void read_choices(const struct walk *walk, float *value)
{
    uint32_t shortest = UINT32_MAX, longest = 0, sum = 0;
    for (uint32_t i = 0; i < walk->choices; i++) {
        uint32_t bytes = walk->choice_bytes[i];
        shortest = bytes < shortest ? bytes : shortest;
        longest = bytes > longest ? bytes : longest;
        sum += bytes;
    }
    value[FEATURE_CHOICES] = (float)walk->choices / CHOICES_MAX;
    value[FEATURE_QUESTION_BYTES] =
        log_of((uint32_t)(walk->choices ? walk->first_choice : walk->utterance->len));
    if (walk->choices == 0)
        return;
    value[FEATURE_CHOICE_BYTES] = log_of(sum / walk->choices);
    value[FEATURE_CHOICE_SPREAD] = log_of(longest) - log_of(shortest);
    value[FEATURE_CHOICE_NUMBERS] =
        (float)__builtin_popcount(walk->choice_numbers) / (float)walk->choices;
}

static void read_bytes(const struct walk *walk, float *value)
{
    const struct utterance *utterance = walk->utterance;
    float bytes = utterance->len ? (float)utterance->len : 1;
    float words = walk->words ? (float)walk->words : 1;
    value[FEATURE_BYTES] = log_of((uint32_t)utterance->len);
    value[FEATURE_BYTES_SQUARED] = value[FEATURE_BYTES] * value[FEATURE_BYTES] / 8;
    value[FEATURE_WORDS] = log_of(walk->words);
    value[FEATURE_WORD_BYTES] = (float)walk->word_bytes / words;
    value[FEATURE_LONG_WORDS] = (float)walk->long_words / words;
    value[FEATURE_NUMBERS] = log_of(walk->numbers);
    value[FEATURE_DIGITS] = (float)walk->byte_kinds[BYTE_DIGIT] / bytes;
    value[FEATURE_OPERATORS] = (float)walk->byte_kinds[BYTE_OPERATOR] / bytes;
    value[FEATURE_BRACKETS] = (float)walk->byte_kinds[BYTE_BRACKET] / bytes;
    value[FEATURE_NOT_ASCII] = (float)walk->byte_kinds[BYTE_HIGH] / bytes;
    value[FEATURE_CAPITALS] =
        utterance->letters ? (float)utterance->capitals / (float)utterance->letters : 0;
    value[FEATURE_COMMAS] = log_of(walk->byte_kinds[BYTE_COMMA]);
    value[FEATURE_QUOTES] = log_of(walk->byte_kinds[BYTE_QUOTE]);
}

static float quoted_steps(const struct utterance *utterance)
{
    size_t all = utterance->own_bytes + utterance->quoted_bytes;
    if (utterance->quoted_bytes == 0 || all == 0)
        return 0;
    return 0.25f * ceilf(4 * (float)utterance->quoted_bytes / (float)all);
}

/* A digit, an operator, a digit, with optional spaces between: "12 * 7". A date's dashes and a
 * phone number's are not arithmetic, so minus does not count. */
static bool has_arithmetic(const struct utterance *utterance)
{
    const char *text = utterance->text;
    for (size_t i = 1; i + 1 < utterance->len; i++) {
        if (kind_of(text[i]) != BYTE_OPERATOR || text[i] == '<' || text[i] == '>')
            continue;
        size_t before = i - 1, after = i + 1;
        before -= before > 0 && text[before] == ' ';
        after += text[after] == ' ';
        if (is_digit(text[before]) && is_digit(text[after]))
            return true;
    }
    return false;
}

/* By the mean length of a Gregorian year: at most a day off. */
static uint32_t year_now(void)
{
    return (uint32_t)(1970 + time(NULL) / 31556952);
}

/* A word alone says little: "turn on live traffic" is a command, and a poem may be about the
 * weather. So a topic that changes from day to day counts where an answer is asked for, or with a
 * time; a time counts in a question. Who won in 1998 does not change any more. */
static bool asks_for_news(const struct walk *walk, const struct features *features)
{
    const uint32_t *markers = walk->markers;
    uint32_t topics = markers[MARKER_FRESH_TOPIC], times = markers[MARKER_FRESH_TIME];
    bool past = walk->year > 0 && walk->year + 1 < year_now() && times == 0;
    if (past || markers[MARKER_CREATIVE] > 0)
        return false;
    if (features->question)
        return topics + times > 0;
    return times > 0 && markers[MARKER_FRESH] >= MARKS_NEEDED;
}

void features_read(const struct utterance *utterance, struct features *out)
{
    struct walk walk = {.utterance = utterance};
    walk_text(&walk);
    memset(out, 0, sizeof *out);
    float *value = out->value;
    for (size_t i = 0; i < MARKER_COUNT; i++)
        value[FEATURE_MARKERS + i] = log_of(walk.markers[i]);
    for (size_t i = 0; i < utterance->len; i++)
        out->question_count += utterance->text[i] == '?';
    read_bytes(&walk, value);
    read_choices(&walk, value);
    value[FEATURE_QUESTIONS] = log_of(out->question_count);
    value[FEATURE_SENTENCES] = log_of(walk.sentences);
    value[FEATURE_LINES] = log_of(walk.lines);
    value[FEATURE_LIST_LINES] = log_of(walk.list_lines);
    value[FEATURE_BLANKS] = walk.blanks;
    value[FEATURE_ASKS] = walk.asks;
    value[FEATURE_YEAR_RECENT] = walk.year + RECENT_YEARS >= year_now();
    value[FEATURE_QUOTED] = quoted_steps(utterance);
    value[FEATURE_FENCES] = utterance->fences > 0;
    value[FEATURE_TURNS] = log_of(utterance->user_turns > 0 ? utterance->user_turns - 1 : 0);
    const uint32_t *markers = walk.markers;
    out->year = walk.year;
    out->code = utterance->fences > 0 || walk.code_signs > 0 ||
                (markers[MARKER_CODE] >= MARKS_NEEDED && value[FEATURE_BRACKETS] > 0.02f);
    out->maths = has_arithmetic(utterance) ||
                 (markers[MARKER_MATHS] > 0 &&
                  markers[MARKER_MATHS] + markers[MARKER_REASONING] >= MARKS_NEEDED);
    out->question = walk.asks || out->question_count > 0;
    out->multi_step =
        markers[MARKER_STEPS] >= MARKS_NEEDED || walk.list_lines >= 2 || out->question_count >= 2;
    out->fresh = asks_for_news(&walk, out);
    out->jailbreak = markers[MARKER_JAILBREAK] >= MARKS_NEEDED;
}

const char *feature_name(size_t index)
{
    static const char *const names[FEATURE_COUNT] = {
        [MARKER_STEPS] = "marker_steps",
        [MARKER_REASONING] = "marker_reasoning",
        [MARKER_CODE] = "marker_code",
        [MARKER_MATHS] = "marker_maths",
        [MARKER_NEGATION] = "marker_negation",
        [MARKER_CONSTRAINT] = "marker_constraint",
        [MARKER_FRESH] = "marker_fresh",
        [MARKER_CREATIVE] = "marker_creative",
        [MARKER_PLANNING] = "marker_planning",
        [MARKER_SUMMARY] = "marker_summary",
        [MARKER_TRANSLATION] = "marker_translation",
        [MARKER_EXTRACTION] = "marker_extraction",
        [MARKER_FORMATTING] = "marker_formatting",
        [MARKER_CLASSIFICATION] = "marker_classification",
        [MARKER_COMPARISON] = "marker_comparison",
        [MARKER_LEGAL] = "marker_legal",
        [MARKER_MEDICAL] = "marker_medical",
        [MARKER_JAILBREAK] = "marker_jailbreak",
        [MARKER_QUESTION] = "marker_question",
        [MARKER_SMALLTALK] = "marker_smalltalk",
        [MARKER_PERSON] = "marker_person",
        [MARKER_CHOICES] = "marker_choices",
        [MARKER_ENGLISH] = "marker_english",
        [MARKER_GERMAN] = "marker_german",
        [MARKER_FRENCH] = "marker_french",
        [MARKER_SPANISH] = "marker_spanish",
        [FEATURE_BYTES] = "bytes",
        [FEATURE_BYTES_SQUARED] = "bytes_squared",
        [FEATURE_WORDS] = "words",
        [FEATURE_WORD_BYTES] = "word_bytes",
        [FEATURE_LONG_WORDS] = "long_words",
        [FEATURE_NUMBERS] = "numbers",
        [FEATURE_DIGITS] = "digits",
        [FEATURE_OPERATORS] = "operators",
        [FEATURE_BRACKETS] = "brackets",
        [FEATURE_CAPITALS] = "capitals",
        [FEATURE_NOT_ASCII] = "not_ascii",
        [FEATURE_QUESTIONS] = "questions",
        [FEATURE_SENTENCES] = "sentences",
        [FEATURE_LINES] = "lines",
        [FEATURE_COMMAS] = "commas",
        [FEATURE_QUOTES] = "quotes",
        [FEATURE_BLANKS] = "blanks",
        [FEATURE_LIST_LINES] = "list_lines",
        [FEATURE_CHOICES] = "choices",
        [FEATURE_CHOICE_BYTES] = "choice_bytes",
        [FEATURE_CHOICE_SPREAD] = "choice_spread",
        [FEATURE_CHOICE_NUMBERS] = "choice_numbers",
        [FEATURE_QUESTION_BYTES] = "question_bytes",
        [FEATURE_ASKS] = "asks",
        [FEATURE_YEAR_RECENT] = "year_recent",
        [FEATURE_QUOTED] = "quoted",
        [FEATURE_FENCES] = "fences",
        [FEATURE_TURNS] = "turns",
    };
    return index < FEATURE_COUNT ? names[index] : NULL;
}
