/* Lookups in the generated tables of Unicode, and the one table of invisible characters.
 *
 * The generated tables are made in the build from Python's unicodedata, so that no version of
 * Unicode is copied into the sources. The invisible characters are listed by hand and once:
 * detectors, tagger and restorer must agree on them, or one of them finds a hidden value and the
 * others miss it. */
#include "base/text/unicode.h"

#include "base/core/ascii.h"

struct unicode_lower_run {
    uint32_t first, last, stride; /* first, first + stride, ... last */
    int32_t distance;             /* from each to its lower case */
};

#include "base/unicode_table.h" /* generated in the build */

/* Hangul syllables are composed by arithmetic (Unicode Standard, section 3.12). */
#define HANGUL_FIRST 0xAC00u
#define HANGUL_COUNT 11172u
#define HANGUL_LEADS 0x1100u
#define HANGUL_VOWELS 0x1161u
#define HANGUL_TAILS 0x11A7u
#define HANGUL_VOWEL_COUNT 21u
#define HANGUL_TAIL_COUNT 28u

uint16_t unicode_class_of(uint32_t code_point)
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

/* The parts of entry `index`, which are kept in UTF-16. */
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
        return (uint32_t)ascii_lower((int)code_point);
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

/* What adds no visible character of its own to a text, in ascending order:
 * - all of Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, 16.0), with the code
 *   points that are reserved for it, because programs draw nothing for these;
 * - of the other format characters (category Cf) the interlinear annotation marks, for which
 *   programs draw nothing either. The rest of Cf has a shape: the signs that stand over Arabic,
 *   Syriac and Kaithi numbers, and the joiners of Egyptian hieroglyphs;
 * - the blocks of combining marks that belong to no one script. They are drawn onto the character
 *   before: a number reads the same with them. Marks of one script (Hebrew, Arabic, Devanagari) are
 *   ordinary spelling there and not listed. */
static const struct {
    uint32_t first, last;
} invisible[] = {
    {0xAD, 0xAD},       /* soft hyphen: drawn at a line's end only */
    {0x300, 0x36F},     /* combining accents; with U+034F, the grapheme joiner */
    {0x61C, 0x61C},     /* Arabic letter mark: sets the direction */
    {0x115F, 0x1160},   /* Hangul fillers: stand for a missing part of a syllable */
    {0x17B4, 0x17B5},   /* Khmer inherent vowels: never written */
    {0x180B, 0x180F},   /* Mongolian variation selectors and vowel separator */
    {0x1AB0, 0x1AFF},   /* combining accents, extended */
    {0x1DC0, 0x1DFF},   /* combining accents, supplement */
    {0x200B, 0x200F},   /* zero-width space, joiners, direction marks */
    {0x202A, 0x202E},   /* embeddings and overrides of the direction */
    {0x2060, 0x206F},   /* word joiner, invisible operators, isolates, deprecated formats */
    {0x20D0, 0x20DC},   /* marks combining with symbols. Those that enclose a character are seen: */
    {0x20E1, 0x20E1},   /* in an emoji's digit and a name behind it, "3\u20E3Taylor", the keycap */
    {0x20E5, 0x20F0},   /* is what separates the two */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFE00, 0xFE0F},   /* variation selectors: choose a form of the character before */
    {0xFE20, 0xFE2F},   /* halves of combining accents */
    {0xFEFF, 0xFEFF},   /* byte order mark, zero-width no-break space */
    {0xFFA0, 0xFFA0},   /* Hangul filler, half width */
    {0xFFF0, 0xFFFB},   /* reserved ones, and the interlinear annotation marks */
    {0x1BCA0, 0x1BCA3}, /* format controls of shorthand */
    {0x1D173, 0x1D17A}, /* beginnings and ends of beams and slurs in music */
    {0xE0000, 0xE0FFF}, /* tags that copy ASCII unseen, and more variation selectors */
};

bool unicode_is_listed_invisible(uint32_t code_point)
{
    size_t low = 0, high = sizeof invisible / sizeof *invisible;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (invisible[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof invisible / sizeof *invisible && code_point >= invisible[low].first;
}
