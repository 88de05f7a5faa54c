/* Which configured models their providers have retired, or will soon: nothing fails before that
 * day, and everything on it. Any thread. */
#ifndef APP_RETIREMENT_H
#define APP_RETIREMENT_H

#include "app/config/config.h"

typedef void retirement_fn(void *ctx, const struct config_tier *tier, const char *model,
                           const char *words);

/* Calls `fn` for each of them. The words: "the provider retires it in 12 days (2027-01-14)". */
void retirement_each(const struct config *config, uint64_t wall_ms, retirement_fn *fn, void *ctx);
/* A warning `model_retires` in the log for each of them. */
void retirement_log(const struct config *config);

#endif
