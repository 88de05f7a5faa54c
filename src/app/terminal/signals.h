/* Signals of the terminal as events that a loop can wait for: a descriptor is readable when there
 * are some. Ctrl-C then ends an answer and not the program. One a process; main thread. */
#ifndef APP_SIGNALS_H
#define APP_SIGNALS_H

#include "tandem/types.h"

enum signal_event {
    SIGNAL_NONE,
    SIGNAL_INTERRUPT, /* Ctrl-C */
    SIGNAL_END,       /* the terminal is gone (SIGHUP), or somebody ends the program (SIGTERM) */
    SIGNAL_RESIZE,
    SIGNAL_SUSPEND, /* Ctrl-Z: whoever takes it stops the process */
};

/* From now on these signals are events. A pipe that nobody reads any more is a failed write. */
TD_MUST_CHECK enum td_status signals_install(struct td_error *err);
int signals_fd(void); /* -1 before that */
enum signal_event signals_next(void);
/* Makes a SIGNAL_INTERRUPT, as Ctrl-C does. */
void signals_interrupt(void);
/* The number of the signal of the first SIGNAL_END that was taken; 0 = none. */
int signals_ended_by(void);

#endif
