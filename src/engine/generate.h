/* One answer as a sequence of small steps, so that td_generate and the scheduler drive the same
 * code: a generation says what is due, somebody runs it through the model (forward.h), perhaps
 * together with what is due elsewhere, and the generation takes the logits. One thread. */
#ifndef ENGINE_GENERATE_H
#define ENGINE_GENERATE_H

#include "engine/sampler.h"
#include "engine/sequence.h"
#include "engine/text_gate.h"
#include "engine/token_filter.h"

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
    double due_ms; /* when it said so */
    int32_t last_id;
    bool ended; /* the last token was produced; its tail may be due */
    bool done;
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
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

/* The sequence has got `count` tokens of the prompt from elsewhere, before anything was due. */
void generation_skip(struct generation *generation, uint32_t count);

/* prefill_max: most prompt tokens at a time, at least 1. */
struct generation_due generation_due(struct generation *generation, uint32_t prefill_max);
/* After what was due has gone through: the next event. logits [due.logit_rows, vocab] are changed;
 * candidates [vocab] is working memory. */
TD_MUST_CHECK enum td_status generation_take(struct generation *generation,
                                             const struct generation_due *due, float *logits,
                                             struct sampler_candidate *candidates,
                                             struct generation_event *event, struct td_error *err);

#endif
