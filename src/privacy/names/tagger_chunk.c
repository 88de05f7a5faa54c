/* A cheap look at each word decides whether the chain looks at it closely. A word is a SEED (it may
 * be a name by itself), BESIDE (only with a seed next to it: "of", "Street", a number) or NEVER. An
 * island is a seed with what stands beside it. The buffer of words slides over the text, so that
 * memory does not grow with it. */
#include "privacy/names/tagger_chunk.h"

#include "base/core/ascii.h"

#include <string.h>

/* Words before the place where the pass stands that are kept: features look at them, and a name may
 * begin before its surest word. And words that must have been read after it. */
#define KEPT 8
#define AHEAD (CHAIN_MAX + 16)
/* "University of the Western Cape": the most little words between two certain ones. */
#define BRIDGE_MAX 3
_Static_assert(KEPT + AHEAD < CHUNK_WORDS / 2, "a refill gains half a chunk at least");

/* How likely a word is part of a name, at a glance. */
enum standing { NEVER, BESIDE, SEED };

static bool is_capital(const struct tagger_word *word)
{
    return word->shape >= SHAPE_TITLE && word->shape <= SHAPE_CAMEL;
}

/* A house number stands at an edge too, but only next to a word. */
static bool is_number(const struct tagger_word *word)
{
    return (word->shape == SHAPE_DIGITS || word->shape == SHAPE_ALNUM) && word->length <= 5;
}

static enum tagger_case case_of(const struct tagger_word *words, size_t count)
{
    size_t capitals = 0, titles = 0, letters = 0;
    for (size_t i = 0; i < count; i++) {
        if (words[i].length < 2 || words[i].shape >= SHAPE_DIGITS)
            continue;
        letters++;
        capitals += words[i].shape == SHAPE_CAPITALS;
        titles += is_capital(&words[i]);
    }
    return titles == 0 ? CASE_LOWER : capitals * 5 > letters * 3 ? CASE_CAPITALS : CASE_MIXED;
}

/* One word in lower case of three is unknown where the lexicon knows a language little, one in
 * thirty elsewhere. */
static bool is_foreign(const struct tagger_word *words, size_t count)
{
    size_t lower = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        bool counts = words[i].shape == SHAPE_LOWER && words[i].length > 1;
        lower += counts;
        unknown += counts && words[i].classes == 0;
    }
    return unknown > 2 && unknown * 3 >= lower;
}

static void refill(struct tagger_chunk *chunk)
{
    size_t from = chunk->next > KEPT ? chunk->next - KEPT : 0;
    chunk->count -= from;
    chunk->next -= from;
    chunk->floor = chunk->floor > from ? chunk->floor - from : 0;
    memmove(chunk->words, chunk->words + from, chunk->count * sizeof chunk->words[0]);
    size_t first = chunk->count;
    for (; chunk->count < CHUNK_WORDS; chunk->count++) {
        struct tagger_word *word = &chunk->words[chunk->count];
        if (!tagger_read(&chunk->reader, word)) {
            chunk->ended = true;
            break;
        }
        tagger_classes_prefetch(chunk->file, word->hash);
    }
    for (size_t i = first; i < chunk->count; i++)
        chunk->words[i].classes = tagger_classes(chunk->file, chunk->words[i].hash);
    chunk->text_case = case_of(chunk->words, chunk->count);
    chunk->foreign = is_foreign(chunk->words, chunk->count);
}

void chunk_init(struct tagger_chunk *chunk, const struct tagger_file *file, struct td_str text)
{
    chunk->file = file;
    tagger_reader_init(&chunk->reader, text);
    chunk->count = chunk->next = chunk->floor = 0;
    chunk->ended = false;
    refill(chunk);
}

enum tagger_gap chunk_gap_after(const struct tagger_chunk *chunk, size_t i)
{
    return i + 1 < chunk->count ? (enum tagger_gap)chunk->words[i + 1].gap : GAP_BLANK;
}

static enum standing standing_of_capital(const struct tagger_chunk *chunk, size_t i)
{
    const struct tagger_word *word = &chunk->words[i];
    if (word->classes & (CLASS_FUNCTION | CLASS_TITLE))
        return BESIDE;
    if (!(word->classes & CLASS_ORDINARY) || (word->classes & CLASSES_OF_NAMES))
        return SEED;
    bool neighbour = i + 1 < chunk->count && is_capital(&chunk->words[i + 1]) &&
                     !(chunk->words[i + 1].classes & CLASS_FUNCTION);
    if (chunk->text_case == CASE_CAPITALS || (word->sentence && !neighbour))
        return BESIDE;
    if (word->shape == SHAPE_CAPITALS && !neighbour)
        return BESIDE;
    return SEED;
}

static enum standing standing_of(const struct tagger_chunk *chunk, size_t i)
{
    const struct tagger_word *word = &chunk->words[i];
    uint16_t classes = word->classes;
    if (is_number(word))
        return BESIDE;
    if (is_capital(word))
        return standing_of_capital(chunk, i);
    if (word->shape >= SHAPE_DIGITS)
        return NEVER;
    if (word->length < 2) /* "s.r.o." */
        return word->gap == GAP_DOT || chunk_gap_after(chunk, i) == GAP_DOT ? BESIDE : NEVER;
    if (classes == 0)
        return SEED;
    if (classes & CLASSES_OF_NAMES) {
        bool cue = i > 0 && (chunk->words[i - 1].classes & (CLASS_CUE | CLASS_TITLE));
        return cue || !(classes & CLASS_ORDINARY) ? SEED : BESIDE;
    }
    return classes & (CLASS_FUNCTION | CLASS_PARTICLE | CLASS_ORG | CLASS_PLACE_PART | CLASS_STREET)
               ? BESIDE
               : NEVER;
}

/* May the word begin or end a name? A bridge ("of") may only stand inside. */
static bool is_edge(const struct tagger_word *word)
{
    return (is_capital(word) && !(word->classes & CLASS_TITLE)) ||
           (word->length == 1 && word->gap == GAP_DOT) ||
           (word->classes &
            (CLASSES_OF_NAMES | CLASS_ORG | CLASS_PLACE_PART | CLASS_STREET | CLASS_PARTICLE));
}

static bool is_wall(uint8_t gap)
{
    return gap == GAP_BLANK || gap == GAP_END;
}

static size_t extend_left(const struct tagger_chunk *chunk, size_t seed)
{
    size_t begin = seed;
    for (size_t i = seed; i-- > chunk->floor && seed - i <= BRIDGE_MAX;) {
        if (is_wall(chunk->words[i + 1].gap) || standing_of(chunk, i) == NEVER)
            break;
        if (is_edge(&chunk->words[i]) || (i + 1 == begin && is_number(&chunk->words[i])))
            begin = i;
    }
    return begin;
}

static size_t extend_right(const struct tagger_chunk *chunk, size_t begin, size_t seed)
{
    size_t last = seed;
    for (size_t i = seed + 1; i < chunk->count && i - last <= BRIDGE_MAX && i - begin < CHAIN_MAX;
         i++) {
        enum standing standing = standing_of(chunk, i);
        if (is_wall(chunk->words[i].gap) || standing == NEVER)
            break;
        if (standing == SEED || is_edge(&chunk->words[i]) ||
            (i == last + 1 && is_number(&chunk->words[i])))
            last = i;
    }
    return last + 1;
}

bool chunk_next(struct tagger_chunk *chunk, size_t *begin, size_t *end)
{
    for (;;) {
        if (!chunk->ended && chunk->next + AHEAD > chunk->count)
            refill(chunk);
        size_t stop = chunk->ended ? chunk->count : chunk->count - AHEAD + 1;
        size_t i = chunk->next;
        while (i < stop && standing_of(chunk, i) != SEED)
            i++;
        chunk->next = i;
        if (i < stop) {
            *begin = extend_left(chunk, i);
            *end = extend_right(chunk, *begin, i);
            chunk->next = chunk->floor = *end;
            return true;
        }
        if (chunk->ended)
            return false;
    }
}
