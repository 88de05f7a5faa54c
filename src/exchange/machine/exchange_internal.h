/* The exchange as its own files see it: exchange.c drives, disclosure.c and record.c read. */
#ifndef EXCHANGE_EXCHANGE_INTERNAL_H
#define EXCHANGE_EXCHANGE_INTERNAL_H

#include "base/buf.h"
#include "exchange/limits/commit.h"
#include "exchange/limits/gates.h"
#include "exchange/machine/exchange.h"
#include "exchange/machine/hedge.h"
#include "exchange/machine/shadow.h"
#include "ledger/ledger.h"
#include "privacy/scan/tally.h"
#include "request/request.h"
#include "tier/door.h"

/* Every rung once and one restart of a tier that was left early; the ledger keeps as many. */
#define ATTEMPTS_MAX LEDGER_ATTEMPTS_MAX
_Static_assert(RUNGS_MAX + 1 <= ATTEMPTS_MAX, "a plan can make more attempts than are recorded");

#define EXCHANGE_ID_BYTES 28 /* "ex_", 24 hex digits, NUL */
#define DISCLOSURE_BYTES 384
#define MESSAGE_BYTES 2048

/* One tier's try. */
struct attempt {
    size_t tier; /* index into services->tiers */
    size_t rung; /* in plan.rungs */
    enum egress_purpose purpose;
    bool gated;          /* its answer is judged */
    bool fallback;       /* below the plan's start, or a restart: second best whatever it says */
    bool low;            /* the gates would not have kept it */
    bool outrun;         /* cancelled because a hedge's answer came first */
    const char *outcome; /* the ledger's word; NULL while it runs */
    enum td_status status;
    int http_status;
    char error[256]; /* for the client; may quote the peer */
    enum td_finish finish;
    double confidence;                   /* NAN = none */
    double start_ms, first_ms, total_ms; /* start: since the exchange began */
    struct tier_usage usage;
    double cost_usd;
    uint64_t egress_bytes;
    bool masked; /* it was sent surrogates */
    struct pseudonym_counts pseudonyms;
    struct left_out left_out;
};

/* Where an attempt runs. There are two, so that a hedge can run beside an attempt that is slow (hedge.h). */
#define LANES_MAX 2
struct lane {
    struct exchange *exchange;
    struct attempt *attempt;      /* that runs here, or ran last */
    struct tier_attempt *running; /* NULL = none */
    struct egress_pass pass;
    struct confidence confidence;
    struct gate_result verdict; /* the first that is not GATE_STAY */
    uint32_t token_count;       /* with stats */
    uint64_t plain_bytes;       /* of text without stats */
    struct hold hold;           /* not yet shown; for clients that take corrections also what was */
    bool hold_whole;            /* hold has every piece of the attempt */
    bool hold_visible;          /* hold has something to see */
    bool committed;
};

struct exchange {
    struct exchange_services *services;
    struct loop *loop;
    struct td_request request;
    exchange_fn *on_event;
    void *ctx;
    char id[EXCHANGE_ID_BYTES];
    double created_ms;
    struct loop_timer *step_timer, *deadline_timer;
    int depth; /* callbacks we are inside of: freeing waits for the outermost */
    bool ended;

    struct minimised *minimised; /* the request without what a remote tier does not need; or NULL */
    struct pseudonyms *pseudonyms; /* the request without what is private; or NULL */
    char masking_error[REASON_TEXT_BYTES / 2];
    size_t named; /* tier that the request names; SIZE_MAX none */
    struct signals signals;
    struct privacy_tally findings;
    struct tier_facts *facts; /* of services->tiers, in order */
    struct tier_state *states;
    struct plan plan;
    size_t rung_next;                  /* in plan.rungs */
    uint64_t budget_keys[BUDGETS_MAX]; /* 0 = the request does not draw from that budget */
    double promised_usd;               /* to each of them */

    struct attempt attempts[ATTEMPTS_MAX];
    size_t attempt_count;

    struct lane lanes[LANES_MAX];
    struct lane *lane;       /* whose turn it is, or was last; never NULL */
    struct attempt *current; /* lane->attempt; at the end: the one whose answer it is */
    struct hedge hedge;

    /* complete, but not confident enough: the answer if nothing better comes */
    struct attempt *kept;
    struct hold kept_hold;
    struct attempt *left; /* left before its end: can be asked again */

    struct attempt *shown; /* whose text the client sees */
    bool visible;          /* something was seen at all */
    double ttft_ms;
    struct buf answer; /* shown text, when it is stored */
    bool past_deadline;
    bool reserved;   /* one of the caller's escalations of this hour */
    bool capped;     /* there was none left: the device answers */
    bool shadowed;   /* its text is kept until its end, to compare */
    double kept_usd; /* more than the fresh start's tier would have charged */
    bool hopeless;   /* kept because no tier is expected to be right */

    struct exchange_summary summary;
    char disclosure[DISCLOSURE_BYTES];
    char message[MESSAGE_BYTES];
};

double exchange_now_ms(const struct exchange *exchange);
double exchange_cost(const struct tier_facts *facts, const struct tier_usage *usage); /* USD */
/* Of an attempt that was left before it said so: with so many tokens so far, and bytes of text beside them, at four bytes a token. A cloud
 * bills it all the same. */
struct tier_usage exchange_usage_so_far(uint32_t prompt_tokens, uint64_t tokens, uint64_t bytes);
/* A rung is left that gates may climb to, or a better one is being asked beside the current one. */
bool exchange_can_climb(const struct exchange *exchange);
/* Is this attempt's answer preferred to that one's? */
bool attempt_is_above(const struct attempt *attempt, const struct attempt *other);
/* The client holds text that it would not take back. */
bool exchange_is_stuck(const struct exchange *exchange);

/* For what runs beside the machine (hedge.c): asks the tier of a rung in the lane that is free, which becomes the current one; false when it
 * failed at once. And ends what runs in a lane. */
bool exchange_ask(struct exchange *exchange, size_t rung, bool fallback,
                  enum egress_purpose purpose);
void exchange_stop_lane(struct lane *lane, const char *outcome);
void exchange_turn_to(struct exchange *exchange, struct lane *lane); /* makes it the current one */
bool exchange_is_hopeless(const struct exchange *exchange); /* no tier is expected to be right */

/* Money (budget.c): reads how full the request's budgets are into its signals, promises them what the plan may cost, and counts at the
 * end what it did cost. */
void budget_read(struct exchange *exchange, const struct route *route);
void budget_promise(struct exchange *exchange);
/* Beside what was promised: would one more answer, of this tier, still fit? And promises that too. */
bool budget_has_room(const struct exchange *exchange, size_t tier);
bool budget_has_room_for(const struct exchange *exchange, double usd);
void budget_promise_more(struct exchange *exchange, size_t tier);
void budget_settle(struct exchange *exchange);

/* What the client is told (deliver.c). The exchange may have ended when these return. */
/* The summary as it stands, for an answer by `by` (NULL = none). */
void deliver_summarize(struct exchange *exchange, const struct attempt *by);
/* Of the current attempt: held back or shown. */
void deliver_piece(struct exchange *exchange, const struct tier_piece *piece);
void deliver_answer(struct exchange *exchange); /* the current attempt's is final */
void deliver_kept(struct exchange *exchange);   /* the kept attempt's is final */
void deliver_failure(struct exchange *exchange);
void deliver_cancelled(struct exchange *exchange); /* tells the ledger only */

/* Sentences (disclosure.c). */
/* What ended an attempt, in a form that quotes no peer: for reasons, disclosures and the ledger. */
void disclosure_cause(const struct exchange *exchange, const struct attempt *attempt, char *out,
                      size_t size);
/* Why the answer of exchange->current is not what it could have been; fills
 * exchange->disclosure. */
void disclosure_write(struct exchange *exchange);
/* Status, message and member at fault of an exchange that nothing could answer; fills
 * exchange->message. */
enum td_status disclosure_failure(struct exchange *exchange, const char **param);
/* Did a tier's server refuse the credentials? They are the operator's, not the client's. */
bool disclosure_upstream_denied(const struct exchange *exchange);

/* What is watched (observe.c). Before the plan: may the caller escalate? */
void observe_begin(struct exchange *exchange);
/* After the plan: says so when it may not. */
void observe_plan(struct exchange *exchange);
void observe_end(struct exchange *exchange);

/* What earlier exchanges say (remember.c). Before the plan; and when the end is known. */
void remember_read(struct exchange *exchange, const struct route *route);
void remember_end(struct exchange *exchange, bool answered);

/* The route's ramp (rollout.c). Before the plan; and when the end is known. */
void rollout_read(struct exchange *exchange, const struct route *route);
void rollout_end(struct exchange *exchange, const char *status);

/* Sends what is known to the ledger (record.c). status: "ok", "failed", "cancelled". */
void record_put(const struct exchange *exchange, const char *status);

#endif
