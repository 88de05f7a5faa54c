/* The front of the ledger: any thread puts records, one thread writes them.
 *
 * The writer takes what comes within a batch window and commits it in one transaction. In WAL mode
 * a commit is a write into the log file. It survives the end of the process at once, because the
 * kernel has the data. It survives the end of the machine after the next checkpoint, which is
 * fsynced and never more than a few seconds away. A commit that fails (full disk, a lock of another
 * program) is tried again with the same records. Meanwhile the queue fills; when it is full,
 * further exchanges go on unrecorded and are counted.
 *
 * Rejected: a commit per exchange (each costs an fsync or at least a lock), and a lock-free queue
 * (a put allocates and copies some hundred bytes, which costs more than the lock). */
#include "ledger/record/ledger.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/thread/queue.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/record/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_RECORDS 4096
#define QUEUE_BYTES_MAX \
    (64u << 20) /* bounds memory while the disk is full, even with stored texts */
#define RECORD_BYTES_MAX (16u << 20)
#define BATCH_RECORDS 256
/* What has gathered in the queue while a commit was slow: with a bound as low as the one above, a
 * database that needs a second for each commit would be behind for ever. */
#define BATCH_RECORDS_MAX 2048
#define BATCH_MS 100  /* half of the promised 200; the rest is for the commit */
#define RETRY_MS 1000 /* after a failed commit */
#define CHECKPOINT_MS 5000
#define COMPLAINT_MS 60000 /* one log line a minute while the disk is full */

struct ledger {
    struct writer writer;
    char *path;
    /* Of a durable one; set before the first record. */
    bool durable;
    enum td_status (*before_commit)(void *ctx, struct td_error *err);
    void *before_ctx;
    struct queue *queue;
    pthread_t thread;
    atomic_bool hurry; /* a flush waits: commit at once */
    atomic_uint_fast64_t dropped;

    pthread_mutex_t mutex;
    pthread_cond_t progress; /* done_seq moved or a commit failed; also ends the writer's pause */
    pthread_cond_t window;   /* the batch is to be committed before its window ends */
    bool awaited;            /* somebody waits for a record that was put */
    uint64_t put_seq;        /* of the newest record put */
    uint64_t done_seq;       /* everything up to it is committed or refused */
    size_t queued_bytes;
    bool closing;
    enum td_status failing; /* of the last commit; TD_OK if it succeeded */
    char failure[TD_ERROR_BYTES];
    struct writer_files files; /* as they were opened */

    /* Used by the writer thread alone. */
    struct record *batch[QUEUE_RECORDS]; /* beyond BATCH_RECORDS_MAX while commits fail */
    size_t batch_count;
    double checkpoint_ms, complaint_ms;
    bool dirty;  /* commits since the last checkpoint */
    bool behind; /* something waits for a database that was away */
};

/* Pushed by ledger_flush to end a wait for records; never freed. */
static struct record wake_up;

/* Waits for the end of the window that begins with the first record of a batch. Who puts records
 * meanwhile does not wake this thread, unless somebody waits for one or the batch is full: a
 * wake-up costs a request more than the commit of its record does. */
static void wait_for_window(struct ledger *ledger)
{
    struct timespec until = clock_deadline(BATCH_MS);
    int code = 0;
    pthread_mutex_lock(&ledger->mutex);
    while (!ledger->closing && !ledger->awaited && !atomic_load(&ledger->hurry) &&
           ledger->put_seq - ledger->done_seq < BATCH_RECORDS && code == 0)
        code = pthread_cond_timedwait(&ledger->window, &ledger->mutex, &until);
    ledger->awaited = false;
    pthread_mutex_unlock(&ledger->mutex);
}

/* Takes records until the window ends, the batch is full, or somebody waits for one. */
static void collect(struct ledger *ledger)
{
    uint32_t wait_ms = ledger->behind ? BATCH_MS : ledger->dirty ? CHECKPOINT_MS : UINT32_MAX;
    struct record *record = queue_wait(ledger->queue, wait_ms);
    if (record == NULL)
        return; /* the checkpoint is due, or the queue is closed and empty */
    if (record != &wake_up)
        wait_for_window(ledger);
    for (; record; record = queue_pop(ledger->queue)) {
        if (record != &wake_up)
            ledger->batch[ledger->batch_count++] = record;
        if (ledger->batch_count == BATCH_RECORDS_MAX)
            return;
    }
}

static void complain(struct ledger *ledger, const struct td_error *err)
{
    double now = clock_monotonic_ms(NULL);
    if (ledger->complaint_ms != 0 && now - ledger->complaint_ms < COMPLAINT_MS)
        return;
    ledger->complaint_ms = now;
    log_event(LOG_LEVEL_ERROR, "ledger_write_failed",
              "status=%s held=%zu dropped=%llu reason=\"%s\"", td_status_name(err->status),
              ledger->batch_count, (unsigned long long)atomic_load(&ledger->dropped), err->message);
}

static void release_batch(struct ledger *ledger, enum td_status status, const struct td_error *err)
{
    pthread_mutex_lock(&ledger->mutex);
    if (status == TD_OK) {
        for (size_t i = 0; i < ledger->batch_count; i++) {
            ledger->queued_bytes -= ledger->batch[i]->bytes;
            ledger->done_seq = ledger->batch[i]->seq;
            free(ledger->batch[i]);
        }
        ledger->batch_count = 0;
    } else {
        snprintf(ledger->failure, sizeof ledger->failure, "%s", err->message);
    }
    ledger->failing = status;
    if (ledger->done_seq == ledger->put_seq)
        atomic_store(&ledger->hurry, false);
    pthread_cond_broadcast(&ledger->progress);
    pthread_mutex_unlock(&ledger->mutex);
}

/* Who is told that there is no record gives no answer, so the record that comes later says so. */
static void tell(struct record *record, enum td_status status)
{
    struct ledger_exchange *exchange = &record->exchange;
    if (!exchange->recorded)
        return;
    if (status != TD_OK) {
        exchange->status = ENDED_FAILED;
        exchange->finish = NULL;
        exchange->standing = ANSWER_NONE;
    }
    exchange->recorded(exchange->recorded_ctx, status);
    exchange->recorded = NULL;
}

/* After a failure those that wait in the queue are told as well, and held with the others. */
static void tell_batch(struct ledger *ledger, enum td_status status)
{
    struct record *record;
    while (status != TD_OK && ledger->batch_count < QUEUE_RECORDS &&
           (record = queue_pop(ledger->queue)) != NULL)
        if (record != &wake_up)
            ledger->batch[ledger->batch_count++] = record;
    for (size_t i = 0; i < ledger->batch_count; i++)
        tell(ledger->batch[i], status);
}

static enum td_status open_again(struct ledger *ledger, enum writer_place place,
                                 struct td_error *err)
{
    enum td_status status = writer_open_again(ledger->path, &ledger->writer, err);
    if (status == TD_OK && ledger->durable)
        status = writer_make_durable(&ledger->writer, err);
    if (status != TD_OK)
        return status;
    pthread_mutex_lock(&ledger->mutex);
    ledger->files = ledger->writer.files;
    pthread_mutex_unlock(&ledger->mutex);
    log_event(LOG_LEVEL_WARN, "ledger_opened_again", "file=%s reason=\"it was %s\"", ledger->path,
              place == WRITER_REPLACED ? "replaced" : "removed");
    return TD_OK;
}

static enum td_status complain_of_place(const char *path, enum writer_place place,
                                        struct td_error *err)
{
    return error_set(err, TD_IO,
                     "ledger %s: %s removed while it was open; put it back, or restart the server, "
                     "which begins a new one",
                     path, place == WRITER_LOG_REMOVED ? "its -wal or -shm was" : "it was");
}

/* Whether what is open is what has the name. A ledger of that name is opened; one that is missing
 * is made only at the end: until then it may come back, and nobody is to take a new one for it. */
static enum td_status look_at_place(struct ledger *ledger, bool last, struct td_error *err)
{
    enum writer_place place =
        ledger->writer.db ? writer_look(ledger->path, &ledger->writer.files) : WRITER_REPLACED;
    if (place == WRITER_IN_PLACE)
        return TD_OK;
    if (place == WRITER_REPLACED || last)
        return open_again(ledger, place, err);
    writer_checkpoint(&ledger->writer); /* what its log holds is safe then */
    return complain_of_place(ledger->path, place, err);
}

static enum td_status commit_batch(struct ledger *ledger, bool last)
{
    struct td_error err = {0};
    size_t refused = 0;
    enum td_status status = look_at_place(ledger, last, &err);
    if (status == TD_OK && ledger->before_commit)
        status = ledger->before_commit(ledger->before_ctx, &err);
    if (status == TD_OK)
        status = writer_commit(&ledger->writer, ledger->batch, ledger->batch_count, &refused, &err);
    tell_batch(ledger, status);
    atomic_fetch_add(&ledger->dropped, refused);
    if (status != TD_OK) {
        complain(ledger, &err);
    } else {
        if (ledger->complaint_ms != 0)
            log_event(LOG_LEVEL_INFO, "ledger_write_recovered", "dropped=%llu",
                      (unsigned long long)atomic_load(&ledger->dropped));
        ledger->complaint_ms = 0;
        ledger->dirty = true;
    }
    release_batch(ledger, status, &err);
    return status;
}

static void checkpoint_when_due(struct ledger *ledger)
{
    double now = clock_monotonic_ms(NULL);
    if (!ledger->behind && (!ledger->dirty || now - ledger->checkpoint_ms < CHECKPOINT_MS))
        return;
    ledger->behind = writer_checkpoint(&ledger->writer);
    ledger->dirty = false;
    ledger->checkpoint_ms = now;
}

/* Waits after a failure. False when the ledger is being closed: give up. */
static bool pause_after_failure(struct ledger *ledger)
{
    struct timespec until = clock_deadline(RETRY_MS);
    pthread_mutex_lock(&ledger->mutex);
    bool closing = ledger->closing;
    int code = 0;
    while (!ledger->closing && code == 0)
        code = pthread_cond_timedwait(&ledger->progress, &ledger->mutex, &until);
    pthread_mutex_unlock(&ledger->mutex);
    return !closing;
}

/* Drops and counts what cannot be written when the ledger is closed. */
static void abandon(struct ledger *ledger)
{
    size_t lost = ledger->batch_count;
    for (size_t i = 0; i < ledger->batch_count; i++)
        free(ledger->batch[i]);
    ledger->batch_count = 0;
    for (struct record *record; (record = queue_pop(ledger->queue)) != NULL;)
        if (record != &wake_up) {
            tell(record, TD_IO);
            free(record);
            lost++;
        }
    atomic_fetch_add(&ledger->dropped, lost);
    log_event(LOG_LEVEL_ERROR, "ledger_closed_with_loss", "lost=%zu", lost);
}

static void *writer_thread(void *ctx)
{
    struct ledger *ledger = ctx;
    ledger->checkpoint_ms = clock_monotonic_ms(NULL);
    for (;;) {
        collect(ledger);
        if (ledger->batch_count == 0) {
            checkpoint_when_due(ledger);
            pthread_mutex_lock(&ledger->mutex);
            bool ended = ledger->closing && queue_count(ledger->queue) == 0;
            if (ledger->done_seq == ledger->put_seq)
                atomic_store(&ledger->hurry, false);
            pthread_mutex_unlock(&ledger->mutex);
            if (ended)
                return NULL;
            continue;
        }
        while (commit_batch(ledger, false) != TD_OK)
            if (!pause_after_failure(ledger)) {
                if (commit_batch(ledger, true) == TD_OK)
                    break;
                abandon(ledger);
                return NULL;
            }
        checkpoint_when_due(ledger);
    }
}

static void free_ledger(struct ledger *ledger)
{
    writer_close(&ledger->writer);
    free(ledger->path);
    queue_free(ledger->queue);
    pthread_cond_destroy(&ledger->progress);
    pthread_cond_destroy(&ledger->window);
    pthread_mutex_destroy(&ledger->mutex);
    free(ledger);
}

bool ledger_is_file(const char *path)
{
    return !db_driver_of(path);
}

enum td_status ledger_open(const char *path, struct ledger **out, struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    *out = NULL;
    struct ledger *ledger = calloc(1, sizeof *ledger);
    struct queue *queue = queue_new(QUEUE_RECORDS);
    enum td_status status = TD_OK;
    if (ledger == NULL || queue == NULL || !(ledger->path = strdup(path)))
        status = error_set(err, TD_NO_MEMORY, "no memory for the ledger's queue");
    if (status == TD_OK)
        status = writer_open(path, &ledger->writer, err);
    if (status != TD_OK) {
        if (ledger)
            free(ledger->path);
        free(ledger);
        queue_free(queue);
        return status;
    }
    ledger->files = ledger->writer.files;
    ledger->queue = queue;
    pthread_mutex_init(&ledger->mutex, NULL);
    clock_cond_init(&ledger->progress);
    clock_cond_init(&ledger->window);
    int code = pthread_create(&ledger->thread, NULL, writer_thread, ledger);
    if (code != 0) {
        free_ledger(ledger);
        return error_set(err, TD_IO, "cannot start the ledger's thread: %s", strerror(code));
    }
    *out = ledger;
    return TD_OK;
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    pthread_mutex_lock(&ledger->mutex);
    ledger->closing = true;
    atomic_store(&ledger->hurry, true);
    pthread_cond_broadcast(&ledger->progress);
    pthread_cond_signal(&ledger->window);
    pthread_mutex_unlock(&ledger->mutex);
    queue_close(ledger->queue);
    pthread_join(ledger->thread, NULL);
    free_ledger(ledger);
}

/* **takes** the record, also on failure. */
static enum td_status queue_record(struct ledger *ledger, struct record *copy, const char *id,
                                   struct td_error *err)
{
    ASSERT(copy != NULL && id != NULL);
    pthread_mutex_lock(&ledger->mutex); /* seq must be the order of the queue */
    copy->seq = ledger->put_seq + 1;
    size_t bytes = copy->bytes;
    bool awaited = copy->exchange.recorded; /* read here: the writer may free it at once */
    bool queued =
        bytes <= QUEUE_BYTES_MAX - ledger->queued_bytes && queue_push(ledger->queue, copy);
    if (queued) {
        ledger->put_seq++;
        ledger->queued_bytes += bytes;
        ledger->awaited = ledger->awaited || awaited;
        if (awaited || ledger->put_seq - ledger->done_seq == BATCH_RECORDS)
            pthread_cond_signal(&ledger->window);
    }
    pthread_mutex_unlock(&ledger->mutex);
    if (queued)
        return TD_OK;
    free(copy);
    atomic_fetch_add(&ledger->dropped, 1);
    return error_set(err, TD_BUSY, "the ledger's queue is full; exchange %s is not recorded", id);
}

enum td_status ledger_put(struct ledger *ledger, const struct ledger_exchange *record,
                          struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new(record, RECORD_BYTES_MAX, &copy, err);
    if (status == TD_OK)
        return queue_record(ledger, copy, record->id, err);
    atomic_fetch_add(&ledger->dropped, 1);
    return status;
}

enum td_status ledger_put_feedback(struct ledger *ledger, const struct ledger_feedback *feedback,
                                   struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new_feedback(feedback, RECORD_BYTES_MAX, &copy, err);
    if (status == TD_OK)
        return queue_record(ledger, copy, feedback->exchange, err);
    atomic_fetch_add(&ledger->dropped, 1);
    return status;
}

enum td_status ledger_put_shadow(struct ledger *ledger, const struct ledger_shadow *shadow,
                                 struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new_shadow(shadow, RECORD_BYTES_MAX, &copy, err);
    if (status == TD_OK)
        return queue_record(ledger, copy, shadow->exchange, err);
    atomic_fetch_add(&ledger->dropped, 1);
    return status;
}

enum td_status ledger_put_reaction(struct ledger *ledger, const struct ledger_reaction *reaction,
                                   struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new_reaction(reaction, &copy, err);
    if (status == TD_OK)
        return queue_record(ledger, copy, reaction->exchange, err);
    atomic_fetch_add(&ledger->dropped, 1);
    return status;
}

enum td_status ledger_put_policy(struct ledger *ledger, const struct ledger_policy *policy,
                                 struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new_policy(policy, RECORD_BYTES_MAX, &copy, err);
    return status == TD_OK ? queue_record(ledger, copy, policy->version, err) : status;
}

enum td_status ledger_put_model(struct ledger *ledger, const struct ledger_policy *version,
                                struct td_error *err)
{
    struct record *copy;
    enum td_status status = record_new_policy(version, RECORD_BYTES_MAX, &copy, err);
    if (status != TD_OK)
        return status;
    copy->is_model = true;
    return queue_record(ledger, copy, version->version, err);
}

enum td_status ledger_flush(struct ledger *ledger, uint32_t timeout_ms, struct td_error *err)
{
    ASSERT(ledger != NULL);
    struct timespec until = clock_deadline(timeout_ms);
    pthread_mutex_lock(&ledger->mutex);
    uint64_t target = ledger->put_seq;
    int code = 0;
    if (ledger->done_seq < target) {
        atomic_store(&ledger->hurry, true);
        pthread_cond_signal(&ledger->window);
        bool woken = queue_push(ledger->queue, &wake_up);
        (void)woken; /* if the queue is full, the writer is awake */
    }
    while (ledger->done_seq < target && code == 0)
        code = pthread_cond_timedwait(&ledger->progress, &ledger->mutex, &until);
    bool done = ledger->done_seq >= target;
    enum td_status status = TD_OK;
    if (!done && ledger->failing != TD_OK)
        status = error_set(err, TD_IO, "not written yet: %s", ledger->failure);
    else if (!done)
        status = error_set(err, TD_TIMEOUT, "not written within %u ms", timeout_ms);
    pthread_mutex_unlock(&ledger->mutex);
    return status;
}

enum td_status ledger_make_durable(struct ledger *ledger,
                                   enum td_status (*before)(void *ctx, struct td_error *err),
                                   void *ctx, struct td_error *err)
{
    ASSERT(ledger->put_seq == 0);
    ledger->durable = true;
    ledger->before_commit = before;
    ledger->before_ctx = ctx;
    return writer_make_durable(&ledger->writer, err);
}

bool ledger_is_durable(const struct ledger *ledger)
{
    return ledger->durable;
}

enum td_status ledger_check(struct ledger *ledger, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&ledger->mutex);
    if (ledger->failing != TD_OK)
        status = error_set(err, ledger->failing, "%s", ledger->failure);
    struct writer_files files = ledger->files;
    pthread_mutex_unlock(&ledger->mutex);
    if (status != TD_OK)
        return status;
    enum writer_place place = writer_look(ledger->path, &files);
    return place == WRITER_IN_PLACE || place == WRITER_REPLACED
               ? TD_OK /* another ledger is opened with the next record */
               : complain_of_place(ledger->path, place, err);
}

bool ledger_is_away(struct ledger *ledger, uint64_t *waiting)
{
    *waiting = 0;
    /* A file may be opened again meanwhile; the connection to a database never is. */
    return db_driver_of(ledger->path) && db_is_away(ledger->writer.db, waiting);
}

uint64_t ledger_dropped(struct ledger *ledger)
{
    return atomic_load(&ledger->dropped);
}
