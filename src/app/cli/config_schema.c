/* Written from the tables that also read the file, so that the two cannot differ. */
#include "app/cli/config_schema.h"

#include "app/config/keys.h"
#include "base/json/json.h"

#include <math.h>
#include <string.h>

static struct json *of_type(const char *type)
{
    struct json *schema = json_new_object();
    json_put(schema, "type", json_new_cstr(type));
    return schema;
}

/* YAML reads 0660 and 5 as numbers; the tables take them as texts. */
static struct json *text_schema(void)
{
    struct json *schema = json_new_object(), *types = json_new_array();
    json_push(types, json_new_cstr("string"));
    json_push(types, json_new_cstr("number"));
    json_put(schema, "type", types);
    return schema;
}

static struct json *choice_schema(const struct config_key *key)
{
    struct json *schema = json_new_object(), *values = json_new_array();
    for (size_t i = 0; key->choices[i]; i++) {
        bool yes = strcmp(key->choices[i], "true") == 0;
        bool plain = yes || strcmp(key->choices[i], "false") == 0;
        json_push(values, plain ? json_new_bool(yes) : json_new_cstr(key->choices[i]));
    }
    json_put(schema, "enum", values);
    return schema;
}

/* A share may be a percentage, which is a text. */
static struct json *number_schema(const struct config_key *key)
{
    bool whole = key->type != CONFIG_KEY_NUMBER;
    struct json *schema = of_type(whole ? "integer" : "number");
    if (!whole && key->max <= 1) {
        struct json *types = json_new_array();
        json_push(types, json_new_cstr("number"));
        json_push(types, json_new_cstr("string"));
        json_put(schema, "type", types);
        json_put(schema, "pattern", json_new_cstr("^[0-9.]+%$"));
    }
    json_put(schema, "minimum",
             whole ? json_new_int((int64_t)key->min) : json_new_double(key->min));
    json_put(schema, "maximum",
             whole ? json_new_int((int64_t)key->max) : json_new_double(key->max));
    return schema;
}

static struct json *list_schema(struct json *items, const struct config_key *key)
{
    struct json *schema = of_type("array");
    json_put(schema, "items", items);
    if (key->max > 0)
        json_put(schema, "maxItems", json_new_int((int64_t)key->max));
    return schema;
}

static struct json *either(struct json *one, struct json *other)
{
    struct json *schema = json_new_object(), *both = json_new_array();
    json_push(both, one);
    json_push(both, other);
    json_put(schema, "anyOf", both);
    return schema;
}

static struct json *section_schema(const struct config_section *section);

static struct json *value_schema(const struct config_key *key)
{
    switch (key->type) {
    case CONFIG_KEY_UINT:
    case CONFIG_KEY_NUMBER:
        return number_schema(key);
    case CONFIG_KEY_UINT_ALL: {
        struct json *all = json_new_object();
        json_put(all, "const", json_new_cstr("all"));
        return either(number_schema(key), all);
    }
    case CONFIG_KEY_BOOL:
        return of_type("boolean");
    case CONFIG_KEY_CHOICE:
        return choice_schema(key);
    case CONFIG_KEY_MASK:
        return either(choice_schema(key), list_schema(choice_schema(key), key));
    case CONFIG_KEY_TEXTS:
        return list_schema(text_schema(), key);
    case CONFIG_KEY_WORDS:
        return either(text_schema(), list_schema(text_schema(), key));
    case CONFIG_KEY_SECTION:
        return section_schema(key->section);
    case CONFIG_KEY_SECTIONS:
        return list_schema(section_schema(key->section), key);
    default:
        return text_schema();
    }
}

/* A default as the value that it is. */
static struct json *default_value(const struct config_key *key)
{
    struct json *value = NULL;
    struct td_str text = {key->otherwise, strlen(key->otherwise)};
    struct td_error ignored;
    bool text_key = key->type == CONFIG_KEY_TEXT;
    if (text_key || json_parse(text, &value, &ignored) != TD_OK)
        value = json_new_cstr(key->otherwise);
    return value;
}

/* The depth is that of the tables. */
static struct json *section_schema(const struct config_section *section)
{
    struct json *schema = of_type("object"), *properties = json_new_object();
    struct json *required = json_new_array();
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        if (key->type == CONFIG_KEY_REFUSED)
            continue;
        struct json *value = value_schema(key);
        json_put(value, "description", json_new_cstr(packed_help(key->help)));
        if (key->otherwise)
            json_put(value, "default", default_value(key));
        json_put(properties, key->name, value);
        if (key->required)
            json_push(required, json_new_cstr(key->name));
    }
    json_put(schema, "properties", properties);
    json_put(schema, "additionalProperties", json_new_bool(false));
    if (json_count(required))
        json_put(schema, "required", required);
    else
        json_free(required);
    return schema;
}

struct json *config_schema_new(void)
{
    struct json *schema = section_schema(&keys_root);
    json_put(schema, "$schema", json_new_cstr("https://json-schema.org/draft/2020-12/schema"));
    json_put(schema, "title", json_new_cstr("Configuration of Tandem"));
    return schema;
}
