/* Paths of the table of endpoints. */
#include "api/http/endpoint.h"
#include "base/core/str.h"
#include "test.h"

static bool matches(const char *pattern, const char *path, const char *wanted)
{
    const char *rest;
    return endpoint_matches(pattern, path, &rest) && strcmp(rest, wanted) == 0;
}

static bool fails(const char *pattern, const char *path)
{
    const char *rest;
    return !endpoint_matches(pattern, path, &rest);
}

static void test_a_star_matches_a_part_a_rest_or_what_stands_before_a_colon(void)
{
    CHECK(matches("/v1/models", "/v1/models", "") && fails("/v1/models", "/v1/models/"));
    CHECK(matches("/v1/models/*", "/v1/models/a/b", "a/b") && fails("/v1/models/*", "/v1/models/"));
    CHECK(matches("/d/*/chat", "/d/x/chat", "x/chat"));
    CHECK(fails("/d/*/chat", "/d//chat") && fails("/d/*/chat", "/d/x/y/chat"));
    CHECK(fails("/d/*/chat", "/d/x/chats") && fails("/d/*/chat", "/d/x"));
    CHECK(matches("/c/*/items/*", "/c/a/items/b", "a/items/b"));
    CHECK(fails("/c/*/items/*", "/c/a/items/") && fails("/c/*/items", "/c/a/items/items"));
    CHECK(matches("/m/*:count", "/m/a:count", "a:count"));
    CHECK(matches("/m/*:count", "/m/hf/a:latest:count", "hf/a:latest:count"));
    CHECK(fails("/m/*:count", "/m/:count") && fails("/m/*:count", "/m/a:counts"));
    CHECK(fails("/m/*:count", "/m/a"));
}

static void test_a_rest_is_taken_apart(void)
{
    CHECK(str_equal(endpoint_part("x/chat"), STR("x")) && endpoint_part("").len == 0);
    CHECK(str_equal(endpoint_subject("hf/a:latest:count"), STR("hf/a:latest")));
    CHECK(str_equal(endpoint_subject("a"), STR("a")));
}

static void test_what_is_below_a_path(void)
{
    CHECK(endpoint_is_below("/v1/messages", "/v1/messages/x"));
    CHECK(endpoint_is_below("/v1beta/models/*", "/v1beta/models/a:x"));
    CHECK(!endpoint_is_below("/v1/models/*:count", "/v1/models/a"));
    CHECK(endpoint_is_below("/v1/models/*:count", "/v1/models/a:count"));
}

int main(void)
{
    RUN(test_a_star_matches_a_part_a_rest_or_what_stands_before_a_colon);
    RUN(test_a_rest_is_taken_apart);
    RUN(test_what_is_below_a_path);
    return test_finish();
}
