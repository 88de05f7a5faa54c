/* Each case takes the rights from a child process, which then tries what must be refused. */
#include "base/machine/confine.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above all numbers that Linux has given so far, and above those that it will give next. */
#define CALLS_TRIED 600

/* How the child ended: its exit code, or minus the number of the signal. `err_fd` becomes its
 * standard error; -1 = nobody reads it. */
static int in_child_with(int (*body)(long), long argument, int err_fd)
{
    int code = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(err_fd >= 0 ? err_fd : open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        _exit(body(argument));
    }
    if (waitpid(child, &code, 0) != child)
        return 255;
    return WIFSIGNALED(code) ? -WTERMSIG(code) : WEXITSTATUS(code);
}

static int in_child(int (*body)(long))
{
    return in_child_with(body, 0, -1);
}

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

/* --- while models are opened --- */

static int no_sockets(long unused)
{
    (void)unused;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    int pair[2], open_before = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (open_before < 0 || confine(CONFINE_OPENING, NULL) != TD_OK)
        return 1;
    if (!is_refused(socket(AF_INET, SOCK_STREAM, 0)) ||
        !is_refused(socket(AF_INET6, SOCK_STREAM, 0)) ||
        !is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) ||
        !is_refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)))
        return 2;
    /* A socket that was left open is of no use, either. */
    if (!is_refused(connect(open_before, (struct sockaddr *)&address, sizeof address)) ||
        !is_refused(sendto(open_before, "x", 1, 0, (struct sockaddr *)&address, sizeof address)) ||
        !is_refused(bind(open_before, (struct sockaddr *)&address, sizeof address)))
        return 3;
    if (!is_refused(syscall(SYS_io_uring_setup, 1, NULL)) ||
        !is_refused(syscall(SYS_ptrace, 0, 0, 0, 0)) ||
        !is_refused(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)) ||
        !is_refused(execv("/bin/true", (char *const[]){"true", NULL})) || !is_refused(fork()))
        return 4;
    return 0;
}

static int only_reading(long unused)
{
    (void)unused;
    if (confine(CONFINE_OPENING, NULL) != TD_OK)
        return 1;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0)
        return 2;
    if (!is_refused(open("/dev/null", O_WRONLY | O_CLOEXEC)) ||
        !is_refused(open("/dev/null", O_RDWR | O_CLOEXEC)) ||
        !is_refused(open("/tmp/tandem-confined-test", O_RDONLY | O_CREAT | O_CLOEXEC, 0600)) ||
        !is_refused(open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC)) ||
        !is_refused(mkdir("/tmp/tandem-confined-test", 0700)) || !is_refused(unlink("/nowhere")) ||
        !is_refused(rename("/nowhere", "/nowhere2")) || !is_refused(chmod("/nowhere", 0600)) ||
        !is_refused(syscall(SYS_memfd_create, "x", 0)))
        return 3;
    return 0;
}

static void test_models_are_opened_for_reading_and_without_a_network(void)
{
    CHECK(in_child(no_sockets) == 0);
    CHECK(in_child(only_reading) == 0);
}

/* --- while requests are answered --- */

enum outcome { FORBIDDEN, DENIED, ALLOWED };
#define CODE_DENIED 41 /* no exit code of a sanitizer */

/* Every argument is -1: that is no file, no address and no process. */
static int try_number(long number)
{
    if (confine(CONFINE_ANSWERING, NULL) != TD_OK)
        return 3;
    errno = 0;
    long result = syscall(number, -1L, -1L, -1L, -1L, -1L, -1L);
    bool denied_here = errno == EPERM || (errno == ENOSYS && number == SYS_clone3);
    return result < 0 && denied_here ? CODE_DENIED : 0;
}

static enum outcome outcome_of(long number)
{
    int ended = in_child_with(try_number, number, -1);
    return ended == -SIGSYS ? FORBIDDEN : ended == CODE_DENIED ? DENIED : ALLOWED;
}

/* What the worker may do, said a second time: a call that comes onto the list must come here, too.
 * Calls that are allowed with some arguments only are not here; their cases are below. */
static const long allowed[] = {
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_recvmsg,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_ppoll,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_rseq,
    SYS_set_robust_list,
    SYS_futex,
    SYS_sched_yield,
    SYS_getcpu,
    SYS_membarrier,
    SYS_sched_getaffinity,
    SYS_gettid,
    SYS_getpid,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_uname,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    SYS_clone, /* -1 has CLONE_THREAD in it */
#ifdef SYS_poll
    SYS_poll,
    SYS_epoll_wait,
    SYS_time,
#endif
};
static const long denied[] = {
    SYS_openat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getcwd, SYS_ioctl, SYS_prctl,     SYS_clone3,
#ifdef SYS_open
    SYS_open,   SYS_stat,  SYS_lstat,     SYS_access,     SYS_readlink,
#endif
};

static enum outcome expected(long number)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (allowed[i] == number)
            return ALLOWED;
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        if (denied[i] == number)
            return DENIED;
    return FORBIDDEN;
}

/* uretprobe and uprobe on x86-64: the kernel asks no filter about them, and does nothing for who
 * calls them from elsewhere than its own trampoline. */
static bool is_of_kernel(long number)
{
#ifdef __x86_64__
    return number == 335 || number == 336;
#else
    return number < 0;
#endif
}

static void test_every_call_that_is_not_listed_ends_the_worker(void)
{
    size_t wrong = 0;
    for (long number = 0; number < CALLS_TRIED; number++) {
        if (is_of_kernel(number) || outcome_of(number) == expected(number))
            continue;
        printf("system call %ld: %d, not %d\n", number, outcome_of(number), expected(number));
        wrong++;
    }
    CHECK(wrong == 0);
#ifdef __x86_64__
    CHECK(outcome_of(0x40000000L | SYS_getpid) == FORBIDDEN); /* x32 */
#endif
}

/* --- what depends on arguments --- */

static int execute_new_memory(long how)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (confine(CONFINE_ANSWERING, NULL) != TD_OK || page == MAP_FAILED)
        return 1;
    if (how == 0)
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ? 2 : 3;
    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int become_several(long how)
{
    if (confine(CONFINE_ANSWERING, NULL) != TD_OK)
        return 1;
    return how == 0 ? fork() : (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
}

static int reach_another(long how)
{
    const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    struct sigaction action = {.sa_handler = SIG_IGN};
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(0, &cores);
    pid_t parent = getppid();
    if (confine(CONFINE_ANSWERING, NULL) != TD_OK)
        return 1;
    switch (how) {
    case 0:
        return kill(parent, 0);
    case 1:
        return (int)syscall(SYS_tgkill, parent, parent, 0);
    case 2:
        return setrlimit(RLIMIT_CORE, &limit);
    case 3:
        return sigaction(SIGSYS, &action, NULL);
    case 4:
        return sched_setaffinity(parent, sizeof cores, &cores);
    case 5:
        return fcntl(STDERR_FILENO, F_SETOWN, parent);
    default:
        return fcntl(STDERR_FILENO, F_DUPFD, 9);
    }
}

static void test_arguments_count_where_a_call_could_do_more(void)
{
    for (long how = 0; how < 2; how++) {
        CHECK(in_child_with(execute_new_memory, how, -1) == -SIGSYS);
        CHECK(in_child_with(become_several, how, -1) == -SIGSYS);
    }
    for (long how = 0; how < 7; how++)
        CHECK(in_child_with(reach_another, how, -1) == -SIGSYS);
}

static void *take_memory(void *ctx)
{
    const struct timespec moment = {0, 1000};
    void *large = malloc(32u << 20), *small = malloc(100);
    nanosleep(&moment, NULL);
    *(bool *)ctx = large && small;
    free(large);
    free(small);
    return NULL;
}

/* What the engine and its libraries do all the time. */
static int work(long unused)
{
    (void)unused;
    bool good = false;
    pthread_t thread;
    char here[64];
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0 || confine(CONFINE_OPENING, NULL) != TD_OK ||
        confine(CONFINE_ANSWERING, NULL) != TD_OK)
        return 1;
    if (pthread_create(&thread, NULL, take_memory, &good) != 0)
        return 2;
    pthread_join(thread, NULL);
    if (!good || write(pipe_ends[1], "x", 1) != 1 || read(pipe_ends[0], here, sizeof here) != 1)
        return 3;
    if (!is_refused(open("/dev/null", O_RDONLY | O_CLOEXEC)) || getcwd(here, sizeof here) ||
        !is_refused(prctl(PR_SET_DUMPABLE, 1)) || prctl(PR_SET_NAME, "worker") != 0)
        return 4;
    return 0;
}

static int give_up(long unused)
{
    (void)unused;
    if (confine(CONFINE_ANSWERING, NULL) == TD_OK)
        abort();
    return 1;
}

static void test_what_a_worker_does_goes_on(void)
{
    CHECK(in_child(work) == 0);
    CHECK(in_child(give_up) == -SIGABRT);
}

static void test_the_log_names_the_call(void)
{
    char line[256] = "", wanted[64];
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(in_child_with(try_number, SYS_socket, ends[1]) == -SIGSYS);
    CHECK(read(ends[0], line, sizeof line - 1) > 0);
    snprintf(wanted, sizeof wanted, " call=%d\n", (int)SYS_socket);
    CHECK(strstr(line, "level=error event=confined_worker_forbidden pid="));
    CHECK(strstr(line, wanted));
    close(ends[0]);
    close(ends[1]);
}

/* --- threads --- */

static void *try_socket(void *ctx)
{
    *(bool *)ctx = is_refused(socket(AF_INET, SOCK_STREAM, 0));
    return NULL;
}

static pthread_barrier_t both;

static void *wait_and_try(void *ctx)
{
    pthread_barrier_wait(&both); /* this thread exists before the rights go */
    pthread_barrier_wait(&both);
    return try_socket(ctx);
}

static int all_threads(long unused)
{
    (void)unused;
    bool early = false, late = false;
    pthread_t first, second;
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&first, NULL, wait_and_try, &early) != 0)
        return 1;
    pthread_barrier_wait(&both);
    if (confine(CONFINE_OPENING, NULL) != TD_OK)
        return 2;
    pthread_barrier_wait(&both);
    if (pthread_create(&second, NULL, try_socket, &late) != 0)
        return 3;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return early && late ? 0 : 4;
}

static void test_it_holds_for_threads_before_and_after(void)
{
    CHECK(in_child(all_threads) == 0);
}

static void test_trying_says_that_all_was_refused(void)
{
    struct td_error err = {0};
    CHECK(confine_try(&err) == TD_OK && err.message[0] == '\0');
    int fd = socket(AF_UNIX, SOCK_STREAM, 0); /* this process keeps its rights */
    CHECK(fd >= 0);
    close(fd);
}

int main(void)
{
    RUN(test_models_are_opened_for_reading_and_without_a_network);
    RUN(test_every_call_that_is_not_listed_ends_the_worker);
    RUN(test_arguments_count_where_a_call_could_do_more);
    RUN(test_what_a_worker_does_goes_on);
    RUN(test_the_log_names_the_call);
    RUN(test_it_holds_for_threads_before_and_after);
    RUN(test_trying_says_that_all_was_refused);
    return test_finish();
}
