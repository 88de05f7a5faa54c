/* Origins of programs that run on the user's own machine: local pages, desktop programs, editors'
 * views and browsers' extensions. No state; any thread. */
#ifndef API_ORIGIN_H
#define API_ORIGIN_H

#include "tandem/types.h"

/* Whether the value of an Origin header is such a program's. "null" and file:// are not: any page
 * can have "null", in a frame that it closes off. */
bool origin_is_local(const char *origin);

#endif
