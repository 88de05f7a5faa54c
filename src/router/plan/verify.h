/* How answers that are given may be checked by a stronger tier (gate G4), and how a race of two
 * tiers is settled. Settings of a route; pure. */
#ifndef ROUTER_VERIFY_H
#define ROUTER_VERIFY_H

#include "request/request.h"
#include "router/watch/agreement.h"

enum verify_by {
    VERIFY_OFF,
    VERIFY_SCORE, /* it reads question and answer and says whether that is right */
    VERIFY_ANSWER /* it answers, too, and the two are compared */
};

/* Which of the two answers of a race is given. */
enum settle {
    SETTLE_FIRST_GOOD, /* the first that may be shown */
    SETTLE_STRONGEST,  /* the higher tier's, unless it fails or the time is over */
    SETTLE_AGREEMENT   /* the lower tier's when both say the same, else the higher one's */
};

struct verify_settings {
    enum verify_by by;
    const char *tier;      /* that checks; NULL = the one after the start */
    enum td_stakes stakes; /* of requests that say nothing */
    int high_class;        /* requests of this class or a higher one have high stakes; -1 = none */
    /* What a classifier says of a prompt that makes its stakes high: one of these tasks
     * (NULL-terminated; NULL = none), or a smaller probability that the local answer is right; 0 =
     * none. */
    const char *const *high_tasks;
    double high_p_local_under;
    double share;         /* of those with low stakes that are checked all the same */
    uint32_t deadline_ms; /* that a whole answer waits for its verdict */
    enum compare_by compare;
};

/* What is known of a request. */
struct verify_view {
    enum td_stakes asked; /* STAKES_UNSAID: it says nothing of them */
    enum td_data_class data_class;
    const char *task; /* "" = nobody judged */
    double p_local;   /* NAN likewise */
};

/* A request cannot ask for lower stakes than its class has; what it says goes before what a
 * classifier thinks, and that before what the route says. */
enum td_stakes verify_stakes(const struct verify_settings *settings,
                             const struct verify_view *view);

#endif
