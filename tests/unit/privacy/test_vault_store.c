/* Vaults leave when their time is over, without anybody using them, and leave nothing in memory. */
#include "privacy/pseudonym/vault_store.h"

#include "base/core/str.h"
#include "test.h"

#include <malloc.h>
#include <stdlib.h>

#define TTL_MS 1000
#define CANARY "zebra.canary@acme-corp.com"

/* What is given back to the C library is looked at first (the linker's --wrap). */
void __real_free(void *pointer);
void __wrap_free(void *pointer);
static size_t freed_with_canary, freed_blocks, freed_bytes;
static bool watching;

void __wrap_free(void *pointer)
{
    if (watching && pointer) {
        freed_blocks++;
        freed_bytes += malloc_usable_size(pointer);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
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
    struct vault_store *store = vault_store_new(1000, SIZE_MAX, TTL_MS);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    for (uint32_t i = 0; i < 20; i++)
        use(store, i, 10);
    CHECK(values_of(store, 19, 1009) == 1);
    CHECK(values_of(store, 18, 1010) == 0);
    /* A clock that went back lets nothing expire. */
    CHECK(values_of(store, 19, 0) == 1);
    vault_store_free(store);
}

/* Many values, so that a vault takes some hundred kilobytes. */
static void fill(struct vault_store *store, uint32_t number, int values)
{
    struct vault_hold *hold = take(store, number, 1);
    struct vault *vault = vault_hold_lock(hold);
    struct buf out;
    buf_init(&out, 4096);
    for (int i = 0; i < values; i++) {
        char value[64];
        snprintf(value, sizeof value, "anna.%d@firma-%u-%d.de", i, number, i);
        buf_clear(&out);
        CHECK(vault_replace(vault, PRIVACY_EMAIL, str_from(value), NULL, NULL, &out, NULL) ==
              TD_OK);
    }
    vault_hold_unlock(hold);
    vault_hold_drop(hold);
    buf_deinit(&out);
}

static void test_all_vaults_together_have_a_limit_of_memory(void)
{
    size_t bytes_max = (size_t)4 << 20;
    struct vault_store *store = vault_store_new(1000, bytes_max, 1000000);
    for (uint32_t i = 0; i < 20; i++) {
        fill(store, i, 1500);
        CHECK(values_of(store, i, 1) == 1500); /* the newest stays */
    }
    CHECK(values_of(store, 18, 1) == 1500);
    CHECK(values_of(store, 0, 1) == 0); /* the longest unused has left */
    freed_bytes = 0;
    watching = true;
    vault_store_free(store);
    watching = false;
    CHECK(freed_bytes < bytes_max * 11 / 10 && freed_bytes > bytes_max * 6 / 10);
    /* One that is larger than the limit stays until another comes. */
    store = vault_store_new(1000, 1, 1000000);
    fill(store, 1, 100);
    fill(store, 1, 200);
    CHECK(values_of(store, 1, 1) == 200);
    fill(store, 2, 10);
    CHECK(values_of(store, 1, 1) == 0 && count_of(store) == 1);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    use(store, 0, 5000);
    CHECK(vault_store_each(store, 5600, note_unused, NULL, NULL) == TD_OK && unused_seen == 600);
    vault_store_free(store);
    store = vault_store_new(100, SIZE_MAX, TTL_MS);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
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
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
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
        struct vault_store *store = vault_store_new(ROOM, SIZE_MAX, TTL_MS);
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

/* A caller's name for something is one alias, and nobody else's name is the same one. */
static void test_an_alias_is_of_its_caller_name_and_store(void)
{
    static const struct {
        const char *caller, *name;
    } cases[] = {{"a", "ann"}, {"b", "ann"}, {"a", "bob"}, {"aa", "nn"}, {"", "ann"}, {"a", ""}};
    enum { CASES = sizeof cases / sizeof *cases };
    struct vault_store *stores[] = {vault_store_new(1, 1, 1), vault_store_new(1, 1, 1)};
    char aliases[2 * CASES][VAULT_ALIAS_BYTES], again[VAULT_ALIAS_BYTES];
    for (size_t i = 0; i < 2 * CASES; i++) {
        struct td_str caller = str_from(cases[i % CASES].caller);
        struct td_str name = str_from(cases[i % CASES].name);
        memset(again, 'x', sizeof again);
        vault_store_alias(stores[i / CASES], caller, name, aliases[i]);
        vault_store_alias(stores[i / CASES], caller, name, again);
        CHECK(strcmp(aliases[i], again) == 0 && strlen(again) == VAULT_ALIAS_BYTES - 1);
        CHECK(strspn(again, "0123456789abcdef") == VAULT_ALIAS_BYTES - 1);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(aliases[i], aliases[k]) != 0);
    }
    /* Without a caller or a name it is that of an empty one. */
    vault_store_alias(stores[0], (struct td_str){NULL, 0}, STR("ann"), again);
    CHECK(strcmp(again, aliases[4]) == 0);
    vault_store_alias(stores[0], STR("a"), (struct td_str){NULL, 0}, again);
    CHECK(strcmp(again, aliases[5]) == 0);
    vault_store_free(stores[0]);
    vault_store_free(stores[1]);
}

/* The first VAULT_OWNER_USER_BYTES are the user, the rest the tenant: one byte tells them apart. */
static void test_forgetting_takes_the_owners_vaults_and_no_others(void)
{
    static const size_t other_at[] = {0, VAULT_OWNER_USER_BYTES - 1, VAULT_OWNER_USER_BYTES,
                                      CRYPTO_SHA256_BYTES - 1};
    for (size_t i = 0; i < sizeof other_at / sizeof *other_at; i++)
        for (int any_tenant = 0; any_tenant < 2; any_tenant++) {
            struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
            uint8_t key[CRYPTO_SHA256_BYTES] = {0}, other[CRYPTO_SHA256_BYTES];
            struct vault_hold *hold = NULL;
            memcpy(other, owner, sizeof other);
            other[other_at[i]] ^= 1;
            for (uint32_t k = 0; k < 6; k++) { /* own and others by turns, also at both ends */
                key[0] = (uint8_t)k;
                CHECK(vault_store_take(store, key, k % 2 ? other : owner, 1, &hold, NULL) == TD_OK);
                vault_hold_drop(hold);
            }
            bool both = any_tenant && other_at[i] >= VAULT_OWNER_USER_BYTES;
            CHECK(vault_store_forget(store, owner, any_tenant) == (both ? 6 : 3));
            CHECK(count_of(store) == (both ? 0 : 3));
            CHECK(vault_store_forget(store, owner, any_tenant) == 0);
            CHECK(vault_store_forget(store, other, false) == (both ? 0 : 3));
            vault_store_free(store);
        }
}

/* What an exchange puts into a vault that was forgotten under it is forgotten with it. */
static void test_a_forgotten_vault_does_not_come_back(void)
{
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    struct vault_hold *hold = take(store, 1, 10);
    CHECK(vault_store_forget(store, owner, false) == 1);
    use(store, 1, 11);
    use(store, 1, 12);
    struct vault *old = vault_hold_lock(hold);
    CHECK(vault_count(old) == 0);
    vault_hold_unlock(hold);
    vault_hold_drop(hold);
    CHECK(values_of(store, 1, 13) == 1 && count_of(store) == 1);
    vault_store_free(store);
}

/* Room that a vault gave back is there for others: after a sweep, after forgetting, and when a
 * vault grew after it had left. */
static void test_what_has_left_takes_no_room(void)
{
    enum { VALUES = 300 };
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    fill(store, 1, VALUES);
    struct vault_hold *hold = take(store, 1, 1);
    size_t one = vault_bytes(vault_hold_lock(hold));
    vault_hold_unlock(hold);
    vault_hold_drop(hold);
    vault_store_free(store);
    store = vault_store_new(100, 2 * one + one / 2, 1000000);
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t first = 10 * round;
        fill(store, first, VALUES);
        hold = take(store, first, 1);
        CHECK(vault_store_forget(store, owner, false) == (round ? 3 : 1));
        (void)vault_hold_lock(hold); /* it is weighed when it is unlocked */
        vault_hold_unlock(hold);
        vault_hold_drop(hold);
        fill(store, first + 1, VALUES);
        fill(store, first + 2, VALUES);
        CHECK(values_of(store, first + 1, 1) == VALUES);
        CHECK(values_of(store, first + 2, 1) == VALUES && count_of(store) == 2);
        fill(store, first + 3, VALUES); /* a third has no room */
        CHECK(count_of(store) == 2 && values_of(store, first + 1, 1) == 0);
    }
    vault_store_free(store);
}

struct seen {
    uint8_t keys[8];
    size_t count, until;
};

static enum td_status note_key(void *ctx, const struct vault_record *record, struct td_error *err)
{
    struct seen *seen = ctx;
    (void)err;
    CHECK(memcmp(record->owner, owner, sizeof owner) == 0 && record->vault != NULL);
    seen->keys[seen->count++] = record->key[0];
    return seen->count == seen->until ? TD_IO : TD_OK;
}

/* So a store with less room that reads them in this order keeps what was used last. */
static void test_vaults_are_told_from_the_longest_unused_on_until_one_fails(void)
{
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    static const uint8_t order[] = {2, 3, 1, 4};
    for (uint32_t i = 1; i <= 4; i++)
        use(store, i, i);
    use(store, 1, 5);
    use(store, 4, 6);
    for (size_t until = 1; until <= 5; until++) {
        struct seen seen = {.until = until};
        CHECK(vault_store_each(store, 7, note_key, &seen, NULL) == (until > 4 ? TD_OK : TD_IO));
        CHECK(seen.count == (until > 4 ? 4 : until) && memcmp(seen.keys, order, seen.count) == 0);
    }
    use(store, 9, 8); /* no vault is still locked after a failure */
    CHECK(values_of(store, 2, 9) == 1);
    vault_store_free(store);
}

/* One that is put back takes the place of one of the same key, with its own time. */
static void test_a_vault_that_is_put_back_takes_the_place_of_its_like(void)
{
    struct vault_store *store = vault_store_new(100, SIZE_MAX, TTL_MS);
    use(store, 0, 5000);
    CHECK(put(store, TTL_MS - 1, 5000) == TD_OK && count_of(store) == 1);
    CHECK(vault_store_each(store, 5000, note_unused, NULL, NULL) == TD_OK);
    CHECK(unused_seen == TTL_MS - 1 && vault_store_sweep(store, 5000, 9) == 1);
    CHECK(values_of(store, 0, 5000) == 0);
    /* What comes last is what was used last. */
    CHECK(put(store, TTL_MS - 1, 9000) == TD_OK && vault_store_sweep(store, 9001, 9) == TTL_MS);
    CHECK(count_of(store) == 0);
    vault_store_free(store);
}

int main(void)
{
    RUN(test_a_vault_that_nobody_uses_leaves_when_its_time_is_over);
    RUN(test_all_vaults_together_have_a_limit_of_memory);
    RUN(test_a_sweep_is_bounded_and_says_that_more_is_due);
    RUN(test_nothing_of_an_expired_vault_is_known_though_nobody_swept);
    RUN(test_a_restart_does_not_begin_a_new_time);
    RUN(test_a_vault_that_may_not_be_kept_is_written_nowhere);
    RUN(test_a_full_store_forgets_what_was_not_used_for_longest);
    RUN(test_an_exchange_keeps_its_vault_until_it_ends);
    RUN(test_what_leaves_is_wiped);
    RUN(test_an_alias_is_of_its_caller_name_and_store);
    RUN(test_forgetting_takes_the_owners_vaults_and_no_others);
    RUN(test_a_forgotten_vault_does_not_come_back);
    RUN(test_what_has_left_takes_no_room);
    RUN(test_vaults_are_told_from_the_longest_unused_on_until_one_fails);
    RUN(test_a_vault_that_is_put_back_takes_the_place_of_its_like);
    return test_finish();
}
