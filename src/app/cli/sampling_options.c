/* The rows come from the table of sampling keys, so that a new key of requests is an option as
 * well. */
#include "app/cli/sampling_options.h"

#include "base/core/str.h"

#include <stdio.h>

static bool take_number(void *ctx, const char *text)
{
    struct sampling_option *option = ctx;
    option->given = str_to_double(str_from(text), &option->number) &&
                    sampling_key_takes(option->key, option->number, false);
    return option->given;
}

size_t sampling_options_init(struct sampling_options *values, struct option *rows)
{
    const struct sampling_key *key;
    size_t count = 0;
    *values = (struct sampling_options){0};
    for (size_t i = 0; (key = sampling_key_at(i)); i++) {
        struct sampling_option *option = &values->options[i];
        if (!key->option)
            continue;
        option->key = key;
        sampling_key_describe(key, false, option->needs, sizeof option->needs);
        option->each = (struct option_each){take_number, option, option->needs};
        rows[count++] = (struct option){key->option,   0,         OPTION_EACH, &option->each,
                                        key->argument, key->help, 0,           0};
        if (!key->option_alias)
            continue;
        snprintf(option->same, sizeof option->same, "the same as --%s", key->option);
        rows[count++] = (struct option){
            key->option_alias, 0, OPTION_EACH, &option->each, key->argument, option->same, 0, 0};
    }
    return count;
}

void sampling_options_apply(const struct sampling_options *values, struct td_sampling *sampling)
{
    for (size_t i = 0; i < SAMPLING_KEYS_MAX; i++)
        if (values->options[i].given)
            sampling_key_set(values->options[i].key, values->options[i].number, sampling);
}
