/* The options of sampling (api/wire/sampling_keys.h) for a command's table, and what was given of
 * them. */
#ifndef APP_SAMPLING_OPTIONS_H
#define APP_SAMPLING_OPTIONS_H

#include "api/wire/sampling_keys.h"
#include "app/cli/options.h"

enum { SAMPLING_OPTION_ROWS_MAX = 2 * SAMPLING_KEYS_MAX };

struct sampling_option {
    const struct sampling_key *key;
    bool given;
    double number;
    char needs[64], same[64];
    struct option_each each;
};

struct sampling_options {
    struct sampling_option options[SAMPLING_KEYS_MAX];
};

/* Writes the rows, at most SAMPLING_OPTION_ROWS_MAX; gives how many. They keep pointing here. */
size_t sampling_options_init(struct sampling_options *values, struct option *rows);

void sampling_options_apply(const struct sampling_options *values, struct td_sampling *sampling);

#endif
