/* What all attempts at an OpenAI-compatible server share: its addresses, its options, its door. */
#include "base/core/assertion.h"
#include "tier/openai/openai.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "net/client/loopback.h"
#include "tier/health.h"
#include "tier/openai/openai_dialect.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_probe.h"
#include "tier/openai/openai_wire.h"
#include "tier/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t openai_count_prompt(struct tier *tier, const struct td_request *request)
{
    (void)tier;
    return tier_estimate_prompt(request);
}

static void openai_free(struct tier *tier)
{
    struct openai *openai = openai_of(tier);
    free(openai->chat_url);
    free(openai->completion_url);
    free(openai->models_url);
    free(openai->ca_file);
    free(openai->pinned_key);
    free(openai->host);
    free(openai->base_url);
    key_ring_free(openai->keys);
    free(openai->api_version);
    free(openai);
}

static struct tier_probe *openai_probe(struct tier *tier, struct loop *loop, uint32_t within_ms,
                                       tier_probe_fn *then, void *ctx)
{
    const struct openai *openai = openai_of(tier);
    size_t key = key_ring_pick(openai->keys, 0, clock_monotonic_ns(NULL) / 1000000);
    const struct tier_server_options *options = &openai->options;
    struct tier_state state = {0};
    tier_health_look(options->health, options->health_index, clock_monotonic_ns(NULL) / 1000000,
                     &state);
    const struct openai_probe_target target = {
        .loopback = openai->tier.facts.loopback,
        .captive = state.captive,
        .door = &openai->door,
        .url = openai->models_url,
        .ca_file = openai->ca_file,
        .pinned_key = openai->pinned_key,
        .to = openai_header_source(openai, key),
        .connect_timeout_ms = options->connect_timeout_ms,
        .total_timeout_ms = within_ms ? within_ms : 2 * options->connect_timeout_ms,
    };
    return openai_probe_start(&target, loop, then, ctx);
}

static const struct tier_ops openai_ops = {
    .start = openai_start,
    .cancel = openai_cancel,
    .count_prompt = openai_count_prompt,
    .free = openai_free,
    .egress_bytes = openai_egress_bytes,
    .probe = openai_probe,
    .probe_cancel = openai_probe_cancel,
    .unbilled = openai_unbilled,
    .estimates = true,
};

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

/* Those that name no model of a request; openai.c makes the others. */
static void copy_addresses(struct openai *openai, const struct tier_server_options *options)
{
    struct server_address address = {.base_url = options->base_url,
                                     .api_version = options->api_version,
                                     .model = openai->tier.facts.model};
    char **const urls[] = {&openai->chat_url, &openai->completion_url, &openai->models_url};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        address.path = (enum server_path)i;
        *urls[i] = server_url(openai->server, &address);
    }
    openai->base_url = strdup(options->base_url);
    openai->api_version = options->api_version ? strdup(options->api_version) : NULL;
    openai->options.base_url = openai->options.api_version = NULL; /* the caller's */
}

/* Those by name, or the only one. */
static enum td_status copy_keys(struct openai *openai, const struct tier_server_options *options,
                                struct td_error *err)
{
    const struct tier_key only = {.name = "key", .secret = options->api_key};
    bool lines = openai->server->sign != NULL;
    size_t count = options->key_count ? options->key_count : 1;
    const struct tier_key *keys = options->key_count ? options->keys : &only;
    for (size_t i = 0; i < count; i++)
        if (!openai_key_is_clean(keys[i].secret, lines))
            return error_set(err, TD_INVALID, "the API key has a space or control character");
    openai->keys = key_ring_new(keys, count);
    openai->options.keys = NULL; /* the caller's */
    return openai->keys ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for keys");
}

/* With a line break a header would add others. */
static enum td_status check_headers(const struct tier_server_options *options, struct td_error *err)
{
    for (size_t i = 0; i < options->header_count; i++)
        if (!openai_header_is_clean(options->headers[i].value))
            return error_set(err, TD_INVALID, "the header %.64s has a control character",
                             options->headers[i].name);
    return TD_OK;
}

enum td_status tier_openai_new(const struct tier_facts *facts,
                               const struct tier_server_options *options, struct tier **out,
                               struct td_error *err)
{
    ASSERT(facts != NULL && options != NULL && options->base_url != NULL && out != NULL);
    enum td_status status = openai_check_url(str_from(options->base_url), options->allow_http, err);
    if (status == TD_OK)
        status = check_headers(options, err);
    if (status != TD_OK) {
        error_prefix(err, "tier %s", facts->name);
        return status;
    }
    struct openai *openai = calloc(1, sizeof *openai);
    if (!openai)
        return error_set(err, TD_NO_MEMORY, "no memory for tier %s", facts->name);
    openai->tier = (struct tier){.ops = &openai_ops, .facts = *facts};
    openai->tier.facts.loopback = loopback_is_url(str_from(options->base_url));
    openai->tier.facts.lacks |= CAPABILITY_GRAMMAR |
                                CAPABILITY_ADAPTERS | /* OpenAI's API has no such members */
                                CAPABILITY_PROMPT_IDS;
    if (options->server && options->server->dialect)
        openai->tier.facts.lacks |= options->server->dialect->lacks;
    openai->options = *options;
    openai->options.connect_timeout_ms = or_default(options->connect_timeout_ms, 5000);
    openai->options.first_timeout_ms = or_default(options->first_timeout_ms, 600000);
    openai->options.idle_timeout_ms = or_default(options->idle_timeout_ms, 300000);
    openai->server = options->server ? options->server : &server_openai;
    status = copy_keys(openai, options, err);
    if (status != TD_OK) {
        openai_free(&openai->tier);
        error_prefix(err, "tier %s", facts->name);
        return status;
    }
    copy_addresses(openai, options);
    openai->host = door_host(options->base_url);
    openai->door = (struct door){&openai->tier.facts, openai->host, options->egress};
    openai->ca_file = options->ca_file ? strdup(options->ca_file) : NULL;
    openai->pinned_key = options->pinned_key ? strdup(options->pinned_key) : NULL;
    openai->options.ca_file = openai->options.pinned_key = NULL; /* the caller's */
    if (!openai->chat_url || !openai->completion_url || !openai->models_url || !openai->host ||
        !openai->base_url || (options->api_version && !openai->api_version) ||
        (options->ca_file && !openai->ca_file) || (options->pinned_key && !openai->pinned_key)) {
        openai_free(&openai->tier);
        return error_set(err, TD_NO_MEMORY, "no memory for tier %s", facts->name);
    }
    *out = &openai->tier;
    return TD_OK;
}
