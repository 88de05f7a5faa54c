/* A tier of a drill, in the place of a real one with the same facts: it answers two words, or fails
 * as the fault says. It sends nothing. One loop's thread. */
#ifndef API_STAND_IN_H
#define API_STAND_IN_H

#include "api/drill/drill.h"

/* facts are copied; what they point to is borrowed. */
void stand_in_init(struct drill_tier *stand_in, struct drill *drill,
                   const struct tier_facts *facts);

#endif
