/* Any bytes as the start of a proxy's connection. However they are cut, they must come to the same,
 * what the header does not have must stay, and a client's address must be one. */
#include "net/transport/proxy_header.h"

#include "base/core/str.h"

#include <arpa/inet.h>
#include <stdlib.h>

static void check(const struct proxy_header *header, enum proxy_result result, size_t used,
                  size_t len)
{
    unsigned char address[16];
    size_t text = strlen(header->client);
    if (result == PROXY_DONE ? used == 0 || used > len : result == PROXY_BAD && text > 0)
        abort();
    if (used > PROXY_HEADER_BYTES_MAX || (result == PROXY_MORE && len >= PROXY_HEADER_BYTES_MAX))
        abort();
    if (text > 0 && inet_pton(AF_INET, header->client, address) != 1 &&
        inet_pton(AF_INET6, header->client, address) != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str bytes = {(const char *)data, size};
    struct proxy_header whole, cut = {0};
    size_t whole_used, cut_used = 0;
    enum proxy_result result = proxy_header_read(bytes, &whole, &whole_used), in_cuts = PROXY_MORE;
    check(&whole, result, whole_used, size);
    for (size_t len = 0; len <= size && in_cuts == PROXY_MORE; len++)
        in_cuts = proxy_header_read(str_slice(bytes, 0, len), &cut, &cut_used);
    if (in_cuts != result || strcmp(cut.client, whole.client) != 0 ||
        (result == PROXY_DONE && cut_used != whole_used))
        abort();
    return 0;
}
