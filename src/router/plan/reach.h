/* Which data a tier may see. The rule of a class names places, regions, tiers and certificates. A
 * class without a rule is decided by the place alone (privacy_may_reach). Restricted data stays on
 * the device whatever a rule says. Pure; any thread. */
#ifndef ROUTER_REACH_H
#define ROUTER_REACH_H

#include "base/text/names.h"
#include "router/plan/facts.h"

#define CLASS_COUNT (TD_CLASS_RESTRICTED + 1)

/* Lists end with NULL; a NULL list asks for nothing. Regions and certificates are asked of other
 * people's machines only (places region and cloud). */
struct class_rule {
    bool given;
    unsigned places; /* bit n: enum td_place n */
    const char *const *regions, *const *tiers, *const *certified;
};

/* Bit n: the tier may see class n. */
unsigned reach_classes(const struct class_rule rules[static CLASS_COUNT],
                       const struct tier_facts *facts);

/* May a request that must stay in the region ("eu") be sent to the tier? Device and premises are
 * always allowed. Elsewhere the tier's own region must begin with it ("eu-central-1"); a tier
 * without a region is refused. */
bool reach_resides(const struct tier_facts *facts, const char *region);

/* May the tier see the class? An unknown class or place is refused, except on the device. */
bool reach_allowed(const struct tier_facts *facts, enum td_data_class data_class);

#endif
