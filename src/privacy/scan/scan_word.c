/* Tells the detectors of words what stands at one: its length, what it is made of, what follows it.
 * A word that the lexicon knows is noted for the numbers that it announces, and asked about by its
 * roles. Long words are looked into for base64 first, because what is text in base64 is no random
 * key. */
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/scan/encoded.h"
#include "privacy/scan/pass.h"
#include "privacy/scan/regroup.h"

#define BASE64_WORD_MIN 8

/* A short word with a capital may be the letters before a number: "AB 123456". */
static bool may_begin_number(const struct place *place, size_t len, int first, int after)
{
    struct td_str text = place->text;
    if (len > 3 || first >= 'a' || (after != ' ' && after != '-') || place->run_end + 1 >= text.len)
        return false;
    char next = text.data[place->run_end + 1];
    return next < 'a' || next > 'z';
}

/* What the character after the word says. */
static const uint32_t by_sign[128] = {['.'] = WORD_DOT,   [':'] = WORD_COLON, ['-'] = WORD_DASH,
                                      ['/'] = WORD_JOINT, ['+'] = WORD_JOINT, ['_'] = WORD_JOINT};

static uint32_t shape_of(const struct place *place, int first, int after, bool digits)
{
    size_t len = place->run_end - place->begin;
    bool foreign = (unsigned char)place->text.data[place->begin] >= 0x80;
    uint32_t shape = SHAPE_ALWAYS;
    shape |= len < 12 ? WORD_LENGTH(len) : len < 25 ? WORD_12_ON : WORD_12_ON | WORD_25_ON;
    shape |= digits ? WORD_HAS_DIGIT : 0;
    shape |= foreign ? WORD_FOREIGN : 0;
    shape |= first < 'a' ? WORD_CAPITAL : 0;
    shape |= digits || foreign || may_begin_number(place, len, first, after) ? WORD_NUMBERED : 0;
    return shape | (after < 0x80 ? by_sign[after] : WORD_OTHER);
}

static bool decodes_as(struct pass *pass, enum encoded_alphabet alphabet, size_t *end)
{
    return encoded_scan_alphabet(&pass->place, alphabet, end, settle_add, &pass->found) ==
           ENCODED_TEXT;
}

/* The characters of base64 after which whole groups follow where UTF-16 begins with its mark, whose
 * slashes begin no word: "//5" is FF FE, "/v8" FE FF; 0: it does not. */
static size_t after_mark(struct td_str text, size_t begin)
{
    if (begin < 2 || begin + 3 > text.len || text.data[begin - 1] != '/')
        return 0;
    if (text.data[begin] == '5' && text.data[begin - 2] == '/')
        return 2;
    return text.data[begin] == 'v' && text.data[begin + 1] == '8' ? 3 : 0;
}

/* Base64 from the place on, or behind a mark of UTF-16. */
static void look_into_base64(struct pass *pass)
{
    struct place *place = &pass->place;
    size_t begin = place->begin, end;
    bool text = decodes_as(pass, ENCODED_BASE64, &end);
    if (!text) {
        pass->no_base64[begin % 4] = end;
        size_t skip = after_mark(place->text, begin);
        place->begin += skip;
        text = skip > 0 && decodes_as(pass, ENCODED_BASE64, &end);
        place->begin = begin;
    }
    if (text)
        pass->memory.decoded_end = pass->lettered_end = end;
}

/* A long word, or one that a sign of base64 follows, may be encoded text. What begins a text shows
 * in the first characters: hex of an ASCII letter or digit, base32 of the same. "0" begins hex of
 * UTF-16. */
static void look_into(struct pass *pass)
{
    struct place *place = &pass->place;
    size_t begin = place->begin, len = place->run_end - begin, end;
    const uint32_t signs = WORD_HAS_DIGIT | WORD_DOT | WORD_COLON | WORD_DASH | WORD_JOINT;
    bool padded = place->run_end < place->text.len && place->text.data[place->run_end] == '=';
    if (len < BASE64_WORD_MIN || (len < 16 && !(place->shape & signs) && !padded) ||
        begin < pass->memory.decoded_end)
        return;
    char first = place->text.data[begin];
    bool digit = (first >= '2' && first <= '7') || first == '0';
    if (len >= 15 && digit && decodes_as(pass, ENCODED_HEX, &end))
        pass->memory.decoded_end = end;
    else if (len >= 15 && (first | 0x20) >= 'e' && (first | 0x20) <= 'p' &&
             decodes_as(pass, ENCODED_BASE32, &end))
        pass->memory.decoded_end = pass->lettered_end = end;
    else if (begin >= pass->no_base64[begin % 4])
        look_into_base64(pass);
}

/* What the detectors do not read as it stands: codes of characters, numbers within words. A number
 * is looked for in base64, too: "SSN276243447" may decode to text by chance. In base64 and base32
 * of ASCII text each fourth or eighth character is a letter, so it has no nine digits in a row. */
static void look_around(struct pass *pass, bool digits)
{
    struct place *place = &pass->place;
    size_t len = place->run_end - place->begin;
    look_into(pass);
    bool decoded = place->begin < pass->memory.decoded_end;
    if (!digits || (decoded && place->begin >= pass->lettered_end))
        return;
    const uint32_t of_codes =
        WORD_LENGTH(2) | WORD_LENGTH(3) | WORD_LENGTH(4) | WORD_LENGTH(7) | WORD_LENGTH(8);
    if (!decoded && (place->shape & of_codes) && place->begin >= pass->codes_end)
        pass->codes_end = encoded_scan_codes(place, settle_add, &pass->found);
    else if (len > 9 || place->before == PLAIN_LETTER)
        regroup_scan_word(place, settle_add, &pass->found);
}

static void note_announced(struct pass *pass, int context, size_t end)
{
    pass->context.ended[context] = end + 1;
    if (privacy_kind_is_national(context))
        pass->context.ended[CONTEXT_NATIONAL] = end + 1;
    pass->announced = end + 1;
}

/* A word that the lexicon knows: what it announces is noted, what it is itself is asked. */
static void ask_listed(struct pass *pass, const struct lexicon_entry *entry)
{
    struct place *place = &pass->place;
    struct td_str text = place->text;
    unsigned char first = (unsigned char)text.data[place->begin];
    struct word before = spelled_before(text, place->begin, 2);
    uint32_t shape = place->shape;
    place->capital = first < 'a' || first >= 0x80;
    for (; entry != NULL; entry = lexicon_next(entry)) {
        place->entry_begin = place->begin;
        if (entry->previous != NULL) {
            if (before.end - before.begin != entry->previous_len ||
                !str_equal_nocase(str_slice(text, before.begin, before.end),
                                  (struct td_str){entry->previous, entry->previous_len}))
                continue;
            place->entry_begin = before.begin;
        }
        if (entry->context != CONTEXT_NONE)
            note_announced(pass, entry->context, place->word_end);
        place->entry = entry;
        place->shape = entry->roles | (entry->context == CONTEXT_PASSWORD ? LISTED_PASSWORD : 0);
        (void)detectors_ask(TRIGGER_LISTED, place, settle_add, &pass->found);
    }
    place->shape = shape;
}

size_t scan_word(struct pass *pass, int first, const struct run *run)
{
    struct place *place = &pass->place;
    struct td_str text = place->text;
    ASSERT(place->begin < text.len && run->end <= run->long_end && run->long_end <= text.len);
    int after = run->end < text.len ? (unsigned char)text.data[run->end] : 0;
    place->run_end = run->end;
    place->word_end = run->long_end;
    place->in_date = place->begin < pass->memory.date.end;
    place->shape = shape_of(place, first, after, run->digits);
    if (pass_decodes(pass))
        look_around(pass, run->digits);
    if (ascii_is_digit(first) && place->before == PLAIN_LETTER)
        return 0; /* the end of a word */
    (void)detectors_ask(TRIGGER_RUN, place, settle_add, &pass->found);
    if (ascii_is_digit(first)) {
        scan_number(pass, run);
        return 0;
    }
    if (place->before == PLAIN_LETTER)
        return detectors_ask(TRIGGER_TAIL, place, settle_add, &pass->found);
    if (lexicon_may_hold(run->hash)) {
        const struct lexicon_entry *entry =
            lexicon_find(run->hash, text.data + place->begin, run->long_end - place->begin);
        if (entry != NULL)
            ask_listed(pass, entry);
    }
    return detectors_ask(TRIGGER_WORD, place, settle_add, &pass->found);
}
