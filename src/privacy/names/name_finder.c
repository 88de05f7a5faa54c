/* The tagger knows words, not what an address looks like. So what it takes for a street is looked
 * at again here: its form must be that of an address, and it becomes an address, a place or a
 * postal code by what is in it. A strict scan takes everything, because a miss costs more there. */
#include "privacy/names/name_finder.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#include <string.h>

/* A street has at most two numbers before its words ("12-14", "1 22nd Avenue"), few numbers in all
 * (house, flat, floor, the halves of a postal code), and no characters but those of addresses. So
 * "N = 1000", a row of a table and a mail address are no streets. */
enum {
    NUMBERS_BEFORE_WORDS = 2,
    NUMBERS_IN_ALL = 6,
    RANGES_BEFORE_WORDS = 1,
    RANGES_IN_ALL = 3,
    DIGITS_OF_NUMBER = 7,
    LETTERS_OF_WORD = 3
};

/* "claude-fable-5": small letters and hyphens in one piece are the name of a thing. */
static bool is_slug(struct td_str text)
{
    bool hyphen = false, slug = true;
    for (size_t i = 0; i < text.len && slug; i++) {
        unsigned char c = (unsigned char)text.data[i];
        hyphen |= c == '-';
        slug = (c >= 'a' && c <= 'z') || ascii_is_digit(c) || c == '-' || c == '.' || c == '_';
    }
    return slug && hyphen;
}

static bool looks_like_street(struct td_str text)
{
    size_t numbers = 0, ranges = 0, letters = 0, digits = 0;
    bool words = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool digit = ascii_is_digit(c), letter = ascii_is_letter(c) || c >= 0x80;
        bool range = digits > 0 && (c == '-' || c == '/');
        if (digit && digits++ == 0)
            numbers++;
        ranges += range;
        letters = letter ? letters + 1 : 0;
        words |= letters >= LETTERS_OF_WORD;
        if (numbers > (words ? NUMBERS_IN_ALL : NUMBERS_BEFORE_WORDS) ||
            ranges > (words ? RANGES_IN_ALL : RANGES_BEFORE_WORDS) || digits > DIGITS_OF_NUMBER ||
            (!digit && !letter && !range && strchr(" ,.-'/#&()\n\r\t\\:", c) == NULL))
            return false;
        digits = digit ? digits : range ? 1 : 0;
    }
    return true;
}

/* With a number and words it is an address, with a number alone a postal code. Without a number, a
 * word for a street makes it an address; else it is a place. */
static enum privacy_kind kind_of_street(struct td_str text)
{
    bool digits = false;
    size_t letters = 0, letters_most = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        digits |= ascii_is_digit(c);
        letters = ascii_is_letter(c) || c >= 0x80 ? letters + 1 : 0;
        letters_most = letters > letters_most ? letters : letters_most;
    }
    if (digits)
        return letters_most >= LETTERS_OF_WORD ? PRIVACY_ADDRESS : PRIVACY_ZIP;
    struct word word = word_after(text, 0, 3);
    for (; word.begin < word.end; word = word_after(text, word.end, 3))
        if (word.roles & (ROLE_STREET | ROLE_STREET_FIRST | ROLE_STREET_LAST | ROLE_STREET_SURE |
                          ROLE_STREET_RARE | ROLE_UNIT))
            return PRIVACY_ADDRESS;
    return PRIVACY_PLACE;
}

void name_source_advance(struct name_source *source)
{
    static const enum privacy_kind kinds[TAGGER_TYPE_COUNT] = {
        [TAGGER_PERSON] = PRIVACY_PERSON,
        [TAGGER_PLACE] = PRIVACY_PLACE,
        [TAGGER_ORG] = PRIVACY_ORGANIZATION,
        [TAGGER_STREET] = PRIVACY_ADDRESS,
    };
    struct tagger_span span;
    source->next.begin = SIZE_MAX;
    while (source->on && tagger_next(&source->cursor, &span)) {
        enum privacy_kind kind = kinds[span.type];
        if (kind == PRIVACY_ADDRESS && !source->strict) {
            struct td_str text = str_slice(source->text, span.begin, span.end);
            if (is_slug(text) || !looks_like_street(text))
                continue;
            kind = kind_of_street(text);
        }
        source->next = (struct privacy_span){.kind = kind,
                                             .begin = span.begin,
                                             .end = span.end,
                                             .score = span.score,
                                             .data_class = source->data_class,
                                             .guessed = true};
        break;
    }
}

void name_source_begin(struct name_source *source, const struct name_finder *finder,
                       struct td_str text, bool strict)
{
    ASSERT(finder->min_score >= 0 && finder->min_score <= 1);
    source->on = finder->tagger != NULL;
    if (source->on) {
        float min_score = finder->min_score;
        source->data_class = finder->data_class;
        source->text = text;
        source->strict = strict;
        if (strict && source->data_class < TD_CLASS_SENSITIVE)
            source->data_class = TD_CLASS_SENSITIVE;
        if (strict && min_score > NAME_STRICT_SCORE_MIN)
            min_score = NAME_STRICT_SCORE_MIN;
        tagger_begin(&source->cursor, finder->tagger, text, min_score);
    }
    name_source_advance(source);
}

uint16_t name_finder_classes(const struct name_finder *finder, uint32_t hash)
{
    return finder->tagger ? tagger_word_classes(finder->tagger, hash) : 0;
}
