/* A path, who may ask for it, the function that answers it, and the form of its errors. The table
 * is api.c's. */
#ifndef API_ENDPOINT_H
#define API_ENDPOINT_H

#include "api/http/fault.h"
#include "net/server/server.h"

struct api;

/* `rest`: the path from what its first "*" matched, "" if none. The handler replies, now or later.
 */
typedef void api_handler_fn(struct api *api, struct http_request *request, const char *rest);

/* Whose things an endpoint shows or changes. Every row says it; 0 is nobody's row. */
enum api_owner {
    OWNER_NOBODY = 1, /* nothing of anybody's: no key is needed */
    OWNER_ALL,        /* the same for every key: what the server offers */
    OWNER_TENANT,     /* the asking tenant's alone; the handler looks at api->who */
    OWNER_OPERATOR,   /* of all tenants together, or the server's own: an operator's key */
};

struct api_endpoint {
    enum http_method method;
    /* "*" matches what is not empty: a part, at the end a rest, before ":" what stands there */
    const char *path;
    api_handler_fn *handler;
    enum api_owner owner;
    const struct fault_form
        *faults; /* NULL = OpenAI's; also of unknown paths that go on below it */
};

/* Whether a path is the pattern's. *rest: the path from what its first "*" matched, or "". */
bool endpoint_matches(const char *pattern, const char *path, const char **rest);
/* Of a rest: its first part, and what stands before its last ":". "" for "". */
struct td_str endpoint_part(const char *rest);
struct td_str endpoint_subject(const char *rest);
/* Whether it is, or goes on below one. */
bool endpoint_is_below(const char *pattern, const char *path);

#endif
