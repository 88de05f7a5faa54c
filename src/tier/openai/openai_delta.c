/* Reads a delta's members as parts, and writes parts as a delta again.
 *
 * A server may add members that we do not know, to a delta, a call or a function. They must reach
 * the client in their order. So a part keeps the value that it came from, and writing it replaces
 * only the texts. The visible text and the role are no parts: tier_piece.text has the one, and
 * nobody needs the other. */
#include "tier/openai/openai_delta.h"

#include "base/core/assertion.h"

#include <string.h>

static bool is(const struct json *value, enum json_kind kind)
{
    return json_kind_of(value) == kind;
}

/* --- reading --- */

void openai_delta_read(struct delta_reader *reader, const struct json *raw_delta)
{
    ASSERT(reader);
    *reader = (struct delta_reader){.delta = json_get(raw_delta, "delta")};
}

static void read_function(const struct json *function, struct delta_part *out)
{
    const struct json *input = json_get(function, "input");
    out->function = json_get_text(function, "name");
    out->arguments = json_text(out->custom ? input : json_get(function, "arguments"));
}

/* Without a number, or with one that is none, `otherwise`. */
static uint32_t number_of(const struct json *entry, int64_t otherwise)
{
    int64_t index = json_int(json_get(entry, "index"), otherwise);
    return (uint32_t)(index >= 0 && index < DELTA_OLD_CALL ? index : DELTA_OLD_CALL - 1);
}

/* A call without a number has its place in the list as its number. */
static void read_call(const struct json *call, size_t at, struct delta_part *out)
{
    const struct json *custom = json_get(call, "custom");
    *out = (struct delta_part){.kind = DELTA_CALL,
                               .value = call,
                               .call = number_of(call, (int64_t)at),
                               .custom = is(custom, JSON_KIND_OBJECT)};
    read_function(out->custom ? custom : json_get(call, "function"), out);
}

/* OpenRouter streams the texts of reasoning_details so: entries of one number are one. */
static const char *const continued[] = {"text", "summary", NULL};

static void read_entry(const char *name, const struct json *entry, struct delta_part *out)
{
    *out = (struct delta_part){
        .kind = DELTA_ENTRY, .name = name, .value = entry, .call = DELTA_NO_NUMBER};
    if (!is(json_get(entry, "index"), JSON_KIND_INT))
        return;
    out->call = number_of(entry, 0);
    for (size_t i = 0; continued[i] && !out->member; i++)
        if (is(json_get(entry, continued[i]), JSON_KIND_TEXT))
            out->member = continued[i];
    if (out->member)
        out->text = json_get_text(entry, out->member);
}

static bool is_list_of_objects(const struct json *value)
{
    size_t count = is(value, JSON_KIND_ARRAY) ? json_count(value) : 0;
    bool objects = count > 0;
    for (size_t i = 0; i < count && objects; i++)
        objects = is(json_at(value, i), JSON_KIND_OBJECT);
    return objects;
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
    ASSERT(reader && out);
    const char *name;
    const struct json *value;
    while (reader->next >= json_count(reader->list)) {
        if (!json_next(reader->delta, &reader->member, &name, &value))
            return false;
        if (strcmp(name, "role") == 0 || strcmp(name, "content") == 0 || json_absent(value))
            continue;
        bool calls = strcmp(name, "tool_calls") == 0;
        bool list =
            calls ? json_count(value) > 0 && is(value, JSON_KIND_ARRAY) : is_list_of_objects(value);
        if (!list) {
            read_member(name, value, out);
            return true;
        }
        reader->list = value;
        reader->list_name = calls ? NULL : name;
        reader->next = 0;
    }
    const struct json *entry = json_at(reader->list, reader->next++);
    if (reader->list_name)
        read_entry(reader->list_name, entry, out);
    else
        read_call(entry, reader->next - 1, out);
    return true;
}

bool openai_delta_numbered(const struct json *delta)
{
    const struct json *calls = json_get(delta, "tool_calls");
    for (size_t i = 0; is(calls, JSON_KIND_ARRAY) && i < json_count(calls); i++) {
        const struct json *index = json_get(json_at(calls, i), "index");
        if (!json_absent(index) && !is(index, JSON_KIND_INT))
            return false;
        if (number_of(json_at(calls, i), (int64_t)i) >= DELTA_CALLS_MAX)
            return false;
    }
    return true;
}

/* No deeper than base/json/json.h reads. */
static size_t text_bytes(const struct json *value)
{
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    size_t bytes = json_text(value).len;
    for (size_t i = 0; is(value, JSON_KIND_ARRAY) && i < json_count(value); i++)
        bytes += text_bytes(json_at(value, i));
    while (is(value, JSON_KIND_OBJECT) && json_next(value, &iterator, &name, &member))
        bytes += text_bytes(member);
    return bytes;
}

size_t openai_delta_bytes(const struct delta_part *part)
{
    ASSERT(part);
    if (part->kind == DELTA_OTHER || part->kind == DELTA_ENTRY)
        return text_bytes(part->value);
    return part->text.len + part->function.len + part->arguments.len;
}

void openai_delta_measure(const struct json *raw_delta, uint64_t *answer_bytes,
                          uint64_t *beside_bytes)
{
    ASSERT(answer_bytes && beside_bytes);
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, raw_delta);
    while (openai_delta_next(&reader, &part)) {
        *answer_bytes += part.function.len + part.arguments.len;
        *beside_bytes += part.kind == DELTA_TEXT ? part.text.len : 0;
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
    put_text(function, part->custom ? "input" : "arguments", part->arguments);
    return function;
}

static struct json *call_of(const struct delta_part *part)
{
    const char *member = part->custom ? "custom" : "function";
    if (part->value) {
        struct json *call = json_clone(part->value);
        const struct json *function = json_get(part->value, member);
        if (is(function, JSON_KIND_OBJECT))
            json_put(call, member, function_of(function, part));
        return call;
    }
    struct json *call = json_new_object();
    json_put(call, "index", json_new_int(part->call));
    if (part->id.len > 0) {
        json_put(call, "id", json_new_text(part->id));
        json_put(call, "type", json_new_cstr("function"));
    }
    json_put(call, member, function_of(NULL, part));
    return call;
}

static struct json *entry_of(const struct delta_part *part)
{
    struct json *entry = part->value ? json_clone(part->value) : json_new_object();
    if (!part->value) {
        json_put(entry, "index", json_new_int(part->call));
        if (part->type.len > 0)
            json_put(entry, "type", json_new_text(part->type));
    }
    if (part->member)
        put_text(entry, part->member, part->text);
    return entry;
}

/* **takes** entry. Lists may take turns: then the one that is gone on with is written anew. */
static void push(struct delta_writer *writer, const char *name, struct json *entry)
{
    if (!writer->list || strcmp(writer->list_name, name) != 0) {
        const struct json *before = json_get(writer->delta, name);
        struct json *list = before ? json_clone(before) : json_new_array();
        json_put(writer->delta, name, list);
        writer->list = json_get(writer->delta, name) ? list : NULL;
    }
    writer->list_name = name;
    json_push(writer->list, entry);
}

void openai_delta_put(struct delta_writer *writer, const struct delta_part *part)
{
    ASSERT(writer && part);
    if (!writer->delta)
        writer->delta = json_new_object();
    if (part->kind == DELTA_OTHER)
        json_put(writer->delta, part->name, json_clone(part->value));
    else if (part->kind == DELTA_TEXT)
        json_put(writer->delta, part->name, json_new_text(part->text));
    else if (part->kind == DELTA_ENTRY)
        push(writer, part->name, entry_of(part));
    else if (part->call == DELTA_OLD_CALL)
        json_put(writer->delta, "function_call", function_of(part->value, part));
    else
        push(writer, "tool_calls", call_of(part));
}

struct json *openai_delta_end(struct delta_writer *writer, const struct json *like)
{
    ASSERT(writer);
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
