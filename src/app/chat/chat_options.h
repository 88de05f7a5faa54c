/* The options that `tandem chat` and `tandem ask` share. */
#ifndef APP_CHAT_OPTIONS_H
#define APP_CHAT_OPTIONS_H

#include "app/chat/chat.h"
#include "app/cli/options.h"

struct chat_options {
    struct runtime_options runtime;
    const char *mode, *data_class; /* as they were written */
    bool is_private;
};

/* Rows of a table of options; `chat` and `options` are structs in scope of the caller. */
#define CHAT_OPTION_ROWS(chat, options)                                                       \
    OPTION_ROW_CONFIG((options).runtime.config_path),                                         \
        {"url", 'u', OPTION_TEXT, &(chat).url, "URL", "ask a running server", 0, 0},          \
        OPTION_ROW_MODEL((options).runtime.model),                                            \
        {"route",     'r',                                                                    \
         OPTION_TEXT, &(chat).request.model,                                                  \
         "NAME",      "route, tier or model to ask; default auto",                            \
         0,           0},                                                                     \
        {"mode",      0,                                                                      \
         OPTION_TEXT, &(options).mode,                                                        \
         "MODE",      "auto (default), only-local, prefer-local, prefer-cloud or only-cloud", \
         0,           0},                                                                     \
        {"private",   0,                                                                      \
         OPTION_FLAG, &(options).is_private,                                                  \
         NULL,        "nothing leaves the device, and no text of it is kept",                 \
         0,           0},                                                                     \
        {"data-class",                                                                        \
         0,                                                                                   \
         OPTION_TEXT,                                                                         \
         &(options).data_class,                                                               \
         "CLASS",                                                                             \
         "class of the data: public (default), sensitive, contractual or restricted",         \
         0,                                                                                   \
         0},                                                                                  \
        {"temp",                                                                              \
         0,                                                                                   \
         OPTION_NUMBER,                                                                       \
         &(chat).request.temperature,                                                         \
         "T",                                                                                 \
         "sampling temperature; default 0: always the likeliest token",                       \
         0,                                                                                   \
         2},                                                                                  \
        {"max-tokens",                                                                        \
         'n',                                                                                 \
         OPTION_UINT,                                                                         \
         &(chat).request.tokens_max,                                                          \
         "N",                                                                                 \
         "most tokens of an answer; 0 = the tier's default",                                  \
         0,                                                                                   \
         1e7},                                                                                \
        OPTION_ROW_THREADS((options).runtime.threads), OPTION_ROW_CPU((options).runtime.cpu), \
        OPTION_ROW_JSON((chat).json)

/* After parsing: what the texts mean. 0, or the exit code of a misuse that was said. */
int chat_options_apply(const struct chat_options *options, struct chat *chat);

#endif
