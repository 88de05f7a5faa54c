/* tandem redact: replaces private data in a text by placeholders like <EMAIL_ADDRESS_1>, the same
 * for the same value, or by surrogates. It puts the values back with the vault that it kept. A
 * vault without a key holds the values in the clear: it is for files on a machine that has the text
 * anyway. */
#define HELP_OF 60
#include "api/evidence/findings.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/text_decode.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/redact_surrogates.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/setup/privacy/vault_bytes.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/text/utf8.h"
#include "privacy/pseudonym/vault_json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VAULT_VERSION 1
#define FILES_MAX 1024
#define PLACEHOLDER_BYTES_MAX 96
#define OUTPUT_BYTES_MAX ((size_t)1 << 30)

struct book {
    struct json *root;   /* {"version", "values": {placeholder: value}} */
    struct json *values; /* placeholder -> value, those of root too */
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
           (ascii_is_upper(text.data[i]) || ascii_is_digit(text.data[i]) || text.data[i] == '_')) {
        if (text.data[i] == '_')
            underscore = i;
        i++;
    }
    if (i >= text.len || text.data[i] != '>' || underscore < 2 || underscore + 1 == i)
        return 0;
    for (size_t k = underscore + 1; k < i; k++)
        if (!ascii_is_digit(text.data[k]))
            return 0;
    *type = str_slice(text, 1, underscore);
    return i + 1;
}

static void vault_deinit(struct book *vault)
{
    json_free(vault->root);
    json_free(vault->values);
    json_free(vault->known);
    json_free(vault->next);
}

/* A placeholder is taken: the next of its type has a higher number. */
static void vault_reserve(struct book *vault, struct td_str placeholder)
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

static void vault_remember(struct book *vault, const char *placeholder, struct td_str value)
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

static enum td_status vault_fill(struct book *vault, const char *path, struct td_error *err)
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
            return error_set(
                err, TD_INVALID,
                "%s: \"%.80s\" is not a placeholder with a text; somebody changed the file", path,
                placeholder);
        json_put(vault->values, placeholder, json_clone(value));
        vault_reserve(vault, name);
        vault_remember(vault, placeholder, json_text(value));
    }
    return TD_OK;
}

static bool is_new(const char *path)
{
    return path == NULL || (access(path, F_OK) != 0 && errno == ENOENT);
}

static enum td_status read_json(const char *path, const struct vault_key *key, struct json **out,
                                struct td_error *err)
{
    struct buf bytes;
    buf_init(&bytes, OUTPUT_BYTES_MAX);
    enum td_status status = vault_bytes_read(path, key, &bytes, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&bytes), out, err);
    if (bytes.data)
        crypto_wipe(bytes.data, bytes.len);
    buf_deinit(&bytes);
    return status;
}

static enum td_status save_json(const struct json *root, const char *path,
                                const struct vault_key *key, struct td_error *err)
{
    struct buf bytes;
    buf_init(&bytes, OUTPUT_BYTES_MAX);
    json_write(root, &bytes);
    buf_append_char(&bytes, '\n');
    enum td_status status =
        bytes.failed
            ? error_set(err, TD_LIMIT, "the vault would be larger than %zu bytes", OUTPUT_BYTES_MAX)
            : vault_bytes_write(path, key, buf_view(&bytes), err);
    if (bytes.data)
        crypto_wipe(bytes.data, bytes.len);
    buf_deinit(&bytes);
    return status;
}

static enum td_status vault_open(struct book *vault, const char *path, struct json *root,
                                 struct td_error *err)
{
    *vault = (struct book){.root = root,
                           .values = json_new_object(),
                           .known = json_new_object(),
                           .next = json_new_object()};
    return root ? vault_fill(vault, path, err) : TD_OK;
}

/* As its file has it. **returns new** (json_free). */
static struct json *vault_root(const struct book *vault)
{
    struct json *root = json_new_object();
    json_put(root, "version", json_new_int(VAULT_VERSION));
    json_put(root, "values", json_clone(vault->values));
    return root;
}

/* The placeholder of a value: the one that it has, or the next number of its type. Borrowed from
 * the vault. */
static const char *vault_name(struct book *vault, const char *type, struct td_str value)
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

/* A placeholder at text[at]: its length, and its name with an end, for the vault; or 0. */
static size_t placeholder_at(struct td_str text, size_t at,
                             char name[static PLACEHOLDER_BYTES_MAX + 2])
{
    struct td_str type;
    if (text.data[at] != '<')
        return 0;
    size_t len = placeholder_len(str_slice(text, at, at + PLACEHOLDER_BYTES_MAX + 1), &type);
    snprintf(name, PLACEHOLDER_BYTES_MAX + 2, STR_FMT, STR_ARG(str_slice(text, at, at + len)));
    return len;
}

/* Placeholders that the text already has stand for themselves, and are given to nothing else. */
static void reserve_present(struct book *vault, struct td_str text)
{
    char name[PLACEHOLDER_BYTES_MAX + 2];
    for (size_t i = 0; i < text.len; i++) {
        if (!placeholder_at(text, i, name) || json_get(vault->values, name))
            continue;
        json_put(vault->values, name, json_new_cstr(name));
        vault_reserve(vault, str_from(name));
    }
}

struct redaction {
    /* as it was asked for */
    const char *text, *path; /* text NULL: the file, or standard input */
    const char *config_path, *key_env, *key_file;
    bool surrogates;
    const char *vault_path;
    const char *folder; /* for files that are written; NULL: none is */
    bool in_place;
    struct vault_key key;
    struct json *stored; /* the vault as of the last text, or as its file has it; NULL: a new one */
    enum td_data_class lowest;
    bool restoring, json, strict;
    struct privacy_scanner *scanner;
    struct td_str source;
    struct buf out;
    struct json *object; /* what --json prints beside the text */
    int64_t unknown;
    size_t hidden;        /* placeholders of the vault that stood in the text */
    size_t left;          /* findings that stay, because their class is below `lowest` */
    char left_names[160]; /* of which types */
};

/* An operator's names may have small letters and dashes; placeholders are <A-Z0-9_>. */
static void type_of(const char *name, char type[static PRIVACY_RULE_NAME_BYTES])
{
    size_t len = strlen(name);
    for (size_t i = 0; i <= len; i++)
        type[i] = name[i] == '-' ? '_' : (char)ascii_upper(name[i]);
}

/* What stays is said: whoever passes the text on must not think that nothing was found. */
static void note_left(struct redaction *r, const struct privacy_span *span)
{
    const char *name = span_name(span);
    size_t used = strlen(r->left_names);
    if (!strstr(r->left_names, name) && used + strlen(name) + 16 < sizeof r->left_names)
        snprintf(r->left_names + used, sizeof r->left_names - used, "%s%s (%s)", used ? ", " : "",
                 name, names_class(span->data_class));
    r->left++;
}

static void add_row(struct json *rows, const char *placeholder, const char *type, size_t begin,
                    size_t end)
{
    struct json *row = json_new_object();
    json_put(row, "placeholder", json_new_cstr(placeholder));
    json_put(row, "type", json_new_cstr(type));
    json_put(row, "start", json_new_int((int64_t)begin));
    json_put(row, "end", json_new_int((int64_t)end));
    json_push(rows, row);
}

/* What stays of the text. A placeholder in it that the vault has for a value is a value itself, or
 * --restore would put that other value in its place. False without memory for that. */
static bool keep(struct redaction *r, struct book *vault, struct json *rows, size_t begin,
                 size_t end)
{
    static const char type[] = "PLACEHOLDER";
    char name[PLACEHOLDER_BYTES_MAX + 2];
    size_t len, done = begin;
    for (size_t i = begin; i < end; i += len ? len : 1) {
        len = placeholder_at(str_slice(r->source, 0, end), i, name);
        const char *value = len ? json_cstr(json_get(vault->values, name)) : NULL;
        if (!value || strcmp(value, name) == 0)
            continue;
        const char *other = vault_name(vault, type, str_from(name));
        if (!other)
            return false;
        buf_append_str(&r->out, str_slice(r->source, done, i));
        buf_append_str(&r->out, str_from(other));
        add_row(rows, other, type, i, i + len);
        r->hidden++;
        done = i + len;
    }
    buf_append_str(&r->out, str_slice(r->source, done, end));
    return true;
}

static enum td_status redact(struct redaction *r, struct book *vault, struct json *rows,
                             struct td_error *err)
{
    struct td_str text = r->source;
    const struct findings_options how = {r->scanner, r->strict};
    struct findings findings;
    size_t done = 0;
    enum td_status status = findings_of(text, &how, &findings, err);
    reserve_present(vault, text);
    for (size_t i = 0; i < findings.count && status == TD_OK; i++) {
        const struct privacy_span *span = &findings.spans[i];
        struct td_str value = str_slice(text, span->begin, span->end);
        if (span->data_class < r->lowest) {
            note_left(r, span);
            continue;
        }
        if (!utf8_is_valid(value) || memchr(value.data, '\0', value.len) != NULL) {
            status = error_set(err, TD_INVALID,
                               "bytes %zu to %zu are private but not text (UTF-8 without NUL), so "
                               "they could not be put back later",
                               span->begin, span->end);
            break;
        }
        const char *name = span_name(span);
        char type[PRIVACY_RULE_NAME_BYTES];
        type_of(name, type);
        const char *placeholder = vault_name(vault, type, value);
        if (!placeholder || !keep(r, vault, rows, done, span->begin)) {
            status = TD_NO_MEMORY;
            break;
        }
        buf_append_str(&r->out, str_from(placeholder));
        done = span->end;
        add_row(rows, placeholder, name, span->begin, span->end);
    }
    if (status == TD_OK && !keep(r, vault, rows, done, text.len))
        status = TD_NO_MEMORY;
    if (status == TD_NO_MEMORY)
        error_set(err, status, "no memory for the vault");
    findings_deinit(&findings);
    return status;
}

static enum td_status restore(struct td_str text, const struct book *vault, struct buf *out,
                              struct json *rows, int64_t *unknown)
{
    size_t done = 0;
    char name[PLACEHOLDER_BYTES_MAX + 2];
    for (size_t i = 0; i < text.len; i++) {
        size_t len = placeholder_at(text, i, name);
        if (len == 0)
            continue;
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

static bool print_text(struct td_str text, bool json, struct json *object)
{
    if (!json) {
        json_free(object);
        bool printed = command_print(text);
        if (isatty(STDOUT_FILENO) && text.len && text.data[text.len - 1] != '\n')
            putchar('\n'); /* a file or a pipe gets the very bytes */
        return printed && fflush(stdout) == 0;
    }
    json_put(object, "text", json_new_text(text));
    return command_print_json(object);
}

/* --- the two ways --- */

/* For the next file, and on the disk where that is wanted. **takes** root. */
static enum td_status keep_vault(struct redaction *r, struct json *root, struct td_error *err)
{
    json_free(r->stored);
    r->stored = root;
    return !r->restoring && r->vault_path && !r->out.failed
               ? save_json(root, r->vault_path, &r->key, err)
               : TD_OK;
}

static enum td_status with_placeholders(struct redaction *r, struct td_error *err)
{
    struct book vault;
    struct json *rows = json_new_array();
    enum td_status status = vault_open(&vault, r->vault_path, r->stored, err);
    bool opened = status == TD_OK;
    r->stored = NULL;
    if (status == TD_OK)
        status = r->restoring ? restore(r->source, &vault, &r->out, rows, &r->unknown)
                              : redact(r, &vault, rows, err);
    json_put(r->object, r->restoring ? "restored" : "replaced", rows);
    if (r->restoring)
        json_put(r->object, "unknown", json_new_int(r->unknown));
    if (status == TD_OK)
        status = keep_vault(r, vault_root(&vault), err);
    else if (opened) /* no number is given twice */
        r->stored = vault_root(&vault);
    vault_deinit(&vault);
    return status;
}

static enum td_status with_surrogates(struct redaction *r, struct td_error *err)
{
    struct vault *vault = NULL;
    struct restore_counts counts = {0};
    struct json *rows = json_new_array();
    enum td_status status =
        r->stored ? vault_json_read(r->stored, &vault, err) : vault_new(&vault, err);
    if (status != TD_OK && r->stored)
        error_prefix(err, "%s", r->vault_path);
    if (status == TD_OK && r->restoring)
        status = redact_surrogates_restore(r->source, vault, &r->out, &counts, err);
    else if (status == TD_OK) {
        struct mask_rules rules = {.scanner = r->scanner, .strict = r->strict};
        for (int data_class = (int)r->lowest; data_class <= TD_CLASS_RESTRICTED; data_class++)
            rules.classes[data_class] = true;
        status = redact_surrogates(r->source, &rules, vault, &r->out, rows, err);
        const struct findings_options how = {r->scanner, r->strict};
        struct findings findings = {0};
        if (status == TD_OK)
            status = findings_of(r->source, &how, &findings, err);
        for (size_t i = 0; i < findings.count; i++)
            if (findings.spans[i].data_class < r->lowest)
                note_left(r, &findings.spans[i]);
        findings_deinit(&findings);
    }
    r->unknown = (int64_t)(counts.seen - counts.restored);
    if (r->restoring) {
        json_put(r->object, "restored", json_new_int((int64_t)counts.restored));
        json_put(r->object, "unknown", json_new_int(r->unknown));
        json_free(rows);
    } else {
        json_put(r->object, "replaced", rows);
    }
    if (status == TD_OK)
        status = keep_vault(r, vault_json_write(vault), err);
    vault_free(vault);
    return status;
}

/* What is not UTF-8 would pass unread, with all that is private in it. A file that is written keeps
 * its encoding or stays as it is. `decoded` is what source is then of. */
static enum td_status read_encoding(struct redaction *r, struct buf *decoded, struct td_error *err)
{
    if (text_is_utf8(r->source))
        return TD_OK;
    if (r->folder || r->in_place)
        return error_set(err, TD_INVALID, "%s is no text in UTF-8: nothing would be found in it",
                         r->path);
    buf_init(decoded, OUTPUT_BYTES_MAX);
    enum td_status status = text_decode(r->source, decoded, err);
    if (status == TD_OK) {
        r->source = buf_view(decoded);
        fprintf(stderr, "tandem redact: not UTF-8; the result is in UTF-8\n");
    } else if (status == TD_UNSUPPORTED) {
        status = r->restoring
                     ? TD_OK
                     : error_set(err, TD_INVALID, "this is no text: nothing would be found in it");
    }
    if (r->path)
        error_prefix(err, "%s", r->path);
    return status;
}

static enum td_status run(struct redaction *r, struct td_error *err)
{
    struct buf input = {0}, decoded = {0};
    enum td_status status =
        r->scanner ? TD_OK : privacy_setup_file(r->config_path, &r->scanner, err);
    if (status == TD_OK && !r->stored && r->vault_path && (r->restoring || !is_new(r->vault_path)))
        status = read_json(r->vault_path, &r->key, &r->stored, err);
    if (status == TD_OK && !r->text)
        status = command_read_all(r->path, &input, err);
    r->source = r->text ? str_from(r->text) : buf_view(&input);
    if (status == TD_OK)
        status = read_encoding(r, &decoded, err);
    bool stored = json_int(json_get(r->stored, "version"), 0) == VAULT_JSON_VERSION;
    if (status == TD_OK && r->stored && !r->restoring && stored != r->surrogates)
        status = error_set(
            err, TD_INVALID,
            "%s is a vault of %s: run the command %s --surrogates, or name another file",
            r->vault_path, stored ? "surrogates" : "placeholders", stored ? "with" : "without");
    if (status == TD_OK)
        status = r->surrogates || stored ? with_surrogates(r, err) : with_placeholders(r, err);
    if (status == TD_OK && r->out.failed)
        status =
            error_set(err, TD_LIMIT, "the text would be larger than %zu bytes", OUTPUT_BYTES_MAX);
    buf_deinit(&decoded);
    buf_deinit(&input);
    return status;
}

/* What is used wrongly, as an exit code; 0 = nothing. */
static int check_use(struct redaction *r, const char *class_name, size_t count)
{
    bool files = r->folder || r->in_place;
    if (count > 1 && !files)
        return options_misuse("redact", "several files need -o FOLDER or --in-place");
    if (files && (count == 0 || r->text || r->json || (r->folder && r->in_place)))
        return options_misuse("redact", "-o and --in-place write files: name them, and only one of "
                                        "the two, without -p and --json");
    if (!names_class_parse(str_from(class_name), &r->lowest))
        return options_misuse(
            "redact", "--class is public, sensitive, contractual or restricted, not '%.40s'",
            class_name);
    if ((r->restoring || r->key_env || r->key_file) && r->vault_path == NULL)
        return options_misuse("redact", "%s needs --vault FILE",
                              r->restoring ? "--restore" : "a key of the vault");
    return 0;
}

/* --- files --- */

/* A link in place would leave the file that it leads to as it is. */
static enum td_status run_file(struct redaction *r, struct td_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    const char *slash = strrchr(r->path, '/');
    if (lstat(r->path, &info) != 0)
        return error_set(err, TD_NOT_FOUND, "%s: %s", r->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(err, TD_INVALID, "%s is no file", r->path);
    buf_clear(&r->out);
    enum td_status status = run(r, err);
    if (status == TD_OK && r->in_place)
        return file_replace(r->path, buf_view(&r->out), info.st_mode & 07777, err);
    if (status == TD_OK)
        status = path_join(path, sizeof path, r->folder, slash ? slash + 1 : r->path, err);
    if (status == TD_OK)
        status = file_create(path, buf_view(&r->out), info.st_mode & 0777, err);
    return status;
}

/* One after the other with one vault; what cannot be done is named, and the others are. */
static enum td_status run_files(struct redaction *r, const char *const *paths, size_t count,
                                struct td_error *err)
{
    size_t failed = 0;
    if (r->folder && mkdir(r->folder, 0777) != 0 && errno != EEXIST)
        return error_set(err, TD_IO, "%s: %s", r->folder, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        struct td_error why = {0};
        r->path = paths[i];
        if (run_file(r, &why) == TD_OK)
            continue;
        fprintf(stderr, "tandem redact: %s\n", why.message);
        failed++;
    }
    return failed ? error_set(err, TD_INVALID, "%zu of %zu files were not written", failed, count)
                  : TD_OK;
}

static int run_and_print(struct redaction *r, const char *const *paths, size_t count)
{
    struct td_error err = {0};
    buf_init(&r->out, OUTPUT_BYTES_MAX);
    r->object = json_new_object();
    enum td_status status = vault_key_read(r->key_env, r->key_file, &r->key, &err);
    bool files = r->folder || r->in_place;
    if (status == TD_OK)
        status = files ? run_files(r, paths, count, &err) : run(r, &err);
    bool printed = status != TD_OK || files;
    if (status == TD_OK && !r->restoring)
        json_put(r->object, "left", json_new_int((int64_t)r->left));
    if (status == TD_OK && !files) {
        printed = print_text(buf_view(&r->out), r->json, r->object);
        r->object = NULL;
    }
    if (status == TD_OK && r->unknown > 0 && !r->json)
        fprintf(stderr,
                "tandem redact: not in the vault, and left as they are: %lld placeholder%s\n",
                (long long)r->unknown, PLURAL(r->unknown));
    if (status == TD_OK && r->hidden > 0)
        fprintf(stderr,
                "tandem redact: %zu placeholder%s of the vault stood in the text already; "
                "--restore gives back what stood there, not the vault's values\n",
                r->hidden, PLURAL(r->hidden));
    if (status == TD_OK && r->left > 0)
        fprintf(stderr,
                "tandem redact: %zu finding%s left as %s: %s, below --class %s. --class public "
                "replaces all\n",
                r->left, r->left == 1 ? " was" : "s were", r->left == 1 ? "it is" : "they are",
                r->left_names, names_class(r->lowest));
    json_free(r->stored);
    json_free(r->object);
    buf_deinit(&r->out);
    privacy_scanner_free(r->scanner);
    vault_key_wipe(&r->key);
    return status == TD_OK ? !printed : command_fail("redact", &err);
}

static int cmd_redact(int argc, char **argv)
{
    static const char *paths[FILES_MAX];
    const char *class_name = "sensitive";
    size_t count = 0;
    struct redaction r = {.lowest = TD_CLASS_SENSITIVE};
    const struct option options[] = {
        {"prompt", 'p', OPTION_TEXT, &r.text, "TEXT",
         HELP_TEXT("the text; default: FILE or standard input"), 0, 0},
        {"surrogates", 0, OPTION_FLAG, &r.surrogates, NULL,
         HELP_TEXT("replace by other values of the same kind and shape instead of placeholders"), 0,
         0},
        {"vault", 0, OPTION_TEXT, &r.vault_path, "FILE",
         HELP_TEXT("file that keeps the values (mode 0600); an existing one is continued"), 0, 0},
        {"vault-key-file", 0, OPTION_TEXT, &r.key_file, "FILE",
         HELP_TEXT(
             "file with the key that encrypts the vault (AES-256-GCM): 64 hexadecimal digits"),
         0, 0},
        {"vault-key-env", 0, OPTION_TEXT, &r.key_env, "NAME",
         HELP_TEXT("environment variable with that key"), 0, 0},
        {"restore", 0, OPTION_FLAG, &r.restoring, NULL,
         HELP_TEXT("put the values of the vault back"), 0, 0},
        {"strict", 0, OPTION_FLAG, &r.strict, NULL,
         HELP_TEXT(
             "find more, with more false findings: likely names everywhere, and numbers of unknown "
             "kinds"),
         0, 0},
        {"class", 0, OPTION_TEXT, &class_name, "CLASS",
         HELP_TEXT(
             "lowest class to replace: public, sensitive (default), contractual or restricted"),
         0, 0},
        {"output", 'o', OPTION_TEXT, &r.folder, "FOLDER",
         HELP_TEXT("write each FILE there, under its name; one that is there already stays"), 0, 0},
        {"in-place", 'i', OPTION_FLAG, &r.in_place, NULL, HELP_TEXT("write each FILE over itself"),
         0, 0},
        OPTION_ROW_CONFIG(r.config_path),
        OPTION_ROW_JSON(r.json),
    };
    const struct option_spec spec = {
        .verb = "redact",
        .arguments = "[FILE]...",
        .summary =
            HELP_TEXT("Replaces private data in a text by placeholders like <EMAIL_ADDRESS_1>. The "
                      "same value always gets the same placeholder.\n"
                      "With --vault FILE the values are kept in that file, and --restore --vault "
                      "FILE puts them back."),
        .example = HELP_TEXT("  tandem redact --vault v.json letter.txt > safe.txt\n"
                             "  tandem redact --restore --vault v.json answer.txt\n"
                             "  tandem redact -o safe letters/*.txt"),
        OPTION_TABLE(options),
        .positional_max = FILES_MAX,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, paths, &count);
    r.path = paths[0];
    int wrong = check_use(&r, class_name, count);
    return wrong ? wrong : run_and_print(&r, paths, count);
}

const struct verb verb_redact = {
    "redact", cmd_redact, HELP_TEXT("replace private data in a text, and put it back later")};
