/* Log-probabilities of given texts: of one text token by token, and of labels that may follow a
 * prompt, to classify without generating. Labels share the prompt and whatever they begin with
 * alike, so that the tokens that go through the model are those of a prefix tree of the labels
 * without its leaves: for labels of one token each, none but the prompt's. The public functions are
 * in tandem/engine.h. */
#ifndef ENGINE_SCORING_H
#define ENGINE_SCORING_H

#include "engine/model/model.h"

/* Rows of logits at a time: 16 x 128k floats are 8 MiB. */
#define SCORING_ROWS 16

/* What is taken from a logit of `logits` [vocab] to make it a log-probability: log of the sum of
 * all exponentials. TD_CORRUPT when it is no number. */
TD_MUST_CHECK enum td_status scoring_log_sum(const struct td_model *model, const float *logits,
                                             double *out, struct td_error *err);

#endif
