/* Sums over the record of what left the device (ledger/egress/egress_log.h): by where it went, its
 * class, what it was for, what was replaced in it, and the day. And the newest transfers. For one
 * thread. */
#ifndef API_EGRESS_REPORT_H
#define API_EGRESS_REPORT_H

#include "tandem/types.h"

#include <stddef.h>
#include <stdint.h>

#define EGRESS_NEWEST_MAX 20

enum egress_property {
    EGRESS_BY_DESTINATION,
    EGRESS_BY_CLASS,
    EGRESS_BY_PURPOSE,
    EGRESS_BY_KIND,
    EGRESS_BY_DAY,
    EGRESS_PROPERTIES
};

struct egress_group {
    char name[64];
    uint64_t transfers, bytes, values; /* values: that were replaced, of a kind */
};
struct egress_groups {
    struct egress_group *items;
    size_t count, capacity;
};

struct json;
struct egress_report {
    char since[25]; /* ISO 8601, which sorts as text */
    struct egress_groups of[EGRESS_PROPERTIES];
    uint64_t transfers, bytes;
    struct json *newest[EGRESS_NEWEST_MAX]; /* the record's own members; a ring */
};

/* path: the record's folder, or an exported file. *out: also to be freed after a failure
 * (egress_report_deinit). */
TD_MUST_CHECK enum td_status egress_report_read(const char *path, uint64_t since_wall_ms,
                                                struct egress_report *out, struct td_error *err);
void egress_report_deinit(struct egress_report *report);

/* {"transfers", "bytes", "destinations", "classes", "purposes", "kinds", "days": [{"name",
 * "transfers", "bytes", of a kind "values"}]}. **returns new** (json_free). */
struct json *egress_report_json(const struct egress_report *report);

struct egress_verdict;
/* What `tandem egress verify` says of the record. **returns new** (json_free). */
struct json *egress_proof_json(const struct egress_verdict *verdict);

#endif
