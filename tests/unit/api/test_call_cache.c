/* Which requests share a compiled grammar, and how much is kept. */
#include "api/inference/call_cache.h"

#include "base/core/str.h"
#include "engine/grammar/grammar.h"
#include "test.h"
#include "wire_members.h"

static struct td_grammar *new_grammar(void)
{
    struct td_grammar *grammar = NULL;
    CHECK(td_grammar_parse(STR("root ::= \"x\""), &grammar, NULL) == TD_OK);
    return grammar;
}

/* The tools of `body`, as `caller` brings them. */
static bool is_kept(struct call_cache *cache, const char *body, struct td_request request)
{
    struct wire_members wire;
    wire_members_init(&wire, body, &request);
    struct td_grammar *found = call_cache_find(cache, &request);
    td_grammar_free(found);
    wire_members_deinit(&wire);
    return found != NULL;
}

static void keep(struct call_cache *cache, const char *body, struct td_request request)
{
    struct wire_members wire;
    struct td_grammar *grammar = new_grammar();
    wire_members_init(&wire, body, &request);
    call_cache_put(cache, &request, grammar);
    call_cache_put(cache, &request, grammar); /* once more changes nothing */
    td_grammar_free(grammar);
    wire_members_deinit(&wire);
}

static void test_the_same_offer_of_the_same_caller_is_kept(void)
{
    const char *body = "{\"tools\":[{\"function\":{\"name\":\"f\"}}]}";
    const struct td_request plain = {.caller = "a", .tool_count = 1};
    struct call_cache *cache = call_cache_new();
    REQUIRE(cache != NULL);
    CHECK(!is_kept(cache, body, plain));
    keep(cache, body, plain);
    CHECK(is_kept(cache, body, plain) && !is_kept(NULL, body, plain));
    struct td_request other = plain;
    other.caller = "b";
    CHECK(!is_kept(cache, body, other));
    other = plain;
    other.tool_choice = TOOL_CHOICE_FORCED;
    CHECK(!is_kept(cache, body, other));
    other.tool_named = STR("f");
    CHECK(!is_kept(cache, body, other));
    other = plain;
    other.one_call = true;
    CHECK(!is_kept(cache, body, other));
    other = plain;
    other.format = TD_FORMAT_JSON;
    CHECK(!is_kept(cache, body, other));
    CHECK(!is_kept(cache, "{\"tools\":[{\"function\":{\"name\":\"g\"}}]}", plain));
    call_cache_free(cache);
}

static void test_the_least_recently_used_goes_first(void)
{
    const struct td_request plain = {.tool_count = 1};
    struct call_cache *cache = call_cache_new();
    char body[40];
    REQUIRE(cache != NULL);
    for (int i = 0; i < 40; i++) {
        snprintf(body, sizeof body, "{\"tools\":[%d]}", i);
        keep(cache, body, plain);
        CHECK(is_kept(cache, "{\"tools\":[0]}", plain)); /* used each time */
    }
    CHECK(!is_kept(cache, "{\"tools\":[1]}", plain) && is_kept(cache, "{\"tools\":[39]}", plain));
    call_cache_free(cache);
}

int main(void)
{
    RUN(test_the_same_offer_of_the_same_caller_is_kept);
    RUN(test_the_least_recently_used_goes_first);
    return test_finish();
}
