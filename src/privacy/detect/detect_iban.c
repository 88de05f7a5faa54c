/* IBAN: country, its length, and ISO 7064 mod 97-10 over the rearranged number (ISO 13616). One to
 * three spaces, dashes and dots may stand between groups of any size, for the check is strong;
 * between groups of four the same signs of any kind. Letters may be small, or another script's that
 * look the same. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/text/joint.h"

#define IBAN_MAX 34

/* SWIFT IBAN registry, release 99, and the unregistered ones in use (last rows). */
#define LETTERS 26
#define C(first, second, length) [(first - 'A') * LETTERS + (second - 'A')] = length
static const uint8_t lengths[LETTERS * LETTERS] = {
    C('A', 'D', 24), C('A', 'E', 23), C('A', 'L', 28), C('A', 'T', 20), C('A', 'Z', 28),
    C('B', 'A', 20), C('B', 'E', 16), C('B', 'G', 22), C('B', 'H', 22), C('B', 'I', 27),
    C('B', 'R', 29), C('B', 'Y', 28), C('C', 'H', 21), C('C', 'R', 22), C('C', 'Y', 28),
    C('C', 'Z', 24), C('D', 'E', 22), C('D', 'J', 27), C('D', 'K', 18), C('D', 'O', 28),
    C('E', 'E', 20), C('E', 'G', 29), C('E', 'S', 24), C('F', 'I', 18), C('F', 'K', 18),
    C('F', 'O', 18), C('F', 'R', 27), C('G', 'B', 22), C('G', 'E', 22), C('G', 'I', 23),
    C('G', 'L', 18), C('G', 'R', 27), C('G', 'T', 28), C('H', 'N', 28), C('H', 'R', 21),
    C('H', 'U', 28), C('I', 'E', 22), C('I', 'L', 23), C('I', 'Q', 23), C('I', 'S', 26),
    C('I', 'T', 27), C('J', 'O', 30), C('K', 'W', 30), C('K', 'Z', 20), C('L', 'B', 28),
    C('L', 'C', 32), C('L', 'I', 21), C('L', 'T', 20), C('L', 'U', 20), C('L', 'V', 21),
    C('L', 'Y', 25), C('M', 'C', 27), C('M', 'D', 24), C('M', 'E', 22), C('M', 'K', 19),
    C('M', 'N', 20), C('M', 'R', 27), C('M', 'T', 31), C('M', 'U', 30), C('N', 'I', 28),
    C('N', 'L', 18), C('N', 'O', 15), C('O', 'M', 23), C('P', 'K', 24), C('P', 'L', 28),
    C('P', 'S', 29), C('P', 'T', 25), C('Q', 'A', 29), C('R', 'O', 24), C('R', 'S', 22),
    C('R', 'U', 33), C('S', 'A', 24), C('S', 'C', 31), C('S', 'D', 18), C('S', 'E', 24),
    C('S', 'I', 19), C('S', 'K', 24), C('S', 'M', 27), C('S', 'O', 23), C('S', 'T', 25),
    C('S', 'V', 28), C('T', 'L', 23), C('T', 'N', 24), C('T', 'R', 26), C('U', 'A', 29),
    C('V', 'A', 22), C('V', 'G', 24), C('X', 'K', 20), C('Y', 'E', 30), C('D', 'Z', 26),
    C('A', 'O', 25), C('B', 'J', 28), C('B', 'F', 28), C('C', 'V', 25), C('C', 'M', 27),
    C('C', 'F', 27), C('T', 'D', 27), C('K', 'M', 27), C('C', 'G', 27), C('G', 'A', 27),
    C('G', 'Q', 27), C('G', 'W', 25), C('I', 'R', 26), C('C', 'I', 28), C('M', 'G', 27),
    C('M', 'L', 28), C('M', 'A', 28), C('M', 'Z', 25), C('N', 'E', 28), C('S', 'N', 28),
    C('T', 'G', 28),
};

/* How the registry's account numbers begin, where it says more than letters and digits: letters of
 * the bank's code, or DIGITS for those that have no letter at all. "at 10 p.m. and wakes up at 6 a"
 * is a good number by its check digits, and none of Austria's. */
#define DIGITS 9
static const uint8_t bank_letters[LETTERS * LETTERS] = {
    C('A', 'E', DIGITS), C('A', 'T', DIGITS), C('B', 'A', DIGITS), C('B', 'E', DIGITS),
    C('B', 'I', DIGITS), C('C', 'R', DIGITS), C('C', 'Z', DIGITS), C('D', 'E', DIGITS),
    C('D', 'J', DIGITS), C('D', 'K', DIGITS), C('E', 'E', DIGITS), C('E', 'G', DIGITS),
    C('E', 'S', DIGITS), C('F', 'I', DIGITS), C('F', 'O', DIGITS), C('G', 'L', DIGITS),
    C('H', 'R', DIGITS), C('H', 'U', DIGITS), C('I', 'L', DIGITS), C('I', 'S', DIGITS),
    C('L', 'T', DIGITS), C('L', 'Y', DIGITS), C('M', 'E', DIGITS), C('M', 'N', DIGITS),
    C('M', 'R', DIGITS), C('N', 'O', DIGITS), C('P', 'L', DIGITS), C('P', 'T', DIGITS),
    C('R', 'S', DIGITS), C('S', 'D', DIGITS), C('S', 'E', DIGITS), C('S', 'I', DIGITS),
    C('S', 'K', DIGITS), C('S', 'O', DIGITS), C('S', 'T', DIGITS), C('T', 'L', DIGITS),
    C('T', 'N', DIGITS), C('V', 'A', DIGITS), C('X', 'K', DIGITS), C('A', 'Z', 4),
    C('B', 'G', 4),      C('B', 'H', 4),      C('G', 'B', 4),      C('G', 'I', 4),
    C('H', 'N', 4),      C('I', 'E', 4),      C('I', 'Q', 4),      C('J', 'O', 4),
    C('K', 'W', 4),      C('L', 'C', 4),      C('L', 'V', 4),      C('M', 'T', 4),
    C('M', 'U', 4),      C('N', 'I', 4),      C('N', 'L', 4),      C('P', 'K', 4),
    C('P', 'S', 4),      C('Q', 'A', 4),      C('R', 'O', 4),      C('S', 'C', 4),
    C('S', 'V', 4),      C('V', 'G', 4),      C('Y', 'E', 4),      C('F', 'K', 2),
    C('G', 'E', 2),      C('I', 'T', 1),      C('S', 'M', 1),
};
#define DIGITS_MIN 5 /* no account number has fewer */

/* May the character stand there (from 0) in an account number of the country? */
static bool fits(unsigned country, size_t at, int c)
{
    unsigned letters = bank_letters[country];
    return letters == DIGITS ? ascii_is_digit(c) : at >= letters || ascii_is_letter(c);
}

/* The remainder by 97 of a number that goes on after `before`; a letter counts as two digits. It is
 * reduced whenever it could overflow. */
static uint64_t mod97_of(const int *number, size_t count, uint64_t before)
{
    for (size_t i = 0; i < count; i++) {
        int c = number[i];
        before = ascii_is_digit(c) ? before * 10 + (unsigned)(c - '0')
                                   : before * 100 + (unsigned)(c - 'A' + 10);
        if (before > UINT64_MAX / 1000)
            before %= 97;
    }
    return before % 97;
}

/* A plain character, or the ASCII letter that another script's looks like. */
static inline struct plain character_at(struct td_str text, size_t offset)
{
    struct plain next = plain_at(text, offset);
    return next.c == PLAIN_LETTER ? plain_look_alike(text, next) : next;
}

/* Where the number goes on after the signs between its groups of four; 0: it does not. */
static size_t after_joint(struct td_str text, size_t offset, size_t count, struct td_str *joint)
{
    size_t end = count >= 4 && count % 4 == 0 && !is_word(plain_at(text, offset).c)
                     ? joint_end(text, offset)
                     : 0;
    struct td_str own = str_slice(text, offset, end);
    if (end == 0 || (joint->data != NULL && !str_equal(own, *joint)))
        return 0;
    *joint = own;
    return end;
}

static bool read_iban(const struct place *place, struct privacy_span *out)
{
    int number[IBAN_MAX];
    size_t count = 0, length = 4, offset = place->begin, end = place->begin;
    unsigned country = 0;
    size_t digits = 0;
    bool grouped = false, wrapped = false;
    struct td_str joint = {NULL, 0};
    while (count < length) {
        size_t line = !wrapped && count >= 4 && count % 4 == 0
                          ? after_line_end(place->text, offset)
                          : 0; /* one, between groups, as mail is wrapped */
        struct plain next = character_at(place->text, line ? line : offset);
        wrapped |= line != 0;
        for (int k = 0; k < 3 && count > 0 && (next.c == ' ' || next.c == '-' || next.c == '.');
             k++) {
            next = character_at(place->text, next.end);
            grouped = true;
        }
        size_t joined =
            ascii_is_alnum(next.c) ? 0 : after_joint(place->text, offset, count, &joint);
        if (joined != 0) {
            next = character_at(place->text, joined);
            grouped = true;
        }
        if (!ascii_is_alnum(next.c) || (count < 2 && !ascii_is_letter(next.c)) ||
            ((count == 2 || count == 3) && !ascii_is_digit(next.c)) ||
            (count >= 4 && !fits(country, count - 4, next.c)))
            return false;
        number[count++] = ascii_is_letter(next.c) ? next.c & ~0x20 : next.c;
        digits += ascii_is_digit(next.c);
        if (count == 2) {
            country = (unsigned)((number[0] - 'A') * LETTERS + (number[1] - 'A'));
            length = lengths[country];
            if (length == 0)
                return false;
        }
        offset = end = next.end;
    }
    if (ascii_is_alnum(plain_at(place->text, end).c))
        return false; /* runs on */
    if (digits < 2 + DIGITS_MIN || mod97_of(number, 4, mod97_of(number + 4, count - 4, 0)) != 1)
        return false;
    *out = span_of(PRIVACY_IBAN, place->begin, end, grouped || wrapped ? 0.95f : 1.0f);
    return true;
}

/* Two letters and a digit, maybe after a separator, or characters whose plain form is not known
 * yet. */
static bool is_possible(const struct place *place)
{
    const unsigned char *bytes = (const unsigned char *)place->text.data;
    size_t rest = place->text.len - place->begin;
    if (rest > 4 && bytes[place->begin + 1] == ' ' && bytes[place->begin + 3] == ' ' &&
        ascii_is_letter(bytes[place->begin + 2]) && ascii_is_digit(bytes[place->begin + 4]))
        return true; /* "D E 8 9" */
    for (size_t k = 1; k <= 3; k++) {
        if (place->begin + k >= place->text.len)
            return false;
        unsigned char c = bytes[place->begin + k];
        if (c >= 0x80 || (k >= 2 && ascii_is_digit(c)))
            return true;
        if (k == 1 ? !ascii_is_letter(c) : c != ' ' && c != '-' && c != '.')
            return false;
    }
    return true;
}

static bool find_iban(const struct place *place, struct privacy_span *out)
{
    return ((place->shape & WORD_FOREIGN) || is_possible(place)) && read_iban(place, out);
}

/* "GB" whose G is another script's. */
static bool find_tail(const struct place *place, struct privacy_span *out)
{
    struct place letter = *place;
    letter.begin = place->before_begin;
    letter.before = place->before2;
    return !is_word(place->before2) && read_iban(&letter, out);
}

const struct detector detector_iban = {
    .kinds = {PRIVACY_IBAN, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_LENGTH(1) | WORD_LENGTH(2) | WORD_HAS_DIGIT | WORD_FOREIGN,
    .find = find_iban,
};

const struct detector detector_iban_tail = {
    .kinds = {PRIVACY_IBAN, KINDS_END},
    .triggers = ON(TAIL),
    .find = find_tail,
};
