/* What the review API and `tandem review` do with tickets (ledger/store/queue_store.h), in one
 * form:
 *
 * {"object": "review_ticket", "id", "tier", "exchange", "state", "data_class", "created",
 * "expires", "lease_until", "holder", "takes", "ended", "outcome" (or null), and of one ticket:
 * "shown": "whole", "redacted" or "withheld", "question": [{"role", "content"}], "candidates":
 * [{"tier", "model", "confidence", "content"}], "route", "reasons", "cost_of_error_usd",
 * "review_usd", "answer" (of an ended one, or null), "looks": [{"at", "who", "what"}]}
 *
 * Whoever is not cleared for the question's class sees it redacted: with surrogates, if what is
 * left then is of a class that they may see, else without any text. Each look is noted before it is
 * shown. An answer in surrogates gets its values back. Any thread. */
#ifndef API_REVIEW_DESK_H
#define API_REVIEW_DESK_H

#include "base/text/names.h"
#include "ledger/store/queue_store.h"

struct json;

#define REVIEW_TEXT_BYTES_MAX ((size_t)1 << 20) /* of an answer */

struct review_viewer {
    char who[QUEUED_NAME_BYTES]; /* in notes, and as holder */
    const char *owner;           /* whose tickets; NULL = everybody's */
    enum td_data_class clearance;
};

struct review_desk {
    struct queue_store *queue;
    struct review_viewer viewer;
    uint32_t (*lease_s)(void *ctx, const char *tier); /* how long who takes a ticket has it */
    void *ctx;
};

/* {"object": "list", "data": [tickets]}. **returns new** (json_free). */
TD_MUST_CHECK enum td_status review_desk_list(const struct review_desk *desk,
                                              const struct queue_filter *filter, struct json **out,
                                              struct td_error *err);
TD_MUST_CHECK enum td_status review_desk_show(const struct review_desk *desk, const char *id,
                                              struct json **out, struct td_error *err);

/* What becomes of the candidates, for whoever learns from it. */
struct review_verdict {
    char exchange[QUEUED_NAME_BYTES]; /* "" = the step was no answer */
    char tier[QUEUED_NAME_BYTES];
    int64_t accepted; /* index of the candidate that was right as it is; -1 = none */
    bool interim,
        notice; /* which of these the client was given meanwhile; else it is held, or gone */
    struct json *candidates; /* [{"tier", "model", "place"}]; the caller frees it */
};

/* verb: take (id NULL: the oldest that is open), renew, release, answer {"text"} or {"candidate":
 * N}, edit {"candidate": N, "text"}, reject {"text": why, or none}. Shows the ticket afterwards.
 * TD_NOT_FOUND also when there is nothing to take. TD_DENIED: not cleared. TD_BUSY, TD_UNSUPPORTED:
 * its state. TD_INVALID: *param is the member at fault. TD_LIMIT: the text is too long. */
TD_MUST_CHECK enum td_status review_desk_step(const struct review_desk *desk, const char *id,
                                              const char *verb, const struct json *wish,
                                              struct json **out, struct review_verdict *verdict,
                                              const char **param, struct td_error *err);

/* For the client: {"object": "review_answer", "exchange", "ticket", "status": "pending",
 * "answered", "rejected" or "expired", "outcome", "message" (the answer, or null)}. owner as in the
 * filter. TD_NOT_FOUND: nobody reviews that exchange. */
TD_MUST_CHECK enum td_status review_desk_answer(struct queue_store *queue, const char *owner,
                                                const char *exchange, struct json **out,
                                                struct td_error *err);

#endif
