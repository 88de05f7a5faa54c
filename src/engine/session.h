/* A session inside the engine: one sequence, its KV cache and the forward pass's working memory,
 * carved out of one block when the session opens. One thread at a time; only the cancel flags are
 * shared. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "base/thread_pool.h"
#include "engine/model.h"
#include "engine/sampler.h"

#include <stdatomic.h>

/* Positions that go through the layers together. Weights are read once a chunk, so that 64 already
 * hides the memory behind the arithmetic; more only costs working memory and makes cancelling
 * later. */
#define SESSION_CHUNK_TOKENS 64

/* Working memory of a mixture of experts. A pair is a token with one of the experts that it uses;
 * pairs are numbered by token, rows hold the same pairs in the order of their experts. */
struct session_experts {
    float *scores;         /* [chunk, experts] */
    float *weights;        /* [chunk, used]: of each pair */
    uint32_t *chosen;      /* [chunk, used]: each pair's expert */
    uint32_t *row_of;      /* [chunk, used]: each pair's row */
    uint32_t *token_of;    /* [chunk * used]: each row's token */
    uint32_t *first_row;   /* [experts + 1]: rows of an expert end where the next's begin */
    uint32_t *active;      /* [experts]: those with rows */
    uint32_t active_count; /* of the current chunk and layer */
    float *output;         /* [chunk * used, embedding] */
};

struct td_session {
    const struct td_model *model;
    struct thread_pool *pool;
    bool owns_pool;
    enum td_kv_type kv_type;
    uint32_t context_size;
    uint32_t length; /* positions in the cache */
    /* Either one set stops the work between two layers; NULL = nobody can. */
    const atomic_bool *cancel[2];

    void *block; /* everything below lies in it; pages are touched when first used */
    size_t block_bytes;

    int32_t *ids;       /* [context]: the tokens of the cached positions */
    uint8_t *keys;      /* [layers, kv_heads, context, head_size] of kv_type */
    uint8_t *values;    /* the same */
    float *hidden;      /* [chunk, embedding]: the residual stream */
    float *normed;      /* [chunk, embedding] */
    float *query;       /* [chunk, heads * head_size]; later the attention's output */
    float *key, *value; /* [chunk, kv_heads * head_size] */
    float *attended;    /* [chunk, heads * head_size] */
    float *gate, *up;   /* [chunk * used experts (or 1), ffn] */
    /* Angles of the layers with ROPE_GLOBAL and ROPE_LOCAL, and what makes them. */
    const struct rope *ropes[2];
    float *cos_sin[2]; /* [chunk, rope pairs, 2] */
    /* [chunk * used experts (or 1)] prepared rows, of the widest input */
    uint8_t *activations[ACTIVATION_FORM_COUNT];
    struct session_experts experts;       /* empty where the model has none */
    float *logits;                        /* [vocab], for generation */
    struct sampler_candidate *candidates; /* [vocab], for generation */
};

/* As td_session_new, with a pool that outlives the session (NULL: makes its own). */
TD_MUST_CHECK enum td_status session_new(const struct td_model *model,
                                         const struct td_session_options *options,
                                         struct thread_pool *pool, struct td_session **out,
                                         struct td_error *err);

/* TD_NO_MEMORY with the arithmetic when `session_count` such sessions beside the weights are more
 * than ram_bytes (0 = this machine's memory, or its control group's limit). */
TD_MUST_CHECK enum td_status session_check_memory(const struct td_model *model,
                                                  const struct td_session_options *options,
                                                  uint32_t session_count, uint64_t ram_bytes,
                                                  struct td_error *err);

/* Number of leading `ids` that the cache holds already. */
uint32_t session_common_prefix(const struct td_session *session, const int32_t *ids, size_t count);

#endif
