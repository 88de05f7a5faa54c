/* What the terminal can do, and what a program must put back when it ends. One a process: standard
 * input and output. Main thread. */
#ifndef APP_TERMINAL_H
#define APP_TERMINAL_H

#include "tandem/types.h"

struct terminal {
    bool reads;   /* standard input is a terminal */
    bool shows;   /* standard output is one */
    bool edits;   /* both are, and the cursor can be moved (not TERM=dumb) */
    bool colours; /* standard output is one that knows colours, and NO_COLOR is not set */
};

/* Looks at standard input and output, and makes the C library count the columns of UTF-8. */
void terminal_look(struct terminal *out);

/* The columns of the terminal at this descriptor, now; 0 when it is none. */
unsigned terminal_columns(int fd);

/* What stands inside of a row of a table that needs 80 columns: on standard output that has less, a
 * line's end and some spaces, else nothing. */
const char *terminal_fold(void);

/* While an answer is shown, what is typed is not echoed into it; it is read afterwards. Nothing
 * happens where standard input is no terminal. terminal_restore puts back what was there at the
 * first call; it may be called at any time. */
void terminal_quiet(void);
void terminal_restore(void);

/* Ctrl-Z: puts the terminal back, stops the process, and is quiet again when it goes on. */
void terminal_suspend(void);

#endif
