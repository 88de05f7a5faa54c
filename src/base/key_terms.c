/* The members of terms stand in one table, from which they are read, checked and written. */
#include "base/key_terms.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 100 /* of a model or tier */
#define USD_MAX 1e9
#define TOKENS_MAX 1e15

const struct key_terms key_terms_none = {.weight = 1};

enum member_kind {
    MEMBER_U32,
    MEMBER_U64,
    MEMBER_USD,
    MEMBER_NAMES,
    MEMBER_CLASSES,
    MEMBER_SPENT,
    MEMBER_ROLE,
    MEMBER_CLASS
};

#define AT(member) offsetof(struct key_terms, member)
static const struct member {
    const char *name;
    enum member_kind kind;
    size_t at;
    double most;
} members[] = {
    {"requests_per_minute", MEMBER_U32, AT(requests_per_minute), 1e9},
    {"tokens_per_minute", MEMBER_U32, AT(tokens_per_minute), 4e9},
    {"usd_per_day", MEMBER_USD, AT(usd[KEY_DAY]), USD_MAX},
    {"usd_per_month", MEMBER_USD, AT(usd[KEY_MONTH]), USD_MAX},
    {"tokens_per_day", MEMBER_U64, AT(tokens[KEY_DAY]), TOKENS_MAX},
    {"tokens_per_month", MEMBER_U64, AT(tokens[KEY_MONTH]), TOKENS_MAX},
    {"when_spent", MEMBER_SPENT, AT(local_when_spent), 0},
    {"weight", MEMBER_U32, AT(weight), KEY_WEIGHT_MAX},
    {"models", MEMBER_NAMES, AT(models), 0},
    {"tiers", MEMBER_NAMES, AT(tiers), 0},
    {"classes", MEMBER_CLASSES, AT(classes), 0},
    {"role", MEMBER_ROLE, AT(reviews), 0},
    {"clearance", MEMBER_CLASS, AT(clearance), 0},
};
#undef AT
#define MEMBER_COUNT (sizeof members / sizeof *members)

static const struct member *find_member(const char *name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

bool key_terms_has(const char *member)
{
    return find_member(member) != NULL;
}

/* --- reading --- */

static enum td_status read_number(const struct member *member, const struct json *value, void *to,
                                  struct td_error *err)
{
    bool whole = member->kind != MEMBER_USD;
    enum json_kind kind = json_kind_of(value);
    double number = kind == JSON_KIND_NULL ? 0 : json_number(value, -1);
    if ((kind != JSON_KIND_INT && kind != JSON_KIND_NULL && (whole || kind != JSON_KIND_DOUBLE)) ||
        !(number >= 0 && number <= member->most))
        return error_set(err, TD_INVALID, "%s must be a %snumber from 0 to %.0f", member->name,
                         whole ? "whole " : "", member->most);
    if (member->kind == MEMBER_USD)
        *(double *)to = number;
    else if (member->kind == MEMBER_U64)
        *(uint64_t *)to = (uint64_t)number;
    else
        *(uint32_t *)to = (uint32_t)number;
    return TD_OK;
}

/* No name has a comma or a control character, or is empty. */
static bool name_is_plain(struct td_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.data[i] < 0x20 || name.data[i] == ',' || name.data[i] == 0x7f)
            return false;
    return name.len > 0 && name.len <= NAME_BYTES_MAX;
}

static enum td_status read_names(const struct member *member, const struct json *value,
                                 char out[static KEY_LIST_BYTES], struct td_error *err)
{
    struct buf list;
    bool ok = json_kind_of(value) == JSON_KIND_ARRAY || json_kind_of(value) == JSON_KIND_NULL;
    buf_init(&list, KEY_LIST_BYTES - 1);
    for (size_t i = 0; ok && i < json_count(value); i++) {
        struct td_str name = json_text(json_at(value, i));
        ok = name_is_plain(name);
        if (i > 0)
            buf_append_char(&list, ',');
        buf_append_str(&list, name);
    }
    ok = ok && !list.failed;
    if (ok) {
        memset(out, 0, KEY_LIST_BYTES);
        if (list.len)
            memcpy(out, list.data, list.len);
    }
    buf_deinit(&list);
    return ok ? TD_OK
              : error_set(err, TD_INVALID,
                          "%s must be a list of names without commas, of %d bytes in all at most",
                          member->name, KEY_LIST_BYTES - 1);
}

static enum td_status read_classes(const struct member *member, const struct json *value,
                                   unsigned *out, struct td_error *err)
{
    unsigned classes = 0;
    bool ok = json_kind_of(value) == JSON_KIND_ARRAY || json_kind_of(value) == JSON_KIND_NULL;
    for (size_t i = 0; ok && i < json_count(value); i++) {
        enum td_data_class data_class;
        ok = names_class_parse(json_text(json_at(value, i)), &data_class);
        if (ok)
            classes |= 1u << data_class;
    }
    if (!ok)
        return error_set(err, TD_INVALID,
                         "%s must be a list of public, sensitive, contractual and restricted",
                         member->name);
    *out = classes;
    return TD_OK;
}

static enum td_status read_role(const struct json *value, bool *reviews, struct td_error *err)
{
    struct td_str text = json_text(value);
    bool is_null = json_kind_of(value) == JSON_KIND_NULL;
    if (!is_null && !str_equal(text, STR("reviewer")))
        return error_set(err, TD_INVALID, "role must be \"reviewer\"");
    *reviews = !is_null;
    return TD_OK;
}

static enum td_status read_class(const struct member *member, const struct json *value,
                                 unsigned *out, struct td_error *err)
{
    enum td_data_class data_class = TD_CLASS_PUBLIC;
    bool is_null = json_kind_of(value) == JSON_KIND_NULL;
    if (!is_null && !names_class_parse(json_text(value), &data_class))
        return error_set(err, TD_INVALID, "%s must be public, sensitive, contractual or restricted",
                         member->name);
    *out = is_null ? 0 : (unsigned)data_class + 1;
    return TD_OK;
}

static enum td_status read_spent(const struct json *value, bool *local, struct td_error *err)
{
    struct td_str text = json_text(value);
    bool is_null = json_kind_of(value) == JSON_KIND_NULL;
    if (!is_null && !str_equal(text, STR("refuse")) && !str_equal(text, STR("local")))
        return error_set(err, TD_INVALID, "when_spent must be \"refuse\" or \"local\"");
    *local = !is_null && str_equal(text, STR("local"));
    return TD_OK;
}

static enum td_status read_member(const struct member *member, const struct json *value,
                                  struct key_terms *terms, struct td_error *err)
{
    char *to = (char *)terms + member->at;
    switch (member->kind) {
    case MEMBER_NAMES:
        return read_names(member, value, to, err);
    case MEMBER_CLASSES:
        return read_classes(member, value, (void *)to, err);
    case MEMBER_SPENT:
        return read_spent(value, (void *)to, err);
    case MEMBER_ROLE:
        return read_role(value, (void *)to, err);
    case MEMBER_CLASS:
        return read_class(member, value, (void *)to, err);
    default:
        return read_number(member, value, to, err);
    }
}

enum td_status key_terms_read(const struct json *object, struct key_terms *terms,
                              const char **member, struct td_error *err)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    struct key_terms read = *terms;
    if (json_kind_of(object) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "limits must be an object");
    while (json_next(object, &iterator, &name, &value)) {
        const struct member *row = find_member(name);
        if (member)
            *member = row ? row->name : name;
        if (!row)
            return error_set(err, TD_INVALID, "a key has no limit '%.60s'", name);
        enum td_status status = read_member(row, value, &read, err);
        if (status != TD_OK)
            return status;
    }
    if (read.weight == 0)
        read.weight = 1;
    *terms = read;
    return TD_OK;
}

/* --- writing --- */

static struct json *names_to_json(const char *list)
{
    struct json *array = json_new_array();
    struct td_str rest = str_from(list), name;
    while (str_next(&rest, ',', &name))
        json_push(array, json_new_text(name));
    return array;
}

static struct json *classes_to_json(unsigned classes)
{
    struct json *array = json_new_array();
    for (unsigned i = 0; classes >> i; i++)
        if (classes >> i & 1)
            json_push(array, json_new_cstr(names_class((enum td_data_class)i)));
    return array;
}

/* NULL: it sets nothing. **returns new**. */
static struct json *member_to_json(const struct member *member, const struct key_terms *terms)
{
    const void *at = (const char *)terms + member->at;
    switch (member->kind) {
    case MEMBER_U32:
        return *(const uint32_t *)at ? json_new_int(*(const uint32_t *)at) : NULL;
    case MEMBER_U64:
        return *(const uint64_t *)at ? json_new_int((int64_t) * (const uint64_t *)at) : NULL;
    case MEMBER_USD:
        return *(const double *)at > 0 ? json_new_double(*(const double *)at) : NULL;
    case MEMBER_NAMES:
        return *(const char *)at ? names_to_json(at) : NULL;
    case MEMBER_CLASSES:
        return *(const unsigned *)at ? classes_to_json(*(const unsigned *)at) : NULL;
    case MEMBER_SPENT:
        return *(const bool *)at ? json_new_cstr("local") : NULL;
    case MEMBER_ROLE:
        return *(const bool *)at ? json_new_cstr("reviewer") : NULL;
    case MEMBER_CLASS:
        return *(const unsigned *)at
                   ? json_new_cstr(names_class((enum td_data_class)(*(const unsigned *)at - 1)))
                   : NULL;
    }
    return NULL;
}

void key_terms_put(const struct key_terms *terms, struct json *object)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        bool usual = strcmp(members[i].name, "weight") == 0 && terms->weight == 1;
        struct json *value = usual ? NULL : member_to_json(&members[i], terms);
        if (value)
            json_put(object, members[i].name, value);
    }
}

bool key_list_has(const char *list, struct td_str name)
{
    struct td_str rest = str_from(list), item;
    if (!*list)
        return true;
    while (str_next(&rest, ',', &item))
        if (str_equal(item, name))
            return true;
    return false;
}
