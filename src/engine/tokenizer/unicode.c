/* Look-ups in the tables of tools/generate_unicode.py. The tables are packed because they count
 * against the size of the library: classes are 4 bits in shared blocks, decompositions are UTF-16,
 * lower case is runs of letters at one distance. Tokenizers need these few properties exactly as
 * the reference implementations have them; a Unicode library would be larger than the engine. */
#include "engine/tokenizer/unicode.h"

struct unicode_lower_run {
    uint32_t first, last, stride; /* first, first + stride, ... last */
    int32_t distance;             /* from each to its lower case */
};

#include "engine/unicode_table.h" /* generated in the build */

/* Hangul syllables are composed by arithmetic (Unicode Standard, section 3.12). */
#define HANGUL_FIRST 0xAC00u
#define HANGUL_COUNT 11172u
#define HANGUL_LEADS 0x1100u
#define HANGUL_VOWELS 0x1161u
#define HANGUL_TAILS 0x11A7u
#define HANGUL_VOWEL_COUNT 21u
#define HANGUL_TAIL_COUNT 28u

uint8_t unicode_class_of(uint32_t code_point)
{
    if (code_point > 0x10FFFF)
        return 0;
    uint32_t block = code_point / UNICODE_BLOCK, at = code_point % UNICODE_BLOCK;
    uint8_t group = unicode_group_of[block / UNICODE_GROUP];
    uint8_t pair = unicode_blocks[unicode_groups[group][block % UNICODE_GROUP]][at / 2];
    return unicode_sets[pair >> (at % 2 * 4) & 15];
}

static size_t decompose_hangul(uint32_t index, uint32_t parts[static UNICODE_PARTS_MAX])
{
    uint32_t tail = index % HANGUL_TAIL_COUNT;
    parts[0] = HANGUL_LEADS + index / (HANGUL_VOWEL_COUNT * HANGUL_TAIL_COUNT);
    parts[1] = HANGUL_VOWELS + index / HANGUL_TAIL_COUNT % HANGUL_VOWEL_COUNT;
    parts[2] = HANGUL_TAILS + tail;
    return tail == 0 ? 2 : 3;
}

/* Reads the parts of entry `index`, which are stored in UTF-16. */
static size_t read_parts(uint32_t index, uint32_t parts[static UNICODE_PARTS_MAX])
{
    const uint16_t *unit = unicode_decomposed_units + unicode_decomposed_at[index];
    const uint16_t *end = unicode_decomposed_units + unicode_decomposed_at[index + 1];
    size_t count = 0;
    while (unit < end) {
        uint32_t part = *unit++;
        if (part >= 0xD800 && part < 0xDC00)
            part = 0x10000 + ((part - 0xD800) << 10) + (*unit++ - 0xDC00u);
        parts[count++] = part;
    }
    return count;
}

size_t unicode_decompose(uint32_t code_point, uint32_t parts[static UNICODE_PARTS_MAX])
{
    uint32_t plane = code_point >> 16;
    parts[0] = code_point;
    if (code_point < 0xC0 || plane >= UNICODE_DECOMPOSED_PLANES)
        return 1;
    if (code_point - HANGUL_FIRST < HANGUL_COUNT)
        return decompose_hangul(code_point - HANGUL_FIRST, parts);
    uint32_t low = unicode_decomposed_planes[plane], end = unicode_decomposed_planes[plane + 1];
    for (uint32_t high = end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (unicode_decomposed_low[middle] < (code_point & 0xFFFF))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || unicode_decomposed_low[low] != (code_point & 0xFFFF))
        return 1;
    return read_parts(low, parts);
}

uint32_t unicode_lower(uint32_t code_point)
{
    if (code_point < 0x80)
        return code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : code_point;
    uint32_t low = 0, high = UNICODE_LOWER_COUNT;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (unicode_lower_runs[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == UNICODE_LOWER_COUNT)
        return code_point;
    const struct unicode_lower_run *run = &unicode_lower_runs[low];
    if (code_point < run->first || (code_point - run->first) % run->stride != 0)
        return code_point;
    return (uint32_t)((int32_t)code_point + run->distance);
}
