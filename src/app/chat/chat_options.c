/* Names of options become values, and a name that is too long for a model is refused. */
#include "app/chat/chat_options.h"

#include "base/core/str.h"
#include "base/text/names.h"

#include <stdio.h>

int chat_options_apply(const struct chat_options *options, struct chat *chat)
{
    const char *name = chat->request.model;
    if (options->mode && !names_mode_parse(str_from(options->mode), &chat->request.mode))
        return options_misuse(
            chat->verb,
            "--mode is auto, only-local, prefer-local, prefer-cloud or only-cloud, not '%.40s'",
            options->mode);
    if (options->data_class &&
        !names_class_parse(str_from(options->data_class), &chat->request.data_class))
        return options_misuse(
            chat->verb, "--data-class is public, sensitive, contractual or restricted, not '%.40s'",
            options->data_class);
    if (name && strlen(name) >= CHAT_NAME_BYTES)
        return options_misuse(chat->verb, "--route has at most %d characters", CHAT_NAME_BYTES - 1);
    snprintf(chat->model, sizeof chat->model, "%s", name ? name : "");
    if (!options->is_private)
        return 0;
    if (chat->request.mode != TD_MODE_AUTO && chat->request.mode != TD_MODE_ONLY_LOCAL)
        return options_misuse(chat->verb, "--private and --mode %s contradict each other",
                              options->mode);
    chat->request.mode = TD_MODE_ONLY_LOCAL;
    return 0;
}
