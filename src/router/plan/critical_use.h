/* Uses in which a mistake can hurt somebody: medicine and law, by the names that the operator and
 * the client give. Pure; any thread. */
#ifndef ROUTER_CRITICAL_USE_H
#define ROUTER_CRITICAL_USE_H

#include <stdbool.h>

/* Whether the name of a route or rule, or a tag, has a word of them: "legal-eu", "medical-de". */
bool critical_use_named(const char *name);

#endif
