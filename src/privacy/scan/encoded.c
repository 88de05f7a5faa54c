/* Finds private values in %-escapes and base64. Encoded text is decoded in pieces into a buffer on
 * the stack and scanned like any text; findings cover the encoded characters. Only one level is
 * decoded, because each further level would multiply the cost of a hostile text. */
#include "privacy/scan/encoded.h"

#include "base/str.h"
#include "base/utf8.h"
#include "privacy/scan/scan.h"

#include <assert.h>

#define PIECE 3072       /* decoded bytes at a time */
#define OVERLAP 96       /* of two pieces: longer than any finding but keys */
#define BASE64_MIN 12    /* characters: nine bytes, the digits of a social security number */
#define ESCAPED_BACK 128 /* bytes before the first escape that belong to the same value */
#define ESCAPED_MAX 2048

/* A piece of decoded text and where each of its bytes stands. */
struct piece {
    char data[PIECE];
    uint32_t origin[PIECE + 1]; /* offset from base */
    size_t len, base;
    const struct place *place;
    span_fn *emit;
    void *ctx;
};

static void emit_mapped(void *ctx, const struct privacy_span *span)
{
    const struct piece *piece = ctx;
    if (span->data_class == TD_CLASS_PUBLIC)
        return;
    struct privacy_span mapped = *span;
    mapped.begin = piece->base + piece->origin[span->begin];
    mapped.end = piece->base + piece->origin[span->end];
    piece->emit(piece->ctx, &mapped);
}

static bool ends_value(unsigned char c)
{
    return c <= ' ' || strchr("\"'<>&=?;,`{}|", c) != NULL;
}

static void scan_piece(struct piece *piece)
{
    scan_plain((struct td_str){piece->data, piece->len}, piece->place, emit_mapped, piece);
}

size_t encoded_scan_escaped(const struct place *place, size_t floor, span_fn *emit, void *ctx)
{
    struct piece piece = {.place = place, .emit = emit, .ctx = ctx};
    assert(place->begin < place->text.len && floor <= place->text.len);
    struct td_str text = place->text;
    size_t percent = place->begin, begin = percent, escapes = 0;
    while (begin > floor && percent - begin < ESCAPED_BACK &&
           !ends_value((unsigned char)text.data[begin - 1]))
        begin--;
    piece.base = begin;
    size_t at = begin;
    while (at < text.len && at - begin < ESCAPED_MAX && !ends_value((unsigned char)text.data[at])) {
        unsigned char c = (unsigned char)text.data[at];
        size_t used = 1;
        if (c == '%' && at + 2 < text.len &&
            ascii_hex_value((unsigned char)text.data[at + 1]) >= 0 &&
            ascii_hex_value((unsigned char)text.data[at + 2]) >= 0) {
            c = (unsigned char)(ascii_hex_value((unsigned char)text.data[at + 1]) * 16 +
                                ascii_hex_value((unsigned char)text.data[at + 2]));
            used = 3;
            escapes++;
        } else if (c == '+') {
            c = ' ';
        }
        piece.origin[piece.len] = (uint32_t)(at - begin);
        piece.data[piece.len++] = (char)c;
        at += used;
    }
    piece.origin[piece.len] = (uint32_t)(at - begin);
    if (escapes > 0)
        scan_piece(&piece);
    return at;
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

/* Decodes at most PIECE bytes from `at`; *next: after the last character. */
static void decode_base64(struct td_str text, size_t at, struct piece *piece, size_t *next)
{
    uint32_t bits = 0;
    unsigned held = 0;
    piece->base = at;
    piece->len = 0;
    size_t i = at;
    for (; i < text.len && piece->len < PIECE; i++) {
        int value = base64_value((unsigned char)text.data[i]);
        if (value < 0)
            break;
        if (held == 0)
            piece->origin[piece->len] = (uint32_t)(i - at);
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            piece->data[piece->len++] = (char)(bits >> held & 0xff);
            piece->origin[piece->len] = (uint32_t)(i - at + (held == 0));
        }
    }
    piece->origin[piece->len] = (uint32_t)(i - at);
    *next = i;
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

enum encoded_base64 encoded_scan_base64(const struct place *place, size_t *end, span_fn *emit,
                                        void *ctx)
{
    struct piece piece = {.place = place, .emit = emit, .ctx = ctx};
    assert(place->begin < place->text.len);
    struct td_str text = place->text;
    size_t begin = place->begin, at = begin, next;
    *end = begin;
    /* What is no text shows it early: a long piece is decoded when its beginning is text. */
    for (size_t probe = BASE64_MIN; probe <= 16 * BASE64_MIN; probe *= 4) {
        size_t until = begin + probe < text.len ? begin + probe : text.len;
        decode_base64(str_slice(text, 0, until), begin, &piece, &next);
        if (next - begin < BASE64_MIN || !is_text(&piece, end))
            return BASE64_NO_TEXT;
    }
    for (;;) {
        decode_base64(text, at, &piece, &next);
        /* a piece may begin inside a character, so only the first must be text from its first byte
         */
        if (at == begin && !is_text(&piece, end))
            return BASE64_NO_TEXT;
        scan_piece(&piece);
        *end = next;
        if (piece.len < PIECE)
            return BASE64_TEXT;
        at = next - OVERLAP * 4 / 3;
    }
}
