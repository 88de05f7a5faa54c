/* The store of API keys: what is kept of a key, and that two processes may share it. */
#include "base/core/str.h"
#include "ledger/store/key_store.h"
#include "test.h"

#include <sqlite3.h>
#include <sys/stat.h>

static char path[128];

static void use_path(void)
{
    char folder[64] = "/tmp/tandem-key-store-XXXXXX";
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/keys.db", folder);
}

static void remove_path(void)
{
    char command[256];
    *strrchr(path, '/') = '\0';
    snprintf(command, sizeof command, "rm -r %s", path);
    CHECK(system(command) == 0);
}

static struct key_store *open_store(void)
{
    struct key_store *store = NULL;
    CHECK(key_store_open(path, true, &store, NULL) == TD_OK);
    return store;
}

static struct stored_key key_named(const char *name, uint8_t mark)
{
    struct stored_key key = {.terms = key_terms_none};
    snprintf(key.name, sizeof key.name, "%s", name);
    memset(key.mark, mark, sizeof key.mark);
    return key;
}

static void test_a_key_has_its_terms_after_a_restart_and_a_place_of_its_own(void)
{
    use_path();
    struct key_store *store = NULL;
    struct stat info;
    CHECK(key_store_open(path, false, &store, NULL) == TD_NOT_FOUND && stat(path, &info) != 0);
    store = open_store();
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    struct stored_key key = key_named("shop", 1), found;
    key.terms.requests_per_minute = 60;
    key.terms.usd[KEY_MONTH] = 12.5;
    key.terms.classes = 3;
    snprintf(key.terms.models, sizeof key.terms.models, "auto,gpt-*");
    snprintf(key.tenant, sizeof key.tenant, "team");
    CHECK(key_store_add(store, &key, NULL) == TD_OK && strlen(key.id) == 16 && key.created_s > 0);
    key_store_close(store);
    store = open_store();
    CHECK(key_store_find(store, "shop", &found, NULL) == TD_OK);
    CHECK(strcmp(found.id, key.id) == 0 && strcmp(found.tenant, "team") == 0);
    CHECK(memcmp(&found.terms, &key.terms, sizeof found.terms) == 0);
    CHECK(memcmp(found.mark, key.mark, sizeof found.mark) == 0);
    CHECK(key_store_find(store, key.id, &found, NULL) == TD_OK);
    CHECK(key_store_find(store, "other", &found, NULL) == TD_NOT_FOUND);
    key_store_close(store);
    remove_path();
}

static void test_a_name_is_free_again_when_its_key_was_revoked(void)
{
    use_path();
    struct key_store *store = open_store();
    struct stored_key first = key_named("shop", 1), second = key_named("shop", 2), found;
    CHECK(key_store_add(store, &first, NULL) == TD_OK);
    struct td_error err = {0};
    CHECK(key_store_add(store, &second, &err) == TD_INVALID && strstr(err.message, "shop"));
    first.revoked_s = 5;
    CHECK(key_store_change(store, &first, NULL) == TD_OK);
    CHECK(key_store_find(store, "shop", &found, NULL) == TD_NOT_FOUND);
    CHECK(key_store_find(store, first.id, &found, NULL) == TD_OK && found.revoked_s == 5);
    CHECK(key_store_add(store, &second, NULL) == TD_OK);
    CHECK(key_store_find(store, "shop", &found, NULL) == TD_OK && !found.revoked_s);
    key_store_close(store);
    remove_path();
}

static void count_keys(void *ctx, const struct stored_key *key)
{
    CHECK(key_store_name_is_plain(key->name));
    ++*(int *)ctx;
}

/* Opening and closing a second connection must not take the first one's locks away, or a third
 * process would remove the log under it. */
static void test_connections_of_one_process_and_another_see_each_others_changes(void)
{
    use_path();
    struct key_store *store = open_store();
    for (int i = 0; i < 20; i++) {
        int64_t before = key_store_version(store);
        CHECK(before >= 0 && key_store_version(store) == before);
        struct key_store *other = open_store();
        char name[16];
        snprintf(name, sizeof name, "key%d", i);
        struct stored_key key = key_named(name, (uint8_t)(i + 1));
        CHECK(key_store_add(other, &key, NULL) == TD_OK);
        key_store_close(other);
        pid_t child = fork();
        if (child == 0) {
            struct stored_key changed = key;
            changed.expires_s = 7;
            bool ok = key_store_open(path, false, &other, NULL) == TD_OK &&
                      key_store_change(other, &changed, NULL) == TD_OK;
            key_store_close(other);
            _exit(ok ? 0 : 1);
        }
        int code = -1, count = 0;
        CHECK(waitpid(child, &code, 0) == child && code == 0);
        CHECK(key_store_version(store) != before);
        CHECK(key_store_each(store, count_keys, &count, NULL) == TD_OK && count == i + 1);
        struct stored_key found;
        CHECK(key_store_find(store, name, &found, NULL) == TD_OK && found.expires_s == 7);
    }
    /* Own writes are no news. */
    int64_t before = key_store_version(store);
    char ids[1][STORED_KEY_ID_BYTES];
    struct stored_key found;
    CHECK(key_store_find(store, "key3", &found, NULL) == TD_OK && found.used_s == 0);
    memcpy(ids[0], found.id, sizeof ids[0]);
    CHECK(key_store_touch(store, (const char(*)[STORED_KEY_ID_BYTES])ids, 1, NULL) == TD_OK);
    CHECK(key_store_version(store) == before);
    CHECK(key_store_find(store, "key3", &found, NULL) == TD_OK && found.used_s > 0);
    key_store_close(store);
    remove_path();
}

static void test_names_are_plain(void)
{
    char longest[STORED_KEY_NAME_BYTES + 1];
    memset(longest, 'a', sizeof longest);
    longest[STORED_KEY_NAME_BYTES - 1] = '\0';
    CHECK(key_store_name_is_plain(longest) && key_store_name_is_plain("Team_1.a@b:c+d-e"));
    longest[STORED_KEY_NAME_BYTES - 1] = 'a';
    longest[STORED_KEY_NAME_BYTES] = '\0';
    CHECK(!key_store_name_is_plain(longest) && !key_store_name_is_plain(""));
    CHECK(!key_store_name_is_plain("a b") && !key_store_name_is_plain("a/b"));
    CHECK(!key_store_name_is_plain("a,b") && !key_store_name_is_plain("\xc3\xa4"));
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

/* A newer program may have written limits that this one does not know: the key must not get more
 * than it had, so nothing is loaded. */
static void test_terms_that_cannot_be_read_are_an_error(void)
{
    static const char *const terms[] = {"{\"unknown\":1}", "{", "{\"usd_per_day\":-1}", "[]"};
    use_path();
    struct key_store *store = open_store();
    struct stored_key key = key_named("shop", 1), found;
    CHECK(key_store_add(store, &key, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        char sql[128];
        int count = 0;
        snprintf(sql, sizeof sql, "UPDATE key SET terms = '%s'", terms[i]);
        run_sql(sql);
        CHECK(key_store_find(store, "shop", &found, NULL) == TD_INVALID);
        CHECK(key_store_each(store, count_keys, &count, NULL) == TD_INVALID && count == 0);
    }
    run_sql("UPDATE key SET terms = '{}', mark = x'00'");
    CHECK(key_store_find(store, "shop", &found, NULL) == TD_CORRUPT);
    key_store_close(store);
    run_sql("PRAGMA user_version=2");
    CHECK(key_store_open(path, true, &store, NULL) == TD_UNSUPPORTED && store == NULL);
    remove_path();
}

struct sums {
    int count;
    double usd;
    uint64_t tokens;
};

static void add_sum(void *ctx, const struct key_spent *spent)
{
    struct sums *sums = ctx;
    sums->count++;
    sums->usd += spent->usd;
    sums->tokens += spent->tokens;
}

static void test_what_was_spent_adds_up_and_old_periods_go(void)
{
    use_path();
    struct key_store *store = open_store();
    const struct key_spent spent[] = {
        {.whom = "kone", .period = "2026-11-27", .usd = 1, .tokens = 10},
        {.whom = "kone", .period = "2026-11-27", .usd = 2, .tokens = 20},
        {.whom = "kone", .period = "2026-11", .usd = 4, .tokens = 40},
        {.whom = "kone", .period = "2026-11-26", .usd = 8, .tokens = 80},
        {.whom = "ttwo", .period = "2026-10", .usd = 16, .tokens = 160}};
    CHECK(key_store_spend(store, spent, 5, NULL) == TD_OK);
    struct sums sums = {0};
    CHECK(key_store_spent(store, "2026-11-27", "2026-11", add_sum, &sums, NULL) == TD_OK);
    CHECK(sums.count == 2 && sums.usd > 6.99 && sums.usd < 7.01 && sums.tokens == 70);
    sums = (struct sums){0};
    CHECK(key_store_spent(store, "2026-11-26", "2026-10", add_sum, &sums, NULL) == TD_OK);
    CHECK(sums.count == 1 && sums.tokens == 80); /* October is gone */
    struct stored_tenant tenant;
    CHECK(key_store_tenant(store, "team", &tenant, NULL) == TD_OK);
    CHECK(memcmp(&tenant.terms, &key_terms_none, sizeof tenant.terms) == 0);
    tenant.terms.usd[KEY_DAY] = 3;
    CHECK(key_store_set_tenant(store, &tenant, NULL) == TD_OK);
    tenant.terms.usd[KEY_DAY] = 4;
    CHECK(key_store_set_tenant(store, &tenant, NULL) == TD_OK);
    struct stored_tenant found;
    CHECK(key_store_tenant(store, "team", &found, NULL) == TD_OK);
    CHECK(found.terms.usd[KEY_DAY] > 3.9);
    key_store_close(store);
    remove_path();
}

int main(void)
{
    RUN(test_a_key_has_its_terms_after_a_restart_and_a_place_of_its_own);
    RUN(test_a_name_is_free_again_when_its_key_was_revoked);
    RUN(test_connections_of_one_process_and_another_see_each_others_changes);
    RUN(test_names_are_plain);
    RUN(test_terms_that_cannot_be_read_are_an_error);
    RUN(test_what_was_spent_adds_up_and_old_periods_go);
    return test_finish();
}
