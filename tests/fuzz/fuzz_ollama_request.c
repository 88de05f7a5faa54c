/* A request of Ollama's /api/chat or /api/generate, or of llama-server's /completion or /infill, by
 * the first byte: any bytes become a chat request or a 400 that says why. */
#include "api/dialects/dialect.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct dialect *const dialects[] = {&dialect_ollama_chat, &dialect_ollama_generate,
                                                 &dialect_llama_completion, &dialect_llama_infill};
#define DIALECT_COUNT (sizeof dialects / sizeof *dialects)

/* Of the dialects' own members, none may be left that a cloud would not know. */
static bool has_own(const struct json *body)
{
    static const char *const names[] = {"options", "format", "think",        "keep_alive",
                                        "images",  "raw",    "n_predict",    "input_prefix",
                                        "context", "system", "input_suffix", "input_extra"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_get(body, names[i]))
            return true;
    return false;
}

static void look_at(const struct chat_request *request)
{
    const struct td_request *td = &request->td;
    if (td->message_count == 0 || has_own(request->body))
        abort();
    if (td->completion && (td->message_count != 1 || td->completion->ids ||
                           json_kind_of(request_value(td, REQUEST_PROMPT)) != JSON_KIND_TEXT))
        abort();
    volatile char sink = 0; /* every byte must be readable */
    for (size_t i = 0; i < td->message_count; i++)
        for (size_t b = 0; b < td->messages[i].content.len; b++)
            sink = td->messages[i].content.data[b];
    (void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    if (!arena || size == 0) {
        arena_free(arena);
        return 0;
    }
    struct chat_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data + 1, size - 1};
    const struct dialect *dialect = dialects[data[0] % DIALECT_COUNT];
    if (dialect_read(dialect, body, NULL, NULL, arena, &request, &fault)) {
        if (!request.asks_nothing)
            look_at(&request);
        openai_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    arena_free(arena);
    return 0;
}
