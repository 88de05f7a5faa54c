/* The parts of a URL. Here so that both twins check it alike. */
#include "cluster/redis_url.h"

#include "base/core/error.h"
#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

static bool copy(struct td_str text, char *out, size_t size)
{
    if (text.len == 0 || text.len >= size || memchr(text.data, '\0', text.len))
        return false;
    memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return true;
}

static bool number_up_to(struct td_str text, uint64_t max, uint32_t *out)
{
    uint64_t value;
    if (!str_to_u64(text, &value) || value > max)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* What stands before the separator; *after is what follows it, or nothing. */
static struct td_str split(struct td_str text, char separator, struct td_str *after)
{
    const char *at = text.len ? memchr(text.data, separator, text.len) : NULL;
    size_t len = at ? (size_t)(at - text.data) : text.len;
    *after = str_slice(text, at ? len + 1 : text.len, text.len);
    return str_slice(text, 0, len);
}

static bool parse_network(struct td_str rest, struct redis_url *out)
{
    struct td_str base, port, host, place = split(rest, '/', &base);
    out->port = 6379;
    if (place.len && place.data[0] == '[') { /* an IPv6 address */
        host = split(str_slice(place, 1, place.len), ']', &port);
        if (host.len + 2 > place.len || (port.len && port.data[0] != ':'))
            return false;
        port = str_slice(port, 1, port.len);
    } else {
        host = split(place, ':', &port);
    }
    return copy(host, out->host, sizeof out->host) && !strchr(out->host, '@') &&
           (!port.len || (number_up_to(port, 65535, &out->port) && out->port)) &&
           (!base.len || number_up_to(base, 1023, &out->database));
}

enum td_status redis_url_parse(const char *url, struct redis_url *out, struct td_error *err)
{
    struct td_str text = str_from(url);
    struct td_str network = STR("redis://"), socket = STR("unix://");
    bool good = false;
    *out = (struct redis_url){0};
    if (strchr(url, '@'))
        return error_set(err, TD_INVALID,
                         "cluster.redis must not have a user or password: name the variable with "
                         "the password in cluster.redis_password_env");
    if (str_starts_with(text, network))
        good = parse_network(str_slice(text, network.len, text.len), out);
    else if (str_starts_with(text, socket))
        good = copy(str_slice(text, socket.len, text.len), out->path, sizeof out->path) &&
               out->path[0] == '/';
    return good ? TD_OK
                : error_set(err, TD_INVALID,
                            "cluster.redis must be redis://HOST:PORT/NUMBER or unix:///PATH, not "
                            "'%.80s'",
                            url);
}
