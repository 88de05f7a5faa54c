/* A file is one row: its class and how many findings of which type. A file that is no text is
 * counted and passed over; what cannot be read is an error of the whole, so that a clean result
 * means that all was looked at. The text of a PDF is what `pdftotext` prints, where that is there:
 * a hostile file meets another process, with limits and without our keys. */
#include "app/verbs/privacy/scan_files.h"

#include "app/cli/command.h"
#include "app/cli/csv.h"
#include "app/cli/help.h"
#include "app/cli/text_decode.h"
#include "app/setup/files/run_program.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define TYPES_SHOWN 8
#define TEXT_COLUMN 20
#define DEPTH_MAX 64
#define COLUMNS_MAX 256u /* of a CSV file, that have names */
#define COLUMN_BYTES 64
#define PDF_BEGIN "%PDF-"
#define PDF_MS 30000
#define PDF_MEMORY_BYTES ((size_t)1 << 30)

struct summary {
    const struct findings_options *how;
    struct json *rows; /* NULL = people read it */
    size_t files, private_files, not_text, unread;
};

static const char not_text[] = "not text";

/* more: what would read it, or why it was not read; or NULL. */
static void add_row(struct summary *summary, const char *path, const char *word, const char *more,
                    const struct json *types)
{
    char left[64], text[4096 + 512];
    if (summary->rows) {
        struct json *object = json_new_object();
        json_put(object, "path", json_new_cstr(path));
        json_put(object, "class", json_new_cstr(word));
        if (more)
            json_put(object, word == not_text ? "hint" : "error", json_new_cstr(more));
        json_put(object, "types", types ? json_clone(types) : json_new_object());
        json_push(summary->rows, object);
        return;
    }
    size_t used = (size_t)snprintf(text, sizeof text, "%.4000s%s%s", path, more ? ": " : "",
                                   more ? more : "");
    void *iterator = NULL;
    const char *name;
    const struct json *count;
    for (int i = 0; json_next(types, &iterator, &name, &count) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 i == 0            ? ": %.60s %lld"
                                 : i < TYPES_SHOWN ? ", %.60s %lld"
                                                   : "%.0s%.0lld",
                                 name, (long long)json_int(count, 0));
    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c; /* names of files go to a terminal */
    snprintf(left, sizeof left, "%-18s", word);
    help_row_at(stdout, left, TEXT_COLUMN, text);
}

/* What was found in one file. */
struct found {
    struct json *types; /* "EMAIL_ADDRESS", or "EMAIL_ADDRESS in column": how many */
    size_t count;
    enum td_data_class highest;
};

/* label: the column or key that the text stands under, which says what a number means; NULL =
 * none. */
static enum td_status look(const struct summary *summary, const char *label, struct td_str value,
                           struct found *found, struct td_error *err)
{
    struct findings findings;
    struct buf text;
    char name[256];
    if (value.len == 0)
        return TD_OK;
    buf_init(&text, 2 * FILE_BYTES_MAX + 256);
    if (label)
        buf_printf(&text, "%.200s: ", label);
    size_t before = text.len;
    if (label)
        buf_append_str(&text, value);
    enum td_status status =
        text.failed ? error_set(err, TD_NO_MEMORY, "no memory for a text")
                    : findings_of(label ? buf_view(&text) : value, summary->how, &findings, err);
    for (size_t i = 0; status == TD_OK && i < findings.count; i++) {
        const struct privacy_span *span = &findings.spans[i];
        if (span->begin < before)
            continue;
        snprintf(name, sizeof name, label ? "%s in %.100s" : "%s", span_name(span), label);
        json_put(found->types, name, json_new_int(json_int(json_get(found->types, name), 0) + 1));
        found->count++;
        found->highest = span->data_class > found->highest ? span->data_class : found->highest;
    }
    if (!text.failed)
        findings_deinit(&findings);
    buf_deinit(&text);
    return status;
}

/* A name of a column or key may be private itself: then it is counted as a text, and `own`, which
 * says where it stands, is shown in its place. */
static enum td_status look_name(const struct summary *summary, struct td_str name, const char *own,
                                char shown[static COLUMN_BYTES], struct found *found,
                                struct td_error *err)
{
    size_t before = found->count;
    enum td_status status = look(summary, NULL, name, found, err);
    if (found->count > before)
        snprintf(shown, COLUMN_BYTES, "%s", own);
    else
        snprintf(shown, COLUMN_BYTES, STR_FMT, STR_ARG(name));
    return status;
}

/* Strings and numbers of a JSON text, each under its key. */
static enum td_status look_json(const struct summary *summary, const char *key,
                                const struct json *value, struct found *found, struct td_error *err)
{
    enum td_status status = TD_OK;
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    char number[32], shown[COLUMN_BYTES];
    switch (json_kind_of(value)) {
    case JSON_KIND_OBJECT: /* the parser has bounded the depth */
        while (status == TD_OK && json_next(value, &iterator, &name, &member)) {
            status = look_name(summary, str_from(name), "a key", shown, found, err);
            if (status == TD_OK)
                status = look_json(summary, *shown ? shown : NULL, member, found, err);
        }
        return status;
    case JSON_KIND_ARRAY:
        for (size_t i = 0; status == TD_OK && i < json_count(value); i++)
            status = look_json(summary, key, json_at(value, i), found, err);
        return status;
    case JSON_KIND_INT:
        snprintf(number, sizeof number, "%lld", (long long)json_int(value, 0));
        return look(summary, key, str_from(number), found, err);
    default:
        return look(summary, key, json_text(value), found, err);
    }
}

/* The first line has the names of the columns. */
static enum td_status look_csv(const struct summary *summary, struct td_str text,
                               struct found *found, struct td_error *err)
{
    char names[COLUMNS_MAX][COLUMN_BYTES] = {""}, own[32];
    size_t column = 0, line = 0;
    struct buf field;
    bool line_end;
    char separator = csv_separator(text);
    enum td_status status = TD_OK;
    buf_init(&field, 2 * FILE_BYTES_MAX);
    while (status == TD_OK && csv_next(&text, separator, &field, &line_end)) {
        const char *name = column < COLUMNS_MAX && *names[column] ? names[column] : NULL;
        if (line == 0 && column < COLUMNS_MAX) {
            snprintf(own, sizeof own, "column %zu", column + 1);
            status = look_name(summary, buf_view(&field), own, names[column], found, err);
        } else {
            status = look(summary, name, buf_view(&field), found, err);
        }
        column = line_end ? 0 : column + 1;
        line += line_end;
    }
    buf_deinit(&field);
    return status;
}

static enum td_status look_at_all(const struct summary *summary, const char *path,
                                  struct td_str text, struct found *found, struct td_error *err)
{
    struct td_str name = str_from(path);
    struct json *root = NULL;
    enum td_status status;
    if (str_ends_with(name, STR(".csv")) || str_ends_with(name, STR(".tsv")))
        return look_csv(summary, text, found, err);
    if (str_ends_with(name, STR(".json")) && json_parse(text, &root, NULL) == TD_OK)
        status = look_json(summary, NULL, root, found, err);
    else
        status = look(summary, NULL, text, found, err);
    json_free(root);
    return status;
}

bool scan_files_is_pdf(const char *path)
{
    char begin[sizeof PDF_BEGIN] = "";
    FILE *file = fopen(path, "re");
    bool read = file && fread(begin, 1, sizeof begin - 1, file) == sizeof begin - 1;
    if (file)
        fclose(file);
    return read && strcmp(begin, PDF_BEGIN) == 0;
}

/* The pages' text in place of the file's bytes. TD_NOT_FOUND: no program can read it here. */
static enum td_status read_pdf(const char *path, struct buf *bytes, struct td_error *err)
{
    static const struct program_limits limits = {PDF_MS, PDF_MEMORY_BYTES};
    char *file = realpath(path, NULL); /* begins with "/", so no name is an option */
    const char *const words[] = {"pdftotext", "-enc", "UTF-8", "-q", file, "-", NULL};
    if (!file)
        return error_set(err, TD_IO, "%s", strerror(errno));
    buf_clear(bytes);
    enum td_status status = program_run(words, &limits, bytes, err);
    free(file);
    return status;
}

/* TD_UNSUPPORTED: the file is no text; err may say what would read it. */
static enum td_status read_text(const char *path, struct buf *text, struct td_error *err)
{
    struct buf bytes;
    buf_init(&bytes, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&bytes, path, err);
    bool pdf = status == TD_OK && str_starts_with(buf_view(&bytes), STR(PDF_BEGIN));
    if (pdf && (status = read_pdf(path, &bytes, err)) == TD_NOT_FOUND) {
        *err = (struct td_error){0};
        status = error_set(err, TD_UNSUPPORTED, "pdftotext of poppler-utils would read it");
    }
    if (status == TD_OK)
        status = text_decode(buf_view(&bytes), text, err);
    if (pdf && status == TD_OK && str_trim(buf_view(text)).len == 0)
        status = error_set(err, TD_UNSUPPORTED, "its pages are pictures");
    buf_deinit(&bytes);
    return status;
}

static void scan_file(struct summary *summary, const char *path)
{
    struct td_error err = {0};
    struct found found = {.types = json_new_object(), .highest = TD_CLASS_PUBLIC};
    struct buf text;
    buf_init(&text, 2 * FILE_BYTES_MAX); /* a byte of Latin-1 is two of UTF-8 */
    enum td_status status = read_text(path, &text, &err);
    summary->files++;
    if (status == TD_UNSUPPORTED) {
        summary->not_text++;
        add_row(summary, path, not_text, *err.message ? err.message : NULL, NULL);
    } else if (status != TD_OK ||
               look_at_all(summary, path, buf_view(&text), &found, &err) != TD_OK) {
        summary->unread++;
        add_row(summary, path, "not read", err.message, NULL);
    } else if (json_count(found.types)) {
        summary->private_files += found.highest > TD_CLASS_PUBLIC;
        add_row(summary, path, names_class(found.highest), NULL, found.types);
    }
    json_free(found.types);
    buf_deinit(&text);
}

static void visit(struct summary *summary, const FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_F:
        scan_file(summary, entry->fts_path);
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        summary->unread++;
        add_row(summary, entry->fts_path, "not read", strerror(entry->fts_errno), NULL);
        break;
    default: /* folders, links, devices */
        break;
    }
}

static int compare(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool print_end(struct summary *summary)
{
    if (!summary->rows)
        return printf("%zu file%s: %zu with private data, %zu not text, %zu not read\n",
                      summary->files, PLURAL(summary->files), summary->private_files,
                      summary->not_text, summary->unread) > 0 &&
               fflush(stdout) == 0;
    struct json *object = json_new_object();
    json_put(object, "files", summary->rows);
    json_put(object, "looked_at", json_new_int((int64_t)summary->files));
    json_put(object, "private", json_new_int((int64_t)summary->private_files));
    json_put(object, "not_text", json_new_int((int64_t)summary->not_text));
    json_put(object, "not_read", json_new_int((int64_t)summary->unread));
    return command_print_json(object);
}

int scan_files(const char *const *paths, size_t count, const struct findings_options *how,
               bool json)
{
    struct summary summary = {.how = how, .rows = json ? json_new_array() : NULL};
    char *list[SCAN_PATHS_MAX + 1] = {NULL};
    for (size_t i = 0; i < count && i < SCAN_PATHS_MAX; i++)
        list[i] = strdup(paths[i]);
    /* Links that are named are followed, those inside of folders are not. */
    FTS *walk = fts_open(list, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare);
    errno = 0; /* fts_read leaves it so at the end */
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_D && entry->fts_level > DEPTH_MAX) {
            fts_set(walk, entry, FTS_SKIP);
            summary.unread++;
            add_row(&summary, entry->fts_path, "not read", "too many folders in one another", NULL);
        }
        visit(&summary, entry);
        errno = 0;
    }
    bool failed = !walk || errno;
    if (walk)
        fts_close(walk);
    for (size_t i = 0; i < count && i < SCAN_PATHS_MAX; i++)
        free(list[i]);
    bool printed = print_end(&summary);
    return !printed || failed || summary.unread ? 1 : summary.private_files ? SCAN_CODE_PRIVATE : 0;
}
