/* One tier's try, and the lane that it runs in. Between files of the exchange, and for whoever
 * reads its summary.
 *
 * An attempt is the record of a try and stays until the exchange is freed. A lane holds what is
 * only needed while the try runs: the stream, its confidence, and the pieces that nobody has seen
 * yet. There are two lanes, so that a second attempt can run beside one that is slow. */
#ifndef EXCHANGE_ATTEMPT_H
#define EXCHANGE_ATTEMPT_H

#include "base/core/outcome.h"
#include "base/time/trace.h"
#include "exchange/limits/gates.h"
#include "exchange/limits/hold.h"
#include "exchange/private/minimise.h"
#include "exchange/private/pseudonyms.h"
#include "tier/door.h"
#include "tier/health.h"

struct exchange;

struct attempt {
    size_t tier;                 /* index into services->tiers */
    size_t rung;                 /* index into plan.rungs */
    char span[TRACE_SPAN_BYTES]; /* of the exchange's trace */
    enum egress_purpose purpose;
    bool gated;    /* its answer is judged */
    bool fallback; /* below the plan's start, or asked again: second best whatever it says */
    bool low;      /* the gates would not have kept its answer */
    bool eased;    /* its answer was ended to spare the device */
    enum answer_fault fault; /* of its values, when it was judged */
    bool uncalibrated;       /* no number said which of its answers may be kept */
    bool urgent; /* asked beside a silent one before the deadline: not left before its end */
    bool outrun; /* cancelled because the other lane answered first */
    struct tier_ticket ticket;
    bool cut; /* at the deadline: what has come of its answer has no end */
    enum attempt_outcome outcome;
    enum reason_code why_left; /* REASON_LEFT_...; 0 = it was not left */
    uint32_t retry_count;
    enum td_status status;
    int http_status;
    struct tier_refusal refusal; /* of the tier's server */
    uint64_t retry_after_ms;     /* that the server asked for; 0 = none */
    char error[256];             /* for the client; may quote the tier's server */
    enum td_finish finish;
    uint32_t stop_number;       /* as in tier_result */
    double confidence;          /* NAN = none */
    struct gate_verdict judged; /* what its gates found last; only of a gated one */
    uint64_t server_identity;   /* that its server named; 0 = nothing */
    enum confidence_kind kind;
    double start_ms; /* since the exchange began */
    double first_ms, total_ms;
    double waited_ms; /* of these, in a queue here */
    struct tier_usage usage;
    uint32_t prompt_estimate; /* of what it was sent (tier_estimate_prompt) */
    uint64_t answer_bytes;    /* that came, text and calls */
    uint64_t beside_bytes;    /* that came beside the answer */
    bool unbilled;            /* nothing reached the server, or it refused the request */
    bool estimated;           /* its cost: the tier told no usage */
    double cost_usd;
    enum tier_cache cache;
    struct tier_cache_facts cache_facts;
    double saved_usd; /* what a hit would have cost */
    uint64_t egress_bytes;
    bool masked; /* it was sent surrogates */
    struct pseudonym_counts pseudonyms;
    struct left_out left_out;
};

#define LANES_MAX 2
struct lane {
    struct exchange *exchange;
    struct attempt *attempt;      /* that runs here, or ran last */
    struct tier_attempt *running; /* NULL = none */
    struct egress_pass pass;      /* what the door is told of its bytes */
    char traceparent[TRACE_HEADER_BYTES];
    struct gate_settings gates; /* of the route, as they hold for this tier */
    struct confidence confidence;
    struct answer_values values; /* of a structured answer that is judged */
    struct gate_verdict verdict; /* the first that leaves, or the last */
    uint32_t token_count;        /* pieces with stats */
    struct hold hold;            /* pieces not shown yet; with corrections also those shown */
    bool hold_whole;             /* hold has every piece of the attempt */
    bool hold_visible;           /* hold has something to see */
    bool committed;              /* its text is shown as it comes */
    bool withheld; /* nothing of it may be shown until it is settled whose answer is */
    bool checks;   /* it only checks the answer of the other lane, as yet */
    bool plans;    /* what it says may be jobs for the device (staying.h): no answer, as yet */
};

/* Asks the tier of that rung in the free lane, which becomes the current one. False when the tier
 * failed at once; the attempt's record then says why. Without memory for a record nothing is asked,
 * and the attempt before stays the current one. */
bool attempt_start(struct exchange *exchange, size_t rung, bool fallback,
                   enum egress_purpose purpose);
/* Whether a kept answer would be given in the place of the tier's, as far as that is known before
 * the plan. */
bool attempt_is_kept(const struct exchange *exchange, const struct route *route, size_t tier);
/* Writes the end of the lane's attempt into its record. result NULL: it was left before it
 * ended. */
void attempt_close(struct lane *lane, enum attempt_outcome outcome,
                   const struct tier_result *result);
/* Writes a failure into the current attempt's record and into the reasons. */
void attempt_fail(struct exchange *exchange, const struct tier_result *result);
/* Stops what runs in the lane because the deadline has passed, and tells the tier's latency. */
void attempt_cut_off(struct exchange *exchange, struct lane *lane);
/* Tells latency how long the current attempt took, which was answered. */
void attempt_report_answer(struct exchange *exchange);
/* The current attempt's text is over: shows what is held back of it. False when it does not go on
 * with what was shown (continuation.h). */
bool attempt_take_rest(struct exchange *exchange);
/* The outcome of this attempt when it has answered. */
enum attempt_outcome attempt_answered(const struct attempt *attempt);
/* The one whose server found the request itself wrong; NULL = none. */
const struct attempt *attempt_refused(const struct exchange *exchange);
/* Is this attempt's answer preferred to the other's? */
bool attempt_is_above(const struct attempt *attempt, const struct attempt *other);

void lane_deinit(struct lane *lane);
/* Cancels what runs in the lane; nothing when nothing does. */
void lane_stop(struct lane *lane, enum attempt_outcome outcome);
/* The lane and its attempt become the current ones. */
void lane_turn_to(struct exchange *exchange, struct lane *lane);
/* The other lane when an attempt runs in it, else NULL. */
struct lane *lane_beside(const struct exchange *exchange);

#endif
