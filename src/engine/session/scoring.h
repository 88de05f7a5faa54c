/* Log-probabilities of given texts: of one text token by token, and of labels that may follow a
 * prompt (label_walk.h), which classifies without generating. The public functions are in
 * tandem/engine.h. One thread. */
#ifndef ENGINE_SCORING_H
#define ENGINE_SCORING_H

#include "engine/session/label_walk.h"

/* Rows of logits at a time: 16 x 128k floats are 8 MiB. */
#define SCORING_ROWS 16

/* log(sum of exp(logits [vocab])). A logit minus this is a log-probability. TD_CORRUPT when it is
 * not a number. */
TD_MUST_CHECK enum td_status scoring_log_sum(const struct td_model *model, const float *logits,
                                             double *out, struct td_error *err);

/* TD_INVALID when an id is outside the vocabulary. what: for the message. */
TD_MUST_CHECK enum td_status scoring_check_ids(const struct td_model *model, const int32_t *ids,
                                               size_t count, const char *what,
                                               struct td_error *err);
/* Runs the prompt after the cached positions, and all that the walk needs. Afterwards the session
 * holds the prompt; after a failure it is as before. */
TD_MUST_CHECK enum td_status scoring_walk(struct td_session *session, const int32_t *prompt,
                                          size_t prompt_count, struct label_walk *walk,
                                          struct td_error *err);

#endif
