/* How an attempt and an exchange ended. The ledger stores the names of these values (base/names.h),
 * and reports and replays read them again. So an existing value is never changed. */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H

/* The end of one attempt on a tier. */
enum attempt_outcome {
    ATTEMPT_OPEN, /* it still runs, or nothing is known of its end */
    ATTEMPT_ANSWERED,
    ATTEMPT_ESCALATED, /* a gate left it for a better tier */
    ATTEMPT_FAILED,
    ATTEMPT_CANCELLED,
    ATTEMPT_CONTINUED /* answered, from where another tier had broken off */
};

/* The end of a request with all its attempts. */
enum exchange_end {
    ENDED_NOT, /* it still runs, or nothing is known of its end */
    ENDED_OK,
    ENDED_FAILED,
    ENDED_CANCELLED /* by the client */
};

#endif
