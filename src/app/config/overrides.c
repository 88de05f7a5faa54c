/* Walks the tables of keys along the parts of a variable's name, and the tree beside them. */
#include "app/config/overrides.h"

#include "base/core/ascii.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "TANDEM_"
#define BETWEEN "__"
#define VARIABLES_MAX 1024
#define NAME_BYTES 256

/* Names from before every key had one. */
static const struct {
    const char *variable, *path;
} short_names[] = {
    {"TANDEM_STATE_DIR", "state_dir"}, {"TANDEM_LISTEN", "server__listen"},
    {"TANDEM_MODEL", "engine__model"}, {"TANDEM_MODELS", "models__dir"},
    {"TANDEM_NODE", "cluster__node"},  {"TANDEM_STATE", "state"},
};

struct override {
    const struct keys_source *source;
    const char *variable; /* its name, in the arena */
    struct td_str value;
};

/* Whether "NAME=value" stands for a key; such variables hold no secrets. */
static bool is_override(const char *variable)
{
    const char *end = strchr(variable, '=');
    const char *between = strstr(variable, BETWEEN);
    return end && strncmp(variable, PREFIX, strlen(PREFIX)) == 0 && between && between < end;
}

static struct yaml_node *new_node(const struct override *override, enum yaml_kind kind)
{
    struct yaml_node *node = arena_alloc(override->source->arena, sizeof *node);
    if (!node) {
        config_mistakes_add(override->source->mistakes, "%s: the environment is too large",
                            override->variable);
        return NULL;
    }
    *node = (struct yaml_node){.kind = kind, .line = 1, .variable = override->variable};
    return node;
}

static void append(struct yaml_node *parent, struct yaml_node *node)
{
    struct yaml_node **end = &parent->first;
    while (*end)
        end = &(*end)->next;
    *end = node;
    parent->count++;
}

/* The member, made when it is missing; NULL after a mistake. */
static struct yaml_node *member(const struct override *override, struct yaml_node *map,
                                const char *key, enum yaml_kind kind)
{
    struct yaml_node *node = map->first;
    while (node && strcmp(node->key, key) != 0)
        node = node->next;
    if (!node && (node = new_node(override, kind))) {
        node->key = key;
        node->key_line = 1;
        append(map, node);
    }
    /* A section in which all keys are commented out. */
    if (node && node->kind == YAML_SCALAR && node->text_len == 0 && !node->quoted)
        node->kind = kind;
    if (!node || node->kind == kind || kind == YAML_SCALAR)
        return node;
    config_mistakes_add(override->source->mistakes, "%s: %s has no keys in the file",
                        override->variable, key);
    return NULL;
}

/* The map of that index; the one after the last is made. */
static struct yaml_node *entry(const struct override *override, struct yaml_node *list,
                               struct td_str index)
{
    uint64_t number;
    if (!str_to_u64(index, &number) || number > list->count) {
        config_mistakes_add(override->source->mistakes,
                            "%s: '%.*s' must be the index of an entry, from 0 to %zu",
                            override->variable, (int)index.len, index.data, list->count);
        return NULL;
    }
    struct yaml_node *node = list->first;
    for (uint64_t i = 0; node && i < number; i++)
        node = node->next;
    if (!node && (node = new_node(override, YAML_MAP)))
        append(list, node);
    return node;
}

static bool takes_list(const struct config_key *key)
{
    return key->type == CONFIG_KEY_TEXTS || key->type == CONFIG_KEY_WORDS ||
           key->type == CONFIG_KEY_MASK;
}

/* A list is written as in the file, [a, b], or with commas alone. */
static void set_value(const struct override *override, const struct config_key *key,
                      struct yaml_node *node)
{
    struct td_str rest = override->value, part;
    bool brackets = rest.len >= 2 && rest.data[0] == '[' && rest.data[rest.len - 1] == ']';
    bool list = takes_list(key) &&
                (key->type == CONFIG_KEY_TEXTS || brackets || memchr(rest.data, ',', rest.len));
    node->variable = override->variable;
    node->quoted = false;
    node->first = NULL;
    node->count = 0;
    node->kind = list ? YAML_LIST : YAML_SCALAR;
    node->text = override->value.data;
    node->text_len = override->value.len;
    if (list && brackets)
        rest = str_slice(rest, 1, rest.len - 1);
    while (list && str_next(&rest, ',', &part)) {
        struct yaml_node *item = new_node(override, YAML_SCALAR);
        part = str_trim(part);
        if (part.len >= 2 && part.data[0] == part.data[part.len - 1] &&
            (part.data[0] == '"' || part.data[0] == '\''))
            part = str_slice(part, 1, part.len - 1);
        if (!item || !(item->text = arena_copy(override->source->arena, part))) {
            config_mistakes_add(override->source->mistakes, "%s: the environment is too large",
                                override->variable);
            return;
        }
        item->text_len = part.len;
        append(node, item);
    }
}

/* Takes the next part of "tiers__0__model" in lower case. */
static struct td_str next_part(const char **path)
{
    const char *end = strstr(*path, BETWEEN);
    struct td_str part = {*path, end ? (size_t)(end - *path) : strlen(*path)};
    *path = end ? end + strlen(BETWEEN) : *path + part.len;
    return part;
}

static void apply(const struct override *override, const char *path, struct yaml_node *root)
{
    const struct config_section *section = &keys_root;
    struct yaml_node *map = root;
    while (map) {
        char name[NAME_BYTES];
        struct td_str part = next_part(&path);
        snprintf(name, sizeof name, "%.*s", (int)part.len, part.data);
        const struct config_key *key = keys_find(section, name);
        bool last = !*path;
        if (!key || key->type == CONFIG_KEY_REFUSED) {
            config_mistakes_add(override->source->mistakes,
                                "%s names no key of the configuration: '%s' is unknown%s",
                                override->variable, name,
                                key ? "" : keys_suggest(section, name).text);
            return;
        }
        if (last == keys_has_section(key)) {
            config_mistakes_add(override->source->mistakes, "%s: '%s' %s", override->variable, name,
                                last ? "has keys of its own; name one of them, after " BETWEEN
                                     : "has no keys of its own");
            return;
        }
        if (last) {
            struct yaml_node *node = member(override, map, key->name, YAML_SCALAR);
            if (node)
                set_value(override, key, node);
            return;
        }
        section = key->section;
        map = member(override, map, key->name,
                     key->type == CONFIG_KEY_SECTIONS ? YAML_LIST : YAML_MAP);
        if (map && key->type == CONFIG_KEY_SECTIONS)
            map = entry(override, map, next_part(&path));
        if (map && !*path) {
            config_mistakes_add(override->source->mistakes, "%s ends before the name of a key",
                                override->variable);
            return;
        }
    }
}

static void put(const struct keys_source *source, struct td_str name, const char *path,
                struct td_str value, struct yaml_node **tree)
{
    struct override override = {source, arena_copy(source->arena, name), {0}};
    const char *copy = arena_copy(source->arena, value);
    if (!override.variable || !copy) {
        config_mistakes_add(source->mistakes, "the environment is too large");
        return;
    }
    override.value = (struct td_str){copy, value.len};
    if (!*tree)
        *tree = new_node(&override, YAML_MAP);
    if (*tree && (*tree)->kind == YAML_MAP)
        apply(&override, path, *tree);
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

void config_overrides_apply(char *const *variables, const struct config_environment *env,
                            const struct keys_source *source, struct yaml_node **tree)
{
    char *found[VARIABLES_MAX];
    size_t count = 0;
    for (; variables && *variables && count < VARIABLES_MAX; variables++)
        if (is_override(*variables))
            found[count++] = *variables;
    /* Entry 1 of a list can be made only after entry 0, and the environment has no order. */
    qsort(found, count, sizeof *found, by_version);
    for (size_t i = 0; i < count; i++) {
        char path[NAME_BYTES];
        struct td_str name = {found[i], strcspn(found[i], "=")};
        struct td_str value = str_from(found[i] + name.len + 1);
        if (value.len == 0)
            continue; /* as everywhere: an empty variable is none */
        size_t len = 0;
        for (size_t j = strlen(PREFIX); j < name.len && len + 1 < sizeof path; j++)
            path[len++] = (char)ascii_lower(name.data[j]);
        path[len] = '\0';
        put(source, name, path, value, tree);
    }
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++) {
        const char *value = config_environment_get(env, short_names[i].variable);
        if (value)
            put(source, str_from(short_names[i].variable), short_names[i].path, str_from(value),
                tree);
    }
}
