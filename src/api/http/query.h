/* Parameters of a request's query (?limit=5). The first of a name counts. Any thread. */
#ifndef API_QUERY_H
#define API_QUERY_H

#include "api/http/api_internal.h"
#include "base/core/str.h"

/* A decimal number, or `otherwise` where there is none. False when it is malformed. */
bool query_number(const struct http_request *request, struct td_str name, uint64_t otherwise,
                  uint64_t *out);
/* A text, decoded; "" where there is none. False when it is malformed or does not fit. */
bool query_text(const struct http_request *request, struct td_str name, char *out, size_t size);
/* --- and what is wrong is replied: false --- */

/* Any parameter but these, "one two three": one that is misspelt would be answered with what nobody
 * asked for. */
bool query_check(struct api *api, struct http_request *request, const char *names);
/* A time in milliseconds; 0 where there is none. */
bool query_wall_ms(struct api *api, struct http_request *request, const char *name, uint64_t *out);

#endif
