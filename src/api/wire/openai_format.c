/* Reads response_format and grammar, and compiles them.
 *
 * JSON without a schema is compiled at once, which is cheap. A schema or a grammar may take half a
 * second, so it is only noted here; inference/format_task.c compiles it elsewhere. */
#include "api/wire/openai_format.h"

#include "base/str.h"
#include "engine/grammar/json_schema.h"
#include "tandem/engine.h"

#include <assert.h>

static bool unsupported(struct fault *fault, const char *param, const char *message)
{
    fault_request(fault, param, "%s", message);
    fault->error_code = "unsupported_parameter";
    return false;
}

/* JSON mode is an object with any members. */
static enum td_status compile_object(struct td_grammar **out, struct td_error *err)
{
    return td_grammar_from_schema(STR("{\"type\":\"object\"}"), out, err);
}

static bool read_object(struct td_request *request, struct fault *fault)
{
    struct td_error err = {0};
    if (compile_object(&request->grammar, &err) == TD_OK)
        return true;
    return fault_request(fault, "response_format", "%s", err.message);
}

static bool read_response_format(const struct json *value, struct td_request *request,
                                 struct fault *fault)
{
    struct td_str type = json_text(json_get(value, "type"));
    if (json_kind_of(value) != JSON_KIND_OBJECT || type.len == 0)
        return fault_request(fault, "response_format",
                             "response_format must be an object with a type");
    if (str_equal(type, STR("text")))
        return true;
    request->format = TD_FORMAT_JSON;
    if (str_equal(type, STR("json_object")))
        return read_object(request, fault);
    if (!str_equal(type, STR("json_schema")))
        return fault_request(fault, "response_format.type",
                             "unknown type '" STR_FMT "': use text, json_object or json_schema",
                             STR_ARG(str_slice(type, 0, 40)));
    const struct json *named = json_get(value, "json_schema");
    if (json_kind_of(named) != JSON_KIND_OBJECT)
        return fault_request(fault, "response_format.json_schema",
                             "json_schema must be an object with name and schema");
    if (json_absent(json_get(named, "schema")))
        return read_object(request, fault);
    request->schema = json_get(named, "schema");
    return true;
}

bool openai_format_read(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *response_format = json_get(body, "response_format");
    const struct json *grammar = json_get(body, "grammar");
    if (!json_absent(response_format) && !read_response_format(response_format, request, fault))
        return false;
    bool is_empty = json_kind_of(grammar) == JSON_KIND_TEXT && json_text(grammar).len == 0;
    if (json_absent(grammar) || is_empty) /* llama.cpp's clients send an empty one for none */
        return true;
    if (request->format != TD_FORMAT_TEXT)
        return fault_request(fault, "grammar", "grammar and response_format exclude each other");
    if (json_kind_of(grammar) != JSON_KIND_TEXT)
        return fault_request(fault, "grammar", "grammar must be a string of GBNF, not %s",
                             json_kind_name(json_kind_of(grammar)));
    request->grammar_source = json_text(grammar);
    request->format = TD_FORMAT_GRAMMAR;
    return true;
}

bool openai_format_is_due(const struct td_request *request)
{
    return request->format != TD_FORMAT_TEXT && !request->grammar;
}

enum td_status openai_format_compile(const struct td_request *request, struct td_grammar **out,
                                     struct td_error *err)
{
    assert(request->format != TD_FORMAT_TEXT);
    if (request->format == TD_FORMAT_GRAMMAR)
        return td_grammar_parse(request->grammar_source, out, err);
    return request->schema ? json_schema_compile(request->schema, out, err)
                           : compile_object(out, err);
}

bool openai_format_accept(enum td_status status, struct td_grammar *grammar,
                          const struct td_error *err, struct td_request *request,
                          struct fault *fault)
{
    const char *param = "response_format.json_schema.schema";
    request->grammar = grammar;
    if (status == TD_OK)
        return true;
    if (status == TD_NO_MEMORY) {
        fault_from_status(fault, status, err->message, NULL);
        return false;
    }
    if (request->format == TD_FORMAT_GRAMMAR)
        return fault_request(fault, "grammar", "%s", err->message);
    bool elsewhere = status == TD_UNSUPPORTED || status == TD_LIMIT;
    if (!elsewhere)
        return fault_request(fault, param, "%s", err->message);
    return request->mode != TD_MODE_ONLY_LOCAL || unsupported(fault, param, err->message);
}
