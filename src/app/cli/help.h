/* How help is laid out on a terminal: lines of at most HELP_COLUMNS, two columns for names and what
 * they mean. The texts are written as plain sentences; this breaks them into lines. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include <stdio.h>

#define HELP_COLUMNS 80
#define HELP_VERB_COLUMN 15   /* where the meaning of a verb begins */
#define HELP_OPTION_COLUMN 28 /* where the meaning of an option begins */

/* A text, indented. Each line end in it begins a new line; a line that begins with a space is an
 * example or a table and stays as it is. Ends with a line end. */
void help_text(FILE *out, int indent, const char *text);

/* "  left    meaning": the meaning begins at `column`, on the next line when `left` is too long. */
void help_row(FILE *out, const char *left, int column, const char *meaning);
/* The same without the two spaces. */
void help_row_at(FILE *out, const char *left, int column, const char *meaning);

#endif
