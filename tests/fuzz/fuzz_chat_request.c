/* A chat request's body: any bytes become a request or a 400 that says why. */
#include "api/wire/openai_request.h"
#include "base/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    if (!arena)
        return 0;
    struct chat_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (openai_request_parse(body, NULL, NULL, arena, &request, &fault)) {
        if (request.td.message_count == 0 || request.td.stop_count > TD_STOPS_MAX)
            abort();
        volatile char sink = 0; /* every byte must be readable */
        for (size_t i = 0; i < request.td.message_count; i++)
            for (size_t b = 0; b < request.td.messages[i].content.len; b++)
                sink = request.td.messages[i].content.data[b];
        (void)sink;
        openai_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    struct buf text;
    buf_init(&text, 65536);
    fault_write(&fault, &text);
    buf_deinit(&text);
    arena_free(arena);
    return 0;
}
