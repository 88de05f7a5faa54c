/* What the client is told: the pieces of an answer, corrections, and the end. Between files of the
 * exchange only. Every call may end the exchange, because the client may cancel inside an event. */
#ifndef EXCHANGE_ANSWER_H
#define EXCHANGE_ANSWER_H

#include "base/bytes/buf.h"
#include "base/core/outcome.h"
#include "exchange/machine/disclosure.h"
#include "exchange/machine/exchange.h"
#include "ledger/record/ledger.h"

struct attempt;
struct recording;

struct answer {
    exchange_fn *on_event;
    void *ctx;
    struct attempt *shown; /* the attempt whose text the client sees */
    bool visible;          /* something was seen at all */
    double ttft_ms;        /* 0 before that */
    bool keeps_text;       /* somebody needs the text at the end */
    struct buf text;       /* what was shown, where it is kept */
    size_t skip_bytes;     /* of a corrected answer: what the client has of it already */
    bool told_verdict;
    uint64_t heard; /* a hash of what was shown (conversation_id_hear) */
    struct exchange_summary summary;
    struct exchange_step *steps; /* [attempt_count] at the end, or NULL */
    char disclosure[DISCLOSURE_BYTES];
    char *message;               /* [MESSAGE_BYTES] of a failure, or NULL */
    bool rejected;               /* by whoever writes it for the client */
    bool held;                   /* by the same, until others are there */
    struct exchange_event last;  /* DONE or FAILED */
    struct recording *recording; /* what `last` waits for; or NULL */
    bool unrecorded;             /* it should have been on record, and could not be put there */
};

/* Begins to wait for the exchange's record: the ledger tells recording_told (recording.h). NULL: it
 * cannot be waited for, and the exchange fails. */
struct recording *answer_await_record(struct exchange *exchange);
/* Fills in the summary as it stands, for an answer by that attempt (NULL = none). */
void answer_summarize(struct exchange *exchange, const struct attempt *by);
/* A piece of the current attempt: held back or shown. */
void answer_add(struct exchange *exchange, const struct tier_piece *piece);
/* Shows what is held back of the current attempt, and what follows as it comes. */
void answer_show_held(struct exchange *exchange);
/* The current attempt's answer is whole, and is being checked. */
void answer_tell_provisional(struct exchange *exchange);
/* The five ends. The current attempt's answer is final: */
void answer_finish(struct exchange *exchange);
void answer_give_kept(struct exchange *exchange); /* the kept attempt's is */
void answer_give_cut(struct exchange *exchange);  /* what has come of the current one's is */
void answer_fail(struct exchange *exchange);      /* no tier could answer */
void answer_cancel(struct exchange *exchange);    /* the client left */
/* The client left while the last event waited for the record. */
void answer_cancel_last(struct exchange *exchange);

#endif
