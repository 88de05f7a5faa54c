/* LoRA adapters (Hu et al. 2021, section 4.1): W' = W + scale * alpha / rank * B A. W' is never
 * computed. Instead y += factor * B (A x) is added to the product with W, so that each sequence of
 * a batch can have its own adapters.
 *
 * A loaded adapter is immutable. It is a copy, so its file may be replaced at any time. It is
 * reference-counted: whoever runs with it keeps it alive, even when its name is gone from the
 * configuration. A set is the adapters of one sequence. Any thread; the counts are atomic. */
#ifndef ENGINE_ADAPTER_H
#define ENGINE_ADAPTER_H

#include "engine/model/model.h"

#include <stdatomic.h>
#include <string.h>

/* Of one adapter; published ones have ranks of 4 to 256. */
#define ADAPTER_RANK_MAX 1024
/* Sum of the ranks of a set's adapters, each rounded up to whole vectors. It bounds the working
 * memory of a row. */
#define ADAPTER_SET_WIDTH_MAX 1024

/* The two halves of the change of one matrix. For the embedding, a is [vocab, rank], and a token
 * picks its row. */
struct adapter_pair {
    struct weight a; /* [rank, cols of W] */
    struct weight b; /* [rows of W, rank]; rows 0: this matrix is not changed */
};

struct td_adapter {
    atomic_uint references;
    const struct td_model *model;
    uint64_t serial;            /* unique for the life of the process */
    float alpha;                /* 0 = the factor is the scale alone */
    struct adapter_pair *pairs; /* [model->matrix_count], by weight.number */
    void *block;                /* the memory that the pairs point to */
    struct td_adapter_info info;
    char *name;
};

/* Identifies a set wherever results are kept: sets of the same adapters and scales have equal
 * ids. */
struct adapter_set_id {
    uint64_t serials[TD_ADAPTERS_MAX]; /* ascending; 0 = no more */
    float scales[TD_ADAPTERS_MAX];
};

struct adapter_set {
    atomic_uint references;
    struct adapter_set_id id;
    uint32_t count;
    const struct td_adapter *adapters[TD_ADAPTERS_MAX]; /* retained */
};

/* Reads an adapter from memory of the caller, which is not needed afterwards (for fuzzing and
 * tests). */
TD_MUST_CHECK enum td_status adapter_load_memory(const struct td_model *model, const void *data,
                                                 size_t len, const char *label,
                                                 struct td_adapter **out, struct td_error *err);

/* Adds an owner: **returns new** (td_adapter_free). */
const struct td_adapter *adapter_retain(const struct td_adapter *adapter);

/* Retains the adapters. *out is NULL for an empty set. The order of the uses does not matter.
 * TD_INVALID: an adapter twice, an adapter of another model, or a scale that is not finite or above
 * TD_ADAPTER_SCALE_MAX in magnitude. TD_LIMIT: too many adapters, or too wide together. **returns
 * new** (adapter_set_release). */
TD_MUST_CHECK enum td_status adapter_set_new(const struct td_model *model,
                                             const struct td_adapter_use *uses, size_t count,
                                             struct adapter_set **out, struct td_error *err);
struct adapter_set *adapter_set_retain(struct adapter_set *set); /* accepts NULL */
void adapter_set_release(struct adapter_set *set);               /* accepts NULL */

/* The id of the set; of no adapters when set is NULL. **borrows** as long as the set lives. */
const struct adapter_set_id *adapter_set_id_of(const struct adapter_set *set);
static inline bool adapter_set_same(const struct adapter_set *a, const struct adapter_set *b)
{
    return a == b || memcmp(adapter_set_id_of(a), adapter_set_id_of(b), sizeof a->id) == 0;
}

/* The factor on B (A x) for one pair of adapter `index` of the set. */
float adapter_set_factor(const struct adapter_set *set, uint32_t index,
                         const struct adapter_pair *pair);

#endif
