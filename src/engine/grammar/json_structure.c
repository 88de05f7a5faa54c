/* Writes the objects and arrays of a JSON schema as rules. Members come in the order of the schema,
 * because a grammar that allowed every order of n members would need 2^n rules; in one order it
 * needs 3n. For the same reason unique elements come in the order of their listed values. */
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "engine/grammar/json_merge.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBERS_MAX 1000
#define UNIQUE_VALUES_MAX 64
#define KEY_BYTES_MAX 200 /* of a name that additional members must not have */

/* --- objects ---------------------------------------------------------------------------------- */

struct member {
    struct td_str name;
    unsigned rule;
    bool required;
};

static int compare_members(const void *a, const void *b)
{
    struct td_str x = ((const struct member *)a)->name, y = ((const struct member *)b)->name;
    int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);
    return order ? order : (x.len > y.len) - (x.len < y.len);
}

/* members[low..high) share their first `depth` bytes. Writes the rule of everything that may follow
 * these bytes so that the name differs from all of theirs, with the closing quote. */
static void write_other_names(struct compiler *c, const struct member *members, size_t low,
                              size_t high, size_t depth, unsigned rule)
{
    struct buf body, excluded;
    buf_init(&body, BODY_BYTES_MAX);
    buf_init(&excluded, BODY_BYTES_MAX);
    bool is_name = low < high && members[low].name.len == depth;
    low += is_name;
    if (!is_name)
        buf_append_str(&body, STR("\"\\\"\" | "));
    for (size_t end; low < high && c->status == TD_OK; low = end) {
        size_t after = depth;
        uint32_t code = utf8_next(members[low].name, &after);
        for (end = low + 1; end < high; end++) {
            size_t other = depth;
            if (utf8_next(members[end].name, &other) != code)
                break;
        }
        unsigned next = c->rule_count++;
        buf_printf(&excluded, "\\U%08X", code);
        json_schema_literal(&body, str_slice(members[low].name, depth, after));
        buf_printf(&body, " r%u | ", next);
        write_other_names(c, members, low, end, after, next);
    }
    buf_printf(&body, "[^\"\\\\\\x00-\\x1f\\x7f" STR_FMT "] plain* \"\\\"\"",
               STR_ARG(buf_view(&excluded)));
    json_compiler_put_rule(c, rule, &body);
    buf_deinit(&body);
    buf_deinit(&excluded);
}

/* The rule of a name, with its quotes, that is no member's name. Such names are written without
 * escapes, so they always differ from members whose names need one. */
static unsigned other_names(struct compiler *c, const struct member *members, size_t count)
{
    unsigned rule = c->rule_count++, rest = c->rule_count++;
    struct member *plain = calloc(count + 1, sizeof *plain);
    size_t kept = 0;
    for (size_t i = 0; plain && i < count; i++) {
        struct td_str name = members[i].name;
        bool escaped = false;
        for (size_t b = 0; b < name.len; b++) {
            unsigned char byte = (unsigned char)name.data[b];
            escaped = escaped || byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\';
        }
        if (!escaped && name.len > KEY_BYTES_MAX)
            json_compiler_fail(c, TD_LIMIT,
                               "a name of more than %d bytes beside additionalProperties",
                               KEY_BYTES_MAX);
        if (!escaped)
            plain[kept++] = members[i];
    }
    if (plain == NULL)
        json_compiler_fail(c, TD_NO_MEMORY, "no memory");
    if (c->status == TD_OK) {
        qsort(plain, kept, sizeof *plain, compare_members);
        buf_printf(c->out, "r%u ::= \"\\\"\" r%u\n", rule, rest);
        write_other_names(c, plain, 0, kept, 0, rest);
    }
    free(plain);
    return rule;
}

static struct member *add_member(struct compiler *c, struct member *members, size_t *count,
                                 struct td_str name)
{
    if (*count == MEMBERS_MAX) {
        json_compiler_fail(c, TD_LIMIT, "more than %d members", MEMBERS_MAX);
        return NULL;
    }
    members[*count] = (struct member){.name = name};
    return &members[(*count)++];
}

/* If a pattern also matches the name of a member, both schemas apply. NULL = neither does. */
static const struct json *with_patterns(struct compiler *c, const struct json *schema,
                                        const char *name, const struct json *own)
{
    void *iterator = NULL;
    const char *pattern;
    const struct json *value;
    const struct json *patterns = json_get(schema, "patternProperties");
    while (json_next(patterns, &iterator, &pattern, &value)) {
        bool matches = false, empty = false;
        if (!json_pattern_matches(c, str_from(pattern), str_from(name), &matches)) {
            json_compiler_fail(c, TD_UNSUPPORTED, "patternProperties '%.60s'", pattern);
            return own;
        }
        if (!matches)
            continue;
        own = json_merge_both(c, own, value, &empty);
        if (empty)
            json_compiler_fail(c, TD_INVALID, "no value of '%.60s' satisfies its pattern", name);
        if (own == NULL)
            return NULL;
    }
    return own;
}

static bool read_members(struct compiler *c, const struct json *schema, struct member *members,
                         size_t *count)
{
    const struct json *properties = json_get(schema, "properties"), *value;
    const struct json *required = json_get(schema, "required");
    const struct json *additional = json_get(schema, "additionalProperties");
    void *iterator = NULL;
    const char *key;
    if (properties && json_kind_of(properties) != JSON_KIND_OBJECT)
        return json_compiler_fail(c, TD_INVALID, "properties must be an object");
    if (required && json_kind_of(required) != JSON_KIND_ARRAY)
        return json_compiler_fail(c, TD_INVALID, "required must be an array");
    while (json_next(properties, &iterator, &key, &value)) {
        struct member *member = add_member(c, members, count, str_from(key));
        if (member == NULL)
            return false;
        for (size_t i = 0; i < json_count(required); i++)
            member->required |= str_equal(json_text(json_at(required, i)), member->name);
        value = with_patterns(c, schema, key, value);
        if (c->status != TD_OK)
            return false;
        member->rule = json_compiler_sub_schema(c, value, "properties", member->name);
    }
    for (size_t i = 0; i < json_count(required); i++) {
        struct td_str name = json_text(json_at(required, i));
        bool known = false;
        if (json_kind_of(json_at(required, i)) != JSON_KIND_TEXT)
            return json_compiler_fail(c, TD_INVALID, "required must name members");
        for (size_t m = 0; m < *count; m++)
            known |= str_equal(members[m].name, name);
        if (known)
            continue;
        if (json_kind_of(additional) == JSON_KIND_BOOL && !json_bool(additional, true))
            return json_compiler_fail(
                c, TD_INVALID, "'" STR_FMT "' is required, but additionalProperties forbids it",
                STR_ARG(str_slice(name, 0, 60)));
        struct member *member = add_member(c, members, count, name);
        if (member == NULL)
            return false;
        member->required = true;
        member->rule = c->rule_count++;
        json_compiler_write(c, additional, member->rule); /* NULL: any value */
    }
    return c->status == TD_OK;
}

/* rM(i): member i; rH(i): no member is written yet and i is next; rT(i): some are written and i is
 * next. So n members make 3n small rules, whichever of them are optional. */
static void write_members(struct compiler *c, const struct member *members, size_t count,
                          unsigned other, unsigned first_head)
{
    unsigned heads = first_head, tails = c->rule_count, parts = tails + (unsigned)count + 1;
    c->rule_count = parts + (unsigned)count;
    bool head_due = true;
    for (size_t i = 0; i < count; i++) {
        unsigned n = (unsigned)i;
        struct buf name;
        buf_init(&name, BODY_BYTES_MAX);
        json_write_text(members[i].name, &name);
        buf_printf(c->out, "r%u ::= ", parts + n);
        json_schema_literal(c->out, buf_view(&name));
        buf_printf(c->out, " \":\" sp r%u\n", members[i].rule);
        buf_deinit(&name);
        if (head_due)
            buf_printf(c->out, "r%u ::= r%u r%u", heads + n, parts + n, tails + n + 1);
        head_due = head_due && !members[i].required;
        if (head_due)
            buf_printf(c->out, " | r%u", heads + n + 1);
        buf_printf(c->out, "\nr%u ::= \",\" sp r%u r%u", tails + n, parts + n, tails + n + 1);
        if (!members[i].required)
            buf_printf(c->out, " | r%u", tails + n + 1);
        buf_append_char(c->out, '\n');
    }
    unsigned n = (unsigned)count;
    if (head_due && other)
        buf_printf(c->out, "r%u ::= \"}\" | r%u (\",\" sp r%u)* ws \"}\"\n", heads + n, other,
                   other);
    else if (head_due)
        buf_printf(c->out, "r%u ::= \"}\"\n", heads + n);
    if (other)
        buf_printf(c->out, "r%u ::= (\",\" sp r%u)* ws \"}\"\n", tails + n, other);
    else
        buf_printf(c->out, "r%u ::= ws \"}\"\n", tails + n);
}

/* Keeps the number of members between minProperties and maxProperties: in the order of the schema,
 * optional members become required or are left out. counts: -1 = no limit. */
static void fit_counts(struct compiler *c, struct member *members, size_t *count, bool open,
                       const int64_t counts[2])
{
    int64_t required = 0;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        required += members[i].required;
    for (size_t i = 0; i < *count && counts[0] > required; i++) {
        required += !members[i].required;
        members[i].required = true;
    }
    if (counts[0] > required && !(open && *count == 0 && counts[0] == 1))
        json_compiler_fail(c, TD_UNSUPPORTED, "minProperties above the number of named members");
    if (counts[1] >= 0 && required > counts[1])
        json_compiler_fail(c, TD_INVALID, "maxProperties is below what is required");
    int64_t spare = counts[1] < 0 ? INT64_MAX : counts[1] - required;
    for (size_t i = 0; i < *count; i++)
        if (members[i].required || spare-- > 0)
            members[kept++] = members[i];
    *count = kept;
}

/* Writes members of any name. A name that comes twice counts once, so a minimum above 1 cannot be
 * enforced. */
static void write_map(unsigned other, const int64_t counts[2], struct buf *body)
{
    if (counts[1] == 0) {
        buf_append_str(body, STR("\"{\" ws \"}\""));
        return;
    }
    buf_printf(body, "\"{\" ws (%sr%u (\",\" sp r%u)", counts[0] > 0 ? "" : "\"}\" | ", other,
               other);
    json_compiler_put_counts(body, 0, counts[1] < 0 ? -1 : counts[1] - 1);
    buf_append_str(body, STR(" ws \"}\")"));
}

/* The rule of the names that the only pattern of patternProperties allows; *value: the rule of
 * their values. 0 with a failure. */
static unsigned pattern_names(struct compiler *c, const struct json *schema,
                              const struct json *patterns, unsigned *value)
{
    void *iterator = NULL;
    const char *pattern = "", *reason = NULL;
    const struct json *sub;
    struct buf body;
    if (json_count(patterns) > 1 || json_get(schema, "propertyNames")) {
        json_compiler_fail(c, TD_UNSUPPORTED, "several patternProperties without properties");
        return 0;
    }
    json_next(patterns, &iterator, &pattern, &sub);
    *value = json_compiler_sub_schema(c, sub, "patternProperties", str_from(pattern));
    unsigned rule = c->rule_count++;
    buf_init(&body, BODY_BYTES_MAX);
    buf_append_str(&body, STR("\"\\\"\" "));
    if (!json_pattern_write(str_from(pattern), &body, &reason))
        json_compiler_fail(c, TD_UNSUPPORTED, "patternProperties is not supported with %s", reason);
    buf_append_str(&body, STR(" \"\\\"\""));
    if (c->status == TD_OK)
        json_compiler_put_rule(c, rule, &body);
    buf_deinit(&body);
    return rule;
}

/* The names that propertyNames allows, as a schema of strings. */
static unsigned asked_names(struct compiler *c, const struct json *schema, size_t named)
{
    struct json *strings = json_new_object();
    bool empty = false;
    json_put(strings, "type", json_new_cstr("string"));
    const struct json *both =
        json_merge_both(c, strings, json_get(schema, "propertyNames"), &empty);
    json_free(strings);
    if (named > 0 || empty)
        json_compiler_fail(c, TD_UNSUPPORTED, "propertyNames beside required members");
    return both ? json_compiler_sub_schema(c, both, "propertyNames", STR("")) : 0;
}

void json_write_object(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *additional = json_get(schema, "additionalProperties");
    struct member *members = calloc(MEMBERS_MAX, sizeof *members);
    size_t count = 0;
    unsigned other = 0;
    if (members == NULL)
        json_compiler_fail(c, TD_NO_MEMORY, "no memory");
    if (members == NULL || !read_members(c, schema, members, &count))
        goto out;
    bool open = additional
                    ? json_kind_of(additional) != JSON_KIND_BOOL || json_bool(additional, true)
                    : json_get(schema, "properties") == NULL;
    const struct json *patterns = json_get(schema, "patternProperties");
    if (json_count(patterns) > 0)
        open = json_get(schema, "properties") == NULL; /* only named members or only patterns */
    int64_t counts[2] = {json_compiler_count(c, schema, "minProperties"),
                         json_compiler_count(c, schema, "maxProperties")};
    if ((counts[1] >= 0 || c->strict) && count > 0)
        open = false; /* the named ones are enough */
    fit_counts(c, members, &count, open, counts);
    if (open && c->status == TD_OK) {
        unsigned value = 0, name = 0;
        if (json_count(patterns) > 0)
            name = pattern_names(c, schema, patterns, &value);
        else
            value = json_compiler_sub_schema(c, additional, "additionalProperties", STR(""));
        if (name == 0)
            name = json_get(schema, "propertyNames") ? asked_names(c, schema, count)
                                                     : other_names(c, members, count);
        other = c->rule_count++;
        buf_printf(c->out, "r%u ::= r%u \":\" sp r%u\n", other, name, value);
    } else if (json_get(schema, "propertyNames")) {
        json_compiler_fail(c, TD_UNSUPPORTED, "propertyNames beside properties");
    }
    if (other && count == 0) {
        write_map(other, counts, body);
        goto out;
    }
    unsigned heads = c->rule_count;
    c->rule_count += (unsigned)count + 1;
    if (c->status == TD_OK)
        write_members(c, members, count, other, heads);
    buf_printf(body, "\"{\" ws r%u", heads);
out:
    free(members);
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* Writes elements that each have a schema of their own. Rule i is what follows i elements; from the
 * minimum on that may be the end. */
static void write_tuple(struct compiler *c, const struct json *prefix, const struct json *items,
                        const int64_t counts[2], struct buf *body)
{
    int64_t count = (int64_t)json_count(prefix), least = counts[0];
    int64_t most = counts[1] < 0 ? INT64_MAX : counts[1];
    bool more =
        items ? json_kind_of(items) != JSON_KIND_BOOL || json_bool(items, true) : least > count;
    if (!more && least > count) {
        json_compiler_fail(c, TD_INVALID,
                           "minItems is above the number of elements that there may be");
        return;
    }
    count = count < most ? count : most;
    unsigned first = c->rule_count;
    c->rule_count += (unsigned)count + 1;
    for (int64_t i = 0; i < count && c->status == TD_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        unsigned element =
            json_compiler_sub_schema(c, json_at(prefix, (size_t)i), "prefixItems", str_from(name));
        buf_printf(c->out, "r%u ::= %sr%u r%u", first + (unsigned)i, i ? "\",\" sp " : "", element,
                   first + (unsigned)i + 1);
        buf_append_str(c->out, i >= least ? STR(" | ws \"]\"\n") : STR("\n"));
    }
    buf_printf(c->out, "r%u ::=", first + (unsigned)count);
    if (more && most > count) {
        unsigned element = c->rule_count++, start = (unsigned)count;
        buf_printf(c->out, " (%sr%u)", start ? "\",\" sp " : "", element);
        json_compiler_put_counts(c->out, least > count ? least - count : 0,
                                 counts[1] < 0 ? -1 : most - count);
        buf_append_str(c->out, STR(" ws \"]\"\n"));
        json_compiler_write(c, items, element);
    } else {
        buf_append_str(c->out, STR(" ws \"]\"\n"));
    }
    buf_printf(body, "\"[\" ws r%u", first);
}

/* The listed values that the elements are taken from, or NULL. */
static const struct json *element_values(struct compiler *c, const struct json *items)
{
    bool empty = false;
    const struct json *flat = items ? json_merge_flatten(c, items, &empty) : NULL;
    const struct json *list = json_get(flat, "enum");
    bool booleans = str_equal(json_text(json_get(flat, "type")), STR("boolean"));
    if ((list == NULL && !booleans) || c->owned_count == OWNED_MAX)
        return NULL;
    struct json *values = json_new_array();
    c->owned[c->owned_count++] = values;
    for (int i = 0; list == NULL && i < 2; i++)
        json_push(values, json_new_bool(i));
    for (size_t i = 0; i < json_count(list); i++)
        if (json_value_fits(c, flat, json_at(list, i)))
            json_push(values, json_clone(json_at(list, i)));
    return values;
}

/* Writes elements that all differ, from a list of values. Each value may come once, in the order of
 * the list. Rule (i, n): n values are written and value i is next. */
static void write_unique(struct compiler *c, const struct json *items, const int64_t counts[2],
                         struct buf *body)
{
    const struct json *values = element_values(c, items);
    size_t count = json_count(values), least = (size_t)counts[0];
    size_t most = counts[1] < 0 || (size_t)counts[1] > count ? count : (size_t)counts[1];
    if (values == NULL || count > UNIQUE_VALUES_MAX) {
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "uniqueItems is only supported for elements of at most %d listed values",
                           UNIQUE_VALUES_MAX);
        return;
    }
    bool twice = false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            twice = twice || json_merge_equal(c, json_at(values, i), json_at(values, j));
    if (least > most || twice) {
        json_compiler_fail(c, TD_INVALID, "minItems is above the number of different elements");
        return;
    }
    unsigned first = c->rule_count, wide = (unsigned)most + 1;
    c->rule_count += (unsigned)(count + 1) * wide;
    for (size_t i = 0; i <= count; i++)
        for (size_t n = 0; n <= most && n <= i; n++) {
            if (n + (count - i) < least)
                continue; /* too few values are left for the minimum */
            struct buf rule;
            bool any = false;
            buf_init(&rule, BODY_BYTES_MAX);
            if (i < count && n < most) {
                buf_append_str(&rule, n ? STR("\",\" sp ") : STR(""));
                json_compiler_put_value(c, &rule, json_at(values, i));
                buf_printf(&rule, " r%u", first + (unsigned)(i + 1) * wide + (unsigned)n + 1);
                any = true;
            }
            if (i < count && n + (count - i - 1) >= least) {
                buf_printf(&rule, "%sr%u", any ? " | " : "",
                           first + (unsigned)(i + 1) * wide + (unsigned)n);
                any = true;
            }
            if (i == count)
                buf_append_str(&rule, STR("ws \"]\""));
            json_compiler_put_rule(c, first + (unsigned)i * wide + (unsigned)n, &rule);
            buf_deinit(&rule);
        }
    buf_printf(body, "\"[\" ws r%u", first);
}

void json_write_array(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *items = json_get(schema, "items");
    const struct json *prefix = json_get(schema, "prefixItems");
    int64_t counts[2];
    if (!json_compiler_counts(c, schema, "minItems", "maxItems", counts))
        return;
    if (prefix && json_kind_of(prefix) != JSON_KIND_ARRAY) {
        json_compiler_fail(c, TD_INVALID, "prefixItems must be an array");
        return;
    }
    bool unique = json_bool(json_get(schema, "uniqueItems"), false) && counts[1] != 0;
    if (unique && counts[1] != 1) {
        write_unique(c, prefix ? NULL : items, counts, body);
        return;
    }
    if (json_count(prefix) > 0) {
        write_tuple(c, prefix, items, counts, body);
        return;
    }
    bool none = json_kind_of(items) == JSON_KIND_BOOL && !json_bool(items, true);
    if (none && counts[0] > 0) {
        json_compiler_fail(c, TD_INVALID, "minItems where items is false");
        return;
    }
    if (none || counts[1] == 0) {
        buf_append_str(body, STR("\"[\" ws \"]\""));
        return;
    }
    unsigned element = json_compiler_sub_schema(c, items, "items", STR(""));
    buf_printf(body, "\"[\" ws (%sr%u (\",\" sp r%u)", counts[0] ? "" : "\"]\" | ", element,
               element);
    json_compiler_put_counts(body, counts[0] > 1 ? counts[0] - 1 : 0,
                             counts[1] < 0 ? -1 : counts[1] - 1);
    buf_append_str(body, STR(" ws \"]\")"));
}
