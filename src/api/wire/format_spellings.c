/* Two tables: the members that are a wish by themselves, and the types of response_format with the
 * member that says more.
 *
 *   response_format {type, json_schema | schema | ...}   OpenAI; llama.cpp, Together and Fireworks
 *                                                        have further types and members
 *   json_schema, grammar                                 llama.cpp
 *   guided_json, guided_choice, guided_regex, ...        vLLM up to 0.11
 *   structured_outputs {json, choice, regex, ...}        vLLM since then
 *   regex, ebnf                                          SGLang
 *
 * A schema may be a text of JSON, as vLLM and SGLang take it. */
#include "api/wire/format_spellings.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdio.h>

struct spelling {
    const char *place;          /* in a message */
    const char *member, *inner; /* inner NULL: the member itself is the value */
    enum format_wish_kind kind;
};

static const struct spelling spellings[] = {
    {"json_schema", "json_schema", NULL, WISH_SCHEMA},
    {"guided_json", "guided_json", NULL, WISH_SCHEMA},
    {"structured_outputs.json", "structured_outputs", "json", WISH_SCHEMA},
    {"structured_outputs.json_object", "structured_outputs", "json_object", WISH_OBJECT},
    {"guided_choice", "guided_choice", NULL, WISH_CHOICE},
    {"structured_outputs.choice", "structured_outputs", "choice", WISH_CHOICE},
    {"guided_regex", "guided_regex", NULL, WISH_REGEX},
    {"structured_outputs.regex", "structured_outputs", "regex", WISH_REGEX},
    {"regex", "regex", NULL, WISH_REGEX},
    {"grammar", "grammar", NULL, WISH_GRAMMAR},
    {"guided_grammar", "guided_grammar", NULL, WISH_GRAMMAR},
    {"structured_outputs.grammar", "structured_outputs", "grammar", WISH_GRAMMAR},
    {"ebnf", "ebnf", NULL, WISH_GRAMMAR},
};

/* Of response_format. Without the member, the next row of the type is looked at. */
static const struct format_type {
    const char *type, *member; /* member NULL: the type needs none */
    const char *place;
    enum format_wish_kind kind;
} format_types[] = {
    {"text", NULL, NULL, WISH_NONE},
    {"json_schema", "schema", "response_format.schema", WISH_SCHEMA},
    {"json_object", "schema", "response_format.schema", WISH_SCHEMA},
    {"json_object", NULL, "response_format", WISH_OBJECT},
    {"json", "value", "response_format.value", WISH_SCHEMA},
    {"json", NULL, "response_format", WISH_OBJECT},
    {"grammar", "grammar", "response_format.grammar", WISH_GRAMMAR},
    {"regex", "value", "response_format.value", WISH_REGEX},
    {"regex", "pattern", "response_format.pattern", WISH_REGEX},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const char *format_spelling_member(size_t index)
{
    static const char *const names[] = {
        "json_schema", "guided_json", "guided_choice",      "guided_regex", "guided_grammar",
        "regex",       "ebnf",        "structured_outputs", "grammar",      NULL};
    return index < COUNT_OF(names) ? names[index] : NULL;
}

/* Values with which clients say that they wish nothing. llama.cpp's send an empty grammar. */
static bool says_nothing(const struct json *value, enum format_wish_kind kind)
{
    bool is_empty = json_kind_of(value) == JSON_KIND_TEXT && json_text(value).len == 0;
    return json_absent(value) || is_empty ||
           (kind == WISH_OBJECT && json_kind_of(value) == JSON_KIND_BOOL &&
            !json_bool(value, false));
}

static bool take(struct format_wish *out, const struct format_wish *found, struct fault *fault)
{
    if (out->kind != WISH_NONE)
        return fault_request(fault, found->member, "%s and %s exclude each other", found->member,
                             out->member);
    *out = *found;
    return true;
}

/* --- response_format --- */

static bool read_named_schema(const struct json *format, struct format_wish *out,
                              struct fault *fault)
{
    const struct json *named = json_get(format, "json_schema");
    if (json_kind_of(named) != JSON_KIND_OBJECT)
        return fault_request(fault, "response_format.json_schema",
                             "json_schema must be an object with name and schema");
    const struct json *schema = json_get(named, "schema");
    *out = (struct format_wish){json_absent(schema) ? WISH_OBJECT : WISH_SCHEMA,
                                "response_format.json_schema.schema", schema};
    return true;
}

static bool read_response_format(const struct json *format, struct format_wish *out,
                                 struct fault *fault)
{
    struct td_str type = json_text(json_get(format, "type"));
    const char *missing = NULL;
    if (json_kind_of(format) != JSON_KIND_OBJECT || type.len == 0)
        return fault_request(fault, "response_format",
                             "response_format must be an object with a type");
    bool is_named = str_equal(type, STR("json_schema")) && json_get(format, "json_schema");
    for (size_t i = 0; !is_named && i < COUNT_OF(format_types); i++) {
        const struct format_type *row = &format_types[i];
        if (!str_equal(type, str_from(row->type)))
            continue;
        missing = row->place;
        const struct json *value = row->member ? json_get(format, row->member) : NULL;
        if (row->member && json_absent(value))
            continue;
        *out = (struct format_wish){row->kind, row->place, value};
        return true;
    }
    if (str_equal(type, STR("json_schema")))
        return read_named_schema(format, out, fault);
    if (missing)
        return fault_request(fault, missing, "%s is missing", missing);
    return fault_request(fault, "response_format.type",
                         "unknown type '" STR_FMT "': use text, json_object, json_schema, grammar "
                         "or regex",
                         STR_ARG(str_slice(type, 0, 40)));
}

/* --- the other members --- */

static bool check_structured(const struct json *value, struct fault *fault)
{
    if (json_absent(value))
        return true;
    if (json_kind_of(value) != JSON_KIND_OBJECT)
        return fault_request(fault, "structured_outputs",
                             "structured_outputs must be an object, not %s",
                             json_kind_name(json_kind_of(value)));
    return json_absent(json_get(value, "structural_tag")) ||
           fault_request(fault, "structured_outputs.structural_tag",
                         "structural_tag is not supported: use json, choice, regex or grammar");
}

static bool read_members(const struct json *body, struct format_wish *out, struct fault *fault)
{
    if (!check_structured(json_get(body, "structured_outputs"), fault))
        return false;
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        const struct spelling *row = &spellings[i];
        const struct json *value = json_get(body, row->member);
        if (row->inner)
            value = json_get(value, row->inner);
        const struct format_wish found = {row->kind, row->place, value};
        if (!says_nothing(value, row->kind) && !take(out, &found, fault))
            return false;
    }
    return true;
}

/* --- what is made of it --- */

static bool check_kind(const struct format_wish *wish, struct fault *fault)
{
    enum json_kind kind = json_kind_of(wish->value);
    bool is_text = kind == JSON_KIND_TEXT;
    switch (wish->kind) {
    case WISH_OBJECT:
        return json_absent(wish->value) || kind == JSON_KIND_BOOL ||
               fault_request(fault, wish->member, "%s must be true or false", wish->member);
    case WISH_SCHEMA:
        return kind == JSON_KIND_OBJECT || kind == JSON_KIND_BOOL ||
               fault_request(fault, wish->member, "%s must be a JSON schema (an object), not %s",
                             wish->member, json_kind_name(kind));
    case WISH_GRAMMAR:
        return is_text || fault_request(fault, wish->member, "%s must be a string of GBNF, not %s",
                                        wish->member, json_kind_name(kind));
    case WISH_REGEX:
        return is_text || fault_request(fault, wish->member,
                                        "%s must be a string with a regular expression, "
                                        "not %s",
                                        wish->member, json_kind_name(kind));
    case WISH_CHOICE:
        return (kind == JSON_KIND_ARRAY && json_count(wish->value) > 0) ||
               fault_request(fault, wish->member, "%s must be a list of one string or more",
                             wish->member);
    case WISH_NONE:
        break;
    }
    return true;
}

/* *owned: the schema of a text, which the caller frees or hands on. */
static bool parse_text(struct format_wish *wish, struct json **owned, struct fault *fault)
{
    struct td_error err = {0};
    if (wish->kind != WISH_SCHEMA || json_kind_of(wish->value) != JSON_KIND_TEXT)
        return true;
    if (json_parse(json_text(wish->value), owned, &err) != TD_OK)
        return fault_request(fault, wish->member, "%s is no JSON: %s", wish->member, err.message);
    wish->value = *owned;
    return true;
}

/* {"type": "json_schema", "json_schema": {"name", "schema"}}, or {"type": "json_object"}. Without
 * `strict`, which asks more of a schema than other servers do. **takes** schema. */
static const struct json *put_format(struct json *body, bool has_schema, struct json *schema)
{
    struct json *format = json_new_object(), *named = has_schema ? json_new_object() : NULL;
    json_put(format, "type", json_new_cstr(has_schema ? "json_schema" : "json_object"));
    if (named) {
        json_put(named, "name", json_new_cstr("answer"));
        json_put(named, "schema", schema);
        json_put(format, "json_schema", named);
    } else {
        json_free(schema);
    }
    json_put(body, "response_format", format);
    return json_get(json_get(json_get(body, "response_format"), "json_schema"), "schema");
}

static void remove_spellings(struct json *body)
{
    const char *name;
    for (size_t i = 0; (name = format_spelling_member(i)); i++)
        json_remove(body, name);
}

static bool unify(struct json *body, struct format_wish *wish, struct fault *fault)
{
    bool has_schema = wish->kind == WISH_SCHEMA;
    struct json *schema = NULL;
    const char *standard = "response_format.json_schema.schema";
    if (!parse_text(wish, &schema, fault) || !check_kind(wish, fault)) {
        json_free(schema);
        return false;
    }
    bool is_json = has_schema || wish->kind == WISH_OBJECT;
    struct td_str type = json_text(json_get(json_get(body, "response_format"), "type"));
    bool is_standard = strcmp(wish->member, has_schema ? standard : "response_format") == 0 &&
                       (has_schema || str_equal(type, STR("json_object")));
    is_standard |= !has_schema && strcmp(wish->member, standard) == 0; /* a name without schema */
    if (!is_json || (is_standard && !schema))
        return true;
    if (has_schema && !schema)
        schema = json_clone(wish->value);
    wish->value = put_format(body, has_schema, schema);
    remove_spellings(body);
    bool whole = has_schema ? wish->value != NULL
                            : json_get(json_get(body, "response_format"), "type") != NULL;
    return whole || fault_no_memory(fault);
}

bool format_spellings_unify(struct json *body, struct format_wish *out, struct fault *fault)
{
    ASSERT(body && out && fault);
    *out = (struct format_wish){.kind = WISH_NONE};
    const struct json *format = json_get(body, "response_format");
    if (!json_absent(format) && !read_response_format(format, out, fault))
        return false;
    return read_members(body, out, fault) && (out->kind == WISH_NONE || unify(body, out, fault));
}
