/* What of a chat request is read once, for router, privacy and tiers. */
#include "chat_parse.h"

#include <stdio.h>

static void test_what_the_client_does_not_name_is_left_to_the_model(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"temperature\":null,\"top_k\":4,\"repeat_penalty\":1.1,\"mirostat\":0"),
                  NULL, &arena, &request, &fault));
    CHECK(request.td.left_to_model ==
          (SETTINGS_ALL & ~(SETTING_TOP_K | SETTING_REPETITION_PENALTY | SETTING_MIROSTAT)));
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_sampling_in_other_servers_words_is_read_once(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"dry_multiplier\":1,\"dry_sequence_breakers\":[\"x\",\"yy\"],"
                       "\"dry_penalty_last_n\":50,\"ignore_eos\":true,\"min_tokens\":3"),
                  NULL, &arena, &request, &fault));
    CHECK(str_equal(request.td.dry_breakers, STR("x\0yy\0")));
    CHECK(request.td.dry_window == 50 && request.td.ignore_eos);
    CHECK(strcmp(request.td.foreign_sampling, "min_tokens") == 0);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(parse(WITH("\"dry_multiplier\":1,\"dry_penalty_last_n\":0"), NULL, &arena, &request,
                  &fault));
    CHECK(request.td.sampling.dry_multiplier == 0 && !request.td.foreign_sampling);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_tools_are_read_once(void)
{
    static const struct {
        const char *members;
        size_t tool_count;
        enum request_tool_choice choice;
        bool old_functions;
    } cases[] = {
        {"\"tools\":[{},{}]", 2, TOOL_CHOICE_FREE, false},
        {"\"tools\":[{}],\"tool_choice\":\"auto\"", 1, TOOL_CHOICE_FREE, false},
        {"\"tools\":[{}],\"tool_choice\":\"none\"", 1, TOOL_CHOICE_NONE, false},
        {"\"tools\":[{}],\"tool_choice\":\"required\"", 1, TOOL_CHOICE_FORCED, false},
        {"\"tools\":[{}],\"tool_choice\":{\"type\":\"function\"}", 1, TOOL_CHOICE_FORCED, false},
        {"\"functions\":[{}]", 0, TOOL_CHOICE_FREE, true},
        {"\"tools\":[]", 0, TOOL_CHOICE_FREE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        char body[256];
        snprintf(body, sizeof body, "{\"messages\":[" USER "],%s}", cases[i].members);
        REQUIRE(parse(body, NULL, &arena, &request, &fault));
        CHECK(request.td.tool_count == cases[i].tool_count &&
              request.td.tool_choice == cases[i].choice &&
              request.td.old_functions == cases[i].old_functions && !request.td.has_calls);
        openai_request_deinit(&request);
        arena_free(arena);
    }
}

static void test_calls_are_seen_in_the_messages(void)
{
    static const char *const bodies[] = {
        "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{}]}]}",
        "{\"messages\":[" USER ",{\"role\":\"tool\",\"content\":\"x\"}]}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        REQUIRE(parse(bodies[i], NULL, &arena, &request, &fault));
        CHECK(request.td.has_calls);
        openai_request_deinit(&request);
        arena_free(arena);
    }
}

/* All but our own options, in the client's order, with what they are to us. */
static void test_members_are_listed_for_servers_elsewhere(void)
{
    static const struct {
        const char *name;
        enum request_kind kind;
    } expected[] = {{"x", REQUEST_OTHER},           {"user", REQUEST_CALLER_NAME},
                    {"messages", REQUEST_MESSAGES}, {"prompt_cache_key", REQUEST_OTHER},
                    {"tools", REQUEST_TOOLS},       {"prompt", REQUEST_OTHER}};
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse("{\"x\":1,\"user\":\"u\",\"tandem\":{\"mode\":\"auto\"},\"messages\":[" USER "],"
                  "\"prompt_cache_key\":7,\"tools\":[],\"prompt\":\"p\"}",
                  NULL, &arena, &request, &fault));
    REQUIRE(request.td.member_count == sizeof expected / sizeof *expected);
    for (size_t i = 0; i < request.td.member_count; i++)
        CHECK(strcmp(request.td.members[i].name, expected[i].name) == 0 &&
              request.td.members[i].kind == expected[i].kind);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_a_content_in_parts_has_its_texts_beside_it(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse("{\"messages\":[" USER ",{\"role\":\"user\",\"content\":["
                  "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}]}",
                  NULL, &arena, &request, &fault));
    const struct request_parts *parts = request.td.parts;
    CHECK(parts[0].count == 0 && parts[1].count == 2);
    CHECK(str_equal(parts[1].texts[1], STR("b")));
    CHECK(str_equal(request.td.messages[1].content, STR("a\nb")));
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_a_consent_may_come_whole(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"tandem\":{\"consent\":{\"id\":\"c1\",\"scope\":\"*\",\"expires\":5}}"),
                  NULL, &arena, &request, &fault));
    CHECK(strcmp(request.td.consent, "c1") == 0 && strcmp(request.td.brought.scope, "*") == 0);
    CHECK(request.td.brought.expires_ms == 5000);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(parse(WITH("\"tandem\":{\"consent\":\"c2\"}"), NULL, &arena, &request, &fault));
    CHECK(strcmp(request.td.consent, "c2") == 0 && !request.td.brought.scope);
    openai_request_deinit(&request);
    arena_free(arena);
}

int main(void)
{
    RUN(test_what_the_client_does_not_name_is_left_to_the_model);
    RUN(test_sampling_in_other_servers_words_is_read_once);
    RUN(test_tools_are_read_once);
    RUN(test_calls_are_seen_in_the_messages);
    RUN(test_members_are_listed_for_servers_elsewhere);
    RUN(test_a_content_in_parts_has_its_texts_beside_it);
    RUN(test_a_consent_may_come_whole);
    return test_finish();
}
