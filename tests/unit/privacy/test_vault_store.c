/* Vaults leave when their time is over, without anybody using them, and leave nothing in memory. */
#include "privacy/pseudonym/vault_store.h"

#include "base/str.h"
#include "test.h"

#include <malloc.h>
#include <stdlib.h>

#define TTL_MS 1000
#define CANARY "zebra.canary@acme-corp.com"

/* What is given back to the C library is looked at first (the linker's --wrap). */
void __real_free(void *pointer);
void __wrap_free(void *pointer);
static size_t freed_with_canary, freed_blocks;
static bool watching;

void __wrap_free(void *pointer)
{
    if (watching && pointer) {
        freed_blocks++;
        freed_with_canary +=
            memmem(pointer, malloc_usable_size(pointer), CANARY, sizeof CANARY - 1) != NULL;
    }
    __real_free(pointer);
}

static const uint8_t owner[CRYPTO_SHA256_BYTES] = {9};

/* The vault of conversation `number`, used now. */
static struct vault_hold *take(struct vault_store *store, uint32_t number, uint64_t now_ms)
{
    uint8_t key[CRYPTO_SHA256_BYTES] = {0};
    struct vault_hold *hold = NULL;
    memcpy(key, &number, sizeof number);
    CHECK(vault_store_take(store, key, owner, now_ms, &hold, NULL) == TD_OK);
    return hold;
}

static void use(struct vault_store *store, uint32_t number, uint64_t now_ms)
{
    struct vault_hold *hold = take(store, number, now_ms);
    struct buf out;
    buf_init(&out, 4096);
    CHECK(vault_replace(vault_hold_lock(hold), PRIVACY_EMAIL, STR(CANARY), NULL, NULL, &out,
                        NULL) == TD_OK);
    vault_hold_unlock(hold);
    vault_hold_drop(hold);
    buf_deinit(&out);
}

static size_t values_of(struct vault_store *store, uint32_t number, uint64_t now_ms)
{
    struct vault_hold *hold = take(store, number, now_ms);
    size_t count = vault_count(vault_hold_lock(hold));
    vault_hold_unlock(hold);
    vault_hold_drop(hold);
    return count;
}

static enum td_status count_vault(void *ctx, const struct vault_record *record,
                                  struct td_error *err)
{
    (void)record, (void)err;
    ++*(size_t *)ctx;
    return TD_OK;
}

static size_t count_of(struct vault_store *store)
{
    size_t count = 0;
    CHECK(vault_store_each(store, 0, count_vault, &count, NULL) == TD_OK);
    return count;
}

static void test_a_vault_that_nobody_uses_leaves_when_its_time_is_over(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    CHECK(vault_store_sweep(store, 0, 10) == TTL_MS);
    use(store, 1, 5000);
    use(store, 2, 5400);
    CHECK(vault_store_sweep(store, 5500, 10) == 500 && count_of(store) == 2);
    CHECK(vault_store_sweep(store, 5999, 10) == 1 && count_of(store) == 2);
    CHECK(vault_store_sweep(store, 6000, 10) == 400 && count_of(store) == 1);
    use(store, 2, 6300); /* used again: a new time begins */
    CHECK(vault_store_sweep(store, 6400, 10) == 900 && count_of(store) == 1);
    CHECK(vault_store_sweep(store, 7300, 10) == TTL_MS && count_of(store) == 0);
    vault_store_free(store);
}

static void test_a_sweep_is_bounded_and_says_that_more_is_due(void)
{
    struct vault_store *store = vault_store_new(1000, TTL_MS);
    for (uint32_t i = 0; i < 100; i++)
        use(store, i, 1);
    size_t sweeps = 0;
    while (vault_store_sweep(store, 5000, 16) == 0) {
        sweeps++;
        CHECK(count_of(store) == 100 - 16 * sweeps);
    }
    CHECK(sweeps == 6 && count_of(store) == 0);
    vault_store_free(store);
}

static void test_nothing_of_an_expired_vault_is_known_though_nobody_swept(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    for (uint32_t i = 0; i < 20; i++)
        use(store, i, 10);
    CHECK(values_of(store, 19, 1009) == 1);
    CHECK(values_of(store, 18, 1010) == 0);
    /* A clock that went back lets nothing expire. */
    CHECK(values_of(store, 19, 0) == 1);
    vault_store_free(store);
}

static uint64_t unused_seen;

static enum td_status note_unused(void *ctx, const struct vault_record *record,
                                  struct td_error *err)
{
    (void)ctx, (void)err;
    unused_seen = record->unused_ms;
    return TD_OK;
}

static enum td_status put(struct vault_store *store, uint64_t unused_ms, uint64_t now_ms)
{
    struct vault_record record = {.unused_ms = unused_ms};
    CHECK(vault_new(&record.vault, NULL) == TD_OK);
    memcpy(record.owner, owner, sizeof owner);
    return vault_store_put(store, &record, now_ms, NULL);
}

/* The new process's clock may have begun after the vault's last use: the machine was started
 * anew. */
static void test_a_restart_does_not_begin_a_new_time(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    use(store, 0, 5000);
    CHECK(vault_store_each(store, 5600, note_unused, NULL, NULL) == TD_OK && unused_seen == 600);
    vault_store_free(store);
    store = vault_store_new(100, TTL_MS);
    CHECK(put(store, 700, 50) == TD_OK && count_of(store) == 1);
    CHECK(vault_store_each(store, 150, note_unused, NULL, NULL) == TD_OK && unused_seen == 800);
    CHECK(vault_store_sweep(store, 349, 10) == 1 && count_of(store) == 1);
    CHECK(vault_store_sweep(store, 350, 10) == TTL_MS && count_of(store) == 0);
    CHECK(put(store, TTL_MS, 50) == TD_OK && count_of(store) == 0);
    CHECK(put(store, UINT64_MAX, 50) == TD_OK && count_of(store) == 0);
    vault_store_free(store);
}

static void test_an_exchange_keeps_its_vault_until_it_ends(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    use(store, 1, 0);
    struct vault_hold *hold = take(store, 1, 1);
    CHECK(vault_store_sweep(store, 9000, 10) == TTL_MS && count_of(store) == 0);
    CHECK(vault_count(vault_hold_lock(hold)) == 1);
    vault_hold_unlock(hold);
    freed_with_canary = 0;
    watching = true;
    vault_hold_drop(hold);
    watching = false;
    CHECK(freed_with_canary == 0);
    vault_store_free(store);
}

static void test_what_leaves_is_wiped(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    char *copy = strdup(CANARY);
    watching = true;
    free(copy);
    CHECK(freed_with_canary == 1); /* the watch sees what is not wiped */
    freed_with_canary = freed_blocks = 0;
    watching = false;
    use(store, 1, 0);
    watching = true;
    CHECK(vault_store_sweep(store, 5000, 1) == TTL_MS);
    watching = false;
    CHECK(freed_blocks > 3 && freed_with_canary == 0);
    vault_store_free(store);
}

/* Once forbidden is forbidden, whoever uses the vault afterwards, and only for that vault. */
static void test_a_vault_that_may_not_be_kept_is_written_nowhere(void)
{
    struct vault_store *store = vault_store_new(100, TTL_MS);
    for (uint32_t i = 0; i < 6; i++)
        use(store, i, 10);
    for (uint32_t i = 1; i < 6; i += 2) {
        struct vault_hold *hold = take(store, i, 20);
        vault_hold_forbid_keeping(hold);
        CHECK(count_of(store) == 6 - (i + 1) / 2);
        vault_hold_drop(hold);
    }
    for (uint32_t i = 0; i < 6; i++)
        use(store, i, 30);
    CHECK(count_of(store) == 3);
    CHECK(values_of(store, 1, 40) == 1); /* it is there all the same */
    vault_store_free(store);
}

/* A vault more than there is room for: that which was not used for longest makes room. */
static void test_a_full_store_forgets_what_was_not_used_for_longest(void)
{
    enum { ROOM = 4 };
    for (uint32_t again = 0; again < ROOM; again++) { /* which of them is used once more */
        struct vault_store *store = vault_store_new(ROOM, TTL_MS);
        for (uint32_t i = 0; i < ROOM; i++)
            use(store, i, 10 + i);
        use(store, again, 20);
        use(store, ROOM, 21);
        uint32_t gone = again == 0 ? 1 : 0;
        CHECK(count_of(store) == ROOM);
        for (uint32_t i = 0; i <= ROOM; i++)
            if (i != gone)
                CHECK(values_of(store, i, 22) == 1);
        CHECK(values_of(store, gone, 23) == 0);
        vault_store_free(store);
    }
}

int main(void)
{
    RUN(test_a_vault_that_nobody_uses_leaves_when_its_time_is_over);
    RUN(test_a_sweep_is_bounded_and_says_that_more_is_due);
    RUN(test_nothing_of_an_expired_vault_is_known_though_nobody_swept);
    RUN(test_a_restart_does_not_begin_a_new_time);
    RUN(test_a_vault_that_may_not_be_kept_is_written_nowhere);
    RUN(test_a_full_store_forgets_what_was_not_used_for_longest);
    RUN(test_an_exchange_keeps_its_vault_until_it_ends);
    RUN(test_what_leaves_is_wiped);
    return test_finish();
}
