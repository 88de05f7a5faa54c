/* Builds the prefix tree of a vocabulary. Pieces are sorted by their bytes; then the tree, in the
 * order of a depth-first walk, is one pass over the sorted list: the bytes that a piece shares with
 * the piece before it are nodes that exist already. One array and no child pointers make a walk
 * over all tokens run through memory in order, which is what a grammar needs. */
#include "engine/tokenizer/token_index.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <stdlib.h>
#include <string.h>

/* Longer pieces are not offered to a grammar. No vocabulary in use has them. */
#define PIECE_BYTES_MAX 1024

struct td_str token_index_piece(const struct tokenizer *tokenizer, int32_t id)
{
    if (tokenizer_is_end(tokenizer, id))
        return (struct td_str){"", 0};
    return tokenizer_piece(tokenizer, id, false);
}

/* The first bytes of a piece are kept beside its id, so most comparisons do not look at the
 * piece. */
struct sort_entry {
    uint64_t begin; /* 8 bytes, the first the most significant, 0 beyond the end */
    uint32_t id, len;
};

static int compare_entries(const void *a, const void *b, void *tokenizer)
{
    const struct sort_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    struct td_str p = tokenizer_piece(tokenizer, (int32_t)x->id, false);
    struct td_str q = tokenizer_piece(tokenizer, (int32_t)y->id, false);
    int order = memcmp(p.data, q.data, p.len < q.len ? p.len : q.len);
    if (order == 0)
        order = (p.len > q.len) - (p.len < q.len);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static uint64_t begin_of(struct td_str piece)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < 8; i++)
        begin = begin << 8 | (i < piece.len ? (unsigned char)piece.data[i] : 0);
    return begin;
}

static uint16_t shared_len(struct td_str a, struct td_str b)
{
    uint16_t len = 0;
    while (len < a.len && len < b.len && a.data[len] == b.data[len])
        len++;
    return len;
}

/* Sorts the tokens that have text by their bytes, and lists those that end a generation. */
static uint32_t sort_pieces(struct token_index *index, struct sort_entry *sorted,
                            const struct tokenizer *tokenizer)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < index->vocab_count; id++) {
        struct td_str piece = token_index_piece(tokenizer, (int32_t)id);
        if (tokenizer_is_end(tokenizer, (int32_t)id))
            index->ends[index->end_count++] = (int32_t)id;
        if (piece.len == 0 || piece.len > PIECE_BYTES_MAX)
            continue;
        sorted[count++] = (struct sort_entry){begin_of(piece), id, (uint32_t)piece.len};
        index->len_max = piece.len > index->len_max ? (uint32_t)piece.len : index->len_max;
    }
    qsort_r(sorted, count, sizeof *sorted, compare_entries, (void *)(uintptr_t)tokenizer);
    return count;
}

/* The first byte of `piece` that is a new node: the bytes shared with the piece before have nodes
 * already. The same piece again gets one more node beside the first. */
static uint32_t first_new(struct td_str before, struct td_str piece)
{
    uint32_t shared = shared_len(before, piece);
    return shared < piece.len ? shared : shared - 1;
}

static uint32_t count_nodes(const struct sort_entry *sorted, uint32_t count,
                            const struct tokenizer *tokenizer)
{
    struct td_str before = {"", 0};
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct td_str piece = tokenizer_piece(tokenizer, (int32_t)sorted[i].id, false);
        nodes += (uint32_t)piece.len - first_new(before, piece);
        before = piece;
    }
    return nodes;
}

static void fill_nodes(struct token_index *index, const struct sort_entry *sorted, uint32_t count,
                       const struct tokenizer *tokenizer)
{
    uint32_t path[PIECE_BYTES_MAX], depth = 0; /* open nodes, one for each byte */
    struct td_str before = {"", 0};
    for (uint32_t i = 0; i < count; i++) {
        struct td_str piece = tokenizer_piece(tokenizer, (int32_t)sorted[i].id, false);
        uint32_t shared = first_new(before, piece);
        while (depth > shared)
            index->nodes[path[--depth]].end = index->node_count;
        for (; depth < piece.len; depth++) {
            path[depth] = index->node_count;
            index->nodes[index->node_count++] =
                (struct token_node){.id = depth + 1 == piece.len ? sorted[i].id : TOKEN_NODE_NONE,
                                    .depth = (uint16_t)depth,
                                    .byte = (uint8_t)piece.data[depth]};
        }
        before = piece;
    }
    while (depth > 0)
        index->nodes[path[--depth]].end = index->node_count;
}

static void mark_plain(struct token_index *index)
{
    bool path[PIECE_BYTES_MAX + 1] = {false}; /* whether all bytes on the way so far are plain */
    for (uint32_t n = index->node_count; n-- > 0;) { /* backwards: children before parents */
        struct token_node *node = &index->nodes[n];
        node->plain = token_byte_is_plain(node->byte);
        for (uint32_t below = n + 1; below < node->end && node->plain;
             below = index->nodes[below].end)
            node->plain = index->nodes[below].plain;
    }
    for (uint32_t n = 0; n < index->node_count; n++) { /* forwards: parents before children */
        struct token_node *node = &index->nodes[n];
        bool way = node->depth == 0 || path[node->depth];
        path[node->depth + 1] = way && token_byte_is_plain(node->byte);
        node->plain = node->plain && way;
        if (node->plain && node->id != TOKEN_NODE_NONE)
            index->plain[node->id / 64] |= UINT64_C(1) << (node->id % 64);
    }
}

static bool fill(struct token_index *index, struct sort_entry *sorted,
                 const struct tokenizer *tokenizer)
{
    uint32_t count = sort_pieces(index, sorted, tokenizer);
    index->nodes = calloc((size_t)count_nodes(sorted, count, tokenizer) + 1, sizeof *index->nodes);
    if (index->nodes == NULL)
        return false;
    fill_nodes(index, sorted, count, tokenizer);
    mark_plain(index);
    return true;
}

static enum td_status make_index(const struct tokenizer *tokenizer, struct token_index **out,
                                 struct td_error *err)
{
    *out = NULL;
    struct token_index *index = calloc(1, sizeof *index);
    struct sort_entry *sorted = calloc((size_t)tokenizer_count(tokenizer) + 1, sizeof *sorted);
    bool made = index && sorted;
    if (made) {
        index->vocab_count = tokenizer_count(tokenizer);
        index->plain = calloc((size_t)index->vocab_count / 64 + 1, sizeof *index->plain);
        index->ends = calloc((size_t)index->vocab_count + 1, sizeof *index->ends);
        made = index->plain && index->ends && fill(index, sorted, tokenizer);
    }
    free(sorted);
    if (!made) {
        token_index_free(index);
        return error_set(err, TD_NO_MEMORY, "no memory for an index of the vocabulary");
    }
    *out = index;
    return TD_OK;
}

void token_index_free(struct token_index *index)
{
    if (index == NULL)
        return;
    free(index->nodes);
    free(index->plain);
    free(index->ends);
    free(index);
}

uint32_t token_index_longest(const struct token_index *index, struct td_str text, size_t *len)
{
    ASSERT(text.data != NULL || text.len == 0);
    ASSERT(len != NULL);
    uint32_t found = TOKEN_NODE_NONE, n = 0, end = index->node_count;
    *len = 0;
    for (size_t depth = 0; depth < text.len; depth++) {
        while (n < end && index->nodes[n].byte != (unsigned char)text.data[depth])
            n = index->nodes[n].end;
        if (n == end)
            break;
        end = index->nodes[n].end;
        if (index->nodes[n].id != TOKEN_NODE_NONE) {
            found = index->nodes[n].id;
            *len = depth + 1;
        }
        n++;
    }
    return found;
}

enum td_status token_index_get(struct token_index_slot *slot, const struct tokenizer *tokenizer,
                               const struct token_index **out, struct td_error *err)
{
    ASSERT(slot != NULL && tokenizer != NULL);
    struct token_index *made, *there = atomic_load(&slot->index);
    *out = there;
    if (there)
        return TD_OK;
    enum td_status status = make_index(tokenizer, &made, err);
    if (status != TD_OK)
        return status;
    /* Two threads may both have made one. The first stays. */
    if (atomic_compare_exchange_strong(&slot->index, &there, made)) {
        *out = made;
    } else {
        token_index_free(made);
        *out = there;
    }
    return TD_OK;
}
