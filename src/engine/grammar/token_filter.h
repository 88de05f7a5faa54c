/* Which tokens a grammar allows next. The chosen token is tested alone first, which costs a few
 * table look-ups. Only if it is refused are all tokens tested, in one walk over the vocabulary. The
 * result (a mask) is kept for when the same place comes again.
 *
 * With a budget the filter also refuses tokens after which the text could not be completed in the
 * tokens that are left (a byte takes at most one token). So an answer that a limit cuts is still a
 * complete text. One thread. */
#ifndef ENGINE_TOKEN_FILTER_H
#define ENGINE_TOKEN_FILTER_H

#include "engine/grammar/grammar_match.h"
#include "engine/tokenizer/token_index.h"

/* Kept masks, at most this many and this many bytes. A JSON text has few places that come again,
 * such as inside a string and after a comma. A mask of 128k tokens has 16 KiB. */
#define TOKEN_FILTER_MASKS 128
#define TOKEN_FILTER_MASK_BYTES ((size_t)1 << 20)

/* Tokens of which a grammar speaks as tokens and not by their spelling: in the grammar each is one
 * byte, which no text can then have. TOKEN_MARK_OTHER stands for any other token without text. */
enum { TOKEN_MARK_OPEN = 1, TOKEN_MARK_CLOSE = 2, TOKEN_MARK_OTHER = 3 };

struct token_marks {
    int32_t open_id, close_id; /* -1 = the vocabulary has none */
    int32_t free_id;           /* may come first, and frees all that follows; -1 = none */
};

struct token_mask {
    uint32_t set;
    uint32_t used_at;   /* when it was last used */
    uint32_t bytes_max; /* most bytes to the end after one of its tokens */
    bool used;
    bool cut;       /* the budget refused tokens, so it holds for this length only */
    uint64_t *bits; /* [vocab / 64] */
};

struct token_filter {
    struct matcher *matcher;
    const struct tokenizer *tokenizer;
    const struct token_index *index;
    bool ends_allowed; /* end tokens may come where the grammar may end */
    bool budgeted;
    bool budget_due;      /* whether the budget can be kept is decided next */
    uint32_t tokens_left; /* including the token that is chosen next */
    bool marked;          /* marks holds */
    bool begun, freed;    /* a token has come; the free one came first */
    struct token_marks marks;
    uint32_t set;
    struct token_mask masks[TOKEN_FILTER_MASKS];
    uint32_t mask_max; /* how many masks fit the bytes, at least 4 */
    uint32_t wanted;   /* look-ups of masks so far: the clock of used_at */
    uint32_t *path;    /* [len_max + 1] sets along the piece in a walk */
};

/* **returns new** (token_filter_free). Retains the grammar, borrows the others. */
TD_MUST_CHECK enum td_status token_filter_new(struct td_grammar *grammar,
                                              const struct tokenizer *tokenizer,
                                              const struct token_index *index,
                                              struct token_filter **out, struct td_error *err);
void token_filter_free(struct token_filter *filter);

/* Before the first choice, for a grammar with marks. */
void token_filter_mark(struct token_filter *filter, const struct token_marks *marks);

/* Call it before each choice. The first call decides whether the budget can be kept at all. With
 * marks that is decided anew wherever a part begins that must be completed: what comes before it
 * is free. */
void token_filter_set_budget(struct token_filter *filter, uint32_t tokens_left);

/* *allowed: whether `id` may come next. */
TD_MUST_CHECK enum td_status token_filter_test(struct token_filter *filter, int32_t id,
                                               bool *allowed, struct td_error *err);
/* Whether the mask of this place is kept. */
bool token_filter_knows(struct token_filter *filter);
/* Whether testing all tokens costs little here: the mask is kept, or few tokens can be allowed. */
bool token_filter_is_cheap(struct token_filter *filter);
/* Sets the logits of all refused tokens to -INFINITY. TD_UNSUPPORTED when no token is allowed. */
TD_MUST_CHECK enum td_status token_filter_apply(struct token_filter *filter, float *logits,
                                                uint32_t vocab_count, struct td_error *err);
/* Goes on after `id`, which must be allowed. */
TD_MUST_CHECK enum td_status token_filter_accept(struct token_filter *filter, int32_t id,
                                                 struct td_error *err);
/* Writes the tokens of the only text that can come next, at most `max`; returns their number, which
 * is 0 if several bytes are possible. */
uint32_t token_filter_forced(struct token_filter *filter, int32_t *ids, uint32_t max);
/* Whether the grammar allowed no other text than that of `id`, which has not been accepted yet. */
bool token_filter_is_forced(struct token_filter *filter, int32_t id);
/* How many of the ids, from the first on, may come next in this order. */
uint32_t token_filter_count_allowed(struct token_filter *filter, const int32_t *ids,
                                    uint32_t count);
/* Whether only an end may follow. */
bool token_filter_is_complete(const struct token_filter *filter);

#endif
