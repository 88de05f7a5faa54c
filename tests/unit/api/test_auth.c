/* Keys of clients and operators, and the tenants that they stand for. */
#include "api/http/auth.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t secret[KEYED_KEY_BYTES] = {5};
static const char digest_of_alpha[] =
    "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8";

/* **returns new** (auth_free). */
static struct auth *with(const struct auth_keys *keys)
{
    struct auth *auth = auth_new(secret);
    if (!auth || auth_set(auth, keys, NULL) != TD_OK)
        abort();
    return auth;
}

static struct auth *with_clients(const char *keys)
{
    return with(&(struct auth_keys){.clients = str_from(keys)});
}

static struct auth_who who_is(struct auth *auth, const char *key)
{
    struct auth_who who = {0};
    auth_find(auth, NULL, key, NULL, &who);
    return who;
}

static void test_keys_open_the_door_in_three_headers(void)
{
    struct auth *auth = with_clients(" alpha , beta\n\n gamma \n");
    struct auth_who who = {0};
    CHECK(auth_find(auth, "Bearer alpha", NULL, NULL, &who));
    CHECK(strcmp(who.key, digest_of_alpha) == 0);
    CHECK(auth_find(auth, "bearer  gamma ", NULL, NULL, &who));
    CHECK(auth_find(auth, NULL, "beta", NULL, &who));
    CHECK(auth_find(auth, NULL, NULL, "gamma", &who));
    CHECK(auth_find(auth, "Basic x", "beta", NULL, &who));
    CHECK(auth_find(auth, "Basic bG9uZ2Vy", "beta", NULL, &who));
    CHECK(auth_find(auth, "Bearer ", "beta", NULL, &who));
    CHECK(auth_find(auth, NULL, "beta", "unknown", &who));
    CHECK(!auth_find(auth, "Bearer unknown", "beta", NULL, &who)); /* the first that is shown */
    CHECK(!auth_find(auth, NULL, "unknown", "beta", &who));
    CHECK(!auth_find(auth, "Bearer alpha,beta", NULL, NULL, &who));
    CHECK(!auth_find(auth, NULL, NULL, NULL, &who));
    CHECK(!auth_find(auth, "Bearer ", NULL, NULL, &who));
    CHECK(!auth_find(auth, "Bearer alph", NULL, NULL, &who));
    CHECK(!auth_find(auth, "Bearer alphaa", NULL, NULL, &who));
    CHECK(!auth_find(auth, "alpha", NULL, NULL, &who));
    CHECK(!auth_find(auth, NULL, "", "", &who));
    auth_free(auth);
}

/* A short key could be found from the first digits of its SHA-256 by trying; from these only with
 * the secret. */
static void test_what_records_show_of_a_key_depends_on_the_installations_secret(void)
{
    static const uint8_t other_secret[KEYED_KEY_BYTES] = {6};
    struct auth *auth = with_clients("alpha,beta"), *other = auth_new(other_secret);
    REQUIRE(other && auth_set(other, &(struct auth_keys){.clients = STR("alpha")}, NULL) == TD_OK);
    struct auth_who alpha = who_is(auth, "alpha");
    CHECK(strlen(alpha.key_id) == 16 && strstr(digest_of_alpha, alpha.key_id) == NULL);
    CHECK(strcmp(alpha.key_id, who_is(auth, "alpha").key_id) == 0);
    CHECK(strcmp(alpha.key_id, who_is(auth, "beta").key_id) != 0);
    CHECK(strcmp(alpha.key_id, who_is(other, "alpha").key_id) != 0);
    CHECK(strcmp(alpha.key_id, alpha.tenant) != 0);
    /* A row of before has the first digits of the digest, which give the same id. */
    char id[SPENDING_KEY_ID_BYTES];
    spending_key_id(secret, "8ed3f6ad685b959e", id);
    CHECK(strcmp(alpha.key_id, id) == 0);
    auth_free(auth);
    auth_free(other);
}

static void test_without_keys_nothing_is_allowed_and_nothing_changes(void)
{
    struct auth *auth = auth_new(secret);
    struct auth_who who = {0};
    REQUIRE(auth != NULL);
    CHECK(!auth_find(auth, NULL, "alpha", NULL, &who) && !auth_has_operators(auth));
    CHECK(auth_set(auth, &(struct auth_keys){.clients = STR("alpha")}, NULL) == TD_OK);
    CHECK(auth_set(auth, &(struct auth_keys){.clients = STR(" \n , ")}, NULL) == TD_NOT_FOUND);
    CHECK(auth_find(auth, NULL, "alpha", NULL, &who));
    CHECK(auth_set(auth, &(struct auth_keys){.clients = STR("beta")}, NULL) == TD_OK);
    CHECK(!auth_find(auth, NULL, "alpha", NULL, &who)); /* taken out */
    auth_free(auth);
}

static void test_each_key_is_a_tenant_of_its_own_that_records_name_without_it(void)
{
    struct auth *auth = with_clients("alpha,beta");
    const uint8_t another[KEYED_KEY_BYTES] = {6};
    struct auth_who alpha = who_is(auth, "alpha"), beta = who_is(auth, "beta");
    CHECK(strlen(alpha.tenant) == AUTH_TENANT_BYTES - 1);
    CHECK(strcmp(alpha.tenant, beta.tenant) != 0 && strcmp(alpha.caller, beta.caller) != 0);
    CHECK(strncmp(alpha.tenant, digest_of_alpha, AUTH_TENANT_BYTES - 1) != 0);
    struct auth_who again = who_is(auth, "alpha");
    CHECK(strcmp(alpha.tenant, again.tenant) == 0);
    auth_free(auth);
    auth = auth_new(another); /* of another installation */
    REQUIRE(auth && auth_set(auth, &(struct auth_keys){.clients = STR("alpha")}, NULL) == TD_OK);
    again = who_is(auth, "alpha");
    CHECK(strcmp(alpha.tenant, again.tenant) != 0);
    auth_free(auth);
}

static void test_a_certificate_is_a_key_that_nobody_can_write_into_a_header(void)
{
    char digest[AUTH_DIGEST_BYTES];
    static const char *const certificates[] = {"device-7.fleet", "spiffe://fleet/8"};
    struct auth_who who, other;
    auth_certificate_digest("device-7.fleet", digest);
    const struct auth_named named[] = {{digest, "fleet"}};
    struct auth *auth = with(&(struct auth_keys){.clients = STR("alpha"),
                                                 .certificates = certificates,
                                                 .certificate_count = 2,
                                                 .named = named,
                                                 .named_count = 1});
    CHECK(auth_find_certificate(auth, "device-7.fleet", &who) && strcmp(who.key, digest) == 0);
    CHECK(auth_find_certificate(auth, "spiffe://fleet/8", &other) && !other.operates);
    CHECK(strcmp(who.tenant, other.tenant) != 0 && strcmp(who.caller, who.key) != 0);
    CHECK(!auth_find_certificate(auth, "device-8.fleet", &who));
    CHECK(!auth_find_certificate(auth, "alpha", &who) && !auth_find_certificate(auth, "", &who));
    CHECK(!auth_find(auth, NULL, "device-7.fleet", NULL, &who));
    CHECK(!auth_find(auth, NULL, "certificate,device-7.fleet", NULL, &who));
    CHECK(!auth_find(auth, "Bearer certificate,device-7.fleet", NULL, NULL, &who));
    CHECK(auth_find(auth, NULL, "alpha", NULL, &who));
    auth_free(auth);
    auth = with(&(struct auth_keys){.certificates = certificates, .certificate_count = 1});
    CHECK(auth_find_certificate(auth, "device-7.fleet", &who) && who.operates); /* the only one */
    auth_free(auth);
}

static void test_named_keys_share_a_tenant_and_remain_two_keys(void)
{
    const struct auth_named named[] = {{digest_of_alpha, "shop"}, {"", "nobody"}};
    struct auth *auth = with(
        &(struct auth_keys){.clients = STR("alpha,beta,tenant"), .named = named, .named_count = 2});
    struct auth_who alpha = who_is(auth, "alpha"), beta = who_is(auth, "beta");
    CHECK(strcmp(alpha.caller, alpha.key) != 0 && strcmp(beta.caller, beta.key) == 0);
    const struct auth_named both[] = {{alpha.key, "shop"}, {beta.key, "shop"}};
    REQUIRE(auth_set(auth,
                     &(struct auth_keys){
                         .clients = STR("alpha,beta,gamma"), .named = both, .named_count = 2},
                     NULL) == TD_OK);
    struct auth_who old = who_is(auth, "alpha"), new = who_is(auth, "beta");
    CHECK(strcmp(old.caller, new.caller) == 0 && strcmp(old.tenant, new.tenant) == 0);
    CHECK(strcmp(old.key, new.key) != 0 && strcmp(old.tenant, alpha.tenant) == 0);
    CHECK(!old.operates && !new.operates && !who_is(auth, "gamma").operates);
    auth_free(auth);
}

static void test_the_operators_keys_or_those_of_the_only_tenant_operate(void)
{
    struct auth *auth = with_clients("alpha, alpha");
    CHECK(who_is(auth, "alpha").operates && !auth_has_operators(auth));
    auth_free(auth);
    auth = with_clients("alpha,beta");
    CHECK(!who_is(auth, "alpha").operates && !who_is(auth, "beta").operates);
    auth_free(auth);
    auth = with(&(struct auth_keys){.clients = STR("alpha,boss"), .operators = STR("boss,chief")});
    CHECK(!who_is(auth, "alpha").operates && auth_has_operators(auth));
    CHECK(who_is(auth, "boss").operates && who_is(auth, "chief").operates);
    auth_free(auth);
    auth = with(&(struct auth_keys){.operators = STR("boss")});
    CHECK(who_is(auth, "boss").operates && !who_is(auth, "alpha").operates);
    auth_free(auth);
    const struct auth_named named[] = {{digest_of_alpha, "house"}};
    auth = with(&(struct auth_keys){.clients = STR("alpha"), .named = named, .named_count = 1});
    CHECK(who_is(auth, "alpha").operates);
    auth_free(auth);
}

/* Whichever of the same keys is found, it has the rights of all of them. */
static void test_a_key_that_is_a_clients_and_an_operators_operates(void)
{
    static const char *const clients[] = {"boss,alpha", "boss,boss,boss,boss,boss,boss,alpha",
                                          "alpha,boss,boss"};
    static const char *const operators[] = {"boss", "boss,boss", "boss\nboss\nboss,boss"};
    for (size_t i = 0; i < 9; i++) {
        struct auth *auth = with(&(struct auth_keys){.clients = str_from(clients[i % 3]),
                                                     .operators = str_from(operators[i / 3])});
        CHECK(who_is(auth, "boss").operates && !who_is(auth, "alpha").operates);
        CHECK(auth_has_operators(auth));
        REQUIRE(auth_set(auth, &(struct auth_keys){.clients = STR("boss,alpha")}, NULL) == TD_OK);
        CHECK(!who_is(auth, "boss").operates && !auth_has_operators(auth)); /* no more */
        auth_free(auth);
    }
}

/* As many as are allowed all count, and one more is an error and not silence. */
static void test_no_key_is_ignored(void)
{
    static char text[AUTH_KEYS_MAX * 8 + 64];
    size_t len = 0;
    for (unsigned i = 0; i < AUTH_KEYS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "k%05u%c", i, i % 2 ? '\n' : ',');
    struct auth *auth = with_clients(text);
    struct auth_who who = {0};
    unsigned known = 0;
    for (unsigned i = 0; i < AUTH_KEYS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%05u", i);
        known += auth_find(auth, NULL, key, NULL, &who);
    }
    CHECK(known == AUTH_KEYS_MAX);
    snprintf(text + len, sizeof text - len, "one-more");
    struct td_error err = {0};
    CHECK(auth_set(auth, &(struct auth_keys){.clients = str_from(text)}, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "4097") && strstr(err.message, "4096"));
    auth_free(auth);
}

/* --- keys of the store --- */

static char folder[64];

static struct key_store *use_store(void)
{
    char path[96];
    struct key_store *store = NULL;
    snprintf(folder, sizeof folder, "/tmp/tandem-auth-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/keys.db", folder);
    CHECK(key_store_open(path, true, &store, NULL) == TD_OK);
    return store;
}

static void drop_store(struct key_store *store)
{
    char command[96];
    key_store_close(store);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static struct stored_key put(struct auth *auth, struct key_store *store, const char *name,
                             const char *tenant)
{
    struct stored_key key = {.terms = key_terms_none};
    snprintf(key.name, sizeof key.name, "%s", name);
    snprintf(key.tenant, sizeof key.tenant, "%s", tenant);
    auth_mark(auth, name, key.mark); /* the key is called as its text */
    CHECK(key_store_add(store, &key, NULL) == TD_OK);
    return key;
}

static void test_the_first_stored_key_shuts_an_open_door_for_good(void)
{
    struct auth *auth = auth_new(secret);
    struct key_store *store = use_store();
    struct auth_who who = {0};
    REQUIRE(auth && store);
    CHECK(!auth_is_open(auth) && auth_is_open(NULL)); /* until it is said */
    auth_open(auth);
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK && auth_is_open(auth));
    struct stored_key key = put(auth, store, "one", "");
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK && !auth_is_open(auth));
    CHECK(auth_find(auth, "Bearer one", NULL, NULL, &who) && !who.operates && who.stored);
    CHECK(strcmp(who.key_id, key.id) == 0);
    key.revoked_s = 1;
    CHECK(key_store_change(store, &key, NULL) == TD_OK);
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK && !auth_is_open(auth));
    CHECK(!auth_find(auth, "Bearer one", NULL, NULL, &who));
    CHECK(!auth_find_id(auth, key.id, &who));
    drop_store(store);
    auth_free(auth);
}

struct reread {
    struct auth *auth;
    struct key_store *store;
    unsigned count;
};

static void load_again(void *ctx)
{
    struct reread *reread = ctx;
    reread->count++;
    CHECK(auth_load(reread->auth, reread->store, NULL, NULL) == TD_OK);
}

static void test_a_key_that_was_just_made_is_looked_for_once_and_wrong_ones_not_each_time(void)
{
    struct auth *auth = auth_new(secret);
    struct key_store *store = use_store();
    struct auth_who who = {0};
    struct reread reread = {auth, store, 0};
    REQUIRE(auth && store);
    put(auth, store, "one", "");
    CHECK(!auth_find(auth, "Bearer one", NULL, NULL, &who));
    auth_on_unknown(auth, load_again, &reread);
    double began = clock_monotonic_ms(NULL);
    CHECK(auth_find(auth, "Bearer one", NULL, NULL, &who) && reread.count == 1);
    for (int i = 0; i < 20000; i++)
        auth_find(auth, "Bearer wrong", NULL, NULL, &who);
    double took = clock_monotonic_ms(NULL) - began;
    CHECK(reread.count <= 1 + took / AUTH_REREAD_MS);
    for (int i = 0; i < 1000; i++)
        CHECK(auth_find(auth, "Bearer one", NULL, NULL, &who));
    CHECK(reread.count <= 1 + took / AUTH_REREAD_MS);
    auth_on_unknown(auth, NULL, NULL);
    drop_store(store);
    auth_free(auth);
}

static void test_stored_keys_stand_beside_those_of_the_configuration(void)
{
    struct auth *auth = with_clients("alpha");
    struct key_store *store = use_store();
    CHECK(who_is(auth, "alpha").operates);
    struct stored_key shop = put(auth, store, "shop", "team");
    struct stored_key lab = put(auth, store, "lab", "");
    struct stored_key next = put(auth, store, "next", "team");
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK);
    CHECK(!who_is(auth, "alpha").operates); /* there are others whom it could see */
    struct auth_who one = who_is(auth, "shop"), two = who_is(auth, "next"),
                    three = who_is(auth, "lab"), found;
    CHECK(strcmp(one.tenant, two.tenant) == 0 && strcmp(one.caller, two.caller) == 0);
    CHECK(strcmp(one.key_id, two.key_id) != 0 && strcmp(one.key, two.key) != 0);
    CHECK(strcmp(one.tenant, three.tenant) != 0 && strlen(three.tenant) == AUTH_TENANT_BYTES - 1);
    CHECK(auth_find_id(auth, next.id, &found) && strcmp(found.caller, one.caller) == 0);
    /* An application of that tenant shares what they own. */
    const struct auth_named named[] = {{digest_of_alpha, "team"}};
    CHECK(auth_set(auth, &(struct auth_keys){.named = named, .named_count = 1}, NULL) == TD_OK);
    CHECK(strcmp(who_is(auth, "alpha").tenant, one.tenant) == 0);
    char ids[4][STORED_KEY_ID_BYTES];
    CHECK(auth_take_used(auth, ids, 4) == 3 && auth_take_used(auth, ids, 4) == 0);
    (void)who_is(auth, "lab");
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK); /* what was used is not forgotten by it */
    CHECK(auth_take_used(auth, ids, 4) == 1 && strcmp(ids[0], lab.id) == 0);
    shop.expires_s = 1;
    CHECK(key_store_change(store, &shop, NULL) == TD_OK);
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK && !*who_is(auth, "shop").key);
    struct key_terms terms;
    CHECK(!auth_terms(auth, shop.id, &terms) && auth_terms(auth, lab.id, &terms));
    drop_store(store);
    auth_free(auth);
}

static void test_a_rotated_key_is_the_same_tenants_and_the_old_text_ends(void)
{
    struct auth *auth = auth_new(secret);
    struct key_store *store = use_store();
    struct stored_key key = put(auth, store, "old", "");
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK);
    struct auth_who before = who_is(auth, "old");
    memcpy(key.mark_before, key.mark, sizeof key.mark);
    auth_mark(auth, "new", key.mark);
    key.before_until_s = INT64_MAX / 4;
    CHECK(key_store_change(store, &key, NULL) == TD_OK);
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK);
    struct auth_who after = who_is(auth, "new");
    CHECK(strcmp(before.tenant, after.tenant) == 0 && strcmp(before.key_id, after.key_id) == 0);
    CHECK(strcmp(who_is(auth, "old").tenant, after.tenant) == 0);
    key.before_until_s = 1;
    CHECK(key_store_change(store, &key, NULL) == TD_OK);
    CHECK(auth_load(auth, store, NULL, NULL) == TD_OK);
    CHECK(!*who_is(auth, "old").tenant && *who_is(auth, "new").tenant);
    drop_store(store);
    auth_free(auth);
}

static void test_an_application_is_let_in_by_its_own_key(void)
{
    const struct auth_named named[] = {{digest_of_alpha, NULL}, {"", "nobody"}};
    struct auth *auth = with(&(struct auth_keys){.named = named, .named_count = 2});
    CHECK(*who_is(auth, "alpha").key && !*who_is(auth, "beta").key && !auth_is_open(auth));
    const struct auth_named none[] = {{"", "nobody"}};
    CHECK(auth_set(auth, &(struct auth_keys){.named = none, .named_count = 1}, NULL) ==
          TD_NOT_FOUND);
    CHECK(*who_is(auth, "alpha").key);
    auth_clear(auth);
    CHECK(!*who_is(auth, "alpha").key && !auth_is_open(auth));
    auth_free(auth);
}

int main(void)
{
    RUN(test_the_first_stored_key_shuts_an_open_door_for_good);
    RUN(test_a_key_that_was_just_made_is_looked_for_once_and_wrong_ones_not_each_time);
    RUN(test_stored_keys_stand_beside_those_of_the_configuration);
    RUN(test_a_rotated_key_is_the_same_tenants_and_the_old_text_ends);
    RUN(test_an_application_is_let_in_by_its_own_key);
    RUN(test_keys_open_the_door_in_three_headers);
    RUN(test_what_records_show_of_a_key_depends_on_the_installations_secret);
    RUN(test_without_keys_nothing_is_allowed_and_nothing_changes);
    RUN(test_each_key_is_a_tenant_of_its_own_that_records_name_without_it);
    RUN(test_a_certificate_is_a_key_that_nobody_can_write_into_a_header);
    RUN(test_named_keys_share_a_tenant_and_remain_two_keys);
    RUN(test_the_operators_keys_or_those_of_the_only_tenant_operate);
    RUN(test_a_key_that_is_a_clients_and_an_operators_operates);
    RUN(test_no_key_is_ignored);
    return test_finish();
}
