/* The way through a set of labels that may follow a prompt. Labels are kept in the order of their
 * ids, so that those with the same beginning are adjacent, and beginnings that labels share run
 * once. What runs is a prefix tree of the labels without its leaves: for labels of one token, only
 * the prompt. Whoever has the model runs it: a session (scoring.c) or the scheduler (generate.c).
 *
 * A plan is immutable and reference-counted; any thread. A walk belongs to one thread. */
#ifndef ENGINE_LABEL_WALK_H
#define ENGINE_LABEL_WALK_H

#include "engine/model/model.h"

struct label_plan;

enum label_ends {
    LABEL_ENDS_NONE,   /* a label is what the answer begins with */
    LABEL_ENDS_ALL,    /* ... and the answer ends there */
    LABEL_ENDS_SHARED, /* ... for labels that another label continues: no answer is two labels */
};

/* Copies the labels. TD_INVALID: no labels or too many, a label of no tokens or too many, an id
 * outside the vocabulary. **returns new** (label_plan_release). **borrows** the model. */
TD_MUST_CHECK enum td_status label_plan_new(const struct td_model *model,
                                            const struct td_label *labels, size_t count,
                                            enum label_ends ends, struct label_plan **out,
                                            struct td_error *err);
struct label_plan *label_plan_retain(struct label_plan *plan);
void label_plan_release(struct label_plan *plan); /* accepts NULL */
size_t label_plan_count(const struct label_plan *plan);
/* Tokens of a label, its end included where that counts. */
size_t label_plan_length(const struct label_plan *plan, size_t label);
/* Most tokens that stand after the prompt at a time. */
uint32_t label_plan_depth(const struct label_plan *plan);
/* Tokens that run for the first `end` labels in the plan's order. */
uint64_t label_plan_work(const struct label_plan *plan, size_t end);
/* Two labels with the same tokens, or false. */
bool label_plan_twins(const struct label_plan *plan, size_t *first, size_t *second);

struct label_walk {
    const struct label_plan *plan;
    double *scores; /* [labels, in the caller's order]: natural logs of probabilities */
    /* The probability that the answer begins with the model's "not mine" token; NAN = it has
     * none. */
    double not_mine;
    size_t at, end;   /* of the plan's order: the label under way, and where the walk ends */
    uint32_t depth;   /* how many tokens of that label have run */
    bool prompt_done; /* the logits after the prompt have come */
};

/* Walks over the labels [begin, end) of the plan's order; other scores are left as they are.
 * **borrows** plan and scores. */
void label_walk_init(struct label_walk *walk, const struct label_plan *plan, size_t begin,
                     size_t end, double *scores);
/* After the prompt: the next tokens, at most rows_max. They follow the prompt and the first
 * walk->depth tokens that ran after it; everything later has to be truncated. 0 = all labels have
 * their scores. */
size_t label_walk_due(const struct label_walk *walk, size_t rows_max, const int32_t **ids);
/* logits: [rows, vocab], of the prompt's last token, or of the tokens that were due. TD_CORRUPT
 * when they are not numbers. */
TD_MUST_CHECK enum td_status label_walk_take(struct label_walk *walk, const float *logits,
                                             size_t rows, struct td_error *err);

#endif
