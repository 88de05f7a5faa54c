/* Values: texts with provenance, lists and dictionaries. Equality and order are those of Python,
 * because templates are written and tested with Jinja in Python. How values print is in
 * jinja_print.c. */
#include "engine/template/jinja_value.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/text/utf8.h"

#include <stdarg.h>
#include <stdio.h>

struct jinja_value jinja_fail(struct jinja_run *run, enum td_status status, const char *format, ...)
{
    if (run->status == TD_OK) {
        char words[TD_ERROR_BYTES];
        va_list args;
        va_start(args, format);
        vsnprintf(words, sizeof(words), format, args);
        va_end(args);
        run->status =
            error_set(run->err, status, "chat template, line %u: %s", (unsigned)run->line, words);
    }
    return (struct jinja_value){.kind = JINJA_UNDEFINED};
}

bool jinja_charge(struct jinja_run *run, size_t bytes)
{
    if (run->status != TD_OK)
        return false;
    uint64_t price = 1 + bytes / 64;
    if (price > run->steps_left) {
        run->steps_left = 0;
        jinja_fail(run, TD_LIMIT, "the template takes too many steps");
        return false;
    }
    run->steps_left -= price;
    return true;
}

void *jinja_alloc(struct jinja_run *run, size_t count, size_t bytes)
{
    void *memory = run->status == TD_OK ? arena_alloc_array(run->arena, count, bytes) : NULL;
    if (memory == NULL)
        jinja_fail(run, TD_LIMIT, "the template needs too much memory");
    return memory;
}

struct jinja_value jinja_undefined(void)
{
    return (struct jinja_value){.kind = JINJA_UNDEFINED};
}

struct jinja_value jinja_none(void)
{
    return (struct jinja_value){.kind = JINJA_NONE};
}

struct jinja_value jinja_bool(bool value)
{
    return (struct jinja_value){.kind = JINJA_BOOL, .boolean = value};
}

struct jinja_value jinja_int(int64_t value)
{
    return (struct jinja_value){.kind = JINJA_INT, .integer = value};
}

struct jinja_value jinja_float(double value)
{
    return (struct jinja_value){.kind = JINJA_FLOAT, .number = value};
}

struct jinja_value jinja_from_text(struct jinja_text text)
{
    return (struct jinja_value){.kind = JINJA_TEXT, .text = text};
}

struct jinja_value jinja_word(const char *literal)
{
    return jinja_from_text(
        (struct jinja_text){.data = literal, .len = strlen(literal), .mark = true});
}

const char *jinja_kind_name(enum jinja_kind kind)
{
    static const char *const names[] = {
        "undefined", "none",        "a boolean", "an integer", "a float",    "a string", "a list",
        "a mapping", "a namespace", "a macro",   "a loop",     "a function", "a method"};
    return names[kind];
}

/* --- texts --- */

struct td_str jinja_view(struct jinja_text text)
{
    return (struct td_str){text.data, text.len};
}

struct jinja_text jinja_slice(struct jinja_text text, size_t begin, size_t end)
{
    if (end > text.len)
        end = text.len;
    if (begin >= end)
        return (struct jinja_text){.data = "", .mark = text.mark};
    text.data += begin;
    if (text.origin)
        text.origin += begin;
    text.len = end - begin;
    return text;
}

bool jinja_is_text(struct jinja_value value, const char *expected)
{
    return value.kind == JINJA_TEXT && str_equal(jinja_view(value.text), str_from(expected));
}

size_t jinja_text_length(struct jinja_text text)
{
    size_t length = 0;
    for (size_t at = 0; at < text.len; length++)
        utf8_next(jinja_view(text), &at);
    return length;
}

size_t jinja_text_offset(struct jinja_text text, size_t index)
{
    size_t at = 0;
    while (index > 0 && at < text.len) {
        utf8_next(jinja_view(text), &at);
        index--;
    }
    return at;
}

void jinja_builder_init(struct jinja_builder *builder, struct jinja_run *run)
{
    ASSERT(run != NULL);
    *builder = (struct jinja_builder){.run = run, .mark = true};
}

static bool builder_reserve(struct jinja_builder *builder, size_t more)
{
    struct jinja_run *run = builder->run;
    if (!jinja_charge(run, more))
        return false;
    if (more > run->text_bytes_max - builder->len) {
        jinja_fail(run, TD_LIMIT, "a text of more than %zu bytes", run->text_bytes_max);
        return false;
    }
    if (builder->len + more <= builder->capacity)
        return true;
    size_t capacity = builder->capacity ? builder->capacity * 2 : 64;
    if (capacity < builder->len + more)
        capacity = builder->len + more;
    char *data = jinja_alloc(run, capacity, 1);
    uint8_t *origin = jinja_alloc(run, capacity, 1);
    if (data == NULL || origin == NULL)
        return false;
    if (builder->len > 0) {
        memcpy(data, builder->data, builder->len);
        memcpy(origin, builder->origin, builder->len);
    }
    builder->data = data;
    builder->origin = origin;
    builder->capacity = capacity;
    return true;
}

void jinja_build_bytes(struct jinja_builder *builder, const char *data, size_t len, bool mark)
{
    jinja_build_text(builder, (struct jinja_text){.data = data, .len = len, .mark = mark});
}

void jinja_build_text(struct jinja_builder *builder, struct jinja_text text)
{
    if (text.len == 0 || !builder_reserve(builder, text.len))
        return;
    memcpy(builder->data + builder->len, text.data, text.len);
    if (text.origin)
        memcpy(builder->origin + builder->len, text.origin, text.len);
    else
        memset(builder->origin + builder->len, text.mark, text.len);
    if (builder->len == 0)
        builder->mark = text.mark;
    builder->mixed = builder->mixed || text.origin || text.mark != builder->mark;
    builder->len += text.len;
}

struct jinja_text jinja_built(const struct jinja_builder *builder)
{
    return (struct jinja_text){.data = builder->data ? builder->data : "",
                               .origin = builder->mixed ? builder->origin : NULL,
                               .len = builder->len,
                               .mark = builder->mark};
}

/* --- lists and dictionaries --- */

static void *grow(struct jinja_run *run, const void *old, size_t count, size_t *capacity,
                  size_t element_bytes)
{
    size_t wanted = *capacity ? *capacity * 2 : 4;
    void *items = jinja_alloc(run, wanted, element_bytes);
    if (items == NULL)
        return NULL;
    if (count > 0)
        memcpy(items, old, count * element_bytes);
    *capacity = wanted;
    return items;
}

struct jinja_value jinja_list_new(struct jinja_run *run, size_t capacity)
{
    struct jinja_list *list = jinja_alloc(run, 1, sizeof(*list));
    if (list == NULL)
        return (struct jinja_value){.kind = JINJA_UNDEFINED};
    if (capacity > 0) {
        list->items = jinja_alloc(run, capacity, sizeof(*list->items));
        if (list->items == NULL)
            return (struct jinja_value){.kind = JINJA_UNDEFINED};
    }
    list->capacity = capacity;
    return (struct jinja_value){.kind = JINJA_LIST, .list = list};
}

void jinja_list_add(struct jinja_run *run, struct jinja_list *list, struct jinja_value value)
{
    if (!jinja_charge(run, sizeof(value)))
        return;
    if (list->count == list->capacity) {
        void *items = grow(run, list->items, list->count, &list->capacity, sizeof(value));
        if (items == NULL)
            return;
        list->items = items;
    }
    list->items[list->count++] = value;
}

struct jinja_value jinja_dict_new(struct jinja_run *run)
{
    struct jinja_dict *dict = jinja_alloc(run, 1, sizeof(*dict));
    if (dict == NULL)
        return (struct jinja_value){.kind = JINJA_UNDEFINED};
    return (struct jinja_value){.kind = JINJA_DICT, .dict = dict};
}

static struct jinja_entry *find_entry(struct jinja_run *run, const struct jinja_dict *dict,
                                      struct td_str key)
{
    if (!jinja_charge(run, dict->count))
        return NULL;
    for (size_t i = 0; i < dict->count; i++)
        if (str_equal(jinja_view(dict->entries[i].key), key))
            return &dict->entries[i];
    return NULL;
}

void jinja_dict_put(struct jinja_run *run, struct jinja_dict *dict, struct jinja_text key,
                    struct jinja_value value)
{
    struct jinja_entry *found = find_entry(run, dict, jinja_view(key));
    if (found) {
        found->value = value;
        return;
    }
    if (run->status != TD_OK)
        return;
    if (dict->count == dict->capacity) {
        void *entries =
            grow(run, dict->entries, dict->count, &dict->capacity, sizeof(*dict->entries));
        if (entries == NULL)
            return;
        dict->entries = entries;
    }
    dict->entries[dict->count++] = (struct jinja_entry){key, value};
}

const struct jinja_value *jinja_dict_get(struct jinja_run *run, const struct jinja_dict *dict,
                                         struct td_str key)
{
    ASSERT(dict != NULL);
    const struct jinja_entry *entry = find_entry(run, dict, key);
    return entry ? &entry->value : NULL;
}

/* --- truth, equality, order --- */

bool jinja_truth(struct jinja_value value)
{
    switch (value.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return false;
    case JINJA_BOOL:
        return value.boolean;
    case JINJA_INT:
        return value.integer != 0;
    case JINJA_FLOAT:
        return value.number != 0;
    case JINJA_TEXT:
        return value.text.len > 0;
    case JINJA_LIST:
        return value.list->count > 0;
    case JINJA_DICT:
        return value.dict->count > 0;
    default:
        return true;
    }
}

bool jinja_as_int(struct jinja_value value, int64_t *out)
{
    *out = value.kind == JINJA_BOOL ? value.boolean : value.kind == JINJA_INT ? value.integer : 0;
    return value.kind == JINJA_BOOL || value.kind == JINJA_INT;
}

bool jinja_as_number(struct jinja_value value, double *out)
{
    int64_t integer;
    if (value.kind == JINJA_FLOAT) {
        *out = value.number;
        return true;
    }
    bool known = jinja_as_int(value, &integer);
    *out = (double)integer;
    return known;
}

static bool equal_lists(struct jinja_run *run, const struct jinja_list *a,
                        const struct jinja_list *b)
{
    if (a->count != b->count || a->tuple != b->tuple)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!jinja_equal(run, a->items[i], b->items[i]))
            return false;
    return true;
}

static bool equal_dicts(struct jinja_run *run, const struct jinja_dict *a,
                        const struct jinja_dict *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct jinja_value *other = jinja_dict_get(run, b, jinja_view(a->entries[i].key));
        if (other == NULL || !jinja_equal(run, a->entries[i].value, *other))
            return false;
    }
    return true;
}

static bool equal_same_kind(struct jinja_run *run, struct jinja_value a, struct jinja_value b)
{
    switch (a.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return true;
    case JINJA_TEXT:
        return jinja_charge(run, a.text.len) && str_equal(jinja_view(a.text), jinja_view(b.text));
    case JINJA_LIST:
        return a.list == b.list || equal_lists(run, a.list, b.list);
    case JINJA_DICT:
        return a.dict == b.dict || equal_dicts(run, a.dict, b.dict);
    case JINJA_NAMESPACE:
        return a.dict == b.dict;
    default:
        return a.macro == b.macro; /* the same object; all members of the union are pointers here */
    }
}

/* A value is complete before it is put into another one, so values are trees and the recursion
 * ends. A tree may be deep. */

bool jinja_equal(struct jinja_run *run, struct jinja_value a, struct jinja_value b)
{
    double x, y;
    if (!jinja_charge(run, 0))
        return false;
    if (jinja_as_number(a, &x) && jinja_as_number(b, &y)) {
        int64_t m, n;
        return jinja_as_int(a, &m) && jinja_as_int(b, &n) ? m == n : x == y;
    }
    if (a.kind != b.kind)
        return false;
    if (++run->depth > JINJA_DEPTH_MAX)
        jinja_fail(run, TD_LIMIT, "values are nested too deep");
    bool equal = run->status == TD_OK && equal_same_kind(run, a, b);
    run->depth--;
    return equal;
}

int jinja_compare(struct jinja_run *run, struct jinja_value a, struct jinja_value b)
{
    double x, y;
    if (!jinja_charge(run, 0))
        return 0;
    if (jinja_as_number(a, &x) && jinja_as_number(b, &y)) {
        int64_t m, n;
        if (jinja_as_int(a, &m) && jinja_as_int(b, &n))
            return (m > n) - (m < n);
        return (x > y) - (x < y);
    }
    if (a.kind == JINJA_TEXT && b.kind == JINJA_TEXT) {
        size_t common = a.text.len < b.text.len ? a.text.len : b.text.len;
        int order =
            common && jinja_charge(run, common) ? memcmp(a.text.data, b.text.data, common) : 0;
        return order ? order : (a.text.len > b.text.len) - (a.text.len < b.text.len);
    }
    jinja_fail(run, TD_UNSUPPORTED, "%s and %s have no order", jinja_kind_name(a.kind),
               jinja_kind_name(b.kind));
    return 0;
}

bool jinja_contains(struct jinja_run *run, struct jinja_value container, struct jinja_value item)
{
    switch (container.kind) {
    case JINJA_TEXT:
        if (item.kind != JINJA_TEXT) {
            jinja_fail(run, TD_UNSUPPORTED, "%s cannot be in a string", jinja_kind_name(item.kind));
            return false;
        }
        return jinja_charge(run, container.text.len) &&
               str_find(jinja_view(container.text), jinja_view(item.text), 0) != SIZE_MAX;
    case JINJA_DICT:
        return item.kind == JINJA_TEXT &&
               jinja_dict_get(run, container.dict, jinja_view(item.text)) != NULL;
    default:
        break;
    }
    const struct jinja_list *list = jinja_iterate(run, container);
    for (size_t i = 0; list && i < list->count; i++)
        if (jinja_equal(run, list->items[i], item))
            return run->status == TD_OK;
    return false;
}

static void add_characters(struct jinja_run *run, struct jinja_list *list, struct jinja_text text)
{
    for (size_t at = 0; at < text.len && run->status == TD_OK;) {
        size_t begin = at;
        utf8_next(jinja_view(text), &at);
        jinja_list_add(run, list, jinja_from_text(jinja_slice(text, begin, at)));
    }
}

const struct jinja_list *jinja_iterate(struct jinja_run *run, struct jinja_value value)
{
    if (value.kind == JINJA_LIST)
        return value.list;
    if (value.kind != JINJA_TEXT && value.kind != JINJA_DICT && value.kind != JINJA_UNDEFINED) {
        jinja_fail(run, TD_UNSUPPORTED, "%s cannot be iterated", jinja_kind_name(value.kind));
        return NULL;
    }
    struct jinja_value list = jinja_list_new(run, 0);
    if (list.kind != JINJA_LIST)
        return NULL;
    if (value.kind == JINJA_TEXT)
        add_characters(run, list.list, value.text);
    for (size_t i = 0; value.kind == JINJA_DICT && i < value.dict->count; i++)
        jinja_list_add(run, list.list, jinja_from_text(value.dict->entries[i].key));
    return run->status == TD_OK ? list.list : NULL;
}
