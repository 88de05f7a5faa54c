/* Takes rights away from this process for good (seccomp-bpf, with libseccomp inside). It is for the
 * worker that answers requests whose data must not leave. Even a worker that an attacker controls
 * cannot send data anywhere. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "tandem/types.h"

/* What is allowed is listed (confine.c); everything else is refused, in all threads of the process
 * and in everything that they start. Open files and sockets stay open. */
enum confine_stage {
    /* Before the models are read: files may be opened for reading. What is not listed fails with
     * EPERM, so that an unusual library does no harm yet. */
    CONFINE_OPENING,
    /* Once they lie open: no file, no new memory to execute, threads but no processes. What is not
     * listed ends the process by SIGSYS, after a line in the log that names the call. */
    CONFINE_ANSWERING
};

/* Stages come in their order, or the second alone. May be called before or after other threads
 * start. */
TD_MUST_CHECK enum td_status confine(enum confine_stage stage, struct td_error *err);

/* Tries both on a child process, which then tries to make a socket and to open a file. TD_OK when
 * both were refused. Call it only while no other thread holds a lock, because it forks. */
TD_MUST_CHECK enum td_status confine_try(struct td_error *err);

#endif
