/* What a server says beside an answer is told once, bounded, without what is written here. */
#include "test.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "tier/openai/openai_beside.h"

#include <stdio.h>

typedef void note_fn(struct openai_beside *beside, const struct json *object);

static void note(note_fn *by, struct openai_beside *beside, const char *text)
{
    struct json *object = NULL;
    CHECK(json_parse(str_from(text), &object, NULL) == TD_OK);
    by(beside, object);
    json_free(object);
}

static bool tells(struct openai_beside *beside, const char *wanted)
{
    struct json *told = openai_beside_take(beside);
    struct buf got;
    buf_init(&got, 1 << 20);
    if (told)
        json_write(told, &got);
    bool same = str_equal(buf_view(&got), str_from(wanted));
    if (!same)
        fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data ? got.data : "", wanted);
    buf_deinit(&got);
    json_free(told);
    return same;
}

static void test_the_last_value_is_told_once(void)
{
    struct openai_beside beside = {0};
    note(openai_beside_note_chunk, &beside, "{\"id\":\"x\",\"service_tier\":null,\"tandem\":{}}");
    CHECK(tells(&beside, ""));
    note(openai_beside_note_chunk, &beside, "{\"provider\":\"a\",\"model\":\"m\"}");
    note(openai_beside_note_chunk, &beside, "{\"provider\":\"b\",\"provider2\":null}");
    note(openai_beside_note_choice, &beside, "{\"index\":0,\"delta\":{},\"native\":\"stop\"}");
    CHECK(tells(&beside, "{\"beside\":{\"chunk\":{\"provider\":\"b\"},\"choice\":{\"native\":"
                         "\"stop\"}}}"));
    CHECK(tells(&beside, ""));
    openai_beside_deinit(&beside);
}

static void test_a_usage_is_told_where_it_has_details(void)
{
    struct openai_beside beside = {0};
    note(openai_beside_note_usage, &beside, "{\"prompt_tokens\":1,\"completion_tokens\":2}");
    CHECK(tells(&beside, ""));
    note(openai_beside_note_usage, &beside, "{\"prompt_tokens\":1,\"cost\":0.5}");
    CHECK(tells(&beside, "{\"beside\":{\"usage\":{\"prompt_tokens\":1,\"cost\":0.5}}}"));
    note(openai_beside_note_usage, &beside, "{\"cost\":0.5}");
    note(openai_beside_note_usage, &beside, "{\"total_tokens\":9}"); /* of another count */
    CHECK(tells(&beside, ""));
    openai_beside_deinit(&beside);
}

static void test_what_is_too_much_is_not_told(void)
{
    struct openai_beside beside = {0};
    struct json *object = json_new_object();
    for (size_t i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%zu", i);
        json_put(object, name, json_new_int(1));
    }
    openai_beside_note_chunk(&beside, object);
    json_free(object);
    CHECK(json_count(beside.chunk) == 64);
    openai_beside_deinit(&beside);

    struct buf text;
    buf_init(&text, 4 << 20);
    for (size_t i = 0; i < (2u << 20); i++)
        buf_append_char(&text, 'x');
    object = json_new_object();
    json_put(object, "large", json_new_text(buf_view(&text)));
    json_put(object, "small", json_new_int(1));
    openai_beside_note_choice(&beside, object);
    CHECK(tells(&beside, "{\"beside\":{\"choice\":{\"small\":1}}}"));
    openai_beside_note_usage(&beside, object);
    CHECK(tells(&beside, ""));
    json_free(object);
    buf_deinit(&text);
    openai_beside_deinit(&beside);
}

int main(void)
{
    RUN(test_the_last_value_is_told_once);
    RUN(test_a_usage_is_told_where_it_has_details);
    RUN(test_what_is_too_much_is_not_told);
    return test_finish();
}
