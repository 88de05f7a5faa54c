/* Taking rights away from this process, for good (seccomp-bpf; libseccomp inside). For the worker that
 * answers what must not leave: whatever goes wrong in it, it has no way out. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "tandem/types.h"

/* From here on all threads of the process, and what they start, are refused (EPERM) what makes, connects
 * or serves sockets and sends on them, io_uring (which would do the same behind the filter), other
 * programs (execve), and the ways into another process: ptrace, process_vm_*, pidfd_getfd. System
 * calls of another ABI end the process. What is open stays open. Before other threads are there, or
 * after. */
TD_MUST_CHECK enum td_status confine_network(struct td_error *err);
/* The same for opening, making, renaming and removing files, by path or handle. */
TD_MUST_CHECK enum td_status confine_files(struct td_error *err);

/* Tries both on a child of this process, which tries to make a socket and to open a file: TD_OK when
 * all was refused. For a process without threads that hold locks. */
TD_MUST_CHECK enum td_status confine_try(struct td_error *err);

#endif
