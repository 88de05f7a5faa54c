/* The health check of a server with OpenAI's API: GET /models, which costs nothing and says nothing
 * about a user. On the loop that it was started on. */
#ifndef TIER_OPENAI_PROBE_H
#define TIER_OPENAI_PROBE_H

#include "tier/door.h"
#include "tier/openai/openai_headers.h"
#include "tier/tier.h"

/* Borrowed while it is started. */
struct openai_probe_target {
    const struct door *door;
    const char *url, *ca_file, *pinned_key;
    struct openai_header_source to;
    uint32_t connect_timeout_ms, total_timeout_ms;
    bool loopback; /* no network lies between */
    bool captive;  /* something else answered in its place: a redirect is no sign of it */
};

/* As tier_ops.probe and tier_ops.probe_cancel. */
struct tier_probe *openai_probe_start(const struct openai_probe_target *target, struct loop *loop,
                                      tier_probe_fn *on_done, void *ctx);
void openai_probe_cancel(struct tier_probe *probe);

#endif
