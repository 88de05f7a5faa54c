/* What a request shows before anything runs: cheap markers of its messages, in one pass each. Pure
 * functions; any thread. */
#ifndef ROUTER_SIGNALS_H
#define ROUTER_SIGNALS_H

#include "router/policy.h"

/* Fills the sizes and markers of *out. data_class and mode are the request's own; the caller raises
 * the class by what detectors, route and conversation say. */
void signals_extract(const struct td_request *request, struct signals *out);

#endif
