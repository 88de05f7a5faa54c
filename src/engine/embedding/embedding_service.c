/* The thread that embeds texts. It works in turns; a turn is a few texts of one job. The next turn
 * goes to the caller that was served longest ago, and to the first of that caller's jobs. So one
 * caller with many texts does not delay the others. A vector does not depend on the texts in its
 * turn (embedding.h). */
#include "engine/embedding/embedding_service.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/thread/delivery.h"
#include "base/time/clock.h"
#include "engine/embedding/embedding.h"
#include "engine/embedding/rank_head.h"
#include "engine/model/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define IDS_BYTES_MAX ((size_t)64 << 20)
#define TEXT_BYTES_MAX ((size_t)256 << 20)
/* Of a turn: as many tokens as an encoder takes at once, so that turns cost no speed. A longer text
 * is a turn of its own. */
#define TURN_TOKENS 512
#define TURN_TEXTS_MAX 64

struct embedding_service {
    const struct td_model *model;
    bool ranks; /* the model is a reranker: text 0 of a job is the query of the others */
    uint32_t thread_count, capacity;
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct embedding_job *jobs; /* in the order of their arrival; only the thread takes jobs out */
    uint32_t job_count;
    atomic_bool stop; /* set under the mutex, because the thread waits on it */
    /* only the thread uses these */
    struct td_embedder *embedder; /* NULL = none was needed yet */
    struct buf ids;               /* int32_t: the ids of a turn's texts */
    uint64_t turn;
};

/* Where the bytes or ids of a text are in the job's buffers. */
struct span {
    size_t begin, count;
    bool is_ids;
};

struct embedding_job {
    struct delivery delivery;   /* must be the first member */
    struct embedding_job *next; /* in service->jobs */
    uint64_t caller;            /* hash of the caller's name */
    uint64_t served;            /* number of the caller's last turn; 0 = none yet */
    void (*on_done)(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err);
    void *ctx;
    struct buf texts; /* bytes of all texts */
    struct buf ids;   /* int32_t: of those that came as ids */
    struct span *spans;
    size_t count, done; /* texts */
    struct embedding_answer answer;
    float *vectors;
    enum td_status status;
    struct td_error err;
};

static void job_free(struct delivery *delivery)
{
    struct embedding_job *job = (struct embedding_job *)delivery;
    buf_deinit(&job->texts);
    buf_deinit(&job->ids);
    free(job->spans);
    free(job->vectors);
    free(job);
}

static void job_done(struct delivery *delivery)
{
    struct embedding_job *job = (struct embedding_job *)delivery;
    job->on_done(job->ctx, job->status, job->status == TD_OK ? &job->answer : NULL, &job->err);
}

/* --- a turn --- */

static enum td_status tokenize(struct embedding_service *service, const struct embedding_job *job,
                               size_t number, struct td_error *err)
{
    static const struct tokenizer_options options = {.add_special = true};
    const struct span *span = &job->spans[number], *query = &job->spans[0];
    struct td_str text = {job->texts.data + span->begin, span->count};
    if (service->ranks && (span->is_ids || query->is_ids))
        return error_set(err, TD_INVALID, "a reranker takes texts, not token ids");
    if (service->ranks)
        return rank_encode_pair(service->model,
                                (struct td_str){job->texts.data + query->begin, query->count}, text,
                                &service->ids, err);
    if (!span->is_ids)
        return tokenizer_encode(service->model->tokenizer, text, &options, &service->ids, err);
    buf_append(&service->ids, job->ids.data + span->begin * sizeof(int32_t),
               span->count * sizeof(int32_t));
    return service->ids.failed ? error_set(err, TD_NO_MEMORY, "no memory for %zu ids", span->count)
                               : TD_OK;
}

/* Collects the next texts of a job, with their ids one after another in service->ids. */
static enum td_status collect(struct embedding_service *service, const struct embedding_job *job,
                              struct td_ids texts[static TURN_TEXTS_MAX], size_t *count,
                              struct td_error *err)
{
    size_t ends[TURN_TEXTS_MAX], begin = 0, left = job->count - job->done;
    enum td_status status = TD_OK;
    buf_clear(&service->ids);
    *count = 0;
    while (status == TD_OK && *count < left && *count < TURN_TEXTS_MAX &&
           service->ids.len < TURN_TOKENS * sizeof(int32_t)) {
        status = tokenize(service, job, job->done + *count, err);
        ends[(*count)++] = service->ids.len / sizeof(int32_t);
    }
    const int32_t *ids = (const int32_t *)(const void *)service->ids.data;
    for (size_t i = 0; status == TD_OK && i < *count; i++) {
        texts[i] = (struct td_ids){ids + begin, ends[i] - begin};
        begin = ends[i];
    }
    return status;
}

static enum td_status begin_job(struct embedding_service *service, struct embedding_job *job,
                                struct td_error *err)
{
    if (service->embedder == NULL) {
        struct td_embedder_options options = {.thread_count = service->thread_count};
        enum td_status status =
            service->ranks ? embedder_new_ranker(service->model, service->thread_count,
                                                 &service->embedder, err)
                           : td_embedder_new(service->model, &options, &service->embedder, err);
        if (status != TD_OK)
            return status;
    }
    job->answer.count = job->count;
    job->answer.size = td_model_get_info(service->model)->embedding_size;
    job->vectors = calloc(job->count, job->answer.size * sizeof *job->vectors);
    job->answer.vectors = job->vectors;
    if (job->vectors && service->ranks && job->count > 0) {
        job->vectors[0] = 1; /* times a document's vector it is the score */
        job->done = 1;
    }
    return job->vectors ? TD_OK
                        : error_set(err, TD_NO_MEMORY, "no memory for %zu vectors of %zu",
                                    job->count, job->answer.size);
}

/* Takes one turn; true when the job has ended. */
static bool take_turn(struct embedding_service *service, struct embedding_job *job)
{
    double start_ms = clock_monotonic_ms(NULL);
    struct td_ids texts[TURN_TEXTS_MAX];
    size_t count = 0;
    if (!delivery_is_wanted(&job->delivery))
        return true;
    if (job->vectors == NULL)
        job->status = begin_job(service, job, &job->err);
    if (job->status == TD_OK)
        job->status = collect(service, job, texts, &count, &job->err);
    if (job->status == TD_OK) {
        embedder_set_cancel(service->embedder, &job->delivery.cancelled);
        job->status = embedder_run(service->embedder, texts, count, job->done,
                                   job->vectors + job->done * job->answer.size, &job->err);
        embedder_set_cancel(service->embedder, NULL);
    }
    for (size_t i = 0; job->status == TD_OK && i < count; i++)
        job->answer.token_count += texts[i].count;
    job->done += count;
    job->answer.total_ms += clock_monotonic_ms(NULL) - start_ms;
    return job->status != TD_OK || job->done == job->count;
}

/* --- the thread --- */

/* Waits for a job and returns the one whose turn it is; NULL = the service stops. */
static struct embedding_job *next_job(struct embedding_service *service)
{
    struct embedding_job *next = NULL;
    pthread_mutex_lock(&service->mutex);
    while (!service->stop && service->jobs == NULL)
        pthread_cond_wait(&service->changed, &service->mutex);
    for (struct embedding_job *job = service->stop ? NULL : service->jobs; job; job = job->next)
        if (next == NULL || job->served < next->served)
            next = job;
    service->turn++;
    for (struct embedding_job *job = service->jobs; next && job; job = job->next)
        if (job->caller == next->caller)
            job->served = service->turn;
    pthread_mutex_unlock(&service->mutex);
    return next;
}

static void take_out(struct embedding_service *service, struct embedding_job *job)
{
    pthread_mutex_lock(&service->mutex);
    struct embedding_job **at = &service->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    service->job_count--;
    pthread_mutex_unlock(&service->mutex);
}

static void *service_main(void *arg)
{
    struct embedding_service *service = arg;
    struct embedding_job *job;
    while ((job = next_job(service)) != NULL) {
        if (!take_turn(service, job))
            continue;
        take_out(service, job);
        delivery_send(&job->delivery, &service->stop);
    }
    td_embedder_free(service->embedder);
    return NULL;
}

/* --- from outside --- */

enum td_status embedding_service_new(const struct embedding_service_options *options,
                                     struct embedding_service **out, struct td_error *err)
{
    ASSERT(options->model != NULL && options->queue_capacity > 0);
    *out = NULL;
    struct embedding_service *service = calloc(1, sizeof *service);
    if (service == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for embeddings");
    service->model = options->model;
    service->ranks = rank_head_is_in(options->model);
    service->thread_count = options->thread_count;
    service->capacity = options->queue_capacity;
    buf_init(&service->ids, IDS_BYTES_MAX);
    pthread_mutex_init(&service->mutex, NULL);
    pthread_cond_init(&service->changed, NULL);
    service->started = pthread_create(&service->thread, NULL, service_main, service) == 0;
    if (!service->started) {
        embedding_service_free(service);
        return error_set(err, TD_NO_MEMORY, "no memory for a thread for embeddings");
    }
    *out = service;
    return TD_OK;
}

void embedding_service_free(struct embedding_service *service)
{
    if (service == NULL)
        return;
    pthread_mutex_lock(&service->mutex);
    service->stop = true;
    pthread_cond_signal(&service->changed);
    pthread_mutex_unlock(&service->mutex);
    if (service->started)
        pthread_join(service->thread, NULL);
    while (service->jobs) {
        struct embedding_job *job = service->jobs;
        service->jobs = job->next;
        delivery_release(&job->delivery);
    }
    pthread_mutex_destroy(&service->mutex);
    pthread_cond_destroy(&service->changed);
    buf_deinit(&service->ids);
    free(service);
}

bool embedding_service_ranks(const struct embedding_service *service)
{
    return service->ranks;
}

const struct td_model *embedding_service_model(const struct embedding_service *service)
{
    return service->model;
}

static bool copy_inputs(struct embedding_job *job, const struct embedding_request *request)
{
    buf_init(&job->texts, TEXT_BYTES_MAX);
    buf_init(&job->ids, IDS_BYTES_MAX);
    job->count = request->input_count;
    job->spans = calloc(job->count + 1, sizeof *job->spans);
    for (size_t i = 0; job->spans && i < job->count; i++) {
        const struct embedding_input *input = &request->inputs[i];
        bool is_ids = input->id_count > 0;
        job->spans[i] = (struct span){is_ids ? job->ids.len / sizeof(int32_t) : job->texts.len,
                                      is_ids ? input->id_count : input->text.len, is_ids};
        if (is_ids)
            buf_append(&job->ids, input->ids, input->id_count * sizeof *input->ids);
        else
            buf_append_str(&job->texts, input->text);
    }
    return job->spans && !job->texts.failed && !job->ids.failed;
}

/* Adds a job at the end; false when there are too many. */
static bool add_job(struct embedding_service *service, struct embedding_job *job)
{
    pthread_mutex_lock(&service->mutex);
    bool fits = service->job_count < service->capacity;
    struct embedding_job **at = &service->jobs;
    for (; fits && *at; at = &(*at)->next)
        if ((*at)->caller == job->caller)
            job->served = (*at)->served;
    if (fits) {
        *at = job;
        service->job_count++;
        pthread_cond_signal(&service->changed);
    }
    pthread_mutex_unlock(&service->mutex);
    return fits;
}

enum td_status embedding_submit(struct embedding_service *service,
                                const struct embedding_request *request, struct embedding_job **out,
                                struct td_error *err)
{
    ASSERT(request->loop != NULL && request->on_done != NULL);
    ASSERT(request->inputs != NULL || request->input_count == 0);
    *out = NULL;
    struct embedding_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    delivery_init(&job->delivery, request->loop, job_done, job_free);
    job->on_done = request->on_done;
    job->ctx = request->ctx;
    if (request->caller)
        job->caller = hash_fnv1a64(request->caller, strlen(request->caller), HASH_FNV1A64_BASIS);
    enum td_status status = TD_OK;
    if (!copy_inputs(job, request))
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu texts", request->input_count);
    *out = job; /* before the service has it: after that its callback may run */
    if (status == TD_OK && add_job(service, job))
        return TD_OK;
    *out = NULL;
    delivery_release(&job->delivery);
    delivery_release(&job->delivery);
    if (status != TD_OK)
        return status;
    return error_set(err, TD_BUSY, "%u requests for embeddings run or wait already",
                     service->capacity);
}

void embedding_cancel(struct embedding_job *job)
{
    delivery_cancel(&job->delivery);
}
