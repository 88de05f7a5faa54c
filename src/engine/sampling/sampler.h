/* Chooses the next token from one row of logits, and tells what is known about the choice.
 *
 * The order is: biases, presence and frequency penalty, repetition penalty, DRY; then the filters
 * top-n-sigma, typical-p, top-k, top-p, min-p and XTC on the distribution at temperature 1; then
 * the temperature. A grammar comes last: the choice is made again until it allows the token.
 * Mirostat replaces the filters and comes after the temperature. Statistics are those of the
 * unfiltered distribution at temperature 1. One thread. */
#ifndef ENGINE_SAMPLER_H
#define ENGINE_SAMPLER_H

#include "base/crypto/rng.h"
#include "engine/sampling/sampler_penalty.h"
#include "kernels/kernels.h"

/* How many tokens the repetition penalty looks back, unless the settings say. */
#define SAMPLER_RECENT_TOKENS 64u
/* How many tokens it and DRY can look back: a power of two. */
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

/* Bytes of one text that breaks a repetition; of all of them, with a zero byte after each and one
 * at the end. */
#define SAMPLER_BREAKER_BYTES_MAX 64
#define SAMPLER_BREAKERS_BYTES 256

/* Settings of DRY that are not in td_sampling. */
struct sampler_dry {
    uint32_t window; /* how many tokens it looks back; 0 = all */
    /* A zero byte after each and at the end. Empty: newline, colon, quotation mark and asterisk. */
    char breakers[SAMPLER_BREAKERS_BYTES];
};

struct sampler {
    struct td_sampling sampling; /* the biases are borrowed only while sampler_init runs */
    struct token_filter *filter; /* borrowed; what a grammar allows, or NULL */
    /* Borrowed. DRY looks for texts that break a repetition in its pieces; NULL = it does not. */
    const struct tokenizer *tokenizer;
    struct penalty penalty;
    double surprise_max; /* mirostat's, in bits */
    struct rng rng;
    int32_t recent[SAMPLER_HISTORY_MAX];     /* ring */
    bool recent_breaks[SAMPLER_HISTORY_MAX]; /* DRY: the token ends a repetition */
    uint32_t recent_count;                   /* tokens ever accepted */
    struct sampler_dry dry;
    char tail[SAMPLER_BREAKER_BYTES_MAX -
              1]; /* DRY: the end of the text, which may begin a breaker */
    uint32_t tail_len;
    float *blocks; /* made at the first choice */
    uint32_t blocks_vocab;
};

struct sampler_choice {
    int32_t id;
    struct td_token_stats stats;
};

/* Draws a seed when none is set. TD_INVALID with the name of a setting that is out of range. Call
 * sampler_deinit after success and after failure. */
TD_MUST_CHECK enum td_status sampler_init(struct sampler *sampler,
                                          const struct td_sampling *sampling, struct td_error *err);
void sampler_deinit(struct sampler *sampler);
/* The settings also apply to tokens that were accepted before. Without this call the defaults
 * apply. */
void sampler_set_dry(struct sampler *sampler, const struct sampler_dry *dry);
/* Adds a token of the prompt to the history of the repetition penalty and DRY. */
void sampler_accept(struct sampler *sampler, int32_t id);
/* Adds a token of the answer to the history of all penalties. */
void sampler_accept_answer(struct sampler *sampler, int32_t id);

/* Copies random numbers, history and mirostat's state of the leader; settings and memory stay its
 * own. `sampler` then chooses as the leader would, from other logits. */
void sampler_follow(struct sampler *sampler, const struct sampler *leader);

/* logits: [vocab_count]. They change during the call; afterwards they are as before, except that
 * those of tokens which a grammar refuses may be -INFINITY. candidates: [vocab_count] scratch.
 * not_mine_id may be -1. TD_CORRUPT when the logits are not numbers. */
TD_MUST_CHECK enum td_status sampler_choose(struct sampler *sampler, const struct kernels *kernels,
                                            float *logits, uint32_t vocab_count,
                                            int32_t not_mine_id,
                                            struct sampler_candidate *candidates,
                                            struct sampler_choice *choice, struct td_error *err);

/* Writes the `count` largest logits as log-probabilities, descending, equal ones by id. Returns how
 * many there are. */
size_t sampler_top_logprobs(const struct kernels *kernels, const float *logits,
                            uint32_t vocab_count, size_t count, struct td_top_logprob *out);

#endif
