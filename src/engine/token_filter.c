#include "engine/token_filter.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t mask_words(const struct token_filter *f)
{
    return ((size_t)f->index->vocab_count + 63) / 64;
}

static enum td_status explodes(struct td_error *err)
{
    return error_set(err, TD_LIMIT,
                     "the grammar has too many ways to go on: it cannot be followed");
}

enum td_status token_filter_new(struct td_grammar *grammar, const struct tokenizer *tokenizer,
                                const struct token_index *index, struct token_filter **out,
                                struct td_error *err)
{
    *out = NULL;
    struct token_filter *f = calloc(1, sizeof *f);
    if (f == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar's filter");
    *f = (struct token_filter){.tokenizer = tokenizer, .index = index, .ends_allowed = true};
    f->path = calloc((size_t)index->len_max + 1, sizeof *f->path);
    enum td_status status = f->path ? matcher_new(grammar, &f->matcher, err)
                                    : error_set(err, TD_NO_MEMORY, "no memory for a filter");
    if (status == TD_OK) {
        f->set = matcher_start(f->matcher);
        if (f->set == MATCH_FULL)
            status = explodes(err);
    }
    if (status != TD_OK) {
        token_filter_free(f);
        return status;
    }
    f->tokens_left = UINT32_MAX;
    *out = f;
    return TD_OK;
}

void token_filter_free(struct token_filter *f)
{
    if (f == NULL)
        return;
    for (int i = 0; i < TOKEN_FILTER_MASKS; i++)
        free(f->masks[i].bits);
    matcher_free(f->matcher);
    free(f->path);
    free(f);
}

void token_filter_set_budget(struct token_filter *f, uint32_t tokens_left)
{
    if (f->tokens_left == UINT32_MAX)
        f->budgeted = matcher_bytes_to_end(f->matcher, f->set) <= tokens_left;
    f->tokens_left = tokens_left;
}

static bool in_budget(const struct token_filter *f, uint32_t set)
{
    return !f->budgeted || matcher_bytes_to_end(f->matcher, set) < f->tokens_left;
}

/* The set after the piece. */
static uint32_t walk(struct token_filter *f, struct td_str piece)
{
    uint32_t set = f->set;
    for (size_t i = 0; i < piece.len && set != MATCH_DEAD && set != MATCH_FULL; i++)
        set = matcher_step(f->matcher, set, (unsigned char)piece.data[i]);
    return set;
}

/* Makes room where there is none, so that a step that met a limit may be tried once more. */
static enum td_status compact(struct token_filter *f, struct td_error *err)
{
    for (int i = 0; i < TOKEN_FILTER_MASKS; i++)
        f->masks[i].used = false;
    f->set = matcher_compact(f->matcher, f->set);
    return f->set == MATCH_FULL ? explodes(err) : TD_OK;
}

static enum td_status walk_or_compact(struct token_filter *f, struct td_str piece, uint32_t *set,
                                      struct td_error *err)
{
    *set = walk(f, piece);
    if (*set != MATCH_FULL)
        return TD_OK;
    enum td_status status = compact(f, err);
    if (status != TD_OK)
        return status;
    *set = walk(f, piece);
    return *set == MATCH_FULL ? explodes(err) : TD_OK;
}

enum td_status token_filter_test(struct token_filter *f, int32_t id, bool *allowed,
                                 struct td_error *err)
{
    struct td_str piece = token_index_piece(f->tokenizer, id);
    *allowed = false;
    if (piece.len == 0) {
        *allowed = f->ends_allowed && tokenizer_is_end(f->tokenizer, id) &&
                   matcher_may_end(f->matcher, f->set);
        return TD_OK;
    }
    uint32_t set;
    enum td_status status = walk_or_compact(f, piece, &set, err);
    *allowed = status == TD_OK && set != MATCH_DEAD && in_budget(f, set);
    return status;
}

/* --- all tokens ---------------------------------------------------------------------------------- */

static void allow(struct token_mask *mask, uint32_t id)
{
    mask->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

/* One walk over the sorted vocabulary; false when a limit was met. path[d] is the set after d bytes of the
 * entry; entries that share a dead beginning are passed over without a step. */
static bool fill_mask(struct token_filter *f, struct token_mask *mask, bool *any)
{
    memset(mask->bits, 0, mask_words(f) * sizeof *mask->bits);
    mask->bytes_max = 0;
    mask->cut = *any = false;
    f->path[0] = f->set;
    uint32_t alive = 0; /* path[0..alive] are known and not dead, for the entry before */
    for (uint32_t i = 0; i < f->index->count; i++) {
        struct token_entry entry = f->index->entries[i];
        if (entry.shared > alive)
            continue; /* what it shares leads out of the grammar */
        struct td_str piece = tokenizer_piece(f->tokenizer, (int32_t)entry.id, false);
        uint32_t depth = entry.shared, set = f->path[depth];
        while (depth < entry.len) {
            set = matcher_step(f->matcher, set, (unsigned char)piece.data[depth]);
            if (set == MATCH_FULL)
                return false;
            if (set == MATCH_DEAD)
                break;
            f->path[++depth] = set;
        }
        alive = depth;
        if (depth < entry.len)
            continue;
        if (!in_budget(f, set)) {
            mask->cut = true;
            continue;
        }
        uint32_t bytes = matcher_bytes_to_end(f->matcher, set);
        mask->bytes_max = bytes > mask->bytes_max ? bytes : mask->bytes_max;
        allow(mask, entry.id);
        *any = true;
    }
    return true;
}

static struct token_mask *find_mask(struct token_filter *f)
{
    for (int i = 0; i < TOKEN_FILTER_MASKS; i++) {
        struct token_mask *mask = &f->masks[i];
        if (mask->used && mask->set == f->set && (!f->budgeted || mask->bytes_max < f->tokens_left))
            return mask;
    }
    return NULL;
}

static enum td_status make_mask(struct token_filter *f, struct token_mask **out, bool *any,
                                struct td_error *err)
{
    struct token_mask *mask = &f->masks[f->mask_next++ % TOKEN_FILTER_MASKS];
    if (mask->bits == NULL)
        mask->bits = calloc(mask_words(f) + 1, sizeof *mask->bits);
    if (mask->bits == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar's filter");
    mask->used = false;
    if (!fill_mask(f, mask, any)) {
        enum td_status status = compact(f, err);
        if (status != TD_OK)
            return status;
        if (!fill_mask(f, mask, any))
            return explodes(err);
    }
    mask->set = f->set;
    mask->used = !mask->cut;
    *out = mask;
    return TD_OK;
}

enum td_status token_filter_apply(struct token_filter *f, float *logits, uint32_t vocab_count,
                                  struct td_error *err)
{
    struct token_mask *mask = find_mask(f);
    bool ends = f->ends_allowed && matcher_may_end(f->matcher, f->set) && f->index->end_count > 0;
    bool any = true;
    enum td_status status = mask ? TD_OK : make_mask(f, &mask, &any, err);
    if (status == TD_OK && !any && !ends && f->budgeted) {
        f->budgeted = false; /* the vocabulary lacks single bytes: the limit may cut after all */
        status = make_mask(f, &mask, &any, err);
    }
    if (status != TD_OK)
        return status;
    if (!any && !ends)
        return error_set(err, TD_UNSUPPORTED,
                         "no token of the vocabulary goes on as the grammar "
                         "demands");
    for (uint32_t i = 0; ends && i < f->index->end_count; i++)
        allow(mask, (uint32_t)f->index->ends[i]);
    for (uint32_t id = 0; id < vocab_count; id++) {
        uint64_t word = id < f->index->vocab_count ? mask->bits[id / 64] : 0;
        if (word == UINT64_MAX && id % 64 == 0 && id + 63 < vocab_count)
            id += 63; /* all of the word's tokens are allowed */
        else if (!(word >> (id % 64) & 1))
            logits[id] = -INFINITY;
    }
    return TD_OK;
}

enum td_status token_filter_accept(struct token_filter *f, int32_t id, struct td_error *err)
{
    uint32_t set = f->set;
    enum td_status status = walk_or_compact(f, token_index_piece(f->tokenizer, id), &set, err);
    if (status != TD_OK)
        return status;
    if (set == MATCH_DEAD)
        return error_set(err, TD_INTERNAL, "token %d leaves the grammar", id);
    f->set = set;
    return matcher_is_crowded(f->matcher) ? compact(f, err) : TD_OK;
}

bool token_filter_is_complete(const struct token_filter *f)
{
    return matcher_must_end(f->matcher, f->set);
}
