#include "app/setup/model/model_default.h"

#include "app/setup/model/model_store.h"
#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <unistd.h>

#define FILE_NAME "default"

bool model_default_read(const char *dir, char name[static MODEL_NAME_BYTES])
{
    char path[4096];
    struct buf text;
    bool found = false;
    buf_init(&text, MODEL_NAME_BYTES);
    if (dir && path_join(path, sizeof path, dir, FILE_NAME, NULL) == TD_OK &&
        buf_read_file(&text, path, NULL) == TD_OK) {
        struct td_str word = str_trim(buf_view(&text));
        snprintf(name, MODEL_NAME_BYTES, "%.*s", (int)word.len, word.data ? word.data : "");
        found = word.len < MODEL_NAME_BYTES && model_name_is_plain(name) &&
                model_store_find(dir, name, path, sizeof path);
    }
    buf_deinit(&text);
    return found;
}

enum td_status model_default_write(const char *dir, const char *name, struct td_error *err)
{
    char path[4096], found[4096];
    enum td_status status = path_join(path, sizeof path, dir, FILE_NAME, err);
    if (status != TD_OK)
        return status;
    if (!name)
        return access(path, F_OK) == 0 ? file_remove(path, err) : TD_OK;
    if (!model_name_is_plain(name) || !model_store_find(dir, name, found, sizeof found))
        return error_set(err, TD_NOT_FOUND,
                         "there is no downloaded model '%.100s' in %.200s; 'tandem models list' "
                         "shows them",
                         name, dir);
    return file_replace(path, str_from(name), 0644, err);
}
