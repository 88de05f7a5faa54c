/* A request of /v1/responses: any bytes become a chat request or a 400 that says why. */
#include "api/wire/dialect.h"
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
    if (dialect_read(&dialect_responses, body, NULL, NULL, arena, &request, &fault)) {
        /* Of the dialect's own members, none may be left that a cloud would not know. */
        if (request.td.message_count == 0 || !request.asked || json_get(request.body, "input") ||
            json_get(request.body, "instructions") || json_get(request.body, "text") ||
            json_get(request.body, "max_output_tokens") || json_get(request.body, "store"))
            abort();
        openai_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    arena_free(arena);
    return 0;
}
