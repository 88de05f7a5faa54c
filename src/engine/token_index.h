/* The vocabulary in the order of its pieces' bytes, with the length that each shares with the one before: a
 * prefix tree without its nodes, to find every token that a grammar allows in one walk. Made when a model is
 * first used with a grammar. Immutable; any thread. */
#ifndef ENGINE_TOKEN_INDEX_H
#define ENGINE_TOKEN_INDEX_H

#include "engine/tokenizer.h"

#include <stdatomic.h>

struct token_entry {
    uint32_t id;
    uint16_t shared; /* bytes it begins with as the entry before does */
    uint16_t len;
};

struct token_index {
    struct token_entry *entries; /* [count] tokens that have text and end nothing */
    uint32_t count;
    int32_t *ends; /* [end_count] tokens that end a generation */
    uint32_t end_count;
    uint32_t vocab_count;
    uint32_t len_max; /* of the longest piece */
};

/* **returns new** (token_index_free). */
TD_MUST_CHECK enum td_status token_index_new(const struct tokenizer *tokenizer,
                                             struct token_index **out, struct td_error *err);
void token_index_free(struct token_index *index);

/* Text that the token writes; "" when it writes none or ends the generation. */
struct td_str token_index_piece(const struct tokenizer *tokenizer, int32_t id);

/* A place for an index that is made on first use; owned by the model. */
struct token_index_slot {
    _Atomic(struct token_index *) index;
};

/* **borrows** until the slot's owner frees the index. Any thread. */
TD_MUST_CHECK enum td_status token_index_get(struct token_index_slot *slot,
                                             const struct tokenizer *tokenizer,
                                             const struct token_index **out, struct td_error *err);

#endif
