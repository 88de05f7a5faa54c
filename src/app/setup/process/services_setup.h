/* What the exchanges of a process share and what outlives snapshots: ledger, egress log, consents,
 * vaults and budgets. The main thread opens and closes it. */
#ifndef APP_SERVICES_SETUP_H
#define APP_SERVICES_SETUP_H

#include "app/setup/process/snapshot.h"

struct class_file;

struct services_parts {
    struct snapshot_base base;         /* its model, scheduler and sandbox belong to the caller */
    struct class_file *class_file;     /* of base.classes; NULL = they are in memory only */
    struct egress_log *_Atomic egress; /* base.egress, for other threads */
    struct similarity *similarity;     /* behind base.similarity; NULL = similarity_plain */
};

/* Makes what lives in memory. The confined worker has nothing else. What was made is to be closed
 * (services_setup_close), also after a failure. */
TD_MUST_CHECK enum td_status services_setup_memory(const struct config *config, bool confined,
                                                   struct services_parts *parts,
                                                   struct td_error *err);

/* Opens what lies in files. `serves`: this process is a server, which stays. */
TD_MUST_CHECK enum td_status services_setup_files(const struct config *config, bool serves,
                                                  struct services_parts *parts,
                                                  struct td_error *err);

/* After a change of the configuration: opens what it asks for and what was not open. */
TD_MUST_CHECK enum td_status services_setup_update(const struct config *config, bool serves,
                                                   struct services_parts *parts,
                                                   struct td_error *err);
void services_setup_close(struct services_parts *parts);

#endif
