/* A stranger's page is kept from reading this server by its browser, which knows servers by their
 * names. The stranger may let his own name resolve to this machine once the page has loaded (DNS
 * rebinding); to the browser page and server then have the same origin. But the name is still his,
 * and the browser writes it into Host. So a request has to call this server by a name that cannot
 * be a stranger's: an address of this machine or its network, localhost, the machine's own name, or
 * a name in the configuration. Where nobody but a key's owner gets an answer, and from elsewhere,
 * names are the business of proxies and are not looked at. */
#include "api/http/host_name.h"

#include "api/http/auth.h"
#include "base/core/str.h"
#include "net/client/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#define NAME_BYTES_MAX 256 /* DNS has 253 */

/* The name without its port, brackets and final dot; an empty one when there is none. */
static struct td_str bare_name(struct td_str header)
{
    if (header.len > 0 && header.data[0] == '[') {
        const char *end = memchr(header.data, ']', header.len);
        return end ? str_slice(header, 1, (size_t)(end - header.data)) : STR("");
    }
    const char *colon = memchr(header.data, ':', header.len);
    size_t len = colon ? (size_t)(colon - header.data) : header.len;
    return str_slice(header, 0, len - (len > 0 && header.data[len - 1] == '.'));
}

/* Networks that nobody reaches from the internet (RFC 1122, 1918, 3927, 6598). */
static bool is_inner_v4(uint32_t address)
{
    static const struct {
        uint32_t net, bits;
    } inner[] = {{0, 32},          {0x7f000000, 8},  {0x0a000000, 8}, {0xac100000, 12},
                 {0xc0a80000, 16}, {0xa9fe0000, 16}, {0x64400000, 10}};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if ((address ^ inner[i].net) >> (32 - inner[i].bits) == 0)
            return true;
    return false;
}

static bool is_inner_v6(const struct in6_addr *address)
{
    const uint8_t *bytes = address->s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(address))
        return is_inner_v4((uint32_t)bytes[12] << 24 | (uint32_t)bytes[13] << 16 |
                           (uint32_t)bytes[14] << 8 | bytes[15]);
    return IN6_IS_ADDR_LOOPBACK(address) || IN6_IS_ADDR_UNSPECIFIED(address) ||
           IN6_IS_ADDR_LINKLOCAL(address) || (bytes[0] & 0xfe) == 0xfc; /* RFC 4193 */
}

/* *inner: of this machine or its network. False when the name is no address. */
static bool read_address(const char *name, bool *inner)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, name, &v4) == 1)
        *inner = is_inner_v4(ntohl(v4.s_addr));
    else if (inet_pton(AF_INET6, name, &v6) == 1)
        *inner = is_inner_v6(&v6);
    else
        return false;
    return true;
}

static bool is_over_loopback(const char *local)
{
    struct td_str text = str_from(local);
    const struct td_str mapped = STR("::ffff:");
    if (str_starts_with(text, mapped))
        text = str_slice(text, mapped.len, text.len);
    return str_equal(text, STR("::1")) || str_equal(text, STR("unix")) || loopback_is_host(text);
}

bool host_name_matters(const struct api_host *host, const char *local)
{
    return auth_is_open(host->auth) || is_over_loopback(local);
}

static bool is_configured(const struct api_host *host, struct td_str name)
{
    for (const char *const *at = host->allowed_hosts; at && *at; at++)
        if (strcmp(*at, "*") == 0 || str_equal_nocase(str_from(*at), name))
            return true;
    for (const char *const *at = host->listen_hosts; at && *at; at++)
        if (str_equal_nocase(str_from(*at), name))
            return true;
    return false;
}

static bool is_own_name(struct td_str name)
{
    char own[NAME_BYTES_MAX] = "";
    return gethostname(own, sizeof own - 1) == 0 && str_equal_nocase(str_from(own), name);
}

bool host_name_is_ours(const struct api_host *host, const char *header, const char *local)
{
    struct td_str name = bare_name(str_from(header));
    char text[NAME_BYTES_MAX] = "";
    bool inner, far = !is_over_loopback(local);
    if (name.len == 0 || name.len >= sizeof text)
        return false;
    memcpy(text, name.data, name.len);
    if (is_configured(host, name) || strcmp(text, local) == 0)
        return true;
    if (read_address(text, &inner)) /* a forwarded port has another address outside */
        return inner || far;
    /* A stranger cannot have a name without a dot, and in a network machines call each other so. */
    return loopback_is_host(name) || is_own_name(name) || (far && !memchr(text, '.', name.len));
}
