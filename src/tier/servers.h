/* The kinds of servers that a tier may be, one file each.
 *
 * A kind says what the configuration may leave out, and opens the tier. To add one, write its file
 * with a `server_NAME`, and name it in TIER_SERVERS. The word in the configuration, the defaults,
 * `tandem models` and the opening follow. Constant; any thread may read it. */
#ifndef TIER_SERVERS_H
#define TIER_SERVERS_H

#include "tier/tier.h"

struct tier_server {
    const char *name; /* `kind` in the configuration */
    /* Used where the configuration has none: the variable of the environment, else the text. */
    const char *base_url_env, *base_url;
    const char *model_env, *model;
    const char *key_env; /* variable of the key, where the configuration has no base_url */
    enum td_status (*open)(const struct tier_facts *facts,
                           const struct tier_server_options *options, struct tier **out,
                           struct td_error *err);
};

#define TIER_SERVERS(x) x(openai)

#define TIER_SERVER_DECLARE(name) extern const struct tier_server server_##name;
TIER_SERVERS(TIER_SERVER_DECLARE)

extern const struct tier_server *const tier_servers[]; /* in the order of TIER_SERVERS */

#endif
