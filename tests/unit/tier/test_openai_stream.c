/* The answers of OpenAI-compatible servers without a network: what becomes of a stream, however it
 * is cut, and of one that is not sound. */
#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"
#include "tier/openai/openai_wire.h"

#include <math.h>

struct seen {
    char text[256];
    int piece_count, stats_count, raw_count;
    float logprob_sum, margin;
    char raw[1024];
};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof seen->text - len, STR_FMT, STR_ARG(piece->text));
    seen->piece_count++;
    seen->stats_count += piece->has_stats;
    if (piece->has_stats) {
        seen->logprob_sum += piece->stats.logprob;
        seen->margin = piece->stats.margin;
    }
    if (piece->raw_delta) {
        struct buf raw;
        buf_init(&raw, sizeof seen->raw);
        json_write(piece->raw_delta, &raw);
        snprintf(seen->raw, sizeof seen->raw, "%s", raw.data ? raw.data : "");
        buf_deinit(&raw);
        seen->raw_count++;
    }
}

static bool own_logprobs; /* of the streams that follow */
static const struct td_str stops[] = {{"END", 3}, {"\n", 1}};

static enum td_status read_cut(const char *text, size_t step, bool completion,
                               struct openai_stream *stream, struct seen *seen,
                               struct td_error *err)
{
    memset(seen, 0, sizeof *seen);
    openai_stream_init(stream, completion, on_piece, seen);
    stream->own_logprobs = own_logprobs;
    stream->stops = stops;
    stream->stop_count = 2;
    enum td_status status = TD_OK;
    struct td_str all = str_from(text);
    for (size_t at = 0; at < all.len && status == TD_OK; at += step)
        status = openai_stream_feed(stream, str_slice(all, at, at + step), err);
    if (status == TD_OK)
        status = openai_stream_end(stream, err);
    openai_stream_deinit(stream);
    return status;
}

/* Reads a chat's `text` cut into pieces of `step` bytes. */
static enum td_status read_stream(const char *text, size_t step, struct openai_stream *stream,
                                  struct seen *seen, struct td_error *err)
{
    return read_cut(text, step, false, stream, seen, err);
}

#define CHUNK(choice) "data: {\"id\":\"c\",\"choices\":[" choice "]}\n\n"
#define SAY(text) CHUNK("{\"index\":0,\"delta\":{\"content\":\"" text "\"},\"finish_reason\":null}")
#define FINISH(reason) CHUNK("{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}")
#define END "data: [DONE]\n\n"

static void test_a_stream_reads_the_same_however_it_is_cut(void)
{
    static const char text[] =
        ": comment\n\n" CHUNK("{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}")
            SAY("Gr\xc3\xbc\xc3\x9f") SAY(" dich") FINISH(
                "length") "data: "
                          "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
                          "\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n" END;
    for (size_t step = 1; step < sizeof text; step++) {
        struct openai_stream stream;
        struct seen seen;
        CHECK(read_stream(text, step, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "Gr\xc3\xbc\xc3\x9f dich") == 0 && seen.piece_count == 3);
        CHECK(seen.raw_count == 1 && seen.stats_count == 0); /* the details of the usage */
        CHECK(stream.finish == TD_FINISH_LENGTH && stream.done && stream.usage.exact);
        CHECK(stream.usage.prompt_tokens == 7 && stream.usage.completion_tokens == 2 &&
              stream.usage.cached_tokens == 3);
    }
}

static void test_logprobs_become_stats_one_piece_a_token(void)
{
    static const char text[] = CHUNK(
        "{\"index\":0,\"delta\":{\"content\":\"ab\"},\"logprobs\":{\"content\":["
        "{\"token\":\"a\",\"logprob\":-0.5},{\"token\":\"b\",\"logprob\":-1.5,\"top_logprobs\":["
        "{\"token\":\"b\",\"logprob\":0},{\"token\":\"x\",\"logprob\":-9999}]}]}}") FINISH("stop")
        END;
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_stream(text, 1000, &stream, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.text, "ab") == 0 && seen.piece_count == 2 && seen.stats_count == 2);
    CHECK(fabsf(seen.logprob_sum + 2) < 1e-6f && fabsf(seen.margin - 1) < 1e-6f);
    CHECK(seen.raw_count == 1 && strstr(seen.raw, "top_logprobs"));
}

static void test_logprobs_of_our_own_leave_no_trace(void)
{
    static const char *const texts[] = {
        CHUNK("{\"delta\":{\"content\":\"ab\"},\"logprobs\":{\"content\":[{\"logprob\":-0.5},"
              "{\"logprob\":-1.5}]}}"),
        CHUNK("{\"delta\":{\"content\":\"ab\",\"x\":1},\"logprobs\":{\"content\":["
              "{\"logprob\":-0.5},{\"logprob\":-1.5}]}}"),
    };
    own_logprobs = true;
    for (size_t i = 0; i < 2; i++) {
        struct openai_stream stream;
        struct seen seen;
        CHECK(read_stream(texts[i], 1000, &stream, &seen, NULL) == TD_CORRUPT); /* no end */
        CHECK(strcmp(seen.text, "ab") == 0 && seen.stats_count == 2 && stream.stats_count == 2);
        CHECK(fabsf(seen.logprob_sum + 2) < 1e-6f && seen.raw_count == (int)i);
        CHECK(!strstr(seen.raw, "logprob") && (i == 0 || strstr(seen.raw, "\"x\":1")));
    }
    own_logprobs = false;
}

static void test_a_completions_logprobs_become_stats(void)
{
    static const char *const forms[] = {
        CHUNK("{\"text\":\"ab\",\"logprobs\":{\"tokens\":[\"a\",\"b\"],\"token_logprobs\":["
              "-0.5,-1.5],\"top_logprobs\":[null,{\"x\":-9999,\"b\":0,\"y\":-9999}]}}"),
        CHUNK("{\"text\":\"ab\",\"logprobs\":{\"content\":[{\"logprob\":-0.5},{\"logprob\":"
              "-1.5,\"top_logprobs\":[{\"logprob\":0},{\"logprob\":-9999}]}]}}"),
    };
    for (size_t i = 0; i < 4; i++) {
        struct openai_stream stream;
        struct seen seen;
        own_logprobs = i >= 2;
        CHECK(read_cut(forms[i % 2], 1000, true, &stream, &seen, NULL) == TD_CORRUPT);
        CHECK(strcmp(seen.text, "ab") == 0 && seen.stats_count == 2);
        CHECK(fabsf(seen.logprob_sum + 2) < 1e-6f && fabsf(seen.margin - 1) < 1e-6f);
        CHECK(seen.raw_count == !own_logprobs);
    }
    own_logprobs = false;
}

/* An echoed prompt begins with a token that nothing stands before. */
static void test_a_first_token_without_a_number_is_none(void)
{
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_cut(CHUNK("{\"text\":\"ab\",\"logprobs\":{\"token_logprobs\":[null,-1]},"
                         "\"finish_reason\":\"stop\"}") END,
                   7, true, &stream, &seen, NULL) == TD_OK);
    CHECK(seen.stats_count == 1 && seen.logprob_sum == -1);
}

static void test_wrong_logprobs_of_our_own_cost_no_answer(void)
{
    static const struct {
        const char *logprobs;
        int stats, impossible;
    } cases[] = {
        {"[]", 0, 0},
        {"7", 0, 0},
        {"\"}\"", 0, 0},
        {"{\"content\":3}", 0, 0},
        {"{\"content\":[{}]}", 1, 1},
        {"{\"content\":[7,null]}", 2, 2},
        {"{\"content\":[{\"logprob\":NaN},{\"logprob\":-1}]}", 1, 1},
        {"{\"content\":[{\"token\":\"}\\\"]\",\"logprob\":-Infinity}]}", 1, 1},
        {"{\"content\":[{\"logprob\":-1e999}]}", 1, 1},
        {"-inf", 1, 1},
    };
    own_logprobs = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct openai_stream stream;
        struct seen seen;
        snprintf(text, sizeof text,
                 "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"logprobs\\\":{\"},"
                 "\"logprobs\" : %s,\"finish_reason\":\"stop\"}]}\n\n",
                 cases[i].logprobs);
        CHECK(read_stream(text, 13, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "\"logprobs\":{") == 0 && seen.raw_count == 0);
        CHECK(seen.stats_count == cases[i].stats);
        CHECK(isnan(seen.logprob_sum) == (cases[i].impossible > 0));
    }
    own_logprobs = false;
}

static void test_more_logprobs_than_tokens_are_not_counted(void)
{
    struct buf text;
    struct openai_stream stream;
    struct seen seen;
    buf_init(&text, 1 << 20);
    buf_append_str(&text, STR("data: {\"choices\":[{\"delta\":{\"content\":\"abc\"},"
                              "\"logprobs\":{\"content\":["));
    for (int i = 0; i < 1000; i++)
        buf_append_str(&text, i ? STR(",{\"logprob\":-1}") : STR("{\"logprob\":-1}"));
    buf_append_str(&text, STR("]},\"finish_reason\":\"stop\"}]}\n\n"));
    buf_append_char(&text, '\0');
    own_logprobs = true;
    CHECK(read_stream(text.data, 4096, &stream, &seen, NULL) == TD_OK);
    own_logprobs = false;
    CHECK(seen.stats_count == 67 && stream.surplus_count == 933 && seen.piece_count == 67);
    buf_deinit(&text);
}

static void test_tool_calls_pass_through_raw(void)
{
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_stream(
              CHUNK("{\"delta\":{\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"t\"}]},"
                    "\"finish_reason\":\"tool_calls\"}") END,
              9, &stream, &seen, NULL) == TD_OK);
    CHECK(seen.raw_count == 1 && strstr(seen.raw, "\"id\":\"t\""));
    CHECK(stream.finish == TD_FINISH_TOOL_CALLS);
}

static void test_a_whole_answer_to_a_streaming_request_is_read(void)
{
    static const char text[] =
        "\n {\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
        "{\"role\":\"assistant\",\"content\":\"whole\",\"tool_calls\":"
        "[{\"id\":\"a\"},{\"id\":\"b\"}]},\"finish_reason\":\"stop\"}],"
        "\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":1}}\n";
    for (size_t step = 1; step < sizeof text; step += 13) {
        struct openai_stream stream;
        struct seen seen;
        CHECK(read_stream(text, step, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "whole") == 0 && stream.usage.prompt_tokens == 4);
        CHECK(strstr(seen.raw, "{\"id\":\"b\",\"index\":1}") && strstr(seen.raw, "\"delta\""));
        CHECK(!strstr(seen.raw, "\"message\""));
    }
}

/* Some servers put `text` into the choices of chats, too. */
static void test_a_chat_is_its_delta_and_a_completion_its_text(void)
{
    static const char *const both[] = {
        CHUNK("{\"text\":\"flat\",\"delta\":{\"content\":\"said\",\"tool_calls\":[{\"index\":0}]},"
              "\"finish_reason\":\"stop\"}") END,
        "{\"choices\":[{\"text\":\"flat\",\"message\":{\"content\":\"said\",\"tool_calls\":[{}]},"
        "\"finish_reason\":\"stop\"}]}"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        struct openai_stream stream;
        struct seen seen;
        CHECK(read_cut(both[i], 7, false, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "said") == 0 && strstr(seen.raw, "tool_calls"));
        CHECK(read_cut(both[i], 7, true, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "flat") == 0 && seen.raw_count == 0);
        CHECK(stream.finish == TD_FINISH_STOP && stream.text_bytes == 4);
    }
}

static void test_a_server_says_which_text_ended_the_answer(void)
{
    static const struct {
        const char *member;
        uint32_t number;
    } cases[] = {{"\"stop_reason\":\"\\n\"", 2},  {"\"matched_stop\":\"END\"", 1},
                 {"\"stop_reason\":null", 0},     {"\"matched_stop\":151645", 0},
                 {"\"stop_reason\":\"else\"", 0}, {"\"stop_reason\":[\"END\"]", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct openai_stream stream;
        struct seen seen;
        snprintf(text, sizeof text,
                 "data: "
                 "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\",%s}]}\n\n" END,
                 cases[i].member);
        CHECK(read_stream(text, sizeof text, &stream, &seen, NULL) == TD_OK);
        CHECK(stream.stop_number == cases[i].number);
    }
}

static void test_an_end_without_done_is_whole_when_a_reason_came(void)
{
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_stream(SAY("a") FINISH("eos"), 5, &stream, &seen, NULL) == TD_OK);
    CHECK(stream.finish == TD_FINISH_STOP && !stream.done);
    CHECK(read_stream(SAY("a") END, 5, &stream, &seen, NULL) == TD_OK);
}

static void test_a_cut_stream_is_corrupt_at_every_byte(void)
{
    static const char text[] = SAY("one") SAY("two") SAY("three");
    for (size_t len = 0; len < sizeof text; len++) {
        char part[sizeof text];
        memcpy(part, text, len);
        part[len] = '\0';
        struct openai_stream stream;
        struct seen seen;
        struct td_error err = {0};
        CHECK(read_stream(part, 17, &stream, &seen, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, "cut"));
    }
}

static void test_malformed_chunks_are_named(void)
{
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"data: {\"choices\":[{\"del\n\n", "not JSON"},
        {"data: [1]\n\n", "not an object"},
        {"data: {}\n\n", "no choices"},
        {"data: {\"choices\":{}}\n\n", "choices is not an array"},
        {CHUNK("7"), "a choice is not an object"},
        {CHUNK("{\"delta\":[]}"), "delta is not an object"},
        {CHUNK("{\"delta\":{\"content\":5}}"), "delta.content is not a string"},
        {CHUNK("{\"delta\":{},\"finish_reason\":1}"), "finish_reason is not a string"},
        {CHUNK("{\"delta\":{},\"logprobs\":[]}"), "logprobs is not an object"},
        {CHUNK("{\"delta\":{},\"logprobs\":{\"content\":3}}"), "logprobs.content is not an array"},
        {CHUNK("{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{}]}}"),
         "has no logprob"},
        {"data: {\"a\":1,\"a\":2}\n\n", "twice"},
        {"{\"choices\":[]}", "no choices with a message"},
        {"{\"choices\":[{\"message\":{\"content\":1}}]}", "delta.content is not a string"},
        {"{\"choi", "not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct openai_stream stream;
        struct seen seen;
        struct td_error err = {0};
        CHECK(read_stream(cases[i].text, 11, &stream, &seen, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, cases[i].names) != NULL);
        if (!strstr(err.message, cases[i].names))
            fprintf(stderr, "  case %zu: %s\n", i, err.message);
    }
}

static void test_a_usage_that_cannot_be_true_is_refused_and_the_answer_is_kept(void)
{
    static const struct {
        const char *usage;
        bool exact;
        uint32_t cached;
    } cases[] = {
        {"{\"prompt_tokens\":7,\"completion_tokens\":2}", true, 0},
        {"{\"prompt_tokens\":7,\"completion_tokens\":2,\"prompt_cache_hit_tokens\":4}", true, 4},
        {"{\"prompt_tokens\":7,\"completion_tokens\":2,\"cached_tokens\":5}", true, 5},
        {"4", false, 0},
        {"{}", false, 0},
        {"{\"prompt_tokens\":7}", false, 0},
        {"{\"prompt_tokens\":-1,\"completion_tokens\":2}", false, 0},
        {"{\"prompt_tokens\":7,\"completion_tokens\":-1}", false, 0},
        {"{\"prompt_tokens\":1000000000000000000,\"completion_tokens\":2}", false, 0},
        {"{\"prompt_tokens\":7,\"completion_tokens\":8388609}", false, 0},
        {"{\"prompt_tokens\":\"7\",\"completion_tokens\":2}", false, 0},
        {"{\"prompt_tokens\":7.5,\"completion_tokens\":2}", false, 0},
        {"{\"prompt_tokens\":7,\"completion_tokens\":2,"
         "\"prompt_tokens_details\":{\"cached_tokens\":8}}",
         false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct openai_stream stream;
        struct seen seen;
        char text[512];
        snprintf(text, sizeof text,
                 CHUNK("{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}") "data: "
                                                                                     "{\"choices\":"
                                                                                     "[],\"usage\":"
                                                                                     "%s}\n\ndata: "
                                                                                     "[DONE]\n\n",
                 cases[i].usage);
        CHECK(read_stream(text, 11, &stream, &seen, NULL) == TD_OK);
        CHECK(stream.usage.exact == cases[i].exact && !stream.usage.refused == cases[i].exact);
        CHECK(stream.usage.cached_tokens == cases[i].cached);
    }
}

static void test_a_usage_that_is_no_json_does_not_cost_the_answer(void)
{
    static const char *const numbers[] = {"NaN", "-Infinity", "1e999", "123456789012345678901234"};
    static const char *const forms[] = {
        CHUNK("{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}") "data: "
                                                                            "{\"choices\":[],"
                                                                            "\"usage\":{\"prompt_"
                                                                            "tokens\":%s}}\n\ndata:"
                                                                            " [DONE]\n\n",
        "{\"usage\":{\"a\":[{\"usage\":%s}]},\"choices\":[{\"message\":{\"content\":\"a\"},"
        "\"finish_reason\":\"stop\"}]}",
    };
    for (size_t i = 0; i < 8; i++) {
        struct openai_stream stream;
        struct seen seen;
        char text[512], *at = strstr(strcpy(text, forms[i / 4]), "%s");
        REQUIRE(at);
        strcpy(at, numbers[i % 4]);
        strcat(text, strstr(forms[i / 4], "%s") + 2);
        CHECK(read_stream(text, 11, &stream, &seen, NULL) == TD_OK);
        CHECK(strcmp(seen.text, "a") == 0 && !stream.usage.exact && stream.usage.refused);
    }
}

static void test_what_nobody_can_read_is_told_from_what_is_no_json(void)
{
    static const struct {
        const char *text;
        bool own;
    } cases[] = {
        {SAY("a\\u0000b"), true},
        {SAY("a\\ud800b"), true},
        {SAY("a\\udfffb"), true},
        {SAY("a\\ud83d\\u0041"), true},
        {SAY("a\xff\xfe"), true},
        {SAY("a\\u00"), false},
        {SAY("a\\u00zzb"), false},
        {SAY("a\\x41"), false},
        {"data: \xff\xfe\n\n", false},
        {"data: <html>\n\n", false},
        {"data: {\"choices\":[\n\n", false},
        {"data: {}\n\n", false},
        {"data: []\n\n", false},
        {"{\"choices\":[{\"message\":{\"content\":\"\\u0000\"}}]}", true},
        {"{\"choices\":[{\"message\":{\"content\":\"", false},
        {SAY("a"), false}, /* cut before its end */
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct openai_stream stream;
        struct seen seen;
        CHECK(read_stream(cases[i].text, 11, &stream, &seen, NULL) == TD_CORRUPT);
        CHECK(stream.own_fault == cases[i].own);
        if (stream.own_fault != cases[i].own)
            fprintf(stderr, "  case: %s\n", cases[i].text);
    }
}

static void test_a_call_with_a_number_that_no_call_has_is_malformed(void)
{
    static const struct {
        const char *index;
        bool right;
    } cases[] = {
        {"0", true},           {"127", true},    {"null", true}, {"128", false},
        {"2147483648", false}, {"-1", false},    {"1.5", false}, {"4294967295", false},
        {"1e300", false},      {"\"0\"", false}, {"{}", false},  {"9223372036854775807", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct openai_stream stream;
        struct seen seen;
        struct td_error err = {0};
        char text[512];
        snprintf(text, sizeof text,
                 "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%s,\"id\":\"c\","
                 "\"function\":{\"name\":\"f\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
                 "data: [DONE]\n\n",
                 cases[i].index);
        enum td_status status = read_stream(text, 11, &stream, &seen, &err);
        CHECK(status == (cases[i].right ? TD_OK : TD_CORRUPT));
        CHECK(cases[i].right || strstr(err.message, "the index of a tool call"));
        CHECK(stream.own_fault == !cases[i].right);
    }
}

static uint64_t progress_of(const char *text)
{
    struct openai_stream stream;
    struct seen seen = {0};
    openai_stream_init(&stream, false, on_piece, &seen);
    (void)!openai_stream_feed(&stream, str_from(text), NULL);
    uint64_t progress = openai_stream_progress(&stream);
    openai_stream_deinit(&stream);
    return progress;
}

static void test_only_what_belongs_to_the_answer_is_progress(void)
{
    static const char *const nothing[] = {
        ": comment\n\n",
        "\n\r\n\n",
        "event: ping\n\n",
        "id: 7\nretry: 9\n\n",
        "data: {\"choices\":[]}\n\n",
        SAY(""),
        CHUNK("{\"delta\":{\"role\":\"assistant\",\"content\":null}}"),
        CHUNK("{\"delta\":{\"reasoning_content\":\"\"}}"),
        CHUNK("{\"delta\":{\"tool_calls\":[]}}"),
        CHUNK("{\"delta\":{\"annotations\":{}}}"),
        "data: {\"choices\":[],\"usage\":null}\n\n",
    };
    static const char *const something[] = {
        SAY("a"),
        CHUNK("{\"delta\":{\"reasoning_content\":\"hm\"}}"),
        CHUNK("{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\"}}]}}"),
        CHUNK("{\"delta\":{\"audio\":{\"data\":\"AAAA\"}}}"),
        CHUNK("{\"delta\":{},\"finish_reason\":\"stop\"}"),
        "data: [DONE]\n\n",
        "{\"choices\"",
    };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        CHECK(progress_of(nothing[i]) == 0);
    for (size_t i = 0; i < sizeof something / sizeof *something; i++)
        CHECK(progress_of(something[i]) > 0);
}

/* Text, calls and what stands beside the answer, over all of its chunks. */
static void test_the_bytes_of_all_chunks_are_added_up(void)
{
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_stream(
              SAY("one") SAY("three")
                  CHUNK("{\"delta\":{\"reasoning_content\":\"hm\",\"refusal\":\"no\"}}")
                      CHUNK("{\"delta\":{\"content\":\"x\",\"tool_calls\":[{\"function\":{"
                            "\"name\":\"fun\",\"arguments\":\"{}\"}},{\"index\":1,\"function\":{"
                            "\"arguments\":\"[1]\"}}]}}") END,
              23, &stream, &seen, NULL) == TD_OK);
    CHECK(stream.text_bytes == 3 + 5 + 1 && stream.shown_bytes == 3 + 5 + 2 + 2 + 1 + 3 + 2 + 3);
    CHECK(strcmp(seen.text, "onethreex") == 0 && seen.raw_count == 2);
    CHECK(read_stream(CHUNK("{\"delta\":{\"content\":\"a\",\"tool_calls\":[],\"annotations\":[]}}")
                          END,
                      9, &stream, &seen, NULL) == TD_OK);
    CHECK(seen.raw_count == 0 && stream.shown_bytes == 1); /* empty lists show nothing */
}

static uint64_t identity_of(const char *members)
{
    char text[512];
    struct openai_stream stream;
    struct seen seen;
    snprintf(text, sizeof text,
             "data: {%s\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
             "data: {\"model\":\"later\",\"choices\":[]}\n\n" END,
             members);
    CHECK(read_stream(text, 17, &stream, &seen, NULL) == TD_OK);
    uint64_t identity = stream.identity;
    snprintf(text, sizeof text,
             "{%s\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}",
             members);
    CHECK(read_stream(text, 17, &stream, &seen, NULL) == TD_OK);
    CHECK(stream.identity == identity && identity != 0);
    return identity;
}

/* A model or a build that changes is another server; the first chunk that names them counts. */
static void test_a_server_is_known_by_its_model_and_build(void)
{
    static const char *const servers[] = {
        "",
        "\"model\":\"ab\",",
        "\"system_fingerprint\":\"ab\",",
        "\"model\":\"ab\",\"system_fingerprint\":\"c\",",
        "\"model\":\"a\",\"system_fingerprint\":\"bc\",",
        "\"model\":\"ab\",\"system_fingerprint\":\"d\",",
    };
    enum { COUNT = sizeof servers / sizeof *servers };
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b < COUNT; b++)
            CHECK((identity_of(servers[a]) == identity_of(servers[b])) == (a == b));
    CHECK(identity_of("\"id\":\"1\",\"model\":\"ab\",") == identity_of(servers[1]));
}

/* What is wrong in one chunk says nothing about the next one. */
static void test_numbers_that_are_no_json_cost_only_their_own_chunk(void)
{
    struct openai_stream stream;
    struct seen seen;
    own_logprobs = true;
    CHECK(read_stream(CHUNK("{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":["
                            "{\"logprob\":NaN}]}}") SAY("b")
                          CHUNK("{\"delta\":{\"content\":\"c\"},\"logprobs\":{\"content\":["
                                "{\"logprob\":-1}]}}") END,
                      31, &stream, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.text, "abc") == 0 && seen.stats_count == 2);
    CHECK(
        read_stream("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":["
                    "{\"logprob\":-Infinity}]}}],\"usage\":{\"prompt_tokens\":NaN}}\n\n"
                    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,"
                    "\"completion_tokens\":1}}\n\n" END,
                    31, &stream, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.text, "a") == 0 && seen.stats_count == 1 && isnan(seen.logprob_sum));
    CHECK(stream.usage.exact && stream.usage.prompt_tokens == 7 && !stream.usage.refused);
    own_logprobs = false;
    /* A client's own log-probabilities are not cut out: it would miss them. */
    CHECK(read_stream(CHUNK("{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":["
                            "{\"logprob\":NaN}]}}") END,
                      31, &stream, &seen, NULL) == TD_CORRUPT);
}

static void test_the_reason_of_an_end_is_known_in_every_form(void)
{
    static const struct {
        const char *reason;
        enum td_finish finish;
    } cases[] = {{"stop", TD_FINISH_STOP},
                 {"length", TD_FINISH_LENGTH},
                 {"tool_calls", TD_FINISH_TOOL_CALLS},
                 {"function_call", TD_FINISH_TOOL_CALLS},
                 {"eos_token", TD_FINISH_STOP},
                 {"", TD_FINISH_STOP}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct openai_stream stream;
        struct seen seen;
        char text[256];
        bool completion = i % 2;
        snprintf(text, sizeof text, "data: {\"choices\":[{%s,\"finish_reason\":\"%s\"}]}\n\n",
                 completion ? "\"text\":\"a\"" : "\"delta\":{\"content\":\"a\"}",
                 cases[i / 2].reason);
        CHECK(read_cut(text, 17, completion, &stream, &seen, NULL) == TD_OK);
        CHECK(stream.finished && !stream.done && stream.finish == cases[i / 2].finish);
    }
}

static void test_an_error_chunk_is_an_error_with_its_words(void)
{
    struct openai_stream stream;
    struct seen seen;
    struct td_error err = {0};
    CHECK(read_stream(SAY("a") "data: {\"error\":{\"message\":\"overloaded\",\"code\":429}}\n\n",
                      50, &stream, &seen, &err) == TD_BUSY);
    CHECK(strstr(err.message, "overloaded"));
    static const struct {
        int code;
        enum td_status status;
    } codes[] = {{399, TD_UNAVAILABLE}, {400, TD_INVALID},     {401, TD_DENIED},
                 {599, TD_UNAVAILABLE}, {600, TD_UNAVAILABLE}, {-1, TD_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char text[128];
        snprintf(text, sizeof text, "data: {\"error\":{\"message\":\"m\",\"code\":%d}}\n\n",
                 codes[i].code);
        CHECK(read_stream(text, 50, &stream, &seen, NULL) == codes[i].status);
    }
    memset(&err, 0, sizeof err);
    CHECK(read_stream("{\"error\":{\"message\":\"broken\",\"code\":\"server_error\"}}", 50, &stream,
                      &seen, &err) == TD_UNAVAILABLE);
    CHECK(strstr(err.message, "broken"));
}

static void test_other_choices_and_what_follows_done_are_ignored(void)
{
    struct openai_stream stream;
    struct seen seen;
    CHECK(read_stream(CHUNK("{\"index\":1,\"delta\":{\"content\":\"other\"}}") SAY("mine") END
                      "data: junk\n\n",
                      7, &stream, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.text, "mine") == 0);
}

static void test_an_endless_event_is_refused(void)
{
    struct openai_stream stream;
    struct seen seen = {0};
    struct td_error err = {0};
    static char bytes[65536];
    memset(bytes, 'a', sizeof bytes);
    openai_stream_init(&stream, false, on_piece, &seen);
    enum td_status status = openai_stream_feed(&stream, STR("data: "), &err);
    int fed = 0;
    while (status == TD_OK && fed++ < 1000)
        status = openai_stream_feed(&stream, (struct td_str){bytes, sizeof bytes}, &err);
    CHECK(status == TD_CORRUPT && fed < 40 && strstr(err.message, "larger"));
    CHECK(openai_stream_feed(&stream, STR("\n\n"), NULL) == TD_CORRUPT); /* sticky */
    openai_stream_deinit(&stream);
}

int main(void)
{
    RUN(test_a_usage_that_cannot_be_true_is_refused_and_the_answer_is_kept);
    RUN(test_a_usage_that_is_no_json_does_not_cost_the_answer);
    RUN(test_what_nobody_can_read_is_told_from_what_is_no_json);
    RUN(test_a_call_with_a_number_that_no_call_has_is_malformed);
    RUN(test_only_what_belongs_to_the_answer_is_progress);
    RUN(test_a_stream_reads_the_same_however_it_is_cut);
    RUN(test_logprobs_become_stats_one_piece_a_token);
    RUN(test_logprobs_of_our_own_leave_no_trace);
    RUN(test_a_completions_logprobs_become_stats);
    RUN(test_a_first_token_without_a_number_is_none);
    RUN(test_wrong_logprobs_of_our_own_cost_no_answer);
    RUN(test_more_logprobs_than_tokens_are_not_counted);
    RUN(test_tool_calls_pass_through_raw);
    RUN(test_a_whole_answer_to_a_streaming_request_is_read);
    RUN(test_a_chat_is_its_delta_and_a_completion_its_text);
    RUN(test_a_server_says_which_text_ended_the_answer);
    RUN(test_an_end_without_done_is_whole_when_a_reason_came);
    RUN(test_a_cut_stream_is_corrupt_at_every_byte);
    RUN(test_malformed_chunks_are_named);
    RUN(test_the_bytes_of_all_chunks_are_added_up);
    RUN(test_a_server_is_known_by_its_model_and_build);
    RUN(test_numbers_that_are_no_json_cost_only_their_own_chunk);
    RUN(test_the_reason_of_an_end_is_known_in_every_form);
    RUN(test_an_error_chunk_is_an_error_with_its_words);
    RUN(test_other_choices_and_what_follows_done_are_ignored);
    RUN(test_an_endless_event_is_refused);
    return test_finish();
}
