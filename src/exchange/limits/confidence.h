/* Confidence of a (partial) answer, from what the decode loop knows for free:
 *
 *   c = (1 - p_first(not mine)) * exp(mean of the lowest quarter of the tokens' log-probabilities)
 *
 * At least one token counts, and the end token counts, too. The mean of the tail follows the
 * finding that low quantiles of token probability tell more than the mean (Gupta et al. 2024,
 * "Language Model Cascades: Token-level uncertainty and beyond"). The result lies in 0..1.
 *
 * Where the model brings a calibration, its log-odds are scaled and moved (Platt 1999, with the
 * slope written as a temperature as in Guo et al. 2017, "On Calibration of Modern Neural
 * Networks"):
 *
 *   log-odds(c') = log-odds(c) / temperature + bias
 *
 * Calls of tools and labels may have a calibration of their own. Of a call only the tokens count
 * that were chosen: whether to call, the name, the values. What the grammar forced says nothing.
 *
 * With a confidence model (router/judge/confidence_model.h) that is bound to the tier's model, the
 * result is that model's probability of being right; rule and calibration are not used then. */
#ifndef EXCHANGE_CONFIDENCE_H
#define EXCHANGE_CONFIDENCE_H

#include "router/judge/confidence_model.h"
#include "router/plan/facts.h"
#include "tandem/engine.h"

#define CONFIDENCE_TOKENS_MAX 512
#define CONFIDENCE_TOKENS_FEW 16

enum confidence_kind {
    CONFIDENCE_ANSWER,
    CONFIDENCE_CALL,
    CONFIDENCE_LABEL /* a whole answer of one token beside its end */
};

struct confidence {
    /* Reservoir: the first that fit. Most tiers give none, and streams are many. */
    float few[CONFIDENCE_TOKENS_FEW];
    float *more; /* [CONFIDENCE_TOKENS_MAX] with the few, or NULL */
    uint32_t count;
    float not_mine; /* at the first token */
    float probe;    /* the same; 0 = the model has none */
    float margin_min;
    uint64_t token_count; /* also of those that did not fit */
    uint64_t odd_count;   /* of them: numbers that are no log-probabilities */
    double logprob_sum, margin_sum, entropy_sum;
    bool begun;                           /* the first token has come */
    bool calls;                           /* the answer has a call, or the beginning of one */
    bool ended;                           /* the answer is whole: by itself, not cut */
    bool whole;                           /* nothing more comes */
    double temperature, bias;             /* temperature 0: no calibration */
    struct confidence_scale call, label;  /* of the other kinds */
    const struct confidence_model *model; /* or NULL */
    bool weighed;                         /* with a second signal: `weight` is the value */
    double weight;
};

/* The scales of the other kinds are the same until the caller sets them. */
void confidence_init(struct confidence *confidence, double temperature, double bias);
/* Of one that is all zero, too. */
void confidence_deinit(struct confidence *confidence);
void confidence_add(struct confidence *confidence, const struct td_token_stats *stats);
/* The next token, and what follows, belongs to a call. */
void confidence_add_call(struct confidence *confidence);
enum confidence_kind confidence_kind(const struct confidence *confidence);
const char *confidence_kind_name(enum confidence_kind kind); /* "answer", "call", "label" */
/* Nothing more comes. by_itself: an end token or a stop, not a limit. */
void confidence_end(struct confidence *confidence, bool by_itself);
/* A second signal has said more of the whole answer. 0..1. */
void confidence_weigh(struct confidence *confidence, double value);
/* What a model looks at. At least one token. */
void confidence_features(const struct confidence *confidence, struct confidence_features *out);
/* NAN before the first token. */
double confidence_value(const struct confidence *confidence);

#endif
