/* What was erased of a user, as the endpoint (forget_handler.c) and the command say it. */
#ifndef API_ADMIN_FORGOTTEN_H
#define API_ADMIN_FORGOTTEN_H

#include "api/http/api_host.h"
#include "base/json/json.h"

/* **returns new** (json_free) */
struct json *forgotten_object(const struct api_stored *stored);

#endif
