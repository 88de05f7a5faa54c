/* Puts tool calls together from the deltas of a stream. Counts and bytes are bounded: a call that
 * lacks a part would be another call, so too much fails the answer. */
#include "api/wire/tool_calls.h"

#include "api/wire/grown.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "tier/openai/openai_delta.h"

#include <stdlib.h>

struct tool_call {
    struct buf id, name, arguments;
    struct grown *rest; /* members beside them; NULL = none */
    bool foreign;       /* no function, but a custom tool */
};

struct tool_calls {
    struct tool_call calls[DELTA_CALLS_MAX];
    size_t count;
    size_t bytes_max;
    bool failed;
};

struct tool_calls *tool_calls_new(size_t bytes_max)
{
    struct tool_calls *calls = calloc(1, sizeof *calls);
    if (calls)
        calls->bytes_max = bytes_max;
    return calls;
}

void tool_calls_free(struct tool_calls *calls)
{
    if (!calls)
        return;
    for (size_t i = 0; i < calls->count; i++) {
        buf_deinit(&calls->calls[i].id);
        buf_deinit(&calls->calls[i].name);
        buf_deinit(&calls->calls[i].arguments);
        grown_free(calls->calls[i].rest);
    }
    free(calls);
}

static struct tool_call *call_at(struct tool_calls *calls, size_t index)
{
    if (index >= DELTA_CALLS_MAX) {
        calls->failed = true;
        return NULL;
    }
    while (calls->count <= index) {
        struct tool_call *call = &calls->calls[calls->count++];
        buf_init(&call->id, calls->bytes_max);
        buf_init(&call->name, calls->bytes_max);
        buf_init(&call->arguments, calls->bytes_max);
    }
    return &calls->calls[index];
}

/* What this server does not write itself: a thought signature, a custom tool. */
static void add_rest(struct tool_calls *calls, struct tool_call *call, const struct json *item)
{
    static const char *const own[] = {"id", "index", "function"};
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(item, &iterator, &name, &value)) {
        size_t i = 0;
        while (i < sizeof own / sizeof *own && strcmp(own[i], name) != 0)
            i++;
        bool function = strcmp(name, "type") == 0 && str_equal(json_text(value), STR("function"));
        if (i < sizeof own / sizeof *own || function || json_absent(value))
            continue;
        if (strcmp(name, "type") == 0) {
            if (call->foreign || json_text(value).len == 0)
                continue;
            call->foreign = true;
        }
        if (!call->rest)
            call->rest = grown_new(calls->bytes_max);
        if (call->rest)
            grown_add(call->rest, name, value);
        else
            calls->failed = true;
    }
}

void tool_calls_add_input(struct td_str text, struct buf *out)
{
    struct buf quoted;
    buf_init(&quoted, out->bytes_max);
    json_write_text(text, &quoted);
    out->failed |= quoted.failed;
    if (!quoted.failed)
        buf_append_str(out, str_slice(buf_view(&quoted), 1, quoted.len - 1));
    buf_deinit(&quoted);
}

/* The arguments are whole after each delta. */
static void add_input(struct tool_call *call, const struct json *custom)
{
    buf_append_str(&call->name, json_get_text(custom, "name"));
    if (call->arguments.len == 0)
        buf_append_str(&call->arguments, STR(TOOL_CALLS_INPUT_BEGIN));
    else
        buf_truncate(&call->arguments, call->arguments.len - strlen(TOOL_CALLS_INPUT_END));
    tool_calls_add_input(json_get_text(custom, "input"), &call->arguments);
    buf_append_str(&call->arguments, STR(TOOL_CALLS_INPUT_END));
}

void tool_calls_add(struct tool_calls *calls, const struct json *list)
{
    ASSERT(calls);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *item = json_at(list, i);
        int64_t index = json_int(json_get(item, "index"), (int64_t)i);
        struct tool_call *call = call_at(calls, index < 0 ? DELTA_CALLS_MAX : (size_t)index);
        if (!call)
            return;
        const struct json *function = json_get(item, "function");
        if (call->id.len == 0)
            buf_append_str(&call->id, json_get_text(item, "id"));
        buf_append_str(&call->name, json_get_text(function, "name"));
        buf_append_str(&call->arguments, json_get_text(function, "arguments"));
        if (!function && json_kind_of(json_get(item, "custom")) == JSON_KIND_OBJECT)
            add_input(call, json_get(item, "custom"));
        add_rest(calls, call, item);
    }
}

size_t tool_calls_count(const struct tool_calls *calls)
{
    return calls ? calls->count : 0;
}

bool tool_calls_failed(const struct tool_calls *calls)
{
    bool failed = calls && calls->failed;
    for (size_t i = 0; i < tool_calls_count(calls) && !failed; i++)
        failed = calls->calls[i].id.failed || calls->calls[i].name.failed ||
                 calls->calls[i].arguments.failed || grown_failed(calls->calls[i].rest);
    return failed;
}

struct tool_call_text tool_calls_at(const struct tool_calls *calls, size_t index)
{
    ASSERT(index < tool_calls_count(calls));
    const struct tool_call *call = &calls->calls[index];
    return (struct tool_call_text){buf_view(&call->id), buf_view(&call->name),
                                   buf_view(&call->arguments), call->rest};
}

void tool_calls_write(const struct tool_calls *calls, struct buf *out)
{
    buf_append_char(out, '[');
    for (size_t i = 0; i < calls->count; i++) {
        struct tool_call_text call = tool_calls_at(calls, i);
        buf_append_str(out, i ? STR(",{\"id\":") : STR("{\"id\":"));
        json_write_text(call.id, out);
        if (!calls->calls[i].foreign) {
            buf_append_str(out, STR(",\"type\":\"function\",\"function\":{\"name\":"));
            json_write_text(call.name, out);
            buf_append_str(out, STR(",\"arguments\":"));
            json_write_text(call.arguments, out);
            buf_append_char(out, '}');
        }
        grown_write(call.rest, NULL, out);
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
}
