/* Listed values (const, enum) and alternatives (anyOf, oneOf) of a JSON schema.
 *
 * A grammar can say "or", but not "exactly one of". So oneOf is written as "or" only where no value
 * can satisfy two of its alternatives, which types, listed values and required members must show.
 * Otherwise each alternative loses what another one also accepts. Alternatives beside other
 * keywords are each merged with those keywords first (json_merge.c). */
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "engine/grammar/grammar_match.h"
#include "engine/grammar/json_merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DISJOINT_DEPTH_MAX 8
#define ALTERNATIVES_MAX 256
#define PATTERN_COST 400 /* each question compiles a grammar */
#define ONE_OF_MAX 64    /* all pairs are compared */

bool json_compiler_spend(struct compiler *c, uint64_t work)
{
    c->work += work < WORK_MAX ? work : WORK_MAX;
    if (c->work > WORK_MAX)
        json_compiler_fail(c, TD_LIMIT, "the schema takes too much work to compare and merge");
    return c->status == TD_OK;
}

uint64_t json_compiler_cost(const struct json *value)
{
    uint64_t cost = JSON_COST_VALUE;
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    while (json_kind_of(value) == JSON_KIND_OBJECT && json_next(value, &iterator, &name, &member))
        cost += json_compiler_cost(member);
    for (size_t i = 0; json_kind_of(value) == JSON_KIND_ARRAY && i < json_count(value); i++)
        cost += json_compiler_cost(json_at(value, i));
    return cost;
}

static unsigned type_of_value(const struct json *value)
{
    switch (json_kind_of(value)) {
    case JSON_KIND_OBJECT:
        return SCHEMA_OBJECT;
    case JSON_KIND_ARRAY:
        return SCHEMA_ARRAY;
    case JSON_KIND_TEXT:
        return SCHEMA_STRING;
    case JSON_KIND_DOUBLE:
        return SCHEMA_NUMBER;
    case JSON_KIND_INT:
        return SCHEMA_NUMBER | SCHEMA_INTEGER;
    case JSON_KIND_BOOL:
        return SCHEMA_BOOLEAN;
    default:
        return SCHEMA_NULL;
    }
}

bool json_value_fits(struct compiler *c, const struct json *schema, const struct json *value)
{
    static const struct {
        const char *keyword;
        enum schema_type type;
    } unchecked[] = {
        {"pattern", SCHEMA_STRING},
        {"format", SCHEMA_STRING},
        {"multipleOf", SCHEMA_NUMBER},
        {"properties", SCHEMA_OBJECT},
        {"required", SCHEMA_OBJECT},
        {"additionalProperties", SCHEMA_OBJECT},
        {"patternProperties", SCHEMA_OBJECT},
        {"propertyNames", SCHEMA_OBJECT},
        {"items", SCHEMA_ARRAY},
        {"prefixItems", SCHEMA_ARRAY},
        {"minItems", SCHEMA_ARRAY},
        {"maxItems", SCHEMA_ARRAY},
        {"uniqueItems", SCHEMA_ARRAY},
        {"minProperties", SCHEMA_OBJECT},
        {"maxProperties", SCHEMA_OBJECT},
    };
    unsigned type = type_of_value(value);
    const struct json *types = json_get(schema, "type");
    if (types && !(json_compiler_types(c, types) & type))
        return false;
    for (size_t i = 0; i < sizeof unchecked / sizeof *unchecked; i++)
        if (type & unchecked[i].type && json_get(schema, unchecked[i].keyword))
            return json_compiler_fail(c, TD_UNSUPPORTED, "'%s' beside listed values",
                                      unchecked[i].keyword);
    double low = json_number(json_get(schema, "minimum"), -HUGE_VAL);
    double above = json_number(json_get(schema, "exclusiveMinimum"), -HUGE_VAL);
    double high = json_number(json_get(schema, "maximum"), HUGE_VAL);
    double below = json_number(json_get(schema, "exclusiveMaximum"), HUGE_VAL);
    double number = json_number(value, 0);
    if (type & SCHEMA_NUMBER)
        return number >= low && number > above && number <= high && number < below;
    if (!(type & SCHEMA_STRING))
        return true;
    size_t length = 0, at = 0;
    for (struct td_str text = json_text(value); at < text.len; length++)
        utf8_next(text, &at);
    return (double)length >= json_number(json_get(schema, "minLength"), 0) &&
           (double)length <= json_number(json_get(schema, "maxLength"), HUGE_VAL);
}

void json_write_values(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *list = json_get(schema, "enum"), *constant = json_get(schema, "const");
    const struct json *type = json_get(schema, "type");
    unsigned types = type ? json_compiler_types(c, type) : ~0u;
    bool any = false;
    if (!constant && json_kind_of(list) != JSON_KIND_ARRAY) {
        json_compiler_fail(c, TD_INVALID, "enum must be an array");
        return;
    }
    for (size_t i = 0; i < (constant ? 1 : json_count(list)); i++) {
        const struct json *value = constant ? constant : json_at(list, i);
        if (!(types & type_of_value(value)) || !json_value_fits(c, schema, value))
            continue;
        if (any)
            buf_append_str(body, STR(" | "));
        json_compiler_put_value(c, body, value);
        any = true;
    }
    if (!any)
        json_compiler_fail(c, TD_INVALID, "no value is allowed");
}

/* --- alternatives ----------------------------------------------------------------------------- */

/* The values that `const` or `enum` lists; returns their number, 0 = the schema lists none. */
static size_t listed_values(const struct json *schema, const struct json **list)
{
    const struct json *constant = json_get(schema, "const");
    *list = constant ? constant : json_get(schema, "enum");
    return constant ? 1 : json_count(*list);
}

static bool values_meet(struct compiler *c, const struct json *a, size_t a_count,
                        const struct json *b, size_t b_count, bool a_const, bool b_const)
{
    for (size_t i = 0; i < a_count && c->status == TD_OK; i++)
        for (size_t j = 0; j < b_count && c->status == TD_OK; j++)
            if (json_merge_equal(c, a_const ? a : json_at(a, i), b_const ? b : json_at(b, j)))
                return true;
    return false;
}

static unsigned possible_types(const struct json *schema)
{
    const struct json *list;
    size_t count = listed_values(schema, &list);
    unsigned types = 0;
    if (count == 0)
        return json_get(schema, "type") ? json_compiler_types(NULL, json_get(schema, "type")) : ~0u;
    for (size_t i = 0; i < count; i++)
        types |= type_of_value(json_get(schema, "const") ? list : json_at(list, i));
    return types;
}

/* Whether no value satisfies both, as far as types, listed values and required members show. */
static bool disjoint(struct compiler *c, const struct json *a, const struct json *b, int depth)
{
    for (int i = 0; i < DISJOINT_DEPTH_MAX && json_get(a, "$ref"); i++)
        a = json_compiler_resolve(c, json_text(json_get(a, "$ref")));
    for (int i = 0; i < DISJOINT_DEPTH_MAX && json_get(b, "$ref"); i++)
        b = json_compiler_resolve(c, json_text(json_get(b, "$ref")));
    if (!json_compiler_spend(c, JSON_COST_VALUE) || depth == 0 ||
        json_kind_of(a) != JSON_KIND_OBJECT || json_kind_of(b) != JSON_KIND_OBJECT)
        return false;
    unsigned x = possible_types(a), y = possible_types(b);
    x |= x & SCHEMA_NUMBER ? SCHEMA_INTEGER : 0u; /* an integer is a number */
    y |= y & SCHEMA_NUMBER ? SCHEMA_INTEGER : 0u;
    if (!(x & y))
        return true;
    const struct json *a_list, *b_list;
    size_t a_count = listed_values(a, &a_list), b_count = listed_values(b, &b_list);
    if (a_count && b_count)
        return !values_meet(c, a_list, a_count, b_list, b_count, json_get(a, "const") != NULL,
                            json_get(b, "const") != NULL);
    if ((x & y) != SCHEMA_OBJECT)
        return false;
    const struct json *required = json_get(a, "required");
    for (size_t i = 0; i < json_count(required) && json_compiler_spend(c, 1); i++) {
        const char *name = json_cstr(json_at(required, i));
        const struct json *p = name ? json_get(json_get(a, "properties"), name) : NULL;
        const struct json *q = name ? json_get(json_get(b, "properties"), name) : NULL;
        if (p && q && disjoint(c, p, q, depth - 1))
            return true;
    }
    return false;
}

static const char *const alternatives_keyword[] = {
    [ALTERNATIVES_ANY_OF] = "anyOf", [ALTERNATIVES_ONE_OF] = "oneOf"};

static const struct json *alternatives_of(struct compiler *c, const struct json *schema,
                                          enum alternatives kind)
{
    const char *keyword = alternatives_keyword[kind];
    const struct json *list = json_get(schema, keyword);
    bool one_of = kind == ALTERNATIVES_ONE_OF;
    size_t count = json_count(list);
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0)
        json_compiler_fail(c, TD_INVALID, "%s must be an array with a schema", keyword);
    else if (count > (one_of ? ONE_OF_MAX : ALTERNATIVES_MAX))
        json_compiler_fail(c, TD_LIMIT, "%s with more than %d schemas", keyword,
                           one_of ? ONE_OF_MAX : ALTERNATIVES_MAX);
    return c->status == TD_OK ? list : NULL;
}

static bool all_disjoint(struct compiler *c, const struct json *list)
{
    for (size_t i = 1; i < json_count(list); i++)
        for (size_t j = 0; j < i; j++)
            if (!disjoint(c, json_at(list, i), json_at(list, j), DISJOINT_DEPTH_MAX))
                return false;
    return true;
}

/* Alternative `index` as a rule of its own. */
static void write_alternative(struct compiler *c, const struct json *schema, enum alternatives kind,
                              size_t index, struct buf *body)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", index);
    unsigned rule = json_compiler_sub_schema(c, schema, alternatives_keyword[kind], str_from(name));
    buf_printf(body, "%sr%u", index ? " | " : "", rule);
}

void json_write_alternatives(struct compiler *c, const struct json *schema, enum alternatives kind,
                             struct buf *body)
{
    const struct json *list = alternatives_of(c, schema, kind);
    if (list && kind == ALTERNATIVES_ONE_OF && !all_disjoint(c, list)) {
        json_write_distributed(c, schema, kind, body);
        return;
    }
    for (size_t i = 0; list && i < json_count(list) && c->status == TD_OK; i++)
        write_alternative(c, json_at(list, i), kind, i, body);
}

static struct json *keep(struct compiler *c, struct json *schema)
{
    if (schema && c->owned_count < OWNED_MAX) {
        c->owned[c->owned_count++] = schema;
        return json_compiler_spend(c, json_compiler_cost(schema)) ? schema : NULL;
    }
    json_free(schema);
    json_compiler_fail(c, TD_LIMIT, "the alternatives make more than %d schemas", OWNED_MAX);
    return NULL;
}

static bool requires(struct compiler *c, const struct json *schema, struct td_str name)
{
    const struct json *required = json_get(schema, "required");
    for (size_t i = 0; i < json_count(required) && json_compiler_spend(c, 1); i++)
        if (str_equal(json_text(json_at(required, i)), name))
            return true;
    return false;
}

/* Narrows `one` so that none of its values satisfies `other`, by leaving out a member that only
 * `other` requires. NULL when there is no such member. */
static const struct json *exclude(struct compiler *c, const struct json *one,
                                  const struct json *other)
{
    if (possible_types(one) != 1 || json_get(one, "patternProperties") || json_get(one, "anyOf") ||
        json_get(one, "oneOf"))
        return NULL;
    const struct json *required = json_get(other, "required");
    for (size_t i = 0; i < json_count(required) && json_compiler_spend(c, 1); i++) {
        const char *name = json_cstr(json_at(required, i));
        if (name == NULL || requires(c, one, str_from(name)))
            continue;
        struct json *smaller = json_clone(one);
        const struct json *properties = json_get(one, "properties");
        struct json *members = properties ? json_clone(properties) : json_new_object();
        json_remove(members, name);
        json_put(smaller, "properties", members);
        json_put(smaller, "additionalProperties", json_new_bool(false));
        return keep(c, smaller);
    }
    return NULL;
}

/* Narrows each alternative to values that no other one accepts. Alternatives of which nothing is
 * left are dropped. Returns how many stay. */
static size_t separate(struct compiler *c, const struct json **list, size_t count)
{
    const struct json *apart[ONE_OF_MAX];
    size_t kept = 0, last[2] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct json *part = list[i];
        for (size_t j = 0; part && j < count && c->status == TD_OK; j++) {
            if (i == j || disjoint(c, part, list[j], DISJOINT_DEPTH_MAX))
                continue;
            part = exclude(c, part, list[j]);
            last[0] = i;
            last[1] = j;
        }
        if (part)
            apart[kept++] = part;
    }
    memcpy(list, apart, kept * sizeof *list);
    if (kept == 0)
        json_compiler_fail(c, TD_UNSUPPORTED, "oneOf: schemas %zu and %zu may both hold; use anyOf",
                           last[1], last[0]);
    return kept;
}

/* Alternatives that no value satisfies are dropped. */
void json_write_distributed(struct compiler *c, const struct json *schema, enum alternatives kind,
                            struct buf *body)
{
    const struct json *list = alternatives_of(c, schema, kind);
    const struct json *merged[ALTERNATIVES_MAX];
    struct json *beside = list ? keep(c, json_clone(schema)) : NULL;
    size_t count = 0;
    if (beside == NULL)
        return;
    json_remove(beside, alternatives_keyword[kind]);
    for (size_t i = 0; i < json_count(list) && c->status == TD_OK; i++) {
        bool empty = false;
        const struct json *both = json_merge_both(c, beside, json_at(list, i), &empty);
        if (both)
            merged[count++] = both;
    }
    if (count == 0)
        json_compiler_fail(c, TD_INVALID, "no value satisfies all of its keywords");
    else if (kind == ALTERNATIVES_ONE_OF)
        count = separate(c, merged, count);
    for (size_t i = 0; i < count && c->status == TD_OK; i++)
        write_alternative(c, merged[i], kind, i, body);
}

/* --- patterns of names ------------------------------------------------------------------------ */

bool json_pattern_matches(struct compiler *c, struct td_str pattern, struct td_str name,
                          bool *matches)
{
    struct buf text;
    struct td_grammar *grammar = NULL;
    struct matcher *matcher = NULL;
    const char *reason = NULL;
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.data[i] < 0x20 || name.data[i] == '"' || name.data[i] == '\\' ||
            name.data[i] == 0x7F)
            return false;
    if (!json_compiler_spend(c, PATTERN_COST))
        return false;
    buf_init(&text, BODY_BYTES_MAX);
    buf_append_str(&text, STR("root ::= "));
    bool known = json_pattern_write(pattern, &text, &reason);
    buf_append_str(&text, STR("\n"));
    json_compiler_put_base(&text, false);
    known = known && !text.failed &&
            grammar_compile(buf_view(&text), JSON_SCHEMA_DEPTH_MAX, &grammar, NULL) == TD_OK &&
            matcher_new(grammar, &matcher, NULL) == TD_OK;
    if (known) {
        uint32_t set = matcher_start(matcher);
        for (size_t i = 0; i < name.len && set != MATCH_DEAD && set != MATCH_FULL; i++)
            set = matcher_step(matcher, set, (unsigned char)name.data[i]);
        known = set != MATCH_FULL;
        *matches = set != MATCH_DEAD && known && matcher_may_end(matcher, set);
    }
    matcher_free(matcher);
    td_grammar_free(grammar);
    buf_deinit(&text);
    return known;
}
