/* A tier behind any OpenAI-compatible server: the tier itself (openai_tier.c) and its attempts
 * (openai.c), of which each belongs to one loop (tier/tier.h). */
#ifndef TIER_OPENAI_H
#define TIER_OPENAI_H

#include "tier/door.h"
#include "tier/key_ring.h"
#include "tier/openai/openai_headers.h"
#include "tier/servers.h"

struct openai {
    struct tier tier; /* first: the caller's view */
    char *chat_url, *completion_url, *models_url;
    char *ca_file, *pinned_key, *host, *base_url, *api_version;
    const struct tier_server *server;
    struct key_ring *keys;
    struct tier_server_options options;
    struct door door;
};

static inline struct openai *openai_of(struct tier *tier)
{
    return (struct openai *)tier;
}

/* What the headers of a request are made of, with this key of the tier. */
static inline struct openai_header_source openai_header_source(const struct openai *openai,
                                                               size_t key)
{
    return (struct openai_header_source){.server = openai->server,
                                         .key = key_ring_at(openai->keys, key)->secret,
                                         .region = openai->tier.facts.region,
                                         .extra = openai->options.headers,
                                         .extra_count = openai->options.header_count};
}

/* Of struct tier_ops. */
enum td_status openai_start(struct tier *tier, struct loop *loop, const struct td_request *request,
                            const struct tier_sink *sink, struct tier_attempt **out,
                            struct td_error *err);
void openai_cancel(struct tier_attempt *attempt);
uint64_t openai_egress_bytes(const struct tier_attempt *attempt);
bool openai_unbilled(const struct tier_attempt *attempt);

#endif
