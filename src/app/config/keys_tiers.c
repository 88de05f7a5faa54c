/* Keys of a tier: where it is, how it is reached, what it charges, and what its operator
 * promises. */
#define HELP_OF 6
#include "app/config/keys.h"

#include "base/text/names.h"
#include "tier/servers.h"

/* In the order of enum config_tier_kind: the index is the value. */
#define NAME(server, text) text,
static const char *const kind_names[] = {"local", "review", TIER_SERVERS(NAME) NULL};

/* In the order of enum prefill. */
static const char *const prefill_names[] = {"none", "message", "prefix", "continue_final_message",
                                            NULL};

/* In the order of enum review_interim. */
static const char *const interim_names[] = {"best_candidate", "notice", NULL};

static const char *const stream_names[] = {"always", "as_asked", NULL};

#define AT(member) offsetof(struct config_tier, member)
#define NO_UNIT_INPUT \
    "a price needs its unit: write input_usd_per_mtok, US dollars for a million tokens"
#define NO_UNIT_OUTPUT \
    "a price needs its unit: write output_usd_per_mtok, US dollars for a million tokens"

/* `price` is that of a token when none is given. */
#define PRICE_KEYS(price)                                                                         \
    {"input_usd_per_mtok",                                                                        \
     CONFIG_KEY_NUMBER,                                                                           \
     AT(input_usd_per_mtok),                                                                      \
     price,                                                                                       \
     0,                                                                                           \
     100000,                                                                                      \
     .help = HELP("US dollars for a million prompt tokens")},                                     \
        {"cached_input_usd_per_mtok",                                                             \
         CONFIG_KEY_NUMBER,                                                                       \
         AT(cached_input_usd_per_mtok),                                                           \
         NULL,                                                                                    \
         0,                                                                                       \
         100000,                                                                                  \
         .help = HELP(                                                                            \
             "US dollars for a million prompt tokens that the server had in its cache; default: " \
             "as input_usd_per_mtok, so that no discount is counted that was not given")},        \
        {"output_usd_per_mtok",                                                                   \
         CONFIG_KEY_NUMBER,                                                                       \
         AT(output_usd_per_mtok),                                                                 \
         price,                                                                                   \
         0,                                                                                       \
         100000,                                                                                  \
         .help = HELP("US dollars for a million answer tokens")},                                 \
        {"input", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT_INPUT)},                      \
        {"output", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT_OUTPUT)},                    \
        {"input_per_mtok", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT_INPUT)},             \
    {                                                                                             \
        "output_per_mtok", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT_OUTPUT)              \
    }

static const struct config_key price_keys[] = {PRICE_KEYS(NULL)};
static const struct config_section price_section = KEYS_MAP(price_keys);

static const struct config_key timeout_keys[] = {
    {"connect_ms", CONFIG_KEY_UINT, AT(connect_timeout_ms), "5000", 1, MINUTES_MS(10),
     .help = HELP("longest time to connect")},
    {"first_ms", CONFIG_KEY_UINT, AT(first_timeout_ms), "600000", 1, MINUTES_MS(60),
     .help = HELP("longest time until the first byte of the answer")},
    {"idle_ms", CONFIG_KEY_UINT, AT(idle_timeout_ms), "300000", 1, MINUTES_MS(60),
     .help = HELP("longest time between two parts of the answer; comments are none")},
    {"total_ms", CONFIG_KEY_UINT, AT(total_timeout_ms), "0", 0, MINUTES_MS(600),
     .help = HELP("longest time for the whole answer; 0 = no limit")},
};
static const struct config_section timeout_section = KEYS_MAP(timeout_keys);

static const struct config_key limit_keys[] = {
    {"concurrent", CONFIG_KEY_UINT, AT(limits.concurrent), "0", 0, 1000000,
     .help = HELP("requests at a time; 0 = no limit")},
    {"requests_per_minute", CONFIG_KEY_UINT, AT(limits.requests_per_minute), "0", 0, 1000000000,
     .help = HELP("requests in any minute, retries included; 0 = no limit")},
    {"tokens_per_minute", CONFIG_KEY_UINT, AT(limits.tokens_per_minute), "0", 0, 4000000000,
     .help = HELP("tokens of prompts and answers in any minute; 0 = no limit")},
};
static const struct config_section limit_section = KEYS_MAP(limit_keys);

static const struct config_key review_keys[] = {
    {"minutes", CONFIG_KEY_NUMBER, AT(review.minutes), "5", 0.1, 100000,
     .help = HELP("how long a person works on a ticket")},
    {"usd_hour", CONFIG_KEY_NUMBER, AT(review.usd_hour), "0", 0, 100000,
     .help = HELP("what an hour of that costs, in US dollars; each ticket is booked with it")},
    {"cost_of_error", CONFIG_KEY_NUMBER, AT(review.cost_of_error), "0", 0, 1e9,
     .help =
         HELP("what a wrong answer costs, in US dollars, unless the request says it: people are "
              "asked where that times the probability of an error is more than a review costs; 0 = "
              "the gates alone decide")},
    {"queue_max", CONFIG_KEY_UINT, AT(review.queue_max), "1000", 1, 100000,
     .help = HELP("tickets that may wait; beyond them people are not asked")},
    {"sla_minutes", CONFIG_KEY_UINT, AT(review.sla_minutes), "60", 1, 100000,
     .help =
         HELP("within how long they answer; a request that wants its answer sooner is not theirs")},
    {"lease_minutes", CONFIG_KEY_UINT, AT(review.lease_minutes), "15", 1, 10000,
     .help = HELP("for how long a ticket is whose who takes it; then others may take it")},
    {"expires_hours", CONFIG_KEY_UINT, AT(review.expires_hours), "72", 1, 100000,
     .help = HELP("when a ticket that nobody has answered ends")},
    {"interim", CONFIG_KEY_CHOICE, AT(review.interim), "best_candidate", .choices = interim_names,
     .help =
         HELP("what the client gets meanwhile: best_candidate, the best answer in hand, or notice, "
              "a sentence that says where the answer will be; both are disclosed")},
    {"hold_s", CONFIG_KEY_UINT, AT(review.hold_s), "0", 0, 3600,
     .help = HELP("how long the request waits for a person before that")},
    {"keep_days", CONFIG_KEY_UINT, AT(review.keep_days), "30", 1, 3650,
     .help = HELP("how long tickets are kept that have ended, with who looked at them")},
};
static const struct config_section review_section = KEYS_MAP(review_keys);

const char *const config_modalities[] = {"text", "image", "audio", "file", NULL};

/* What differs from the tier: the rest is the server's. */
static const struct config_key model_price_keys[] = {PRICE_KEYS(NULL)};
static const struct config_section model_price_section = KEYS_MAP(model_price_keys);
static const struct config_key model_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("its name at that server; a request that asks for it gets it")},
    {"context_tokens", CONFIG_KEY_UINT, AT(context_tokens), "0", 0, 100000000,
     .help = HELP("most tokens of prompt and answer together; 0 = as the tier")},
    {"modalities", CONFIG_KEY_MASK, AT(modalities), NULL, .choices = config_modalities,
     .help = HELP("what it takes, as in [text, image]; default: as the tier")},
    {"price", CONFIG_KEY_SECTION, 0, NULL, .section = &model_price_section,
     .help = HELP("what it costs; default: as the tier")},
};
static const struct config_section model_section = KEYS_LIST(model_keys, struct config_tier);

#undef AT
#define AT(member) offsetof(struct config_header, member)
static const struct config_key header_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("the header's name, as in X-Title")},
    {"value", CONFIG_KEY_TEXT, AT(value), NULL, .help = HELP("what it says")},
    {"env", CONFIG_KEY_TEXT, AT(env), NULL,
     .help = HELP("environment variable that holds what it says; not set: the header is not sent")},
};
static const struct config_section header_section = KEYS_LIST(header_keys, struct config_header);
#undef AT
#define AT(member) offsetof(struct config_tier_key, member)
static const struct config_key key_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("what the log calls it")},
    {"env", CONFIG_KEY_TEXT, AT(env), NULL, .help = HELP("environment variable that holds it")},
    {"file", CONFIG_KEY_TEXT, AT(file), NULL, .help = HELP("file that holds it and nothing else")},
    {"weight", CONFIG_KEY_UINT, AT(weight), "1", 1, 1000,
     .help = HELP("how often it is used, compared with the others")},
};
static const struct config_section key_section = KEYS_LIST(key_keys, struct config_tier_key);
#undef AT
#define AT(member) offsetof(struct config_tier, member)

static const struct config_key tier_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("unique name; a request may name it as its model")},
    {"kind", CONFIG_KEY_CHOICE, AT(kind), NULL, .choices = kind_names, .required = true,
     .help = HELP(
         "local: the engine in this process; review: people (docs/review.md); openai: any "
         "OpenAI-compatible server; the others are the same with a provider's address, key and "
         "ways (docs/providers.md)")},
    {"place", CONFIG_KEY_CHOICE, AT(place), NULL, .choices = names_places,
     .help = HELP(
         "how far data travels; default: device for local, and for vllm, sglang, llama-server, "
         "ollama and lmstudio at a loopback address; else cloud. Only a loopback address is on "
         "the device")},
    {"model", CONFIG_KEY_TEXT, AT(model), NULL,
     .help =
         HELP("model name at that server; default: the kind's, of openai TANDEM_OPENAI_MODEL or "
              "gpt-6-luna. Of a local tier: a GGUF file or downloaded model; default: "
              "engine.model")},
    {"models", CONFIG_KEY_SECTIONS, AT(models), NULL, 0, CONFIG_NAMES_MAX,
     .section = &model_section, .count_offset = AT(model_count),
     .help = HELP("further models of that server, for requests that name one")},
    {"idle_s", CONFIG_KEY_UINT, AT(idle_s), "300", 0, 86400,
     .help =
         HELP("a local tier's own model is loaded with the first request that needs it, and leaves "
              "memory after so many seconds without one; 0 = it is loaded at the start and stays")},
    {"confidence", CONFIG_KEY_TEXT, AT(confidence), NULL,
     .help = HELP(
         "file of 'tandem router confidence --tier' for this server's model. The local tier's is "
         "router.confidence")},
    {"base_url", CONFIG_KEY_TEXT, AT(base_url), NULL,
     .help = HELP("address of the server, with /v1 at its end; default: the kind's, of openai "
                  "OPENAI_BASE_URL or https://api.openai.com/v1")},
    {"api_version", CONFIG_KEY_TEXT, AT(api_version), NULL,
     .help =
         HELP("of azure: the version of the API, as in \"2024-10-21\", whose addresses name the "
              "deployment; default: OPENAI_API_VERSION, else the v1 API, which has no version")},
    {"headers", CONFIG_KEY_SECTIONS, AT(headers), NULL, 0, TIER_HEADERS_MAX,
     .section = &header_section, .count_offset = AT(header_count),
     .help = HELP("headers that every request to the server has, as in [{name: X-Title, value: "
                  "Tandem}]")},
    {"api_key_env", CONFIG_KEY_TEXT, AT(api_key_env), NULL,
     .help = HELP(
         "environment variable that holds the key; default: the kind's, as OPENAI_API_KEY, when "
         "there is no base_url, and always of azure")},
    {"api_key_file", CONFIG_KEY_TEXT, AT(api_key_file), NULL,
     .help = HELP("file that holds the key and nothing else")},
    {"token_command", CONFIG_KEY_TEXTS, AT(token_command), NULL, 0, CONFIG_COMMAND_WORDS_MAX,
     .help = HELP("program with its arguments that prints the key, as in [gcloud, auth, "
                  "print-access-token]; it is run again before the key ends")},
    {"keys", CONFIG_KEY_SECTIONS, AT(keys), NULL, 0, TIER_KEYS_MAX, .section = &key_section,
     .count_offset = AT(key_count),
     .help =
         HELP("several keys in place of one, as in [{name: a, env: KEY_A, weight: 3}, {name: b, "
              "env: KEY_B}]. One that is refused or throttled rests, and the others go on")},
    {"api_key", CONFIG_KEY_REFUSED, 0, NULL,
     .help =
         HELP("a key is never written into the configuration: name an environment variable with "
              "api_key_env or a file with api_key_file")},
    {"ca_file", CONFIG_KEY_TEXT, AT(ca_file), NULL,
     .help = HELP("certificates to trust; default: the system's")},
    {"pinned_key", CONFIG_KEY_TEXT, AT(pinned_key), NULL,
     .help = HELP(
         "sha256//BASE64 of the server's public key, or several joined by ';'. No other server "
         "is sent anything. The certificate must be trusted as well")},
    {"allow_http", CONFIG_KEY_BOOL, AT(allow_http), "false",
     .help = HELP("allow plain http:// to other machines; it is always allowed to this one")},
    {"region", CONFIG_KEY_TEXT, AT(region), NULL,
     .help =
         HELP("where it runs, as in \"eu-central-1\"; routes and privacy.classes may require it")},
    {"certified", CONFIG_KEY_TEXTS, AT(certified), NULL, 0, 16,
     .help = HELP("certificates and promises of its operator, as in [hipaa, no-retention]; "
                  "privacy.classes may require them")},
    {"context_tokens", CONFIG_KEY_UINT, AT(context_tokens), "0", 0, 100000000,
     .help = HELP("most tokens of prompt and answer together; 0 = not known, not checked")},
    {"completions", CONFIG_KEY_CHOICE, AT(completions), NULL, .choices = config_yes_no,
     .help = HELP(
         "whether the server also offers /completions; default: as the kind, of openai false")},
    {"prefill", CONFIG_KEY_CHOICE, AT(prefill), NULL, .choices = prefill_names,
     .help = HELP(
         "how the server takes the beginning of an answer that broke off elsewhere: message "
         "(llama-server, Ollama), prefix (Mistral, DeepSeek), continue_final_message (vLLM, "
         "SGLang); none: it is asked in words to go on. Default: as the kind, of openai none")},
    {"stream", CONFIG_KEY_CHOICE, AT(stream), "always", .choices = stream_names,
     .help = HELP(
         "whether the server is asked for a stream where the client wants none: always, so that "
         "answers are judged while they come and stopped early; as_asked: it is not. A server "
         "that refuses streams is asked without one in any case")},
    {"modalities", CONFIG_KEY_MASK, AT(modalities), NULL, .choices = config_modalities,
     .help = HELP(
         "what its model takes, as in [text, image, audio, file]; default: text, and at OpenAI "
         "itself image and file as well")},
    {"no_train", CONFIG_KEY_BOOL, AT(no_train), "false",
     .help = HELP("you have its operator's promise not to train on what it receives")},
    {"no_retention", CONFIG_KEY_BOOL, AT(no_retention), "false",
     .help = HELP("you have its operator's promise not to keep what it receives")},
    {"pseudonyms", CONFIG_KEY_BOOL, AT(pseudonyms), "true",
     .help =
         HELP("it may receive texts in which private values are replaced (privacy.pseudonyms)")},
    {"pad_bytes", CONFIG_KEY_UINT, AT(pad_bytes), "0", 0, 65536,
     .help =
         HELP("requests are padded to a multiple of this, so that their length says little about "
              "the text; 0 = off")},
    {"price", CONFIG_KEY_SECTION, 0, NULL, .section = &price_section,
     .help = HELP(
         "what the tier charges; default: as known of its model ('tandem models prices'), else "
         "nothing")},
    {"timeouts", CONFIG_KEY_SECTION, 0, NULL, .section = &timeout_section,
     .help = HELP("how long the tier may take")},
    {"limits", CONFIG_KEY_SECTION, 0, NULL, .section = &limit_section,
     .help = HELP("how much the tier is asked; what is beyond goes to the next tier of the route")},
    {"review", CONFIG_KEY_SECTION, 0, NULL, .section = &review_section,
     .help = HELP("of kind review: how people work (docs/review.md)")},
};
const struct config_section keys_tier = KEYS_LIST(tier_keys, struct config_tier);
