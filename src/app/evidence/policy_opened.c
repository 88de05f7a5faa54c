/* Opens what decides in the order of dependence; one function frees it, whatever was opened. */
#include "app/evidence/policy_opened.h"

#include "app/setup/files/secret_source.h"
#include "app/setup/model/adapter_file.h"
#include "app/setup/policy/confidence_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/setup/privacy/pseudonym_setup.h"
#include "app/setup/privacy/vault_keep.h"
#include "app/setup/process/listeners.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "net/transport/tls.h"
#include "privacy/pseudonym/mask.h"
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

/* Whether it can be read; what is in it is not kept. */
static enum td_status check_secret(const char *setting, const char *file, struct td_error *err)
{
    struct secret *text = NULL;
    enum td_status status = file ? secret_source_read(NULL, file, &text, err) : TD_OK;
    secret_free(text);
    error_prefix(err, "%s", setting);
    return status;
}

static enum td_status check_confidence(const char *file, struct td_error *err)
{
    struct confidence_model *model = NULL;
    enum td_status status = file ? confidence_file_read(file, &model, err) : TD_OK;
    free(model);
    return status;
}

static enum td_status check_tier(const struct config_tier *tier, bool keys, struct td_error *err)
{
    enum td_status status = file_check_regular(tier->ca_file, err);
    if (status == TD_OK && keys)
        status = check_secret("api_key_file", tier->api_key_file, err);
    for (size_t i = 0; keys && i < tier->key_count && status == TD_OK; i++)
        status = check_secret("keys", tier->keys[i].file, err);
    if (status == TD_OK)
        status = check_confidence(tier->confidence, err);
    error_prefix(err, "tier %s", tier->name);
    return status;
}

/* Of those who call, and of those who are told. */
static enum td_status check_keys(const struct config *config, struct td_error *err)
{
    enum td_status status = check_secret("server.api_keys_file", config->server.api_keys_file, err);
    if (status == TD_OK)
        status = check_secret("server.operator_keys_file", config->server.operator_keys_file, err);
    for (size_t i = 0; i < config->webhook_count && status == TD_OK; i++) {
        status = check_secret("secret_file", config->webhooks[i].secret_file, err);
        error_prefix(err, "webhook %s", config->webhooks[i].name);
    }
    return status;
}

/* What nodes share, what is kept over a restart, and what traces are sent with. */
static enum td_status check_own_keys(const struct config *config, struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    enum td_status status = TD_OK;
    if (config->cluster.key_file)
        status = installation_key(config, key, err);
    crypto_wipe(key, sizeof key);
    if (status == TD_OK && !config->privacy.pseudonyms.vault_key_env)
        status = vault_keep_check(config, err);
    if (status == TD_OK && config->otlp.endpoint && strcmp(config->otlp.endpoint, "none") != 0) {
        status = file_check_regular(config->otlp.ca_file, err);
        error_prefix(err, "otlp.ca_file");
    }
    return status;
}

/* Without its model, of which it is no more than likely that the adapter fits. */
static enum td_status check_adapter(const struct config_adapter *adapter, struct td_error *err)
{
    struct adapter_file header;
    enum td_status status = file_check_regular(adapter->file, err);
    if (status == TD_OK && !adapter_file_read(adapter->file, &header))
        status = error_set(err, TD_INVALID, "%s is no adapter in GGUF", adapter->file);
    error_prefix(err, "adapter %s", adapter->name);
    return status;
}

static enum td_status check_tls(const struct config *config, struct td_error *err)
{
    struct tls_options options;
    struct tls_files more[TLS_MORE_MAX];
    struct tls_keeper *keeper = NULL;
    enum td_status status = TD_OK;
    if (listeners_tls(config, more, &options))
        status = tls_keeper_new(&options, &keeper, err);
    tls_keeper_free(keeper);
    error_prefix(err, "server.tls");
    return status;
}

enum td_status policy_opened_check_start(struct policy_opened *opened, struct td_error *err)
{
    const struct config *config = opened->config;
    struct mask_rules rules;
    enum td_status status = privacy_setup(config, &opened->scanner, err);
    if (status == TD_OK)
        status = pseudonym_setup_rules(config, &rules, err);
    if (status == TD_OK)
        status = check_confidence(config->router.confidence, err);
    for (size_t i = 0; i < config->tier_count && status == TD_OK; i++)
        status = check_tier(&config->tiers[i], !opened->keys_apart, err);
    for (size_t i = 0; i < config->engine.adapter_count && status == TD_OK; i++)
        status = check_adapter(&config->engine.adapters[i], err);
    if (status == TD_OK && !opened->keys_apart)
        status = check_keys(config, err);
    if (status == TD_OK)
        status = check_own_keys(config, err);
    return status == TD_OK ? check_tls(config, err) : status;
}
