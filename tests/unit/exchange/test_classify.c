#include "exchange/private/classify.h"
#include "exchange/private/conversation_id.h"

#include "base/json.h"
#include "base/str.h"
#include "scanners.h"
#include "test.h"

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

/* The class of one message "scanned" whose body is the given text. */
static enum td_data_class class_of_body(const char *text)
{
    struct json *body = NULL;
    struct td_message message = {TD_ROLE_USER, STR("scanned")};
    struct td_request request = {.messages = &message, .message_count = 1};
    CHECK(json_parse(str_from(text), &body, NULL) == TD_OK);
    request.body = body;
    enum td_data_class found = classify_request(plain_scanner(), &request, NULL);
    json_free(body);
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

static void test_findings_are_counted_once(void)
{
    struct json *body = NULL;
    REQUIRE(
        json_parse(
            STR("{\"messages\":[{\"content\":\"ann@example.com\"}],\"user\":\"bob@example.com\"}"),
            &body, NULL) == TD_OK);
    struct td_message message = {TD_ROLE_USER, STR("ann@example.com")};
    struct td_request request = {.messages = &message, .message_count = 1, .body = body};
    struct privacy_tally found = {0};
    CHECK(classify_request(plain_scanner(), &request, &found) == TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 2);
    json_free(body);
}

int main(void)
{
    RUN(test_a_conversation_is_the_words_that_it_began_with);
    RUN(test_callers_do_not_share_a_conversation);
    RUN(test_only_the_scanned_content_is_skipped_in_the_body);
    RUN(test_findings_are_counted_once);
    return test_finish();
}
