/* Any bytes, cut anywhere, must give the events that they give whole. */
#include "base/core/str.h"
#include "net/client/sse.h"

#include <stdlib.h>

struct seen {
    uint64_t hash;
    size_t count;
};

static void see(void *ctx, struct td_str event, struct td_str data)
{
    struct seen *seen = ctx;
    seen->count++;
    for (size_t i = 0; i < event.len; i++)
        seen->hash = seen->hash * 31 + (unsigned char)event.data[i];
    for (size_t i = 0; i < data.len; i++)
        seen->hash = seen->hash * 33 + (unsigned char)data.data[i] + 1;
}

static enum td_status read_cut(struct td_str bytes, size_t step, struct seen *seen)
{
    struct sse_reader reader;
    enum td_status status = TD_OK;
    sse_reader_init(&reader, 256);
    for (size_t at = 0; at < bytes.len && status == TD_OK; at += step)
        status = sse_reader_feed(&reader, str_slice(bytes, at, at + step), see, seen, NULL);
    sse_reader_deinit(&reader);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct td_str bytes = {(const char *)data + 1, size - 1};
    struct seen whole = {0}, cut = {0};
    enum td_status whole_status = read_cut(bytes, size, &whole);
    enum td_status cut_status = read_cut(bytes, 1 + data[0] % 7, &cut);
    if (whole_status != cut_status || whole.hash != cut.hash || whole.count != cut.count)
        abort();
    return 0;
}
