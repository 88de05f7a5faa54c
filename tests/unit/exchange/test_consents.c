/* Consents: for a scope, a user and a time; what was taken back stays so, also over a restart. */
#include "test.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/private/consents.h"

#include <sys/stat.h>
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

static const char *letters(char out[static 512], size_t count)
{
    memset(out, 'a', count);
    out[count] = '\0';
    return out;
}

static void test_the_limits_of_a_consent_are_allowed_and_one_more_is_not(void)
{
    const uint64_t longest = (uint64_t)CONSENT_SECONDS_MAX * 1000;
    const struct {
        size_t id, scope, user;
        uint64_t expires_ms;
        enum td_status status;
    } cases[] = {{1, 1, 0, NOW + 1, TD_OK},
                 {CONSENT_ID_BYTES_MAX, 1, 0, NOW + 1, TD_OK},
                 {CONSENT_ID_BYTES_MAX + 1, 1, 0, NOW + 1, TD_INVALID},
                 {2, CONSENT_SCOPE_BYTES_MAX, 0, NOW + 1, TD_OK},
                 {3, CONSENT_SCOPE_BYTES_MAX + 1, 0, NOW + 1, TD_INVALID},
                 {4, 1, 256, NOW + 1, TD_OK},
                 {5, 1, 257, NOW + 1, TD_INVALID},
                 {6, 1, 1, NOW + longest, TD_OK},
                 {7, 1, 1, NOW + longest + 1, TD_INVALID},
                 {8, 1, 1, NOW - 1, TD_INVALID},
                 {9, 1, 1, 0, TD_INVALID}};
    struct consents *consents = open_here();
    char ids[512], scopes[512], users[512], id[CONSENT_ID_BYTES_MAX + 1];
    for (int round = 0; round < 2; round++) { /* given, and as the file has it */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *own = letters(ids, cases[i].id), *scope = letters(scopes, cases[i].scope);
            const char *user = letters(users, cases[i].user);
            const struct consent wish = {
                .id = own, .scope = scope, .user = user, .expires_ms = cases[i].expires_ms};
            if (round == 0)
                CHECK(consents_grant(consents, &wish, NOW, id, NULL) == cases[i].status);
            if (cases[i].status == TD_OK)
                CHECK(check(consents, own, scope, user, NOW - 999) == CONSENT_VALID);
        }
        consents_close(consents);
        consents = open_here();
    }
    consents_close(consents);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    unlink(path);
}

static void test_an_id_has_letters_digits_and_three_signs(void)
{
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    for (int c = 1; c < 256; c++) {
        const char own[] = {'x', (char)c, '\0'};
        const struct consent wish = {.id = own, .scope = "*", .expires_ms = NOW + 1};
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '_' || c == '.';
        CHECK(consents_grant(consents, &wish, NOW, id, NULL) == (plain ? TD_OK : TD_INVALID));
        CHECK(!plain || strcmp(id, own) == 0);
    }
    consents_close(consents);
}

/* The state that the list says is the one by which a request is judged. */
static void test_the_list_says_in_what_state_each_is(void)
{
    static const char *const ids[] = {"one", "two", "three"};
    static const struct {
        uint64_t now_ms;
        const char *states[3];
    } cases[] = {{NOW, {"valid", "revoked", "valid"}},
                 {NOW + HOUR - 1, {"valid", "revoked", "valid"}},
                 {NOW + HOUR, {"expired", "revoked", "valid"}},
                 {NOW + 2 * HOUR, {"expired", "revoked", "expired"}}};
    struct consents *consents = NULL;
    char id[CONSENT_ID_BYTES_MAX + 1];
    REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct consent wish = {.id = ids[i],
                                     .scope = "care",
                                     .user = i == 1 ? NULL : "ann",
                                     .expires_ms = NOW + (i == 2 ? 2 : 1) * HOUR};
        CHECK(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
    }
    CHECK(consents_revoke(consents, NULL, "two", NOW + 5000, NULL) == TD_OK);
    CHECK(consents_revoke(consents, NULL, "two", NOW + 9000, NULL) == TD_OK); /* the first counts */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *list = consents_list(consents, NULL, NULL, cases[i].now_ms);
        CHECK(json_count(list) == 3);
        for (size_t k = 0; k < 3; k++) {
            const struct json *item = json_at(list, k);
            uint64_t ends = (NOW + (k == 2 ? 2 : 1) * HOUR) / 1000;
            CHECK(str_equal(json_text(json_get(item, "id")), str_from(ids[k])));
            CHECK(str_equal(json_text(json_get(item, "state")), str_from(cases[i].states[k])));
            CHECK(str_equal(json_text(json_get(item, "scope")), STR("care")));
            CHECK(json_int(json_get(item, "expires"), 0) == (int64_t)ends);
            CHECK(json_int(json_get(item, "revoked"), 0) ==
                  (k == 1 ? (int64_t)(NOW / 1000 + 5) : 0));
            CHECK((json_kind_of(json_get(item, "user")) == JSON_KIND_TEXT) == (k != 1));
        }
        json_free(list);
    }
    struct json *list = consents_list(consents, NULL, "three", NOW);
    CHECK(json_count(list) == 1);
    CHECK(str_equal(json_text(json_get(json_at(list, 0), "id")), STR("three")));
    json_free(list);
    list = consents_list(consents, NULL, "four", NOW);
    CHECK(json_kind_of(list) == JSON_KIND_ARRAY && json_count(list) == 0);
    json_free(list);
    consents_close(consents);
}

/* What was taken back at any time is so after a restart, also in the clock's first second. */
static void test_taken_back_in_the_first_second_is_taken_back(void)
{
    static const uint64_t times[] = {0, 1, 999, 1000, 1999};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct consents *consents = open_here();
        char id[CONSENT_ID_BYTES_MAX + 1];
        const struct consent wish = {.id = "one", .scope = "*", .expires_ms = HOUR};
        CHECK(consents_grant(consents, &wish, 0, id, NULL) == TD_OK);
        CHECK(consents_revoke(consents, NULL, "one", times[i], NULL) == TD_OK);
        CHECK(check(consents, "one", "any", NULL, times[i]) == CONSENT_REVOKED);
        consents_close(consents);
        consents = open_here();
        CHECK(check(consents, "one", "any", NULL, times[i]) == CONSENT_REVOKED);
        CHECK(consents_grant(consents, &wish, 0, id, NULL) == TD_DENIED);
        consents_close(consents);
        unlink(path);
    }
}

/* Erasing takes one user's, in the file too, whoever's name is alike; nobody's name takes none. */
static void test_forgetting_takes_one_users_and_the_file_has_them_no_longer(void)
{
    static const char *const users[] = {"annabelle", "annabell", NULL, "annabelle"};
    for (int hashes = 0; hashes < 2; hashes++) {
        struct consents *consents = open_here();
        char id[CONSENT_ID_BYTES_MAX + 1];
        uint64_t erased = 9;
        if (hashes)
            CHECK(consents_keep_hashes(consents, NULL) == TD_OK);
        for (size_t i = 0; i < 4; i++) {
            const char own[] = {'c', (char)('0' + (char)i), '\0'};
            const struct consent wish = {
                .id = own, .scope = "*", .user = users[i], .expires_ms = NOW + HOUR};
            CHECK(consents_grant(consents, &wish, NOW, id, NULL) == TD_OK);
        }
        CHECK(consents_forget(consents, NULL, "", &erased, NULL) == TD_OK && erased == 0);
        CHECK(consents_forget(consents, NULL, "bob", &erased, NULL) == TD_OK && erased == 0);
        CHECK(consents_forget(consents, NULL, "annabelle", &erased, NULL) == TD_OK && erased == 2);
        CHECK(!file_has("annabelle"));
        for (int round = 0; round < 2; round++) {
            CHECK(check(consents, "c0", "any", "annabelle", NOW) == CONSENT_UNKNOWN);
            CHECK(check(consents, "c1", "any", "annabell", NOW) == CONSENT_VALID);
            CHECK(check(consents, "c2", "any", NULL, NOW) == CONSENT_VALID);
            CHECK(check(consents, "c3", "any", "annabelle", NOW) == CONSENT_UNKNOWN);
            consents_close(consents);
            consents = open_here();
        }
        consents_close(consents);
        unlink(path);
    }
}

/* Of another process's file nothing is written, whatever is given. */
static void test_what_is_kept_in_memory_changes_no_file(void)
{
    struct consents *consents = open_here();
    char id[CONSENT_ID_BYTES_MAX + 1];
    const struct consent one = {.id = "one", .scope = "*", .expires_ms = NOW + HOUR};
    const struct consent two = {.id = "two", .scope = "*", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &one, NOW, id, NULL) == TD_OK);
    consents_keep_in_memory(consents);
    CHECK(consents_grant(consents, &two, NOW, id, NULL) == TD_OK);
    CHECK(consents_revoke(consents, NULL, "one", NOW, NULL) == TD_OK);
    CHECK(check(consents, "two", "any", NULL, NOW) == CONSENT_VALID);
    consents_close(consents);
    consents = open_here();
    CHECK(check(consents, "one", "any", NULL, NOW) == CONSENT_VALID);
    CHECK(check(consents, "two", "any", NULL, NOW) == CONSENT_UNKNOWN);
    consents_close(consents);
    unlink(path);
}

/* What cannot be written is said. A consent given then does not hold, nor does one taken back. */
static void test_a_file_that_cannot_be_written_is_said(void)
{
    struct consents *consents = open_here();
    char id[CONSENT_ID_BYTES_MAX + 1];
    uint64_t erased = 0;
    const struct consent one = {
        .id = "one", .scope = "*", .user = "ann", .expires_ms = NOW + 2 * HOUR};
    struct consent less = one;
    less.expires_ms = NOW + HOUR;
    CHECK(consents_grant(consents, &one, NOW, id, NULL) == TD_OK);
    unlink(path);
    REQUIRE(mkdir(path, 0700) == 0);
    const struct consent two = {.id = "two", .scope = "*", .expires_ms = NOW + HOUR};
    CHECK(consents_grant(consents, &two, NOW, id, NULL) != TD_OK);
    CHECK(check(consents, "two", "any", "ann", NOW) == CONSENT_UNKNOWN);
    CHECK(consents_grant(consents, &less, NOW, id, NULL) != TD_OK);
    CHECK(consents_revoke(consents, NULL, "one", NOW, NULL) != TD_OK);
    CHECK(check(consents, "one", "any", "ann", NOW) == CONSENT_REVOKED);
    CHECK(consents_keep_hashes(consents, NULL) != TD_OK);
    CHECK(consents_forget(consents, NULL, "ann", &erased, NULL) != TD_OK && erased == 1);
    CHECK(check(consents, "one", "any", "ann", NOW) == CONSENT_UNKNOWN);
    consents_close(consents);
    rmdir(path);
}

static void test_each_consent_of_a_file_is_checked(void)
{
#define HASH_127                                                                                   \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab" \
    "c"
#define WITH(more) "[{\"id\":\"one\",\"scope\":\"*\",\"expires\":9" more "}]"
    static const struct {
        const char *text;
        enum td_status status;
    } cases[] = {
        {"[]", TD_OK},
        {WITH(""), TD_OK},
        {WITH(",\"caller\":\""
              "0123456789abcdef0123456789abcdef"
              "\""),
         TD_OK},
        {WITH(",\"caller\":\""
              "0123456789abcdef0123456789abcdef0"
              "\""),
         TD_CORRUPT},
        {WITH(",\"revoked\":0"), TD_OK},
        {WITH(",\"revoked\":-1"), TD_CORRUPT},
        {WITH(",\"revoked\":9223372036854775"), TD_OK},
        {WITH(",\"revoked\":9223372036854776"), TD_CORRUPT},
        {WITH(",\"user_hash\":\"" HASH_127 "def\""), TD_OK},
        {WITH(",\"user_hash\":\"" HASH_127 "de\""), TD_CORRUPT},
        {WITH(",\"user_hash\":\"" HASH_127 "def0\""), TD_CORRUPT},
        {WITH(",\"user_hash\":\"" HASH_127 "dEf\""), TD_CORRUPT},
        {WITH(",\"user_hash\":\"" HASH_127 "deg\""), TD_CORRUPT},
        {WITH(",\"user\":\"a\\u0000b\""), TD_INVALID},
        {"[{\"id\":\"one\",\"scope\":\"*\",\"expires\":0}]", TD_OK},
        {"[{\"id\":\"one\",\"scope\":\"*\"}]", TD_CORRUPT},
        {"[{\"id\":\"one\",\"scope\":\"*\",\"expires\":-1}]", TD_CORRUPT},
        {"[{\"id\":\"one\",\"scope\":\"*\",\"expires\":9223372036854775}]", TD_OK},
        {"[{\"id\":\"one\",\"scope\":\"*\",\"expires\":9223372036854776}]", TD_CORRUPT},
        {"[{\"id\":\"\",\"scope\":\"*\",\"expires\":9}]", TD_CORRUPT},
        {"[{\"scope\":\"*\",\"expires\":9}]", TD_CORRUPT},
        {"[7]", TD_CORRUPT},
        {"{}", TD_CORRUPT},
        {"7", TD_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct consents *consents = NULL;
        struct td_error err = {0};
        FILE *file = fopen(path, "w");
        REQUIRE(file != NULL);
        fputs(cases[i].text, file);
        fclose(file);
        enum td_status status = consents_open(path, &consents, &err);
        if (status != cases[i].status)
            fprintf(stderr, "%s\n", cases[i].text);
        CHECK(status == cases[i].status);
        CHECK(status == TD_OK || strstr(err.message, path) != NULL);
        consents_close(consents);
    }
    unlink(path);
}

static void test_every_state_has_words_of_its_own(void)
{
    for (int a = CONSENT_VALID; a <= CONSENT_OTHER_USER + 1; a++)
        for (int b = CONSENT_VALID; b < a; b++)
            CHECK(strcmp(consent_state_text((enum consent_state)a),
                         consent_state_text((enum consent_state)b)) != 0);
    CHECK(strstr(consent_state_text(CONSENT_EXPIRED), "expired") != NULL);
    CHECK(strstr(consent_state_text(CONSENT_REVOKED), "taken back") != NULL);
    CHECK(strstr(consent_state_text(CONSENT_OTHER_SCOPE), "another route") != NULL);
    CHECK(strstr(consent_state_text(CONSENT_OTHER_USER), "another user") != NULL);
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
    RUN(test_the_limits_of_a_consent_are_allowed_and_one_more_is_not);
    RUN(test_an_id_has_letters_digits_and_three_signs);
    RUN(test_the_list_says_in_what_state_each_is);
    RUN(test_taken_back_in_the_first_second_is_taken_back);
    RUN(test_forgetting_takes_one_users_and_the_file_has_them_no_longer);
    RUN(test_what_is_kept_in_memory_changes_no_file);
    RUN(test_a_file_that_cannot_be_written_is_said);
    RUN(test_each_consent_of_a_file_is_checked);
    RUN(test_every_state_has_words_of_its_own);
    return test_finish();
}
