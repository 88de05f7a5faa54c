/* A name is looked for as a file, then among the downloaded models, then beside the program.
 * Places beside the program are given from its executable, so that installed and built programs
 * need no setting. */
#include "app/setup/model/model_file.h"

#include "app/config/config.h"
#include "app/setup/model/model_default.h"
#include "app/setup/model/model_store.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <stdlib.h>
#include <unistd.h>

/* People read the path: no steps up in it. It stays as it is where it cannot be resolved. */
static void make_plain(char *path, size_t size)
{
    char *plain = realpath(path, NULL);
    if (plain && strlen(plain) < size)
        memcpy(path, plain, strlen(plain) + 1);
    free(plain);
}

bool model_file_beside(const char *const *places, size_t count, char *out, size_t size)
{
    char folder[4096];
    ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (len <= 0)
        return false;
    folder[len] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < count; i++)
        if (path_join(out, size, folder, places[i], NULL) == TD_OK && access(out, R_OK) == 0) {
            make_plain(out, size);
            return true;
        }
    return false;
}

/* "nano" and "nano-large", from the executable's folder: installed; build/tandem;
 * build/src/app/tandem. */
static bool find_beside(const char *name, char *out, size_t size)
{
    static const char *const folders[] = {"../share/tandem", "../models/nano",
                                          "../../../models/nano"};
    char path[256];
    const char *place = path;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (path_format(path, sizeof path, NULL, "%s/%s.gguf", folders[i], name) == TD_OK &&
            model_file_beside(&place, 1, out, size))
            return true;
    return false;
}

/* A path is used as it is. A plain name that is not a file is looked for among the downloaded
 * models, and then among those that came with the program. */
static enum td_status find_named(const char *wanted, const char *models_dir, char *out, size_t size,
                                 struct td_error *err)
{
    enum td_status status = path_format(out, size, err, "%s", wanted);
    if (status != TD_OK)
        return status;
    if (access(wanted, F_OK) == 0 || !model_name_is_plain(wanted))
        return TD_OK; /* opening it will tell */
    struct config *config = NULL;
    if (!models_dir) {
        status = config_load(NULL, &config, err);
        if (status != TD_OK)
            return status;
        models_dir = config->models.dir;
    }
    if (!model_store_find(models_dir, wanted, out, size) && !find_beside(wanted, out, size))
        status =
            error_set(err, TD_NOT_FOUND,
                      "there is no file '%.200s', no downloaded model of that name in %.200s and "
                      "none beside the program; 'tandem models list' shows what was "
                      "downloaded",
                      wanted, models_dir);
    config_free(config);
    return status;
}

enum td_status model_file_find(const char *wanted, const char *models_dir, char *out, size_t size,
                               struct td_error *err)
{
    if (!wanted || !*wanted)
        wanted = getenv("TANDEM_MODEL");
    char chosen[MODEL_NAME_BYTES];
    if ((!wanted || !*wanted) && model_default_read(models_dir, chosen))
        wanted = chosen;
    if (wanted && *wanted)
        return find_named(wanted, models_dir, out, size, err);
    if (find_beside("nano", out, size))
        return TD_OK;
    return error_set(
        err, TD_NOT_FOUND,
        "the embedded model nano.gguf is neither in ../share/tandem beside the program "
        "nor in a source tree; name a model with TANDEM_MODEL, engine.model or -m");
}
