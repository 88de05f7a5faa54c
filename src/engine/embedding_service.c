/* A job has two references: its owner's, until on_done returned or embedding_cancel, and the
 * service's, which a post to the loop takes along. Whoever drops the last one frees it. */
#include "engine/embedding_service.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/queue.h"
#include "base/str.h"
#include "engine/embedding.h"
#include "engine/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define POST_RETRY_NS 5000000L /* a loop whose queue was full is asked again so soon */
#define IDS_BYTES_MAX ((size_t)64 << 20)
#define TEXT_BYTES_MAX ((size_t)256 << 20)

struct embedding_service {
    const struct td_model *model;
    uint32_t thread_count;
    struct queue *queue;
    pthread_t thread;
    bool started;
    atomic_bool stop;
    /* the thread's alone */
    struct td_embedder *embedder; /* NULL: none was needed yet */
};

/* Where a text's bytes or ids begin in the job's buffers. */
struct span {
    size_t begin, count;
    bool is_ids;
};

struct embedding_job {
    atomic_uint references;
    atomic_bool cancelled; /* set by the owner; no callback after */
    struct loop *loop;
    void (*on_done)(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err);
    void *ctx;
    struct buf texts; /* bytes of all texts */
    struct buf ids;   /* int32_t: those that came as ids; later of all */
    struct span *spans;
    size_t count;
    struct embedding_answer answer;
    float *vectors;
    enum td_status status;
    struct td_error err;
};

static void job_release(struct embedding_job *job)
{
    if (atomic_fetch_sub_explicit(&job->references, 1, memory_order_acq_rel) != 1)
        return;
    buf_deinit(&job->texts);
    buf_deinit(&job->ids);
    free(job->spans);
    free(job->vectors);
    free(job);
}

static void deliver(void *ctx)
{
    struct embedding_job *job = ctx;
    if (!atomic_load(&job->cancelled)) {
        job->on_done(job->ctx, job->status, job->status == TD_OK ? &job->answer : NULL, &job->err);
        job_release(job); /* the owner's */
    }
    job_release(job);
}

/* --- the thread --- */

/* Ids of every text behind each other; spans then say where. */
static enum td_status tokenize(const struct td_model *model, struct embedding_job *job,
                               struct td_ids *texts, struct td_error *err)
{
    static const struct tokenizer_options options = {.add_special = true};
    for (size_t i = 0; i < job->count; i++) {
        struct span *span = &job->spans[i];
        if (span->is_ids)
            continue;
        struct td_str text = {job->texts.data + span->begin, span->count};
        size_t begin = job->ids.len;
        enum td_status status = tokenizer_encode(model->tokenizer, text, &options, &job->ids, err);
        if (status != TD_OK)
            return status;
        *span =
            (struct span){begin / sizeof(int32_t), (job->ids.len - begin) / sizeof(int32_t), true};
    }
    const int32_t *ids = (const int32_t *)(const void *)job->ids.data;
    for (size_t i = 0; i < job->count; i++) {
        texts[i] = (struct td_ids){ids + job->spans[i].begin, job->spans[i].count};
        job->answer.token_count += texts[i].count;
    }
    return TD_OK;
}

static enum td_status run(struct embedding_service *service, struct embedding_job *job,
                          struct td_error *err)
{
    size_t size = td_model_get_info(service->model)->embedding_size;
    double start_ms = clock_monotonic_ms(NULL);
    enum td_status status = TD_OK;
    if (service->embedder == NULL) {
        struct td_embedder_options options = {.thread_count = service->thread_count};
        status = td_embedder_new(service->model, &options, &service->embedder, err);
    }
    if (status != TD_OK)
        return status;
    struct td_ids *texts = calloc(job->count, sizeof *texts);
    job->vectors = calloc(job->count, size * sizeof *job->vectors);
    if (texts == NULL || job->vectors == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu vectors of %zu", job->count, size);
    if (status == TD_OK)
        status = tokenize(service->model, job, texts, err);
    if (status == TD_OK) {
        embedder_set_cancel(service->embedder, &job->cancelled);
        status = td_embed(service->embedder, texts, job->count, job->vectors, err);
        embedder_set_cancel(service->embedder, NULL);
    }
    free(texts);
    job->answer.vectors = job->vectors;
    job->answer.count = job->count;
    job->answer.size = size;
    job->answer.total_ms = clock_monotonic_ms(NULL) - start_ms;
    return status;
}

static void *service_main(void *arg)
{
    struct embedding_service *service = arg;
    static const struct timespec retry = {.tv_nsec = POST_RETRY_NS};
    struct embedding_job *job;
    while ((job = queue_wait(service->queue, UINT32_MAX)) != NULL) {
        bool wanted = !atomic_load(&job->cancelled) && !atomic_load(&service->stop);
        if (wanted)
            job->status = run(service, job, &job->err);
        bool posted = false;
        while (wanted && !posted && !atomic_load(&job->cancelled) && !atomic_load(&service->stop)) {
            posted = loop_post(job->loop, deliver, job);
            if (!posted)
                nanosleep(&retry, NULL);
        }
        if (!posted)
            job_release(job); /* cancelled, or its loop has stopped */
    }
    td_embedder_free(service->embedder);
    return NULL;
}

/* --- from outside --- */

enum td_status embedding_service_new(const struct embedding_service_options *options,
                                     struct embedding_service **out, struct td_error *err)
{
    *out = NULL;
    struct embedding_service *service = calloc(1, sizeof *service);
    if (service == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for embeddings");
    service->model = options->model;
    service->thread_count = options->thread_count;
    service->queue = queue_new(options->queue_capacity);
    service->started = service->queue != NULL &&
                       pthread_create(&service->thread, NULL, service_main, service) == 0;
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
    atomic_store(&service->stop, true);
    if (service->queue)
        queue_close(service->queue);
    if (service->started)
        pthread_join(service->thread, NULL);
    if (service->queue)
        queue_free(service->queue);
    free(service);
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

enum td_status embedding_submit(struct embedding_service *service,
                                const struct embedding_request *request, struct embedding_job **out,
                                struct td_error *err)
{
    *out = NULL;
    struct embedding_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    atomic_init(&job->references, 1);
    job->loop = request->loop;
    job->on_done = request->on_done;
    job->ctx = request->ctx;
    if (!copy_inputs(job, request)) {
        job_release(job);
        return error_set(err, TD_NO_MEMORY, "no memory for %zu texts", request->input_count);
    }
    atomic_store(&job->references, 2); /* before another thread can see it */
    if (!queue_push(service->queue, job)) {
        job_release(job);
        job_release(job);
        return error_set(err, TD_BUSY, "too many requests for embeddings wait already");
    }
    *out = job;
    return TD_OK;
}

void embedding_cancel(struct embedding_job *job)
{
    atomic_store(&job->cancelled, true);
    job_release(job);
}
