/* Finds words in the lists of lexicon.txt, which the build packs.
 *
 * One table for all languages and detectors is built once in a process. It has open addressing and
 * is less than half full. A filter of bits comes first, because only one word of prose in forty is
 * in a list. A hash takes eight bytes a step and compares without case. */
#include "privacy/words/lexicon.h"

#include "base/bytes/packed.h"
#include "base/core/str.h"

#include <pthread.h>

struct lexicon_list {
    uint32_t roles;
    uint8_t context;
};

#include "privacy/lexicon_table.h" /* generated in the build */

#define ENTRIES_MAX 4096
#define SLOTS 8192 /* open addressing at under a half full: one probe or two */
_Static_assert(SLOTS == 1 << 13 && LEXICON_FILTER_BITS == 1 << 16, "bits of a hash");

static struct lexicon_entry entries[ENTRIES_MAX]; /* 0 is not used */
static uint16_t slots[SLOTS];
static uint32_t filter[LEXICON_FILTER_BITS / 32]; /* of all words */
uint32_t lexicon_pass_filter[LEXICON_FILTER_BITS / 32];
static size_t entry_count;
static pthread_once_t built = PTHREAD_ONCE_INIT;

static bool same(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)a[i] | 0x20) != ((unsigned char)b[i] | 0x20))
            return false;
    return true;
}

uint64_t lexicon_hash(const char *word, size_t len)
{
    uint64_t hash = LEXICON_HASH_BASIS, block;
    for (; len >= 8; word += 8, len -= 8) {
        memcpy(&block, word, 8);
        hash = lexicon_mix(hash, block | LEXICON_FOLD);
    }
    if (len == 0)
        return hash;
    if (len >= 4) { /* two loads that overlap: the bytes that both have are the same */
        uint32_t first, last;
        memcpy(&first, word, 4);
        memcpy(&last, word + len - 4, 4);
        block = first | (uint64_t)last << (8 * (len - 4));
    } else {
        size_t middle = len / 2;
        block = (uint64_t)(unsigned char)word[0] |
                (uint64_t)(unsigned char)word[middle] << (8 * middle) |
                (uint64_t)(unsigned char)word[len - 1] << (8 * (len - 1));
    }
    return lexicon_mix(hash, block | LEXICON_FOLD >> (64 - 8 * len));
}

static size_t slot_of(uint64_t hash, const char *word, size_t len)
{
    size_t slot = (size_t)(hash >> 51); /* 13 bits: SLOTS */
    while (slots[slot] != 0 &&
           !(entries[slots[slot]].len == len && same(entries[slots[slot]].word, word, len)))
        slot = (slot + 1) % SLOTS;
    return slot;
}

static size_t filter_bit(uint64_t hash)
{
    return (size_t)(hash >> 48);
}

static void add_word(const struct lexicon_list *list, const char *word, size_t len, uint8_t value)
{
    const char *plus = memchr(word, '+', len);
    struct lexicon_entry entry = {.word = word,
                                  .len = (uint8_t)len,
                                  .context = list->context,
                                  .value = value,
                                  .roles = list->roles};
    if (plus != NULL) {
        entry.previous = word;
        entry.previous_len = (uint8_t)(plus - word);
        entry.word = plus + 1;
        entry.len = (uint8_t)(len - entry.previous_len - 1);
    }
    uint64_t hash = lexicon_hash(entry.word, entry.len);
    size_t slot = slot_of(hash, entry.word, entry.len);
    entry.next = slots[slot];
    entry.all_roles = entry.roles | entries[entry.next].all_roles;
    if (entry_count + 1 >= ENTRIES_MAX)
        return; /* a test counts the lists against what was taken */
    entries[++entry_count] = entry;
    slots[slot] = (uint16_t)entry_count;
    size_t bit = filter_bit(hash);
    filter[bit / 32] |= 1u << (bit % 32);
    if (entry.context != CONTEXT_NONE || (entry.roles & ROLES_OF_PASS))
        lexicon_pass_filter[bit / 32] |= 1u << (bit % 32);
}

/* Words of a list have one space between them. An entry's value is its place, from 1. */
static void add_list(const struct lexicon_list *list, const char *words)
{
    uint8_t value = 0;
    for (const char *p = words; *p;) {
        size_t len = strcspn(p, " ");
        value++;
        if (len > 0 && !(len == 1 && *p == 'x')) /* x: a place in a list of months without word */
            add_word(list, p, len, value);
        p += len + (p[len] == ' ');
    }
}

static void build(void)
{
    const char *words = packed_open(&lexicon_packed);
    for (size_t l = 0; l < sizeof lexicon_lists / sizeof *lexicon_lists; l++) {
        add_list(&lexicon_lists[l], words);
        words = packed_next(words);
    }
}

void lexicon_init(void)
{
    pthread_once(&built, build);
}

const struct lexicon_entry *lexicon_find(uint64_t hash, const char *word, size_t len)
{
    size_t bit = filter_bit(hash);
    if (!(filter[bit / 32] >> (bit % 32) & 1))
        return NULL;
    uint16_t at = slots[slot_of(hash, word, len)];
    return at ? &entries[at] : NULL;
}

const struct lexicon_entry *lexicon_next(const struct lexicon_entry *entry)
{
    return entry->next ? &entries[entry->next] : NULL;
}

static void word_finish(struct td_str text, struct word *word)
{
    size_t len = word->end - word->begin;
    const char *p = text.data + word->begin;
    unsigned char first = (unsigned char)p[0];
    /* U+00C0..U+00DE, and the Greek and Cyrillic capitals of the first halves of their blocks */
    word->capital = (first >= 'A' && first <= 'Z') ||
                    (len > 1 && first == 0xC3 && (unsigned char)p[1] < 0x9F) ||
                    (len > 1 && (first == 0xC4 || first == 0xC5) && !((unsigned char)p[1] & 1)) ||
                    (len > 1 && first == 0xCE && (unsigned char)p[1] < 0xAC) ||
                    (len > 1 && first == 0xD0 && (unsigned char)p[1] < 0xB0);
    size_t digits = 0;
    while (digits < len && p[digits] >= '0' && p[digits] <= '9')
        digits++;
    word->digits = digits == len;
    if (!word->digits)
        word->entry = lexicon_find(lexicon_hash(p, len), p, len);
    if (word->entry != NULL)
        word->roles = word->entry->all_roles;
}

static bool is_gap(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '.' || c == '-' ||
           c == '/' || c == ':' || c == '#' || c == '\'' || c == '(' || c == ')' || c == '*' ||
           c == '_'; /* account_number */
}

struct word spelled_after(struct td_str text, size_t offset, size_t gap)
{
    while (offset < text.len && gap > 0 && is_gap((unsigned char)text.data[offset])) {
        offset++;
        gap--;
    }
    struct word word = {.begin = offset, .end = offset};
    while (word.end < text.len && word.end - offset <= LEXICON_WORD_BYTES_MAX &&
           plain_is_word_byte((unsigned char)text.data[word.end]))
        word.end++;
    if (word.end - word.begin > LEXICON_WORD_BYTES_MAX)
        word.end = word.begin;
    return word;
}

struct word spelled_before(struct td_str text, size_t offset, size_t gap)
{
    while (offset > 0 && gap > 0 && is_gap((unsigned char)text.data[offset - 1])) {
        offset--;
        gap--;
    }
    struct word word = {.begin = offset, .end = offset};
    while (word.begin > 0 && offset - word.begin <= LEXICON_WORD_BYTES_MAX &&
           plain_is_word_byte((unsigned char)text.data[word.begin - 1]))
        word.begin--;
    if (word.end - word.begin > LEXICON_WORD_BYTES_MAX)
        word.end = word.begin;
    return word;
}

struct word word_after(struct td_str text, size_t offset, size_t gap)
{
    struct word word = spelled_after(text, offset, gap);
    if (word.end > word.begin)
        word_finish(text, &word);
    return word;
}

struct word word_before(struct td_str text, size_t offset, size_t gap)
{
    struct word word = spelled_before(text, offset, gap);
    if (word.end > word.begin)
        word_finish(text, &word);
    return word;
}

bool word_is(struct td_str text, const struct word *word, const char *lower)
{
    size_t len = strlen(lower);
    return word->end - word->begin == len && same(text.data + word->begin, lower, len);
}

bool word_in(struct td_str text, const struct word *word, const char *list)
{
    size_t len = word->end - word->begin;
    const char *own = text.data + word->begin;
    for (const char *p = list; len > 0;) {
        size_t i = 0; /* a word has neither spaces nor zeros, so this stops at the item's end */
        while (i < len && (p[i] | 0x20) == (own[i] | 0x20))
            i++;
        if (i == len && (p[i] == ' ' || p[i] == '\0'))
            return true;
        while (*p != ' ' && *p != '\0')
            p++;
        if (*p++ == '\0')
            break;
    }
    return false;
}
