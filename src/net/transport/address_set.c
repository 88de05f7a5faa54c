/* IPv4 is kept in IPv6's form (RFC 4291, section 2.5.5.2), because a socket that listens on "::"
 * reports IPv4 clients in it. So there is one kind of address to compare. */
#include "net/transport/address_set.h"

#include "base/core/str.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

/* *bits: of the whole address. */
static bool read_address(struct td_str text, uint8_t bytes[static 16], uint8_t *bits)
{
    char copy[INET6_ADDRSTRLEN];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.data, 0, text.len))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    memcpy(bytes, mapped, sizeof mapped);
    *bits = 32;
    if (inet_pton(AF_INET, copy, bytes + sizeof mapped) == 1)
        return true;
    *bits = 128;
    return inet_pton(AF_INET6, copy, bytes) == 1;
}

static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

/* Bits behind the prefix are a slip: whoever wrote 10.1.2.3/8 may have meant one address. */
static bool ends_in_zeros(const uint8_t *bytes, unsigned bits)
{
    for (unsigned i = bits; i < 128; i++)
        if (bytes[i / 8] >> (7 - i % 8) & 1)
            return false;
    return true;
}

bool address_set_add(struct address_set *set, struct td_str text)
{
    if (str_equal(text, STR("unix")))
        return set->has_path = true;
    if (set->count == ADDRESS_SET_MAX)
        return false;
    const char *slash = text.len ? memchr(text.data, '/', text.len) : NULL;
    size_t len = slash ? (size_t)(slash - text.data) : text.len;
    uint8_t width;
    uint64_t prefix;
    uint8_t *bytes = set->items[set->count].bytes;
    if (!read_address(str_slice(text, 0, len), bytes, &width))
        return false;
    prefix = width;
    if (slash && (!str_to_u64(str_slice(text, len + 1, text.len), &prefix) || prefix > width))
        return false;
    unsigned bits = 128u - width + (unsigned)prefix;
    if (!ends_in_zeros(bytes, bits))
        return false;
    set->items[set->count++].bits = (uint8_t)bits;
    return true;
}

static bool read_bytes(const struct sockaddr *address, uint8_t bytes[static 16])
{
    if (address->sa_family == AF_INET) {
        memcpy(bytes, mapped, sizeof mapped);
        memcpy(bytes + sizeof mapped, &((const struct sockaddr_in *)address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    }
    return address->sa_family == AF_INET || address->sa_family == AF_INET6;
}

bool address_is_public(const struct sockaddr *address)
{
    /* Outside of 2000::/3 only NAT64 (64:ff9b::/96) leads to the internet. */
    static const struct {
        uint8_t bytes[8];
        uint8_t bits;
    } closed4[] = {{{0}, 8},
                   {{10}, 8},
                   {{100, 64}, 10},
                   {{127}, 8},
                   {{169, 254}, 16},
                   {{172, 16}, 12},
                   {{192, 0, 0}, 24},
                   {{192, 0, 2}, 24},
                   {{192, 88, 99}, 24},
                   {{192, 168}, 16},
                   {{198, 18}, 15},
                   {{198, 51, 100}, 24},
                   {{203, 0, 113}, 24},
                   {{224}, 3}},
      closed6[] = {{{0x20, 0x01}, 23},
                   {{0x20, 0x01, 0x0d, 0xb8}, 32},
                   {{0x20, 0x02}, 16},
                   {{0x3f, 0xff}, 20}};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    uint8_t bytes[16];
    if (!read_bytes(address, bytes))
        return false;
    if (memcmp(bytes, mapped, sizeof mapped) == 0 || memcmp(bytes, nat64, sizeof nat64) == 0) {
        for (size_t i = 0; i < sizeof closed4 / sizeof *closed4; i++)
            if (same_prefix(bytes + 12, closed4[i].bytes, closed4[i].bits))
                return false;
        return true;
    }
    for (size_t i = 0; i < sizeof closed6 / sizeof *closed6; i++)
        if (same_prefix(bytes, closed6[i].bytes, closed6[i].bits))
            return false;
    return bytes[0] >> 5 == 1;
}

bool address_set_has(const struct address_set *set, const struct sockaddr *address)
{
    uint8_t bytes[16];
    if (address->sa_family == AF_UNIX)
        return set->has_path;
    if (!read_bytes(address, bytes))
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (same_prefix(bytes, set->items[i].bytes, set->items[i].bits))
            return true;
    return false;
}
