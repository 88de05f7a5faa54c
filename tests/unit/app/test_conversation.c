#include "app/chat/conversation.h"
#include "app/chat/conversation_file.h"
#include "base/core/str.h"
#include "test.h"

static void say(struct conversation *conversation, enum td_role role, const char *text)
{
    CHECK(conversation_add(conversation, role, str_from(text), NULL) == TD_OK);
}

static bool has(const struct conversation *conversation, size_t at, enum td_role role,
                const char *text)
{
    size_t count;
    const struct td_message *messages = conversation_messages(conversation, &count);
    return at < count && messages[at].role == role &&
           str_equal(messages[at].content, str_from(text));
}

static void test_the_system_prompt_stands_first_and_outlives_the_rest(void)
{
    struct conversation c;
    size_t count;
    conversation_init(&c);
    say(&c, TD_ROLE_USER, "a");
    CHECK(has(&c, 0, TD_ROLE_USER, "a"));
    CHECK(conversation_set_system(&c, STR("be brief"), NULL) == TD_OK);
    CHECK(has(&c, 0, TD_ROLE_SYSTEM, "be brief") && has(&c, 1, TD_ROLE_USER, "a"));
    conversation_clear(&c);
    conversation_messages(&c, &count);
    CHECK(count == 1 && c.bytes == 8);
    CHECK(conversation_set_system(&c, STR(""), NULL) == TD_OK);
    conversation_messages(&c, &count);
    CHECK(count == 0 && c.bytes == 0);
    conversation_deinit(&c);
}

static void test_the_oldest_pair_goes_when_there_are_too_many(void)
{
    struct conversation c;
    char text[16];
    conversation_init(&c);
    for (int i = 0; i <= CONVERSATION_MESSAGES_MAX; i++) {
        snprintf(text, sizeof text, "%d", i);
        say(&c, i % 2 ? TD_ROLE_ASSISTANT : TD_ROLE_USER, text);
    }
    CHECK(c.count == CONVERSATION_MESSAGES_MAX - 1 && c.dropped == 2);
    CHECK(has(&c, 0, TD_ROLE_USER, "2"));
    conversation_deinit(&c);
    CHECK(c.bytes == 0);
}

static void test_all_texts_together_have_a_maximum(void)
{
    struct conversation c;
    size_t len = CONVERSATION_BYTES_MAX / 2;
    char *text = malloc(CONVERSATION_BYTES_MAX + 1);
    REQUIRE(text);
    memset(text, 'x', CONVERSATION_BYTES_MAX + 1);
    conversation_init(&c);
    for (int i = 0; i < 4; i++)
        CHECK(conversation_add(&c, TD_ROLE_USER, (struct td_str){text, len}, NULL) == TD_OK);
    CHECK(c.bytes <= CONVERSATION_BYTES_MAX && c.count == 2);
    CHECK(conversation_add(&c, TD_ROLE_USER,
                           (struct td_str){text, (size_t)CONVERSATION_BYTES_MAX + 1},
                           NULL) == TD_LIMIT);
    CHECK(c.count == 2);
    CHECK(conversation_set_system(&c, (struct td_str){text, len + 1}, NULL) == TD_LIMIT);
    conversation_deinit(&c);
    free(text);
}

static void test_a_saved_conversation_is_read_as_it_was(void)
{
    struct conversation c, again;
    struct td_error err = {0};
    struct buf text;
    buf_init(&text, 1 << 16);
    conversation_init(&c);
    conversation_init(&again);
    CHECK(conversation_set_system(&c, STR("sys"), NULL) == TD_OK);
    say(&c, TD_ROLE_USER, "a \"quoted\" \xE4\xBD\xA0 text\nof lines");
    say(&c, TD_ROLE_ASSISTANT, "");
    c.is_private = true;
    conversation_write(&c, &text);
    CHECK(!text.failed && conversation_parse(buf_view(&text), &again, &err) == TD_OK);
    CHECK(again.is_private && again.count == 2 && has(&again, 0, TD_ROLE_SYSTEM, "sys"));
    CHECK(has(&again, 1, TD_ROLE_USER, "a \"quoted\" \xE4\xBD\xA0 text\nof lines"));
    CHECK(has(&again, 2, TD_ROLE_ASSISTANT, ""));
    conversation_deinit(&again);
    conversation_deinit(&c);
    buf_deinit(&text);
}

static void test_other_files_are_refused_with_what_is_wrong(void)
{
    static const struct {
        const char *text, *says;
        enum td_status status;
    } table[] = {
        {"", "", TD_INVALID},
        {"[]", "not a conversation", TD_INVALID},
        {"{}", "not a conversation", TD_INVALID},
        {"{\"tandem_conversation\":0,\"messages\":[]}", "not a conversation", TD_INVALID},
        {"{\"tandem_conversation\":2,\"messages\":[]}", "a newer version", TD_UNSUPPORTED},
        {"{\"tandem_conversation\":1}", "'messages'", TD_INVALID},
        {"{\"tandem_conversation\":1,\"messages\":[],\"private\":1}", "'private'", TD_INVALID},
        {"{\"tandem_conversation\":1,\"messages\":[3]}", "messages[0].content", TD_INVALID},
        {"{\"tandem_conversation\":1,\"messages\":[{\"role\":\"tool\",\"content\":\"x\"}]}",
         "messages[0].role", TD_INVALID},
        {"{\"tandem_conversation\":1,\"messages\":[{\"role\":\"user\",\"content\":\"x\"},"
         "{\"role\":\"system\",\"content\":\"x\"}]}",
         "only the first", TD_INVALID},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct conversation c;
        struct td_error err = {0};
        conversation_init(&c);
        CHECK(conversation_parse(str_from(table[i].text), &c, &err) == table[i].status);
        CHECK(strstr(err.message, table[i].says));
        conversation_deinit(&c);
    }
}

int main(void)
{
    RUN(test_the_system_prompt_stands_first_and_outlives_the_rest);
    RUN(test_the_oldest_pair_goes_when_there_are_too_many);
    RUN(test_all_texts_together_have_a_maximum);
    RUN(test_a_saved_conversation_is_read_as_it_was);
    RUN(test_other_files_are_refused_with_what_is_wrong);
    return test_finish();
}
