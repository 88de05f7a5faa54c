/* Opens what decides in the order of dependence; one function frees it, whatever was opened. */
#include "app/evidence/policy_opened.h"

#include "base/error.h"
#include "privacy/scan/scanner.h"
#include "router/judge/classifier.h"

#include <stdlib.h>

void policy_opened_free(struct policy_opened *opened)
{
    for (size_t i = 0; i < CONFIG_ROUTES_MAX; i++)
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++)
            free(opened->thresholds[i][gate]);
    free(opened->parts);
    privacy_scanner_free(opened->scanner);
    classifier_close(opened->classifier);
    config_free(opened->config);
}

enum td_status policy_opened_of(struct config *config, struct policy_opened *out,
                                struct td_error *err)
{
    *out = (struct policy_opened){.config = config, .parts = calloc(1, sizeof *out->parts)};
    if (!out->parts)
        return error_set(err, TD_NO_MEMORY, "no memory for the policy");
    enum td_status status = policy_open_classifier(out->config, &out->classifier, err);
    if (status == TD_OK)
        status = policy_read_thresholds(out->config, out->thresholds, err);
    const struct policy_learned learned = {.classifier = out->classifier,
                                           .thresholds = out->thresholds};
    if (status == TD_OK)
        status = policy_build(out->config, &learned, out->parts, err);
    return status;
}

enum td_status policy_opened_read(const char *path, struct policy_opened *out, struct td_error *err)
{
    struct config *config;
    *out = (struct policy_opened){.config = NULL};
    enum td_status status = config_load(path, &config, err);
    return status == TD_OK ? policy_opened_of(config, out, err) : status;
}
