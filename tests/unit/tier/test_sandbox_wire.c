/* Requests and frames of the confined worker read back as written; cut or changed ones are
 * refused. */
#include "tier/sandbox_wire.h"

#include "base/str.h"
#include "wire_members.h"

#include <math.h>
#include <stdlib.h>

static struct td_request full_request(void)
{
    static const struct td_message messages[] = {{TD_ROLE_SYSTEM, {"Be kind.", 8}},
                                                 {TD_ROLE_USER, {"Gr\xc3\xbc\xc3\x9f Gott", 10}}};
    static const int32_t ids[] = {1, 2, 3};
    static const struct td_completion completion = {
        .text = {"a\xff\0b", 4}, .ids = ids, .id_count = 3, .echo = true};
    static const struct td_logit_bias biases[] = {{7, -1.5f}, {8, 2.0f}};
    return (struct td_request){
        .messages = messages,
        .message_count = 2,
        .completion = &completion,
        .model = "auto",
        .tokens_max = 77,
        .sampling = {.temperature = 0.7f,
                     .top_p = 0.9f,
                     .seed = UINT64_MAX,
                     .seed_set = true,
                     .biases = biases,
                     .bias_count = 2},
        .stops = {STR("END"), STR("\n\n")},
        .stop_count = 2,
        .logprobs = true,
        .top_logprobs = 5,
        .adapters = {{.name = "law", .scale = 0.5f, .has_scale = true}, {.number = 3}},
        .adapter_count = 2,
        .names_adapters = true,
        .priority = TD_PRIORITY_BATCH,
        .keep_nothing = true,
        .caller = "10.0.0.1",
        .left_to_model = SETTING_TOP_K,
        .dry_breakers = {"x\0", 2},
        .dry_window = 9,
        .ignore_eos = true,
        .tool_count = 2,
        .tool_choice = TOOL_CHOICE_NONE,
        .has_calls = true,
    };
}

static void test_a_request_arrives_whole(void)
{
    struct wire_members wire;
    struct json *schema = json_new_object();
    struct td_request from = full_request();
    wire_members_init(&wire, "{\"tools\":[1,2],\"x\":0.1,\"messages\":[0.1]}", &from);
    from.format = TD_FORMAT_JSON;
    from.schema = schema;
    struct sandbox_request to;
    struct buf bytes;
    buf_init(&bytes, 1u << 20);
    sandbox_write_request("local", &from, &bytes);
    REQUIRE(!bytes.failed && sandbox_read_request(buf_view(&bytes), &to, NULL) == TD_OK);
    const struct td_request *got = &to.request;
    CHECK(strcmp(to.tier, "local") == 0 && strcmp(got->model, "auto") == 0);
    CHECK(got->message_count == 2 && got->messages[0].role == TD_ROLE_SYSTEM);
    CHECK(str_equal(got->messages[1].content, from.messages[1].content));
    REQUIRE(got->completion != NULL);
    CHECK(str_equal(got->completion->text, from.completion->text) && got->completion->echo);
    CHECK(got->completion->id_count == 3 && got->completion->ids[2] == 3);
    CHECK(memcmp(&got->sampling.temperature, &from.sampling.temperature, sizeof(float)) == 0);
    CHECK(got->sampling.seed == UINT64_MAX && got->sampling.seed_set);
    CHECK(got->sampling.bias_count == 2 && got->sampling.biases[1].id == 8);
    CHECK(got->stop_count == 2 && str_equal(got->stops[1], STR("\n\n")));
    CHECK(got->logprobs && got->top_logprobs == 5 && got->tokens_max == 77);
    CHECK(got->adapter_count == 2 && strcmp(got->adapters[0].name, "law") == 0 &&
          got->adapters[0].has_scale && !got->adapters[1].name && got->adapters[1].number == 3);
    CHECK(got->names_adapters && got->priority == TD_PRIORITY_BATCH && got->keep_nothing &&
          !got->grammar);
    CHECK(strcmp(got->caller, "10.0.0.1") == 0);
    CHECK(got->left_to_model == SETTING_TOP_K && got->ignore_eos && got->dry_window == 9);
    CHECK(str_equal(got->dry_breakers, from.dry_breakers));
    CHECK(got->tool_count == 2 && got->tool_choice == TOOL_CHOICE_NONE && got->has_calls);
    CHECK(got->format == TD_FORMAT_JSON && json_kind_of(got->schema) == JSON_KIND_OBJECT);
    CHECK(got->member_count == 2); /* what nobody there reads stays */
    CHECK(json_count(request_value(got, REQUEST_TOOLS)) == 2);
    CHECK(json_number(json_at(request_value(got, REQUEST_MESSAGES), 0), 0) == 0.1);
    sandbox_request_deinit(&to);
    buf_deinit(&bytes);
    json_free(schema);
    wire_members_deinit(&wire);
}

static void test_a_request_that_was_cut_anywhere_is_refused(void)
{
    struct td_request from = full_request();
    struct sandbox_request to;
    struct buf bytes;
    buf_init(&bytes, 1u << 20);
    sandbox_write_request("local", &from, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        CHECK(sandbox_read_request((struct td_str){bytes.data, len}, &to, NULL) == TD_CORRUPT);
        sandbox_request_deinit(&to);
    }
    buf_append_char(&bytes, 0);
    CHECK(sandbox_read_request(buf_view(&bytes), &to, NULL) == TD_CORRUPT);
    sandbox_request_deinit(&to);
    buf_deinit(&bytes);
}

static void test_texts_to_embed_arrive_whole_or_not_at_all(void)
{
    static const int32_t ids[] = {4, 5, -6};
    const struct embedding_input inputs[] = {
        {.text = STR("one")}, {.ids = ids, .id_count = 3}, {.text = STR("")}};
    const struct embedding_request from = {.inputs = inputs, .input_count = 3, .caller = "c"};
    struct sandbox_request to;
    struct buf bytes;
    buf_init(&bytes, 1u << 20);
    sandbox_write_embedding(&from, &bytes);
    REQUIRE(!bytes.failed && sandbox_read_request(buf_view(&bytes), &to, NULL) == TD_OK);
    CHECK(!to.tier && to.inputs && to.input_count == 3 && strcmp(to.caller, "c") == 0);
    CHECK(str_equal(to.inputs[0].text, STR("one")) && to.inputs[0].id_count == 0);
    CHECK(to.inputs[1].id_count == 3 && to.inputs[1].ids[2] == -6);
    CHECK(to.inputs[2].id_count == 0 && to.inputs[2].text.len == 0);
    sandbox_request_deinit(&to);
    for (size_t len = 0; len < bytes.len; len++) {
        CHECK(sandbox_read_request((struct td_str){bytes.data, len}, &to, NULL) == TD_CORRUPT);
        sandbox_request_deinit(&to);
    }
    buf_deinit(&bytes);
}

static void test_vectors_come_in_frames_of_whole_numbers(void)
{
    enum { COUNT = SANDBOX_FLOATS_MAX + 3 };
    float *floats = calloc(COUNT, sizeof *floats), *got = calloc(COUNT, sizeof *got);
    struct sandbox_frame frame;
    struct buf bytes;
    size_t used, come = 0, frames = 0;
    buf_init(&bytes, 8u << 20);
    REQUIRE(floats && got);
    for (size_t i = 0; i < COUNT; i++)
        floats[i] = (float)i * 0.5f;
    sandbox_write_vectors(floats, COUNT, &bytes);
    for (struct td_str rest = buf_view(&bytes); rest.len; rest = str_slice(rest, used, rest.len)) {
        REQUIRE(sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used > 0);
        CHECK(frame.kind == SANDBOX_VECTORS);
        memcpy(got + come, frame.floats.data, frame.floats.len);
        come += frame.floats.len / sizeof(float);
        frames++;
    }
    CHECK(frames == 2 && come == COUNT && memcmp(got, floats, COUNT * sizeof *got) == 0);
    static const char half[] = {3, 0, 0, 0, SANDBOX_VECTORS, 1, 2},
                      none[] = {1, 0, 0, 0, SANDBOX_VECTORS};
    CHECK(sandbox_read_frame((struct td_str){half, sizeof half}, &used, &frame, NULL) ==
          TD_CORRUPT);
    CHECK(sandbox_read_frame((struct td_str){none, sizeof none}, &used, &frame, NULL) ==
          TD_CORRUPT);
    buf_deinit(&bytes);
    free(floats);
    free(got);
}

static void write_frames(struct buf *out)
{
    static const struct td_top_logprob top[] = {{5, -0.25f}, {6, -1.5f}};
    struct json *delta = NULL;
    CHECK(json_parse(STR("{\"delta\":{\"tool_calls\":[]}}"), &delta, NULL) == TD_OK);
    const struct tier_piece piece = {.text = STR("Hello"),
                                     .has_stats = true,
                                     .stats = {.logprob = -0.1f, .margin = 0.5f},
                                     .token_text = {"\xc3", 1},
                                     .top = top,
                                     .top_count = 2,
                                     .raw_delta = delta};
    struct tier_result result = {.status = TD_OK,
                                 .finish = TD_FINISH_TOOL_CALLS,
                                 .usage = {.prompt_tokens = 9, .completion_tokens = 4}};
    buf_init(out, 1u << 20);
    sandbox_write_piece(&piece, out);
    sandbox_write_beat(out);
    sandbox_write_done(&result, out);
    result.status = TD_LIMIT;
    snprintf(result.err.message, sizeof result.err.message, "too long");
    sandbox_write_done(&result, out);
    json_free(delta);
}

static void test_frames_arrive_whole_and_in_order(void)
{
    struct buf bytes;
    struct sandbox_frame frame;
    size_t used, at = 0;
    write_frames(&bytes);
    REQUIRE(sandbox_read_frame(buf_view(&bytes), &used, &frame, NULL) == TD_OK && used > 0);
    CHECK(frame.kind == SANDBOX_PIECE && str_equal(frame.piece.text, STR("Hello")));
    CHECK(frame.piece.has_stats && fabsf(frame.piece.stats.logprob + 0.1f) < 1e-9f);
    CHECK(frame.piece.token_text.len == 1 && frame.piece.top_count == 2 &&
          frame.piece.top[1].id == 6);
    CHECK(json_get(frame.piece.raw_delta, "delta") != NULL);
    sandbox_frame_deinit(&frame);
    at += used;
    struct td_str rest = str_slice(buf_view(&bytes), at, bytes.len);
    REQUIRE(sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used == 5);
    CHECK(frame.kind == SANDBOX_BEAT);
    rest = str_slice(rest, used, rest.len);
    REQUIRE(sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used > 0);
    CHECK(frame.kind == SANDBOX_DONE && frame.result.status == TD_OK &&
          frame.result.finish == TD_FINISH_TOOL_CALLS && frame.result.usage.exact &&
          frame.result.usage.prompt_tokens == 9);
    rest = str_slice(rest, used, rest.len);
    REQUIRE(sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used == rest.len);
    CHECK(frame.result.status == TD_LIMIT && strcmp(frame.result.err.message, "too long") == 0);
    buf_deinit(&bytes);
}

/* Each byte of a frame gets values that an enemy might choose. The frame is refused or read, never
 * read beyond its end. */
static void test_hostile_frames_are_read_within_their_bytes(void)
{
    static const unsigned char values[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff};
    struct buf bytes;
    struct sandbox_frame frame;
    size_t used;
    write_frames(&bytes);
    for (size_t i = 0; i < bytes.len; i++)
        for (size_t v = 0; v < sizeof values; v++) {
            char *copy = malloc(bytes.len); /* exact size, for sanitizers */
            REQUIRE(copy != NULL);
            memcpy(copy, bytes.data, bytes.len);
            copy[i] = (char)values[v];
            if (sandbox_read_frame((struct td_str){copy, bytes.len}, &used, &frame, NULL) ==
                TD_OK) {
                CHECK(used <= bytes.len);
                sandbox_frame_deinit(&frame);
            }
            free(copy);
        }
    const uint32_t huge = SANDBOX_FRAME_BYTES_MAX + 1;
    CHECK(sandbox_read_frame((struct td_str){(const char *)&huge, 4}, &used, &frame, NULL) ==
          TD_CORRUPT);
    buf_deinit(&bytes);
}

static void test_half_a_frame_is_waited_for(void)
{
    struct buf bytes;
    struct sandbox_frame frame;
    size_t used, first;
    write_frames(&bytes);
    REQUIRE(sandbox_read_frame(buf_view(&bytes), &first, &frame, NULL) == TD_OK);
    sandbox_frame_deinit(&frame);
    for (size_t len = 0; len < first; len++) {
        struct td_str part = {bytes.data, len};
        CHECK(sandbox_read_frame(part, &used, &frame, NULL) == TD_OK && used == 0);
    }
    buf_deinit(&bytes);
}

int main(void)
{
    RUN(test_a_request_arrives_whole);
    RUN(test_a_request_that_was_cut_anywhere_is_refused);
    RUN(test_frames_arrive_whole_and_in_order);
    RUN(test_hostile_frames_are_read_within_their_bytes);
    RUN(test_half_a_frame_is_waited_for);
    RUN(test_texts_to_embed_arrive_whole_or_not_at_all);
    RUN(test_vectors_come_in_frames_of_whole_numbers);
    return test_finish();
}
