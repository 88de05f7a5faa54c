/* An answer must be in the database before its client can go on from it elsewhere, and no loop
 * may wait for a commit. So a thread writes what has come, as one transaction, and then tells
 * the loops. While the database is away nobody waits: answers lie in the queue, where this node
 * finds them, and are written when it is back. The oldest are dropped when they become too many.
 *
 * Reads and changes go over a second connection, whose time is short. */
#include "api/history/history_shared.h"

#include "api/history/history_internal.h"
#include "api/history/history_job.h"
#include "api/history/history_store.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/thread/delivery.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <pthread.h>
#include <stdlib.h>

#define WRITE_MS 400 /* of a statement of the thread, as of the ledger's */
#define RETRY_MS 500
#define HOLD_MS 1000
#define SWEEP_MS 10000
#define JOBS_MAX 8192
#define BATCH_MAX 64

struct running {
    struct running *next;
    char *caller;
    char id[HISTORY_ID_BYTES];
};

struct history_wait {
    struct delivery delivery; /* first */
    struct history_wait *next;
    uint64_t number; /* of the last job that is waited for */
    void (*fn)(void *ctx);
    void *ctx;
};

struct history_shared {
    struct history_store *reader, *writer;
    pthread_mutex_t reading, writing; /* writing: also held while a user is forgotten */
    struct periodic thread;           /* its lock is of what follows */
    struct history_job *first, **last;
    size_t bytes, bytes_max;
    uint32_t count;
    uint64_t made, saved; /* numbers of jobs */
    struct history_wait *waits;
    struct running *running;
    bool failing;       /* the thread cannot write */
    atomic_bool ending; /* loops are not posted to any more */
    atomic_bool away;   /* the reader's last answer */
};

bool history_shared_may_have(const struct history_class *data_class)
{
    return data_class->declared < TD_CLASS_CONTRACTUAL && data_class->seen < TD_CLASS_CONTRACTUAL;
}

/* --- the queue --- */

static struct history_job *take_first_locked(struct history_shared *shared)
{
    struct history_job *job = shared->first;
    if (!job)
        return NULL;
    shared->first = job->next;
    if (!shared->first)
        shared->last = &shared->first;
    shared->bytes -= job->bytes;
    shared->count--;
    job->next = NULL;
    return job;
}

/* **takes** the job. */
static enum td_status push(struct history_shared *shared, struct history_job *job)
{
    struct history_job *dropped = NULL, *old;
    if (!job)
        return TD_NO_MEMORY;
    if (job->bytes > shared->bytes_max) {
        history_job_free(job);
        return TD_LIMIT;
    }
    pthread_mutex_lock(&shared->thread.lock);
    job->number = ++shared->made;
    *shared->last = job;
    shared->last = &job->next;
    shared->bytes += job->bytes;
    shared->count++;
    while (shared->count > JOBS_MAX || shared->bytes > shared->bytes_max) {
        old = take_first_locked(shared);
        old->next = dropped;
        dropped = old;
    }
    pthread_cond_signal(&shared->thread.wake);
    pthread_mutex_unlock(&shared->thread.lock);
    while ((old = dropped)) {
        dropped = old->next;
        history_job_say_dropped(old, "the database is away, and too many wait for it");
        history_job_free(old);
    }
    return TD_OK;
}

/* --- what this node makes --- */

static struct running **find_running_locked(struct history_shared *shared, const char *caller,
                                            const char *id)
{
    struct running **at = &shared->running;
    while (*at && (strcmp((*at)->id, id) != 0 || strcmp((*at)->caller, caller ? caller : "") != 0))
        at = &(*at)->next;
    return at;
}

static bool note_running(struct history_shared *shared, const char *caller, const char *id)
{
    struct running *running = calloc(1, sizeof *running);
    if (!running || !(running->caller = strdup(caller ? caller : ""))) {
        free(running);
        return false;
    }
    memcpy(running->id, id, strnlen(id, sizeof running->id - 1));
    pthread_mutex_lock(&shared->thread.lock);
    running->next = shared->running;
    shared->running = running;
    pthread_mutex_unlock(&shared->thread.lock);
    return true;
}

bool history_shared_runs(struct history_shared *shared, const char *caller, const char *id)
{
    pthread_mutex_lock(&shared->thread.lock);
    bool runs = *find_running_locked(shared, caller, id) != NULL;
    pthread_mutex_unlock(&shared->thread.lock);
    return runs;
}

/* Returns whether it did. */
static bool end_running(struct history_shared *shared, const char *caller, const char *id)
{
    pthread_mutex_lock(&shared->thread.lock);
    struct running **at = find_running_locked(shared, caller, id), *running = *at;
    if (running)
        *at = running->next;
    pthread_mutex_unlock(&shared->thread.lock);
    if (!running)
        return false;
    free(running->caller);
    free(running);
    return true;
}

/* --- the writing thread --- */

static enum td_status write_job(struct history_shared *shared, const struct history_job *job,
                                struct td_error *err)
{
    return job->kind == JOB_APPEND
               ? history_store_append(shared->writer, &job->record, job->mark, err)
               : history_store_put(shared->writer, &job->record, job->kind == JOB_FINISH, err);
}

/* One that was deleted or forgotten meanwhile is no failure. */
static bool is_done(enum td_status status)
{
    return status == TD_OK || status == TD_NOT_FOUND;
}

/* Together, or where one of them cannot be written, each alone. Those are done with unless the
 * database is away. */
static enum td_status write_batch(struct history_shared *shared, struct history_job *first,
                                  struct td_error *err)
{
    enum td_status status = TD_OK;
    bool together = first && first->next;
    if (together) {
        status = history_store_begin(shared->writer, err);
        for (struct history_job *job = first; job && status == TD_OK; job = job->next) {
            enum td_status one = write_job(shared, job, err);
            status = is_done(one) ? TD_OK : one;
        }
        status = history_store_end(shared->writer, status, err);
    }
    if (together && (status == TD_OK || status == TD_UNAVAILABLE))
        return status;
    for (struct history_job *job = first; job; job = job->next) {
        struct td_error why = {0};
        status = write_job(shared, job, &why);
        if (status == TD_UNAVAILABLE) {
            *err = why;
            return status;
        }
        if (!is_done(status))
            history_job_say_dropped(job, why.message);
    }
    return TD_OK;
}

/* Those that need not wait any more. **returns new** list. */
static struct history_wait *take_waits_locked(struct history_shared *shared)
{
    struct history_wait *taken = NULL, **at = &shared->waits;
    while (*at) {
        struct history_wait *wait = *at;
        if (shared->failing || shared->thread.stop || wait->number <= shared->saved) {
            *at = wait->next;
            wait->next = taken;
            taken = wait;
        } else {
            at = &wait->next;
        }
    }
    return taken;
}

static void tell(struct history_shared *shared, struct history_wait *wait)
{
    while (wait) {
        struct history_wait *next = wait->next;
        delivery_send(&wait->delivery, &shared->ending);
        wait = next;
    }
}

/* Jobs stay in the queue while they are written, so that they are found; a new one comes behind
 * them, and the oldest may be dropped, which is why they are counted by their numbers. */
static struct history_job *copy_batch_locked(struct history_shared *shared, uint64_t *last)
{
    struct history_job *first = NULL, **at = &first;
    size_t count = 0;
    for (struct history_job *job = shared->first; job && count < BATCH_MAX;
         job = job->next, count++) {
        struct history_job *copy = history_job_new(job->kind, &job->record);
        if (!copy)
            break;
        copy->number = *last = job->number;
        memcpy(copy->mark, job->mark, sizeof copy->mark);
        *at = copy;
        at = &copy->next;
    }
    return first;
}

/* What has come until now. False: the database is away. */
static bool write_some(struct history_shared *shared)
{
    struct td_error err = {0};
    struct history_job *done = NULL, *job;
    uint64_t last = 0;
    pthread_mutex_lock(&shared->writing);
    pthread_mutex_lock(&shared->thread.lock);
    struct history_job *batch = copy_batch_locked(shared, &last);
    pthread_mutex_unlock(&shared->thread.lock);
    bool good = write_batch(shared, batch, &err) == TD_OK;
    pthread_mutex_unlock(&shared->writing);
    history_jobs_free(batch);
    pthread_mutex_lock(&shared->thread.lock);
    while (good && shared->first && shared->first->number <= last) {
        job = take_first_locked(shared);
        job->next = done;
        done = job;
    }
    if (good) /* one that was dropped is waited for no longer */
        shared->saved = shared->first ? shared->first->number - 1 : shared->made;
    if (!good && !shared->failing)
        log_event(LOG_LEVEL_WARN, "responses_database_away", "waiting=%u reason=\"%s\"",
                  shared->count, err.message);
    else if (good && last && shared->failing)
        log_event(LOG_LEVEL_INFO, "responses_database_back", "waiting=%u", shared->count);
    if (!good || last)
        shared->failing = !good;
    struct history_wait *waits = take_waits_locked(shared);
    pthread_mutex_unlock(&shared->thread.lock);
    history_jobs_free(done);
    tell(shared, waits);
    return good;
}

/* Tells the database what this node still makes, and hears what nobody wants any more. */
static void hold_running(struct history_shared *shared)
{
    for (size_t at = 0;; at++) {
        struct running copy = {.caller = NULL};
        struct td_error err = {0};
        pthread_mutex_lock(&shared->thread.lock);
        const struct running *running = shared->running;
        for (size_t i = 0; running && i < at; i++)
            running = running->next;
        if (running) {
            copy = *running;
            copy.caller = strdup(running->caller);
        }
        pthread_mutex_unlock(&shared->thread.lock);
        if (!running || !copy.caller)
            return;
        pthread_mutex_lock(&shared->writing);
        enum td_status status = history_store_hold(shared->writer, copy.caller, copy.id, &err);
        pthread_mutex_unlock(&shared->writing);
        if (status == TD_NOT_FOUND && end_running(shared, copy.caller, copy.id))
            at--; /* the next one has its place */
        free(copy.caller);
        if (status != TD_OK && status != TD_NOT_FOUND)
            return;
    }
}

/* Until there is something to write, or for so long. True when it is to end. */
static bool pause_for(struct history_shared *shared, uint32_t ms, bool until_work)
{
    const struct timespec until = clock_deadline(ms);
    int code = 0;
    pthread_mutex_lock(&shared->thread.lock);
    while (!shared->thread.stop && code == 0 && !(until_work && shared->first))
        code = pthread_cond_timedwait(&shared->thread.wake, &shared->thread.lock, &until);
    bool stop = shared->thread.stop;
    pthread_mutex_unlock(&shared->thread.lock);
    return stop;
}

static void *run(void *ctx)
{
    struct history_shared *shared = ctx;
    double held_ms = 0, swept_ms = clock_monotonic_ms(NULL);
    bool good = true;
    while (!pause_for(shared, good ? HOLD_MS : RETRY_MS, good)) {
        double now_ms = clock_monotonic_ms(NULL);
        good = write_some(shared);
        if (good && now_ms - held_ms >= HOLD_MS) {
            hold_running(shared);
            held_ms = now_ms;
        }
        if (good && now_ms - swept_ms >= SWEEP_MS) {
            pthread_mutex_lock(&shared->writing);
            (void)!history_store_sweep(shared->writer, NULL);
            pthread_mutex_unlock(&shared->writing);
            swept_ms = now_ms;
        }
    }
    while (shared->first && write_some(shared))
        ;
    return NULL;
}

/* --- opening --- */

enum td_status history_shared_open(const struct history_share *share,
                                   const struct history_limits *limits, struct history_shared **out,
                                   struct td_error *err)
{
    struct history_shared *shared = calloc(1, sizeof *shared);
    *out = NULL;
    if (!shared)
        return error_set(err, TD_NO_MEMORY, "no memory for responses");
    shared->last = &shared->first;
    shared->bytes_max = limits->bytes_max;
    pthread_mutex_init(&shared->reading, NULL);
    pthread_mutex_init(&shared->writing, NULL);
    periodic_init(&shared->thread);
    enum td_status status =
        history_store_open(share->database, share->key, limits, &shared->reader, err);
    if (status == TD_OK)
        status = history_store_open(share->database, share->key, limits, &shared->writer, err);
    if (status == TD_OK) {
        history_store_hurry(shared->writer, WRITE_MS);
        if (!periodic_start(&shared->thread, run, shared))
            status = error_set(err, TD_NO_MEMORY, "no thread for responses");
    }
    if (status == TD_OK)
        *out = shared;
    else
        history_shared_close(shared);
    return status;
}

void history_shared_close(struct history_shared *shared)
{
    if (!shared)
        return;
    atomic_store(&shared->ending, true);
    periodic_end(&shared->thread);
    tell(shared, take_waits_locked(shared));
    for (const struct history_job *job = shared->first; job; job = job->next)
        history_job_say_dropped(job, "the database is away, and this server ends");
    history_jobs_free(shared->first);
    while (shared->running) {
        struct running *next = shared->running->next;
        free(shared->running->caller);
        free(shared->running);
        shared->running = next;
    }
    history_store_close(shared->reader);
    history_store_close(shared->writer);
    pthread_mutex_destroy(&shared->reading);
    pthread_mutex_destroy(&shared->writing);
    free(shared);
}

/* --- asking at once --- */

static struct history_store *reader_take(struct history_shared *shared)
{
    pthread_mutex_lock(&shared->reading);
    return shared->reader;
}

/* Gives the connection back, and tells the log what no client is told. Returns the status. */
static enum td_status reader_give(struct history_shared *shared, enum td_status status,
                                  const struct td_error *err)
{
    atomic_store(&shared->away, status == TD_UNAVAILABLE || status == TD_CORRUPT);
    pthread_mutex_unlock(&shared->reading);
    if (!is_done(status) && status != TD_UNAVAILABLE && status != TD_LIMIT)
        log_event(LOG_LEVEL_ERROR, "response_not_read", "reason=\"%s\"", err->message);
    return status;
}

bool history_shared_is_away(const struct history_shared *shared)
{
    return atomic_load(&shared->away);
}

bool history_shared_drop_running(struct history_shared *shared, const char *caller, const char *id)
{
    return end_running(shared, caller, id) && history_shared_remove(shared, caller, id);
}

/* --- the calls of history.h --- */

static enum td_status put_at_once(struct history_shared *shared,
                                  const struct history_record *record)
{
    struct td_error err = {0};
    struct history_store *store = reader_take(shared);
    return reader_give(shared, history_store_put(store, record, false, &err), &err);
}

enum td_status history_shared_put(struct history_shared *shared,
                                  const struct history_record *record, bool finish)
{
    if (finish) {
        /* What runs on is only how far it has come. */
        bool runs = record->state == HISTORY_RUNNING
                        ? history_shared_runs(shared, record->owner.caller, record->id)
                        : end_running(shared, record->owner.caller, record->id);
        return runs ? push(shared, history_job_new(JOB_FINISH, record)) : TD_NOT_FOUND;
    }
    if (!record->at_once)
        return push(shared, history_job_new(JOB_PUT, record));
    if (record->state == HISTORY_RUNNING && !note_running(shared, record->owner.caller, record->id))
        return TD_NO_MEMORY;
    enum td_status status = put_at_once(shared, record);
    if (status != TD_OK && record->state == HISTORY_RUNNING)
        (void)end_running(shared, record->owner.caller, record->id);
    return status;
}

enum td_status history_shared_append(struct history_shared *shared,
                                     const struct history_record *record)
{
    struct td_error err = {0};
    struct history_job *job = history_job_new(JOB_APPEND, record);
    if (!job || !record->at_once)
        return push(shared, job);
    struct history_store *store = reader_take(shared);
    enum td_status status =
        reader_give(shared, history_store_append(store, record, job->mark, &err), &err);
    history_job_free(job);
    return status;
}

/* One that waits to be written: as it was put last. */
static bool find_waiting(struct history_shared *shared, const char *caller, struct td_str id,
                         struct history_found *out)
{
    const struct history_record *record = NULL;
    bool found = false;
    pthread_mutex_lock(&shared->thread.lock);
    for (const struct history_job *job = shared->first; job; job = job->next)
        if (job->kind != JOB_APPEND && str_equal(str_from(job->record.id), id) &&
            strcmp(job->record.owner.caller ? job->record.owner.caller : "",
                   caller ? caller : "") == 0)
            record = &job->record;
    if (record)
        *out = (struct history_found){.state = record->state,
                                      .background = record->background,
                                      .data_class = record->data_class};
    if (record && (out->lists = calloc(record->list_count + 1, sizeof *out->lists)) != NULL) {
        if (record->previous)
            memcpy(out->previous, record->previous,
                   strnlen(record->previous, sizeof out->previous - 1));
        for (size_t i = 0; i < record->list_count; i++)
            if (record->lists[i])
                out->lists[out->list_count++] = history_text_hold(record->lists[i]);
        out->body = history_text_hold(record->body);
        found = true;
    }
    pthread_mutex_unlock(&shared->thread.lock);
    return found;
}

bool history_shared_find(struct history_shared *shared, const char *caller, struct td_str id,
                         size_t count_max, struct history_run *out)
{
    struct td_error err = {0};
    out->count = 0;
    if (id.len < HISTORY_ID_BYTES && find_waiting(shared, caller, id, &out->found[0])) {
        memcpy(out->ids[0], id.data, id.len);
        out->ids[0][id.len] = '\0';
        out->count = 1;
        return true;
    }
    struct history_store *store = reader_take(shared);
    return reader_give(shared, history_store_find(store, caller, id, count_max, out, &err), &err) ==
           TD_OK;
}

bool history_shared_cancel(struct history_shared *shared, const char *caller, const char *id,
                           struct history_text *body)
{
    struct td_error err = {0};
    struct history_store *store = reader_take(shared);
    bool done =
        reader_give(shared, history_store_cancel(store, caller, id, body, &err), &err) == TD_OK;
    if (done) /* another node hears of it within a second */
        (void)end_running(shared, caller, id);
    return done;
}

bool history_shared_remove(struct history_shared *shared, const char *caller, const char *id)
{
    struct td_error err = {0};
    struct history_store *store = reader_take(shared);
    bool done = reader_give(shared, history_store_remove(store, caller, id, &err), &err) == TD_OK;
    if (done)
        (void)end_running(shared, caller, id);
    return done;
}

bool history_shared_replace(struct history_shared *shared, const char *caller, const char *id,
                            const struct history_text *before, struct history_text *after)
{
    struct td_error err = {0};
    struct history_store *store = reader_take(shared);
    return reader_give(shared, history_store_replace(store, caller, id, before, after, &err),
                       &err) == TD_OK;
}

bool history_shared_users(struct history_shared *shared, const char *caller, const char *id,
                          void (*each)(void *ctx, const char *user), void *ctx)
{
    struct td_error err = {0};
    struct history_store *store = reader_take(shared);
    return reader_give(shared, history_store_users(store, caller, id, each, ctx, &err), &err) ==
           TD_OK;
}

static bool is_of(const struct history_owner *owner, const char *tenant, const char *user)
{
    return owner->user && strcmp(owner->user, user) == 0 &&
           (!tenant || (owner->tenant && strcmp(owner->tenant, tenant) == 0));
}

/* Nothing of the user is on its way to the database meanwhile. */
enum td_status history_shared_forget(struct history_shared *shared, const char *tenant,
                                     const char *user, uint64_t *count, struct td_error *err)
{
    struct history_job *dropped = NULL;
    pthread_mutex_lock(&shared->writing);
    pthread_mutex_lock(&shared->thread.lock);
    shared->last = &shared->first;
    while (*shared->last) {
        struct history_job *job = *shared->last;
        if (!is_of(&job->record.owner, tenant, user)) {
            shared->last = &job->next;
            continue;
        }
        *shared->last = job->next;
        shared->bytes -= job->bytes;
        shared->count--;
        job->next = dropped;
        dropped = job;
    }
    pthread_mutex_unlock(&shared->thread.lock);
    enum td_status status = history_store_forget(shared->writer, tenant, user, count, err);
    pthread_mutex_unlock(&shared->writing);
    history_jobs_free(dropped);
    return status;
}

/* --- waiting --- */

static void wait_over(struct delivery *delivery)
{
    struct history_wait *wait = (struct history_wait *)delivery;
    wait->fn(wait->ctx);
}

static void wait_free(struct delivery *delivery)
{
    free(delivery);
}

struct history_wait *history_shared_wait(struct history_shared *shared, struct loop *loop,
                                         void (*fn)(void *ctx), void *ctx)
{
    struct history_wait *wait = calloc(1, sizeof *wait);
    bool needed = false;
    if (!wait)
        return NULL;
    delivery_init(&wait->delivery, loop, wait_over, wait_free);
    wait->fn = fn;
    wait->ctx = ctx;
    pthread_mutex_lock(&shared->thread.lock);
    if (!shared->failing && !shared->thread.stop && shared->saved < shared->made) {
        wait->number = shared->made;
        wait->next = shared->waits;
        shared->waits = wait;
        needed = true;
    }
    pthread_mutex_unlock(&shared->thread.lock);
    if (needed)
        return wait;
    delivery_release(&wait->delivery);
    delivery_release(&wait->delivery);
    return NULL;
}

void history_wait_cancel(struct history_wait *wait)
{
    if (wait)
        delivery_cancel(&wait->delivery);
}
