/* An empty variable must not open the door, so a setting without a key is an error. So is a server
 * without keys that others can reach, unless the configuration says that it is meant: whoever
 * reaches it is its operator. An application's key is a client's key: naming it is enough. */
#include "app/setup/process/client_keys.h"

#include "api/http/auth.h"
#include "app/config/config_listen.h"
#include "app/setup/files/key_file.h"
#include "app/setup/files/secret_source.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/process/runtime.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

static bool names_server_keys(const struct config *config)
{
    return config->server.api_keys_env || config->server.api_keys_file ||
           config->server.operator_keys_env || config->server.operator_keys_file;
}

enum td_status client_keys_check_address(const struct config *config, const char *address,
                                         struct td_error *err)
{
    if (names_server_keys(config) || config->app_count > 0 || config->server.without_keys ||
        (config->server.tls.client_ca_file &&
         config->server.tls.client_auth == CONFIG_CLIENT_REQUIRED) ||
        key_file_has_keys(config))
        return TD_OK;
    return error_set(err, TD_DENIED,
                     "%s can be reached from other machines, and no key is needed: whoever comes "
                     "would use the models and read what others asked; make a key with 'tandem "
                     "keys add NAME', name keys with server.api_keys_env or "
                     "server.api_keys_file, listen on 127.0.0.1, or say server.without_keys: true",
                     address);
}

static enum td_status client_keys_check_reach(const struct config *config, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; i < config->server.address_count && status == TD_OK; i++) {
        const struct config_listen *address = &config->server.addresses[i];
        if (address->host && !config_listen_is_near(address->host))
            status = client_keys_check_address(config, address->text, err);
    }
    return status;
}

static enum td_status read_source(const char *setting, const char *env, const char *file,
                                  struct secret **out, struct td_error *err)
{
    *out = NULL;
    enum td_status status = secret_source_read(env, file, out, err);
    error_prefix(err, "server.%s_file", setting);
    if (status != TD_OK || *out || (!env && !file))
        return status;
    return error_set(err, TD_INVALID,
                     "server.%s_%s names '%s', which holds no key; write one there, or remove the "
                     "setting",
                     setting, env ? "env" : "file", env ? env : file);
}

static enum td_status make_auth(const struct config *config, struct auth **auth,
                                struct td_error *err)
{
    uint8_t secret[KEYED_KEY_BYTES];
    if (*auth)
        return TD_OK;
    enum td_status status = installation_key(config, secret, err);
    if (status == TD_OK && !(*auth = auth_new(secret)))
        status = error_set(err, TD_NO_MEMORY, "no memory for the keys of clients");
    crypto_wipe(secret, sizeof secret);
    return status;
}

/* What the configuration names has no key: at a start that is a mistake, and later a key that was
 * taken out. */
static enum td_status set_none(struct runtime *runtime, struct auth *auth, bool first,
                               struct td_error *err)
{
    const struct config *config = runtime_config(runtime);
    if (!first) {
        auth_clear(auth);
        return TD_OK;
    }
    if (config->app_count > 0)
        return error_set(err, TD_INVALID,
                         "none of the apps' keys is there: set the variable that key_env of app "
                         "'%.60s' names, or remove the app",
                         config->apps[0].name);
    enum td_status status = client_keys_check_reach(config, err);
    if (status == TD_OK)
        auth_open(auth);
    return status;
}

static enum td_status set_keys(struct runtime *runtime, struct auth *auth, bool first,
                               struct auth_keys *keys, struct td_error *err)
{
    struct auth_named named[CONFIG_APPS_MAX];
    struct exchange_services *services = runtime_acquire(runtime);
    const struct policy *policy = services->policy;
    const char *certificates[CONFIG_APPS_MAX];
    bool any = keys->clients.len || keys->operators.len;
    for (size_t i = 0; i < policy->app_count && i < CONFIG_APPS_MAX; i++) {
        any = any || *policy->apps[i].key || policy->apps[i].certificate;
        named[keys->named_count++] =
            (struct auth_named){policy->apps[i].key, policy->apps[i].tenant};
        if (policy->apps[i].certificate)
            certificates[keys->certificate_count++] = policy->apps[i].certificate;
    }
    keys->named = named;
    keys->certificates = certificates;
    enum td_status status = any ? auth_set(auth, keys, err) : set_none(runtime, auth, first, err);
    runtime_release(runtime, services);
    return status;
}

/* **Returns new** both, which are NULL where the configuration names none (secret_free). */
static enum td_status read_sources(const struct config *config, struct secret **clients,
                                   struct secret **operators, struct td_error *err)
{
    *operators = NULL;
    enum td_status status = read_source("api_keys", config->server.api_keys_env,
                                        config->server.api_keys_file, clients, err);
    return status == TD_OK ? read_source("operator_keys", config->server.operator_keys_env,
                                         config->server.operator_keys_file, operators, err)
                           : status;
}

enum td_status client_keys_check(const struct config *config, struct td_error *err)
{
    struct secret *clients, *operators;
    enum td_status status = read_sources(config, &clients, &operators, err);
    secret_free(clients);
    secret_free(operators);
    return status == TD_OK ? client_keys_check_reach(config, err) : status;
}

enum td_status client_keys_read(struct runtime *runtime, struct auth **auth, struct td_error *err)
{
    const struct config *config = runtime_config(runtime);
    struct secret *clients, *operators;
    bool first = !*auth;
    enum td_status status = read_sources(config, &clients, &operators, err);
    struct auth_keys keys = {.clients = clients ? secret_reveal(clients) : (struct td_str){0},
                             .operators =
                                 operators ? secret_reveal(operators) : (struct td_str){0}};
    if (status == TD_OK)
        status = make_auth(config, auth, err);
    if (status == TD_OK && (status = set_keys(runtime, *auth, first, &keys, err)) != TD_OK &&
        names_server_keys(config))
        error_prefix(err, "server.api_keys and server.operator_keys");
    secret_free(clients);
    secret_free(operators);
    return status;
}
