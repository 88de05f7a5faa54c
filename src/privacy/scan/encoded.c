/* Finds private values in %-escapes, quoted-printable, base64, base32, hex and codes of characters.
 * Encoded text is decoded in pieces into a buffer on the stack and scanned like any text; findings
 * cover the encoded characters. */
#include "privacy/scan/encoded.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/scan/piece.h"

#define OVERLAP 96 /* bytes of two pieces: longer than any finding but keys */
/* The byte of a full piece with which the next one begins. In each alphabet a character begins with
 * it, because a group of its characters is one, three or five bytes. */
#define AGAIN ((PIECE_BYTES_MAX - OVERLAP) / 15 * 15)
#define LINE_MIN 16      /* characters of a line of base64 that goes on in the next one */
#define BLANKS_MAX 8     /* between two such lines, with the marks of a quotation */
#define ESCAPED_BACK 128 /* bytes before the first escape that belong to the same value */
#define ESCAPED_MAX 2048 /* bytes in which there has to be an escape */
#define CODES_MIN 8      /* characters that are written as codes */
#define CODE_JOINT_MAX 6 /* bytes between two codes */

/* --- escapes: "%40", "=40" --- */

static bool ends_value(unsigned char c, char sign)
{
    return c <= ' ' || (c != (unsigned char)sign && strchr("\"'<>&=?;,`{}|", c) != NULL);
}

static bool two_hex(struct td_str text, size_t at)
{
    return at + 1 < text.len && ascii_is_hex((unsigned char)text.data[at]) &&
           ascii_is_hex((unsigned char)text.data[at + 1]);
}

static char byte_of(struct td_str text, size_t at)
{
    return (char)(ascii_hex_value((unsigned char)text.data[at]) << 4 |
                  ascii_hex_value((unsigned char)text.data[at + 1]));
}

/* Bytes of the escape at the place, also of one that was escaped again ("%2540"); 0: none. */
static size_t escape_at(struct td_str text, size_t at, char sign, char *c)
{
    if (text.data[at] != sign || !two_hex(text, at + 1))
        return 0;
    size_t digits = at + 1;
    while (sign == '%' && text.data[digits] == '2' && text.data[digits + 1] == '5' &&
           two_hex(text, digits + 2))
        digits += 2;
    *c = byte_of(text, digits);
    return digits + 2 - at;
}

/* Where the line goes on after quoted-printable's "=" at its end; 0: it does not end so. */
static size_t after_soft_end(struct td_str text, size_t at, char sign)
{
    size_t end = at + 1 + (at + 1 < text.len && text.data[at + 1] == '\r');
    return sign == '=' && text.data[at] == '=' && end < text.len && text.data[end] == '\n' ? end + 1
                                                                                           : 0;
}

size_t encoded_scan_escaped(const struct place *place, size_t floor, span_fn *emit, void *ctx)
{
    struct piece piece;
    struct td_str text = place->text;
    ASSERT(place->begin < text.len && floor <= text.len);
    char sign = text.data[place->begin];
    size_t begin = place->begin, escapes = 0;
    while (begin > floor && place->begin - begin < ESCAPED_BACK &&
           !ends_value((unsigned char)text.data[begin - 1], sign))
        begin--;
    piece_begin(&piece, place, begin, PIECE_ALL, emit, ctx);
    size_t at = begin;
    while (at < text.len) {
        char c = text.data[at];
        size_t used = escape_at(text, at, sign, &c), soft = after_soft_end(text, at, sign);
        bool none = escapes <= (sign == '='); /* "a=10" is no escape */
        if ((soft == 0 && used == 0 && ends_value((unsigned char)c, sign)) ||
            (none && at - begin >= ESCAPED_MAX))
            break;
        if (piece.len == PIECE_BYTES_MAX) {
            piece_scan(&piece, at);
            at = piece_follow(&piece, AGAIN);
            continue;
        }
        escapes += used > 0;
        if (soft == 0)
            piece_put(&piece, sign == '%' && c == '+' && used == 0 ? ' ' : c, at);
        at = soft ? soft : at + (used ? used : 1);
    }
    if (escapes <= (sign == '='))
        return place->begin;
    piece_scan(&piece, at);
    return at;
}

/* --- alphabets of four, five and six bits --- */

static int hex_value(unsigned char c)
{
    return ascii_hex_value(c);
}

static int base32_value(unsigned char c)
{
    if (ascii_is_letter(c))
        return (c | 0x20) - 'a';
    return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (ascii_is_digit(c))
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static const struct alphabet {
    unsigned bits, min; /* of a character; fewest characters: nine bytes, those of a number */
    int (*value)(unsigned char);
} alphabets[] = {[ENCODED_HEX] = {4, 18, hex_value},
                 [ENCODED_BASE32] = {5, 15, base32_value},
                 [ENCODED_BASE64] = {6, 12, base64_value}};

/* Writes UTF-16, which Windows likes to encode, as UTF-8. Every second byte of its Latin letters
 * is zero: they must be half of it. What is beyond U+07FF becomes a '?', so nothing gets longer. */
static void fold_utf16(struct piece *piece)
{
    size_t zeros[2] = {0, 0}, end = piece->len;
    for (size_t i = 0; i < end; i++)
        zeros[i % 2] += piece->data[i] == 0;
    bool little = zeros[1] > zeros[0];
    if (end < 2 || zeros[little] * 4 < end)
        return;
    piece->len = 0;
    for (size_t i = 0; i + 1 < end; i += 2) {
        size_t offset = piece->base + piece->origin[i];
        unsigned high = (unsigned char)piece->data[i + little];
        unsigned unit = high << 8 | (unsigned char)piece->data[i + !little];
        if (unit >= 0x800)
            unit = '?';
        if (unit >= 0x80)
            piece_put(piece, (char)(0xc0 | unit >> 6), offset);
        piece_put(piece, (char)(unit >= 0x80 ? 0x80 | (unit & 0x3f) : unit), offset);
    }
    piece->origin[piece->len] = piece->origin[end];
}

/* Text has no control characters but white space, and is UTF-8 up to a character that is cut.
 * Answers the first byte that is none, data.len when all is. */
static size_t text_len(struct td_str data)
{
    for (size_t i = 0; i < data.len; i++) {
        unsigned char c = (unsigned char)data.data[i];
        if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f)
            data.len = i;
    }
    size_t valid = utf8_valid_prefix(data);
    return valid + 4 > data.len ? data.len : valid;
}

/* Is the piece text? If not *bad is after the encoded characters of its first other byte. */
static bool is_text(const struct piece *piece, size_t *bad)
{
    size_t len = text_len((struct td_str){piece->data, piece->len});
    if (len == piece->len)
        return true;
    *bad = piece->base + piece->origin[len];
    return false;
}

/* Is what was read from `from` on text up to its end, though it may begin inside a character? */
static bool is_text_from(const struct piece *piece, size_t from)
{
    struct td_str data = {piece->data, piece->len};
    from = utf8_character_begin(data, from);
    data = str_slice(data, from, piece->len);
    return text_len(data) == data.len && utf8_valid_prefix(data) == data.len;
}

/* Where encoded text goes on after blanks, as mail wraps it; 0: it does not. */
static size_t next_line(struct td_str text, size_t at, const struct alphabet *alphabet)
{
    size_t i = at;
    while (i < text.len && i - at < BLANKS_MAX && strchr(" \t\r\n>", text.data[i]) != NULL)
        i++;
    return i > at && i < text.len && alphabet->value((unsigned char)text.data[i]) >= 0 ? i : 0;
}

/* What was decoded before the last line that was taken with it; len: 0 when there is one line. */
struct before_line {
    size_t len, end;
};

/* Decodes as much as fits from `at`; *next: after the last character. A line that follows belongs
 * to it as far as it is text. */
static struct before_line decode(struct td_str text, size_t at, const struct alphabet *alphabet,
                                 struct piece *piece, size_t *next)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t i = at, line = at;
    struct before_line before = {0, 0};
    while (line > 0 && at - line < LINE_MIN &&
           alphabet->value((unsigned char)text.data[line - 1]) >= 0)
        line--; /* a piece may begin near the end of a line */
    piece->base = at;
    piece->len = 0;
    while (i < text.len && piece->len < PIECE_BYTES_MAX) {
        int value = alphabet->value((unsigned char)text.data[i]);
        if (value < 0) {
            size_t begin = i - line >= LINE_MIN ? next_line(text, i, alphabet) : 0;
            if (begin == 0 || !is_text_from(piece, before.len))
                break;
            before = (struct before_line){piece->len, i};
            line = i = begin;
            continue;
        }
        if (held == 0)
            piece->origin[piece->len] = (uint32_t)(i - at);
        bits = bits << alphabet->bits | (uint32_t)value;
        held += alphabet->bits;
        i++;
        if (held >= 8) {
            held -= 8;
            piece->data[piece->len++] = (char)(bits >> held & 0xff);
            piece->origin[piece->len] = (uint32_t)(i - at - (held != 0));
        }
    }
    if (before.len > 0 && piece->len < PIECE_BYTES_MAX && !is_text_from(piece, before.len)) {
        piece->len = before.len;
        i = before.end;
        before.len = 0;
    }
    piece->origin[piece->len] = (uint32_t)(i - at);
    *next = i;
    return before;
}

/* Hex and base32 fill a word, in letters of one case. What else they begin is another thing. */
static bool fills_word(const struct place *place, const struct alphabet *alphabet)
{
    bool upper = false, lower = false;
    for (size_t i = place->begin; i < place->run_end; i++) {
        unsigned char c = (unsigned char)place->text.data[i];
        if (alphabet->value(c) < 0)
            return false;
        upper |= ascii_is_upper(c);
        lower |= ascii_is_lower(c);
    }
    return !(upper && lower);
}

enum encoded_result encoded_scan_alphabet(const struct place *place, enum encoded_alphabet which,
                                          size_t *end, span_fn *emit, void *ctx)
{
    struct piece piece;
    const struct alphabet *alphabet = &alphabets[which];
    ASSERT(place->begin < place->text.len);
    struct td_str text = place->text;
    size_t begin = place->begin, at = begin, next;
    piece_begin(&piece, place, begin, PIECE_ALL, emit, ctx);
    *end = begin;
    if (which != ENCODED_BASE64 && !fills_word(place, alphabet))
        return ENCODED_NO_TEXT;
    /* What is no text shows it early: a long piece is decoded when its beginning is text. */
    for (size_t probe = alphabet->min; probe <= 16 * alphabet->min; probe *= 4) {
        size_t until = begin + probe < text.len ? begin + probe : text.len;
        (void)decode(str_slice(text, 0, until), begin, alphabet, &piece, &next);
        fold_utf16(&piece);
        if (next - begin < alphabet->min || !is_text(&piece, end))
            return ENCODED_NO_TEXT;
    }
    for (;;) {
        struct before_line before = decode(text, at, alphabet, &piece, &next);
        bool full = piece.len == PIECE_BYTES_MAX;
        size_t again = at + piece.origin[AGAIN];
        fold_utf16(&piece);
        /* a piece may begin inside a character, so only the first must be text from its first byte
         */
        if (at == begin && !is_text(&piece, end))
            return ENCODED_NO_TEXT;
        piece_scan(&piece, next);
        if (before.len >
            0) { /* the last line may be the sentence's next word, and text by chance */
            piece.len = before.len;
            piece_scan(&piece, before.end);
        }
        *end = next;
        if (!full)
            return ENCODED_TEXT;
        at = again;
    }
}

/* --- codes of characters --- */

/* The number of the base with so many digits at the place, behind an optional "0x"; -1: none. */
static int code_at(struct td_str text, size_t *at, int base, size_t digits_min, size_t digits_max)
{
    int code = 0;
    size_t i = *at, digits = 0;
    if (base == 16 && i + 1 < text.len && text.data[i] == '0' && (text.data[i + 1] | 0x20) == 'x')
        i += 2;
    for (; i < text.len && ascii_is_alnum((unsigned char)text.data[i]); i++, digits++) {
        int value = ascii_hex_value((unsigned char)text.data[i]);
        if (value < 0 || value >= base || digits == digits_max)
            return -1;
        code = code * base + value;
    }
    *at = i;
    bool shown = (code >= ' ' && code < 0x7f) || code == '\n' || code == '\t';
    return digits >= digits_min && shown ? code : -1;
}

/* What stands between the first code and the next, an alphanumeric one. */
static struct td_str code_joint(struct td_str text, size_t at)
{
    size_t end = at;
    while (end < text.len && end - at < CODE_JOINT_MAX &&
           !ascii_is_alnum((unsigned char)text.data[end]) && (unsigned char)text.data[end] < 0x80)
        end++;
    return str_slice(text, at, end);
}

size_t encoded_scan_codes(const struct place *place, span_fn *emit, void *ctx)
{
    static const struct {
        uint8_t base, min, max;
    } forms[] = {{16, 2, 2}, {10, 2, 3}, {8, 3, 3}, {2, 7, 8}};
    struct td_str text = place->text;
    size_t furthest = place->begin;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        struct piece piece;
        struct td_str joint = {NULL, 0};
        size_t at = place->begin, end = at;
        piece_begin(&piece, place, at, PIECE_ALL, emit, ctx);
        for (;;) {
            size_t begin = at;
            int code = code_at(text, &at, forms[f].base, forms[f].min, forms[f].max);
            if (code < 0)
                break;
            if (piece.len == PIECE_BYTES_MAX) {
                piece_scan(&piece, end);
                at = piece_follow(&piece, AGAIN);
                continue;
            }
            piece_put(&piece, (char)code, begin);
            end = at;
            if (joint.data == NULL)
                joint = code_joint(text, at);
            if (joint.len == 0 || !str_equal(str_slice(text, at, at + joint.len), joint))
                break;
            at += joint.len;
        }
        if (piece.len >= CODES_MIN)
            piece_scan(&piece, end);
        furthest = end > furthest ? end : furthest;
    }
    return furthest;
}
