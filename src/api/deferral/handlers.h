/* The endpoints of the queue of deferred questions. Their table is api.c's. */
#ifndef API_DEFERRAL_HANDLERS_H
#define API_DEFERRAL_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn deferred_handle_list, deferred_handle_one, deferred_handle_drop;

#endif
