/* Sorted tables of keyed digests, searched in two halves: one of the configuration's keys and one
 * of the store's.
 *
 * What is compared is a digest of the key that was shown and of a secret that no client knows, so
 * how far a comparison gets tells nothing about a key. The secret outlives the process, because the
 * same one names tenants in the ledger. A change makes a new table and swaps it under the lock. A
 * look-up needs no memory. */
#include "api/http/auth.h"

#include "api/http/key_text.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "exchange/limits/meter.h"

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
    bool operates; /* there are operators' keys */
    bool alone;    /* all keys are one tenant's, and none is an operator's */
    struct known_key keys[];
};

/* What a mark leads to. A key that was rotated has two. */
struct stored_mark {
    uint8_t mark[CRYPTO_SHA256_BYTES];
    int64_t until_s; /* 0 = always */
    uint32_t key;    /* its number in `keys` */
};

struct live_key {
    char id[SPENDING_KEY_ID_BYTES];
    char tenant[AUTH_TENANT_BYTES];
    uint8_t caller[CRYPTO_SHA256_BYTES];
    bool operates, used;
    int64_t expires_s;
    struct key_terms terms;
};

struct stored_table {
    bool any; /* the store has keys, perhaps only such that were revoked */
    bool operates;
    size_t mark_count, key_count, capacity;
    struct stored_mark *marks; /* by mark */
    struct live_key *keys;     /* by id */
};

struct auth {
    uint8_t secret[KEYED_KEY_BYTES];
    pthread_mutex_t lock; /* of the tables; held for some microseconds a request */
    pthread_mutex_t loading;
    bool open;                   /* the configuration names no keys, and wants none */
    struct key_table *table;     /* of the configuration; NULL = it has none */
    struct stored_table *stored; /* NULL = there is no store */
    auth_reread_fn *reread;      /* or NULL */
    void *reread_ctx;
    double reread_from_ms; /* not before that */
};

struct auth *auth_new(const uint8_t secret[static KEYED_KEY_BYTES])
{
    struct auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return NULL;
    memcpy(auth->secret, secret, sizeof auth->secret);
    pthread_mutex_init(&auth->lock, NULL);
    pthread_mutex_init(&auth->loading, NULL);
    return auth;
}

static void stored_free(struct stored_table *table)
{
    if (!table)
        return;
    free(table->marks);
    free(table->keys);
    free(table);
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    pthread_mutex_destroy(&auth->lock);
    pthread_mutex_destroy(&auth->loading);
    crypto_wipe(auth->secret, sizeof auth->secret);
    free(auth->table);
    stored_free(auth->stored);
    free(auth);
}

/* --- whom a key stands for --- */

/* No key has a comma, so no key has the digest of a name. */
static void hash_name(const char *kind, const char *name, uint8_t caller[CRYPTO_SHA256_BYTES])
{
    char text[128];
    int len = snprintf(text, sizeof text, "%s,%.100s", kind, name);
    crypto_sha256(text, (size_t)len, caller);
}

static void name_tenant(const uint8_t secret[static KEYED_KEY_BYTES],
                        const uint8_t caller[static CRYPTO_SHA256_BYTES],
                        char out[static AUTH_TENANT_BYTES])
{
    uint8_t mac[KEYED_MAC_BYTES];
    keyed_mac(secret, caller, CRYPTO_SHA256_BYTES, mac);
    crypto_hex(mac, (AUTH_TENANT_BYTES - 1) / 2, out);
}

static void hash_stored(const char *key_id, const char *name, uint8_t caller[CRYPTO_SHA256_BYTES])
{
    hash_name(*name ? "tenant" : "stored", *name ? name : key_id, caller);
}

void auth_tenant_of(const struct auth *auth, const char *key_id, const char *name,
                    char out[static AUTH_TENANT_BYTES])
{
    uint8_t caller[CRYPTO_SHA256_BYTES];
    hash_stored(key_id, name, caller);
    name_tenant(auth->secret, caller, out);
}

void auth_mark(const struct auth *auth, const char *key, uint8_t mark[static STORED_KEY_MARK_BYTES])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(key, strlen(key), digest);
    key_text_mark(auth->secret, digest, mark);
}

/* --- the table of the configuration --- */

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

static void fill_key(const struct auth *auth, const struct auth_keys *keys, struct known_key *out)
{
    char digest[AUTH_DIGEST_BYTES];
    key_text_mark(auth->secret, out->digest, out->mark);
    memcpy(out->caller, out->digest, sizeof out->caller);
    crypto_hex(out->digest, sizeof out->digest, digest);
    spending_key_id(auth->secret, digest, out->id);
    for (size_t i = 0; i < keys->named_count; i++)
        if (keys->named[i].tenant && strcmp(keys->named[i].key, digest) == 0)
            hash_name("tenant", keys->named[i].tenant, out->caller);
    name_tenant(auth->secret, out->caller, out->tenant);
}

static void add_keys(const struct auth *auth, const struct auth_keys *keys, struct td_str text,
                     bool operates, struct key_table *table)
{
    struct td_str line = {0}, key;
    while (next_key(&text, &line, &key)) {
        struct known_key *out = &table->keys[table->count++];
        crypto_sha256(key.data, key.len, out->digest);
        fill_key(auth, keys, out);
        out->operates = operates;
    }
}

/* Applications' keys, of which only the digests are known. */
static void add_named(const struct auth *auth, const struct auth_keys *keys,
                      struct key_table *table)
{
    for (size_t i = 0; i < keys->named_count; i++) {
        struct known_key *out = &table->keys[table->count];
        if (!crypto_unhex(str_from(keys->named[i].key), out->digest, sizeof out->digest))
            continue; /* a key that is not there */
        fill_key(auth, keys, out);
        table->count++;
    }
}

/* No key has a comma, so no key has the digest of a certificate. */
static struct td_str certificate_key(const char *name, char *out, size_t size)
{
    int len = snprintf(out, size, "certificate,%s", name);
    return (struct td_str){out, len > 0 && (size_t)len < size ? (size_t)len : size - 1};
}

static void hash_certificate(const char *name, uint8_t digest[CRYPTO_SHA256_BYTES])
{
    char text[CERTIFICATE_KEY_BYTES];
    struct td_str key = certificate_key(name, text, sizeof text);
    crypto_sha256(key.data, key.len, digest);
}

static void add_certificates(const struct auth *auth, const struct auth_keys *keys,
                             struct key_table *table)
{
    for (size_t i = 0; i < keys->certificate_count; i++) {
        struct known_key *out = &table->keys[table->count++];
        hash_certificate(keys->certificates[i], out->digest);
        fill_key(auth, keys, out);
    }
}

void auth_certificate_digest(const char *name, char digest[static AUTH_DIGEST_BYTES])
{
    uint8_t hash[CRYPTO_SHA256_BYTES];
    hash_certificate(name, hash);
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
    table->alone = table->count > 0;
    for (size_t i = 0; i < table->count; i++) {
        table->operates |= table->keys[i].operates;
        table->alone &=
            memcmp(table->keys[i].caller, table->keys[0].caller, CRYPTO_SHA256_BYTES) == 0;
    }
    table->alone &= !table->operates;
}

static void use_table(struct auth *auth, struct key_table *table)
{
    pthread_mutex_lock(&auth->lock);
    struct key_table *old = auth->table;
    auth->table = table;
    auth->open = auth->open && !table;
    pthread_mutex_unlock(&auth->lock);
    free(old);
}

void auth_open(struct auth *auth)
{
    pthread_mutex_lock(&auth->lock);
    auth->open = true;
    pthread_mutex_unlock(&auth->lock);
}

void auth_clear(struct auth *auth)
{
    use_table(auth, NULL);
}

enum td_status auth_set(struct auth *auth, const struct auth_keys *keys, struct td_error *err)
{
    ASSERT(auth && keys);
    size_t count = count_keys(keys->clients) + count_keys(keys->operators);
    if (count > AUTH_KEYS_MAX)
        return error_set(err, TD_LIMIT, "there are %zu keys; a server takes at most %d", count,
                         AUTH_KEYS_MAX);
    count += keys->named_count + keys->certificate_count;
    struct key_table *table = calloc(1, sizeof *table + count * sizeof *table->keys);
    if (!table)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu keys", count);
    add_keys(auth, keys, keys->clients, false, table);
    add_keys(auth, keys, keys->operators, true, table);
    add_certificates(auth, keys, table);
    add_named(auth, keys, table);
    qsort(table->keys, table->count, sizeof *table->keys, compare_keys);
    drop_repeated(table);
    if (table->count == 0) { /* they name digests of keys that are not there */
        free(table);
        return error_set(err, TD_NOT_FOUND, "there is no key");
    }
    find_operators(table);
    use_table(auth, table);
    return TD_OK;
}

/* --- the table of the store --- */

struct loading {
    const struct auth *auth;
    struct meters *meters;
    struct stored_table *table;
    int64_t now_s;
    enum td_status status;
    struct td_error *err;
};

static bool grow(struct stored_table *table)
{
    if (table->key_count < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct live_key *keys = realloc(table->keys, capacity * sizeof *keys);
    table->keys = keys ? keys : table->keys;
    struct stored_mark *marks = keys ? realloc(table->marks, 2 * capacity * sizeof *marks) : NULL;
    table->marks = marks ? marks : table->marks;
    table->capacity = marks ? capacity : table->capacity;
    return marks != NULL;
}

/* Where the order has changed, a mark finds its key by the id. */
static void add_mark(struct stored_table *table, const uint8_t mark[CRYPTO_SHA256_BYTES],
                     int64_t until_s)
{
    struct stored_mark *out = &table->marks[table->mark_count++];
    *out = (struct stored_mark){.until_s = until_s, .key = (uint32_t)table->key_count - 1};
    memcpy(out->mark, mark, sizeof out->mark);
}

/* What is over now stays so: no look-up asks for the time without need. */
static bool is_over(int64_t until_s, int64_t now_s)
{
    return until_s && until_s <= now_s;
}

static void load_meters(struct loading *loading, const char *whom, const char *id,
                        const struct key_terms *terms)
{
    char name[METER_WHOM_BYTES];
    snprintf(name, sizeof name, "%s%.16s", whom, id);
    if (loading->meters && loading->status == TD_OK)
        loading->status = meters_set(loading->meters, name, terms, loading->err);
}

static void load_key(void *ctx, const struct stored_key *key)
{
    struct loading *loading = ctx;
    struct stored_table *table = loading->table;
    table->any = true;
    if (key->revoked_s || is_over(key->expires_s, loading->now_s) || loading->status != TD_OK)
        return;
    if (!grow(table)) {
        loading->status = error_set(loading->err, TD_NO_MEMORY, "no memory for the keys");
        return;
    }
    struct live_key *out = &table->keys[table->key_count++];
    *out = (struct live_key){
        .operates = key->operates, .expires_s = key->expires_s, .terms = key->terms};
    memcpy(out->id, key->id, sizeof out->id);
    hash_stored(key->id, key->tenant, out->caller);
    name_tenant(loading->auth->secret, out->caller, out->tenant);
    table->operates |= key->operates;
    add_mark(table, key->mark, key->expires_s);
    if (key->before_until_s && !is_over(key->before_until_s, loading->now_s))
        add_mark(table, key->mark_before,
                 key->expires_s && key->expires_s < key->before_until_s ? key->expires_s
                                                                        : key->before_until_s);
    load_meters(loading, "k", key->id, &key->terms);
}

static void load_tenant(void *ctx, const struct stored_tenant *tenant)
{
    struct loading *loading = ctx;
    char id[AUTH_TENANT_BYTES];
    auth_tenant_of(loading->auth, "", tenant->name, id);
    load_meters(loading, "t", id, &tenant->terms);
}

static int compare_marks(const void *a, const void *b)
{
    const struct stored_mark *left = a, *right = b;
    return memcmp(left->mark, right->mark, sizeof left->mark);
}

static int compare_ids(const void *a, const void *b)
{
    const struct live_key *left = a, *right = b;
    return strcmp(left->id, right->id);
}

static struct live_key *find_live(const struct stored_table *table, const char *id)
{
    struct live_key wanted = {.operates = false};
    snprintf(wanted.id, sizeof wanted.id, "%s", id);
    return table && table->key_count
               ? bsearch(&wanted, table->keys, table->key_count, sizeof *table->keys, compare_ids)
               : NULL;
}

/* Sorts the keys by their ids; the marks then know their keys' new numbers. */
static bool sort_stored(struct stored_table *table)
{
    char(*ids)[SPENDING_KEY_ID_BYTES] = calloc(table->key_count + 1, sizeof *ids);
    if (!ids)
        return false;
    for (size_t i = 0; i < table->key_count; i++)
        memcpy(ids[i], table->keys[i].id, sizeof *ids);
    if (table->key_count)
        qsort(table->keys, table->key_count, sizeof *table->keys, compare_ids);
    for (size_t i = 0; i < table->mark_count; i++)
        table->marks[i].key = (uint32_t)(find_live(table, ids[table->marks[i].key]) - table->keys);
    if (table->mark_count)
        qsort(table->marks, table->mark_count, sizeof *table->marks, compare_marks);
    free(ids);
    return true;
}

static void keep_used_locked(const struct stored_table *old, struct stored_table *table)
{
    for (size_t i = 0; old && i < old->key_count; i++) {
        struct live_key *key = old->keys[i].used ? find_live(table, old->keys[i].id) : NULL;
        if (key)
            key->used = true;
    }
}

static enum td_status load_locked(struct auth *auth, struct key_store *store,
                                  struct loading *loading, struct td_error *err)
{
    enum td_status status = key_store_each(store, load_key, loading, err);
    if (status == TD_OK && loading->status == TD_OK)
        status = key_store_tenants(store, load_tenant, loading, err);
    status = status == TD_OK ? loading->status : status;
    if (status == TD_OK && !sort_stored(loading->table))
        status = error_set(err, TD_NO_MEMORY, "no memory for the keys");
    if (status != TD_OK)
        return status;
    pthread_mutex_lock(&auth->lock);
    struct stored_table *old = auth->stored;
    keep_used_locked(old, loading->table);
    auth->stored = loading->table;
    pthread_mutex_unlock(&auth->lock);
    stored_free(old);
    return TD_OK;
}

enum td_status auth_load(struct auth *auth, struct key_store *store, struct meters *meters,
                         struct td_error *err)
{
    struct loading loading = {.auth = auth,
                              .meters = meters,
                              .table = calloc(1, sizeof *loading.table),
                              .now_s = (int64_t)(clock_wall_ms(NULL) / 1000),
                              .status = TD_OK,
                              .err = err};
    if (!loading.table)
        return error_set(err, TD_NO_MEMORY, "no memory for the keys");
    /* One after the other, so that what was read last is what stays. */
    pthread_mutex_lock(&auth->loading);
    enum td_status status = load_locked(auth, store, &loading, err);
    pthread_mutex_unlock(&auth->loading);
    if (status != TD_OK)
        stored_free(loading.table);
    return status;
}

void auth_on_unknown(struct auth *auth, auth_reread_fn *reread, void *ctx)
{
    pthread_mutex_lock(&auth->lock);
    auth->reread = reread;
    auth->reread_ctx = ctx;
    pthread_mutex_unlock(&auth->lock);
}

/* False: there is nobody to ask, or somebody was asked just now. */
static bool read_again(struct auth *auth)
{
    double now = clock_monotonic_ms(NULL);
    pthread_mutex_lock(&auth->lock);
    auth_reread_fn *reread = now < auth->reread_from_ms ? NULL : auth->reread;
    void *ctx = auth->reread_ctx;
    if (reread)
        auth->reread_from_ms = now + AUTH_REREAD_MS;
    pthread_mutex_unlock(&auth->lock);
    if (reread)
        reread(ctx);
    return reread != NULL;
}

bool auth_is_open(struct auth *auth)
{
    if (!auth)
        return true;
    pthread_mutex_lock(&auth->lock);
    bool open = auth->open && !(auth->stored && auth->stored->any);
    pthread_mutex_unlock(&auth->lock);
    return open;
}

static bool is_alone_locked(const struct auth *auth)
{
    return auth->table && auth->table->alone && !(auth->stored && auth->stored->key_count);
}

bool auth_has_operators(struct auth *auth)
{
    pthread_mutex_lock(&auth->lock);
    bool has = (auth->table && auth->table->operates) || (auth->stored && auth->stored->operates);
    pthread_mutex_unlock(&auth->lock);
    return has;
}

size_t auth_take_used(struct auth *auth, char (*ids)[STORED_KEY_ID_BYTES], size_t max)
{
    size_t count = 0;
    pthread_mutex_lock(&auth->lock);
    struct stored_table *table = auth->stored;
    for (size_t i = 0; table && i < table->key_count && count < max; i++) {
        if (!table->keys[i].used)
            continue;
        memcpy(ids[count++], table->keys[i].id, sizeof *ids);
        table->keys[i].used = false;
    }
    pthread_mutex_unlock(&auth->lock);
    return count;
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

/* Under the lock: a key of the configuration that is its only tenant's operates. */
static void fill_known_locked(const struct auth *auth, const struct known_key *key,
                              struct auth_who *who)
{
    crypto_hex(key->digest, sizeof key->digest, who->key);
    crypto_hex(key->caller, sizeof key->caller, who->caller);
    memcpy(who->tenant, key->tenant, sizeof who->tenant);
    memcpy(who->key_id, key->id, sizeof who->key_id);
    who->operates = key->operates || is_alone_locked(auth);
    who->stored = false;
}

/* A key of the store has no digest that records could name, and needs none: its id does not come
 * from the key. */
static void fill_live(const struct live_key *key, struct auth_who *who)
{
    crypto_hex(key->caller, sizeof key->caller, who->caller);
    memcpy(who->tenant, key->tenant, sizeof who->tenant);
    memcpy(who->key_id, key->id, sizeof who->key_id);
    snprintf(who->key, sizeof who->key, "stored,%s", key->id);
    who->operates = key->operates;
    who->stored = true;
}

static bool find_stored_locked(struct auth *auth, const uint8_t mark[static CRYPTO_SHA256_BYTES],
                               struct auth_who *who)
{
    struct stored_table *table = auth->stored;
    struct stored_mark wanted = {.until_s = 0}, *found = NULL;
    memcpy(wanted.mark, mark, sizeof wanted.mark);
    if (table && table->mark_count)
        found = bsearch(&wanted, table->marks, table->mark_count, sizeof wanted, compare_marks);
    if (!found ||
        (found->until_s && is_over(found->until_s, (int64_t)(clock_wall_ms(NULL) / 1000))))
        return false;
    table->keys[found->key].used = true;
    fill_live(&table->keys[found->key], who);
    return true;
}

static bool find_text(struct auth *auth, struct td_str key, struct auth_who *who)
{
    struct known_key wanted, *found = NULL;
    crypto_sha256(key.data, key.len, wanted.digest);
    key_text_mark(auth->secret, wanted.digest, wanted.mark);
    pthread_mutex_lock(&auth->lock);
    if (auth->table && auth->table->count)
        found =
            bsearch(&wanted, auth->table->keys, auth->table->count, sizeof wanted, compare_keys);
    if (found)
        fill_known_locked(auth, found, who);
    bool known = found || find_stored_locked(auth, wanted.mark, who);
    pthread_mutex_unlock(&auth->lock);
    return known;
}

static bool is_live(const struct live_key *key)
{
    return key &&
           !(key->expires_s && is_over(key->expires_s, (int64_t)(clock_wall_ms(NULL) / 1000)));
}

bool auth_find(struct auth *auth, const char *authorization, const char *x_api_key,
               const char *api_key, struct auth_who *who)
{
    struct td_str key;
    return find_key(authorization, x_api_key, api_key, &key) &&
           !(key.len && memchr(key.data, ',', key.len)) &&
           (find_text(auth, key, who) || (read_again(auth) && find_text(auth, key, who)));
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
            fill_known_locked(auth, &auth->table->keys[i], who);
    }
    const struct live_key *key = found ? NULL : find_live(auth->stored, key_id);
    if (is_live(key)) {
        found = true;
        fill_live(key, who);
    }
    pthread_mutex_unlock(&auth->lock);
    return found;
}

bool auth_terms(struct auth *auth, const char *key_id, struct key_terms *out)
{
    pthread_mutex_lock(&auth->lock);
    const struct live_key *key = find_live(auth->stored, key_id);
    if (key)
        *out = key->terms;
    pthread_mutex_unlock(&auth->lock);
    return key != NULL;
}
