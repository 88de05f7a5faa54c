/* /healthz (the process answers), /readyz (a model is loaded and the ledger works), and a page at /
 * for people who open the address in a browser. */
#include "api/admin/handlers.h"
#include "api/http/reply.h"
#include "base/json.h"
#include "base/str.h"

#define PAGE_BYTES_MAX 4096
#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]"

void health_handle_live(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    api_reply_text(api, request, 200, "application/json", STR("{\"status\":\"ok\"}"));
}

void health_handle_ready(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    const char *why_not = NULL;
    if (api->host->ready(api->host->ctx, &why_not)) {
        api_reply_text(api, request, 200, "application/json", STR("{\"status\":\"ready\"}"));
        return;
    }
    struct buf body;
    buf_init(&body, 4096);
    buf_append_str(&body, STR("{\"status\":\"not ready\",\"reason\":"));
    json_write_text(str_from(why_not ? why_not : "starting"), &body);
    buf_append_char(&body, '}');
    api_reply_json(api, request, 503, &body);
    buf_deinit(&body);
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
