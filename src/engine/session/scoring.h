/* Log-probabilities of given texts: of one text token by token, and of labels that may follow a
 * prompt, which classifies without generating. Labels share the prompt and equal beginnings. So the
 * tokens that run are those of a prefix tree of the labels without its leaves: for labels of one
 * token, only the prompt. The public functions are in tandem/engine.h. One thread. */
#ifndef ENGINE_SCORING_H
#define ENGINE_SCORING_H

#include "engine/model/model.h"

/* Rows of logits at a time: 16 x 128k floats are 8 MiB. */
#define SCORING_ROWS 16

/* log(sum of exp(logits [vocab])). A logit minus this is a log-probability. TD_CORRUPT when it is
 * not a number. */
TD_MUST_CHECK enum td_status scoring_log_sum(const struct td_model *model, const float *logits,
                                             double *out, struct td_error *err);

#endif
