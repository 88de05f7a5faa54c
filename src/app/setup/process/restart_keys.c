/* Says what a reload cannot change. A key that is missing here changes silently at the next
 * start, so a new key of the server, ledger or privacy belongs here unless the snapshot
 * takes it. */
#include "app/setup/process/restart_keys.h"

#include "base/time/log.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_texts(const struct config_texts *a, const struct config_texts *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_text(a->items[i], b->items[i]);
    return same;
}

static bool same_certificates(const struct config *old, const struct config *new)
{
    bool same = old->server.tls.more_count == new->server.tls.more_count;
    for (size_t i = 0; same && i < old->server.tls.more_count; i++)
        same = same_text(old->server.tls.more[i].certificate_file,
                         new->server.tls.more[i].certificate_file) &&
               same_text(old->server.tls.more[i].key_file, new->server.tls.more[i].key_file);
    return same;
}

/* deadline_ms belongs to the snapshot, and the keys in files are read again. */
static bool same_server(const struct config *old, const struct config *new)
{
    return same_texts(&old->server.cors_origins, &new->server.cors_origins) &&
           same_texts(&old->server.allowed_hosts, &new->server.allowed_hosts) &&
           same_text(old->server.listen, new->server.listen) &&
           same_text(old->server.unix_mode, new->server.unix_mode) &&
           same_texts(&old->server.proxy_protocol_from, &new->server.proxy_protocol_from) &&
           same_certificates(old, new) &&
           old->server.http2 == new->server.http2 &&same_text(old->server.tls.certificate_file,
                                                              new->server.tls.certificate_file) &&
           same_text(old->server.tls.key_file, new->server.tls.key_file) &&
           same_text(old->server.tls.client_ca_file, new->server.tls.client_ca_file) &&
           (old->server.tls.client_auth == new->server.tls.client_auth) &&
           same_text(old->server.api_keys_env, new->server.api_keys_env) &&
           same_text(old->server.api_keys_file, new->server.api_keys_file) &&
           same_text(old->server.operator_keys_env, new->server.operator_keys_env) &&
           same_text(old->server.operator_keys_file, new->server.operator_keys_file) &&
           old->server.without_keys == new->server.without_keys &&
           old->server.workers == new->server.workers &&
           old->server.local_origins == new->server.local_origins &&
           old->server.console == new->server.console &&
           old->server.config_edit == new->server.config_edit &&
           old->server.body_bytes_max == new->server.body_bytes_max &&
           old->server.header_bytes_max == new->server.header_bytes_max &&
           old->server.answer_bytes_max == new->server.answer_bytes_max &&
           old->server.pad_stream_bytes == new->server.pad_stream_bytes &&
           old->server.connections_max == new->server.connections_max &&
           old->server.buffered_bytes_max == new->server.buffered_bytes_max &&
           old->server.ignore_client_abort == new->server.ignore_client_abort &&
           old->server.header_timeout_ms == new->server.header_timeout_ms &&
           old->server.idle_timeout_ms == new->server.idle_timeout_ms &&
           old->server.shutdown_timeout_ms == new->server.shutdown_timeout_ms;
}

static bool same_ledger(const struct config *old, const struct config *new)
{
    return old->ledger.enabled == new->ledger.enabled &&
           old->ledger.keep_days == new->ledger.keep_days &&
           old->ledger.durable ==
               new->ledger.durable &&same_text(old->ledger.path, new->ledger.path) &&
           same_text(old->state, new->state) && same_text(old->ledger.egress, new->ledger.egress) &&
           same_text(old->cluster.node, new->cluster.node) &&
           same_text(old->cluster.redis, new->cluster.redis);
}

static bool same_deferral(const struct config *old, const struct config *new)
{
    return same_text(old->deferral.path, new->deferral.path) &&
           old->deferral.otherwise == new->deferral.otherwise &&
           old->deferral.count_max == new->deferral.count_max &&
           old->deferral.caller_count_max == new->deferral.caller_count_max &&
           old->deferral.mb_max == new->deferral.mb_max &&
           old->deferral.expires_s == new->deferral.expires_s &&
           old->deferral.keep_s == new->deferral.keep_s &&
           old->deferral.at_once == new->deferral.at_once &&
           old->deferral.per_minute == new->deferral.per_minute;
}

static bool same_files(const struct config *old, const struct config *new)
{
    return same_text(old->files.directory, new->files.directory) &&
           old->files.file_mb_max == new->files.file_mb_max &&
           old->files.caller_mb_max == new->files.caller_mb_max &&
           old->files.mb_max == new->files.mb_max &&
           old->files.caller_count_max == new->files.caller_count_max &&
           old->files.keep_days == new->files.keep_days &&
           old->files.batch_lines == new->files.batch_lines;
}

static bool same_privacy(const struct config *old, const struct config *new)
{
    return old->privacy.conversations_max == new->privacy.conversations_max &&
           old->privacy.pseudonyms.conversations_max == new->privacy.pseudonyms.conversations_max &&
           old->privacy.pseudonyms.bytes_max == new->privacy.pseudonyms.bytes_max &&
           old->privacy.pseudonyms.ttl_s == new->privacy.pseudonyms.ttl_s &&
           old->privacy.confine == new->privacy.confine &&
           old->privacy.zero_retention == new->privacy.zero_retention;
}

static bool same_otlp(const struct config *old, const struct config *new)
{
    return same_text(old->otlp.endpoint, new->otlp.endpoint) &&
           same_text(old->otlp.headers_env, new->otlp.headers_env) &&
           same_text(old->otlp.service_name, new->otlp.service_name) &&
           same_text(old->otlp.ca_file, new->otlp.ca_file) &&
           old->otlp.traces == new->otlp.traces && old->otlp.metrics == new->otlp.metrics &&
           old->otlp.metrics_interval_s == new->otlp.metrics_interval_s;
}

static bool same_webhooks(const struct config *old, const struct config *new)
{
    bool same = old->webhook_count == new->webhook_count;
    for (size_t i = 0; same && i < old->webhook_count; i++) {
        const struct config_webhook *a = &old->webhooks[i], *b = &new->webhooks[i];
        same = same_text(a->name, b->name) && same_text(a->url, b->url) &&
               same_text(a->secret_env, b->secret_env) &&
               same_text(a->secret_file, b->secret_file) && same_texts(&a->events, &b->events) &&
               a->allow_private == b->allow_private;
    }
    return same;
}

size_t restart_keys_find(const struct config *old, const struct config *new,
                         const char *sections[static RESTART_SECTIONS_MAX])
{
    const struct {
        const char *section;
        bool same;
    } compared[RESTART_SECTIONS_MAX] = {
        {"server", same_server(old, new)},
        {"ledger", same_ledger(old, new)},
        {"deferral", same_deferral(old, new)},
        {"files", same_files(old, new)},
        {"otlp", same_otlp(old, new)},
        {"webhooks", same_webhooks(old, new)},
        {"log", same_text(old->log.access, new->log.access)},
        {"engine", old->engine.isolated == new->engine.isolated},
        {"privacy", same_privacy(old, new)},
    };
    size_t count = 0;
    for (size_t i = 0; i < RESTART_SECTIONS_MAX; i++)
        if (!compared[i].same)
            sections[count++] = compared[i].section;
    return count;
}

void restart_keys_warn(const struct config *old, const struct config *new)
{
    const char *sections[RESTART_SECTIONS_MAX];
    size_t count = restart_keys_find(old, new, sections);
    for (size_t i = 0; i < count; i++)
        log_event(LOG_LEVEL_WARN, "reload_needs_restart", "section=%s file=%s", sections[i],
                  new->label);
}
