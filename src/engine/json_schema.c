/* Each schema becomes one rule, r0, r1, ...; a schema that is referred to becomes one rule however often it is
 * referred to, and is written when the others are done, so that recursion in the schema is recursion in the
 * grammar and none here. The depth of this file's own recursion is that of the JSON text (64). */
#include "engine/json_schema_internal.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT_MAX 65536 /* of characters and elements */
#define DISJOINT_DEPTH_MAX 8

static const char base_rules[] =
    "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n"
    "hex ::= [0-9a-fA-F]\n"
    "escape ::= \"\\\\\" ([\"\\\\/bfnrt] | \"u\" ([1-9a-cA-CefEF] hex{3} | \"0\" [1-9a-fA-F] "
    "hex{2} | "
    "\"00\" [1-9a-fA-F] hex | \"000\" [1-9a-fA-F] | [dD] [0-7] hex{2}))\n"
    "plain ::= [^\"\\\\\\x00-\\x1f\\x7f]\n"
    "char ::= plain | escape\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,14})\n"
    "number ::= integer (\".\" [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?\n"
    "member ::= string \":\" ws value\n"
    "object ::= \"{\" ws (\"}\" | member (\",\" ws member)* ws \"}\")\n"
    "array ::= \"[\" ws (\"]\" | value (\",\" ws value)* ws \"]\")\n"
    "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n";

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

/* The JSON text of a value, as a literal. */
static void put_value(struct compiler *c, struct buf *body, const struct json *value)
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

/* The rule of a schema within this one. */
unsigned json_compiler_sub_schema(struct compiler *c, const struct json *schema,
                                  const char *keyword, struct td_str name)
{
    size_t len = enter(c, keyword, name);
    unsigned rule = c->rule_count++;
    json_compiler_write(c, schema, rule);
    leave(c, len);
    return rule;
}

/* --- keywords ------------------------------------------------------------------------------------ */

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
    GROUP_NUMBER = 1024
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
    if (json_bool(json_get(schema, "uniqueItems"), false))
        return json_compiler_fail(c, TD_UNSUPPORTED, "keyword 'uniqueItems' is not supported");
    return true;
}

/* A count from 0 on; -1 when it is absent. */
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

/* {min,max}; a larger maximum is cut to what is still written, which allows less. */
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
    if (max < 0)
        buf_printf(body, "{%lld,}", (long long)min);
    else
        buf_printf(body, "{%lld,%lld}", (long long)min, (long long)max);
}

/* --- references ---------------------------------------------------------------------------------- */

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

static const struct json *resolve(const struct compiler *c, struct td_str text)
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
    const struct json *target = resolve(c, text);
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

/* --- strings and numbers ------------------------------------------------------------------------- */

static void write_string(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *pattern = json_get(schema, "pattern"), *format = json_get(schema, "format");
    bool counted = json_get(schema, "minLength") || json_get(schema, "maxLength");
    int64_t counts[2];
    if (!json_compiler_counts(c, schema, "minLength", "maxLength", counts))
        return;
    if ((pattern != NULL) + (format != NULL) + counted > 1) {
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "of pattern, format and a length only one is supported for "
                           "a string");
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

/* --- types --------------------------------------------------------------------------------------- */

static const char *const type_names[] = {"object",  "array",   "string", "number",
                                         "integer", "boolean", "null"};
enum { TYPE_COUNT = 7 };

static void write_type(struct compiler *c, const struct json *schema, int type, struct buf *body)
{
    switch (type) {
    case 0:
        json_write_object(c, schema, body);
        break;
    case 1:
        json_write_array(c, schema, body);
        break;
    case 2:
        write_string(c, schema, body);
        break;
    case 3:
    case 4:
        write_number(c, schema, type == 4, body);
        break;
    case 5:
        buf_append_str(body, STR("\"true\" | \"false\""));
        break;
    default:
        buf_append_str(body, STR("\"null\""));
    }
}

/* Bits of type_names that a schema's `type` allows; 0 with a failure. */
static unsigned read_types(struct compiler *c, const struct json *type)
{
    unsigned types = 0;
    bool list = json_kind_of(type) == JSON_KIND_ARRAY;
    for (size_t i = 0; i < (list ? json_count(type) : 1); i++) {
        struct td_str name = json_text(list ? json_at(type, i) : type);
        int t = 0;
        while (t < TYPE_COUNT && !str_equal(name, str_from(type_names[t])))
            t++;
        if (t == TYPE_COUNT) {
            if (c)
                json_compiler_fail(c, TD_INVALID, "type '" STR_FMT "' is not a type of JSON Schema",
                                   STR_ARG(str_slice(name, 0, 40)));
            return 0;
        }
        types |= 1u << t;
    }
    if (types == 0 && c)
        json_compiler_fail(c, TD_INVALID, "type is an empty list");
    return types;
}

static void write_types(struct compiler *c, const struct json *schema, unsigned groups,
                        struct buf *body)
{
    unsigned types = groups & GROUP_TYPE
                         ? read_types(c, json_get(schema, "type"))
                         : (groups & GROUP_OBJECT ? 1u : 0) | (groups & GROUP_ARRAY ? 2u : 0) |
                               (groups & GROUP_STRING ? 4u : 0) | (groups & GROUP_NUMBER ? 8u : 0);
    if (types == 0)
        buf_append_str(body, STR("value"));
    bool any = false;
    for (int t = 0; t < TYPE_COUNT && c->status == TD_OK; t++) {
        if (!(types >> t & 1))
            continue;
        if (any)
            buf_append_str(body, STR(" | "));
        buf_append_str(body, STR("("));
        write_type(c, schema, t, body);
        buf_append_str(body, STR(")"));
        any = true;
    }
}

static unsigned type_of_value(const struct json *value)
{
    switch (json_kind_of(value)) {
    case JSON_KIND_OBJECT:
        return 1;
    case JSON_KIND_ARRAY:
        return 2;
    case JSON_KIND_TEXT:
        return 4;
    case JSON_KIND_DOUBLE:
        return 8;
    case JSON_KIND_INT:
        return 8 | 16;
    case JSON_KIND_BOOL:
        return 32;
    default:
        return 64;
    }
}

static void write_values(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *list = json_get(schema, "enum"), *constant = json_get(schema, "const");
    const struct json *type = json_get(schema, "type");
    unsigned types = type ? read_types(c, type) : ~0u;
    bool any = false;
    if (!constant && json_kind_of(list) != JSON_KIND_ARRAY) {
        json_compiler_fail(c, TD_INVALID, "enum must be an array");
        return;
    }
    for (size_t i = 0; i < (constant ? 1 : json_count(list)); i++) {
        const struct json *value = constant ? constant : json_at(list, i);
        if (!(types & type_of_value(value)))
            continue;
        if (any)
            buf_append_str(body, STR(" | "));
        put_value(c, body, value);
        any = true;
    }
    if (!any)
        json_compiler_fail(c, TD_INVALID, "no value is allowed");
}

/* --- alternatives -------------------------------------------------------------------------------- */

/* The values that a schema is a list of, or 0. */
static size_t listed_values(const struct json *schema, const struct json **list)
{
    const struct json *constant = json_get(schema, "const");
    *list = constant ? constant : json_get(schema, "enum");
    return constant ? 1 : json_count(*list);
}

static bool values_meet(const struct json *a, size_t a_count, const struct json *b, size_t b_count,
                        bool a_const, bool b_const)
{
    bool meet = false;
    for (size_t i = 0; i < a_count && !meet; i++)
        for (size_t j = 0; j < b_count && !meet; j++) {
            struct buf x, y;
            buf_init(&x, BODY_BYTES_MAX);
            buf_init(&y, BODY_BYTES_MAX);
            json_write(a_const ? a : json_at(a, i), &x);
            json_write(b_const ? b : json_at(b, j), &y);
            meet = x.failed || y.failed || str_equal(buf_view(&x), buf_view(&y));
            buf_deinit(&x);
            buf_deinit(&y);
        }
    return meet;
}

static unsigned possible_types(const struct json *schema)
{
    const struct json *list;
    size_t count = listed_values(schema, &list);
    unsigned types = 0;
    if (count == 0)
        return json_get(schema, "type") ? read_types(NULL, json_get(schema, "type")) : ~0u;
    for (size_t i = 0; i < count; i++)
        types |= type_of_value(json_get(schema, "const") ? list : json_at(list, i));
    return types;
}

/* Whether no value satisfies both, as far as types, listed values and required members show. */
static bool disjoint(const struct compiler *c, const struct json *a, const struct json *b,
                     int depth)
{
    for (int i = 0; i < DISJOINT_DEPTH_MAX && json_get(a, "$ref"); i++)
        a = resolve(c, json_text(json_get(a, "$ref")));
    for (int i = 0; i < DISJOINT_DEPTH_MAX && json_get(b, "$ref"); i++)
        b = resolve(c, json_text(json_get(b, "$ref")));
    if (depth == 0 || json_kind_of(a) != JSON_KIND_OBJECT || json_kind_of(b) != JSON_KIND_OBJECT)
        return false;
    unsigned x = possible_types(a), y = possible_types(b);
    x |= x & 8 ? 16u : 0; /* an integer is a number */
    y |= y & 8 ? 16u : 0;
    if (!(x & y))
        return true;
    const struct json *a_list, *b_list;
    size_t a_count = listed_values(a, &a_list), b_count = listed_values(b, &b_list);
    if (a_count && b_count)
        return !values_meet(a_list, a_count, b_list, b_count, json_get(a, "const") != NULL,
                            json_get(b, "const") != NULL);
    if ((x & y) != 1)
        return false;
    const struct json *required = json_get(a, "required");
    for (size_t i = 0; i < json_count(required); i++) {
        const char *name = json_cstr(json_at(required, i));
        const struct json *p = name ? json_get(json_get(a, "properties"), name) : NULL;
        const struct json *q = name ? json_get(json_get(b, "properties"), name) : NULL;
        if (p && q && disjoint(c, p, q, depth - 1))
            return true;
    }
    return false;
}

static void write_alternatives(struct compiler *c, const struct json *schema, const char *keyword,
                               struct buf *body)
{
    const struct json *list = json_get(schema, keyword);
    size_t count = json_count(list);
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0) {
        json_compiler_fail(c, TD_INVALID, "%s must be an array with a schema", keyword);
        return;
    }
    if (strcmp(keyword, "allOf") == 0 && count > 1) {
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "keyword 'allOf' with more than one schema is not supported");
        return;
    }
    if (strcmp(keyword, "oneOf") == 0 && count > 64) {
        json_compiler_fail(c, TD_LIMIT, "oneOf with more than 64 schemas");
        return;
    }
    for (size_t i = 0; i < count && c->status == TD_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        for (size_t j = 0; strcmp(keyword, "oneOf") == 0 && j < i; j++)
            if (!disjoint(c, json_at(list, i), json_at(list, j), DISJOINT_DEPTH_MAX))
                json_compiler_fail(c, TD_UNSUPPORTED,
                                   "oneOf: schemas %zu and %zu may both hold; use anyOf", j, i);
        unsigned rule = json_compiler_sub_schema(c, json_at(list, i), keyword, str_from(name));
        buf_printf(body, "%sr%u", i ? " | " : "", rule);
    }
}

/* --- a schema ------------------------------------------------------------------------------------ */

static void write_body(struct compiler *c, const struct json *schema, struct buf *body)
{
    static const struct {
        unsigned group, beside;
        const char *name;
    } kinds[] = {{GROUP_REF, 0, "$ref"},
                 {GROUP_ANY_OF, 0, "anyOf"},
                 {GROUP_ONE_OF, 0, "oneOf"},
                 {GROUP_ALL_OF, 0, "allOf"},
                 {GROUP_CONST, GROUP_TYPE, "const"},
                 {GROUP_ENUM, GROUP_TYPE, "enum"}};
    unsigned groups;
    if (!keyword_groups(c, schema, &groups))
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(groups & kinds[i].group))
            continue;
        if (groups & ~(kinds[i].group | kinds[i].beside)) {
            json_compiler_fail(c, TD_UNSUPPORTED, "other keywords beside '%s' are not supported",
                               kinds[i].name);
            return;
        }
        if (kinds[i].group == GROUP_REF)
            write_reference(c, schema, body);
        else if (kinds[i].group & (GROUP_CONST | GROUP_ENUM))
            write_values(c, schema, body);
        else
            write_alternatives(c, schema, kinds[i].name, body);
        return;
    }
    write_types(c, schema, groups, body);
}

/* `schema` NULL: none was given, anything is allowed. */
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

enum td_status json_schema_write(const struct json *schema, struct buf *out, struct td_error *err)
{
    struct compiler *c = calloc(1, sizeof *c);
    if (c == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a JSON schema");
    c->root = schema;
    c->out = out;
    c->err = err;
    c->rule_count = 1;
    buf_init(&c->path, BODY_BYTES_MAX);
    buf_append_str(out, STR("root ::= r0\n"));
    buf_append_str(out, str_from(base_rules));
    json_compiler_write(c, schema, 0);
    for (; c->written_count < c->reference_count && c->status == TD_OK; c->written_count++) {
        struct reference reference = c->references[c->written_count];
        buf_clear(&c->path);
        buf_append_str(&c->path, reference.path);
        json_compiler_write(c, reference.schema, reference.rule);
    }
    enum td_status status = c->status;
    buf_deinit(&c->path);
    free(c);
    return status;
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
