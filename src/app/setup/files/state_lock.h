/* One owner for what a server keeps in files. The files of the state folder are read at the start
 * and written from memory afterwards, so a second writer would undo what the first one wrote. The
 * owner holds a lock on a file beside them, which says who that is. The kernel lets the lock go
 * with the process, whatever ends it; a file that is left behind holds nobody up.
 *
 * The main thread takes, tells and releases; one thread at a time may check. */
#ifndef APP_STATE_LOCK_H
#define APP_STATE_LOCK_H

#include "tandem/types.h"

struct state_lock;

struct state_lock_options {
    const char *path;    /* made where it is missing */
    const char *what;    /* "the state folder /var/lib/tandem", for messages */
    const char *instead; /* what to do other than stopping the owner */
    uint32_t wait_ms;    /* for an owner that is about to end */
};
/* TD_BUSY names the owner. **returns new** (state_lock_release). */
TD_MUST_CHECK enum td_status state_lock_take(const struct state_lock_options *options,
                                             struct state_lock **out, struct td_error *err);
/* Writes into the file that this process has it, and at which address it listens. */
void state_lock_tell(struct state_lock *lock, const char *address);
/* A file that was removed is made and locked again. TD_BUSY: meanwhile another process has it. */
TD_MUST_CHECK enum td_status state_lock_check(struct state_lock *lock, struct td_error *err);
void state_lock_release(struct state_lock *lock);

#define STATE_OWNER_BYTES 512
/* Asks the server that has the state folder `dir` to end (SIGTERM), and waits until it has.
 * `owner`: who it was. TD_NOT_FOUND: none runs. TD_UNSUPPORTED: it runs on another machine.
 * TD_TIMEOUT. */
TD_MUST_CHECK enum td_status state_lock_end_owner(const char *dir, uint32_t wait_ms,
                                                  char owner[static STATE_OWNER_BYTES],
                                                  struct td_error *err);

#endif
