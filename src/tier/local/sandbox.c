/* Hands requests to the confined worker and reads its answers (tier/local/sandbox.h says why it
 * works this way). Each call belongs to one loop and reads its own pipe there. A call also watches
 * the worker: one that says nothing for too long is ended, and all its calls learn it. */
#include "tier/local/sandbox.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "tier/local/sandbox_wire.h"
#include "tier/local/sandbox_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_BYTES 65536
#define KILLED_MS 2000 /* for a killed worker to be gone */

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
    struct loop_timer *silence;
    int fd, request_fd; /* the pipe of the answer; the request, kept to send it again */
    pid_t worker;
    double start_ms, first_ms;
    bool in_callback, dead;
    bool speaks;   /* a frame has come */
    bool hangs;    /* its worker was ended because of that */
    bool repeated; /* the second try: the first worker had ended */
};

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
    loop_timer_free(call->loop, call->silence);
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

/* The next request gets another worker, so a dead one is no reason to let the tier rest. */
static void fail(struct sandbox_call *call, enum td_status status, const char *message)
{
    struct tier_result result = {.status = status, .own_fault = true};
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
    sandbox_worker_end(call->sandbox, call->worker, false);
    loop_watch_free(call->loop, call->watch);
    call->watch = NULL;
    close(call->fd);
    call->fd = -1;
    if (!again)
        fail(call, TD_UNAVAILABLE, "the confined worker ended; see the server's log");
    else if (begin_call(call, &err) != TD_OK)
        fail(call, err.status, err.message);
}

static void watch_silence(struct sandbox_call *call)
{
    loop_timer_start(call->loop, call->silence,
                     sandbox_worker_silence_max_ms(call->sandbox, call->worker));
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
    if (!call->speaks)
        sandbox_worker_note_frame(call->sandbox, call->worker);
    call->speaks = true;
    watch_silence(call);
    buf_append(&call->in, block, (size_t)got);
    if (call->in.failed)
        fail(call, TD_NO_MEMORY, "no memory for an answer of the confined worker");
    else
        take_frames(call);
}

/* The worker is ended. That ends the pipe, too, from which all its calls learn it; but a process
 * that waits for a broken disk cannot be killed, and its calls are not to wait for it. */
static void on_silence(void *ctx)
{
    struct sandbox_call *call = ctx;
    struct pollfd pipe = {.fd = call->fd, .events = POLLIN};
    if (poll(&pipe, 1, 0) > 0) { /* this loop was too busy to read */
        on_readable(call);
        return;
    }
    if (call->hangs) {
        worker_ended(call);
        return;
    }
    call->hangs = true;
    sandbox_worker_end(call->sandbox, call->worker, true);
    loop_timer_start(call->loop, call->silence, KILLED_MS);
}

static enum td_status begin_call(struct sandbox_call *call, struct td_error *err)
{
    int pipe_ends[2];
    call->hangs = call->speaks = false;
    if (!call->silence)
        call->silence = loop_timer_new(call->loop, on_silence, call);
    if (!call->silence)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(err, TD_NO_MEMORY, "no pipe to the confined worker: %s", strerror(errno));
    call->fd = pipe_ends[0];
    enum td_status status =
        sandbox_worker_send(call->sandbox, call->request_fd, pipe_ends[1], &call->worker, err);
    close(pipe_ends[1]);
    if (status != TD_OK)
        return status;
    watch_silence(call);
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
    ASSERT(sandbox != NULL && tier != NULL && loop != NULL && request != NULL && out != NULL);
    ASSERT(sink != NULL && sink->on_piece != NULL && sink->on_done != NULL);
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
    ASSERT(sandbox != NULL && request != NULL && request->on_done != NULL && out != NULL);
    ASSERT(request->input_count > 0 && vector_size > 0);
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
    ASSERT(call != NULL && !call->dead);
    if (call->in_callback)
        call->dead = true;
    else
        call_free(call);
}
