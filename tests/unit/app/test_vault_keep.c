/* The file of the vaults: what was private yesterday is not kept longer because a server was
 * started again. */
#include "app/setup/privacy/vault_keep.h"

#include "base/time/clock.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/pseudonym/vault_store.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH "test_vault_keep.bin"
#define TTL_S 86400
#define SLACK_MS 60000 /* that this test may take */

static const uint64_t unused_ms[] = {0, 1000, 3600 * 1000, 12 * 3600 * 1000,
                                     TTL_S *UINT64_C(1000) - 2 * SLACK_MS};
enum { VAULTS = sizeof unused_ms / sizeof *unused_ms };

static struct config config_of_file(void)
{
    struct config config = {.label = "test"};
    config.privacy.pseudonyms.vault_file = PATH;
    config.privacy.pseudonyms.vault_key_env = "TEST_VAULT_KEY";
    config.privacy.pseudonyms.ttl_s = TTL_S;
    return config;
}

static struct vault_store *new_store(void)
{
    struct vault_store *store = vault_store_new(64, (size_t)1 << 20, TTL_S * UINT64_C(1000));
    if (!store)
        abort();
    return store;
}

static void put(struct vault_store *store, uint8_t name, uint64_t unused)
{
    const uint8_t key[KEYED_KEY_BYTES] = {name};
    struct vault_record record = {.key = {name}, .owner = {name}, .unused_ms = unused};
    record.vault = vault_with_key(key);
    CHECK(vault_store_put(store, &record, (uint64_t)clock_monotonic_ms(NULL), NULL) == TD_OK);
}

struct seen {
    uint64_t unused_ms[VAULTS];
    size_t count;
};

static enum td_status see(void *ctx, const struct vault_record *record, struct td_error *err)
{
    struct seen *seen = ctx;
    (void)err;
    CHECK(record->key[0] < VAULTS && record->owner[0] == record->key[0]);
    seen->unused_ms[record->key[0]] = record->unused_ms;
    seen->count++;
    return TD_OK;
}

static struct seen look(struct vault_store *store)
{
    struct seen seen = {.count = 0};
    CHECK(vault_store_each(store, (uint64_t)clock_monotonic_ms(NULL), see, &seen, NULL) == TD_OK);
    return seen;
}

/* A restart is no use: however often it happens, the time since the last one goes on. */
static void test_a_restart_does_not_make_a_vault_younger(void)
{
    const struct config config = config_of_file();
    struct vault_store *store = new_store();
    for (uint8_t i = 0; i < VAULTS; i++)
        put(store, i, unused_ms[i]);
    for (int restart = 0; restart < 3; restart++) {
        CHECK(vault_keep_save(&config, store, NULL) == TD_OK);
        vault_store_free(store);
        store = new_store();
        CHECK(vault_keep_load(&config, store, NULL) == TD_OK);
        const struct seen seen = look(store);
        CHECK(seen.count == VAULTS);
        for (size_t i = 0; i < VAULTS; i++)
            CHECK(seen.unused_ms[i] >= unused_ms[i] && seen.unused_ms[i] < unused_ms[i] + SLACK_MS);
    }
    vault_store_free(store);
    (void)remove(PATH);
}

static void test_what_was_not_used_for_its_time_is_neither_kept_nor_read(void)
{
    struct config config = config_of_file();
    struct vault_store *store = new_store();
    for (uint8_t i = 0; i < VAULTS; i++)
        put(store, i, unused_ms[i]);
    CHECK(vault_keep_save(&config, store, NULL) == TD_OK);
    vault_store_free(store);
    for (size_t left = 0; left < VAULTS; left++) { /* a shorter time, of which so many are left */
        store = vault_store_new(64, (size_t)1 << 20, unused_ms[left]);
        REQUIRE(store != NULL);
        CHECK(vault_keep_load(&config, store, NULL) == TD_OK);
        CHECK(look(store).count == left);
        vault_store_free(store);
    }
    (void)remove(PATH);
}

int main(void)
{
    setenv("TEST_VAULT_KEY", "1111111111111111111111111111111111111111111111111111111111111111", 1);
    RUN(test_a_restart_does_not_make_a_vault_younger);
    RUN(test_what_was_not_used_for_its_time_is_neither_kept_nor_read);
    return test_finish();
}
