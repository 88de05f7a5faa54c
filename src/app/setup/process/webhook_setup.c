/* A webhook without its secret would send what nobody can tell from a forgery, so a secret that is
 * missing stops the start. */
#include "app/setup/process/webhook_setup.h"

#include "app/setup/files/secret_source.h"
#include "base/core/error.h"
#include "net/client/webhook.h"

static enum td_status read_target(const struct config_webhook *from, struct secret **secret,
                                  struct webhook_target *to, struct td_error *err)
{
    *to = (struct webhook_target){.name = from->name,
                                  .url = from->url,
                                  .events = (const char *const *)from->events.items,
                                  .event_count = from->events.count,
                                  .allow_private = from->allow_private};
    enum td_status status = secret_source_read(from->secret_env, from->secret_file, secret, err);
    if (status == TD_OK && !*secret)
        status = error_set(err, TD_INVALID, "it has no secret: the variable '%.64s' is not set",
                           from->secret_env ? from->secret_env : "");
    error_prefix(err, "webhook %s", from->name);
    to->secret = *secret;
    return status;
}

enum td_status webhook_setup_open(const struct config *config, struct webhooks **out,
                                  struct td_error *err)
{
    struct webhook_target targets[WEBHOOKS_MAX];
    struct secret *secrets[WEBHOOKS_MAX] = {NULL};
    enum td_status status = TD_OK;
    *out = NULL;
    for (size_t i = 0; status == TD_OK && i < config->webhook_count; i++)
        status = read_target(&config->webhooks[i], &secrets[i], &targets[i], err);
    if (status == TD_OK && config->webhook_count > 0)
        status = webhooks_new(targets, config->webhook_count, out, err);
    for (size_t i = 0; i < WEBHOOKS_MAX; i++)
        secret_free(secrets[i]);
    return status;
}
