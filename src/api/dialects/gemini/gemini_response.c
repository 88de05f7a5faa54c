#include "api/dialects/gemini/gemini_response.h"

#include "api/dialects/call_input.h"
#include "api/dialects/dialect.h"
#include "api/dialects/gemini/gemini_request.h"
#include "api/wire/grown.h"
#include "api/wire/tool_calls.h"
#include "base/core/str.h"

#include <stdio.h>

/* --- errors --- */

/* google.rpc.Code, by HTTP code (google/rpc/code.proto). */
static const char *fault_status(int code)
{
    static const struct {
        int code;
        const char *status;
    } rows[] = {
        {400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"},    {403, "PERMISSION_DENIED"},
        {404, "NOT_FOUND"},        {408, "DEADLINE_EXCEEDED"},  {409, "ABORTED"},
        {413, "INVALID_ARGUMENT"}, {429, "RESOURCE_EXHAUSTED"}, {499, "CANCELLED"},
        {503, "UNAVAILABLE"},      {504, "DEADLINE_EXCEEDED"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return rows[i].status;
    return code >= 500 ? "INTERNAL" : "FAILED_PRECONDITION";
}

#define TYPE(name) "{\"@type\":\"type.googleapis.com/google.rpc." name "\","

static void write_fault(const struct fault *fault, struct buf *out)
{
    buf_printf(out, "{\"error\":{\"code\":%d,\"message\":", fault->code);
    json_write_text(str_from(fault->message), out);
    buf_printf(out, ",\"status\":\"%s\",\"details\":[", fault_status(fault->code));
    buf_append_str(out, STR(TYPE("ErrorInfo") "\"reason\":"));
    json_write_text(str_from(fault->error_code ? fault->error_code : fault->type), out);
    buf_append_str(out, STR(",\"domain\":\"tandem\"}"));
    if (fault->param[0]) {
        buf_append_str(out, STR("," TYPE("BadRequest") "\"fieldViolations\":[{\"field\":"));
        json_write_text(str_from(fault->param), out);
        buf_append_str(out, STR(",\"description\":"));
        json_write_text(str_from(fault->message), out);
        buf_append_str(out, STR("}]}"));
    }
    if (fault->retry_after_s)
        buf_printf(out, "," TYPE("RetryInfo") "\"retryDelay\":\"%us\"}", fault->retry_after_s);
    buf_append_str(out, STR("]}}"));
}

const struct fault_form gemini_fault_form = {.write = write_fault, .key_in_query = true};

/* --- pieces of an object --- */

struct stream {
    bool array;   /* elements of an array, not events */
    size_t count; /* objects that were written */
};

/* One list of parts under way. */
struct parts {
    struct buf *out;
    size_t count;
};

static void begin_part(struct parts *parts)
{
    if (parts->count++)
        buf_append_char(parts->out, ',');
    buf_append_char(parts->out, '{');
}

/* The thought signature of an `extra_content`; "" = none. */
static struct td_str signature_of(const struct json *extra)
{
    return json_text(json_get(json_get(extra, "google"), "thought_signature"));
}

static void end_part(struct parts *parts, struct td_str signature)
{
    if (signature.len > 0) {
        buf_append_str(parts->out, STR(",\"thoughtSignature\":"));
        json_write_text(signature, parts->out);
    }
    buf_append_char(parts->out, '}');
}

static void write_text(struct parts *parts, struct td_str text, bool thought,
                       struct td_str signature)
{
    if (text.len == 0 && signature.len == 0)
        return;
    begin_part(parts);
    buf_append_str(parts->out, STR("\"text\":"));
    json_write_text(text, parts->out);
    if (thought)
        buf_append_str(parts->out, STR(",\"thought\":true"));
    end_part(parts, signature);
}

/* Servers have two names for them. */
static const char *const thoughts[] = {"reasoning_content", "reasoning"};
enum { THOUGHT_NAMES = sizeof thoughts / sizeof *thoughts };

static void write_thoughts(struct parts *parts, const struct grown *members)
{
    struct json *thought = NULL;
    for (size_t i = 0; i < THOUGHT_NAMES && !thought; i++)
        thought = grown_value(members, thoughts[i]);
    write_text(parts, json_text(thought), true, STR(""));
    json_free(thought);
}

static bool write_call(struct parts *parts, const struct tool_call_text *call, struct fault *fault)
{
    begin_part(parts);
    buf_append_str(parts->out, STR("\"functionCall\":{"));
    if (call->id.len > 0) {
        buf_append_str(parts->out, STR("\"id\":"));
        json_write_text(call->id, parts->out);
        buf_append_char(parts->out, ',');
    }
    buf_append_str(parts->out, STR("\"name\":"));
    json_write_text(call->name, parts->out);
    buf_append_str(parts->out, STR(",\"args\":"));
    if (!call_input_write(call, parts->out, fault)) /* `args` is an object */
        return false;
    buf_append_char(parts->out, '}');
    struct json *extra = grown_value(call->rest, "extra_content");
    end_part(parts, signature_of(extra));
    json_free(extra);
    return true;
}

static bool write_calls(struct parts *parts, const struct tool_calls *calls,
                        const struct exchange_summary *summary, struct fault *fault)
{
    size_t count = tool_calls_count(calls);
    for (size_t i = 0; i < count; i++) {
        struct tool_call_text call = tool_calls_at(calls, i);
        size_t mark = parts->out->len, before = parts->count;
        if (write_call(parts, &call, fault))
            continue;
        if (summary->finish != TD_FINISH_LENGTH || i + 1 < count)
            return false;
        buf_truncate(parts->out, mark); /* the limit cut it: finishReason says so */
        parts->count = before;
        fault->code = 0;
    }
    return true;
}

static const char *finish_reason(const struct exchange_summary *summary, bool refused)
{
    if (summary->finish == TD_FINISH_LENGTH)
        return "MAX_TOKENS";
    return refused || summary->finish == TD_FINISH_CONTENT_FILTER ? "SAFETY" : "STOP";
}

static void begin_object(struct buf *out)
{
    buf_append_str(out, STR("{\"candidates\":[{\"content\":{\"parts\":["));
}

/* The members after the parts. reason NULL: more comes. */
static void end_object(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       const char *reason, bool first, struct buf *out)
{
    const struct tier_usage *usage = &summary->usage;
    buf_append_str(out, STR("],\"role\":\"model\"}"));
    if (reason)
        buf_printf(out, ",\"finishReason\":\"%s\"", reason);
    buf_append_str(out, STR(",\"index\":0}]"));
    if (reason)
        buf_printf(out,
                   ",\"usageMetadata\":{\"promptTokenCount\":%u,\"candidatesTokenCount\":%u,"
                   "\"totalTokenCount\":%llu,\"cachedContentTokenCount\":%u}",
                   usage->prompt_tokens, usage->completion_tokens,
                   (unsigned long long)usage->prompt_tokens + usage->completion_tokens,
                   usage->cached_tokens);
    buf_append_str(out, STR(",\"modelVersion\":"));
    json_write_text(str_from(summary->model ? summary->model : reply->writer.model), out);
    buf_printf(out, ",\"responseId\":\"%s\"", reply->writer.id);
    if (reason || first) {
        buf_append_str(out, STR(",\"tandem\":"));
        response_write_tandem(&reply->writer, summary, out);
    }
    buf_append_char(out, '}');
}

/* --- whole answers --- */

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    const struct response_answer *answer = &reply->answer;
    struct parts parts = {.out = out};
    if (response_answer_failed(answer))
        return false;
    struct json *extra = grown_value(answer->members, "extra_content");
    begin_object(out);
    if (reply->request->shows_thoughts)
        write_thoughts(&parts, answer->members);
    write_text(&parts, buf_view(&answer->content), false, signature_of(extra));
    write_text(&parts, buf_view(&answer->refusal), false, STR(""));
    json_free(extra);
    if (!write_calls(&parts, answer->tool_calls, summary, fault))
        return false;
    end_object(reply, summary, finish_reason(summary, answer->refusal.len > 0), true, out);
    return !out->failed;
}

/* --- streams --- */

static void begin_item(struct stream *stream, struct buf *out)
{
    if (!stream->array)
        sse_begin(out, NULL);
    else
        buf_append_char(out, stream->count ? ',' : '[');
    stream->count++;
}

static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    (void)reply;
    (void)summary;
    (void)out; /* the first object is that of the first text */
}

static void write_start_array(struct dialect_reply *reply, const struct exchange_summary *summary,
                              struct buf *out)
{
    struct stream *stream = reply->state;
    (void)summary;
    (void)out;
    stream->array = true;
}

/* Calls wait for the end, where they are whole. */
static void keep_calls(struct response_answer *answer, const struct json *message)
{
    buf_append_str(&answer->refusal, json_text(json_get(message, "refusal")));
    response_answer_add_calls(answer, json_get(message, "tool_calls"));
}

static bool write_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    struct stream *stream = reply->state;
    const struct json *message = response_raw_message(piece);
    struct td_str thought = STR("");
    for (size_t i = 0; i < THOUGHT_NAMES && thought.len == 0; i++)
        thought = json_text(json_get(message, thoughts[i]));
    struct td_str signature = signature_of(json_get(message, "extra_content"));
    struct td_str refusal = json_text(json_get(message, "refusal"));
    struct parts parts = {.out = out};
    keep_calls(&reply->answer, message);
    if (response_answer_failed(&reply->answer)) {
        fault_too_large(fault);
        return false;
    }
    if (!reply->request->shows_thoughts)
        thought = STR("");
    if (piece->text.len + thought.len + signature.len + refusal.len == 0)
        return true;
    bool first = stream->count == 0;
    begin_item(stream, out);
    begin_object(out);
    write_text(&parts, thought, true, STR(""));
    write_text(&parts, piece->text, false, signature);
    write_text(&parts, refusal, false, STR(""));
    end_object(reply, summary, NULL, first, out);
    sse_end(out);
    return true;
}

static bool write_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    struct parts parts = {.out = out};
    bool first = ((struct stream *)reply->state)->count == 0;
    begin_item(reply->state, out);
    begin_object(out);
    if (!write_calls(&parts, reply->answer.tool_calls, summary, fault)) {
        ((struct stream *)reply->state)->count--; /* the fault takes its place */
        return false;
    }
    end_object(reply, summary, finish_reason(summary, reply->answer.refusal.len > 0), first, out);
    sse_end(out);
    return true;
}

static void write_fault_item(void *ctx, const struct fault *fault, struct buf *out)
{
    const struct dialect_reply *reply = ctx;
    begin_item(reply->state, out);
    write_fault(fault, out);
    sse_end(out);
}

static void write_fault_element(void *ctx, const struct fault *fault, struct buf *out)
{
    const struct dialect_reply *reply = ctx;
    ((struct stream *)reply->state)->array = true; /* before the start there may be a fault */
    write_fault_item(ctx, fault, out);
}

/* A line without anything: Google's clients take a comment for a part of the answer. */
#define KEEP_ALIVE "\n"

static const struct event_form events = {
    .keep_alive = {KEEP_ALIVE, sizeof KEEP_ALIVE - 1},
    .frame_bytes_max = (size_t)64 << 20, /* calls come whole */
    .write_fault = write_fault_item,
};

static const struct event_form array = {
    .content_type = "application/json; charset=utf-8",
    .keep_alive = {KEEP_ALIVE, sizeof KEEP_ALIVE - 1},
    .last = {"]", 1},
    .frame_bytes_max = (size_t)64 << 20,
    .write_fault = write_fault_element,
};

static const struct dialect_name names[] = {
    {"messages", "contents"},
    {"max_completion_tokens", "generationConfig.maxOutputTokens"},
    {"temperature", "generationConfig.temperature"},
    {"top_p", "generationConfig.topP"},
    {"top_k", "generationConfig.topK"},
    {"seed", "generationConfig.seed"},
    {"presence_penalty", "generationConfig.presencePenalty"},
    {"frequency_penalty", "generationConfig.frequencyPenalty"},
    {"stop", "generationConfig.stopSequences"},
    {"n", "generationConfig.candidateCount"},
    {"response_format.json_schema", "generationConfig.responseSchema"},
    {"tool_choice", "toolConfig.functionCallingConfig"},
    {NULL, NULL},
};

#define GEMINI(own_form, start)                                                               \
    {                                                                                         \
        .form = (own_form), .state_bytes = sizeof(struct stream), .names = names,             \
        .translate = gemini_request_translate, .list_left_out = gemini_request_list_left_out, \
        .shows_thoughts = gemini_request_shows_thoughts, .write_answer = write_answer,        \
        .write_start = (start), .write_piece = write_piece, .write_finish = write_finish      \
    }

const struct dialect dialect_gemini = GEMINI(&events, write_start);
const struct dialect dialect_gemini_array = GEMINI(&array, write_start_array);
