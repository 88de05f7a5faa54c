/* The gates that look at what the model expects of its answer (G1), at a running (G2) and at a
 * complete (G3) one. G0 is part of the plan. Pure
 * functions of settings and confidence: what is done about a verdict is the exchange's business. */
#ifndef EXCHANGE_GATES_H
#define EXCHANGE_GATES_H

#include "exchange/limits/confidence.h"
#include "router/plan/policy.h"

enum gate_verdict {
    GATE_STAY,
    GATE_LOW_CONFIDENCE,
    GATE_NOT_MINE,
    GATE_LOW_PROBE,
    GATE_CUT /* the tier's own limit ended the answer, not the request's */
};

struct gate_result {
    enum gate_verdict verdict;
    double confidence, threshold; /* NAN where there is none */
};

bool gates_on(const struct gate_settings *gates); /* one of them judges answers */

/* After each token; token_count includes it. A first token that says "not mine" needs no second
 * look. */
struct gate_result gates_look(const struct gate_settings *gates,
                              const struct confidence *confidence, uint32_t token_count);
/* The whole answer: G3, and G2 for an answer shorter than it wanted to see. */
struct gate_result gates_judge(const struct gate_settings *gates,
                               const struct confidence *confidence, uint32_t token_count);

#endif
