/* A request of /v1/messages: any bytes become a chat request or a 400 that says why. */
#include "api/dialects/dialect.h"
#include "base/core/str.h"

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
    if (dialect_read(&dialect_messages, body, NULL, NULL, arena, &request, &fault)) {
        /* Of the dialect's own members, none may be left that a cloud would not know. */
        if (request.td.message_count == 0 || request.td.tokens_max == 0 ||
            json_get(request.body, "system") || json_get(request.body, "metadata") ||
            json_get(request.body, "max_tokens") || json_get(request.body, "stop_sequences"))
            abort();
        openai_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    arena_free(arena);
    return 0;
}
