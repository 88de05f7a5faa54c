/* What a hub sends and what lies beside a part: headers, and the state of a download. Whatever is
 * believed must fit together. */
#include "base/core/str.h"
#include "net/download/download_headers.h"
#include "net/download/download_part.h"

#include <stdlib.h>

static void check_headers(struct td_str text)
{
    struct download_headers headers = {0};
    struct td_str line;
    while (str_next(&text, '\n', &line))
        download_headers_feed(&headers, line);
    if (headers.has_range && !(headers.begin < headers.end && headers.end <= headers.total))
        abort();
    if (strlen(headers.validator) >= sizeof headers.validator || strpbrk(headers.validator, "\r\n"))
        abort();
    if (*headers.sha256 && strlen(headers.sha256) != DOWNLOAD_SHA256_HEX)
        abort();
}

static void check_state(struct td_str text)
{
    struct download_part part = {
        .fd = -1, .url = "http://h/m", .validator = "\"v\"", .total = 5000000};
    if (download_part_read_state(&part, text)) {
        for (uint32_t i = 0; i < part.piece_count; i++)
            if (part.done[i] > download_part_piece_bytes(&part, i))
                abort();
        if (download_part_done_bytes(&part) > part.total)
            abort();
    }
    download_part_close(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str text = {(const char *)data, size};
    check_headers(text);
    check_state(text);
    return 0;
}
