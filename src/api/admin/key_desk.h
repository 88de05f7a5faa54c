/* What the admin API and `tandem keys` do with the store of keys, in one form:
 *
 *   {"object": "key", "id", "name", "tenant" (or null), "operator", "state": "live", "expired" or
 *    "revoked", "created", "expires", "revoked", "last_used" (seconds since 1970 or null),
 *    "spent": {"day": {"usd", "tokens"}, "month": {...}}, and what base/key_terms.h lists}
 *
 * A wish is an object with name, tenant, operator, expires and terms. Any thread. */
#ifndef API_KEY_DESK_H
#define API_KEY_DESK_H

#include "api/http/key_text.h"
#include "ledger/store/key_store.h"

struct auth;
struct json;

struct key_desk {
    struct key_store *store;
    struct auth *auth; /* whose secret marks are made with */
    /* [tier_count] names of the tiers there are: a key cannot be limited to another one. */
    const char *const *tiers;
    size_t tier_count;
};

/* Makes a key. text: the key itself, which nobody can find again; the caller wipes it. *param: the
 * member at fault. */
TD_MUST_CHECK enum td_status key_desk_add(const struct key_desk *desk, const struct json *wish,
                                          struct stored_key *out, char text[static KEY_TEXT_BYTES],
                                          const char **param, struct td_error *err);
/* Changes what the wish names: expires and terms. */
TD_MUST_CHECK enum td_status key_desk_change(const struct key_desk *desk, const char *key,
                                             const struct json *wish, struct stored_key *out,
                                             const char **param, struct td_error *err);
TD_MUST_CHECK enum td_status key_desk_revoke(const struct key_desk *desk, const char *key,
                                             struct stored_key *out, struct td_error *err);
/* A new text for the key, which keeps its id and what it owns. The one of before is taken for
 * another overlap_s. */
TD_MUST_CHECK enum td_status key_desk_rotate(const struct key_desk *desk, const char *key,
                                             int64_t overlap_s, struct stored_key *out,
                                             char text[static KEY_TEXT_BYTES],
                                             struct td_error *err);
/* The terms of a tenant by name. */
TD_MUST_CHECK enum td_status key_desk_change_tenant(const struct key_desk *desk, const char *name,
                                                    const struct json *wish,
                                                    struct stored_tenant *out, const char **param,
                                                    struct td_error *err);

/* As above; text: the key itself, as "key", or NULL. **returns new** (json_free). */
TD_MUST_CHECK enum td_status key_desk_show(const struct key_desk *desk,
                                           const struct stored_key *key, const char *text,
                                           struct json **out, struct td_error *err);
/* {"object": "list", "data": [keys], "tenants": [{"object": "tenant", "name", "id", terms,
 * "spent"}]}. **returns new** (json_free). */
TD_MUST_CHECK enum td_status key_desk_list(const struct key_desk *desk, struct json **out,
                                           struct td_error *err);

#endif
