/* Writes the items of a response. The chat's calls have the form of the tool that was offered. */
#include "api/dialects/responses/responses_output.h"

#include "api/wire/grown.h"
#include "base/core/str.h"

void responses_output_write_id(const struct dialect_reply *reply, enum block_kind kind,
                               size_t index, struct buf *out)
{
    const char *prefix = kind == BLOCK_CALL ? "fc" : kind == BLOCK_REASONING ? "rs" : "msg";
    buf_printf(out, "\"%s_%s_%zu\"", prefix, reply->writer.id, index);
}

void responses_output_write_part(const struct output_item *item, struct buf *out)
{
    if (item->kind == BLOCK_REASONING) {
        buf_printf(out, "{\"type\":\"%s\",\"text\":",
                   item->is_summary ? "summary_text" : "reasoning_text");
        json_write_text(item->text, out);
    } else if (item->kind == BLOCK_REFUSAL) {
        buf_append_str(out, STR("{\"type\":\"refusal\",\"refusal\":"));
        json_write_text(item->text, out);
    } else {
        buf_append_str(out, STR("{\"type\":\"output_text\",\"annotations\":["));
        buf_append_str(out, item->annotations);
        buf_append_str(out, STR("],\"logprobs\":["));
        buf_append_str(out, item->logprobs);
        buf_append_str(out, STR("],\"text\":"));
        json_write_text(item->text, out);
    }
    buf_append_char(out, '}');
}

void responses_output_write_input(const struct output_item *item, struct buf *out)
{
    struct buf input;
    buf_init(&input, out->bytes_max);
    responses_tools_read_input(item->text, &input);
    json_write_text(buf_view(&input), out);
    out->failed |= input.failed;
    buf_deinit(&input);
}

void responses_output_write_named(const struct output_item *item, struct buf *out)
{
    buf_append_str(out, STR(",\"name\":"));
    json_write_text(item->tool.name, out);
    if (item->tool.space.len == 0)
        return;
    buf_append_str(out, STR(",\"namespace\":"));
    json_write_text(item->tool.space, out);
}

static void write_call_id(const struct dialect_reply *reply, const struct output_item *item,
                          struct buf *out)
{
    buf_append_str(out, STR(",\"call_id\":"));
    if (item->call_id.len > 0)
        json_write_text(item->call_id, out);
    else /* its tier gave none */
        buf_printf(out, "\"call_%s_%zu\"", reply->writer.id, item->index);
}

/* A call in the form of its tool. A shell's call of no command is shown as it is. */
static void write_call(const struct dialect_reply *reply, const struct output_item *item,
                       const char *status, struct buf *out)
{
    struct buf action;
    buf_init(&action, out->bytes_max);
    bool begun = item->text.len > 0, custom = item->tool.kind == RESPONSES_CUSTOM;
    bool shell =
        item->tool.kind == RESPONSES_SHELL &&
        responses_tools_read_command(begun ? item->text : STR("{\"command\":[]}"), &action);
    buf_printf(out, ",\"type\":\"%s\",\"status\":\"%s\"",
               shell    ? "local_shell_call"
               : custom ? "custom_tool_call"
                        : "function_call",
               status);
    write_call_id(reply, item, out);
    if (shell) {
        buf_append_str(out, STR(",\"action\":"));
        buf_append_str(out, buf_view(&action));
        out->failed |= action.failed;
    } else {
        responses_output_write_named(item, out);
        buf_printf(out, ",\"%s\":", custom ? "input" : "arguments");
        if (custom)
            responses_output_write_input(item, out);
        else
            json_write_text(item->text, out);
    }
    buf_append_str(out, item->rest);
    buf_deinit(&action);
}

/* Servers of chats tell their models' own reasoning. It stands where a summary would when that is
 * what the client shows. */
static void write_reasoning(const struct output_item *item, const char *status, bool has_part,
                            struct buf *out)
{
    const char *const members[] = {item->is_summary ? "summary" : "content",
                                   item->is_summary ? "content" : "summary"};
    buf_printf(out, ",\"type\":\"reasoning\",\"status\":\"%s\",\"%s\":[", status, members[0]);
    if (has_part)
        responses_output_write_part(item, out);
    buf_printf(out, "],\"%s\":[]", members[1]);
}

void responses_output_write(const struct dialect_reply *reply, const struct output_item *item,
                            const char *status, bool has_part, struct buf *out)
{
    buf_append_str(out, STR("{\"id\":"));
    responses_output_write_id(reply, item->kind, item->index, out);
    if (item->kind == BLOCK_CALL) {
        write_call(reply, item, status, out);
    } else if (item->kind == BLOCK_REASONING) {
        write_reasoning(item, status, has_part, out);
    } else {
        buf_printf(out,
                   ",\"type\":\"message\",\"status\":\"%s\",\"role\":\"assistant\",\"content\":[",
                   status);
        if (has_part)
            responses_output_write_part(item, out);
        buf_append_char(out, ']');
    }
    buf_append_char(out, '}');
}

void responses_output_write_annotation(const struct json *annotation, struct buf *out)
{
    static const char type[] = "url_citation";
    const struct json *cited = json_get(annotation, type);
    if (json_kind_of(cited) != JSON_KIND_OBJECT) {
        json_write(annotation, out);
        return;
    }
    static const char *const own[] = {"type", NULL};
    buf_printf(out, "{\"type\":\"%s\"", type);
    response_write_members(cited, own, out);
    buf_append_char(out, '}');
}

void responses_output_write_rest(const struct grown *rest, struct buf *out)
{
    static const char *const own[] = {"id",        "type",     "status", "call_id",   "name",
                                      "namespace", "action",   "input",  "arguments", "index",
                                      "custom",    "function", NULL};
    grown_write(rest, own, out);
}

static const struct kind_row kind_rows[] = {
    [BLOCK_NONE] = {"", "", "", NULL, NULL, NULL},
    [BLOCK_REASONING] = {"response.reasoning_text.delta", "response.reasoning_text.done", "text",
                         "response.content_part.added", "response.content_part.done",
                         "content_index"},
    [BLOCK_TEXT] = {"response.output_text.delta", "response.output_text.done", "text",
                    "response.content_part.added", "response.content_part.done", "content_index"},
    [BLOCK_REFUSAL] = {"response.refusal.delta", "response.refusal.done", "refusal",
                       "response.content_part.added", "response.content_part.done",
                       "content_index"},
    [BLOCK_CALL] = {"response.function_call_arguments.delta",
                    "response.function_call_arguments.done", "arguments", NULL, NULL, NULL},
};
static const struct kind_row summary_row = {"response.reasoning_summary_text.delta",
                                            "response.reasoning_summary_text.done",
                                            "text",
                                            "response.reasoning_summary_part.added",
                                            "response.reasoning_summary_part.done",
                                            "summary_index"};

const struct kind_row *responses_output_kind(enum block_kind kind, bool is_summary)
{
    return is_summary ? &summary_row : &kind_rows[kind];
}
