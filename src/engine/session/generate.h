/* One answer as a sequence of small steps, so that td_generate and the scheduler drive the same
 * code: a generation says what is due, somebody runs it through the model (forward.h), perhaps
 * together with what is due elsewhere, and the generation takes the logits. One thread. */
#ifndef ENGINE_GENERATE_H
#define ENGINE_GENERATE_H

#include "engine/forward/forward.h"
#include "engine/grammar/token_filter.h"
#include "engine/sampling/sampler.h"
#include "engine/session/speculation.h"
#include "engine/session/text_gate.h"

enum generation_event_kind {
    GENERATION_PREFILL, /* part of the prompt went in */
    GENERATION_TOKEN,   /* token and text */
    GENERATION_TAIL,    /* text that was held back; no token */
    GENERATION_DONE     /* nothing more: see generation.result */
};

struct generation_event {
    enum generation_event_kind kind;
    struct td_token token; /* of GENERATION_TOKEN; top borrows until the next step */
    struct td_str text;    /* borrows until the next step; may be empty */
};

/* A token that was chosen; with speculation several are before the first is handed out. */
struct generation_choice {
    int32_t id;
    struct td_token_stats stats;
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
    size_t top_count;
    uint32_t length; /* of the sequence, from whose last position it was chosen */
    bool last;       /* nothing can follow */
    enum td_finish finish;
};

/* Of a token of a prompt: what the tokens before it made of it. */
#define PROMPT_TOP_MAX 5

struct prompt_score {
    float logprob; /* the first token's is 0: nothing stands before it */
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
    const int32_t *ids; /* what has to go through the model next; the prompt is borrowed */
    size_t id_count;
    double due_ms; /* when it said so, and when it was ready with guessing */
    double guessed_ms;
    uint32_t layers_run; /* behind the last logits */
    struct speculation speculation;
    struct generation_choice choices[1 + SPECULATION_TOKENS_MAX];
    uint32_t choice_count, choice_next; /* those from choice_next on are to be handed out */
    uint32_t chosen_count;              /* tokens chosen so far */
    const int32_t *prompt;              /* all of it */
    struct prompt_score *prompt_scores; /* [prompt tokens] to be filled, borrowed; or NULL */
    bool prompt_only;                   /* ends with the prompt */
    int32_t last_id;                    /* the last one */
    bool ended;                         /* the last token was handed out; its tail may be due */
    bool done;
};

/* What has to go through the model before generation_take. */
struct generation_due {
    const int32_t *ids;  /* borrowed until then */
    uint32_t count;      /* 0: nothing, only generation_take is due */
    uint32_t logit_rows; /* of the last tokens; 0 = part of the prompt, without its end */
};

/* Continues after what the sequence holds. ids: at least 1, borrowed until prefilled. TD_LIMIT when
 * they do not fit the context. After success or failure: generation_deinit. */
TD_MUST_CHECK enum td_status
generation_init(struct generation *generation, struct sequence *sequence, const int32_t *ids,
                size_t count, const struct td_generate_options *options, struct td_error *err);
void generation_deinit(struct generation *generation);

/* Before anything was due: the prompt's tokens get scores (NULL = not), with as many alternatives
 * as options.top_logprobs, at most PROMPT_TOP_MAX; `only`: nothing is generated. */
void generation_score_prompt(struct generation *generation, struct prompt_score *scores, bool only);

/* The sequence has got `count` tokens of the prompt from elsewhere, before anything was due. */
void generation_skip(struct generation *generation, uint32_t count);

/* rows_max: most tokens at a time, at least 1. Asked again before generation_take it says the same,
 * or less for a smaller rows_max. */
struct generation_due generation_due(struct generation *generation, uint32_t rows_max);
/* The same as a segment of a forward pass. Borrows due and generation. */
struct segment generation_segment(struct generation *generation, const struct generation_due *due);
/* Whether events are left that need no pass: generation_take with nothing due gives them. */
static inline bool generation_has_event(const struct generation *generation)
{
    return generation->ended || generation->choice_next < generation->choice_count;
}

/* After what was due has gone through: the next event. logits [due.logit_rows, vocab] are changed;
 * candidates [vocab] is working memory. */
TD_MUST_CHECK enum td_status generation_take(struct generation *generation,
                                             const struct generation_due *due, float *logits,
                                             struct sampler_candidate *candidates,
                                             struct generation_event *event, struct td_error *err);

#endif
