/* Parameters of a request's query (?limit=5). The first of a name counts. Any thread. */
#ifndef API_QUERY_H
#define API_QUERY_H

#include "base/core/str.h"
#include "net/server/server.h"

/* A decimal number, or `otherwise` where there is none. False when it is malformed. */
bool query_number(const struct http_request *request, struct td_str name, uint64_t otherwise,
                  uint64_t *out);
/* Whether the query has no parameter but these, "one two three"; else *out is the first other. */
bool query_has_only(const struct http_request *request, struct td_str names, struct td_str *out);
/* A text, decoded; "" where there is none. False when it is malformed or does not fit. */
bool query_text(const struct http_request *request, struct td_str name, char *out, size_t size);

#endif
