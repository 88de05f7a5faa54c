/* The process of the confined worker. It gets no more of the server's environment than it reads:
 * the server's has keys in it. A lock protects the process id and the control socket, which all
 * loops share. Nothing waits for the worker under it. */
#include "tier/local/sandbox_worker.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/log.h"
#include "tier/local/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 16
#define OLD_MAX 8 /* workers that were replaced and still answer requests */

/* A worker opens large models from a slow disk; once it has, it speaks every second. The second
 * limit is far above that, because a busy machine is no reason to lose answers. */
#define START_SILENCE_MAX_MS 300000
#define SILENCE_MAX_MS (15 * SANDBOX_BEAT_MS)
#define REAP_TRIES 50 /* of a millisecond: what a killed process needs to end */

extern char **environ;

struct sandbox {
    pthread_mutex_t lock;
    char *arguments[ARGUMENTS_MAX + 2]; /* argv of the worker */
    pid_t pid;                          /* 0 = none */
    int control;                        /* -1 = none */
    int config;                         /* a file of memory */
    bool speaks;                        /* a frame of this worker has come */
    pid_t old[OLD_MAX];                 /* ended or ending; waitpid is due */
};

static void free_arguments(char **arguments)
{
    for (size_t i = 0; i < ARGUMENTS_MAX + 2; i++)
        free(arguments[i]);
}

/* False without memory; what was copied is to be freed. */
static bool copy_arguments(const char *const *from, char **to)
{
    bool ok = (to[0] = strdup("tandem")) != NULL;
    for (size_t i = 0; ok && from[i]; i++)
        ok = i < ARGUMENTS_MAX && (to[i + 1] = strdup(from[i])) != NULL;
    return ok;
}

/* The text in a file of memory, which a worker opens again; -1: there is no memory. */
static int keep_config(struct td_str text)
{
    int made = memfd_create("tandem-config", MFD_CLOEXEC);
    /* The numbers below are the worker's. */
    int fd = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, SANDBOX_CONFIG_FD + 1);
    if (made >= 0)
        close(made);
    if (fd < 0 || write(fd, text.len > 0 ? text.data : "", text.len) == (ssize_t)text.len)
        return fd;
    close(fd);
    return -1;
}

struct sandbox *sandbox_new(const char *const *arguments, struct td_str config)
{
    ASSERT(arguments != NULL);
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);
    if (!sandbox)
        return NULL;
    pthread_mutex_init(&sandbox->lock, NULL);
    sandbox->control = -1;
    sandbox->config = keep_config(config);
    if (sandbox->config >= 0 && copy_arguments(arguments, sandbox->arguments))
        return sandbox;
    sandbox_free(sandbox);
    return NULL;
}

static void log_end(pid_t pid, int how)
{
    if (WIFSIGNALED(how))
        log_event(LOG_LEVEL_WARN, "confined_worker_ended", "pid=%ld signal=%d reason=\"%s\"",
                  (long)pid, WTERMSIG(how),
                  WTERMSIG(how) == SIGSYS ? "it tried a forbidden system call"
                                          : strsignal(WTERMSIG(how)));
    else if (WEXITSTATUS(how) != 0)
        log_event(LOG_LEVEL_WARN, "confined_worker_ended", "pid=%ld code=%d", (long)pid,
                  WEXITSTATUS(how));
}

/* Waits for the workers that have ended, so that no zombie processes stay. */
static void reap_locked(struct sandbox *sandbox)
{
    int how = 0;
    for (size_t i = 0; i < OLD_MAX; i++) {
        pid_t pid = sandbox->old[i] > 0 ? waitpid(sandbox->old[i], &how, WNOHANG) : 0;
        if (pid > 0)
            log_end(pid, how);
        if (pid != 0)
            sandbox->old[i] = 0;
    }
}

/* Releases the worker: it reads the end of its control socket and exits after its last answer. */
static void drop_locked(struct sandbox *sandbox)
{
    if (sandbox->control >= 0)
        close(sandbox->control);
    sandbox->control = -1;
    if (sandbox->pid <= 0)
        return;
    reap_locked(sandbox);
    size_t slot = 0;
    while (slot < OLD_MAX && sandbox->old[slot] > 0)
        slot++;
    if (slot == OLD_MAX) { /* many reloads during long answers: the oldest is killed */
        kill(sandbox->old[0], SIGKILL);
        waitpid(sandbox->old[0], NULL, 0);
        memmove(sandbox->old, sandbox->old + 1, (OLD_MAX - 1) * sizeof *sandbox->old);
        slot--;
    }
    sandbox->old[slot] = sandbox->pid;
    sandbox->pid = 0;
}

void sandbox_renew(struct sandbox *sandbox)
{
    ASSERT(sandbox != NULL);
    pthread_mutex_lock(&sandbox->lock);
    drop_locked(sandbox);
    pthread_mutex_unlock(&sandbox->lock);
}

enum td_status sandbox_replace(struct sandbox *sandbox, const char *const *arguments,
                               struct td_str config, struct td_error *err)
{
    char *copy[ARGUMENTS_MAX + 2] = {NULL}, *old[ARGUMENTS_MAX + 2];
    int file = keep_config(config);
    if (file < 0 || !copy_arguments(arguments, copy)) {
        free_arguments(copy);
        if (file >= 0)
            close(file);
        return error_set(err, TD_NO_MEMORY, "no memory for a confined worker");
    }
    pthread_mutex_lock(&sandbox->lock);
    memcpy(old, sandbox->arguments, sizeof old);
    memcpy(sandbox->arguments, copy, sizeof copy);
    close(sandbox->config);
    sandbox->config = file;
    drop_locked(sandbox);
    pthread_mutex_unlock(&sandbox->lock);
    free_arguments(old);
    return TD_OK;
}

void sandbox_free(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    drop_locked(sandbox);
    for (size_t i = 0; i < OLD_MAX; i++) {
        if (sandbox->old[i] <= 0)
            continue;
        kill(sandbox->old[i], SIGKILL); /* nobody waits for its answers */
        waitpid(sandbox->old[i], NULL, 0);
    }
    free_arguments(sandbox->arguments);
    if (sandbox->config >= 0)
        close(sandbox->config);
    pthread_mutex_destroy(&sandbox->lock);
    free(sandbox);
}

/* What the worker reads of the server's environment. Keys are not among it, and neither is anything
 * that loads code into it. */
static const char *const kept_variables[] = {"TANDEM_CONFIG",
                                             "TANDEM_STATE_DIR",
                                             "TANDEM_MODELS",
                                             "TANDEM_MODEL",
                                             "TANDEM_LISTEN",
                                             "TANDEM_OPENAI_MODEL",
                                             "OPENAI_BASE_URL",
                                             "XDG_STATE_HOME",
                                             "HOME",
                                             "LD_LIBRARY_PATH",
                                             "ANTHROPIC_BASE_URL",
                                             "TANDEM_ANTHROPIC_MODEL",
                                             "AZURE_OPENAI_ENDPOINT",
                                             "TOGETHER_BASE_URL",
                                             "OPENAI_API_VERSION",
                                             "AWS_REGION",
                                             "AWS_DEFAULT_REGION",
                                             "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
                                             "GOOGLE_VERTEX_BASE_URL",
                                             "TANDEM_GEMINI_MODEL",
                                             "GOOGLE_GEMINI_BASE_URL",
                                             "GLIBC_TUNABLES",
                                             "ASAN_OPTIONS",
                                             "UBSAN_OPTIONS",
                                             "TSAN_OPTIONS"};
#define KEPT_COUNT (sizeof kept_variables / sizeof *kept_variables)
#define KEPT_MAX 512

/* Also TANDEM_SECTION__KEY=value, which stands for a key of the configuration. */
static bool is_kept(const char *entry)
{
    size_t name = strcspn(entry, "=");
    const char *between = strstr(entry, "__");
    bool kept = strncmp(entry, "TANDEM_", 7) == 0 && between && between < entry + name;
    for (size_t i = 0; i < KEPT_COUNT && !kept; i++)
        kept = strlen(kept_variables[i]) == name && strncmp(entry, kept_variables[i], name) == 0;
    return kept;
}

/* **borrows** environ. */
static void choose_environment(char *out[static KEPT_MAX + 1])
{
    size_t count = 0;
    for (char **entry = environ; entry && *entry && count < KEPT_MAX; entry++)
        if (is_kept(*entry))
            out[count++] = *entry;
    out[count] = NULL;
}

/* The worker inherits the standard streams, its end of the socket pair and the configuration, and
 * nothing else: all other files are opened with O_CLOEXEC, and the worker closes what it finds. */
static enum td_status spawn_locked(struct sandbox *sandbox, struct td_error *err)
{
    int ends[2];
    char *environment[KEPT_MAX + 1];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(err, TD_UNAVAILABLE, "no socket pair for the confined worker: %s",
                         strerror(errno));
    choose_environment(environment);
    sigemptyset(&none); /* the server blocks signals that the worker needs */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    /* Ctrl-C in a terminal goes to the server alone, which then ends the worker. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    /* The server may have closed its standard streams; the descriptor must not take their
     * numbers. */
    int end = fcntl(ends[1], F_DUPFD_CLOEXEC, SANDBOX_CONTROL_FD + 1);
    posix_spawn_file_actions_adddup2(&actions, end, SANDBOX_CONTROL_FD);
    posix_spawn_file_actions_adddup2(&actions, sandbox->config, SANDBOX_CONFIG_FD);
    int code = posix_spawn(&sandbox->pid, "/proc/self/exe", &actions, &attributes,
                           sandbox->arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (end >= 0)
        close(end);
    if (code != 0) {
        close(ends[0]);
        sandbox->pid = 0;
        return error_set(err, TD_UNAVAILABLE, "the confined worker cannot be started: %s",
                         strerror(code));
    }
    sandbox->control = ends[0];
    sandbox->speaks = false;
    log_event(LOG_LEVEL_INFO, "confined_worker_started", "pid=%ld", (long)sandbox->pid);
    return TD_OK;
}

/* False on failure, with errno. */
static bool send_files(int control, int request_fd, int answer_fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } ancillary = {0};
    char byte = 0;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.bytes,
                             .msg_controllen = sizeof ancillary.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), (int[]){request_fd, answer_fd}, 2 * sizeof(int));
    ssize_t done;
    do
        done = sendmsg(control, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    return done == 1;
}

enum td_status sandbox_worker_send(struct sandbox *sandbox, int request_fd, int answer_fd,
                                   pid_t *pid, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&sandbox->lock);
    for (int i = 0; i < 2; i++) { /* a worker that has ended is noticed here and replaced once */
        if (sandbox->control < 0)
            status = spawn_locked(sandbox, err);
        if (status != TD_OK || send_files(sandbox->control, request_fd, answer_fd))
            break;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            status = error_set(err, TD_BUSY, "the confined worker takes no more requests now");
        else if (i == 1)
            status = error_set(err, TD_UNAVAILABLE, "the confined worker cannot be reached: %s",
                               strerror(errno));
        if (status != TD_OK)
            break;
        drop_locked(sandbox);
    }
    *pid = sandbox->pid;
    pthread_mutex_unlock(&sandbox->lock);
    return status;
}

void sandbox_worker_note_frame(struct sandbox *sandbox, pid_t pid)
{
    pthread_mutex_lock(&sandbox->lock);
    sandbox->speaks |= sandbox->pid == pid;
    pthread_mutex_unlock(&sandbox->lock);
}

uint32_t sandbox_worker_silence_max_ms(struct sandbox *sandbox, pid_t pid)
{
    pthread_mutex_lock(&sandbox->lock);
    bool starts = sandbox->pid == pid && !sandbox->speaks;
    pthread_mutex_unlock(&sandbox->lock);
    return starts ? START_SILENCE_MAX_MS : SILENCE_MAX_MS;
}

/* False: it has ended, and how is in the log. */
static bool is_old(struct sandbox *sandbox, pid_t pid, bool kill_it)
{
    bool found = false;
    pthread_mutex_lock(&sandbox->lock);
    if (!kill_it)
        reap_locked(sandbox);
    for (size_t i = 0; i < OLD_MAX; i++)
        found |= sandbox->old[i] == pid;
    if (found && kill_it)
        kill(pid, SIGKILL); /* not waited for yet, so the number is still its own */
    pthread_mutex_unlock(&sandbox->lock);
    return found;
}

void sandbox_worker_end(struct sandbox *sandbox, pid_t pid, bool hangs)
{
    ASSERT(pid > 0);
    pthread_mutex_lock(&sandbox->lock);
    if (sandbox->pid == pid)
        drop_locked(sandbox);
    pthread_mutex_unlock(&sandbox->lock);
    if (is_old(sandbox, pid, true) && hangs)
        log_event(LOG_LEVEL_WARN, "confined_worker_hangs", "pid=%ld silent_ms=%d", (long)pid,
                  SILENCE_MAX_MS);
    for (int i = 0; i < REAP_TRIES && is_old(sandbox, pid, false); i++)
        usleep(1000);
}

bool sandbox_receive(int control, int *request_fd, int *answer_fd, bool *ended)
{
    ASSERT(control >= 0 && request_fd != NULL && answer_fd != NULL && ended != NULL);
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } ancillary;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.bytes,
                             .msg_controllen = sizeof ancillary.bytes};
    ssize_t got = recvmsg(control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    const struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    int files[2];
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof files))
        return false;
    memcpy(files, CMSG_DATA(header), sizeof files);
    *request_fd = files[0];
    *answer_fd = files[1];
    return true;
}
