/* tandem redact: writes a text with placeholders in the place of what is private, <EMAIL_ADDRESS_1>,
 * the same for the same value; and puts the values back with the vault that it kept. The vault holds
 * the values in the clear: it is for files on the machine that has the text anyway. */
#include "app/command.h"
#include "app/findings.h"
#include "app/options.h"
#include "app/privacy_setup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/names.h"
#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VAULT_VERSION 1
#define PLACEHOLDER_BYTES_MAX 96
#define OUTPUT_BYTES_MAX ((size_t)1 << 30)

struct vault {
    struct json *root;   /* {"version", "values": {placeholder: value}} */
    struct json *values; /* borrowed from root */
    struct json *known;  /* "TYPE value" -> placeholder */
    struct json *next;   /* type -> the number that comes next */
};

/* <TYPE_12> at the beginning of the text: its length, 0 when it is none; *type: without number. */
static size_t placeholder_len(struct td_str text, struct td_str *type)
{
    size_t i = 1, underscore = 0;
    if (text.len < 5 || text.data[0] != '<')
        return 0;
    while (i < text.len && i < PLACEHOLDER_BYTES_MAX &&
           ((text.data[i] >= 'A' && text.data[i] <= 'Z') ||
            (text.data[i] >= '0' && text.data[i] <= '9') || text.data[i] == '_')) {
        if (text.data[i] == '_')
            underscore = i;
        i++;
    }
    if (i >= text.len || text.data[i] != '>' || underscore < 2 || underscore + 1 == i)
        return 0;
    for (size_t k = underscore + 1; k < i; k++)
        if (text.data[k] < '0' || text.data[k] > '9')
            return 0;
    *type = str_slice(text, 1, underscore);
    return i + 1;
}

static void vault_deinit(struct vault *vault)
{
    json_free(vault->root);
    json_free(vault->known);
    json_free(vault->next);
}

/* A placeholder is taken: the next of its type has a higher number. */
static void vault_reserve(struct vault *vault, struct td_str placeholder)
{
    struct td_str type;
    uint64_t number = 0;
    char name[PLACEHOLDER_BYTES_MAX + 1];
    if (placeholder_len(placeholder, &type) != placeholder.len)
        return;
    struct td_str digits = str_slice(placeholder, type.len + 2, placeholder.len - 1);
    if (!str_to_u64(digits, &number) || number >= INT64_MAX / 2)
        return;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(type));
    if (json_int(json_get(vault->next, name), 1) <= (int64_t)number)
        json_put(vault->next, name, json_new_int((int64_t)number + 1));
}

static void vault_remember(struct vault *vault, const char *placeholder, struct td_str value)
{
    struct td_str type;
    struct buf key;
    buf_init(&key, value.len + PLACEHOLDER_BYTES_MAX + 2);
    (void)placeholder_len(str_from(placeholder), &type);
    buf_printf(&key, STR_FMT " ", STR_ARG(type));
    buf_append_str(&key, value);
    if (!key.failed)
        json_put(vault->known, key.data, json_new_cstr(placeholder));
    buf_deinit(&key);
}

static enum td_status vault_fill(struct vault *vault, const char *path, struct td_error *err)
{
    void *iterator = NULL;
    const char *placeholder;
    const struct json *value;
    struct td_str type;
    if (json_int(json_get(vault->root, "version"), 0) != VAULT_VERSION ||
        json_kind_of(json_get(vault->root, "values")) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "%s is not a vault of version %d", path, VAULT_VERSION);
    const struct json *stored = json_get(vault->root, "values");
    while (json_next(stored, &iterator, &placeholder, &value)) {
        struct td_str name = str_from(placeholder);
        if (placeholder_len(name, &type) != name.len || json_kind_of(value) != JSON_KIND_TEXT)
            return error_set(err, TD_INVALID,
                             "%s: \"%.80s\" is no placeholder with a text; the file was changed",
                             path, placeholder);
        json_put(vault->values, placeholder, json_clone(value));
        vault_reserve(vault, name);
        vault_remember(vault, placeholder, json_text(value));
    }
    return TD_OK;
}

/* path NULL, or no such file and `create`: an empty one. */
static enum td_status vault_open(struct vault *vault, const char *path, bool create,
                                 struct td_error *err)
{
    struct buf bytes = {0};
    *vault = (struct vault){
        .values = json_new_object(), .known = json_new_object(), .next = json_new_object()};
    if (path == NULL || (create && access(path, F_OK) != 0 && errno == ENOENT))
        return TD_OK;
    enum td_status status = command_read_all(path, &bytes, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&bytes), &vault->root, err);
    if (status == TD_OK)
        status = vault_fill(vault, path, err);
    buf_deinit(&bytes);
    return status;
}

static enum td_status write_whole(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(fd, data, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return TD_IO;
        data += wrote;
        len -= (size_t)wrote;
    }
    return TD_OK;
}

/* Whole or not at all, readable by the owner alone. */
static enum td_status vault_save(const struct vault *vault, const char *path, struct td_error *err)
{
    char partial[4096];
    struct buf bytes;
    if (snprintf(partial, sizeof partial, "%s.%ld.part", path, (long)getpid()) >=
        (int)sizeof partial)
        return error_set(err, TD_INVALID, "the vault's path is longer than %zu bytes",
                         sizeof partial);
    struct json *root = json_new_object();
    json_put(root, "version", json_new_int(VAULT_VERSION));
    json_put(root, "values", json_clone(vault->values));
    buf_init(&bytes, OUTPUT_BYTES_MAX);
    json_write(root, &bytes);
    json_free(root);
    buf_append_char(&bytes, '\n');
    enum td_status status = bytes.failed ? TD_LIMIT : TD_OK;
    int fd = status == TD_OK ? open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || write_whole(fd, bytes.data, bytes.len) != TD_OK || fsync(fd) != 0 ||
        rename(partial, path) != 0)
        status = error_set(err, status == TD_OK ? TD_IO : status, "cannot write the vault %s: %s",
                           path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status != TD_OK)
        unlink(partial);
    buf_deinit(&bytes);
    return status;
}

/* The placeholder of a value: the one that it has, or the next number of its type. Borrowed from
 * the vault. */
static const char *vault_name(struct vault *vault, const char *type, struct td_str value)
{
    char placeholder[PLACEHOLDER_BYTES_MAX + 1];
    struct buf key;
    buf_init(&key, value.len + PLACEHOLDER_BYTES_MAX + 2);
    buf_printf(&key, "%s ", type);
    buf_append_str(&key, value);
    const char *known = key.failed ? NULL : json_cstr(json_get(vault->known, key.data));
    if (known == NULL && !key.failed) {
        int64_t number = json_int(json_get(vault->next, type), 1);
        snprintf(placeholder, sizeof placeholder, "<%s_%lld>", type, (long long)number);
        json_put(vault->next, type, json_new_int(number + 1));
        json_put(vault->values, placeholder, json_new_text(value));
        json_put(vault->known, key.data, json_new_cstr(placeholder));
        known = json_cstr(json_get(vault->known, key.data));
    }
    buf_deinit(&key);
    return known;
}

/* Placeholders that the text already has must not be given to anything else. */
static void reserve_present(struct vault *vault, struct td_str text)
{
    struct td_str type;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '<')
            continue;
        size_t len = placeholder_len(str_slice(text, i, i + PLACEHOLDER_BYTES_MAX + 1), &type);
        if (len > 0)
            vault_reserve(vault, str_slice(text, i, i + len));
    }
}

/* An operator's names may have small letters and dashes; placeholders are <A-Z0-9_>. */
static void type_of(const char *name, char type[static FINDINGS_NAME_BYTES])
{
    size_t len = strlen(name);
    for (size_t i = 0; i <= len; i++)
        type[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - ('a' - 'A')
                         : name[i] == '-'                 ? '_'
                                                          : name[i]);
}

static enum td_status redact(struct td_str text, enum td_data_class lowest, struct vault *vault,
                             struct buf *out, struct json *rows, struct td_error *err)
{
    struct findings findings;
    size_t done = 0;
    enum td_status status = findings_of(text, &findings, err);
    reserve_present(vault, text);
    for (size_t i = 0; i < findings.count && status == TD_OK; i++) {
        const struct privacy_span *span = &findings.spans[i];
        struct td_str value = str_slice(text, span->begin, span->end);
        if (span->data_class < lowest)
            continue;
        if (!utf8_is_valid(value) || memchr(value.data, '\0', value.len) != NULL) {
            status =
                error_set(err, TD_INVALID,
                          "bytes %zu to %zu are private and not text (UTF-8 without NUL), so they "
                          "could not be put back",
                          span->begin, span->end);
            break;
        }
        char name[FINDINGS_NAME_BYTES], type[FINDINGS_NAME_BYTES];
        findings_name(span, name);
        type_of(name, type);
        const char *placeholder = vault_name(vault, type, value);
        if (placeholder == NULL) {
            status = error_set(err, TD_NO_MEMORY, "no memory for the vault");
            break;
        }
        buf_append_str(out, str_slice(text, done, span->begin));
        buf_append_str(out, str_from(placeholder));
        done = span->end;
        struct json *row = json_new_object();
        json_put(row, "placeholder", json_new_cstr(placeholder));
        json_put(row, "type", json_new_cstr(name));
        json_put(row, "start", json_new_int((int64_t)span->begin));
        json_put(row, "end", json_new_int((int64_t)span->end));
        json_push(rows, row);
    }
    buf_append_str(out, str_slice(text, done, text.len));
    findings_deinit(&findings);
    return status;
}

static enum td_status restore(struct td_str text, const struct vault *vault, struct buf *out,
                              struct json *rows, int64_t *unknown)
{
    size_t done = 0;
    struct td_str type;
    for (size_t i = 0; i < text.len; i++) {
        size_t len =
            text.data[i] != '<'
                ? 0
                : placeholder_len(str_slice(text, i, i + PLACEHOLDER_BYTES_MAX + 1), &type);
        if (len == 0)
            continue;
        char name[PLACEHOLDER_BYTES_MAX + 2];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(str_slice(text, i, i + len)));
        const struct json *value = json_get(vault->values, name);
        if (value == NULL) {
            ++*unknown;
            continue;
        }
        buf_append_str(out, str_slice(text, done, i));
        buf_append_str(out, json_text(value));
        done = i + len;
        i = done - 1;
        json_push(rows, json_new_cstr(name));
    }
    buf_append_str(out, str_slice(text, done, text.len));
    return TD_OK;
}

static bool print_result(const struct buf *out, struct json *rows, int64_t unknown, bool restoring,
                         bool json)
{
    if (!json) {
        json_free(rows);
        return command_print(buf_view(out)) && fflush(stdout) == 0;
    }
    struct json *object = json_new_object();
    json_put(object, "text", json_new_text(buf_view(out)));
    json_put(object, restoring ? "restored" : "replaced", rows);
    if (restoring)
        json_put(object, "unknown", json_new_int(unknown));
    return command_print_json(object);
}

int cmd_redact(int argc, char **argv)
{
    const char *text = NULL, *config_path = NULL, *vault_path = NULL, *class_name = "sensitive",
               *positional[1] = {NULL};
    size_t positional_count = 0;
    bool json = false, restoring = false;
    const struct option options[] = {
        {"prompt", 'p', OPTION_TEXT, &text, "TEXT", "instead of a file or standard input", 0, 0},
        {"vault", 0, OPTION_TEXT, &vault_path, "FILE",
         "keeps the values (mode 0600), goes on with it", 0, 0},
        {"restore", 0, OPTION_FLAG, &restoring, NULL, "put the vault's values back", 0, 0},
        {"class", 0, OPTION_TEXT, &class_name, "CLASS",
         "the lowest to replace: public, sensitive (default), restricted", 0, 0},
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {"redact",
                                     "[FILE]",
                                     "Writes the text with <TYPE_N> in the place of what is "
                                     "private; the same value has the same\n"
                                     "N. With --vault FILE the values are kept there, and "
                                     "--restore --vault FILE puts them back.",
                                     options,
                                     sizeof options / sizeof *options,
                                     1};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, positional, &positional_count);

    enum td_data_class lowest = TD_CLASS_SENSITIVE;
    if (!names_class_parse(str_from(class_name), &lowest)) {
        fprintf(stderr, "tandem redact: --class is public, sensitive or restricted, not '%.40s'\n",
                class_name);
        return 2;
    }
    if (restoring && vault_path == NULL) {
        fputs("tandem redact: --restore needs --vault FILE\n", stderr);
        return 2;
    }
    struct td_error err = {0};
    struct buf input = {0}, out;
    struct vault vault = {0};
    struct json *rows = json_new_array();
    int64_t unknown = 0;
    buf_init(&out, OUTPUT_BYTES_MAX);
    enum td_status status = privacy_setup_file(config_path, &err);
    if (status == TD_OK)
        status = vault_open(&vault, vault_path, !restoring, &err);
    if (status == TD_OK && !text)
        status = command_read_all(positional[0], &input, &err);
    struct td_str source = text ? str_from(text) : buf_view(&input);
    if (status == TD_OK)
        status = restoring ? restore(source, &vault, &out, rows, &unknown)
                           : redact(source, lowest, &vault, &out, rows, &err);
    if (status == TD_OK && out.failed)
        status = error_set(&err, TD_LIMIT, "the text grows beyond %zu bytes", OUTPUT_BYTES_MAX);
    if (status == TD_OK && !restoring && vault_path)
        status = vault_save(&vault, vault_path, &err);
    bool printed = status != TD_OK;
    if (status == TD_OK) {
        printed = print_result(&out, rows, unknown, restoring, json);
        rows = NULL;
    }
    if (status == TD_OK && unknown > 0 && !json)
        fprintf(stderr, "tandem redact: %lld placeholders are not in the vault and were left\n",
                (long long)unknown);
    json_free(rows);
    vault_deinit(&vault);
    buf_deinit(&input);
    buf_deinit(&out);
    return status == TD_OK ? !printed : command_fail("redact", &err);
}
