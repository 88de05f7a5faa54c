/* Walks the tables of keys over the struct, and beside it the tree of what was written. */
#include "app/cli/config_values.h"

#include "app/config/keys.h"
#include "base/core/str.h"

#include <math.h>
#include <string.h>

#define ORIGIN_COLUMN 48

struct walk {
    const struct config *config;
    bool all;
    struct buf *out;
};

/* A text that YAML would read as something else, or not at all, stands in quotes. */
static void write_text(struct buf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/.";
    static const char inside[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/.-0123456789";
    size_t len = strlen(text);
    if (len && strchr(plain, text[0]) && strspn(text, inside) == len) {
        buf_append_str(out, str_from(text));
        return;
    }
    buf_append_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_append_char(out, '\\');
        if ((unsigned char)*text < ' ')
            buf_printf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else
            buf_append_char(out, *text);
    }
    buf_append_char(out, '"');
}

static void write_mask(struct buf *out, const struct config_key *key, uint32_t mask)
{
    const char *before = "[";
    for (size_t i = 0; key->choices[i]; i++)
        if (mask >> i & 1) {
            buf_printf(out, "%s%s", before, key->choices[i]);
            before = ", ";
        }
    buf_append_char(out, ']');
}

static void write_texts(struct buf *out, const struct config_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        buf_append_str(out, i ? STR(", ") : STR("["));
        write_text(out, texts->items[i]);
    }
    buf_append_char(out, ']');
}

/* False when the key has no value. */
static bool write_value(struct buf *out, const struct config_key *key, const char *base)
{
    const char *at = base + key->offset;
    switch (key->type) {
    case CONFIG_KEY_UINT_ALL:
        if (*(const uint32_t *)at == UINT32_MAX) {
            buf_append_str(out, STR("all"));
            return true;
        }
        /* fall through */
    case CONFIG_KEY_UINT:
        buf_printf(out, "%u", *(const uint32_t *)at);
        return true;
    case CONFIG_KEY_NUMBER:
        if (isnan(*(const double *)at))
            return false;
        buf_printf(out, "%.10g", *(const double *)at);
        return true;
    case CONFIG_KEY_BOOL:
        buf_append_str(out, *(const bool *)at ? STR("true") : STR("false"));
        return true;
    case CONFIG_KEY_CHOICE:
        if (*(const int *)at < 0)
            return false;
        buf_append_str(out, str_from(key->choices[*(const int *)at]));
        return true;
    case CONFIG_KEY_MASK:
        if (!*(const uint32_t *)at)
            return false;
        write_mask(out, key, *(const uint32_t *)at);
        return true;
    case CONFIG_KEY_TEXTS:
    case CONFIG_KEY_WORDS:
        if (!((const struct config_texts *)at)->count)
            return false;
        write_texts(out, (const struct config_texts *)at);
        return true;
    default:
        if (!*(const char *const *)at)
            return false;
        write_text(out, *(const char *const *)at);
        return true;
    }
}

static void write_origin(const struct walk *walk, size_t line_start, const struct yaml_node *node)
{
    size_t column = buf_view(walk->out).len - line_start;
    buf_printf(walk->out, "%*s# ", (int)(column < ORIGIN_COLUMN ? ORIGIN_COLUMN - column : 1), "");
    if (!node)
        buf_append_str(walk->out, STR("default"));
    else if (node->variable)
        buf_append_str(walk->out, str_from(node->variable));
    else
        buf_printf(walk->out, "%s:%u", walk->config->label, node->key_line);
    buf_append_char(walk->out, '\n');
}

static void write_section(const struct walk *walk, const struct config_section *section,
                          const char *base, const struct yaml_node *map, int indent);

/* The entries of a list; its first key follows the dash. */
static void write_entries(const struct walk *walk, const struct config_key *key, const char *base,
                          const struct yaml_node *list, int indent)
{
    const char *items = *(const char *const *)(base + key->offset);
    size_t count = *(const size_t *)(base + key->count_offset);
    const struct yaml_node *node = list ? list->first : NULL;
    for (size_t i = 0; i < count; i++, node = node ? node->next : NULL) {
        size_t start = buf_view(walk->out).len;
        write_section(walk, key->section, items + i * key->section->bytes, node, indent + 2);
        if (buf_view(walk->out).len > start && !walk->out->failed)
            walk->out->data[start + (size_t)indent] = '-';
    }
}

/* A heading stays only when something stands under it. */
static void write_below(const struct walk *walk, const struct config_key *key, const char *base,
                        const struct yaml_node *node, int indent)
{
    size_t start = buf_view(walk->out).len;
    buf_printf(walk->out, "%*s%s:\n", indent, "", key->name);
    size_t begun = buf_view(walk->out).len;
    if (key->type == CONFIG_KEY_SECTION)
        write_section(walk, key->section, base, node, indent + 2);
    else
        write_entries(walk, key, base, node, indent + 2);
    if (buf_view(walk->out).len == begun && !walk->out->failed)
        buf_truncate(walk->out, start);
}

/* What only one kind of tier has is no value of the others. */
static bool belongs(const struct config_section *section, const struct config_key *key,
                    const char *base)
{
    return section != &keys_tier || strcmp(key->name, "review") != 0 ||
           ((const struct config_tier *)base)->kind == CONFIG_TIER_REVIEW;
}

static void write_section(const struct walk *walk, const struct config_section *section,
                          const char *base, const struct yaml_node *map, int indent)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        const struct yaml_node *node = yaml_tree_get(map, key->name);
        size_t start = buf_view(walk->out).len;
        if (keys_has_section(key) || key->type == CONFIG_KEY_REFUSED || (!node && !walk->all))
            continue;
        buf_printf(walk->out, "%*s%s: ", indent, "", key->name);
        if (write_value(walk->out, key, base))
            write_origin(walk, start, node);
        else if (!walk->out->failed)
            buf_truncate(walk->out, start);
    }
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        const struct yaml_node *node = yaml_tree_get(map, key->name);
        if (keys_has_section(key) && (node || (walk->all && belongs(section, key, base))))
            write_below(walk, key, base, node, indent);
    }
}

void config_values_write(const struct config *config, bool all, struct buf *out)
{
    const struct walk walk = {config, all, out};
    write_section(&walk, &keys_root, (const char *)config, config->tree, 0);
}
