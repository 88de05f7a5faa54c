/* Takes rights away from this process for good (seccomp-bpf, with libseccomp inside). It is for the
 * worker that answers requests whose data must not leave: whatever goes wrong in the worker, it has
 * no way out. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "tandem/types.h"

/* From here on, all threads of the process and everything they start get EPERM for: calls that
 * make, connect or serve sockets and send on them; io_uring, which would do the same without
 * passing the filter; starting other programs (execve); and the ways into another process (ptrace,
 * process_vm_*, pidfd_getfd). A system call of another ABI ends the process. Files and sockets that
 * are open stay open. May be called before or after other threads start. */
TD_MUST_CHECK enum td_status confine_network(struct td_error *err);
/* The same for opening, making, renaming and removing files, by path or by handle. */
TD_MUST_CHECK enum td_status confine_files(struct td_error *err);

/* Tries both on a child process, which then tries to make a socket and to open a file. TD_OK when
 * both were refused. Call it only while no other thread holds a lock, because it forks. */
TD_MUST_CHECK enum td_status confine_try(struct td_error *err);

#endif
