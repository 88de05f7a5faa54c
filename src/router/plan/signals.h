/* What is known of a request before anything runs. Signals are its sizes, what it needs, the
 * features of the user's own words, and what a classifier says of them. Pure functions without
 * allocation; any thread. They need 80 KiB of stack. */
#ifndef ROUTER_SIGNALS_H
#define ROUTER_SIGNALS_H

#include "request/request.h"
#include "router/plan/policy.h"

struct classifier;

/* Fills *out except the probe. data_class and mode are the request's own; the caller raises the
 * class to what detectors, route and conversation say. classifier NULL: nothing is judged.
 * similarity NULL: no sketch. */
void signals_extract(const struct td_request *request, const struct classifier *classifier,
                     const struct similarity *similarity, struct signals *out);

#endif
