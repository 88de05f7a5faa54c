/* Writes responses, whole and as events. The first and the last events repeat what was asked, so
 * the body as the client wrote it is kept (chat_request.asked). */
#include "api/wire/responses_response.h"

#include "api/wire/answer_blocks.h"
#include "api/wire/responses_request.h"
#include "api/wire/tool_calls.h"
#include "base/str.h"

#include <stdio.h>

/* --- a response's members --- */

static const char *status_of(const struct exchange_summary *summary)
{
    bool cut = summary->finish == TD_FINISH_LENGTH || summary->finish == TD_FINISH_CONTENT_FILTER;
    return cut ? "incomplete" : "completed";
}

/* The members of the request that are repeated, and their defaults. */
static const struct {
    const char *name, *otherwise;
} repeated[] = {
    {"instructions", "null"},
    {"max_output_tokens", "null"},
    {"metadata", "{}"},
    {"parallel_tool_calls", "true"},
    {"reasoning", "{\"effort\":null,\"summary\":null}"},
    {"temperature", "1.0"},
    {"text", "{\"format\":{\"type\":\"text\"}}"},
    {"tool_choice", "\"auto\""},
    {"tools", "[]"},
    {"top_logprobs", "0"},
    {"top_p", "1.0"},
    {"user", "null"},
};

/* Limit of repeated text in a stream's first two events. Two times some megabytes at once would
 * look like a client that does not read (event_stream.c). The last event has all of it. */
#define REPEATED_AT_START_MAX ((size_t)256 << 10)

/* A member that no longer fits is written as if the request did not have it. */
static void write_repeated(const struct json *asked, size_t bytes_max, struct buf *out)
{
    size_t begin = out->len;
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        const struct json *value = json_get(asked, repeated[i].name);
        buf_printf(out, ",\"%s\":", repeated[i].name);
        size_t mark = out->len;
        if (!json_absent(value))
            json_write(value, out);
        if (out->len - begin > bytes_max)
            buf_truncate(out, mark);
        if (out->len == mark)
            buf_append_str(out, str_from(repeated[i].otherwise));
    }
}

static void write_usage(const struct tier_usage *usage, struct buf *out)
{
    buf_printf(out,
               "{\"input_tokens\":%u,\"input_tokens_details\":{\"cached_tokens\":%u},"
               "\"output_tokens\":%u,\"output_tokens_details\":{\"reasoning_tokens\":0},"
               "\"total_tokens\":%llu}",
               usage->prompt_tokens, usage->cached_tokens, usage->completion_tokens,
               (unsigned long long)usage->prompt_tokens + usage->completion_tokens);
}

/* status: "in_progress", "completed" or "incomplete"; with a fault "failed". summary NULL: nothing
 * is known of the exchange yet. output: the items. */
struct response {
    const char *status;
    const struct exchange_summary *summary;
    const struct fault *fault;
    struct td_str output;
};

static void write_response(const struct dialect_reply *reply, const struct response *response,
                           struct buf *out)
{
    const struct response_writer *writer = &reply->writer;
    const struct exchange_summary *summary = response->summary;
    bool ended = strcmp(response->status, "in_progress") != 0;
    buf_printf(out,
               "{\"id\":\"resp_%s\",\"object\":\"response\",\"created_at\":%lld,\"status\":\"%s\","
               "\"background\":false,\"error\":",
               writer->id, (long long)writer->created, response->status);
    if (response->fault) {
        /* The codes that clients know; ours says more in the message. */
        bool busy = response->fault->code == 429;
        buf_printf(out,
                   "{\"code\":\"%s\",\"message\":", busy ? "rate_limit_exceeded" : "server_error");
        json_write_text(str_from(response->fault->message), out);
        buf_append_char(out, '}');
    } else {
        buf_append_str(out, STR("null"));
    }
    buf_append_str(out, STR(",\"incomplete_details\":"));
    if (strcmp(response->status, "incomplete") == 0)
        buf_printf(out, "{\"reason\":\"%s\"}",
                   summary->finish == TD_FINISH_LENGTH ? "max_output_tokens" : "content_filter");
    else
        buf_append_str(out, STR("null"));
    buf_append_str(out, STR(",\"model\":"));
    json_write_text(str_from(summary && summary->model ? summary->model : writer->model), out);
    buf_append_str(out, STR(",\"output\":["));
    buf_append_str(out, response->output);
    buf_append_str(out, STR("],\"previous_response_id\":null,\"store\":false,"
                            "\"truncation\":\"disabled\""));
    write_repeated(reply->request->asked, ended ? SIZE_MAX : REPEATED_AT_START_MAX, out);
    buf_append_str(out, STR(",\"usage\":"));
    if (summary && ended)
        write_usage(&summary->usage, out);
    else
        buf_append_str(out, STR("null"));
    if (summary) {
        buf_append_str(out, STR(",\"tandem\":"));
        response_write_tandem(writer, summary, out);
    }
    buf_append_char(out, '}');
}

/* --- items --- */

struct item {
    enum block_kind kind;
    size_t index;                /* in `output` */
    struct td_str call_id, name; /* of a call */
    struct td_str text;          /* so far, or a call's arguments */
    struct td_str logprobs;      /* of a text: entries of the list */
};

static void write_item_id(const struct dialect_reply *reply, enum block_kind kind, size_t index,
                          struct buf *out)
{
    buf_printf(out, "\"%s_%s_%zu\"", kind == BLOCK_CALL ? "fc" : "msg", reply->writer.id, index);
}

static void write_part(const struct item *item, struct buf *out)
{
    if (item->kind == BLOCK_REFUSAL) {
        buf_append_str(out, STR("{\"type\":\"refusal\",\"refusal\":"));
        json_write_text(item->text, out);
    } else {
        buf_append_str(out, STR("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":["));
        buf_append_str(out, item->logprobs);
        buf_append_str(out, STR("],\"text\":"));
        json_write_text(item->text, out);
    }
    buf_append_char(out, '}');
}

/* has_part: the message has its part. It has none when the item is added. */
static void write_item(const struct dialect_reply *reply, const struct item *item,
                       const char *status, bool has_part, struct buf *out)
{
    buf_append_str(out, STR("{\"id\":"));
    write_item_id(reply, item->kind, item->index, out);
    buf_printf(out, ",\"type\":\"%s\",\"status\":\"%s\",",
               item->kind == BLOCK_CALL ? "function_call" : "message", status);
    if (item->kind == BLOCK_CALL) {
        buf_append_str(out, STR("\"call_id\":"));
        if (item->call_id.len > 0)
            json_write_text(item->call_id, out);
        else /* its tier gave none */
            buf_printf(out, "\"call_%s_%zu\"", reply->writer.id, item->index);
        buf_append_str(out, STR(",\"name\":"));
        json_write_text(item->name, out);
        buf_append_str(out, STR(",\"arguments\":"));
        json_write_text(item->text, out);
    } else {
        buf_append_str(out, STR("\"role\":\"assistant\",\"content\":["));
        if (has_part)
            write_part(item, out);
        buf_append_char(out, ']');
    }
    buf_append_char(out, '}');
}

/* --- whole responses --- */

/* When a response is incomplete, its last item is, too. */
static const char *item_status(const struct exchange_summary *summary, bool last)
{
    return last ? status_of(summary) : "completed";
}

static void write_items(const struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    const struct response_answer *answer = &reply->answer;
    size_t calls = tool_calls_count(answer->tool_calls);
    struct item items[2];
    size_t count = 0;
    if (answer->content.len > 0)
        items[count++] = (struct item){.kind = BLOCK_TEXT,
                                       .text = buf_view(&answer->content),
                                       .logprobs = buf_view(&answer->logprobs)};
    if (answer->refusal.len > 0)
        items[count++] = (struct item){.kind = BLOCK_REFUSAL, .text = buf_view(&answer->refusal)};
    for (size_t i = 0; i < count + calls; i++) {
        struct item item = {.kind = BLOCK_CALL};
        if (i < count) {
            item = items[i];
        } else {
            struct tool_call_text call = tool_calls_at(answer->tool_calls, i - count);
            item.call_id = call.id;
            item.name = call.name;
            item.text = call.arguments;
        }
        item.index = i;
        if (i > 0)
            buf_append_char(out, ',');
        write_item(reply, &item, item_status(summary, i + 1 == count + calls), true, out);
    }
}

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    struct buf items;
    buf_init(&items, out->bytes_max);
    write_items(reply, summary, &items);
    const struct response response = {
        .status = status_of(summary), .summary = summary, .output = buf_view(&items)};
    write_response(reply, &response, out);
    bool whole = !items.failed && !out->failed && !response_answer_failed(&reply->answer);
    buf_deinit(&items);
    return whole;
}

/* --- streams --- */

struct stream {
    struct answer_blocks blocks;
    uint64_t sequence;
    const struct exchange_summary *summary; /* while the end is being written, else NULL */
    bool held;                              /* the buffers below have been initialised */
    bool overflowed;                        /* one of those that were cleared since */
    struct buf call_id, name;               /* of the open item */
    struct buf text;                        /* of the open item */
    struct buf output;                      /* items that are done */
};

static void begin_event(struct stream *stream, const char *name, struct buf *out)
{
    sse_begin(out, name);
    buf_printf(out, "{\"type\":\"%s\",\"sequence_number\":%llu", name,
               (unsigned long long)stream->sequence++);
}

static void end_event(struct buf *out)
{
    buf_append_char(out, '}');
    sse_end(out);
}

/* The place of the open item; with part also the place in it. */
static void write_where(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                        bool part, struct buf *out)
{
    buf_append_str(out, STR(",\"item_id\":"));
    write_item_id(reply, blocks->open, blocks->count - 1, out);
    buf_printf(out, ",\"output_index\":%zu", blocks->count - 1);
    if (part)
        buf_append_str(out, STR(",\"content_index\":0"));
}

static struct item open_item(const struct dialect_reply *reply, const struct answer_blocks *blocks)
{
    const struct stream *stream = reply->state;
    return (struct item){.kind = blocks->open,
                         .index = blocks->count - 1,
                         .call_id = buf_view(&stream->call_id),
                         .name = buf_view(&stream->name),
                         .text = buf_view(&stream->text),
                         .logprobs = buf_view(&reply->answer.logprobs)};
}

static void write_item_event(const struct dialect_reply *reply, const char *name,
                             const struct item *item, const char *status, struct buf *out)
{
    begin_event(reply->state, name, out);
    buf_printf(out, ",\"output_index\":%zu,\"item\":", item->index);
    write_item(reply, item, status, item->text.len > 0, out);
    end_event(out);
}

static void write_part_event(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                             const char *name, const struct item *item, struct buf *out)
{
    begin_event(reply->state, name, out);
    write_where(reply, blocks, true, out);
    buf_append_str(out, STR(",\"part\":"));
    write_part(item, out);
    end_event(out);
}

static void clear(struct stream *stream, struct buf *buf)
{
    stream->overflowed |= buf->failed;
    buf_clear(buf);
}

static void begin_item(void *ctx, const struct answer_blocks *blocks, struct td_str id,
                       struct td_str name, struct buf *out)
{
    struct dialect_reply *reply = ctx;
    struct stream *stream = reply->state;
    clear(stream, &stream->text);
    clear(stream, &stream->call_id);
    clear(stream, &stream->name);
    buf_append_str(&stream->call_id, id);
    buf_append_str(&stream->name, name);
    struct item item = open_item(reply, blocks);
    write_item_event(reply, "response.output_item.added", &item, "in_progress", out);
    if (blocks->open != BLOCK_CALL)
        write_part_event(reply, blocks, "response.content_part.added", &item, out);
}

/* Names of a kind's events, and the member of the last event that has the whole text. */
static const struct kind_row {
    const char *delta, *done, *member;
} kind_rows[] = {
    [BLOCK_NONE] = {"", "", ""},
    [BLOCK_TEXT] = {"response.output_text.delta", "response.output_text.done", "text"},
    [BLOCK_REFUSAL] = {"response.refusal.delta", "response.refusal.done", "refusal"},
    [BLOCK_CALL] = {"response.function_call_arguments.delta",
                    "response.function_call_arguments.done", "arguments"},
};

static void add_to_item(void *ctx, const struct answer_blocks *blocks, struct td_str text,
                        struct buf *out)
{
    struct dialect_reply *reply = ctx;
    struct stream *stream = reply->state;
    buf_append_str(&stream->text, text);
    begin_event(stream, kind_rows[blocks->open].delta, out);
    write_where(reply, blocks, blocks->open != BLOCK_CALL, out);
    buf_append_str(out, STR(",\"delta\":"));
    json_write_text(text, out);
    if (blocks->open == BLOCK_TEXT)
        buf_append_str(out, STR(",\"logprobs\":[]")); /* all of them come when it is done */
    end_event(out);
}

static void end_item(void *ctx, const struct answer_blocks *blocks, struct buf *out)
{
    struct dialect_reply *reply = ctx;
    struct stream *stream = reply->state;
    const struct kind_row *row = &kind_rows[blocks->open];
    struct item item = open_item(reply, blocks);
    const char *status = stream->summary ? status_of(stream->summary) : "completed";
    begin_event(stream, row->done, out);
    write_where(reply, blocks, blocks->open != BLOCK_CALL, out);
    buf_printf(out, ",\"%s\":", row->member);
    json_write_text(item.text, out);
    if (blocks->open == BLOCK_TEXT) {
        buf_append_str(out, STR(",\"logprobs\":["));
        buf_append_str(out, item.logprobs);
        buf_append_char(out, ']');
    } else if (blocks->open == BLOCK_CALL) {
        buf_append_str(out, STR(",\"name\":"));
        json_write_text(item.name, out);
    }
    end_event(out);
    if (blocks->open != BLOCK_CALL)
        write_part_event(reply, blocks, "response.content_part.done", &item, out);
    write_item_event(reply, "response.output_item.done", &item, status, out);
    if (stream->output.len > 0)
        buf_append_char(&stream->output, ',');
    write_item(reply, &item, status, true, &stream->output);
    clear(stream, &reply->answer.logprobs);
}

static const struct block_ops item_ops = {begin_item, add_to_item, end_item};

static void write_response_event(const struct dialect_reply *reply, const char *name,
                                 const struct response *response, struct buf *out)
{
    begin_event(reply->state, name, out);
    buf_append_str(out, STR(",\"response\":"));
    write_response(reply, response, out);
    end_event(out);
}

static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    struct stream *stream = reply->state;
    size_t bytes_max = reply->answer.content.bytes_max;
    answer_blocks_init(&stream->blocks);
    buf_init(&stream->call_id, bytes_max);
    buf_init(&stream->name, bytes_max);
    buf_init(&stream->text, bytes_max);
    buf_init(&stream->output, 2 * bytes_max);
    stream->held = true;
    const struct response response = {.status = "in_progress", .summary = summary};
    write_response_event(reply, "response.created", &response, out);
    write_response_event(reply, "response.in_progress", &response, out);
}

/* The last events repeat the whole answer, so it has the limit of an answer that is not streamed.
 * */
static bool fits(const struct dialect_reply *reply, struct fault *fault)
{
    const struct stream *stream = reply->state;
    if (!stream->overflowed && !stream->text.failed && !stream->output.failed &&
        !stream->call_id.failed && !stream->name.failed && !reply->answer.logprobs.failed)
        return true;
    fault_set(fault, 502, "server_error", "answer_too_large",
              "the answer is larger than the %zu bytes of server.answer_bytes_max",
              reply->answer.content.bytes_max);
    return false;
}

static bool write_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    (void)summary;
    struct stream *stream = reply->state;
    response_answer_add_logprobs(&reply->writer, &reply->answer, piece);
    return answer_blocks_feed(&stream->blocks, &item_ops, reply, piece, out, fault) &&
           fits(reply, fault);
}

static bool write_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    struct stream *stream = reply->state;
    stream->summary = summary;
    answer_blocks_end(&stream->blocks, &item_ops, reply, out);
    stream->summary = NULL;
    if (!fits(reply, fault))
        return false;
    bool whole = strcmp(status_of(summary), "completed") == 0;
    const struct response response = {
        .status = status_of(summary), .summary = summary, .output = buf_view(&stream->output)};
    write_response_event(reply, whole ? "response.completed" : "response.incomplete", &response,
                         out);
    return true;
}

static void write_fault_event(void *ctx, const struct fault *fault, struct buf *out)
{
    const struct dialect_reply *reply = ctx;
    const struct stream *stream = reply->state;
    const struct response response = {
        .status = "failed",
        .fault = fault,
        .output = stream->held && !stream->output.failed ? buf_view(&stream->output) : STR("")};
    write_response_event(reply, "response.failed", &response, out);
}

static void deinit(void *state)
{
    struct stream *stream = state;
    if (!stream->held)
        return;
    buf_deinit(&stream->call_id);
    buf_deinit(&stream->name);
    buf_deinit(&stream->text);
    buf_deinit(&stream->output);
}

static const struct event_form form = {
    .keep_alive = {": keep-alive\n\n", sizeof ": keep-alive\n\n" - 1},
    .frame_bytes_max = (size_t)64 << 20, /* the last events have the whole answer four times */
    .write_fault = write_fault_event,
};

static const struct dialect_name names[] = {
    {"max_completion_tokens", "max_output_tokens"},
    {"response_format.json_schema", "text.format"},
    {"messages", "input"},
    {"logprobs", "include"},
    {NULL, NULL},
};

const struct dialect dialect_responses = {
    .form = &form,
    .state_bytes = sizeof(struct stream),
    .names = names,
    .keeps_request = true,
    .translate = responses_request_translate,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .write_finish = write_finish,
    .deinit = deinit,
};
