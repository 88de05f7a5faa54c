/* Translates a request of OpenAI's Responses API into a chat's. Items become messages one by one,
 * but the calls that follow an assistant's message belong to it. */
#include "api/wire/responses_request.h"

#include "api/wire/chat_build.h"
#include "api/wire/openai_request.h"
#include "api/wire/responses_media.h"
#include "base/str.h"

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

static bool read_call(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id, name, arguments;
    if (!chat_build_text(item, place, "call_id", &id, fault) ||
        !chat_build_text(item, place, "name", &name, fault) ||
        !chat_build_text(item, place, "arguments", &arguments, fault))
        return false;
    show(reading);
    if (!reading->calls)
        reading->calls = json_new_array();
    chat_build_call(reading->build, reading->calls, id, name, json_new_text(arguments));
    return true;
}

static bool read_output(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str id;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!chat_build_text(item, place, "call_id", &id, fault))
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

static bool read_item(struct reading *reading, const struct json *item, const char *place)
{
    struct fault *fault = reading->build->fault;
    /* A message may come without a type. */
    bool untyped = json_kind_of(item) == JSON_KIND_OBJECT && json_absent(json_get(item, "type"));
    const char *type = untyped ? "message" : chat_build_part_type(item, place, fault);
    if (!type)
        return false;
    if (strcmp(type, "message") == 0)
        return read_message(reading, item, place);
    if (strcmp(type, "function_call") == 0)
        return read_call(reading, item, place);
    if (strcmp(type, "function_call_output") == 0)
        return read_output(reading, item, place);
    if (strcmp(type, "reasoning") == 0)
        return true;
    char param[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(param, "%s.type", place);
    if (strcmp(type, "item_reference") == 0)
        return chat_build_unsupported(fault, param,
                                      "nothing is kept here to refer to: send the item itself");
    return chat_build_unsupported(fault, param, "items of type '%.40s' are not supported here",
                                  type);
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

static bool read_tool(const struct json *tool, size_t index, struct json *tools,
                      struct fault *fault)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(place, "tools[%zu]", index);
    const char *type = chat_build_part_type(tool, place, fault);
    const struct json *parameters = json_get(tool, "parameters"),
                      *strict = json_get(tool, "strict");
    struct td_str name;
    if (!type)
        return false;
    if (strcmp(type, "function") != 0) {
        chat_build_place(place, "tools[%zu].type", index);
        return chat_build_unsupported(
            fault, place, "tools of type '%.40s' are not supported: use functions", type);
    }
    if (!chat_build_text(tool, place, "name", &name, fault))
        return false;
    if (!json_absent(parameters) && json_kind_of(parameters) != JSON_KIND_OBJECT) {
        chat_build_place(place, "tools[%zu].parameters", index);
        return fault_request(fault, place, "%s must be an object (a JSON schema), not %s", place,
                             json_kind_name(json_kind_of(parameters)));
    }
    json_push(tools, chat_build_tool(name, json_text(json_get(tool, "description")),
                                     json_absent(parameters) ? NULL : parameters,
                                     json_absent(strict) ? NULL : strict));
    return true;
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
    if (!str_equal(json_text(json_get(choice, "type")), STR("function")))
        return fault_request(build->fault, "tool_choice",
                             "tool_choice must be auto, none, required, or an object with the type "
                             "function and a name");
    if (!chat_build_text(choice, "tool_choice", "name", &name, build->fault))
        return false;
    chat_build_put(build, build->body, "tool_choice", chat_build_choice(name));
    return true;
}

/* --- the rest --- */

static bool read_format(struct chat_build *build, const struct json *body)
{
    const struct json *text = json_get(body, "text"), *format = json_get(text, "format");
    if (!json_absent(text) && json_kind_of(text) != JSON_KIND_OBJECT)
        return fault_request(build->fault, "text", "text must be an object, not %s",
                             json_kind_name(json_kind_of(text)));
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
    for (size_t i = 0; i < json_count(include); i++)
        wanted |= str_equal(json_text(json_at(include, i)), STR(LOGPROBS));
    /* A chat's may be there only with `logprobs`, and 0 is what this dialect's has anyway. */
    if (!json_absent(top) && (wanted || json_int(top, -1) != 0))
        chat_build_put(build, build->body, "top_logprobs", json_clone(top));
    if (wanted)
        chat_build_put(build, build->body, "logprobs", json_new_bool(true));
    return true;
}

/* Members that name what only OpenAI's servers have. */
static bool refuse_kept(const struct json *body, struct fault *fault)
{
    static const char *const names[] = {"previous_response_id", "conversation", "prompt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!json_absent(json_get(body, names[i])))
            return chat_build_unsupported(fault, names[i],
                                          "%s: nothing is kept here from one response to the next; "
                                          "send the whole conversation in input",
                                          names[i]);
    if (json_bool(json_get(body, "background"), false))
        return chat_build_unsupported(fault, "background",
                                      "background: responses are not kept; ask for a stream");
    return true;
}

static void hand_on_more(struct chat_build *build, const struct json *body)
{
    const struct json *effort = json_get(json_get(body, "reasoning"), "effort");
    chat_build_hand_on(build, body, "user");
    chat_build_hand_on(build, body, "parallel_tool_calls");
    chat_build_hand_on(build, body, "stream_options");
    if (!json_absent(effort))
        chat_build_put(build, build->body, "reasoning_effort", json_clone(effort));
}

struct json *responses_request_translate(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    hand_on_more(&build, body);
    bool ok = refuse_kept(body, fault) && read_input(&build, body) &&
              chat_build_tools(&build, json_get(body, "tools"), read_tool) &&
              read_tool_choice(&build, json_get(body, "tool_choice")) &&
              read_format(&build, body) && read_logprobs(&build, body) &&
              chat_build_tokens_max(&build, body, "max_output_tokens");
    return chat_build_end(&build, ok);
}
