/* Which tokens a grammar allows next. The chosen token is tried first, which costs a few table
 * look-ups; only when it is refused are all tokens sorted into allowed and not, in one walk over
 * the vocabulary, and what was found is kept for when the same place comes again.
 *
 * With a budget the filter also refuses what could not be completed in the tokens that are left (a
 * byte is at most a token), so that an answer that is cut off by a limit is whole all the same. One
 * thread. */
#ifndef ENGINE_TOKEN_FILTER_H
#define ENGINE_TOKEN_FILTER_H

#include "engine/grammar/grammar_match.h"
#include "engine/tokenizer/token_index.h"

/* Kept masks: a JSON text has a few places that come again, such as inside a string and after a
 * comma. At most so many, and so many bytes of them: a mask of 128k tokens has 16 KiB. */
#define TOKEN_FILTER_MASKS 128
#define TOKEN_FILTER_MASK_BYTES ((size_t)1 << 20)

struct token_mask {
    uint32_t set;
    uint32_t used_at;   /* when it was last wanted */
    uint32_t bytes_max; /* largest number of bytes to the end after one of its tokens */
    bool used;
    bool cut;       /* the budget refused tokens: of no use at another length */
    uint64_t *bits; /* [vocab / 64] */
};

struct token_filter {
    struct matcher *matcher;
    const struct tokenizer *tokenizer;
    const struct token_index *index;
    bool ends_allowed; /* an end token where the grammar may end */
    bool budgeted;
    uint32_t tokens_left; /* with the one that is chosen next */
    uint32_t set;
    struct token_mask masks[TOKEN_FILTER_MASKS];
    uint32_t mask_max; /* how many fit the bytes, at least 4 */
    uint32_t wanted;   /* masks ever wanted: the clock of used_at */
    uint32_t *path;    /* [len_max + 1] sets along the piece in a walk */
};

/* **returns new** (token_filter_free). Retains the grammar, borrows the others. */
TD_MUST_CHECK enum td_status token_filter_new(struct td_grammar *grammar,
                                              const struct tokenizer *tokenizer,
                                              const struct token_index *index,
                                              struct token_filter **out, struct td_error *err);
void token_filter_free(struct token_filter *filter);

/* Before each choice. The first call decides whether the budget can be kept at all. */
void token_filter_set_budget(struct token_filter *filter, uint32_t tokens_left);

/* *allowed: whether `id` may come next. */
TD_MUST_CHECK enum td_status token_filter_test(struct token_filter *filter, int32_t id,
                                               bool *allowed, struct td_error *err);
/* Whether all tokens were sorted here before. */
bool token_filter_knows(struct token_filter *filter);
/* Whether it costs little to sort all tokens here: it was done before, or few can be allowed. */
bool token_filter_is_cheap(struct token_filter *filter);
/* Sets the logits of all tokens that are not allowed to -INFINITY. TD_UNSUPPORTED when none is
 * allowed. */
TD_MUST_CHECK enum td_status token_filter_apply(struct token_filter *filter, float *logits,
                                                uint32_t vocab_count, struct td_error *err);
/* Goes on after `id`, which must be allowed. */
TD_MUST_CHECK enum td_status token_filter_accept(struct token_filter *filter, int32_t id,
                                                 struct td_error *err);
/* Tokens for the text that has to come next, at most `max`: 0 where there is a choice of bytes. */
uint32_t token_filter_forced(struct token_filter *filter, int32_t *ids, uint32_t max);
/* How many of the ids, from the first on, may follow one another. */
uint32_t token_filter_count_allowed(struct token_filter *filter, const int32_t *ids,
                                    uint32_t count);
/* Nothing but an end may follow. */
bool token_filter_is_complete(const struct token_filter *filter);

#endif
