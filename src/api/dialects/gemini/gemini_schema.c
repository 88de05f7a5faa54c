/* Differences to JSON Schema: types are an enum's names (`STRING`), `nullable` stands beside the
 * type, counts may be strings, and `propertyOrdering` says in which order the members are written.
 * Models and grammars here write members in the order of `properties`, so they are put in that
 * order. The depth of a schema is that of its JSON, which json_parse limits to 64. */
#include "api/dialects/gemini/gemini_schema.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/gemini/gemini_json.h"
#include "base/core/ascii.h"
#include "base/core/str.h"

#include <stdio.h>

#define TYPE_BYTES_MAX 16

/* One schema under way. */
struct making {
    const char *place;
    struct fault *fault;
};

static struct json *make(const struct json *schema, const struct making *making);

static bool refuse(const struct making *making, const char *what, const struct json *value)
{
    return fault_request(making->fault, making->place, "%s: %s must be a schema, not %s",
                         making->place, what, json_kind_name(json_kind_of(value)));
}

/* "STRING" as "string" */
static struct json *make_type(const struct json *type)
{
    char name[TYPE_BYTES_MAX + 1];
    struct td_str text = json_text(type);
    if (text.len == 0 || text.len > TYPE_BYTES_MAX)
        return json_clone(type);
    for (size_t i = 0; i < text.len; i++)
        name[i] = (char)(ascii_is_upper(text.data[i]) ? text.data[i] | 0x20 : text.data[i]);
    name[text.len] = '\0';
    return json_new_cstr(name);
}

static bool put_made(struct json *object, const char *name, const struct json *schema,
                     const struct making *making)
{
    struct json *made = make(schema, making);
    json_put(object, name, made);
    return made != NULL;
}

/* `properties`: those that the order names, and then the others. */
static bool make_properties(struct json *out, const struct json *all, const struct json *order,
                            const struct making *making)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    if (json_kind_of(all) != JSON_KIND_OBJECT)
        return refuse(making, "properties", all);
    for (size_t i = 0; i < json_count(order); i++) {
        name = json_cstr(json_at(order, i));
        value = name ? json_get(all, name) : NULL;
        if (value && !json_get(out, name) && !put_made(out, name, value, making))
            return false;
    }
    while (json_next(all, &iterator, &name, &value))
        if (!json_get(out, name) && !put_made(out, name, value, making))
            return false;
    return true;
}

static bool make_list(struct json *out, const struct json *list, const struct making *making)
{
    if (json_kind_of(list) != JSON_KIND_ARRAY)
        return refuse(making, "anyOf", list);
    for (size_t i = 0; i < json_count(list); i++) {
        struct json *made = make(json_at(list, i), making);
        json_push(out, made);
        if (!made)
            return false;
    }
    return true;
}

/* A name as it came is JSON Schema's or the other spelling of it. */
static const char *own_name(const char *came, bool *count)
{
    static const char *const counts[] = {"minItems",  "maxItems",      "minLength",
                                         "maxLength", "minProperties", "maxProperties"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (gemini_is_name(came, counts[i])) {
            *count = true;
            return counts[i];
        }
    *count = false;
    return gemini_is_name(came, "anyOf")                  ? "anyOf"
           : gemini_is_name(came, "additionalProperties") ? "additionalProperties"
                                                          : came;
}

static bool make_member(struct json *out, const char *came, const struct json *value,
                        const struct json *schema, const struct making *making)
{
    bool count;
    const char *name = own_name(came, &count);
    struct json *made = NULL;
    bool ok = true;
    bool untyped =
        strcmp(name, "type") == 0 && str_equal_nocase(json_text(value), STR("TYPE_UNSPECIFIED"));
    if (untyped || gemini_is_name(name, "propertyOrdering") || strcmp(name, "nullable") == 0)
        return true;
    if (count)
        made = gemini_integer(value);
    else if (strcmp(name, "type") == 0)
        made = make_type(value);
    else if (strcmp(name, "format") == 0 && str_equal(json_text(value), STR("enum")))
        return true; /* says what `enum` says */
    else if (strcmp(name, "properties") == 0)
        ok = make_properties(made = json_new_object(), value,
                             gemini_get(schema, "propertyOrdering"), making);
    else if (strcmp(name, "anyOf") == 0)
        ok = make_list(made = json_new_array(), value, making);
    else if (strcmp(name, "items") == 0 ||
             (strcmp(name, "additionalProperties") == 0 && json_kind_of(value) != JSON_KIND_BOOL))
        made = make(value, making);
    else
        made = json_clone(value);
    json_put(out, name, made);
    return ok && made;
}

/* {"anyOf": [schema, {"type": "null"}]} says it of every schema. **takes** schema. */
static struct json *or_null(struct json *schema)
{
    struct json *null = json_new_object(), *list = json_new_array(), *out = json_new_object();
    json_put(null, "type", json_new_cstr("null"));
    json_push(list, schema);
    json_push(list, null);
    json_put(out, "anyOf", list);
    return out;
}

static struct json *make(const struct json *schema, const struct making *making)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    if (json_kind_of(schema) != JSON_KIND_OBJECT) {
        refuse(making, "a part", schema);
        return NULL;
    }
    struct json *out = json_new_object();
    bool ok = out != NULL;
    while (ok && json_next(schema, &iterator, &name, &value))
        ok = json_kind_of(value) == JSON_KIND_NULL || make_member(out, name, value, schema, making);
    if (!ok) {
        json_free(out);
        return NULL;
    }
    return json_bool(json_get(schema, "nullable"), false) ? or_null(out) : out;
}

struct json *gemini_schema(const struct json *schema, const char *place, struct fault *fault)
{
    const struct making making = {place, fault};
    struct json *made = make(schema, &making);
    if (!made && !fault->code)
        fault_no_memory(fault);
    return made;
}
