/* Servers with OpenAI's API by name. What stands here is what the providers document (2026-11);
 * each value can be overridden in the configuration.
 *
 * Keys are read from the variable that a provider's own client reads. A base URL of the environment
 * is read only where the provider's client understands it as we do, with the path of its version at
 * its end. No default model for a server that runs what its owner chose. */
#include "tier/servers.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"

/* The cheapest model of OpenAI's in the table of cards (tier/cards/, 2026-11) that calls tools,
 * reads images and has no day of retirement; gpt-4o-mini, which it follows, ends on 2027-01-14. */
const struct tier_server server_openai = {
    .name = "openai",
    .base_url_env = "OPENAI_BASE_URL",
    .base_url = "https://api.openai.com/v1",
    .key_env = "OPENAI_API_KEY",
    .model_env = "TANDEM_OPENAI_MODEL",
    .model = "gpt-6-luna",
    .takes = CAPABILITY_IMAGE | CAPABILITY_FILE,
    .open = tier_openai_new,
};

const struct tier_server server_openrouter = {
    .name = "openrouter",
    .base_url = "https://openrouter.ai/api/v1",
    .key_env = "OPENROUTER_API_KEY",
    .model = "openrouter/auto",
    .takes_marks = true,
    .completions = true,
    .takes = CAPABILITY_IMAGE | CAPABILITY_FILE,
    .open = tier_openai_new,
};

/* GROQ_BASE_URL of its client has no /openai/v1 at its end, and is therefore not read. */
const struct tier_server server_groq = {
    .name = "groq",
    .base_url = "https://api.groq.com/openai/v1",
    .key_env = "GROQ_API_KEY",
    .model = "openai/gpt-oss-20b",
    .open = tier_openai_new,
};

const struct tier_server server_together = {
    .name = "together",
    .base_url_env = "TOGETHER_BASE_URL",
    .base_url = "https://api.together.xyz/v1",
    .key_env = "TOGETHER_API_KEY",
    .model = "openai/gpt-oss-120b",
    .completions = true,
    .open = tier_openai_new,
};

const struct tier_server server_mistral = {
    .name = "mistral",
    .base_url = "https://api.mistral.ai/v1",
    .key_env = "MISTRAL_API_KEY",
    .model = "mistral-small-latest",
    .prefill = PREFILL_PREFIX,
    .takes = CAPABILITY_IMAGE,
    .open = tier_openai_new,
};

/* It takes the beginning of an answer ("prefix") only below /beta, so there is none here. */
const struct tier_server server_deepseek = {
    .name = "deepseek",
    .base_url = "https://api.deepseek.com/v1",
    .key_env = "DEEPSEEK_API_KEY",
    .model = "deepseek-flash",
    .open = tier_openai_new,
};

const struct tier_server server_xai = {
    .name = "xai",
    .base_url = "https://api.x.ai/v1",
    .key_env = "XAI_API_KEY",
    .model = "grok-4.3",
    .takes = CAPABILITY_IMAGE,
    .open = tier_openai_new,
};

static bool ends_with(struct td_str *text, struct td_str end)
{
    if (!str_ends_with(*text, end))
        return false;
    text->len -= end.len;
    return true;
}

/* https://learn.microsoft.com/azure/ai-foundry/openai/reference: with a version of the API the
 * path names the deployment, which is what `model` is here; the v1 API has OpenAI's paths. The
 * base URL may be the resource's address alone, or end in /openai or /openai/v1. */
static void write_azure_url(const struct server_address *address, struct buf *out)
{
    static const char *const paths[] = {"chat/completions", "completions", "models"};
    struct td_str base = server_base(address);
    const char *path = paths[address->path];
    bool v1 = ends_with(&base, STR("/openai/v1")) || !address->api_version;
    ends_with(&base, STR("/openai"));
    buf_printf(out, STR_FMT "/openai/", STR_ARG(base));
    if (v1) {
        buf_printf(out, "v1/%s", path);
    } else if (address->path == SERVER_MODELS) {
        buf_append_str(out, STR("models"));
    } else {
        buf_append_str(out, STR("deployments/"));
        server_write_segment(str_from(address->model ? address->model : ""), out);
        buf_printf(out, "/%s", path);
    }
    if (address->api_version) {
        buf_append_str(out, STR("?api-version="));
        server_write_segment(str_from(address->api_version), out);
    }
}

const struct tier_server server_azure = {
    .name = "azure",
    .base_url_env = "AZURE_OPENAI_ENDPOINT",
    .key_env = "AZURE_OPENAI_API_KEY",
    .api_version_env = "OPENAI_API_VERSION",
    .key_header = "api-key",
    .has_api_version = true,
    .write_url = write_azure_url,
    .open = tier_openai_new,
};

/* --- servers of one's own, at their usual ports --- */

const struct tier_server server_vllm = {
    .name = "vllm",
    .base_url = "http://127.0.0.1:8000/v1",
    .key_env = "VLLM_API_KEY",
    .of_ones_own = true,
    .completions = true,
    .prefill = PREFILL_FINAL,
    .open = tier_openai_new,
};

const struct tier_server server_sglang = {
    .name = "sglang",
    .base_url = "http://127.0.0.1:30000/v1",
    .of_ones_own = true,
    .completions = true,
    .prefill = PREFILL_FINAL,
    .open = tier_openai_new,
};

/* Its usual port is 8080, where this program listens itself. It runs one model and takes any
 * name. */
const struct tier_server server_llama_server = {
    .name = "llama-server",
    .base_url = "http://127.0.0.1:8081/v1",
    .key_env = "LLAMA_API_KEY",
    .model = "default",
    .of_ones_own = true,
    .completions = true,
    .prefill = PREFILL_MESSAGE,
    .open = tier_openai_new,
};

/* OLLAMA_HOST has neither a scheme nor a path, and is therefore not read. */
const struct tier_server server_ollama = {
    .name = "ollama",
    .base_url = "http://127.0.0.1:11434/v1",
    .of_ones_own = true,
    .completions = true,
    .prefill = PREFILL_MESSAGE,
    .open = tier_openai_new,
};

const struct tier_server server_lmstudio = {
    .name = "lmstudio",
    .base_url = "http://127.0.0.1:1234/v1",
    .of_ones_own = true,
    .completions = true,
    .open = tier_openai_new,
};
