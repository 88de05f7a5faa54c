/* The table of responses_tools.h, in both directions. A namespace has functions and custom tools,
 * but no namespaces. */
#include "api/dialects/responses/responses_tools.h"

#include "api/dialects/chat_build.h"
#include "api/wire/body_forms.h"
#include "base/core/str.h"

#include <stdio.h>

#define SHELL "local_shell"
/* A name in a chat: servers take 64 characters, and the fault of a longer one is theirs to tell. */
#define NAME_BYTES_MAX 1024
/* A description with a grammar; what a request holds is far smaller. */
#define DESCRIPTION_BYTES_MAX ((size_t)64 << 20)

static const char custom_schema[] =
    "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\",\"description\":"
    "\"The whole input of the tool, as plain text.\"}},\"required\":[\"input\"],"
    "\"additionalProperties\":false}";
static const char shell_schema[] =
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}},\"working_directory\":{\"type\":\"string\"},\"timeout_ms\":{\"type\":"
    "\"integer\"}},\"required\":[\"command\"],\"additionalProperties\":false}";
#define SHELL_DESCRIPTION "Runs a command, given as a list of words, on the user's machine."

/* --- names --- */

static bool is_type(const struct json *tool, const char *type)
{
    return str_equal(json_get_text(tool, "type"), str_from(type));
}

void responses_tools_write_name(struct td_str space, struct td_str name, struct buf *out)
{
    bool parted = space.len >= 2 && memcmp(space.data + space.len - 2, "__", 2) == 0;
    buf_append_str(out, space);
    if (space.len > 0 && !parted)
        buf_append_str(out, STR("__"));
    buf_append_str(out, name);
}

static bool is_named(struct td_str space, const struct json *tool, struct td_str name)
{
    struct buf own;
    buf_init(&own, NAME_BYTES_MAX);
    responses_tools_write_name(space, json_get_text(tool, "name"), &own);
    bool same = !own.failed && str_equal(buf_view(&own), name);
    buf_deinit(&own);
    return same;
}

static bool find_in(const struct json *tools, struct td_str space, struct td_str name,
                    struct responses_tool *out)
{
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *tool = json_at(tools, i);
        bool shell = is_type(tool, SHELL), custom = is_type(tool, "custom");
        if (shell ? !str_equal(name, STR(SHELL))
                  : !(custom || is_type(tool, "function")) || !is_named(space, tool, name))
            continue;
        *out = (struct responses_tool){.kind = shell    ? RESPONSES_SHELL
                                               : custom ? RESPONSES_CUSTOM
                                                        : RESPONSES_FUNCTION,
                                       .space = space,
                                       .name = shell ? name : json_get_text(tool, "name")};
        return true;
    }
    return false;
}

struct responses_tool responses_tools_find(const struct json *tools, struct td_str name)
{
    struct responses_tool found = {.name = name};
    if (find_in(tools, STR(""), name, &found))
        return found;
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *space = json_at(tools, i);
        if (is_type(space, "namespace") &&
            find_in(json_get(space, "tools"), json_get_text(space, "name"), name, &found))
            break;
    }
    return found;
}

/* --- offers --- */

static bool push_tool(const struct json *tool, struct td_str space, struct td_str description,
                      const struct json *parameters, struct json *tools, struct fault *fault)
{
    const struct json *strict = json_get(tool, "strict");
    struct buf name;
    buf_init(&name, NAME_BYTES_MAX);
    responses_tools_write_name(space, json_get_text(tool, "name"), &name);
    bool fits = !name.failed;
    struct json *made = chat_build_tool(buf_view(&name), description, parameters,
                                        json_absent(strict) ? NULL : strict);
    buf_deinit(&name);
    if (fits)
        return chat_build_push(tools, made, fault);
    json_free(made);
    return fault_request(fault, "tools", "a tool's name has more than %d bytes", NAME_BYTES_MAX);
}

static bool push_made(const struct json *tool, struct td_str space, struct td_str description,
                      const char *schema, struct json *tools, struct fault *fault)
{
    struct json *parameters = NULL;
    if (json_parse(str_from(schema), &parameters, NULL) != TD_OK)
        return chat_build_push(tools, NULL, fault); /* no memory */
    bool ok = push_tool(tool, space, description, parameters, tools, fault);
    json_free(parameters);
    return ok;
}

static bool read_function(const struct json *tool, const char *place, struct td_str space,
                          struct json *tools, struct fault *fault)
{
    const struct json *parameters = json_get(tool, "parameters");
    if (!json_absent(parameters) && json_kind_of(parameters) != JSON_KIND_OBJECT) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s.parameters", place);
        return fault_request(fault, at, "%s must be an object (a JSON schema), not %s", at,
                             json_kind_name(json_kind_of(parameters)));
    }
    return push_tool(tool, space, json_get_text(tool, "description"),
                     json_absent(parameters) ? NULL : parameters, tools, fault);
}

/* A grammar holds no calls here, so the model reads it. */
static bool read_custom(const struct json *tool, struct td_str space, struct json *tools,
                        struct fault *fault)
{
    const struct json *format = json_get(tool, "format");
    struct td_str grammar = json_get_text(format, "definition");
    struct td_str syntax = json_get_text(format, "syntax");
    struct buf description;
    buf_init(&description, DESCRIPTION_BYTES_MAX);
    buf_append_str(&description, json_get_text(tool, "description"));
    if (grammar.len > 0) {
        buf_printf(&description, "\n\nThe input follows this grammar (" STR_FMT "):\n",
                   STR_ARG(str_slice(syntax, 0, 40)));
        buf_append_str(&description, grammar);
    }
    bool ok = push_made(tool, space, buf_view(&description), custom_schema, tools, fault);
    buf_deinit(&description);
    return ok;
}

static bool read_shell(struct json *tools, struct fault *fault)
{
    struct json *named = json_new_object();
    json_put(named, "name", json_new_cstr(SHELL));
    bool ok = json_get(named, "name")
                  ? push_made(named, STR(""), STR(SHELL_DESCRIPTION), shell_schema, tools, fault)
                  : chat_build_push(tools, NULL, fault);
    json_free(named);
    return ok;
}

static bool read_one(const struct json *tool, const char *place, struct td_str space,
                     struct json *tools, struct fault *fault)
{
    struct td_str name;
    if (!chat_build_part_type(tool, place, fault))
        return false;
    bool function = is_type(tool, "function"), custom = is_type(tool, "custom");
    if (!function && !custom)
        return true; /* responses_tools_list_left_out tells the client */
    static const struct body_kind kinds[] = {{"description", BODY_KIND(TEXT), "a string"},
                                             {"strict", BODY_KIND(BOOL), "true or false"},
                                             {NULL, 0, NULL}};
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.", place);
    if (!chat_build_text(tool, place, "name", &name, fault) ||
        !body_forms_check_kinds(tool, at, kinds, fault))
        return false;
    return custom ? read_custom(tool, space, tools, fault)
                  : read_function(tool, place, space, tools, fault);
}

bool responses_tools_read(const struct json *tool, size_t index, struct json *tools,
                          struct fault *fault)
{
    char place[CHAT_BUILD_PLACE_BYTES], at[CHAT_BUILD_PLACE_BYTES];
    struct td_str space;
    chat_build_place(place, "tools[%zu]", index);
    if (is_type(tool, SHELL))
        return read_shell(tools, fault);
    if (!is_type(tool, "namespace"))
        return read_one(tool, place, STR(""), tools, fault);
    const struct json *list = json_get(tool, "tools");
    bool ok = chat_build_text(tool, place, "name", &space, fault);
    for (size_t i = 0; ok && i < json_count(list); i++) {
        chat_build_place(at, "%s.tools[%zu]", place, i);
        ok = read_one(json_at(list, i), at, space, tools, fault);
    }
    return ok;
}

bool responses_tools_read_allowed(const struct json *entry, const char *place, struct json *tools,
                                  struct fault *fault)
{
    struct td_str name = STR(SHELL), space;
    struct buf whole;
    if (!chat_build_part_type(entry, place, fault))
        return false;
    bool shell = is_type(entry, SHELL);
    if (!shell && !is_type(entry, "function") && !is_type(entry, "custom"))
        return true;
    if (!shell && !chat_build_text(entry, place, "name", &name, fault))
        return false;
    space = json_get_text(entry, "namespace");
    buf_init(&whole, NAME_BYTES_MAX);
    responses_tools_write_name(shell ? STR("") : space, name, &whole);
    bool fits = !whole.failed;
    struct json *choice = chat_build_choice(buf_view(&whole));
    buf_deinit(&whole);
    if (fits)
        return chat_build_push(tools, choice, fault);
    json_free(choice);
    return fault_request(fault, place, "a tool's name has more than %d bytes", NAME_BYTES_MAX);
}

static void note_others(const struct json *tools, bool outermost, struct buf *out)
{
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *tool = json_at(tools, i);
        const char *type = json_cstr(json_get(tool, "type"));
        bool known = is_type(tool, "function") || is_type(tool, "custom") ||
                     (outermost && (is_type(tool, SHELL) || is_type(tool, "namespace")));
        if (type && !known)
            chat_build_note(out, type);
    }
}

void responses_tools_list_left_out(const struct json *tools, struct buf *out)
{
    note_others(tools, true, out);
    for (size_t i = 0; i < json_count(tools); i++)
        if (is_type(json_at(tools, i), "namespace"))
            note_others(json_get(json_at(tools, i), "tools"), false, out);
}

/* --- calls --- */

void responses_tools_write_input(struct td_str input, struct buf *out)
{
    buf_append_str(out, STR("{\"input\":"));
    json_write_text(input, out);
    buf_append_char(out, '}');
}

void responses_tools_read_input(struct td_str arguments, struct buf *out)
{
    struct json *parsed = NULL;
    const struct json *input = NULL;
    if (json_parse(arguments, &parsed, NULL) == TD_OK)
        input = json_get(parsed, "input");
    buf_append_str(out, json_kind_of(input) == JSON_KIND_TEXT ? json_text(input) : arguments);
    json_free(parsed);
}

/* The members of an object but one, with a comma before each. */
static void write_members(const struct json *object, const char *except, struct buf *out)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        if (strcmp(name, except) == 0)
            continue;
        buf_append_char(out, ',');
        json_write_text(str_from(name), out);
        buf_append_char(out, ':');
        json_write(value, out);
    }
}

void responses_tools_write_command(const struct json *action, struct buf *out)
{
    struct buf members;
    buf_init(&members, out->bytes_max);
    write_members(action, "type", &members);
    buf_append_char(out, '{');
    buf_append_str(out, str_slice(buf_view(&members), 1, members.len));
    buf_append_char(out, '}');
    out->failed |= members.failed;
    buf_deinit(&members);
}

bool responses_tools_read_command(struct td_str arguments, struct buf *out)
{
    struct json *parsed = NULL;
    bool ok = json_parse(arguments, &parsed, NULL) == TD_OK &&
              json_kind_of(json_get(parsed, "command")) == JSON_KIND_ARRAY;
    if (ok) {
        buf_append_str(out, STR("{\"type\":\"exec\""));
        if (json_absent(json_get(parsed, "env")))
            buf_append_str(out, STR(",\"env\":{}"));
        write_members(parsed, "type", out);
        buf_append_char(out, '}');
    }
    json_free(parsed);
    return ok;
}
