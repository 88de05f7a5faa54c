/* Finds tool calls in the text of a model while it is generated. The text runs through a buffer
 * that holds only what may still turn out to be a call: the beginning of a mark, or everything
 * after one. A call is given out whole or not at all. Text that only looked like a call is given
 * out as text, so nothing of an answer is lost. */
#include "tier/tool_parser.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "tier/openai/openai_wire.h"

#include <stdlib.h>
#include <string.h>

/* Calls with longer arguments are given out as text. */
#define HELD_BYTES_MAX ((size_t)1 << 20)
/* Arguments are written again: 1e14 becomes 100000000000000.0, which is the worst growth of a
 * number. */
#define ARGUMENTS_BYTES_MAX (4 * HELD_BYTES_MAX)

void tool_parser_init(struct tool_parser *parser, enum tool_format format, const struct json *tools)
{
    ASSERT(format != TOOL_FORMAT_NONE);
    *parser = (struct tool_parser){.format = format, .tools = json_clone(tools)};
    buf_init(&parser->held, HELD_BYTES_MAX);
}

static void drop_ready(struct tool_parser *parser, size_t keep)
{
    while (parser->ready_count > keep) {
        struct tool_call *call = &parser->ready[--parser->ready_count];
        buf_deinit(&call->function);
        buf_deinit(&call->arguments);
    }
}

void tool_parser_deinit(struct tool_parser *parser)
{
    drop_ready(parser, 0);
    free(parser->ready);
    json_free(parser->tools);
    buf_deinit(&parser->held);
}

bool tool_parser_is_mark(const struct tool_parser *parser, struct td_str token)
{
    struct tool_marks marks = tool_format_marks(parser->format);
    return token.len > 0 && (str_equal(token, marks.open) || str_equal(token, marks.close));
}

/* --- calls --- */

static struct tool_call *new_call(struct tool_parser *parser)
{
    if (parser->ready_count == parser->ready_capacity) {
        size_t capacity = parser->ready_capacity ? parser->ready_capacity * 2 : 4;
        struct tool_call *ready = realloc(parser->ready, capacity * sizeof *ready);
        if (!ready)
            return NULL;
        parser->ready = ready;
        parser->ready_capacity = capacity;
    }
    struct tool_call *call = &parser->ready[parser->ready_count];
    *call = (struct tool_call){.number = (uint32_t)parser->call_count++};
    buf_init(&call->function, HELD_BYTES_MAX);
    buf_init(&call->arguments, ARGUMENTS_BYTES_MAX);
    parser->ready_count++;
    return call;
}

/* Reads a call {"name", "arguments" or "parameters"} as models write it; false when it is none. */
static bool add_call(struct tool_parser *parser, const struct json *value)
{
    struct td_str name = json_text(json_get(value, "name"));
    const struct json *arguments = json_get(value, "arguments");
    uint8_t random[(TOOL_CALL_ID_BYTES - sizeof "call_") / 2];
    if (!arguments)
        arguments = json_get(value, "parameters");
    bool object = json_kind_of(arguments) == JSON_KIND_OBJECT;
    if (!openai_offers_tool(parser->tools, name) || (arguments && !object) ||
        crypto_random(random, sizeof random, NULL) != TD_OK)
        return false;
    struct tool_call *call = new_call(parser);
    if (!call)
        return false;
    memcpy(call->id, "call_", 5);
    crypto_hex(random, sizeof random, call->id + 5);
    buf_append_str(&call->function, name);
    if (object)
        json_write(arguments, &call->arguments);
    else
        buf_append_str(&call->arguments, STR("{}"));
    /* Half of the arguments would make another call. */
    return !call->function.failed && !call->arguments.failed;
}

/* Reads a call or an array of calls: all of them or none. */
static bool add_calls(struct tool_parser *parser, struct td_str text)
{
    struct json *value = NULL;
    size_t before = parser->ready_count;
    bool ok = json_parse_last(str_trim(text), &value, NULL) == TD_OK;
    bool list = json_kind_of(value) == JSON_KIND_ARRAY;
    size_t count = list ? json_count(value) : 1;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_call(parser, list ? json_at(value, i) : value);
    ok = ok && count > 0;
    if (!ok) {
        parser->call_count -= parser->ready_count - before;
        drop_ready(parser, before);
    }
    json_free(value);
    return ok;
}

/* --- text --- */

/* White space between calls does not belong to the answer. */
static void give_text(struct tool_parser *parser, struct td_str text, struct buf *plain)
{
    if (parser->call_count > 0 && str_trim(text).len == 0)
        return;
    buf_append_str(plain, text);
}

static void consume(struct tool_parser *parser, size_t len, struct buf *plain)
{
    if (plain)
        give_text(parser, str_slice(buf_view(&parser->held), 0, len), plain);
    buf_consume(&parser->held, len);
}

/* How many bytes at the end of `text` are the beginning of `mark`. */
static size_t half_mark(struct td_str text, struct td_str mark)
{
    size_t len = mark.len - 1 < text.len ? mark.len - 1 : text.len;
    while (len > 0 && memcmp(text.data + text.len - len, mark.data, len) != 0)
        len--;
    return len;
}

/* One step outside of a call. False: no more can be decided before more text comes. */
static bool step_text(struct tool_parser *parser, struct buf *plain)
{
    struct td_str held = buf_view(&parser->held), open = tool_format_marks(parser->format).open;
    size_t mark = str_find(held, open, 0), spaces = 0;
    while (spaces < held.len && strchr(" \t\r\n", held.data[spaces]))
        spaces++;
    if (parser->format == TOOL_FORMAT_LLAMA && !parser->began && spaces < held.len &&
        held.data[spaces] == '{') {
        parser->in_call = true; /* no mark: the whole answer is a call or none of it is */
        return true;
    }
    parser->began = parser->began || spaces < held.len;
    if (mark != SIZE_MAX) {
        consume(parser, mark, plain);
        consume(parser, open.len, NULL);
        parser->in_call = true;
        return true;
    }
    if (parser->began)
        consume(parser, held.len - half_mark(held, open), plain);
    return false;
}

/* Where the mark is, outside of JSON's strings: an argument may contain it. */
static size_t find_close(struct td_str text, struct td_str mark)
{
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            in_string = !in_string;
        else if (in_string && text.data[i] == '\\')
            i++;
        else if (!in_string && str_starts_with(str_slice(text, i, text.len), mark))
            return i;
    }
    return SIZE_MAX;
}

static bool step_call(struct tool_parser *parser, struct buf *plain)
{
    struct tool_marks marks = tool_format_marks(parser->format);
    struct td_str held = buf_view(&parser->held);
    size_t end = marks.close.len ? find_close(held, marks.close) : SIZE_MAX;
    if (end == SIZE_MAX)
        return false;
    if (!add_calls(parser, str_slice(held, 0, end))) {
        buf_append_str(plain, marks.open);
        buf_append_str(plain, str_slice(held, 0, end + marks.close.len));
    }
    consume(parser, end + marks.close.len, NULL);
    parser->in_call = false;
    return true;
}

void tool_parser_feed(struct tool_parser *parser, struct td_str text, struct buf *plain)
{
    ASSERT(parser->format != TOOL_FORMAT_NONE && plain != NULL);
    drop_ready(parser, 0);
    buf_append_str(&parser->held, text);
    if (parser->held.failed) { /* too long for a call */
        struct td_str open = tool_format_marks(parser->format).open;
        if (parser->in_call && parser->format != TOOL_FORMAT_LLAMA)
            buf_append_str(plain, open);
        buf_append_str(plain, buf_view(&parser->held));
        buf_append_str(plain, text);
        buf_clear(&parser->held);
        parser->in_call = false;
        parser->began = true;
        return;
    }
    while (parser->in_call ? step_call(parser, plain) : step_text(parser, plain))
        ;
}

void tool_parser_end(struct tool_parser *parser, struct buf *plain)
{
    ASSERT(parser->format != TOOL_FORMAT_NONE && plain != NULL);
    struct td_str held = buf_view(&parser->held);
    drop_ready(parser, 0);
    bool called = parser->in_call && add_calls(parser, held);
    if (!called) {
        if (parser->in_call && parser->format != TOOL_FORMAT_LLAMA)
            buf_append_str(plain, tool_format_marks(parser->format).open);
        give_text(parser, held, plain);
    }
    buf_clear(&parser->held);
    parser->in_call = false;
}
