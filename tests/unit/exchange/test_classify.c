#include "exchange/private/classify.h"
#include "exchange/private/conversation_id.h"

#include "base/str.h"
#include "privacy/pseudonym/vault_store.h"
#include "scanners.h"
#include "wire_members.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t key_of(const char *user, const char *system, const char *first, const char *second)
{
    struct td_message messages[3] = {{TD_ROLE_SYSTEM, str_from(system)},
                                     {TD_ROLE_USER, str_from(first)},
                                     {TD_ROLE_USER, str_from(second)}};
    bool without = system == NULL;
    struct td_request request = {
        .messages = messages + without, .message_count = 3 - without, .user = user};
    return conversation_id_key(&request);
}

static void test_a_conversation_is_the_words_that_it_began_with(void)
{
    uint64_t key = key_of("ann", "sys", "hello you", "one");
    CHECK(key == key_of("ann", "sys", "hello you", "two"));
    CHECK(key == key_of("bob", "sys", "hello you", "one"));
    CHECK(key == key_of(NULL, NULL, "hello you", "one"));
    CHECK(key == key_of("ann", "other", "hello you", "one"));
    CHECK(key == key_of("ann", "sys", "hello\n you ", "one"));
    CHECK(key != key_of("ann", "sys", "hallo you", "one"));
}

static void test_callers_do_not_share_a_conversation(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {.messages = &message, .message_count = 1};
    uint64_t nobody = conversation_id_key(&request);
    request.caller = "10.0.0.1";
    uint64_t one = conversation_id_key(&request);
    CHECK(one != nobody && one == conversation_id_key(&request));
    request.caller = "10.0.0.2";
    CHECK(one != conversation_id_key(&request));
}

/* The class of one message "scanned" that is sent with the members of the given body. */
static enum td_data_class class_of_body(const char *text)
{
    struct wire_members wire;
    struct td_message message = {TD_ROLE_USER, STR("scanned")};
    struct td_request request = {.messages = &message, .message_count = 1};
    wire_members_init(&wire, text, &request);
    enum td_data_class found = classify_request(plain_scanner(), &request, NULL);
    wire_members_deinit(&wire);
    return found;
}

#define MAIL "ann@example.com"

static void test_only_the_scanned_content_is_skipped_in_the_body(void)
{
    CHECK(class_of_body("{\"messages\":[{\"content\":\"scanned\"}]}") == TD_CLASS_PUBLIC);
    static const char *const bodies[] = {
        "{\"messages\":[{\"content\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned " MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned\",\"name\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":\"scanned\",\"" MAIL "\":1}]}",
        "{\"messages\":[{\"content\":\"scanned\"},{\"content\":\"" MAIL "\"}]}",
        "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"" MAIL "\"}]}]}",
        "{\"messages\":[\"" MAIL "\"]}",
        "{\"messages\":{\"content\":\"" MAIL "\"}}",
        "{\"messages\":\"" MAIL "\"}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        CHECK(class_of_body(bodies[i]) == TD_CLASS_SENSITIVE);
}

static const struct json *content_of(const struct td_request *request, size_t index)
{
    return json_get(json_at(request_value(request, REQUEST_MESSAGES), index), "content");
}

static void test_findings_are_counted_once(void)
{
    struct wire_members wire;
    struct td_message message = {.role = TD_ROLE_USER};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct privacy_tally found = {0};
    wire_members_init(
        &wire, "{\"messages\":[{\"content\":\"ann@example.com\"}],\"user\":\"bob@example.com\"}",
        &request);
    message.content = json_text(content_of(&request, 0));
    CHECK(classify_request(plain_scanner(), &request, &found) == TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 2);
    wire_members_deinit(&wire);
}

/* What is said in parts is read as one text, once; a part that is not said is read as a member. */
static void test_parts_are_read_as_one_text(void)
{
    struct wire_members wire;
    struct td_message messages[2] = {{TD_ROLE_SYSTEM, STR("be kind")},
                                     {TD_ROLE_USER, STR("my mail is\nann@example.com")}};
    struct td_request request = {.messages = messages, .message_count = 2};
    wire_members_init(&wire,
                      "{\"messages\":[{\"content\":\"be kind\"},{\"content\":["
                      "{\"text\":\"my mail is\"},{\"text\":\"ann@example.com\"},"
                      "{\"url\":\"bob@example.com\"}]}]}",
                      &request);
    const struct json *list = content_of(&request, 1);
    const struct td_str texts[2] = {json_text(json_get(json_at(list, 0), "text")),
                                    json_text(json_get(json_at(list, 1), "text"))};
    const struct request_parts parts[2] = {{NULL, 0}, {texts, 2}};
    struct reading reading;
    messages[0].content = json_text(content_of(&request, 0));
    request.parts = parts;
    reading_init(&reading);
    classify_read(&request, &reading);
    struct td_str all = reading_since(&reading, 0);
    struct privacy_tally found = {0};
    CHECK(str_starts_with(all, STR("be kind\nmy mail is\nann@example.com")));
    CHECK(str_find(all, STR("url: bob@example.com"), 0) != SIZE_MAX);
    CHECK(str_find(all, STR("text"), 0) == SIZE_MAX);
    CHECK(classify_request(plain_scanner(), &request, &found) == TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 2);
    reading_deinit(&reading);
    wire_members_deinit(&wire);
}

/* What is masked for two tenants' users of one name is forgotten with its own tenant. */
static void test_vaults_are_forgotten_in_one_tenant_or_in_all(void)
{
    static const char *const tenants[] = {"a", "b", NULL};
    const struct td_message message = {TD_ROLE_USER, STR("hello")};
    struct vault_store *store = vault_store_new(10, 1000);
    uint8_t key[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    REQUIRE(store != NULL);
    for (int i = 0; i < 3; i++) {
        struct vault_hold *hold = NULL;
        const struct td_request request = {.messages = &message,
                                           .message_count = 1,
                                           .caller = tenants[i],
                                           .tenant = tenants[i],
                                           .user = "ann"};
        conversation_id_digest(&request, key, owner);
        REQUIRE(vault_store_take(store, key, owner, 0, &hold, NULL) == TD_OK);
        vault_hold_drop(hold);
    }
    conversation_id_owner("c", "ann", owner);
    CHECK(vault_store_forget(store, owner, false) == 0);
    conversation_id_owner("a", "ann", owner);
    CHECK(vault_store_forget(store, owner, false) == 1);
    conversation_id_owner(NULL, "bob", owner);
    CHECK(vault_store_forget(store, owner, true) == 0);
    conversation_id_owner(NULL, "ann", owner);
    CHECK(vault_store_forget(store, owner, true) == 2);
    vault_store_free(store);
}

int main(void)
{
    RUN(test_a_conversation_is_the_words_that_it_began_with);
    RUN(test_callers_do_not_share_a_conversation);
    RUN(test_vaults_are_forgotten_in_one_tenant_or_in_all);
    RUN(test_only_the_scanned_content_is_skipped_in_the_body);
    RUN(test_findings_are_counted_once);
    RUN(test_parts_are_read_as_one_text);
    return test_finish();
}
