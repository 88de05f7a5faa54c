/* A drill rehearses a cell of docs/failures.md on a server that runs: one exchange with one fault,
 * planned and climbed by the server's own policy. Every tier that it asks is a stand-in, so nothing
 * leaves, no engine computes, and no other exchange notices. The fault is the stand-in's. One
 * loop's thread. */
#ifndef API_DRILL_H
#define API_DRILL_H

#include "device/device.h"
#include "exchange/machine/exchange.h"

#define DRILL_TIERS_MAX 64
#define DRILL_WHY_BYTES 300

/* In the order of the table in docs/failures.md. */
enum drill_fault {
    DRILL_ENGINE_KILLED,
    DRILL_TOO_HOT,
    DRILL_UNLOADED,
    DRILL_OVERFLOW,
    DRILL_TIMEOUT,
    DRILL_HTTP_429,
    DRILL_HTTP_5XX,
    DRILL_MALFORMED,
    DRILL_CUT,
    DRILL_UNREACHED,
    DRILL_OFFLINE,
    DRILL_DISK_FULL,
    DRILL_LEDGER_LOCKED,
    DRILL_FAULT_COUNT
};
/* [DRILL_FAULT_COUNT], NULL-terminated: as requests name them, and as the table does. */
extern const char *const drill_fault_names[];
extern const char *const drill_fault_titles[];

struct drill_tier {
    struct tier tier; /* first */
    struct drill *drill;
};

struct drill {
    enum drill_fault fault;
    struct exchange_services services; /* the server's, with stand-ins */
    struct tier *tiers[DRILL_TIERS_MAX];
    struct drill_tier stand_ins[DRILL_TIERS_MAX];
    struct device_state device;
    const char *breach; /* the tier that was sent what it may not see; NULL = none */
};

/* real is borrowed for as long as the exchange runs. TD_LIMIT: it has more tiers. */
TD_MUST_CHECK enum td_status drill_init(struct drill *drill, enum drill_fault fault,
                                        struct exchange_services *real, struct td_error *err);
/* What makes the fault reach the exchange: where it starts, and what its network is. */
void drill_prepare(const struct drill *drill, struct td_request *request);
/* Whether the tier is one that the fault is of. */
bool drill_hits(const struct drill *drill, const struct tier_facts *facts);
/* What the end of the exchange shows; message NULL: it has an answer. True: as it has to be. */
bool drill_judge(const struct drill *drill, const struct exchange_summary *summary,
                 const char *message, char why[static DRILL_WHY_BYTES]);

#endif
