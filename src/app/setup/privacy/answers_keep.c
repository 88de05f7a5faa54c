#include "app/setup/privacy/answers_keep.h"

#include "api/cache/answer_cache.h"
#include "api/cache/cache_bytes.h"
#include "app/setup/files/state_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/privacy/vault_bytes.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <unistd.h>

#define FILE_NAME "answers"
/* What vault_bytes.h reads, less what is around it. Answers are kilobytes, and the default of the
 * cache's limit is a sixteenth of this. */
#define FILE_BYTES_MAX (((size_t)1 << 30) - 4096)

static bool is_on(const struct config *config)
{
    return config->cache.on_disk && config->state_dir && !config->privacy.zero_retention;
}

/* The installation's key has other purposes, so this is one made of it. */
static enum td_status open_place(const struct config *config, char path[static STATE_PATH_BYTES],
                                 struct vault_key *key, struct td_error *err)
{
    uint8_t secret[KEYED_KEY_BYTES];
    *key = (struct vault_key){0};
    enum td_status status = state_file_path(config, FILE_NAME, path, err);
    if (status == TD_OK)
        status = installation_key(config, secret, err);
    if (status == TD_OK) {
        keyed_mac(secret, "answers on disk", sizeof "answers on disk" - 1, key->bytes);
        key->on = true;
    }
    crypto_wipe(secret, sizeof secret);
    return status;
}

static struct cache_now now_of(void)
{
    return (struct cache_now){(uint64_t)clock_monotonic_ms(NULL), clock_wall_ms(NULL)};
}

static void wipe(struct buf *text)
{
    if (text->data)
        crypto_wipe(text->data, text->len);
    buf_deinit(text);
}

static void load(const struct config *config, const char *path, const struct vault_key *key,
                 struct answer_cache *cache)
{
    struct td_error err = {0};
    struct answer_cache_counts counts;
    struct cache_now now = now_of();
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = vault_bytes_read(path, key, &text, &err);
    if (status == TD_OK &&
        !cache_bytes_read(buf_view(&text), &now, (uint64_t)config->cache.ttl_s * 1000, cache))
        status = error_set(&err, TD_CORRUPT, "%s ends in what is no answer", path);
    wipe(&text);
    answer_cache_read(cache, &counts);
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "answers_not_read", "answers=%llu reason=\"%s\"",
                  (unsigned long long)counts.count, err.message);
    else
        log_event(LOG_LEVEL_INFO, "answers_read", "answers=%llu bytes=%llu",
                  (unsigned long long)counts.count, (unsigned long long)counts.bytes);
}

void answers_keep_load(const struct config *config, struct answer_cache *cache)
{
    char path[STATE_PATH_BYTES];
    struct vault_key key;
    struct td_error err = {0};
    if (!is_on(config))
        return;
    enum td_status status = open_place(config, path, &key, &err);
    if (status == TD_OK && access(path, F_OK) == 0) {
        load(config, path, &key, cache);
        status = file_remove(path, &err);
    }
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "answers_not_read", "answers=0 reason=\"%s\"", err.message);
    vault_key_wipe(&key);
}

void answers_keep_save(const struct config *config, struct answer_cache *cache)
{
    char path[STATE_PATH_BYTES];
    struct vault_key key;
    struct td_error err = {0};
    struct cache_now now = now_of();
    struct buf text;
    if (!cache || !is_on(config))
        return;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = open_place(config, path, &key, &err);
    cache_bytes_write(cache, &now, &text);
    if (status == TD_OK && text.failed)
        status = error_set(&err, TD_NO_MEMORY, "they are more than 1 GiB, or there is no memory");
    if (status == TD_OK)
        status = vault_bytes_write(path, &key, buf_view(&text), &err);
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "answers_not_kept", "reason=\"%s\"", err.message);
    wipe(&text);
    vault_key_wipe(&key);
}

enum td_status answers_keep_remove(const struct config *config, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (!config->state_dir)
        return TD_OK;
    enum td_status status = state_file_path(config, FILE_NAME, path, err);
    return status == TD_OK && access(path, F_OK) == 0 ? file_remove(path, err) : status;
}
