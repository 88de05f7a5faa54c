/* Cuts templates into tokens, by the rules of Jinja's lexer with trim_blocks and lstrip_blocks on:
 *
 *   {% and {#     white space between the start of the line and the tag is dropped, unless {%+
 *   %} and #}     one newline after the tag is dropped, unless +%}
 *   {%- -%}       all white space before or after the tag is dropped (also {{- -}} {#- -#})
 *
 * Before that, every line end becomes "\n", and one at the end of the text is dropped. */
#include "engine/template/jinja_lexer.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <stdlib.h>

#define NESTING_MAX 200

struct lexer {
    struct arena *arena;
    struct td_error *err;
    enum td_status status;
    struct td_str source;
    size_t at;
    uint32_t line;
    bool line_starting; /* the text before `at` ends a line */
    struct jinja_token *tokens;
    size_t count, capacity;
};

static void fail(struct lexer *lexer, enum td_status status, const char *words)
{
    if (lexer->status == TD_OK)
        lexer->status = error_set(lexer->err, status, "chat template, line %u: %s",
                                  (unsigned)lexer->line, words);
}

static struct jinja_token *add(struct lexer *lexer, enum jinja_token_kind kind, struct td_str text)
{
    static struct jinja_token nowhere;
    if (lexer->count == lexer->capacity) {
        size_t capacity = lexer->capacity ? lexer->capacity * 2 : 256;
        struct jinja_token *tokens =
            arena_alloc_array(lexer->arena, capacity, sizeof(*lexer->tokens));
        if (tokens == NULL || capacity > 2 * JINJA_TOKENS_MAX) {
            fail(lexer, TD_LIMIT, "the template is too large");
            return &nowhere;
        }
        if (lexer->count > 0)
            memcpy(tokens, lexer->tokens, lexer->count * sizeof(*tokens));
        lexer->tokens = tokens;
        lexer->capacity = capacity;
    }
    struct jinja_token *token = &lexer->tokens[lexer->count++];
    *token = (struct jinja_token){.kind = kind, .line = lexer->line, .text = text};
    return token;
}

static bool is_name_start(char c)
{
    return ascii_is_letter(c) || c == '_';
}

static char peek(const struct lexer *lexer, size_t ahead)
{
    return lexer->source.len - lexer->at > ahead ? lexer->source.data[lexer->at + ahead] : '\0';
}

static void advance(struct lexer *lexer, size_t bytes)
{
    for (size_t i = 0; i < bytes && lexer->at < lexer->source.len; i++, lexer->at++)
        lexer->line += lexer->source.data[lexer->at] == '\n';
}

static bool looking_at(const struct lexer *lexer, const char *text)
{
    return str_starts_with(str_slice(lexer->source, lexer->at, lexer->source.len), str_from(text));
}

static void skip_space(struct lexer *lexer)
{
    while (lexer->at < lexer->source.len && ascii_is_space(lexer->source.data[lexer->at]))
        advance(lexer, 1);
}

/* Skips white space after the closing mark of a tag, as its sign asks. */
static void close_tag(struct lexer *lexer, char sign, bool block)
{
    size_t begin = lexer->at;
    if (sign == '-')
        skip_space(lexer);
    else if (block && sign != '+' && peek(lexer, 0) == '\n')
        advance(lexer, 1);
    lexer->line_starting = lexer->at > begin && lexer->source.data[lexer->at - 1] == '\n';
}

/* The text before a tag, without the white space that the tag's sign removes. */
static struct td_str strip_before(struct td_str text, char sign, bool block, bool line_starting)
{
    if (sign == '-') {
        while (text.len > 0 && ascii_is_space(text.data[text.len - 1]))
            text.len--;
        return text;
    }
    if (!block || sign == '+')
        return text;
    size_t begin = text.len;
    while (begin > 0 && text.data[begin - 1] != '\n')
        begin--;
    for (size_t i = begin; i < text.len; i++)
        if (!ascii_is_space(text.data[i]))
            return text;
    return begin > 0 || line_starting ? str_slice(text, 0, begin) : text;
}

static void add_data(struct lexer *lexer, struct td_str text)
{
    if (text.len > 0)
        add(lexer, JINJA_TOKEN_DATA, text);
}

/* --- inside of tags --- */

static bool read_escape(struct lexer *lexer, struct td_str body, size_t *at, struct buf *out)
{
    static const char plain[] = "n\nt\tr\r\\\\''\"\"a\ab\bf\fv\v";
    char c = body.data[*at], bytes[4];
    for (size_t i = 0; i + 1 < sizeof(plain); i += 2)
        if (plain[i] == c) {
            buf_append_char(out, plain[i + 1]);
            (*at)++;
            return true;
        }
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (c == '\n') {
        (*at)++;
        return true;
    }
    if (digits == 0 && (c < '0' || c > '7')) { /* unknown escapes stay as they are, as in Python */
        buf_append_char(out, '\\');
        return true;
    }
    char number[9] = "";
    size_t begin = *at + (digits > 0), len = 0;
    while (len < (digits ? digits : 3) && begin + len < body.len) {
        char d = body.data[begin + len];
        bool fits = digits ? ascii_is_hex(d) : d >= '0' && d <= '7';
        if (!fits)
            break;
        number[len++] = d;
    }
    size_t written = utf8_encode((uint32_t)strtoul(number, NULL, digits ? 16 : 8), bytes);
    if ((digits && len < digits) || written == 0) {
        fail(lexer, TD_UNSUPPORTED, "a malformed escape in a string");
        return false;
    }
    buf_append(out, bytes, written);
    *at = begin + len;
    return true;
}

static struct td_str unescape(struct lexer *lexer, struct td_str body)
{
    if (body.len == 0 || memchr(body.data, '\\', body.len) == NULL)
        return body;
    struct buf out;
    buf_init(&out, body.len * 2);
    for (size_t at = 0; at < body.len && lexer->status == TD_OK;) {
        char c = body.data[at++];
        if (c == '\\' && at < body.len)
            read_escape(lexer, body, &at, &out);
        else
            buf_append_char(&out, c);
    }
    size_t len = out.len;
    char *copy = out.failed ? NULL : arena_copy(lexer->arena, buf_view(&out));
    buf_deinit(&out);
    if (copy == NULL)
        fail(lexer, TD_LIMIT, "the template is too large");
    return (struct td_str){copy ? copy : "", copy ? len : 0};
}

static void read_string(struct lexer *lexer)
{
    char quote = peek(lexer, 0);
    size_t end = lexer->at + 1;
    while (end < lexer->source.len && lexer->source.data[end] != quote)
        end += lexer->source.data[end] == '\\' ? 2 : 1;
    if (end >= lexer->source.len) {
        fail(lexer, TD_UNSUPPORTED, "a string without end");
        return;
    }
    struct td_str text = unescape(lexer, str_slice(lexer->source, lexer->at + 1, end));
    add(lexer, JINJA_TOKEN_STRING, text);
    advance(lexer, end + 1 - lexer->at);
}

static size_t count_digits(const struct lexer *lexer, size_t ahead)
{
    size_t count = 0;
    while (ascii_is_digit(peek(lexer, ahead + count)) ||
           (count > 0 && peek(lexer, ahead + count) == '_' &&
            ascii_is_digit(peek(lexer, ahead + count + 1))))
        count++;
    return count;
}

/* Decimal integers and floats. No template uses another base. */
static void read_number(struct lexer *lexer)
{
    size_t len = count_digits(lexer, 0), more;
    bool is_float = false;
    if (peek(lexer, len) == '.' && (more = count_digits(lexer, len + 1)) > 0) {
        len += 1 + more;
        is_float = true;
    }
    if (peek(lexer, len) == 'e' || peek(lexer, len) == 'E') {
        size_t sign = peek(lexer, len + 1) == '-' || peek(lexer, len + 1) == '+';
        if ((more = count_digits(lexer, len + 1 + sign)) > 0) {
            len += 1 + sign + more;
            is_float = true;
        }
    }
    char digits[64];
    size_t kept = 0;
    for (size_t i = 0; i < len && kept < sizeof(digits); i++)
        if (peek(lexer, i) != '_')
            digits[kept++] = peek(lexer, i);
    struct td_str text = {digits, kept};
    struct jinja_token *token = add(lexer, is_float ? JINJA_TOKEN_FLOAT : JINJA_TOKEN_INT,
                                    str_slice(lexer->source, lexer->at, lexer->at + len));
    bool read = is_float ? str_to_double(text, &token->number) : str_to_i64(text, &token->integer);
    if (!read || kept == sizeof(digits) || is_name_start(peek(lexer, len)))
        fail(lexer, TD_UNSUPPORTED, "a number that cannot be read");
    advance(lexer, len);
}

static void read_name(struct lexer *lexer)
{
    size_t len = 1;
    while (is_name_start(peek(lexer, len)) || ascii_is_digit(peek(lexer, len)))
        len++;
    add(lexer, JINJA_TOKEN_NAME, str_slice(lexer->source, lexer->at, lexer->at + len));
    advance(lexer, len);
}

static size_t operator_len(const struct lexer *lexer)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "//", "**"};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (looking_at(lexer, pairs[i]))
            return 2;
    return peek(lexer, 0) && strchr("+-*/%~<>=.,:|()[]{}", peek(lexer, 0)) ? 1 : 0;
}

/* The innermost open bracket is open[*depth - 1]. */
static void read_operator(struct lexer *lexer, char open[static NESTING_MAX], size_t *depth)
{
    size_t len = operator_len(lexer);
    char c = peek(lexer, 0);
    if (len == 0) {
        fail(lexer, TD_UNSUPPORTED, "an unexpected character");
        return;
    }
    if (strchr("([{", c)) {
        if (*depth == NESTING_MAX)
            fail(lexer, TD_LIMIT, "brackets are nested too deep");
        else
            open[(*depth)++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (strchr(")]}", c) && (*depth == 0 || open[--*depth] != c)) {
        fail(lexer, TD_UNSUPPORTED, "a bracket that is not open");
        *depth = 0;
    }
    add(lexer, JINJA_TOKEN_OPERATOR, str_slice(lexer->source, lexer->at, lexer->at + len));
    advance(lexer, len);
}

/* Reads a tag, including its end mark. */
static void read_tag(struct lexer *lexer, bool block)
{
    const char *end = block ? "%}" : "}}";
    char open[NESTING_MAX];
    size_t depth = 0;
    while (lexer->status == TD_OK) {
        skip_space(lexer);
        char c = peek(lexer, 0);
        bool sign = (c == '-' || (block && c == '+')) && peek(lexer, 1) == end[0] &&
                    peek(lexer, 2) == end[1];
        if (depth == 0 && (sign || looking_at(lexer, end))) {
            add(lexer, block ? JINJA_TOKEN_BLOCK_END : JINJA_TOKEN_OUTPUT_END, STR(""));
            advance(lexer, sign ? 3 : 2);
            close_tag(lexer, sign ? c : '\0', block);
            return;
        }
        if (lexer->at >= lexer->source.len)
            fail(lexer, TD_UNSUPPORTED, "a tag without end");
        else if (c == '"' || c == '\'')
            read_string(lexer);
        else if (ascii_is_digit(c))
            read_number(lexer);
        else if (is_name_start(c))
            read_name(lexer);
        else
            read_operator(lexer, open, &depth);
    }
}

static void skip_comment(struct lexer *lexer)
{
    size_t end = str_find(lexer->source, STR("#}"), lexer->at);
    if (end == SIZE_MAX) {
        fail(lexer, TD_UNSUPPORTED, "a comment without end");
        return;
    }
    char before = end > lexer->at ? lexer->source.data[end - 1] : '\0';
    advance(lexer, end + 2 - lexer->at);
    close_tag(lexer, before == '-' || before == '+' ? before : '\0', true);
}

/* --- outside of tags --- */

/* Matches "{%- name -%}" at `from`: returns the offset after it, or 0. Signs go to sign[0] and
 * sign[1]. */
static size_t match_tag(struct td_str source, size_t from, const char *name, char sign[static 2])
{
    size_t at = from + 2, len = strlen(name);
    char first = at < source.len ? source.data[at] : '\0';
    sign[0] = first == '-' || first == '+' ? first : '\0';
    at += sign[0] != '\0';
    while (at < source.len && ascii_is_space(source.data[at]))
        at++;
    if (!str_starts_with(str_slice(source, at, source.len), (struct td_str){name, len}))
        return 0;
    at += len;
    while (at < source.len && ascii_is_space(source.data[at]))
        at++;
    char last = at < source.len ? source.data[at] : '\0';
    sign[1] = last == '-' || last == '+' ? last : '\0';
    at += sign[1] != '\0';
    return str_starts_with(str_slice(source, at, source.len), STR("%}")) ? at + 2 : 0;
}

/* After {% raw %}: everything up to {% endraw %} is text. */
static void read_raw(struct lexer *lexer, size_t after, char sign)
{
    advance(lexer, after - lexer->at);
    close_tag(lexer, sign, false);
    char signs[2];
    for (size_t end = lexer->at; (end = str_find(lexer->source, STR("{%"), end)) != SIZE_MAX;
         end++) {
        size_t behind = match_tag(lexer->source, end, "endraw", signs);
        if (behind == 0)
            continue;
        add_data(lexer, strip_before(str_slice(lexer->source, lexer->at, end), signs[0], true,
                                     lexer->line_starting));
        advance(lexer, behind - lexer->at);
        close_tag(lexer, signs[1], true);
        return;
    }
    fail(lexer, TD_UNSUPPORTED, "a raw block without end");
}

static void read_template(struct lexer *lexer)
{
    while (lexer->at < lexer->source.len && lexer->status == TD_OK) {
        size_t begin = lexer->at, tag = str_find(lexer->source, STR("{"), begin);
        while (tag != SIZE_MAX &&
               (tag + 1 >= lexer->source.len || !strchr("{%#", lexer->source.data[tag + 1]) ||
                lexer->source.data[tag + 1] == '\0'))
            tag = str_find(lexer->source, STR("{"), tag + 1);
        if (tag == SIZE_MAX) {
            add_data(lexer, str_slice(lexer->source, begin, lexer->source.len));
            advance(lexer, lexer->source.len - begin);
            return;
        }
        char kind = lexer->source.data[tag + 1], signs[2];
        char sign = tag + 2 < lexer->source.len ? lexer->source.data[tag + 2] : '\0';
        bool signed_tag = sign == '-' || (sign == '+' && kind != '{');
        add_data(lexer, strip_before(str_slice(lexer->source, begin, tag), signed_tag ? sign : '\0',
                                     kind != '{', lexer->line_starting));
        advance(lexer, tag - begin);
        size_t after_raw = kind == '%' ? match_tag(lexer->source, tag, "raw", signs) : 0;
        if (after_raw) {
            read_raw(lexer, after_raw, signs[1]);
            continue;
        }
        advance(lexer, signed_tag ? 3 : 2);
        if (kind == '#') {
            skip_comment(lexer);
            continue;
        }
        add(lexer, kind == '%' ? JINJA_TOKEN_BLOCK_BEGIN : JINJA_TOKEN_OUTPUT_BEGIN, STR(""));
        read_tag(lexer, kind == '%');
    }
}

/* Copies the text, with "\r\n" and "\r" as "\n" and without one newline at its end. */
static struct td_str normalise(struct arena *arena, struct td_str source)
{
    char *copy = arena_copy(arena, source);
    size_t len = 0;
    if (copy == NULL)
        return (struct td_str){NULL, 0};
    for (size_t i = 0; i < source.len; i++) {
        if (source.data[i] == '\n' && i > 0 && source.data[i - 1] == '\r')
            continue;
        copy[len++] = source.data[i] == '\r' ? '\n' : source.data[i];
    }
    if (len > 0 && copy[len - 1] == '\n')
        len--;
    return (struct td_str){copy, len};
}

enum td_status jinja_tokenize(struct arena *arena, struct td_str source,
                              struct jinja_token **tokens, size_t *count, struct td_error *err)
{
    ASSERT(tokens != NULL && count != NULL);
    struct lexer lexer = {.arena = arena, .err = err, .line = 1, .line_starting = true};
    lexer.source = normalise(arena, source);
    if (lexer.source.data == NULL)
        fail(&lexer, TD_LIMIT, "the template is too large");
    else
        read_template(&lexer);
    add(&lexer, JINJA_TOKEN_END, STR(""));
    *tokens = lexer.tokens;
    *count = lexer.count;
    return lexer.status;
}
