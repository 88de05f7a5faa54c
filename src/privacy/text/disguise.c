/* Finds disguised characters and writes the text without disguise.
 *
 * There are three sorts: character references of HTML, signs in brackets, and characters beyond
 * ASCII among ASCII letters and digits. Nearly all texts have none, so each sort is searched with
 * memchr or eight bytes at a time. */
#include "privacy/text/disguise.h"

#include "base/core/str.h"
#include "base/text/utf8.h"
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

/* The bytes of "&#52;" or "&#x34;" at the '&', 0 when it is none. Browsers read it without the
 * semicolon, too. */
static size_t numeric_reference_at(struct td_str text, size_t at, uint32_t *code)
{
    bool hex = at + 2 < text.len && (text.data[at + 2] | 0x20) == 'x';
    size_t first = at + 2 + hex, i = first;
    *code = 0;
    for (; i < text.len && i < at + REFERENCE_MAX; i++) {
        int digit = ascii_hex_value((unsigned char)text.data[i]);
        if (digit < 0 || digit >= (hex ? 16 : 10))
            break;
        *code = *code * (hex ? 16 : 10) + (uint32_t)digit;
    }
    if (i == first || *code < ' ' || *code > 0x10FFFF)
        return 0;
    return i + (i < text.len && text.data[i] == ';') - at;
}

/* The bytes of the character reference at the '&', 0 when it is none. */
static size_t reference_at(struct td_str text, size_t at, uint32_t *code)
{
    if (at + 1 < text.len && text.data[at + 1] == '#')
        return numeric_reference_at(text, at, code);
    size_t last = at + REFERENCE_MAX < text.len ? at + REFERENCE_MAX : text.len, end = at + 1;
    while (end < last && text.data[end] != ';')
        end++;
    if (end >= last || end == at + 1)
        return 0;
    *code = named_reference(str_slice(text, at + 1, end));
    return *code != 0 ? end + 1 - at : 0;
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

/* --- characters beyond ASCII --- */

/* Digits that no detector knows: of further scripts, and those that Unicode draws. Each row counts
 * up from `value`. In ascending order. */
static const struct {
    uint32_t first;
    uint8_t count;
    char value;
} odd_digits[] = {
    {0xB2, 2, '2'},    {0xB9, 1, '1'},     {0x7C0, 10, '0'},   {0xA66, 10, '0'},
    {0xAE6, 10, '0'},  {0xB66, 10, '0'},   {0xBE6, 10, '0'},   {0xC66, 10, '0'},
    {0xCE6, 10, '0'},  {0xD66, 10, '0'},   {0xDE6, 10, '0'},   {0xE50, 10, '0'},
    {0xED0, 10, '0'},  {0xF20, 10, '0'},   {0x1040, 10, '0'},  {0x1090, 10, '0'},
    {0x17E0, 10, '0'}, {0x1810, 10, '0'},  {0x1946, 10, '0'},  {0x19D0, 10, '0'},
    {0x1A80, 10, '0'}, {0x1A90, 10, '0'},  {0x1B50, 10, '0'},  {0x1BB0, 10, '0'},
    {0x1C40, 10, '0'}, {0x1C50, 10, '0'},  {0x2070, 1, '0'},   {0x2074, 6, '4'},
    {0x2080, 10, '0'}, {0x2460, 9, '1'},   {0x2474, 9, '1'},   {0x2488, 9, '1'},
    {0x24EA, 1, '0'},  {0x24F5, 9, '1'},   {0x24FF, 1, '0'},   {0x2776, 9, '1'},
    {0x2780, 9, '1'},  {0x278A, 9, '1'},   {0x3007, 1, '0'},   {0x3021, 9, '1'},
    {0x3220, 9, '1'},  {0x3280, 9, '1'},   {0xA620, 10, '0'},  {0xA8D0, 10, '0'},
    {0xA900, 10, '0'}, {0xA9D0, 10, '0'},  {0xA9F0, 10, '0'},  {0xAA50, 10, '0'},
    {0xABF0, 10, '0'}, {0x104A0, 10, '0'}, {0x1F101, 10, '0'}, {0x1FBF0, 10, '0'},
};

/* The digits of Chinese and Japanese texts, and those of cheques, by their value. */
static int ideograph_digit(uint32_t code)
{
    static const uint16_t digits[][10] = {
        {0x96F6, 0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94, 0x516D, 0x4E03, 0x516B, 0x4E5D},
        {0x96F6, 0x58F9, 0x8D30, 0x53C1, 0x8086, 0x4F0D, 0x9646, 0x67D2, 0x634C, 0x7396},
        {0x96F6, 0x58F1, 0x8CB3, 0x53C3, 0x8086, 0x4F0D, 0x9678, 0x67D2, 0x634C, 0x7396}};
    if (code < 0x4E00 || code > 0x96F6)
        return 0;
    for (size_t i = 0; i < sizeof digits / sizeof digits[0][0]; i++)
        if (digits[i / 10][i % 10] == code)
            return (int)(i % 10) + '0';
    return 0;
}

/* The digit that the character is meant as; 0: none. */
static int odd_digit(uint32_t code)
{
    size_t low = 0, high = sizeof odd_digits / sizeof *odd_digits;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code >= odd_digits[middle].first + odd_digits[middle].count)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < sizeof odd_digits / sizeof *odd_digits && code >= odd_digits[low].first)
        return odd_digits[low].value + (int)(code - odd_digits[low].first);
    return ideograph_digit(code);
}

#define TAG_FIRST 0xE0020 /* Unicode's tags copy ASCII, and nothing is drawn for them */
#define TAG_LAST 0xE007E
#define TAG_BYTES 4
#define TAGS_MIN 8 /* in a row, that tell a model something; fewer are only in the way */

static bool is_tag(struct td_str text, size_t at)
{
    size_t end = at;
    if (at + TAG_BYTES > text.len)
        return false;
    uint32_t code = utf8_next(text, &end);
    return code >= TAG_FIRST && code <= TAG_LAST;
}

static bool in_row_of_tags(struct td_str text, size_t at)
{
    size_t begin = at, end = at;
    while (begin >= TAG_BYTES && at - begin < TAGS_MIN * TAG_BYTES &&
           is_tag(text, begin - TAG_BYTES))
        begin -= TAG_BYTES;
    while (is_tag(text, end) && end - begin < TAGS_MIN * TAG_BYTES)
        end += TAG_BYTES;
    return end - begin >= TAGS_MIN * TAG_BYTES;
}

static int odd_form(struct td_str text, size_t at, uint32_t code, int form)
{
    if (form == 0 && code >= TAG_FIRST && code <= TAG_LAST && in_row_of_tags(text, at))
        return (int)(code - TAG_FIRST + ' ');
    int digit = form == PLAIN_OTHER ? odd_digit(code) : 0;
    return digit ? digit : form;
}

/* The plain form of the character at the offset, also of what only hides (plain.h: 0 is
 * invisible). */
static inline int form_of(struct td_str text, size_t at, uint32_t code)
{
    int form = plain_form(code);
    return form == 0 || form == PLAIN_OTHER ? odd_form(text, at, code, form) : form;
}

#define DIGITS_NEAR 3 /* an odd digit among others: "xÂ²" and "â  first" have one */

/* Do more digits follow, each after one sign at most? */
static bool digits_follow(struct td_str text, size_t at)
{
    int count = 1, signs = 0;
    while (at < text.len && count < DIGITS_NEAR && signs < 2) {
        uint32_t code = utf8_next(text, &at);
        bool digit = code < 0x80 ? ascii_is_digit((int)code) : odd_digit(code) != 0;
        count += digit;
        signs = digit ? 0 : signs + 1;
    }
    return count == DIGITS_NEAR;
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
    int form = form_of(text, begin, code);
    if (ascii_is_digit(form) && odd_digit(code))
        return digits_follow(text, end);
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
        int form = code < 0x80 ? (int)code : form_of(text, begin, code);
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
    struct plain letter = {form_of(text, at, code), at, end};
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
