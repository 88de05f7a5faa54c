/* How many tokens the local model would read of a request: Anthropic's /v1/messages/count_tokens,
 * OpenAI's /v1/responses/input_tokens, the same for a chat, as llama-server has it, and Gemini's
 * countTokens. No tier is asked and nothing leaves. Without a local model the first tier makes an
 * estimate, as for the router. */
#include "api/dialects/dialect.h"
#include "api/dialects/gemini/gemini_request.h"
#include "api/dialects/messages/messages_request.h"
#include "api/http/access.h"
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "base/core/str.h"

static const struct dialect counted_messages = {.translate = messages_request_translate_count};
static const struct dialect counted_gemini = {.translate = gemini_request_translate_count};

/* The device's own tier, or the first one. */
static struct tier *counting_tier(const struct exchange_services *services)
{
    for (size_t i = 0; i < services->tier_count; i++)
        if (tier_local_model(services->tiers[i]))
            return services->tiers[i];
    return services->tier_count > 0 ? services->tiers[0] : NULL;
}

/* begins: the answer up to the number. */
static void reply_count(struct api *api, struct http_request *http, const char *begins,
                        const struct td_request *td)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct tier *tier = counting_tier(services);
    struct buf body;
    buf_init(&body, 256);
    uint32_t tokens = tier ? tier_count_prompt(tier, td) : 0;
    if (tier && !tier->ops->estimates) /* the local model counts text alone */
        tokens += td->media.tokens > UINT32_MAX - tokens ? UINT32_MAX - tokens : td->media.tokens;
    buf_printf(&body, "{%s:%u}", begins, tokens);
    api->host->release(api->host->ctx, services);
    api_reply_json(api, http, 200, &body);
    buf_deinit(&body);
}

static void count(struct api *api, struct http_request *request, const struct dialect *dialect,
                  const char *begins)
{
    struct fault fault = {0};
    struct chat_request asked = {0};
    struct arena *arena = arena_new(api->host->arena_bytes_max);
    const struct responses_history from = responses_history_of(api);
    if (!arena)
        fault_no_memory(&fault);
    if (arena &&
        dialect_read_on(dialect, &(struct dialect_path){0}, &from, http_request_body(request),
                        access_find_header, request, arena, &asked, &fault))
        reply_count(api, request, begins, &asked.td);
    else
        api_reply_fault(api, request, &fault);
    openai_request_deinit(&asked);
    arena_free(arena);
}

void messages_handle_count(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    count(api, request, &counted_messages, "\"input_tokens\"");
}

void gemini_handle_count(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    count(api, request, &counted_gemini, "\"totalTokens\"");
}

#define OPENAI_COUNT "\"object\":\"response.input_tokens\",\"input_tokens\""

void responses_handle_count(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    count(api, request, &dialect_responses, OPENAI_COUNT);
}

void chat_handle_count(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    count(api, request, &dialect_chat, OPENAI_COUNT);
}
