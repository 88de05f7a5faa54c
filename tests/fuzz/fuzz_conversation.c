/* What `tandem chat` reads that somebody else may have written: a saved conversation, a line of the
 * history file, and an answer that is broken into lines. A conversation that can be read is written
 * and read again as it was; an answer gives the same lines however it is cut, and nothing in them
 * steers a terminal. */
#include "app/chat/conversation_file.h"
#include "app/terminal/history_file.h"
#include "app/terminal/word_wrap.h"
#include "base/core/str.h"

#include <locale.h>
#include <stdlib.h>

#define WRITTEN_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_conversation(struct td_str text)
{
    struct conversation first, again;
    struct buf written;
    conversation_init(&first);
    conversation_init(&again);
    buf_init(&written, 1u << 22);
    if (conversation_parse(text, &first, NULL) == TD_OK) {
        conversation_write(&first, &written);
        if (written.failed || conversation_parse(buf_view(&written), &again, NULL) != TD_OK ||
            again.count != first.count || again.bytes != first.bytes ||
            again.is_private != first.is_private)
            abort();
    }
    buf_deinit(&written);
    conversation_deinit(&again);
    conversation_deinit(&first);
}

static void read_history(struct td_str line)
{
    struct buf text;
    buf_init(&text, HISTORY_TEXT_BYTES_MAX + 1);
    if (history_file_decode(line, &text) && (text.len == 0 || text.len > line.len))
        abort();
    buf_deinit(&text);
}

static void add(void *ctx, struct td_str text)
{
    buf_append_str(ctx, text);
}

static void wrap(struct td_str text, unsigned columns, size_t step, struct buf *out)
{
    struct word_wrap wrap = {.columns = columns, .write = add, .ctx = out};
    word_wrap_init(&wrap);
    for (size_t at = 0; at < text.len; at += step)
        word_wrap_add(&wrap, str_slice(text, at, at + step));
    word_wrap_end(&wrap);
    word_wrap_deinit(&wrap);
}

static void break_lines(struct td_str text, unsigned columns, size_t step)
{
    struct buf whole, cut;
    buf_init(&whole, WRITTEN_MAX);
    buf_init(&cut, WRITTEN_MAX);
    wrap(text, columns, text.len, &whole);
    wrap(text, columns, step, &cut);
    if (!whole.failed && !str_equal(buf_view(&whole), buf_view(&cut)))
        abort();
    for (size_t i = 0; i < whole.len; i++)
        if ((unsigned char)whole.data[i] < ' ' && whole.data[i] != '\n')
            abort();
    buf_deinit(&whole);
    buf_deinit(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 4096)
        return 0;
    setlocale(LC_CTYPE, "C.UTF-8");
    struct td_str text = {(const char *)data + 2, size - 2};
    read_conversation(text);
    read_history(text);
    if (text.len)
        break_lines(text, 1 + data[0] % 120, 1 + data[1] % 9);
    return 0;
}
