/* A sorted table of keyed digests, searched in two halves.
 *
 * What is compared is a digest of the key that was shown and of a secret that no client knows, so
 * how far a comparison gets tells nothing about a key. The secret outlives the process, because the
 * same one names tenants in the ledger. A reload makes a new table and swaps it under the lock. A
 * look-up needs no memory. */
#include "api/http/auth.h"

#include "base/crypto.h"
#include "base/error.h"
#include "base/str.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CERTIFICATE_KEY_BYTES 512 /* names in certificates have 127 at most */

struct known_key {
    uint8_t mark[CRYPTO_SHA256_BYTES];   /* of the secret and `digest`; the table's order */
    uint8_t digest[CRYPTO_SHA256_BYTES]; /* of the key */
    uint8_t caller[CRYPTO_SHA256_BYTES]; /* of the tenant; the key's own where it has no name */
    char tenant[AUTH_TENANT_BYTES];
    char id[SPENDING_KEY_ID_BYTES];
    bool operates;
};

struct key_table {
    size_t count;
    bool has_operators;
    struct known_key keys[];
};

struct auth {
    uint8_t secret[KEYED_KEY_BYTES];
    pthread_mutex_t lock; /* of `table`; held for some microseconds a request */
    struct key_table *table;
};

struct auth *auth_new(const uint8_t secret[static KEYED_KEY_BYTES])
{
    struct auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return NULL;
    memcpy(auth->secret, secret, sizeof auth->secret);
    pthread_mutex_init(&auth->lock, NULL);
    return auth;
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    pthread_mutex_destroy(&auth->lock);
    crypto_wipe(auth->secret, sizeof auth->secret);
    free(auth->table);
    free(auth);
}

/* --- the table --- */

/* The next key of a text; false at its end. */
static bool next_key(struct td_str *text, struct td_str *line, struct td_str *key)
{
    do {
        while (str_next(line, ',', key)) {
            *key = str_trim(*key);
            if (key->len > 0)
                return true;
        }
    } while (str_next(text, '\n', line));
    return false;
}

static size_t count_keys(struct td_str text)
{
    struct td_str line = {0}, key;
    size_t count = 0;
    while (next_key(&text, &line, &key))
        count++;
    return count;
}

static void mark_key(const struct auth *auth, struct td_str text, struct known_key *out)
{
    uint8_t both[KEYED_KEY_BYTES + CRYPTO_SHA256_BYTES];
    crypto_sha256(text.data, text.len, out->digest);
    memcpy(both, auth->secret, KEYED_KEY_BYTES);
    memcpy(both + KEYED_KEY_BYTES, out->digest, CRYPTO_SHA256_BYTES);
    crypto_sha256(both, sizeof both, out->mark);
}

static void fill_key(const struct auth *auth, const struct auth_keys *keys, struct td_str text,
                     struct known_key *out)
{
    char digest[AUTH_DIGEST_BYTES], name[128];
    uint8_t mac[KEYED_MAC_BYTES];
    mark_key(auth, text, out);
    memcpy(out->caller, out->digest, sizeof out->caller);
    crypto_hex(out->digest, sizeof out->digest, digest);
    spending_key_id(auth->secret, digest, out->id);
    for (size_t i = 0; i < keys->named_count; i++) {
        if (strcmp(keys->named[i].key, digest) != 0)
            continue;
        /* No key has a comma, so no key has the digest of a name. */
        int len = snprintf(name, sizeof name, "tenant,%.100s", keys->named[i].tenant);
        crypto_sha256(name, (size_t)len, out->caller);
    }
    keyed_mac(auth->secret, out->caller, sizeof out->caller, mac);
    crypto_hex(mac, (AUTH_TENANT_BYTES - 1) / 2, out->tenant);
}

static void add_keys(const struct auth *auth, const struct auth_keys *keys, struct td_str text,
                     bool operates, struct key_table *table)
{
    struct td_str line = {0}, key;
    while (next_key(&text, &line, &key)) {
        struct known_key *out = &table->keys[table->count++];
        fill_key(auth, keys, key, out);
        out->operates = operates;
    }
}

/* No key has a comma, so no key has the digest of a certificate. */
static struct td_str certificate_key(const char *name, char *out, size_t size)
{
    int len = snprintf(out, size, "certificate,%s", name);
    return (struct td_str){out, len > 0 && (size_t)len < size ? (size_t)len : size - 1};
}

static void add_certificates(const struct auth *auth, const struct auth_keys *keys,
                             struct key_table *table)
{
    char text[CERTIFICATE_KEY_BYTES];
    for (size_t i = 0; i < keys->certificate_count; i++)
        fill_key(auth, keys, certificate_key(keys->certificates[i], text, sizeof text),
                 &table->keys[table->count++]);
}

void auth_certificate_digest(const char *name, char digest[static AUTH_DIGEST_BYTES])
{
    char text[CERTIFICATE_KEY_BYTES];
    uint8_t hash[CRYPTO_SHA256_BYTES];
    struct td_str key = certificate_key(name, text, sizeof text);
    crypto_sha256(key.data, key.len, hash);
    crypto_hex(hash, sizeof hash, digest);
}

static int compare_keys(const void *a, const void *b)
{
    const struct known_key *left = a, *right = b;
    return memcmp(left->mark, right->mark, sizeof left->mark);
}

/* A key that was given twice is one key, with the rights of both. */
static void drop_repeated(struct key_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (kept > 0 && compare_keys(&table->keys[kept - 1], &table->keys[i]) == 0)
            table->keys[kept - 1].operates |= table->keys[i].operates;
        else
            table->keys[kept++] = table->keys[i];
    }
    table->count = kept;
}

/* Where all keys are one tenant's and none is the operator's, the tenant is the operator: nobody
 * else is there whom it could see. */
static void find_operators(struct key_table *table)
{
    bool alone = true;
    for (size_t i = 0; i < table->count; i++) {
        table->has_operators |= table->keys[i].operates;
        alone &= memcmp(table->keys[i].caller, table->keys[0].caller, CRYPTO_SHA256_BYTES) == 0;
    }
    for (size_t i = 0; i < table->count && alone && !table->has_operators; i++)
        table->keys[i].operates = true;
}

enum td_status auth_set(struct auth *auth, const struct auth_keys *keys, struct td_error *err)
{
    assert(auth && keys);
    size_t count =
        count_keys(keys->clients) + count_keys(keys->operators) + keys->certificate_count;
    if (count == 0)
        return error_set(err, TD_NOT_FOUND, "there is no key");
    if (count > AUTH_KEYS_MAX)
        return error_set(err, TD_LIMIT, "there are %zu keys; a server takes at most %d", count,
                         AUTH_KEYS_MAX);
    struct key_table *table = calloc(1, sizeof *table + count * sizeof *table->keys);
    if (!table)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu keys", count);
    add_keys(auth, keys, keys->clients, false, table);
    add_keys(auth, keys, keys->operators, true, table);
    add_certificates(auth, keys, table);
    qsort(table->keys, table->count, sizeof *table->keys, compare_keys);
    drop_repeated(table);
    find_operators(table);
    pthread_mutex_lock(&auth->lock);
    struct key_table *old = auth->table;
    auth->table = table;
    pthread_mutex_unlock(&auth->lock);
    free(old);
    return TD_OK;
}

bool auth_has_operators(struct auth *auth)
{
    pthread_mutex_lock(&auth->lock);
    bool has = auth->table && auth->table->has_operators;
    pthread_mutex_unlock(&auth->lock);
    return has;
}

/* --- a request's key --- */

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

static void fill_who(const struct known_key *key, struct auth_who *who)
{
    crypto_hex(key->digest, sizeof key->digest, who->key);
    crypto_hex(key->caller, sizeof key->caller, who->caller);
    memcpy(who->tenant, key->tenant, sizeof who->tenant);
    memcpy(who->key_id, key->id, sizeof who->key_id);
    who->operates = key->operates;
}

static bool find_text(struct auth *auth, struct td_str key, struct auth_who *who)
{
    struct known_key wanted, *found;
    mark_key(auth, key, &wanted);
    pthread_mutex_lock(&auth->lock);
    found = auth->table ? bsearch(&wanted, auth->table->keys, auth->table->count, sizeof wanted,
                                  compare_keys)
                        : NULL;
    if (found)
        wanted = *found;
    pthread_mutex_unlock(&auth->lock);
    if (!found)
        return false;
    fill_who(&wanted, who);
    return true;
}

bool auth_find(struct auth *auth, const char *authorization, const char *x_api_key,
               const char *api_key, struct auth_who *who)
{
    struct td_str key;
    return find_key(authorization, x_api_key, api_key, &key) &&
           !(key.len && memchr(key.data, ',', key.len)) && find_text(auth, key, who);
}

bool auth_find_certificate(struct auth *auth, const char *name, struct auth_who *who)
{
    char text[CERTIFICATE_KEY_BYTES];
    return find_text(auth, certificate_key(name, text, sizeof text), who);
}

bool auth_find_id(struct auth *auth, const char *key_id, struct auth_who *who)
{
    bool found = false;
    pthread_mutex_lock(&auth->lock);
    for (size_t i = 0; auth->table && i < auth->table->count && !found; i++) {
        found = strcmp(auth->table->keys[i].id, key_id) == 0;
        if (found)
            fill_who(&auth->table->keys[i], who);
    }
    pthread_mutex_unlock(&auth->lock);
    return found;
}
