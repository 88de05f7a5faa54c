/* A request of /v1/responses: any bytes become a chat request, a 400 that says why, or a 404 for
 * what is not kept. A response resp_a and a conversation conv_a are there to go on from. */
#include "api/dialects/dialect.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ITEM(id) "[{\"id\":\"" id "\",\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"}]"

static struct history *kept(void)
{
    static const struct history_limits limits = {1000000, 1 << 20, 1 << 20, 10};
    static const char *const ids[] = {"resp_a", "conv_a"};
    static struct history *history;
    if (history)
        return history;
    history = history_new(&limits, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct history_text *text = history_text_new(STR(ITEM("msg_a_0")));
        struct history_text *const lists[] = {text};
        const struct history_record record = {
            .id = ids[i], .body = text, .lists = lists, .list_count = 1};
        if (!history || history_put(history, &record) != TD_OK)
            abort();
        history_text_free(text);
    }
    return history;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct responses_history from = {.history = kept(), .bytes_max = 1 << 16};
    struct arena *arena = arena_new(1 << 20);
    if (!arena)
        return 0;
    const struct dialect_path path = {.says_stream = false};
    struct chat_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (dialect_read_on(&dialect_responses, &path, &from, body, NULL, NULL, arena, &request,
                        &fault)) {
        /* Of the dialect's own members, none may be left that a cloud would not know. */
        if (request.td.message_count == 0 || !request.asked || json_get(request.body, "input") ||
            json_get(request.body, "instructions") || json_get(request.body, "text") ||
            json_get(request.body, "max_output_tokens") || json_get(request.body, "store"))
            abort();
        openai_request_deinit(&request);
    } else if ((fault.code != 400 && fault.code != 404) || !*fault.message) {
        abort();
    }
    arena_free(arena);
    return 0;
}
