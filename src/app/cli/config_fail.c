/* The file is read once more: who reads it to use it needs to know of one mistake, and only that
 * there is one. */
#include "app/cli/config_fail.h"

#include "app/cli/command.h"
#include "app/config/config.h"
#include "app/config/mistakes.h"
#include "base/core/error.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

static size_t kept(const struct config_mistakes *mistakes)
{
    return mistakes->count < CONFIG_MISTAKES_MAX ? mistakes->count : CONFIG_MISTAKES_MAX;
}

int config_fail(const char *verb, const char *path, const struct td_error *err)
{
    struct config_mistakes *mistakes = config_find_mistakes(path);
    if (!mistakes)
        return command_fail(verb, err);
    for (size_t i = 0; i < kept(mistakes); i++) {
        struct td_error one = {0};
        command_fail(verb, (error_set(&one, TD_INVALID, "%s", mistakes->text[i]), &one));
    }
    if (mistakes->count > kept(mistakes))
        fprintf(stderr, "tandem %s: and %zu more\n", verb, mistakes->count - kept(mistakes));
    free(mistakes);
    return 1;
}

int config_fail_as(const char *verb, const char *path, const struct td_error *err, bool json)
{
    struct config_mistakes *mistakes = json ? config_find_mistakes(path) : NULL;
    if (!json)
        return config_fail(verb, path, err);
    if (!mistakes)
        return command_fail_as(verb, err, true);
    struct json *report = json_new_object(), *errors = json_new_array();
    for (size_t i = 0; i < kept(mistakes); i++)
        json_push(errors, json_new_cstr(mistakes->text[i]));
    json_put(report, "ok", json_new_bool(false));
    json_put(report, "error", json_new_cstr(err->message));
    json_put(report, "errors", errors);
    json_put(report, "error_count", json_new_int((int64_t)mistakes->count));
    command_print_json(report);
    free(mistakes);
    return 1;
}
