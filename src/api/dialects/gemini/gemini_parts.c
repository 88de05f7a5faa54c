#include "api/dialects/gemini/gemini_parts.h"

#include "api/dialects/gemini/gemini_json.h"
#include "api/wire/media_parts.h"
#include "api/wire/openai_request.h"
#include "base/core/ascii.h"
#include "base/core/str.h"

#include <stdio.h>

/* A content, or arguments as a text; what a request holds is far smaller. */
#define CONTENT_BYTES_MAX ((size_t)256 << 20)
/* Calls that one turn of the model may have: an answer without an id is looked up among them. */
#define CALLS_MAX 512
#define CALL_ID_BYTES 32
/* Of the keys that services hand out (privacy/detect/detect_key.c). */
#define KEY_BYTES_MAX 600

/* A call of the model's last turn. */
struct call {
    struct td_str name, id; /* id: the client's own, or "" */
    size_t number;          /* of all calls without an id */
    bool answered;
};

struct reading {
    struct chat_build *build;
    struct fault *fault;
    const char *role;             /* a chat's */
    struct json *parts;           /* text and media that are not yet in a message; NULL = none */
    struct json *calls;           /* of the model; NULL = none */
    struct json *shown;           /* what functions answered beside text */
    const struct json *signature; /* of a part that is no call */
    struct call pending[CALLS_MAX];
    size_t pending_count, number;
};

/* --- media --- */

/* {"type": type, type: object} */
static bool push_part(struct reading *reading, struct json *parts, const char *type,
                      struct json *object)
{
    struct json *part = json_new_object();
    reading->build->failed |= json_count(object) == 0;
    json_put(part, "type", json_new_cstr(type));
    json_put(part, type, object);
    reading->build->failed |= json_count(part) != 2;
    return chat_build_push(parts, part, reading->fault);
}

static bool has_prefix(struct td_str text, struct td_str prefix)
{
    return str_equal_nocase(str_slice(text, 0, prefix.len), prefix);
}

/* As OpenAI calls a recording's format. */
static struct td_str audio_format(struct td_str type)
{
    struct td_str name = str_slice(type, strlen("audio/"), type.len);
    if (has_prefix(name, STR("x-")))
        name = str_slice(name, 2, name.len);
    if (str_equal_nocase(name, STR("mpeg")))
        return STR("mp3");
    return str_equal_nocase(name, STR("wave")) ? STR("wav") : name;
}

/* Clients write bytes in either alphabet of RFC 4648, with or without padding; a chat has the first
 * one, with it. */
static void write_base64(struct td_str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++)
        buf_append_char(out, text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' : text.data[i]);
    for (size_t i = text.len; i % 4 != 0; i++)
        buf_append_char(out, '=');
}

/* A part's object that is named by its type: where it stands, its type, and a name for a file. */
struct media {
    const struct json *object;
    char place[CHAT_BUILD_PLACE_BYTES];
    struct td_str type, name;
};

static bool open_media(struct reading *reading, const struct json *part, const char *place,
                       const char *member, struct media *out)
{
    const struct json *type;
    char at[CHAT_BUILD_PLACE_BYTES];
    out->object = gemini_get(part, member);
    chat_build_place(out->place, "%s.%s", place, member);
    if (json_kind_of(out->object) != JSON_KIND_OBJECT)
        return fault_request(reading->fault, out->place, "%s must be an object, not %s", out->place,
                             json_kind_name(json_kind_of(out->object)));
    type = gemini_get(out->object, "mimeType");
    out->type = json_text(type);
    out->name = json_text(gemini_get(out->object, "displayName"));
    if (out->name.len == 0)
        out->name = STR("file");
    chat_build_place(at, "%s.mimeType", out->place);
    if (json_absent(type) && strcmp(member, "fileData") == 0) /* may be left out there */
        return true;
    return media_check_type(out->type, at, reading->fault);
}

/* The text of member `name`, which goes on as `text`. */
static bool push_media(struct reading *reading, const struct media *media, struct td_str text,
                       struct json *parts)
{
    struct json *object = json_new_object();
    if (has_prefix(media->type, STR("image/"))) {
        json_put(object, "url", json_new_text(text));
        return push_part(reading, parts, "image_url", object);
    }
    json_put(object, "filename", json_new_text(media->name));
    json_put(object, "file_data", json_new_text(text));
    reading->build->failed |= json_count(object) != 2;
    return push_part(reading, parts, "file", object);
}

static bool push_audio(struct reading *reading, const struct media *media, struct td_str data,
                       struct json *parts)
{
    struct json *object = json_new_object();
    json_put(object, "data", json_new_text(data));
    json_put(object, "format", json_new_text(audio_format(media->type)));
    reading->build->failed |= json_count(object) != 2;
    return push_part(reading, parts, "input_audio", object);
}

static bool read_inline(struct reading *reading, const struct json *part, const char *place,
                        struct json *parts)
{
    struct media media;
    struct td_str data;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!open_media(reading, part, place, "inlineData", &media) ||
        !chat_build_text(media.object, media.place, "data", &data, reading->fault))
        return false;
    struct buf url;
    buf_init(&url, CONTENT_BYTES_MAX);
    buf_printf(&url, "data:" STR_FMT ";base64,", STR_ARG(media.type));
    size_t head = url.len;
    write_base64(data, &url);
    reading->build->failed |= url.failed;
    struct td_str content = url.failed ? STR("") : str_slice(buf_view(&url), head, url.len);
    chat_build_place(at, "%s.data", media.place);
    bool ok = url.failed || media_check_base64(content, at, reading->fault);
    if (ok && !url.failed && has_prefix(media.type, STR("audio/")))
        ok = push_audio(reading, &media, content, parts);
    else if (ok && !url.failed)
        ok = push_media(reading, &media, buf_view(&url), parts);
    buf_deinit(&url);
    return ok;
}

static bool read_file(struct reading *reading, const struct json *part, const char *place,
                      struct json *parts)
{
    struct media media;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!open_media(reading, part, place, "fileData", &media))
        return false;
    const struct json *uri = gemini_get(media.object, "fileUri");
    chat_build_place(at, "%s.fileUri", media.place);
    if (json_kind_of(uri) != JSON_KIND_TEXT)
        return fault_request(reading->fault, at, "%s must be a string, not %s", at,
                             json_kind_name(json_kind_of(uri)));
    return media_check_url(json_text(uri), at, reading->fault) &&
           push_media(reading, &media, json_text(uri), parts);
}

/* --- calls --- */

/* Google's client for Python writes bytes in the alphabet of URLs, and not all servers that stand
 * before Google's read both. What may be a key is handed on as it came, because with other
 * characters the scan would not know it for one. */
static bool is_for_urls(struct td_str text)
{
    while (text.len > 0 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.data[i]) && text.data[i] != '-' && text.data[i] != '_')
            return false;
    return text.len > KEY_BYTES_MAX;
}

/* {"google": {"thought_signature": ...}} */
static struct json *signature_of(struct reading *reading, const struct json *signature)
{
    struct buf text;
    struct json *google = json_new_object(), *extra = json_new_object();
    buf_init(&text, CONTENT_BYTES_MAX);
    if (is_for_urls(json_text(signature)))
        write_base64(json_text(signature), &text);
    else
        buf_append_str(&text, json_text(signature));
    if (!text.failed)
        json_put(google, "thought_signature", json_new_text(buf_view(&text)));
    reading->build->failed |= json_count(google) == 0;
    json_put(extra, "google", google);
    buf_deinit(&text);
    return extra;
}

static bool is_said(const struct json *signature)
{
    return json_text(signature).len > 0;
}

static void write_id(const struct call *call, char out[static CALL_ID_BYTES])
{
    snprintf(out, CALL_ID_BYTES, "call_%zu", call->number);
}

/* The id of a call, of the client's or made here. */
static struct td_str id_of(const struct call *call, char own[static CALL_ID_BYTES])
{
    write_id(call, own);
    return call->id.len > 0 ? call->id : str_from(own);
}

/* The name, and the client's id or "". */
static bool read_head(struct reading *reading, const struct json *object, const char *place,
                      struct call *out)
{
    const struct json *id = json_get(object, "id");
    char at[CHAT_BUILD_PLACE_BYTES];
    if (json_kind_of(object) != JSON_KIND_OBJECT)
        return fault_request(reading->fault, place, "%s must be an object, not %s", place,
                             json_kind_name(json_kind_of(object)));
    chat_build_place(at, "%s.id", place);
    if (!json_absent(id) && json_kind_of(id) != JSON_KIND_TEXT)
        return fault_request(reading->fault, at, "%s must be a string, not %s", at,
                             json_kind_name(json_kind_of(id)));
    out->id = json_text(id);
    out->answered = false;
    out->number = reading->number;
    return chat_build_text(object, place, "name", &out->name, reading->fault);
}

/* The object at `place` as a text of JSON; absent is {}. */
static struct json *object_text(struct reading *reading, const struct json *object,
                                const char *place)
{
    struct buf text;
    if (json_absent(object))
        return json_new_cstr("{}");
    if (json_kind_of(object) != JSON_KIND_OBJECT) {
        fault_request(reading->fault, place, "%s must be an object, not %s", place,
                      json_kind_name(json_kind_of(object)));
        return NULL;
    }
    buf_init(&text, CONTENT_BYTES_MAX);
    json_write(object, &text);
    struct json *out = text.failed ? NULL : json_new_text(buf_view(&text));
    reading->build->failed |= !out;
    buf_deinit(&text);
    return out;
}

static bool read_call(struct reading *reading, const struct json *part, const char *place)
{
    const struct json *object = gemini_get(part, "functionCall");
    const struct json *signature = gemini_get(part, "thoughtSignature");
    char at[CHAT_BUILD_PLACE_BYTES], args[CHAT_BUILD_PLACE_BYTES], own[CALL_ID_BYTES];
    struct call *call = &reading->pending[reading->pending_count];
    chat_build_place(at, "%s.functionCall", place);
    chat_build_place(args, "%s.args", at);
    if (reading->pending_count == CALLS_MAX)
        return fault_request(reading->fault, at, "a turn may have %d calls", CALLS_MAX);
    if (!read_head(reading, object, at, call))
        return false;
    struct json *text = object_text(reading, json_get(object, "args"), args);
    if (!text && reading->fault->code)
        return false;
    reading->pending_count++;
    reading->number += call->id.len == 0;
    if (!reading->calls)
        reading->calls = json_new_array();
    struct json *made =
        chat_build_call(reading->build, reading->calls, id_of(call, own), call->name, text);
    if (is_said(signature))
        chat_build_put(reading->build, made, "extra_content", signature_of(reading, signature));
    return true;
}

/* The call that an answer is of. */
static void find_call(struct reading *reading, struct call *answer)
{
    for (size_t i = 0; i < reading->pending_count; i++) {
        struct call *call = &reading->pending[i];
        bool same = answer->id.len > 0 ? str_equal(call->id, answer->id)
                                       : str_equal(call->name, answer->name);
        if (call->answered || !same)
            continue;
        call->answered = true;
        *answer = *call;
        return;
    }
    reading->number += answer->id.len == 0; /* of no call: a number of its own */
}

static bool read_shown(struct reading *reading, const struct json *object, const char *place,
                       struct json *parts)
{
    const struct json *list = json_get(object, "parts");
    bool ok = true;
    for (size_t i = 0; ok && i < json_count(list); i++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        const struct json *part = json_at(list, i);
        chat_build_place(at, "%s.parts[%zu]", place, i);
        if (gemini_get(part, "inlineData"))
            ok = read_inline(reading, part, at, parts);
        else if (gemini_get(part, "fileData"))
            ok = read_file(reading, part, at, parts);
        else
            ok = fault_request(reading->fault, at, "%s needs inlineData or fileData", at);
    }
    return ok;
}

/* What has been read becomes a message. */
static void flush(struct reading *reading)
{
    if (!reading->parts && !reading->calls && !reading->signature)
        return;
    struct json *message =
        chat_build_turn(reading->build, reading->role, reading->parts, reading->calls);
    if (reading->signature)
        chat_build_put(reading->build, message, "extra_content",
                       signature_of(reading, reading->signature));
    reading->parts = reading->calls = NULL;
    reading->signature = NULL;
}

static bool push_text(struct reading *reading, struct td_str text, struct json *parts)
{
    struct json *part = json_new_object();
    json_put(part, "type", json_new_cstr("text"));
    json_put(part, "text", json_new_text(text));
    reading->build->failed |= json_count(part) != 2;
    return chat_build_push(parts, part, reading->fault);
}

static bool read_response(struct reading *reading, const struct json *part, const char *place)
{
    const struct json *object = gemini_get(part, "functionResponse");
    char at[CHAT_BUILD_PLACE_BYTES], inside[CHAT_BUILD_PLACE_BYTES], own[CALL_ID_BYTES];
    struct call answer;
    chat_build_place(at, "%s.functionResponse", place);
    chat_build_place(inside, "%s.response", at);
    if (!read_head(reading, object, at, &answer))
        return false;
    struct json *text = object_text(reading, json_get(object, "response"), inside);
    if (!text && reading->fault->code)
        return false;
    find_call(reading, &answer);
    struct json *parts = json_new_array();
    bool ok = push_text(reading, json_text(text), parts) && read_shown(reading, object, at, parts);
    json_free(text);
    if (!ok) {
        json_free(parts);
        return false;
    }
    struct json *content = chat_build_content(parts);
    chat_build_take_media(reading->build, &content, &reading->shown);
    flush(reading);
    chat_build_result(reading->build, id_of(&answer, own), content);
    return true;
}

/* --- contents --- */

static const char *const ran_there[] = {"executableCode", "codeExecutionResult", "toolCall",
                                        "toolResponse"};

/* The kind of what Google's servers ran, or NULL. */
static const char *find_ran(const struct json *part)
{
    for (size_t i = 0; i < sizeof ran_there / sizeof *ran_there; i++)
        if (gemini_get(part, ran_there[i]))
            return ran_there[i];
    return NULL;
}

/* What functions have shown goes before what is said next. */
static struct json *open_parts(struct reading *reading)
{
    if (!reading->parts) {
        reading->parts = reading->shown ? reading->shown : json_new_array();
        reading->shown = NULL;
    }
    return reading->parts;
}

static bool read_text(struct reading *reading, const struct json *part, const char *place)
{
    struct td_str text;
    if (!chat_build_text(part, place, "text", &text, reading->fault))
        return false;
    if (json_bool(json_get(part, "thought"), false)) /* no other model can use it */
        return true;
    return push_text(reading, text, open_parts(reading));
}

static bool read_new(struct reading *reading, const struct json *part, const char *place)
{
    if (json_count(part) == 0)
        return fault_request(reading->fault, place, "%s is empty: it needs text or data", place);
    return chat_build_new_part(part, place, open_parts(reading), reading->fault);
}

static bool read_part(struct reading *reading, const struct json *part, const char *place)
{
    bool model = strcmp(reading->role, "assistant") == 0;
    const struct json *signature = gemini_get(part, "thoughtSignature");
    if (json_kind_of(part) != JSON_KIND_OBJECT)
        return fault_request(reading->fault, place, "%s must be an object, not %s", place,
                             json_kind_name(json_kind_of(part)));
    if (model && gemini_get(part, "functionCall"))
        return read_call(reading, part, place);
    if (model && is_said(signature))
        reading->signature = signature;
    if (!json_absent(json_get(part, "text")))
        return read_text(reading, part, place);
    if (model) /* what Google's servers ran, or a signature alone; models say nothing else */
        return find_ran(part) || signature ||
               chat_build_unsupported(reading->fault, place,
                                      "%s: the model's parts may be text and functionCall", place);
    if (gemini_get(part, "inlineData"))
        return read_inline(reading, part, place, open_parts(reading));
    if (gemini_get(part, "fileData"))
        return read_file(reading, part, place, open_parts(reading));
    if (gemini_get(part, "functionResponse"))
        return read_response(reading, part, place);
    if (gemini_get(part, "functionCall"))
        return chat_build_unsupported(reading->fault, place, "%s: only the model calls functions",
                                      place);
    return read_new(reading, part, place);
}

static bool find_role(struct reading *reading, const struct json *content, const char *place)
{
    const struct json *role = json_get(content, "role");
    struct td_str name = json_text(role);
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.role", place);
    if (!json_absent(role) && json_kind_of(role) != JSON_KIND_TEXT)
        return fault_request(reading->fault, at, "%s must be a string, not %s", at,
                             json_kind_name(json_kind_of(role)));
    if (str_equal(name, STR("model")))
        reading->role = "assistant";
    else if (name.len == 0 || str_equal(name, STR("user")) || str_equal(name, STR("function")))
        reading->role = "user";
    else
        return fault_request(reading->fault, at, "unknown role '" STR_FMT "': use user or model",
                             STR_ARG(str_slice(name, 0, 40)));
    return true;
}

static bool read_content(struct reading *reading, const struct json *content, size_t index)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    const struct json *parts = json_get(content, "parts");
    size_t before = reading->build->message_count;
    chat_build_place(place, "contents[%zu]", index);
    if (json_kind_of(content) != JSON_KIND_OBJECT)
        return fault_request(reading->fault, place, "%s must be an object with parts, not %s",
                             place, json_kind_name(json_kind_of(content)));
    if (!find_role(reading, content, place))
        return false;
    if (strcmp(reading->role, "assistant") == 0)
        reading->pending_count = 0;
    chat_build_place(place, "contents[%zu].parts", index);
    if (!json_absent(parts) && json_kind_of(parts) != JSON_KIND_ARRAY)
        return fault_request(reading->fault, place, "%s must be a list, not %s", place,
                             json_kind_name(json_kind_of(parts)));
    for (size_t i = 0; i < json_count(parts); i++) {
        chat_build_place(place, "contents[%zu].parts[%zu]", index, i);
        if (!read_part(reading, json_at(parts, i), place))
            return false;
    }
    if (reading->shown)
        open_parts(reading);
    flush(reading);
    if (reading->build->message_count == before) /* nothing, or nothing but thoughts */
        chat_build_message(reading->build, reading->role, json_new_cstr(""));
    return true;
}

bool gemini_parts_text(const struct json *content, const char *place, struct buf *out,
                       struct fault *fault)
{
    const struct json *parts = json_get(content, "parts");
    char at[CHAT_BUILD_PLACE_BYTES];
    struct td_str text;
    if (json_kind_of(content) == JSON_KIND_TEXT) {
        buf_append_str(out, json_text(content));
        return true;
    }
    chat_build_place(at, "%s.parts", place);
    if (json_kind_of(parts) != JSON_KIND_ARRAY)
        return fault_request(fault, at, "%s must be a list of parts with text, not %s", at,
                             json_kind_name(json_kind_of(parts)));
    for (size_t i = 0; i < json_count(parts); i++) {
        chat_build_place(at, "%s.parts[%zu]", place, i);
        if (!chat_build_text(json_at(parts, i), at, "text", &text, fault))
            return false;
        if (i > 0)
            buf_append_char(out, '\n');
        buf_append_str(out, text);
    }
    return true;
}

static bool read_system(struct chat_build *build, const struct json *system)
{
    struct buf text;
    if (json_absent(system))
        return true;
    buf_init(&text, CONTENT_BYTES_MAX);
    bool ok = gemini_parts_text(system, "systemInstruction", &text, build->fault);
    build->failed |= text.failed;
    if (ok && !text.failed && text.len > 0)
        chat_build_message(build, "system", json_new_text(buf_view(&text)));
    buf_deinit(&text);
    return ok;
}

static bool is_models(const struct json *content)
{
    return str_equal(json_text(json_get(content, "role")), STR("model"));
}

bool gemini_parts_read(struct chat_build *build, const struct json *body, bool counts)
{
    const struct json *list = json_get(body, "contents");
    size_t count = json_count(list);
    struct reading reading = {.build = build, .fault = build->fault};
    if (!read_system(build, gemini_get(body, "systemInstruction")))
        return false;
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0)
        return fault_request(build->fault, "contents",
                             "contents must be a list of one content or more");
    if (count > OPENAI_MESSAGES_MAX)
        return fault_request(build->fault, "contents", "%zu contents; at most %d are accepted",
                             count, OPENAI_MESSAGES_MAX);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = read_content(&reading, json_at(list, i), i);
    json_free(reading.parts);
    json_free(reading.calls);
    json_free(reading.shown);
    if (ok && !counts && is_models(json_at(list, count - 1)))
        return chat_build_unsupported(
            build->fault, "contents",
            "the last content must be the user's: an answer that is begun for the model is not "
            "continued");
    return ok;
}

void gemini_parts_list_left_out(const struct json *body, struct buf *out)
{
    const struct json *list = json_get(body, "contents");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *content = json_at(list, i), *parts = json_get(content, "parts");
        for (size_t p = 0; is_models(content) && p < json_count(parts); p++)
            if (find_ran(json_at(parts, p)))
                chat_build_note(out, find_ran(json_at(parts, p)));
    }
}
