#include "app/setup/privacy/stored_forget.h"

#include "api/history/history.h"
#include "app/setup/files/file_setup.h"
#include "app/setup/files/queue_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/privacy/answers_keep.h"
#include "app/setup/privacy/vault_keep.h"
#include "base/crypto/crypto.h"
#include "exchange/private/consents.h"
#include "ledger/store/queue_store.h"
#include "ledger/store/shared_text.h"

static enum td_status erase_consents(const struct stored_forget *whom, uint64_t *erased,
                                     struct td_error *err)
{
    const struct config *config = whom->config;
    char path[STATE_PATH_BYTES];
    struct consents *consents = NULL;
    struct shared_text *text = NULL;
    enum td_status status = TD_OK;
    if (!config->state && !config->state_dir)
        return TD_OK;
    if (config->state)
        status = shared_text_open(config->state, "consents", &text, err);
    else
        status = state_file_path(config, "consents.json", path, err);
    if (status == TD_OK)
        status = consents_open(config->state ? NULL : path, &consents, err);
    if (status == TD_OK && text)
        consents_share(consents, text);
    else
        shared_text_close(text);
    if (status == TD_OK)
        status = consents_forget(consents, NULL, whom->user, erased, err);
    consents_close(consents);
    return status;
}

static enum td_status erase_files(const struct stored_forget *whom, struct api_stored *out,
                                  struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    enum td_status status = installation_key(whom->config, key, err);
    if (status == TD_OK && !(whom->open & STORED_FILES))
        status = file_setup_forget(whom->config, key, whom->tenant, whom->user, &out->files, err);
    if (status == TD_OK && !(whom->open & STORED_DEFERRED))
        status =
            deferral_setup_forget(whom->config, key, whom->tenant, whom->user, &out->deferred, err);
    crypto_wipe(key, sizeof key);
    return status;
}

/* Those in the memory of a server are gone with it. */
static enum td_status erase_responses(const struct stored_forget *whom, uint64_t *erased,
                                      struct td_error *err)
{
    const struct config *config = whom->config;
    struct history_share share = {.database = config->state};
    if (!config->state)
        return TD_OK;
    enum td_status status = installation_key(config, share.key, err);
    if (status == TD_OK)
        status = history_share_forget(&share, whom->tenant, whom->user, erased, err);
    crypto_wipe(&share, sizeof share);
    return status;
}

static enum td_status erase_tickets(const struct stored_forget *whom, uint64_t *erased,
                                    struct td_error *err)
{
    const struct config *config = whom->config;
    char path[STATE_PATH_BYTES];
    struct queue_store *queue;
    if (!queue_file_exists(config))
        return TD_OK;
    enum td_status status = queue_file_name(config, path, err);
    if (status == TD_OK)
        status = queue_store_open(path, &queue, err);
    if (status != TD_OK)
        return status;
    status = queue_store_forget(queue, whom->tenant, whom->user, erased, err);
    queue_store_close(queue);
    return status;
}

static enum td_status erase_ledger(const struct stored_forget *whom, struct ledger_forgotten *out,
                                   struct td_error *err)
{
    struct td_error missing = {0};
    enum td_status status =
        ledger_forget(whom->config->ledger.path, whom->tenant, whom->user, out, &missing);
    if (status == TD_OK || status == TD_NOT_FOUND) /* nothing recorded is nothing to erase */
        return TD_OK;
    *err = missing;
    return status;
}

/* Answers on disk do not say whose they are, and a server that keeps some has read the file. */
enum td_status stored_forget(const struct stored_forget *whom, struct api_stored *out,
                             struct td_error *err)
{
    const struct config *config = whom->config;
    enum td_status status = answers_keep_remove(config, err);
    if (status == TD_OK && !(whom->open & STORED_LEDGER))
        status = erase_ledger(whom, &out->ledger, err);
    if (status == TD_OK && !(whom->open & STORED_CONSENTS))
        status = erase_consents(whom, &out->consents, err);
    if (status == TD_OK && !(whom->open & STORED_SIMILAR))
        status = consistency_setup_forget(config, whom->tenant, whom->user, &out->similar, err);
    if (status == TD_OK && !(whom->open & STORED_VAULTS))
        status = vault_keep_forget(config, whom->user, &out->vaults, err);
    if (status == TD_OK)
        status = erase_files(whom, out, err);
    if (status == TD_OK && !(whom->open & STORED_RESPONSES))
        status = erase_responses(whom, &out->responses, err);
    if (status == TD_OK && !(whom->open & STORED_TICKETS))
        status = erase_tickets(whom, &out->tickets, err);
    return status;
}
