/* A request of Gemini's generateContent, by its form or inside countTokens: any bytes become a chat
 * request or a 400 that says why. So do requests for embeddings. */
#include "api/dialects/dialect.h"
#include "api/dialects/gemini/gemini_embeddings.h"
#include "api/dialects/gemini/gemini_request.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_embeddings(const struct embedding_form *form, struct td_str body)
{
    struct embeddings_request request;
    struct fault fault = {0};
    bool read = embeddings_request_read(form, body, STR("m"), NULL, &request, &fault);
    if (read ? request.input_count == 0 : fault.code != 400 || !*fault.message)
        abort();
    embeddings_request_deinit(&request);
}

static void count(struct td_str body)
{
    static const struct dialect counting = {.translate = gemini_request_translate_count};
    struct arena *arena = arena_new(1 << 20);
    struct chat_request request;
    struct fault fault = {0};
    if (!arena)
        return;
    if (dialect_read(&counting, body, NULL, NULL, arena, &request, &fault))
        openai_request_deinit(&request);
    else if (fault.code != 400 || !*fault.message)
        abort();
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct responses_history nothing = {.history = NULL};
    const struct dialect_path path = {
        .model = STR("m"), .says_stream = true, .streams = size % 2 == 1};
    struct arena *arena = arena_new(1 << 20);
    if (!arena)
        return 0;
    struct chat_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (dialect_read_on(&dialect_gemini, &path, &nothing, body, NULL, NULL, arena, &request,
                        &fault)) {
        /* The path decides, and of the dialect's own members none may be left. */
        if (request.td.message_count == 0 || strcmp(request.td.model, "m") != 0 ||
            request.td.streamed != path.streams || json_get(request.body, "contents") ||
            json_get(request.body, "generationConfig") ||
            json_get(request.body, "systemInstruction"))
            abort();
        openai_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    arena_free(arena);
    count(body);
    read_embeddings(&gemini_embeddings_form, body);
    read_embeddings(&gemini_embeddings_form_batch, body);
    return 0;
}
