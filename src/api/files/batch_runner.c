/* One job is one batch that is worked on, the oldest of its owner. So nobody's many batches keep
 * others waiting: jobs take turns, line by line.
 *
 *   state in the store     what the job does
 *   VALIDATING             checks the input on a background thread
 *   IN_PROGRESS            runs the lines that have no answer; then, or when time is up, FINALIZING
 *   FINALIZING             writes the output on a background thread
 *   CANCELLING             stops its lines, writes the output
 *
 * A line is run until its answer is committed. A server that is busy (429, 503) is asked again
 * later, because a batch has time; its batch waits, and others run. A key that is no longer known
 * runs nothing: its batch waits for it until it expires. */
#include "api/files/batch_runner.h"

#include "api/files/batch_lines.h"
#include "api/files/batch_work.h"
#include "api/files/file_object.h"
#include "api/http/access.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/thread/background.h"
#include "base/time/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS_MAX 32
#define TICK_MS 5000
#define AGAIN_MS 1000 /* after a busy answer, doubled each time */
#define AGAIN_MS_MAX 60000
#define ASKED_MAX 8       /* times; then a busy answer is the answer */
#define REST_MS 30000     /* after a step that failed */
#define SWEEP_MS 60000    /* between looks for what has expired */
#define ANSWER_MORE 65536 /* what a line of the output has beside the answer */

struct job;

/* A line under way. */
struct line {
    struct line *next; /* of the job's */
    struct job *job;
    uint64_t number;
    struct json *custom_id;
    struct buf body;
    char id[STORED_ID_BYTES];     /* of the request */
    struct http_request *request; /* NULL between two tries */
    struct loop_timer *again;
    uint32_t asked;
    bool waits; /* to be asked again; meanwhile it has no place among those that run */
};

struct job {
    struct job *next;
    struct batch_runner *runner;
    struct stored_batch batch;
    struct background_task *task; /* a step runs */
    struct batch_lines lines;
    uint8_t *done; /* a bit a line */
    bool opened, ended, waits_for_key;
    struct line *running;
    uint32_t waiting; /* of them; while there are some, no other line begins */
    double rests_until_ms;
};

struct batch_runner {
    struct batch_runner_options options;
    struct loop *_Atomic loop; /* NULL = not attached */
    struct api *api;
    struct server *server;
    struct loop_timer *tick;
    struct job *jobs;
    uint32_t job_count, line_count;
    double swept_ms;
    bool stopping;
};

struct batch_runner *batch_runner_new(const struct batch_runner_options *options)
{
    struct batch_runner *runner = calloc(1, sizeof *runner);
    if (runner)
        runner->options = *options;
    return runner;
}

void batch_runner_free(struct batch_runner *runner)
{
    ASSERT(!runner || !runner->jobs);
    free(runner);
}

static void look_soon(struct batch_runner *runner)
{
    loop_timer_start(runner->api->loop, runner->tick, 0);
}

/* --- lines --- */

static void set_waiting(struct line *line, bool waits)
{
    if (line->waits == waits)
        return;
    line->waits = waits;
    line->job->waiting += waits ? 1u : -1u;
    line->job->runner->line_count += waits ? -1u : 1u;
}

static void line_free(struct line *line)
{
    struct job *job = line->job;
    struct batch_runner *runner = job->runner;
    struct line **at = &job->running;
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    set_waiting(line, true);
    job->waiting--;
    if (line->request)
        http_inside_cancel(line->request);
    loop_timer_free(runner->api->loop, line->again);
    json_free(line->custom_id);
    buf_deinit(&line->body);
    free(line);
}

static void rest(struct job *job, const struct td_error *err, const char *step)
{
    log_event(LOG_LEVEL_WARN, "batch_step_failed", "batch=%s step=%s error=\"%s\"", job->batch.id,
              step, err->message);
    job->rests_until_ms = clock_monotonic_ms(NULL) + REST_MS;
}

/* The answer as a line of the output. Bodies are JSON on one line, but for what a tier wrote. */
static void write_answer(const struct line *line, int code, struct td_str body, struct buf *out)
{
    struct json *parsed = NULL;
    bool plain = body.len > 0 && !memchr(body.data, '\n', body.len);
    buf_printf(out, "{\"id\":\"batch_%s\",\"custom_id\":", line->id);
    json_write(line->custom_id, out);
    buf_printf(out, ",\"response\":{\"status_code\":%d,\"request_id\":\"%s\",\"body\":", code,
               line->id);
    if (plain)
        buf_append_str(out, body);
    else if (json_parse(body, &parsed, NULL) == TD_OK)
        json_write(parsed, out);
    else
        buf_append_str(out, STR("null"));
    buf_append_str(out, STR("},\"error\":null}"));
    json_free(parsed);
}

static void record(struct line *line, int code, struct td_str body)
{
    struct job *job = line->job;
    struct td_error err = {0};
    struct buf text;
    buf_init(&text, body.len + ANSWER_MORE);
    write_answer(line, code, body, &text);
    enum td_status status = TD_NO_MEMORY;
    if (!text.failed)
        status = batch_store_answer(job->runner->options.store, job->batch.id, line->number,
                                    code == 200, buf_view(&text), &err);
    buf_deinit(&text);
    if (status == TD_OK) {
        job->done[line->number / 8] |= (uint8_t)(1u << line->number % 8);
    } else if (status == TD_NOT_FOUND) {
        job->ended = true; /* it was forgotten */
    } else {               /* it runs again when the job is opened anew */
        rest(job, &err, "answer");
        job->opened = false;
    }
}

static bool is_busy(int code)
{
    return code == 429 || code == 503;
}

static void on_answer(void *ctx, int code, struct td_str body)
{
    struct line *line = ctx;
    struct batch_runner *runner = line->job->runner;
    line->request = NULL; /* it has ended */
    if (is_busy(code) && runner->stopping) {
        line_free(line);
        return;
    }
    if (is_busy(code) && line->asked < ASKED_MAX) {
        uint64_t wait_ms = (uint64_t)AGAIN_MS << (line->asked - 1);
        loop_timer_start(runner->api->loop, line->again,
                         wait_ms < AGAIN_MS_MAX ? wait_ms : AGAIN_MS_MAX);
        set_waiting(line, true);
        look_soon(runner);
        return;
    }
    record(line, code ? code : 500, body);
    line_free(line);
    look_soon(runner); /* not from here: answers that come at once would nest */
}

/* Whose requests the lines are; false while nobody is. */
static bool find_who(struct job *job, struct auth_who *who)
{
    const struct stored_batch *batch = &job->batch;
    bool found = access_find_owner(job->runner->api, batch->owner, batch->key_id, who);
    if (!found && !job->waits_for_key)
        log_event(LOG_LEVEL_WARN, "batch_waits", "batch=%s reason=\"its key is not known\"",
                  batch->id);
    job->waits_for_key = !found;
    return found;
}

static void ask(void *ctx)
{
    struct line *line = ctx;
    struct batch_runner *runner = line->job->runner;
    struct auth_who who;
    char header[STORED_ID_BYTES + 32];
    set_waiting(line, false);
    if (runner->stopping || !find_who(line->job, &who)) {
        line->job->opened = false; /* it is found again when the job is opened anew */
        line_free(line);
        return;
    }
    snprintf(header, sizeof header, "X-Request-Id: %s", line->id);
    const char *const headers[] = {"Content-Type: application/json", header, NULL};
    const struct http_inside inside = {.path = line->job->batch.endpoint,
                                       .headers = headers,
                                       .body = buf_view(&line->body),
                                       .done = on_answer,
                                       .ctx = line};
    line->asked++;
    line->request = http_inside_new(runner->server, &inside);
    if (line->request)
        runner->api->ask(runner->api, line->request, &who);
    else
        on_answer(line, 503, STR(""));
}

static void new_request_id(char out[static STORED_ID_BYTES])
{
    uint8_t bytes[12] = {0};
    if (crypto_random(bytes, sizeof bytes, NULL) != TD_OK)
        return;
    memcpy(out, "req_", sizeof "req_");
    crypto_hex(bytes, sizeof bytes, out + strlen("req_"));
}

/* The line that was read last. False without memory. */
static bool begin_line(struct job *job)
{
    struct batch_runner *runner = job->runner;
    struct batch_line_fault fault;
    struct json *read = batch_line_read(buf_view(&job->lines.line), job->batch.endpoint, &fault);
    struct line *line = calloc(1, sizeof *line);
    if (!read || !line) {
        json_free(read);
        free(line);
        return false;
    }
    *line = (struct line){.next = job->running, .job = job, .number = job->lines.number};
    job->running = line;
    runner->line_count++;
    line->custom_id = json_clone(json_get(read, "custom_id"));
    line->again = loop_timer_new(runner->api->loop, ask, line);
    buf_init(&line->body, 2 * runner->options.line_bytes_max);
    json_write(json_get(read, "body"), &line->body);
    json_free(read);
    new_request_id(line->id);
    if (!line->custom_id || !line->again || line->body.failed) {
        line_free(line);
        return false;
    }
    ask(line);
    return true;
}

/* --- jobs --- */

static void close_input(struct job *job)
{
    batch_lines_close(&job->lines);
    free(job->done);
    job->done = NULL;
    job->opened = false;
}

static void stop_lines(struct job *job)
{
    while (job->running)
        line_free(job->running);
}

static void job_free(struct job *job)
{
    struct job **at = &job->runner->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->runner->job_count--;
    stop_lines(job);
    if (job->task)
        background_cancel(job->task);
    close_input(job);
    free(job);
}

static bool open_input(struct job *job)
{
    struct td_error err = {0};
    const struct batch_runner_options *options = &job->runner->options;
    int fd = -1;
    close_input(job);
    job->done = calloc(job->batch.total / 8 + 1, 1);
    enum td_status status = job->done ? TD_OK : TD_NO_MEMORY;
    if (status == TD_OK)
        status =
            batch_store_answered(options->store, job->batch.id, job->batch.total, job->done, &err);
    if (status == TD_OK)
        status = file_store_read(options->store, job->batch.input, &fd, &err);
    if (status == TD_OK && !batch_lines_open(&job->lines, fd, options->line_bytes_max))
        status = TD_NO_MEMORY;
    job->opened = status == TD_OK;
    if (!job->opened)
        rest(job, &err, "open");
    return job->opened;
}

static void step_done(void *ctx, void *owner)
{
    const struct batch_work *work = ctx;
    struct job *job = owner;
    job->task = NULL;
    if (work->status != TD_OK && work->status != TD_NOT_FOUND) /* or it was cancelled meanwhile */
        rest(job, &work->err, "files");
    look_soon(job->runner);
}

static void begin_step(struct job *job, void (*run)(void *ctx))
{
    struct batch_runner *runner = job->runner;
    struct td_error err = {0};
    struct batch_work *work = calloc(1, sizeof *work);
    if (!work)
        return;
    *work = (struct batch_work){.store = runner->options.store,
                                .batch = job->batch,
                                .line_bytes_max = runner->options.line_bytes_max};
    const struct background_work background = {.run = run,
                                               .done = step_done,
                                               .free_ctx = free,
                                               .ctx = work,
                                               .owner = job,
                                               .loop = runner->api->loop};
    if (background_submit(runner->options.background, &background, &job->task, &err) != TD_OK) {
        free(work);
        job->task = NULL;
        rest(job, &err, "begin");
    }
}

static bool is_done(const struct job *job, uint64_t number)
{
    return job->done[number / 8] & 1u << number % 8;
}

/* Begins one more line. False: there is none, or it cannot begin now. */
static bool run_one(struct job *job)
{
    struct auth_who who;
    if (job->waiting || job->rests_until_ms > clock_monotonic_ms(NULL) || !find_who(job, &who) ||
        (!job->opened && (job->running || !open_input(job))))
        return false;
    while (batch_lines_next(&job->lines)) {
        if (job->lines.number >= job->batch.total)
            return false;
        if (is_done(job, job->lines.number))
            continue;
        if (begin_line(job))
            return true;
        rest(job, &(struct td_error){.message = "no memory for a line"}, "line");
        job->opened = false;
        return false;
    }
    return false;
}

static bool is_answered(const struct job *job)
{
    return !job->running && job->batch.completed + job->batch.failed >= job->batch.total;
}

static void move(struct job *job, enum batch_state to)
{
    struct td_error err = {0};
    enum td_status status =
        batch_store_move(job->runner->options.store, job->batch.id, job->batch.state, to, &err);
    if (status == TD_OK)
        job->batch.state = to;
    else if (status != TD_NOT_FOUND)
        rest(job, &err, "state");
}

/* Does what its state asks for. False: there is nothing more to do. */
static bool tend(struct job *job)
{
    bool rests = job->rests_until_ms > clock_monotonic_ms(NULL);
    if (job->task || rests)
        return true;
    if (!batch_store_find(job->runner->options.store, NULL, str_from(job->batch.id), &job->batch))
        return false;
    if (!batch_store_holds(job->runner->options.store, job->batch.id))
        return false; /* another node runs it */
    bool late = job->batch.expires_s <= (int64_t)(clock_wall_ms(NULL) / 1000);
    if (job->batch.state == BATCH_IN_PROGRESS && (late || is_answered(job)))
        move(job, BATCH_FINALIZING);
    if (job->batch.state != BATCH_IN_PROGRESS && job->batch.state != BATCH_VALIDATING)
        stop_lines(job);
    if (job->batch.state == BATCH_VALIDATING)
        begin_step(job, batch_work_check);
    else if (job->batch.state == BATCH_FINALIZING || job->batch.state == BATCH_CANCELLING)
        begin_step(job, batch_work_finish);
    else
        return job->batch.state == BATCH_IN_PROGRESS;
    return true;
}

static void add_job(void *ctx, const struct stored_batch *batch)
{
    struct batch_runner *runner = ctx;
    for (const struct job *job = runner->jobs; job; job = job->next)
        if (strcmp(job->batch.id, batch->id) == 0)
            return;
    struct job *job = runner->job_count < JOBS_MAX ? calloc(1, sizeof *job) : NULL;
    if (!job)
        return;
    struct job **end = &runner->jobs;
    while (*end)
        end = &(*end)->next;
    *job = (struct job){.runner = runner, .batch = *batch};
    *end = job;
    runner->job_count++;
}

/* Jobs take turns: whoever began a line goes to the end. Lines that are answered at once count, so
 * that the loop does other work between them. */
static void run_lines(struct batch_runner *runner)
{
    bool begun = true;
    for (uint32_t i = runner->line_count; begun && i < runner->options.lines_max; i++) {
        begun = false;
        for (struct job *job = runner->jobs, *next; job && !begun; job = next) {
            next = job->next;
            if (job->ended || job->task || job->batch.state != BATCH_IN_PROGRESS || !run_one(job))
                continue;
            begun = true;
            struct job **at = &runner->jobs;
            while (*at != job)
                at = &(*at)->next;
            *at = job->next;
            while (*at)
                at = &(*at)->next;
            *at = job;
            job->next = NULL;
        }
    }
}

static void sweep(struct batch_runner *runner)
{
    double now = clock_monotonic_ms(NULL);
    if (runner->swept_ms != 0 && now - runner->swept_ms < SWEEP_MS)
        return;
    runner->swept_ms = now;
    file_store_sweep(runner->options.store);
}

static void look(void *ctx)
{
    struct batch_runner *runner = ctx;
    if (runner->stopping)
        return;
    sweep(runner);
    batch_store_due(runner->options.store, JOBS_MAX, add_job, runner);
    for (struct job *job = runner->jobs, *next; job; job = next) {
        next = job->next;
        if (job->ended || !tend(job))
            job_free(job);
    }
    /* Without a job only a sweep is due: who adds a batch wakes this. Other nodes do not. */
    bool idle = !runner->jobs && !file_store_is_shared(runner->options.store);
    loop_timer_start(runner->api->loop, runner->tick, idle ? SWEEP_MS : TICK_MS);
    run_lines(runner); /* may make it sooner */
}

/* --- from outside --- */

bool batch_runner_attach(struct batch_runner *runner, struct api *api, struct server *server)
{
    runner->api = api;
    runner->server = server;
    runner->tick = loop_timer_new(api->loop, look, runner);
    if (!runner->tick)
        return false;
    look_soon(runner);
    atomic_store(&runner->loop, api->loop);
    return true;
}

void batch_runner_detach(struct batch_runner *runner)
{
    if (!runner || !runner->api)
        return;
    atomic_store(&runner->loop, NULL);
    runner->stopping = true;
    while (runner->jobs)
        job_free(runner->jobs);
    loop_timer_free(runner->api->loop, runner->tick);
    runner->api = NULL;
}

void batch_runner_stop(struct batch_runner *runner)
{
    runner->stopping = true;
}

static void woken(void *ctx)
{
    struct batch_runner *runner = ctx;
    if (!runner->stopping)
        look_soon(runner);
}

void batch_runner_wake(struct batch_runner *runner)
{
    struct loop *loop = atomic_load(&runner->loop);
    if (loop)
        (void)loop_post(loop, woken, runner); /* where it cannot, the next look finds it */
}
