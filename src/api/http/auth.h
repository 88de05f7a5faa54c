/* Optional API keys of this server. Keys are stored as SHA-256. A check always compares all of them
 * in equal time, so that the time shows neither length, position nor prefix of a key. Any
 * thread. */
#ifndef API_AUTH_H
#define API_AUTH_H

#include "tandem/types.h"

struct auth;

/* `keys`: one a line or comma-separated; white space around them is not part of a key.
 * **returns new** (auth_free); NULL without memory or when there is no key in the text. */
struct auth *auth_new(struct td_str keys);
/* Replaces the keys. False, and nothing changes, when the text has no key. */
bool auth_replace(struct auth *auth, struct td_str keys);
void auth_free(struct auth *auth);

/* Each argument is a header's value or NULL: `Authorization: Bearer KEY`, `x-api-key`, `api-key`.
 * auth NULL = no keys are required. */
bool auth_allows(struct auth *auth, const char *authorization, const char *x_api_key,
                 const char *api_key);

/* SHA-256 in hex and a NUL. */
#define AUTH_DIGEST_BYTES 65
/* The digest of the key in an allowed request's headers, which tells callers apart. False when no
 * keys are required. */
bool auth_digest(const struct auth *auth, const char *authorization, const char *x_api_key,
                 const char *api_key, char out[static AUTH_DIGEST_BYTES]);

#endif
