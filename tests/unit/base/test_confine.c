/* Each case takes the rights from a child process, which then tries what must be refused. */
#include "base/confine.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the exit code of the child; it is not 0 when a check failed. */
static int in_child(int (*body)(void))
{
    int code = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    return waitpid(child, &code, 0) == child && WIFEXITED(code) ? WEXITSTATUS(code) : 255;
}

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

static int no_sockets(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    int pair[2], open_before = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (open_before < 0 || confine_network(NULL) != TD_OK)
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
        !is_refused(execv("/bin/true", (char *const[]){"true", NULL})))
        return 4;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC); /* files are a right of their own */
    return null >= 0 ? 0 : 5;
}

static void test_no_socket_can_be_made_or_used(void)
{
    CHECK(in_child(no_sockets) == 0);
}

static int no_files(void)
{
    int before = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (before < 0 || confine_files(NULL) != TD_OK)
        return 1;
    if (!is_refused(open("/dev/null", O_RDONLY)) ||
        !is_refused(open("/tmp/tandem-confined-test", O_WRONLY | O_CREAT, 0600)) ||
        !is_refused(mkdir("/tmp/tandem-confined-test", 0700)) || !is_refused(unlink("/nowhere")) ||
        !is_refused(rename("/nowhere", "/nowhere2")))
        return 2;
    return write(before, "x", 1) == 1 ? 0 : 3;
}

static void test_no_file_can_be_opened_or_changed(void)
{
    CHECK(in_child(no_files) == 0);
}

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

static int all_threads(void)
{
    bool early = false, late = false;
    pthread_t first, second;
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&first, NULL, wait_and_try, &early) != 0)
        return 1;
    pthread_barrier_wait(&both);
    if (confine_network(NULL) != TD_OK)
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
    RUN(test_no_socket_can_be_made_or_used);
    RUN(test_no_file_can_be_opened_or_changed);
    RUN(test_it_holds_for_threads_before_and_after);
    RUN(test_trying_says_that_all_was_refused);
    return test_finish();
}
