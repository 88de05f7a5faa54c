#include "app/setup/model/evaluation_file.h"

#include "app/setup/files/state_file.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

static enum td_status file_path(const char *state_dir, const struct confidence_binding *identity,
                                char out[static STATE_PATH_BYTES], struct td_error *err)
{
    char digest[CONFIDENCE_DIGEST_BYTES];
    confidence_binding_digest(identity, digest);
    return path_format(out, STATE_PATH_BYTES, err, "%s/evaluations/%s.json", state_dir, digest);
}

enum evaluation_verdict evaluation_file_find(const char *state_dir,
                                             const struct confidence_binding *identity,
                                             char day[static EVALUATION_DAY_BYTES])
{
    char path[STATE_PATH_BYTES];
    struct json *file = NULL;
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    enum evaluation_verdict verdict = EVALUATION_NONE;
    struct td_error ignored = {0};
    if (state_dir && file_path(state_dir, identity, path, &ignored) == TD_OK &&
        buf_read_file(&text, path, NULL) == TD_OK &&
        json_parse(buf_view(&text), &file, NULL) == TD_OK) {
        struct td_str when = json_text(json_get(file, "time"));
        const struct json *promoted = json_get(file, "promoted");
        if (json_kind_of(promoted) == JSON_KIND_BOOL && when.len >= EVALUATION_DAY_BYTES - 1) {
            memcpy(day, when.data, EVALUATION_DAY_BYTES - 1);
            day[EVALUATION_DAY_BYTES - 1] = '\0';
            verdict = json_bool(promoted, false) ? EVALUATION_PASSED : EVALUATION_REFUSED;
        }
    }
    json_free(file);
    buf_deinit(&text);
    return verdict;
}

enum td_status evaluation_file_write(const char *state_dir,
                                     const struct confidence_binding *identity,
                                     enum evaluation_verdict verdict, const struct json *result,
                                     struct td_error *err)
{
    char path[STATE_PATH_BYTES], now[25];
    struct json *file = json_new_object();
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    clock_format_iso8601(clock_wall_ms(NULL), now);
    json_put(file, "time", json_new_cstr(now));
    json_put(file, "program", json_new_cstr(TANDEM_VERSION));
    json_put(file, "model", json_new_cstr(identity->model));
    json_put(file, "quantization", json_new_cstr(identity->quantization));
    json_put(file, "promoted", json_new_bool(verdict == EVALUATION_PASSED));
    json_put(file, "result", json_clone(result));
    json_write(file, &text);
    enum td_status status = file_path(state_dir, identity, path, err);
    if (status == TD_OK)
        status = state_file_make_folders(path, err);
    if (status == TD_OK && text.failed)
        status = error_set(err, TD_NO_MEMORY, "no memory for %s", path);
    if (status == TD_OK)
        status = file_replace(path, buf_view(&text), 0600, err);
    json_free(file);
    buf_deinit(&text);
    return status;
}
