/* Every entry is checked before one is shown: a source that is none, or a hash that is cut short,
 * would be found out only after gigabytes. */
#include "app/setup/model/catalog.h"

#include "app/config/config.h"
#include "app/setup/model/model_age.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_source.h"
#include "app/setup/model/model_store.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "net/download/download_headers.h"

#include <stdlib.h>

#define FILE_BYTES_MAX (1u << 20)
#define TEXT_BYTES_MAX 200
#define BYTES_MAX (INT64_C(1) << 44)

struct catalog {
    struct json *root;
    struct catalog_model models[CATALOG_MODELS_MAX];
    size_t count;
    uint64_t checked_ms;
};

/* They go to a terminal. */
static const char *plain_text(const struct json *row, const char *key)
{
    const char *text = json_cstr(json_get(row, key));
    size_t len = text ? strlen(text) : 0;
    if (len == 0 || len > TEXT_BYTES_MAX)
        return NULL;
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return NULL;
    return text;
}

/* The name of the key that is wrong; NULL = none is. */
static const char *read_row(const struct json *row, struct catalog_model *out)
{
    struct model_source source;
    char digest[DOWNLOAD_SHA256_HEX + 1];
    const char *use = json_cstr(json_get(row, "use"));
    *out = (struct catalog_model){
        .name = plain_text(row, "name"),
        .source = plain_text(row, "source"),
        .sha256 = plain_text(row, "sha256"),
        .licence = plain_text(row, "licence"),
        .good_at = plain_text(row, "good_at"),
        .codes = use && strcmp(use, "code") == 0,
        .parameters = json_number(json_get(row, "parameters"), 0),
    };
    out->active = json_number(json_get(row, "active"), out->parameters);
    int64_t bytes = json_int(json_get(row, "bytes"), 0);
    int64_t context = json_int(json_get(row, "context"), 0);
    out->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    out->context = context > 0 && context <= INT32_MAX ? (uint32_t)context : 0;
    if (!out->name || !model_name_is_plain(out->name))
        return "name";
    if (!out->source || model_source_is_file(out->source) ||
        model_source_parse(out->source, MODEL_ENDPOINT_DEFAULT, out->name, &source, NULL) != TD_OK)
        return "source";
    if (!out->sha256 || !download_sha256_parse(str_from(out->sha256), digest))
        return "sha256";
    if (bytes <= 0 || bytes > BYTES_MAX)
        return "bytes";
    if (!(out->parameters > 0 && out->parameters < 1e5))
        return "parameters";
    if (!(out->active > 0 && out->active <= out->parameters))
        return "active";
    return !out->context ? "context" : !out->licence ? "licence" : !out->good_at ? "good_at" : NULL;
}

static enum td_status read_rows(struct catalog *catalog, const char *label, struct td_error *err)
{
    const struct json *rows = json_get(catalog->root, "models");
    if (!model_day_parse(json_text(json_get(catalog->root, "checked")), &catalog->checked_ms))
        return error_set(err, TD_INVALID, "%s: 'checked' must be a day, as in 2026-11-28", label);
    catalog->count = json_count(rows);
    if (json_kind_of(rows) != JSON_KIND_ARRAY || !catalog->count ||
        catalog->count > CATALOG_MODELS_MAX)
        return error_set(err, TD_INVALID, "%s: 'models' must be a list of 1 to %d models", label,
                         CATALOG_MODELS_MAX);
    for (size_t i = 0; i < catalog->count; i++) {
        const char *wrong = read_row(json_at(rows, i), &catalog->models[i]);
        if (wrong)
            return error_set(err, TD_INVALID, "%s: '%s' of model %zu is missing or wrong", label,
                             wrong, i + 1);
    }
    return TD_OK;
}

enum td_status catalog_parse(const char *label, struct td_str text, struct catalog **out,
                             struct td_error *err)
{
    struct catalog *catalog = calloc(1, sizeof *catalog);
    *out = NULL;
    if (!catalog)
        return error_set(err, TD_NO_MEMORY, "no memory for the list of models");
    enum td_status status = json_parse(text, &catalog->root, err);
    if (status == TD_OK)
        status = read_rows(catalog, label, err);
    else
        error_prefix(err, "%s", label);
    if (status == TD_OK)
        *out = catalog;
    else
        catalog_free(catalog);
    return status;
}

enum td_status catalog_open(const struct config *config, struct catalog **out, struct td_error *err)
{
    static const char *const places[] = {"../share/tandem/catalog.json",
                                         "../models/catalog/catalog.json",
                                         "../../../models/catalog/catalog.json"};
    char path[4096];
    const char *file = config->models.catalog;
    struct buf text;
    *out = NULL;
    if (!file && model_file_beside(places, sizeof places / sizeof *places, path, sizeof path))
        file = path;
    if (!file)
        return error_set(err, TD_NOT_FOUND,
                         "the list of models, catalog.json, is not beside the program; "
                         "models.catalog names another");
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, file, err);
    if (status == TD_OK)
        status = catalog_parse(file, buf_view(&text), out, err);
    buf_deinit(&text);
    return status;
}

void catalog_free(struct catalog *catalog)
{
    if (catalog)
        json_free(catalog->root);
    free(catalog);
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->count;
}

const struct catalog_model *catalog_at(const struct catalog *catalog, size_t i)
{
    return &catalog->models[i];
}

const struct catalog_model *catalog_find(const struct catalog *catalog, const char *name)
{
    struct td_str wanted = str_from(name);
    if (str_ends_with(wanted, STR(":latest")))
        wanted.len -= sizeof ":latest" - 1;
    for (size_t i = 0; i < catalog->count; i++) {
        const struct json *also = json_get(json_at(json_get(catalog->root, "models"), i), "also");
        bool found = str_equal_nocase(str_from(catalog->models[i].name), wanted);
        for (size_t k = 0; !found && k < json_count(also); k++)
            found = wanted.len && str_equal_nocase(json_text(json_at(also, k)), wanted);
        if (found)
            return &catalog->models[i];
    }
    return NULL;
}

struct error_suggestion catalog_suggest(const struct catalog *catalog, const char *name)
{
    const char *names[CATALOG_MODELS_MAX];
    for (size_t i = 0; i < catalog->count; i++)
        names[i] = catalog->models[i].name;
    return error_suggest(str_from(name), names, catalog->count);
}

const char *catalog_day(const struct catalog *catalog)
{
    return json_cstr(json_get(catalog->root, "checked"));
}

double catalog_days(const struct catalog *catalog, uint64_t now_ms)
{
    return now_ms > catalog->checked_ms ? (double)((now_ms - catalog->checked_ms) / 86400000u) : 0;
}
