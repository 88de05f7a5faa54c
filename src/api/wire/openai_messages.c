/* Reads the messages of a chat: roles, texts, and whether tools were called.
 *
 * A content in parts is joined for whoever reads it as one text; the parts stay beside it, because
 * privacy must know which text of the body it has read already. */
#include "api/wire/openai_messages.h"

#include "api/wire/media_parts.h"
#include "api/wire/openai_request.h"
#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/names.h"

#include <stdio.h>

/* No message's text may be larger than this; the body limit of the server is usually smaller. */
#define CONTENT_BYTES_MAX (64u << 20)
#define PARAM_BYTES 128

static bool read_role(const struct json *message, size_t index, enum td_role *out,
                      struct fault *fault)
{
    char param[64];
    snprintf(param, sizeof param, "messages[%zu].role", index);
    const struct json *role = json_get(message, "role");
    const char *text = json_cstr(role);
    if (!text) {
        return fault_request(fault, param, "messages[%zu] needs a role: %s", index,
                             json_kind_of(role) == JSON_KIND_ABSENT ? "it is missing"
                                                                    : "it is not a string");
    }
    /* "function" is the name of tool messages before 2023-11; clients still send it. */
    struct td_str name = strcmp(text, "function") == 0 ? STR("tool") : str_from(text);
    if (names_role_parse(name, out))
        return true;
    return fault_request(
        fault, param, "unknown role '%.40s': use system, developer, user, assistant or tool", text);
}

/* What reads one message's content. */
struct reading {
    size_t message;
    enum td_role role;
    struct arena *arena;
    struct request_media *media; /* the request's */
    struct fault *fault;
};

/* Media come from the user, or from a tool that a model called. */
static bool read_media(const struct reading *reading, const struct json *part, const char *type,
                       char param[static PARAM_BYTES])
{
    size_t len = strlen(param);
    if (reading->role == TD_ROLE_USER || reading->role == TD_ROLE_TOOL)
        return media_part_read(part, param, reading->arena, reading->media, reading->fault);
    snprintf(param + len, PARAM_BYTES - len, ".type");
    fault_request(reading->fault, param,
                  "content parts of type '%.40s' may stand only in messages of user and tool",
                  type);
    reading->fault->error_code = "unsupported_content";
    return false;
}

/* One part of a multi-part content. Only text and refusal parts have text; *out is NULL without. */
static bool read_part(const struct reading *reading, const struct json *part, size_t index,
                      struct td_str *out)
{
    struct fault *fault = reading->fault;
    char param[PARAM_BYTES];
    snprintf(param, sizeof param, "messages[%zu].content[%zu]", reading->message, index);
    *out = (struct td_str){NULL, 0};
    if (json_kind_of(part) != JSON_KIND_OBJECT)
        return fault_request(fault, param, "a content part must be an object with a type");

    const char *type = json_cstr(json_get(part, "type"));
    size_t len = strlen(param);
    if (!type) {
        snprintf(param + len, sizeof param - len, ".type");
        return fault_request(fault, param, "a content part needs a type (a string)");
    }
    if (media_part_is(type))
        return read_media(reading, part, type, param);
    const char *member = NULL;
    if (strcmp(type, "text") == 0)
        member = "text";
    else if (strcmp(type, "refusal") == 0)
        member = "refusal";
    if (!member) {
        snprintf(param + len, sizeof param - len, ".type");
        fault_request(fault, param,
                      "content parts of type '%.40s' are not supported: use text, image_url, "
                      "input_audio, input_video or file",
                      type);
        fault->error_code = "unsupported_content";
        return false;
    }
    const struct json *text = json_get(part, member);
    if (json_kind_of(text) != JSON_KIND_TEXT) {
        snprintf(param + len, sizeof param - len, ".%s", member);
        return fault_request(fault, param, "a %s part needs the string member '%s'", type, member);
    }
    *out = json_text(text);
    return true;
}

/* Several parts: the texts among them one by one in *texts, and joined in *out. */
static bool read_parts(const struct reading *reading, const struct json *parts,
                       struct request_parts *texts, struct td_str *out)
{
    struct arena *arena = reading->arena;
    struct fault *fault = reading->fault;
    char param[PARAM_BYTES];
    snprintf(param, sizeof param, "messages[%zu].content", reading->message);
    size_t count = json_count(parts), said = 0;
    if (count == 0) { /* some clients write a message without text so */
        *out = STR("");
        return true;
    }
    if (count == 1) {
        bool read = read_part(reading, json_at(parts, 0), 0, out);
        *out = out->data ? *out : STR("");
        return read;
    }

    struct td_str *list = arena_alloc_array(arena, count, sizeof *list);
    if (!list)
        return fault_request(fault, param, "the content is larger than this server accepts");
    struct buf text;
    buf_init(&text, CONTENT_BYTES_MAX);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        ok = read_part(reading, json_at(parts, i), i, &list[said]);
        if (!ok || !list[said].data)
            continue;
        if (said)
            buf_append_char(&text, '\n');
        buf_append_str(&text, list[said++]);
    }
    *texts = (struct request_parts){list, said};
    if (ok) {
        const char *copy = text.failed ? NULL : arena_copy(arena, buf_view(&text));
        if (copy)
            *out = (struct td_str){copy, text.len};
        else
            ok = fault_request(fault, param, "the content is larger than this server accepts");
    }
    buf_deinit(&text);
    return ok;
}

/* What an assistant said that has no text of its own: it refused, called tools, or spoke. */
static bool says_without_content(const struct json *message, struct td_str *out)
{
    *out = json_text(json_get(message, "refusal"));
    if (out->len > 0)
        return true;
    *out = STR("");
    return json_count(json_get(message, "tool_calls")) > 0 || json_get(message, "function_call") ||
           !json_absent(json_get(message, "audio"));
}

static bool read_content(const struct reading *reading, const struct json *message,
                         struct request_parts *parts, struct td_str *out)
{
    struct fault *fault = reading->fault;
    char param[PARAM_BYTES];
    snprintf(param, sizeof param, "messages[%zu].content", reading->message);
    const struct json *content = json_get(message, "content");
    switch (json_kind_of(content)) {
    case JSON_KIND_TEXT:
        *out = json_text(content);
        return true;
    case JSON_KIND_ARRAY:
        return read_parts(reading, content, parts, out);
    case JSON_KIND_ABSENT:
    case JSON_KIND_NULL:
        if (reading->role == TD_ROLE_ASSISTANT && says_without_content(message, out))
            return true;
        return fault_request(fault, param, "messages[%zu] needs content", reading->message);
    default:
        return fault_request(fault, param, "content must be a string or a list of parts, not %s",
                             json_kind_name(json_kind_of(content)));
    }
}

/* A message that calls tools, or answers a call. */
static bool has_calls(const struct json *message)
{
    return json_count(json_get(message, "tool_calls")) > 0 ||
           str_equal(json_text(json_get(message, "role")), STR("tool"));
}

bool openai_messages_read(const struct json *body, struct arena *arena, struct td_request *request,
                          struct fault *fault)
{
    ASSERT(arena && request && fault);
    const struct json *list = json_get(body, "messages");
    if (json_kind_of(list) == JSON_KIND_ABSENT)
        return fault_request(fault, "messages", "the request needs messages");
    if (json_kind_of(list) != JSON_KIND_ARRAY)
        return fault_request(fault, "messages", "messages must be an array, not %s",
                             json_kind_name(json_kind_of(list)));
    size_t count = json_count(list);
    if (count == 0)
        return fault_request(fault, "messages", "messages must not be empty");
    if (count > OPENAI_MESSAGES_MAX)
        return fault_request(fault, "messages", "%zu messages; at most %d are accepted", count,
                             OPENAI_MESSAGES_MAX);

    struct td_message *messages = arena_alloc_array(arena, count, sizeof *messages);
    struct request_parts *parts = arena_alloc_array(arena, count, sizeof *parts);
    if (!messages || !parts)
        return fault_request(fault, "messages", "the messages do not fit the memory of a request");
    for (size_t i = 0; i < count; i++) {
        const struct json *message = json_at(list, i);
        if (json_kind_of(message) != JSON_KIND_OBJECT) {
            char param[64];
            snprintf(param, sizeof param, "messages[%zu]", i);
            return fault_request(fault, param, "a message must be an object, not %s",
                                 json_kind_name(json_kind_of(message)));
        }
        if (!read_role(message, i, &messages[i].role, fault))
            return false;
        const struct reading reading = {i, messages[i].role, arena, &request->media, fault};
        if (!read_content(&reading, message, &parts[i], &messages[i].content))
            return false;
        request->has_calls |= has_calls(message);
    }
    request->messages = messages;
    request->parts = parts;
    request->message_count = count;
    return true;
}
