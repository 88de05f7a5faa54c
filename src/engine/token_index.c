#include "engine/token_index.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Longer pieces are not offered to a grammar: no vocabulary that is in use has them. */
#define PIECE_BYTES_MAX 1024

struct td_str token_index_piece(const struct tokenizer *tokenizer, int32_t id)
{
    if (tokenizer_is_end(tokenizer, id))
        return (struct td_str){"", 0};
    return tokenizer_piece(tokenizer, id, false);
}

/* The first bytes beside the id, so that most comparisons need not look at the piece. */
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

static void fill(struct token_index *index, struct sort_entry *sorted,
                 const struct tokenizer *tokenizer)
{
    for (uint32_t id = 0; id < index->vocab_count; id++) {
        struct td_str piece = token_index_piece(tokenizer, (int32_t)id);
        if (tokenizer_is_end(tokenizer, (int32_t)id))
            index->ends[index->end_count++] = (int32_t)id;
        if (piece.len == 0 || piece.len > PIECE_BYTES_MAX)
            continue;
        sorted[index->count++] = (struct sort_entry){begin_of(piece), id, (uint32_t)piece.len};
        index->len_max = piece.len > index->len_max ? (uint32_t)piece.len : index->len_max;
    }
    qsort_r(sorted, index->count, sizeof *sorted, compare_entries, (void *)(uintptr_t)tokenizer);
    struct td_str before = {"", 0};
    for (uint32_t i = 0; i < index->count; i++) {
        struct td_str piece = tokenizer_piece(tokenizer, (int32_t)sorted[i].id, false);
        index->entries[i] =
            (struct token_entry){sorted[i].id, shared_len(before, piece), (uint16_t)piece.len};
        before = piece;
    }
}

enum td_status token_index_new(const struct tokenizer *tokenizer, struct token_index **out,
                               struct td_error *err)
{
    *out = NULL;
    struct token_index *index = calloc(1, sizeof *index);
    struct sort_entry *sorted = calloc((size_t)tokenizer_count(tokenizer) + 1, sizeof *sorted);
    if (index) {
        index->vocab_count = tokenizer_count(tokenizer);
        index->entries = calloc((size_t)index->vocab_count + 1, sizeof *index->entries);
        index->ends = calloc((size_t)index->vocab_count + 1, sizeof *index->ends);
    }
    if (index == NULL || sorted == NULL || index->entries == NULL || index->ends == NULL) {
        token_index_free(index);
        free(sorted);
        return error_set(err, TD_NO_MEMORY, "no memory for an index of the vocabulary");
    }
    fill(index, sorted, tokenizer);
    free(sorted);
    *out = index;
    return TD_OK;
}

void token_index_free(struct token_index *index)
{
    if (index == NULL)
        return;
    free(index->entries);
    free(index->ends);
    free(index);
}

enum td_status token_index_get(struct token_index_slot *slot, const struct tokenizer *tokenizer,
                               const struct token_index **out, struct td_error *err)
{
    struct token_index *made, *there = atomic_load(&slot->index);
    *out = there;
    if (there)
        return TD_OK;
    enum td_status status = token_index_new(tokenizer, &made, err);
    if (status != TD_OK)
        return status;
    /* Two threads may both have made one: the first stays. */
    if (atomic_compare_exchange_strong(&slot->index, &there, made)) {
        *out = made;
    } else {
        token_index_free(made);
        *out = there;
    }
    return TD_OK;
}
