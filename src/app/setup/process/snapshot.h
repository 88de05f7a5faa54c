/* An immutable set of policy, scanner, tiers and their health, made from a configuration and
 * counted by its users. Any thread may hold, use and drop it. */
#ifndef APP_SNAPSHOT_H
#define APP_SNAPSHOT_H

#include "app/config/config.h"
#include "app/setup/process/engine_setup.h"
#include "exchange/machine/exchange.h"
#include "tandem/engine.h"

/* A model of a tier may have one for tools beside it. */
#define SNAPSHOT_SCHEDULERS_MAX (2 * CONFIG_TIERS_MAX)

struct answer_cache;
struct queue_store;
struct privacy_scanner;
struct snapshot;
struct watch;
struct consistency;
struct hedge_allowance;
struct prober;
struct account;
struct token_counts;
struct meters;
struct shadow_pool;
struct ramp_table;
struct reactions;
struct similarity;

/* What outlives snapshots. */
struct snapshot_base {
    const struct engine_parts *engine; /* held beyond snapshot_new */
    struct ledger *ledger;
    struct watch *watch;
    struct reactions *reactions;         /* or NULL */
    struct ramp_table *ramp_table;       /* or NULL */
    struct shadow_pool *shadow_pool;     /* or NULL */
    struct consistency *consistency;     /* or NULL */
    const struct similarity *similarity; /* never NULL with it */
    struct egress_log *egress;           /* NULL = what leaves is not recorded */
    struct conversation_classes *classes;
    struct signatures *signatures;
    struct spending *spending;
    struct meters *meters;
    struct hedge_allowance *hedge_allowance;
    struct share *share;   /* limits that nodes have together; NULL = each has its own */
    struct prober *prober; /* NULL = tiers are found again by requests */
    struct account *account;
    struct token_counts *token_counts;
    struct device *device;
    struct vault_store *vaults;
    struct consents *consents;
    struct answer_cache *answers;      /* or NULL */
    struct queue_store *queues;        /* of tickets; NULL = there are none */
    struct queue_keeper *queue_keeper; /* with queues */
    struct sandbox *sandbox;           /* NULL = the engine here answers what is restricted, too */
    bool confined;                     /* this is the confined worker: no keys, no classifier */
    const struct snapshot *before; /* in use until now: its adapters may be taken over; or NULL */
};

/* **takes** the config and the scanner, also on failure. Without a scanner (NULL) nothing is
 * scanned, so nothing may leave. **returns new** with one user (snapshot_drop). */
TD_MUST_CHECK enum td_status snapshot_new(struct config *config, struct privacy_scanner *scanner,
                                          const struct snapshot_base *base, struct snapshot **out,
                                          struct td_error *err);
/* For when it comes into force in the place of `before` (NULL = of nothing): records name their
 * policy by its version, and the ledger gets what that stands for, once for each version. */
void snapshot_record_policy(const struct snapshot *snapshot, const struct snapshot *before);
struct snapshot *snapshot_hold(struct snapshot *snapshot); /* one more user */
void snapshot_drop(struct snapshot *snapshot);             /* one less; the last frees it */
struct exchange_services *snapshot_services(struct snapshot *snapshot);
struct snapshot *snapshot_of(struct exchange_services *services);
const struct config *snapshot_config(const struct snapshot *snapshot);

#endif
