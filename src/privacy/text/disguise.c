/* Finds disguised characters and writes the text without disguise.
 *
 * There are three sorts: character references of HTML, signs in brackets, and characters beyond
 * ASCII among ASCII letters and digits. Nearly all texts have none, so each sort is searched with
 * memchr or eight bytes at a time. */
#include "privacy/text/disguise.h"

#include "base/str.h"
#include "base/utf8.h"
#include "privacy/text/plain.h"

#define REFERENCE_MAX 10 /* bytes of "&#x10FFFF;" */
#define WORD_MAX 64      /* bytes of a word that are looked at */

/* What HTML names, which texts hide values with: signs of addresses and numbers, what is invisible,
 * letters of names. https://html.spec.whatwg.org/multipage/named-characters.html */
static const struct {
    const char *name;
    uint32_t code;
} references[] = {
    {"amp", '&'},     {"commat", '@'},  {"period", '.'},   {"colon", ':'},   {"sol", '/'},
    {"lowbar", '_'},  {"hyphen", '-'},  {"dash", '-'},     {"plus", '+'},    {"num", '#'},
    {"lpar", '('},    {"rpar", ')'},    {"equals", '='},   {"percnt", '%'},  {"comma", ','},
    {"nbsp", ' '},    {"ensp", ' '},    {"emsp", ' '},     {"thinsp", ' '},  {"shy", 0xAD},
    {"zwj", 0x200D},  {"zwnj", 0x200C}, {"ndash", 0x2013}, {"minus", '-'},   {"auml", 0xE4},
    {"ouml", 0xF6},   {"uuml", 0xFC},   {"Auml", 0xC4},    {"Ouml", 0xD6},   {"Uuml", 0xDC},
    {"szlig", 0xDF},  {"eacute", 0xE9}, {"egrave", 0xE8},  {"ecirc", 0xEA},  {"euml", 0xEB},
    {"agrave", 0xE0}, {"aacute", 0xE1}, {"acirc", 0xE2},   {"atilde", 0xE3}, {"aring", 0xE5},
    {"aelig", 0xE6},  {"ccedil", 0xE7}, {"iacute", 0xED},  {"icirc", 0xEE},  {"iuml", 0xEF},
    {"ntilde", 0xF1}, {"oacute", 0xF3}, {"ograve", 0xF2},  {"ocirc", 0xF4},  {"otilde", 0xF5},
    {"oslash", 0xF8}, {"uacute", 0xFA}, {"ugrave", 0xF9},  {"ucirc", 0xFB},  {"Eacute", 0xC9},
    {"Aring", 0xC5},  {"Oslash", 0xD8}, {"deg", 0xB0},
};

static uint32_t named_reference(struct td_str name)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (str_equal(name, str_from(references[i].name)))
            return references[i].code;
    return 0;
}

/* The bytes of the character reference at the '&', 0 when it is none. */
static size_t reference_at(struct td_str text, size_t at, uint32_t *code)
{
    size_t last = at + REFERENCE_MAX < text.len ? at + REFERENCE_MAX : text.len, end = at + 1;
    while (end < last && text.data[end] != ';')
        end++;
    if (end >= last || end == at + 1)
        return 0;
    if (text.data[at + 1] != '#') {
        *code = named_reference(str_slice(text, at + 1, end));
        return *code != 0 ? end + 1 - at : 0;
    }
    bool hex = (text.data[at + 2] | 0x20) == 'x';
    size_t i = at + 2 + hex;
    *code = 0;
    for (; i < end; i++) {
        int digit = ascii_hex_value((unsigned char)text.data[i]);
        if (digit < 0 || digit >= (hex ? 16 : 10))
            return 0;
        *code = *code * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return *code >= ' ' && *code <= 0x10FFFF && end > at + 2 + hex ? end + 1 - at : 0;
}

static size_t next_reference(struct td_str text, size_t from)
{
    while (from < text.len) {
        const char *found = memchr(text.data + from, '&', text.len - from);
        if (found == NULL)
            break;
        size_t at = (size_t)(found - text.data);
        uint32_t code;
        size_t used = reference_at(text, at, &code);
        /* "&amp;" alone is how any page writes "&" */
        if (used > 0 && (code != '&' || (at + used < text.len && text.data[at + used] == '#')))
            return at;
        from = at + 1;
    }
    return SIZE_MAX;
}

/* "[.]" or "[@]" between two characters of a word, as those write addresses who fear links: the
 * middle one, 0 when it is none. */
static char bracketed_at(struct td_str text, size_t at)
{
    if (at == 0 || at + 3 >= text.len || text.data[at] != '[' || text.data[at + 2] != ']')
        return 0;
    char sign = text.data[at + 1];
    return (sign == '.' || sign == '@') && ascii_is_alnum((unsigned char)text.data[at - 1]) &&
                   ascii_is_alnum((unsigned char)text.data[at + 3])
               ? sign
               : 0;
}

static size_t next_bracket(struct td_str text, size_t from)
{
    while (from < text.len) {
        const char *found = memchr(text.data + from, '[', text.len - from);
        if (found == NULL)
            break;
        size_t at = (size_t)(found - text.data);
        if (bracketed_at(text, at))
            return at;
        from = at + 1;
    }
    return SIZE_MAX;
}

static bool ascii_word_at(struct td_str text, size_t at)
{
    return at < text.len && ascii_is_alnum((unsigned char)text.data[at]);
}

/* An accent on an ASCII letter is spelling, though nothing that a detector reads: "e" and U+0301 is
 * "é". */
static bool is_accent(struct td_str text, size_t begin, uint32_t code)
{
    return code >= 0x300 && code < 0x370 && code != 0x34F && begin > 0 &&
           ascii_is_letter(text.data[begin - 1]);
}

/* Is the character between `begin` and `end` there to hide something? What typographers set is not:
 * a no-break space before a sign, dashes between words, letters of a script among their like. */
static bool is_disguise(struct td_str text, size_t begin, size_t end, uint32_t code)
{
    bool before = begin > 0 && ascii_word_at(text, begin - 1), after = ascii_word_at(text, end);
    int form = plain_form(code);
    if (form == PLAIN_OTHER || (!before && !after && form < 0x80 && !ascii_is_alnum(form)))
        return false;
    if (form == 0)
        return !is_accent(text, begin, code);
    if (form == PLAIN_LETTER) {
        struct plain letter = {form, begin, end};
        return (before || after) && plain_look_alike(text, letter).c != PLAIN_LETTER;
    }
    if (ascii_is_alnum(form))
        return code < 0x660 ||
               code > 0x9EF; /* digits of other scripts: every detector knows them */
    if (form == '-')
        return before && after && (code < 0x2012 || code > 0x2015);
    return form == ' ' ? before && after : code >= 0xFF00 || form == '.';
}

#define EACH_HIGH_BIT UINT64_C(0x8080808080808080)

static size_t next_wide(struct td_str text, size_t from)
{
    while (from < text.len) {
        uint64_t bytes, ahead[4];
        if (text.len - from >= sizeof ahead) { /* most of most texts is ASCII */
            memcpy(ahead, text.data + from, sizeof ahead);
            if (!((ahead[0] | ahead[1] | ahead[2] | ahead[3]) & EACH_HIGH_BIT)) {
                from += sizeof ahead;
                continue;
            }
        }
        if (text.len - from >= 8) {
            memcpy(&bytes, text.data + from, 8);
            if (!(bytes & EACH_HIGH_BIT)) {
                from += 8;
                continue;
            }
            from += (size_t)__builtin_ctzll(bytes & EACH_HIGH_BIT) / 8;
        }
        size_t begin = from;
        uint32_t code = utf8_next(text, &from);
        if (code >= 0x80 && is_disguise(text, begin, from, code))
            return begin;
    }
    return SIZE_MAX;
}

size_t disguise_next(struct disguise_cursor *cursor, struct td_str text, size_t from)
{
    static size_t (*const sorts[DISGUISE_SORTS])(struct td_str, size_t) = {next_reference,
                                                                           next_bracket, next_wide};
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < DISGUISE_SORTS; i++) {
        size_t *own = &cursor->next[i];
        if (*own == 0 || (*own != SIZE_MAX && *own - 1 < from)) {
            size_t found = sorts[i](text, from);
            *own = found == SIZE_MAX ? SIZE_MAX : found + 1;
        }
        if (*own != SIZE_MAX && *own - 1 < next)
            next = *own - 1;
    }
    return next;
}

/* Has the word at the place ASCII letters or digits, and of other letters only those that look like
 * Latin ones? *end: after what was looked at. */
static bool is_mixed_word(struct td_str text, size_t at, size_t *end)
{
    bool ascii = false, alike = true;
    size_t offset = at;
    while (offset < text.len && offset - at < WORD_MAX) {
        size_t begin = offset;
        uint32_t code = utf8_next(text, &offset);
        int form = code < 0x80 ? (int)code : plain_form(code);
        struct plain letter = {form, begin, offset};
        if (form == PLAIN_LETTER)
            alike &= plain_look_alike(text, letter).c != PLAIN_LETTER;
        else if (form != 0 && !ascii_is_alnum(form)) {
            offset = begin;
            break;
        } else
            ascii |= form != 0;
    }
    *end = offset > at ? offset : at + 1;
    return ascii && alike;
}

/* The character at the place as it is meant, into `bytes`; *used: bytes that it has in the text. */
static size_t read_character(struct td_str text, size_t at, bool mixed, char bytes[static 4],
                             size_t *used)
{
    uint32_t code = 0;
    unsigned char first = (unsigned char)text.data[at];
    char bracketed = first == '[' ? bracketed_at(text, at) : 0;
    bytes[0] = bracketed ? bracketed : (char)first;
    *used = bracketed ? 3 : 1;
    if (first == '&') {
        size_t reference = reference_at(text, at, &code);
        size_t count = reference > 0 ? utf8_encode(code, bytes) : 0;
        if (count == 0 || count > reference)
            return 1;
        *used = reference;
        return count;
    }
    if (first < 0x80)
        return 1;
    size_t end = at;
    code = utf8_next(text, &end);
    *used = end - at;
    struct plain letter = {plain_form(code), at, end};
    if (mixed)
        letter = plain_look_alike(text, letter);
    if (letter.c == 0 && !is_accent(text, at, code))
        return 0;
    if (letter.c != 0 && letter.c < 0x80) {
        bytes[0] = (char)letter.c;
        return 1;
    }
    memmove(bytes, text.data + at, *used);
    return *used;
}

size_t disguise_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin)
{
    size_t len = 0, at = 0, word_end = 0;
    bool mixed = false;
    while (at < text.len) {
        if (at >= word_end)
            mixed = is_mixed_word(text, at, &word_end);
        char bytes[4];
        size_t used, count = read_character(text, at, mixed, bytes, &used);
        uint32_t place = from ? from[at] : (uint32_t)at;
        at += used;
        for (size_t i = 0; i < count; i++) {
            origin[len] = place;
            out[len++] = bytes[i];
        }
    }
    origin[len] = from ? from[text.len] : (uint32_t)text.len;
    return len;
}
