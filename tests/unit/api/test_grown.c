/* Objects that grow by deltas say what one message would have said. */
#include "test.h"

#include "api/wire/grown.h"
#include "base/core/str.h"

#include <stdio.h>

/* Adds the members of each object. */
static void add(struct grown *grown, const char *text)
{
    struct json *object = NULL;
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    CHECK(json_parse(str_from(text), &object, NULL) == TD_OK);
    while (json_next(object, &iterator, &name, &value))
        grown_add(grown, name, value);
    json_free(object);
}

static bool says(const struct grown *grown, const char *const *except, const char *wanted)
{
    struct buf got;
    buf_init(&got, 1 << 20);
    grown_write(grown, except, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data ? got.data : "", wanted);
    buf_deinit(&got);
    return same;
}

static void test_deltas_say_what_one_message_says(void)
{
    static const struct {
        const char *deltas[4], *wanted;
    } cases[] = {
        {{"{\"a\":\"x\"}", "{\"a\":\"y\"}"}, ",\"a\":\"xy\""},
        {{"{\"a\":null}", "{\"b\":\"\"}"}, ",\"b\":\"\""},
        {{"{\"a\":\"x\"}", "{\"a\":null}"}, ",\"a\":\"x\""},
        {{"{\"a\":1}", "{\"a\":2}"}, ",\"a\":2"},
        {{"{\"a\":true}", "{\"a\":1.5}"}, ",\"a\":1.5"},
        {{"{\"a\":\"x\"}", "{\"a\":[1]}"}, ",\"a\":[1]"},
        {{"{\"o\":{\"id\":\"1\",\"text\":\"x\"}}", "{\"o\":{\"id\":\"2\",\"text\":\"y\"}}"},
         ",\"o\":{\"id\":\"2\",\"text\":\"xy\"}"},
        {{"{\"l\":[{\"index\":0,\"text\":\"x\"}]}", "{\"l\":[{\"index\":1,\"text\":\"z\"}]}",
          "{\"l\":[{\"index\":0,\"text\":\"y\"}]}"},
         ",\"l\":[{\"index\":0,\"text\":\"xy\"},{\"index\":1,\"text\":\"z\"}]"},
        {{"{\"l\":[1]}", "{\"l\":[1,\"a\"]}"}, ",\"l\":[1,1,\"a\"]"},
        {{"{\"l\":[]}"}, ",\"l\":[]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grown *grown = grown_new(10000);
        REQUIRE(grown);
        for (size_t d = 0; d < 4 && cases[i].deltas[d]; d++)
            add(grown, cases[i].deltas[d]);
        CHECK(says(grown, NULL, cases[i].wanted));
        CHECK(!grown_failed(grown));
        grown_free(grown);
    }
}

static void test_members_can_be_left_out_and_looked_up(void)
{
    static const char *const except[] = {"b", "x", NULL};
    struct grown *grown = grown_new(10000);
    REQUIRE(grown);
    add(grown, "{\"a\":1,\"b\":{\"text\":\"\\\"\\u0001\"},\"c\":3}");
    CHECK(says(grown, except, ",\"a\":1,\"c\":3"));
    struct json *value = grown_value(grown, "b");
    CHECK(str_equal(json_text(json_get(value, "text")), STR("\"\x01")));
    json_free(value);
    CHECK(!grown_value(grown, "d") && !grown_value(NULL, "a"));
    CHECK(says(NULL, NULL, "") && !grown_failed(NULL));
    grown_free(grown);
    grown_free(NULL);
}

static void test_what_does_not_fit_fails_and_stays_failed(void)
{
    struct grown *grown = grown_new(1000);
    REQUIRE(grown);
    add(grown, "{\"a\":\"x\"}");
    for (size_t i = 0; i < 1000; i++)
        add(grown, "{\"a\":\"xx\"}");
    CHECK(grown_failed(grown));
    grown_free(grown);
    grown = grown_new(100000000);
    REQUIRE(grown);
    for (size_t i = 0; i < 10000 && !grown_failed(grown); i++) {
        char text[32];
        snprintf(text, sizeof text, "{\"m%zu\":1}", i);
        add(grown, text);
    }
    CHECK(grown_failed(grown)); /* ten thousand members are no message */
    grown_free(grown);
}

int main(void)
{
    RUN(test_deltas_say_what_one_message_says);
    RUN(test_members_can_be_left_out_and_looked_up);
    RUN(test_what_does_not_fit_fails_and_stays_failed);
    return test_finish();
}
