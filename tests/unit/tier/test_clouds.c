/* Streams of clouds with APIs of their own: what is passed over, what ends the answer, and what is
 * not believed. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"
#include "tier/cards/model_cards.h"
#include "tier/openai/openai_dialect.h"
#include "tier/openai/openai_wire.h"
#include "tier/servers.h"

struct seen {
    char text[256], raw[2048];
    enum td_status status;
    struct td_error err;
    struct tier_usage usage;
    enum td_finish finish;
    bool finished, done;
};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct seen *seen = ctx;
    struct buf raw;
    size_t len = strlen(seen->text), raw_len = strlen(seen->raw);
    snprintf(seen->text + len, sizeof seen->text - len, STR_FMT, STR_ARG(piece->text));
    if (!piece->raw_delta)
        return;
    buf_init(&raw, sizeof seen->raw);
    json_write(piece->raw_delta, &raw);
    snprintf(seen->raw + raw_len, sizeof seen->raw - raw_len, "%s", raw.data ? raw.data : "");
    buf_deinit(&raw);
}

static struct seen read_stream(const struct tier_server *server, const char *text)
{
    struct seen seen = {0};
    struct openai_stream stream;
    openai_stream_init(&stream, false, on_piece, &seen);
    CHECK(openai_stream_speak(&stream, server->dialect, NULL) == TD_OK);
    seen.status = openai_stream_feed(&stream, str_from(text), &seen.err);
    if (seen.status == TD_OK)
        seen.status = openai_stream_end(&stream, &seen.err);
    seen.usage = stream.usage;
    seen.finish = stream.finish;
    seen.finished = stream.finished;
    seen.done = stream.done;
    openai_stream_deinit(&stream);
    return seen;
}

#define EVENT(json) "data: " json "\n\n"
#define BEGIN(kind) \
    EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":" kind "}")
#define TEXT_BLOCK BEGIN("{\"type\":\"text\",\"text\":\"\"}")
#define SAY(text)                                                                             \
    EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\"," \
          "\"text\":\"" text "\"}}")
#define CLOSE EVENT("{\"type\":\"content_block_stop\",\"index\":0}")
#define STOP                                                                                \
    EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":" \
          "{\"output_tokens\":2}}")                                                         \
    EVENT("{\"type\":\"message_stop\"}")

static void test_what_a_provider_adds_is_passed_over(void)
{
    struct seen seen = read_stream(
        &server_anthropic,
        ": comment\n\n" EVENT("{\"type\":\"a_new_event\",\"delta\":7}")
            BEGIN("{\"type\":\"a_new_block\"}")
                EVENT("{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"new_delta\"}}")
                    CLOSE TEXT_BLOCK SAY("Hi") CLOSE STOP);
    CHECK(seen.status == TD_OK && strcmp(seen.text, "Hi") == 0 && seen.done);
    CHECK(seen.usage.exact && seen.usage.completion_tokens == 2);
    seen = read_stream(&server_gemini,
                       EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"executableCode\":{}},"
                             "{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}],\"new\":[]}"));
    CHECK(seen.status == TD_OK && strcmp(seen.text, "Hi") == 0 && seen.finish == TD_FINISH_STOP);
}

static void test_what_has_not_the_documented_shape_ends_the_answer(void)
{
    static const struct {
        const struct tier_server *server;
        const char *text;
    } rows[] = {
        {&server_anthropic, TEXT_BLOCK TEXT_BLOCK STOP},
        {&server_anthropic, SAY("Hi") STOP},
        {&server_anthropic, EVENT("{\"type\":\"content_block_start\",\"content_block\":1}") STOP},
        {&server_anthropic, EVENT("[1]")},
        {&server_anthropic, EVENT("{\"type\":")},
        {&server_anthropic, TEXT_BLOCK SAY("Hi")},
        {&server_anthropic, ""},
        {&server_gemini, EVENT("{\"candidates\":{}}")},
        {&server_gemini, EVENT("{\"candidates\":[{\"content\":{\"parts\":{}}}]}")},
        {&server_gemini, EVENT("{\"candidates\":[{\"content\":{\"parts\":[1]}}]}")},
        {&server_gemini, EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}")},
        {&server_bedrock, "data: {}\n\n"},
        {&server_bedrock, "{\"message\":\"a whole answer\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen seen = read_stream(rows[i].server, rows[i].text);
        CHECK(seen.status == TD_CORRUPT && seen.err.message[0]);
    }
}

static void test_counts_that_cannot_be_are_not_believed(void)
{
    static const char *const counts[] = {"-1", "9223372036854775807", "\"7\"", "1e9", "{}"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},"
                       "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,"
                       "\"candidatesTokenCount\":%s,\"thoughtsTokenCount\":%s}}"),
                 counts[i], counts[i]);
        struct seen seen = read_stream(&server_gemini, text);
        CHECK(seen.status == TD_OK && strcmp(seen.text, "a") == 0);
        CHECK(seen.usage.completion_tokens < 8u << 20);
    }
}

static void test_nothing_is_read_after_the_end(void)
{
    struct seen seen =
        read_stream(&server_anthropic, TEXT_BLOCK SAY("Hi") CLOSE STOP TEXT_BLOCK SAY(" more"));
    CHECK(seen.status == TD_OK && strcmp(seen.text, "Hi") == 0);
}

static void test_a_chat_without_a_users_message_is_refused_with_words(void)
{
    struct json *chat = NULL;
    CHECK(json_parse(STR("{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}]}"), &chat,
                     NULL) == TD_OK);
    const struct tier_server *const servers[] = {&server_anthropic, &server_gemini,
                                                 &server_bedrock};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        const struct dialect_ask ask = {.model = "m"};
        struct td_error err = {0};
        struct buf out;
        buf_init(&out, 4096);
        CHECK(servers[i]->dialect->write_body(chat, &ask, &out, &err) == TD_INVALID);
        CHECK(err.message[0] && out.len == 0);
        buf_deinit(&out);
    }
    json_free(chat);
}

int main(void)
{
    RUN(test_what_a_provider_adds_is_passed_over);
    RUN(test_what_has_not_the_documented_shape_ends_the_answer);
    RUN(test_counts_that_cannot_be_are_not_believed);
    RUN(test_nothing_is_read_after_the_end);
    RUN(test_a_chat_without_a_users_message_is_refused_with_words);
    return test_finish();
}
