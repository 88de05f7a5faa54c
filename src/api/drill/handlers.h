/* The endpoint of drills. Its row is api.c's. */
#ifndef API_DRILL_HANDLERS_H
#define API_DRILL_HANDLERS_H

#include "api/http/api_internal.h"

void drill_handle(struct api *api, struct http_request *request, const char *rest);

#endif
