/* Reads one YAML map by its section of the tables. The recursion follows the nesting of the
 * tables, which is fixed, and not that of the input. A message names file, line and path of the
 * key. */
#include "app/config/keys.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct place {
    const struct keys_source *source;
    const struct yaml_node *node; /* the value; NULL for a default */
    const char *where;            /* path of the map, "" at the root */
};

/* "file:line", or the variable that the value is from */
struct origin {
    char text[200];
};

static struct origin origin_of(const struct place *place)
{
    struct origin origin;
    if (place->node && place->node->variable)
        snprintf(origin.text, sizeof origin.text, "%s", place->node->variable);
    else
        snprintf(origin.text, sizeof origin.text, "%.180s:%u", place->source->label,
                 place->node ? place->node->key ? place->node->key_line : place->node->line : 0);
    return origin;
}

static bool wrong(const struct place *place, const struct config_key *key, const char *expected,
                  const char *found)
{
    return config_mistakes_add(place->source->mistakes, "%s: %s%s%s must be %s%s%.60s%s",
                               origin_of(place).text, place->where, *place->where ? "." : "",
                               key->name, expected, found ? ", not '" : "", found ? found : "",
                               found ? "'" : "");
}

static void store(void *base, size_t offset, const void *value, size_t bytes)
{
    memcpy((char *)base + offset, value, bytes);
}

static bool read_number(const struct place *place, const struct config_key *key, const char *text,
                        bool quoted, void *base)
{
    char range[96];
    double number;
    bool whole = key->type != CONFIG_KEY_NUMBER, share = !whole && key->max <= 1;
    snprintf(range, sizeof range, "%s from %.10g to %.10g%s", whole ? "a whole number" : "a number",
             key->min, key->max,
             share                              ? ", or a percentage"
             : key->type == CONFIG_KEY_UINT_ALL ? ", or all"
                                                : "");
    if (key->type == CONFIG_KEY_UINT_ALL && strcmp(text, "all") == 0) {
        uint32_t all = UINT32_MAX;
        store(base, key->offset, &all, sizeof all);
        return true;
    }
    uint64_t integer = 0;
    bool ok = (!quoted || (share && str_ends_with(str_from(text), STR("%")))) &&
              (whole ? str_to_u64(str_from(text), &integer)
                     : (share ? str_to_share : str_to_double)(str_from(text), &number));
    if (!ok)
        return wrong(place, key, range, text);
    if (whole)
        number = (double)integer;
    if (!(number >= key->min && number <= key->max))
        return wrong(place, key, range, text);
    if (whole) {
        uint32_t value = (uint32_t)integer;
        store(base, key->offset, &value, sizeof value);
    } else {
        store(base, key->offset, &number, sizeof number);
    }
    return true;
}

static bool find_choice(const struct place *place, const struct config_key *key, const char *text,
                        int *out)
{
    char list[320] = "one of";
    size_t count = 0;
    for (; key->choices[count]; count++) {
        if (strcmp(key->choices[count], text) == 0) {
            *out = (int)count;
            return true;
        }
        size_t len = strlen(list);
        snprintf(list + len, sizeof list - len, "%s %s", count ? "," : "", key->choices[count]);
    }
    return wrong(place, key, list, text);
}

static bool read_choice(const struct place *place, const struct config_key *key, const char *text,
                        void *base)
{
    int value = 0;
    bool ok = find_choice(place, key, text, &value);
    if (ok)
        store(base, key->offset, &value, sizeof value);
    return ok;
}

static bool read_scalar(const struct place *place, const struct config_key *key, const char *text,
                        bool quoted, void *base)
{
    switch (key->type) {
    case CONFIG_KEY_TEXT:
        if (!*text || (!quoted && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)))
            return wrong(place, key, "a text; leave the key out for its default", NULL);
        store(base, key->offset, &text, sizeof text);
        return true;
    case CONFIG_KEY_BOOL: {
        bool yes = strcmp(text, "true") == 0;
        if (quoted || (!yes && strcmp(text, "false") != 0))
            return wrong(place, key, "true or false", text);
        store(base, key->offset, &yes, sizeof yes);
        return true;
    }
    case CONFIG_KEY_CHOICE:
        return read_choice(place, key, text, base);
    default:
        return read_number(place, key, text, quoted, base);
    }
}

static bool read_texts(const struct place *place, const struct config_key *key,
                       const struct yaml_node *node, void *base)
{
    struct config_texts texts = {NULL, 0};
    if (node->kind != YAML_LIST)
        return wrong(place, key, "a list", NULL);
    if ((double)node->count > key->max)
        return wrong(place, key, "a shorter list", NULL);
    texts.items = arena_alloc_array(place->source->arena, node->count + 1, sizeof *texts.items);
    if (!texts.items)
        return wrong(place, key, "smaller", NULL);
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        if (item->kind != YAML_SCALAR || item->text_len == 0)
            return wrong(place, key, "a list of texts", NULL);
        texts.items[texts.count++] = item->text;
    }
    store(base, key->offset, &texts, sizeof texts);
    return true;
}

/* Any of the choices: [a, b], or a alone. */
static bool read_mask(const struct place *place, const struct config_key *key,
                      const struct yaml_node *node, void *base)
{
    uint32_t mask = 0;
    int value = 0;
    if (node->kind == YAML_MAP || (node->kind == YAML_LIST && node->count == 0))
        return wrong(place, key, "a value or a list of values", NULL);
    for (const struct yaml_node *item = node->kind == YAML_LIST ? node->first : node; item;
         item = item->next) {
        if (item->kind != YAML_SCALAR)
            return wrong(place, key, "a list of values", NULL);
        if (!find_choice(place, key, item->text, &value))
            return false;
        mask |= 1u << value;
        if (node->kind == YAML_SCALAR)
            break; /* its siblings are other keys */
    }
    store(base, key->offset, &mask, sizeof mask);
    return true;
}

static bool read_words(const struct place *place, const struct config_key *key,
                       const struct yaml_node *node, void *base)
{
    if (node->kind == YAML_LIST && node->count == 0)
        return wrong(place, key, "a text or a list of texts", NULL);
    if (node->kind != YAML_SCALAR)
        return read_texts(place, key, node, base);
    struct yaml_node item = *node;
    item.next = NULL;
    struct yaml_node list = {.kind = YAML_LIST, .line = node->line, .first = &item, .count = 1};
    return read_texts(place, key, &list, base);
}

static bool read_sections(const struct place *place, const struct config_key *key,
                          const struct yaml_node *node, void *base)
{
    const struct config_section *section = key->section;
    if (node->kind != YAML_LIST || node->count == 0)
        return wrong(place, key, "a list of maps, each starting with '- name:'", NULL);
    if ((double)node->count > key->max) {
        char most[64];
        snprintf(most, sizeof most, "at most %.0f entries long", key->max);
        return wrong(place, key, most, NULL);
    }
    char *items = arena_alloc_array(place->source->arena, node->count, section->bytes);
    if (!items)
        return wrong(place, key, "smaller", NULL);
    size_t index = 0;
    bool all_ok = true;
    for (const struct yaml_node *item = node->first; item; item = item->next, index++) {
        char where[160];
        snprintf(where, sizeof where, "%s%s%s[%zu]", place->where, *place->where ? "." : "",
                 key->name, index);
        char *at = items + index * section->bytes;
        const struct place here = {place->source, item, where};
        store(at, section->line_offset, &item->line, sizeof item->line);
        bool ok = item->kind == YAML_MAP
                      ? keys_read(place->source, section, item, where, at)
                      : config_mistakes_add(place->source->mistakes, "%s: %s must be a map",
                                            origin_of(&here).text, where);
        all_ok = all_ok && ok;
    }
    store(base, key->offset, &items, sizeof items);
    store(base, key->count_offset, &node->count, sizeof node->count);
    return all_ok;
}

static bool read_key(const struct place *place, const struct config_key *key,
                     const struct yaml_node *node, void *base)
{
    char where[160];
    switch (key->type) {
    case CONFIG_KEY_REFUSED:
        return config_mistakes_add(place->source->mistakes, "%s: %s%s%s: %s", origin_of(place).text,
                                   place->where, *place->where ? "." : "", key->name,
                                   packed_help(key->help));
    case CONFIG_KEY_SECTION:
        if (node->kind == YAML_SCALAR && node->text_len == 0 && !node->quoted)
            return true; /* a heading whose keys are commented out */
        if (node->kind != YAML_MAP)
            return wrong(place, key, "a map of keys", NULL);
        snprintf(where, sizeof where, "%s%s%s", place->where, *place->where ? "." : "", key->name);
        return keys_read(place->source, key->section, node, where, base);
    case CONFIG_KEY_SECTIONS:
        return read_sections(place, key, node, base);
    case CONFIG_KEY_TEXTS:
        return read_texts(place, key, node, base);
    case CONFIG_KEY_WORDS:
        return read_words(place, key, node, base);
    case CONFIG_KEY_MASK:
        return read_mask(place, key, node, base);
    default:
        if (node->kind != YAML_SCALAR)
            return wrong(place, key, "a single value", NULL);
        return read_scalar(place, key, node->text, node->quoted, base);
    }
}

/* A default that does not pass its own row is our bug. */
static bool read_default(const struct place *place, const struct config_key *key, void *base)
{
    if (key->type == CONFIG_KEY_SECTION)
        return keys_read(place->source, key->section, NULL, "", base);
    if (key->type == CONFIG_KEY_CHOICE && !key->otherwise) {
        int none = -1;
        store(base, key->offset, &none, sizeof none);
    }
    if (key->type == CONFIG_KEY_NUMBER && !key->otherwise) {
        double none = (double)NAN;
        store(base, key->offset, &none, sizeof none);
    }
    return !key->otherwise || read_scalar(place, key, key->otherwise, false, base);
}

const struct config_key *keys_find(const struct config_section *section, const char *name)
{
    for (size_t i = 0; i < section->key_count; i++)
        if (strcmp(section->keys[i].name, name) == 0)
            return &section->keys[i];
    return NULL;
}

struct error_suggestion keys_suggest(const struct config_section *section, const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (; count < section->key_count && count < 64; count++)
        names[count] = section->keys[count].name;
    return error_suggest(str_from(name), names, count);
}

static bool refuse_unknown(const struct place *place, const struct config_section *section,
                           const char *name)
{
    return config_mistakes_add(place->source->mistakes, "%s: unknown key '%.60s'%s%s%s",
                               origin_of(place).text, name, *place->where ? " in " : "",
                               place->where, keys_suggest(section, name).text);
}

/* Keys that must be there. */
static bool check_required(const struct place *place, const struct config_section *section,
                           const struct yaml_node *map)
{
    const struct yaml_node *name = yaml_tree_get(map, "name");
    const char *named = name && name->kind == YAML_SCALAR ? name->text : "unnamed";
    bool all_ok = true;
    for (size_t i = 0; i < section->key_count; i++)
        if (section->keys[i].required && !yaml_tree_get(map, section->keys[i].name))
            all_ok = config_mistakes_add(place->source->mistakes,
                                         *place->where ? "%s: %s (%.60s) needs the key '%s': %s"
                                                       : "%s: %s%.0sit needs the key '%s': %s",
                                         origin_of(place).text, place->where, named,
                                         section->keys[i].name, packed_help(section->keys[i].help));
    return all_ok;
}

bool keys_read(const struct keys_source *source, const struct config_section *section,
               const struct yaml_node *map, const char *where, void *base)
{
    ASSERT(!map || map->kind == YAML_MAP);
    struct place place = {source, map, where};
    bool all_ok = true;
    for (size_t i = 0; i < section->key_count; i++)
        all_ok = read_default(&place, &section->keys[i], base) && all_ok;
    for (const struct yaml_node *node = map ? map->first : NULL; node; node = node->next) {
        const struct config_key *key = keys_find(section, node->key);
        place.node = node;
        bool ok =
            key ? read_key(&place, key, node, base) : refuse_unknown(&place, section, node->key);
        all_ok = all_ok && ok;
    }
    place.node = map;
    return (!map || check_required(&place, section, map)) && all_ok;
}

enum td_status keys_read_own(const char *label, const struct config_section *section,
                             const struct yaml_node *map, struct arena *arena, void *base,
                             struct td_error *err)
{
    struct config_mistakes *mistakes = calloc(1, sizeof *mistakes);
    if (!mistakes)
        return error_set(err, TD_NO_MEMORY, "%s: no memory", label);
    const struct keys_source source = {label, arena, mistakes};
    bool ok = keys_read(&source, section, map, "", base);
    enum td_status status = config_mistakes_status(mistakes, err);
    ASSERT(ok == (status == TD_OK));
    (void)ok;
    free(mistakes);
    return status;
}
