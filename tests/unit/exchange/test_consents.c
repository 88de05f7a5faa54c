/* Consents: for a scope, a user and a time; what was taken back stays so, also over a restart. */
#include "test.h"

#include "base/json.h"
#include "base/str.h"
#include "exchange/private/consents.h"

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

static enum consent_state check(struct consents *consents, const char *id, const char *route,
                                const char *user, uint64_t now_ms)
{
    return consents_check(consents, &(struct consent_use){id, route, user, NULL}, now_ms);
}

static void test_a_consent_holds_for_its_scope_user_and_time(void)
{
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    const struct consent wish = {.scope = "care", .user = "ann", .expires_ms = NOW + HOUR};
    REQUIRE(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    CHECK(strncmp(id, "consent_", 8) == 0);
    CHECK(check(consents, id, "care", "ann", NOW) == CONSENT_VALID);
    CHECK(check(consents, id, "other", "ann", NOW) == CONSENT_OTHER_SCOPE);
    CHECK(check(consents, id, "care", "bob", NOW) == CONSENT_OTHER_USER);
    CHECK(check(consents, id, "care", NULL, NOW) == CONSENT_OTHER_USER);
    CHECK(check(consents, id, "care", "ann", NOW + HOUR) == CONSENT_EXPIRED);
    CHECK(check(consents, "x", "care", "ann", NOW) == CONSENT_UNKNOWN);
    CHECK(check(consents, NULL, "care", "ann", NOW) == CONSENT_NONE);
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
    CHECK(consents_revoke(consents, NULL, "one", NOW, NULL) == TD_OK);
    CHECK(consents_revoke(consents, NULL, "three", NOW, NULL) == TD_NOT_FOUND);
    consents_close(consents);
    consents = open_here();
    CHECK(check(consents, "one", "any", NULL, NOW) == CONSENT_REVOKED);
    CHECK(check(consents, "two", "any", NULL, NOW) == CONSENT_VALID);
    CHECK(consents_grant(consents, &one, NOW, id, NULL) == TD_DENIED);
    struct json *list = consents_list(consents, NULL, NULL, NOW);
    CHECK(json_count(list) == 2);
    json_free(list);
    consents_close(consents);
}

static void test_sent_again_it_does_not_come_to_hold_for_more(void)
{
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    struct consent wish = {.id = "one", .scope = "care", .user = "ann", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    CHECK(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    struct consent more[] = {wish, wish, wish, wish};
    more[0].scope = "*";
    more[1].scope = "other";
    more[2].expires_ms++;
    more[3].user = NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        CHECK(consents_grant(consents, &more[i], NOW, id, NULL) == TD_DENIED);
    CHECK(check(consents, "one", "other", "ann", NOW) == CONSENT_OTHER_SCOPE);
    CHECK(check(consents, "one", "care", "ann", NOW + HOUR) == CONSENT_EXPIRED);
    /* Less is given at once. What has ended does not begin again. */
    wish.expires_ms = NOW + 5;
    CHECK(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    CHECK(check(consents, "one", "care", "ann", NOW + 5) == CONSENT_EXPIRED);
    wish.expires_ms = NOW + HOUR;
    CHECK(consents_grant(consents, &wish, NOW + 5, id, NULL) == TD_DENIED);
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

static size_t count_of(struct consents *consents, const char *caller)
{
    struct json *list = consents_list(consents, caller, NULL, NOW);
    size_t count = json_count(list);
    CHECK(json_kind_of(json_get(json_at(list, 0), "caller")) == JSON_KIND_ABSENT);
    json_free(list);
    return count;
}

static void test_a_consent_is_its_callers_alone(void)
{
    struct consents *consents = open_here();
    char id[CONSENT_ID_BYTES_MAX + 1];
    const struct consent first = {
        .id = "form", .scope = "*", .expires_ms = NOW + HOUR, .caller = "first-key"};
    struct consent second = first;
    second.caller = "second-key";
    second.scope = "care";
    const struct consent_use uses[] = {{"form", "any", NULL, "first-key"},
                                       {"form", "any", NULL, "second-key"},
                                       {"form", "any", NULL, NULL}};
    CHECK(consents_grant(consents, &first, NOW, id, NULL) == TD_OK);
    CHECK(consents_check(consents, &uses[0], NOW) == CONSENT_VALID);
    CHECK(consents_check(consents, &uses[1], NOW) == CONSENT_UNKNOWN);
    CHECK(consents_check(consents, &uses[2], NOW) == CONSENT_UNKNOWN);
    CHECK(count_of(consents, "first-key") == 1 && count_of(consents, "second-key") == 0);
    CHECK(consents_revoke(consents, "second-key", "form", NOW, NULL) == TD_NOT_FOUND);
    CHECK(consents_grant(consents, &second, NOW, id, NULL) == TD_OK);
    consents_close(consents);
    consents = open_here();
    CHECK(consents_check(consents, &uses[0], NOW) == CONSENT_VALID);
    CHECK(consents_check(consents, &uses[1], NOW) == CONSENT_OTHER_SCOPE);
    CHECK(consents_revoke(consents, "second-key", "form", NOW, NULL) == TD_OK);
    CHECK(consents_check(consents, &uses[0], NOW) == CONSENT_VALID);
    CHECK(!file_has("first-key") && count_of(consents, NULL) == 0);
    consents_close(consents);
    unlink(path);
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
    CHECK(check(consents, "before", "any", "annabelle", NOW) == CONSENT_VALID);
    CHECK(check(consents, "after", "any", "annabelle", NOW) == CONSENT_VALID);
    CHECK(check(consents, "after", "any", "bob", NOW) == CONSENT_OTHER_USER);
    CHECK(check(consents, "after", "any", NULL, NOW) == CONSENT_OTHER_USER);
    const struct consent bobs = {
        .id = "after", .scope = "*", .user = "bob", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &bobs, NOW, id, NULL) == TD_DENIED);
    CHECK(consents_grant(consents, &after, NOW, id, NULL) == TD_OK);
    CHECK(consents_forget(consents, NULL, "annabelle", &erased, NULL) == TD_OK && erased == 2);
    consents_close(consents);
}

static void test_a_caller_forgets_what_it_gave_itself(void)
{
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    uint64_t erased;
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    for (int i = 0; i < 3; i++) {
        const struct consent consent = {.scope = "*",
                                        .user = "ann",
                                        .expires_ms = NOW + HOUR,
                                        .caller = (const char *[]){"one", "two", NULL}[i]};
        CHECK(consents_grant(consents, &consent, NOW, id, NULL) == TD_OK);
    }
    CHECK(consents_forget(consents, "three", "ann", &erased, NULL) == TD_OK && erased == 0);
    CHECK(consents_forget(consents, "one", "ann", &erased, NULL) == TD_OK && erased == 1);
    CHECK(consents_forget(consents, NULL, "ann", &erased, NULL) == TD_OK && erased == 2);
    consents_close(consents);
}

static void test_no_caller_takes_all_the_room(void)
{
    struct consents *consents = NULL;
    struct consent consent = {.scope = "*", .expires_ms = NOW + HOUR, .caller = "one"};
    char id[CONSENT_ID_BYTES_MAX + 1];
    struct td_error err = {0};
    uint32_t given = 0;
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    while (consents_grant(consents, &consent, NOW, id, &err) == TD_OK)
        given++;
    CHECK(given == CONSENTS_MAX / 2 && err.status == TD_LIMIT);
    consent.caller = "two";
    CHECK(consents_grant(consents, &consent, NOW, id, NULL) == TD_OK);
    consent.caller = "one";
    consent.expires_ms = NOW + 3 * HOUR;
    CHECK(consents_grant(consents, &consent, NOW, id, NULL) == TD_LIMIT);
    CHECK(consents_grant(consents, &consent, NOW + 2 * HOUR, id, NULL) == TD_OK); /* expired */
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
    RUN(test_sent_again_it_does_not_come_to_hold_for_more);
    unlink(path);
    RUN(test_a_consent_is_its_callers_alone);
    RUN(test_where_names_are_not_kept_a_hash_says_whose_a_consent_is);
    RUN(test_a_caller_forgets_what_it_gave_itself);
    RUN(test_no_caller_takes_all_the_room);
    RUN(test_a_malformed_consent_or_file_is_refused);
    unlink(path);
    return test_finish();
}
