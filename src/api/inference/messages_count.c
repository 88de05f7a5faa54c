/* POST /v1/messages/count_tokens: how many tokens the local model would read. No tier is asked and
 * nothing leaves. Without a local model the first tier makes an estimate, as for the router. */
#include "api/http/access.h"
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/wire/dialect.h"
#include "api/wire/messages_request.h"
#include "base/str.h"

static const struct dialect counting = {.translate = messages_request_translate_count};

/* The device's own tier, or the first one. */
static struct tier *counting_tier(const struct exchange_services *services)
{
    for (size_t i = 0; i < services->tier_count; i++)
        if (services->tiers[i]->facts.place == TD_PLACE_DEVICE)
            return services->tiers[i];
    return services->tier_count > 0 ? services->tiers[0] : NULL;
}

static void reply_count(struct api *api, struct http_request *http, const struct td_request *td)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct tier *tier = counting_tier(services);
    struct buf body;
    buf_init(&body, 256);
    uint32_t tokens = tier ? tier_count_prompt(tier, td) : 0;
    if (tier && !tier->ops->estimates) /* the local model counts text alone */
        tokens += td->media.tokens > UINT32_MAX - tokens ? UINT32_MAX - tokens : td->media.tokens;
    buf_printf(&body, "{\"input_tokens\":%u}", tokens);
    api->host->release(api->host->ctx, services);
    api_reply_json(api, http, 200, &body);
    buf_deinit(&body);
}

void messages_handle_count(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct chat_request asked = {0};
    struct arena *arena = arena_new(api->host->arena_bytes_max);
    if (!arena)
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
    if (arena && dialect_read(&counting, http_request_body(request), access_find_header, request,
                              arena, &asked, &fault))
        reply_count(api, request, &asked.td);
    else
        api_reply_fault(api, request, &fault);
    openai_request_deinit(&asked);
    arena_free(arena);
}
