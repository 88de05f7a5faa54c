/* The terminal as it was found is put back also by exit(): a shell whose terminal does not echo
 * looks broken. */
#include "app/terminal/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define COLUMNS_UNKNOWN 80

static struct termios found; /* of standard input */
static bool found_known, is_quiet;

/* A locale that is not UTF-8 would make question marks of what is typed. Only how characters are
 * read changes; numbers and messages stay as they are everywhere. */
static void read_utf8(void)
{
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

void terminal_look(struct terminal *out)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    bool able = term && *term && strcmp(term, "dumb") != 0;
    read_utf8();
    *out = (struct terminal){.reads = isatty(STDIN_FILENO), .shows = isatty(STDOUT_FILENO)};
    out->edits = out->reads && out->shows && able;
    out->colours = out->shows && able && !(plain && *plain);
}

unsigned terminal_columns(int fd)
{
    struct winsize size;
    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS_UNKNOWN;
}

const char *terminal_fold(void)
{
    unsigned columns = terminal_columns(STDOUT_FILENO);
    return columns && columns < COLUMNS_UNKNOWN ? "\n              " : "";
}

void terminal_quiet(void)
{
    if (!isatty(STDIN_FILENO))
        return;
    if (!found_known) {
        if (tcgetattr(STDIN_FILENO, &found) != 0)
            return;
        found_known = true;
        atexit(terminal_restore);
    }
    struct termios quiet = found;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    is_quiet = tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet) == 0;
}

void terminal_restore(void)
{
    if (is_quiet)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &found);
    is_quiet = false;
}

void terminal_suspend(void)
{
    bool quiet = is_quiet;
    terminal_restore();
    raise(SIGSTOP);
    if (quiet)
        terminal_quiet();
}
