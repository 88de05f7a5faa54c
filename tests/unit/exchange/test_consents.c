/* Consents: for a scope, a user and a time; what was taken back stays so, also over a restart. */
#include "test.h"

#include "base/json.h"
#include "base/str.h"
#include "exchange/consents.h"

#include <unistd.h>

#define NOW UINT64_C(1700000000000)
#define HOUR UINT64_C(3600000)

static char path[] = "/tmp/test_consents_XXXXXX";

static struct consents *open_here(void)
{
    struct consents *consents = NULL;
    struct td_error err = {0};
    CHECK(consents_open(path, &consents, &err) == TD_OK);
    return consents;
}

static void test_a_consent_holds_for_its_scope_user_and_time(void)
{
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    const struct consent wish = {.scope = "care", .user = "ann", .expires_ms = NOW + HOUR};
    REQUIRE(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    CHECK(strncmp(id, "consent_", 8) == 0);
    CHECK(consents_check(consents, id, "care", "ann", NOW) == CONSENT_VALID);
    CHECK(consents_check(consents, id, "other", "ann", NOW) == CONSENT_OTHER_SCOPE);
    CHECK(consents_check(consents, id, "care", "bob", NOW) == CONSENT_OTHER_USER);
    CHECK(consents_check(consents, id, "care", NULL, NOW) == CONSENT_OTHER_USER);
    CHECK(consents_check(consents, id, "care", "ann", NOW + HOUR) == CONSENT_EXPIRED);
    CHECK(consents_check(consents, "x", "care", "ann", NOW) == CONSENT_UNKNOWN);
    CHECK(consents_check(consents, NULL, "care", "ann", NOW) == CONSENT_NONE);
    consents_close(consents);
}

static void test_what_was_taken_back_stays_so_over_a_restart(void)
{
    struct consents *consents = open_here();
    char id[CONSENT_ID_BYTES_MAX + 1];
    const struct consent one = {.id = "one", .scope = "*", .expires_ms = NOW + HOUR};
    const struct consent two = {.id = "two", .scope = "*", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &one, NOW, id, NULL) == TD_OK);
    CHECK(consents_grant(consents, &two, NOW, id, NULL) == TD_OK);
    CHECK(consents_revoke(consents, "one", NOW, NULL) == TD_OK);
    CHECK(consents_revoke(consents, "three", NOW, NULL) == TD_NOT_FOUND);
    consents_close(consents);
    consents = open_here();
    CHECK(consents_check(consents, "one", "any", NULL, NOW) == CONSENT_REVOKED);
    CHECK(consents_check(consents, "two", "any", NULL, NOW) == CONSENT_VALID);
    CHECK(consents_grant(consents, &one, NOW, id, NULL) == TD_DENIED);
    struct json *list = consents_list(consents, NULL, NOW);
    CHECK(json_count(list) == 2);
    json_free(list);
    consents_close(consents);
}

static bool file_has(const char *word)
{
    char text[4096] = "";
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = '\0';
    if (file)
        fclose(file);
    return strstr(text, word) != NULL;
}

static void test_where_names_are_not_kept_a_hash_says_whose_a_consent_is(void)
{
    struct consents *consents = open_here();
    char id[CONSENT_ID_BYTES_MAX + 1];
    uint64_t erased = 0;
    const struct consent before = {
        .id = "before", .scope = "*", .user = "annabelle", .expires_ms = NOW + HOUR};
    const struct consent after = {
        .id = "after", .scope = "*", .user = "annabelle", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &before, NOW, id, NULL) == TD_OK);
    CHECK(file_has("annabelle"));
    CHECK(consents_keep_hashes(consents, NULL) == TD_OK);
    CHECK(!file_has("annabelle") && file_has("user_hash"));
    CHECK(consents_grant(consents, &after, NOW, id, NULL) == TD_OK);
    CHECK(!file_has("annabelle"));
    consents_close(consents);
    consents = open_here();
    CHECK(consents_keep_hashes(consents, NULL) == TD_OK);
    CHECK(consents_check(consents, "before", "any", "annabelle", NOW) == CONSENT_VALID);
    CHECK(consents_check(consents, "after", "any", "annabelle", NOW) == CONSENT_VALID);
    CHECK(consents_check(consents, "after", "any", "bob", NOW) == CONSENT_OTHER_USER);
    CHECK(consents_check(consents, "after", "any", NULL, NOW) == CONSENT_OTHER_USER);
    const struct consent bobs = {
        .id = "after", .scope = "*", .user = "bob", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &bobs, NOW, id, NULL) == TD_DENIED);
    CHECK(consents_grant(consents, &after, NOW, id, NULL) == TD_OK);
    CHECK(consents_forget(consents, "annabelle", &erased, NULL) == TD_OK && erased == 2);
    consents_close(consents);
}

static void test_a_malformed_consent_or_file_is_refused(void)
{
    struct consents *consents = NULL;
    struct td_error err = {0};
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    const struct consent wrong[] = {
        {.scope = "", .expires_ms = NOW + 1},
        {.scope = NULL, .expires_ms = NOW + 1},
        {.scope = "x", .expires_ms = NOW},
        {.scope = "x", .expires_ms = UINT64_MAX},
        {.id = "", .scope = "x", .expires_ms = NOW + 1},
        {.id = "a/b", .scope = "x", .expires_ms = NOW + 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(consents_grant(consents, &wrong[i], NOW, id, NULL) == TD_INVALID);
    consents_close(consents);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("[{\"id\": \"one\", \"scope\": 5, \"expires\": -1}]", file);
    fclose(file);
    CHECK(consents_open(path, &consents, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, path) != NULL);
    file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("[{\"id\": \"one\", \"scope\": \"*\", \"expires\": 9, \"user_hash\": \"ab\"}]", file);
    fclose(file);
    CHECK(consents_open(path, &consents, &err) == TD_CORRUPT);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    unlink(path);
    RUN(test_a_consent_holds_for_its_scope_user_and_time);
    RUN(test_what_was_taken_back_stays_so_over_a_restart);
    RUN(test_where_names_are_not_kept_a_hash_says_whose_a_consent_is);
    RUN(test_a_malformed_consent_or_file_is_refused);
    unlink(path);
    return test_finish();
}
