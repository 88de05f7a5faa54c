/* Starts the confined worker, hands it requests and reads its answers. The worker is a process that
 * has the engine and no network (tier/sandbox.h says why it works this way). A lock protects the
 * worker's process id and control socket, which all loops share. Each call belongs to one loop and
 * reads its own pipe there. */
#include "tier/sandbox.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "tier/sandbox_wire.h"

#include <assert.h>
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
#define READ_BYTES 65536
#define OLD_MAX 8 /* workers that were replaced and still answer requests */

extern char **environ;

struct sandbox {
    pthread_mutex_t lock;
    char *arguments[ARGUMENTS_MAX + 2]; /* argv of the worker */
    pid_t pid;                          /* 0 = none */
    int control;                        /* -1 = none */
    pid_t old[OLD_MAX];                 /* ended or ending; waitpid is due */
};

/* The vectors that a call waits for. */
struct vectors {
    void (*on_done)(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err); /* NULL: the call is not for vectors */
    void *ctx;
    size_t count, size, come; /* come: floats received */
    float *floats;            /* [count, size] */
};

struct sandbox_call {
    struct sandbox *sandbox;
    struct loop *loop;
    struct loop_watch *watch;
    struct tier_sink sink;
    struct vectors vectors;
    struct buf in;
    int fd, request_fd; /* the pipe of the answer; the request, kept to send it again */
    double start_ms, first_ms;
    bool in_callback, dead;
    bool repeated; /* the second try: the first worker had ended */
};

/* --- the worker --- */

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

struct sandbox *sandbox_new(const char *const *arguments)
{
    assert(arguments != NULL);
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);
    if (!sandbox)
        return NULL;
    pthread_mutex_init(&sandbox->lock, NULL);
    sandbox->control = -1;
    if (copy_arguments(arguments, sandbox->arguments))
        return sandbox;
    sandbox_free(sandbox);
    return NULL;
}

/* Waits for the workers that have ended, so that no zombie processes stay. */
static void reap_locked(struct sandbox *sandbox)
{
    for (size_t i = 0; i < OLD_MAX; i++)
        if (sandbox->old[i] > 0 && waitpid(sandbox->old[i], NULL, WNOHANG) != 0)
            sandbox->old[i] = 0;
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
    assert(sandbox != NULL);
    pthread_mutex_lock(&sandbox->lock);
    drop_locked(sandbox);
    pthread_mutex_unlock(&sandbox->lock);
}

enum td_status sandbox_replace(struct sandbox *sandbox, const char *const *arguments,
                               struct td_error *err)
{
    char *copy[ARGUMENTS_MAX + 2] = {NULL}, *old[ARGUMENTS_MAX + 2];
    if (!copy_arguments(arguments, copy)) {
        free_arguments(copy);
        return error_set(err, TD_NO_MEMORY, "no memory for a confined worker");
    }
    pthread_mutex_lock(&sandbox->lock);
    memcpy(old, sandbox->arguments, sizeof old);
    memcpy(sandbox->arguments, copy, sizeof copy);
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
    pthread_mutex_destroy(&sandbox->lock);
    free(sandbox);
}

/* The worker inherits the standard streams and its end of the socket pair, and nothing else: all
 * other files are opened with O_CLOEXEC, and the worker closes what it finds. */
static enum td_status spawn_locked(struct sandbox *sandbox, struct td_error *err)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set(err, TD_UNAVAILABLE, "no socket pair for the confined worker: %s",
                         strerror(errno));
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
    int code = posix_spawn(&sandbox->pid, "/proc/self/exe", &actions, &attributes,
                           sandbox->arguments, environ);
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

/* Sends the files to the worker. A worker that has ended is noticed here and replaced once. */
static enum td_status hand_over(struct sandbox *sandbox, int request_fd, int answer_fd,
                                struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&sandbox->lock);
    for (int i = 0; i < 2; i++) {
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
    pthread_mutex_unlock(&sandbox->lock);
    return status;
}

bool sandbox_receive(int control, int *request_fd, int *answer_fd, bool *ended)
{
    assert(control >= 0 && request_fd != NULL && answer_fd != NULL && ended != NULL);
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

/* --- a request --- */

/* Puts the bytes into a memory file that nobody can change any more. -1 on failure. */
static int sealed_file(const struct buf *bytes, struct td_error *err)
{
    int fd = bytes->failed ? -1 : memfd_create("tandem-request", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t written = 0;
    while (fd >= 0 && written < bytes->len) {
        ssize_t done = write(fd, bytes->data + written, bytes->len - written);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            close(fd);
            fd = -1;
            break;
        }
        written += (size_t)done;
    }
    if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        error_set(err, TD_NO_MEMORY, "no memory to hand a request to the confined worker");
    return fd;
}

static void call_free(struct sandbox_call *call)
{
    loop_watch_free(call->loop, call->watch);
    if (call->fd >= 0)
        close(call->fd);
    if (call->request_fd >= 0)
        close(call->request_fd);
    buf_deinit(&call->in);
    free(call->vectors.floats);
    free(call);
}

static void finish_vectors(struct sandbox_call *call, struct tier_result *result)
{
    struct vectors vectors = call->vectors;
    const struct embedding_answer answer = {.vectors = vectors.floats,
                                            .count = vectors.count,
                                            .size = vectors.size,
                                            .token_count = result->usage.prompt_tokens,
                                            .total_ms = clock_monotonic_ms(NULL) - call->start_ms};
    if (result->status == TD_OK && vectors.come != vectors.count * vectors.size)
        result->status =
            error_set(&result->err, TD_CORRUPT, "%zu of %zu numbers came from the confined worker",
                      vectors.come, vectors.count * vectors.size);
    call->vectors.floats = NULL;
    call_free(call);
    vectors.on_done(vectors.ctx, result->status, result->status == TD_OK ? &answer : NULL,
                    &result->err);
    free(vectors.floats);
}

static void finish(struct sandbox_call *call, struct tier_result *result)
{
    if (call->vectors.on_done) {
        finish_vectors(call, result);
        return;
    }
    struct tier_sink sink = call->sink;
    result->first_ms = call->first_ms;
    result->total_ms = clock_monotonic_ms(NULL) - call->start_ms;
    call_free(call);
    sink.on_done(sink.ctx, result);
}

static void fail(struct sandbox_call *call, enum td_status status, const char *message)
{
    struct tier_result result = {.status = status};
    error_set(&result.err, status, "%s", message);
    finish(call, &result);
}

/* False: the call is gone. */
static bool give_piece(struct sandbox_call *call, struct sandbox_frame *frame)
{
    if (call->first_ms == 0)
        call->first_ms = clock_monotonic_ms(NULL) - call->start_ms;
    call->in_callback = true;
    call->sink.on_piece(call->sink.ctx, &frame->piece);
    call->in_callback = false;
    sandbox_frame_deinit(frame);
    if (!call->dead)
        return true;
    call_free(call);
    return false;
}

/* False: the call is gone. */
static bool take_vectors(struct sandbox_call *call, struct td_str floats)
{
    struct vectors *vectors = &call->vectors;
    size_t count = floats.len / sizeof(float);
    if (!vectors->on_done || count > vectors->count * vectors->size - vectors->come) {
        fail(call, TD_CORRUPT, "the confined worker sent more numbers than were asked for");
        return false;
    }
    memcpy(vectors->floats + vectors->come, floats.data, floats.len);
    vectors->come += count;
    return true;
}

/* Gives out all frames that are complete. False: the call is gone. */
static bool take_frames(struct sandbox_call *call)
{
    struct sandbox_frame frame;
    struct td_error err = {0};
    size_t used, at = 0;
    for (;;) {
        struct td_str rest = {call->in.data + at, call->in.len - at};
        if (sandbox_read_frame(rest, &used, &frame, &err) != TD_OK) {
            fail(call, TD_CORRUPT, err.message);
            return false;
        }
        if (used == 0)
            break;
        at += used;
        if (frame.kind == SANDBOX_DONE) {
            finish(call, &frame.result);
            return false;
        }
        if (frame.kind == SANDBOX_VECTORS && !take_vectors(call, frame.floats))
            return false;
        if (frame.kind == SANDBOX_PIECE && call->vectors.on_done) {
            sandbox_frame_deinit(&frame);
            fail(call, TD_CORRUPT, "the confined worker sent text in the place of numbers");
            return false;
        }
        if (frame.kind == SANDBOX_PIECE && !give_piece(call, &frame))
            return false;
    }
    buf_consume(&call->in, at);
    return true;
}

static enum td_status begin_call(struct sandbox_call *call, struct td_error *err);

/* The worker has ended. A call that it had not begun to answer goes to the next worker, once: the
 * old worker may have been exiting when it got the request. */
static void worker_ended(struct sandbox_call *call)
{
    struct td_error err = {0};
    bool again = !call->repeated && call->first_ms == 0 && call->in.len == 0;
    call->repeated = true;
    loop_watch_free(call->loop, call->watch);
    call->watch = NULL;
    close(call->fd);
    call->fd = -1;
    if (!again)
        fail(call, TD_UNAVAILABLE, "the confined worker ended; see the server's log");
    else if (begin_call(call, &err) != TD_OK)
        fail(call, err.status, err.message);
}

static void on_readable(void *ctx)
{
    struct sandbox_call *call = ctx;
    char block[READ_BYTES];
    ssize_t got = read(call->fd, block, sizeof block);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        worker_ended(call);
        return;
    }
    buf_append(&call->in, block, (size_t)got);
    if (call->in.failed)
        fail(call, TD_NO_MEMORY, "no memory for an answer of the confined worker");
    else
        take_frames(call);
}

static enum td_status begin_call(struct sandbox_call *call, struct td_error *err)
{
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(err, TD_NO_MEMORY, "no pipe to the confined worker: %s", strerror(errno));
    call->fd = pipe_ends[0];
    enum td_status status = hand_over(call->sandbox, call->request_fd, pipe_ends[1], err);
    close(pipe_ends[1]);
    if (status != TD_OK)
        return status;
    call->watch = loop_watch_new(call->loop, call->fd, on_readable, call);
    return call->watch ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for another request");
}

static struct sandbox_call *call_new(struct sandbox *sandbox, struct loop *loop)
{
    struct sandbox_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->sandbox = sandbox;
    call->loop = loop;
    call->fd = call->request_fd = -1;
    call->start_ms = clock_monotonic_ms(NULL);
    buf_init(&call->in, SANDBOX_FRAME_BYTES_MAX + READ_BYTES);
    return call;
}

/* **takes** call and bytes. */
static enum td_status start_call(struct sandbox_call *call, struct buf *bytes,
                                 struct sandbox_call **out, struct td_error *err)
{
    call->request_fd = sealed_file(bytes, err);
    buf_deinit(bytes);
    enum td_status status = call->request_fd < 0 ? TD_NO_MEMORY : begin_call(call, err);
    if (status == TD_OK)
        *out = call;
    else
        call_free(call);
    return status;
}

enum td_status sandbox_start(struct sandbox *sandbox, const char *tier, struct loop *loop,
                             const struct td_request *request, const struct tier_sink *sink,
                             struct sandbox_call **out, struct td_error *err)
{
    assert(sandbox != NULL && tier != NULL && loop != NULL && request != NULL && out != NULL);
    assert(sink != NULL && sink->on_piece != NULL && sink->on_done != NULL);
    struct sandbox_call *call = call_new(sandbox, loop);
    if (!call)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    struct buf bytes;
    call->sink = *sink;
    buf_init(&bytes, SANDBOX_REQUEST_BYTES_MAX);
    sandbox_write_request(tier, request, &bytes);
    return start_call(call, &bytes, out, err);
}

enum td_status sandbox_embed(struct sandbox *sandbox, const struct embedding_request *request,
                             size_t vector_size, struct sandbox_call **out, struct td_error *err)
{
    assert(sandbox != NULL && request != NULL && request->on_done != NULL && out != NULL);
    assert(request->input_count > 0 && vector_size > 0);
    struct sandbox_call *call = call_new(sandbox, request->loop);
    if (!call)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    call->vectors =
        (struct vectors){.on_done = request->on_done,
                         .ctx = request->ctx,
                         .count = request->input_count,
                         .size = vector_size,
                         .floats = calloc(request->input_count, vector_size * sizeof(float))};
    if (!call->vectors.floats) {
        call_free(call);
        return error_set(err, TD_NO_MEMORY, "no memory for %zu vectors of %zu",
                         request->input_count, vector_size);
    }
    struct buf bytes;
    buf_init(&bytes, SANDBOX_REQUEST_BYTES_MAX);
    sandbox_write_embedding(request, &bytes);
    return start_call(call, &bytes, out, err);
}

bool sandbox_is_for(enum td_data_class data_class)
{
    return data_class != TD_CLASS_PUBLIC && data_class != TD_CLASS_SENSITIVE;
}

void sandbox_cancel(struct sandbox_call *call)
{
    assert(call != NULL && !call->dead);
    if (call->in_callback)
        call->dead = true;
    else
        call_free(call);
}
