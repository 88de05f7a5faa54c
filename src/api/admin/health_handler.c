/* /healthz (the process answers), /readyz (some tier can answer, and what is less than configured),
 * and a page at / for people who open the address in a browser. */
#include "api/admin/handlers.h"
#include "api/http/reply.h"
#include "api/metrics/tier_condition.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/embedding/embedding_service.h"
#include "ledger/record/ledger.h"

#define PAGE_BYTES_MAX 4096
#define READY_BYTES_MAX 16384
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]"

void health_handle_live(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    api_reply_text(api, request, 200, "application/json", STR("{\"status\":\"ok\"}"));
}

/* uses: what stands in; or NULL. */
static void write_fault(const char *name, const char *code, const char *why, const char *uses,
                        struct buf *out)
{
    if (out->len > 0)
        buf_append_char(out, ',');
    buf_append_str(out, STR("{\"tier\":"));
    json_write_text(str_from(name), out);
    buf_printf(out, ",\"code\":\"%s\",\"reason\":", code);
    json_write_text(str_from(why), out);
    buf_append_str(out, STR(",\"uses\":"));
    if (uses)
        json_write_text(str_from(uses), out);
    else
        buf_append_str(out, STR("null"));
    buf_append_char(out, '}');
}

static void write_model_fault(const char *name, const struct model_fault *fault, const char *uses,
                              struct buf *out)
{
    if (fault)
        write_fault(name, fault->code, fault->text, fault->stands_in ? uses : NULL, out);
}

/* A tier that is not asked, until somebody mends a key, a name or a network. */
static void write_condition(const struct exchange_services *services, size_t tier, struct buf *out)
{
    struct tier_condition condition;
    tier_condition_read(services, tier, &condition);
    if (condition.broken && !services->tiers[tier]->facts.model_fault)
        write_fault(services->tiers[tier]->facts.name, condition.code, condition.why, NULL, out);
}

/* The database of the ledger is away: what is recorded waits on this disk. */
static void write_ledger(struct ledger *ledger, struct buf *out)
{
    uint64_t waiting;
    if (ledger && ledger_is_away(ledger, &waiting))
        buf_printf(out, ",\"ledger\":{\"code\":\"database_away\",\"waiting\":%llu}",
                   (unsigned long long)waiting);
}

/* Nobody can say what other nodes use of the limits. */
static void write_limits(struct tier_health *health, struct buf *out)
{
    uint32_t nodes;
    if (tier_health_is_alone(health, &nodes))
        buf_printf(out, ",\"limits\":{\"code\":\"redis_away\",\"nodes\":%u}", nodes);
}

/* What is not as the configuration asks for; the reasons name no folders. */
static void write_faults(const struct exchange_services *services, struct buf *out)
{
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        write_model_fault(facts->name, facts->model_fault, facts->model, out);
        write_condition(services, i, out);
    }
    const struct embedding_service *embeddings = services->embeddings;
    write_model_fault(
        "embeddings", services->embeddings_fault,
        embeddings ? td_model_get_info(embedding_service_model(embeddings))->name : NULL, out);
}

void health_handle_ready(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    const char *why_not = NULL;
    bool ready = api->host->ready(api->host->ctx, &why_not);
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct buf body, faults;
    buf_init(&body, READY_BYTES_MAX);
    buf_init(&faults, READY_BYTES_MAX);
    write_faults(services, &faults);
    buf_printf(&body, "{\"status\":\"%s\"", ready ? "ready" : "not ready");
    if (!ready) {
        buf_append_str(&body, STR(",\"reason\":"));
        json_write_text(str_from(why_not ? why_not : "starting"), &body);
    }
    if (faults.len > 0)
        buf_printf(&body, ",\"reduced\":[%.*s]", (int)faults.len, faults.data);
    write_ledger(api->host->ledger, &body);
    write_limits(services->health, &body);
    buf_append_char(&body, '}');
    api_reply_json(api, request, ready ? 200 : 503, &body);
    buf_deinit(&faults);
    buf_deinit(&body);
    api->host->release(api->host->ctx, services);
}

void health_handle_hello(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    const char *host = http_request_header(request, "host");
    if (!host || strspn(host, HOST_CHARACTERS) != strlen(host) || strlen(host) > 100)
        host = "localhost:8080"; /* nothing but a plain name goes into the page */
    struct buf page;
    buf_init(&page, PAGE_BYTES_MAX);
    buf_printf(
        &page,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tandem</title>"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:3em auto;"
        "padding:0 1em}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
        "<h1>Tandem is running</h1>"
        "<p>An OpenAI-compatible endpoint: point any client's base URL at "
        "<code>http://%s/v1</code>, "
        "or an Anthropic client's at <code>http://%s</code>.</p>"
        "<pre>curl -s http://%s/v1/chat/completions \\\n"
        "  -H 'content-type: application/json' \\\n"
        "  -d '{\"model\":\"auto\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'</pre>"
        "<p><a href=\"/v1/models\">models</a> &middot; "
        "<a href=\"/tandem/v1/exchanges\">exchanges</a> &middot; "
        "<a href=\"/metrics\">metrics</a></p></html>\n",
        host, host, host);
    http_reply_header(request, "content-security-policy",
                      "default-src 'none'; style-src 'unsafe-inline'");
    api_reply_text(api, request, 200, "text/html; charset=utf-8", buf_view(&page));
    buf_deinit(&page);
}
