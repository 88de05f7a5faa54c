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
    double share;          /* of those with low stakes that are checked all the same */
    uint32_t deadline_ms;  /* that a whole answer waits for its verdict */
    enum compare_by compare;
};

/* The stakes of a request of that class that asks for `asked` (STAKES_UNSAID = for nothing). A
 * request cannot ask for lower ones than its class has. */
enum td_stakes verify_stakes(const struct verify_settings *settings, enum td_stakes asked,
                             enum td_data_class data_class);

#endif
