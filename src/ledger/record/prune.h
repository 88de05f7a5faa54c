/* Removes records that have been kept long enough, with their attempts, feedback, shadows and
 * reactions. Some rows at a time, each time in a transaction of its own, over a connection of
 * its own, and between two of them it rests for half as long as the first one took: a writer
 * waits for some 25 ms at most. Of several nodes one does it. One thread for each pruner; not on
 * a loop.
 *
 * The record of what left (egress_log.h) is a chain of its own, with hashes in place of texts.
 * It names exchanges by their ids only, so nothing of it goes, and it verifies as before. */
#ifndef LEDGER_PRUNE_H
#define LEDGER_PRUNE_H

#include "base/text/names.h"
#include "tandem/types.h"

#define LEDGER_CLASSES (TD_CLASS_RESTRICTED + 1)

struct ledger_pruner;

/* What is to go. The marks belong to the pruning itself: all 0 at first, and kept from one time to
 * the next they spare looking at the same rows again. */
struct ledger_keep {
    uint64_t before_wall_ms; /* exchanges that began before it; 0 = none by age */
    uint64_t class_before_wall_ms[LEDGER_CLASSES]; /* in place of it for a class; 0 = none */
    bool by_class;                                 /* the times of classes count */
    uint64_t bytes_max; /* then the oldest ones, until so much is used; 0 = none by size */
    uint64_t marks[LEDGER_CLASSES + 1];
};
struct ledger_pruned {
    uint64_t exchanges;
    uint64_t bytes; /* of the file in use afterwards; 0 for a database */
};

/* path: of the ledger, or its database's URL. TD_NOT_FOUND: there is none yet. TD_BUSY: another
 * node does it. **returns new** (ledger_pruner_close). */
TD_MUST_CHECK enum td_status ledger_pruner_open(const char *path, struct ledger_pruner **out,
                                                struct td_error *err);
/* Another node may do it then. Accepts NULL. */
void ledger_pruner_close(struct ledger_pruner *pruner);

/* Waits so long between two transactions; true ends the pruning, with TD_OK. */
typedef bool ledger_rest_fn(void *ctx, uint32_t ms);
/* *out also counts what went before a failure: a full disk takes back one transaction. TD_INVALID:
 * a size for a database, which does not get smaller by what is removed from it. */
TD_MUST_CHECK enum td_status ledger_prune(struct ledger_pruner *pruner, struct ledger_keep *keep,
                                          ledger_rest_fn *rest, void *ctx,
                                          struct ledger_pruned *out, struct td_error *err);
/* How many exchanges would go by their age. */
TD_MUST_CHECK enum td_status ledger_prune_count(struct ledger_pruner *pruner,
                                                const struct ledger_keep *keep, uint64_t *count,
                                                struct td_error *err);

#endif
