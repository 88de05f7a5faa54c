/* The file: {"source": TEXT, "source_cut": true, "identity": TEXT, "sha256": HEX, "bytes": N}, the
 * second only when it is so. */
#include "app/setup/model/model_origin.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <sys/stat.h>

#define PATH_BYTES 4400
#define RECORD_BYTES_MAX (64u << 10)

static bool take_text(const struct json *record, const char *key, char *out, size_t size)
{
    struct td_str text = json_text(json_get(record, key));
    if (text.len >= size)
        text.len = 0;
    snprintf(out, size, STR_FMT, STR_ARG(text));
    return text.len > 0;
}

void model_origin_read(const char *path, struct model_origin *out)
{
    char beside[PATH_BYTES];
    struct buf text;
    struct stat file;
    struct json *record = NULL;
    *out = (struct model_origin){.bytes = -1};
    buf_init(&text, RECORD_BYTES_MAX);
    if (path_format(beside, sizeof beside, NULL, "%s.json", path) == TD_OK &&
        buf_read_file(&text, beside, NULL) == TD_OK &&
        json_parse(buf_view(&text), &record, NULL) == TD_OK && stat(path, &file) == 0) {
        bool whole = take_text(record, "source", out->source, sizeof out->source) &&
                     take_text(record, "identity", out->identity, sizeof out->identity) &&
                     take_text(record, "sha256", out->sha256, sizeof out->sha256);
        out->source_cut = json_bool(json_get(record, "source_cut"), false);
        out->bytes = json_int(json_get(record, "bytes"), -1);
        out->changed = whole && out->bytes != file.st_size;
        out->known = whole && !out->changed;
    }
    json_free(record);
    buf_deinit(&text);
}

enum td_status model_origin_write(const char *path, const struct model_origin *origin,
                                  struct td_error *err)
{
    char beside[PATH_BYTES];
    struct buf text;
    struct json *record = json_new_object();
    buf_init(&text, RECORD_BYTES_MAX);
    json_put(record, "source", json_new_cstr(origin->source));
    if (origin->source_cut)
        json_put(record, "source_cut", json_new_bool(true));
    json_put(record, "identity", json_new_cstr(origin->identity));
    json_put(record, "sha256", json_new_cstr(origin->sha256));
    json_put(record, "bytes", json_new_int(origin->bytes));
    json_write(record, &text);
    buf_append_char(&text, '\n');
    json_free(record);
    enum td_status status = path_format(beside, sizeof beside, err, "%s.json", path);
    if (status == TD_OK)
        status = text.failed ? error_set(err, TD_NO_MEMORY, "no memory for a record")
                             : file_replace(beside, buf_view(&text), 0644, err);
    buf_deinit(&text);
    return status;
}
