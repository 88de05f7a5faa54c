#include "router/agreement.h"

#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"
#include "router/fold.h"

#include <stdlib.h>

/* Words as hashes; numbers apart, too. */
struct word_list {
    uint64_t word[AGREEMENT_WORDS_MAX];
    uint64_t number[AGREEMENT_WORDS_MAX];
    size_t count, number_count;
};

static bool is_word_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
}

static void end_word(struct word_list *list, const char *word, size_t len)
{
    bool leading = list->count == 0;
    bool article = (len == 1 && word[0] == 'a') || (len == 2 && memcmp(word, "an", 2) == 0) ||
                   (len == 3 && memcmp(word, "the", 3) == 0);
    if (len == 0 || (leading && article) || list->count == AGREEMENT_WORDS_MAX)
        return;
    uint64_t hash = hash_fnv1a64(word, len, HASH_FNV1A64_BASIS);
    list->word[list->count++] = hash;
    if (word[0] >= '0' && word[0] <= '9')
        list->number[list->number_count++] = hash;
}

/* Letters and digits, and a point or comma between digits: "3.14" is a word. */
static void read_words(struct td_str text, struct word_list *out)
{
    char word[64], folded[FOLD_BYTES_MAX];
    size_t len = 0;
    out->count = out->number_count = 0;
    for (size_t at = 0; at < text.len && out->count < AGREEMENT_WORDS_MAX;) {
        unsigned char byte = (unsigned char)text.data[at];
        size_t folded_len = 1;
        if (byte < 0x80) {
            folded[0] = (char)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
            at++;
        } else {
            folded_len = fold_character(utf8_next(text, &at), folded);
        }
        for (size_t i = 0; i < folded_len; i++) {
            unsigned char c = (unsigned char)folded[i];
            bool point = (c == '.' || c == ',') && len > 0 && word[0] >= '0' && word[0] <= '9' &&
                         at < text.len && text.data[at] >= '0' && text.data[at] <= '9';
            if (point && c == ',')
                continue; /* 1,000 is 1000 */
            if (c >= 'A' && c <= 'Z')
                c = (unsigned char)(c + 32);
            if (is_word_byte(c) || point) {
                if (len < sizeof word)
                    word[len++] = (char)c;
            } else if (c != '\'') {
                end_word(out, word, len);
                len = 0;
            }
        }
    }
    end_word(out, word, len);
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Of two sorted multisets. */
static size_t common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    size_t found = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        int order = compare_hashes(&a[i], &b[j]);
        found += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return found;
}

static bool same_label(const struct word_list *a, const struct word_list *b)
{
    return a->count == b->count && memcmp(a->word, b->word, a->count * sizeof *a->word) == 0;
}

static void sort(struct word_list *list)
{
    qsort(list->word, list->count, sizeof *list->word, compare_hashes);
    qsort(list->number, list->number_count, sizeof *list->number, compare_hashes);
}

void agreement_compare(struct td_str a, struct td_str b, struct agreement *out)
{
    struct word_list left, right;
    read_words(a, &left);
    read_words(b, &right);
    out->label = left.count <= AGREEMENT_LABEL_WORDS || right.count <= AGREEMENT_LABEL_WORDS;
    out->score = same_label(&left, &right) ? 1 : 0;
    if (out->label)
        return;
    sort(&left);
    sort(&right);
    size_t words = common(left.word, left.count, right.word, right.count);
    size_t numbers = common(left.number, left.number_count, right.number, right.number_count);
    bool other_numbers = left.number_count > 0 && right.number_count > 0 &&
                         (numbers < left.number_count || numbers < right.number_count);
    out->score = 2.0 * (double)words / (double)(left.count + right.count);
    if (other_numbers)
        out->score /= 2;
}
