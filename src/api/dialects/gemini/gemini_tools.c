#include "api/dialects/gemini/gemini_tools.h"

#include "api/dialects/gemini/gemini_json.h"
#include "api/dialects/gemini/gemini_schema.h"
#include "base/core/str.h"

/* As chat_build's: of all functions of a request. */
#define FUNCTIONS_MAX 512
#define DECLARATIONS "functionDeclarations"

struct reading {
    struct chat_build *build;
    const struct json *allowed; /* names; NULL or empty = all */
    struct json *tools;
};

static bool is_allowed(const struct reading *reading, struct td_str name)
{
    bool found = json_count(reading->allowed) == 0;
    for (size_t i = 0; !found && i < json_count(reading->allowed); i++)
        found = str_equal(json_text(json_at(reading->allowed, i)), name);
    return found;
}

/* `parameters` in Gemini's form, or `parametersJsonSchema`. NULL: none, or the fault. */
static struct json *read_schema(const struct json *function, const char *place, struct fault *fault)
{
    char at[CHAT_BUILD_PLACE_BYTES];
    const struct json *own = json_get(function, "parameters");
    const struct json *json = gemini_get(function, "parametersJsonSchema");
    chat_build_place(at, "%s.parameters", place);
    if (!json_absent(own))
        return gemini_schema(own, at, fault);
    chat_build_place(at, "%s.parametersJsonSchema", place);
    if (json_absent(json))
        return NULL;
    if (json_kind_of(json) == JSON_KIND_OBJECT)
        return json_clone(json);
    fault_request(fault, at, "%s must be an object (a JSON schema), not %s", at,
                  json_kind_name(json_kind_of(json)));
    return NULL;
}

static bool read_function(struct reading *reading, const struct json *function, const char *place)
{
    struct fault *fault = reading->build->fault;
    struct td_str name;
    if (json_kind_of(function) != JSON_KIND_OBJECT)
        return fault_request(fault, place, "%s must be an object, not %s", place,
                             json_kind_name(json_kind_of(function)));
    if (!chat_build_text(function, place, "name", &name, fault))
        return false;
    struct json *schema = read_schema(function, place, fault);
    if (!schema && fault->code)
        return false;
    struct td_str description = json_text(json_get(function, "description"));
    bool ok =
        !is_allowed(reading, name) ||
        chat_build_push(reading->tools, chat_build_tool(name, description, schema, NULL), fault);
    json_free(schema);
    return ok;
}

static bool read_tool(struct reading *reading, const struct json *tool, size_t index)
{
    struct fault *fault = reading->build->fault;
    char place[CHAT_BUILD_PLACE_BYTES];
    const struct json *list = gemini_get(tool, DECLARATIONS);
    chat_build_place(place, "tools[%zu]", index);
    if (json_kind_of(tool) != JSON_KIND_OBJECT)
        return fault_request(fault, place, "%s must be an object, not %s", place,
                             json_kind_name(json_kind_of(tool)));
    chat_build_place(place, "tools[%zu]." DECLARATIONS, index);
    if (!json_absent(list) && json_kind_of(list) != JSON_KIND_ARRAY)
        return fault_request(fault, place, "%s must be a list, not %s", place,
                             json_kind_name(json_kind_of(list)));
    for (size_t i = 0; i < json_count(list); i++) {
        chat_build_place(place, "tools[%zu]." DECLARATIONS "[%zu]", index, i);
        if (json_count(reading->tools) >= FUNCTIONS_MAX)
            return fault_request(fault, "tools", "tools may have %d functions", FUNCTIONS_MAX);
        if (!read_function(reading, json_at(list, i), place))
            return false;
    }
    return true;
}

/* Of functionCallingConfig.mode; AUTO and VALIDATED leave it to the model. */
static bool read_mode(struct chat_build *build, const struct json *config, bool *any)
{
    const struct json *mode = json_get(config, "mode");
    struct td_str name = json_text(mode);
    *any = str_equal_nocase(name, STR("ANY"));
    if (!json_absent(mode) && !*any && !str_equal_nocase(name, STR("AUTO")) &&
        !str_equal_nocase(name, STR("VALIDATED")) && !str_equal_nocase(name, STR("NONE")) &&
        !str_equal_nocase(name, STR("MODE_UNSPECIFIED")))
        return fault_request(build->fault, "toolConfig.functionCallingConfig.mode",
                             "toolConfig.functionCallingConfig.mode must be AUTO, ANY, VALIDATED "
                             "or NONE");
    if (*any)
        chat_build_put(build, build->body, "tool_choice", json_new_cstr("required"));
    else if (str_equal_nocase(name, STR("NONE")))
        chat_build_put(build, build->body, "tool_choice", json_new_cstr("none"));
    return true;
}

static bool read_config(struct chat_build *build, const struct json *body,
                        const struct json **allowed)
{
    const struct json *config = gemini_get(gemini_get(body, "toolConfig"), "functionCallingConfig");
    const struct json *names = gemini_get(config, "allowedFunctionNames");
    bool any;
    if (!json_absent(names) && json_kind_of(names) != JSON_KIND_ARRAY)
        return fault_request(build->fault, "toolConfig.functionCallingConfig.allowedFunctionNames",
                             "allowedFunctionNames must be a list of names");
    if (json_count(names) > FUNCTIONS_MAX)
        return fault_request(build->fault, "toolConfig.functionCallingConfig.allowedFunctionNames",
                             "allowedFunctionNames may have %d names", FUNCTIONS_MAX);
    if (!read_mode(build, config, &any))
        return false;
    *allowed = names;
    return true;
}

bool gemini_tools_read(struct chat_build *build, const struct json *body)
{
    const struct json *list = json_get(body, "tools");
    struct reading reading = {.build = build};
    if (!read_config(build, body, &reading.allowed))
        return false;
    if (json_absent(list))
        return true;
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) > FUNCTIONS_MAX)
        return fault_request(build->fault, "tools", "tools must be a list of at most %d tools",
                             FUNCTIONS_MAX);
    reading.tools = json_new_array();
    build->failed |= !reading.tools;
    bool ok = true;
    for (size_t i = 0; ok && i < json_count(list); i++)
        ok = read_tool(&reading, json_at(list, i), i);
    if (json_count(reading.tools) > 0)
        chat_build_put(build, build->body, "tools", reading.tools);
    else
        json_free(reading.tools); /* servers refuse an empty list */
    return ok;
}

void gemini_tools_list_left_out(const struct json *body, struct buf *out)
{
    const struct json *list = json_get(body, "tools");
    for (size_t i = 0; i < json_count(list); i++) {
        void *iterator = NULL;
        const char *name;
        const struct json *value;
        while (json_next(json_at(list, i), &iterator, &name, &value))
            if (!gemini_is_name(name, DECLARATIONS) && !json_absent(value))
                chat_build_note(out, name);
    }
}
