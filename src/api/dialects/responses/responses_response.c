/* Writes responses, whole and as events. The first and the last events repeat what was asked, so
 * the body as the client wrote it is kept (chat_request.asked). */
#include "api/dialects/responses/responses_response.h"

#include "api/dialects/answer_blocks.h"
#include "api/dialects/answer_members.h"
#include "api/dialects/responses/responses_output.h"
#include "api/dialects/responses/responses_request.h"
#include "api/dialects/responses/responses_tools.h"
#include "api/wire/grown.h"
#include "api/wire/tool_calls.h"
#include "base/core/str.h"

#include <stdio.h>

/* --- a response's members --- */

static const char *status_of(const struct exchange_summary *summary)
{
    if (summary->verification.state == VERIFICATION_PROVISIONAL)
        return "in_progress";
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

/* The tokens of thinking, where the server tells them. */
static int64_t reasoning_tokens(const struct json *told)
{
    const struct json *details = json_get(told, "completion_tokens_details");
    int64_t count = json_int(json_get(details, "reasoning_tokens"), 0);
    return count > 0 ? count : 0;
}

void responses_response_write_usage(const struct response_answer *answer,
                                    const struct tier_usage *usage, struct buf *out)
{
    buf_printf(out,
               "{\"input_tokens\":%u,\"input_tokens_details\":{\"cached_tokens\":%u},"
               "\"output_tokens\":%u,\"output_tokens_details\":"
               "{\"reasoning_tokens\":%lld},\"total_tokens\":%llu",
               usage->prompt_tokens, usage->cached_tokens, usage->completion_tokens,
               (long long)reasoning_tokens(response_told_usage(answer->beside, usage)),
               (unsigned long long)usage->prompt_tokens + usage->completion_tokens);
    answer_members_write_usage(answer, usage, out);
    buf_append_char(out, '}');
}

/* status: "in_progress", "completed" or "incomplete"; with a fault "failed". summary NULL: nothing
 * is known of the exchange yet. output: the items. output_at: where they were written. */
struct response {
    const char *status;
    const struct exchange_summary *summary;
    const struct fault *fault;
    struct td_str output;
    size_t *output_at;
    bool cited; /* the annotations stand in the output */
};

/* What is told of the answer beside its items. */
static void write_beside(const struct dialect_reply *reply, bool cited, struct buf *out)
{
    const struct answer_shown shown = {
        .reasoning = true, .annotations = cited, .service_tier = true};
    const struct json *told = json_get(reply->answer.beside, "chunk");
    const struct json *service_tier = json_get(told, "service_tier");
    if (service_tier) {
        buf_append_str(out, STR(",\"service_tier\":"));
        json_write(service_tier, out);
    }
    answer_members_write(&reply->answer, &shown, out);
}

/* What the response goes on from, and whether it can be gone on from. */
static void write_turn(const struct history_turn *turn, struct buf *out)
{
    buf_append_str(out, STR("\"previous_response_id\":"));
    if (*turn->previous)
        json_write_text(str_from(turn->previous), out);
    else
        buf_append_str(out, STR("null"));
    if (*turn->conversation) {
        buf_append_str(out, STR(",\"conversation\":{\"id\":"));
        json_write_text(str_from(turn->conversation), out);
        buf_append_char(out, '}');
    }
    buf_printf(out, ",\"store\":%s", turn->store ? "true" : "false");
}

static void write_response(const struct dialect_reply *reply, const struct response *response,
                           struct buf *out)
{
    const struct response_writer *writer = &reply->writer;
    const struct exchange_summary *summary = response->summary;
    bool ended = strcmp(response->status, "in_progress") != 0;
    buf_printf(out,
               "{\"id\":\"resp_%s\",\"object\":\"response\",\"created_at\":%lld,\"status\":\"%s\","
               "\"background\":%s,\"error\":",
               writer->id, (long long)writer->created, response->status,
               reply->request->turn.background ? "true" : "false");
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
    buf_append_str(out, STR(",\"output\":"));
    if (response->output_at)
        *response->output_at = out->len;
    buf_append_char(out, '[');
    buf_append_str(out, response->output);
    buf_append_str(out, STR("],"));
    write_turn(&reply->request->turn, out);
    buf_append_str(out, STR(",\"truncation\":\"disabled\""));
    write_repeated(reply->request->asked, ended ? SIZE_MAX : REPEATED_AT_START_MAX, out);
    buf_append_str(out, STR(",\"usage\":"));
    if (summary && ended)
        responses_response_write_usage(&reply->answer, &summary->usage, out);
    else
        buf_append_str(out, STR("null"));
    if (ended)
        write_beside(reply, response->cited, out);
    if (summary) {
        buf_append_str(out, STR(",\"tandem\":"));
        response_write_tandem(writer, summary, out);
    }
    buf_append_char(out, '}');
}

/* --- whole responses --- */

/* When a response is incomplete, its last item is, too. */
static const char *item_status(const struct exchange_summary *summary, bool last)
{
    return last ? status_of(summary) : "completed";
}

/* Whether the client shows a summary of the model's thinking. */
static bool wants_summary(const struct dialect_reply *reply)
{
    return !json_absent(json_get(json_get(reply->request->asked, "reasoning"), "summary"));
}

/* Those of a text. Their count; 0: they have no form here. */
static size_t write_annotations(const struct response_answer *answer, struct buf *out)
{
    struct json *list = grown_value(answer->members, "annotations");
    size_t count = json_kind_of(list) == JSON_KIND_ARRAY ? json_count(list) : 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        responses_output_write_annotation(json_at(list, i), out);
    }
    json_free(list);
    return count;
}

/* Items of a whole answer, one after the other. */
struct item_list {
    const struct dialect_reply *reply;
    const struct exchange_summary *summary;
    size_t count, last;
    struct buf *out;
};

static void add_item(struct item_list *list, struct output_item item)
{
    item.index = list->count++;
    if (item.index > 0)
        buf_append_char(list->out, ',');
    responses_output_write(list->reply, &item, item_status(list->summary, item.index == list->last),
                           true, list->out);
}

static void add_call_item(struct item_list *list, size_t index)
{
    const struct dialect_reply *reply = list->reply;
    struct tool_call_text call = tool_calls_at(reply->answer.tool_calls, index);
    struct buf rest;
    buf_init(&rest, list->out->bytes_max);
    responses_output_write_rest(call.rest, &rest);
    const struct json *tools = json_get(reply->request->asked, "tools");
    add_item(list, (struct output_item){.kind = BLOCK_CALL,
                                        .call_id = call.id,
                                        .tool = responses_tools_find(tools, call.name),
                                        .rest = buf_view(&rest),
                                        .text = call.arguments});
    list->out->failed |= rest.failed;
    buf_deinit(&rest);
}

/* *cited: the annotations stand with the text. */
static void write_items(const struct dialect_reply *reply, const struct exchange_summary *summary,
                        bool *cited, struct buf *out)
{
    const struct response_answer *answer = &reply->answer;
    struct json *reasoning = answer_members_reasoning_whole(answer);
    size_t calls = tool_calls_count(answer->tool_calls);
    size_t count =
        calls + (reasoning ? 1 : 0) + (answer->content.len > 0) + (answer->refusal.len > 0);
    struct item_list list = {.reply = reply, .summary = summary, .last = count - 1, .out = out};
    struct buf annotations;
    buf_init(&annotations, out->bytes_max);
    *cited = answer->content.len > 0 && write_annotations(answer, &annotations) > 0;
    if (reasoning)
        add_item(&list, (struct output_item){.kind = BLOCK_REASONING,
                                             .text = json_text(reasoning),
                                             .is_summary = wants_summary(reply)});
    if (answer->content.len > 0)
        add_item(&list, (struct output_item){.kind = BLOCK_TEXT,
                                             .text = buf_view(&answer->content),
                                             .logprobs = buf_view(&answer->logprobs),
                                             .annotations = buf_view(&annotations)});
    if (answer->refusal.len > 0)
        add_item(&list,
                 (struct output_item){.kind = BLOCK_REFUSAL, .text = buf_view(&answer->refusal)});
    for (size_t i = 0; i < calls; i++)
        add_call_item(&list, i);
    out->failed |= annotations.failed;
    buf_deinit(&annotations);
    json_free(reasoning);
}

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    struct buf items;
    bool cited;
    buf_init(&items, out->bytes_max);
    write_items(reply, summary, &cited, &items);
    const struct response response = {.status = status_of(summary),
                                      .summary = summary,
                                      .output = buf_view(&items),
                                      .cited = cited};
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
    size_t citations;                       /* that a text has had */
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

static const struct kind_row *row_of(const struct dialect_reply *reply,
                                     const struct answer_blocks *blocks)
{
    bool summary = blocks->open == BLOCK_REASONING && wants_summary(reply);
    return responses_output_kind(blocks->open, summary);
}

/* The place of the open item; with part also the place in it. */
static void write_where(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                        bool part, struct buf *out)
{
    buf_append_str(out, STR(",\"item_id\":"));
    responses_output_write_id(reply, blocks->open, blocks->count - 1, out);
    buf_printf(out, ",\"output_index\":%zu", blocks->count - 1);
    if (part)
        buf_printf(out, ",\"%s\":0", row_of(reply, blocks)->part_index);
}

static struct output_item open_item(const struct dialect_reply *reply,
                                    const struct answer_blocks *blocks)
{
    const struct stream *stream = reply->state;
    return (struct output_item){
        .kind = blocks->open,
        .index = blocks->count - 1,
        .call_id = buf_view(&stream->call_id),
        .tool =
            responses_tools_find(json_get(reply->request->asked, "tools"), buf_view(&stream->name)),
        .text = buf_view(&stream->text),
        .logprobs = buf_view(&reply->answer.logprobs),
        .is_summary = wants_summary(reply)};
}

static void write_item_event(const struct dialect_reply *reply, const char *name,
                             const struct output_item *item, const char *status, struct buf *out)
{
    begin_event(reply->state, name, out);
    buf_printf(out, ",\"output_index\":%zu,\"item\":", item->index);
    responses_output_write(reply, item, status, item->text.len > 0, out);
    end_event(out);
}

static void write_part_event(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                             const char *name, const struct output_item *item, struct buf *out)
{
    begin_event(reply->state, name, out);
    write_where(reply, blocks, true, out);
    buf_append_str(out, STR(",\"part\":"));
    responses_output_write_part(item, out);
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
    struct output_item item = open_item(reply, blocks);
    write_item_event(reply, "response.output_item.added", &item, "in_progress", out);
    if (blocks->open != BLOCK_CALL)
        write_part_event(reply, blocks, row_of(reply, blocks)->part_added, &item, out);
}

static void add_to_item(void *ctx, const struct answer_blocks *blocks, struct td_str text,
                        struct buf *out)
{
    struct dialect_reply *reply = ctx;
    struct stream *stream = reply->state;
    buf_append_str(&stream->text, text);
    if (blocks->open == BLOCK_CALL && open_item(reply, blocks).tool.kind != RESPONSES_FUNCTION)
        return; /* its text is known when its arguments are whole */
    begin_event(stream, row_of(reply, blocks)->delta, out);
    write_where(reply, blocks, blocks->open != BLOCK_CALL, out);
    buf_append_str(out, STR(",\"delta\":"));
    json_write_text(text, out);
    if (blocks->open == BLOCK_TEXT)
        buf_append_str(out, STR(",\"logprobs\":[]")); /* all of them come when it is done */
    end_event(out);
}

static void write_done_event(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                             const struct output_item *item, struct buf *out)
{
    const struct kind_row *row = row_of(reply, blocks);
    begin_event(reply->state, row->done, out);
    write_where(reply, blocks, blocks->open != BLOCK_CALL, out);
    buf_printf(out, ",\"%s\":", row->member);
    json_write_text(item->text, out);
    if (blocks->open == BLOCK_TEXT) {
        buf_append_str(out, STR(",\"logprobs\":["));
        buf_append_str(out, item->logprobs);
        buf_append_char(out, ']');
    } else if (blocks->open == BLOCK_CALL) {
        responses_output_write_named(item, out);
    }
    end_event(out);
}

/* A custom tool's text, all at once. */
static void write_input_events(const struct dialect_reply *reply,
                               const struct answer_blocks *blocks, const struct output_item *item,
                               struct buf *out)
{
    static const char *const names[][2] = {{"response.custom_tool_call_input.delta", "delta"},
                                           {"response.custom_tool_call_input.done", "input"}};
    for (size_t i = 0; i < 2; i++) {
        begin_event(reply->state, names[i][0], out);
        write_where(reply, blocks, false, out);
        buf_printf(out, ",\"%s\":", names[i][1]);
        responses_output_write_input(item, out);
        end_event(out);
    }
}

/* Of a text, before it is done: how many servers do not say earlier. */
static void write_annotation_events(const struct dialect_reply *reply,
                                    const struct answer_blocks *blocks, struct buf *annotations,
                                    struct buf *out)
{
    struct stream *stream = reply->state;
    struct json *list = grown_value(reply->answer.members, "annotations");
    if (stream->citations == 0)
        stream->citations = write_annotations(&reply->answer, annotations);
    for (size_t i = 0; annotations->len > 0 && i < json_count(list); i++) {
        begin_event(stream, "response.output_text.annotation.added", out);
        write_where(reply, blocks, true, out);
        buf_printf(out, ",\"annotation_index\":%zu,\"annotation\":", i);
        responses_output_write_annotation(json_at(list, i), out);
        end_event(out);
    }
    json_free(list);
}

static void write_item_end(const struct dialect_reply *reply, const struct answer_blocks *blocks,
                           const struct output_item *item, struct buf *out)
{
    struct stream *stream = reply->state;
    const char *status = stream->summary ? status_of(stream->summary) : "completed";
    if (blocks->open == BLOCK_CALL && item->tool.kind == RESPONSES_CUSTOM)
        write_input_events(reply, blocks, item, out);
    else if (blocks->open != BLOCK_CALL || item->tool.kind == RESPONSES_FUNCTION)
        write_done_event(reply, blocks, item, out);
    if (blocks->open != BLOCK_CALL)
        write_part_event(reply, blocks, row_of(reply, blocks)->part_done, item, out);
    write_item_event(reply, "response.output_item.done", item, status, out);
    if (stream->output.len > 0)
        buf_append_char(&stream->output, ',');
    responses_output_write(reply, item, status, true, &stream->output);
}

static void end_item(void *ctx, const struct answer_blocks *blocks, struct buf *out)
{
    struct dialect_reply *reply = ctx;
    struct stream *stream = reply->state;
    struct output_item item = open_item(reply, blocks);
    struct buf annotations, rest;
    buf_init(&annotations, stream->output.bytes_max);
    buf_init(&rest, stream->output.bytes_max);
    if (blocks->open == BLOCK_TEXT)
        write_annotation_events(reply, blocks, &annotations, out);
    responses_output_write_rest(answer_blocks_call_rest(blocks, reply->answer.tool_calls), &rest);
    item.annotations = buf_view(&annotations);
    item.rest = buf_view(&rest);
    write_item_end(reply, blocks, &item, out);
    stream->overflowed |= annotations.failed || rest.failed;
    buf_deinit(&annotations);
    buf_deinit(&rest);
    if (blocks->open == BLOCK_TEXT)
        clear(stream, &reply->answer.logprobs);
}

/* Whether each annotation stands with a text. */
static bool is_cited(const struct dialect_reply *reply)
{
    const struct stream *stream = reply->state;
    struct json *list = grown_value(reply->answer.members, "annotations");
    bool same = stream->citations > 0 && json_count(list) == stream->citations;
    json_free(list);
    return same;
}

static const struct block_ops item_ops = {begin_item, add_to_item, end_item, NULL};

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
    answer_blocks_init(&stream->blocks, false, true);
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
        !stream->call_id.failed && !stream->name.failed && !response_answer_failed(&reply->answer))
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
    response_answer_add_calls(&reply->answer, json_get(response_raw_message(piece), "tool_calls"));
    response_answer_add_members(&reply->answer, piece);
    return answer_blocks_feed(&stream->blocks, &item_ops, reply, piece, out, fault) &&
           fits(reply, fault);
}

/* OpenAI's libraries hand on events that they do not know. The open text goes on after what stays
 * of it; whatever else was begun is no part of the answer any more. */
static void write_correction(struct dialect_reply *reply, const struct exchange_summary *summary,
                             struct buf *out)
{
    struct stream *stream = reply->state;
    size_t stays = response_bytes_of(buf_view(&stream->text), summary->verification.at_chars);
    if (stream->blocks.open == BLOCK_TEXT) {
        buf_truncate(&stream->text, stays);
    } else {
        answer_blocks_init(&stream->blocks, false, true);
        clear(stream, &stream->text);
        clear(stream, &stream->output);
    }
    response_answer_clear(&reply->answer);
    stream->citations = 0;
    begin_event(stream, "tandem.correction", out);
    buf_append_char(out, ',');
    response_write_correction(summary, out);
    end_event(out);
}

static void write_verdict(struct dialect_reply *reply, const struct exchange_summary *summary,
                          struct buf *out)
{
    char name[32];
    snprintf(name, sizeof name, "tandem.%s", response_verdict_name(summary));
    begin_event(reply->state, name, out);
    buf_append_char(out, ',');
    response_write_verdict(summary, out);
    end_event(out);
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
    const struct response response = {.status = status_of(summary),
                                      .summary = summary,
                                      .output = buf_view(&stream->output),
                                      .cited = is_cited(reply)};
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

/* A stream has collected its items, also when it was not sent to its end. */
static void write_kept(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       const struct fault *fault, struct buf *out, size_t *items, size_t *items_len)
{
    const struct stream *stream = reply->state;
    struct buf whole;
    bool cited = stream->held && is_cited(reply);
    buf_init(&whole, out->bytes_max);
    if (stream->held)
        buf_append_str(&whole, buf_view(&stream->output));
    else if (summary && !fault)
        write_items(reply, summary, &cited, &whole);
    const struct response response = {.status = fault     ? "failed"
                                                : summary ? status_of(summary)
                                                          : "in_progress",
                                      .summary = fault ? NULL : summary,
                                      .fault = fault,
                                      .output = buf_view(&whole),
                                      .output_at = items,
                                      .cited = cited};
    write_response(reply, &response, out);
    *items_len = whole.len + 2; /* with the brackets */
    out->failed |= whole.failed;
    buf_deinit(&whole);
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

const struct dialect_name responses_names[] = {
    {"max_completion_tokens", "max_output_tokens"},
    {"response_format.json_schema", "text.format"},
    {"messages", "input"},
    {"tool_choice.allowed_tools", "tool_choice"},
    {"reasoning_effort", "reasoning.effort"},
    {"verbosity", "text.verbosity"},
    {"logprobs", "include"},
    {NULL, NULL},
};

const struct dialect dialect_responses = {
    .form = &form,
    .state_bytes = sizeof(struct stream),
    .names = responses_names,
    .keeps_request = true,
    .recall = responses_history_read,
    .translate = responses_request_translate,
    .list_left_out = responses_request_list_left_out,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .has_corrections = true,
    .write_correction = write_correction,
    .write_verdict = write_verdict,
    .write_finish = write_finish,
    .write_kept = write_kept,
    .deinit = deinit,
};
