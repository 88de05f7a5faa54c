/* What of a chat request is read once, for router, privacy and tiers. */
#include "chat_parse.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Whether `members` are accepted, and else which one is at fault. */
static bool accepts(const char *members, const char *param)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    size_t size = strlen(members) + 256;
    char *body = malloc(size);
    if (!body)
        abort();
    snprintf(body, size, WITH("%s"), members);
    bool good = parse(body, NULL, &arena, &request, &fault);
    bool named = good || strcmp(fault.param, param) == 0;
    if (!named)
        fprintf(stderr, "  %.80s: '%s' %s\n", members, fault.param, fault.message);
    CHECK(named);
    openai_request_deinit(&request);
    arena_free(arena);
    free(body);
    return good;
}

static void test_biases_have_edges(void)
{
    static const struct {
        const char *biases;
        bool good;
    } cases[] = {
        {"null", true},
        {"{}", true},
        {"[]", true},
        {"7", false},
        {"{\"0\":100}", true},
        {"{\"2147483647\":-100}", true},
        {"{\"0\":100.01}", false},
        {"{\"0\":-100.01}", false},
        {"{\"2147483648\":1}", false},
        {"{\"-1\":1}", false},
        {"{\"x\":1}", false},
        {"{\"\":1}", false},
        {"{\"1\":\"1\"}", false},
        {"{\"1\":null}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char members[128];
        snprintf(members, sizeof members, "\"logit_bias\":%s", cases[i].biases);
        CHECK(accepts(members, "logit_bias") == cases[i].good);
        if (accepts(members, "logit_bias") != cases[i].good)
            fprintf(stderr, "  %s\n", members);
    }
    for (size_t count = TD_LOGIT_BIASES_MAX; count <= TD_LOGIT_BIASES_MAX + 1; count++) {
        struct buf many;
        buf_init(&many, 1 << 20);
        buf_append_str(&many, STR("\"logit_bias\":{"));
        for (size_t i = 0; i < count; i++)
            buf_printf(&many, "%s\"%zu\":1", i ? "," : "", i);
        buf_append_str(&many, STR("}"));
        buf_append_char(&many, '\0');
        CHECK(accepts(many.data, "logit_bias") == (count == TD_LOGIT_BIASES_MAX));
        buf_deinit(&many);
    }
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"logit_bias\":{\"7\":-1.5,\"9\":2}"), NULL, &arena, &request, &fault));
    CHECK(request.td.sampling.bias_count == 2 && request.td.sampling.biases[0].id == 7);
    CHECK(request.td.sampling.biases[0].bias == -1.5f && request.td.sampling.biases[1].id == 9);
    openai_request_deinit(&request);
    arena_free(arena);
}

/* At most 64 bytes each; all of them, with one more for each, at most 255. */
static void test_breakers_have_edges(void)
{
    static const struct {
        size_t lens[8];
        bool good;
    } cases[] = {{{1}, true},
                 {{64}, true},
                 {{65}, false},
                 {{0}, false},
                 {{64, 64, 64, 59}, true}, /* 255 with their ends */
                 {{64, 64, 64, 60}, false},
                 {{1, 1, 0}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf members;
        buf_init(&members, 4096);
        buf_append_str(&members, STR("\"dry_multiplier\":1,\"dry_sequence_breakers\":["));
        size_t count = i == 6 ? 3 : i >= 4 ? 4 : 1;
        for (size_t n = 0; n < count; n++) {
            buf_append_str(&members, n ? STR(",\"") : STR("\""));
            for (size_t c = 0; c < cases[i].lens[n]; c++)
                buf_append_char(&members, 'b');
            buf_append_char(&members, '"');
        }
        buf_append_str(&members, STR("]"));
        buf_append_char(&members, '\0');
        CHECK(accepts(members.data, "dry_sequence_breakers") == cases[i].good);
        buf_deinit(&members);
    }
    static const struct {
        const char *members, *param;
        bool good;
    } others[] = {
        {"\"dry_multiplier\":1,\"dry_sequence_breakers\":[]", "dry_sequence_breakers", false},
        {"\"dry_multiplier\":1,\"dry_sequence_breakers\":\"x\"", "dry_sequence_breakers", false},
        {"\"dry_multiplier\":1,\"dry_penalty_last_n\":-1", "", true},
        {"\"dry_multiplier\":1,\"dry_penalty_last_n\":-2", "dry_penalty_last_n", false},
        {"\"dry_multiplier\":1,\"dry_penalty_last_n\":4294967295", "", true},
        {"\"dry_multiplier\":1,\"dry_penalty_last_n\":4294967296", "dry_penalty_last_n", false},
        {"\"dry_multiplier\":1,\"dry_penalty_last_n\":\"1\"", "dry_penalty_last_n", false},
        {"\"ignore_eos\":1", "ignore_eos", false},
        {"\"ignore_eos\":null", "", true},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(accepts(others[i].members, others[i].param) == others[i].good);
}

static void test_a_seed_of_minus_one_is_none(void)
{
    static const struct {
        const char *members;
        bool set;
        uint64_t seed;
    } cases[] = {{"\"seed\":-1", false, 0},
                 {"\"seed\":null", false, 0},
                 {"\"seed\":0", true, 0},
                 {"\"seed\":-2", true, UINT64_MAX - 1},
                 {"\"seed\":9223372036854775807", true, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        char body[128];
        snprintf(body, sizeof body, WITH("%s"), cases[i].members);
        REQUIRE(parse(body, NULL, &arena, &request, &fault));
        CHECK(request.td.sampling.seed_set == cases[i].set);
        CHECK(!cases[i].set || request.td.sampling.seed == cases[i].seed);
        openai_request_deinit(&request);
        arena_free(arena);
    }
    CHECK(!accepts("\"seed\":1.5", "seed") && !accepts("\"seed\":\"1\"", "seed"));
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

static void test_a_choice_of_tools_is_read(void)
{
#define TOOL "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"
    static const struct {
        const char *members, *named;
        bool one, foreign, refused;
    } cases[] = {
        {TOOL ",\"tool_choice\":\"required\",\"parallel_tool_calls\":false", "", true, false,
         false},
        {TOOL ",\"parallel_tool_calls\":true", "", false, false, false},
        {TOOL ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}", "f", false,
         false, false},
        {TOOL ",\"tool_choice\":{\"type\":\"newer\"}", "", false, true, false},
        {TOOL ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}", "", false,
         false, true},
        {"\"tool_choice\":\"required\"", "", false, false, true},
        {"\"tools\":[],\"tool_choice\":\"required\"", "", false, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        char body[256];
        snprintf(body, sizeof body, "{\"messages\":[" USER "],%s}", cases[i].members);
        bool read = parse(body, NULL, &arena, &request, &fault);
        CHECK(read == !cases[i].refused);
        if (read)
            CHECK(str_equal(request.td.tool_named, str_from(cases[i].named)) &&
                  request.td.one_call == cases[i].one &&
                  request.td.foreign_tools == cases[i].foreign);
        else
            CHECK(fault.code == 400 && strcmp(fault.param, "tool_choice") == 0);
        if (read)
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
                    {"messages", REQUEST_MESSAGES}, {"prompt_cache_key", REQUEST_CALLER_NAME},
                    {"tools", REQUEST_TOOLS},       {"prompt", REQUEST_OTHER}};
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse("{\"x\":1,\"user\":\"u\",\"tandem\":{\"mode\":\"auto\"},\"messages\":[" USER "],"
                  "\"prompt_cache_key\":\"7\",\"tools\":[],\"prompt\":\"p\"}",
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
    RUN(test_biases_have_edges);
    RUN(test_breakers_have_edges);
    RUN(test_a_seed_of_minus_one_is_none);
    RUN(test_tools_are_read_once);
    RUN(test_a_choice_of_tools_is_read);
    RUN(test_calls_are_seen_in_the_messages);
    RUN(test_members_are_listed_for_servers_elsewhere);
    RUN(test_a_content_in_parts_has_its_texts_beside_it);
    RUN(test_a_consent_may_come_whole);
    return test_finish();
}
