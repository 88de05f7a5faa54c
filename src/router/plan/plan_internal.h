/* What the files of a plan share: plan.c prunes and orders, start.c chooses where to begin,
 * earlier_start.c may hold an earlier choice. */
#ifndef ROUTER_PLAN_INTERNAL_H
#define ROUTER_PLAN_INTERNAL_H

#include "base/text/names.h"
#include "router/plan/policy.h"

struct question {
    const struct route *route;
    size_t named;
    enum td_mode mode;
    uint32_t tokens_max;
    bool prompt_only;
    unsigned needs;
    const struct tier_facts *facts;
    const struct tier_state *states;
    const struct signals *signals;
    const struct routing_rule *rule; /* that matched, or NULL */
    double late_ms_max;              /* a tier that would be later than this is too slow */
    bool relieved; /* a tier off the device can be asked in the place of one on it */
};

struct start {
    size_t position; /* in the ladder of permitted tiers */
    enum reason_code code;
    char text[REASON_TEXT_BYTES];
};

/* Fills a sentence and returns true, for `return removed(why, ...)`. */
TD_PRINTF(2, 3) bool removed(char why[static REASON_TEXT_BYTES], const char *format, ...);
/* Says with what other input the rule that matched would not have matched. */
void explain_rule(const struct question *q, char flip[static REASON_TEXT_BYTES]);
/* Does the tier have a key, is it not resting after failures, and is it fast enough? */
bool tier_is_available(const struct question *q, size_t tier);

/* Has the tightest budget room for the answer there? */
bool tier_is_affordable(const struct question *q, size_t tier);

/* Chooses where on ladder[count] (count > 0) of permitted tiers to begin. Writes who decided, the
 * scores and what would have changed the choice into *decision. */
void start_choose(const struct question *q, const struct gate_settings *gates, const size_t *ladder,
                  size_t count, struct start *out, struct decision *decision);

/* Moves the chosen start to a tier that is free, when the wait is too long (overflow.c). */
void overflow_start(const struct question *q, const size_t *ladder, size_t count,
                    struct start *start, struct decision *decision);

/* Moves a start that gates or weights chose to another tier, for a share of the requests
 * (explore.c). */
void explore_start(const struct question *q, const size_t *ladder, size_t count,
                   struct start *start, struct decision *decision);

/* What models that say something else forbid (skew.c). The pair of both tiers, or NULL. */
const struct skew_pair *skew_between(const struct signals *signals, size_t a, size_t b);
/* Does the conversation stay on the tier of ladder[kept], rather than go to ladder[other]? */
bool skew_holds(const struct question *q, const size_t *ladder, size_t kept, size_t other);
/* Is the conversation on `from`, so that a queue must not move it to `to`? */
bool skew_bars(const struct question *q, size_t from, size_t to);
/* Does no gate climb from `from` to `to`? */
bool skew_parts(const struct question *q, size_t from, size_t to);
/* Moves a share of the new conversations off the device. */
void skew_start(const struct question *q, const size_t *ladder, size_t count, struct start *start,
                struct decision *decision);
/* The sentence that asks for an update. */
void skew_explain(const struct question *q, const struct skew_pair *pair,
                  char why[static REASON_TEXT_BYTES]);

/* Replaces the chosen start by the remembered one, if no constraint forbids it and it gives up at
 * most the margin. The first function is for a start that route and gates chose, the second for one
 * that scores[count] chose. */
struct score;
void earlier_start_by_gates(const struct question *q, const struct gate_settings *gates,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision);
void earlier_start_by_score(const struct question *q, const struct score *scores,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision);

#endif
