/* Keys and passwords never stand in a configuration. The value of a header that a server gets may
 * be one all the same, so it is not shown. A change of a program that the server runs is refused in
 * any case: who has an operator's key should not become whoever runs the server. */
#include "app/desk/config_text.h"

#include "app/config/yaml_tree.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <string.h>

#define HIDDEN "(hidden "

/* --- secrets --- */

/* The n-th value of a header that stands in the text, from 0; NULL = there are no more. */
static const struct yaml_node *find_secret(const struct config *config, size_t n)
{
    const struct yaml_node *tiers = config->tree ? yaml_tree_get(config->tree, "tiers") : NULL;
    for (const struct yaml_node *tier = tiers ? tiers->first : NULL; tier; tier = tier->next) {
        const struct yaml_node *headers = yaml_tree_get(tier, "headers");
        for (const struct yaml_node *at = headers ? headers->first : NULL; at; at = at->next) {
            const struct yaml_node *value = yaml_tree_get(at, "value");
            if (value && !value->variable && value->text_len && n-- == 0)
                return value;
        }
    }
    return NULL;
}

/* Where line `number` (from 1) begins. */
static size_t find_line(struct td_str text, uint32_t number)
{
    size_t at = 0;
    while (--number && at < text.len)
        at = str_find(text, STR("\n"), at) + 1;
    return at;
}

enum td_status config_text_hide(const struct config *config, struct td_str text, struct buf *out,
                                struct td_error *err)
{
    const struct yaml_node *secret;
    size_t done = 0;
    for (size_t n = 0; (secret = find_secret(config, n)); n++) {
        const struct td_str value = {secret->text, secret->text_len};
        size_t line = find_line(text, secret->line), end = str_find(text, STR("\n"), line);
        size_t key = str_find(text, STR("value"), line > done ? line : done);
        size_t at = key < end ? str_find(text, value, key + 5) : SIZE_MAX;
        if (at == SIZE_MAX || at > end)
            return error_set(err, TD_UNSUPPORTED,
                             "%s:%u: the value of a header stands there in a form that cannot be "
                             "hidden, so the text is not shown; write it on one line, or use "
                             "'env'",
                             config->label, secret->line);
        buf_append_str(out, str_slice(text, done, at));
        buf_printf(out, HIDDEN "%zu)", n + 1);
        done = at + value.len;
    }
    buf_append_str(out, str_slice(text, done, text.len));
    return TD_OK;
}

void config_text_restore(const struct config *config, struct td_str text, struct buf *out)
{
    size_t done = 0, at;
    while ((at = str_find(text, STR(HIDDEN), done)) != SIZE_MAX) {
        size_t number = at + strlen(HIDDEN), end = str_find(text, STR(")"), number);
        uint64_t n = 0;
        const struct yaml_node *secret =
            end != SIZE_MAX && str_to_u64(str_slice(text, number, end), &n) && n > 0
                ? find_secret(config, (size_t)n - 1)
                : NULL;
        buf_append_str(out, str_slice(text, done, at));
        if (secret)
            buf_append(out, secret->text, secret->text_len);
        else
            buf_append_str(out, STR(HIDDEN));
        done = secret ? end + 1 : number;
    }
    buf_append_str(out, str_slice(text, done, text.len));
}

/* --- what may be changed --- */

const char *const config_text_open_sections[] = {"routes", "rules",  "budgets",
                                                 "policy", "shadow", NULL};

static bool is_same(const struct yaml_node *a, const struct yaml_node *b)
{
    if (!a || !b || a->kind != b->kind || a->count != b->count || a->text_len != b->text_len)
        return !a && !b;
    if (a->kind == YAML_SCALAR)
        return a->quoted == b->quoted && memcmp(a->text, b->text, a->text_len) == 0;
    bool same = true;
    for (a = a->first, b = b->first; a && b && same; a = a->next, b = b->next)
        same = (!a->key == !b->key && (!a->key || strcmp(a->key, b->key) == 0)) && is_same(a, b);
    return same;
}

static bool is_open(const char *section)
{
    bool open = false;
    for (const char *const *at = config_text_open_sections; *at; at++)
        open = open || strcmp(*at, section) == 0;
    return open;
}

static void add(struct json *errors, uint32_t line, const char *name, const char *why)
{
    char text[TD_ERROR_BYTES];
    struct json *row = json_new_object();
    snprintf(text, sizeof text, "'%.60s' %s", name, why);
    json_put(row, "line", json_new_int(line));
    json_put(row, "text", json_new_cstr(text));
    json_push(errors, row);
}

/* Each section of `one` that `other` has otherwise; those of both are named once. */
static void refuse_sections(const struct yaml_node *one, const struct yaml_node *other, bool first,
                            struct json *errors)
{
    for (const struct yaml_node *at = one ? one->first : NULL; at; at = at->next) {
        const struct yaml_node *twin = other ? yaml_tree_get(other, at->key) : NULL;
        if (!is_open(at->key) && (first || !twin) && !is_same(at, twin))
            add(errors, first ? at->key_line : 1, at->key,
                "is changed only in the file itself where no key is needed; with an operator's "
                "key it can be changed here");
    }
}

static bool runs_the_same(const struct config_tier *a, const struct config_tier *b)
{
    bool same = b && a->token_command.count == b->token_command.count;
    for (size_t i = 0; same && i < a->token_command.count; i++)
        same = strcmp(a->token_command.items[i], b->token_command.items[i]) == 0;
    return same;
}

void config_text_refuse(const struct config *before, const struct config *after, bool open,
                        struct json *errors)
{
    const struct yaml_node *old = before ? before->tree : NULL;
    if (open) {
        refuse_sections(after->tree, old, true, errors);
        refuse_sections(old, after->tree, false, errors);
    }
    for (size_t i = 0; i < after->tier_count; i++) {
        const struct config_tier *tier = &after->tiers[i];
        const struct config_tier *was = before ? config_tier_find(before, tier->name) : NULL;
        if (tier->token_command.count && !runs_the_same(tier, was))
            add(errors, tier->line, "token_command",
                "names a program that the server runs: it is changed only in the file itself");
    }
}
