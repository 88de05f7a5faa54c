/* Which adapters a request runs with. No state; any thread. */
#ifndef TIER_LOCAL_ADAPTERS_H
#define TIER_LOCAL_ADAPTERS_H

#include "engine/model/adapter.h"
#include "tier/tier.h"

/* The adapter that the request names as its model; SIZE_MAX when there is none. */
size_t local_adapters_named(const struct tier_facts *facts, const struct td_request *request);

/* The one named as its model plus those it lists; the always-on ones when it names none. adapters:
 * [facts->adapter_count], of the model. **returns new** (adapter_set_release). TD_INVALID: it names
 * one that is not there. */
TD_MUST_CHECK enum td_status local_adapters_choose(const struct tier_facts *facts,
                                                   const struct tier_adapter *adapters,
                                                   const struct td_model *model,
                                                   const struct td_request *request,
                                                   struct adapter_set **out, struct td_error *err);

#endif
