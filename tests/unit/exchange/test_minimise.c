/* What is left of a conversation: which messages are sent, and that of each its content, the texts
 * of its parts and its element in the list go together. */
#include "exchange/private/minimise.h"

#include "base/json/json.h"
#include "wire_members.h"

#define MESSAGES_MAX 16

/* One letter a message: s, d, u, a or t, by its role. */
static enum td_role role_of(char letter)
{
    return letter == 's'   ? TD_ROLE_SYSTEM
           : letter == 'd' ? TD_ROLE_DEVELOPER
           : letter == 'u' ? TD_ROLE_USER
           : letter == 't' ? TD_ROLE_TOOL
                           : TD_ROLE_ASSISTANT;
}

struct conversation {
    struct td_request request;
    struct td_message messages[MESSAGES_MAX];
    struct request_parts parts[MESSAGES_MAX];
    struct td_str texts[MESSAGES_MAX][2];
    char contents[MESSAGES_MAX][64];
    struct wire_members wire;
};

/* words: of each message, or NULL. Every second message came in two parts. */
static void conversation_init(struct conversation *c, const char *roles, const char *const *words)
{
    struct buf body;
    size_t count = strlen(roles);
    *c = (struct conversation){.request = {.message_count = count}};
    buf_init(&body, 1 << 16);
    buf_append_str(&body, STR("{\"model\":\"auto\",\"messages\":["));
    for (size_t i = 0; i < count; i++) {
        int len = snprintf(c->contents[i], sizeof c->contents[i], "m-%02zu %s", i,
                           words && words[i] ? words[i] : "");
        c->messages[i] = (struct td_message){role_of(roles[i]), {c->contents[i], (size_t)len}};
        c->texts[i][0] = (struct td_str){c->contents[i], 5};
        c->texts[i][1] = (struct td_str){c->contents[i] + 5, (size_t)len - 5};
        c->parts[i] = (struct request_parts){c->texts[i], i % 2 ? 2 : 0};
        buf_printf(&body, "%s{\"number\":%zu}", i ? "," : "", i);
    }
    buf_append_str(&body, STR("],\"seed\":7}"));
    buf_append_char(&body, '\0');
    c->request.messages = c->messages;
    c->request.parts = c->parts;
    wire_members_init(&c->wire, body.data, &c->request);
    buf_deinit(&body);
}

/* The numbers of the messages that are left; "=": all, nothing was made. */
static void read_left(const struct conversation *c, const struct minimised *minimised,
                      char out[static 64])
{
    size_t len = 0, bytes = 0;
    snprintf(out, 64, "=");
    if (!minimised)
        return;
    const struct td_request *request = minimised_request(minimised);
    const struct json *list = request_value(request, REQUEST_MESSAGES);
    CHECK(json_count(list) == request->message_count && request->member_count == 3);
    CHECK(json_int(json_get(c->wire.body, "seed"), 0) == 7);
    for (size_t i = 0; i < request->message_count; i++) {
        int64_t number = json_int(json_get(json_at(list, i), "number"), -1);
        REQUIRE(number >= 0 && number < MESSAGES_MAX);
        CHECK(request->messages[i].content.data == c->messages[number].content.data);
        CHECK(request->messages[i].role == c->messages[number].role);
        CHECK(request->parts[i].texts == c->parts[number].texts &&
              request->parts[i].count == c->parts[number].count);
        len += (size_t)snprintf(out + len, 64 - len, "%s%lld", i ? " " : "", (long long)number);
        bytes += request->messages[i].content.len;
    }
    struct left_out left = minimised_left_out(minimised);
    for (size_t i = 0; i < c->request.message_count; i++)
        bytes -= i < c->request.message_count ? c->messages[i].content.len : 0;
    CHECK(left.bytes == (uint64_t)0 - bytes);
    CHECK(left.messages == c->request.message_count - request->message_count && left.turns > 0);
}

static void test_each_message_that_is_left_keeps_what_belongs_to_it(void)
{
    static const char *const dates[] = {
        "", "flights to Lisbon in October", "there are two", "my dog is ill",     "poor thing",
        "", "and the hotel in Lisbon",      "a quiet one",   "what about Lisbon?"};
    static const struct {
        const char *roles, *const *words;
        struct minimise_settings settings;
        const char *left;
    } cases[] = {
        {"u", NULL, {1, 0}, "="},
        {"uauau", NULL, {0, 9}, "="},
        {"uauau", NULL, {3, 0}, "="},
        {"uauau", NULL, {4, 0}, "="},
        {"uauau", NULL, {1, 0}, "4"},
        {"uauau", NULL, {2, 0}, "2 3 4"},
        {"suauau", NULL, {1, 0}, "0 5"},
        {"suauasu", NULL, {1, 0}, "0 5 6"},
        {"dsuaduau", NULL, {1, 0}, "0 1 4 7"},
        {"uatatuatau", NULL, {1, 0}, "9"},
        {"uatatuatau", NULL, {2, 0}, "5 6 7 8 9"},
        {"auau", NULL, {1, 0}, "3"},
        {"uuuu", NULL, {2, 0}, "2 3"},
        {"suauasuau", dates, {1, 0}, "0 5 8"},
        {"suauasuau", dates, {1, 1}, "0 5 6 7 8"},
        {"suauasuau", dates, {1, 2}, "0 1 2 5 6 7 8"},
        {"suauasuau", dates, {1, 3}, "0 1 2 5 6 7 8"}, /* not what it has nothing to do with */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversation c;
        struct minimised *minimised = NULL;
        char left[64];
        conversation_init(&c, cases[i].roles, cases[i].words);
        CHECK(minimised_new(&c.request, &cases[i].settings, &minimised, NULL) == TD_OK);
        read_left(&c, minimised, left);
        if (strcmp(left, cases[i].left) != 0)
            printf("%s, the last %u and %u: %s instead of %s\n", cases[i].roles,
                   cases[i].settings.turns, cases[i].settings.relevant, left, cases[i].left);
        CHECK(strcmp(left, cases[i].left) == 0);
        minimised_free(minimised);
        wire_members_deinit(&c.wire);
    }
}

/* One word a message, up to the question. */
struct relevance {
    const char *roles, *words[MESSAGES_MAX];
    struct minimise_settings settings;
    const char *left;
};

/* A word counts more, the fewer turns have it; short ones and those of half of four turns or more
 * say nothing, and of two alike the later turn stays. */
static void test_the_turns_that_share_rare_words_with_the_question_stay(void)
{
    static const struct relevance cases[] = {
        {"uau", {"the cat", "", "a cat?"}, {1, 1}, "2"},
        {"uau", {"the cats", "", "cats?"}, {1, 1}, "="},
        {"uauau", {"the cats", "", "", "", "cats?"}, {1, 0}, "4"},
        {"uauau", {"", "the cats", "", "", "cats?"}, {1, 1}, "0 1 4"},
        {"uauau", {"lion tiger", "", "wolf", "", "wolf tiger lion"}, {1, 1}, "0 1 4"},
        {"uauauau", {"zebra", "", "zebra", "", "", "", "zebra"}, {1, 1}, "2 3 6"},
        {"uauauau", {"zebra", "", "zebra", "", "", "", "zebra"}, {1, 2}, "0 1 2 3 6"},
        {"uauauau", {"lion", "", "bear", "", "bear", "", "bear lion"}, {1, 1}, "0 1 6"},
        {"uauauauau", {"zebra", "", "", "", "", "", "", "", "zebra"}, {1, 4}, "0 1 8"},
        {"uauauauau", {"zebra", "", "zebra", "", "", "", "", "", "zebra"}, {1, 4}, "8"},
        {"uauauauau", {"zebra", "", "", "", "", "", "", "zebra", "a"}, {1, 4}, "8"},
        {"uauauauau", {"zebra", "", "", "", "", "", "a", "", "zebra"}, {2, 4}, "0 1 6 7 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conversation c;
        struct minimised *minimised = NULL;
        char left[64];
        conversation_init(&c, cases[i].roles, cases[i].words);
        CHECK(minimised_new(&c.request, &cases[i].settings, &minimised, NULL) == TD_OK);
        read_left(&c, minimised, left);
        if (strcmp(left, cases[i].left) != 0)
            printf("case %zu: %s instead of %s\n", i, left, cases[i].left);
        CHECK(strcmp(left, cases[i].left) == 0);
        minimised_free(minimised);
        wire_members_deinit(&c.wire);
    }
}

/* What is sent as a list must be the list that is made smaller. */
static void test_a_completion_and_a_list_of_other_messages_stay_whole(void)
{
    static const struct minimise_settings settings = {1, 0};
    static const struct td_completion completion;
    for (int changed = 0; changed < 4; changed++) {
        struct conversation c;
        struct minimised *minimised = NULL;
        conversation_init(&c, "uauau", NULL);
        c.request.completion = changed == 1 ? &completion : NULL;
        c.request.message_count -= changed == 2;
        c.request.member_count = changed == 3 ? 0 : c.request.member_count;
        CHECK(minimised_new(&c.request, &settings, &minimised, NULL) == TD_OK);
        CHECK((minimised != NULL) == (changed == 0 || changed == 3));
        CHECK(minimised == NULL || minimised_request(minimised)->message_count == 1);
        minimised_free(minimised);
        wire_members_deinit(&c.wire);
    }
}

/* Turns beyond those that are told apart belong to the last one. */
static void test_of_very_long_conversations_the_end_is_one_turn(void)
{
    enum { TURNS_TOLD = 512, MOST = 600 };
    static struct td_message messages[MOST];
    static const struct minimise_settings settings = {1, 0};
    for (size_t i = 0; i < MOST; i++)
        messages[i] = (struct td_message){TD_ROLE_USER, STR("more")};
    for (size_t count = TURNS_TOLD - 1; count <= MOST; count += count < TURNS_TOLD + 1 ? 1 : 86) {
        struct minimised *minimised = NULL;
        const struct td_request request = {.messages = messages, .message_count = count};
        CHECK(minimised_new(&request, &settings, &minimised, NULL) == TD_OK);
        REQUIRE(minimised != NULL);
        size_t left = count > TURNS_TOLD ? count - TURNS_TOLD + 1 : 1;
        CHECK(minimised_request(minimised)->message_count == left);
        CHECK(minimised_request(minimised)->messages[left - 1].content.data ==
              messages[count - 1].content.data);
        CHECK(minimised_left_out(minimised).messages == count - left);
        minimised_free(minimised);
    }
}

int main(void)
{
    RUN(test_each_message_that_is_left_keeps_what_belongs_to_it);
    RUN(test_the_turns_that_share_rare_words_with_the_question_stay);
    RUN(test_a_completion_and_a_list_of_other_messages_stay_whole);
    RUN(test_of_very_long_conversations_the_end_is_one_turn);
    return test_finish();
}
