/* Choosing the next token from one row of logits, and what is known about the choice.
 *
 * Order: biases, presence and frequency penalty, repetition penalty, DRY, then the filters
 * top-n-sigma, typical-p, top-k, top-p, min-p and XTC on the distribution at temperature 1, then
 * the temperature; a grammar last, by choosing again among what it allows. Mirostat takes the place
 * of the filters, after the temperature. Statistics are those of the unfiltered distribution at
 * temperature 1. One thread. */
#ifndef ENGINE_SAMPLER_H
#define ENGINE_SAMPLER_H

#include "base/rng.h"
#include "engine/sampling/sampler_penalty.h"
#include "kernels/kernels.h"

/* How many of the last tokens the repetition penalty looks at, unless it is told. */
#define SAMPLER_RECENT_TOKENS 64u
/* How many it and DRY can look at: a power of two. */
#define SAMPLER_HISTORY_MAX 4096u

struct sampler_candidate {
    float logit;
    int32_t id;
};

struct token_filter;
struct tokenizer;

/* What a choice is made from. */
struct sampler_row {
    const struct kernels *kernels;
    float *logits; /* [vocab_count] */
    uint32_t vocab_count;
    struct sampler_candidate *candidates; /* [vocab_count] scratch */
    float *blocks;                        /* [sampler_block_count] scratch */
};

static inline uint32_t sampler_block_count(uint32_t vocab_count)
{
    return (vocab_count + LOGIT_BLOCK - 1) / LOGIT_BLOCK;
}

/* Of the texts that break a repetition: each; all of them with a zero byte behind each, and one at
 * the end. */
#define SAMPLER_BREAKER_BYTES_MAX 64
#define SAMPLER_BREAKERS_BYTES 256

/* What may be said of DRY beyond td_sampling. */
struct sampler_dry {
    uint32_t window; /* tokens that it looks back; 0 = as many as there are */
    /* Zero bytes after each and at the end; none: a newline, a colon, a quotation mark and an
     * asterisk. */
    char breakers[SAMPLER_BREAKERS_BYTES];
};

struct sampler {
    struct td_sampling sampling; /* biases borrowed only while sampler_init runs */
    struct token_filter *filter; /* borrowed; what a grammar allows, or NULL */
    const struct tokenizer
        *tokenizer; /* borrowed; where DRY finds what breaks a repetition, or NULL */
    struct penalty penalty;
    double surprise_max; /* mirostat's, in bits */
    struct rng rng;
    int32_t recent[SAMPLER_HISTORY_MAX];     /* ring */
    bool recent_breaks[SAMPLER_HISTORY_MAX]; /* DRY: the token ends a repetition */
    uint32_t recent_count;                   /* tokens ever accepted */
    struct sampler_dry dry;
    char tail[SAMPLER_BREAKER_BYTES_MAX - 1]; /* DRY: the text's end, where a breaker may begin */
    uint32_t tail_len;
    float *blocks; /* made at the first choice */
    uint32_t blocks_vocab;
};

struct sampler_choice {
    int32_t id;
    struct td_token_stats stats;
};

/* TD_INVALID with the name of a setting that is out of range. Draws a seed when none is set. After
 * success or failure: sampler_deinit. */
TD_MUST_CHECK enum td_status sampler_init(struct sampler *sampler,
                                          const struct td_sampling *sampling, struct td_error *err);
void sampler_deinit(struct sampler *sampler);
/* Holds for the tokens that were noted before as well; without it the defaults do. */
void sampler_set_dry(struct sampler *sampler, const struct sampler_dry *dry);
/* Notes a token of the prompt for the repetition penalty and DRY. */
void sampler_accept(struct sampler *sampler, int32_t id);
/* Notes a token of the answer for all penalties. */
void sampler_accept_answer(struct sampler *sampler, int32_t id);

/* Takes over random numbers, history and mirostat's state, but keeps settings and memory of its
 * own: `sampler` then chooses as the leader would, from other logits. */
void sampler_follow(struct sampler *sampler, const struct sampler *leader);

/* logits: [vocab_count], the same after the call as before (changed in between), but those that a
 * grammar forbids may be lost. candidates: [vocab_count] scratch. not_mine_id may be -1. TD_CORRUPT
 * when the logits are not numbers. */
TD_MUST_CHECK enum td_status sampler_choose(struct sampler *sampler, const struct kernels *kernels,
                                            float *logits, uint32_t vocab_count,
                                            int32_t not_mine_id,
                                            struct sampler_candidate *candidates,
                                            struct sampler_choice *choice, struct td_error *err);

/* The `count` largest logits as log-probabilities, descending, equal ones by id. Returns the
 * number. */
size_t sampler_top_logprobs(const struct kernels *kernels, const float *logits,
                            uint32_t vocab_count, size_t count, struct td_top_logprob *out);

#endif
