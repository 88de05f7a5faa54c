/* Working memory of the forward pass: one block for up to row_max rows (a row is one token of one
 * sequence), sized before the first token. It belongs to one thread. Any number of sequences of its
 * model may use it, in turn or together. Memory is taken when it is first used. */
#ifndef ENGINE_WORKSPACE_H
#define ENGINE_WORKSPACE_H

#include "base/thread/thread_pool.h"
#include "engine/model/model.h"
#include "engine/sampling/sampler.h"

#include <stdatomic.h>

/* Rows that go through the layers together. Weights are read and unpacked once for all of them.
 * With 64 rows unpacking takes a tenth of the time, with 256 a fortieth. More rows would only cost
 * memory and delay cancelling. */
#define WORKSPACE_ROWS_DEFAULT 256

/* For a mixture of experts. A pair is a row and one of the experts that it uses. Pairs are numbered
 * by row; places hold the same pairs sorted by expert. */
struct workspace_experts {
    float *scores;         /* [rows, experts] */
    float *weights;        /* [rows, used]: weight of each pair */
    uint32_t *chosen;      /* [rows, used]: expert of each pair */
    uint32_t *place_of;    /* [rows, used]: place of each pair */
    uint32_t *row_of;      /* [rows * used]: row of each place */
    uint32_t *first_place; /* [experts + 1]: an expert's places end where the next expert's begin */
    uint32_t *active;      /* [experts]: the experts that have places */
    uint32_t active_count; /* of the current batch and layer */
    float *output;         /* [rows * used, embedding] */
};

/* What the forward pass knows about a row. */
struct workspace_row {
    uint32_t segment; /* its number in the batch */
    uint32_t position;
    int32_t id;
    bool left; /* by an early exit: its logits are made, its state does not change any more */
};

/* Consecutive rows of one segment. */
struct workspace_span {
    uint32_t segment, row, count;
};

/* What Mamba-2 layers know about a segment (recurrent.h). */
struct workspace_part {
    uint32_t first_row;
    uint32_t checkpoint; /* the one that is made in this pass; CHECKPOINT_NONE = none */
    uint32_t kept_rows;  /* it is the state after this many rows of the segment */
    uint32_t page;       /* which ends there */
};

/* The softmax is computed for this many positions at a time (attention.c), so that threads can
 * share a long row. 256 positions of one head are 64 KiB of f16, which takes microseconds to
 * read. */
#define SPAN_TOKENS 256
/* Rows that one thread stores at a time. The f16 keys of this many positions share a cache line,
 * which two threads should not write. */
#define RUN_TOKENS 32

struct workspace_attention {
    uint32_t tile_tokens;         /* most tokens of a tile */
    uint32_t spans_max;           /* of the longest context */
    uint32_t shared_rows_max;     /* most rows whose spans threads share */
    struct workspace_span *tiles; /* [rows]: rows whose queries go through the pages together */
    struct workspace_span *runs;  /* [rows]: rows that one thread stores */
    uint32_t tile_count, run_count;
    atomic_flag *leased;   /* [threads]: scratch in use */
    float *scratch;        /* [threads, scratch_floats] */
    size_t scratch_floats; /* a page as float, a tile's queries, two softmaxes */
    float *partials;       /* [shared rows, kv_heads, spans_max, group, value columns + 2] */
    atomic_uint *done;     /* [shared rows, kv_heads]: how many spans are ready */
};

/* Sees the inputs of matrices, as floats, before they are prepared: for statistics. Called by the
 * leader, once for each input row of each matrix (of each expert that the row goes through). */
struct workspace_observer {
    void (*input)(void *ctx, const struct weight *weight, uint32_t expert, const float *x);
    void *ctx;
};

struct workspace_options {
    uint32_t row_max;        /* 0 = WORKSPACE_ROWS_DEFAULT */
    uint32_t logit_row_max;  /* rows of `logits`; 0 = none */
    uint32_t context_tokens; /* of the longest sequence that uses it; 0 = the model's */
    /* For workspace_bytes alone: without what only adapters touch, which else takes no memory. */
    bool bare;
};

struct workspace {
    const struct td_model *model;
    struct thread_pool *threads;
    uint32_t row_max, logit_row_max, thread_count, context_tokens;
    bool bare;               /* it is only counted, and has no `reduced` */
    const atomic_bool *stop; /* a pass ends between two layers when it is set; NULL = never */
    const struct workspace_observer *observer; /* NULL = none */

    void *block; /* holds everything below */
    uint64_t block_bytes;

    struct workspace_row *rows;         /* [rows] */
    uint32_t *output_rows;              /* [rows]: the rows that want logits */
    struct workspace_part *parts;       /* [segments, at most rows]; NULL = no Mamba-2 layers */
    float *hidden;                      /* [rows, embedding]: the residual stream */
    float *normed;                      /* [rows, embedding] */
    float *query;                       /* [rows, q rows of the layer] */
    float *key, *value;                 /* [rows, k rows of the layer] */
    float *attended;                    /* [rows, q rows of the layer] */
    float *gate, *up;                   /* [rows * used experts (or 1), ffn of the layer] */
    float *layer_inputs, *layer_tokens; /* [rows, layers, layer input] */
    float *cos_sin[2]; /* [rows, rope pairs, 2], of ROPE_GLOBAL and ROPE_LOCAL layers */
    /* [rows * used experts (or 1)] prepared rows, with room for the widest input */
    uint8_t *activations[ACTIVATION_FORM_COUNT];
    /* [3 products, input_max, ADAPTER_SET_WIDTH_MAX]: A x of the adapters in the current step */
    float *reduced;
    size_t input_max; /* rows * used experts (or 1) */
    struct workspace_attention attention;
    struct workspace_experts experts;     /* empty if the model has none */
    float *logits;                        /* [logit_row_max, vocab], for the caller's use */
    struct sampler_candidate *candidates; /* [vocab], for the caller's use */
};

/* **returns new** (workspace_free). **borrows** model and threads. */
TD_MUST_CHECK enum td_status workspace_new(const struct td_model *model,
                                           const struct workspace_options *options,
                                           struct thread_pool *threads, struct workspace **out,
                                           struct td_error *err);
void workspace_free(struct workspace *workspace);

/* How many bytes such a workspace maps; UINT64_MAX = the number overflows. */
uint64_t workspace_bytes(const struct td_model *model, const struct workspace_options *options,
                         uint32_t thread_count);

#endif
