/* What the local tier answers without asking the model's weights: questions whose answer can be
 * computed (instant/instant.h). No state; any thread. */
#ifndef TIER_LOCAL_COMPUTED_H
#define TIER_LOCAL_COMPUTED_H

#include "request/request.h"
#include "tandem/engine.h"

/* The grammar of the one answer that a question can have: the engine writes it token by token like
 * any other, so streaming, stops, lengths and usage are as always. The answer is computed. Where
 * several things are asked for of which the model would give one (instant/several.h), it is the
 * sentence that this is not the model's task (*declined). *out is NULL when the question is the
 * model's:
 * - a model that takes all questions, without a "not mine" token, answers in its own words;
 * - the request asks for a form, a call, labels, an adapter, or goes on with a text or a call;
 * - its system prompt says more than who the assistant is (it may still be declined).
 * **returns new** (td_grammar_free). */
TD_MUST_CHECK enum td_status local_computed_grammar(const struct td_model *model,
                                                    const struct td_request *request,
                                                    struct td_grammar **out, bool *declined,
                                                    struct td_error *err);

/* Of a token of such an answer: nothing of it is a guess. */
struct td_token_stats local_computed_stats(bool declined);

#endif
