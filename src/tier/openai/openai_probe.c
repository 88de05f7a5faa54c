#include "tier/openai/openai_probe.h"

#include "net/client/client.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/portal.h"

#include <stdlib.h>

#define RESPONSE_BYTES_MAX (16 * 1024 * 1024) /* what is beyond it has answered, too */

struct tier_probe {
    struct client_transfer *transfer;
    tier_probe_fn *on_done;
    void *ctx;
    bool loopback, captive;
    bool is_other; /* what answers is not the server (portal.h) */
};

/* A server that refuses the key or has no such list is there. A gateway that says 502 is not the
 * server. */
static void on_probed(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    (void)status, (void)err;
    struct tier_probe probe = *(struct tier_probe *)ctx;
    free(ctx);
    probe.on_done(probe.ctx, code > 0 && code < 500 && !probe.is_other);
}

static void on_headers(void *ctx, int code, const char *content_type, const char *retry_after)
{
    struct tier_probe *probe = ctx;
    (void)retry_after;
    probe->is_other = !probe->loopback && (probe->captive ? portal_is_likely(code, content_type)
                                                          : portal_is_page(code, content_type));
}

struct tier_probe *openai_probe_start(const struct openai_probe_target *target, struct loop *loop,
                                      tier_probe_fn *on_done, void *ctx)
{
    const struct egress_pass pass = {.purpose = EGRESS_HEALTH_CHECK};
    struct client *client = client_of_loop(loop);
    struct tier_probe *probe = calloc(1, sizeof *probe);
    struct openai_headers headers;
    struct openai_header_source to = target->to;
    to.method = "GET";
    to.url = target->url;
    bool good = openai_headers_init(&headers, &to, false, NULL, 0) && client && probe;
    const struct client_request request = {
        .method = "GET",
        .url = target->url,
        .headers = headers.list,
        .allow_http = true, /* the URL was checked when the tier was made */
        .ca_file = target->ca_file,
        .pinned_key = target->pinned_key,
        .connect_timeout_ms = target->connect_timeout_ms,
        .total_timeout_ms = target->total_timeout_ms,
        .response_bytes_max = RESPONSE_BYTES_MAX,
        .on_headers = on_headers,
        .on_done = on_probed,
        .ctx = probe,
    };
    if (good) {
        *probe = (struct tier_probe){.on_done = on_done,
                                     .ctx = ctx,
                                     .loopback = target->loopback,
                                     .captive = target->captive};
        good = door_send(target->door, &pass, client, &request, &probe->transfer, NULL) == TD_OK;
    }
    openai_headers_wipe(&headers);
    if (good)
        return probe;
    free(probe);
    return NULL;
}

void openai_probe_cancel(struct tier_probe *probe)
{
    client_cancel(probe->transfer);
    free(probe);
}
