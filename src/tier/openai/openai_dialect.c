/* What dialects share: chunks of a chat to write, and members of a chat's body to read. */
#include "tier/openai/openai_dialect.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/shortage.h"

/* --- chunks --- */

/* **takes** choice. */
static void put_choice(const struct dialect_out *out, struct json *choice)
{
    struct json *list = json_new_array(), *chunk = json_new_object();
    json_put(choice, "index", json_new_int(0));
    json_push(list, choice);
    json_put(chunk, "choices", list);
    out->chunk(out->ctx, chunk);
    json_free(chunk);
}

void dialect_put_delta(const struct dialect_out *out, struct json *delta)
{
    struct json *choice = json_new_object();
    json_put(choice, "delta", delta);
    put_choice(out, choice);
}

void dialect_put_text(const struct dialect_out *out, const char *member, struct td_str text)
{
    if (text.len == 0)
        return;
    struct json *delta = json_new_object();
    json_put(delta, member, json_new_text(text));
    dialect_put_delta(out, delta);
}

void dialect_put_call(const struct dialect_out *out, const struct dialect_call *call)
{
    struct json *function = json_new_object(), *entry = json_new_object(), *list = json_new_array(),
                *delta = json_new_object();
    json_put(entry, "index", json_new_int(call->number));
    if (call->id.len > 0)
        json_put(entry, "id", json_new_text(call->id));
    if (call->name.len > 0) {
        json_put(entry, "type", json_new_cstr("function"));
        json_put(function, "name", json_new_text(call->name));
    }
    json_put(function, "arguments", json_new_text(call->arguments));
    json_put(entry, "function", function);
    json_put(entry, "extra_content", call->extra);
    json_push(list, entry);
    json_put(delta, "tool_calls", list);
    dialect_put_delta(out, delta);
}

void dialect_put_finish(const struct dialect_out *out, const char *reason, struct td_str stop)
{
    struct json *choice = json_new_object();
    json_put(choice, "delta", json_new_object());
    json_put(choice, "finish_reason", json_new_cstr(reason));
    if (stop.len > 0)
        json_put(choice, "stop_reason", json_new_text(stop));
    put_choice(out, choice);
}

void dialect_put_model(const struct dialect_out *out, struct td_str model)
{
    struct json *chunk = json_new_object();
    if (model.len > 0)
        json_put(chunk, "model", json_new_text(model));
    json_put(chunk, "choices", json_new_array());
    out->chunk(out->ctx, chunk);
    json_free(chunk);
}

void dialect_put_error(const struct dialect_out *out, struct td_str type, int64_t http,
                       struct td_str message)
{
    struct json *error = json_new_object(), *chunk = json_new_object();
    json_put(error, "type", json_new_text(type));
    if (http > 0)
        json_put(error, "code", json_new_int(http));
    json_put(error, "message", json_new_text(message));
    json_put(chunk, "error", error);
    out->chunk(out->ctx, chunk);
    json_free(chunk);
}

void dialect_put_usage(const struct dialect_out *out, const struct dialect_usage *usage)
{
    struct json *told = json_new_object(), *prompt = json_new_object(),
                *completion = json_new_object(), *chunk = json_new_object();
    json_put(told, "prompt_tokens", json_new_int(usage->prompt));
    json_put(told, "completion_tokens", json_new_int(usage->completion));
    json_put(told, "total_tokens", json_new_int(usage->prompt + usage->completion));
    json_put(prompt, "cached_tokens", json_new_int(usage->cached));
    if (usage->cache_written > 0)
        json_put(prompt, "cache_write_tokens", json_new_int(usage->cache_written));
    json_put(told, "prompt_tokens_details", prompt);
    if (usage->reasoning > 0)
        json_put(completion, "reasoning_tokens", json_new_int(usage->reasoning));
    json_put(told, "completion_tokens_details", completion);
    json_put(chunk, "choices", json_new_array());
    json_put(chunk, "usage", told);
    out->chunk(out->ctx, chunk);
    json_free(chunk);
}

const char *dialect_word(const struct dialect_word *words, struct td_str word,
                         const char *otherwise)
{
    for (; words->theirs; words++)
        if (str_equal(word, str_from(words->theirs)))
            return words->ours;
    return otherwise;
}

/* --- a chat's body --- */

void dialect_write_text(const struct json *content, struct buf *out)
{
    buf_append_str(out, json_text(content));
    for (size_t i = 0; json_kind_of(content) == JSON_KIND_ARRAY && i < json_count(content); i++) {
        struct td_str text = json_text(json_get(json_at(content, i), "text"));
        if (out->len > 0 && text.len > 0)
            buf_append_char(out, '\n');
        buf_append_str(out, text);
    }
}

bool dialect_read_data_url(struct td_str url, struct td_str *type, struct td_str *data)
{
    static const struct td_str scheme = {"data:", 5}, mark = {";base64,", 8};
    size_t at = str_find(str_slice(url, 0, 256), mark, 0);
    if (!str_equal_nocase(str_slice(url, 0, scheme.len), scheme) || at == SIZE_MAX)
        return false;
    *type = str_slice(url, scheme.len, at);
    size_t parameter = str_find(*type, STR(";"), 0); /* "audio/wav;rate=8000" */
    if (parameter != SIZE_MAX)
        *type = str_slice(*type, 0, parameter);
    *data = str_slice(url, at + mark.len, url.len);
    return true;
}

struct json *dialect_arguments(struct td_str text)
{
    struct json *object = NULL;
    if (str_trim(text).len == 0)
        return json_new_object();
    if (json_parse_last(text, &object, NULL) == TD_OK && json_kind_of(object) == JSON_KIND_OBJECT)
        return object;
    json_free(object);
    object = json_new_object();
    json_put(object, "arguments", json_new_text(text));
    return object;
}

int64_t dialect_tokens_max(const struct json *chat)
{
    int64_t most = json_int(json_get(chat, "max_completion_tokens"), 0);
    return most > 0 ? most : json_int(json_get(chat, "max_tokens"), 0);
}

static void push_stop(struct json **list, const struct json *stop)
{
    if (str_trim(json_text(stop)).len == 0)
        return;
    if (!*list)
        *list = json_new_array();
    json_push(*list, json_clone(stop));
}

struct json *dialect_stops(const struct json *chat)
{
    const struct json *stop = json_get(chat, "stop");
    struct json *list = NULL;
    push_stop(&list, stop);
    for (size_t i = 0; json_kind_of(stop) == JSON_KIND_ARRAY && i < json_count(stop); i++)
        push_stop(&list, json_at(stop, i));
    return list;
}

struct json *dialect_parameters(const struct json *function)
{
    const struct json *given = json_get(function, "parameters");
    struct json *schema =
        json_kind_of(given) == JSON_KIND_OBJECT ? json_clone(given) : json_new_object();
    if (json_absent(json_get(schema, "type")))
        json_put(schema, "type", json_new_cstr("object"));
    return schema;
}

const struct json *dialect_schema(const struct json *chat)
{
    const struct json *format = json_get(chat, "response_format");
    const struct json *schema = json_get(json_get(format, "json_schema"), "schema");
    return json_kind_of(schema) == JSON_KIND_OBJECT ? schema : NULL;
}

bool dialect_wants_json(const struct json *chat)
{
    const struct json *format = json_get(chat, "response_format");
    return str_equal(json_text(json_get(format, "type")), STR("json_object"));
}

void dialect_copy(const struct json *from, const char *name, struct json *to, const char *as)
{
    const struct json *value = json_get(from, name);
    if (!json_absent(value))
        json_put(to, as, json_clone(value));
}

enum td_status dialect_write_body(struct json *body, uint32_t shortages, struct buf *out,
                                  struct td_error *err)
{
    json_write(body, out);
    json_free(body);
    enum td_status status =
        out->failed
            ? error_set(err, TD_LIMIT, "the request is larger than %zu bytes", out->bytes_max)
            : TD_OK;
    return shortage_judge(shortages, status, err);
}

enum td_status dialect_refuse_part(const struct json *part, struct td_error *err)
{
    struct td_str type = str_slice(json_text(json_get(part, "type")), 0, 32);
    for (size_t i = 0; i < type.len; i++)
        if (!ascii_is_alnum(type.data[i]) && type.data[i] != '_')
            type.len = 0;
    return error_set(err, TD_INVALID,
                     "a part of a message ('" STR_FMT "') has no form at this provider",
                     STR_ARG(type));
}
