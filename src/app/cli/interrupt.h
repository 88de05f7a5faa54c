/* Ctrl-C and SIGTERM while a verb computes for minutes: it ends cleanly, and what it has begun to
 * write goes. Main thread. */
#ifndef APP_INTERRUPT_H
#define APP_INTERRUPT_H

#include <stdatomic.h>

/* Set by the first of them, after interrupt_watch; what computes looks at it (`cancel`). */
extern atomic_bool interrupted;
void interrupt_watch(void);

#endif
