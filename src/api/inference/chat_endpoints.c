/* POST /v1/chat/completions and the other paths of a chat: which dialect each speaks, and what its
 * path says that the body does not. */
#include "api/dialects/responses/responses_compact.h"
#include "api/http/query.h"
#include "api/inference/chat_handler.h"
#include "api/inference/handlers.h"
#include "api/inference/several_answers.h"
#include "base/core/str.h"

#include <string.h>

void chat_handle(struct api *api, struct http_request *request, const char *rest)
{
    if (!several_answers_begin(api, request))
        chat_handle_on(api, request, &dialect_chat,
                       (struct dialect_path){.model = endpoint_part(rest)});
}

/* Endpoints whose whole request is the body. */
#define HANDLER(name, of)                                                                 \
    void name(struct api *api, struct http_request *request, const char *rest)            \
    {                                                                                     \
        (void)rest;                                                                       \
        chat_handle_on(api, request, &(of), (struct dialect_path){.says_stream = false}); \
    }
HANDLER(messages_handle, dialect_messages)
HANDLER(responses_handle, dialect_responses)
HANDLER(responses_handle_compact, dialect_responses_compact)
HANDLER(ollama_handle_chat, dialect_ollama_chat)
HANDLER(ollama_handle_generate, dialect_ollama_generate)
HANDLER(llama_handle_infill, dialect_llama_infill)
HANDLER(llama_handle_completion, dialect_llama_completion)

void gemini_handle(struct api *api, struct http_request *request, const char *rest)
{
    chat_handle_on(api, request, &dialect_gemini,
                   (struct dialect_path){.model = endpoint_subject(rest), .says_stream = true});
}

void gemini_handle_stream(struct api *api, struct http_request *request, const char *rest)
{
    char alt[sizeof "sse"];
    bool events = query_text(request, STR("alt"), alt, sizeof alt) && strcmp(alt, "sse") == 0;
    chat_handle_on(api, request, events ? &dialect_gemini : &dialect_gemini_array,
                   (struct dialect_path){
                       .model = endpoint_subject(rest), .says_stream = true, .streams = true});
}
