/* What a tier shows to its server: its key, and the headers that its operator adds. All values are
 * held as secrets, because nobody can tell which of them are. One owner. */
#ifndef APP_SERVER_SECRETS_H
#define APP_SERVER_SECRETS_H

#include "tier/tier.h"

struct config_tier;

/* Begins as {0}. */
struct server_secrets {
    /* The key, or those keys by name that are there. */
    struct tier_key keys[TIER_KEYS_MAX];
    struct secret *key_texts[TIER_KEYS_MAX];
    size_t key_count;
    struct tier_header headers[TIER_HEADERS_MAX];
    struct secret *values[TIER_HEADERS_MAX];
    size_t header_count;
    struct td_error missing; /* why a key that ends (credential.h) could not be had yet */
};

/* Reads what the configuration names. It is to be closed also after a failure. **borrows** the
 * configuration's strings. */
TD_MUST_CHECK enum td_status server_secrets_open(const struct config_tier *tier,
                                                 struct server_secrets *out, struct td_error *err);
void server_secrets_close(struct server_secrets *secrets);
/* Puts them into the options of a tier, which borrows them. */
void server_secrets_give(const struct server_secrets *secrets, struct tier_server_options *options);
/* Whether both show the same keys. */
bool server_secrets_same_keys(const struct server_secrets *a, const struct server_secrets *b);
/* Whether a tier has what its configuration names, or names nothing. */
bool server_secrets_suffice(const struct server_secrets *secrets, const struct config_tier *tier);

#endif
