/* Version 1 is a line:
 *
 *   "PROXY" SP ("TCP4" | "TCP6") SP source SP destination SP port SP port CRLF
 *   "PROXY" SP "UNKNOWN" anything CRLF            the receiver uses the real addresses
 *
 * Version 2 is binary, numbers in network order:
 *
 *   offset bytes
 *        0    12  signature 0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A
 *       12     1  version 2 in the high half; command in the low one: 0 LOCAL, 1 PROXY
 *       13     1  family in the high half: 0 none, 1 IPv4, 2 IPv6, 3 Unix; low half: 1 stream, 2
 *                 datagram
 *       14     2  bytes that follow
 *       16        IPv4: source 4, destination 4, ports 2 and 2; IPv6: 16, 16, 2, 2; then TLVs */
#include "net/transport/proxy_header.h"

#include "base/core/str.h"

#include <arpa/inet.h>

#define LINE_BYTES_MAX 107
#define FIXED_BYTES 16

static const char signature[] = "\r\n\r\n\0\r\nQUIT\n";
#define SIGNATURE_BYTES (sizeof signature - 1)

static struct td_str next_word(struct td_str *rest)
{
    struct td_str word = {0};
    (void)str_next(rest, ' ', &word);
    return word;
}

static bool is_port(struct td_str text)
{
    uint64_t port;
    return text.len <= 5 && str_to_u64(text, &port) && port <= UINT16_MAX &&
           (text.len == 1 || text.data[0] != '0');
}

/* Written out again by inet_ntop, so that an address has one form only. */
static bool take_text(int family, struct td_str text, char out[static PROXY_ADDRESS_BYTES])
{
    char copy[PROXY_ADDRESS_BYTES];
    unsigned char bytes[16];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.data, 0, text.len))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return inet_pton(family, copy, bytes) == 1 &&
           inet_ntop(family, bytes, out, PROXY_ADDRESS_BYTES) != NULL;
}

static enum proxy_result read_line(struct td_str line, struct proxy_header *out)
{
    char unused[PROXY_ADDRESS_BYTES];
    struct td_str rest = line;
    (void)next_word(&rest); /* PROXY */
    struct td_str family = next_word(&rest);
    if (str_equal(family, STR("UNKNOWN")))
        return PROXY_DONE;
    int code = str_equal(family, STR("TCP4")) ? AF_INET : AF_INET6;
    if (code == AF_INET6 && !str_equal(family, STR("TCP6")))
        return PROXY_BAD;
    struct td_str source = next_word(&rest), destination = next_word(&rest);
    struct td_str from = next_word(&rest), to = next_word(&rest);
    bool good = take_text(code, source, out->client) && take_text(code, destination, unused) &&
                is_port(from) && is_port(to) && rest.len == 0 &&
                line.data[line.len - 1] != ' '; /* a last empty word is not counted */
    if (!good)
        out->client[0] = '\0';
    return good ? PROXY_DONE : PROXY_BAD;
}

static enum proxy_result read_first(struct td_str bytes, struct proxy_header *out, size_t *used)
{
    const char *end = memchr(bytes.data, '\r', bytes.len);
    size_t len = end ? (size_t)(end - bytes.data) : bytes.len;
    if (len + 2 > LINE_BYTES_MAX || memchr(bytes.data, '\n', len))
        return PROXY_BAD;
    if (!end || len + 1 == bytes.len)
        return PROXY_MORE;
    *used = len + 2;
    return end[1] == '\n' ? read_line(str_slice(bytes, 0, len), out) : PROXY_BAD;
}

static enum proxy_result read_second(struct td_str bytes, struct proxy_header *out, size_t *used)
{
    const unsigned char *at = (const unsigned char *)bytes.data;
    if (bytes.len < FIXED_BYTES)
        return PROXY_MORE;
    size_t len = (size_t)at[14] << 8 | at[15];
    unsigned command = at[12] & 15, family = at[13] >> 4, kind = at[13] & 15;
    if (at[12] >> 4 != 2 || command > 1 || family > 3 || kind > 2 ||
        FIXED_BYTES + len > PROXY_HEADER_BYTES_MAX)
        return PROXY_BAD;
    size_t address_bytes = family == 1 ? 4 : family == 2 ? 16 : 0;
    bool named = command == 1 && address_bytes > 0;
    if (named && len < 2 * address_bytes + 4)
        return PROXY_BAD;
    if (bytes.len < FIXED_BYTES + len)
        return PROXY_MORE;
    *used = FIXED_BYTES + len;
    if (named)
        inet_ntop(family == 1 ? AF_INET : AF_INET6, at + FIXED_BYTES, out->client,
                  sizeof out->client);
    return PROXY_DONE;
}

enum proxy_result proxy_header_read(struct td_str bytes, struct proxy_header *out, size_t *used)
{
    static const struct td_str name = {"PROXY ", 6};
    *out = (struct proxy_header){0};
    *used = 0;
    if (bytes.len == 0)
        return PROXY_MORE;
    size_t seen = bytes.len < SIGNATURE_BYTES ? bytes.len : SIGNATURE_BYTES;
    if (memcmp(bytes.data, signature, seen) == 0)
        return seen < SIGNATURE_BYTES ? PROXY_MORE : read_second(bytes, out, used);
    seen = bytes.len < name.len ? bytes.len : name.len;
    if (memcmp(bytes.data, name.data, seen) != 0)
        return PROXY_BAD;
    return seen < name.len ? PROXY_MORE : read_first(bytes, out, used);
}
