/* Labels only for those who ask for one. A model that was trained to label intents ("what is my
 * balance?" -> balance) does so for many a question, too, where the label is no answer. So its
 * tokens for such labels are forbidden unless the request asks for a label. */
#ifndef TIER_LOCAL_ASKED_H
#define TIER_LOCAL_ASKED_H

#include "request/request.h"
#include "tandem/engine.h"

/* Biases that forbid the labels of a model's sets of intents; behind them one that makes "not mine"
 * likelier, and then those that forbid "yes" and "no", which answer a question. */
struct local_unasked {
    struct td_logit_bias *biases; /* [count] **owns**; NULL for a model without such sets */
    size_t count, labels, without_answers;
};

TD_MUST_CHECK enum td_status local_unasked_init(struct local_unasked *unasked,
                                                const struct td_model *model, struct td_error *err);
void local_unasked_deinit(struct local_unasked *unasked);
/* How many of the biases hold for a request: 0 where it asks for a label, or may. Pure. */
size_t local_unasked_count(const struct local_unasked *unasked, const struct td_request *request);

/* Whether a request wants a label, or may: a word for it in a message of the user ("classify",
 * "intent", "Kategorie"), a system prompt with a task, a format, a text to go on with. Pure. */
bool local_asked_for_label(const struct td_request *request);

/* Whether a system prompt says no more than who the assistant is: "You are a helpful
 * assistant." Pure. */
bool local_asked_nothing(struct td_str system_prompt);

#endif
