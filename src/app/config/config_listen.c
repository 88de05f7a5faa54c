/* "HOST:PORT" and "unix:/PATH", one or several. In the file they are a list, in a variable and on
 * the command line commas separate them. */
#include "app/config/config_listen.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "net/client/loopback.h"
#include "net/transport/address_set.h"
#include "net/transport/listen.h"

#include <stdio.h>

#define HOST_BYTES 256
#define LIST_BYTES_MAX 4096

static const struct td_str unix_prefix = {"unix:", 5};

/* "HOST:PORT", "[IPv6]:PORT" or ":PORT"; host is copied into host[size]. */
static bool split(struct td_str listen, char *host, size_t size, uint16_t *port)
{
    size_t colon = listen.len;
    while (colon > 0 && listen.data[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return false;
    struct td_str name = str_slice(listen, 0, colon - 1);
    uint64_t number;
    if (!str_to_u64(str_slice(listen, colon, listen.len), &number) || number > UINT16_MAX)
        return false;
    if (name.len >= 2 && name.data[0] == '[' && name.data[name.len - 1] == ']')
        name = str_slice(name, 1, name.len - 1);
    else if (name.len && memchr(name.data, ':', name.len))
        return false; /* IPv6 needs its brackets */
    if (name.len == 0)
        name = STR("0.0.0.0");
    if (name.len >= size || memchr(name.data, 0, name.len))
        return false;
    memcpy(host, name.data, name.len);
    host[name.len] = '\0';
    *port = (uint16_t)number;
    return true;
}

static bool is_path(struct td_str path)
{
    return path.len > 1 && path.data[0] == '/' && path.len <= LISTEN_PATH_BYTES_MAX &&
           !memchr(path.data, 0, path.len);
}

/* host[HOST_BYTES] is empty for a path. */
static bool read_address(struct td_str text, struct td_str *path, char *host, uint16_t *port)
{
    *host = '\0';
    *port = 0;
    *path = (struct td_str){0};
    if (!str_starts_with(text, unix_prefix))
        return split(text, host, HOST_BYTES, port);
    *path = str_slice(text, unix_prefix.len, text.len);
    return is_path(*path);
}

bool config_listen_is_list(const char *list)
{
    struct td_str rest = str_from(list), part, path;
    char host[HOST_BYTES];
    uint16_t port;
    size_t count = 0;
    while (str_next(&rest, ',', &part))
        if (!read_address(str_trim(part), &path, host, &port) || ++count > CONFIG_LISTENS_MAX)
            return false;
    return count > 0;
}

static enum td_status add(struct config *config, struct td_str text, const char *where,
                          struct td_error *err)
{
    struct config_listen *address = &config->server.addresses[config->server.address_count];
    char host[HOST_BYTES];
    struct td_str path;
    if (config->server.address_count == CONFIG_LISTENS_MAX)
        return error_set(err, TD_INVALID, "%s has more than %d addresses", where,
                         CONFIG_LISTENS_MAX);
    if (!read_address(text, &path, host, &address->port))
        return error_set(err, TD_INVALID,
                         "%s must be HOST:PORT, or unix:/PATH with at most %d bytes, not '%.*s'",
                         where, LISTEN_PATH_BYTES_MAX, text.len < 60 ? (int)text.len : 60,
                         text.data ? text.data : "");
    for (size_t i = 0; i < config->server.address_count; i++)
        if (str_equal(text, str_from(config->server.addresses[i].text)))
            return error_set(err, TD_INVALID, "%s names %s twice", where,
                             config->server.addresses[i].text);
    address->text = arena_copy(config->arena, text);
    address->host = path.len ? NULL : arena_copy(config->arena, str_from(host));
    address->path = path.len ? arena_copy(config->arena, path) : NULL;
    if (!address->text || (!address->host && !address->path))
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    config->server.address_count++;
    return TD_OK;
}

/* What messages and Host checks need of all addresses together. */
static enum td_status summarise(struct config *config, struct td_error *err)
{
    struct buf text;
    size_t count = config->server.address_count, hosts = 0;
    config->server.hosts = arena_alloc_array(config->arena, count + 1, sizeof(char *));
    buf_init(&text, LIST_BYTES_MAX);
    config->server.host = NULL;
    config->server.port = 0;
    for (size_t i = 0; i < count && config->server.hosts; i++) {
        const struct config_listen *address = &config->server.addresses[i];
        buf_printf(&text, "%s%s", i ? ", " : "", address->text);
        if (address->host && !config->server.host) {
            config->server.host = address->host;
            config->server.port = address->port;
        }
        if (address->host)
            config->server.hosts[hosts++] = address->host;
    }
    config->server.listen = text.failed ? NULL : arena_copy(config->arena, buf_view(&text));
    buf_deinit(&text);
    return config->server.listen && config->server.hosts
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "no memory for the configuration");
}

enum td_status config_listen_fill(struct config *config, const char *list, const char *where,
                                  struct td_error *err)
{
    enum td_status status = TD_OK;
    const struct config_texts *listens = &config->server.listens;
    struct td_str rest = str_from(list), part;
    config->server.address_count = 0;
    config->server.addresses =
        arena_alloc_array(config->arena, CONFIG_LISTENS_MAX, sizeof *config->server.addresses);
    if (!config->server.addresses)
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    while (list && status == TD_OK && str_next(&rest, ',', &part))
        status = add(config, str_trim(part), where, err);
    for (size_t i = 0; !list && i < listens->count && status == TD_OK; i++)
        status = add(config, str_from(listens->items[i]), where, err);
    if (status == TD_OK && config->server.address_count == 0)
        status = add(config, STR("127.0.0.1:8080"), where, err);
    return status == TD_OK ? summarise(config, err) : status;
}

bool config_listen_is_near(const char *host)
{
    return strcmp(host, "::1") == 0 || strcmp(host, "unix") == 0 ||
           loopback_is_host(str_from(host));
}

bool config_listen_mode(const struct config *config, mode_t *mode)
{
    unsigned value = 0;
    size_t len = strlen(config->server.unix_mode);
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned char)config->server.unix_mode[i] - (unsigned)'0';
        if (digit > 7 || len > 4)
            return false;
        value = value * 8 + digit;
    }
    *mode = (mode_t)value;
    return len > 0 && value <= 0777;
}

bool config_listen_proxies(const struct config *config, struct address_set *out, const char **bad)
{
    const struct config_texts *texts = &config->server.proxy_protocol_from;
    *out = (struct address_set){0};
    for (size_t i = 0; i < texts->count; i++)
        if (!address_set_add(out, str_from(*bad = texts->items[i])))
            return false;
    return true;
}
