/* The policy of a configuration: routes, compiled rules, applications, weights, and the version
 * over everything that decides. */
#ifndef APP_POLICY_BUILD_H
#define APP_POLICY_BUILD_H

#include "app/config/config.h"
#include "router/judge/confidence_model.h"
#include "router/plan/thresholds.h"

struct classifier;

/* What was learned from data. */
struct policy_learned {
    const struct classifier *classifier;       /* NULL = none */
    const struct confidence_model *confidence; /* NULL = none */
    /* [config->tier_count] of local tiers, each NULL for none; or NULL */
    struct confidence_model *const *calibrations;
    struct thresholds *(*thresholds)[THRESHOLD_GATE_COUNT]; /* [CONFIG_ROUTES_MAX], or NULL */
    bool confined; /* routes only: what decides is outside, and no key is read here */
};

struct policy_parts {
    struct policy policy; /* borrows the other members and the configuration */
    struct route routes[CONFIG_ROUTES_MAX];
    struct app apps[CONFIG_APPS_MAX];
    struct budget budgets[BUDGETS_MAX];
    char digests[CONFIG_APPS_MAX][65];
    char version[17];
    const char *text; /* that the version is the hash of; of the configuration's arena */
};

/* The context of a slot when neither the file nor the model has a smaller one (the bound of
 * td_session_options). */
#define POLICY_CONTEXT_TOKENS 4096

/* What the configuration says of a tier, as if its model and its key were there. **borrows** the
 * configuration. */
struct tier_facts policy_tier_facts(const struct config *config, const struct config_tier *tier);

/* The classifier that router.classifier names. *out is NULL when that is none, or when there is
 * no default. **returns new** (classifier_close). */
TD_MUST_CHECK enum td_status policy_open_classifier(const struct config *config,
                                                    struct classifier **out, struct td_error *err);

/* Reads the files of thresholds that routes name for their gates. What was read is to be freed
 * (free), also after a failure. */
TD_MUST_CHECK enum td_status
policy_read_thresholds(const struct config *config,
                       struct thresholds *out[static CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT],
                       struct td_error *err);

/* Fills *out, which must stay where it is. TD_INVALID, with file, line and reason, when a gate
 * or a rule asks for something that the classifier does not say; also what reading an
 * application's key gives. */
TD_MUST_CHECK enum td_status policy_build(const struct config *config,
                                          const struct policy_learned *learned,
                                          struct policy_parts *out, struct td_error *err);

#endif
