/* Objects and arrays of a JSON schema as rules. */
#include "base/str.h"
#include "base/utf8.h"
#include "engine/json_schema_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBERS_MAX 1000
#define KEY_BYTES_MAX 200 /* of names that other members must not have */

/* --- objects ------------------------------------------------------------------------------------- */

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

/* Rule `name`: what may follow the first `depth` bytes of members[low..high), which all share them, so that
 * the whole is none of their names; then the closing quote. */
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

/* The rule of a name that is none of the members', quotes included. Other names are written without
 * escapes, so members whose names need one are different anyway. */
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
        json_compiler_write(c, additional, member->rule); /* none: anything */
    }
    return c->status == TD_OK;
}

/* rM: one member; rH(i): nothing is written and member i is next; rT(i): something is. A list of n members is
 * 3n small rules, whichever of them are optional. */
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
        buf_printf(c->out, " \":\" ws r%u\n", members[i].rule);
        buf_deinit(&name);
        if (head_due)
            buf_printf(c->out, "r%u ::= r%u r%u", heads + n, parts + n, tails + n + 1);
        head_due = head_due && !members[i].required;
        if (head_due)
            buf_printf(c->out, " | r%u", heads + n + 1);
        buf_printf(c->out, "\nr%u ::= \",\" ws r%u r%u", tails + n, parts + n, tails + n + 1);
        if (!members[i].required)
            buf_printf(c->out, " | r%u", tails + n + 1);
        buf_append_char(c->out, '\n');
    }
    unsigned n = (unsigned)count;
    if (head_due && other)
        buf_printf(c->out, "r%u ::= \"}\" | r%u (\",\" ws r%u)* ws \"}\"\n", heads + n, other,
                   other);
    else if (head_due)
        buf_printf(c->out, "r%u ::= \"}\"\n", heads + n);
    if (other)
        buf_printf(c->out, "r%u ::= (\",\" ws r%u)* ws \"}\"\n", tails + n, other);
    else
        buf_printf(c->out, "r%u ::= ws \"}\"\n", tails + n);
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
    size_t required = 0;
    for (size_t i = 0; i < count; i++)
        required += members[i].required;
    int64_t least = json_compiler_count(c, schema, "minProperties");
    int64_t most = json_compiler_count(c, schema, "maxProperties");
    if (least > (int64_t)required)
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "minProperties above the number of required members is not "
                           "supported");
    if (most >= 0 && (open || most < (int64_t)count))
        json_compiler_fail(c, TD_UNSUPPORTED,
                           "maxProperties below what the members may be is not "
                           "supported");
    if (open && c->status == TD_OK) {
        unsigned value = json_compiler_sub_schema(c, additional, "additionalProperties", STR(""));
        unsigned name = other_names(c, members, count);
        other = c->rule_count++;
        buf_printf(c->out, "r%u ::= r%u \":\" ws r%u\n", other, name, value);
    }
    unsigned heads = c->rule_count;
    c->rule_count += (unsigned)count + 1;
    if (c->status == TD_OK)
        write_members(c, members, count, other, heads);
    buf_printf(body, "\"{\" ws r%u", heads);
out:
    free(members);
}

/* --- arrays -------------------------------------------------------------------------------------- */

/* Elements with a schema each: rule i is what follows i elements, which may be the end from `least` on. */
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
        buf_printf(c->out, "r%u ::= %sr%u r%u", first + (unsigned)i, i ? "\",\" ws " : "", element,
                   first + (unsigned)i + 1);
        buf_append_str(c->out, i >= least ? STR(" | ws \"]\"\n") : STR("\n"));
    }
    buf_printf(c->out, "r%u ::=", first + (unsigned)count);
    if (more && most > count) {
        unsigned element = c->rule_count++, start = (unsigned)count;
        buf_printf(c->out, " (%sr%u)", start ? "\",\" ws " : "", element);
        json_compiler_put_counts(c->out, least > count ? least - count : 0,
                                 counts[1] < 0 ? -1 : most - count);
        buf_append_str(c->out, STR(" ws \"]\"\n"));
        json_compiler_write(c, items, element);
    } else {
        buf_append_str(c->out, STR(" ws \"]\"\n"));
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
    buf_printf(body, "\"[\" ws (%sr%u (\",\" ws r%u)", counts[0] ? "" : "\"]\" | ", element,
               element);
    json_compiler_put_counts(body, counts[0] > 1 ? counts[0] - 1 : 0,
                             counts[1] < 0 ? -1 : counts[1] - 1);
    buf_append_str(body, STR(" ws \"]\")"));
}
