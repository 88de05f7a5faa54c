/* Requests and frames of the confined worker read back as written; cut or changed ones are
 * refused. */
#include "tier/local/sandbox_wire.h"

#include "base/core/str.h"
#include "engine/sampling/sampler.h"
#include "wire_members.h"

#include <math.h>
#include <stdlib.h>

static struct td_request full_request(void)
{
    static const struct td_message messages[] = {{TD_ROLE_SYSTEM, {"Be kind.", 8}},
                                                 {TD_ROLE_USER, {"Gr\xc3\xbc\xc3\x9f Gott", 10}}};
    static const int32_t ids[] = {1, 2, 3};
    static const struct td_completion completion = {
        .text = {"a\xff\0b", 4}, .after = {"c\0", 2}, .ids = ids, .id_count = 3, .echo = true};
    static const struct td_logit_bias biases[] = {{7, -1.5f}, {8, 2.0f}};
    static const struct td_str texts[] = {{"yes", 3}, {"no", 2}};
    static const struct td_str stops[] = {{"END", 3}, {"\n\n", 2}};
    static const struct td_labels labels = {.texts = texts, .count = 2};
    return (struct td_request){
        .messages = messages,
        .message_count = 2,
        .labels = &labels,
        .completion = &completion,
        .model = "auto",
        .tokens_max = 77,
        .sampling = {.temperature = 0.7f,
                     .top_p = 0.9f,
                     .seed = UINT64_MAX,
                     .seed_set = true,
                     .biases = biases,
                     .bias_count = 2},
        .stops = stops,
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
        .tool_named = {"stop", 4},
        .one_call = true,
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
    CHECK(str_equal(got->completion->after, from.completion->after));
    CHECK(got->completion->id_count == 3 && got->completion->ids[2] == 3);
    CHECK(memcmp(&got->sampling.temperature, &from.sampling.temperature, sizeof(float)) == 0);
    CHECK(got->sampling.seed == UINT64_MAX && got->sampling.seed_set);
    CHECK(got->sampling.bias_count == 2 && got->sampling.biases[1].id == 8);
    CHECK(got->labels && got->labels->count == 2 && !got->labels->classifier &&
          str_equal(got->labels->texts[1], STR("no")));
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
    CHECK(str_equal(got->tool_named, STR("stop")) && got->one_call && !got->call_grammar);
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

/* What a request does not have, the worker must not find in it: an empty list of labels or a text
 * to complete would change the answer. */
static void test_a_request_with_little_arrives_with_as_little(void)
{
    static const struct td_message messages[] = {{TD_ROLE_USER, {"hi", 2}}};
    static const int32_t ids[] = {1};
    static const struct td_completion completions[] = {
        {.text = {"a", 1}},
        {.text = {"", 0}, .prompt_only = true},
        {.text = {"", 0}, .ids = ids, .id_count = 1, .echo = true},
        {.text = {"", 0}, .ids = ids, .id_count = 0}, /* no tokens are not an unread text */
    };
    static const struct td_str text = {"yes", 3};
    static const struct td_labels labels = {.texts = &text, .count = 1};
    const struct td_request rows[] = {
        {.messages = messages, .message_count = 1},
        {.messages = messages, .message_count = 1, .continues = true},
        {.messages = messages, .message_count = 1, .labels = &labels},
        {.messages = messages, .message_count = 1, .top_logprobs = TD_TOP_LOGPROBS_MAX},
        {.completion = &completions[0]},
        {.completion = &completions[1]},
        {.completion = &completions[2]},
        {.completion = &completions[3]},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sandbox_request to;
        struct buf bytes;
        buf_init(&bytes, 1u << 20);
        sandbox_write_request("t", &rows[i], &bytes);
        REQUIRE(!bytes.failed && sandbox_read_request(buf_view(&bytes), &to, NULL) == TD_OK);
        const struct td_request *got = &to.request;
        const struct td_completion *completion = rows[i].completion;
        CHECK(strcmp(to.tier, "t") == 0 && !to.inputs && !got->model && !got->schema);
        CHECK(got->message_count == rows[i].message_count && got->continues == rows[i].continues);
        CHECK(!got->labels == !rows[i].labels && got->member_count == 0);
        CHECK(!got->labels || (got->labels->count == 1 && str_equal(got->labels->texts[0], text)));
        CHECK(got->top_logprobs == rows[i].top_logprobs && got->sampling.bias_count == 0);
        CHECK(!got->completion == !completion);
        if (got->completion && completion) {
            CHECK(str_equal(got->completion->text, completion->text));
            CHECK(!got->completion->ids == !completion->ids);
            CHECK(got->completion->id_count == completion->id_count);
            CHECK(got->completion->echo == completion->echo);
            CHECK(got->completion->prompt_only == completion->prompt_only);
        }
        sandbox_request_deinit(&to);
        buf_deinit(&bytes);
    }
}

/* An address would tell a worker that was taken over where to look in the server. */
static void test_no_address_of_the_server_is_in_a_request(void)
{
    struct td_request from = full_request();
    const void *const pointers[] = {from.sampling.biases, from.adapters[0].name,
                                    from.model,           from.messages[0].content.data,
                                    from.labels->texts,   from.caller,
                                    from.completion->ids};
    struct buf bytes;
    buf_init(&bytes, 1u << 20);
    sandbox_write_request("local", &from, &bytes);
    REQUIRE(!bytes.failed);
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        struct td_str address = {(const char *)&pointers[i], sizeof pointers[i]};
        CHECK(str_find(buf_view(&bytes), address, 0) == SIZE_MAX);
    }
    buf_deinit(&bytes);
}

static void test_what_does_not_fit_is_not_sent_in_part(void)
{
    struct td_request from = full_request();
    struct buf bytes;
    buf_init(&bytes, 1u << 20);
    sandbox_write_request("local", &from, &bytes);
    size_t whole = bytes.len;
    buf_deinit(&bytes);
    for (size_t len = 1; len <= whole + 1; len++) {
        buf_init(&bytes, len);
        sandbox_write_request("local", &from, &bytes);
        CHECK(bytes.failed || bytes.len == whole);
        CHECK(!bytes.failed || len <= whole);
        buf_deinit(&bytes);
    }
}

/* The first byte from `begin` on in which two encodings differ, which is that of a member in which
 * the two things differ. */
static size_t differs_at(const struct buf *a, const struct buf *b, size_t begin)
{
    while (begin < a->len && begin < b->len && a->data[begin] == b->data[begin])
        begin++;
    return begin;
}

static void test_a_request_with_an_impossible_value_is_refused(void)
{
    static const struct td_message one[] = {{TD_ROLE_SYSTEM, {"hi", 2}}},
                                   other[] = {{TD_ROLE_USER, {"hi", 2}}};
    const struct td_request plain = {.messages = one, .message_count = 1};
    struct td_request rows[9];
    static const unsigned char values[] = {TD_ROLE_TOOL + 1,
                                           TD_TOP_LOGPROBS_MAX + 1,
                                           TD_FORMAT_GRAMMAR + 1,
                                           TOOL_CHOICE_FORCED + 1,
                                           TD_PRIORITY_BATCH + 1,
                                           2,
                                           2,
                                           255,
                                           255};
    for (size_t i = 0; i < 9; i++)
        rows[i] = plain;
    rows[0].messages = other;
    rows[1].top_logprobs = 1;
    rows[2].format = TD_FORMAT_JSON;
    rows[3].tool_choice = (enum request_tool_choice)1;
    rows[4].priority = TD_PRIORITY_BATCH;
    rows[5].ignore_eos = true;
    rows[6].keep_nothing = true;
    const struct td_str stop = STR("x");
    rows[7].stops = &stop;
    rows[7].stop_count = 1;
    rows[8].adapter_count = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sandbox_request to;
        struct buf bytes, changed;
        buf_init(&bytes, 1u << 20);
        buf_init(&changed, 1u << 20);
        sandbox_write_request("t", &plain, &bytes);
        sandbox_write_request("t", &rows[i], &changed);
        size_t at = differs_at(&bytes, &changed, 0);
        REQUIRE(at < bytes.len);
        bytes.data[at] = (char)values[i];
        CHECK(sandbox_read_request(buf_view(&bytes), &to, NULL) == TD_CORRUPT);
        sandbox_request_deinit(&to);
        buf_deinit(&bytes);
        buf_deinit(&changed);
    }
    struct td_request nothing = {.continues = true}; /* no message could be continued */
    char breakers[SAMPLER_BREAKERS_BYTES] = {0};
    struct td_request long_breakers = plain;
    long_breakers.dry_breakers = (struct td_str){breakers, sizeof breakers};
    struct td_request longest = plain;
    longest.dry_breakers = (struct td_str){breakers, sizeof breakers - 1};
    const struct {
        const struct td_request *request;
        enum td_status status;
    } whole[] = {{&nothing, TD_CORRUPT}, {&long_breakers, TD_CORRUPT}, {&longest, TD_OK}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct sandbox_request to;
        struct buf bytes;
        buf_init(&bytes, 1u << 20);
        sandbox_write_request("t", whole[i].request, &bytes);
        CHECK(sandbox_read_request(buf_view(&bytes), &to, NULL) == whole[i].status);
        sandbox_request_deinit(&to);
        buf_deinit(&bytes);
    }
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

static void check_vectors(size_t count)
{
    float *floats = calloc(count, sizeof *floats), *got = calloc(count, sizeof *got);
    struct sandbox_frame frame;
    struct buf bytes;
    size_t used, come = 0, frames = 0;
    buf_init(&bytes, 8u << 20);
    REQUIRE(floats && got);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)i * 0.5f;
    sandbox_write_vectors(floats, count, &bytes);
    for (struct td_str rest = buf_view(&bytes); rest.len; rest = str_slice(rest, used, rest.len)) {
        REQUIRE(sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used > 0);
        CHECK(frame.kind == SANDBOX_VECTORS);
        memcpy(got + come, frame.floats.data, frame.floats.len);
        come += frame.floats.len / sizeof(float);
        frames++;
    }
    CHECK(frames == (count > SANDBOX_FLOATS_MAX ? 2 : 1) && come == count &&
          memcmp(got, floats, count * sizeof *got) == 0);
    buf_deinit(&bytes);
    free(floats);
    free(got);
}

static void test_vectors_come_in_frames_of_whole_numbers(void)
{
    static const size_t counts[] = {1, 2, SANDBOX_FLOATS_MAX, SANDBOX_FLOATS_MAX + 1,
                                    SANDBOX_FLOATS_MAX + 3};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_vectors(counts[i]);
    struct sandbox_frame frame;
    size_t used;
    static const char half[] = {3, 0, 0, 0, SANDBOX_VECTORS, 1, 2},
                      none[] = {1, 0, 0, 0, SANDBOX_VECTORS};
    CHECK(sandbox_read_frame((struct td_str){half, sizeof half}, &used, &frame, NULL) ==
          TD_CORRUPT);
    CHECK(sandbox_read_frame((struct td_str){none, sizeof none}, &used, &frame, NULL) ==
          TD_CORRUPT);
}

/* The scores of labels are the answer of a classification: one label has one. */
static void test_each_count_of_scores_arrives(void)
{
    enum { MOST = TD_LABELS_MAX };
    static const size_t counts[] = {0, 1, 2, MOST};
    static float scores[MOST];
    for (size_t i = 0; i < MOST; i++)
        scores[i] = -(float)i;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct tier_piece piece = {.label_scores = scores, .label_count = counts[i]};
        struct sandbox_frame frame;
        struct buf bytes;
        size_t used;
        buf_init(&bytes, 1u << 20);
        sandbox_write_piece(&piece, &bytes);
        REQUIRE(sandbox_read_frame(buf_view(&bytes), &used, &frame, NULL) == TD_OK && used > 0);
        REQUIRE(frame.piece.label_count == counts[i]);
        CHECK(!frame.piece.label_scores == !counts[i]);
        CHECK(!counts[i] ||
              memcmp(frame.piece.label_scores, scores, counts[i] * sizeof *scores) == 0);
        sandbox_frame_deinit(&frame);
        buf_deinit(&bytes);
    }
}

/* Where two frames of the same worker differ, the value that no worker of ours writes. */
static void test_a_frame_with_an_impossible_value_is_refused(void)
{
    enum { BEGIN = 5 }; /* after the length and the kind */
    static const struct td_top_logprob top[] = {{5, -0.25f}};
    static const float scores[] = {0};
    const struct tier_piece plain = {.text = STR("")};
    struct json *delta = json_new_object();
    struct {
        struct tier_piece piece;
        char value;
    } pieces[] = {
        {{.text = STR("x")}, (char)0xff}, /* a text longer than the frame */
        {{.has_stats = true}, 2},
        {{.in_call = true}, 2},
        {{.has_stats = true}, (char)0x80},
        {{.token_text = STR("x")}, (char)0xff},
        {{.top = top, .top_count = 1}, TD_TOP_LOGPROBS_MAX + 1},
        {{.label_scores = scores, .label_count = 1}, (char)0xff},
    };
    struct buf a, b;
    struct sandbox_frame frame;
    size_t used;
    buf_init(&a, 1u << 16);
    buf_init(&b, 1u << 16);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        buf_clear(&a);
        buf_clear(&b);
        sandbox_write_piece(&plain, &a);
        sandbox_write_piece(&pieces[i].piece, &b);
        size_t at = differs_at(&a, &b, BEGIN);
        REQUIRE(at < a.len);
        a.data[at] = pieces[i].value;
        CHECK(sandbox_read_frame(buf_view(&a), &used, &frame, NULL) == TD_CORRUPT && used == 0);
    }
    const struct tier_result ok = {.status = TD_OK}, bad = {.status = TD_LIMIT},
                             cut = {.finish = TD_FINISH_LENGTH};
    for (int i = 0; i < 2; i++) { /* a status, a finish */
        buf_clear(&a);
        buf_clear(&b);
        sandbox_write_done(&ok, &a);
        sandbox_write_done(i ? &cut : &bad, &b);
        size_t at = differs_at(&a, &b, BEGIN);
        REQUIRE(at < a.len);
        a.data[at] = (char)(i ? TD_FINISH_CONTENT_FILTER + 1 : TD_INTERNAL + 1);
        CHECK(sandbox_read_frame(buf_view(&a), &used, &frame, NULL) == TD_CORRUPT);
    }
    const struct tier_piece with_delta = {.text = STR(""), .raw_delta = delta};
    buf_clear(&a);
    sandbox_write_piece(&with_delta, &a);
    size_t brace = str_find(buf_view(&a), STR("{}"), BEGIN);
    REQUIRE(brace != SIZE_MAX);
    a.data[brace] = '}'; /* no JSON any more */
    CHECK(sandbox_read_frame(buf_view(&a), &used, &frame, NULL) == TD_CORRUPT);
    for (int kind = 0; kind < 256; kind++) { /* an empty frame is a sign of life and nothing else */
        const char empty[] = {1, 0, 0, 0, (char)kind};
        enum td_status status =
            sandbox_read_frame((struct td_str){empty, sizeof empty}, &used, &frame, NULL);
        CHECK(status == (kind == SANDBOX_BEAT ? TD_OK : TD_CORRUPT));
    }
    json_free(delta);
    buf_deinit(&a);
    buf_deinit(&b);
}

static void write_frames(struct buf *out)
{
    static const struct td_top_logprob top[] = {{5, -0.25f}, {6, -1.5f}};
    static const float scores[] = {-0.25f, -4};
    struct json *delta = NULL;
    CHECK(json_parse(STR("{\"delta\":{\"tool_calls\":[]}}"), &delta, NULL) == TD_OK);
    const struct tier_piece piece = {.text = STR("Hello"),
                                     .has_stats = true,
                                     .stats = {.logprob = -0.1f, .margin = 0.5f},
                                     .token_text = {"\xc3", 1},
                                     .top = top,
                                     .top_count = 2,
                                     .raw_delta = delta,
                                     .label_scores = scores,
                                     .label_count = 2};

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
    REQUIRE(frame.piece.label_count == 2);
    CHECK(frame.piece.label_scores[1] == -4.0f);
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
    RUN(test_a_request_with_little_arrives_with_as_little);
    RUN(test_no_address_of_the_server_is_in_a_request);
    RUN(test_what_does_not_fit_is_not_sent_in_part);
    RUN(test_a_request_with_an_impossible_value_is_refused);
    RUN(test_each_count_of_scores_arrives);
    RUN(test_a_frame_with_an_impossible_value_is_refused);
    RUN(test_frames_arrive_whole_and_in_order);
    RUN(test_hostile_frames_are_read_within_their_bytes);
    RUN(test_half_a_frame_is_waited_for);
    RUN(test_texts_to_embed_arrive_whole_or_not_at_all);
    RUN(test_vectors_come_in_frames_of_whole_numbers);
    return test_finish();
}
