/* Writes answers and errors in Anthropic's form. Events keep one content block open at a time
 * (answer_blocks.h). */
#include "api/dialects/messages/messages_response.h"

#include "api/dialects/answer_blocks.h"
#include "api/dialects/answer_members.h"
#include "api/dialects/call_input.h"
#include "api/dialects/dialect.h"
#include "api/dialects/messages/messages_request.h"
#include "api/wire/grown.h"
#include "api/wire/tool_calls.h"
#include "base/core/str.h"

#include <stdio.h>

/* --- errors --- */

/* https://docs.anthropic.com/en/api/errors: the types that clients know, by HTTP code. */
static const char *fault_type(int code)
{
    static const struct {
        int code;
        const char *type;
    } rows[] = {
        {400, "invalid_request_error"}, {401, "authentication_error"}, {403, "permission_error"},
        {404, "not_found_error"},       {413, "request_too_large"},    {429, "rate_limit_error"},
        {503, "overloaded_error"},      {504, "timeout_error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return rows[i].type;
    return code >= 500 ? "api_error" : "invalid_request_error";
}

static void write_fault(const struct fault *fault, struct buf *out)
{
    buf_printf(out, "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":",
               fault_type(fault->code));
    fault_write_words(fault, out);
    buf_append_str(out, STR("}}"));
}

const struct fault_form messages_fault_form = {.write = write_fault, .id_header = "request-id"};

static void write_fault_event(void *ctx, const struct fault *fault, struct buf *out)
{
    (void)ctx;
    sse_begin(out, "error");
    write_fault(fault, out);
    sse_end(out);
}

/* --- pieces of a message --- */

static const char *stop_reason(const struct dialect_reply *reply,
                               const struct exchange_summary *summary, bool has_calls)
{
    switch (summary->finish) {
    case TD_FINISH_LENGTH:
        return "max_tokens";
    case TD_FINISH_CONTENT_FILTER:
        return "refusal";
    case TD_FINISH_TOOL_CALLS: /* without calls it is one of OpenAI's form before 2023-11 */
    case TD_FINISH_STOP:       /* some peers call it so although there are calls */
        break;
    }
    if (has_calls)
        return "tool_use";
    return response_stop(&reply->request->td, summary).len > 0 ? "stop_sequence" : "end_turn";
}

/* The values of stop_reason and stop_sequence; reason NULL: the message has not ended. */
static void write_stop(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       const char *reason, struct buf *out)
{
    bool is_text = reason && strcmp(reason, "stop_sequence") == 0;
    if (reason)
        json_write_text(str_from(reason), out);
    else
        buf_append_str(out, STR("null"));
    buf_append_str(out, STR(",\"stop_sequence\":"));
    if (is_text)
        json_write_text(response_stop(&reply->request->td, summary), out);
    else
        buf_append_str(out, STR("null"));
}

/* Anthropic does not count cached tokens as input but beside it, and so what it has put there. */
static void write_usage(const struct response_answer *answer, const struct tier_usage *usage,
                        struct buf *out)
{
    uint32_t cached =
        usage->cached_tokens < usage->prompt_tokens ? usage->cached_tokens : usage->prompt_tokens;
    uint32_t rest = usage->prompt_tokens - cached;
    uint32_t written = usage->cache_written < rest ? usage->cache_written : rest;
    buf_printf(out,
               "{\"input_tokens\":%u,\"cache_creation_input_tokens\":%u,"
               "\"cache_read_input_tokens\":%u,\"output_tokens\":%u",
               rest - written, written, cached, usage->completion_tokens);
    answer_members_write_usage(answer, usage, out);
    buf_append_char(out, '}');
}

static void write_head(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       struct buf *out)
{
    const struct response_writer *writer = &reply->writer;
    buf_printf(out, "{\"id\":\"msg_%s\",\"type\":\"message\",\"role\":\"assistant\",\"model\":",
               writer->id);
    json_write_text(str_from(summary->model ? summary->model : writer->model), out);
    buf_append_str(out, STR(",\"content\":["));
}

/* Thoughts of Anthropic's models, each with what proves it, or in cipher. NULL = none is proved, or
 * the client does not want them. **returns new** (json_free) */
static struct json *proved_thoughts(const struct dialect_reply *reply)
{
    struct json *details = reply->request->keeps_signatures
                               ? grown_value(reply->answer.members, "reasoning_details")
                               : NULL;
    for (size_t i = 0; json_kind_of(details) == JSON_KIND_ARRAY && i < json_count(details); i++)
        if (json_get_text(json_at(details, i), "signature").len > 0 ||
            json_get_text(json_at(details, i), "data").len > 0)
            return details;
    json_free(details);
    return NULL;
}

/* What a message has no form for. */
static void write_rest(const struct dialect_reply *reply, struct buf *out)
{
    struct json *thoughts = proved_thoughts(reply);
    const struct answer_shown shown = {.reasoning = !reply->request->hides_reasoning,
                                       .thoughts = thoughts != NULL};
    json_free(thoughts);
    answer_members_write(&reply->answer, &shown, out);
}

/* The members after the content. */
static void write_tail(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       const char *reason, struct buf *out)
{
    buf_append_str(out, STR("],\"stop_reason\":"));
    write_stop(reply, summary, reason, out);
    buf_append_str(out, STR(",\"usage\":"));
    write_usage(&reply->answer, &summary->usage, out);
    if (reason)
        write_rest(reply, out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(&reply->writer, summary, out);
    buf_append_char(out, '}');
}

/* Such as a thought signature, which comes back with the call. */
static void write_call_rest(const struct grown *rest, struct buf *out)
{
    static const char *const own[] = {"id",    "index",  "type",     "name",
                                      "input", "custom", "function", NULL};
    grown_write(rest, own, out);
}

/* A call without an id from its tier gets one, the same in each of its events. */
static void write_call_id(const struct dialect_reply *reply, struct td_str id, size_t index,
                          struct buf *out)
{
    char own[RESPONSE_ID_BYTES + 32];
    snprintf(own, sizeof own, "toolu_%s_%zu", reply->writer.id, index);
    json_write_text(id.len > 0 ? id : str_from(own), out);
}

/* --- whole messages --- */

static bool write_calls(const struct dialect_reply *reply, const struct exchange_summary *summary,
                        bool first, struct buf *out, struct fault *fault)
{
    const struct tool_calls *calls = reply->answer.tool_calls;
    size_t count = tool_calls_count(calls);
    for (size_t i = 0; i < count; i++) {
        struct tool_call_text call = tool_calls_at(calls, i);
        size_t mark = out->len;
        buf_append_str(out, first ? STR("{\"type\":\"tool_use\",\"id\":")
                                  : STR(",{\"type\":\"tool_use\",\"id\":"));
        write_call_id(reply, call.id, i, out);
        buf_append_str(out, STR(",\"name\":"));
        json_write_text(call.name, out);
        buf_append_str(out, STR(",\"input\":"));
        if (call_input_write(&call, out, fault)) {
            write_call_rest(call.rest, out);
            buf_append_char(out, '}');
            first = false;
            continue;
        }
        if (summary->finish != TD_FINISH_LENGTH || i + 1 < count)
            return false;
        buf_truncate(out, mark); /* the limit cut it: the stop reason says so */
        fault->code = 0;
    }
    return true;
}

static void write_text_block(struct td_str text, struct buf *out)
{
    buf_append_str(out, STR("{\"type\":\"text\",\"text\":"));
    json_write_text(text, out);
    buf_append_char(out, '}');
}

/* Anthropic's models sign what they think; others have no signature. */
static void write_thinking_block(struct td_str text, struct td_str signature, struct buf *out)
{
    buf_append_str(out, STR("{\"type\":\"thinking\",\"thinking\":"));
    json_write_text(text, out);
    buf_append_str(out, STR(",\"signature\":"));
    json_write_text(signature, out);
    buf_append_char(out, '}');
}

static void write_cipher_block(struct td_str data, struct buf *out)
{
    buf_append_str(out, STR("{\"type\":\"redacted_thinking\",\"data\":"));
    json_write_text(data, out);
    buf_append_char(out, '}');
}

static size_t write_thoughts(const struct dialect_reply *reply, const struct json *details,
                             struct buf *out)
{
    size_t written = 0;
    for (size_t i = 0; i < json_count(details); i++) {
        const struct json *detail = json_at(details, i);
        struct td_str text = json_get_text(detail, "text");
        struct td_str signature = json_get_text(detail, "signature");
        struct td_str data = json_get_text(detail, "data");
        if (signature.len == 0 && data.len == 0)
            continue;
        if (written++ > 0)
            buf_append_char(out, ',');
        if (signature.len > 0)
            write_thinking_block(reply->request->hides_reasoning ? STR("") : text, signature, out);
        else
            write_cipher_block(data, out);
    }
    return written;
}

static bool write_thinking(const struct dialect_reply *reply, struct buf *out)
{
    struct json *thoughts = proved_thoughts(reply);
    if (thoughts) {
        write_thoughts(reply, thoughts, out);
        json_free(thoughts);
        return true;
    }
    struct json *reasoning =
        reply->request->hides_reasoning ? NULL : answer_members_reasoning_whole(&reply->answer);
    if (reasoning)
        write_thinking_block(json_text(reasoning), STR(""), out);
    json_free(reasoning);
    return reasoning != NULL;
}

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    const struct response_answer *answer = &reply->answer;
    write_head(reply, summary, out);
    bool first = !write_thinking(reply, out);
    const struct buf *const texts[] = {&answer->content, &answer->refusal};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]->len == 0)
            continue;
        if (!first)
            buf_append_char(out, ',');
        write_text_block(buf_view(texts[i]), out);
        first = false;
    }
    if (!response_answer_failed(answer) && !write_calls(reply, summary, first, out, fault))
        return false;
    const char *reason = stop_reason(reply, summary, tool_calls_count(answer->tool_calls) > 0);
    write_tail(reply, summary, answer->refusal.len > 0 ? "refusal" : reason, out);
    return !response_answer_failed(answer) && !out->failed;
}

/* --- streams --- */

#define PING "event: ping\ndata: {\"type\":\"ping\"}\n\n"

static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    answer_blocks_init(reply->state, reply->request->hides_reasoning,
                       !reply->request->keeps_signatures);
    sse_begin(out, "message_start");
    buf_append_str(out, STR("{\"type\":\"message_start\",\"message\":"));
    write_head(reply, summary, out);
    write_tail(reply, summary, NULL, out);
    buf_append_char(out, '}');
    sse_end(out);
    buf_append_str(out, STR(PING));
}

static void end_event(struct buf *out)
{
    buf_append_char(out, '}');
    sse_end(out);
}

static void begin_block(void *ctx, const struct answer_blocks *blocks, struct td_str id,
                        struct td_str name, struct buf *out)
{
    const struct dialect_reply *reply = ctx;
    sse_begin(out, "content_block_start");
    buf_printf(out, "{\"type\":\"content_block_start\",\"index\":%zu,\"content_block\":",
               blocks->count - 1);
    if (blocks->open == BLOCK_CALL) {
        buf_append_str(out, STR("{\"type\":\"tool_use\",\"id\":"));
        write_call_id(reply, id, blocks->call_count - 1, out);
        buf_append_str(out, STR(",\"name\":"));
        json_write_text(name, out);
        buf_append_str(out, STR(",\"input\":{}"));
        write_call_rest(answer_blocks_call_rest(blocks, reply->answer.tool_calls), out);
        buf_append_char(out, '}');
    } else if (blocks->open == BLOCK_REASONING) {
        write_thinking_block(STR(""), STR(""), out);
    } else if (blocks->open == BLOCK_REDACTED) {
        write_cipher_block(id, out);
    } else {
        write_text_block(STR(""), out);
    }
    end_event(out);
}

static void write_delta(const struct answer_blocks *blocks, const char *type, const char *name,
                        struct td_str text, struct buf *out)
{
    sse_begin(out, "content_block_delta");
    buf_printf(out,
               "{\"type\":\"content_block_delta\",\"index\":%zu,\"delta\":{\"type\":\"%s\","
               "\"%s\":",
               blocks->count - 1, type, name);
    json_write_text(text, out);
    buf_append_char(out, '}');
    end_event(out);
}

static void sign_block(void *ctx, const struct answer_blocks *blocks, struct td_str text,
                       struct buf *out)
{
    (void)ctx;
    write_delta(blocks, "signature_delta", "signature", text, out);
}

static void add_to_block(void *ctx, const struct answer_blocks *blocks, struct td_str text,
                         struct buf *out)
{
    (void)ctx;
    static const char *const names[][2] = {[BLOCK_NONE] = {"", ""},
                                           [BLOCK_REASONING] = {"thinking_delta", "thinking"},
                                           [BLOCK_REDACTED] = {"", ""},
                                           [BLOCK_TEXT] = {"text_delta", "text"},
                                           [BLOCK_REFUSAL] = {"text_delta", "text"},
                                           [BLOCK_CALL] = {"input_json_delta", "partial_json"}};
    write_delta(blocks, names[blocks->open][0], names[blocks->open][1], text, out);
}

static void end_block(void *ctx, const struct answer_blocks *blocks, struct buf *out)
{
    (void)ctx;
    sse_begin(out, "content_block_stop");
    buf_printf(out, "{\"type\":\"content_block_stop\",\"index\":%zu", blocks->count - 1);
    end_event(out);
}

static const struct block_ops block_ops = {begin_block, add_to_block, end_block, sign_block};

static bool write_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    (void)summary;
    response_answer_add_calls(&reply->answer, json_get(response_raw_message(piece), "tool_calls"));
    response_answer_add_members(&reply->answer, piece);
    return answer_blocks_feed(reply->state, &block_ops, reply, piece, out, fault);
}

/* Anthropic's libraries pass over events that they do not know. What is no text block is over. */
static void write_correction(struct dialect_reply *reply, const struct exchange_summary *summary,
                             struct buf *out)
{
    struct answer_blocks *blocks = reply->state;
    if (blocks->open != BLOCK_TEXT)
        answer_blocks_end(blocks, &block_ops, reply, out);
    response_answer_clear(&reply->answer);
    sse_begin(out, "tandem.correction");
    buf_append_str(out, STR("{\"type\":\"tandem.correction\","));
    response_write_correction(summary, out);
    end_event(out);
}

static void write_verdict(struct dialect_reply *reply, const struct exchange_summary *summary,
                          struct buf *out)
{
    char name[32];
    (void)reply;
    snprintf(name, sizeof name, "tandem.%s", response_verdict_name(summary));
    sse_begin(out, name);
    buf_printf(out, "{\"type\":\"%s\",", name);
    response_write_verdict(summary, out);
    end_event(out);
}

static bool write_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    struct answer_blocks *blocks = reply->state;
    if (response_answer_failed(&reply->answer)) {
        fault_too_large(fault);
        return false;
    }
    const char *reason = stop_reason(reply, summary, blocks->call_count > 0);
    answer_blocks_end(blocks, &block_ops, reply, out);
    sse_begin(out, "message_delta");
    buf_append_str(out, STR("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"));
    write_stop(reply, summary, blocks->refused ? "refusal" : reason, out);
    buf_append_str(out, STR("},\"usage\":"));
    write_usage(&reply->answer, &summary->usage, out);
    write_rest(reply, out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(&reply->writer, summary, out);
    end_event(out);
    sse_begin(out, "message_stop");
    buf_append_str(out, STR("{\"type\":\"message_stop\""));
    end_event(out);
    return true;
}

static bool finish_request(const struct json *asked, struct arena *arena, struct chat_request *out,
                           struct fault *fault)
{
    (void)arena;
    (void)fault;
    out->hides_reasoning = !messages_request_shows_thinking(asked);
    out->keeps_signatures = messages_request_thinks(asked);
    return true;
}

static const struct event_form form = {
    .keep_alive = {PING, sizeof PING - 1},
    .frame_bytes_max = 4u << 20,
    .write_fault = write_fault_event,
};

static const struct dialect_name names[] = {
    {"stop", "stop_sequences"},
    {"user", "metadata.user_id"},
    {"reasoning_effort", "output_config.effort"},
    {"max_completion_tokens", "max_tokens"},
    {"response_format.json_schema", "output_config.format"},
    {NULL, NULL},
};

const struct dialect dialect_messages = {
    .form = &form,
    .state_bytes = sizeof(struct answer_blocks),
    .names = names,
    .translate = messages_request_translate,
    .finish_request = finish_request,
    .list_left_out = messages_request_list_left_out,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .has_corrections = true,
    .write_correction = write_correction,
    .write_verdict = write_verdict,
    .write_finish = write_finish,
};
