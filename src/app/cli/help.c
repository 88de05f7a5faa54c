/* Breaks sentences into lines. Texts are written as a whole in the source, so that an editor of
 * a sentence does not have to break its lines again. */
#include "app/cli/help.h"

#include "app/cli/command.h"
#include "app/config/packed_help.h"
#include "app/terminal/terminal.h"
#include "base/core/str.h"

/* One line of the text as as many lines as it needs. `at`: the column where the cursor is. */
static void write_line(FILE *out, int indent, int at, struct td_str line)
{
    struct td_str word;
    if (line.len && line.data[0] == ' ') {
        fprintf(out, "%*s", indent - at, "");
        command_print_harmless(out, line);
        fputc('\n', out);
        return;
    }
    unsigned most = terminal_columns(fileno(out));
    most = most && most < HELP_COLUMNS ? most : HELP_COLUMNS;
    bool first = true;
    while (str_next(&line, ' ', &word)) {
        if (!first && (unsigned)at + 1 + word.len > most) {
            fputc('\n', out);
            at = 0;
            first = true;
        }
        at += fprintf(out, "%*s", first ? indent - at : 1, "") + (int)word.len;
        command_print_harmless(out, word);
        first = false;
    }
    fputc('\n', out);
}

static void write_from(FILE *out, int indent, int at, const char *text)
{
    struct td_str rest = str_from(packed_help_read(text)), line;
    while (str_next(&rest, '\n', &line)) {
        write_line(out, indent, at, line);
        at = 0;
    }
}

void help_text(FILE *out, int indent, const char *text)
{
    write_from(out, indent, 0, text);
}

static void write_row(FILE *out, int at, int column, const char *meaning)
{
    if (at >= column) {
        fputc('\n', out);
        at = 0;
    }
    write_from(out, column, at, meaning);
}

void help_row(FILE *out, const char *left, int column, const char *meaning)
{
    write_row(out, fprintf(out, "  %s", left), column, meaning);
}

void help_row_at(FILE *out, const char *left, int column, const char *meaning)
{
    write_row(out, fprintf(out, "%s", left), column, meaning);
}
