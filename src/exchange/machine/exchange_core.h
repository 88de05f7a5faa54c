/* The exchange as its own files see it: what is asked, what is known of it, the plan, and the
 * attempts. What belongs to one concern has its own struct and header (answer.h, outgoing.h,
 * attempt.h), and what belongs to one part lies in that part's state (part.h). */
#ifndef EXCHANGE_EXCHANGE_CORE_H
#define EXCHANGE_EXCHANGE_CORE_H

#include "device/device.h"
#include "exchange/machine/answer.h"
#include "exchange/machine/attempt.h"
#include "exchange/machine/continuation.h"
#include "exchange/machine/deadline.h"
#include "exchange/machine/exchange.h"
#include "exchange/machine/outgoing.h"
#include "exchange/machine/part.h"
#include "exchange/machine/review.h"
#include "exchange/machine/staying.h"
#include "exchange/private/conversation_id.h"
#include "ledger/record/ledger.h"
#include "privacy/scan/tally.h"
#include "request/request.h"

/* Every rung once, and one tier again that was left early. The ledger keeps as many. */
#define ATTEMPTS_MAX LEDGER_ATTEMPTS_MAX
_Static_assert(RUNGS_MAX + 1 <= ATTEMPTS_MAX, "a plan can make more attempts than are recorded");

#define EXCHANGE_ID_BYTES 28 /* "ex_", 24 hex digits (trace_mark_time), NUL */

struct exchange {
    struct exchange_services *services;
    struct loop *loop;
    char id[EXCHANGE_ID_BYTES];
    struct trace trace;
    double created_ms;
    struct loop_timer *step_timer;
    struct deadline deadline;
    int depth; /* callbacks that we are inside of: freeing waits for the outermost */
    bool ended;

    /* What is asked, and what is known of it before a tier is asked (situation.c). */
    struct td_request request;
    const char *requested_model; /* as the request named it; or NULL */
    const char *alias;           /* of the route that took this name; or NULL */
    size_t named;                /* tier that the request names; SIZE_MAX none */
    struct signals signals;
    char device_why[DEVICE_WHY_BYTES];     /* of signals.moment */
    struct conversation_keys conversation; /* that the request continues */
    struct privacy_tally *findings;        /* NULL = there are none */
    struct tier_facts *facts;              /* of services->tiers, in order */
    struct tier_state *states;

    /* Where it is asked (climb.c, attempt.c). */
    struct plan plan;
    size_t rung_next;                       /* in plan.rungs */
    struct attempt *attempts[ATTEMPTS_MAX]; /* the first is first_attempt */
    size_t attempt_count;
    struct attempt first_attempt;
    struct lane lanes[LANES_MAX];
    struct lane *lane;       /* whose turn it is, or was last; never NULL */
    struct attempt *current; /* lane->attempt; at the end the one whose answer it is */
    struct attempt *kept;    /* complete, but not confident: the answer if no better one comes */
    struct hold kept_hold;   /* its pieces */
    struct attempt *left;    /* left before its end: can be asked again */
    struct lane *waiting;    /* has a whole answer that is being checked; or NULL */
    struct attempt *checker; /* that checks it, or did; or NULL */
    struct verification verification;
    bool hopeless;        /* kept because no tier is expected to be right */
    bool short_of_memory; /* a tier was not asked because there was none for a record of it */

    struct td_str *signatures; /* those of `request`, owned */
    struct staying *staying;   /* texts that stay, and what is sent without them; NULL = none do */
    struct outgoing outgoing;
    struct answer answer;
    struct continuation continuation;
    struct review review;
    struct part_states parts;
};

double exchange_now_ms(const struct exchange *exchange);
/* A hash of who asks. */
uint64_t exchange_caller(const struct exchange *exchange);
/* How it asks the tier's health for a place. */
struct tier_entry exchange_entry(const struct exchange *exchange, size_t tier);
/* Callbacks begin and end with these; the last one frees an exchange that has ended. */
void exchange_enter(struct exchange *exchange);
void exchange_leave(struct exchange *exchange);

/* Whether a rung remains to which gates may climb, or a better one is being asked at the same
 * time. */
bool exchange_can_climb(const struct exchange *exchange);
/* Whether text that the client was given can be replaced: it has asked for corrections, or it reads
 * nothing before the end. */
bool exchange_takes_back(const struct exchange *exchange);
/* Whether the client has text that cannot be taken back. */
bool exchange_is_stuck(const struct exchange *exchange);
/* Whether no tier is expected to be right. */
bool exchange_is_hopeless(const struct exchange *exchange);

#endif
