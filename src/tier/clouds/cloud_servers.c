/* Clouds with an API of their own: where they are, and which dialect they speak. */
#include "tier/clouds/anthropic.h"

#include "base/buf.h"
#include "base/str.h"
#include "tier/servers.h"

/* A base URL without the version that its owner may have written at its end. */
static struct td_str base_without(const struct server_address *address, struct td_str version)
{
    struct td_str base = server_base(address);
    return str_ends_with(base, version) ? str_slice(base, 0, base.len - version.len) : base;
}

/* --- Anthropic --- */

static const struct tier_dialect anthropic_dialect = {
    .lacks =
        CAPABILITY_COMPLETION | CAPABILITY_FOREIGN_TOOLS | CAPABILITY_SAMPLING | CAPABILITY_AUDIO,
    .state_bytes = sizeof(struct anthropic_reading),
    .write_body = anthropic_write_body,
    .read = anthropic_read,
};

/* Its own clients take a base URL without /v1. */
static void write_anthropic_url(const struct server_address *address, struct buf *out)
{
    buf_printf(out, STR_FMT "/v1/%s", STR_ARG(base_without(address, STR("/v1"))),
               address->path == SERVER_MODELS ? "models" : "messages");
}

static const char *const anthropic_headers[] = {"anthropic-version: 2023-06-01", NULL};

const struct tier_server server_anthropic = {
    .name = "anthropic",
    .base_url_env = "ANTHROPIC_BASE_URL",
    .base_url = "https://api.anthropic.com",
    .key_env = "ANTHROPIC_API_KEY",
    .model_env = "TANDEM_ANTHROPIC_MODEL",
    .model = "claude-haiku-5-5",
    .key_header = "x-api-key",
    .takes = CAPABILITY_IMAGE | CAPABILITY_FILE,
    .fixed = anthropic_headers,
    .write_url = write_anthropic_url,
    .dialect = &anthropic_dialect,
    .open = tier_openai_new,
};
