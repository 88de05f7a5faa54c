/* The confined worker (tier/local/sandbox.h): not for people, and not in the list of verbs. The
 * rights go before anything is read that somebody else wrote: first all but opening files, then,
 * once the models lie open, that too. */
#define HELP_OF 66
#include "api/wire/openai_format.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/process/runtime.h"
#include "app/setup/process/snapshot.h"
#include "base/core/error.h"
#include "base/machine/confine.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "engine/embedding/embedding_service.h"
#include "engine/session/scheduler.h"
#include "net/client/loop_event.h"
#include "tier/call_grammar.h"
#include "tier/local/sandbox.h"
#include "tier/local/sandbox_wire.h"
#include "tier/local/sandbox_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_BYTES_MAX (64u << 20) /* of one answer that the server does not read */
#define FLUSH_MS 5
#define EXIT_STUCK 3

/* What one scheduler had done when it was seen to move last. */
struct progress {
    uint64_t passes;
    double moved_ms;
};

struct confined {
    struct runtime *runtime;
    struct loop *loop;
    struct loop_watch *control;
    struct loop_timer *beat; /* runs while there are answers */
    struct answer *answers;
    struct progress progress[SNAPSHOT_SCHEDULERS_MAX]; /* of the schedulers in their order */
    bool ended; /* the server takes no more answers but those that run */
};

/* One request, from its two files to its last frame. */
struct answer {
    struct answer *previous, *next;
    struct confined *confined;
    struct exchange_services *services;
    struct tier *tier;
    struct tier_attempt *attempt; /* NULL once it has ended */
    struct embedding_job *job;    /* in its place, of a request for vectors */
    struct sandbox_request request;
    struct loop_watch *gone; /* of the pipe: readable when nobody reads it any more */
    struct loop_timer *flush;
    struct buf out;
    const char *bytes; /* [byte_count] what the request's texts point into, mapped; or NULL */
    size_t byte_count;
    int fd;
    bool done;
};

static void answer_free(struct answer *answer)
{
    struct confined *confined = answer->confined;
    if (answer->attempt)
        tier_cancel(answer->tier, answer->attempt);
    if (answer->job)
        embedding_cancel(answer->job);
    if (answer->previous)
        answer->previous->next = answer->next;
    else
        confined->answers = answer->next;
    if (answer->next)
        answer->next->previous = answer->previous;
    loop_watch_free(confined->loop, answer->gone);
    loop_timer_free(confined->loop, answer->flush);
    td_grammar_free(answer->request.request.grammar);
    td_grammar_free(answer->request.request.call_grammar);
    sandbox_request_deinit(&answer->request);
    if (answer->bytes)
        munmap((void *)(uintptr_t)answer->bytes, answer->byte_count);
    buf_deinit(&answer->out);
    runtime_release(confined->runtime, answer->services);
    close(answer->fd);
    free(answer);
    if (confined->ended && !confined->answers)
        loop_event_stop(confined->loop);
}

/* Writes what the pipe takes; the rest waits, so that one answer does not hold up the others. Never
 * frees: it is called from inside the tier's callbacks. */
static void flush(struct answer *answer)
{
    while (answer->out.len > 0) {
        ssize_t done = write(answer->fd, answer->out.data, answer->out.len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno != EAGAIN) {
            buf_clear(&answer->out); /* cancelled: the watch frees it */
            answer->done = true;
        }
        if (done <= 0)
            break;
        buf_consume(&answer->out, (size_t)done);
    }
    if (answer->out.len > 0 || answer->done)
        loop_timer_start(answer->confined->loop, answer->flush, answer->out.len > 0 ? FLUSH_MS : 0);
}

static void on_flush(void *ctx)
{
    struct answer *answer = ctx;
    if (answer->done && answer->out.len == 0)
        answer_free(answer);
    else
        flush(answer);
}

/* How long a local tier may do nothing for its answers; the longest, as a scheduler does not know
 * its tier. */
static uint32_t idle_max_ms(const struct config *config)
{
    uint32_t most = 0;
    for (size_t i = 0; i < config->tier_count; i++)
        if (config->tiers[i].kind == CONFIG_TIER_LOCAL && config->tiers[i].idle_timeout_ms > most)
            most = config->tiers[i].idle_timeout_ms;
    return most;
}

/* Whether a scheduler has answers to go on with, and has not for too long. This loop would say for
 * ever that they are under way. */
static bool engine_hangs(struct confined *confined, const struct exchange_services *services)
{
    double now_ms = clock_monotonic_ms(NULL);
    for (size_t i = 0; i < services->scheduler_count && i < SNAPSHOT_SCHEDULERS_MAX; i++) {
        struct progress *progress = &confined->progress[i];
        struct scheduler_load load = scheduler_get_load(services->schedulers[i]);
        if (load.running == 0 || load.passes != progress->passes || progress->moved_ms == 0)
            *progress = (struct progress){load.passes, now_ms};
        if (now_ms - progress->moved_ms > idle_max_ms(runtime_config(confined->runtime)))
            return true;
    }
    return false;
}

/* Tells the server that this process lives. An answer that waits to be read says nothing more. */
static void on_beat(void *ctx)
{
    struct confined *confined = ctx;
    if (confined->answers && engine_hangs(confined, confined->answers->services)) {
        log_event(LOG_LEVEL_ERROR, "confined_worker_stuck", "idle_ms=%u",
                  idle_max_ms(runtime_config(confined->runtime)));
        _exit(EXIT_STUCK);
    }
    for (struct answer *answer = confined->answers; answer; answer = answer->next) {
        if (answer->done || answer->out.len > 0)
            continue;
        sandbox_write_beat(&answer->out);
        flush(answer);
    }
    if (confined->answers)
        loop_timer_start(confined->loop, confined->beat, SANDBOX_BEAT_MS);
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct answer *answer = ctx;
    sandbox_write_piece(piece, &answer->out);
    flush(answer);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct answer *answer = ctx;
    answer->attempt = NULL;
    answer->done = true;
    sandbox_write_done(result, &answer->out);
    flush(answer);
}

static void on_vectors(void *ctx, enum td_status status, const struct embedding_answer *vectors,
                       const struct td_error *err)
{
    struct answer *answer = ctx;
    struct tier_result result = {.status = status, .err = *err};
    answer->job = NULL;
    if (vectors) {
        sandbox_write_vectors(vectors->vectors, vectors->count * vectors->size, &answer->out);
        result.usage.prompt_tokens = (uint32_t)vectors->token_count;
    }
    on_done(answer, &result);
}

static void on_gone(void *ctx)
{
    answer_free(ctx);
}

static enum td_status map_request(struct answer *answer, int fd, struct td_error *err)
{
    struct stat info;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_WRITE) || !(seals & F_SEAL_SHRINK) || fstat(fd, &info) != 0 ||
        info.st_size <= 0 || info.st_size > (off_t)SANDBOX_REQUEST_BYTES_MAX)
        return error_set(err, TD_CORRUPT,
                         "a request for the confined worker must be a sealed file");
    const char *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return error_set(err, TD_NO_MEMORY, "no memory for a request");
    answer->bytes = bytes;
    answer->byte_count = (size_t)info.st_size;
    return TD_OK;
}

/* The server compiled them, too, so what cannot be compiled does not come. */
static enum td_status compile_format(struct sandbox_request *request, struct td_error *err)
{
    struct td_request *td = &request->request;
    enum td_status status = TD_OK;
    if (openai_format_is_due(td))
        status = openai_format_compile(td, &td->grammar, err);
    if (status == TD_OK && call_grammar_is_due(td))
        status = call_grammar_compile(td, &td->call_grammar, err);
    return status;
}

static enum td_status begin_vectors(struct answer *answer, struct td_error *err)
{
    struct embedding_service *service = runtime_embeddings(answer->confined->runtime);
    const struct embedding_request request = {.inputs = answer->request.inputs,
                                              .input_count = answer->request.input_count,
                                              .caller = answer->request.caller,
                                              .loop = answer->confined->loop,
                                              .on_done = on_vectors,
                                              .ctx = answer};
    return service ? embedding_submit(service, &request, &answer->job, err)
                   : error_set(err, TD_NOT_FOUND, "the confined worker has no model to embed with");
}

static enum td_status begin(struct answer *answer, int request_fd, struct td_error *err)
{
    struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = answer};
    enum td_status status = map_request(answer, request_fd, err);
    if (status == TD_OK)
        status = sandbox_read_request((struct td_str){answer->bytes, answer->byte_count},
                                      &answer->request, err);
    if (status == TD_OK && answer->request.inputs)
        return begin_vectors(answer, err);
    if (status == TD_OK)
        status = compile_format(&answer->request, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < answer->services->tier_count; i++)
        if (strcmp(answer->services->tiers[i]->facts.name, answer->request.tier) == 0 &&
            answer->services->tiers[i]->facts.place == TD_PLACE_DEVICE)
            answer->tier = answer->services->tiers[i];
    if (!answer->tier)
        return error_set(err, TD_NOT_FOUND, "the confined worker has no local tier %.60s",
                         answer->request.tier);
    return tier_start(answer->tier, answer->confined->loop, &answer->request.request, &sink,
                      &answer->attempt, err);
}

/* Takes the files. */
static void answer_begin(struct confined *confined, int request_fd, int answer_fd)
{
    struct answer *answer = calloc(1, sizeof *answer);
    if (!answer) {
        close(request_fd);
        close(answer_fd);
        return; /* the server reads the end of the pipe */
    }
    answer->confined = confined;
    answer->fd = answer_fd;
    answer->services = runtime_acquire(confined->runtime);
    answer->next = confined->answers;
    if (answer->next)
        answer->next->previous = answer;
    if (!answer->next) { /* nobody has looked at the schedulers since the last answer */
        memset(confined->progress, 0, sizeof confined->progress);
        loop_timer_start(confined->loop, confined->beat, 0);
    }
    confined->answers = answer;
    buf_init(&answer->out, OUT_BYTES_MAX);
    answer->flush = loop_timer_new(confined->loop, on_flush, answer);
    answer->gone = loop_watch_new(confined->loop, answer_fd, on_gone, answer);
    struct tier_result failure = {.status = TD_NO_MEMORY};
    if (answer->flush && answer->gone)
        failure.status = begin(answer, request_fd, &failure.err);
    close(request_fd);
    if (!answer->flush)
        answer_free(answer);
    else if (failure.status != TD_OK)
        on_done(answer, &failure);
}

static void on_control(void *ctx)
{
    struct confined *confined = ctx;
    int request_fd, answer_fd;
    bool ended;
    while (sandbox_receive(SANDBOX_CONTROL_FD, &request_fd, &answer_fd, &ended))
        answer_begin(confined, request_fd, answer_fd);
    if (!ended || confined->ended)
        return;
    confined->ended = true;
    loop_watch_free(confined->loop, confined->control);
    confined->control = NULL;
    if (!confined->answers)
        loop_event_stop(confined->loop);
}

static enum td_status open_and_confine(struct confined *confined,
                                       const struct runtime_options *options, struct td_error *err)
{
    enum td_status status = confine(CONFINE_OPENING, err);
    if (status == TD_OK)
        status = runtime_open(options, &confined->runtime, err);
    if (status == TD_OK)
        status = loop_event_new(&confined->loop, err);
    if (status == TD_OK)
        status = confine(CONFINE_ANSWERING, err);
    if (status != TD_OK)
        return status;
    confined->beat = loop_timer_new(confined->loop, on_beat, confined);
    confined->control = loop_watch_new(confined->loop, SANDBOX_CONTROL_FD, on_control, confined);
    return confined->control && confined->beat ? TD_OK
                                               : error_set(err, TD_NO_MEMORY, "no memory to start");
}

static int cmd_confined(int argc, char **argv)
{
    struct runtime_options values = {.confined = true, .arguments = argv};
    const struct option options[] = {
        OPTION_ROW_CONFIG(values.config_path),
        OPTION_ROW_MODEL(values.model),
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
    };
    const struct option_spec spec = {
        .verb = "confined",
        .summary = HELP_TEXT(
            "Answers for a server what must not leave the device. The server starts it; it "
            "is not for people."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct confined confined = {0};
    struct td_error err = {0};
    close_range(SANDBOX_CONFIG_FD + 1, ~0U, 0);
    signal(SIGPIPE, SIG_IGN);
    if (open_and_confine(&confined, &values, &err) != TD_OK) {
        log_event(LOG_LEVEL_ERROR, "confined_worker_failed", "reason=\"%s\"", err.message);
        return command_fail("confined", &err);
    }
    loop_event_run(confined.loop);
    /* What is open and mapped goes with the process. */
    _exit(0);
}

const struct verb verb_confined = {
    "confined", cmd_confined, HELP_TEXT("answer for a server what must not leave; started by it")};
