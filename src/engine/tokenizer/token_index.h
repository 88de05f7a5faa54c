/* The vocabulary as a prefix tree: one walk finds every token that a grammar allows. It is made
 * when a model is first used with a grammar. Immutable; any thread.
 *
 * Nodes are sorted by their text, a parent before its children. A walk goes through an array, and
 * skips everything below a node by going on at the node's `end`. */
#ifndef ENGINE_TOKEN_INDEX_H
#define ENGINE_TOKEN_INDEX_H

#include "engine/tokenizer/tokenizer.h"

#include <stdatomic.h>

#define TOKEN_NODE_NONE UINT32_MAX

struct token_node {
    uint32_t id;    /* the token that ends here, or TOKEN_NODE_NONE */
    uint32_t end;   /* number of the first node after those below this one */
    uint16_t depth; /* bytes before this one */
    uint8_t byte;
    /* This byte, all bytes before it and all below it are plain: printable ASCII without quote and
     * backslash. A JSON string may continue with any of them. */
    bool plain;
};

struct token_index {
    struct token_node *nodes; /* [node_count] of the tokens that have text and end nothing */
    uint32_t node_count;
    uint64_t *plain; /* [vocab / 64] bit set: the tokens of plain nodes */
    int32_t *ends;   /* [end_count] the tokens that end a generation */
    uint32_t end_count;
    uint32_t vocab_count;
    uint32_t len_max; /* of the longest piece */
};

static inline bool token_byte_is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

void token_index_free(struct token_index *index);

/* The text that the token writes; "" when it writes none or ends the generation. */
struct td_str token_index_piece(const struct tokenizer *tokenizer, int32_t id);

/* The longest token that `text` begins with, or TOKEN_NODE_NONE. *len: its length in bytes. */
uint32_t token_index_longest(const struct token_index *index, struct td_str text, size_t *len);

/* The place of an index that is made on first use. The model owns it. */
struct token_index_slot {
    _Atomic(struct token_index *) index;
};

/* Gives the index of the slot, and makes it first if there is none. **borrows** until the slot's
 * owner frees the index. Any thread. */
TD_MUST_CHECK enum td_status token_index_get(struct token_index_slot *slot,
                                             const struct tokenizer *tokenizer,
                                             const struct token_index **out, struct td_error *err);

#endif
