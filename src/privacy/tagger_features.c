#include "privacy/tagger_features.h"

/* A feature is a number of its own with up to three values. */
static inline uint32_t feature(uint32_t id, uint32_t a, uint32_t b, uint32_t c)
{
    return tagger_mix(id * 0x9e3779b1u ^ a * 0x85ebca77u ^ b * 0xc2b2ae3du ^
                      (c + 0x165667b1u) * 0x27d4eb2fu);
}

struct ends {
    uint32_t prefix2, prefix3, suffix2, suffix3, suffix4;
};

#define LETTERS_MAX 24

static struct ends ends_of(struct td_str text, const struct tagger_word *word)
{
    uint16_t letters[LETTERS_MAX + 4] = {0};
    size_t n = tagger_letters(text, word, letters + 4, LETTERS_MAX);
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
    const struct tagger_word *word = &island->words[i];
    const struct tagger_word *a1 = word_at(island, i - 1), *a2 = word_at(island, i - 2);
    const struct tagger_word *b1 = word_at(island, i + 1), *b2 = word_at(island, i + 2);
    /* What stands around the whole island tells of all its words: "... Wilson announced a" */
    const struct tagger_word *before = word_at(island, island->begin - 1);
    const struct tagger_word *behind = word_at(island, island->end);
    const struct tagger_word *behind2 = word_at(island, island->end + 1);
    size_t place = i - island->begin, island_len = island->end - island->begin;
    enum tagger_case text_case = island->text_case;
    uint32_t gap_after = b1->gap;
    uint32_t shape = word->shape, manner = shape | (uint32_t)text_case << 4;
    struct ends ends = ends_of(text, word);
    uint32_t length = word->length > 12 ? 12 : word->length;
    size_t n = 0;
    if (word->hash != 0) {
        out[n++] = feature(1, word->hash, 0, 0);
        out[n++] = feature(2, word->hash, manner, 0);
    }
    out[n++] = feature(3, a1->hash, word->gap, 0);
    out[n++] = feature(4, b1->hash, gap_after, 0);
    out[n++] = feature(5, a2->hash, a1->hash, 0);
    out[n++] = feature(6, a1->hash, shape, 0);
    out[n++] = feature(7, b1->hash, shape, 0);
    out[n++] = feature(8, ends.suffix3, manner, 0);
    out[n++] = feature(9, ends.suffix2, shape, 0);
    out[n++] = feature(10, ends.suffix4, 0, 0);
    out[n++] = feature(11, ends.prefix3, shape, 0);
    out[n++] = feature(12, ends.prefix2, word->classes == 0, 0);
    out[n++] = feature(13, word->classes, manner, 0);
    out[n++] = feature(14, word->classes, a1->classes, word->gap);
    out[n++] = feature(15, word->classes, b1->classes, gap_after);
    out[n++] = feature(16, a1->classes, word->gap, manner);
    out[n++] = feature(17, b1->classes, gap_after, manner);
    out[n++] = feature(18, a1->shape, shape, b1->shape);
    out[n++] = feature(19, (uint32_t)word->gap << 4 | gap_after, manner, word->sentence);
    out[n++] = feature(20, word->classes, manner, word->sentence);
    out[n++] = feature(21, a2->hash, shape, 0);
    out[n++] = feature(22, length, manner, word->classes == 0);
    out[n++] = feature(23, a1->classes, word->classes, b1->classes);
    out[n++] = feature(24, a2->classes, a1->classes, shape);
    out[n++] = feature(25, a1->hash, b1->hash, shape);
    out[n++] = feature(26, before->hash, shape, 0);
    out[n++] = feature(27, behind->hash, shape, behind->gap);
    out[n++] = feature(28, behind->hash, behind2->hash, 0);
    out[n++] = feature(29, b1->hash, b2->hash, 0);
    out[n++] = feature(30, (uint32_t)(island_len > 6 ? 6 : island_len),
                       (uint32_t)(place > 3 ? 3 : place), manner);
    return n;
}
