/* Takes rights away from this process for good (seccomp-bpf, with libseccomp inside). It is for the
 * worker that answers requests whose data must not leave. Even a worker that an attacker controls
 * cannot send data anywhere. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "tandem/types.h"

/* After this call, some system calls fail with EPERM in all threads of the process and everything
 * they start. These are calls that make, connect or serve sockets and send on them, io_uring (which
 * could do the same without passing the filter), execve, and access to other processes (ptrace,
 * process_vm_*, pidfd_getfd). A system call of another ABI ends the process. Open files and sockets
 * stay open. May be called before or after other threads start. */
TD_MUST_CHECK enum td_status confine_network(struct td_error *err);
/* The same for opening, making, renaming and removing files, by path or by handle. */
TD_MUST_CHECK enum td_status confine_files(struct td_error *err);

/* Tries both on a child process, which then tries to make a socket and to open a file. TD_OK when
 * both were refused. Call it only while no other thread holds a lock, because it forks. */
TD_MUST_CHECK enum td_status confine_try(struct td_error *err);

#endif
