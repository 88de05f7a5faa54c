/* The vocabulary as a prefix tree, to find every token that a grammar allows in one walk. Made when
 * a model is first used with a grammar. Immutable; any thread.
 *
 * Nodes stand in the order of their text, each before those below it, so that a walk goes through
 * an array and passes over what is below a node by going on at its `end`. */
#ifndef ENGINE_TOKEN_INDEX_H
#define ENGINE_TOKEN_INDEX_H

#include "engine/tokenizer/tokenizer.h"

#include <stdatomic.h>

#define TOKEN_NODE_NONE UINT32_MAX

struct token_node {
    uint32_t id;    /* the token that ends here, or TOKEN_NODE_NONE */
    uint32_t end;   /* of what is below the node */
    uint16_t depth; /* bytes before this one */
    uint8_t byte;
    /* This byte, those on the way to it and all below are plain: printable ASCII less quote and
     * backslash, which is what a string of JSON goes on with. */
    bool plain;
};

struct token_index {
    struct token_node *nodes; /* [node_count] of tokens that have text and end nothing */
    uint32_t node_count;
    uint64_t *plain; /* [vocab / 64] tokens of plain nodes */
    int32_t *ends;   /* [end_count] tokens that end a generation */
    uint32_t end_count;
    uint32_t vocab_count;
    uint32_t len_max; /* of the longest piece */
};

/* Bytes that are plain, as above. */
static inline bool token_byte_is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

void token_index_free(struct token_index *index);

/* Text that the token writes; "" when it writes none or ends the generation. */
struct td_str token_index_piece(const struct tokenizer *tokenizer, int32_t id);

/* The longest token that `text` begins with, or TOKEN_NODE_NONE; *len: its bytes. */
uint32_t token_index_longest(const struct token_index *index, struct td_str text, size_t *len);

/* A place for an index that is made on first use; owned by the model. */
struct token_index_slot {
    _Atomic(struct token_index *) index;
};

/* **borrows** until the slot's owner frees the index. Any thread. */
TD_MUST_CHECK enum td_status token_index_get(struct token_index_slot *slot,
                                             const struct tokenizer *tokenizer,
                                             const struct token_index **out, struct td_error *err);

#endif
