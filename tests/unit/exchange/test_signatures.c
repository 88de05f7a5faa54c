/* Signatures of servers: what is known again, of whom, as what, and what never is. */
#include "exchange/private/signatures.h"

#include "base/core/str.h"
#include "test.h"

#include <stdlib.h>

#define SIGNATURE "CpcBAdHtim9JxJ0T8zqvK3nQb1mXw5Rc7yUe2LsGf+aHdO/VtNkZuYg=="
#define OF_URLS "CpcBAdHtim9JxJ0T8zqvK3nQb1mXw5Rc7yUe2LsGf-aHdO_VtNkZuYg"
#define ANSWER(name, text) \
    "{\"tool_calls\":[{\"extra_content\":{\"google\":{\"" name "\":\"" text "\"}}}]}"
#define ASKED(role, name, text) \
    "[{\"role\":\"" role "\",\"tool_calls\":[{\"" name "\":\"" text "\"}]}]"

static struct json *parsed(const char *text)
{
    struct json *json = NULL;
    CHECK(json_parse(str_from(text), &json, NULL) == TD_OK);
    return json;
}

static void note(struct signatures *signatures, const char *caller, enum td_data_class sent,
                 const char *text)
{
    struct json *delta = parsed(text);
    signatures_note(signatures, caller, sent, delta);
    json_free(delta);
}

/* The class of what was found in the messages; -1 = nothing was. */
static int found(struct signatures *signatures, const char *caller, const char *text)
{
    struct json *messages = parsed(text);
    const struct request_member member = {"messages", REQUEST_MESSAGES, messages};
    bool answers = strstr(text, "\"assistant\"") != NULL;
    const struct td_message message = {answers ? TD_ROLE_ASSISTANT : TD_ROLE_USER, STR("")};
    struct td_request request = {.caller = caller,
                                 .messages = &message,
                                 .message_count = 1,
                                 .members = &member,
                                 .member_count = 1};
    struct td_str *list = NULL;
    signatures_find(signatures, &request, &list);
    CHECK(request.signatures == list && (request.signature_count > 0) == (list != NULL));
    int found = list ? (int)request.data_class : -1;
    if (list)
        CHECK(request_is_opaque(&request, list[0]) && !request_is_opaque(&request, STR("other")));
    free(list);
    json_free(messages);
    return found;
}

static void test_only_what_a_server_sent_is_known_in_either_alphabet(void)
{
    struct signatures *signatures = signatures_new();
    CHECK(found(signatures, "a", ASKED("assistant", "thought_signature", SIGNATURE)) == -1);
    note(signatures, "a", TD_CLASS_PUBLIC, ANSWER("thought_signature", SIGNATURE));
    CHECK(found(signatures, "a", ASKED("assistant", "thought_signature", SIGNATURE)) ==
          TD_CLASS_PUBLIC);
    CHECK(found(signatures, "a", ASKED("assistant", "thought_signature", OF_URLS)) ==
          TD_CLASS_PUBLIC);
    CHECK(found(signatures, "a", ASKED("assistant", "thought_signature", "X" SIGNATURE)) == -1);
    CHECK(found(signatures, "a", ASKED("assistant", "thought_signature", OF_URLS "A")) == -1);
    signatures_free(signatures);
}

static void test_it_is_one_callers_and_stands_where_answers_do(void)
{
    struct signatures *signatures = signatures_new();
    note(signatures, "a", TD_CLASS_PUBLIC, ANSWER("thought_signature", SIGNATURE));
    CHECK(found(signatures, "b", ASKED("assistant", "thought_signature", SIGNATURE)) == -1);
    CHECK(found(signatures, NULL, ASKED("assistant", "thought_signature", SIGNATURE)) == -1);
    CHECK(found(signatures, "a", ASKED("user", "thought_signature", SIGNATURE)) == -1);
    CHECK(found(signatures, "a", ASKED("assistant", "note", SIGNATURE)) == -1);
    CHECK(found(NULL, "a", ASKED("assistant", "thought_signature", SIGNATURE)) == -1);
    signatures_free(signatures);
}

static void test_it_has_the_highest_class_that_was_sent_for_it(void)
{
    struct signatures *signatures = signatures_new();
    const char *asked = ASKED("assistant", "signature", SIGNATURE);
    note(signatures, "a", TD_CLASS_SENSITIVE, ANSWER("data", SIGNATURE));
    CHECK(found(signatures, "a", asked) == TD_CLASS_SENSITIVE);
    note(signatures, "a", TD_CLASS_PUBLIC, ANSWER("data", SIGNATURE));
    CHECK(found(signatures, "a", asked) == TD_CLASS_SENSITIVE);
    note(signatures, "a", TD_CLASS_RESTRICTED, ANSWER("data", SIGNATURE));
    CHECK(found(signatures, "a", asked) == TD_CLASS_RESTRICTED);
    signatures_free(signatures);
}

static void test_words_short_texts_and_other_members_are_never_one(void)
{
    struct signatures *signatures = signatures_new();
    static const char *const texts[] = {"I am mary.smith of acme corp, and this is my password",
                                        "c2hvcnQ=", "",
                                        "==============="
                                        "======================",
                                        "CpcBAdHtim9JxJ0T8zqvK3nQ=1mXw5Rc7yUe2LsGfaHdO"};
    char answer[512], asked[512];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(answer, sizeof answer, "{\"signature\":\"%s\"}", texts[i]);
        snprintf(asked, sizeof asked, "[{\"role\":\"assistant\",\"signature\":\"%s\"}]", texts[i]);
        note(signatures, "a", TD_CLASS_PUBLIC, answer);
        CHECK(found(signatures, "a", asked) == -1);
    }
    note(signatures, "a", TD_CLASS_PUBLIC, ANSWER("content", SIGNATURE));
    CHECK(found(signatures, "a", ASKED("assistant", "signature", SIGNATURE)) == -1);
    signatures_free(signatures);
}

/* Whatever others are sent, the newest is known. */
static void test_the_table_has_a_bound(void)
{
    struct signatures *signatures = signatures_new();
    char text[128], answer[256], asked[256];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(text, sizeof text, "%08uAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", i);
        snprintf(answer, sizeof answer, "{\"signature\":\"%s\"}", text);
        note(signatures, "a", TD_CLASS_PUBLIC, answer);
    }
    snprintf(asked, sizeof asked, "[{\"role\":\"assistant\",\"signature\":\"%s\"}]", text);
    CHECK(found(signatures, "a", asked) == TD_CLASS_PUBLIC);
    CHECK(found(signatures, "a",
                "[{\"role\":\"assistant\",\"signature\":"
                "\"00000000AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}]") == -1);
    signatures_free(signatures);
}

int main(void)
{
    RUN(test_only_what_a_server_sent_is_known_in_either_alphabet);
    RUN(test_it_is_one_callers_and_stands_where_answers_do);
    RUN(test_it_has_the_highest_class_that_was_sent_for_it);
    RUN(test_words_short_texts_and_other_members_are_never_one);
    RUN(test_the_table_has_a_bound);
    return test_finish();
}
