/* A configuration with everything that decides, but no model: what the verbs that judge a policy
 * work on. For one thread. */
#ifndef APP_POLICY_OPENED_H
#define APP_POLICY_OPENED_H

#include "app/setup/policy/policy_build.h"

struct privacy_scanner;

struct policy_opened {
    struct config *config;
    struct classifier *classifier; /* NULL = there is none */
    struct thresholds *thresholds[CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT];
    struct policy_parts *parts;
    struct privacy_scanner *scanner; /* NULL until somebody opens it (privacy_setup) */
    bool keys_apart;                 /* the caller reads those of tiers, clients and webhooks */
};

/* Reads the configuration at `path` (NULL as config_load takes it) and every file that it names.
 * What was opened is to be freed (policy_opened_free), also after a failure. */
TD_MUST_CHECK enum td_status policy_opened_read(const char *path, struct policy_opened *out,
                                                struct td_error *err);
/* The same with a configuration that was read; **takes** it, also on failure. */
TD_MUST_CHECK enum td_status policy_opened_of(struct config *config, struct policy_opened *out,
                                              struct td_error *err);
/* Opens the scanner, and reads every other file that a start or a reload would refuse to do
 * without: keys, certificates, confidence, adapters. Variables are another machine's affair. */
TD_MUST_CHECK enum td_status policy_opened_check_start(struct policy_opened *opened,
                                                       struct td_error *err);
void policy_opened_free(struct policy_opened *opened);

#endif
