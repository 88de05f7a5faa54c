/* Clouds with an API of their own: where they are, and which dialect they speak. */
#include "tier/clouds/anthropic.h"
#include "tier/clouds/aws_sign.h"
#include "tier/clouds/bedrock.h"
#include "tier/clouds/gemini.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "tier/servers.h"

/* A base URL without the version that its owner may have written at its end. */
static struct td_str base_without(const struct server_address *address, struct td_str version)
{
    struct td_str base = server_base(address);
    return str_ends_with(base, version) ? str_slice(base, 0, base.len - version.len) : base;
}

static void write_model(const struct server_address *address, struct buf *out)
{
    server_write_segment(str_from(address->model ? address->model : ""), out);
}

/* Of what a chat may ask for, no dialect here can say these. */
#define LACKING (CAPABILITY_COMPLETION | CAPABILITY_FOREIGN_TOOLS | CAPABILITY_SAMPLING)

/* --- Anthropic --- */

static const struct tier_dialect anthropic_dialect = {
    .lacks = LACKING | CAPABILITY_AUDIO,
    .thinks_beside = true,
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

/* Of the input's price, for five minutes, at Anthropic and for its models on Bedrock (2026-11). An
 * hour costs twice, which the usage does not tell apart. */
#define CACHE_WRITE_FACTOR 1.25

/* What a server that runs Claude takes and asks for. */
#define RUNS_CLAUDE                                                                        \
    .takes = CAPABILITY_IMAGE | CAPABILITY_FILE, .cache_write_factor = CACHE_WRITE_FACTOR, \
    .open = tier_openai_new

static const char *const anthropic_headers[] = {"anthropic-version: 2023-06-01", NULL};

const struct tier_server server_anthropic = {
    .name = "anthropic",
    .base_url_env = "ANTHROPIC_BASE_URL",
    .base_url = "https://api.anthropic.com",
    .key_env = "ANTHROPIC_API_KEY",
    .model_env = "TANDEM_ANTHROPIC_MODEL",
    .model = "claude-haiku-5-5",
    .key_header = "x-api-key",
    .fixed = anthropic_headers,
    .write_url = write_anthropic_url,
    .dialect = &anthropic_dialect,
    RUNS_CLAUDE,
};

/* --- Google --- */

static const struct tier_dialect gemini_dialect = {
    .lacks = LACKING,
    .state_bytes = sizeof(struct gemini_reading),
    .write_body = gemini_write_body,
    .read = gemini_read,
};

/* What a server that speaks it has, whoever runs it. */
#define SPEAKS_GEMINI                                                                           \
    .takes = CAPABILITY_IMAGE | CAPABILITY_AUDIO | CAPABILITY_FILE, .dialect = &gemini_dialect, \
    .open = tier_openai_new

static void write_google_model(const struct server_address *address, struct buf *out)
{
    buf_append_str(out, STR("models"));
    if (address->path == SERVER_MODELS)
        return;
    buf_append_char(out, '/');
    write_model(address, out);
    buf_append_str(out, STR(":streamGenerateContent?alt=sse"));
}

/* Its own clients take a base URL without /v1beta. */
static void write_gemini_url(const struct server_address *address, struct buf *out)
{
    buf_printf(out, STR_FMT "/v1beta/", STR_ARG(base_without(address, STR("/v1beta"))));
    write_google_model(address, out);
    if (address->path == SERVER_MODELS)
        buf_append_str(out, STR("?pageSize=1000"));
}

const struct tier_server server_gemini = {
    .name = "gemini",
    .base_url_env = "GOOGLE_GEMINI_BASE_URL",
    .base_url = "https://generativelanguage.googleapis.com",
    .key_env = "GEMINI_API_KEY",
    .model_env = "TANDEM_GEMINI_MODEL",
    .model = "gemini-flash-latest",
    .key_header = "x-goog-api-key",
    .write_url = write_gemini_url,
    SPEAKS_GEMINI,
};

/* base_url: https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION */
static void write_vertex_url(const struct server_address *address, struct buf *out)
{
    buf_printf(out, STR_FMT "/publishers/google/", STR_ARG(server_base(address)));
    write_google_model(address, out);
}

/* An access token, which `gcloud auth print-access-token` prints, in Authorization: Bearer. */
const struct tier_server server_vertex = {
    .name = "vertex",
    .base_url_env = "GOOGLE_VERTEX_BASE_URL",
    .key_env = "GOOGLE_OAUTH_ACCESS_TOKEN",
    .model = "gemini-3.8-flash",
    .write_url = write_vertex_url,
    SPEAKS_GEMINI,
};

/* --- AWS --- */

static const struct tier_dialect bedrock_dialect = {
    .lacks = LACKING | CAPABILITY_AUDIO | CAPABILITY_SCHEMA | CAPABILITY_WHOLE_SCHEMA,
    .thinks_beside = true,
    .frames = true,
    .state_bytes = sizeof(struct bedrock_reading),
    .write_body = bedrock_write_body,
    .read = bedrock_read,
};

/* The list of models is another service's, at another host; the address alone says whether somebody
 * is there. */
static void write_bedrock_url(const struct server_address *address, struct buf *out)
{
    buf_append_str(out, server_base(address));
    if (address->path == SERVER_MODELS) {
        buf_append_char(out, '/');
        return;
    }
    buf_append_str(out, STR("/model/"));
    write_model(address, out);
    buf_append_str(out, STR("/converse-stream"));
}

const struct tier_server server_bedrock = {
    .name = "bedrock",
    .base_url_env = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    .by_region = "bedrock-runtime",
    .key_env = "AWS_ACCESS_KEY_ID",
    .write_url = write_bedrock_url,
    .sign = aws_sign_bedrock,
    .dialect = &bedrock_dialect,
    RUNS_CLAUDE,
};
