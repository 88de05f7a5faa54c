/* redis://HOST[:PORT][/NUMBER] or unix:///PATH in its parts. No state; any thread. */
#ifndef CLUSTER_REDIS_URL_H
#define CLUSTER_REDIS_URL_H

#include "tandem/types.h"

struct redis_url {
    char path[108]; /* of a socket; "" = there is a host */
    char host[256];
    uint32_t port, database;
};
TD_MUST_CHECK enum td_status redis_url_parse(const char *url, struct redis_url *out,
                                             struct td_error *err);

#endif
