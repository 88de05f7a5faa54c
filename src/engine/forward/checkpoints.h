/* Copies of the recurrent state of sequences at the end of full pages, so that a text can go on
 * from there without being read from its beginning. A checkpoint belongs to a page and is shared
 * and given up with it. There are few, because a state may have tens of megabytes: when all are in
 * use, the one that was unused longest goes. Part of a kv_pool; one thread at a time. */
#ifndef ENGINE_CHECKPOINTS_H
#define ENGINE_CHECKPOINTS_H

#include "engine/model/model.h"

/* In a context of 4096 tokens, one for each 512. */
#define CHECKPOINTS_MAX 8
#define CHECKPOINT_NONE UINT32_MAX

struct checkpoints {
    uint64_t state_bytes; /* of one; 0 = the model has no recurrent state */
    uint32_t count;
    uint8_t *block; /* [count, state_bytes] */
    struct checkpoint {
        uint32_t page; /* its owner; CHECKPOINT_NONE = it is free, or being made */
        bool in_making;
        uint64_t used;
    } list[CHECKPOINTS_MAX];
    uint64_t clock;
};

/* Of the state of one sequence, whole pages of memory; 0 = the model has none. UINT64_MAX = the
 * number overflows. */
uint64_t recurrent_state_bytes(const struct td_model *model);

/* For a pool of page_count pages. checkpoints_deinit in any case. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status checkpoints_init(struct checkpoints *checkpoints,
                                              const struct td_model *model, uint32_t page_count,
                                              struct td_error *err);
void checkpoints_deinit(struct checkpoints *checkpoints);
/* What checkpoints_init maps. */
uint64_t checkpoints_bytes(const struct td_model *model, uint64_t page_count);

/* The page's checkpoint; CHECKPOINT_NONE = it has none. */
uint32_t checkpoint_find(const struct checkpoints *checkpoints, uint32_t page);
/* The same, and it counts as a use. */
uint32_t checkpoint_use(struct checkpoints *checkpoints, uint32_t page);
float *checkpoint_state(const struct checkpoints *checkpoints, uint32_t number);

/* Takes one to fill: that of the page `instead`, if it has one. CHECKPOINT_NONE when all are being
 * made. checkpoint_end gives it to `page`, or frees it (CHECKPOINT_NONE). */
uint32_t checkpoint_begin(struct checkpoints *checkpoints, uint32_t instead);
void checkpoint_end(struct checkpoints *checkpoints, uint32_t number, uint32_t page);

/* The page is free, or its text will be another. */
void checkpoint_drop(struct checkpoints *checkpoints, uint32_t page);
/* `to` has the same text as `from`, which will be given back. */
void checkpoint_move(struct checkpoints *checkpoints, uint32_t to, uint32_t from);
/* Overwrites those that nobody owns. */
void checkpoints_wipe_free(struct checkpoints *checkpoints);
/* Overwrites `bytes` of whole pages of memory with zeroes, and gives the memory back. */
void recurrent_state_wipe(void *state, uint64_t bytes);

#endif
