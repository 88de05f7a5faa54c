/* People as a tier: a question becomes a ticket in a queue (ledger/store/queue_store.h), which
 * somebody takes and answers (api/review). Nothing is sent: whoever reviews comes to the queue.
 *
 * An attempt holds the request open for hold_ms and then ends as `pending`: with a notice as its
 * text, or without one where something else can be said meanwhile. The ticket lives on, also when
 * the attempt is cancelled. Any thread, as tiers. */
#ifndef TIER_REVIEW_H
#define TIER_REVIEW_H

#include "tier/tier.h"

struct queue_keeper;
struct queue_store;

/* What a client gets while a ticket waits. */
enum review_interim { REVIEW_BEST_CANDIDATE, REVIEW_NOTICE };

struct review_settings {
    enum review_interim interim;
    uint32_t hold_ms;
    uint32_t open_max;           /* tickets that have not ended */
    uint32_t expires_s;          /* a ticket's time */
    uint32_t lease_s;            /* how long who takes it has it */
    struct queue_keeper *keeper; /* who counts tickets; NULL = nobody does */
};
#define REVIEW_LEASE_S 900 /* where nobody says */

/* Notes of a ticket (queue_store_note): what the client was given meanwhile. */
#define REVIEW_NOTE_WHO "tandem"
#define REVIEW_NOTE_INTERIM "gave an interim answer"
#define REVIEW_NOTE_NOTICE "gave a notice"

/* Where the final answer is: this and the exchange's id. */
#define REVIEW_ANSWER_PATH "/tandem/v1/review/answers/"

/* Borrows the queue and its keeper until tier_free. **returns new** (tier_free). */
TD_MUST_CHECK enum td_status tier_review_new(const struct tier_facts *facts,
                                             const struct review_settings *settings,
                                             struct queue_store *queue, struct tier **out,
                                             struct td_error *err);
/* The queue of a tier of people; NULL for other tiers. **borrows** */
struct queue_store *tier_review_queue(const struct tier *tier);
uint32_t tier_review_lease_s(const struct tier *tier);

#endif
