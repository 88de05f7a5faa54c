/* The default classifier stands beside the program; it may be missing as long as nothing asks
 * for one. */
#include "app/setup/policy/classifier_file.h"

#include "app/setup/model/model_file.h"
#include "base/core/error.h"

/* From the executable's folder: installed; build/tandem; build/src/app/tandem. */
static const char *const beside[] = {
    "../share/tandem/router.tdr",
    "../models/router/default.tdr",
    "../../../models/router/default.tdr",
};

static bool find_default(char *out, size_t size)
{
    return model_file_beside(beside, sizeof beside / sizeof *beside, out, size);
}

bool classifier_file_has_default(void)
{
    char found[4096];
    return find_default(found, sizeof found);
}

enum td_status classifier_file_open(const char *path, struct classifier **out, struct td_error *err)
{
    char found[4096];
    if (path && *path)
        return classifier_open(path, out, err);
    if (!find_default(found, sizeof found))
        return error_set(
            err, TD_NOT_FOUND,
            "the default classifier router.tdr is neither in ../share/tandem beside the "
            "program nor in a source tree; name one with -m or router.classifier");
    return classifier_open(found, out, err);
}
