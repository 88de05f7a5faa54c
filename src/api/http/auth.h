/* The API keys of this server, and whom each of them stands for.
 *
 * Keys come from two places: the configuration names some (auth_set), and the store has others
 * (auth_load), which come and go while the server runs. As soon as there is a key in either place,
 * one is needed.
 *
 * A tenant is whoever owns what a key's requests leave behind: records, consents, vaults, caches. A
 * key is a tenant of its own unless a name says that several keys are one. The operator's keys may
 * see all tenants. So may the keys of the configuration's only tenant where there is no other key
 * and no operator's.
 *
 * Keys are kept as digests under a secret of the installation. Therefore the time of a look-up says
 * nothing about a key. Any thread. */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "exchange/limits/spending.h"
#include "ledger/store/key_store.h"

struct auth;
struct meters;

/* More keys of the configuration are refused. */
#define AUTH_KEYS_MAX 4096
/* SHA-256 in hex and a NUL. */
#define AUTH_DIGEST_BYTES 65
#define AUTH_TENANT_BYTES 17

/* The key with this digest (SHA-256, in hex) belongs to the tenant of that name; NULL = it is a
 * tenant of its own. It is a client's key, whether or not it stands in a text. */
struct auth_named {
    const char *key, *tenant;
};

/* Texts hold keys, one a line or comma-separated. White space around them is not part of a key. */
struct auth_keys {
    struct td_str clients, operators;
    const struct auth_named *named;
    size_t named_count;
    const char *const *certificates; /* names of clients that need no key */
    size_t certificate_count;
};

/* Who asks. Empty texts where no keys are required. */
struct auth_who {
    char key[AUTH_DIGEST_BYTES];        /* of the API key: SHA-256 in hex; never shown or stored */
    char key_id[SPENDING_KEY_ID_BYTES]; /* the key's name in records */
    char caller[AUTH_DIGEST_BYTES]; /* the same for all keys of a tenant; never shown or stored */
    char tenant[AUTH_TENANT_BYTES]; /* the tenant's name in records: a keyed hash of `caller` */
    bool operates;                  /* may see what belongs to any tenant */
    bool stored;                    /* the store has it, and perhaps terms for it (auth_terms) */
};

/* It has no keys yet, and allows nothing. **returns new** (auth_free), NULL without memory. */
struct auth *auth_new(const uint8_t secret[static KEYED_KEY_BYTES]);
void auth_free(struct auth *auth);
/* Nobody needs a key as long as the store has none, either. Before requests come. */
void auth_open(struct auth *auth);
/* Replaces all keys of the configuration. On failure nothing changes. TD_NOT_FOUND: there is no
 * key. TD_LIMIT: more than AUTH_KEYS_MAX. */
TD_MUST_CHECK enum td_status auth_set(struct auth *auth, const struct auth_keys *keys,
                                      struct td_error *err);
/* The configuration's keys are not taken any more. Nothing opens by that. */
void auth_clear(struct auth *auth);
/* Replaces all keys of the store by what it has now, and tells the meters (or NULL) their limits.
 * On failure the keys of before stay. */
TD_MUST_CHECK enum td_status auth_load(struct auth *auth, struct key_store *store,
                                       struct meters *meters, struct td_error *err);

/* May call auth_load, and must not take long: a request waits. */
typedef void auth_reread_fn(void *ctx);
/* Is called before a key is refused that nobody knows, so that one that was just made is taken;
 * once in AUTH_REREAD_MS, however many wrong keys are tried. NULL = none. */
#define AUTH_REREAD_MS 5
void auth_on_unknown(struct auth *auth, auth_reread_fn *reread, void *ctx);

/* Nobody needs a key. True for NULL, too. */
bool auth_is_open(struct auth *auth);
/* Whether there are keys of operators. */
bool auth_has_operators(struct auth *auth);

/* Each argument is a header's value or NULL: `Authorization: Bearer KEY`, `x-api-key`, `api-key`.
 * False, and *who is unchanged, when no key or an unknown one is shown. */
bool auth_find(struct auth *auth, const char *authorization, const char *x_api_key,
               const char *api_key, struct auth_who *who);
/* Whom the name in a client's certificate stands for; false where it is not one of those that were
 * set. To the rest of the program it is a key, with the digest of auth_certificate_digest. */
bool auth_find_certificate(struct auth *auth, const char *name, struct auth_who *who);
void auth_certificate_digest(const char *name, char digest[static AUTH_DIGEST_BYTES]);
/* Whom the key of this name in records stands for now; false where there is none any more. */
bool auth_find_id(struct auth *auth, const char *key_id, struct auth_who *who);
/* What the key of the store may do; false when the store has it no longer. */
bool auth_terms(struct auth *auth, const char *key_id, struct key_terms *out);

/* The keys of the store that were used since the last call, at most `max`. */
size_t auth_take_used(struct auth *auth, char (*ids)[STORED_KEY_ID_BYTES], size_t max);
/* A mark as the store keeps it. */
void auth_mark(const struct auth *auth, const char *key,
               uint8_t mark[static STORED_KEY_MARK_BYTES]);
/* The names in records of a tenant of the store: of its name, or of a key that is one of its own
 * (name ""). */
void auth_tenant_of(const struct auth *auth, const char *key_id, const char *name,
                    char out[static AUTH_TENANT_BYTES]);

#endif
