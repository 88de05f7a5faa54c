/* Cutting a question into words. Letters are ASCII letters and everything beyond ASCII but for the
 * signs named below, so that words of other alphabets stay whole. */
#include "instant/words.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdio.h>

/* Beyond this a double cannot tell a whole number from the next. */
#define EXACT_MAX 9e15
/* Decimal digits that a double keeps, and the number that has so many. */
#define DIGITS 15
#define EXACT 1e15
#define NUMBER_BYTES_MAX 20

/* Signs and spaces beyond ASCII, and what each is read as. */
static const struct {
    const char *bytes;
    const char *read_as;
} others[] = {
    {"×", "*"},           /* × */
    {"÷", "/"},           /* ÷ */
    {"−", "-"},           /* − */
    {"→", ">"},           /* → */
    {"¿", ""},            /* ¿ */
    {"¡", ""},            /* ¡ */
    {"\xC2\xA0", ""},     /* a space that does not break */
    {"\xE2\x80\xAF", ""}, /* a narrow one, as French sets before "?" */
    {"“", "\""},
    {"”", "\""},
    {"„", "\""},
};

static size_t find_other(struct td_str rest)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_starts_with(rest, str_from(others[i].bytes)))
            return i;
    return SIZE_MAX;
}

static bool is_letter(struct td_str text, size_t at)
{
    unsigned char c = (unsigned char)text.data[at];
    if (c < 0x80)
        return ascii_is_letter(c) || c == '_';
    return find_other(str_slice(text, at, text.len)) == SIZE_MAX;
}

static size_t letters_end(struct td_str text, size_t at)
{
    while (at < text.len) {
        bool inside = text.data[at] == '\'' && at + 1 < text.len && is_letter(text, at + 1);
        if (!is_letter(text, at) && !inside)
            break;
        at++;
    }
    return at;
}

static size_t digits_end(struct td_str text, size_t at)
{
    while (at < text.len && ascii_is_digit(text.data[at]))
        at++;
    return at;
}

/* The end of a number that begins at `at`; its digits, with "." before the decimals, go to `plain`.
 * A comma before exactly three digits parts thousands, unless a lone 0 stands before it; another
 * one parts decimals. */
static size_t number_end(struct td_str text, size_t at, char plain[static NUMBER_BYTES_MAX])
{
    size_t len = 0, from = at, end = digits_end(text, at);
    bool pointed = end == at;
    if (pointed) { /* .5 */
        plain[len++] = '0';
        end = digits_end(text, at + 1);
    }
    for (;;) {
        for (size_t i = from; i < end && len + 2 < NUMBER_BYTES_MAX; i++)
            plain[len++] = text.data[i];
        size_t more = end + 1 < text.len ? digits_end(text, end + 1) : end + 1;
        char sign = end < text.len ? text.data[end] : ' ';
        if (pointed || more == end + 1 || (sign != '.' && sign != ','))
            break;
        bool nothing = len == 1 && plain[0] == '0';
        if (sign == '.' || more - end - 1 != 3 || nothing) {
            plain[len++] = '.';
            pointed = true;
        }
        from = end + 1;
        end = more;
    }
    plain[len] = '\0';
    return end;
}

/* ".5", where the point ends no sentence. */
static bool begins_with_point(struct td_str text, size_t at)
{
    bool behind_word = at > 0 && (is_letter(text, at - 1) || ascii_is_digit(text.data[at - 1]) ||
                                  text.data[at - 1] == '.');
    return text.data[at] == '.' && !behind_word && digits_end(text, at + 1) > at + 1;
}

/* Reads the word at `at` and returns where it ends; 0 when there are too many digits. */
static size_t read_word(struct td_str text, size_t at, struct word *word)
{
    size_t end = at + 1;
    word->kind = WORD_SIGN;
    if (ascii_is_digit(text.data[at]) || begins_with_point(text, at)) {
        char plain[NUMBER_BYTES_MAX];
        end = number_end(text, at, plain);
        word->kind = WORD_NUMBER;
        if (end - at >= NUMBER_BYTES_MAX - 2 || !str_to_double(str_from(plain), &word->value))
            return 0;
    } else if (is_letter(text, at)) {
        end = letters_end(text, at);
        word->kind = WORD_LETTERS;
    }
    word->text = str_slice(text, at, end);
    return end;
}

bool words_read(struct td_str text, struct words *out)
{
    bool glued = false;
    out->count = out->next = 0;
    if (!utf8_is_valid(text))
        return false;
    for (size_t at = 0; at < text.len;) {
        size_t other = find_other(str_slice(text, at, text.len));
        bool silent = other != SIZE_MAX && others[other].read_as[0] == '\0';
        if (silent || ascii_is_space(text.data[at])) {
            at += silent ? strlen(others[other].bytes) : 1;
            glued = false;
            continue;
        }
        if (out->count == WORDS_MAX)
            return false;
        struct word *word = &out->at[out->count++];
        *word = (struct word){.glued = glued};
        if (other != SIZE_MAX) {
            word->kind = WORD_SIGN;
            word->text = str_from(others[other].read_as);
            at += strlen(others[other].bytes);
        } else if ((at = read_word(text, at, word)) == 0) {
            return false;
        }
        glued = true;
    }
    return true;
}

bool words_have_doubtful_number(const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        struct td_str text = words->at[i].text;
        size_t sign = 0;
        if (words->at[i].kind != WORD_NUMBER || text.data[0] == '0')
            continue;
        while (sign < text.len && ascii_is_digit(text.data[sign]))
            sign++;
        if (sign <= 3 && sign + 4 == text.len && digits_end(text, sign + 1) == text.len)
            return true;
    }
    return false;
}

/* How many words from `at` on are those of the phrase; 0 when they are not. */
static size_t match(const struct words *words, size_t at, struct td_str phrase)
{
    size_t count = 0;
    struct td_str part;
    while (str_next(&phrase, ' ', &part)) {
        if (at + count >= words->count || !str_equal_nocase(words->at[at + count].text, part))
            return 0;
        count++;
    }
    return count;
}

bool words_eat(struct words *words, const char *alternatives)
{
    struct td_str rest = str_from(alternatives), phrase;
    while (str_next(&rest, '|', &phrase)) {
        size_t count = match(words, words->next, phrase);
        words->next += count;
        if (count > 0)
            return true;
    }
    return false;
}

bool words_eat_end(struct words *words, const char *alternatives)
{
    struct td_str rest = str_from(alternatives), phrase;
    while (str_next(&rest, '|', &phrase)) {
        size_t count = 1;
        for (size_t i = 0; i < phrase.len; i++)
            count += phrase.data[i] == ' ';
        if (words->count >= words->next + count && match(words, words->count - count, phrase)) {
            words->count -= count;
            return true;
        }
    }
    return false;
}

/* --- numbers --- */

static const char *const small[] = {"zero",    "one",     "two",       "three",    "four",
                                    "five",    "six",     "seven",     "eight",    "nine",
                                    "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
static const char *const tens[] = {"twenty", "thirty",  "forty",  "fifty",
                                   "sixty",  "seventy", "eighty", "ninety"};

static bool eat_below_hundred(struct words *words, double *out)
{
    for (size_t i = 0; i < sizeof tens / sizeof *tens; i++) {
        if (!words_eat(words, tens[i]))
            continue;
        *out = 10.0 * (double)(i + 2);
        size_t before = words->next;
        words_eat(words, "-");
        for (size_t j = 1; j < 10; j++)
            if (words_eat(words, small[j])) {
                *out += (double)j;
                return true;
            }
        words->next = before;
        return true;
    }
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (words_eat(words, small[i])) {
            *out = (double)i;
            return true;
        }
    return false;
}

/* "a hundred" is a number, "a" is none. */
static bool eat_below_thousand(struct words *words, double *out)
{
    double value = 1, rest;
    size_t begin = words->next;
    bool counted = eat_below_hundred(words, &value);
    if (!counted && !words_eat(words, "a"))
        return false;
    if (words_eat(words, "hundred")) {
        value *= 100;
        size_t before = words->next;
        words_eat(words, "and");
        if (eat_below_hundred(words, &rest))
            value += rest;
        else
            words->next = before;
    } else if (!counted) {
        words->next = begin;
        return false;
    }
    *out = value;
    return true;
}

static bool eat_spelled(struct words *words, double *out)
{
    double part, sum = 0;
    size_t begin = words->next;
    bool counted = eat_below_thousand(words, &part);
    if (!counted) {
        part = 1;
        if (!words_eat(words, "a"))
            return false;
    }
    static const struct {
        const char *word;
        double size;
    } units[] = {{"million", 1e6}, {"thousand", 1e3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!words_eat(words, units[i].word))
            continue;
        sum += part * units[i].size;
        counted = true;
        size_t before = words->next;
        words_eat(words, "and");
        part = 0;
        if (!eat_below_thousand(words, &part))
            words->next = before;
    }
    if (!counted)
        words->next = begin;
    *out = sum + part;
    return counted;
}

bool words_eat_number(struct words *words, double *out)
{
    if (words_ended(words))
        return false;
    const struct word *word = &words->at[words->next];
    if (word->kind != WORD_NUMBER)
        return eat_spelled(words, out);
    *out = word->value;
    words->next++;
    return true;
}

bool words_eat_digits(struct words *words, size_t digits_min, size_t digits_max, int *out)
{
    uint64_t value;
    if (words_ended(words))
        return false;
    struct td_str text = words->at[words->next].text;
    if (text.len < digits_min || text.len > digits_max || !ascii_is_digit(text.data[0]) ||
        !str_to_u64(text, &value) || value > INT32_MAX)
        return false;
    *out = (int)value;
    words->next++;
    return true;
}

bool words_write_number(struct buf *out, double value, int decimals)
{
    char text[40];
    if (!(fabs(value) < EXACT_MAX))
        return false;
    /* A binary fraction may lie a hair below the half that it stands for; halves round away from 0.
     */
    bool whole = value == trunc(value);
    for (double size = fabs(value); !whole && decimals > 0 && decimals < DIGITS && size < 0.1;
         size *= 10)
        decimals++; /* a small number keeps its first digits */
    for (double size = fabs(value); !whole && decimals > 0 && size * pow(10, decimals) > EXACT;)
        decimals--;
    double hair = whole ? 0 : copysign(fabs(value) * 1e-15, value);
    int len = snprintf(text, sizeof text, "%.*f", decimals, value + hair);
    if (len < 0 || (size_t)len >= sizeof text)
        return false;
    if (decimals > 0) {
        while (text[len - 1] == '0')
            len--;
        if (text[len - 1] == '.')
            len--;
    }
    struct td_str shown = {text, (size_t)len};
    bool nothing = str_equal(shown, STR("0")) || str_equal(shown, STR("-0"));
    if (nothing && value != 0)
        return false;
    buf_append_str(out, nothing ? STR("0") : shown);
    return true;
}
