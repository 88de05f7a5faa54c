/* A chat request's body: any bytes become a request or a 400 that says why. */
#include "api/wire/openai_request.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parts are the content, with a line's end between them; every byte must be readable. */
static void look_at_message(const struct td_request *td, size_t index)
{
    const struct request_parts *parts = &td->parts[index];
    size_t bytes = parts->count > 0 ? parts->count - 1 : 0;
    volatile char sink = 0;
    for (size_t b = 0; b < td->messages[index].content.len; b++)
        sink = td->messages[index].content.data[b];
    (void)sink;
    for (size_t i = 0; i < parts->count; i++)
        bytes += parts->texts[i].len;
    if (parts->count > 0 && bytes != td->messages[index].content.len)
        abort();
}

static void look_at_members(const struct chat_request *request)
{
    const struct td_request *td = &request->td;
    size_t own = json_get(request->body, "tandem") != NULL;
    if (td->member_count + own != json_count(request->body) ||
        json_count(request_value(td, REQUEST_MESSAGES)) != td->message_count)
        abort();
    for (size_t i = 0; i < td->member_count; i++)
        if (json_get(request->body, td->members[i].name) != td->members[i].value)
            abort();
}

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
        for (size_t i = 0; i < request.td.message_count; i++)
            look_at_message(&request.td, i);
        look_at_members(&request);
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
