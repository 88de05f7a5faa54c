/* Tries the server of a tier: is it there, does it take the key, does it have the model, and can
 * gates judge its answers? Whether a tier can be used is more than whether something answers at its
 * address. One thread; blocks for some seconds at most. */
#ifndef APP_SERVER_CHECK_H
#define APP_SERVER_CHECK_H

#include "app/config/config.h"
#include "tier/tier.h"

struct egress_log;
struct json;
struct server_secrets;

enum server_verdict { SERVER_OK, SERVER_WARN, SERVER_FAIL };

struct server_finding {
    enum server_verdict verdict;
    char text[512];
    char advice[256]; /* "" = nothing to do */
};

struct server_check {
    const struct config_tier *tier;
    const struct tier_facts *facts;
    const struct server_secrets *secrets;
    size_t key;                /* which of its keys */
    struct egress_log *egress; /* NULL = what is sent is not recorded */
};

/* Asks for the list of models, which costs nothing and sends no text. */
void server_check_reach(const struct server_check *check, struct server_finding *out);
/* The same list as it came; NULL, and *out says why. **returns new** (json_free) */
struct json *server_check_list(const struct server_check *check, struct server_finding *out);
/* Asks for one token with its probability. The text of the question is ours and always the same. */
void server_check_logprobs(const struct server_check *check, struct server_finding *out);

#endif
