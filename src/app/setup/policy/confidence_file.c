/* A confidence model that belongs to another model is not used, and a sentence says why: its
 * numbers would be wrong. */
#include "app/setup/policy/confidence_file.h"

#include "app/setup/model/model_identity.h"
#include "base/bytes/file.h"
#include "base/core/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two heads of some 13 features and 64 knots take 8 KiB. */
#define FILE_BYTES_MAX (256u << 10)

enum td_status confidence_file_read(const char *path, struct confidence_model **out,
                                    struct td_error *err)
{
    struct buf text;
    struct td_error wrong = {0};
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_set(err, TD_NO_MEMORY, "no memory for a model of confidence");
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, path, &wrong);
    if (status == TD_OK) {
        status = confidence_model_read(buf_view(&text), *out, &wrong);
        error_prefix(&wrong, "%s", path);
    }
    buf_deinit(&text);
    if (status == TD_OK)
        return TD_OK;
    free(*out);
    *out = NULL;
    return error_set(err, status, "%s", wrong.message);
}

enum td_status confidence_file_write(const char *path, const struct confidence_model *model,
                                     unsigned mode, struct td_error *err)
{
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    confidence_model_write(model, &text);
    enum td_status status = text.failed ? error_set(err, TD_NO_MEMORY, "no memory for %s", path)
                                        : file_replace(path, buf_view(&text), mode, err);
    buf_deinit(&text);
    return status;
}

bool confidence_file_fits(const struct confidence_model *model,
                          const struct confidence_binding *identity, char why[static 160])
{
    const struct confidence_binding *bound = &model->binding;
    const char *what = confidence_binding_difference(bound, identity);
    if (!what)
        return true;
    if (strcmp(what, "model") == 0)
        snprintf(why, 160, "it was trained for the model %s, and this is %s", bound->model,
                 identity->model);
    else if (strcmp(what, "quantization") == 0)
        snprintf(why, 160, "it was trained for %s in %s, and this is %s", bound->model,
                 bound->quantization, identity->quantization);
    else
        snprintf(why, 160, "the %s of %s changed since it was trained", what, bound->model);
    return false;
}

enum td_status confidence_file_of_tier(const char *path, const char *tier_model,
                                       struct confidence_model **out, uint64_t *server,
                                       char why[static 160], struct td_error *err)
{
    struct confidence_binding identity;
    *out = NULL;
    *server = 0;
    why[0] = '\0';
    if (!path)
        return TD_OK;
    enum td_status status = confidence_file_read(path, out, err);
    if (status != TD_OK)
        return status;
    *server = strtoull((*out)->binding.fingerprint, NULL, 16);
    model_identity_of_server(tier_model, *server, &identity);
    if (confidence_file_fits(*out, &identity, why))
        return TD_OK;
    free(*out);
    *out = NULL;
    return TD_OK;
}
