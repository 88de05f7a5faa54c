/* Matrices whose columns can be scaled, what makes their inputs, and the folding of scales into
 * both: the model computes the same as before. One thread. */
#ifndef QUANT_SCALING_GROUPS_H
#define QUANT_SCALING_GROUPS_H

#include "quant/quantize/scaling.h"

#define SCALING_USERS_MAX 3
#define SCALING_KINDS 4 /* of groups in a layer */

/* Matrices that share their inputs, and what makes these. */
struct scaling_group {
    size_t users[SCALING_USERS_MAX]; /* items */
    unsigned user_count;
    size_t maker;      /* an item: a norm, or a matrix whose rows are the inputs */
    size_t maker_bias; /* or SIZE_MAX */
    bool maker_is_norm;
    uint32_t shared; /* heads that share a maker's row: query heads of a key head; else 1 */
    uint32_t head;   /* their size; 0 = columns and rows are the same */
};

/* False: the layer has no group of that kind, or one whose scales cannot be folded. Makers come
 * after their own columns were scaled: v and up are users of the norms. */
bool scaling_group_find(const struct quantize_plan *plan, const struct mix_model *model,
                        unsigned layer, unsigned kind, struct scaling_group *group);
/* The row of the maker that makes column `col` of the users. */
size_t scaling_group_row(const struct scaling_group *group, size_t col);

/* The memory that the items of a plan point to. */
struct scaling {
    float **owned;
    size_t owned_count, owned_capacity;
};

/* Frees what was made after the first `count`. */
void scaling_forget(struct scaling *scaling, size_t count);

/* Multiplies the users' columns by scales [cols] and divides the maker's rows by them. Columns that
 * share a row have the same scale. False without memory. */
TD_MUST_CHECK bool scaling_fold(struct scaling *scaling, struct quantize_plan *plan,
                                const struct scaling_group *group, const float *scales,
                                size_t cols);

#endif
