/* Reads what the user says, one message at a time: with an editor on a terminal (libedit, inside of
 * line_editor.c), by lines everywhere else. Main thread; one a process.
 *
 * A message may have several lines: pasted ones, those after Alt-Enter, and those after a line that
 * ends with a backslash. A long paste stands in the line as "[pasted text 1: 42 lines]". */
#ifndef APP_LINE_READER_H
#define APP_LINE_READER_H

#include "app/terminal/terminal.h"
#include "base/bytes/buf.h"

#define LINE_BYTES_MAX (4u << 20)

enum line_outcome {
    LINE_TEXT,
    LINE_INTERRUPTED, /* Ctrl-C; what had been typed is in `out` */
    LINE_ENDED,       /* the end of the input, or Ctrl-D */
    LINE_KILLED,      /* signals_ended_by() */
    LINE_TOO_LONG,
    LINE_FAILED, /* errno */
};

/* What the Tab key offers. Each item begins with the text that it replaces. */
#define COMPLETIONS_MAX 64
struct completions {
    char items[COMPLETIONS_MAX][256];
    size_t count;
    size_t replaced; /* bytes before the cursor */
};
/* before: the line up to the cursor. */
typedef void complete_fn(void *ctx, struct td_str before, struct completions *out);

struct line_reader;

/* **returns new** (line_reader_free). TD_NO_MEMORY, TD_IO. */
TD_MUST_CHECK enum td_status line_reader_new(const struct terminal *terminal, complete_fn *complete,
                                             void *ctx, struct line_reader **out,
                                             struct td_error *err);
void line_reader_free(struct line_reader *reader);

/* `out` is cleared first. The text has no line end. The prompt is shown on a terminal only. */
enum line_outcome line_reader_next(struct line_reader *reader, const char *prompt, struct buf *out);

/* The arrow keys bring it back. Without an editor nothing happens. */
void line_reader_remember(struct line_reader *reader, struct td_str text);

#endif
