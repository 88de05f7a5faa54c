/* The OpenAI wire format without a network: addresses, bodies, refusals, streams. */
#include "tier/openai_wire.h"

#include "base/json.h"
#include "base/str.h"
#include "wire_members.h"

#include <math.h>

/* --- addresses --- */

static void test_plain_http_only_reaches_this_machine(void)
{
    static const struct {
        const char *url;
        bool plain, with_allow_http;
    } cases[] = {
        {"https://api.example.com/v1", true, true},
        {"HTTPS://api.example.com", true, true},
        {"http://localhost:8080/v1", true, true},
        {"http://127.0.0.1:1/v1", true, true},
        {"http://127.8.9.1", true, true},
        {"http://[::1]:80/", true, true},
        {"http://api.example.com/v1", false, true},
        {"http://127.example.com/v1", false, true},
        {"http://localhost.example.com", false, true},
        {"http://[::2]/", false, true},
        {"http://[::1", false, false},
        {"http://127.0.0.1@example.com/", false, false},
        {"https://user:pass@example.com/", false, false},
        {"http://127.0.0.1\\@example.com/", false, false},
        {"https:///v1", false, false},
        {"ftp://example.com", false, false},
        {"file:///etc/passwd", false, false},
        {"example.com", false, false},
        {"", false, false},
        {"https://exa mple.com", false, false},
        {"https://example.com/\r\nX: y", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        bool plain = openai_check_url(str_from(cases[i].url), false, &err) == TD_OK;
        bool allowed = openai_check_url(str_from(cases[i].url), true, NULL) == TD_OK;
        CHECK(plain == cases[i].plain && allowed == cases[i].with_allow_http);
        CHECK(plain || err.message[0]);
        if (plain != cases[i].plain || allowed != cases[i].with_allow_http)
            fprintf(stderr, "  case: %s\n", cases[i].url);
    }
}

/* --- bodies --- */

static const struct tier_facts facts = {.name = "openai", .model = "gpt-x"};

static bool writes(const struct td_request *request, const char *wanted)
{
    struct buf out;
    buf_init(&out, 65536);
    bool same = openai_write_body(request, &facts, false, &out, NULL) == TD_OK && out.data &&
                strcmp(out.data, wanted) == 0;
    if (!same)
        fprintf(stderr, "  wrote: %s\n", out.data ? out.data : "(nothing)");
    buf_deinit(&out);
    return same;
}

static void test_a_clients_members_are_handed_on_with_our_model(void)
{
    struct wire_members wire;
    struct td_request request = {.messages = NULL};
    wire_members_init(&wire,
                      "{\"model\":\"auto\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                      "\"tools\":[{\"type\":\"function\"}],"
                      "\"stream\":false,\"stream_options\":{\"include_obfuscation\":false}}",
                      &request);
    CHECK(writes(&request,
                 "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                 "\"tools\":[{\"type\":\"function\"}],\"stream\":true,"
                 "\"stream_options\":{\"include_obfuscation\":false,\"include_usage\":true}}"));
    CHECK(strcmp(json_cstr(json_get(wire.body, "model")), "auto") == 0); /* unchanged */
    wire_members_deinit(&wire);
}

static void test_a_body_is_built_from_messages(void)
{
    struct td_message messages[] = {{TD_ROLE_SYSTEM, STR("be \"brief\"")},
                                    {TD_ROLE_USER, STR("hi\n")}};
    struct td_request request = {
        .messages = messages,
        .message_count = 2,
        .tokens_max = 9,
        .sampling = {.temperature = 0.7f, .top_p = 0.9f, .seed = 5, .seed_set = true},
        .stops = {STR("END")},
        .stop_count = 1,
    };
    CHECK(writes(&request, "{\"messages\":[{\"role\":\"system\",\"content\":\"be \\\"brief\\\"\"},"
                           "{\"role\":\"user\",\"content\":\"hi\\n\"}],\"max_tokens\":9,"
                           "\"temperature\":0.7,\"top_p\":0.9,\"seed\":5,\"stop\":[\"END\"],"
                           "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},"
                           "\"stream\":true}"));
}

static void test_logprobs_are_asked_for_only_when_the_client_did(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {.messages = &message,
                                 .message_count = 1,
                                 .sampling = {.temperature = 1, .top_p = 1},
                                 .logprobs = true,
                                 .top_logprobs = 3};
    CHECK(writes(&request,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"temperature\":1.0,"
                 "\"logprobs\":true,\"top_logprobs\":3,\"model\":\"gpt-x\","
                 "\"stream_options\":{\"include_usage\":true},\"stream\":true}"));
}

static void test_a_judged_answer_is_asked_for_with_logprobs_and_asked_for_without(void)
{
    static const char plain[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"temperature\":1.0,"
        "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},\"stream\":true}";
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {
        .messages = &message, .message_count = 1, .sampling = {.temperature = 1, .top_p = 1}};
    struct buf out;
    buf_init(&out, 4096);
    CHECK(openai_write_body(&request, &facts, true, &out, NULL) == TD_OK);
    CHECK(strstr(out.data, "\"logprobs\":true,\"top_logprobs\":2"));
    CHECK(openai_drop_logprobs(&out, NULL) == TD_OK);
    CHECK(str_equal(buf_view(&out), str_from(plain)));
    buf_clear(&out);
    request.logprobs = true; /* the client's own question stays as it is */
    CHECK(openai_write_body(&request, &facts, true, &out, NULL) == TD_OK);
    CHECK(strstr(out.data, "\"logprobs\":true,\"top_logprobs\":0"));
    buf_deinit(&out);
}

static void test_a_refusal_may_speak_of_logprobs(void)
{
    CHECK(openai_names_logprobs(STR("extra input: [\"body\",\"Top_LogProbs\"]")));
    CHECK(openai_names_logprobs(STR("logprob")));
    CHECK(!openai_names_logprobs(STR("logpro")) && !openai_names_logprobs(STR("")));
}

static void test_what_is_left_to_the_model_is_not_sent(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {.messages = &message,
                                 .message_count = 1,
                                 .sampling = {.temperature = 1, .top_p = 1},
                                 .left_to_model = SETTING_TEMPERATURE};
    CHECK(writes(&request, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                           "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},"
                           "\"stream\":true}"));
}

/* What the client allows is allowed in whichever member it said so; who may begin anew is allowed
 * the whole. */
static void test_a_tier_that_goes_on_is_allowed_what_is_left(void)
{
    static const struct {
        enum prefill prefill;
        const char *body, *wanted;
        uint32_t left;
    } cases[] = {
#define BODY(more) "{\"messages\":[{\"role\":\"assistant\",\"content\":\"So\"}]" more "}"
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_MESSAGE, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40",
         40},
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90,\"max_completion_tokens\":80"),
         "\"max_tokens\":40,\"max_completion_tokens\":40", 40},
        {PREFILL_PREFIX, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_PREFIX, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40", 40},
        {PREFILL_FINAL, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_FINAL, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40", 40},
        {PREFILL_NONE, BODY(",\"max_tokens\":90"), "\"max_tokens\":90", 40},
        {PREFILL_NONE, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":90", 40},
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90"), "\"max_tokens\":90", 0}, /* unknown */
#undef BODY
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_members wire;
        struct td_request request = {.continues = true, .tokens_max = cases[i].left};
        struct tier_facts server = facts;
        struct buf out;
        server.prefill = cases[i].prefill;
        buf_init(&out, 1 << 16);
        wire_members_init(&wire, cases[i].body, &request);
        CHECK(openai_write_body(&request, &server, false, &out, NULL) == TD_OK);
        buf_append_char(&out, '\0');
        if (!strstr(out.data, cases[i].wanted))
            printf("row %zu: %s\n", i, out.data);
        CHECK(strstr(out.data, cases[i].wanted));
        wire_members_deinit(&wire);
        buf_deinit(&out);
    }
}

static void test_a_body_over_the_limit_is_an_error(void)
{
    struct td_message message = {TD_ROLE_USER, STR("a rather long message for a small buffer")};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct buf out;
    struct td_error err = {0};
    buf_init(&out, 50);
    CHECK(openai_write_body(&request, &facts, false, &out, &err) == TD_LIMIT && err.message[0]);
    buf_deinit(&out);
}

/* --- refusals --- */

static void test_http_codes_say_what_to_do(void)
{
    static const struct {
        int code;
        enum td_status status;
    } cases[] = {
        {400, TD_INVALID},     {401, TD_DENIED},      {403, TD_DENIED},      {404, TD_NOT_FOUND},
        {408, TD_TIMEOUT},     {413, TD_LIMIT},       {422, TD_INVALID},     {429, TD_BUSY},
        {500, TD_UNAVAILABLE}, {503, TD_UNAVAILABLE}, {302, TD_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(openai_status_of_http(cases[i].code) == cases[i].status);
}

static void test_error_messages_are_found_bounded_and_clean(void)
{
    static char longest[4000];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, "{\"error\":\"", 10);
    memcpy(longest + sizeof longest - 3, "\"}", 2);
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"{\"error\":{\"message\":\"no such model\",\"type\":\"x\"}}", "HTTP 404: no such model"},
        {"{\"error\":\"plain\"}", "HTTP 404: plain"},
        {"{\"message\":\"top\"}", "HTTP 404: top"},
        {"{\"detail\":\"fast\"}", "HTTP 404: fast"},
        {"{\"detail\":[{\"loc\":1}]}", "HTTP 404"},
        {"{\"error\":{\"message\":\"a\\u001b[31m\\nb\\u007f\"}}", "HTTP 404: a [31m b "},
        {"<html>not json</html>", "HTTP 404"},
        {"", "HTTP 404"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        openai_read_error(404, str_from(cases[i].body), &err);
        CHECK(err.status == TD_NOT_FOUND && strcmp(err.message, cases[i].message) == 0);
    }
    struct td_error err = {0};
    openai_read_error(404, str_from(longest), &err);
    CHECK(strlen(err.message) < 300 && strlen(err.message) > 200);
}

static void test_retry_after_in_seconds_only(void)
{
    const uint64_t day_ms = 86400000, now_ms = UINT64_C(1792567650000); /* 07:27:30 of that day */
    CHECK(openai_retry_after_ms("2", now_ms) == 2000 && openai_retry_after_ms(" 0 ", now_ms) == 0);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2026 07:28:00 GMT", now_ms) == 30000);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2020 07:28:00 GMT", now_ms) == 0);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 9999 07:28:00 GMT", now_ms) == day_ms);
    CHECK(openai_retry_after_ms("18446744073709551615", now_ms) == day_ms);
    CHECK(openai_retry_after_ms("99999999999999999999999", now_ms) == day_ms);
    static const char *const malformed[] = {
        NULL, "", "-1", "1.5", "2 s", "soon", "Wed, 99 Foo 26", "Wed, 21 Oct 2026 07:28:00 GMT x"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        CHECK(openai_retry_after_ms(malformed[i], now_ms) == UINT64_MAX);
}

/* --- streams --- */

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

static enum td_status read_cut(const char *text, size_t step, bool completion,
                               struct openai_stream *stream, struct seen *seen,
                               struct td_error *err)
{
    memset(seen, 0, sizeof *seen);
    openai_stream_init(stream, completion, on_piece, seen);
    stream->own_logprobs = own_logprobs;
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
        CHECK(strcmp(seen.text, "Gr\xc3\xbc\xc3\x9f dich") == 0 && seen.piece_count == 2);
        CHECK(seen.raw_count == 0 && seen.stats_count == 0);
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
        {"data: {\"a\":1,\"a\":2}\n\n", "not JSON"},
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
        CHECK(stream.usage.exact == cases[i].exact && stream.usage.refused == !cases[i].exact);
        CHECK(stream.usage.cached_tokens == cases[i].cached);
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
    RUN(test_plain_http_only_reaches_this_machine);
    RUN(test_a_clients_members_are_handed_on_with_our_model);
    RUN(test_a_body_is_built_from_messages);
    RUN(test_logprobs_are_asked_for_only_when_the_client_did);
    RUN(test_a_judged_answer_is_asked_for_with_logprobs_and_asked_for_without);
    RUN(test_a_refusal_may_speak_of_logprobs);
    RUN(test_what_is_left_to_the_model_is_not_sent);
    RUN(test_a_tier_that_goes_on_is_allowed_what_is_left);
    RUN(test_a_body_over_the_limit_is_an_error);
    RUN(test_http_codes_say_what_to_do);
    RUN(test_error_messages_are_found_bounded_and_clean);
    RUN(test_retry_after_in_seconds_only);
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
    RUN(test_an_end_without_done_is_whole_when_a_reason_came);
    RUN(test_a_cut_stream_is_corrupt_at_every_byte);
    RUN(test_malformed_chunks_are_named);
    RUN(test_an_error_chunk_is_an_error_with_its_words);
    RUN(test_other_choices_and_what_follows_done_are_ignored);
    RUN(test_an_endless_event_is_refused);
    return test_finish();
}
