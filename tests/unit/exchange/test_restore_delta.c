/* Restoring in the pieces of an answer: a surrogate is cut in two, and its value comes out where
 * the answer's reader expects it, with all else as the server sent it. */
#include "exchange/private/restore_delta.h"

#include "../privacy/masked.h"
#include "base/json/json.h"

#define VALUE "mary.smith@acme-corp.com"
#define BEFORE "Write to "

/* A piece has a visible text and a delta; '<' stands for the first half of the surrogate and '>'
 * for the rest. `shown` is what comes out, at the end too, with '@' for the value. */
struct scene {
    const char *pieces[4][2];
    const char *shown;
};

static const struct scene scenes[] = {
    {{{"a <", NULL}, {"> b", NULL}}, "a |- @ b|- end"},
    {{{"a <>", NULL}}, "a |- @|- end"},
    /* reasoning and unknown texts are streams of their own, and stay in their order */
    {{{"", "{\"reasoning_content\":\"r <\",\"x\":\"y <\",\"n\":[1]}"},
      {"", "{\"x\":\">\",\"reasoning_content\":\">\"}"}},
     "|{\"reasoning_content\":\"r \",\"x\":\"y \",\"n\":[1]} |{\"x\":\"\",\"reasoning_content\":"
     "\"\"} |{\"reasoning_content\":\"@\",\"x\":\"@\"} end"},
    {{{"", "{\"refusal\":\"no <>.\"}"}}, "|{\"refusal\":\"no @.\"} end"},
    /* a call ends the text, and a later call ends the one before */
    {{{"a <", NULL},
      {">", "{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"x\":1,\"function\":{\"name\":\"f\","
            "\"arguments\":\"{\\\"a\\\":\\\"<\",\"y\":2}}]}"},
      {"", "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\">\"}},{\"index\":1,"
           "\"function\":{\"name\":\"g\",\"arguments\":\"<>\"}}],\"k\":true}"}},
     "a |- @|{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"x\":1,\"function\":{\"name\":\"f\","
     "\"arguments\":\"{\\\"a\\\":\\\"\",\"y\":2}}]} "
     "|{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}},{\"index\":0,\"function\":{"
     "\"arguments\":\"@\"}},{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"\"}}],\"k\":"
     "true} |{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"@\"}}]} end"},
    /* at the end the calls come after the other texts */
    {{{"",
       "{\"tool_calls\":[{\"function\":{\"name\":\"f <>\",\"arguments\":\"<>\"}}],\"x\":\"<>\"}"}},
     "|{\"tool_calls\":[{\"function\":{\"name\":\"f @\",\"arguments\":\"\"}}],\"x\":\"\"} "
     "|{\"x\":\"@\",\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"@\"}}]} end"},
    /* OpenAI's form before 2023-11 */
    {{{"", "{\"function_call\":{\"name\":\"f\",\"arguments\":\"<\"}}"},
      {"", "{\"function_call\":{\"arguments\":\">\"}}"}},
     "|{\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}} |{\"function_call\":{\"arguments\":"
     "\"\"}} |{\"function_call\":{\"arguments\":\"@\"}} end"},
    /* what is no call in a known form is handed on */
    {{{"", "{\"tool_calls\":[],\"function_call\":3}"}, {"", "{\"tool_calls\":[{\"function\":7}]}"}},
     "|{\"tool_calls\":[],\"function_call\":3} |{\"tool_calls\":[{\"function\":7}]} end"},
};

static void append(struct buf *out, const char *text, struct td_str surrogate)
{
    size_t half = surrogate.len / 2;
    for (; *text; text++) {
        if (*text == '<')
            buf_append_str(out, str_slice(surrogate, 0, half));
        else if (*text == '>')
            buf_append_str(out, str_slice(surrogate, half, surrogate.len));
        else
            buf_append_char(out, *text);
    }
}

/* The text and what clients are shown of the delta, the value as '@'. */
static void show(const struct tier_piece *piece, struct buf *out)
{
    struct json *seen = json_new_object();
    struct buf all;
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    const struct json *delta = json_get(piece->raw_delta, "delta");
    buf_init(&all, 1 << 16);
    buf_append_str(&all, piece->text);
    buf_append_char(&all, '|');
    while (json_next(delta, &iterator, &name, &value))
        if (strcmp(name, "role") != 0 && strcmp(name, "content") != 0 && !json_absent(value))
            json_put(seen, name, json_clone(value));
    if (delta)
        json_write(seen, &all);
    else
        buf_append_char(&all, '-');
    struct td_str rest = buf_view(&all);
    for (size_t at; (at = str_find(rest, STR(VALUE), 0)) != SIZE_MAX;) {
        buf_append_str(out, str_slice(rest, 0, at));
        buf_append_char(out, '@');
        rest = str_slice(rest, at + strlen(VALUE), rest.len);
    }
    buf_append_str(out, rest);
    buf_append_char(out, ' ');
    json_free(seen);
    buf_deinit(&all);
}

static void play(struct restore_delta *restoring, const struct scene *scene,
                 struct td_str surrogate, struct buf *out)
{
    for (size_t i = 0; i < 4 && scene->pieces[i][0]; i++) {
        struct buf text, delta;
        struct json *raw = NULL;
        buf_init(&text, 1 << 12);
        buf_init(&delta, 1 << 12);
        append(&text, scene->pieces[i][0], surrogate);
        if (scene->pieces[i][1]) {
            buf_append_str(&delta, STR("{\"logprobs\":{},\"delta\":"));
            append(&delta, scene->pieces[i][1], surrogate);
            buf_append_char(&delta, '}');
            REQUIRE(json_parse(buf_view(&delta), &raw, NULL) == TD_OK);
        }
        const struct tier_piece piece = {.text = buf_view(&text), .raw_delta = raw};
        const struct tier_piece *restored = restore_delta_piece(restoring, &piece);
        CHECK(!raw || json_get(restored->raw_delta, "logprobs"));
        show(restored, out);
        json_free(raw);
        buf_deinit(&text);
        buf_deinit(&delta);
    }
    const struct tier_piece *rest = restore_delta_end(restoring);
    if (rest)
        show(rest, out);
    buf_append_str(out, STR("end"));
}

static void test_values_come_out_where_their_surrogates_stood(void)
{
    struct world world;
    REQUIRE(world_init(&world, BEFORE VALUE));
    struct td_str masked = buf_view(&world.masked);
    struct td_str surrogate = str_slice(masked, strlen(BEFORE), masked.len);
    struct restore_delta *restoring = restore_delta_new(world.table);
    REQUIRE(restoring);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        play(restoring, &scenes[i], surrogate, &out);
        if (!str_equal(buf_view(&out), str_from(scenes[i].shown)))
            fprintf(stderr, "scene %zu: " STR_FMT "\n", i, STR_ARG(buf_view(&out)));
        CHECK(str_equal(buf_view(&out), str_from(scenes[i].shown)));
        struct restore_counts counts = restore_delta_counts(restoring);
        CHECK(counts.seen == counts.restored);
        CHECK((counts.seen > 0) == (strchr(scenes[i].shown, '@') != NULL));
        restore_delta_reset(restoring);
        buf_deinit(&out);
    }
    restore_delta_free(restoring);
    world_deinit(&world);
}

int main(void)
{
    RUN(test_values_come_out_where_their_surrogates_stood);
    return test_finish();
}
