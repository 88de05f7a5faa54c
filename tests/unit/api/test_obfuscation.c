/* Events of one length: sizes, contents, and what is no object. */
#include "test.h"

#include "api/http/obfuscation.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "net/client/sse.h"

#include <stdlib.h>
#include <string.h>

static struct rng rng;

static struct buf padded(struct td_str events, size_t multiple)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    obfuscation_write(events, false, multiple, &rng, &out);
    CHECK(!out.failed);
    return out;
}

/* An event whose text is `len` characters. */
static struct buf event_of(size_t len, const char *name)
{
    struct buf event;
    buf_init(&event, 1 << 20);
    sse_begin(&event, name);
    buf_append_str(&event, STR("{\"text\":\""));
    for (size_t i = 0; i < len; i++)
        buf_append_char(&event, i % 7 ? 'x' : '}');
    buf_append_str(&event, STR("\"}"));
    sse_end(&event);
    return event;
}

static void test_every_length_becomes_a_multiple_and_stays_what_it_said(void)
{
    static const size_t multiples[] = {1, 2, 63, 256, 1000};
    for (size_t m = 0; m < sizeof multiples / sizeof *multiples; m++)
        for (size_t len = 0; len < 600; len++) {
            struct buf event = event_of(len, len % 2 ? "delta" : NULL);
            struct buf out = padded(buf_view(&event), multiples[m]);
            size_t prefix = len % 2 ? strlen("event: delta\ndata: ") : strlen("data: ");
            struct json *value = NULL;
            CHECK(out.len % multiples[m] == 0);
            CHECK(out.len < event.len + strlen(",\"obfuscation\":\"\"") + multiples[m]);
            CHECK(str_find(buf_view(&out), STR("\n\n"), 0) == out.len - 2);
            CHECK(json_parse(str_slice(buf_view(&out), prefix, out.len), &value, NULL) == TD_OK);
            CHECK(json_text(json_get(value, "text")).len == len);
            CHECK(json_kind_of(json_get(value, "obfuscation")) == JSON_KIND_TEXT);
            json_free(value);
            buf_deinit(&event);
            buf_deinit(&out);
        }
}

static void test_several_events_at_once_are_padded_each(void)
{
    struct buf events = event_of(3, "a"), second = event_of(300, "b");
    size_t count = 0, start = 0, end;
    buf_append_str(&events, buf_view(&second));
    struct buf out = padded(buf_view(&events), 256);
    for (; (end = str_find(buf_view(&out), STR("\n\n"), start)) != SIZE_MAX; start = end + 2)
        CHECK((end + 2 - start) == (count++ ? 512 : 256));
    CHECK(count == 2 && start == out.len);
    buf_deinit(&events);
    buf_deinit(&second);
    buf_deinit(&out);
}

static void test_lines_of_json_are_padded_each(void)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    obfuscation_write(STR("{\"a\":1}\n{\"a\":\"some more\"}\n"), true, 64, &rng, &out);
    CHECK(out.len == 128 && str_find(buf_view(&out), STR("\n"), 0) == 63);
    struct json *value = NULL;
    CHECK(json_parse(str_slice(buf_view(&out), 64, 128), &value, NULL) == TD_OK);
    CHECK(str_equal(json_text(json_get(value, "a")), STR("some more")));
    json_free(value);
    buf_deinit(&out);
}

static void test_what_is_no_object_stays_as_it_is(void)
{
    static const char *const texts[] = {"", ": keep-alive\n\n", "data: [DONE]\n\n", "\n\n",
                                        "data: {\"a\":1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf out = padded(str_from(texts[i]), 256);
        CHECK(str_equal(buf_view(&out), str_from(texts[i])));
        buf_deinit(&out);
    }
}

static void test_an_object_behind_something_else_is_padded_alone(void)
{
    struct buf out = padded(STR("data: [DONE]\n\ndata: {\"a\":1}\n\n"), 64);
    CHECK(out.len == strlen("data: [DONE]\n\n") + 64);
    buf_deinit(&out);
}

static void test_the_characters_are_others_each_time(void)
{
    struct buf event = event_of(5, NULL);
    struct buf one = padded(buf_view(&event), 256), two = padded(buf_view(&event), 256);
    CHECK(one.len == two.len && memcmp(one.data, two.data, one.len) != 0);
    buf_deinit(&event);
    buf_deinit(&one);
    buf_deinit(&two);
}

int main(void)
{
    rng_init(&rng, 7);
    RUN(test_every_length_becomes_a_multiple_and_stays_what_it_said);
    RUN(test_several_events_at_once_are_padded_each);
    RUN(test_lines_of_json_are_padded_each);
    RUN(test_what_is_no_object_stays_as_it_is);
    RUN(test_an_object_behind_something_else_is_padded_alone);
    RUN(test_the_characters_are_others_each_time);
    return test_finish();
}
