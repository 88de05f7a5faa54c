/* The endpoint of the metrics. The table of all endpoints is api.c's. */
#ifndef API_METRICS_HANDLERS_H
#define API_METRICS_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn metrics_handle; /* metrics_handler.c */

#endif
