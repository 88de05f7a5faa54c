/* Reads the members of a chat request once, into td_request.
 *
 * Scalars have one table (name, kind, range, where they go). What has a shape of its own has a
 * function here, or a file beside this one (openai_messages, openai_sampling, openai_format,
 * openai_adapters, request_options). At the end every member but our own options is listed for
 * servers elsewhere, whether it was understood or not. JSON null counts as absent, as the SDKs send
 * it. */
#include "api/wire/openai_request.h"

#include "api/wire/openai_adapters.h"
#include "api/wire/openai_format.h"
#include "api/wire/openai_messages.h"
#include "api/wire/openai_sampling.h"
#include "base/str.h"
#include "tandem/engine.h"

#include <assert.h>
#include <stdio.h>

enum scalar_kind { SCALAR_UINT, SCALAR_BOOL };

struct scalar {
    const char *name;
    enum scalar_kind kind;
    double min, max;
    size_t offset; /* in struct chat_request */
    bool chat;     /* completions have another of the name, or none */
};

#define AT(member) offsetof(struct chat_request, member)

/* Later rows win: max_completion_tokens over the deprecated max_tokens. */
static const struct scalar scalars[] = {
    {"max_tokens", SCALAR_UINT, 1, 10000000, AT(td.tokens_max), true},
    {"max_completion_tokens", SCALAR_UINT, 1, 10000000, AT(td.tokens_max), true},
    {"stream", SCALAR_BOOL, 0, 1, AT(td.streamed), false},
    {"logprobs", SCALAR_BOOL, 0, 1, AT(td.logprobs), true},
};

static bool read_scalar(const struct json *value, const struct scalar *scalar,
                        struct chat_request *out, struct fault *fault)
{
    enum json_kind kind = json_kind_of(value);
    void *place = (char *)out + scalar->offset;
    if (scalar->kind == SCALAR_BOOL) {
        if (kind != JSON_KIND_BOOL)
            return fault_request(fault, scalar->name, "%s must be true or false, not %s",
                                 scalar->name, json_kind_name(kind));
        *(bool *)place = json_bool(value, false);
        return true;
    }
    if (kind != JSON_KIND_INT)
        return fault_request(fault, scalar->name, "%s must be an integer, not %s", scalar->name,
                             json_kind_name(kind));
    double number = json_number(value, 0);
    if (!(number >= scalar->min && number <= scalar->max))
        return fault_request(fault, scalar->name, "%s is %.10g; it must be from %.10g to %.10g",
                             scalar->name, number, scalar->min, scalar->max);
    *(uint32_t *)place = (uint32_t)number;
    return true;
}

static bool read_text(const struct json *object, const char *name, const char *param,
                      size_t bytes_max, const char **out, struct fault *fault)
{
    const struct json *value = json_get(object, name);
    if (json_absent(value))
        return true;
    if (json_kind_of(value) != JSON_KIND_TEXT)
        return fault_request(fault, param, "%s must be a string, not %s", param,
                             json_kind_name(json_kind_of(value)));
    struct td_str text = json_text(value);
    if (text.len == 0 || text.len > bytes_max)
        return fault_request(fault, param, "%s must have 1 to %zu bytes", param, bytes_max);
    if (memchr(text.data, 0, text.len))
        return fault_request(fault, param, "%s must not contain a NUL character", param);
    *out = json_cstr(value);
    return true;
}

static bool read_stops(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *stop = json_get(body, "stop");
    if (json_absent(stop))
        return true;
    bool list = json_kind_of(stop) == JSON_KIND_ARRAY;
    size_t count = list ? json_count(stop) : 1;
    if (count > TD_STOPS_MAX)
        return fault_request(fault, "stop", "%zu stop strings; at most %d are accepted", count,
                             TD_STOPS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct json *item = list ? json_at(stop, i) : stop;
        char param[32] = "stop";
        if (list)
            snprintf(param, sizeof param, "stop[%zu]", i);
        if (json_kind_of(item) != JSON_KIND_TEXT)
            return fault_request(fault, param, "stop must be a string or an array of strings");
        if (json_text(item).len == 0)
            return fault_request(fault, param, "a stop string must not be empty");
        request->stops[i] = json_text(item);
    }
    request->stop_count = count;
    return true;
}

static bool read_logprobs(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *top = json_get(body, "top_logprobs");
    if (json_absent(top))
        return true;
    int64_t count = json_int(top, -1);
    if (json_kind_of(top) != JSON_KIND_INT || count < 0 || count > TD_TOP_LOGPROBS_MAX)
        return fault_request(fault, "top_logprobs", "top_logprobs must be an integer from 0 to %d",
                             TD_TOP_LOGPROBS_MAX);
    if (count > 0 && !request->logprobs)
        return fault_request(fault, "top_logprobs", "top_logprobs needs logprobs: true");
    request->top_logprobs = (uint8_t)count;
    return true;
}

static bool read_stream_option(const struct json *options, const char *name, bool *out,
                               struct fault *fault)
{
    const struct json *given = json_get(options, name);
    char param[64];
    snprintf(param, sizeof param, "stream_options.%s", name);
    if (!json_absent(given) && json_kind_of(given) != JSON_KIND_BOOL)
        return fault_request(fault, param, "%s must be true or false", name);
    *out = json_bool(given, false);
    return true;
}

static bool read_stream_options(const struct json *body, struct chat_request *out,
                                struct fault *fault)
{
    const struct json *options = json_get(body, "stream_options");
    if (json_absent(options))
        return true;
    if (json_kind_of(options) != JSON_KIND_OBJECT)
        return fault_request(fault, "stream_options", "stream_options must be an object");
    return read_stream_option(options, "include_usage", &out->include_usage, fault) &&
           read_stream_option(options, "include_obfuscation", &out->include_obfuscation, fault);
}

/* Members that no tier reliably honours. To ignore them would give a wrong answer. */
static bool refuse_unsupported(const struct json *body, struct fault *fault)
{
    const struct json *n = json_get(body, "n");
    if (!json_absent(n) && (json_kind_of(n) != JSON_KIND_INT || json_int(n, 0) != 1))
        return fault_request(fault, "n", "n must be 1: one answer a request");
    const struct json *modalities = json_get(body, "modalities");
    for (size_t i = 0; i < json_count(modalities); i++) {
        const char *name = json_cstr(json_at(modalities, i));
        if (!name || strcmp(name, "text") != 0) {
            fault_request(fault, "modalities", "only the modality 'text' is supported");
            fault->error_code = "unsupported_parameter";
            return false;
        }
    }
    if (!json_absent(json_get(body, "audio"))) {
        fault_request(fault, "audio", "audio output is not supported");
        fault->error_code = "unsupported_parameter";
        return false;
    }
    return true;
}

/* --- tools --- */

static bool is_text(const struct json *value, const char *text)
{
    return str_equal(json_text(value), str_from(text));
}

static void read_tools(const struct json *body, struct td_request *request)
{
    const struct json *choice = json_get(body, "tool_choice");
    request->tool_count = json_count(json_get(body, "tools"));
    request->old_functions = json_count(json_get(body, "functions")) > 0;
    if (json_kind_of(choice) == JSON_KIND_OBJECT || is_text(choice, "required"))
        request->tool_choice = TOOL_CHOICE_FORCED;
    else if (is_text(choice, "none"))
        request->tool_choice = TOOL_CHOICE_NONE;
}

/* --- what is sent elsewhere --- */

/* Members that later code looks up by their kind. */
static const struct {
    const char *name;
    enum request_kind kind;
} kinds[] = {
    {"messages", REQUEST_MESSAGES},
    {"tools", REQUEST_TOOLS},
    {"user", REQUEST_CALLER_NAME},
    {"safety_identifier", REQUEST_CALLER_NAME},
    {"prompt_cache_key", REQUEST_CALLER_NAME},
};

static enum request_kind kind_of(const char *name, const struct json *value)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind == REQUEST_CALLER_NAME && json_kind_of(value) != JSON_KIND_TEXT
                       ? REQUEST_OTHER
                       : kinds[i].kind;
    return REQUEST_OTHER;
}

/* Lists the body's members, except our own, in request->members. */
static bool list_members(const struct json *body, struct arena *arena, struct td_request *request,
                         struct fault *fault)
{
    assert(body && arena && request);
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    struct request_member *members =
        arena_alloc_array(arena, json_count(body) + 1, sizeof *members);
    if (!members)
        return fault_request(fault, NULL, "the request is larger than this server accepts");
    request->members = members;
    request->member_count = 0;
    while (json_next(body, &iterator, &name, &value))
        if (strcmp(name, "tandem") != 0) /* our own options are nobody else's business */
            members[request->member_count++] =
                (struct request_member){name, kind_of(name, value), value};
    return true;
}

/* --- the whole --- */

bool openai_request_read_members(const struct json *body, bool chat, struct arena *arena,
                                 struct chat_request *out, struct fault *fault)
{
    struct td_request *request = &out->td;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const struct json *value = json_get(body, scalars[i].name);
        if ((chat || !scalars[i].chat) && !json_absent(value) &&
            !read_scalar(value, &scalars[i], out, fault))
            return false;
    }
    read_tools(body, request);
    return openai_sampling_read(body, arena, request, fault) &&
           read_text(body, "model", "model", OPENAI_MODEL_BYTES_MAX, &request->model, fault) &&
           read_text(body, "user", "user", REQUEST_USER_BYTES_MAX, &request->user, fault) &&
           read_stops(body, request, fault) &&
           openai_adapters_read(json_get(body, "lora"), "lora", request, fault) &&
           read_stream_options(body, out, fault) &&
           request_options_read_body(body, request, fault) &&
           list_members(body, arena, request, fault);
}

static bool read_body(const struct json *body, struct arena *arena, struct chat_request *out,
                      struct fault *fault)
{
    return openai_messages_read(body, arena, &out->td, fault) &&
           openai_request_read_members(body, true, arena, out, fault) &&
           read_logprobs(body, &out->td, fault) && refuse_unsupported(body, fault);
}

/* An upper bound of the values in the text: one more than the separators outside of strings. */
static size_t count_values(struct td_str text)
{
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '"')
            in_string = !in_string;
        else if (c == '\\' && in_string)
            i++;
        else if (!in_string)
            count += c == ',' || c == ':' || c == '[' || c == '{';
    }
    return count;
}

bool openai_request_read_object(struct td_str body, struct json **out, struct fault *fault)
{
    assert(out && fault);
    struct td_error err = {0};
    *out = NULL;
    if (count_values(body) > OPENAI_VALUES_MAX)
        return fault_request(fault, NULL, "the body has more than %d JSON values",
                             OPENAI_VALUES_MAX);
    if (json_parse(body, out, &err) != TD_OK)
        return fault_invalid_json(fault, &err);
    if (json_kind_of(*out) == JSON_KIND_OBJECT)
        return true;
    fault_request(fault, NULL, "the body must be a JSON object, not %s",
                  json_kind_name(json_kind_of(*out)));
    json_free(*out);
    *out = NULL;
    return false;
}

bool openai_request_parse(struct td_str body, request_header_fn *header, void *header_ctx,
                          struct arena *arena, struct chat_request *out, struct fault *fault)
{
    struct json *object = NULL;
    *out = (struct chat_request){.body = NULL};
    return openai_request_read_object(body, &object, fault) &&
           openai_request_read(object, header, header_ctx, arena, out, fault);
}

bool openai_request_read(struct json *body, request_header_fn *header, void *header_ctx,
                         struct arena *arena, struct chat_request *out, struct fault *fault)
{
    assert(body && arena && out && fault);
    *out = (struct chat_request){.td.sampling = openai_sampling, .body = body};
    bool ok = read_body(out->body, arena, out, fault);
    if (ok && header)
        ok = request_options_read_headers(header, header_ctx, arena, &out->td, fault);
    ok = ok && openai_format_read(out->body, &out->td, fault);
    if (!ok) {
        openai_request_deinit(out);
        return false;
    }
    return true;
}

void openai_request_deinit(struct chat_request *request)
{
    td_grammar_free(request->td.grammar);
    request->td.grammar = NULL;
    json_free(request->body);
    json_free(request->asked);
    request->body = request->asked = NULL;
}
