/* Writes a JSON schema as GBNF. Each schema becomes one rule: r0, r1, ... A schema that is the
 * target of references becomes one rule, however many references there are, and is written when the
 * others are done. So recursion in the schema is recursion in the grammar and not in this code.
 * This file recurses as deep as the JSON text is nested, at most 64 levels. */
#include "engine/grammar/json_merge.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT_MAX 65536 /* of characters and elements */

/* White space inside brackets and after a separator. */
static const char loose_rules[] = "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n"
                                  "sp ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";
/* As templates' filter tojson and Python's json.dumps write it. */
static const char strict_rules[] = "ws ::= \"\"\nsp ::= \" \"\n";

static const char base_rules[] =
    "hex ::= [0-9a-fA-F]\n"
    "escape ::= \"\\\\\" ([\"\\\\/bfnrt] | \"u\" ([1-9a-cA-CefEF] hex{3} | \"0\" [1-9a-fA-F] "
    "hex{2} | "
    "\"00\" [1-9a-fA-F] hex | \"000\" [1-9a-fA-F] | [dD] [0-7] hex{2}))\n"
    "plain ::= [^\"\\\\\\x00-\\x1f\\x7f]\n"
    "char ::= plain | escape\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,14})\n"
    "number ::= integer (\".\" [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?\n"
    "member ::= string \":\" sp value\n"
    "object ::= \"{\" ws (\"}\" | member (\",\" sp member)* ws \"}\")\n"
    "array ::= \"[\" ws (\"]\" | value (\",\" sp value)* ws \"]\")\n"
    "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n";

void json_compiler_put_base(struct buf *out, bool strict)
{
    buf_append_str(out, str_from(strict ? strict_rules : loose_rules));
    buf_append_str(out, str_from(base_rules));
}

bool json_compiler_fail(struct compiler *c, enum td_status status, const char *format, ...)
{
    if (c->status != TD_OK)
        return false;
    char words[256];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    struct td_str path = str_slice(buf_view(&c->path), 0, 160);
    c->status = error_set(c->err, status, "JSON schema, at #" STR_FMT ": %s", STR_ARG(path), words);
    return false;
}

void json_schema_literal(struct buf *out, struct td_str text)
{
    buf_append_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '"' || byte == '\\')
            buf_append_char(out, '\\');
        if (byte < 0x20 || byte == 0x7F)
            buf_printf(out, "\\x%02X", byte);
        else
            buf_append_char(out, (char)byte);
    }
    buf_append_char(out, '"');
}

void json_compiler_put_value(struct compiler *c, struct buf *body, const struct json *value)
{
    struct buf text;
    buf_init(&text, BODY_BYTES_MAX);
    json_write(value, &text);
    if (text.failed)
        json_compiler_fail(c, TD_LIMIT, "a value that is too long");
    json_schema_literal(body, buf_view(&text));
    buf_deinit(&text);
}

void json_compiler_put_rule(struct compiler *c, unsigned rule, const struct buf *body)
{
    ASSERT(rule < c->rule_count);
    buf_printf(c->out, "r%u ::= ", rule);
    buf_append_str(c->out, buf_view(body));
    buf_append_char(c->out, '\n');
    if (body->failed || c->out->failed)
        json_compiler_fail(c, TD_LIMIT, "the grammar would be longer than %zu bytes",
                           BODY_BYTES_MAX);
}

static size_t enter(struct compiler *c, const char *keyword, struct td_str name)
{
    size_t len = c->path.len;
    buf_printf(&c->path, "/%s", keyword);
    if (name.len)
        buf_printf(&c->path, "/" STR_FMT, STR_ARG(str_slice(name, 0, 60)));
    return len;
}

static void leave(struct compiler *c, size_t len)
{
    c->path.len = len;
}

unsigned json_compiler_sub_schema(struct compiler *c, const struct json *schema,
                                  const char *keyword, struct td_str name)
{
    size_t len = enter(c, keyword, name);
    unsigned rule = c->rule_count++;
    json_compiler_write(c, schema, rule);
    leave(c, len);
    return rule;
}

/* --- keywords --------------------------------------------------------------------------------- */

/* What a keyword is about, as bits of a set. GROUP_NOTE keywords restrict nothing. */
enum group {
    GROUP_NOTE = 0,
    GROUP_REF = 1,
    GROUP_ANY_OF = 2,
    GROUP_ONE_OF = 4,
    GROUP_ALL_OF = 8,
    GROUP_CONST = 16,
    GROUP_ENUM = 32,
    GROUP_TYPE = 64,
    GROUP_OBJECT = 128,
    GROUP_ARRAY = 256,
    GROUP_STRING = 512,
    GROUP_NUMBER = 1024,
    GROUP_MERGE = 2048 /* json_merge.c rewrites the schema */
};

static const struct {
    const char *name;
    unsigned group;
} keywords[] = {
    {"$schema", GROUP_NOTE},
    {"$id", GROUP_NOTE},
    {"$comment", GROUP_NOTE},
    {"$defs", GROUP_NOTE},
    {"definitions", GROUP_NOTE},
    {"title", GROUP_NOTE},
    {"description", GROUP_NOTE},
    {"default", GROUP_NOTE},
    {"examples", GROUP_NOTE},
    {"deprecated", GROUP_NOTE},
    {"readOnly", GROUP_NOTE},
    {"writeOnly", GROUP_NOTE},
    {"$anchor", GROUP_NOTE},
    {"$vocabulary", GROUP_NOTE},
    {"id", GROUP_NOTE}, /* draft 4 */
    {"example", GROUP_NOTE},
    {"nullable", GROUP_NOTE}, /* OpenAPI: null is allowed as well; here it is never written */
    {"discriminator", GROUP_NOTE},
    {"externalDocs", GROUP_NOTE},
    {"xml", GROUP_NOTE},
    {"contentEncoding", GROUP_NOTE},
    {"contentMediaType", GROUP_NOTE},
    {"contentSchema", GROUP_NOTE},
    {"markdownDescription", GROUP_NOTE},
    {"enumDescriptions", GROUP_NOTE},
    {"defaultSnippets", GROUP_NOTE},
    {"errorMessage", GROUP_NOTE},
    {"optional", GROUP_NOTE}, /* of tools: `required` says it */
    {"$ref", GROUP_REF},
    {"anyOf", GROUP_ANY_OF},
    {"oneOf", GROUP_ONE_OF},
    {"allOf", GROUP_ALL_OF},
    {"const", GROUP_CONST},
    {"enum", GROUP_ENUM},
    {"type", GROUP_TYPE},
    {"properties", GROUP_OBJECT},
    {"required", GROUP_OBJECT},
    {"additionalProperties", GROUP_OBJECT},
    {"minProperties", GROUP_OBJECT},
    {"maxProperties", GROUP_OBJECT},
    {"patternProperties", GROUP_OBJECT},
    {"propertyNames", GROUP_OBJECT},
    {"items", GROUP_ARRAY},
    {"prefixItems", GROUP_ARRAY},
    {"minItems", GROUP_ARRAY},
    {"maxItems", GROUP_ARRAY},
    {"uniqueItems", GROUP_ARRAY},
    {"minLength", GROUP_STRING},
    {"maxLength", GROUP_STRING},
    {"pattern", GROUP_STRING},
    {"format", GROUP_STRING},
    {"minimum", GROUP_NUMBER},
    {"maximum", GROUP_NUMBER},
    {"exclusiveMinimum", GROUP_NUMBER},
    {"exclusiveMaximum", GROUP_NUMBER},
    {"multipleOf", GROUP_NUMBER},
    {"if", GROUP_MERGE},
    {"then", GROUP_MERGE},
    {"else", GROUP_MERGE},
    {"not", GROUP_MERGE},
    {"contains", GROUP_MERGE | GROUP_ARRAY},
    {"minContains", GROUP_MERGE | GROUP_ARRAY},
    {"maxContains", GROUP_MERGE | GROUP_ARRAY},
    {"additionalItems", GROUP_MERGE | GROUP_ARRAY},
    {"unevaluatedItems", GROUP_MERGE | GROUP_ARRAY},
    {"unevaluatedProperties", GROUP_MERGE | GROUP_OBJECT},
    {"dependentRequired", GROUP_MERGE | GROUP_OBJECT},
    {"dependentSchemas", GROUP_MERGE | GROUP_OBJECT},
    {"dependencies", GROUP_MERGE | GROUP_OBJECT},
};

static bool keyword_groups(struct compiler *c, const struct json *schema, unsigned *groups)
{
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    *groups = 0;
    while (json_next(schema, &iterator, &key, &value)) {
        size_t i = 0, count = sizeof keywords / sizeof *keywords;
        while (i < count && strcmp(keywords[i].name, key) != 0)
            i++;
        if (i == count && strncmp(key, "x-", 2) != 0)
            return json_compiler_fail(c, TD_UNSUPPORTED, "keyword '%.60s' is not supported", key);
        if (i < count)
            *groups |= keywords[i].group;
    }
    return true;
}

bool json_compiler_check_keywords(struct compiler *c, const struct json *schema)
{
    unsigned groups;
    return keyword_groups(c, schema, &groups);
}

int64_t json_compiler_count(struct compiler *c, const struct json *schema, const char *name)
{
    const struct json *value = json_get(schema, name);
    if (value == NULL)
        return -1;
    double number = json_number(value, -1);
    if (!(number >= 0 && number <= 9e15) || number != (double)(int64_t)number) {
        json_compiler_fail(c, TD_INVALID, "%s must be an integer from 0", name);
        return -1;
    }
    return (int64_t)number;
}

bool json_compiler_counts(struct compiler *c, const struct json *schema, const char *min_name,
                          const char *max_name, int64_t counts[2])
{
    counts[0] = json_compiler_count(c, schema, min_name);
    counts[1] = json_compiler_count(c, schema, max_name);
    counts[0] = counts[0] < 0 ? 0 : counts[0];
    if (counts[1] > COUNT_MAX)
        counts[1] = COUNT_MAX;
    if (counts[0] > COUNT_MAX)
        return json_compiler_fail(c, TD_LIMIT, "%s is above %d", min_name, COUNT_MAX);
    if (counts[1] >= 0 && counts[0] > counts[1])
        return json_compiler_fail(c, TD_INVALID, "%s is above %s", min_name, max_name);
    return c->status == TD_OK;
}

void json_compiler_put_counts(struct buf *body, int64_t min, int64_t max)
{
    ASSERT(min >= 0 && (max < 0 || max >= min));
    if (max < 0)
        buf_printf(body, "{%lld,}", (long long)min);
    else
        buf_printf(body, "{%lld,%lld}", (long long)min, (long long)max);
}

/* --- references ------------------------------------------------------------------------------- */

/* Follows one step of a JSON pointer (RFC 6901). */
static const struct json *pointer_step(const struct json *at, struct td_str part)
{
    char key[256];
    size_t len = 0;
    if (json_kind_of(at) == JSON_KIND_ARRAY) {
        uint64_t index;
        return str_to_u64(part, &index) ? json_at(at, (size_t)index) : NULL;
    }
    for (size_t i = 0; i < part.len && len + 1 < sizeof key; i++) {
        char byte = part.data[i];
        if (byte == '~' && i + 1 < part.len)
            byte = part.data[++i] == '1' ? '/' : '~';
        key[len++] = byte;
    }
    key[len] = '\0';
    return len + 1 < sizeof key ? json_get(at, key) : NULL;
}

const struct json *json_compiler_resolve(const struct compiler *c, struct td_str text)
{
    if (text.len == 0 || text.data[0] != '#')
        return NULL;
    const struct json *at = c->root;
    struct td_str rest = str_slice(text, 1, text.len), part;
    if (rest.len == 0)
        return at;
    if (rest.data[0] != '/')
        return NULL;
    rest = str_slice(rest, 1, rest.len);
    while (at && str_next(&rest, '/', &part))
        at = pointer_step(at, part);
    return at;
}

static void write_reference(struct compiler *c, const struct json *schema, struct buf *body)
{
    struct td_str text = json_text(json_get(schema, "$ref"));
    const struct json *target = json_compiler_resolve(c, text);
    if (target == NULL) {
        json_compiler_fail(c, text.len && text.data[0] == '#' ? TD_INVALID : TD_UNSUPPORTED,
                           "$ref '" STR_FMT "' leads to nothing in this schema",
                           STR_ARG(str_slice(text, 0, 80)));
        return;
    }
    size_t i = 0;
    while (i < c->reference_count && c->references[i].schema != target)
        i++;
    if (i == REFERENCES_MAX) {
        json_compiler_fail(c, TD_LIMIT, "more than %d references", REFERENCES_MAX);
        return;
    }
    if (i == c->reference_count)
        c->references[c->reference_count++] =
            (struct reference){target, c->rule_count++, str_slice(text, 1, text.len)};
    buf_printf(body, "r%u", c->references[i].rule);
}

/* --- strings and numbers ---------------------------------------------------------------------- */

static void write_string(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *pattern = json_get(schema, "pattern"), *format = json_get(schema, "format");
    bool counted = json_get(schema, "minLength") || json_get(schema, "maxLength");
    int64_t counts[2];
    if (!json_compiler_counts(c, schema, "minLength", "maxLength", counts))
        return;
    if (format && json_format_is_note(json_text(format)))
        format = NULL;
    int64_t lengths[2];
    if (format && !pattern && counted && json_format_lengths(json_text(format), lengths) &&
        counts[0] <= lengths[0] && (counts[1] < 0 || counts[1] >= lengths[1]))
        counted = false; /* every text of the format has an allowed length */
    if ((pattern != NULL) + (format != NULL) + counted > 1) {
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "a string may have only one of pattern, format and a length");
        return;
    }
    buf_append_str(body, STR("\"\\\"\" "));
    if (pattern) {
        const char *reason = "pattern must be a string";
        if (json_kind_of(pattern) != JSON_KIND_TEXT)
            json_compiler_fail(c, TD_INVALID, "%s", reason);
        else if (!json_pattern_write(json_text(pattern), body, &reason))
            json_compiler_fail(c, TD_UNSUPPORTED, "keyword 'pattern' is not supported with %s",
                               reason);
    } else if (format) {
        const char *text = json_format_body(json_text(format));
        if (text == NULL)
            json_compiler_fail(c, TD_UNSUPPORTED, "format '" STR_FMT "' is not supported",
                               STR_ARG(str_slice(json_text(format), 0, 40)));
        else
            buf_append_str(body, str_from(text));
    } else {
        buf_append_str(body, STR("char"));
        json_compiler_put_counts(body, counts[0], counts[1]);
    }
    buf_append_str(body, STR(" \"\\\"\""));
}

static void write_number(struct compiler *c, const struct json *schema, bool integer,
                         struct buf *body)
{
    const char *reason = NULL;
    if (!json_number_write(schema, integer, body, &reason))
        json_compiler_fail(c, TD_UNSUPPORTED, "%s", reason);
}

/* --- types ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum schema_type type;
} types[] = {
    {"object", SCHEMA_OBJECT}, {"array", SCHEMA_ARRAY},     {"string", SCHEMA_STRING},
    {"number", SCHEMA_NUMBER}, {"integer", SCHEMA_INTEGER}, {"boolean", SCHEMA_BOOLEAN},
    {"null", SCHEMA_NULL},
};
#define TYPE_COUNT (sizeof types / sizeof *types)

static void write_type(struct compiler *c, const struct json *schema, enum schema_type type,
                       struct buf *body)
{
    switch (type) {
    case SCHEMA_OBJECT:
        json_write_object(c, schema, body);
        break;
    case SCHEMA_ARRAY:
        json_write_array(c, schema, body);
        break;
    case SCHEMA_STRING:
        write_string(c, schema, body);
        break;
    case SCHEMA_NUMBER:
    case SCHEMA_INTEGER:
        write_number(c, schema, type == SCHEMA_INTEGER, body);
        break;
    case SCHEMA_BOOLEAN:
        buf_append_str(body, STR("\"true\" | \"false\""));
        break;
    case SCHEMA_NULL:
        buf_append_str(body, STR("\"null\""));
        break;
    }
}

unsigned json_compiler_types(struct compiler *c, const struct json *type)
{
    unsigned allowed = 0;
    bool list = json_kind_of(type) == JSON_KIND_ARRAY;
    for (size_t i = 0; i < (list ? json_count(type) : 1); i++) {
        struct td_str name = json_text(list ? json_at(type, i) : type);
        size_t t = 0;
        while (t < TYPE_COUNT && !str_equal(name, str_from(types[t].name)))
            t++;
        if (t == TYPE_COUNT) {
            if (c)
                json_compiler_fail(c, TD_INVALID, "type '" STR_FMT "' is not a type of JSON Schema",
                                   STR_ARG(str_slice(name, 0, 40)));
            return 0;
        }
        allowed |= types[t].type;
    }
    if (allowed == 0 && c)
        json_compiler_fail(c, TD_INVALID, "type is an empty list");
    return allowed;
}

/* Without `type` the other keywords tell which types are meant. */
static unsigned implied_types(unsigned groups)
{
    return (groups & GROUP_OBJECT ? SCHEMA_OBJECT : 0u) |
           (groups & GROUP_ARRAY ? SCHEMA_ARRAY : 0u) |
           (groups & GROUP_STRING ? SCHEMA_STRING : 0u) |
           (groups & GROUP_NUMBER ? SCHEMA_NUMBER : 0u);
}

static void write_types(struct compiler *c, const struct json *schema, unsigned groups,
                        struct buf *body)
{
    unsigned allowed = groups & GROUP_TYPE ? json_compiler_types(c, json_get(schema, "type"))
                                           : implied_types(groups);
    if (allowed == 0)
        buf_append_str(body, STR("value"));
    bool any = false;
    for (size_t t = 0; t < TYPE_COUNT && c->status == TD_OK; t++) {
        if (!(allowed & types[t].type))
            continue;
        if (any)
            buf_append_str(body, STR(" | "));
        buf_append_str(body, STR("("));
        write_type(c, schema, types[t].type, body);
        buf_append_str(body, STR(")"));
        any = true;
    }
}

/* --- a schema --------------------------------------------------------------------------------- */

/* Writes a schema without references and allOf. Alternatives may be beside other keywords. */
static void write_flat(struct compiler *c, const struct json *flat, struct buf *body)
{
    unsigned groups;
    if (!keyword_groups(c, flat, &groups))
        return;
    if (groups & (GROUP_ANY_OF | GROUP_ONE_OF))
        json_write_distributed(
            c, flat, groups & GROUP_ONE_OF ? ALTERNATIVES_ONE_OF : ALTERNATIVES_ANY_OF, body);
    else if (groups & GROUP_ENUM)
        json_write_values(c, flat, body);
    else
        write_types(c, flat, groups, body);
}

static void write_body(struct compiler *c, const struct json *schema, struct buf *body)
{
    static const struct {
        unsigned group, beside; /* `beside` may be there as well; anything else needs a merge */
    } kinds[] = {{GROUP_REF, 0},
                 {GROUP_ANY_OF, 0},
                 {GROUP_ONE_OF, 0},
                 {GROUP_CONST, GROUP_TYPE},
                 {GROUP_ENUM, GROUP_TYPE}};
    unsigned groups;
    if (!keyword_groups(c, schema, &groups))
        return;
    bool merge = json_merge_needed(schema);
    size_t kind = 0, kind_count = sizeof kinds / sizeof *kinds;
    while (kind < kind_count && !(groups & kinds[kind].group))
        kind++;
    merge = merge || (kind < kind_count && groups & ~(kinds[kind].group | kinds[kind].beside));
    if (merge) {
        bool empty = false;
        const struct json *flat = json_merge_flatten(c, schema, &empty);
        if (empty)
            json_compiler_fail(c, TD_INVALID, "no value satisfies all of its keywords");
        if (flat)
            write_flat(c, flat, body);
    } else if (kind == kind_count) {
        write_types(c, schema, groups, body);
    } else if (kinds[kind].group == GROUP_REF) {
        write_reference(c, schema, body);
    } else if (kinds[kind].group & (GROUP_CONST | GROUP_ENUM)) {
        json_write_values(c, schema, body);
    } else {
        json_write_alternatives(
            c, schema,
            kinds[kind].group == GROUP_ONE_OF ? ALTERNATIVES_ONE_OF : ALTERNATIVES_ANY_OF, body);
    }
}

void json_compiler_write(struct compiler *c, const struct json *schema, unsigned rule)
{
    struct buf body;
    buf_init(&body, BODY_BYTES_MAX);
    enum json_kind kind = json_kind_of(schema);
    if (kind == JSON_KIND_ABSENT || (kind == JSON_KIND_BOOL && json_bool(schema, false)))
        buf_append_str(&body, STR("value"));
    else if (kind == JSON_KIND_BOOL)
        json_compiler_fail(c, TD_UNSUPPORTED, "a schema that is false allows nothing");
    else if (kind != JSON_KIND_OBJECT)
        json_compiler_fail(c, TD_INVALID, "a schema must be an object, not %s",
                           json_kind_name(kind));
    else
        write_body(c, schema, &body);
    if (c->status == TD_OK)
        json_compiler_put_rule(c, rule, &body);
    buf_deinit(&body);
}

enum td_status json_schema_write_all(const struct json_schema_list *list, struct buf *out,
                                     size_t *failed, struct td_error *err)
{
    ASSERT(list != NULL && out != NULL && failed != NULL);
    struct compiler *c = calloc(1, sizeof *c);
    *failed = SIZE_MAX;
    if (c == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a JSON schema");
    c->out = out;
    c->err = err;
    c->rule_count = (unsigned)list->count;
    c->strict = list->strict;
    buf_init(&c->path, BODY_BYTES_MAX);
    json_compiler_put_base(out, list->strict);
    for (size_t i = 0; i < list->count && c->status == TD_OK; i++) {
        *failed = i;
        c->root = list->schemas[i];
        buf_clear(&c->path);
        json_compiler_write(c, c->root, (unsigned)i);
        for (; c->written_count < c->reference_count && c->status == TD_OK; c->written_count++) {
            struct reference reference = c->references[c->written_count];
            buf_clear(&c->path);
            buf_append_str(&c->path, reference.path);
            json_compiler_write(c, reference.schema, reference.rule);
        }
    }
    enum td_status status = c->status;
    for (size_t i = 0; i < c->owned_count; i++)
        json_free(c->owned[i]);
    buf_deinit(&c->path);
    free(c);
    return status;
}

enum td_status json_schema_write(const struct json *schema, struct buf *out, struct td_error *err)
{
    const struct json_schema_list list = {.schemas = &schema, .count = 1};
    size_t failed;
    buf_append_str(out, STR("root ::= r0\n"));
    return json_schema_write_all(&list, out, &failed, err);
}

enum td_status json_schema_compile(const struct json *schema, struct td_grammar **out,
                                   struct td_error *err)
{
    struct buf text;
    struct td_error inner = {0};
    *out = NULL;
    buf_init(&text, GRAMMAR_TEXT_BYTES_MAX);
    enum td_status status = json_schema_write(schema, &text, err);
    if (status == TD_OK)
        status = grammar_compile(buf_view(&text), JSON_SCHEMA_DEPTH_MAX, out, &inner);
    if (inner.status != TD_OK)
        error_set(err, status, "JSON schema: it refers to itself without end, or is too large (%s)",
                  inner.message);
    buf_deinit(&text);
    return status;
}

enum td_status td_grammar_from_schema(struct td_str schema, struct td_grammar **out,
                                      struct td_error *err)
{
    struct json *value;
    *out = NULL;
    enum td_status status = json_parse(schema, &value, err);
    if (status != TD_OK)
        return status;
    status = json_schema_compile(value, out, err);
    json_free(value);
    return status;
}
