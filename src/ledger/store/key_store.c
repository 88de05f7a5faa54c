/* Terms are one column of JSON, in the form that users read and write (base/key_terms.h): a new
 * limit needs no migration. A key that was revoked keeps its row, because records name its id, and
 * because a server whose last key is revoked must not open its door. */
#include "ledger/store/key_store.h"

#include "base/bytes/path.h"
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/database/small_database.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA_VERSION 1
#define TERMS_BYTES_MAX 8192

static const char schema[] =
    "CREATE TABLE key (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " name TEXT NOT NULL, tenant TEXT NOT NULL, operates INTEGER NOT NULL,"
    " mark TEXT NOT NULL UNIQUE, mark_before TEXT NOT NULL, before_until_s INTEGER NOT NULL,"
    " created_s INTEGER NOT NULL, expires_s INTEGER NOT NULL, revoked_s INTEGER NOT NULL,"
    " used_s INTEGER NOT NULL, terms TEXT NOT NULL);"
    "CREATE UNIQUE INDEX key_name ON key (name) WHERE revoked_s = 0;"
    "CREATE TABLE tenant (name TEXT PRIMARY KEY, terms TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE spent (whom TEXT NOT NULL, period TEXT NOT NULL, usd REAL NOT NULL,"
    " tokens INTEGER NOT NULL, PRIMARY KEY (whom, period)) WITHOUT ROWID;"
    "PRAGMA user_version=1";

struct key_store {
    pthread_mutex_t lock;
    struct db *db;
    char path[PATH_MAX];
};

/* Whether nodes share it: then each has a row of its own of what was spent. */
static bool is_shared(const struct key_store *store)
{
    return db_dialect(store->db) == DB_POSTGRESQL;
}

/* --- opening --- */

enum td_status key_store_open(const char *path, bool create, struct key_store **out,
                              struct td_error *err)
{
    ASSERT(path && out);
    *out = NULL;
    if (!create && !db_driver_of(path) && access(path, F_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "there are no keys in %s", path);
    struct key_store *store = calloc(1, sizeof *store);
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for keys");
    pthread_mutex_init(&store->lock, NULL);
    enum td_status status = path_format(store->path, sizeof store->path, err, "%s", path);
    if (status == TD_OK)
        status = small_database_open(path, schema, SCHEMA_VERSION, &store->db, err);
    if (status == TD_OK)
        *out = store;
    else
        key_store_close(store);
    return status;
}

void key_store_close(struct key_store *store)
{
    if (!store)
        return;
    db_close(store->db);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

int64_t key_store_version(struct key_store *store)
{
    pthread_mutex_lock(&store->lock);
    const char *sql = is_shared(store) ? "SELECT version FROM key_version" : "PRAGMA data_version";
    int64_t version = small_database_number(small_database_prepare(store->db, sql, ""), -1);
    pthread_mutex_unlock(&store->lock);
    return version;
}

/* --- rows --- */

#define KEY_COLUMNS                                                                         \
    "id, name, tenant, operates, mark, mark_before, before_until_s, created_s, expires_s, " \
    "revoked_s, used_s, terms"

bool key_store_name_is_plain(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!ascii_is_alnum(name[i]) && !strchr("._-@:+", name[i]))
            return false;
    return len > 0 && len < STORED_KEY_NAME_BYTES;
}

static void read_text(struct db_statement *row, int column, char *out, size_t size)
{
    const char *text = db_text(row, column);
    snprintf(out, size, "%s", text ? text : "");
}

static enum td_status read_terms(struct db_statement *row, int column, struct key_terms *out,
                                 struct td_error *err)
{
    struct td_str text = db_str(row, column);
    struct json *object = NULL;
    *out = key_terms_none;
    enum td_status status = json_parse(text, &object, err);
    if (status == TD_OK)
        status = key_terms_read(object, out, NULL, err);
    json_free(object);
    return status;
}

/* A row that was damaged, or that a newer program wrote: its key must not get more than it had. */
static enum td_status read_key(struct db_statement *row, struct stored_key *out,
                               struct td_error *err)
{
    *out = (struct stored_key){.operates = db_int(row, 3) != 0,
                               .before_until_s = db_int(row, 6),
                               .created_s = db_int(row, 7),
                               .expires_s = db_int(row, 8),
                               .revoked_s = db_int(row, 9),
                               .used_s = db_int(row, 10)};
    read_text(row, 0, out->id, sizeof out->id);
    read_text(row, 1, out->name, sizeof out->name);
    read_text(row, 2, out->tenant, sizeof out->tenant);
    if (!crypto_unhex(db_str(row, 4), out->mark, sizeof out->mark) ||
        (!crypto_unhex(db_str(row, 5), out->mark_before, sizeof out->mark_before) &&
         out->before_until_s))
        return error_set(err, TD_CORRUPT, "the key %s has no mark", out->id);
    enum td_status status = read_terms(row, 11, &out->terms, err);
    if (status != TD_OK)
        error_prefix(err, "the key %s", out->id);
    return status;
}

/* **returns new** text in out (buf_deinit). */
static struct td_str write_terms(const struct key_terms *terms, struct buf *out)
{
    struct json *object = json_new_object();
    key_terms_put(terms, object);
    buf_init(out, TERMS_BYTES_MAX);
    json_write(object, out);
    json_free(object);
    return out->failed ? (struct td_str){0} : buf_view(out);
}

struct mark_text {
    char digits[2 * STORED_KEY_MARK_BYTES + 1];
};

static struct mark_text write_mark(const uint8_t mark[static STORED_KEY_MARK_BYTES])
{
    struct mark_text text;
    crypto_hex(mark, STORED_KEY_MARK_BYTES, text.digits);
    return text;
}

static int64_t now_s(void)
{
    return (int64_t)(clock_wall_ms(NULL) / 1000);
}

/* --- keys --- */

static enum td_status check_room_locked(struct key_store *store, const struct stored_key *key,
                                        struct td_error *err)
{
    int64_t same = small_database_number(
        small_database_prepare(store->db,
                               "SELECT count(*) FROM key WHERE name = ?1 AND revoked_s = 0", "t",
                               key->name),
        -1);
    int64_t count = small_database_number(
        small_database_prepare(store->db, "SELECT count(*) FROM key", ""), -1);
    if (same < 0 || count < 0)
        return db_error(store->db, store->path, err);
    if (same > 0)
        return error_set(err, TD_INVALID,
                         "there is a key '%s' already: choose another name, or give that one a new "
                         "secret with 'tandem keys rotate'",
                         key->name);
    return count < STORED_KEYS_MAX
               ? TD_OK
               : error_set(err, TD_LIMIT, "a store has room for %d keys", STORED_KEYS_MAX);
}

static enum td_status insert_locked(struct key_store *store, const struct stored_key *key,
                                    struct td_error *err)
{
    struct buf terms;
    struct td_str text = write_terms(&key->terms, &terms);
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "INSERT INTO key (" KEY_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
            " ?9, ?10, ?11, ?12)",
            "tttittiiiiis", key->id, key->name, key->tenant, (int64_t)key->operates,
            write_mark(key->mark).digits, write_mark(key->mark_before).digits, key->before_until_s,
            key->created_s, key->expires_s, key->revoked_s, key->used_s, text),
        err);
    buf_deinit(&terms);
    return status;
}

enum td_status key_store_add(struct key_store *store, struct stored_key *key, struct td_error *err)
{
    uint8_t random[(STORED_KEY_ID_BYTES - 1) / 2];
    ASSERT(key_store_name_is_plain(key->name));
    enum td_status status = crypto_random(random, sizeof random, err);
    if (status != TD_OK)
        return status;
    crypto_hex(random, sizeof random, key->id);
    key->created_s = now_s();
    pthread_mutex_lock(&store->lock);
    status = small_database_begin(store->db, store->path, err);
    if (status == TD_OK)
        status = check_room_locked(store, key, err);
    if (status == TD_OK)
        status = insert_locked(store, key, err);
    status = small_database_end(store->db, store->path, status, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_find(struct key_store *store, const char *key, struct stored_key *out,
                              struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db,
                               "SELECT " KEY_COLUMNS " FROM key WHERE id = ?1"
                               " OR (name = ?1 AND revoked_s = 0)"
                               " ORDER BY id = ?1 DESC LIMIT 1",
                               "t", key);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    enum td_status status;
    if (code == DB_ROW)
        status = read_key(row, out, err);
    else if (code == DB_DONE)
        status = error_set(err, TD_NOT_FOUND,
                           "no key has the id or name '%.64s'; 'tandem keys list' shows them", key);
    else
        status = db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_change(struct key_store *store, const struct stored_key *key,
                                struct td_error *err)
{
    struct buf terms;
    struct td_str text = write_terms(&key->terms, &terms);
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "UPDATE key SET expires_s = ?2, revoked_s = ?3, mark = ?4, mark_before = ?5,"
            " before_until_s = ?6, terms = ?7 WHERE id = ?1",
            "tiittis", key->id, key->expires_s, key->revoked_s, write_mark(key->mark).digits,
            write_mark(key->mark_before).digits, key->before_until_s, text),
        err);
    pthread_mutex_unlock(&store->lock);
    buf_deinit(&terms);
    return status;
}

enum td_status key_store_each(struct key_store *store, stored_key_fn *each, void *ctx,
                              struct td_error *err)
{
    struct stored_key key;
    enum td_status status = TD_OK;
    enum db_step code = DB_FAILED;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, "SELECT " KEY_COLUMNS " FROM key ORDER BY seq", "");
    while (status == TD_OK && row && (code = db_step(row)) == DB_ROW) {
        status = read_key(row, &key, err);
        if (status == TD_OK)
            each(ctx, &key);
    }
    if (status == TD_OK && code != DB_DONE)
        status = db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_touch(struct key_store *store, const char (*ids)[STORED_KEY_ID_BYTES],
                               size_t count, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_begin(store->db, store->path, err);
    for (size_t i = 0; i < count && status == TD_OK; i++)
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(store->db, "UPDATE key SET used_s = ?2 WHERE id = ?1", "ti",
                                   ids[i], now_s()),
            err);
    status = small_database_end(store->db, store->path, status, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- tenants --- */

enum td_status key_store_tenant(struct key_store *store, const char *name,
                                struct stored_tenant *out, struct td_error *err)
{
    *out = (struct stored_tenant){.terms = key_terms_none};
    snprintf(out->name, sizeof out->name, "%s", name);
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, "SELECT terms FROM tenant WHERE name = ?1", "t", name);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    enum td_status status = code == DB_ROW    ? read_terms(row, 0, &out->terms, err)
                            : code == DB_DONE ? TD_OK
                                              : db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static enum td_status set_tenant_locked(struct key_store *store, const struct stored_tenant *tenant,
                                        struct td_error *err)
{
    struct buf terms;
    struct td_str text = write_terms(&tenant->terms, &terms);
    enum td_status status =
        small_database_run(store->db, store->path,
                           small_database_prepare(store->db,
                                                  "INSERT INTO tenant (name, terms) VALUES (?1, ?2)"
                                                  " ON CONFLICT (name) DO UPDATE SET terms = ?2",
                                                  "ts", tenant->name, text),
                           err);
    buf_deinit(&terms);
    return status;
}

enum td_status key_store_set_tenant(struct key_store *store, const struct stored_tenant *tenant,
                                    struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = set_tenant_locked(store, tenant, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_tenants(struct key_store *store, stored_tenant_fn *each, void *ctx,
                                 struct td_error *err)
{
    struct stored_tenant tenant;
    enum td_status status = TD_OK;
    enum db_step code = DB_FAILED;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, "SELECT name, terms FROM tenant ORDER BY name", "");
    while (status == TD_OK && row && (code = db_step(row)) == DB_ROW) {
        read_text(row, 0, tenant.name, sizeof tenant.name);
        status = read_terms(row, 1, &tenant.terms, err);
        if (status == TD_OK)
            each(ctx, &tenant);
    }
    if (status == TD_OK && code != DB_DONE)
        status = db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- what was spent --- */

void key_store_periods(uint64_t wall_ms, char day[static 11], char month[static 11])
{
    time_t now = (time_t)(wall_ms / 1000);
    struct tm local = {.tm_mday = 1};
    (void)localtime_r(&now, &local);
    strftime(day, 11, "%Y-%m-%d", &local);
    strftime(month, 11, "%Y-%m", &local);
}

enum td_status key_store_spend(struct key_store *store, const struct key_spent *spent, size_t count,
                               struct td_error *err)
{
    static const char sql[] =
        "INSERT INTO spent (whom, period, usd, tokens) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (whom, period)"
        " DO UPDATE SET usd = usd + ?3, tokens = tokens + ?4";
    static const char shared_sql[] =
        "INSERT INTO spent (whom, period, usd, tokens, changed_s)"
        " VALUES (?1, ?2, ?3, ?4, extract(epoch FROM now())::BIGINT)"
        " ON CONFLICT (whom, period, node) DO UPDATE SET usd = excluded.usd,"
        " tokens = excluded.tokens, changed_s = excluded.changed_s";
    pthread_mutex_lock(&store->lock);
    bool shared = is_shared(store);
    enum td_status status = small_database_begin(store->db, store->path, err);
    for (size_t i = 0; i < count && status == TD_OK; i++) {
        const struct key_spent *sum = &spent[i];
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(store->db, shared ? shared_sql : sql, "ttdi", sum->whom,
                                   sum->period, shared ? sum->own_usd : sum->usd,
                                   (int64_t)(shared ? sum->own_tokens : sum->tokens)),
            err);
    }
    status = small_database_end(store->db, store->path, status, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_spent(struct key_store *store, const char *day, const char *month,
                               key_spent_fn *each, void *ctx, struct td_error *err)
{
    struct key_spent spent;
    enum db_step code = DB_FAILED;
    pthread_mutex_lock(&store->lock);
    /* A month's name is the beginning of its days', so it stands before them. */
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(store->db, "DELETE FROM spent WHERE period < ?1", "t", month), err);
    struct db_statement *row =
        status == TD_OK ? small_database_prepare(store->db,
                                                 "SELECT whom, period, sum(usd), sum(tokens)"
                                                 " FROM spent WHERE period IN (?1, ?2)"
                                                 " GROUP BY whom, period",
                                                 "tt", day, month)
                        : NULL;
    while (row && (code = db_step(row)) == DB_ROW) {
        read_text(row, 0, spent.whom, sizeof spent.whom);
        read_text(row, 1, spent.period, sizeof spent.period);
        spent.usd = db_double(row, 2);
        spent.tokens = (uint64_t)db_int(row, 3);
        each(ctx, &spent);
    }
    if (status == TD_OK && code != DB_DONE)
        status = db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_spent_apart(struct key_store *store, const char *day, const char *month,
                                     bool all, key_spent_fn *each, void *ctx, struct td_error *err)
{
    /* Clocks of nodes may differ, and a commit takes its time: changed_s is the database's. */
    static const char sql[] =
        "SELECT whom, period, sum(CASE WHEN node = current_setting('tandem.node') THEN usd END),"
        " sum(CASE WHEN node = current_setting('tandem.node') THEN tokens END), sum(usd),"
        " sum(tokens) FROM spent WHERE period IN (?1, ?2) AND (?3::BIGINT = 1 OR (whom, period) IN"
        " (SELECT whom, period FROM spent WHERE changed_s > extract(epoch FROM now()) - 15))"
        " GROUP BY whom, period";
    struct key_spent spent;
    enum db_step code = DB_FAILED;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, sql, "tti", day, month, (int64_t)all);
    while (row && (code = db_step(row)) == DB_ROW) {
        uint64_t tokens = (uint64_t)db_int(row, 5);
        spent = (struct key_spent){.own_usd = db_double(row, 2),
                                   .own_tokens = (uint64_t)db_int(row, 3)};
        read_text(row, 0, spent.whom, sizeof spent.whom);
        read_text(row, 1, spent.period, sizeof spent.period);
        spent.others_usd = db_double(row, 4) - spent.own_usd;
        spent.others_tokens = tokens > spent.own_tokens ? tokens - spent.own_tokens : 0;
        each(ctx, &spent);
    }
    enum td_status status = code == DB_DONE ? TD_OK : db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_count_nodes(struct key_store *store, const char *day, uint32_t *nodes,
                                     struct td_error *err)
{
    static const char here_sql[] =
        "INSERT INTO spent (whom, period, usd, tokens, changed_s)"
        " VALUES ('n', ?1, 0, 0, extract(epoch FROM now())::BIGINT)"
        " ON CONFLICT (whom, period, node) DO UPDATE SET changed_s = excluded.changed_s";
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_run(
        store->db, store->path, small_database_prepare(store->db, here_sql, "t", day), err);
    int64_t count = small_database_number(
        small_database_prepare(store->db,
                               "SELECT count(*) FROM spent WHERE whom = 'n' AND period = ?1"
                               " AND changed_s > extract(epoch FROM now()) - 60",
                               "t", day),
        -1);
    if (status == TD_OK && count < 0)
        status = db_error(store->db, store->path, err);
    *nodes = count > 0 ? (uint32_t)count : 1;
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status key_store_end_days(struct key_store *store, const char *day, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db, "DELETE FROM spent WHERE (whom LIKE 'b%' OR whom = 'n') AND period < ?1",
            "t", day),
        err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- a copy --- */

struct copying {
    struct key_store *to;
    enum td_status status;
    struct td_error *err;
};

static void copy_key(void *ctx, const struct stored_key *key)
{
    struct copying *copying = ctx;
    if (copying->status == TD_OK)
        copying->status = insert_locked(copying->to, key, copying->err);
}

static void copy_tenant(void *ctx, const struct stored_tenant *tenant)
{
    struct copying *copying = ctx;
    if (copying->status == TD_OK)
        copying->status = set_tenant_locked(copying->to, tenant, copying->err);
}

enum td_status key_store_copy(struct key_store *from, struct key_store *to, struct td_error *err)
{
    struct copying copying = {.to = to, .status = TD_OK, .err = err};
    ASSERT(from != to);
    pthread_mutex_lock(&to->lock);
    enum td_status status = small_database_begin(to->db, to->path, err);
    if (status == TD_OK && !db_exec(to->db, "DELETE FROM key; DELETE FROM tenant"))
        status = db_error(to->db, to->path, err);
    if (status == TD_OK)
        status = key_store_each(from, copy_key, &copying, err);
    if (status == TD_OK)
        status = copying.status;
    if (status == TD_OK)
        status = key_store_tenants(from, copy_tenant, &copying, err);
    if (status == TD_OK)
        status = copying.status;
    status = small_database_end(to->db, to->path, status, err);
    pthread_mutex_unlock(&to->lock);
    return status;
}
