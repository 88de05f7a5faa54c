#include "privacy/names/name_finder.h"

#include "base/str.h"
#include "privacy/words/lexicon.h"

#include <string.h>

/* The tagger knows words, not what a house number looks like. A street has before its words two numbers at
 * most ("12-14", "1 22nd Avenue"), in all few of them (house, flat, floor, a postal code's halves), and no sign
 * but those of addresses: neither "N = 1000" nor a table's row of numbers nor a mail address is one. */
static bool looks_like_street(struct td_str text)
{
    size_t numbers = 0, ranges = 0, letters = 0, digits = 0;
    bool words = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool digit = is_digit(c), letter = is_alpha(c) || c >= 0x80;
        bool range = digits > 0 && (c == '-' || c == '/');
        if (digit && digits++ == 0)
            numbers++;
        ranges += range;
        letters = letter ? letters + 1 : 0;
        words |= letters >= 3;
        if (numbers > (words ? 6 : 2) || ranges > (words ? 3 : 1) || digits > 7 ||
            (!digit && !letter && !range && strchr(" ,.-'/#&()\n\r\t\\:", c) == NULL))
            return false;
        digits = digit ? digits : range ? 1 : 0;
    }
    return true;
}

/* What the tagger's street is: one with a number and words, or a word for a street; else a place at most, and
 * without words what stands beside one, a postal code or so. */
static enum privacy_kind kind_of_street(struct td_str text)
{
    bool digits = false;
    size_t letters = 0, letters_most = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        digits |= is_digit(c);
        letters = is_alpha(c) || c >= 0x80 ? letters + 1 : 0;
        letters_most = letters > letters_most ? letters : letters_most;
    }
    if (digits)
        return letters_most >= 3 ? PRIVACY_ADDRESS : PRIVACY_ZIP;
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
            if (!looks_like_street(text))
                continue;
            kind = kind_of_street(text);
        }
        source->next = (struct privacy_span){.kind = kind,
                                             .begin = span.begin,
                                             .end = span.end,
                                             .score = span.score,
                                             .data_class = source->data_class};
        break;
    }
}

void name_source_begin(struct name_source *source, const struct name_finder *finder,
                       struct td_str text, bool strict)
{
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
