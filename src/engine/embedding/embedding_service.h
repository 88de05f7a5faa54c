/* A thread for embeddings. It tokenizes and embeds the texts of a bounded number of jobs, and
 * answers on the owner's event loop. Callers take turns of some hundred tokens, so a caller with
 * two thousand texts does not delay one with a single text. The embedder is made with the first
 * job, so a server that embeds nothing spends nothing on it.
 *
 * embedding_submit may be called from any thread; on_done runs on the job's loop. */
#ifndef ENGINE_EMBEDDING_SERVICE_H
#define ENGINE_EMBEDDING_SERVICE_H

#include "base/thread/loop.h"
#include "tandem/engine.h"

struct embedding_service;
struct embedding_job;

struct embedding_service_options {
    const struct td_model *model; /* borrowed */
    uint32_t thread_count;        /* 0 = one for each fast core */
    uint32_t queue_capacity;      /* jobs running and waiting; more are TD_BUSY */
};

/* A text, or its ids if id_count > 0. */
struct embedding_input {
    struct td_str text;
    const int32_t *ids;
    size_t id_count;
};

struct embedding_answer {
    const float *vectors; /* [count, size], each of length 1; valid during the call */
    size_t count, size;
    uint64_t token_count;
    double total_ms; /* without the wait in the queue */
};

struct embedding_request {
    const struct embedding_input *inputs; /* copied */
    size_t input_count;
    const char *caller; /* who asks, for the order of turns; copied; NULL = all are one caller */
    struct loop *loop;
    /* Called exactly once, unless embedding_cancel was called: TD_OK with the answer, or the
     * failure. */
    void (*on_done)(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err);
    void *ctx;
};

/* **returns new** (embedding_service_free). */
TD_MUST_CHECK enum td_status embedding_service_new(const struct embedding_service_options *options,
                                                   struct embedding_service **out,
                                                   struct td_error *err);
/* Jobs that still wait are dropped without a callback. Their loops must have stopped. Accepts
 * NULL. */
void embedding_service_free(struct embedding_service *service);
const struct td_model *embedding_service_model(const struct embedding_service *service);
/* Whether the model is a reranker. The first text of a request is then a query and the others are
 * documents. Vectors are such that the product of the first with another is that one's score. */
bool embedding_service_ranks(const struct embedding_service *service);

/* TD_BUSY when the queue is full. *out is valid until on_done returns or embedding_cancel is
 * called. */
TD_MUST_CHECK enum td_status embedding_submit(struct embedding_service *service,
                                              const struct embedding_request *request,
                                              struct embedding_job **out, struct td_error *err);
/* Call it on the job's loop thread. No callback comes after it returns; work stops within a
 * layer. */
void embedding_cancel(struct embedding_job *job);

#endif
