/* One answer as a sequence of small steps, so that td_generate and the scheduler run the same code.
 * A generation says which tokens are due. The caller runs them through the model (forward.h),
 * perhaps together with those of other generations. Then the generation takes the logits. One
 * thread. */
#ifndef ENGINE_GENERATE_H
#define ENGINE_GENERATE_H

#include "engine/forward/forward.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler.h"
#include "engine/session/label_walk.h"
#include "engine/session/speculation.h"
#include "engine/session/text_gate.h"

enum generation_event_kind {
    GENERATION_PREFILL, /* part of the prompt has run */
    GENERATION_TOKEN,   /* token and text */
    GENERATION_TAIL,    /* text that was held back; no token */
    GENERATION_DONE     /* the end; generation.result is complete */
};

struct generation_event {
    enum generation_event_kind kind;
    struct td_token token; /* of GENERATION_TOKEN; top borrows until the next step */
    struct td_str text;    /* borrows until the next step; may be empty */
};

/* A chosen token. With speculation several are chosen before the first is handed out. */
struct generation_choice {
    int32_t id;
    struct td_token_stats stats;
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
    size_t top_count;
    uint32_t length; /* of the sequence; the token was chosen from its last position */
    bool last;       /* nothing can follow */
    enum td_finish finish;
};

#define PROMPT_TOP_MAX 5

/* The probability of one token of a prompt after the tokens before it. */
struct prompt_score {
    float logprob; /* 0 for the first token, which has none before it */
    uint8_t top_count;
    struct td_top_logprob top[PROMPT_TOP_MAX];
};

struct generation {
    const struct td_model *model;
    struct sequence *sequence;
    struct td_generate_options options; /* stops, biases, grammar borrowed until deinit */
    struct sampler sampler;
    struct token_filter *filter; /* NULL without a grammar */
    struct text_gate gate;
    struct td_generate_result result;
    const int32_t *ids; /* [id_count] must go through the model next; the prompt is borrowed */
    size_t id_count;
    double due_ms;       /* when tokens became due */
    double guessed_ms;   /* when guessing had ended */
    uint32_t layers_run; /* that the last logits came through */
    struct speculation speculation;
    struct generation_choice choices[1 + SPECULATION_TOKENS_MAX];
    uint32_t choice_count, choice_next; /* choices from choice_next on are not handed out yet */
    uint32_t chosen_count;              /* tokens chosen so far */
    const int32_t *prompt;              /* the whole prompt */
    struct prompt_score *prompt_scores; /* [prompt tokens] output, borrowed; or NULL */
    bool prompt_only;                   /* the generation ends with the prompt */
    struct label_walk *labels;          /* borrowed: what runs after the prompt; or NULL */
    uint32_t prompt_length;             /* of the sequence, where labels follow */
    int32_t last_id;                    /* the last chosen token */
    bool ended;                         /* the last token is handed out; held text may be due */
    bool done;
};

/* The tokens that must go through the model before generation_take. */
struct generation_due {
    const int32_t *ids;  /* borrowed until then */
    uint32_t count;      /* 0 = no tokens; call generation_take at once */
    uint32_t logit_rows; /* of the last tokens; 0 = a part of the prompt without its end */
};

/* Begins after the cached positions of the sequence. ids: at least one, borrowed until they have
 * run. TD_LIMIT when they do not fit the context. Call generation_deinit after success and
 * failure. */
TD_MUST_CHECK enum td_status
generation_init(struct generation *generation, struct sequence *sequence, const int32_t *ids,
                size_t count, const struct td_generate_options *options, struct td_error *err);
void generation_deinit(struct generation *generation);

/* Before the first generation_due. The tokens of the prompt get scores (NULL = no), with
 * options.top_logprobs alternatives, at most PROMPT_TOP_MAX. only: generate nothing. */
void generation_score_prompt(struct generation *generation, struct prompt_score *scores, bool only);

/* Before the first generation_due. After the prompt the labels run, and nothing is generated.
 * **borrows** the walk. */
void generation_score_labels(struct generation *generation, struct label_walk *labels);

/* Before the first generation_due: the sequence got `count` tokens of the prompt from elsewhere. */
void generation_skip(struct generation *generation, uint32_t count);

/* The tokens that are due. rows_max: most tokens at a time, at least 1. Called again before
 * generation_take it gives the same tokens, or fewer for a smaller rows_max. */
struct generation_due generation_due(struct generation *generation, uint32_t rows_max);
/* The same as a segment of a forward pass. **borrows** due and generation. */
struct segment generation_segment(struct generation *generation, const struct generation_due *due);
/* Whether there are events that need no pass. generation_take gives them when no tokens are due. */
static inline bool generation_has_event(const struct generation *generation)
{
    return generation->ended || generation->choice_next < generation->choice_count;
}

/* Gives the next event, after the due tokens have run. logits: [due.logit_rows, vocab], which it
 * changes. candidates: [vocab], working memory. */
TD_MUST_CHECK enum td_status generation_take(struct generation *generation,
                                             const struct generation_due *due, float *logits,
                                             struct sampler_candidate *candidates,
                                             struct generation_event *event, struct td_error *err);

#endif
