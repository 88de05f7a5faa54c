/* The body of a chat request, built from a request of another dialect.
 *
 * Building must not lose anything when memory is short: a lost part could be the `tandem` member
 * that keeps the request here. So each put checks that the value arrived, and chat_build_end fails
 * the whole when one did not. */
#include "api/dialects/chat_build.h"

#include "api/wire/format_spellings.h"
#include "api/wire/openai_request.h"
#include "api/wire/sampling_keys.h"
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "request/request.h"

#include <stdarg.h>
#include <stdio.h>

/* Of a type's name, in the list of what was left out. */
#define NOTE_BYTES 40
/* A text of JSON; what a request holds is far smaller. */
#define NEW_PART_BYTES_MAX ((size_t)64 << 20)

/* Beside the sampler's numbers. */
static const char *const common_names[] = {"model",
                                           "stream",
                                           "tandem",
                                           "seed",
                                           "logit_bias",
                                           "lora",
                                           "samplers",
                                           "ignore_eos",
                                           "dry_sequence_breakers",
                                           "dry_penalty_last_n"};

/* **takes** both. NULL, and neither is left, without memory for one of them, so that a lost part
 * loses the whole. */
static struct json *with(struct json *object, const char *name, struct json *value)
{
    json_put(object, name, value);
    if (json_get(object, name))
        return object;
    json_free(object);
    return NULL;
}

void chat_build_put(struct chat_build *build, struct json *object, const char *name,
                    struct json *value)
{
    ASSERT(build && name);
    json_put(object, name, value);
    build->failed |= !json_get(object, name);
}

bool chat_build_begin(struct chat_build *build, struct fault *fault)
{
    ASSERT(build && fault);
    *build = (struct chat_build){
        .body = json_new_object(), .messages = json_new_array(), .fault = fault};
    if (build->body && build->messages)
        return true;
    json_free(build->body);
    json_free(build->messages);
    return fault_no_memory(fault);
}

/* OpenAI refuses choices of tools without tools. Other dialects take them, and of their tools some
 * may be no tools of a chat. */
static void drop_idle_choices(struct json *body)
{
    struct td_str choice = json_text(json_get(body, "tool_choice"));
    if (json_count(json_get(body, "tools")) > 0)
        return;
    if (str_equal(choice, STR("auto")) || str_equal(choice, STR("none")))
        json_remove(body, "tool_choice");
    if (json_kind_of(json_get(body, "parallel_tool_calls")) == JSON_KIND_BOOL)
        json_remove(body, "parallel_tool_calls");
}

struct json *chat_build_end(struct chat_build *build, bool ok)
{
    drop_idle_choices(build->body);
    /* What is lost of a request would change it, and its `tandem` may be what keeps it here. */
    build->failed |= json_count(build->messages) != build->message_count;
    chat_build_put(build, build->body, "messages", build->messages);
    if (ok && !build->failed)
        return build->body;
    if (ok)
        fault_no_memory(build->fault);
    json_free(build->body);
    return NULL;
}

void chat_build_hand_on(struct chat_build *build, const struct json *from, const char *name)
{
    const struct json *value = name ? json_get(from, name) : NULL;
    if (!json_absent(value))
        chat_build_put(build, build->body, name, json_clone(value));
}

void chat_build_sampling(struct chat_build *build, const struct json *from)
{
    const struct sampling_key *key;
    for (size_t i = 0; (key = sampling_key_at(i)); i++) {
        chat_build_hand_on(build, from, key->alias);
        chat_build_hand_on(build, from, key->name);
    }
}

void chat_build_common(struct chat_build *build, const struct json *from)
{
    const char *name;
    for (size_t i = 0; i < sizeof common_names / sizeof *common_names; i++)
        chat_build_hand_on(build, from, common_names[i]);
    for (size_t i = 0; (name = format_spelling_member(i)); i++)
        chat_build_hand_on(build, from, name);
    chat_build_sampling(build, from);
}

bool chat_build_tokens_max(struct chat_build *build, const struct json *from, const char *name)
{
    const struct json *value = json_get(from, name);
    if (json_absent(value))
        return true;
    int64_t count = json_int(value, -1);
    if (json_kind_of(value) != JSON_KIND_INT)
        return fault_request(build->fault, name, "%s must be an integer, not %s", name,
                             json_kind_name(json_kind_of(value)));
    if (count == -1) /* no limit, as for a chat */
        return true;
    if (count < 1 || count > CHAT_BUILD_TOKENS_MAX)
        return fault_request(build->fault, name, "%s is %lld; it must be from 1 to %d", name,
                             (long long)count, CHAT_BUILD_TOKENS_MAX);
    chat_build_put(build, build->body, "max_completion_tokens", json_new_int(count));
    return true;
}

void chat_build_json_format(struct chat_build *build, const char *name, const struct json *schema,
                            const struct json *strict)
{
    const char *type = schema ? "json_schema" : "json_object";
    struct json *format = with(json_new_object(), "type", json_new_cstr(type));
    if (schema) {
        struct json *named = with(json_new_object(), "name", json_new_cstr(name));
        named = with(named, "schema", json_clone(schema));
        if (strict)
            named = with(named, "strict", json_clone(strict));
        format = with(format, "json_schema", named);
    }
    chat_build_put(build, build->body, "response_format", format);
}

const char *chat_build_part_type(const struct json *part, const char *place, struct fault *fault)
{
    char param[CHAT_BUILD_PLACE_BYTES];
    if (json_kind_of(part) != JSON_KIND_OBJECT) {
        fault_request(fault, place, "%s must be an object with a type", place);
        return NULL;
    }
    const char *type = json_cstr(json_get(part, "type"));
    chat_build_place(param, "%s.type", place);
    if (!type)
        fault_request(fault, param, "%s needs a type (a string)", place);
    return type;
}

bool chat_build_push(struct json *parts, struct json *part, struct fault *fault)
{
    size_t before = json_count(parts);
    json_push(parts, part);
    return json_count(parts) > before || fault_no_memory(fault);
}

bool chat_build_push_text(struct json *parts, struct td_str text, struct fault *fault)
{
    struct json *part = with(json_new_object(), "type", json_new_cstr("text"));
    return chat_build_push(parts, with(part, "text", json_new_text(text)), fault);
}

static bool read_said(const struct json *part, const char *place, const char *member,
                      struct json *parts, struct fault *fault)
{
    struct td_str text;
    return chat_build_text(part, place, member, &text, fault) &&
           chat_build_push_text(parts, text, fault);
}

bool chat_build_text_part(const struct json *part, const char *place, struct json *parts,
                          struct fault *fault)
{
    return read_said(part, place, "text", parts, fault);
}

bool chat_build_refusal_part(const struct json *part, const char *place, struct json *parts,
                             struct fault *fault)
{
    return read_said(part, place, "refusal", parts, fault);
}

bool chat_build_refuse_part(const char *type, const char *place, struct fault *fault)
{
    char param[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(param, type ? "%s.type" : "%s", place);
    return chat_build_unsupported(fault, param, "content of type '%.40s' is not supported here",
                                  type ? type : "that is new");
}

/* A run of so many characters without a blank, a quote or a point is no words. */
static bool is_readable(struct td_str text)
{
    size_t run = 0;
    for (size_t i = 0; i < text.len && run < REQUEST_PAYLOAD_BYTES_MIN; i++)
        run = ascii_is_alnum((unsigned char)text.data[i]) || strchr("+/=_-", text.data[i]) ? run + 1
                                                                                           : 0;
    return run < REQUEST_PAYLOAD_BYTES_MIN;
}

bool chat_build_new_part(const struct json *part, const char *place, struct json *parts,
                         struct fault *fault)
{
    struct buf text;
    buf_init(&text, NEW_PART_BYTES_MAX);
    json_write(part, &text);
    bool ok = !text.failed && is_readable(buf_view(&text));
    if (ok)
        ok = chat_build_push_text(parts, buf_view(&text), fault);
    else
        chat_build_refuse_part(json_cstr(json_get(part, "type")), place, fault);
    buf_deinit(&text);
    return ok;
}

/* NULL without memory or with the fault. */
static struct json *read_parts(const struct json *content, const char *place,
                               const struct chat_build_kind *kinds, struct fault *fault)
{
    struct json *parts = json_new_array();
    bool ok = true;
    for (size_t i = 0; ok && i < json_count(content); i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        const struct json *part = json_at(content, i);
        const char *type = chat_build_part_type(part, at, fault);
        const struct chat_build_kind *known = kinds;
        while (type && known->type && strcmp(known->type, type) != 0)
            known++;
        ok = type && (known->type ? known->read : chat_build_new_part)(part, at, parts, fault);
        if (ok)
            chat_build_mark(json_last(parts), part);
    }
    if (ok)
        return chat_build_content(parts);
    json_free(parts);
    return NULL;
}

struct json *chat_build_plain(const struct json *content, const char *place,
                              const struct chat_build_kind *kinds, struct fault *fault)
{
    struct json *plain = NULL;
    if (json_kind_of(content) == JSON_KIND_TEXT)
        plain = json_clone(content);
    else if (json_kind_of(content) == JSON_KIND_ARRAY)
        plain = read_parts(content, place, kinds, fault);
    else
        fault_request(fault, place, "%s must be a string or a list of parts, not %s", place,
                      json_kind_name(json_kind_of(content)));
    if (!plain && !fault->code)
        fault_no_memory(fault);
    return plain;
}

void chat_build_mark(struct json *to, const struct json *from)
{
    const struct json *mark = json_get(from, "cache_control");
    if (to && json_kind_of(mark) == JSON_KIND_OBJECT)
        json_put(to, "cache_control", json_clone(mark)); /* without memory it is only a hint less */
}

struct json *chat_build_content(struct json *parts)
{
    const struct json *said = json_get(json_at(parts, 0), "text");
    bool marked = !json_absent(json_get(json_at(parts, 0), "cache_control"));
    if (json_count(parts) > 1 || (json_count(parts) == 1 && (json_absent(said) || marked)))
        return parts;
    struct td_str only = json_text(said);
    struct json *text = json_new_text(only);
    json_free(parts);
    return text;
}

void chat_build_take_media(struct chat_build *build, struct json **content, struct json **shown)
{
    size_t count = json_kind_of(*content) == JSON_KIND_ARRAY ? json_count(*content) : 0;
    size_t before = json_count(*shown);
    if (count == 0)
        return;
    struct json *texts = json_new_array();
    for (size_t i = 0; i < count; i++) {
        const struct json *part = json_at(*content, i);
        bool said = !json_absent(json_get(part, "text"));
        if (!said && !*shown)
            *shown = json_new_array();
        json_push(said ? texts : *shown, json_clone(part));
    }
    build->failed |= json_count(texts) + json_count(*shown) != before + count;
    json_free(*content);
    *content = chat_build_content(texts);
}

struct json *chat_build_message(struct chat_build *build, const char *role, struct json *content)
{
    struct json *message = with(json_new_object(), "role", json_new_cstr(role));
    message = with(message, "content", content);
    size_t before = json_count(build->messages);
    json_push(build->messages, message);
    build->message_count++;
    return json_count(build->messages) > before ? message : NULL;
}

struct json *chat_build_turn(struct chat_build *build, const char *role, struct json *parts,
                             struct json *calls)
{
    struct json *content = parts   ? chat_build_content(parts)
                           : calls ? json_new_null()
                                   : json_new_cstr("");
    struct json *message = chat_build_message(build, role, content);
    if (calls)
        chat_build_put(build, message, "tool_calls", calls);
    return message;
}

struct json *chat_build_call(struct chat_build *build, struct json *calls, struct td_str id,
                             struct td_str name, struct json *arguments)
{
    struct json *function = with(json_new_object(), "name", json_new_text(name));
    struct json *call = with(json_new_object(), "id", json_new_text(id));
    size_t before = json_count(calls);
    call = with(call, "type", json_new_cstr("function"));
    call = with(call, "function", with(function, "arguments", arguments));
    json_push(calls, call);
    bool pushed = json_count(calls) > before;
    build->failed |= !pushed;
    return pushed ? call : NULL;
}

void chat_build_call_extra(struct chat_build *build, struct json *call, const struct json *from)
{
    const struct json *extra = json_get(from, "extra_content");
    if (json_kind_of(extra) == JSON_KIND_OBJECT)
        chat_build_put(build, call, "extra_content", json_clone(extra));
}

struct json *chat_build_result(struct chat_build *build, struct td_str id, struct json *content)
{
    struct json *message = chat_build_message(build, "tool", content);
    chat_build_put(build, message, "tool_call_id", json_new_text(id));
    return message;
}

struct json *chat_build_tool(struct td_str name, struct td_str description,
                             const struct json *parameters, const struct json *strict)
{
    struct json *function = with(json_new_object(), "name", json_new_text(name));
    if (description.len > 0)
        function = with(function, "description", json_new_text(description));
    if (parameters)
        function = with(function, "parameters", json_clone(parameters));
    if (strict)
        function = with(function, "strict", json_clone(strict));
    return with(with(json_new_object(), "type", json_new_cstr("function")), "function", function);
}

bool chat_build_tools(struct chat_build *build, const struct json *list, chat_build_tool_fn *read)
{
    size_t count = json_count(list);
    if (json_absent(list))
        return true;
    if (json_kind_of(list) != JSON_KIND_ARRAY || count > OPENAI_TOOLS_MAX)
        return fault_request(build->fault, "tools", "tools must be a list of at most %d tools",
                             OPENAI_TOOLS_MAX);
    if (count == 0)
        return true;
    struct json *tools = json_new_array();
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = read(json_at(list, i), i, tools, build->fault);
    build->failed |= !tools;
    if (json_count(tools) > 0)
        chat_build_put(build, build->body, "tools", tools);
    else
        json_free(tools); /* servers refuse an empty list */
    return ok;
}

void chat_build_note(struct buf *list, const char *type)
{
    struct td_str name = str_slice(str_from(type), 0, NOTE_BYTES);
    size_t at = 0;
    if (name.len == 0) /* it would be found again and again */
        return;
    while ((at = str_find(buf_view(list), name, at)) != SIZE_MAX) {
        size_t end = at + name.len;
        if ((at == 0 || list->data[at - 1] == ' ') && (end == list->len || list->data[end] == ','))
            return;
        at = end;
    }
    if (list->len > 0)
        buf_append_str(list, STR(", "));
    buf_append_str(list, name);
}

static bool is_common(const char *name)
{
    const char *spelling;
    const struct sampling_key *key;
    for (size_t i = 0; i < sizeof common_names / sizeof *common_names; i++)
        if (strcmp(common_names[i], name) == 0)
            return true;
    for (size_t i = 0; (spelling = format_spelling_member(i)); i++)
        if (strcmp(spelling, name) == 0)
            return true;
    for (size_t i = 0; (key = sampling_key_at(i)); i++)
        if (strcmp(key->name, name) == 0 || (key->alias && strcmp(key->alias, name) == 0))
            return true;
    return false;
}

/* Clients send empty values of what they do not use. */
static bool says_something(const struct json *value)
{
    enum json_kind kind = json_kind_of(value);
    bool holds = kind == JSON_KIND_ARRAY || kind == JSON_KIND_OBJECT;
    return !json_absent(value) && (!holds || json_count(value) > 0) &&
           (kind != JSON_KIND_TEXT || json_text(value).len > 0);
}

void chat_build_note_members(struct buf *list, const struct json *body, const char *const *known)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(body, &iterator, &name, &value)) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], name) != 0)
            i++;
        if (!known[i] && *name && says_something(value) && !is_common(name))
            chat_build_note(list, name);
    }
}

struct json *chat_build_choice(struct td_str name)
{
    struct json *function = with(json_new_object(), "name", json_new_text(name));
    return with(with(json_new_object(), "type", json_new_cstr("function")), "function", function);
}

bool chat_build_unsupported(struct fault *fault, const char *param, const char *format, ...)
{
    char message[sizeof fault->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fault_request(fault, param, "%s", message);
    fault->error_code = "unsupported_content";
    return false;
}

void chat_build_place(char out[static CHAT_BUILD_PLACE_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, CHAT_BUILD_PLACE_BYTES, format, args);
    va_end(args);
}

bool chat_build_text(const struct json *object, const char *place, const char *name,
                     struct td_str *out, struct fault *fault)
{
    char param[CHAT_BUILD_PLACE_BYTES];
    const struct json *value = json_get(object, name);
    *out = json_text(value);
    if (json_kind_of(value) == JSON_KIND_TEXT)
        return true;
    chat_build_place(param, "%s%s%s", place, *place ? "." : "", name);
    return fault_request(fault, param, "%s must be a string, not %s", param,
                         json_kind_name(json_kind_of(value)));
}
