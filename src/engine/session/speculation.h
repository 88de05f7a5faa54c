/* Guessing the next tokens, so that one pass over the weights confirms several (Leviathan et al.
 * 2023, "Fast Inference from Transformers via Speculative Decoding"; Saxena 2023, "Prompt Lookup
 * Decoding").
 *
 * Guesses come from text that the grammar forces, from what followed the same tokens before, or
 * from a smaller model. They cost time and nothing else: a guess is kept where the sampler, with
 * its own random numbers, chooses just that token from the model's logits, so that the text is to
 * the token and the bit the one that comes without guessing. Leviathan's rule accepts a little more
 * often at temperatures above zero but only keeps the distribution; here a seed means the same
 * answer with speculation and without. The smaller model draws with the same random numbers as the
 * larger one will, which makes them agree more often.
 *
 * How many tokens are guessed is decided by what passes and guesses have cost and how often guesses
 * were right. One thread. */
#ifndef ENGINE_SPECULATION_H
#define ENGINE_SPECULATION_H

#include "engine/forward/sequence.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler.h"

#define SPECULATION_TOKENS_MAX 16
#define SPECULATION_TOKENS_DEFAULT 8
/* Most generations running together of which any asks a smaller model. Its passes come one after
 * another, while one pass of the larger serves all: where each of them and each further row cost a
 * tenth of that pass and three of four guesses are right, two gain a quarter, and four would lose. */
#define SPECULATION_DRAFT_STREAMS_MAX 2

enum guess_source { GUESS_FORCED, GUESS_NGRAM, GUESS_DRAFT, GUESS_SOURCES };

/* What is known about cost and success; all of them moving averages, 0 = not known yet. */
struct guess_pace {
    double pass_ms;   /* of a pass with one row */
    double row_ms;    /* of each further row */
    double guess_ms;  /* of a guessed token */
    double right;     /* how often a guess was right, where those before it were */
    uint32_t skipped; /* chances passed over since the last guess */
};

struct speculation {
    enum td_speculation kind;
    uint32_t tokens_max;
    bool always;              /* for tests: guess whatever it costs */
    uint32_t streams;         /* that share a pass with this one, itself too; 0 = it is alone */
    uint32_t catch_up_max;    /* most tokens that draft reads for a step; 0 = as many as it takes */
    struct td_session *draft; /* borrowed; NULL unless kind is TD_SPECULATION_DRAFT */
    struct sampler draft_sampler; /* for it */
    struct guess_pace pace[GUESS_SOURCES];
    enum guess_source source;                  /* of the current guesses */
    int32_t batch[1 + SPECULATION_TOKENS_MAX]; /* the last token, then guesses at what follows */
    uint32_t guess_count;
    bool guessed; /* for the step that is due */
};

/* TD_INVALID: too many tokens, a draft where none belongs or none where one does, another
 * vocabulary. After success or failure: speculation_deinit. */
TD_MUST_CHECK enum td_status speculation_init(struct speculation *speculation,
                                              const struct td_model *model,
                                              const struct td_generate_options *options,
                                              struct td_error *err);
void speculation_deinit(struct speculation *speculation);

/* TD_INVALID with the first token in which the draft's vocabulary is another than the model's. */
TD_MUST_CHECK enum td_status speculation_check_vocabulary(const struct td_model *model,
                                                          const struct td_model *draft,
                                                          struct td_error *err);

/* Fills batch with `last_id`, which follows the sequence, and at most `max` guesses that the
 * grammar (NULL: none) allows. Once a step: further calls change nothing until speculation_note. */
void speculation_guess(struct speculation *speculation, const struct sequence *sequence,
                       int32_t last_id, const struct sampler *sampler, struct token_filter *filter,
                       uint32_t max);
/* After the pass: how many of the guesses were right, and how long it took. */
void speculation_note(struct speculation *speculation, uint32_t right, double pass_ms);

/* How many tokens to guess, by expected tokens a millisecond: 0 to max. */
uint32_t guess_count(const struct guess_pace *pace, uint32_t max);
void guess_note(struct guess_pace *pace, uint32_t guessed, uint32_t right, double pass_ms);

/* What followed the longest run of tokens, at least two, that is also the last of ids [count]:
 * fills at most `max` of out, returns how many. */
uint32_t guess_from_text(const int32_t *ids, uint32_t count, int32_t last_id, uint32_t max,
                         int32_t *out);

#endif
