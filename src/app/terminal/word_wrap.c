/* The width of a character is the C library's wcwidth(), which terminals agree with more often than
 * with any other table; terminal_look() has told it that texts are UTF-8. */
#include "app/terminal/word_wrap.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <wchar.h>

#define WORD_BYTES_MAX 8192 /* a longer one is written in parts */
#define TAB_COLUMNS 4
#define REPLACEMENT STR("\xEF\xBF\xBD") /* U+FFFD */

void word_wrap_init(struct word_wrap *wrap)
{
    ASSERT(wrap->write);
    wrap->column = wrap->spaces = wrap->width = wrap->hang = 0;
    wrap->line_begins = true;
    wrap->in_code = wrap->any = wrap->is_wide = false;
    wrap->last = '\n';
    wrap->cut_len = 0;
    buf_init(&wrap->word, WORD_BYTES_MAX + 64);
}

void word_wrap_deinit(struct word_wrap *wrap)
{
    buf_deinit(&wrap->word);
}

static void put(struct word_wrap *wrap, struct td_str text)
{
    if (!text.len)
        return;
    wrap->any = true;
    wrap->last = text.data[text.len - 1];
    wrap->write(wrap->ctx, text);
}

static void put_line_end(struct word_wrap *wrap)
{
    put(wrap, STR("\n"));
    wrap->column = wrap->spaces = 0;
}

/* Inside of a line that is too long. */
static void break_line(struct word_wrap *wrap)
{
    put_line_end(wrap);
    wrap->spaces = wrap->hang;
}

static void put_spaces(struct word_wrap *wrap)
{
    for (; wrap->spaces; wrap->spaces--, wrap->column++)
        put(wrap, STR(" "));
}

static unsigned width_of(uint32_t character)
{
    int width = wcwidth((wchar_t)character);
    return width > 0 ? (unsigned)width : 0;
}

/* A word that is wider than a line: as many characters as fit into each. */
static void put_wide_word(struct word_wrap *wrap, struct td_str word)
{
    for (size_t at = 0, begin = 0; at < word.len; begin = at) {
        unsigned width = width_of(utf8_next(word, &at));
        if (wrap->column + width > wrap->columns && wrap->column) {
            break_line(wrap);
            put_spaces(wrap);
        }
        put(wrap, str_slice(word, begin, at));
        wrap->column += width;
    }
}

/* "-", "*", "12." and "3)" begin an item of a list. */
static bool is_bullet(struct td_str word)
{
    size_t digits = 0;
    while (digits < word.len && ascii_is_digit(word.data[digits]))
        digits++;
    bool number = digits > 0 && digits + 1 == word.len &&
                  (word.data[digits] == '.' || word.data[digits] == ')');
    return number || str_equal(word, STR("-")) || str_equal(word, STR("*"));
}

static void begin_line(struct word_wrap *wrap, struct td_str word)
{
    if (str_starts_with(word, STR("```")))
        wrap->in_code = !wrap->in_code;
    wrap->hang = wrap->spaces + (is_bullet(word) ? wrap->width + 1 : 0);
    if (wrap->hang > wrap->columns / 3)
        wrap->hang = 0;
    wrap->line_begins = false;
}

static void end_word(struct word_wrap *wrap)
{
    struct td_str word = buf_view(&wrap->word);
    if (!word.len)
        return;
    if (wrap->line_begins)
        begin_line(wrap, word);
    bool fits = wrap->column + wrap->spaces + wrap->width <= wrap->columns;
    if (!fits && !wrap->in_code && wrap->column)
        break_line(wrap);
    put_spaces(wrap);
    if (wrap->in_code || wrap->column + wrap->width <= wrap->columns) {
        put(wrap, word);
        wrap->column += wrap->width;
    } else {
        put_wide_word(wrap, word);
    }
    buf_clear(&wrap->word);
    wrap->width = 0;
}

/* Full-width punctuation that must not begin a line. */
static bool closes(uint32_t c)
{
    static const uint32_t table[] = {0x3001, 0x3002, 0x300D, 0x300F, 0x3011, 0xFF01,
                                     0xFF09, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F, 0x30FC};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i] == c)
            return true;
    return false;
}

static bool steers(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

static void add_character(struct word_wrap *wrap, uint32_t c, struct td_str bytes)
{
    if (c == '\n') {
        end_word(wrap);
        put_line_end(wrap);
        wrap->line_begins = true;
        return;
    }
    if (c == ' ' || c == '\t') {
        end_word(wrap);
        wrap->spaces += c == ' ' ? 1 : TAB_COLUMNS - (wrap->column + wrap->spaces) % TAB_COLUMNS;
        return;
    }
    if (c == '\r')
        return;
    unsigned width = steers(c) ? 1 : width_of(c);
    if ((width == 2 || (wrap->is_wide && width)) && !closes(c))
        end_word(wrap);
    if (wrap->word.len + bytes.len > WORD_BYTES_MAX)
        end_word(wrap);
    if (!wrap->word.len)
        wrap->is_wide = width == 2;
    buf_append_str(&wrap->word, steers(c) ? REPLACEMENT : bytes);
    wrap->width += width;
}

static void add_characters(struct word_wrap *wrap, struct td_str text)
{
    for (size_t at = 0, begin = 0; at < text.len; begin = at) {
        uint32_t c = utf8_next(text, &at);
        add_character(wrap, c, c == 0xFFFD ? REPLACEMENT : str_slice(text, begin, at));
    }
}

/* A character that was cut by the end of the piece before. What came after it may be no part of it,
 * and begin another one. */
static struct td_str join_cut(struct word_wrap *wrap, struct td_str text)
{
    while (wrap->cut_len && text.len) {
        wrap->cut[wrap->cut_len++] = text.data[0];
        text = str_slice(text, 1, text.len);
        size_t whole = utf8_complete_len((struct td_str){wrap->cut, wrap->cut_len});
        if (!whole && wrap->cut_len < sizeof wrap->cut)
            continue;
        whole = whole ? whole : wrap->cut_len;
        add_characters(wrap, (struct td_str){wrap->cut, whole});
        wrap->cut_len -= whole;
        memmove(wrap->cut, wrap->cut + whole, wrap->cut_len);
    }
    return text;
}

void word_wrap_add(struct word_wrap *wrap, struct td_str text)
{
    if (!wrap->columns) {
        put(wrap, text);
        return;
    }
    text = join_cut(wrap, text);
    size_t whole = utf8_complete_len(text);
    add_characters(wrap, str_slice(text, 0, whole));
    if (whole < text.len && text.len - whole < sizeof wrap->cut) {
        wrap->cut_len = text.len - whole;
        memcpy(wrap->cut, text.data + whole, wrap->cut_len);
    }
}

void word_wrap_end(struct word_wrap *wrap)
{
    if (wrap->cut_len)
        add_character(wrap, 0xFFFD, REPLACEMENT);
    wrap->cut_len = 0;
    end_word(wrap);
    if (wrap->any && wrap->last != '\n')
        put_line_end(wrap);
    wrap->spaces = 0;
}

static void print(void *ctx, struct td_str text)
{
    fwrite(text.data, 1, text.len, ctx);
}

void word_wrap_print(FILE *out, unsigned columns, struct td_str text)
{
    struct word_wrap wrap = {.columns = columns, .write = print, .ctx = out};
    word_wrap_init(&wrap);
    word_wrap_add(&wrap, text);
    word_wrap_end(&wrap);
    word_wrap_deinit(&wrap);
}
