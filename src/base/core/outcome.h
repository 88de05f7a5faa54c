/* How an attempt and an exchange ended. The ledger stores the names of these values
 * (base/text/names.h), and reports and replays read them again. So an existing value is never
 * changed. */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H

/* The end of one attempt on a tier. */
enum attempt_outcome {
    ATTEMPT_OPEN, /* it still runs, or nothing is known of its end */
    ATTEMPT_ANSWERED,
    ATTEMPT_ESCALATED, /* a gate left it for a better tier */
    ATTEMPT_FAILED,
    ATTEMPT_CANCELLED,
    ATTEMPT_CONTINUED, /* answered, from where another tier had broken off */
    ATTEMPT_CHECKED,   /* what it said was only held against another's answer */
    ATTEMPT_PENDING,   /* people will answer later */
    ATTEMPT_PLANNED    /* what it said were jobs for the device (exchange/machine/staying.h) */
};

/* The end of a request with all its attempts. */
enum exchange_end {
    ENDED_NOT, /* it still runs, or nothing is known of its end */
    ENDED_OK,
    ENDED_FAILED,
    ENDED_CANCELLED /* by the client */
};

/* What a client got, for the account of money: only a whole answer can have saved anything. */
enum answer_standing {
    ANSWER_NONE,     /* failed, refused, cancelled before any text, or empty */
    ANSWER_DEGRADED, /* the plan would have given a better one */
    ANSWER_FULL
};

/* What somebody did after an answer (exchange/memory/reactions.h). */
enum reaction {
    REACTION_NONE,
    REACTION_REGENERATED, /* asked the same once more */
    REACTION_EDITED,      /* asked something else in its place */
    REACTION_ABANDONED,   /* left while it was written */
    REACTION_CONTINUED,   /* went on in the conversation */
    REACTION_COUNT
};

/* What the cost of an all-cloud policy rests on. */
enum cost_basis {
    BASIS_NONE,  /* there is no such cost */
    BASIS_CLOUD, /* the cloud's own count of this answer */
    BASIS_RATIO, /* our count, times what the cloud's exact usages taught */
    BASIS_PRIOR  /* four bytes are a token: nothing was learnt yet */
};

#endif
