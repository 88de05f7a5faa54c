#include "api/auth.h"

#include "base/crypto.h"
#include "base/str.h"

#include <stdlib.h>

#define AUTH_KEYS_MAX 256

struct auth {
    size_t count;
    uint8_t digests[AUTH_KEYS_MAX][CRYPTO_SHA256_BYTES];
};

struct auth *auth_new(struct td_str keys)
{
    struct auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return NULL;
    struct td_str line;
    while (str_next(&keys, '\n', &line)) {
        struct td_str key;
        while (str_next(&line, ',', &key)) {
            key = str_trim(key);
            if (key.len == 0 || auth->count == AUTH_KEYS_MAX)
                continue;
            crypto_sha256(key.data, key.len, auth->digests[auth->count++]);
        }
    }
    if (auth->count == 0) {
        free(auth);
        return NULL;
    }
    return auth;
}

void auth_free(struct auth *auth)
{
    free(auth);
}

static bool key_known(const struct auth *auth, struct td_str key)
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(key.data, key.len, digest);
    unsigned known = 0;
    for (size_t i = 0; i < auth->count; i++)
        known |= crypto_equal(digest, auth->digests[i], sizeof digest);
    return known != 0;
}

bool auth_allows(const struct auth *auth, const char *authorization, const char *x_api_key,
                 const char *api_key)
{
    if (!auth)
        return true;
    struct td_str bearer = str_from(authorization);
    if (bearer.len > 7 && str_equal_nocase(str_slice(bearer, 0, 7), STR("bearer ")))
        return key_known(auth, str_trim(str_slice(bearer, 7, bearer.len)));
    if (x_api_key)
        return key_known(auth, str_trim(str_from(x_api_key)));
    if (api_key)
        return key_known(auth, str_trim(str_from(api_key)));
    return false;
}
