#include "app/verbs/tenants/key_command.h"

#include "api/http/auth.h"
#include "app/cli/command.h"
#include "app/config/config.h"
#include "app/setup/files/key_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <stdio.h>
#include <unistd.h>

static enum td_status name_tiers(struct key_command *command, struct td_error *err)
{
    const struct config *config = command->config;
    const char **names = arena_alloc_array(config->arena, config->tier_count, sizeof *names);
    if (!names)
        return error_set(err, TD_NO_MEMORY, "no memory for the names of tiers");
    for (size_t i = 0; i < config->tier_count; i++)
        names[i] = config->tiers[i].name;
    command->desk.tiers = names;
    command->desk.tier_count = config->tier_count;
    return TD_OK;
}

enum td_status key_command_open(const char *config_path, bool create, struct key_command *out,
                                struct td_error *err)
{
    uint8_t secret[KEYED_KEY_BYTES];
    *out = (struct key_command){.config = NULL};
    enum td_status status = config_load(config_path, &out->config, err);
    if (status == TD_OK)
        status = name_tiers(out, err);
    if (status == TD_OK)
        status = key_file_open(out->config, create, &out->desk.store, err);
    if (status == TD_OK)
        status = installation_key(out->config, secret, err);
    if (status == TD_OK && !(out->desk.auth = auth_new(secret)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a key");
    crypto_wipe(secret, sizeof secret);
    return status;
}

void key_command_close(struct key_command *command)
{
    key_store_close(command->desk.store);
    auth_free(command->desk.auth);
    config_free(command->config);
}

int key_command_print(const struct key_command *command, const char *verb,
                      const struct stored_key *key, const char *text, const char *words,
                      bool as_json)
{
    struct td_error err = {0};
    struct json *object;
    if (!as_json) {
        /* A pipe or a file gets the key alone, so that $(tandem keys add NAME) is one. */
        bool alone = text && !isatty(STDOUT_FILENO);
        fprintf(alone ? stderr : stdout, "key '%s' (id %s) %s\n", key->name, key->id, words);
        if (text)
            printf(alone ? "%s\n" : "\n  %s\n\n", text);
        if (text)
            fputs("It is shown this once, and cannot be shown again: keep it now.\n",
                  alone ? stderr : stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (key_desk_show(&command->desk, key, text, &object, &err) != TD_OK)
        return command_fail_as(verb, &err, true);
    return command_print_json(object) ? 0 : 1;
}
