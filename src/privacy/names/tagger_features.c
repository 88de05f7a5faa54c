/* The features of a word, each a hash that chooses one row of weights. What was learnt with one set
 * of features means nothing with another, so a change here needs a newly trained names file and a
 * new TAGGER_VERSION. */
#include "privacy/names/tagger_features.h"

#include "base/core/assertion.h"

/* A feature is a number of its own with up to three values, hashed by one product of which the
 * upper half counts (multiply-shift: Dietzfelbinger et al. 1997). The words' hashes are mixed
 * already. */
static inline uint32_t feature(uint32_t id, uint32_t value)
{
    return (uint32_t)((value + id * 0x9e3779b1u) * UINT64_C(0x9fb21c651e98df25) >> 32);
}

/* What stands where, and what it is: each role has an odd multiplier of its own, so that neither "A
 * B" and "B A" nor a hash and a small number cancel each other. */
#define MANNER 0xc2b2ae3du
#define SHAPE 0x85ebca6bu
#define GAP_BEFORE 0x27d4eb2fu
#define GAP_BEHIND 0x165667b1u
#define CLASSES 0x9e3779b1u
#define FIRST 0x85ebca77u /* the word before */
#define SECOND 0xd35a2d97u
#define NEXT 0x2c1b3c6du
#define AFTER_NEXT 0x297a2d39u
#define LENGTH 0x1b56c4e9u
#define PLACE 0x7feb352du
#define SENTENCE 0x846ca68bu

static inline uint32_t as(uint32_t value, uint32_t role)
{
    return value * role;
}

struct ends {
    uint32_t prefix2, prefix3, suffix2, suffix3, suffix4;
};

#define LETTERS_MAX 24

/* The word's letters as tagger_letters gives them. Most words are ASCII letters alone. */
static size_t letters_of(struct td_str text, const struct tagger_word *word, uint16_t *out)
{
    size_t len = word->end - word->begin;
    if (word->shape >= SHAPE_DIGITS || len != word->length)
        return tagger_letters(text, word, out, LETTERS_MAX);
    len = len < LETTERS_MAX ? len : LETTERS_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)text.data[word->begin + i] | 0x20;
    return len;
}

static struct ends ends_of(struct td_str text, const struct tagger_word *word)
{
    uint16_t letters[LETTERS_MAX + 4] = {0};
    size_t n = letters_of(text, word, letters + 4);
    const uint16_t *first = letters + 4, *last = letters + 4 + n; /* shorter words: zeros before */
    struct ends ends;
    ends.prefix2 = (uint32_t)first[0] << 16 | first[1];
    ends.prefix3 = ends.prefix2 * 31 + first[2];
    ends.suffix2 = (uint32_t)last[-1] << 16 | last[-2];
    ends.suffix3 = ends.suffix2 * 31 + last[-3];
    ends.suffix4 = ends.suffix3 * 31 + last[-4];
    return ends;
}

static const struct tagger_word nothing = {.gap = GAP_BLANK, .shape = SHAPE_COUNT};

static const struct tagger_word *word_at(const struct tagger_island *island, size_t i)
{
    return i < island->count ? &island->words[i] : &nothing; /* before the first: wraps around */
}

size_t tagger_features(struct td_str text, const struct tagger_island *island, size_t i,
                       uint32_t *out)
{
    ASSERT(i >= island->begin && i < island->end && island->end <= island->count);
    const struct tagger_word *word = &island->words[i];
    const struct tagger_word *a1 = word_at(island, i - 1), *a2 = word_at(island, i - 2);
    const struct tagger_word *b1 = word_at(island, i + 1), *b2 = word_at(island, i + 2);
    /* What stands around the whole island tells of all its words: "... Wilson announced a" */
    const struct tagger_word *before = word_at(island, island->begin - 1);
    const struct tagger_word *behind = word_at(island, island->end);
    const struct tagger_word *behind2 = word_at(island, island->end + 1);
    size_t place = i - island->begin, island_len = island->end - island->begin;
    enum tagger_case text_case = island->text_case;
    uint32_t shape = as(word->shape, SHAPE), known = word->classes != 0;
    uint32_t manner =
        as(word->shape | (uint32_t)text_case << 4 | (uint32_t)island->foreign << 6, MANNER);
    uint32_t w = word->hash, w1 = as(a1->hash, FIRST), w2 = as(a2->hash, SECOND),
             n1 = as(b1->hash, NEXT), n2 = as(b2->hash, AFTER_NEXT);
    uint32_t c = as(word->classes, CLASSES), c1 = as(a1->classes, FIRST),
             c2 = as(a2->classes, SECOND), d1 = as(b1->classes, NEXT);
    uint32_t in = as(word->gap, GAP_BEFORE), out_gap = as(b1->gap, GAP_BEHIND);
    uint32_t sentence = as(word->sentence, SENTENCE);
    struct ends ends = ends_of(text, word);
    size_t n = 0;
    if (w != 0) {
        out[n++] = feature(1, w);
        out[n++] = feature(2, w ^ manner);
    }
    out[n++] = feature(3, w1 ^ in);
    out[n++] = feature(4, n1 ^ out_gap);
    out[n++] = feature(5, w2 ^ w1);
    out[n++] = feature(6, w1 ^ shape);
    out[n++] = feature(7, n1 ^ shape);
    out[n++] = feature(8, ends.suffix3 ^ manner);
    out[n++] = feature(9, ends.suffix2 ^ shape);
    out[n++] = feature(10, ends.suffix4);
    out[n++] = feature(11, ends.prefix3 ^ shape);
    out[n++] = feature(12, ends.prefix2 ^ known);
    out[n++] = feature(13, c ^ manner);
    out[n++] = feature(14, c ^ c1 ^ in);
    out[n++] = feature(15, c ^ d1 ^ out_gap);
    out[n++] = feature(16, c1 ^ in ^ manner);
    out[n++] = feature(17, d1 ^ out_gap ^ manner);
    out[n++] = feature(18, as(a1->shape, FIRST) ^ shape ^ as(b1->shape, NEXT));
    out[n++] = feature(19, in ^ out_gap ^ manner ^ sentence);
    out[n++] = feature(20, c ^ manner ^ sentence);
    out[n++] = feature(21, w2 ^ shape);
    out[n++] = feature(22, as(word->length > 12 ? 12 : word->length, LENGTH) ^ manner ^ known);
    out[n++] = feature(23, c1 ^ c ^ d1);
    out[n++] = feature(24, c2 ^ c1 ^ shape);
    out[n++] = feature(25, w1 ^ n1 ^ shape);
    out[n++] = feature(26, before->hash ^ shape);
    out[n++] = feature(27, behind->hash ^ as(behind->gap, GAP_BEFORE) ^ shape);
    out[n++] = feature(28, behind->hash ^ as(behind2->hash, NEXT));
    out[n++] = feature(29, n1 ^ n2);
    out[n++] = feature(30, manner ^ as(island_len > 6 ? 6 : (uint32_t)island_len, LENGTH) ^
                               as(place > 3 ? 3 : (uint32_t)place, PLACE));
    return n;
}
