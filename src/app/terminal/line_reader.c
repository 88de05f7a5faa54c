/* Lines without an editor come from a pipe, a file or a plain terminal. On a terminal, lines that
 * are there at once were pasted: they are one message. In a pipe each line is one, as it always
 * was. */
#include "app/terminal/line_reader.h"

#include "app/terminal/line_editor.h"
#include "app/terminal/signals.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct line_reader {
    struct line_editor *editor; /* NULL: by lines */
    bool reads, shows;          /* as in struct terminal */
    struct buf waiting;         /* read, and not given out yet */
    bool ended;
};

enum td_status line_reader_new(const struct terminal *terminal, complete_fn *complete, void *ctx,
                               struct line_reader **out, struct td_error *err)
{
    struct line_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_set(err, TD_NO_MEMORY, "no memory for the line");
    if (terminal->edits)
        reader->editor = line_editor_new(complete, ctx);
    reader->reads = terminal->reads;
    reader->shows = terminal->reads && terminal->shows;
    buf_init(&reader->waiting, LINE_BYTES_MAX + 1);
    *out = reader;
    return TD_OK;
}

void line_reader_free(struct line_reader *reader)
{
    if (!reader)
        return;
    line_editor_free(reader->editor);
    buf_deinit(&reader->waiting);
    free(reader);
}

/* More bytes, or what happened instead. LINE_TEXT: go on. */
static enum line_outcome read_more(struct line_reader *reader)
{
    char piece[4096];
    struct pollfd both[] = {{STDIN_FILENO, POLLIN, 0}, {signals_fd(), POLLIN, 0}};
    if (poll(both, 2, -1) < 0)
        return errno == EINTR ? LINE_TEXT : LINE_FAILED;
    switch (both[1].revents ? signals_next() : SIGNAL_NONE) {
    case SIGNAL_INTERRUPT:
        return LINE_INTERRUPTED;
    case SIGNAL_END:
        return LINE_KILLED;
    case SIGNAL_SUSPEND:
        terminal_suspend();
        return LINE_TEXT;
    default:
        break;
    }
    if (!both[0].revents)
        return LINE_TEXT;
    ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? LINE_TEXT : LINE_FAILED;
    if (got == 0)
        reader->ended = true;
    buf_append(&reader->waiting, piece, (size_t)got);
    return reader->waiting.failed ? LINE_TOO_LONG : LINE_TEXT;
}

/* One line without its end. */
static enum line_outcome take_line(struct line_reader *reader, struct buf *out)
{
    for (;;) {
        struct td_str waiting = buf_view(&reader->waiting);
        size_t end = str_find(waiting, STR("\n"), 0);
        if (end == SIZE_MAX && reader->ended && waiting.len)
            end = waiting.len;
        if (end != SIZE_MAX) {
            struct td_str line = str_slice(waiting, 0, end);
            if (str_ends_with(line, STR("\r")))
                line.len--;
            buf_append_str(out, line);
            buf_consume(&reader->waiting, end < waiting.len ? end + 1 : end);
            return out->failed ? LINE_TOO_LONG : LINE_TEXT;
        }
        if (reader->ended)
            return LINE_ENDED;
        enum line_outcome outcome = read_more(reader);
        if (outcome != LINE_TEXT)
            return outcome;
    }
}

/* A line of which more is wanted: it ends with a backslash, or others were pasted with it. */
static bool goes_on(const struct line_reader *reader, struct buf *out, bool typed_ahead)
{
    int there = 0;
    struct td_str text = buf_view(out);
    if (!reader->reads)
        return false;
    if (str_ends_with(text, STR("\\"))) {
        buf_truncate(out, text.len - 1);
        return true;
    }
    bool pasted =
        reader->waiting.len > 0 || (ioctl(STDIN_FILENO, FIONREAD, &there) == 0 && there > 0);
    return pasted && !typed_ahead && !str_starts_with(text, STR("/"));
}

enum line_outcome line_reader_next(struct line_reader *reader, const char *prompt, struct buf *out)
{
    buf_clear(out);
    if (reader->editor)
        return line_editor_next(reader->editor, prompt, out);
    int there = 0;
    bool typed_ahead = reader->reads && ioctl(STDIN_FILENO, FIONREAD, &there) == 0 && there > 0;
    if (reader->shows) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    enum line_outcome outcome = take_line(reader, out);
    while (outcome == LINE_TEXT && goes_on(reader, out, typed_ahead)) {
        buf_append_char(out, '\n');
        outcome = take_line(reader, out);
    }
    return outcome == LINE_ENDED && out->len ? LINE_TEXT : outcome;
}

void line_reader_remember(struct line_reader *reader, struct td_str text)
{
    if (reader->editor && text.len)
        line_editor_remember(reader->editor, text);
}
