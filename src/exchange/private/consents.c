/* A list in memory that is written whole after each change. It is searched from front to end: there
 * are few consents, and each look-up needs only a comparison of two short texts. Users' names can
 * be kept as salted hashes; then a name can be checked against an entry, and no list of names be
 * made.
 *
 * Where nodes share the list, a change reads it anew, and others wait for its end. What a request
 * needs is looked up in memory, which is some tenths of a second behind. */
#include "exchange/private/consents.h"

#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"
#include "base/json/json.h"
#include "base/time/log.h"
#include "ledger/store/shared_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define USER_BYTES_MAX 256
#define FILE_BYTES_MAX (CONSENTS_MAX * 1024u)

#define CALLER_CHARS 32 /* half a SHA-256, in hexadecimal */

struct entry {
    char id[CONSENT_ID_BYTES_MAX + 1], scope[CONSENT_SCOPE_BYTES_MAX + 1];
    char caller[CALLER_CHARS + 1]; /* "" = nobody's: of a file that does not say whose */
    char user[USER_BYTES_MAX + 1]; /* "" = anybody; hashed: salt and hash */
    bool hashed;
    uint64_t expires_ms, revoked_ms; /* 0 = not revoked */
};

struct consents {
    pthread_mutex_t mutex;
    char *path; /* NULL = nothing is written */
    struct entry *entries;
    size_t count, capacity;
    bool hashes; /* instead of names */
    /* Where nodes share them; NULL elsewhere. A change is between begin_locked and end_locked. */
    struct shared_text *shared;
    pthread_mutex_t changing; /* of the connection; before `mutex` */
    int64_t version;          /* that is in memory; -1 = none yet */
    struct buf before, after; /* the list as it was read, and as it is to be written */
};

const char *consent_state_text(enum consent_state state)
{
    static const char *const texts[] = {"its consent is valid",
                                        "the request names no consent",
                                        "nobody gave the consent that it names",
                                        "its consent has expired",
                                        "its consent was taken back",
                                        "its consent is for another route",
                                        "its consent is another user's"};
    return (size_t)state < sizeof texts / sizeof *texts ? texts[state] : "its consent is not valid";
}

/* --- whose it is --- */

#define SALT_BYTES 16
#define HASH_CHARS \
    (2 * (SALT_BYTES + KEYED_MAC_BYTES)) /* the salt, then the hash, in hexadecimal */
_Static_assert(HASH_CHARS <= USER_BYTES_MAX, "a hash stands where a name would");

/* HMAC-SHA-256 of the name under the salt. salt: its hexadecimal digits. */
static void hash_user(const char *salt, const char *user, char out[static HASH_CHARS + 1])
{
    uint8_t key[KEYED_KEY_BYTES] = {0}, mac[KEYED_MAC_BYTES];
    _Static_assert(2 * SALT_BYTES <= KEYED_KEY_BYTES, "the salt's digits are the key");
    memcpy(key, salt, 2 * SALT_BYTES);
    keyed_mac(key, user, strlen(user), mac);
    memcpy(out, salt, 2 * SALT_BYTES);
    crypto_hex(mac, sizeof mac, out + 2 * SALT_BYTES);
    out[HASH_CHARS] = '\0';
}

static bool is_users(const struct entry *entry, const char *user)
{
    char hash[HASH_CHARS + 1];
    if (!entry->hashed || !*user)
        return strcmp(entry->user, user) == 0;
    hash_user(entry->user, user, hash);
    return strcmp(entry->user, hash) == 0;
}

/* The file holds neither an address nor the digest of a key. */
static void hash_caller(const char *caller, char out[static CALLER_CHARS + 1])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(caller ? caller : "", caller ? strlen(caller) : 0, digest);
    crypto_hex(digest, CALLER_CHARS / 2, out);
    out[CALLER_CHARS] = '\0';
}

static enum td_status forget_name(struct entry *entry, struct td_error *err)
{
    uint8_t salt[SALT_BYTES];
    char digits[2 * SALT_BYTES + 1] = "", hash[HASH_CHARS + 1];
    if (entry->hashed || !entry->user[0])
        return TD_OK;
    enum td_status status = crypto_random(salt, sizeof salt, err);
    if (status != TD_OK)
        return status;
    crypto_hex(salt, sizeof salt, digits);
    hash_user(digits, entry->user, hash);
    explicit_bzero(entry->user, sizeof entry->user);
    memcpy(entry->user, hash, sizeof hash);
    entry->hashed = true;
    return TD_OK;
}

/* --- the file --- */

static struct json *entry_json(const struct entry *entry)
{
    struct json *object = json_new_object();
    json_put(object, "id", json_new_cstr(entry->id));
    json_put(object, "scope", json_new_cstr(entry->scope));
    json_put(object, entry->hashed ? "user_hash" : "user",
             entry->user[0] ? json_new_cstr(entry->user) : json_new_null());
    json_put(object, "expires", json_new_int((int64_t)(entry->expires_ms / 1000)));
    if (entry->revoked_ms)
        json_put(object, "revoked", json_new_int((int64_t)(entry->revoked_ms / 1000)));
    return object;
}

static enum td_status write_list_locked(struct consents *consents, struct buf *text,
                                        struct td_error *err)
{
    struct json *list = json_new_array();
    buf_init(text, FILE_BYTES_MAX);
    for (size_t i = 0; i < consents->count; i++) {
        struct json *object = entry_json(&consents->entries[i]);
        json_put(object, "caller", json_new_cstr(consents->entries[i].caller));
        json_push(list, object);
    }
    json_write(list, text);
    json_free(list);
    return text->failed ? error_set(err, TD_NO_MEMORY, "no memory to write the consents") : TD_OK;
}

static enum td_status save_locked(struct consents *consents, struct td_error *err)
{
    struct buf text;
    if (consents->shared) {
        buf_deinit(&consents->after);
        return write_list_locked(consents, &consents->after, err);
    }
    if (!consents->path)
        return TD_OK;
    enum td_status status = write_list_locked(consents, &text, err);
    if (status == TD_OK)
        status = file_replace(consents->path, buf_view(&text), 0600, err);
    buf_deinit(&text);
    return status;
}

static bool copy(struct td_str text, char *out, size_t bytes_max)
{
    if (text.len > bytes_max || (text.len && memchr(text.data, '\0', text.len)))
        return false;
    if (text.len)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return true;
}

static struct entry *add_locked(struct consents *consents)
{
    if (consents->count == consents->capacity) {
        size_t capacity = consents->capacity ? 2 * consents->capacity : 16;
        struct entry *entries = consents->count < CONSENTS_MAX
                                    ? realloc(consents->entries, capacity * sizeof *entries)
                                    : NULL;
        if (!entries)
            return NULL;
        consents->entries = entries;
        consents->capacity = capacity;
    }
    struct entry *entry = &consents->entries[consents->count++];
    *entry = (struct entry){0};
    return entry;
}

static bool is_hash(struct td_str text)
{
    size_t digits = 0;
    while (digits < text.len && strchr("0123456789abcdef", text.data[digits]) && text.data[digits])
        digits++;
    return digits == HASH_CHARS && text.len == HASH_CHARS;
}

static enum td_status read_entries(struct consents *consents, const struct json *list,
                                   struct td_error *err)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *item = json_at(list, i);
        struct entry *entry = add_locked(consents);
        int64_t expires = json_int(json_get(item, "expires"), -1);
        int64_t revoked = json_int(json_get(item, "revoked"), 0);
        struct td_str id = json_text(json_get(item, "id"));
        struct td_str hash = json_text(json_get(item, "user_hash"));
        if (!entry || id.len == 0 || expires < 0 || revoked < 0 || expires > INT64_MAX / 1000 ||
            revoked > INT64_MAX / 1000 || !copy(id, entry->id, CONSENT_ID_BYTES_MAX) ||
            !copy(json_text(json_get(item, "scope")), entry->scope, CONSENT_SCOPE_BYTES_MAX) ||
            !copy(json_text(json_get(item, "caller")), entry->caller, CALLER_CHARS) ||
            (hash.len > 0 && !is_hash(hash)) ||
            !copy(hash.len > 0 ? hash : json_text(json_get(item, "user")), entry->user,
                  USER_BYTES_MAX))
            return error_set(err, TD_CORRUPT,
                             "%s: consent %zu is malformed; mend the file or move it away",
                             consents->path ? consents->path : "the database", i);
        entry->hashed = hash.len > 0;
        entry->expires_ms = (uint64_t)expires * 1000;
        entry->revoked_ms = (uint64_t)revoked * 1000;
    }
    return TD_OK;
}

static enum td_status read_file(struct consents *consents, struct td_error *err)
{
    struct buf text;
    struct json *list = NULL;
    if (access(consents->path, F_OK) != 0 && errno == ENOENT)
        return TD_OK;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, consents->path, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), &list, err);
    if (status == TD_OK && json_kind_of(list) != JSON_KIND_ARRAY)
        status = error_set(err, TD_CORRUPT, "it is no list of consents");
    if (status != TD_OK)
        error_prefix(err, "%s", consents->path);
    if (status == TD_OK)
        status = read_entries(consents, list, err);
    json_free(list);
    buf_deinit(&text);
    return status;
}

/* --- the list that nodes share --- */

static enum td_status take_list_locked(struct consents *consents, struct td_str text,
                                       struct td_error *err)
{
    struct json *list = NULL;
    enum td_status status = json_parse(text, &list, err);
    consents->count = 0;
    if (status == TD_OK)
        status = read_entries(consents, list, err);
    json_free(list);
    for (size_t i = 0; i < consents->count && consents->hashes && status == TD_OK; i++)
        status = forget_name(&consents->entries[i], err);
    return status;
}

/* Takes the lock; whoever has begun ends it, too, whatever this says. */
static enum td_status begin_locked(struct consents *consents, struct td_error *err)
{
    if (!consents->shared) {
        pthread_mutex_lock(&consents->mutex);
        return TD_OK;
    }
    pthread_mutex_lock(&consents->changing);
    buf_init(&consents->before, FILE_BYTES_MAX);
    buf_init(&consents->after, FILE_BYTES_MAX);
    /* The list in memory is free meanwhile: whoever reads it does not wait for the database. */
    enum td_status status =
        shared_text_begin(consents->shared, &consents->before, &consents->version, err);
    pthread_mutex_lock(&consents->mutex);
    if (status == TD_OK)
        status = take_list_locked(consents, buf_view(&consents->before), err);
    return status;
}

/* What could not be written is taken out of memory again: nobody was told that it holds. */
static enum td_status end_locked(struct consents *consents, enum td_status status,
                                 struct td_error *err)
{
    pthread_mutex_unlock(&consents->mutex);
    if (!consents->shared)
        return status;
    bool writes = status == TD_OK && consents->after.len > 0;
    struct td_str with = writes ? buf_view(&consents->after) : (struct td_str){NULL, 0};
    enum td_status ended = shared_text_end(consents->shared, with, &consents->version, err);
    if (ended != TD_OK || (status != TD_OK && consents->before.len > 0)) {
        pthread_mutex_lock(&consents->mutex);
        (void)!take_list_locked(consents, buf_view(&consents->before), NULL);
        consents->version = -1;
        pthread_mutex_unlock(&consents->mutex);
    }
    buf_deinit(&consents->before);
    buf_deinit(&consents->after);
    pthread_mutex_unlock(&consents->changing);
    return status == TD_OK ? ended : status;
}

enum td_status consents_refresh(struct consents *consents, struct td_error *err)
{
    struct buf text;
    int64_t version;
    if (!consents->shared)
        return TD_OK;
    pthread_mutex_lock(&consents->changing);
    int64_t now = shared_text_version(consents->shared);
    enum td_status status = TD_OK;
    if (now < 0 || now != consents->version) {
        buf_init(&text, FILE_BYTES_MAX);
        status = shared_text_read(consents->shared, &text, &version, err);
        pthread_mutex_lock(&consents->mutex);
        if (status == TD_OK)
            status = take_list_locked(consents, buf_view(&text), err);
        if (status == TD_OK)
            consents->version = version;
        pthread_mutex_unlock(&consents->mutex);
        buf_deinit(&text);
    }
    pthread_mutex_unlock(&consents->changing);
    return status;
}

void consents_share(struct consents *consents, struct shared_text *text)
{
    struct td_error err = {0};
    ASSERT(!consents->path && !consents->shared);
    consents->shared = text;
    consents->version = -1;
    if (consents_refresh(consents, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "consents_unknown", "reason=\"%s\"", err.message);
}

enum td_status consents_open(const char *path, struct consents **out, struct td_error *err)
{
    struct consents *consents = calloc(1, sizeof *consents);
    if (!consents)
        return error_set(err, TD_NO_MEMORY, "no memory for consents");
    pthread_mutex_init(&consents->mutex, NULL);
    pthread_mutex_init(&consents->changing, NULL);
    consents->path = path ? strdup(path) : NULL;
    enum td_status status = path && !consents->path
                                ? error_set(err, TD_NO_MEMORY, "no memory for consents")
                            : path ? read_file(consents, err)
                                   : TD_OK;
    if (status == TD_OK)
        *out = consents;
    else
        consents_close(consents);
    return status;
}

void consents_keep_in_memory(struct consents *consents)
{
    free(consents->path);
    consents->path = NULL;
    shared_text_close(consents->shared);
    consents->shared = NULL;
}

void consents_close(struct consents *consents)
{
    if (!consents)
        return;
    shared_text_close(consents->shared);
    pthread_mutex_destroy(&consents->mutex);
    pthread_mutex_destroy(&consents->changing);
    free(consents->path);
    free(consents->entries);
    free(consents);
}

enum td_status consents_keep_hashes(struct consents *consents, struct td_error *err)
{
    size_t changed = 0;
    enum td_status status = begin_locked(consents, err);
    consents->hashes = true;
    for (size_t i = 0; i < consents->count && status == TD_OK; i++) {
        changed += consents->entries[i].user[0] && !consents->entries[i].hashed;
        status = forget_name(&consents->entries[i], err);
    }
    if (status == TD_OK && changed > 0)
        status = save_locked(consents, err);
    status = end_locked(consents, status, err);
    /* Names that the database has still are hashed with the next change. */
    return consents->shared && status == TD_UNAVAILABLE ? TD_OK : status;
}

/* --- giving and taking back --- */

static struct entry *find_locked(struct consents *consents, const char *caller, const char *id)
{
    char whose[CALLER_CHARS + 1];
    hash_caller(caller, whose);
    for (size_t i = 0; i < consents->count; i++)
        if (strcmp(consents->entries[i].id, id) == 0 &&
            strcmp(consents->entries[i].caller, whose) == 0)
            return &consents->entries[i];
    return NULL;
}

static bool is_plain(const char *id)
{
    size_t len = strlen(id);
    for (size_t i = 0; i < len; i++)
        if (!((id[i] >= 'a' && id[i] <= 'z') || (id[i] >= 'A' && id[i] <= 'Z') ||
              (id[i] >= '0' && id[i] <= '9') || id[i] == '-' || id[i] == '_' || id[i] == '.'))
            return false;
    return len > 0 && len <= CONSENT_ID_BYTES_MAX;
}

static enum td_status check_wish(const struct consent *consent, uint64_t now_ms,
                                 struct td_error *err)
{
    if (consent->id && !is_plain(consent->id))
        return error_set(err, TD_INVALID, "a consent's id is 1 to %d of A-Z a-z 0-9 - _ .",
                         CONSENT_ID_BYTES_MAX);
    if (!consent->scope || consent->scope[0] == '\0' ||
        strlen(consent->scope) > CONSENT_SCOPE_BYTES_MAX)
        return error_set(err, TD_INVALID, "a consent's scope is a route's name, or * for all");
    if (consent->user && strlen(consent->user) > USER_BYTES_MAX)
        return error_set(err, TD_INVALID, "a consent's user has at most %d bytes", USER_BYTES_MAX);
    if (consent->expires_ms <= now_ms ||
        consent->expires_ms - now_ms > (uint64_t)CONSENT_SECONDS_MAX * 1000)
        return error_set(err, TD_INVALID,
                         "a consent's expires lies in the future, at most %u days away (seconds "
                         "since 1970)",
                         CONSENT_SECONDS_MAX / 86400);
    return TD_OK;
}

/* What has expired makes room. What was taken back is kept for as long as it would have held. */
static void drop_expired_locked(struct consents *consents, uint64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < consents->count; i++)
        if (consents->entries[i].expires_ms > now_ms)
            consents->entries[kept++] = consents->entries[i];
    consents->count = kept;
}

static enum td_status make_id(char out[static CONSENT_ID_BYTES_MAX + 1], struct td_error *err)
{
    uint8_t random[12];
    enum td_status status = crypto_random(random, sizeof random, err);
    memcpy(out, "consent_", 8);
    crypto_hex(random, sizeof random, out + 8);
    return status;
}

/* A consent that holds may end earlier, and nothing else: whoever sends its id again must not make
 * more of it than was agreed to. */
static enum td_status give_again(struct entry *entry, const struct consent *consent,
                                 uint64_t now_ms, struct td_error *err)
{
    if (entry->revoked_ms)
        return error_set(err, TD_DENIED, "consent %s was taken back: give another", entry->id);
    if (!is_users(entry, consent->user ? consent->user : ""))
        return error_set(err, TD_DENIED, "consent %s is another user's", entry->id);
    if (entry->expires_ms <= now_ms)
        return error_set(err, TD_DENIED, "consent %s has expired: give another", entry->id);
    if (strcmp(entry->scope, consent->scope) != 0 || consent->expires_ms > entry->expires_ms)
        return error_set(err, TD_DENIED,
                         "consent %s was given for another scope or for less time: give another",
                         entry->id);
    entry->expires_ms = consent->expires_ms;
    return TD_OK;
}

/* No caller may take all the room: it may have as many as it leaves free. */
static bool has_room_locked(const struct consents *consents, const char *caller)
{
    char whose[CALLER_CHARS + 1];
    size_t own = 0;
    if (consents->count < CONSENTS_MAX / 2)
        return true;
    hash_caller(caller, whose);
    for (size_t i = 0; i < consents->count; i++)
        own += strcmp(consents->entries[i].caller, whose) == 0;
    return consents->count < CONSENTS_MAX && own < CONSENTS_MAX - consents->count;
}

static enum td_status grant_locked(struct consents *consents, const struct consent *consent,
                                   uint64_t now_ms, const char *id, struct td_error *err)
{
    struct entry *entry = find_locked(consents, consent->caller, id);
    enum td_status status = TD_OK;
    if (entry) {
        status = give_again(entry, consent, now_ms, err);
        return status == TD_OK ? save_locked(consents, err) : status;
    }
    if (!has_room_locked(consents, consent->caller))
        drop_expired_locked(consents, now_ms);
    entry = has_room_locked(consents, consent->caller) ? add_locked(consents) : NULL;
    if (!entry)
        return error_set(err, TD_LIMIT,
                         "there is no room for another consent of this caller until some have "
                         "expired; a server keeps %u",
                         CONSENTS_MAX);
    snprintf(entry->id, sizeof entry->id, "%s", id);
    snprintf(entry->scope, sizeof entry->scope, "%s", consent->scope);
    snprintf(entry->user, sizeof entry->user, "%s", consent->user ? consent->user : "");
    hash_caller(consent->caller, entry->caller);
    entry->expires_ms = consent->expires_ms;
    status = consents->hashes ? forget_name(entry, err) : TD_OK;
    if (status == TD_OK)
        status = save_locked(consents, err);
    if (status != TD_OK)
        consents->count--; /* whoever gave it is told that it does not hold */
    return status;
}

/* Whether it holds already, exactly so: a request may bring the same one again and again. */
static bool is_given(struct consents *consents, const struct consent *consent, uint64_t now_ms,
                     const char *id)
{
    pthread_mutex_lock(&consents->mutex);
    const struct entry *entry = find_locked(consents, consent->caller, id);
    bool given = entry && !entry->revoked_ms && entry->expires_ms > now_ms &&
                 entry->expires_ms == consent->expires_ms &&
                 strcmp(entry->scope, consent->scope) == 0 &&
                 is_users(entry, consent->user ? consent->user : "");
    pthread_mutex_unlock(&consents->mutex);
    return given;
}

enum td_status consents_grant(struct consents *consents, const struct consent *consent,
                              uint64_t now_ms, char id_out[static CONSENT_ID_BYTES_MAX + 1],
                              struct td_error *err)
{
    ASSERT(consents && consent && id_out);
    enum td_status status = check_wish(consent, now_ms, err);
    if (status == TD_OK && consent->id)
        snprintf(id_out, CONSENT_ID_BYTES_MAX + 1, "%s", consent->id);
    else if (status == TD_OK)
        status = make_id(id_out, err);
    if (status != TD_OK)
        return status;
    if (is_given(consents, consent, now_ms, id_out))
        return TD_OK;
    status = begin_locked(consents, err);
    if (status == TD_OK)
        status = grant_locked(consents, consent, now_ms, id_out, err);
    return end_locked(consents, status, err);
}

enum td_status consents_revoke(struct consents *consents, const char *caller, const char *id,
                               uint64_t now_ms, struct td_error *err)
{
    enum td_status status = begin_locked(consents, err);
    struct entry *entry = find_locked(consents, caller, id);
    if (status == TD_OK && !entry)
        status = error_set(err, TD_NOT_FOUND, "there is no consent '%.64s'", id);
    else if (status == TD_OK && !entry->revoked_ms)
        entry->revoked_ms = now_ms < 1000 ? 1000 : now_ms;
    if (status == TD_OK)
        status = save_locked(consents, err);
    return end_locked(consents, status, err);
}

enum td_status consents_forget(struct consents *consents, const char *caller, const char *user,
                               uint64_t *erased, struct td_error *err)
{
    size_t kept = 0;
    char whose[CALLER_CHARS + 1];
    hash_caller(caller, whose);
    enum td_status status = begin_locked(consents, err);
    for (size_t i = 0; i < consents->count; i++)
        if (!*user || !is_users(&consents->entries[i], user) ||
            (caller && strcmp(consents->entries[i].caller, whose) != 0))
            consents->entries[kept++] = consents->entries[i];
    *erased = consents->count - kept;
    if (*erased)
        explicit_bzero(&consents->entries[kept], *erased * sizeof *consents->entries);
    consents->count = kept;
    if (*erased && status == TD_OK)
        status = save_locked(consents, err);
    return end_locked(consents, status, err);
}

static enum consent_state state_of(const struct entry *entry, uint64_t now_ms)
{
    return entry->revoked_ms             ? CONSENT_REVOKED
           : entry->expires_ms <= now_ms ? CONSENT_EXPIRED
                                         : CONSENT_VALID;
}

enum consent_state consents_check(struct consents *consents, const struct consent_use *use,
                                  uint64_t now_ms)
{
    ASSERT(consents && use->route);
    if (!use->id)
        return CONSENT_NONE;
    pthread_mutex_lock(&consents->mutex);
    const struct entry *entry = find_locked(consents, use->caller, use->id);
    enum consent_state state = entry ? state_of(entry, now_ms) : CONSENT_UNKNOWN;
    if (state == CONSENT_VALID && strcmp(entry->scope, "*") != 0 &&
        strcmp(entry->scope, use->route) != 0)
        state = CONSENT_OTHER_SCOPE;
    if (state == CONSENT_VALID && entry->user[0] && (!use->user || !is_users(entry, use->user)))
        state = CONSENT_OTHER_USER;
    pthread_mutex_unlock(&consents->mutex);
    return state;
}

struct json *consents_list(struct consents *consents, const char *caller, const char *id,
                           uint64_t now_ms)
{
    char whose[CALLER_CHARS + 1];
    hash_caller(caller, whose);
    struct json *list = json_new_array();
    pthread_mutex_lock(&consents->mutex);
    for (size_t i = 0; i < consents->count; i++) {
        const struct entry *entry = &consents->entries[i];
        enum consent_state state = state_of(entry, now_ms);
        if (strcmp(entry->caller, whose) != 0 || (id && strcmp(entry->id, id) != 0))
            continue;
        struct json *item = entry_json(entry);
        json_put(item, "state",
                 json_new_cstr(state == CONSENT_VALID     ? "valid"
                               : state == CONSENT_REVOKED ? "revoked"
                                                          : "expired"));
        json_push(list, item);
    }
    pthread_mutex_unlock(&consents->mutex);
    return list;
}
