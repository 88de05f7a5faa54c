/* What all attempts at an OpenAI-compatible server share: its addresses, its options, its door. */
#include "tier/openai/openai.h"

#include "base/error.h"
#include "base/str.h"
#include "net/loopback.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_probe.h"
#include "tier/openai/openai_wire.h"
#include "tier/servers.h"

#include <assert.h>
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
    free(openai);
}

static struct tier_probe *openai_probe(struct tier *tier, struct loop *loop, uint32_t within_ms,
                                       tier_probe_fn *then, void *ctx)
{
    const struct openai *openai = openai_of(tier);
    const struct openai_probe_target target = {
        .door = &openai->door,
        .url = openai->models_url,
        .ca_file = openai->ca_file,
        .pinned_key = openai->pinned_key,
        .key = openai->options.api_key,
        .connect_timeout_ms = openai->options.connect_timeout_ms,
        .total_timeout_ms = within_ms ? within_ms : 2 * openai->options.connect_timeout_ms,
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

static char *url_of(const char *base_url, const char *path)
{
    struct td_str base = str_from(base_url);
    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    char *url = NULL;
    return asprintf(&url, STR_FMT "/%s", STR_ARG(base), path) < 0 ? NULL : url;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

enum td_status tier_openai_new(const struct tier_facts *facts,
                               const struct tier_server_options *options, struct tier **out,
                               struct td_error *err)
{
    assert(facts != NULL && options != NULL && options->base_url != NULL && out != NULL);
    enum td_status status = openai_check_url(str_from(options->base_url), options->allow_http, err);
    if (status == TD_OK && !openai_key_is_clean(options->api_key))
        status = error_set(err, TD_INVALID, "the API key has a space or control character");
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
    openai->options = *options;
    openai->options.connect_timeout_ms = or_default(options->connect_timeout_ms, 5000);
    openai->options.first_timeout_ms = or_default(options->first_timeout_ms, 600000);
    openai->options.idle_timeout_ms = or_default(options->idle_timeout_ms, 300000);
    openai->chat_url = url_of(options->base_url, "chat/completions");
    openai->completion_url = url_of(options->base_url, "completions");
    openai->models_url = url_of(options->base_url, "models");
    openai->host = door_host(options->base_url);
    openai->door = (struct door){&openai->tier.facts, openai->host, options->egress};
    openai->ca_file = options->ca_file ? strdup(options->ca_file) : NULL;
    openai->pinned_key = options->pinned_key ? strdup(options->pinned_key) : NULL;
    openai->options.base_url = NULL; /* the caller's; the copies are above */
    openai->options.ca_file = openai->options.pinned_key = NULL;
    if (!openai->chat_url || !openai->completion_url || !openai->models_url || !openai->host ||
        (options->ca_file && !openai->ca_file) || (options->pinned_key && !openai->pinned_key)) {
        openai_free(&openai->tier);
        return error_set(err, TD_NO_MEMORY, "no memory for tier %s", facts->name);
    }
    *out = &openai->tier;
    return TD_OK;
}

const struct tier_server server_openai = {
    .name = "openai",
    .base_url_env = "OPENAI_BASE_URL",
    .base_url = "https://api.openai.com/v1",
    .key_env = "OPENAI_API_KEY",
    .model_env = "TANDEM_OPENAI_MODEL",
    .model = "gpt-4o-mini",
    .open = tier_openai_new,
};
