/* Which data a tier may see. A class's rule names places, regions, tiers and certificates; where none is
 * configured the place alone decides (privacy_may_reach). Restricted data stays on the device whatever a
 * rule says. Pure; any thread. */
#ifndef ROUTER_REACH_H
#define ROUTER_REACH_H

#include "base/names.h"
#include "router/plan/facts.h"

#define CLASS_COUNT (TD_CLASS_RESTRICTED + 1)

/* Lists are NULL-terminated, NULL: nothing is asked. Regions and certificates are asked of other people's
 * machines (places region and cloud). */
struct class_rule {
    bool given;
    unsigned places; /* bit n: enum td_place n */
    const char *const *regions, *const *tiers, *const *certified;
};

/* Bit n: the tier may see class n. */
unsigned reach_classes(const struct class_rule rules[static CLASS_COUNT],
                       const struct tier_facts *facts);

/* May a request that must stay in the region ("eu") be sent there? On the device and the premises it does;
 * elsewhere the tier's own region must begin with it ("eu-central-1"), and one that is not said does not. */
bool reach_resides(const struct tier_facts *facts, const char *region);

/* A class or place outside its enum is refused, but for the device itself. */
bool reach_allowed(const struct tier_facts *facts, enum td_data_class data_class);

#endif
