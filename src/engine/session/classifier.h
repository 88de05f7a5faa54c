/* A classifier's parts, for those who run it through the scheduler instead of a session. The public
 * functions are in tandem/engine.h. Immutable; any thread. */
#ifndef ENGINE_CLASSIFIER_H
#define ENGINE_CLASSIFIER_H

#include "base/bytes/buf.h"
#include "engine/session/label_walk.h"

#define CLASSIFIER_MESSAGES_MAX 2

/* **borrows** until td_classifier_free. */
struct label_plan *classifier_labels(const struct td_classifier *classifier);
/* The request for the label of a text. The user's message is appended to `content`, which the
 * messages borrow. Returns how many there are. */
size_t classifier_messages(const struct td_classifier *classifier, struct td_str text,
                           struct buf *content,
                           struct td_message messages[static CLASSIFIER_MESSAGES_MAX]);
/* logs: [count] log-probabilities. Sets probabilities [count], whose sum is 1, and gives the sum
 * before they were normalised. */
double classifier_normalise(const double *logs, size_t count, float *probabilities);
/* The token whose text is all of `text`, or -1. Models that were trained to label have tokens that
 * no tokenizer makes of the text. */
int32_t classifier_token(const struct td_model *model, struct td_str text);

#endif
