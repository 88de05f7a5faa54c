/* The gates of a route as they hold for the answers of one tier. A threshold belongs to the model
 * whose confidences it was chosen on. So the default numbers judge the embedded model, whose file
 * has a calibration, and servers (docs/runtimes.md). For another model of ours they mean nothing:
 *
 *   the route gives the number itself      it holds, whatever the model
 *   the model was calibrated               the thresholds of its calibration at the route's risk
 *   its confidence is a probability        the default numbers, which are probabilities
 *   nobody measured it, or an adapter      nothing may be kept while there is a better tier
 *   changes what was measured
 *
 * Pure functions; any thread. */
#ifndef ROUTER_TIER_GATES_H
#define ROUTER_TIER_GATES_H

#include "router/plan/policy.h"

/* adapted: policy_uses_adapter. */
void tier_gates_of(const struct gate_settings *route, const struct tier_facts *facts, bool adapted,
                   struct gate_settings *out);

#endif
