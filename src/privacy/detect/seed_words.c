/* Finds seed phrases without reading every word. Twelve words are 48 bytes or more and all of the
 * list, which has no "the" and no "and". So one word in 48 bytes is looked up in a table of bits;
 * where it is of the list, its neighbours are, too, or that was all. */
#include "privacy/detect/seed_words.h"

#include "base/core/ascii.h"
#include "base/crypto/crypto.h"
#include "privacy/detect/detect.h"
#include "privacy/seed_words_table.h" /* generated in the build */

#include <string.h>

#define WORDS 2048
#define WORD_LETTERS 8 /* of the longest word */
#define PHRASE_MIN 12
#define PHRASE_MAX 24
#define DIFFERENT_MIN 8 /* words of a phrase */
#define ROW_MAX 64      /* words that are looked at together */
#define STRIDE 48       /* bytes */
#define JOINT_MAX 8     /* between two words: signs, line ends, their numbers */
#define FILTER_BITS 65536
#define CHECKS_MAX 4096 /* of check digits in a text: more words of the list are no language */

static uint32_t filter[FILTER_BITS / 32];

struct seed_word {
    size_t begin, end;
    uint16_t index;
};

/* By four letters without case as they stand in memory; of a shorter word the last byte is 0. */
static inline uint32_t filter_bit(uint32_t letters)
{
    return letters * UINT32_C(2654435761) >> 16;
}

static uint32_t key_at(size_t index)
{
    uint32_t high = 0;
    while (high + 1 < sizeof seed_before / sizeof *seed_before && seed_before[high + 1] <= index)
        high++;
    return high << 16 | seed_low[index];
}

void seed_words_init(void)
{
    for (size_t i = 0; i < WORDS; i++) {
        uint32_t letters, key = key_at(i);
        char bytes[4];
        for (size_t k = 4; k-- > 0; key /= 27)
            bytes[k] = (char)(key % 27 != 0 ? key % 27 + 'a' - 1 : 0);
        memcpy(&letters, bytes, sizeof letters);
        uint32_t bit = filter_bit(letters);
        filter[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

/* The first four letters as a number of base 27, as the table has them. */
static uint32_t key_of(const char *letters, size_t count)
{
    uint32_t key = 0;
    for (size_t i = 0; i < 4; i++)
        key = key * 27 + (i < count ? (uint32_t)(letters[i] & 0x1f) : 0);
    return key;
}

static uint8_t rest_of(const char *letters, size_t count)
{
    uint8_t rest = 0;
    for (size_t i = 4; i < count; i++)
        rest = (uint8_t)(rest * 31 + (letters[i] & 0x1f));
    return rest;
}

/* How many letters stand at the place, at most one more than a word has. */
static inline size_t letters_at(struct td_str text, size_t at)
{
    uint64_t bytes;
    size_t count = 0;
    if (text.len - at > sizeof bytes) {
        memcpy(&bytes, text.data + at, sizeof bytes);
        count = plain_letters_of(bytes);
        return count + (count == 8 && ascii_is_letter((unsigned char)text.data[at + 8]));
    }
    while (at + count < text.len && ascii_is_letter((unsigned char)text.data[at + count]))
        count++;
    return count;
}

/* By its first letters alone. *count: its letters. */
static inline bool may_be_listed(struct td_str text, size_t at, size_t *count)
{
    uint32_t letters = 0;
    *count = letters_at(text, at);
    if (*count < 3 || *count > WORD_LETTERS)
        return false;
    memcpy(&letters, text.data + at, *count > 3 ? 4 : 3);
    uint32_t bit = filter_bit(letters | (*count > 3 ? 0x20202020 : 0x202020));
    return filter[bit / 32] >> bit % 32 & 1;
}

/* The word of the list at the place. */
static bool read_word(struct td_str text, size_t at, struct seed_word *word)
{
    size_t count = letters_at(text, at);
    if (count < 3 || count > WORD_LETTERS)
        return false;
    uint32_t key = key_of(text.data + at, count);
    size_t low = seed_before[key >> 16],
           high = (key >> 16) + 1 < sizeof seed_before / sizeof *seed_before
                      ? seed_before[(key >> 16) + 1]
                      : WORDS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seed_low[middle] < (key & 0xffff))
            low = middle + 1;
        else
            high = middle;
    }
    *word = (struct seed_word){at, at + count, (uint16_t)low};
    return low < WORDS && key_at(low) == key && seed_rest[low] == rest_of(text.data + at, count);
}

static bool is_letter_at(struct td_str text, size_t at)
{
    return at < text.len && ascii_is_letter((unsigned char)text.data[at]);
}

static size_t next_word(struct td_str text, size_t at)
{
    size_t end = at + JOINT_MAX;
    while (at < end && !is_letter_at(text, at))
        at++;
    return is_letter_at(text, at) ? at : SIZE_MAX;
}

/* What may stand between two words: blanks, commas, quotes, line ends, the next one's number. */
static inline bool in_joint(unsigned char c)
{
    static const bool set[256] = {
        [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, [','] = true,
        [';'] = true, ['"'] = true,  ['\''] = true, ['.'] = true,  [')'] = true,
        ['0'] = true, ['1'] = true,  ['2'] = true,  ['3'] = true,  ['4'] = true,
        ['5'] = true, ['6'] = true,  ['7'] = true,  ['8'] = true,  ['9'] = true};
    return set[c];
}

/* Where the word before the one at `begin` begins; SIZE_MAX: none near. */
static size_t seed_before_at(struct td_str text, size_t begin)
{
    size_t end = begin;
    while (end > 0 && begin - end < JOINT_MAX && in_joint((unsigned char)text.data[end - 1]))
        end--;
    size_t at = end;
    while (at > 0 && end - at <= WORD_LETTERS && is_letter_at(text, at - 1))
        at--;
    return at < end && end < begin ? at : SIZE_MAX;
}

static size_t seed_after(struct td_str text, size_t end)
{
    size_t at = end;
    while (at < text.len && at - end < JOINT_MAX && in_joint((unsigned char)text.data[at]))
        at++;
    return at > end && is_letter_at(text, at) ? at : SIZE_MAX;
}

/* Are the joints before both words the same but for the words' numbers? */
static bool joints_alike(struct td_str text, const struct seed_word *first,
                         const struct seed_word *second)
{
    size_t a = first[-1].end, b = second[-1].end;
    for (;;) {
        while (ascii_is_digit(text.data[a]))
            a++;
        while (ascii_is_digit(text.data[b]))
            b++;
        if (a >= first->begin || b >= second->begin)
            return a >= first->begin && b >= second->begin;
        if (text.data[a++] != text.data[b++])
            return false;
    }
}

/* Are they written alike, and is it no row of a few words that come again and again? */
static bool is_phrase(struct td_str text, const struct seed_word *words, size_t count)
{
    size_t differ = 0;
    bool upper = ascii_is_upper(text.data[words[0].end - 1]);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (words[same].index != words[i].index)
            same++;
        differ += same == i;
        if (ascii_is_upper(text.data[words[i].end - 1]) != upper ||
            (i > 1 && !joints_alike(text, &words[1], &words[i])))
            return false;
    }
    return differ >= DIFFERENT_MIN;
}

/* The last bits are the first of the hash of those before (BIP 39, "Generating the mnemonic"). */
static bool checksum_holds(const struct seed_word *words, size_t count)
{
    uint8_t bits[PHRASE_MAX * 11 / 8 + 1] = {0}, hash[CRYPTO_SHA256_BYTES];
    for (size_t i = 0; i < count * 11; i++)
        if (words[i / 11].index >> (10 - i % 11) & 1)
            bits[i / 8] |= (uint8_t)(0x80 >> i % 8);
    size_t check = count / 3, bytes = (count * 11 - check) / 8;
    crypto_sha256(bits, bytes, hash);
    return bits[bytes] >> (8 - check) == hash[0] >> (8 - check);
}

/* The first of the words before the place that may be listed, up to a phrase's number of them;
 * *count: they and the words before. */
static size_t row_begin(struct td_str text, size_t at, size_t from, size_t *count)
{
    for (size_t i = 0, letters; i < PHRASE_MAX; i++, ++*count) {
        size_t begin = seed_before_at(text, at);
        if (begin == SIZE_MAX || begin < from || !may_be_listed(text, begin, &letters))
            break;
        at = begin;
    }
    return at;
}

/* The phrase among the words that begin at the place. */
static bool find_phrase(struct td_str text, size_t at, unsigned *checks, struct privacy_span *out)
{
    struct seed_word words[ROW_MAX];
    size_t count = 0;
    while (count < ROW_MAX && at != SIZE_MAX && read_word(text, at, &words[count]))
        at = seed_after(text, words[count++].end);
    for (size_t first = 0; first + PHRASE_MIN <= count; first++)
        for (size_t length = PHRASE_MAX; length >= PHRASE_MIN; length -= 3)
            if (first + length <= count && is_phrase(text, words + first, length) &&
                (++*checks > CHECKS_MAX || checksum_holds(words + first, length))) {
                *out = span_of(PRIVACY_PRIVATE_KEY, words[first].begin,
                               words[first + length - 1].end, 1.0f);
                return true;
            }
    return false;
}

/* After the words from the place on that are of the list, and the one that is not; no further than
 * to `end`, for a text may be one row. */
static size_t after_row(struct td_str text, size_t at, size_t end)
{
    struct seed_word word;
    while (at < end && read_word(text, at, &word))
        at = seed_after(text, word.end);
    return at < end ? seed_after(text, at + letters_at(text, at)) : SIZE_MAX;
}

/* The phrase among the words in a row around the place, which may be of the list, as they may.
 * *end: after them. */
static bool find_around(struct td_str text, size_t at, size_t from, unsigned *checks, size_t *end,
                        struct privacy_span *out)
{
    size_t count = 0, letters, next = at;
    while (count < ROW_MAX && next != SIZE_MAX && may_be_listed(text, next, &letters)) {
        count++;
        *end = next + letters;
        next = seed_after(text, *end);
    }
    at = row_begin(text, at, from, &count);
    if (count < PHRASE_MIN)
        return false;
    for (; at < *end; at = after_row(text, at, *end))
        if (find_phrase(text, at, checks, out))
            return true;
    return false;
}

bool seed_words_next(struct td_str text, size_t from, unsigned *checks, struct privacy_span *out)
{
    for (size_t at = from; text.len >= STRIDE && at < text.len; at += STRIDE) {
        size_t begin = next_word(text, at + letters_at(text, at)), end = at, count;
        if (begin == SIZE_MAX || !may_be_listed(text, begin, &count))
            continue;
        if (find_around(text, begin, from, checks, &end, out))
            return true;
        if (end > at + STRIDE)
            at = end - STRIDE;
    }
    return false;
}
