/* Cheap hiding undone: "john dot smith at example dot com", "john [at] example.com", and what stands in
 * %-escapes or base64, one level deep. Encoded text is decoded by pieces into a buffer on the stack,
 * scanned like any text, and what is found covers the encoded characters. */
#include "privacy/scan/detect_hidden.h"

#include "base/str.h"
#include "base/utf8.h"
#include "privacy/detect/detect.h"

#define PIECE 3072       /* decoded bytes at a time */
#define OVERLAP 96       /* of two pieces: longer than any finding but keys */
#define BASE64_MIN 12    /* characters: nine bytes, the digits of a social security number */
#define ESCAPED_BACK 128 /* bytes before the first escape that belong to the same value */
#define ESCAPED_MAX 2048

static bool is_at_word(struct td_str text, const struct word *word)
{
    return word_in(text, word, "at arroba arobase \xc3\xa4t");
}

static bool is_dot_word(struct td_str text, const struct word *word)
{
    return word_in(text, word, "dot punkt punto point ponto");
}

/* At "dot" between two words, of which the second can be a top-level domain: back over more of them to
 * "at", and over the name before it. */
bool detect_spelled_email(const struct place *place, size_t word_end, struct privacy_span *out)
{
    struct td_str text = place->text;
    struct word host = spelled_before(text, place->begin, 3),
                top = spelled_after(text, word_end, 3);
    if (host.begin == host.end || top.begin == top.end || top.end - top.begin < 2 ||
        !domain_is_top_level((struct td_str){text.data + top.begin, top.end - top.begin}))
        return false;
    struct word self = spelled_after(text, place->begin, 0);
    if (!word_is(text, &self, "dot") &&
        word_in(text, &top, "in it is so to at be me no us my do am as by la es et il se si"))
        return false; /* "at one point in time", "at this point do" */
    struct word mark = spelled_before(text, host.begin, 3);
    for (int labels = 0; labels < 3 && is_dot_word(text, &mark); labels++) {
        host = spelled_before(text, mark.begin, 3);
        mark = spelled_before(text, host.begin, 3);
    }
    struct word name = spelled_before(text, mark.begin, 3);
    if (!is_at_word(text, &mark) || name.begin == name.end)
        return false;
    for (int parts = 0; parts < 3; parts++) {
        struct word joint = spelled_before(text, name.begin, 3);
        struct word part = spelled_before(text, joint.begin, 3);
        bool joined = is_dot_word(text, &joint) || word_in(text, &joint, "underscore dash");
        if (!joined && !(name.begin > 0 && strchr("._-", text.data[name.begin - 1]) != NULL))
            break;
        name = joined ? part : joint;
        if (name.begin == name.end)
            return false;
    }
    struct word more = spelled_after(text, top.end, 3), last = spelled_after(text, more.end, 3);
    size_t end = top.end;
    if (is_dot_word(text, &more) && last.end > last.begin &&
        domain_is_top_level((struct td_str){text.data + last.begin, last.end - last.begin}))
        end = last.end; /* example dot co dot uk */
    *out = span_of(PRIVACY_EMAIL, name.begin, end, 0.85f);
    return true;
}

#define ANNOUNCED_REACH 96 /* the name before the host is between */

bool detect_at_host(const struct place *place, size_t host_end, struct privacy_span *out)
{
    struct td_str text = place->text;
    struct word mark = spelled_before(text, place->begin, 1);
    if (place->before != ' ' || !is_at_word(text, &mark) || mark.begin == 0 ||
        text.data[mark.begin - 1] != ' ' || !place_context(place, PRIVACY_EMAIL, ANNOUNCED_REACH))
        return false;
    size_t begin = mark.begin - 1, end = begin;
    while (begin > 0 && end - begin < 64 &&
           (plain_is_word_byte((unsigned char)text.data[begin - 1]) ||
            strchr("._%+-", text.data[begin - 1]) != NULL))
        begin--;
    struct word name = spelled_before(text, end, 0);
    if (begin == end ||
        word_in(text, &name, "me us you him her them it mail email found here available back"))
        return false; /* "mail me at example.com" */
    *out = span_of(PRIVACY_EMAIL, begin, host_end, 0.75f);
    return true;
}

/* At "at" in brackets: "john [at] example.com", "john (at) example (dot) com". */
bool detect_bracketed_email(const struct place *place, size_t word_end, struct privacy_span *out)
{
    struct td_str text = place->text;
    size_t begin = place->before_begin, at = word_end + 1;
    size_t steps = 0, labels = 0, end = 0;
    while (begin > 0 && text.data[begin - 1] == ' ' && steps++ < 2)
        begin--;
    size_t name_end = begin;
    while (begin > 0 && name_end - begin < 64 &&
           (is_alnum((unsigned char)text.data[begin - 1]) ||
            strchr("._%+-", text.data[begin - 1]) != NULL ||
            (unsigned char)text.data[begin - 1] >= 0x80))
        begin--;
    while (begin < name_end && !is_alnum((unsigned char)text.data[begin]) &&
           (unsigned char)text.data[begin] < 0x80)
        begin++;
    if (begin == name_end)
        return false;
    while (labels < 5) {
        while (at < text.len && text.data[at] == ' ')
            at++;
        struct word label = spelled_after(text, at, 0);
        while (label.end + 1 < text.len && text.data[label.end] == '-' &&
               is_alnum((unsigned char)text.data[label.end + 1]))
            label.end = spelled_after(text, label.end + 1, 0).end;
        if (label.begin == label.end)
            break;
        labels++;
        if (labels > 1 && domain_is_top_level(str_slice(text, label.begin, label.end)))
            end = label.end;
        at = label.end;
        if (at < text.len && text.data[at] == '.') {
            at++;
            continue;
        }
        while (at < text.len && text.data[at] == ' ')
            at++;
        bool bracket = at < text.len && strchr("[({<", text.data[at]) != NULL;
        struct word dot = spelled_after(text, at + bracket, 0);
        if (!is_dot_word(text, &dot))
            break;
        at = dot.end + bracket;
    }
    if (end == 0)
        return false;
    *out = span_of(PRIVACY_EMAIL, begin, end, 0.9f);
    return true;
}

/* A piece of decoded text and where each of its bytes stands. */
struct piece {
    char data[PIECE];
    uint32_t origin[PIECE + 1]; /* offset from base */
    size_t len, base;
    const struct place *place;
    scan_fn *emit;
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

static int hex_value(unsigned char c)
{
    return is_digit(c) ? c - '0' : is_hex(c) ? (c | 0x20) - 'a' + 10 : -1;
}

static bool ends_value(unsigned char c)
{
    return c <= ' ' || strchr("\"'<>&=?;,`{}|", c) != NULL;
}

static void scan_piece(struct piece *piece)
{
    scan_plain((struct td_str){piece->data, piece->len}, piece->place, emit_mapped, piece);
}

size_t scan_escaped(const struct place *place, size_t floor, scan_fn *emit, void *ctx)
{
    struct piece piece = {.place = place, .emit = emit, .ctx = ctx};
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
        if (c == '%' && at + 2 < text.len && hex_value((unsigned char)text.data[at + 1]) >= 0 &&
            hex_value((unsigned char)text.data[at + 2]) >= 0) {
            c = (unsigned char)(hex_value((unsigned char)text.data[at + 1]) * 16 +
                                hex_value((unsigned char)text.data[at + 2]));
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
    if (is_digit(c))
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Decodes at most PIECE bytes from `at`; *next: behind the last character. */
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

/* Text has no control characters but white space, and is UTF-8 up to a character that is cut. Answers the
 * first byte that is none, data.len when all is. */
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

/* Is the piece text? If not *bad is behind the encoded characters of its first other byte. */
static bool is_text(const struct piece *piece, size_t *bad)
{
    size_t len = text_len((struct td_str){piece->data, piece->len});
    if (len == piece->len)
        return true;
    *bad = piece->base + piece->origin[len];
    return false;
}

enum base64_text scan_base64(const struct place *place, size_t *end, scan_fn *emit, void *ctx)
{
    struct piece piece = {.place = place, .emit = emit, .ctx = ctx};
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
        /* a piece may begin inside a character, so only the first must be text from its first byte */
        if (at == begin && !is_text(&piece, end))
            return BASE64_NO_TEXT;
        scan_piece(&piece);
        *end = next;
        if (piece.len < PIECE)
            return BASE64_TEXT;
        at = next - OVERLAP * 4 / 3;
    }
}
