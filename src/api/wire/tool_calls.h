/* Tool calls of an answer, put together from the deltas of a stream: `index` says which call,
 * names and argument texts are appended. Counts and bytes are bounded; what is over the limit
 * fails the answer. */
#ifndef API_TOOL_CALLS_H
#define API_TOOL_CALLS_H

#include "base/buf.h"
#include "base/json.h"

struct tool_calls;

struct tool_calls *
tool_calls_new(size_t bytes_max); /* **returns new** (tool_calls_free), or NULL */
void tool_calls_free(struct tool_calls *calls);
/* list: delta.tool_calls (with index) or message.tool_calls (in order). */
void tool_calls_add(struct tool_calls *calls, const struct json *list);
size_t tool_calls_count(const struct tool_calls *calls);
/* Whether something did not fit, so that calls are missing or cut. */
bool tool_calls_failed(const struct tool_calls *calls);
/* **borrows** until the next tool_calls_add. */
struct tool_call_text {
    struct td_str id, name, arguments;
};
struct tool_call_text tool_calls_at(const struct tool_calls *calls, size_t index);
/* Appends the JSON array. */
void tool_calls_write(const struct tool_calls *calls, struct buf *out);

#endif
