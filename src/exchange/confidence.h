/* Confidence of a (partial) answer from the free features of the decode loop:
 *   c = (1 - p_first(not mine)) * exp(mean of the lowest quarter (at least one) of the tokens'
 *       log-probabilities, the end token included).
 * The tail mean follows the finding that low quantiles of token probability tell more than the mean
 * (Gupta et al. 2024, "Language Model Cascades: Token-level uncertainty and beyond"). 0..1.
 * Where the model brings a calibration its log-odds are scaled and moved (Platt 1999, with the
 * slope written as a temperature as in Guo et al. 2017, "On Calibration of Modern Neural
 * Networks"):
 *   log-odds(c') = log-odds(c) / temperature + bias */
#ifndef EXCHANGE_CONFIDENCE_H
#define EXCHANGE_CONFIDENCE_H

#include "tandem/engine.h"

#define CONFIDENCE_TOKENS_MAX 512

struct confidence {
    float logprobs[CONFIDENCE_TOKENS_MAX]; /* reservoir: the first that fit */
    uint32_t count;
    float not_mine; /* at the first token */
    float margin_min;
    double entropy_sum;
    double temperature, bias; /* temperature 0: no calibration */
};

void confidence_init(struct confidence *confidence, double temperature, double bias);
void confidence_add(struct confidence *confidence, const struct td_token_stats *stats);
/* NAN before the first token. */
double confidence_value(const struct confidence *confidence);

#endif
