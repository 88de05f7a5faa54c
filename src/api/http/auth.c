/* The server's own API keys, as digests.
 *
 * A request's key is hashed and compared with every digest in equal time. The loop does not stop at
 * the first match, so the time of a check says nothing about the keys. A reload replaces the whole
 * set under a short lock. */
#include "api/http/auth.h"

#include "base/crypto.h"
#include "base/str.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define AUTH_KEYS_MAX 256

struct key_set {
    size_t count;
    uint8_t digests[AUTH_KEYS_MAX][CRYPTO_SHA256_BYTES];
};

struct auth {
    pthread_mutex_t lock; /* held for some microseconds a request */
    struct key_set keys;
};

static void key_set_read(struct td_str keys, struct key_set *out)
{
    struct td_str line;
    out->count = 0;
    while (str_next(&keys, '\n', &line)) {
        struct td_str key;
        while (str_next(&line, ',', &key)) {
            key = str_trim(key);
            if (key.len == 0 || out->count == AUTH_KEYS_MAX)
                continue;
            crypto_sha256(key.data, key.len, out->digests[out->count++]);
        }
    }
}

struct auth *auth_new(struct td_str keys)
{
    struct auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return NULL;
    key_set_read(keys, &auth->keys);
    if (auth->keys.count == 0) {
        free(auth);
        return NULL;
    }
    pthread_mutex_init(&auth->lock, NULL);
    return auth;
}

bool auth_replace(struct auth *auth, struct td_str keys)
{
    assert(auth);
    struct key_set fresh;
    key_set_read(keys, &fresh);
    if (fresh.count == 0)
        return false;
    pthread_mutex_lock(&auth->lock);
    memcpy(&auth->keys, &fresh, sizeof fresh);
    pthread_mutex_unlock(&auth->lock);
    return true;
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    pthread_mutex_destroy(&auth->lock);
    free(auth);
}

static bool key_known(struct auth *auth, struct td_str key)
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(key.data, key.len, digest);
    unsigned known = 0;
    pthread_mutex_lock(&auth->lock);
    for (size_t i = 0; i < auth->keys.count; i++)
        known |= crypto_equal(digest, auth->keys.digests[i], sizeof digest);
    pthread_mutex_unlock(&auth->lock);
    return known != 0;
}

/* The key that a request shows; false when it shows none. */
static bool find_key(const char *authorization, const char *x_api_key, const char *api_key,
                     struct td_str *out)
{
    struct td_str bearer = str_from(authorization);
    if (bearer.len > 7 && str_equal_nocase(str_slice(bearer, 0, 7), STR("bearer ")))
        *out = str_trim(str_slice(bearer, 7, bearer.len));
    else if (x_api_key || api_key)
        *out = str_trim(str_from(x_api_key ? x_api_key : api_key));
    else
        return false;
    return true;
}

bool auth_allows(struct auth *auth, const char *authorization, const char *x_api_key,
                 const char *api_key)
{
    struct td_str key;
    return !auth || (find_key(authorization, x_api_key, api_key, &key) && key_known(auth, key));
}

bool auth_digest(const struct auth *auth, const char *authorization, const char *x_api_key,
                 const char *api_key, char out[static AUTH_DIGEST_BYTES])
{
    struct td_str key;
    uint8_t digest[CRYPTO_SHA256_BYTES];
    if (!auth || !find_key(authorization, x_api_key, api_key, &key))
        return false;
    crypto_sha256(key.data, key.len, digest);
    crypto_hex(digest, sizeof digest, out);
    return true;
}
