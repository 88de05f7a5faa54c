/* The editor of line_reader.h. */
#ifndef APP_LINE_EDITOR_H
#define APP_LINE_EDITOR_H

#include "app/terminal/line_reader.h"

struct line_editor;

/* **returns new** (line_editor_free); NULL where the terminal cannot be used. */
struct line_editor *line_editor_new(complete_fn *complete, void *ctx);
void line_editor_free(struct line_editor *editor);
enum line_outcome line_editor_next(struct line_editor *editor, const char *prompt, struct buf *out);
void line_editor_remember(struct line_editor *editor, struct td_str text);

#endif
