/* The gates that look at an answer: at what the model expects of it (G1), while it comes (G2), and
 * when it is whole (G3). G0 chooses the start and is part of the plan. Pure functions of settings
 * and confidence: what is done about a verdict is the exchange's business. A gate is added by its
 * functions and a row in gates.c, its number in struct gate_settings, and a key of the
 * configuration (app/config/keys.c). */
#ifndef EXCHANGE_GATES_H
#define EXCHANGE_GATES_H

#include "base/bytes/buf.h"
#include "exchange/limits/answer_values.h"
#include "exchange/limits/confidence.h"
#include "router/plan/policy.h"

struct gate; /* a row of the table in gates.c */

/* The tier's own limit ended the answer, not the request's. */
enum answer_cut { CUT_NOT, CUT_BY_TIER, CUT_TO_SPARE /* the device */ };

/* What gates look at. */
struct gate_view {
    const struct gate_settings *settings;
    const struct confidence *confidence;
    uint32_t token_count;
    bool whole; /* nothing more comes */
    enum answer_cut cut;
    enum answer_fault fault; /* of a whole structured answer */
};

struct gate_verdict {
    const struct gate *left_by; /* the gate that would leave the answer; NULL = it stays */
    double confidence;          /* NAN = none */
    double threshold;           /* that it was compared with; NAN = none */
    uint32_t token_count;       /* that the confidence is of; 0 = the whole answer */
};

bool gates_on(const struct gate_settings *gates); /* one of them judges answers */

/* After each token. */
struct gate_verdict gates_look(const struct gate_view *view);
/* The whole answer. */
struct gate_verdict gates_judge(const struct gate_view *view);

/* All numbers of the settings as text, for the version of a policy. */
void gates_write(const struct gate_settings *gates, struct buf *out);

const char *gate_name(const struct gate *gate); /* "not_mine", "g1", ... */
/* The tier itself says that this is not its task; of NULL false. */
bool gate_is_refusal(const struct gate *gate);
/* Did the confidence alone leave it? Of NULL false. */
bool gate_is_low(const struct gate *gate);
/* What a wrong answer may be expected to cost: its cost times the probability that it is wrong. Of
 * a confidence that nobody knows (NAN) as much speaks for as against it. */
double gates_loss_usd(const struct gate_settings *gates, double confidence);
/* Did the tier's own limit end the answer? */
bool gate_is_cut(const struct gate *gate);
/* Why the answer is left, or would be; not for a verdict that stays. tier: the answering tier's
 * name. */
enum reason_code gates_explain(const struct gate_verdict *verdict, const struct gate_view *view,
                               const char *tier, char out[static REASON_TEXT_BYTES]);

#endif
