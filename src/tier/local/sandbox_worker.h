/* The process behind a sandbox: started when it is needed, watched, ended when it says nothing any
 * more. The files of sandbox.c use this; a sandbox itself is made by sandbox_new (sandbox.h). Any
 * thread. */
#ifndef TIER_SANDBOX_WORKER_H
#define TIER_SANDBOX_WORKER_H

#include "tandem/types.h"

#include <sys/types.h>

struct sandbox;

/* How often a worker says that an answer is under way. */
#define SANDBOX_BEAT_MS 1000

/* Starts the worker where none is, and sends it both files. *pid: of the worker that has them. */
TD_MUST_CHECK enum td_status sandbox_worker_send(struct sandbox *sandbox, int request_fd,
                                                 int answer_fd, pid_t *pid, struct td_error *err);

/* The first frame of this worker has come: it has opened its models. */
void sandbox_worker_note_frame(struct sandbox *sandbox, pid_t pid);
/* How long this worker may say nothing. */
uint32_t sandbox_worker_silence_max_ms(struct sandbox *sandbox, pid_t pid);
/* Kills the worker, unless it is gone, and writes into the log how it ended; `hangs`: that it said
 * nothing for too long. The next request starts another one. */
void sandbox_worker_end(struct sandbox *sandbox, pid_t pid, bool hangs);

#endif
