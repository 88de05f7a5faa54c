/* Builds the seccomp filters of the confined worker. The tables list what the engine, the C library
 * and the thread library need, on x86-64 and aarch64. So a call that nobody has thought of is
 * refused, and so is one that the kernel gets next year.
 *
 * Some calls are made in good faith and have another way out: the C library asks for clone3 and
 * goes on with clone, and who wants to read /proc does without. These are answered with an error.
 * The rest can only come from code that should not run. */
#include "base/machine/confine.h"

#include "base/core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(name) SCMP_SYS(name)
#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)
#define SIGNAL_SETXID 33 /* the C library's own; it gets a handler with the first thread */
#define OPENING (1u << CONFINE_OPENING)
#define ANSWERING (1u << CONFINE_ANSWERING)
#define BOTH (OPENING | ANSWERING)

/* A call that this architecture lacks has a negative number, which libseccomp leaves out. With a
 * path, newfstatat only looks; fstat is made of it. */
static const int allowed[] = {
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(write),
    CALL(writev),
    CALL(close),
    CALL(lseek),
    CALL(_llseek),
    CALL(fstat),
    CALL(newfstatat),
    CALL(recvmsg),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(poll),
    CALL(ppoll),
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(brk),
    CALL(rseq),
    CALL(set_robust_list),
    CALL(futex),
    CALL(sched_yield),
    CALL(getcpu),
    CALL(membarrier),
    CALL(sched_getaffinity),
    CALL(gettid),
    CALL(getpid),
    CALL(rt_sigprocmask),
    CALL(rt_sigtimedwait),
    CALL(rt_sigreturn),
    CALL(sigaltstack),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(clock_nanosleep),
    CALL(nanosleep),
    CALL(gettimeofday),
    CALL(time),
    CALL(getrandom),
    CALL(sysinfo),
    CALL(getrusage),
    CALL(uname),
    CALL(restart_syscall),
    CALL(exit),
    CALL(exit_group),
};
static const int allowed_opening[] = {
    CALL(mmap),      CALL(mprotect),     CALL(mlock),         CALL(fcntl),    CALL(prctl),
    CALL(prlimit64), CALL(rt_sigaction), CALL(seccomp),       CALL(eventfd2), CALL(pipe2),
    CALL(stat),      CALL(lstat),        CALL(statx),         CALL(statfs),   CALL(fstatfs),
    CALL(access),    CALL(faccessat),    CALL(faccessat2),    CALL(readlink), CALL(readlinkat),
    CALL(getcwd),    CALL(getdents64),   CALL(fadvise64),     CALL(getuid),   CALL(geteuid),
    CALL(getgid),    CALL(getegid),      CALL(epoll_create1),
};
/* Asked for in good faith: the cgroup's memory, the speed of a core, whether this is a terminal. */
static const int denied_answering[] = {
    CALL(open),      CALL(openat),     CALL(stat),     CALL(lstat),      CALL(statx),  CALL(access),
    CALL(faccessat), CALL(faccessat2), CALL(readlink), CALL(readlinkat), CALL(getcwd), CALL(ioctl),
};

/* What depends on an argument: allowed (or, with an error, refused quietly) when it compares so. */
struct rule {
    int call;
    unsigned stages;
    int error;
    struct scmp_arg_cmp argument; /* its number, the comparison, and one or two operands */
};
#define BITS(number, mask, value)               \
    {                                           \
        number, SCMP_CMP_MASKED_EQ, mask, value \
    }
#define IS(number, value)             \
    {                                 \
        number, SCMP_CMP_EQ, value, 0 \
    }
#define IS_NOT(number, value)         \
    {                                 \
        number, SCMP_CMP_NE, value, 0 \
    }

static const struct rule rules[] = {
    {CALL(openat), OPENING, 0, BITS(2, WRITING, O_RDONLY)},
    {CALL(open), OPENING, 0, BITS(1, WRITING, O_RDONLY)},
    {CALL(ioctl), OPENING, 0, IS(1, TCGETS)},
    /* Nothing new to execute once requests come. */
    {CALL(mmap), ANSWERING, 0, BITS(2, PROT_EXEC, 0)},
    {CALL(mprotect), ANSWERING, 0, BITS(2, PROT_EXEC, 0)},
    {CALL(fcntl), ANSWERING, 0, IS(1, F_GET_SEALS)},
    {CALL(fcntl), ANSWERING, 0, IS(1, F_GETFL)},
    {CALL(prlimit64), ANSWERING, 0, IS(2, 0)}, /* reading only */
    {CALL(prctl), ANSWERING, 0, IS(0, PR_SET_NAME)},
    {CALL(prctl), ANSWERING, EPERM, IS_NOT(0, PR_SET_NAME)},
    {CALL(rt_sigaction), ANSWERING, 0, IS(0, SIGNAL_SETXID)},
    {CALL(sched_setaffinity), BOTH, 0, IS(0, 0)},
    /* A thread's own turns (net/client/loop_event.c). */
    {CALL(sched_getattr), BOTH, 0, IS(0, 0)},
    {CALL(sched_setattr), BOTH, 0, IS(0, 0)},
    /* Threads, no processes. clone3 hides its flags in memory, where a filter cannot look. */
    {CALL(clone), BOTH, 0, BITS(0, CLONE_THREAD, CLONE_THREAD)},
    {CALL(clone3), BOTH, ENOSYS, BITS(0, 0, 0)},
};

static int add_list(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++)
        code = seccomp_rule_add(filter, action, calls[i], 0);
    return code;
}

#define ADD_LIST(filter, action, calls) \
    add_list(filter, action, calls, sizeof(calls) / sizeof *(calls))

static int fill(scmp_filter_ctx filter, enum confine_stage stage)
{
    bool opening = stage == CONFINE_OPENING;
    int code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (code == 0) /* another ABI, whose numbers mean other calls */
        code = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (code == 0)
        code = ADD_LIST(filter, SCMP_ACT_ALLOW, allowed);
    if (code == 0)
        code = opening ? ADD_LIST(filter, SCMP_ACT_ALLOW, allowed_opening)
                       : ADD_LIST(filter, SCMP_ACT_ERRNO(EPERM), denied_answering);
    for (size_t i = 0; code == 0 && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].stages & 1u << stage)
            code = seccomp_rule_add_array(
                filter, rules[i].error ? SCMP_ACT_ERRNO((uint32_t)rules[i].error) : SCMP_ACT_ALLOW,
                rules[i].call, 1, &rules[i].argument);
    if (code == 0) /* to itself alone, as abort() and raise() do */
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CALL(tgkill), 1,
                                SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    return code;
}

/* Names the call and lets the signal do what it does without a handler. The filter has refused the
 * call in any case, and no other handler can be set any more. */
static void on_forbidden(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    char line[96];
    int len =
        snprintf(line, sizeof line, "level=error event=confined_worker_forbidden pid=%ld call=%d\n",
                 (long)getpid(), info->si_syscall);
    if (write(STDERR_FILENO, line, (size_t)len) < 0) {
        /* the server says how this process ended */
    }
    raise(signal_number);
}

enum td_status confine(enum confine_stage stage, struct td_error *err)
{
    struct sigaction action = {.sa_sigaction = on_forbidden,
                               .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER};
    bool opening = stage == CONFINE_OPENING;
    scmp_filter_ctx filter = seccomp_init(opening ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
    if (!filter)
        return error_set(err, TD_NO_MEMORY, "no memory for a filter of system calls");
    if (!opening)
        sigaction(SIGSYS, &action, NULL);
    int code = fill(filter, stage);
    if (code == 0)
        code = seccomp_load(filter);
    seccomp_release(filter);
    if (code == 0)
        return TD_OK;
    return error_set(err, TD_UNSUPPORTED, "this kernel takes no filter of system calls: %s",
                     strerror(code < 0 ? -code : code));
}

/* What the child reports by its exit code. */
enum found { FOUND_NOTHING, FOUND_NO_FILTER, FOUND_SOCKET, FOUND_FILE };

static enum found look_for_ways_out(void)
{
    if (confine(CONFINE_OPENING, NULL) != TD_OK)
        return FOUND_NO_FILTER;
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (socket(families[i], SOCK_DGRAM, 0) >= 0 || errno != EPERM)
            return FOUND_SOCKET;
    if (confine(CONFINE_ANSWERING, NULL) != TD_OK)
        return FOUND_NO_FILTER;
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
