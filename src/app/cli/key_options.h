/* The options of `tandem keys` that say what a key may do. They are gathered as the object that the
 * admin API takes, so that both have the same checks. */
#ifndef APP_KEY_OPTIONS_H
#define APP_KEY_OPTIONS_H

#include "app/cli/options.h"

struct json;

#define KEY_OPTION_COUNT 14

struct key_options {
    struct json *wish; /* key_options_deinit frees it */
    struct key_option {
        struct key_options *all;
        const struct key_option_row *row;
        struct option_each each;
    } of[KEY_OPTION_COUNT];
};

/* Fills in the rows of the verb's option table, which point here. */
void key_options_init(struct key_options *options, struct option rows[static KEY_OPTION_COUNT]);
void key_options_deinit(struct key_options *options);

#endif
