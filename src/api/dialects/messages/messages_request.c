/* Translates Anthropic's request into a chat's.
 *
 * A message of blocks may become several messages of a chat, because a chat has tool results in
 * messages of their own. Blocks are read in order, and what was collected becomes a message when
 * another kind begins. */
#include "api/dialects/messages/messages_request.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/messages/messages_media.h"
#include "api/wire/body_forms.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "request/thinking.h"

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
    struct json *parts;    /* text that is not yet in a message; NULL = none */
    struct json *calls;    /* of an assistant; NULL = none */
    struct json *thoughts; /* the same, as a chat's `reasoning_details` */
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
    if (!reading->parts && !reading->calls && !reading->thoughts)
        return;
    struct json *message =
        chat_build_turn(reading->build, reading->role, reading->parts, reading->calls);
    if (reading->thoughts)
        chat_build_put(reading->build, message, "reasoning_details", reading->thoughts);
    reading->parts = reading->calls = reading->thoughts = NULL;
}

static bool read_part(struct reading *reading, const struct json *block, const char *place,
                      chat_build_part_fn *read)
{
    begin_parts(reading);
    if (!read(block, place, reading->parts, reading->build->fault))
        return false;
    chat_build_mark(json_last(reading->parts), block);
    return true;
}

/* A thought goes back to Anthropic's models with what proves that it is theirs: they refuse to go
 * on after a call without it. What this program has made of another server's thoughts has no proof,
 * and no model needs it. */
static bool read_thought(struct reading *reading, const struct json *block, const char *place,
                         bool hidden)
{
    static const struct body_kind kinds[] = {{"thinking", BODY_KIND(TEXT), "a string"},
                                             {"signature", BODY_KIND(TEXT), "a string"},
                                             {"data", BODY_KIND(TEXT), "a string"},
                                             {NULL, 0, NULL}};
    char at[CHAT_BUILD_PLACE_BYTES];
    const struct json *proof = json_get(block, hidden ? "data" : "signature");
    chat_build_place(at, "%s.", place);
    if (!body_forms_check_kinds(block, at, kinds, reading->build->fault))
        return false;
    if (json_text(proof).len == 0)
        return true;
    struct json *thought = json_new_object();
    struct chat_build *build = reading->build;
    chat_build_put(build, thought, "type",
                   json_new_cstr(hidden ? "reasoning.encrypted" : "reasoning.text"));
    if (!hidden)
        chat_build_put(build, thought, "text", json_new_text(json_get_text(block, "thinking")));
    chat_build_put(build, thought, hidden ? "data" : "signature", json_clone(proof));
    if (!reading->thoughts)
        reading->thoughts = json_new_array();
    size_t before = json_count(reading->thoughts);
    json_push(reading->thoughts, thought);
    build->failed |= json_count(reading->thoughts) == before;
    return true;
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
    struct json *call =
        chat_build_call(reading->build, reading->calls, id, name, json_new_text(buf_view(&text)));
    chat_build_call_extra(reading->build, call, block);
    chat_build_mark(call, block);
    buf_deinit(&text);
    return true;
}

/* is_error: a chat has no member for it, so the model reads the word. */
static void say_it_failed(struct chat_build *build, struct json **content)
{
    static const char word[] = "Error";
    bool list = json_kind_of(*content) == JSON_KIND_ARRAY;
    struct td_str said = list ? json_get_text(json_at(*content, 0), "text") : json_text(*content);
    if (str_equal_nocase(str_slice(said, 0, sizeof word - 1), STR("Error")))
        return;
    struct buf text;
    struct json *parts = json_new_array();
    buf_init(&text, INPUT_BYTES_MAX);
    buf_append_str(&text, !list && said.len > 0 ? STR("Error: ") : STR("Error"));
    buf_append_str(&text, list ? STR("") : said);
    build->failed |= text.failed || !chat_build_push_text(parts, buf_view(&text), build->fault);
    for (size_t i = 0; list && i < json_count(*content); i++)
        build->failed |= !chat_build_push(parts, json_clone(json_at(*content, i)), build->fault);
    buf_deinit(&text);
    json_free(*content);
    *content = chat_build_content(parts);
}

static bool read_result(struct reading *reading, const struct json *block, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id;
    char at[CHAT_BUILD_PLACE_BYTES];
    static const struct body_kind kinds[] = {{"is_error", BODY_KIND(BOOL), "true or false"},
                                             {NULL, 0, NULL}};
    chat_build_place(at, "%s.", place);
    if (!chat_build_text(block, place, "tool_use_id", &id, fault) ||
        !body_forms_check_kinds(block, at, kinds, fault))
        return false;
    chat_build_place(at, "%s.content", place);
    const struct json *content = json_get(block, "content");
    struct json *plain = json_absent(content) ? json_new_cstr("")
                                              : chat_build_plain(content, at, media_kinds, fault);
    if (!plain && fault->code)
        return false;
    chat_build_take_media(reading->build, &plain, &reading->shown);
    if (json_bool(json_get(block, "is_error"), false))
        say_it_failed(reading->build, &plain);
    flush(reading);
    chat_build_mark(chat_build_result(reading->build, id, plain), block);
    return true;
}

static bool is_chat_block(const char *type)
{
    static const char *const types[] = {"tool_use", "tool_result", "image", "document"};
    size_t i = 0, count = sizeof types / sizeof *types;
    while (i < count && strcmp(types[i], type) != 0)
        i++;
    return i < count;
}

static bool read_block(struct reading *reading, const struct json *block, const char *place)
{
    bool assistant = strcmp(reading->role, "assistant") == 0;
    bool user = strcmp(reading->role, "user") == 0;
    const char *type = chat_build_part_type(block, place, reading->build->fault);
    if (!type)
        return false;
    const struct chat_build_kind *kind = user ? media_kinds : text_kinds;
    while (kind->type && strcmp(kind->type, type) != 0)
        kind++;
    if (kind->type)
        return read_part(reading, block, place, kind->read);
    if (strcmp(type, "tool_use") == 0 && assistant)
        return read_call(reading, block, place);
    if (strcmp(type, "tool_result") == 0 && user)
        return read_result(reading, block, place);
    if (is_chat_block(type)) /* in a message where it cannot stand */
        return chat_build_refuse_part(type, place, reading->build->fault);
    bool hidden = strcmp(type, "redacted_thinking") == 0;
    if (assistant && (hidden || strcmp(type, "thinking") == 0))
        return read_thought(reading, block, place, hidden);
    if (assistant) /* what Anthropic's servers have run and found */
        return true;
    return read_part(reading, block, place, chat_build_new_part);
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
    if (json_kind_of(content) != JSON_KIND_ARRAY)
        return fault_request(build->fault, place, "%s must be a string or a list of content blocks",
                             place);
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
    if (build->message_count == before) /* nothing, or nothing that can be sent */
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
    /* "system" is a later instruction of the application's (mid-conversation-system-2026-04-07). */
    if (!str_equal(role, STR("user")) && !str_equal(role, STR("assistant")) &&
        !str_equal(role, STR("system"))) {
        chat_build_place(place, "messages[%zu].role", index);
        return fault_request(build->fault, place,
                             "unknown role '" STR_FMT "': use user, assistant or system",
                             STR_ARG(str_slice(role, 0, 40)));
    }
    chat_build_place(place, "messages[%zu].content", index);
    return read_content(build, json_cstr(json_get(message, "role")), json_get(message, "content"),
                        place);
}

static bool has_role(const struct json *message, const char *role)
{
    return str_equal(json_get_text(message, "role"), str_from(role));
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
    size_t last = count - 1;
    while (last > 0 && has_role(json_at(list, last), "system"))
        last--;
    if (counts || !has_role(json_at(list, last), "assistant"))
        return true;
    return chat_build_unsupported(
        build->fault, "messages",
        "the last message must be the user's: an answer that is begun for the "
        "model (a prefill) is not continued");
}

/* --- tools --- */

/* Other types have a name of Anthropic's, and what they take is known to its models alone. */
static bool is_described(const struct json *tool)
{
    const struct json *type = json_get(tool, "type");
    return json_kind_of(type) != JSON_KIND_TEXT || str_equal(json_text(type), STR("custom"));
}

static bool read_tool(const struct json *tool, size_t index, struct json *tools,
                      struct fault *fault)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(place, "tools[%zu]", index);
    if (json_kind_of(tool) != JSON_KIND_OBJECT)
        return fault_request(fault, place, "a tool must be an object, not %s",
                             json_kind_name(json_kind_of(tool)));
    const struct json *type = json_get(tool, "type"), *schema = json_get(tool, "input_schema");
    if (!json_absent(type) && json_kind_of(type) != JSON_KIND_TEXT) {
        chat_build_place(place, "tools[%zu].type", index);
        return fault_request(fault, place, "%s must be a string, not %s", place,
                             json_kind_name(json_kind_of(type)));
    }
    if (!is_described(tool))
        return true; /* messages_request_list_left_out tells the client */
    struct td_str name;
    static const struct body_kind kinds[] = {{"description", BODY_KIND(TEXT), "a string"},
                                             {"strict", BODY_KIND(BOOL), "true or false"},
                                             {NULL, 0, NULL}};
    if (!chat_build_text(tool, place, "name", &name, fault))
        return false;
    chat_build_place(place, "tools[%zu].", index);
    if (!body_forms_check_kinds(tool, place, kinds, fault))
        return false;
    if (json_kind_of(schema) != JSON_KIND_OBJECT) {
        chat_build_place(place, "tools[%zu].input_schema", index);
        return fault_request(fault, place, "%s must be an object (a JSON schema), not %s", place,
                             json_kind_name(json_kind_of(schema)));
    }
    struct json *made =
        chat_build_tool(name, json_get_text(tool, "description"), schema, json_get(tool, "strict"));
    chat_build_mark(made, tool);
    return chat_build_push(tools, made, fault);
}

static bool read_tool_choice(struct chat_build *build, const struct json *choice)
{
    if (json_absent(choice))
        return true;
    struct td_str type = json_get_text(choice, "type"), name;
    struct json *out = NULL;
    static const struct body_kind kinds[] = {
        {"disable_parallel_tool_use", BODY_KIND(BOOL), "true or false"}, {NULL, 0, NULL}};
    if (!body_forms_check_kinds(choice, "tool_choice.", kinds, build->fault))
        return false;
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
    if (!str_equal(json_get_text(format, "type"), STR("json_schema")) ||
        json_kind_of(schema) != JSON_KIND_OBJECT)
        return fault_request(build->fault, place,
                             "%s must be {\"type\": \"json_schema\", \"schema\": {...}}", place);
    chat_build_json_format(build, "answer", schema, NULL);
    return true;
}

/* How much to think: a chat's effort. */
static const char *effort_of(const struct json *body)
{
    const struct json *thinking = json_get(body, "thinking");
    struct td_str effort = json_get_text(json_get(body, "output_config"), "effort");
    int64_t budget = json_int(json_get(thinking, "budget_tokens"), 0);
    if (str_equal(effort, STR("max")))
        return "high"; /* servers of chats know no more */
    if (effort.len > 0)
        return json_cstr(json_get(json_get(body, "output_config"), "effort"));
    if (!str_equal(json_get_text(thinking, "type"), STR("enabled")))
        return NULL;
    return thinking_effort_of(thinking_anthropic, budget);
}

/* Whether it goes to a chat, so that it need not be named. A model of a chat decides itself how
 * much it thinks (adaptive), but is not told to think nothing: few servers know such an effort. */
static bool is_thinking_said(const struct json *thinking)
{
    struct td_str type = json_get_text(thinking, "type");
    return str_equal(type, STR("enabled")) || str_equal(type, STR("adaptive"));
}

bool messages_request_thinks(const struct json *body)
{
    return is_thinking_said(json_get(body, "thinking"));
}

bool messages_request_shows_thinking(const struct json *body)
{
    const struct json *display = json_get(json_get(body, "thinking"), "display");
    return messages_request_thinks(body) && !str_equal(json_text(display), STR("omitted"));
}

static void read_hints(struct chat_build *build, const struct json *body)
{
    const char *effort = effort_of(body);
    struct td_str service = json_get_text(body, "service_tier");
    if (effort)
        chat_build_put(build, build->body, "reasoning_effort", json_new_cstr(effort));
    if (str_equal(service, STR("standard_only")))
        chat_build_put(build, build->body, "service_tier", json_new_cstr("default"));
    else
        chat_build_hand_on(build, body, "service_tier");
    const struct json *user = json_get(json_get(body, "metadata"), "user_id");
    if (!json_absent(user))
        chat_build_put(build, build->body, "user", json_clone(user));
}

/* --- what a chat has no form for --- */

static bool check_kinds(const struct json *body, struct fault *fault)
{
    static const struct body_kind kinds[] = {
        {"cache_control", BODY_KIND(OBJECT), "an object"},
        {"container", BODY_KIND(OBJECT) | BODY_KIND(TEXT), "a string or an object"},
        {"context_management", BODY_KIND(OBJECT), "an object"},
        {"mcp_servers", BODY_KIND(ARRAY), "a list"},
        {"metadata", BODY_KIND(OBJECT), "an object"},
        {"output_config", BODY_KIND(OBJECT), "an object"},
        {"service_tier", BODY_KIND(TEXT), "a string"},
        {"thinking", BODY_KIND(OBJECT), "an object"},
        {NULL, 0, NULL}};
    static const struct body_kind of_thinking[] = {{"type", BODY_KIND(TEXT), "a string"},
                                                   {"budget_tokens", BODY_KIND(INT), "an integer"},
                                                   {"display", BODY_KIND(TEXT), "a string"},
                                                   {NULL, 0, NULL}};
    static const struct body_kind of_output[] = {{"effort", BODY_KIND(TEXT), "a string"},
                                                 {NULL, 0, NULL}};
    return body_forms_check_kinds(body, "", kinds, fault) &&
           body_forms_check_kinds(json_get(body, "thinking"), "thinking.", of_thinking, fault) &&
           body_forms_check_kinds(json_get(body, "output_config"), "output_config.", of_output,
                                  fault);
}

/* What this file reads. */
static const char *const known[] = {
    "cache_control", "max_tokens",   "messages", "metadata",       "output_config",
    "output_format", "service_tier", "system",   "stop_sequences", "thinking",
    "tool_choice",   "tools",        NULL};

/* Members of metadata, beside the user. */
static bool has_metadata(const struct json *metadata)
{
    return json_count(metadata) > (json_get(metadata, "user_id") ? 1u : 0u);
}

void messages_request_list_left_out(const struct json *body, struct buf *out)
{
    const struct json *tools = json_get(body, "tools"), *thinking = json_get(body, "thinking");
    for (size_t i = 0; i < json_count(tools); i++)
        if (!is_described(json_at(tools, i)))
            chat_build_note(out, json_cstr(json_get(json_at(tools, i), "type")));
    chat_build_note_members(out, body, known);
    if (json_count(thinking) > 0 && !is_thinking_said(thinking))
        chat_build_note(out, "thinking");
    if (has_metadata(json_get(body, "metadata")))
        chat_build_note(out, "metadata");
}

static struct json *translate(const struct json *body, bool counts, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    chat_build_mark(build.body, body);
    read_hints(&build, body);
    bool ok = check_kinds(body, fault) && read_messages(&build, body, counts) &&
              chat_build_tools(&build, json_get(body, "tools"), read_tool) &&
              read_tool_choice(&build, json_get(body, "tool_choice")) &&
              read_stops(&build, json_get(body, "stop_sequences")) && read_format(&build, body) &&
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
