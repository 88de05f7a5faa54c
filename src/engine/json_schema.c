/* Each schema becomes one rule, r0, r1, ...; a schema that is referred to becomes one rule however often it is
 * referred to, and is written when the others are done, so that recursion in the schema is recursion in the
 * grammar and none here. The depth of this file's own recursion is that of the JSON text (64). */
#include "engine/json_schema.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define REFERENCES_MAX 1024
#define MEMBERS_MAX 1000
#define KEY_BYTES_MAX 200 /* of names that other members must not have */
#define COUNT_MAX 65536   /* of characters and elements */
#define BODY_BYTES_MAX GRAMMAR_TEXT_BYTES_MAX
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

struct reference {
    const struct json *schema;
    unsigned rule;
    struct td_str path; /* in the schema that refers */
};

struct compiler {
    const struct json *root;
    struct buf *out;
    struct buf path; /* of what is compiled, as a JSON pointer */
    struct reference references[REFERENCES_MAX];
    size_t reference_count, written_count;
    unsigned rule_count;
    enum td_status status;
    struct td_error *err;
};

static bool schema_fail(struct compiler *c, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);

static bool schema_fail(struct compiler *c, enum td_status status, const char *format, ...)
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
        schema_fail(c, TD_LIMIT, "a value that is too long");
    json_schema_literal(body, buf_view(&text));
    buf_deinit(&text);
}

static void put_rule(struct compiler *c, unsigned rule, const struct buf *body)
{
    buf_printf(c->out, "r%u ::= ", rule);
    buf_append_str(c->out, buf_view(body));
    buf_append_char(c->out, '\n');
    if (body->failed || c->out->failed)
        schema_fail(c, TD_LIMIT, "the grammar would be longer than %zu bytes", BODY_BYTES_MAX);
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

static void write_schema(struct compiler *c, const struct json *schema, unsigned rule);

/* The rule of a schema within this one. */
static unsigned sub_schema(struct compiler *c, const struct json *schema, const char *keyword,
                           struct td_str name)
{
    size_t len = enter(c, keyword, name);
    unsigned rule = c->rule_count++;
    write_schema(c, schema, rule);
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
            return schema_fail(c, TD_UNSUPPORTED, "keyword '%.60s' is not supported", key);
        if (i < count)
            *groups |= keywords[i].group;
    }
    if (json_bool(json_get(schema, "uniqueItems"), false))
        return schema_fail(c, TD_UNSUPPORTED, "keyword 'uniqueItems' is not supported");
    return true;
}

/* A count from 0 on; -1 when it is absent. */
static int64_t read_count(struct compiler *c, const struct json *schema, const char *name)
{
    const struct json *value = json_get(schema, name);
    if (value == NULL)
        return -1;
    double number = json_number(value, -1);
    if (!(number >= 0 && number <= 9e15) || number != (double)(int64_t)number) {
        schema_fail(c, TD_INVALID, "%s must be an integer from 0", name);
        return -1;
    }
    return (int64_t)number;
}

/* {min,max}; a larger maximum is cut to what is still written, which allows less. */
static bool read_counts(struct compiler *c, const struct json *schema, const char *min_name,
                        const char *max_name, int64_t counts[2])
{
    counts[0] = read_count(c, schema, min_name);
    counts[1] = read_count(c, schema, max_name);
    counts[0] = counts[0] < 0 ? 0 : counts[0];
    if (counts[1] > COUNT_MAX)
        counts[1] = COUNT_MAX;
    if (counts[0] > COUNT_MAX)
        return schema_fail(c, TD_LIMIT, "%s is above %d", min_name, COUNT_MAX);
    if (counts[1] >= 0 && counts[0] > counts[1])
        return schema_fail(c, TD_INVALID, "%s is above %s", min_name, max_name);
    return c->status == TD_OK;
}

static void put_counts(struct buf *body, int64_t min, int64_t max)
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
        schema_fail(c, text.len && text.data[0] == '#' ? TD_INVALID : TD_UNSUPPORTED,
                    "$ref '" STR_FMT "' leads to nothing in this schema",
                    STR_ARG(str_slice(text, 0, 80)));
        return;
    }
    size_t i = 0;
    while (i < c->reference_count && c->references[i].schema != target)
        i++;
    if (i == REFERENCES_MAX) {
        schema_fail(c, TD_LIMIT, "more than %d references", REFERENCES_MAX);
        return;
    }
    if (i == c->reference_count)
        c->references[c->reference_count++] =
            (struct reference){target, c->rule_count++, str_slice(text, 1, text.len)};
    buf_printf(body, "r%u", c->references[i].rule);
}

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
    put_rule(c, rule, &body);
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
            schema_fail(c, TD_LIMIT, "a name of more than %d bytes beside additionalProperties",
                        KEY_BYTES_MAX);
        if (!escaped)
            plain[kept++] = members[i];
    }
    if (plain == NULL)
        schema_fail(c, TD_NO_MEMORY, "no memory");
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
        schema_fail(c, TD_LIMIT, "more than %d members", MEMBERS_MAX);
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
        return schema_fail(c, TD_INVALID, "properties must be an object");
    if (required && json_kind_of(required) != JSON_KIND_ARRAY)
        return schema_fail(c, TD_INVALID, "required must be an array");
    while (json_next(properties, &iterator, &key, &value)) {
        struct member *member = add_member(c, members, count, str_from(key));
        if (member == NULL)
            return false;
        for (size_t i = 0; i < json_count(required); i++)
            member->required |= str_equal(json_text(json_at(required, i)), member->name);
        member->rule = sub_schema(c, value, "properties", member->name);
    }
    for (size_t i = 0; i < json_count(required); i++) {
        struct td_str name = json_text(json_at(required, i));
        bool known = false;
        if (json_kind_of(json_at(required, i)) != JSON_KIND_TEXT)
            return schema_fail(c, TD_INVALID, "required must name members");
        for (size_t m = 0; m < *count; m++)
            known |= str_equal(members[m].name, name);
        if (known)
            continue;
        if (json_kind_of(additional) == JSON_KIND_BOOL && !json_bool(additional, true))
            return schema_fail(c, TD_INVALID,
                               "'" STR_FMT "' is required, but additionalProperties forbids it",
                               STR_ARG(str_slice(name, 0, 60)));
        struct member *member = add_member(c, members, count, name);
        if (member == NULL)
            return false;
        member->required = true;
        member->rule = c->rule_count++;
        write_schema(c, additional, member->rule); /* none: anything */
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

static void write_object(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *additional = json_get(schema, "additionalProperties");
    struct member *members = calloc(MEMBERS_MAX, sizeof *members);
    size_t count = 0;
    unsigned other = 0;
    if (members == NULL)
        schema_fail(c, TD_NO_MEMORY, "no memory");
    if (members == NULL || !read_members(c, schema, members, &count))
        goto out;
    bool open = additional
                    ? json_kind_of(additional) != JSON_KIND_BOOL || json_bool(additional, true)
                    : json_get(schema, "properties") == NULL;
    size_t required = 0;
    for (size_t i = 0; i < count; i++)
        required += members[i].required;
    int64_t least = read_count(c, schema, "minProperties");
    int64_t most = read_count(c, schema, "maxProperties");
    if (least > (int64_t)required)
        schema_fail(c, TD_UNSUPPORTED,
                    "minProperties above the number of required members is not "
                    "supported");
    if (most >= 0 && (open || most < (int64_t)count))
        schema_fail(c, TD_UNSUPPORTED,
                    "maxProperties below what the members may be is not "
                    "supported");
    if (open && c->status == TD_OK) {
        unsigned value = sub_schema(c, additional, "additionalProperties", STR(""));
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
        schema_fail(c, TD_INVALID, "minItems is above the number of elements that there may be");
        return;
    }
    count = count < most ? count : most;
    unsigned first = c->rule_count;
    c->rule_count += (unsigned)count + 1;
    for (int64_t i = 0; i < count && c->status == TD_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        unsigned element = sub_schema(c, json_at(prefix, (size_t)i), "prefixItems", str_from(name));
        buf_printf(c->out, "r%u ::= %sr%u r%u", first + (unsigned)i, i ? "\",\" ws " : "", element,
                   first + (unsigned)i + 1);
        buf_append_str(c->out, i >= least ? STR(" | ws \"]\"\n") : STR("\n"));
    }
    buf_printf(c->out, "r%u ::=", first + (unsigned)count);
    if (more && most > count) {
        unsigned element = c->rule_count++, start = (unsigned)count;
        buf_printf(c->out, " (%sr%u)", start ? "\",\" ws " : "", element);
        put_counts(c->out, least > count ? least - count : 0, counts[1] < 0 ? -1 : most - count);
        buf_append_str(c->out, STR(" ws \"]\"\n"));
        write_schema(c, items, element);
    } else {
        buf_append_str(c->out, STR(" ws \"]\"\n"));
    }
    buf_printf(body, "\"[\" ws r%u", first);
}

static void write_array(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *items = json_get(schema, "items");
    const struct json *prefix = json_get(schema, "prefixItems");
    int64_t counts[2];
    if (!read_counts(c, schema, "minItems", "maxItems", counts))
        return;
    if (prefix && json_kind_of(prefix) != JSON_KIND_ARRAY) {
        schema_fail(c, TD_INVALID, "prefixItems must be an array");
        return;
    }
    if (json_count(prefix) > 0) {
        write_tuple(c, prefix, items, counts, body);
        return;
    }
    bool none = json_kind_of(items) == JSON_KIND_BOOL && !json_bool(items, true);
    if (none && counts[0] > 0) {
        schema_fail(c, TD_INVALID, "minItems where items is false");
        return;
    }
    if (none || counts[1] == 0) {
        buf_append_str(body, STR("\"[\" ws \"]\""));
        return;
    }
    unsigned element = sub_schema(c, items, "items", STR(""));
    buf_printf(body, "\"[\" ws (%sr%u (\",\" ws r%u)", counts[0] ? "" : "\"]\" | ", element,
               element);
    put_counts(body, counts[0] > 1 ? counts[0] - 1 : 0, counts[1] < 0 ? -1 : counts[1] - 1);
    buf_append_str(body, STR(" ws \"]\")"));
}

/* --- strings and numbers ------------------------------------------------------------------------- */

static void write_string(struct compiler *c, const struct json *schema, struct buf *body)
{
    const struct json *pattern = json_get(schema, "pattern"), *format = json_get(schema, "format");
    bool counted = json_get(schema, "minLength") || json_get(schema, "maxLength");
    int64_t counts[2];
    if (!read_counts(c, schema, "minLength", "maxLength", counts))
        return;
    if ((pattern != NULL) + (format != NULL) + counted > 1) {
        schema_fail(c, TD_UNSUPPORTED,
                    "of pattern, format and a length only one is supported for "
                    "a string");
        return;
    }
    buf_append_str(body, STR("\"\\\"\" "));
    if (pattern) {
        const char *reason = "pattern must be a string";
        if (json_kind_of(pattern) != JSON_KIND_TEXT)
            schema_fail(c, TD_INVALID, "%s", reason);
        else if (!json_pattern_write(json_text(pattern), body, &reason))
            schema_fail(c, TD_UNSUPPORTED, "keyword 'pattern' is not supported with %s", reason);
    } else if (format) {
        const char *text = json_format_body(json_text(format));
        if (text == NULL)
            schema_fail(c, TD_UNSUPPORTED, "format '" STR_FMT "' is not supported",
                        STR_ARG(str_slice(json_text(format), 0, 40)));
        else
            buf_append_str(body, str_from(text));
    } else {
        buf_append_str(body, STR("char"));
        put_counts(body, counts[0], counts[1]);
    }
    buf_append_str(body, STR(" \"\\\"\""));
}

static void write_number(struct compiler *c, const struct json *schema, bool integer,
                         struct buf *body)
{
    const char *reason = NULL;
    if (!json_number_write(schema, integer, body, &reason))
        schema_fail(c, TD_UNSUPPORTED, "%s", reason);
}

/* --- types --------------------------------------------------------------------------------------- */

static const char *const type_names[] = {"object",  "array",   "string", "number",
                                         "integer", "boolean", "null"};
enum { TYPE_COUNT = 7 };

static void write_type(struct compiler *c, const struct json *schema, int type, struct buf *body)
{
    switch (type) {
    case 0:
        write_object(c, schema, body);
        break;
    case 1:
        write_array(c, schema, body);
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
                schema_fail(c, TD_INVALID, "type '" STR_FMT "' is not a type of JSON Schema",
                            STR_ARG(str_slice(name, 0, 40)));
            return 0;
        }
        types |= 1u << t;
    }
    if (types == 0 && c)
        schema_fail(c, TD_INVALID, "type is an empty list");
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
        schema_fail(c, TD_INVALID, "enum must be an array");
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
        schema_fail(c, TD_INVALID, "no value is allowed");
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
        schema_fail(c, TD_INVALID, "%s must be an array with a schema", keyword);
        return;
    }
    if (strcmp(keyword, "allOf") == 0 && count > 1) {
        schema_fail(c, TD_UNSUPPORTED,
                    "keyword 'allOf' with more than one schema is not supported");
        return;
    }
    if (strcmp(keyword, "oneOf") == 0 && count > 64) {
        schema_fail(c, TD_LIMIT, "oneOf with more than 64 schemas");
        return;
    }
    for (size_t i = 0; i < count && c->status == TD_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        for (size_t j = 0; strcmp(keyword, "oneOf") == 0 && j < i; j++)
            if (!disjoint(c, json_at(list, i), json_at(list, j), DISJOINT_DEPTH_MAX))
                schema_fail(c, TD_UNSUPPORTED,
                            "oneOf: schemas %zu and %zu may both hold; use anyOf", j, i);
        unsigned rule = sub_schema(c, json_at(list, i), keyword, str_from(name));
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
            schema_fail(c, TD_UNSUPPORTED, "other keywords beside '%s' are not supported",
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
static void write_schema(struct compiler *c, const struct json *schema, unsigned rule)
{
    struct buf body;
    buf_init(&body, BODY_BYTES_MAX);
    enum json_kind kind = json_kind_of(schema);
    if (kind == JSON_KIND_ABSENT || (kind == JSON_KIND_BOOL && json_bool(schema, false)))
        buf_append_str(&body, STR("value"));
    else if (kind == JSON_KIND_BOOL)
        schema_fail(c, TD_UNSUPPORTED, "a schema that is false allows nothing");
    else if (kind != JSON_KIND_OBJECT)
        schema_fail(c, TD_INVALID, "a schema must be an object, not %s", json_kind_name(kind));
    else
        write_body(c, schema, &body);
    if (c->status == TD_OK)
        put_rule(c, rule, &body);
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
    write_schema(c, schema, 0);
    for (; c->written_count < c->reference_count && c->status == TD_OK; c->written_count++) {
        struct reference reference = c->references[c->written_count];
        buf_clear(&c->path);
        buf_append_str(&c->path, reference.path);
        write_schema(c, reference.schema, reference.rule);
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
