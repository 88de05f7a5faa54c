/* Limits of tiers that several nodes have together, by Redis or Valkey. One for the process, opened
 * before and closed after everything that asks it; any thread asks. */
#ifndef CLUSTER_SHARE_H
#define CLUSTER_SHARE_H

#include "tandem/types.h"
#include "tier/limits.h"

struct share;

/* Starts with the server away or not; a thread keeps the connection. node: as others see it.
 * password NULL = none. **returns new** (share_close). */
TD_MUST_CHECK enum td_status share_open(const char *url, const char *password, const char *node,
                                        struct share **out, struct td_error *err);
void share_close(struct share *share); /* accepts NULL */
/* What the tiers ask. **borrows** until share_close. */
const struct shared_limits *share_limits(struct share *share);
/* The limits of the tier of that name; NULL without memory. **borrows** until share_close. */
struct shared_limit *share_of(struct share *share, const char *tier);

#endif
