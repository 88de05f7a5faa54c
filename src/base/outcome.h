/* How an attempt and an exchange ended. The ledger stores the names of these values (base/names.h),
 * reports and replays read them again, so a value that is there is never changed. */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H

/* One tier's try. */
enum attempt_outcome {
    ATTEMPT_OPEN, /* it still runs, or nothing is known of its end */
    ATTEMPT_ANSWERED,
    ATTEMPT_ESCALATED, /* left for a better tier by a gate's verdict */
    ATTEMPT_FAILED,
    ATTEMPT_CANCELLED
};

/* The request with all its attempts. */
enum exchange_end {
    ENDED_NOT, /* it still runs, or nothing is known of its end */
    ENDED_OK,
    ENDED_FAILED,
    ENDED_CANCELLED /* by the client */
};

#endif
