/* Reads a delta's members as parts, and writes parts as a delta again.
 *
 * A server may add members that we do not know, to a delta, a call or a function. They must reach
 * the client in their order. So a part keeps the value that it came from, and writing it replaces
 * only the texts. The visible text and the role are no parts: tier_piece.text has the one, and
 * nobody needs the other. */
#include "tier/openai_delta.h"

#include <assert.h>
#include <string.h>

static bool is(const struct json *value, enum json_kind kind)
{
    return json_kind_of(value) == kind;
}

/* --- reading --- */

void openai_delta_read(struct delta_reader *reader, const struct json *raw_delta)
{
    assert(reader);
    *reader = (struct delta_reader){.delta = json_get(raw_delta, "delta")};
}

static void read_function(const struct json *function, struct delta_part *out)
{
    out->function = json_text(json_get(function, "name"));
    out->arguments = json_text(json_get(function, "arguments"));
}

/* A call without a number has its place in the list as its number. */
static void read_call(struct delta_reader *reader, struct delta_part *out)
{
    size_t at = reader->next_call++;
    const struct json *call = json_at(reader->calls, at);
    int64_t index = json_int(json_get(call, "index"), (int64_t)at);
    bool fits = index >= 0 && index < DELTA_OLD_CALL;
    *out = (struct delta_part){
        .kind = DELTA_CALL, .value = call, .call = fits ? (uint32_t)index : DELTA_OLD_CALL - 1};
    read_function(json_get(call, "function"), out);
}

static void read_member(const char *name, const struct json *value, struct delta_part *out)
{
    *out = (struct delta_part){.kind = DELTA_OTHER, .name = name, .value = value};
    if (is(value, JSON_KIND_TEXT)) {
        out->kind = DELTA_TEXT;
        out->text = json_text(value);
    } else if (strcmp(name, "function_call") == 0 && is(value, JSON_KIND_OBJECT)) {
        *out = (struct delta_part){.kind = DELTA_CALL, .value = value, .call = DELTA_OLD_CALL};
        read_function(value, out);
    }
}

bool openai_delta_next(struct delta_reader *reader, struct delta_part *out)
{
    assert(reader && out);
    const char *name;
    const struct json *value;
    while (reader->next_call >= json_count(reader->calls)) {
        if (!json_next(reader->delta, &reader->member, &name, &value))
            return false;
        if (strcmp(name, "role") == 0 || strcmp(name, "content") == 0 || json_absent(value))
            continue;
        bool calls = strcmp(name, "tool_calls") == 0 && is(value, JSON_KIND_ARRAY);
        if (!calls || json_count(value) == 0) {
            read_member(name, value, out);
            return true;
        }
        reader->calls = value;
        reader->next_call = 0;
    }
    read_call(reader, out);
    return true;
}

void openai_delta_measure(const struct json *raw_delta, uint64_t *answer_bytes,
                          uint64_t *beside_bytes)
{
    assert(answer_bytes && beside_bytes);
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, raw_delta);
    while (openai_delta_next(&reader, &part)) {
        *answer_bytes += part.function.len + part.arguments.len;
        *beside_bytes += part.text.len;
    }
}

static bool is_text(const struct delta_part *part)
{
    if (part->kind == DELTA_CALL)
        return false;
    if (strncmp(part->name, "reasoning", strlen("reasoning")) == 0)
        return true;
    if (part->kind == DELTA_TEXT)
        return strcmp(part->name, "refusal") != 0;
    return is(part->value, JSON_KIND_ARRAY) && json_count(part->value) == 0;
}

bool openai_delta_is_text(const struct json *raw_delta)
{
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, raw_delta);
    while (openai_delta_next(&reader, &part))
        if (!is_text(&part))
            return false;
    return true;
}

/* --- writing --- */

/* A text that came is always replaced, also by an empty one. */
static void put_text(struct json *object, const char *name, struct td_str text)
{
    if (text.len > 0 || is(json_get(object, name), JSON_KIND_TEXT))
        json_put(object, name, json_new_text(text));
}

/* came: the function as it came, or NULL. */
static struct json *function_of(const struct json *came, const struct delta_part *part)
{
    struct json *function = came ? json_clone(came) : json_new_object();
    put_text(function, "name", part->function);
    put_text(function, "arguments", part->arguments);
    return function;
}

static struct json *call_of(const struct delta_part *part)
{
    if (part->value) {
        struct json *call = json_clone(part->value);
        const struct json *function = json_get(part->value, "function");
        if (is(function, JSON_KIND_OBJECT))
            json_put(call, "function", function_of(function, part));
        return call;
    }
    struct json *call = json_new_object();
    json_put(call, "index", json_new_int(part->call));
    if (part->id.len > 0) {
        json_put(call, "id", json_new_text(part->id));
        json_put(call, "type", json_new_cstr("function"));
    }
    json_put(call, "function", function_of(NULL, part));
    return call;
}

static void put_call(struct delta_writer *writer, const struct delta_part *part)
{
    if (!writer->calls) {
        struct json *calls = json_new_array();
        json_put(writer->delta, "tool_calls", calls);
        writer->calls = json_get(writer->delta, "tool_calls") ? calls : NULL;
    }
    json_push(writer->calls, call_of(part));
}

void openai_delta_put(struct delta_writer *writer, const struct delta_part *part)
{
    assert(writer && part);
    if (!writer->delta)
        writer->delta = json_new_object();
    if (part->kind == DELTA_OTHER)
        json_put(writer->delta, part->name, json_clone(part->value));
    else if (part->kind == DELTA_TEXT)
        json_put(writer->delta, part->name, json_new_text(part->text));
    else if (part->call == DELTA_OLD_CALL)
        json_put(writer->delta, "function_call", function_of(part->value, part));
    else
        put_call(writer, part);
}

struct json *openai_delta_end(struct delta_writer *writer, const struct json *like)
{
    assert(writer);
    struct json *raw_delta = json_clone(like), *delta = writer->delta;
    *writer = (struct delta_writer){0};
    if (!delta && json_get(like, "delta"))
        delta = json_new_object();
    if (!delta)
        return raw_delta;
    if (!like) {
        raw_delta = json_new_object();
        json_put(raw_delta, "index", json_new_int(0));
    }
    json_put(raw_delta, "delta", delta);
    return raw_delta;
}

struct json *openai_delta_logprobs(struct json *logprobs)
{
    struct json *raw_delta = logprobs ? json_new_object() : NULL;
    json_put(raw_delta, "logprobs", logprobs);
    return raw_delta;
}
