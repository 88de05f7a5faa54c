/* Builds the seccomp filters of the confined worker. The filters list forbidden calls, not allowed
 * ones. The engine, the C library and the thread library use many calls that change with their
 * versions, while the ways to the network are few and known. confine_try proves the filter on a
 * child process before anything depends on it. */
#include "base/confine.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(name) SCMP_SYS(name)

/* recvmsg stays allowed, because work arrives by it. A call that the kernel headers of this machine
 * do not know has a negative number, which libseccomp leaves out. */
static const int network_calls[] = {
    CALL(socket),
    CALL(socketpair),
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(accept),
    CALL(accept4),
    CALL(sendto),
    CALL(sendmsg),
    CALL(sendmmsg),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(execve),
    CALL(io_uring_register),
    CALL(execveat),
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(pidfd_getfd),
    CALL(pidfd_open),
    CALL(setns),
    CALL(unshare),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(kcmp),
    CALL(mount),
    CALL(userfaultfd),
};

static const int file_calls[] = {
    CALL(open),      CALL(openat),  CALL(openat2),  CALL(creat),    CALL(open_by_handle_at),
    CALL(mkdir),     CALL(mkdirat), CALL(mknod),    CALL(mknodat),  CALL(link),
    CALL(linkat),    CALL(symlink), CALL(rename),   CALL(renameat), CALL(renameat2),
    CALL(symlinkat), CALL(unlink),  CALL(unlinkat), CALL(rmdir),    CALL(truncate),
};

static enum td_status refuse(const int *calls, size_t count, struct td_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return error_set(err, TD_NO_MEMORY, "no memory for a filter of system calls");
    int code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
        if (code == -EDOM || code == -EINVAL)
            code = 0; /* this architecture does not have the call */
    }
    if (code == 0)
        code = seccomp_load(filter);
    seccomp_release(filter);
    if (code == 0)
        return TD_OK;
    return error_set(err, TD_UNSUPPORTED, "this kernel takes no filter of system calls: %s",
                     strerror(code < 0 ? -code : code));
}

enum td_status confine_network(struct td_error *err)
{
    return refuse(network_calls, sizeof network_calls / sizeof *network_calls, err);
}

enum td_status confine_files(struct td_error *err)
{
    return refuse(file_calls, sizeof file_calls / sizeof *file_calls, err);
}

/* What the child reports by its exit code. */
enum found { FOUND_NOTHING, FOUND_NO_FILTER, FOUND_SOCKET, FOUND_FILE };

static enum found look_for_ways_out(void)
{
    if (confine_network(NULL) != TD_OK || confine_files(NULL) != TD_OK)
        return FOUND_NO_FILTER;
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (socket(families[i], SOCK_DGRAM, 0) >= 0 || errno != EPERM)
            return FOUND_SOCKET;
    if (open("/dev/null", O_WRONLY | O_CLOEXEC) >= 0 || errno != EPERM)
        return FOUND_FILE;
    return FOUND_NOTHING;
}

enum td_status confine_try(struct td_error *err)
{
    int code = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(look_for_ways_out());
    if (child < 0 || waitpid(child, &code, 0) != child || !WIFEXITED(code))
        return error_set(err, TD_IO, "a confined process could not be tried");
    switch (WEXITSTATUS(code)) {
    case FOUND_NOTHING:
        return TD_OK;
    case FOUND_NO_FILTER:
        return error_set(err, TD_UNSUPPORTED, "this kernel takes no filter of system calls");
    case FOUND_SOCKET:
        return error_set(err, TD_INTERNAL, "a confined process could make a socket");
    default:
        return error_set(err, TD_INTERNAL, "a confined process could open a file");
    }
}
