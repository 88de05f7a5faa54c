/* Makes one schema of several that must all hold. It rewrites JSON into JSON and never looks at the
 * grammar. Every keyword has one rule for "a and b both hold" (JSON Schema 2020-12, Validation,
 * section 6): the narrower of two bounds stays, and the values that two lists have in common.
 * Members and elements become allOf of both, which is merged when the writer reaches it, so a
 * recursive schema costs only as much as is used of it. Where a schema cannot express all values
 * that both allow, it allows fewer:
 *
 *   if/then/else        only values for which `if` holds, so `if` and `then`
 *   dependentRequired   the members that others need are always there
 *   dependentSchemas    always hold
 *   contains            every element satisfies it
 *   not                 supported for `required` and for `type` only
 *   unevaluated*        additionalProperties and items of the merged schema
 *
 * Schemas that are made here belong to the compiler and live until it ends. Their number is
 * limited, which also stops a schema that refers to itself without end. */
#include "engine/grammar/json_merge.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

#define FLATTEN_DEPTH_MAX 64
#define ALTERNATIVES_MAX 256

struct merge {
    struct compiler *c;
    bool empty; /* no value can satisfy both */
    int depth;
};

static struct json *flatten(struct merge *m, const struct json *schema);
static struct json *merge(struct merge *m, const struct json *a, const struct json *b);

static bool failed(const struct merge *m)
{
    return m->empty || m->c->status != TD_OK;
}

static bool is_true(const struct json *schema)
{
    return schema == NULL || (json_kind_of(schema) == JSON_KIND_BOOL && json_bool(schema, false)) ||
           (json_kind_of(schema) == JSON_KIND_OBJECT && json_count(schema) == 0);
}

static bool is_false(const struct json *schema)
{
    return json_kind_of(schema) == JSON_KIND_BOOL && !json_bool(schema, true);
}

/* {"allOf": [a, b]}; if one of them allows anything, a copy of the other. */
static struct json *all_of(const struct json *a, const struct json *b)
{
    if (is_false(a) || is_false(b))
        return json_new_bool(false);
    if (is_true(a) || is_true(b)) {
        const struct json *kept = is_true(a) ? b : a;
        return kept ? json_clone(kept) : json_new_bool(true);
    }
    struct json *both = json_new_object(), *list = json_new_array();
    json_push(list, json_clone(a));
    json_push(list, json_clone(b));
    json_put(both, "allOf", list);
    return both;
}

bool json_merge_equal(struct compiler *c, const struct json *a, const struct json *b)
{
    enum json_kind kind = json_kind_of(a);
    struct buf x, y;
    if (!json_compiler_spend(c, 1) || kind != json_kind_of(b))
        return false;
    if (kind == JSON_KIND_TEXT)
        return str_equal(json_text(a), json_text(b));
    if (kind == JSON_KIND_INT)
        return json_int(a, 0) == json_int(b, 0);
    if (!json_compiler_spend(c, json_compiler_cost(a) + json_compiler_cost(b)))
        return false;
    buf_init(&x, BODY_BYTES_MAX);
    buf_init(&y, BODY_BYTES_MAX);
    json_write(a, &x);
    json_write(b, &y);
    bool same = !x.failed && !y.failed && str_equal(buf_view(&x), buf_view(&y));
    buf_deinit(&x);
    buf_deinit(&y);
    return same;
}

static bool list_has(struct compiler *c, const struct json *list, const struct json *value)
{
    for (size_t i = 0; i < json_count(list) && c->status == TD_OK; i++)
        if (json_merge_equal(c, json_at(list, i), value))
            return true;
    return false;
}

/* --- one keyword ------------------------------------------------------------------------------ */

typedef struct json *merge_fn(struct merge *m, const char *key, const struct json *a,
                              const struct json *b);

static struct json *take_larger(struct merge *m, const char *key, const struct json *a,
                                const struct json *b)
{
    (void)m;
    (void)key;
    return json_clone(json_number(a, 0) >= json_number(b, 0) ? a : b);
}

static struct json *take_smaller(struct merge *m, const char *key, const struct json *a,
                                 const struct json *b)
{
    (void)m;
    (void)key;
    return json_clone(json_number(a, 0) <= json_number(b, 0) ? a : b);
}

static struct json *take_same(struct merge *m, const char *key, const struct json *a,
                              const struct json *b)
{
    if (!json_merge_equal(m->c, a, b))
        json_compiler_fail(m->c, TD_UNSUPPORTED, "two different values of '%s' at once", key);
    return json_clone(a);
}

static struct json *take_either(struct merge *m, const char *key, const struct json *a,
                                const struct json *b)
{
    (void)m;
    (void)key;
    return json_new_bool(json_bool(a, false) || json_bool(b, false));
}

static struct json *as_list(const struct json *value)
{
    if (json_kind_of(value) == JSON_KIND_ARRAY)
        return json_clone(value);
    struct json *list = json_new_array();
    json_push(list, json_clone(value));
    return list;
}

static struct json *join_lists(struct merge *m, const char *key, const struct json *a,
                               const struct json *b)
{
    struct json *out = as_list(a);
    (void)m;
    (void)key;
    for (size_t i = 0; i < json_count(b) && m->c->status == TD_OK; i++)
        if (!list_has(m->c, out, json_at(b, i)))
            json_push(out, json_clone(json_at(b, i)));
    return out;
}

static struct json *common_values(struct merge *m, const char *key, const struct json *a,
                                  const struct json *b)
{
    struct json *out = json_new_array();
    (void)key;
    for (size_t i = 0; i < json_count(a) && m->c->status == TD_OK; i++)
        if (list_has(m->c, b, json_at(a, i)))
            json_push(out, json_clone(json_at(a, i)));
    m->empty = m->empty || json_count(out) == 0;
    return out;
}

/* The types of both lists. An integer is a number. */
static struct json *common_types(struct merge *m, const char *key, const struct json *a,
                                 const struct json *b)
{
    struct json *x = as_list(a), *y = as_list(b), *out = json_new_array();
    struct json *integer = json_new_cstr("integer"), *number = json_new_cstr("number");
    (void)key;
    for (int turn = 0; turn < 2; turn++) {
        const struct json *from = turn ? y : x, *in = turn ? x : y;
        for (size_t i = 0; i < json_count(from) && m->c->status == TD_OK; i++) {
            const struct json *type = json_at(from, i);
            bool both = list_has(m->c, in, type) ||
                        (json_merge_equal(m->c, type, integer) && list_has(m->c, in, number));
            if (both && !list_has(m->c, out, type))
                json_push(out, json_clone(type));
        }
    }
    m->empty = m->empty || json_count(out) == 0;
    json_free(x);
    json_free(y);
    json_free(integer);
    json_free(number);
    return out;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct json *common_multiple(struct merge *m, const char *key, const struct json *a,
                                    const struct json *b)
{
    if (json_merge_equal(m->c, a, b))
        return json_clone(a);
    double x = json_number(a, 0), y = json_number(b, 0);
    if (x >= 1 && y >= 1 && x < 1e6 && y < 1e6 && x == (double)(int64_t)x &&
        y == (double)(int64_t)y)
        return json_new_int((int64_t)x / common_divisor((int64_t)x, (int64_t)y) * (int64_t)y);
    return take_same(m, key, a, b);
}

static struct json *both_schemas(struct merge *m, const char *key, const struct json *a,
                                 const struct json *b)
{
    (void)m;
    (void)key;
    return all_of(a, b);
}

static struct json *join_members(struct merge *m, const char *key, const struct json *a,
                                 const struct json *b)
{
    struct json *out = json_clone(a);
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    (void)m;
    (void)key;
    while (json_next(b, &iterator, &name, &value))
        json_put(out, name,
                 json_get(a, name) ? all_of(json_get(a, name), value) : json_clone(value));
    return out;
}

/* (a1 or a2) and (b1 or b2): each of one list with each of the other. This also holds for oneOf:
 * exactly one pair holds if exactly one of each list does. */
static struct json *pair_up(struct merge *m, const char *key, const struct json *a,
                            const struct json *b)
{
    struct json *out = json_new_array();
    if (json_count(a) * json_count(b) > ALTERNATIVES_MAX)
        json_compiler_fail(m->c, TD_LIMIT, "two '%s' at once with more than %d pairs", key,
                           ALTERNATIVES_MAX);
    for (size_t i = 0; i < json_count(a) && m->c->status == TD_OK; i++)
        for (size_t j = 0; j < json_count(b); j++)
            if (json_compiler_spend(m->c, json_compiler_cost(json_at(a, i)) +
                                              json_compiler_cost(json_at(b, j))))
                json_push(out, all_of(json_at(a, i), json_at(b, j)));
    return out;
}

static const struct {
    const char *key;
    merge_fn *fn;
} rules[] = {{"type", common_types},
             {"enum", common_values},
             {"minimum", take_larger},
             {"exclusiveMinimum", take_larger},
             {"maximum", take_smaller},
             {"exclusiveMaximum", take_smaller},
             {"multipleOf", common_multiple},
             {"minLength", take_larger},
             {"maxLength", take_smaller},
             {"pattern", take_same},
             {"format", take_same},
             {"minItems", take_larger},
             {"maxItems", take_smaller},
             {"uniqueItems", take_either},
             {"minProperties", take_larger},
             {"maxProperties", take_smaller},
             {"required", join_lists},
             {"propertyNames", both_schemas},
             {"anyOf", pair_up},
             {"oneOf", pair_up},
             {"patternProperties", join_members}};

/* --- members and elements --------------------------------------------------------------------- */

/* The schema of the member `name` in `schema`; NULL = anything is allowed. */
static const struct json *member_schema(const struct json *schema, const char *name)
{
    const struct json *own = json_get(json_get(schema, "properties"), name);
    if (own || json_get(schema, "patternProperties"))
        return own; /* a pattern may name the member, so additionalProperties does not apply */
    return json_get(schema, "additionalProperties");
}

static void add_members(struct compiler *c, struct json *out, const struct json *a,
                        const struct json *b, const struct json *names)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (c->status == TD_OK && json_next(names, &iterator, &name, &value)) {
        if (json_get(out, name))
            continue;
        struct json *both = all_of(member_schema(a, name), member_schema(b, name));
        json_compiler_spend(c, json_compiler_cost(both));
        if (is_false(both))
            json_free(both); /* no value is possible, so the member is not written */
        else
            json_put(out, name, both);
    }
}

static void merge_members(struct merge *m, const struct json *a, const struct json *b,
                          struct json *out)
{
    const struct json *x = json_get(a, "properties"), *y = json_get(b, "properties");
    const struct json *more_a = json_get(a, "additionalProperties");
    const struct json *more_b = json_get(b, "additionalProperties");
    bool patterns = json_get(a, "patternProperties") || json_get(b, "patternProperties");
    if (patterns && (more_a || more_b)) {
        json_compiler_fail(
            m->c, TD_UNSUPPORTED,
            "patternProperties and additionalProperties in schemas that hold at once");
        return;
    }
    if (x || y) {
        struct json *members = json_new_object();
        add_members(m->c, members, a, b, x);
        add_members(m->c, members, a, b, y);
        json_put(out, "properties", members);
    }
    if (more_a || more_b)
        json_put(out, "additionalProperties", all_of(more_a, more_b));
}

static const struct json *element_schema(const struct json *schema, size_t index)
{
    const struct json *prefix = json_get(schema, "prefixItems");
    return index < json_count(prefix) ? json_at(prefix, index) : json_get(schema, "items");
}

static void merge_elements(struct compiler *c, const struct json *a, const struct json *b,
                           struct json *out)
{
    size_t x = json_count(json_get(a, "prefixItems")), y = json_count(json_get(b, "prefixItems"));
    const struct json *more_a = json_get(a, "items"), *more_b = json_get(b, "items");
    size_t count = x > y ? x : y;
    struct json *prefix = count ? json_new_array() : NULL;
    bool ended = false;
    for (size_t i = 0; i < count && !ended && c->status == TD_OK; i++) {
        struct json *both = all_of(element_schema(a, i), element_schema(b, i));
        ended = is_false(both);
        json_compiler_spend(c, json_compiler_cost(both));
        if (ended)
            json_free(both);
        else
            json_push(prefix, both);
    }
    if (prefix)
        json_put(out, "prefixItems", prefix);
    if (ended)
        json_put(out, "items", json_new_bool(false));
    else if (more_a || more_b)
        json_put(out, "items", all_of(more_a, more_b));
}

/* --- two schemas ------------------------------------------------------------------------------ */

/* Gives a flat schema to the compiler, which frees it at its end. */
static struct json *own(struct merge *m, struct json *schema)
{
    struct compiler *c = m->c;
    if (c->owned_count == OWNED_MAX || schema == NULL) {
        json_free(schema);
        json_compiler_fail(c, TD_LIMIT,
                           "more than %d schemas come of allOf and references; it may refer to "
                           "itself without end",
                           OWNED_MAX);
        return NULL;
    }
    c->owned[c->owned_count++] = schema;
    return json_compiler_spend(c, json_compiler_cost(schema)) ? schema : NULL;
}

/* Both must be flat: no references, allOf, conditions or older spellings. */
static struct json *merge(struct merge *m, const struct json *a, const struct json *b)
{
    if (failed(m) || is_false(a) || is_false(b)) {
        m->empty = true;
        return NULL;
    }
    struct json *out = json_new_object();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct json *x = json_get(a, rules[i].key), *y = json_get(b, rules[i].key);
        if (x && y)
            json_put(out, rules[i].key, rules[i].fn(m, rules[i].key, x, y));
        else if (x || y)
            json_put(out, rules[i].key, json_clone(x ? x : y));
    }
    merge_members(m, a, b, out);
    merge_elements(m->c, a, b, out);
    out = own(m, out);
    return failed(m) ? NULL : out;
}

/* --- one schema ------------------------------------------------------------------------------- */

static void put_and(struct json *out, const char *key, struct json *schema)
{
    struct json *both = all_of(json_get(out, key), schema);
    json_free(schema);
    json_put(out, key, both);
}

static void put_larger(struct json *out, const char *key, int64_t value)
{
    if (json_number(json_get(out, key), 0) < (double)value)
        json_put(out, key, json_new_int(value));
}

/* Rewrites drafts 4 to 7, in which exclusive bounds were booleans and tuples an array of items. */
static void modernise(struct compiler *c, const struct json *schema, struct json *out)
{
    static const char *const bounds[2][2] = {{"minimum", "exclusiveMinimum"},
                                             {"maximum", "exclusiveMaximum"}};
    for (int i = 0; i < 2; i++) {
        const struct json *exclusive = json_get(schema, bounds[i][1]);
        if (json_kind_of(exclusive) != JSON_KIND_BOOL)
            continue;
        json_remove(out, bounds[i][1]);
        if (json_bool(exclusive, false) && json_get(schema, bounds[i][0])) {
            json_put(out, bounds[i][1], json_clone(json_get(schema, bounds[i][0])));
            json_remove(out, bounds[i][0]);
        }
    }
    const struct json *items = json_get(schema, "items");
    const struct json *more = json_get(schema, "additionalItems");
    if (json_kind_of(items) == JSON_KIND_ARRAY) {
        json_put(out, "prefixItems", json_clone(items));
        json_remove(out, "items");
        if (more)
            json_put(out, "items", json_clone(more));
    }
    json_remove(out, "additionalItems");
    const struct json *constant = json_get(schema, "const");
    if (constant) {
        struct json *list = json_new_array(), *both = NULL;
        json_push(list, json_clone(constant));
        if (json_get(schema, "enum") && !list_has(c, json_get(schema, "enum"), constant))
            both = json_new_array(); /* `const` is not in `enum`: no value is left */
        json_put(out, "enum", both ? both : list);
        if (both)
            json_free(list);
        json_remove(out, "const");
    }
}

static void add_required(struct compiler *c, struct json *out, const struct json *names)
{
    const struct json *now = json_get(out, "required");
    struct json *joined = now ? json_clone(now) : json_new_array();
    for (size_t i = 0; i < json_count(names) && c->status == TD_OK; i++)
        if (!list_has(c, joined, json_at(names, i)))
            json_push(joined, json_clone(json_at(names, i)));
    json_put(out, "required", joined);
}

/* Dependencies always apply here: lists of names become required, schemas go to `parts`, which the
 * caller merges. */
static void unfold_dependencies(struct compiler *c, const struct json *schema, struct json *out,
                                struct json *parts)
{
    static const char *const keys[] = {"dependentRequired", "dependentSchemas", "dependencies"};
    for (int k = 0; k < 3; k++) {
        void *iterator = NULL;
        const char *name;
        const struct json *value;
        while (json_next(json_get(schema, keys[k]), &iterator, &name, &value)) {
            if (json_kind_of(value) == JSON_KIND_ARRAY)
                add_required(c, out, value);
            else
                json_push(parts, json_clone(value));
        }
        json_remove(out, keys[k]);
    }
}

static void unfold_contains(struct merge *m, const struct json *schema, struct json *out)
{
    const struct json *contains = json_get(schema, "contains");
    int64_t least = json_compiler_count(m->c, schema, "minContains");
    int64_t most = json_compiler_count(m->c, schema, "maxContains");
    json_remove(out, "contains");
    json_remove(out, "minContains");
    json_remove(out, "maxContains");
    if (contains == NULL || least == 0)
        return;
    int64_t before = (int64_t)json_count(json_get(out, "prefixItems"));
    put_larger(out, "minItems", before + (least < 0 ? 1 : least));
    put_and(out, "items", json_clone(contains));
    if (most >= 0 && (!json_get(out, "maxItems") ||
                      json_number(json_get(out, "maxItems"), 0) > (double)(before + most)))
        json_put(out, "maxItems", json_new_int(before > 0 ? before : most));
    if (most >= 0 && before > 0)
        json_compiler_fail(m->c, TD_UNSUPPORTED, "maxContains beside prefixItems");
}

/* not {"required": [one]}: the member is left out. not {"type": t}: the other types. */
static void unfold_not(struct merge *m, const struct json *schema, struct json *out)
{
    static const char *const types[] = {"object", "array", "string", "number", "boolean", "null"};
    const struct json *no = json_get(schema, "not");
    const struct json *names = json_get(no, "required"), *type = json_get(no, "type");
    if (no == NULL)
        return;
    json_remove(out, "not");
    if (json_kind_of(no) == JSON_KIND_OBJECT && json_count(no) == 1 && json_count(names) == 1 &&
        json_get(out, "properties")) {
        struct json *members = json_clone(json_get(out, "properties"));
        json_remove(members, json_cstr(json_at(names, 0)) ? json_cstr(json_at(names, 0)) : "");
        json_put(out, "properties", members);
        if (!json_get(out, "additionalProperties"))
            json_put(out, "additionalProperties", json_new_bool(false));
    } else if (json_kind_of(no) == JSON_KIND_OBJECT && json_count(no) == 1 &&
               json_kind_of(type) == JSON_KIND_TEXT && !json_get(out, "type") &&
               !str_equal(json_text(type), STR("integer"))) {
        struct json *others = json_new_array();
        for (int i = 0; i < 6; i++)
            if (!str_equal(json_text(type), str_from(types[i])))
                json_push(others, json_new_cstr(types[i]));
        json_put(out, "type", others);
    } else {
        json_compiler_fail(m->c, TD_UNSUPPORTED, "keyword 'not' is not supported");
    }
}

static void unfold_unevaluated(struct json *out)
{
    static const char *const keys[2][2] = {{"unevaluatedProperties", "additionalProperties"},
                                           {"unevaluatedItems", "items"}};
    for (int i = 0; i < 2; i++) {
        const struct json *value = json_get(out, keys[i][0]);
        if (value && !is_true(value) && !json_get(out, keys[i][1]))
            json_put(out, keys[i][1], json_clone(value));
        json_remove(out, keys[i][0]);
    }
}

/* Merges *flat with another schema, which it flattens first. */
static void merge_in(struct merge *m, struct json **flat, const struct json *schema)
{
    struct json *other = failed(m) ? NULL : flatten(m, schema);
    *flat = other ? merge(m, *flat, other) : NULL;
}

static const struct json *follow(struct merge *m, const struct json *reference)
{
    const struct json *target = json_compiler_resolve(m->c, json_text(reference));
    if (target == NULL)
        json_compiler_fail(m->c, TD_INVALID, "$ref '" STR_FMT "' leads to nothing in this schema",
                           STR_ARG(str_slice(json_text(reference), 0, 80)));
    return target;
}

static struct json *flatten_object(struct merge *m, const struct json *schema)
{
    static const char *const taken[] = {"allOf", "$ref", "if", "then", "else"};
    if (!json_compiler_check_keywords(m->c, schema))
        return NULL;
    struct json *out = json_clone(schema), *parts = json_new_array();
    const struct json *unevaluated[2] = {json_get(schema, "unevaluatedProperties"),
                                         json_get(schema, "unevaluatedItems")};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        json_remove(out, taken[i]);
    json_remove(out, "unevaluatedProperties");
    json_remove(out, "unevaluatedItems");
    modernise(m->c, schema, out);
    unfold_dependencies(m->c, schema, out, parts);
    unfold_contains(m, schema, out);
    unfold_not(m, schema, out);
    const struct json *all = json_get(schema, "allOf"), *condition = json_get(schema, "if");
    if (all && json_kind_of(all) != JSON_KIND_ARRAY)
        json_compiler_fail(m->c, TD_INVALID, "allOf must be an array with a schema");
    struct json *flat = own(m, out);
    for (size_t i = 0; i < json_count(all); i++)
        merge_in(m, &flat, json_at(all, i));
    for (size_t i = 0; i < json_count(parts); i++)
        merge_in(m, &flat, json_at(parts, i));
    if (json_get(schema, "$ref")) {
        const struct json *target = follow(m, json_get(schema, "$ref"));
        if (target)
            merge_in(m, &flat, target);
    }
    if (condition) {
        merge_in(m, &flat, condition);
        if (json_get(schema, "then"))
            merge_in(m, &flat, json_get(schema, "then"));
    }
    json_free(parts);
    if (flat && !failed(m) && (unevaluated[0] || unevaluated[1])) {
        flat = own(m, json_clone(flat));
        if (flat && unevaluated[0])
            json_put(flat, "unevaluatedProperties", json_clone(unevaluated[0]));
        if (flat && unevaluated[1])
            json_put(flat, "unevaluatedItems", json_clone(unevaluated[1]));
        if (flat)
            unfold_unevaluated(flat);
    }
    if (flat && json_kind_of(json_get(flat, "enum")) == JSON_KIND_ARRAY &&
        json_count(json_get(flat, "enum")) == 0)
        m->empty = true;
    return failed(m) ? NULL : flat;
}

static struct json *flatten(struct merge *m, const struct json *schema)
{
    enum json_kind kind = json_kind_of(schema);
    if (is_false(schema))
        m->empty = true;
    if (kind == JSON_KIND_BOOL)
        return m->empty ? NULL : own(m, json_new_object());
    if (kind != JSON_KIND_OBJECT) {
        json_compiler_fail(m->c, TD_INVALID, "a schema must be an object, not %s",
                           json_kind_name(kind));
        return NULL;
    }
    if (m->depth == FLATTEN_DEPTH_MAX) {
        json_compiler_fail(m->c, TD_LIMIT, "it refers to itself without end");
        return NULL;
    }
    m->depth++;
    struct json *flat = flatten_object(m, schema);
    m->depth--;
    return flat;
}

/* --- from outside ----------------------------------------------------------------------------- */

bool json_merge_needed(const struct json *schema)
{
    static const char *const always[] = {"allOf",
                                         "if",
                                         "dependentRequired",
                                         "dependentSchemas",
                                         "dependencies",
                                         "contains",
                                         "not",
                                         "unevaluatedProperties",
                                         "additionalItems",
                                         "minContains",
                                         "maxContains",
                                         "unevaluatedItems",
                                         "then",
                                         "else"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (json_get(schema, always[i]))
            return true;
    return json_kind_of(json_get(schema, "items")) == JSON_KIND_ARRAY ||
           json_kind_of(json_get(schema, "exclusiveMinimum")) == JSON_KIND_BOOL ||
           json_kind_of(json_get(schema, "exclusiveMaximum")) == JSON_KIND_BOOL;
}

const struct json *json_merge_flatten(struct compiler *c, const struct json *schema, bool *empty)
{
    struct merge m = {.c = c};
    const struct json *flat = flatten(&m, schema);
    *empty = m.empty && c->status == TD_OK;
    return flat;
}

const struct json *json_merge_both(struct compiler *c, const struct json *a, const struct json *b,
                                   bool *empty)
{
    ASSERT(a != NULL && b != NULL);
    struct merge m = {.c = c};
    struct json *x = flatten(&m, a), *y = x ? flatten(&m, b) : NULL;
    const struct json *flat = x && y ? merge(&m, x, y) : NULL;
    *empty = m.empty && c->status == TD_OK;
    return flat;
}
