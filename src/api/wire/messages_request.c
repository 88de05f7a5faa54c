/* Translates Anthropic's request into a chat's.
 *
 * A message of blocks may become several messages of a chat, because a chat has tool results in
 * messages of their own. Blocks are read in order, and what was collected becomes a message when
 * another kind begins. */
#include "api/wire/messages_request.h"

#include "api/wire/chat_build.h"
#include "api/wire/messages_media.h"
#include "api/wire/openai_request.h"
#include "base/str.h"

#include <stdio.h>

/* A tool's input as a text; what a request holds is far smaller. */
#define INPUT_BYTES_MAX ((size_t)64 << 20)

/* --- content --- */

static const struct chat_build_kind text_kinds[] = {{"text", chat_build_text_part}, {NULL, NULL}};
static const struct chat_build_kind media_kinds[] = {{"text", chat_build_text_part},
                                                     {"image", messages_media_image},
                                                     {"document", messages_media_document},
                                                     {NULL, NULL}};

/* One message of the dialect, which may be several of a chat. */
struct reading {
    struct chat_build *build;
    const char *role;
    struct json *parts; /* text that is not yet in a message; NULL = none */
    struct json *calls; /* of an assistant; NULL = none */
    struct json *shown; /* what tools answered beside text; the user's next words have it first */
};

/* What tools have shown goes before what is said next. */
static void begin_parts(struct reading *reading)
{
    if (!reading->parts)
        reading->parts = reading->shown ? reading->shown : json_new_array();
    else
        return;
    reading->shown = NULL;
}

/* What has been read becomes a message. */
static void flush(struct reading *reading)
{
    if (!reading->parts && !reading->calls)
        return;
    struct json *content = reading->parts ? chat_build_content(reading->parts) : json_new_null();
    struct json *message = chat_build_message(reading->build, reading->role, content);
    if (reading->calls)
        chat_build_put(reading->build, message, "tool_calls", reading->calls);
    reading->parts = reading->calls = NULL;
}

static bool read_part(struct reading *reading, const struct json *block, const char *place,
                      chat_build_part_fn *read)
{
    begin_parts(reading);
    return read(block, place, reading->parts, reading->build->fault);
}

static bool read_call(struct reading *reading, const struct json *block, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id, name;
    const struct json *input = json_get(block, "input");
    if (!chat_build_text(block, place, "id", &id, fault) ||
        !chat_build_text(block, place, "name", &name, fault))
        return false;
    if (json_kind_of(input) != JSON_KIND_OBJECT) {
        char param[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(param, "%s.input", place);
        return fault_request(fault, param, "%s must be an object, not %s", param,
                             json_kind_name(json_kind_of(input)));
    }
    struct buf text;
    buf_init(&text, INPUT_BYTES_MAX);
    json_write(input, &text);
    if (!reading->calls)
        reading->calls = json_new_array();
    reading->build->failed |= text.failed;
    chat_build_call(reading->build, reading->calls, id, name, json_new_text(buf_view(&text)));
    buf_deinit(&text);
    return true;
}

static bool read_result(struct reading *reading, const struct json *block, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id;
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.content", place);
    const struct json *content = json_get(block, "content");
    if (!chat_build_text(block, place, "tool_use_id", &id, fault))
        return false;
    struct json *plain = json_absent(content) ? json_new_cstr("")
                                              : chat_build_plain(content, at, media_kinds, fault);
    if (!plain && fault->code)
        return false;
    chat_build_take_media(reading->build, &plain, &reading->shown);
    flush(reading);
    chat_build_result(reading->build, id, plain);
    return true;
}

static bool read_block(struct reading *reading, const struct json *block, const char *place)
{
    bool assistant = strcmp(reading->role, "assistant") == 0;
    const char *type = chat_build_part_type(block, place, reading->build->fault);
    if (!type)
        return false;
    const struct chat_build_kind *kind = assistant ? text_kinds : media_kinds;
    while (kind->type && strcmp(kind->type, type) != 0)
        kind++;
    if (kind->type)
        return read_part(reading, block, place, kind->read);
    if (strcmp(type, "tool_use") == 0 && assistant)
        return read_call(reading, block, place);
    if (strcmp(type, "tool_result") == 0 && !assistant)
        return read_result(reading, block, place);
    if (assistant && (strcmp(type, "thinking") == 0 || strcmp(type, "redacted_thinking") == 0))
        return true;
    return chat_build_refuse_part(type, place, reading->build->fault);
}

static bool read_content(struct chat_build *build, const char *role, const struct json *content,
                         const char *place)
{
    struct reading reading = {.build = build, .role = role};
    size_t count = json_count(content), before = build->message_count;
    if (json_kind_of(content) == JSON_KIND_TEXT) {
        chat_build_message(build, role, json_clone(content));
        return true;
    }
    if (json_kind_of(content) != JSON_KIND_ARRAY || count == 0)
        return fault_request(build->fault, place,
                             "%s must be a string or a list of one content block or more", place);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        ok = read_block(&reading, json_at(content, i), at);
    }
    if (reading.shown)
        begin_parts(&reading);
    json_free(reading.shown);
    flush(&reading);
    if (build->message_count == before) /* nothing but thinking */
        chat_build_message(build, role, json_new_cstr(""));
    return ok;
}

static bool read_message(struct chat_build *build, const struct json *message, size_t index)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(place, "messages[%zu]", index);
    if (json_kind_of(message) != JSON_KIND_OBJECT)
        return fault_request(build->fault, place, "a message must be an object, not %s",
                             json_kind_name(json_kind_of(message)));
    struct td_str role;
    if (!chat_build_text(message, place, "role", &role, build->fault))
        return false;
    if (!str_equal(role, STR("user")) && !str_equal(role, STR("assistant"))) {
        chat_build_place(place, "messages[%zu].role", index);
        return fault_request(build->fault, place,
                             "unknown role '" STR_FMT
                             "': use user or assistant; the member 'system' has the system's text",
                             STR_ARG(str_slice(role, 0, 40)));
    }
    chat_build_place(place, "messages[%zu].content", index);
    return read_content(build, json_cstr(json_get(message, "role")), json_get(message, "content"),
                        place);
}

static bool read_messages(struct chat_build *build, const struct json *body, bool counts)
{
    const struct json *list = json_get(body, "messages"), *system = json_get(body, "system");
    size_t count = json_count(list);
    if (!json_absent(system)) {
        struct json *content = chat_build_plain(system, "system", text_kinds, build->fault);
        if (!content)
            return false;
        chat_build_message(build, "system", content);
    }
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0)
        return fault_request(build->fault, "messages",
                             "messages must be an array of one message or more");
    if (count > OPENAI_MESSAGES_MAX)
        return fault_request(build->fault, "messages", "%zu messages; at most %d are accepted",
                             count, OPENAI_MESSAGES_MAX);
    for (size_t i = 0; i < count; i++)
        if (!read_message(build, json_at(list, i), i))
            return false;
    const char *last = json_cstr(json_get(json_at(list, count - 1), "role"));
    if (counts || strcmp(last, "user") == 0)
        return true;
    return chat_build_unsupported(
        build->fault, "messages",
        "the last message must be the user's: an answer that is begun for the "
        "model (a prefill) is not continued");
}

/* --- tools --- */

static bool read_tool(const struct json *tool, size_t index, struct json *tools,
                      struct fault *fault)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(place, "tools[%zu]", index);
    if (json_kind_of(tool) != JSON_KIND_OBJECT)
        return fault_request(fault, place, "a tool must be an object, not %s",
                             json_kind_name(json_kind_of(tool)));
    const struct json *type = json_get(tool, "type"), *schema = json_get(tool, "input_schema");
    if (!json_absent(type) && !str_equal(json_text(type), STR("custom"))) {
        chat_build_place(place, "tools[%zu].type", index);
        return chat_build_unsupported(
            fault, place,
            "tools of type '%.40s' are not supported: describe a tool of your own "
            "with name and input_schema",
            json_cstr(type) ? json_cstr(type) : "?");
    }
    struct td_str name;
    if (!chat_build_text(tool, place, "name", &name, fault))
        return false;
    if (json_kind_of(schema) != JSON_KIND_OBJECT) {
        chat_build_place(place, "tools[%zu].input_schema", index);
        return fault_request(fault, place, "%s must be an object (a JSON schema), not %s", place,
                             json_kind_name(json_kind_of(schema)));
    }
    json_push(tools, chat_build_tool(name, json_text(json_get(tool, "description")), schema,
                                     json_get(tool, "strict")));
    return true;
}

static bool read_tool_choice(struct chat_build *build, const struct json *choice)
{
    if (json_absent(choice))
        return true;
    struct td_str type = json_text(json_get(choice, "type")), name;
    struct json *out = NULL;
    if (str_equal(type, STR("auto")) || str_equal(type, STR("none")))
        out = json_new_text(type);
    else if (str_equal(type, STR("any")))
        out = json_new_cstr("required");
    else if (!str_equal(type, STR("tool")))
        return fault_request(build->fault, "tool_choice",
                             "tool_choice must be an object with the type auto, any, tool or none");
    else if (!chat_build_text(choice, "tool_choice", "name", &name, build->fault))
        return false;
    else
        out = chat_build_choice(name);
    chat_build_put(build, build->body, "tool_choice", out);
    if (json_bool(json_get(choice, "disable_parallel_tool_use"), false))
        chat_build_put(build, build->body, "parallel_tool_calls", json_new_bool(false));
    return true;
}

/* --- the rest --- */

static bool read_stops(struct chat_build *build, const struct json *stops)
{
    if (json_absent(stops))
        return true;
    if (json_kind_of(stops) != JSON_KIND_ARRAY)
        return fault_request(build->fault, "stop_sequences",
                             "stop_sequences must be a list of strings, not %s",
                             json_kind_name(json_kind_of(stops)));
    if (json_count(stops) > 0)
        chat_build_put(build, build->body, "stop", json_clone(stops));
    return true;
}

/* {"type": "json_schema", "schema": {...}}, where Anthropic has it now or where it was first. */
static bool read_format(struct chat_build *build, const struct json *body)
{
    const char *place = "output_config.format";
    const struct json *format = json_get(json_get(body, "output_config"), "format");
    if (json_absent(format)) {
        place = "output_format";
        format = json_get(body, place);
    }
    if (json_absent(format))
        return true;
    const struct json *schema = json_get(format, "schema");
    if (!str_equal(json_text(json_get(format, "type")), STR("json_schema")) ||
        json_kind_of(schema) != JSON_KIND_OBJECT)
        return fault_request(build->fault, place,
                             "%s must be {\"type\": \"json_schema\", \"schema\": {...}}", place);
    chat_build_json_format(build, "answer", schema, NULL);
    return true;
}

static bool read_user(struct chat_build *build, const struct json *metadata)
{
    const struct json *user = json_get(metadata, "user_id");
    if (!json_absent(metadata) && json_kind_of(metadata) != JSON_KIND_OBJECT)
        return fault_request(build->fault, "metadata", "metadata must be an object, not %s",
                             json_kind_name(json_kind_of(metadata)));
    if (!json_absent(user))
        chat_build_put(build, build->body, "user", json_clone(user));
    return true;
}

static bool refuse_servers(const struct json *body, struct fault *fault)
{
    static const char *const names[] = {"mcp_servers", "container"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(body, names[i]);
        bool empty = json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) == 0;
        if (!json_absent(value) && !empty)
            return chat_build_unsupported(fault, names[i],
                                          "%s is not supported: nothing here runs it", names[i]);
    }
    return true;
}

static struct json *translate(const struct json *body, bool counts, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    bool ok = refuse_servers(body, fault) && read_messages(&build, body, counts) &&
              chat_build_tools(&build, json_get(body, "tools"), read_tool) &&
              read_tool_choice(&build, json_get(body, "tool_choice")) &&
              read_stops(&build, json_get(body, "stop_sequences")) && read_format(&build, body) &&
              read_user(&build, json_get(body, "metadata")) &&
              chat_build_tokens_max(&build, body, "max_tokens");
    if (ok && !counts && json_absent(json_get(body, "max_tokens")))
        ok = fault_request(fault, "max_tokens", "the request needs max_tokens");
    return chat_build_end(&build, ok);
}

struct json *messages_request_translate(const struct json *body, struct fault *fault)
{
    return translate(body, false, fault);
}

struct json *messages_request_translate_count(const struct json *body, struct fault *fault)
{
    return translate(body, true, fault);
}
