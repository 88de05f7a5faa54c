/* The second step of loading a configuration, after its file was read. */
#ifndef APP_CONFIG_DEFAULTS_H
#define APP_CONFIG_DEFAULTS_H

#include "app/config/config.h"

/* Where environment variables are looked up: see config_env_fn. */
struct config_environment {
    config_env_fn *fn;
    void *ctx;
};

/* The value of a variable; NULL when it is not set or empty. **borrows** from the environment. */
const char *config_environment_get(const struct config_environment *env, const char *name);

/* Fills in paths, tiers and routes that the file leaves out. What it takes from the environment is
 * copied into the configuration's arena. */
TD_MUST_CHECK enum td_status config_defaults_fill(struct config *config,
                                                  const struct config_environment *env,
                                                  struct td_error *err);

/* What is known of the model at the tier's provider, or NULL. A server that the configuration puts
 * elsewhere may run anything under that name. */
struct model_card;
const struct model_card *config_model_card(const struct config_tier *tier, const char *model);

#endif
