/* Guesses the next tokens, so that one pass over the weights confirms several (Leviathan et al.
 * 2023, "Fast Inference from Transformers via Speculative Decoding"; Saxena 2023, "Prompt Lookup
 * Decoding").
 *
 * Guesses come from text that the grammar forces, from what followed the same tokens before, or
 * from a smaller model. A guess is kept only if the sampler, with its own random numbers, chooses
 * exactly that token from the model's logits. So the text is the same as without guessing, to the
 * bit. Leviathan's rule accepts a little more often at temperatures above 0, but keeps only the
 * distribution; here a seed gives the same answer with and without speculation. The smaller model
 * draws with the random numbers that the larger one will use, so they agree more often.
 *
 * The measured cost of passes and guesses, and how often guesses were right, decide how many tokens
 * are guessed. One thread. */
#ifndef ENGINE_SPECULATION_H
#define ENGINE_SPECULATION_H

#include "engine/forward/sequence.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler.h"

#define SPECULATION_TOKENS_MAX 16
#define SPECULATION_TOKENS_DEFAULT 8
/* With more generations running together, none of them asks a smaller model. Its passes come one
 * after another, but one pass of the larger model serves all. If a small pass and a further row
 * each cost a tenth of the large pass, and three of four guesses are right, two generations gain a
 * quarter and four would lose. */
#define SPECULATION_DRAFT_STREAMS_MAX 2

enum guess_source { GUESS_FORCED, GUESS_NGRAM, GUESS_DRAFT, GUESS_SOURCES };

/* Measured cost and success. The first four are moving averages; 0 = not known yet. */
struct guess_pace {
    double pass_ms;   /* of a pass with one row */
    double row_ms;    /* of each further row */
    double guess_ms;  /* of a guessed token */
    double right;     /* how often a guess was right, if those before it were */
    uint32_t skipped; /* steps without a guess since the last one */
};

struct speculation {
    enum td_speculation kind;
    uint32_t tokens_max;
    bool always;                  /* for tests: guess even if it does not pay */
    uint32_t streams;             /* that share a pass, including this one; 0 = it is alone */
    uint32_t catch_up_max;        /* most tokens that the draft reads before a step; 0 = all */
    struct td_session *draft;     /* borrowed; NULL unless kind is TD_SPECULATION_DRAFT */
    struct sampler draft_sampler; /* of the draft */
    struct guess_pace pace[GUESS_SOURCES];
    enum guess_source source;                  /* of the current guesses */
    int32_t batch[1 + SPECULATION_TOKENS_MAX]; /* the last token, then guesses at what follows */
    uint32_t guess_count;
    bool guessed; /* the guesses of the current step are made */
};

/* TD_INVALID: too many tokens, a draft that is missing or not allowed, another vocabulary. Call
 * speculation_deinit after success and failure. */
TD_MUST_CHECK enum td_status speculation_init(struct speculation *speculation,
                                              const struct td_model *model,
                                              const struct td_generate_options *options,
                                              struct td_error *err);
void speculation_deinit(struct speculation *speculation);

/* TD_INVALID with the first token that differs between the vocabularies of draft and model. */
TD_MUST_CHECK enum td_status speculation_check_vocabulary(const struct td_model *model,
                                                          const struct td_model *draft,
                                                          struct td_error *err);

/* Fills batch with `last_id`, which follows the sequence, and at most `max` guesses that the
 * grammar allows (filter NULL = no grammar). Further calls change nothing until
 * speculation_note. */
void speculation_guess(struct speculation *speculation, const struct sequence *sequence,
                       int32_t last_id, const struct sampler *sampler, struct token_filter *filter,
                       uint32_t max);
/* Call it after the pass. right: how many guesses were right. pass_ms: how long the pass took. */
void speculation_note(struct speculation *speculation, uint32_t right, double pass_ms);

/* How many tokens to guess, 0 to max: the number with the most expected tokens in a millisecond. */
uint32_t guess_count(const struct guess_pace *pace, uint32_t max);
void guess_note(struct guess_pace *pace, uint32_t guessed, uint32_t right, double pass_ms);

/* Finds the longest earlier run of tokens, at least two, that ends like ids [count] followed by
 * last_id. Writes the tokens that followed it, at most `max`, to `out`; returns how many. */
uint32_t guess_from_text(const int32_t *ids, uint32_t count, int32_t last_id, uint32_t max,
                         int32_t *out);

#endif
