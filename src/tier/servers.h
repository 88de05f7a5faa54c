/* The kinds of servers that a tier may be: a row each (openai/openai_presets.c, clouds/).
 *
 * A kind says what the configuration may leave out, where its addresses are, how it is shown a key,
 * and which dialect it speaks. To add one, write its row with a `server_NAME`, and name it in
 * TIER_SERVERS. The word in the configuration, the defaults, `tandem models`, the doctor and the
 * opening follow. Constant; any thread may read it. */
#ifndef TIER_SERVERS_H
#define TIER_SERVERS_H

#include "tier/tier.h"

struct buf;
struct tier_dialect; /* openai/openai_dialect.h */

enum server_path { SERVER_CHAT, SERVER_COMPLETION, SERVER_MODELS };

/* What an address is made of. */
struct server_address {
    const char *base_url;
    const char *api_version; /* NULL = none */
    const char *model;       /* NULL where the path has none */
    enum server_path path;
};

/* What a signature is made over. */
struct server_signing {
    struct td_str key; /* as aws_credentials_pack makes it, or a text without line breaks */
    const char *method, *url;
    struct td_str body;
    uint64_t wall_ms;
    const char *region; /* NULL = as the address says it */
};

struct tier_server {
    const char *name; /* `kind` in the configuration */
    /* Used where the configuration has none: the variable of the environment, else the text. No
     * text: the configuration must say it. */
    const char *base_url_env, *base_url;
    const char *model_env, *model;
    const char *key_env; /* variable of the key, as the provider's own clients call it */
    const char *api_version_env;
    /* Of AWS: without a base URL the address is SERVICE.REGION.amazonaws.com. */
    const char *by_region;
    const char *key_header; /* that has the key; NULL = Authorization: Bearer */
    /* Servers that people run themselves: no key is needed, and at a loopback address one is on the
     * device. */
    bool of_ones_own;
    bool has_api_version; /* `api_version` may be given */
    bool completions;     /* has /completions */
    enum prefill prefill;
    bool
        takes_marks; /* `cache_control` and `reasoning_details`, for Anthropic's models behind it */
    unsigned takes;  /* of CAPABILITY_MEDIA, at the kind's own address */
    double cache_write_factor; /* what a token that is put into its cache costs; 0 = as others */
    const char *const *fixed;  /* headers that every request has, NULL-terminated; NULL = none */
    /* Writes an address; NULL = OpenAI's paths below base_url. */
    void (*write_url)(const struct server_address *address, struct buf *out);
    const struct tier_dialect *dialect; /* NULL = OpenAI's */
    /* Its key signs each request instead of going along: appends the headers that do so, a zero
     * byte after each, and gives their number. NULL = the key goes along. */
    size_t (*sign)(const struct server_signing *signing, struct buf *out);
    enum td_status (*open)(const struct tier_facts *facts,
                           const struct tier_server_options *options, struct tier **out,
                           struct td_error *err);
};

/* Name in C, and in the configuration. */
#define TIER_SERVERS(x)                                                                     \
    x(openai, "openai") x(openrouter, "openrouter") x(groq, "groq") x(together, "together") \
        x(mistral, "mistral") x(deepseek, "deepseek") x(xai, "xai") x(azure, "azure")       \
            x(vllm, "vllm") x(sglang, "sglang") x(llama_server, "llama-server")             \
                x(ollama, "ollama") x(lmstudio, "lmstudio") x(anthropic, "anthropic")       \
                    x(gemini, "gemini") x(vertex, "vertex") x(bedrock, "bedrock")

#define TIER_SERVER_DECLARE(name, text) extern const struct tier_server server_##name;
TIER_SERVERS(TIER_SERVER_DECLARE)

extern const struct tier_server *const tier_servers[]; /* in the order of TIER_SERVERS, then NULL */

/* The address of a path at a server. **returns new** (free); NULL without memory. */
char *server_url(const struct tier_server *server, const struct server_address *address);
/* A base URL without the slashes at its end. **borrows** */
struct td_str server_base(const struct server_address *address);
/* Appends a text as one segment of a path: all but the unreserved characters of RFC 3986 in %XX. */
void server_write_segment(struct td_str text, struct buf *out);

#endif
