/* Whole answers and stream chunks are valid JSON in OpenAI's shape, whatever the pieces hold. */
#include "test.h"

#include "api/wire/openai_response.h"
#include "api/wire/tool_calls.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>

static const struct reason reasons[] = {
    {REASON_CHOSEN_START, "local", "the nearest tier \"local\" was chosen"},
    {REASON_LEFT_LOW_CONFIDENCE, "local", "confidence 0.20 is below 0.35"},
};

static const struct exchange_summary summary = {
    .id = "ex_0123456789abcdef01234567",
    .tier = "cloud",
    .model = "big\"model",
    .place = TD_PLACE_CLOUD,
    .confidence = 0.25,
    .data_class = TD_CLASS_SENSITIVE,
    .route = "auto",
    .degraded = true,
    .disclosure = "less than asked for",
    .finish = TD_FINISH_LENGTH,
    .usage = {.prompt_tokens = 4000000000u, .completion_tokens = 4000000000u, .cached_tokens = 3},
    .cost_usd = 0.000123456789,
    .all_cloud_cost_usd = 0.5,
    .reasons = reasons,
    .reason_count = 2,
};

static struct response_writer writer_new(bool logprobs)
{
    struct td_request request = {.logprobs = logprobs, .mode = TD_MODE_PREFER_CLOUD};
    struct response_writer writer;
    response_writer_init(&writer, summary.id, 1700000000, &request);
    return writer;
}

/* Parses what was written, failing the test when it is not JSON. */
static struct json *parsed(const struct buf *text)
{
    struct json *value = NULL;
    struct td_error err = {0};
    if (text->failed || json_parse(buf_view(text), &value, &err) != TD_OK)
        fprintf(stderr, "not JSON: %s: " STR_FMT "\n", err.message, STR_ARG(buf_view(text)));
    CHECK(value != NULL);
    return value;
}

static bool text_is(const struct json *object, const char *name, const char *wanted)
{
    const char *text = json_cstr(json_get(object, name));
    return text && strcmp(text, wanted) == 0;
}

static void test_tandem_object_says_where_and_why(void)
{
    struct response_writer writer = writer_new(false);
    struct buf out;
    buf_init(&out, 65536);
    response_write_tandem(&writer, &summary, &out);
    struct json *tandem = parsed(&out);
    CHECK(text_is(tandem, "exchange", summary.id));
    CHECK(text_is(tandem, "tier", "cloud") && text_is(tandem, "place", "cloud"));
    CHECK(text_is(tandem, "model", "big\"model"));
    CHECK(text_is(tandem, "data_class", "sensitive") && text_is(tandem, "route", "auto"));
    CHECK(text_is(tandem, "mode", "prefer-cloud"));
    CHECK(text_is(tandem, "disclosure", "less than asked for"));
    CHECK(json_bool(json_get(tandem, "degraded"), false));
    CHECK(json_number(json_get(tandem, "confidence"), 0) == 0.25);
    CHECK(fabs(json_number(json_get(tandem, "cost_usd"), 0) - 0.000123456789) < 1e-15);
    CHECK(json_count(json_get(tandem, "reasons")) == 2);
    CHECK(text_is(json_at(json_get(tandem, "reasons"), 1), "tier", "local"));
    json_free(tandem);
    buf_deinit(&out);
}

static void test_an_empty_ladder_has_nulls_not_garbage(void)
{
    struct exchange_summary none = {.id = "ex_1", .confidence = NAN};
    struct response_writer writer = writer_new(false);
    struct buf out;
    buf_init(&out, 65536);
    response_write_tandem(&writer, &none, &out);
    struct json *tandem = parsed(&out);
    CHECK(json_kind_of(json_get(tandem, "tier")) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_get(tandem, "place")) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_get(tandem, "confidence")) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_get(tandem, "disclosure")) == JSON_KIND_NULL);
    json_free(tandem);
    buf_deinit(&out);
}

static void test_chunks_before_the_last_have_a_null_usage_when_it_is_asked_for(void)
{
    struct tier_piece piece = {.text = STR("a")};
    for (int asked = 0; asked < 2; asked++) {
        struct response_writer writer = writer_new(false);
        writer.include_usage = asked;
        for (int kind = 0; kind < 5; kind++) {
            struct buf out;
            buf_init(&out, 65536);
            if (kind == 0)
                response_chunk_role(&writer, &summary, &out);
            else if (kind == 1)
                CHECK(response_chunk_content(&writer, &summary, &piece, &out));
            else if (kind == 2)
                response_chunk_correction(&writer, &summary, &out);
            else if (kind == 3)
                response_chunk_finish(&writer, &summary, &(struct response_answer){0}, &out);
            else
                response_chunk_usage(&writer, &summary, &(struct response_answer){0}, &out);
            struct json *chunk = parsed(&out);
            const struct json *usage = json_get(chunk, "usage");
            CHECK((usage != NULL) == (asked || kind == 4));
            CHECK(!usage || (json_kind_of(usage) == JSON_KIND_NULL) == (kind < 4));
            json_free(chunk);
            buf_deinit(&out);
        }
    }
}

static void test_a_whole_answer_has_openais_shape(void)
{
    struct response_writer writer = writer_new(true);
    struct response_answer answer;
    response_answer_init(&answer, 65536);
    struct tier_piece pieces[] = {
        {.text = STR("a\"\n"),
         .has_stats = true,
         .stats.logprob = -0.5f,
         .token_text = STR("a\"\n")},
        {.text = STR(""), .has_stats = true, .stats.logprob = -1.0f, .token_text = STR("\xc3")},
        {.text = STR("\xc3\xa9"),
         .has_stats = true,
         .stats.logprob = -INFINITY,
         .token_text = STR("\xa9")},
        {.text = STR(""), .has_stats = true, .stats.logprob = -0.1f, .token_text = STR("")},
    };
    for (size_t i = 0; i < 4; i++)
        response_answer_add(&writer, &answer, &pieces[i]);
    struct buf out;
    buf_init(&out, 65536);
    CHECK(response_write_completion(&writer, &summary, &answer, &out));
    struct json *body = parsed(&out);
    CHECK(text_is(body, "object", "chat.completion"));
    CHECK(text_is(body, "id", "chatcmpl-0123456789abcdef01234567"));
    CHECK(text_is(body, "model", "big\"model"));
    CHECK(json_int(json_get(body, "created"), 0) == 1700000000);
    const struct json *choice = json_at(json_get(body, "choices"), 0);
    CHECK(text_is(json_get(choice, "message"), "content", "a\"\n\xc3\xa9"));
    CHECK(text_is(json_get(choice, "message"), "role", "assistant"));
    CHECK(text_is(choice, "finish_reason", "length"));
    const struct json *entries = json_get(json_get(choice, "logprobs"), "content");
    CHECK(json_count(entries) == 3); /* the end token has no text */
    CHECK(json_int(json_at(json_get(json_at(entries, 1), "bytes"), 0), 0) == 0xc3);
    CHECK(json_number(json_get(json_at(entries, 2), "logprob"), 0) == -9999);
    CHECK(json_int(json_get(json_get(body, "usage"), "total_tokens"), 0) == 8000000000);
    CHECK(text_is(json_get(body, "tandem"), "tier", "cloud"));
    json_free(body);
    buf_deinit(&out);
    response_answer_deinit(&answer);
}

static void test_an_answer_over_its_limit_is_an_error_not_a_cut(void)
{
    struct response_writer writer = writer_new(false);
    struct response_answer answer;
    response_answer_init(&answer, 8);
    struct tier_piece piece = {.text = STR("0123456789")};
    response_answer_add(&writer, &answer, &piece);
    struct buf out;
    buf_init(&out, 65536);
    CHECK(!response_write_completion(&writer, &summary, &answer, &out));
    buf_deinit(&out);
    response_answer_deinit(&answer);
}

static void test_a_correction_forgets_what_was_collected(void)
{
    struct response_writer writer = writer_new(false);
    struct response_answer answer;
    response_answer_init(&answer, 64);
    struct tier_piece wrong = {.text = STR("wrong")}, right = {.text = STR("right")};
    response_answer_add(&writer, &answer, &wrong);
    response_answer_clear(&answer);
    response_answer_add(&writer, &answer, &right);
    CHECK(str_equal(buf_view(&answer.content), STR("right")));
    response_answer_deinit(&answer);
}

static void test_stream_chunks_have_openais_shape(void)
{
    struct response_writer writer = writer_new(false);
    struct tier_piece piece = {.text = STR("hi \"you\"")};
    struct buf out;
    buf_init(&out, 65536);
    response_chunk_role(&writer, &summary, &out);
    struct json *chunk = parsed(&out);
    const struct json *choice = json_at(json_get(chunk, "choices"), 0);
    CHECK(text_is(chunk, "object", "chat.completion.chunk"));
    CHECK(text_is(json_get(choice, "delta"), "role", "assistant"));
    CHECK(json_kind_of(json_get(choice, "finish_reason")) == JSON_KIND_NULL);
    CHECK(json_get(chunk, "tandem"));
    json_free(chunk);

    buf_clear(&out);
    CHECK(response_chunk_content(&writer, &summary, &piece, &out));
    chunk = parsed(&out);
    choice = json_at(json_get(chunk, "choices"), 0);
    CHECK(text_is(json_get(choice, "delta"), "content", "hi \"you\""));
    CHECK(!json_get(chunk, "tandem"));
    json_free(chunk);

    buf_clear(&out);
    response_chunk_finish(&writer, &summary, &(struct response_answer){0}, &out);
    chunk = parsed(&out);
    choice = json_at(json_get(chunk, "choices"), 0);
    CHECK(text_is(choice, "finish_reason", "length"));
    CHECK(json_count(json_get(choice, "delta")) == 0);
    CHECK(json_get(chunk, "tandem"));
    json_free(chunk);

    buf_clear(&out);
    response_chunk_usage(&writer, &summary, &(struct response_answer){0}, &out);
    chunk = parsed(&out);
    CHECK(json_kind_of(json_get(chunk, "choices")) == JSON_KIND_ARRAY);
    CHECK(json_count(json_get(chunk, "choices")) == 0);
    CHECK(json_get(json_get(chunk, "usage"), "prompt_tokens"));
    json_free(chunk);

    buf_clear(&out);
    response_chunk_correction(&writer, &summary, &out);
    chunk = parsed(&out);
    CHECK(json_count(json_get(chunk, "choices")) == 0);
    CHECK(text_is(json_get(json_get(chunk, "tandem"), "correction"), "tier", "cloud"));
    json_free(chunk);
    buf_deinit(&out);
}

static void test_a_piece_with_nothing_to_show_makes_no_chunk(void)
{
    struct response_writer writer = writer_new(false);
    struct tier_piece piece = {.text = STR(""), .has_stats = true, .token_text = STR("x")};
    struct buf out;
    buf_init(&out, 65536);
    buf_append_str(&out, STR("before"));
    CHECK(!response_chunk_content(&writer, &summary, &piece, &out));
    CHECK(str_equal(buf_view(&out), STR("before")));
    writer.logprobs = true; /* now its log-probability is shown */
    buf_clear(&out);
    CHECK(response_chunk_content(&writer, &summary, &piece, &out));
    struct json *chunk = parsed(&out);
    const struct json *choice = json_at(json_get(chunk, "choices"), 0);
    CHECK(json_count(json_get(json_get(choice, "logprobs"), "content")) == 1);
    json_free(chunk);
    buf_deinit(&out);
}

static void test_tool_calls_pass_through_streams_and_are_put_together_otherwise(void)
{
    static const char *const deltas[] = {
        "{\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,"
        "\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\"}"
        "}]}}",
        "{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\":1}\"}},"
        "{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}",
    };
    struct response_writer writer = writer_new(false);
    struct response_answer answer;
    response_answer_init(&answer, 65536);
    struct buf out;
    buf_init(&out, 65536);
    for (size_t i = 0; i < 2; i++) {
        struct json *raw = NULL;
        REQUIRE(json_parse(str_from(deltas[i]), &raw, NULL) == TD_OK);
        struct tier_piece piece = {.text = STR(""), .raw_delta = raw};
        buf_clear(&out);
        CHECK(response_chunk_content(&writer, &summary, &piece, &out));
        struct json *chunk = parsed(&out);
        const struct json *delta = json_get(json_at(json_get(chunk, "choices"), 0), "delta");
        CHECK(json_count(json_get(delta, "tool_calls")) == i + 1);
        json_free(chunk);
        response_answer_add(&writer, &answer, &piece);
        json_free(raw);
    }
    buf_clear(&out);
    CHECK(response_write_completion(&writer, &summary, &answer, &out));
    struct json *body = parsed(&out);
    const struct json *message = json_get(json_at(json_get(body, "choices"), 0), "message");
    CHECK(json_kind_of(json_get(message, "content")) == JSON_KIND_NULL);
    const struct json *first = json_at(json_get(message, "tool_calls"), 0);
    CHECK(text_is(first, "id", "c1"));
    CHECK(text_is(json_get(first, "function"), "arguments", "{\"a\":1}"));
    CHECK(text_is(json_at(json_get(message, "tool_calls"), 1), "id", "c2"));
    json_free(body);
    buf_deinit(&out);
    response_answer_deinit(&answer);
}

static void test_absurd_tool_call_indices_fail_the_answer(void)
{
    static const char *const lists[] = {"[{\"index\":1000000}]", "[{\"index\":-1}]"};
    for (size_t i = 0; i < 2; i++) {
        struct json *list = NULL;
        REQUIRE(json_parse(str_from(lists[i]), &list, NULL) == TD_OK);
        struct tool_calls *calls = tool_calls_new(1024);
        struct buf out;
        buf_init(&out, 1024);
        tool_calls_add(calls, list);
        tool_calls_write(calls, &out);
        CHECK(tool_calls_failed(calls));
        buf_deinit(&out);
        tool_calls_free(calls);
        json_free(list);
    }
}

static void test_header_texts_are_printable_ascii(void)
{
    char out[16];
    response_header_text("caf\xc3\xa9\r\nX: 1", out, sizeof out);
    CHECK(strcmp(out, "caf???X: 1") == 0);
    response_header_text("0123456789abcdefghij", out, sizeof out);
    CHECK(strlen(out) == 15);
    response_header_text(NULL, out, sizeof out);
    CHECK(out[0] == '\0');
}

int main(void)
{
    RUN(test_tandem_object_says_where_and_why);
    RUN(test_an_empty_ladder_has_nulls_not_garbage);
    RUN(test_chunks_before_the_last_have_a_null_usage_when_it_is_asked_for);
    RUN(test_a_whole_answer_has_openais_shape);
    RUN(test_an_answer_over_its_limit_is_an_error_not_a_cut);
    RUN(test_a_correction_forgets_what_was_collected);
    RUN(test_stream_chunks_have_openais_shape);
    RUN(test_a_piece_with_nothing_to_show_makes_no_chunk);
    RUN(test_tool_calls_pass_through_streams_and_are_put_together_otherwise);
    RUN(test_absurd_tool_call_indices_fail_the_answer);
    RUN(test_header_texts_are_printable_ascii);
    return test_finish();
}
