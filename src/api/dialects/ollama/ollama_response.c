/* Writes answers and errors in Ollama's form. A line of a stream is an object of its own, so a sign
 * of life is one too: an empty piece, because Ollama's clients parse every line. */
#include "api/dialects/ollama/ollama_response.h"

#include "api/dialects/answer_members.h"
#include "api/dialects/call_input.h"
#include "api/dialects/dialect.h"
#include "api/dialects/ollama/ollama_request.h"
#include "base/core/str.h"
#include "base/time/clock.h"

#include <math.h>
#include <stdio.h>

#define NS_IN_MS 1e6
#define ID_BYTES (RESPONSE_ID_BYTES + 32)

/* --- errors --- */

static void write_fault(const struct fault *fault, struct buf *out)
{
    buf_append_str(out, STR("{\"error\":"));
    fault_write_words(fault, out);
    buf_append_char(out, '}');
}

const struct fault_form ollama_fault_form = {.write = write_fault};

static void write_fault_line(void *ctx, const struct fault *fault, struct buf *out)
{
    (void)ctx;
    write_fault(fault, out);
    buf_append_char(out, '\n');
}

/* --- pieces of an object --- */

/* ,"created_at":"..." from seconds since 1970. */
static void write_created(int64_t seconds, struct buf *out)
{
    char text[25];
    clock_format_iso8601((uint64_t)seconds * 1000, text);
    buf_printf(out, ",\"created_at\":\"%s\"", text);
}

static void write_head(const struct response_writer *writer, const struct exchange_summary *summary,
                       struct buf *out)
{
    const char *model = summary && summary->model ? summary->model : writer->model;
    buf_append_str(out, STR("{\"model\":"));
    json_write_text(str_from(model), out);
    write_created(writer->created, out);
}

static void write_thinking(struct td_str thinking, struct buf *out)
{
    if (thinking.len == 0)
        return;
    buf_append_str(out, STR(",\"thinking\":"));
    json_write_text(thinking, out);
}

static bool write_calls(const struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out, struct fault *fault)
{
    const struct tool_calls *calls = reply->answer.tool_calls;
    size_t count = tool_calls_count(calls);
    buf_append_str(out, STR(",\"tool_calls\":["));
    for (size_t i = 0; i < count; i++) {
        struct tool_call_text call = tool_calls_at(calls, i);
        size_t mark = out->len;
        char own[ID_BYTES];
        snprintf(own, sizeof own, "call_%s_%zu", reply->writer.id, i);
        buf_append_str(out, i ? STR(",{\"id\":") : STR("{\"id\":"));
        json_write_text(call.id.len > 0 ? call.id : str_from(own), out);
        buf_printf(out, ",\"function\":{\"index\":%zu,\"name\":", i);
        json_write_text(call.name, out);
        buf_append_str(out, STR(",\"arguments\":"));
        if (call_input_write(&call, out, fault)) {
            buf_append_str(out, STR("}}"));
            continue;
        }
        if (summary->finish != TD_FINISH_LENGTH || i + 1 < count)
            return false;
        buf_truncate(out, mark); /* the limit cut it: the reason says so */
        fault->code = 0;
    }
    buf_append_char(out, ']');
    return true;
}

/* What was said; a message is left open. */
static void write_said(bool chat, struct td_str content, struct td_str refusal,
                       struct td_str thinking, struct buf *out)
{
    buf_append_str(out, chat ? STR(",\"message\":{\"role\":\"assistant\",\"content\":")
                             : STR(",\"response\":"));
    json_write_text(content.len > 0 ? content : refusal, out);
    write_thinking(thinking, out);
}

static unsigned long long nanoseconds(double ms)
{
    return isfinite(ms) && ms > 0 ? (unsigned long long)(ms * NS_IN_MS) : 0;
}

/* The members after what was said. */
static void write_tail(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       struct buf *out)
{
    double first_ms = fmin(summary->first_token_ms, summary->total_ms);
    buf_printf(out,
               ",\"done\":true,\"done_reason\":\"%s\",\"total_duration\":%llu,\"load_duration\":0,"
               "\"prompt_eval_count\":%u,\"prompt_eval_duration\":%llu,\"eval_count\":%u,"
               "\"eval_duration\":%llu,\"tandem\":",
               summary->finish == TD_FINISH_LENGTH ? "length" : "stop",
               nanoseconds(summary->total_ms), summary->usage.prompt_tokens, nanoseconds(first_ms),
               summary->usage.completion_tokens, nanoseconds(summary->total_ms - first_ms));
    response_write_tandem(&reply->writer, summary, out);
    buf_append_char(out, '}');
}

/* Where it is shown. */
static struct td_str piece_reasoning(const struct dialect_reply *reply, const struct json *message)
{
    return reply->request->hides_reasoning ? STR("") : answer_members_reasoning(message);
}

/* --- whole answers --- */

static bool write_whole(const struct dialect_reply *reply, const struct exchange_summary *summary,
                        bool chat, struct buf *out, struct fault *fault)
{
    const struct response_answer *answer = &reply->answer;
    if (response_answer_failed(answer))
        return false;
    struct json *reasoning =
        reply->request->hides_reasoning ? NULL : answer_members_reasoning_whole(answer);
    write_head(&reply->writer, summary, out);
    write_said(chat, buf_view(&answer->content), buf_view(&answer->refusal), json_text(reasoning),
               out);
    json_free(reasoning);
    if (tool_calls_count(answer->tool_calls) > 0 && !write_calls(reply, summary, out, fault))
        return false;
    if (chat)
        buf_append_char(out, '}');
    write_tail(reply, summary, out);
    return !out->failed;
}

static bool write_chat(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       struct buf *out, struct fault *fault)
{
    return write_whole(reply, summary, true, out, fault);
}

static bool write_generated(const struct dialect_reply *reply,
                            const struct exchange_summary *summary, struct buf *out,
                            struct fault *fault)
{
    return write_whole(reply, summary, false, out, fault);
}

/* --- streams --- */

#define NOT_DONE ",\"done\":false}\n"

/* The first line is that of the first piece. */
static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    (void)reply;
    (void)summary;
    (void)out;
}

static bool write_line(struct dialect_reply *reply, const struct exchange_summary *summary,
                       const struct tier_piece *piece, bool chat, struct buf *out)
{
    const struct json *message = response_raw_message(piece);
    struct td_str refusal = json_text(json_get(message, "refusal"));
    struct td_str thinking = piece_reasoning(reply, message);
    response_answer_add_calls(&reply->answer, json_get(message, "tool_calls"));
    if (piece->text.len == 0 && refusal.len == 0 && thinking.len == 0)
        return true;
    write_head(&reply->writer, summary, out);
    write_said(chat, piece->text, refusal, thinking, out);
    buf_append_str(out, chat ? STR("}" NOT_DONE) : STR(NOT_DONE));
    return true;
}

static bool write_end(struct dialect_reply *reply, const struct exchange_summary *summary,
                      bool chat, struct buf *out, struct fault *fault)
{
    const struct tool_calls *calls = reply->answer.tool_calls;
    if (tool_calls_failed(calls)) {
        fault_too_large(fault);
        return false;
    }
    if (tool_calls_count(calls) > 0) {
        write_head(&reply->writer, summary, out);
        write_said(chat, STR(""), STR(""), STR(""), out);
        if (!write_calls(reply, summary, out, fault))
            return false;
        buf_append_str(out, chat ? STR("}" NOT_DONE) : STR(NOT_DONE));
    }
    write_head(&reply->writer, summary, out);
    write_said(chat, STR(""), STR(""), STR(""), out);
    if (chat)
        buf_append_char(out, '}');
    write_tail(reply, summary, out);
    buf_append_char(out, '\n');
    return true;
}

static bool write_chat_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                             const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    (void)fault;
    return write_line(reply, summary, piece, true, out);
}

static bool write_generated_piece(struct dialect_reply *reply,
                                  const struct exchange_summary *summary,
                                  const struct tier_piece *piece, struct buf *out,
                                  struct fault *fault)
{
    (void)fault;
    return write_line(reply, summary, piece, false, out);
}

static bool write_chat_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                              struct buf *out, struct fault *fault)
{
    return write_end(reply, summary, true, out, fault);
}

static bool write_generated_finish(struct dialect_reply *reply,
                                   const struct exchange_summary *summary, struct buf *out,
                                   struct fault *fault)
{
    return write_end(reply, summary, false, out, fault);
}

/* --- requests without words --- */

static void write_loaded(const struct json *asked, bool chat, struct buf *out)
{
    const struct json *keep = json_get(asked, "keep_alive");
    bool unload = json_kind_of(keep) != JSON_KIND_TEXT ? json_number(keep, -1) == 0
                                                       : str_equal(json_text(keep), STR("0"));
    buf_append_str(out, STR("{\"model\":"));
    json_write_text(json_text(json_get(asked, "model")), out);
    write_created((int64_t)(clock_wall_ms(NULL) / 1000), out);
    write_said(chat, STR(""), STR(""), STR(""), out);
    buf_printf(out, "%s,\"done\":true,\"done_reason\":\"%s\"}", chat ? "}" : "",
               unload ? "unload" : "load");
}

static void write_chat_loaded(const struct json *asked, struct buf *out)
{
    write_loaded(asked, true, out);
}

static void write_generated_loaded(const struct json *asked, struct buf *out)
{
    write_loaded(asked, false, out);
}

/* --- the dialects --- */

#define CHAT_ALIVE "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n"
#define GENERATE_ALIVE "{\"response\":\"\",\"done\":false}\n"

static const struct event_form chat_form = {
    .content_type = "application/x-ndjson",
    .lines = true,
    .keep_alive = {CHAT_ALIVE, sizeof CHAT_ALIVE - 1},
    .frame_bytes_max = 4u << 20,
    .write_fault = write_fault_line,
};

static const struct event_form generate_form = {
    .content_type = "application/x-ndjson",
    .lines = true,
    .keep_alive = {GENERATE_ALIVE, sizeof GENERATE_ALIVE - 1},
    .frame_bytes_max = 4u << 20,
    .write_fault = write_fault_line,
};

/* clang-format off */
#define OPTION(name) {name, "options." name}

static const struct dialect_name names[] = {
    OPTION("temperature"), OPTION("top_k"), OPTION("top_p"), OPTION("min_p"), OPTION("typical_p"),
    OPTION("repeat_penalty"), OPTION("repeat_last_n"), OPTION("presence_penalty"),
    OPTION("frequency_penalty"), OPTION("mirostat"), OPTION("mirostat_tau"),
    OPTION("mirostat_eta"), OPTION("seed"), OPTION("stop"),
    {"max_completion_tokens", "options.num_predict"}, {"max_tokens", "options.num_predict"},
    {"response_format", "format"}, {"reasoning_effort", "think"},
    {NULL, NULL},
};
/* clang-format on */

const struct dialect dialect_ollama_chat = {
    .form = &chat_form,
    .names = names,
    .translate = ollama_request_translate_chat,
    .finish_request = ollama_request_finish_chat,
    .asks_nothing = ollama_request_asks_nothing,
    .write_nothing = write_chat_loaded,
    .write_answer = write_chat,
    .write_start = write_start,
    .write_piece = write_chat_piece,
    .write_finish = write_chat_finish,
};

const struct dialect dialect_ollama_generate = {
    .form = &generate_form,
    .names = names,
    .translate = ollama_request_translate_generate,
    .finish_request = ollama_request_finish_generate,
    .asks_nothing = ollama_request_asks_nothing,
    .write_nothing = write_generated_loaded,
    .write_answer = write_generated,
    .write_start = write_start,
    .write_piece = write_generated_piece,
    .write_finish = write_generated_finish,
};
