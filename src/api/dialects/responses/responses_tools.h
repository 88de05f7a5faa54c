/* Tools of the Responses API that are no functions, as functions of a chat.
 *
 *   in the Responses API                    in a chat
 *   {type: namespace, name: n, tools: [f]}  functions n__f
 *   {type: custom, name: c, format}         a function c of one text, `input`
 *   {type: local_shell}                     a function local_shell of a command
 *   others (web_search, mcp, ...)           nothing: OpenAI's servers run them
 *
 * A call comes back under the name in the chat; responses_tools_find says which tool of the request
 * that is. Nothing else remembers names, so a request is all that an answer needs. No thread
 * state. */
#ifndef API_RESPONSES_TOOLS_H
#define API_RESPONSES_TOOLS_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

enum responses_tool_kind { RESPONSES_FUNCTION, RESPONSES_CUSTOM, RESPONSES_SHELL };

struct responses_tool {
    enum responses_tool_kind kind;
    struct td_str space; /* the namespace; empty = none */
    struct td_str name;  /* in it */
};

/* A chat_build_tool_fn. */
bool responses_tools_read(const struct json *tool, size_t index, struct json *tools,
                          struct fault *fault);
/* Pushes the tool that an entry of `tool_choice.tools` names ({"type", "name"}), as a chat's choice
 * names it; nothing for one that is left out. A namespace's tools are named as in a chat. */
bool responses_tools_read_allowed(const struct json *entry, const char *place, struct json *tools,
                                  struct fault *fault);
/* Appends the types of `tools` that are left out (chat_build_note). */
void responses_tools_list_left_out(const struct json *tools, struct buf *out);
/* The tool that a chat calls `name`; one that nobody offered is a function of that name.
 * **borrows** from both. */
struct responses_tool responses_tools_find(const struct json *tools, struct td_str name);

/* A tool's name in a chat, for calls of earlier turns. */
void responses_tools_write_name(struct td_str space, struct td_str name, struct buf *out);
/* The arguments of a custom tool's function for a text, and back. The way back takes the text
 * itself, too, as models write it that know the tool. */
void responses_tools_write_input(struct td_str input, struct buf *out);
void responses_tools_read_input(struct td_str arguments, struct buf *out);
/* The same for the shell's: `action` of a call in this dialect, as JSON. False: the arguments hold
 * no command. */
void responses_tools_write_command(const struct json *action, struct buf *out);
bool responses_tools_read_command(struct td_str arguments, struct buf *out);

#endif
