/* Each dialect has its own names for what is left: OpenAI's x-ratelimit-*, which most clients read,
 * with times such as "1m12s", and Anthropic's anthropic-ratelimit-*, with a moment. Where a key has
 * no limits there are no such headers. */
#include "api/inference/quota.h"

#include "api/dialects/messages/messages_response.h"
#include "api/http/reply.h"
#include "api/http/tracing.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "router/plan/model_names.h"

#include <stdio.h>

#define BYTES_A_TOKEN 4

uint32_t quota_guess_tokens(size_t bytes)
{
    size_t tokens = (bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
    return tokens < UINT32_MAX / 2 ? (uint32_t)tokens : UINT32_MAX / 2;
}

/* --- headers --- */

/* "250ms", "12.5s", "1m12s": as Go writes a duration, and OpenAI with it. */
static void write_span(uint32_t ms, char *out, size_t size)
{
    if (ms < 1000)
        snprintf(out, size, "%ums", ms);
    else if (ms < 60000)
        snprintf(out, size, "%u.%03us", ms / 1000, ms % 1000);
    else
        snprintf(out, size, "%um%us", ms / 60000, ms % 60000 / 1000);
}

static void put_number(struct http_request *http, const char *name, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    http_reply_header(http, name, text);
}

static void put_openai(struct http_request *http, const char *what, const struct meter_rate *rate)
{
    char name[64], text[32];
    if (!rate->limit)
        return;
    snprintf(name, sizeof name, "x-ratelimit-limit-%s", what);
    put_number(http, name, rate->limit);
    snprintf(name, sizeof name, "x-ratelimit-remaining-%s", what);
    put_number(http, name, rate->left);
    snprintf(name, sizeof name, "x-ratelimit-reset-%s", what);
    write_span(rate->reset_ms, text, sizeof text);
    http_reply_header(http, name, text);
}

static void put_anthropic(struct http_request *http, const char *what,
                          const struct meter_rate *rate)
{
    char name[64], text[25];
    if (!rate->limit)
        return;
    snprintf(name, sizeof name, "anthropic-ratelimit-%s-limit", what);
    put_number(http, name, rate->limit);
    snprintf(name, sizeof name, "anthropic-ratelimit-%s-remaining", what);
    put_number(http, name, rate->left);
    snprintf(name, sizeof name, "anthropic-ratelimit-%s-reset", what);
    clock_format_iso8601(clock_wall_ms(NULL) + rate->reset_ms, text);
    http_reply_header(http, name, text);
}

static void put_headers(struct api *api, struct http_request *http,
                        const struct meter_verdict *verdict)
{
    bool anthropic = api_fault_form(api, http_request_path(http)) == &messages_fault_form;
    void (*put)(struct http_request *, const char *, const struct meter_rate *) =
        anthropic ? put_anthropic : put_openai;
    put(http, "requests", &verdict->requests);
    put(http, "tokens", &verdict->prompt_tokens);
}

/* --- refusals --- */

static void refuse_spent(const struct meter_verdict *verdict, const char *whose,
                         struct fault *fault)
{
    bool soon = verdict->wait_ms <= 1000; /* what runs may need less than it was promised */
    fault_set(fault, 429, soon ? "rate_limit_error" : "insufficient_quota", "budget_exceeded",
              "the %s budget of %s for this %s is %s", whose,
              verdict->tokens ? "tokens" : "US dollars",
              verdict->period == KEY_DAY ? "day" : "month",
              soon ? "promised to requests that run now" : "spent");
    fault->no_retry = !soon;
}

static void set_fault(const struct meter_verdict *verdict, struct fault *fault)
{
    const char *whose = verdict->of_tenant ? "tenant's" : "key's";
    uint32_t wait_s = (verdict->wait_ms + 999) / 1000;
    switch (verdict->what) {
    case METER_SPENT:
        refuse_spent(verdict, whose, fault);
        break;
    case METER_TOO_LARGE:
        fault_set(fault, 429, "rate_limit_error", "rate_limit_exceeded",
                  "the request alone has more tokens than the %s limit of %u a minute allows",
                  whose, verdict->prompt_tokens.limit);
        fault->no_retry = true;
        break;
    default:
        fault_set(fault, 429, "rate_limit_error", "rate_limit_exceeded",
                  "the %s limit of %s a minute is reached; ask again in %u s", whose,
                  verdict->what == METER_REQUESTS ? "requests" : "tokens", wait_s);
        break;
    }
    fault->retry_after_s = verdict->what == METER_TOO_LARGE ? 0 : wait_s;
}

bool quota_enter(struct api *api, struct http_request *http, uint32_t prompt_tokens,
                 uint32_t answer_tokens, struct meter_hold *hold, struct fault *fault)
{
    struct meter_verdict verdict;
    const struct meter_ask ask = {.key_id = api->who.stored ? api->who.key_id : "",
                                  .tenant = api->who.tenant,
                                  .prompt_tokens = prompt_tokens,
                                  .answer_tokens = answer_tokens};
    *hold = (struct meter_hold){.tokens = 0};
    if (!api->host->meters || !*api->who.tenant)
        return true;
    bool ok = meters_enter(api->host->meters, &ask, hold, &verdict);
    put_headers(api, http, &verdict);
    if (!ok)
        set_fault(&verdict, fault);
    return ok;
}

/* What the client sent, less pictures and the like, whose bytes are no tokens. */
static uint32_t guess_prompt(const struct td_request *td, size_t body_bytes)
{
    for (size_t i = 0; i < td->media.payload_count; i++) {
        size_t payload = td->media.payloads[i].len;
        body_bytes -= payload < body_bytes ? payload : body_bytes;
    }
    uint32_t tokens = quota_guess_tokens(body_bytes), media = td->media.tokens;
    return tokens < UINT32_MAX - media ? tokens + media : UINT32_MAX;
}

static bool give_terms(struct api *api, struct arena *arena, struct td_request *td)
{
    struct key_terms terms, *kept;
    if (!api->who.stored || !auth_terms(api->host->auth, api->who.key_id, &terms))
        return true;
    kept = arena_alloc(arena, sizeof *kept);
    if (!kept)
        return false;
    *kept = terms;
    td->terms = kept;
    return true;
}

bool quota_enter_request(struct api *api, struct http_request *http, uint32_t count,
                         struct arena *arena, struct td_request *td, struct fault *fault)
{
    uint64_t answer = td->completion && td->completion->prompt_only ? 0
                      : td->tokens_max                              ? td->tokens_max
                                                                    : METER_ANSWER_TOKENS;
    answer *= count;
    if (!access_give(api, arena, td) || !tracing_give(api, http, arena, td) ||
        !give_terms(api, arena, td)) {
        return fault_no_memory(fault);
    }
    return quota_enter(api, http, guess_prompt(td, http_request_body(http).len),
                       answer < UINT32_MAX ? (uint32_t)answer : UINT32_MAX, &td->meters, fault);
}

bool quota_may_name(struct api *api, const char *model, struct fault *fault)
{
    struct key_terms terms;
    if (!model || !api->who.stored || !auth_terms(api->host->auth, api->who.key_id, &terms) ||
        model_names_listed(terms.models, model))
        return true;
    fault_set(fault, 404, "invalid_request_error", "model_not_found",
              "nothing that this key may ask for is named '%.100s'; see /v1/models", model);
    snprintf(fault->param, sizeof fault->param, "model");
    return false;
}

static bool refuse_terms(struct fault *fault, const char *format, const char *what)
{
    fault_set(fault, 403, "permission_error", "refused_by_policy", format, what);
    return false;
}

bool quota_may_use(struct api *api, const char *tier, enum td_data_class data_class,
                   struct fault *fault)
{
    struct key_terms terms;
    if (!api->who.stored || !auth_terms(api->host->auth, api->who.key_id, &terms))
        return true;
    if (terms.classes && !(terms.classes >> data_class & 1))
        return refuse_terms(fault, "the API key may not send %s data", names_class(data_class));
    return key_list_has(terms.tiers, str_from(tier)) ||
           refuse_terms(fault, "the API key may not use %.64s", tier);
}
