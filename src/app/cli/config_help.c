/* `tandem help config` is written from the tables that also read the file, so that the two
 * cannot differ. A section's own keys come first, then the sections in it. */
#include "app/cli/config_help.h"

#include "app/cli/help.h"
#include "app/config/keys.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <string.h>

#define MEANING_COLUMN 24
#define PATH_BYTES 128

/* " [a | b | c; default a]", " [required]" */
static void write_values(const struct config_key *key, struct buf *out)
{
    const char *separator = " [";
    bool chooses = key->type == CONFIG_KEY_CHOICE || key->type == CONFIG_KEY_MASK;
    for (size_t i = 0; chooses && key->choices[i]; i++) {
        buf_printf(out, "%s%s", separator, key->choices[i]);
        separator = " | ";
    }
    if (chooses)
        separator = "; ";
    if (key->required)
        buf_printf(out, "%srequired]", separator);
    else if (key->otherwise)
        buf_printf(out, "%sdefault %s]", separator, key->otherwise);
    else if (chooses)
        buf_append_char(out, ']');
}

static void print_key(const struct config_key *key, FILE *out)
{
    struct buf meaning;
    buf_init(&meaning, 4096);
    buf_append_str(&meaning, str_from(packed_help(key->help)));
    write_values(key, &meaning);
    buf_append_char(&meaning, '\0');
    if (!meaning.failed)
        help_row(out, key->name, MEANING_COLUMN, meaning.data);
    buf_deinit(&meaning);
}

/* A section stands in the path of `wanted`, or below it: "routes[].gates" for "routes". */
static bool is_wanted(const char *path, const char *wanted)
{
    size_t len = wanted ? strlen(wanted) : 0;
    if (len == 0)
        return true;
    return strncmp(path, wanted, len) == 0 && (path[len] == '\0' || strchr(".[", path[len]));
}

static void print_heading(const char *path, const char *help, FILE *out)
{
    char heading[512];
    snprintf(heading, sizeof heading, "%s: %s", path, help);
    fputc('\n', out);
    help_text(out, 0, heading);
}

/* The keys of a section, then the sections in it. */
static void print_section(const struct config_section *section, const char *path, const char *help,
                          const char *wanted, FILE *out)
{
    bool shown = is_wanted(path, wanted);
    if (shown && *path)
        print_heading(path, help, out);
    for (size_t i = 0; shown && i < section->key_count; i++)
        if (!keys_has_section(&section->keys[i]) && section->keys[i].type != CONFIG_KEY_REFUSED)
            print_key(&section->keys[i], out);
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        char below[PATH_BYTES];
        if (!keys_has_section(key))
            continue;
        snprintf(below, sizeof below, "%s%s%s%s", path, *path ? "." : "", key->name,
                 key->type == CONFIG_KEY_SECTIONS ? "[]" : "");
        print_section(key->section, below, packed_help(key->help), wanted, out);
    }
}

static const char introduction[] =
    "The configuration is one YAML file: tandem serve --config FILE, or the variable "
    "TANDEM_CONFIG. "
    "Without a file the defaults hold. A section with [] in its name is a list of maps.\n"
    "'tandem help config SECTION' prints one section. TANDEM_SECTION__KEY=VALUE in the environment "
    "overrides a key, 'tandem config show' prints what is in force, and 'tandem config schema' the "
    "JSON Schema.\n";

enum td_status config_help_print(const char *section, FILE *out, struct td_error *err)
{
    const char *names[32];
    size_t count = 0;
    bool known = !section;
    for (size_t i = 0; i < keys_root.key_count && count < 32; i++) {
        if (!keys_has_section(&keys_root.keys[i]))
            continue;
        names[count++] = keys_root.keys[i].name;
        known = known || strcmp(keys_root.keys[i].name, section) == 0;
    }
    if (!known)
        return error_set(err, TD_NOT_FOUND, "the configuration has no section '%.60s'%s", section,
                         error_suggest(str_from(section), names, count).text);
    if (!section)
        help_text(out, 0, introduction);
    if (!section)
        fputc('\n', out);
    print_section(&keys_root, "", "", section, out);
    return TD_OK;
}
