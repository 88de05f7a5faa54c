#include "tier/openai/openai_cut.h"

#include "base/core/str.h"

#include <string.h>

/* The place after the string that begins at `at`. */
static size_t after_string(struct td_str text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

static size_t after_space(struct td_str text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.data[at], 4))
        at++;
    return at;
}

/* The place after the value at `at`: up to the comma or bracket that does not belong to it. */
static size_t after_value(struct td_str text, size_t at)
{
    size_t depth = 0;
    while (at < text.len) {
        char c = text.data[at];
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return at;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? after_string(text, at) : at + 1;
    }
    return at;
}

bool openai_cut_member(struct td_str chunk, struct td_str name, struct buf *out)
{
    bool found = false;
    size_t copied = 0;
    for (size_t at = 0; at < chunk.len;) {
        size_t next = chunk.data[at] == '"' ? after_string(chunk, at) : at + 1;
        size_t colon = after_space(chunk, next);
        bool named = next - at == name.len + 2 && /* between quotes */
                     str_equal(str_slice(chunk, at + 1, next - 1), name);
        if (!named || colon >= chunk.len || chunk.data[colon] != ':') {
            at = next;
            continue;
        }
        buf_append_str(out, str_slice(chunk, copied, colon + 1));
        buf_append_str(out, STR("null"));
        at = copied = after_value(chunk, colon + 1);
        found = true;
    }
    buf_append_str(out, str_slice(chunk, copied, chunk.len));
    return found && !out->failed;
}
