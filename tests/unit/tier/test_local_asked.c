/* Which requests ask for a label of an intent, and which only sound a little like it. */
#include "tier/local/local_asked.h"

#include "base/core/str.h"
#include "test.h"

#include <stdio.h>

struct row {
    const char *system, *before, *said, *user; /* NULL: no such message */
    bool asks;
};

static void add(struct td_request *request, struct td_message *messages, enum td_role role,
                const char *text)
{
    if (text)
        messages[request->message_count++] = (struct td_message){role, str_from(text)};
}

static void test_a_label_is_asked_for_by_words_that_ask_for_one(void)
{
    static const char persona[] = "You are a helpful assistant.";
    static const struct row rows[] = {
        {NULL, NULL, NULL, "what is my balance?", false},
        {persona, NULL, NULL, "what is my balance?", false},
        {"You are a helpful assistant. Be concise.", NULL, NULL, "tell me a joke", false},
        {"Answer briefly and politely.", NULL, NULL, "what time is it", false},
        {NULL, NULL, NULL, "pick a restaurant for tonight", false},
        {NULL, NULL, NULL, "one of my cards was lost", false},
        {NULL, NULL, NULL, "what is the department of my order", false},
        {NULL, NULL, NULL, "find me a route to the airport", false},
        {NULL, NULL, NULL, "what are my options for lunch", false},
        {NULL, "pick a name for my dog", "Rex is a fine name.", "what is my balance?", false},
        {NULL, "what is the intent of: hi", "The intent is a greeting.", "my card is lost", false},
        {NULL, NULL, NULL, "Classify the intent: what is my balance?", true},
        {NULL, NULL, NULL, "Which of the following fits? balance, transfer", true},
        {NULL, NULL, NULL, "One of balance, transfer: what do I have left?", true},
        {NULL, NULL, NULL, "Labels: a, b\n\nmy card is lost", true},
        {NULL, NULL, NULL, "Absicht: wo ist mein Paket?", true},
        {NULL, "Classify the intent: hi", "greeting", "my card is lost", true},
        {"Answer with one of balance, transfer.", NULL, NULL, "my card is lost", true},
        {"Route each message to a team.", NULL, NULL, "my card is lost", true},
        {"Give the category of what the user says.", NULL, NULL, "my card is lost", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct td_message messages[4];
        struct td_request request = {.messages = messages};
        add(&request, messages, TD_ROLE_SYSTEM, rows[i].system);
        add(&request, messages, TD_ROLE_USER, rows[i].before);
        add(&request, messages, TD_ROLE_ASSISTANT, rows[i].said);
        add(&request, messages, TD_ROLE_USER, rows[i].user);
        bool asks = local_asked_for_label(&request);
        CHECK(asks == rows[i].asks);
        if (asks != rows[i].asks)
            fprintf(stderr, "\"%s\"\n", rows[i].user);
    }
}

static void test_what_fixes_the_form_of_an_answer_may_ask_for_one(void)
{
    struct td_message message = {TD_ROLE_USER, STR("my card is lost")};
    struct td_request request = {.messages = &message, .message_count = 1};
    CHECK(!local_asked_for_label(&request));
    request.format = TD_FORMAT_JSON;
    CHECK(local_asked_for_label(&request));
    request.format = TD_FORMAT_TEXT;
    const struct td_completion completion = {0};
    request.completion = &completion;
    CHECK(local_asked_for_label(&request));
}

static size_t forbidden(const char *text)
{
    const struct local_unasked unasked = {.count = 5, .labels = 2, .without_answers = 3};
    struct td_message message = {TD_ROLE_USER, str_from(text)};
    struct td_request request = {.messages = &message, .message_count = 1};
    return local_unasked_count(&unasked, &request);
}

static void test_yes_and_no_answer_questions_alone(void)
{
    CHECK(forbidden("that's correct") == 5);
    CHECK(forbidden("Anna is a nurse. Is Anna a nurse?") == 3);
    CHECK(forbidden("Answer yes or no: the sky is blue") == 3);
    CHECK(forbidden("Classify the intent: that's correct") == 0);
    const struct local_unasked unasked = {.count = 5, .labels = 2, .without_answers = 3};
    CHECK(local_unasked_count(&unasked, &(struct td_request){.message_count = 0}) == 3);
    struct td_message messages[] = {{TD_ROLE_SYSTEM, STR("Write each date as YYYY-MM-DD.")},
                                    {TD_ROLE_USER, STR("3 May 2024")}};
    struct td_request task = {.messages = messages, .message_count = 2};
    CHECK(local_unasked_count(&unasked, &task) == 2);
}

int main(void)
{
    RUN(test_a_label_is_asked_for_by_words_that_ask_for_one);
    RUN(test_yes_and_no_answer_questions_alone);
    RUN(test_what_fixes_the_form_of_an_answer_may_ask_for_one);
    return test_finish();
}
