/* Tools in a chat: whether a model's own template supports them, in which form the model writes its
 * calls, and the prompt with tools. No state; any thread. */
#ifndef ENGINE_CHAT_TOOLS_H
#define ENGINE_CHAT_TOOLS_H

#include "base/core/str.h"
#include "engine/grammar/token_filter.h"
#include "engine/template/jinja.h"
#include "tandem/engine.h"

/* The form of calls in an answer:
 *   HERMES   <tool_call>{"name": ..., "arguments": {...}}</tool_call>, any number
 *            (Qwen 2.5, Qwen 3, Hermes)
 *   LLAMA    {"name": ..., "parameters": {...}} as the whole answer
 *            (Llama 3.1 and later)
 *   MISTRAL  [TOOL_CALLS][{"name": ..., "arguments": {...}}, ...] to the end
 *            (Mistral v3 and later) */
enum tool_format { TOOL_FORMAT_NONE, TOOL_FORMAT_HERMES, TOOL_FORMAT_LLAMA, TOOL_FORMAT_MISTRAL };

/* The texts around calls. A model may have tokens of their own for them; {NULL, 0} = there is none.
 * LLAMA's comes before a call that is not the whole answer. */
struct tool_marks {
    struct td_str open, close;
};
static inline struct tool_marks tool_format_marks(enum tool_format format)
{
    switch (format) {
    case TOOL_FORMAT_HERMES:
        return (struct tool_marks){STR("<tool_call>"), STR("</tool_call>")};
    case TOOL_FORMAT_MISTRAL:
        return (struct tool_marks){STR("[TOOL_CALLS]"), {NULL, 0}};
    case TOOL_FORMAT_LLAMA:
        return (struct tool_marks){STR("<|python_tag|>"), {NULL, 0}};
    default:
        return (struct tool_marks){{NULL, 0}, {NULL, 0}};
    }
}
/* The tokens of the vocabulary that are these marks, and the model's "not mine" token. */
void chat_tool_marks(const struct td_model *model, enum tool_format format,
                     struct token_marks *out);

/* Asks the template: it must show a tool that it is given, and a call of that tool in a known
 * form. */
enum tool_format tool_format_of(const struct jinja *jinja);
/* NONE for a model without a template of its own. */
enum tool_format chat_tool_format(const struct td_model *model);

/* As td_chat_tokenize, for OpenAI's messages (with tool_calls and tool messages) and tools (NULL =
 * none), by the model's own template. TD_INVALID when it refuses them. *ids **returns new**
 * (free). */
TD_MUST_CHECK enum td_status chat_tools_tokenize(const struct td_model *model,
                                                 const struct json *messages,
                                                 const struct json *tools, int32_t **ids,
                                                 size_t *count, struct td_error *err);

#endif
