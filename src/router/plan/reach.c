/* The gatekeeper of classes, used by the plan and again by the door before bytes leave. It fails
 * closed: what it does not know (a class, a place, a region that is not given) it refuses. */
#include "router/plan/reach.h"

#include "privacy/scan/privacy.h"

#include <string.h>
#include <strings.h>

static bool holds(const char *const *list, const char *name)
{
    for (; name != NULL && list != NULL && *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* "eu" holds "eu" and "EU-central-1", and not "europe". */
static bool lies_in(const char *region, const char *wider)
{
    size_t len = strlen(wider);
    return region && strncasecmp(wider, region, len) == 0 &&
           (region[len] == '\0' || region[len] == '-');
}

static bool in_region(const char *const *regions, const char *region)
{
    for (; *regions != NULL; regions++)
        if (lies_in(region, *regions))
            return true;
    return false;
}

/* Somebody else's machine, somewhere in the world. */
static bool is_foreign(const struct tier_facts *facts)
{
    return facts->place != TD_PLACE_DEVICE && facts->place != TD_PLACE_PREMISES;
}

bool reach_resides(const struct tier_facts *facts, const char *region)
{
    return !is_foreign(facts) || lies_in(facts->region, region);
}

static bool fits(const struct class_rule *rule, const struct tier_facts *facts)
{
    bool foreign = is_foreign(facts);
    if (!(rule->places >> facts->place & 1) || (rule->tiers && !holds(rule->tiers, facts->name)))
        return false;
    if (foreign && rule->regions && !in_region(rule->regions, facts->region))
        return false;
    for (size_t i = 0; foreign && rule->certified && rule->certified[i]; i++)
        if (!holds(facts->certified, rule->certified[i]))
            return false;
    return true;
}

unsigned reach_classes(const struct class_rule rules[static CLASS_COUNT],
                       const struct tier_facts *facts)
{
    unsigned classes = 0;
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        if (rules[c].given ? fits(&rules[c], facts)
                           : privacy_may_reach((enum td_data_class)c, facts->place))
            classes |= 1u << c;
    return classes;
}

bool reach_allowed(const struct tier_facts *facts, enum td_data_class data_class)
{
    bool known = (unsigned)data_class < CLASS_COUNT;
    bool ruled = known && facts->ruled;
    /* Nothing is sent to people: their queue is here, or else `sees` says what it may not hold. Who
     * of them may look is a matter of their clearance. */
    if (facts->people)
        return ruled && (facts->sees >> data_class & 1);
    switch (facts->place) {
    case TD_PLACE_DEVICE:
        return !ruled || (facts->sees >> data_class & 1);
    case TD_PLACE_PREMISES:
    case TD_PLACE_REGION:
    case TD_PLACE_CLOUD:
        if (!known || data_class == TD_CLASS_RESTRICTED)
            return false;
        return ruled ? facts->sees >> data_class & 1 : privacy_may_reach(data_class, facts->place);
    }
    return false;
}
