/* Reads the members of a chat request once, into td_request.
 *
 * Scalars have one table (name, kind, range, where they go). What has a shape of its own has a
 * function here, or a file beside this one (openai_messages, openai_sampling, openai_format,
 * openai_adapters, request_options). At the end every member but our own options is listed for
 * servers elsewhere, whether it was understood or not. JSON null counts as absent, as the SDKs send
 * it. */
#include "api/wire/openai_request.h"

#include "api/wire/body_forms.h"
#include "api/wire/dropped_params.h"
#include "api/wire/media_forms.h"
#include "api/wire/openai_adapters.h"
#include "api/wire/openai_format.h"
#include "api/wire/openai_messages.h"
#include "api/wire/openai_sampling.h"
#include "api/wire/prompt_schema.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "tandem/engine.h"
#include "tier/openai/openai_wire.h"

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

static bool read_stops(const struct json *body, struct arena *arena, struct td_request *request,
                       struct fault *fault)
{
    const struct json *stop = json_get(body, "stop");
    if (json_absent(stop))
        return true;
    bool list = json_kind_of(stop) == JSON_KIND_ARRAY;
    size_t count = list ? json_count(stop) : 1;
    if (count > TD_STOPS_MAX)
        return fault_request(fault, "stop", "%zu stop strings; at most %d are accepted", count,
                             TD_STOPS_MAX);
    struct td_str *stops = arena_alloc_array(arena, count, sizeof *stops);
    if (!stops)
        return fault_request(fault, NULL, "the request is larger than this server accepts");
    for (size_t i = 0; i < count; i++) {
        const struct json *item = list ? json_at(stop, i) : stop;
        char param[32] = "stop";
        if (list)
            snprintf(param, sizeof param, "stop[%zu]", i);
        if (json_kind_of(item) != JSON_KIND_TEXT)
            return fault_request(fault, param, "stop must be a string or an array of strings");
        if (json_text(item).len == 0)
            return fault_request(fault, param, "a stop string must not be empty");
        stops[i] = json_text(item);
    }
    request->stops = stops;
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

/* An answer in sounds or pictures: for a tier that takes them. */
static bool read_modalities(const struct json *body, struct td_request *request,
                            struct fault *fault)
{
    const struct json *modalities = json_get(body, "modalities");
    if (!json_absent(json_get(body, "audio")))
        request->media.kinds |= REQUEST_AUDIO;
    for (size_t i = 0; i < json_count(modalities); i++) {
        struct td_str name = json_text(json_at(modalities, i));
        char param[40];
        snprintf(param, sizeof param, "modalities[%zu]", i);
        if (json_kind_of(json_at(modalities, i)) != JSON_KIND_TEXT)
            return fault_request(fault, param, "%s must be a string", param);
        if (str_equal(name, STR("audio"))) {
            request->media.kinds |= REQUEST_AUDIO;
        } else if (str_equal(name, STR("image"))) {
            request->media.kinds |= REQUEST_IMAGE;
        } else if (!str_equal(name, STR("text"))) {
            fault_request(fault, "modalities", "modalities must be text, audio or image");
            fault->error_code = "unsupported_parameter";
            return false;
        }
    }
    return true;
}

/* Members that no tier reliably honours. To ignore them would give a wrong answer. */
static bool refuse_unsupported(const struct json *body, struct fault *fault)
{
    const struct json *n = json_get(body, "n");
    return json_absent(n) || (json_kind_of(n) == JSON_KIND_INT && json_int(n, 0) == 1) ||
           fault_request(fault, "n", "n must be a whole number from 1 to %d", OPENAI_ANSWERS_MAX);
}

/* --- tools --- */

static bool is_text(const struct json *value, const char *text)
{
    return str_equal(json_text(value), str_from(text));
}

static void read_tools(const struct json *body, struct td_request *request)
{
    const struct json *choice = json_get(body, "tool_choice");
    bool object = json_kind_of(choice) == JSON_KIND_OBJECT;
    request->tool_count = json_count(json_get(body, "tools"));
    request->old_functions = json_count(json_get(body, "functions")) > 0;
    request->one_call = !json_bool(json_get(body, "parallel_tool_calls"), true);
    if (object || is_text(choice, "required"))
        request->tool_choice = TOOL_CHOICE_FORCED;
    else if (is_text(choice, "none"))
        request->tool_choice = TOOL_CHOICE_NONE;
    if (object && is_text(json_get(choice, "type"), "function"))
        request->tool_named = json_text(json_get(json_get(choice, "function"), "name"));
    /* Newer kinds, such as a list of allowed tools: servers know what they mean. */
    request->foreign_tools = object && request->tool_named.len == 0;
}

/* A call of what nobody offers. */
static bool check_choice(const struct json *body, const struct td_request *request,
                         struct fault *fault)
{
    struct td_str named = request->tool_named;
    struct td_str word = json_text(json_get(body, "tool_choice"));
    if (word.len > 0 && !str_equal(word, STR("auto")) && !str_equal(word, STR("none")) &&
        !str_equal(word, STR("required")))
        return fault_request(fault, "tool_choice",
                             "tool_choice must be auto, none, required or an object, not '" STR_FMT
                             "'",
                             STR_ARG(str_slice(word, 0, 64)));
    if (request->tool_choice != TOOL_CHOICE_FORCED || request->foreign_tools)
        return true;
    if (request->tool_count == 0 && !request->old_functions)
        return fault_request(fault, "tool_choice",
                             "tool_choice asks for a call of a tool, but "
                             "there are no tools");
    return named.len == 0 || openai_offers_tool(json_get(body, "tools"), named) ||
           fault_request(fault, "tool_choice",
                         "tool_choice names '" STR_FMT "', which is not among the tools",
                         STR_ARG(str_slice(named, 0, 64)));
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
    ASSERT(body && arena && request);
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
           read_stops(body, arena, request, fault) &&
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
           read_logprobs(body, &out->td, fault) && check_choice(body, &out->td, fault) &&
           read_modalities(body, &out->td, fault) && refuse_unsupported(body, fault);
}

size_t openai_request_count_values(struct td_str text)
{
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        if (in_string) /* most of a body is text, which is passed over in large steps */
            i += json_plain_prefix(str_slice(text, i, text.len));
        char c = i < text.len ? text.data[i] : '\0';
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
    ASSERT(out && fault);
    *out = NULL;
    if (openai_request_count_values(body) > OPENAI_VALUES_MAX)
        return fault_request(fault, NULL, "the body has more than %d JSON values",
                             OPENAI_VALUES_MAX);
    if (!fault_parse_json(body, out, fault))
        return false;
    if (json_kind_of(*out) == JSON_KIND_OBJECT) {
        body_forms_settle(*out);
        return true;
    }
    fault_request(fault, NULL, "the body must be a JSON object, not %s",
                  json_kind_name(json_kind_of(*out)));
    json_free(*out);
    *out = NULL;
    return false;
}

bool openai_request_put_model(struct json *body, struct td_str model, struct fault *fault)
{
    if (model.len == 0)
        return true;
    json_put(body, "model", json_new_text(model));
    return str_equal(json_text(json_get(body, "model")), model) ||
           fault_request(fault, "model", "the model's name in the path is no text");
}

bool openai_request_parse(struct td_str body, request_header_fn *header, void *header_ctx,
                          struct arena *arena, struct chat_request *out, struct fault *fault)
{
    struct json *object = NULL;
    *out = (struct chat_request){.body = NULL};
    return openai_request_read_object(body, &object, fault) &&
           openai_request_read_chat(object, header, header_ctx, arena, out, fault);
}

bool openai_request_read_chat(struct json *body, request_header_fn *header, void *header_ctx,
                              struct arena *arena, struct chat_request *out, struct fault *fault)
{
    struct buf dropped;
    buf_init(&dropped, LEFT_OUT_BYTES_MAX);
    dropped_params_apply(body, &dropped);
    body_forms_drop_no_limits(body);
    bool ok = openai_request_read(body, header, header_ctx, arena, out, fault) &&
              openai_request_leave_out(out, buf_view(&dropped), arena, fault);
    buf_deinit(&dropped);
    return ok;
}

bool openai_request_leave_out(struct chat_request *request, struct td_str names,
                              struct arena *arena, struct fault *fault)
{
    if (names.len > 0)
        request->left_out = arena_copy(arena, names);
    if (names.len == 0 || request->left_out)
        return true;
    openai_request_deinit(request);
    return fault_request(fault, NULL, "the request is larger than this server accepts");
}

/* A schema that only the prompt gives. */
static void guess_format(struct chat_request *out)
{
    out->guessed = out->td.format == TD_FORMAT_TEXT ? prompt_schema_find(&out->td) : NULL;
    if (!out->guessed)
        return;
    out->td.format = TD_FORMAT_JSON;
    out->td.format_is_guessed = true;
    out->td.schema = out->guessed;
}

bool openai_request_read(struct json *body, request_header_fn *header, void *header_ctx,
                         struct arena *arena, struct chat_request *out, struct fault *fault)
{
    ASSERT(body && arena && out && fault);
    struct format_wish wish;
    *out = (struct chat_request){.td.sampling = openai_sampling, .body = body};
    body_forms_settle(body); /* another dialect may have had them elsewhere */
    media_forms_settle(body);
    /* First, so that the members are listed as they are then. */
    bool ok = body_forms_check(body, fault) && body_forms_narrow_tools(body, fault) &&
              format_spellings_unify(body, &wish, fault) && read_body(body, arena, out, fault);
    if (ok && header)
        ok = request_options_read_headers(header, header_ctx, arena, &out->td, fault);
    ok = ok && openai_format_read(&wish, arena, &out->td, fault);
    if (!ok) {
        openai_request_deinit(out);
        return false;
    }
    guess_format(out);
    return true;
}

bool openai_request_make_completion(struct arena *arena, struct chat_request *out,
                                    struct fault *fault)
{
    struct td_request *request = &out->td;
    const struct json *said = json_get(json_at(json_get(out->body, "messages"), 0), "content");
    struct td_completion *completion = arena_alloc(arena, sizeof *completion);
    struct td_message *message = arena_alloc(arena, sizeof *message);
    struct request_member *members =
        arena_alloc_array(arena, request->member_count, sizeof *members);
    ASSERT(request->message_count == 1 && json_kind_of(said) == JSON_KIND_TEXT);
    if (!completion || !message || !members)
        return fault_request(fault, NULL, "the request is larger than this server accepts");
    *completion = (struct td_completion){.text = json_text(said),
                                         .after = json_text(json_get(out->body, "suffix"))};
    *message = (struct td_message){TD_ROLE_USER, completion->text};
    for (size_t i = 0; i < request->member_count; i++)
        members[i] = request->members[i].kind == REQUEST_MESSAGES
                         ? (struct request_member){"prompt", REQUEST_PROMPT, said}
                         : request->members[i];
    request->members = members;
    request->completion = completion;
    request->messages = message;
    request->parts = NULL;
    return true;
}

void openai_request_deinit(struct chat_request *request)
{
    td_grammar_free(request->td.grammar);
    td_grammar_free(request->td.call_grammar);
    request->td.grammar = request->td.call_grammar = NULL;
    json_free(request->body);
    json_free(request->asked);
    json_free(request->guessed);
    history_text_free(request->turn.own);
    request->turn.own = NULL;
    request->body = request->asked = request->guessed = NULL;
}
