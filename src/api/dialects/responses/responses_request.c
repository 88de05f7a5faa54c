/* Translates a request of OpenAI's Responses API into a chat's. Items become messages one by one,
 * but the calls that follow an assistant's message belong to it. */
#include "api/dialects/responses/responses_request.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/responses/responses_media.h"
#include "api/dialects/responses/responses_tools.h"
#include "api/wire/body_forms.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"

/* A call's name or arguments; what a request holds is far smaller. */
#define CALL_BYTES_MAX ((size_t)64 << 20)

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define LOGPROBS "message.output_text.logprobs"

/* What a client sends as text, and what it got as text in an earlier answer. */
#define TEXT_KINDS                                                               \
    {"input_text", chat_build_text_part}, {"output_text", chat_build_text_part}, \
        {"text", chat_build_text_part},                                          \
    {                                                                            \
        "refusal", chat_build_refusal_part                                       \
    }
static const struct chat_build_kind text_kinds[] = {TEXT_KINDS, {NULL, NULL}};
static const struct chat_build_kind media_kinds[] = {TEXT_KINDS,
                                                     {"input_image", responses_media_image},
                                                     {"input_file", responses_media_file},
                                                     {"input_audio", responses_media_audio},
                                                     {NULL, NULL}};

/* --- input --- */

/* Items become messages one by one, except that an assistant's message and the calls after it are
 * one message of a chat. */
struct reading {
    struct chat_build *build;
    struct json *content; /* of an assistant's message that is not yet written; NULL = none */
    struct json *calls;   /* that belong to it; NULL = none */
    struct json *shown;   /* what tools answered beside text: the user's, after all answers */
};

static void flush(struct reading *reading)
{
    if (!reading->content && !reading->calls)
        return;
    struct json *content = reading->content ? reading->content : json_new_null();
    struct json *message = chat_build_message(reading->build, "assistant", content);
    if (reading->calls)
        chat_build_put(reading->build, message, "tool_calls", reading->calls);
    reading->content = reading->calls = NULL;
}

static void show(struct reading *reading)
{
    if (reading->shown)
        chat_build_message(reading->build, "user", reading->shown);
    reading->shown = NULL;
}

static bool read_message(struct reading *reading, const struct json *item, const char *place)
{
    static const char *const roles[] = {"user", "assistant", "system", "developer"};
    struct fault *fault = reading->build->fault;
    struct td_str role;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!chat_build_text(item, place, "role", &role, fault))
        return false;
    size_t known = 0, count = sizeof roles / sizeof *roles;
    while (known < count && !str_equal(role, str_from(roles[known])))
        known++;
    if (known == count) {
        chat_build_place(at, "%s.role", place);
        return fault_request(fault, at,
                             "unknown role '" STR_FMT "': use user, assistant, system or developer",
                             STR_ARG(str_slice(role, 0, 40)));
    }
    chat_build_place(at, "%s.content", place);
    const struct chat_build_kind *kinds =
        strcmp(roles[known], "user") == 0 ? media_kinds : text_kinds;
    struct json *content = chat_build_plain(json_get(item, "content"), at, kinds, fault);
    if (!content)
        return false;
    flush(reading);
    show(reading);
    if (strcmp(roles[known], "assistant") == 0)
        reading->content = content;
    else
        chat_build_message(reading->build, roles[known], content);
    return true;
}

/* A call of an earlier answer; **takes** arguments. */
static bool add_call(struct reading *reading, const struct json *item, struct td_str id,
                     struct td_str name, struct json *arguments)
{
    struct chat_build *build = reading->build;
    struct buf whole;
    buf_init(&whole, CALL_BYTES_MAX);
    responses_tools_write_name(json_get_text(item, "namespace"), name, &whole);
    show(reading);
    if (!reading->calls)
        reading->calls = json_new_array();
    build->failed |= whole.failed;
    struct json *call = chat_build_call(build, reading->calls, id, buf_view(&whole), arguments);
    chat_build_call_extra(build, call, item);
    buf_deinit(&whole);
    return true;
}

static bool read_call(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id, name, arguments;
    return chat_build_text(item, place, "call_id", &id, fault) &&
           chat_build_text(item, place, "name", &name, fault) &&
           chat_build_text(item, place, "arguments", &arguments, fault) &&
           add_call(reading, item, id, name, json_new_text(arguments));
}

static bool read_custom_call(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id, name, input;
    if (!chat_build_text(item, place, "call_id", &id, fault) ||
        !chat_build_text(item, place, "name", &name, fault) ||
        !chat_build_text(item, place, "input", &input, fault))
        return false;
    struct buf arguments;
    buf_init(&arguments, CALL_BYTES_MAX);
    responses_tools_write_input(input, &arguments);
    reading->build->failed |= arguments.failed;
    add_call(reading, item, id, name, json_new_text(buf_view(&arguments)));
    buf_deinit(&arguments);
    return true;
}

static bool read_shell_call(struct reading *reading, const struct json *item, const char *place)
{
    struct td_str id;
    if (!chat_build_text(item, place, "call_id", &id, reading->build->fault))
        return false;
    struct buf arguments;
    buf_init(&arguments, CALL_BYTES_MAX);
    responses_tools_write_command(json_get(item, "action"), &arguments);
    reading->build->failed |= arguments.failed;
    add_call(reading, item, id, STR("local_shell"), json_new_text(buf_view(&arguments)));
    buf_deinit(&arguments);
    return true;
}

/* member: has the id of the call. */
static bool read_output_of(struct reading *reading, const struct json *item, const char *place,
                           const char *member)
{
    struct fault *fault = reading->build->fault;
    struct td_str id;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!chat_build_text(item, place, member, &id, fault))
        return false;
    chat_build_place(at, "%s.output", place);
    struct json *output = chat_build_plain(json_get(item, "output"), at, media_kinds, fault);
    if (!output)
        return false;
    chat_build_take_media(reading->build, &output, &reading->shown);
    flush(reading);
    chat_build_result(reading->build, id, output);
    return true;
}

static bool read_output(struct reading *reading, const struct json *item, const char *place)
{
    return read_output_of(reading, item, place, "call_id");
}

/* The shell's answers name their call as `id`, and some clients as all others do. */
static bool read_shell_output(struct reading *reading, const struct json *item, const char *place)
{
    return read_output_of(reading, item, place,
                          json_absent(json_get(item, "call_id")) ? "id" : "call_id");
}

static const struct item_kind {
    const char *type;
    bool (*read)(struct reading *reading, const struct json *item, const char *place);
} item_kinds[] = {
    {"message", read_message},
    {"function_call", read_call},
    {"function_call_output", read_output},
    {"custom_tool_call", read_custom_call},
    {"custom_tool_call_output", read_output},
    {"local_shell_call", read_shell_call},
    {"local_shell_call_output", read_shell_output},
    {NULL, NULL},
};

static const struct item_kind *find_item_kind(const char *type)
{
    const struct item_kind *kind = item_kinds;
    while (kind->type && strcmp(kind->type, type) != 0)
        kind++;
    return kind;
}

static bool read_item(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    /* A message may come without a type. */
    bool untyped = json_kind_of(item) == JSON_KIND_OBJECT && json_absent(json_get(item, "type"));
    const char *type = untyped ? "message" : chat_build_part_type(item, place, fault);
    if (!type)
        return false;
    const struct item_kind *kind = find_item_kind(type);
    if (kind->type)
        return kind->read(reading, item, place);
    return true; /* reasoning, and what OpenAI's servers have run and found */
}

static bool read_items(struct chat_build *build, const struct json *list)
{
    struct reading reading = {.build = build};
    size_t count = json_count(list);
    bool ok = true;
    if (count > OPENAI_MESSAGES_MAX)
        return fault_request(build->fault, "input", "%zu items; at most %d are accepted", count,
                             OPENAI_MESSAGES_MAX);
    for (size_t i = 0; ok && i < count; i++) {
        char place[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(place, "input[%zu]", i);
        ok = read_item(&reading, json_at(list, i), place);
    }
    flush(&reading);
    show(&reading);
    return ok;
}

static bool read_input(struct chat_build *build, const struct json *body)
{
    struct td_str instructions;
    const struct json *input = json_get(body, "input");
    if (!json_absent(json_get(body, "instructions"))) {
        if (!chat_build_text(body, "", "instructions", &instructions, build->fault))
            return false;
        chat_build_message(build, "system", json_new_text(instructions));
    }
    size_t before = build->message_count;
    if (json_kind_of(input) == JSON_KIND_TEXT)
        chat_build_message(build, "user", json_clone(input));
    else if (json_kind_of(input) != JSON_KIND_ARRAY)
        return fault_request(build->fault, "input", "input must be a string or a list of items");
    else if (!read_items(build, input))
        return false;
    return build->message_count > before ||
           fault_request(build->fault, "input", "input has no message");
}

/* --- tools --- */

/* {"type": "allowed_tools", "mode", "tools": [{"type", "name"}]}, as a chat has it. Tools that are
 * left out are not allowed either. */
static bool read_allowed(struct chat_build *build, const struct json *choice)
{
    const struct json *list = json_get(choice, "tools"), *mode = json_get(choice, "mode");
    const char *place = "tool_choice.tools";
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) > OPENAI_TOOLS_MAX)
        return fault_request(build->fault, place, "%s must be a list of at most %d tools", place,
                             OPENAI_TOOLS_MAX);
    struct json *allowed = json_new_object(), *tools = json_new_array(), *out = json_new_object();
    bool ok = true;
    for (size_t i = 0; ok && i < json_count(list); i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        ok = responses_tools_read_allowed(json_at(list, i), at, tools, build->fault);
    }
    if (ok && json_count(tools) == 0)
        ok = chat_build_unsupported(build->fault, place,
                                    "%s names none of the tools that can be run here", place);
    if (!json_absent(mode))
        chat_build_put(build, allowed, "mode", json_clone(mode));
    chat_build_put(build, allowed, "tools", tools);
    chat_build_put(build, out, "type", json_new_cstr("allowed_tools"));
    chat_build_put(build, out, "allowed_tools", allowed);
    chat_build_put(build, build->body, "tool_choice", out);
    return ok;
}

static bool read_tool_choice(struct chat_build *build, const struct json *choice)
{
    struct td_str text = json_text(choice), name;
    if (json_absent(choice))
        return true;
    if (str_equal(text, STR("auto")) || str_equal(text, STR("none")) ||
        str_equal(text, STR("required"))) {
        chat_build_put(build, build->body, "tool_choice", json_new_text(text));
        return true;
    }
    struct td_str type = json_get_text(choice, "type");
    if (str_equal(type, STR("allowed_tools")))
        return read_allowed(build, choice);
    if (!str_equal(type, STR("function")) && !str_equal(type, STR("custom")))
        return fault_request(build->fault, "tool_choice",
                             "tool_choice must be auto, none, required, or an object with the type "
                             "function, custom (and a name) or allowed_tools");
    if (!chat_build_text(choice, "tool_choice", "name", &name, build->fault))
        return false;
    chat_build_put(build, build->body, "tool_choice", chat_build_choice(name));
    return true;
}

/* --- the rest --- */

static bool read_format(struct chat_build *build, const struct json *body)
{
    const struct json *text = json_get(body, "text"), *format = json_get(text, "format");
    if (json_absent(format))
        return true;
    const char *type = chat_build_part_type(format, "text.format", build->fault);
    if (!type)
        return false;
    if (strcmp(type, "text") == 0)
        return true;
    if (strcmp(type, "json_object") == 0) {
        chat_build_json_format(build, NULL, NULL, NULL);
        return true;
    }
    if (strcmp(type, "json_schema") != 0)
        return fault_request(build->fault, "text.format.type",
                             "unknown type '%.40s': use text, json_object or json_schema", type);
    const struct json *schema = json_get(format, "schema"), *strict = json_get(format, "strict");
    struct td_str name;
    if (!chat_build_text(format, "text.format", "name", &name, build->fault))
        return false;
    if (json_kind_of(schema) != JSON_KIND_OBJECT)
        return fault_request(build->fault, "text.format.schema",
                             "text.format.schema must be an object, not %s",
                             json_kind_name(json_kind_of(schema)));
    chat_build_json_format(build, json_cstr(json_get(format, "name")), schema,
                           json_absent(strict) ? NULL : strict);
    return true;
}

static bool read_logprobs(struct chat_build *build, const struct json *body)
{
    const struct json *include = json_get(body, "include"), *top = json_get(body, "top_logprobs");
    bool wanted = json_int(top, 0) > 0;
    if (!json_absent(include) && json_kind_of(include) != JSON_KIND_ARRAY)
        return fault_request(build->fault, "include", "include must be a list of strings");
    for (size_t i = 0; i < json_count(include); i++) {
        char param[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(param, "include[%zu]", i);
        if (json_kind_of(json_at(include, i)) != JSON_KIND_TEXT)
            return fault_request(build->fault, param, "%s must be a string, not %s", param,
                                 json_kind_name(json_kind_of(json_at(include, i))));
        wanted |= str_equal(json_text(json_at(include, i)), STR(LOGPROBS));
    }
    /* A chat's may be there only with `logprobs`, and 0 is what this dialect's has anyway. */
    if (!json_absent(top) && (wanted || json_int(top, -1) != 0))
        chat_build_put(build, build->body, "top_logprobs", json_clone(top));
    if (wanted)
        chat_build_put(build, build->body, "logprobs", json_new_bool(true));
    return true;
}

/* A template that only OpenAI's servers have. */
static bool refuse_prompt(const struct json *body, struct fault *fault)
{
    return json_absent(json_get(body, "prompt")) ||
           chat_build_unsupported(fault, "prompt",
                                  "prompt: no templates are kept here; send the text in input");
}

/* Members that a chat has under the same name. */
static const char *const same[] = {"parallel_tool_calls",
                                   "prompt_cache_key",
                                   "prompt_cache_retention",
                                   "safety_identifier",
                                   "service_tier",
                                   "stop",
                                   "stream_options",
                                   "user",
                                   NULL};
/* What else is read: here, or by responses_history.h. `metadata` stays with the response. */
static const char *const known[] = {"background",
                                    "conversation",
                                    "include",
                                    "input",
                                    "instructions",
                                    "max_output_tokens",
                                    "metadata",
                                    "previous_response_id",
                                    "prompt",
                                    "reasoning",
                                    "store",
                                    "text",
                                    "tool_choice",
                                    "tools",
                                    "top_logprobs",
                                    "truncation",
                                    NULL};

static bool check_kinds(const struct json *body, struct fault *fault)
{
    static const struct body_kind kinds[] = {{"context_management", BODY_KIND(ARRAY), "a list"},
                                             {"max_tool_calls", BODY_KIND(INT), "an integer"},
                                             {"metadata", BODY_KIND(OBJECT), "an object"},
                                             {"reasoning", BODY_KIND(OBJECT), "an object"},
                                             {"text", BODY_KIND(OBJECT), "an object"},
                                             {"truncation", BODY_KIND(TEXT), "a string"},
                                             {NULL, 0, NULL}};
    static const struct body_kind of_reasoning[] = {{"effort", BODY_KIND(TEXT), "a string"},
                                                    {"summary", BODY_KIND(TEXT), "a string"},
                                                    {NULL, 0, NULL}};
    static const struct body_kind of_text[] = {{"verbosity", BODY_KIND(TEXT), "a string"},
                                               {NULL, 0, NULL}};
    return body_forms_check_kinds(body, "", kinds, fault) &&
           body_forms_check_kinds(json_get(body, "reasoning"), "reasoning.", of_reasoning, fault) &&
           body_forms_check_kinds(json_get(body, "text"), "text.", of_text, fault);
}

static void rename_member(struct chat_build *build, const struct json *object, const char *name,
                          const char *chat)
{
    const struct json *value = json_get(object, name);
    if (!json_absent(value))
        chat_build_put(build, build->body, chat, json_clone(value));
}

static void hand_on_more(struct chat_build *build, const struct json *body)
{
    for (size_t i = 0; same[i]; i++)
        chat_build_hand_on(build, body, same[i]);
    rename_member(build, json_get(body, "reasoning"), "effort", "reasoning_effort");
    rename_member(build, json_get(body, "text"), "verbosity", "verbosity");
}

struct json *responses_request_translate(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    hand_on_more(&build, body);
    bool ok = check_kinds(body, fault) && refuse_prompt(body, fault) && read_input(&build, body) &&
              chat_build_tools(&build, json_get(body, "tools"), responses_tools_read) &&
              read_tool_choice(&build, json_get(body, "tool_choice")) &&
              read_format(&build, body) && read_logprobs(&build, body) &&
              chat_build_tokens_max(&build, body, "max_output_tokens");
    return chat_build_end(&build, ok);
}

static void list_members_left_out(const struct json *body, struct buf *out)
{
    const struct json *include = json_get(body, "include");
    struct td_str truncation = json_get_text(body, "truncation");
    const char *both[COUNT_OF(same) + COUNT_OF(known)];
    size_t count = 0;
    for (size_t i = 0; same[i]; i++)
        both[count++] = same[i];
    for (size_t i = 0; known[i]; i++)
        both[count++] = known[i];
    both[count] = NULL;
    chat_build_note_members(out, body, both);
    if (truncation.len > 0 && !str_equal(truncation, STR("disabled")))
        chat_build_note(out, "truncation");
    for (size_t i = 0; i < json_count(include); i++)
        if (!str_equal(json_text(json_at(include, i)), STR(LOGPROBS)))
            chat_build_note(out, json_cstr(json_at(include, i)));
}

void responses_request_list_left_out(const struct json *body, struct buf *out)
{
    const struct json *items = json_get(body, "input");
    responses_tools_list_left_out(json_get(body, "tools"), out);
    for (size_t i = 0; i < json_count(items); i++) {
        const char *type = json_cstr(json_get(json_at(items, i), "type"));
        if (type && strcmp(type, "reasoning") != 0 && !find_item_kind(type)->type)
            chat_build_note(out, type);
    }
    list_members_left_out(body, out);
}
