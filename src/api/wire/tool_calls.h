/* Tool calls of an answer, put together from the deltas of a stream: `index` says which call, names
 * and argument texts are appended, what else a call has grows beside them. Counts and bytes are
 * bounded; what is over the limit fails the answer.
 *
 * Whoever reads a call reads that of a custom tool as one of a function with the text `input`, as
 * other dialects have it. tool_calls_write writes it as it came. */
#ifndef API_TOOL_CALLS_H
#define API_TOOL_CALLS_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

struct grown;
struct tool_calls;

struct tool_calls *
tool_calls_new(size_t bytes_max); /* **returns new** (tool_calls_free), or NULL */
void tool_calls_free(struct tool_calls *calls);
/* list: delta.tool_calls (with index) or message.tool_calls (in order). */
void tool_calls_add(struct tool_calls *calls, const struct json *list);
size_t tool_calls_count(const struct tool_calls *calls);
/* Whether something did not fit, so that calls are missing or cut. */
bool tool_calls_failed(const struct tool_calls *calls);
/* A custom tool's arguments: the text, in pieces, between a beginning and an end. */
#define TOOL_CALLS_INPUT_BEGIN "{\"input\":\""
#define TOOL_CALLS_INPUT_END "\"}"
void tool_calls_add_input(struct td_str text, struct buf *out);
/* **borrows** until the next tool_calls_add. */
struct tool_call_text {
    struct td_str id, name, arguments;
    const struct grown *rest; /* further members, such as a thought signature; NULL = none */
};
struct tool_call_text tool_calls_at(const struct tool_calls *calls, size_t index);
/* Appends the JSON array. */
void tool_calls_write(const struct tool_calls *calls, struct buf *out);

#endif
