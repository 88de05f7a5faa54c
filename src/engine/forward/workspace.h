/* Working memory of the forward pass: one block for up to `row_max` rows (a row is one token of one
 * sequence), sized before the first token, and the threads that share the work. Belongs to one
 * thread; any number of sequences of its model may use it in turn or together. Pages of the block
 * are touched when first used. */
#ifndef ENGINE_WORKSPACE_H
#define ENGINE_WORKSPACE_H

#include "base/thread_pool.h"
#include "engine/model/model.h"
#include "engine/sampling/sampler.h"

#include <stdatomic.h>

/* Rows that go through the layers together. Weights are read and unpacked once for all of them: at
 * 64 rows the unpacking still takes a tenth of the time, at 256 a fortieth; more would only cost
 * working memory and make cancelling later. */
#define WORKSPACE_ROWS_DEFAULT 256

/* A mixture of experts. A pair is a row with one of the experts that it uses; pairs are numbered by
 * row, places hold the same pairs in the order of their experts. */
struct workspace_experts {
    float *scores;         /* [rows, experts] */
    float *weights;        /* [rows, used]: of each pair */
    uint32_t *chosen;      /* [rows, used]: each pair's expert */
    uint32_t *place_of;    /* [rows, used]: each pair's place */
    uint32_t *row_of;      /* [rows * used]: each place's row */
    uint32_t *first_place; /* [experts + 1]: places of an expert end where the next's begin */
    uint32_t *active;      /* [experts]: those with places */
    uint32_t active_count; /* of the current batch and layer */
    float *output;         /* [rows * used, embedding] */
};

/* What the forward pass knows about a row. */
struct workspace_row {
    uint32_t segment; /* its number in the batch */
    uint32_t position;
    int32_t id;
    bool left; /* by an early exit: its state stays as it is, its logits are made */
};

/* Consecutive rows of one segment. */
struct workspace_span {
    uint32_t segment, row, count;
};

/* Positions whose softmax is taken by itself (attention.c); a few threads share a long row by it.
 * 256 positions of one head are 64 KiB of f16: some microseconds of reading. */
#define SPAN_TOKENS 256
/* Rows that one thread stores at a time: f16 keys of so many positions share a cache line, which
 * two threads should not write. */
#define RUN_TOKENS 32

struct workspace_attention {
    uint32_t tile_tokens;         /* most tokens of a tile */
    uint32_t spans_max;           /* of the longest context */
    uint32_t shared_rows_max;     /* most rows whose spans are shared among threads */
    struct workspace_span *tiles; /* [rows]: tokens whose queries go through the pages together */
    struct workspace_span *runs;  /* [rows]: tokens that one thread stores */
    uint32_t tile_count, run_count;
    atomic_flag *leased;   /* [threads]: scratch in use */
    float *scratch;        /* [threads, scratch_floats] */
    size_t scratch_floats; /* a page as float, a tile's queries, two softmaxes */
    float *partials;       /* [shared rows, kv_heads, spans_max, group, value columns + 2] */
    atomic_uint *done;     /* [shared rows, kv_heads]: spans that are ready */
};

struct workspace_options {
    uint32_t row_max;       /* 0 = WORKSPACE_ROWS_DEFAULT */
    uint32_t logit_row_max; /* rows of `logits`; 0 = none */
};

struct workspace {
    const struct td_model *model;
    struct thread_pool *threads;
    uint32_t row_max, logit_row_max, thread_count;
    const atomic_bool *stop; /* set: a pass ends between two layers; NULL = never */

    void *block; /* everything below lies in it */
    uint64_t block_bytes;

    struct workspace_row *rows; /* [rows] */
    uint32_t *output_rows;      /* [rows]: those that want logits */
    float *hidden;              /* [rows, embedding]: the residual stream */
    float *normed;              /* [rows, embedding] */
    float *query;               /* [rows, heads * head_size] */
    float *key, *value;         /* [rows, kv_heads * head_size] */
    float *attended;            /* [rows, heads * head_size] */
    float *gate, *up;           /* [rows * used experts (or 1), ffn] */
    float *cos_sin[2];          /* [rows, rope pairs, 2], of ROPE_GLOBAL and ROPE_LOCAL layers */
    /* [rows * used experts (or 1)] prepared rows, of the widest input */
    uint8_t *activations[ACTIVATION_FORM_COUNT];
    /* [3 products, input_max, ADAPTER_SET_WIDTH_MAX]: A x of the adapters of the step that runs */
    float *reduced;
    size_t input_max; /* rows * used experts (or 1) */
    struct workspace_attention attention;
    struct workspace_experts experts;     /* empty where the model has none */
    float *logits;                        /* [logit_row_max, vocab], for the caller's use */
    struct sampler_candidate *candidates; /* [vocab], for the caller's use */
};

/* **returns new** (workspace_free). **borrows** model and threads. */
TD_MUST_CHECK enum td_status workspace_new(const struct td_model *model,
                                           const struct workspace_options *options,
                                           struct thread_pool *threads, struct workspace **out,
                                           struct td_error *err);
void workspace_free(struct workspace *workspace);

/* Bytes that such a workspace maps; UINT64_MAX when they cannot be counted. */
uint64_t workspace_bytes(const struct td_model *model, const struct workspace_options *options,
                         uint32_t thread_count);

#endif
