/* Each worker has a socket of its own for an address, so that the kernel spreads connections
 * (SO_REUSEPORT). A path has one socket, and so has what the service manager opened; their workers
 * accept from copies of the descriptor. Where the service manager hands sockets over, it decides
 * where the server listens, and the configuration's addresses are not used. */
#include "app/setup/process/listeners.h"

#include "app/config/config_listen.h"
#include "app/setup/process/client_keys.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/log.h"
#include "net/client/loopback.h"
#include "net/transport/address_set.h"
#include "net/transport/listen.h"
#include "net/transport/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TLS_LOOK_MS 10000 /* how often files are looked at: four system calls */

struct place {
    const struct config_listen *address; /* NULL = handed over */
    int fd;                              /* that workers share; -1 = each opens its own */
    uint16_t port;
    struct stat made; /* of a path */
};

struct listeners {
    const struct config *config;
    bool shared_port; /* several workers */
    bool proxied;
    struct tls_keeper *tls; /* NULL = no encryption */
    struct tls_files certificates[TLS_MORE_MAX];
    struct address_set proxies;
    struct place places[LISTENERS_MAX];
    size_t count;
};

/* --- TLS --- */

static void read_more(const struct config *config, struct tls_files more[static TLS_MORE_MAX])
{
    for (size_t i = 0; i < config->server.tls.more_count; i++)
        more[i] = (struct tls_files){.certificate = config->server.tls.more[i].certificate_file,
                                     .key = config->server.tls.more[i].key_file};
}

bool listeners_tls(const struct config *config, struct tls_files more[static TLS_MORE_MAX],
                   struct tls_options *out)
{
    read_more(config, more);
    *out = (struct tls_options){
        .files = {.certificate = config->server.tls.certificate_file,
                  .key = config->server.tls.key_file,
                  .client_ca = config->server.tls.client_ca_file},
        .more = more,
        .more_count = config->server.tls.more_count,
        .client_required = config->server.tls.client_auth == CONFIG_CLIENT_REQUIRED,
        .http2 = config->server.http2,
    };
    return out->files.certificate != NULL;
}

static void tell_expiry(const struct listeners *listeners)
{
    double days = difftime(tls_keeper_expiry(listeners->tls), time(NULL)) / 86400;
    bool soon = days < LISTENERS_EXPIRY_DAYS;
    log_event(soon ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "certificate_read", "file=%s days_left=%.0f",
              listeners->config->server.tls.certificate_file, days);
}

void listeners_reload(struct listeners *listeners)
{
    struct td_error err = {0};
    if (!listeners->tls)
        return;
    if (tls_keeper_reload(listeners->tls, &err) == TD_OK)
        tell_expiry(listeners);
    else
        log_event(LOG_LEVEL_ERROR, "certificate_rejected", "kept=old reason=\"%s\"", err.message);
}

void listeners_tend(struct listeners *listeners)
{
    if (listeners->tls && tls_keeper_is_stale(listeners->tls))
        listeners_reload(listeners);
}

uint64_t listeners_wait_ms(const struct listeners *listeners)
{
    return listeners->tls ? TLS_LOOK_MS : UINT64_MAX;
}

static enum td_status open_tls(struct listeners *listeners, struct td_error *err)
{
    struct tls_options options;
    if (!listeners_tls(listeners->config, listeners->certificates, &options))
        return TD_OK;
    enum td_status status = tls_keeper_new(&options, &listeners->tls, err);
    if (status == TD_OK)
        tell_expiry(listeners);
    else
        error_prefix(err, "server.tls");
    return status;
}

/* --- sockets --- */

static enum td_status in_use(const struct config_listen *address, struct td_error *err)
{
    return error_set(err, TD_IO,
                     "%s is in use: another program, or another tandem, listens there; stop it, or "
                     "choose another address with --listen or TANDEM_LISTEN",
                     address->text);
}

/* Two processes may share a port with SO_REUSEPORT without noticing, and each would get half of the
 * requests. Listening once without it finds the other one. */
static enum td_status try_port(const struct config_listen *address, struct td_error *err)
{
    struct td_error cause = {0};
    if (address->port == 0)
        return TD_OK;
    int fd = listen_open(address->host, address->port, false, &cause);
    if (fd >= 0)
        close(fd);
    return fd >= 0                   ? TD_OK
           : cause.status == TD_BUSY ? in_use(address, err)
                                     : error_set(err, cause.status, "%s", cause.message);
}

static enum td_status open_path(struct place *place, mode_t mode, struct td_error *err)
{
    struct td_error cause = {0};
    place->fd = listen_open_path(place->address->path, mode, &place->made, &cause);
    if (place->fd >= 0)
        return TD_OK;
    return cause.status == TD_BUSY ? in_use(place->address, err)
                                   : error_set(err, cause.status, "%s", cause.message);
}

static enum td_status open_configured(struct listeners *listeners, struct td_error *err)
{
    const struct config *config = listeners->config;
    enum td_status status = TD_OK;
    mode_t mode = 0;
    if (!config_listen_mode(config, &mode))
        return error_set(err, TD_INVALID, "server.unix_mode is no mode");
    for (size_t i = 0; i < config->server.address_count && status == TD_OK; i++) {
        struct place *place = &listeners->places[listeners->count++];
        *place = (struct place){.address = &config->server.addresses[i], .fd = -1};
        place->port = place->address->port;
        status = place->address->path ? open_path(place, mode, err) : try_port(place->address, err);
    }
    return status;
}

/* What the manager opened decides who can reach the server. */
static enum td_status check_inherited(const struct listeners *listeners, struct td_error *err)
{
    char name[LISTEN_NAME_BYTES];
    for (size_t i = 0; i < listeners->count; i++)
        if (!listen_name(listeners->places[i].fd, name, NULL) || !config_listen_is_near(name))
            return client_keys_check_address(listeners->config, name, err);
    return TD_OK;
}

static enum td_status take_inherited(struct listeners *listeners, struct td_error *err)
{
    int fds[LISTENERS_MAX];
    char name[LISTEN_NAME_BYTES];
    enum td_status status = listen_inherit(fds, LISTENERS_MAX, &listeners->count, err);
    for (size_t i = 0; i < listeners->count; i++) {
        struct place *place = &listeners->places[i];
        *place = (struct place){.fd = fds[i]};
        if (listen_name(fds[i], name, &place->port))
            log_event(LOG_LEVEL_INFO, "socket_handed_over", "address=%s port=%u", name,
                      place->port);
    }
    return status == TD_OK ? check_inherited(listeners, err) : status;
}

enum td_status listeners_check_tiers(const struct config *config, const char *host, uint16_t port,
                                     struct td_error *err)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        if (tier->base_url && loopback_is_url_of(str_from(tier->base_url), host, port))
            return error_set(err, TD_INVALID,
                             "tier '%.60s' is at this server's own address, %.200s: each question "
                             "would come back to it. If OPENAI_BASE_URL or another variable is "
                             "meant for a program of yours, unset it where this server starts; "
                             "or give one of the two another port",
                             tier->name, tier->base_url);
    }
    return TD_OK;
}

static enum td_status check_tiers(const struct listeners *listeners, struct td_error *err)
{
    enum td_status status = TD_OK;
    char name[LISTEN_NAME_BYTES];
    for (size_t i = 0; i < listeners->count && status == TD_OK; i++) {
        const struct place *place = &listeners->places[i];
        const char *host = place->address                       ? place->address->host
                           : listen_name(place->fd, name, NULL) ? name
                                                                : NULL;
        if (host)
            status = listeners_check_tiers(listeners->config, host, place->port, err);
    }
    return status;
}

enum td_status listeners_open(const struct config *config, uint32_t worker_count,
                              struct listeners **out, struct td_error *err)
{
    struct listeners *listeners = calloc(1, sizeof *listeners);
    const char *bad;
    *out = listeners;
    if (!listeners)
        return error_set(err, TD_NO_MEMORY, "no memory to start");
    listeners->config = config;
    listeners->shared_port = worker_count > 1;
    listeners->proxied = config->server.proxy_protocol_from.count > 0;
    if (!config_listen_proxies(config, &listeners->proxies, &bad))
        return error_set(err, TD_INVALID, "server.proxy_protocol_from is wrong");
    enum td_status status = open_tls(listeners, err);
    if (status == TD_OK)
        status = take_inherited(listeners, err);
    if (status == TD_OK && listeners->count == 0)
        status = open_configured(listeners, err);
    return status == TD_OK ? check_tiers(listeners, err) : status;
}

static int open_for_worker(struct listeners *listeners, struct place *place, struct td_error *err)
{
    if (place->fd < 0) {
        char name[LISTEN_NAME_BYTES];
        int fd = listen_open(place->address->host, place->port, listeners->shared_port, err);
        if (fd >= 0)
            (void)listen_name(fd, name, &place->port); /* the next worker's, where any would do */
        return fd;
    }
    int copy = fcntl(place->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        error_set(err, TD_IO, "cannot listen: %s", strerror(errno));
    return copy;
}

enum td_status listeners_take(struct listeners *listeners,
                              struct server_socket out[static LISTENERS_MAX], size_t *count,
                              struct td_error *err)
{
    *count = 0;
    for (size_t i = 0; i < listeners->count; i++) {
        int fd = open_for_worker(listeners, &listeners->places[i], err);
        if (fd < 0) {
            while (*count)
                close(out[--*count].fd);
            return TD_IO;
        }
        out[(*count)++] = (struct server_socket){
            .fd = fd,
            .proxies = listeners->proxied ? &listeners->proxies : NULL,
            .tls = listen_is_path(fd) ? NULL : listeners->tls,
        };
    }
    return TD_OK;
}

/* "http://127.0.0.1:8080" */
static void write_url(const char *scheme, const char *host, uint16_t port, char *url, size_t size)
{
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
        host = "127.0.0.1"; /* an address that can be typed into a client */
    bool v6 = strchr(host, ':') != NULL;
    snprintf(url, size, "%s://%s%s%s:%u", scheme, v6 ? "[" : "", host, v6 ? "]" : "", port);
}

void listeners_url(const struct listeners *listeners, char *url, size_t size, uint16_t *port)
{
    char name[LISTEN_NAME_BYTES];
    for (size_t i = 0; i < listeners->count; i++) {
        const struct place *place = &listeners->places[i];
        bool path = place->address ? place->address->path != NULL : listen_is_path(place->fd);
        if (path)
            continue;
        bool named = !place->address && listen_name(place->fd, name, NULL);
        write_url(listeners->tls ? "https" : "http",
                  named            ? name
                  : place->address ? place->address->host
                                   : "",
                  place->port, url, size);
        *port = place->port;
        return;
    }
    const struct config_listen *first = listeners->places[0].address;
    snprintf(url, size, "%s", first ? first->text : "unix");
    *port = 0;
}

void listeners_close(struct listeners *listeners)
{
    if (!listeners)
        return;
    for (size_t i = 0; i < listeners->count; i++) {
        struct place *place = &listeners->places[i];
        if (place->fd >= 0 && place->address)
            listen_remove(place->address->path, &place->made);
        if (place->fd >= 0)
            close(place->fd);
    }
    tls_keeper_free(listeners->tls);
    free(listeners);
}
