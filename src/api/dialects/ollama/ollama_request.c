/* Translates Ollama's requests into a chat's.
 *
 * Ollama's calls of tools have no ids, or have them since lately: an answer names its tool. A chat
 * needs ids, so calls without one are numbered, and an answer belongs to the first call of the last
 * message with calls that has its name and no answer yet. */
#include "api/dialects/ollama/ollama_request.h"

#include "api/dialects/chat_build.h"
#include "api/wire/media_forms.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>

/* Of one message; clients offer no more tools. */
#define CALLS_MAX 128
#define CALL_ID_BYTES 24
#define ARGUMENTS_BYTES_MAX ((size_t)64 << 20)

struct open_call {
    struct td_str name, id;
    char own_id[CALL_ID_BYTES];
    bool answered;
};

struct reading {
    struct chat_build *build;
    struct open_call calls[CALLS_MAX]; /* of the last message that has some */
    size_t call_count, numbered;
};

/* --- images --- */

static struct json *text_part(struct td_str text)
{
    struct json *part = json_new_object();
    json_put(part, "type", json_new_cstr("text"));
    json_put(part, "text", json_new_text(text));
    return part;
}

/* An address of data as it is; else bytes in base64, as Ollama has them. */
static struct json *image_part(struct td_str image, const char *type)
{
    struct buf url;
    buf_init(&url, image.len + 64);
    if (type)
        buf_printf(&url, "data:image/%s;base64,", type);
    buf_append_str(&url, image);
    struct json *where = json_new_object(), *part = json_new_object();
    json_put(where, "url", url.failed ? NULL : json_new_text(buf_view(&url)));
    buf_deinit(&url);
    json_put(part, "type", json_new_cstr("image_url"));
    json_put(part, "image_url", where);
    return part;
}

static bool read_image(const struct json *image, const char *place, struct json *parts,
                       struct fault *fault)
{
    struct td_str text = json_text(image);
    const char *type = media_forms_picture(text);
    if (json_kind_of(image) != JSON_KIND_TEXT)
        return fault_request(fault, place, "%s must be a string of base64, not %s", place,
                             json_kind_name(json_kind_of(image)));
    if (!type && !str_starts_with(text, STR("data:image/")))
        return fault_request(fault, place, "%s is no PNG, JPEG, GIF or WebP in base64", place);
    return chat_build_push(parts, image_part(text, type), fault);
}

/* What is said, with the images that belong to it. NULL with the fault. */
static struct json *read_content(const struct json *said, const struct json *images,
                                 const char *place, struct fault *fault)
{
    struct td_str text = json_text(said);
    if (json_count(images) == 0) {
        if (!json_absent(images) && json_kind_of(images) != JSON_KIND_ARRAY) {
            fault_request(fault, place, "%s must be a list of strings, not %s", place,
                          json_kind_name(json_kind_of(images)));
            return NULL;
        }
        return json_new_text(text);
    }
    struct json *parts = json_new_array();
    bool ok = text.len == 0 || chat_build_push(parts, text_part(text), fault);
    for (size_t i = 0; ok && i < json_count(images); i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        ok = read_image(json_at(images, i), at, parts, fault);
    }
    if (ok)
        return parts;
    json_free(parts);
    return NULL;
}

/* --- messages --- */

/* An optional text. */
static bool read_text(const struct json *object, const char *name, const char *place,
                      struct td_str *out, struct fault *fault)
{
    const struct json *value = json_get(object, name);
    *out = json_text(value);
    return json_absent(value) || json_kind_of(value) == JSON_KIND_TEXT ||
           fault_request(fault, place, "%s must be a string, not %s", place,
                         json_kind_name(json_kind_of(value)));
}

/* A chat has a text of JSON where Ollama has the object. */
static struct json *arguments_text(const struct json *arguments, bool *failed)
{
    if (json_kind_of(arguments) == JSON_KIND_TEXT)
        return json_clone(arguments);
    if (json_absent(arguments))
        return json_new_cstr("{}");
    struct buf text;
    buf_init(&text, ARGUMENTS_BYTES_MAX);
    json_write(arguments, &text);
    *failed |= text.failed;
    struct json *out = json_new_text(buf_view(&text));
    buf_deinit(&text);
    return out;
}

static bool read_call(struct reading *reading, const struct json *item, const char *place,
                      struct json *calls)
{
    struct fault *fault = reading->build->fault;
    struct open_call *call = &reading->calls[reading->call_count];
    const struct json *function = json_get(item, "function");
    char at[CHAT_BUILD_PLACE_BYTES];
    *call = (struct open_call){.answered = false};
    chat_build_place(at, "%s.id", place);
    if (!read_text(item, "id", at, &call->id, fault))
        return false;
    chat_build_place(at, "%s.function", place);
    if (!chat_build_text(function, at, "name", &call->name, fault))
        return false;
    if (call->id.len == 0) {
        snprintf(call->own_id, sizeof call->own_id, "call_%zu", ++reading->numbered);
        call->id = str_from(call->own_id);
    }
    reading->call_count++;
    chat_build_call(reading->build, calls, call->id, call->name,
                    arguments_text(json_get(function, "arguments"), &reading->build->failed));
    return true;
}

static bool read_calls(struct reading *reading, const struct json *list, const char *place,
                       struct json *message)
{
    size_t count = json_count(list);
    if (json_absent(list) || (count == 0 && json_kind_of(list) == JSON_KIND_ARRAY))
        return true;
    if (json_kind_of(list) != JSON_KIND_ARRAY || count > CALLS_MAX)
        return fault_request(reading->build->fault, place, "%s must be a list of at most %d calls",
                             place, CALLS_MAX);
    struct json *calls = json_new_array();
    bool ok = true;
    reading->call_count = 0;
    for (size_t i = 0; ok && i < count; i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        chat_build_place(at, "%s[%zu]", place, i);
        ok = read_call(reading, json_at(list, i), at, calls);
    }
    chat_build_put(reading->build, message, "tool_calls", calls);
    return ok;
}

/* The id of the call that a tool's message answers. */
static struct td_str answered_id(struct reading *reading, struct td_str name, struct td_str id)
{
    struct open_call *found = NULL;
    for (size_t i = 0; i < reading->call_count; i++) {
        struct open_call *call = &reading->calls[i];
        bool right = id.len > 0     ? str_equal(call->id, id)
                     : name.len > 0 ? str_equal(call->name, name)
                                    : true;
        if (!call->answered && right && !found)
            found = call;
    }
    if (found)
        found->answered = true;
    return id.len > 0 ? id : found ? found->id : STR("call_0");
}

static bool read_result(struct reading *reading, const struct json *message, const char *place,
                        struct json *content)
{
    struct td_str name, older, id;
    struct fault *fault = reading->build->fault;
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.tool_name", place);
    bool ok = read_text(message, "tool_name", at, &name, fault);
    chat_build_place(at, "%s.name", place);
    ok = ok && read_text(message, "name", at, &older, fault);
    chat_build_place(at, "%s.tool_call_id", place);
    ok = ok && read_text(message, "tool_call_id", at, &id, fault);
    if (ok)
        chat_build_result(reading->build, answered_id(reading, name.len ? name : older, id),
                          content);
    else
        json_free(content);
    return ok;
}

static bool check_role(struct td_str role, const char *place, struct fault *fault)
{
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (str_equal(role, str_from(roles[i])))
            return true;
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.role", place);
    return fault_request(fault, at,
                         "unknown role '" STR_FMT "': use system, user, assistant or tool",
                         STR_ARG(str_slice(role, 0, 40)));
}

static bool read_message(struct reading *reading, const struct json *message, size_t index)
{
    struct chat_build *build = reading->build;
    struct td_str role, said;
    char place[CHAT_BUILD_PLACE_BYTES], at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(place, "messages[%zu]", index);
    if (json_kind_of(message) != JSON_KIND_OBJECT)
        return fault_request(build->fault, place, "a message must be an object, not %s",
                             json_kind_name(json_kind_of(message)));
    chat_build_place(at, "messages[%zu].content", index);
    if (!chat_build_text(message, place, "role", &role, build->fault) ||
        !check_role(role, place, build->fault) ||
        !read_text(message, "content", at, &said, build->fault))
        return false;
    chat_build_place(at, "messages[%zu].images", index);
    struct json *content =
        read_content(json_get(message, "content"), json_get(message, "images"), at, build->fault);
    if (!content)
        return build->fault->code ? false : (build->failed = true);
    if (str_equal(role, STR("tool")))
        return read_result(reading, message, place, content);
    struct json *copy = chat_build_message(build, json_cstr(json_get(message, "role")), content);
    chat_build_place(at, "messages[%zu].tool_calls", index);
    return !str_equal(role, STR("assistant")) ||
           read_calls(reading, json_get(message, "tool_calls"), at, copy);
}

static bool read_messages(struct chat_build *build, const struct json *list)
{
    struct reading reading = {.build = build};
    size_t count = json_count(list);
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0 || count > OPENAI_MESSAGES_MAX)
        return fault_request(build->fault, "messages",
                             "messages must be an array of 1 to %d messages", OPENAI_MESSAGES_MAX);
    for (size_t i = 0; i < count; i++)
        if (!read_message(&reading, json_at(list, i), i))
            return false;
    return true;
}

/* --- options and the rest --- */

/* A text that the model goes on with, or the one before a gap: no template is around it. */
static bool is_completion(const struct json *body)
{
    return json_bool(json_get(body, "raw"), false) || json_text(json_get(body, "suffix")).len > 0;
}

/* num_predict: 0 and less are no limit. */
static bool read_tokens_max(struct chat_build *build, const struct json *options, bool raw)
{
    const struct json *value = json_get(options, "num_predict");
    double count = json_number(value, 0);
    enum json_kind kind = json_kind_of(value);
    if (json_absent(value))
        return true;
    if ((kind != JSON_KIND_INT && kind != JSON_KIND_DOUBLE) || floor(count) != count)
        return fault_request(build->fault, "options.num_predict",
                             "options.num_predict must be an integer, not %s",
                             json_kind_name(kind));
    if (count > CHAT_BUILD_TOKENS_MAX)
        return fault_request(build->fault, "options.num_predict",
                             "options.num_predict is %.10g; it must be at most %d", count,
                             CHAT_BUILD_TOKENS_MAX);
    if (count > 0)
        chat_build_put(build, build->body, raw ? "max_tokens" : "max_completion_tokens",
                       json_new_int((int64_t)count));
    return true;
}

static bool read_options(struct chat_build *build, const struct json *options, bool raw)
{
    if (json_absent(options))
        return true;
    if (json_kind_of(options) != JSON_KIND_OBJECT)
        return fault_request(build->fault, "options", "options must be an object, not %s",
                             json_kind_name(json_kind_of(options)));
    chat_build_sampling(build, options);
    chat_build_hand_on(build, options, "seed");
    chat_build_hand_on(build, options, "stop");
    return read_tokens_max(build, options, raw);
}

static bool read_format(struct chat_build *build, const struct json *format)
{
    bool empty = json_kind_of(format) == JSON_KIND_TEXT && json_text(format).len == 0;
    if (json_absent(format) || empty)
        return true;
    if (json_kind_of(format) == JSON_KIND_OBJECT)
        chat_build_json_format(build, "answer", format, NULL);
    else if (str_equal(json_text(format), STR("json")))
        chat_build_json_format(build, NULL, NULL, NULL);
    else
        return fault_request(build->fault, "format",
                             "format must be \"json\" or an object (a JSON schema)");
    return true;
}

/* true and false are about what is shown (ollama_request_finish_chat). */
static bool read_think(struct chat_build *build, const struct json *think)
{
    enum json_kind kind = json_kind_of(think);
    if (json_absent(think) || kind == JSON_KIND_BOOL)
        return true;
    if (kind != JSON_KIND_TEXT)
        return fault_request(build->fault, "think",
                             "think must be true, false, \"low\", \"medium\" or \"high\"");
    chat_build_put(build, build->body, "reasoning_effort", json_clone(think));
    return true;
}

static bool read_flags(struct chat_build *build, const struct json *body)
{
    static const char *const names[] = {"stream", "raw"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(body, names[i]);
        if (!json_absent(value) && json_kind_of(value) != JSON_KIND_BOOL)
            return fault_request(build->fault, names[i], "%s must be true or false, not %s",
                                 names[i], json_kind_name(json_kind_of(value)));
    }
    if (json_absent(json_get(body, "stream")))
        chat_build_put(build, build->body, "stream", json_new_bool(true));
    return true;
}

static bool read_common(struct chat_build *build, const struct json *body, bool raw)
{
    chat_build_common(build, body);
    return read_flags(build, body) && read_options(build, json_get(body, "options"), raw) &&
           read_format(build, json_get(body, "format")) &&
           read_think(build, json_get(body, "think"));
}

/* The form is a chat's; an empty list is none. */
static bool read_tools(struct chat_build *build, const struct json *tools)
{
    if (!json_absent(tools) && json_kind_of(tools) != JSON_KIND_ARRAY)
        return fault_request(build->fault, "tools", "tools must be a list of tools, not %s",
                             json_kind_name(json_kind_of(tools)));
    if (json_count(tools) > 0)
        chat_build_put(build, build->body, "tools", json_clone(tools));
    return true;
}

struct json *ollama_request_translate_chat(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    bool ok = read_common(&build, body, false) && read_messages(&build, json_get(body, "messages"));
    ok = ok && read_tools(&build, json_get(body, "tools"));
    return chat_build_end(&build, ok);
}

/* What would change the answer and is not done here. */
static bool refuse_unsupported(const struct json *body, struct fault *fault)
{
    static const char *const names[] = {"template", "context"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(body, names[i]);
        bool empty = json_absent(value) ||
                     (json_kind_of(value) == JSON_KIND_TEXT && json_text(value).len == 0) ||
                     (json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) == 0);
        if (!empty)
            return chat_build_unsupported(fault, names[i], "%s is not supported here", names[i]);
    }
    return true;
}

static bool read_prompt(struct chat_build *build, const struct json *body, bool raw)
{
    struct td_str system, prompt, suffix;
    if (!read_text(body, "system", "system", &system, build->fault) ||
        !read_text(body, "suffix", "suffix", &suffix, build->fault) ||
        !read_text(body, "prompt", "prompt", &prompt, build->fault))
        return false;
    if (raw && prompt.len == 0)
        return fault_request(build->fault, "prompt", "prompt must not be empty");
    if (raw && json_count(json_get(body, "images")) > 0)
        return chat_build_unsupported(build->fault, "images",
                                      "images are not supported with raw: true or a suffix");
    if (system.len > 0 && !raw)
        chat_build_message(build, "system", json_new_text(system));
    struct json *content =
        read_content(json_get(body, "prompt"), json_get(body, "images"), "images", build->fault);
    if (!content && build->fault->code)
        return false;
    chat_build_message(build, "user", content);
    if (suffix.len > 0)
        chat_build_put(build, build->body, "suffix", json_new_text(suffix));
    return true;
}

struct json *ollama_request_translate_generate(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    bool raw = is_completion(body);
    if (!chat_build_begin(&build, fault))
        return NULL;
    bool ok = refuse_unsupported(body, fault) && read_common(&build, body, raw) &&
              read_prompt(&build, body, raw);
    return chat_build_end(&build, ok);
}

bool ollama_request_finish_chat(const struct json *asked, struct arena *arena,
                                struct chat_request *out, struct fault *fault)
{
    (void)arena;
    (void)fault;
    out->hides_reasoning = !json_bool(json_get(asked, "think"), true);
    return true;
}

bool ollama_request_finish_generate(const struct json *asked, struct arena *arena,
                                    struct chat_request *out, struct fault *fault)
{
    if (json_text(json_get(asked, "suffix")).len > 0)
        out->td.infill_member = "suffix";
    return ollama_request_finish_chat(asked, arena, out, fault) &&
           (!is_completion(asked) || openai_request_make_completion(arena, out, fault));
}

bool ollama_request_asks_nothing(const struct json *asked)
{
    const struct json *messages = json_get(asked, "messages"), *prompt = json_get(asked, "prompt");
    bool said = json_count(messages) > 0 || json_text(prompt).len > 0 ||
                json_count(json_get(asked, "images")) > 0;
    bool readable = (json_absent(messages) || json_kind_of(messages) == JSON_KIND_ARRAY) &&
                    (json_absent(prompt) || json_kind_of(prompt) == JSON_KIND_TEXT);
    return !said && readable && json_kind_of(json_get(asked, "model")) == JSON_KIND_TEXT;
}
