/* The table. To add a key: a member in config.h, a row here; parsing, range checks, "did you mean",
 * defaults and help follow. */
#include "app/config/keys.h"

#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "router/watch/ramp_statistics.h"

#include <stdio.h>

static const char *const tier_kinds[] = {"local", "openai", NULL};
/* In the order of enum td_speculation and enum log_level: the index is the value. */
static const char *const climb_names[] = {"sequential", "hedged", NULL};
static const char *const consent_names[] = {"none", "required", NULL};
static const char *const speculation_names[] = {"none", "ngram", "draft", NULL};
static const char *const route_kinds[] = {"local-only", "cloud-only", "hybrid", NULL};

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define MINUTES_MS(n) ((n)*60000.0)

/* --- tiers[] --- */

#define AT(member) offsetof(struct config_tier, member)

static const struct config_key price_keys[] = {
    {"input_usd_per_mtok", CONFIG_KEY_NUMBER, AT(input_usd_per_mtok), "0", 0, 100000,
     .help = "US dollars for a million prompt tokens"},
    {"output_usd_per_mtok", CONFIG_KEY_NUMBER, AT(output_usd_per_mtok), "0", 0, 100000,
     .help = "US dollars for a million generated tokens"},
    {"input", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "a price needs its unit: input_usd_per_mtok, US dollars for a million tokens"},
    {"output", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "a price needs its unit: output_usd_per_mtok, US dollars for a million tokens"},
    {"input_per_mtok", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "a price needs its unit: input_usd_per_mtok, US dollars for a million tokens"},
    {"output_per_mtok", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "a price needs its unit: output_usd_per_mtok, US dollars for a million tokens"},
};
static const struct config_section price_section = {price_keys, COUNT(price_keys), 0, 0};

static const struct config_key timeout_keys[] = {
    {"connect_ms", CONFIG_KEY_UINT, AT(connect_timeout_ms), "5000", 1, MINUTES_MS(10),
     .help = "until the connection stands"},
    {"first_ms", CONFIG_KEY_UINT, AT(first_timeout_ms), "20000", 1, MINUTES_MS(60),
     .help = "until the first byte of the answer"},
    {"idle_ms", CONFIG_KEY_UINT, AT(idle_timeout_ms), "15000", 1, MINUTES_MS(60),
     .help = "between two bytes of the answer"},
    {"total_ms", CONFIG_KEY_UINT, AT(total_timeout_ms), "0", 0, MINUTES_MS(600),
     .help = "whole answer; 0 = no limit"},
};
static const struct config_section timeout_section = {timeout_keys, COUNT(timeout_keys), 0, 0};

static const struct config_key tier_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "unique name; a request may ask for it as its model"},
    {"kind", CONFIG_KEY_CHOICE, AT(kind), NULL, .choices = tier_kinds, .required = true,
     .help = "local: the engine in this process; openai: any OpenAI-compatible server"},
    {"place", CONFIG_KEY_CHOICE, AT(place), NULL, .choices = names_places,
     .help =
         "how far data travels; default device for local, cloud for openai, which may say device "
         "only at a loopback address"},
    {"model", CONFIG_KEY_TEXT, AT(model), NULL,
     .help =
         "model name at that server; default TANDEM_OPENAI_MODEL or gpt-4o-mini; the local tier "
         "runs engine.model"},
    {"base_url", CONFIG_KEY_TEXT, AT(base_url), NULL,
     .help = "up to and with /v1; default OPENAI_BASE_URL or https://api.openai.com/v1"},
    {"api_key_env", CONFIG_KEY_TEXT, AT(api_key_env), NULL,
     .help = "environment variable that holds the key; default OPENAI_API_KEY without base_url"},
    {"api_key_file", CONFIG_KEY_TEXT, AT(api_key_file), NULL,
     .help = "file that holds the key and nothing else"},
    {"api_key", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "a key is never written into the configuration: name an environment variable with "
             "api_key_env or a file with api_key_file"},
    {"ca_file", CONFIG_KEY_TEXT, AT(ca_file), NULL,
     .help = "certificates to trust; default the system's"},
    {"pinned_key", CONFIG_KEY_TEXT, AT(pinned_key), NULL,
     .help = "sha256//BASE64 of the server's public key, several joined by ';': none other is sent "
             "anything; its certificate must be trusted, too"},
    {"allow_http", CONFIG_KEY_BOOL, AT(allow_http), "false",
     .help = "allow plain http:// to other machines (always allowed to this one)"},
    {"region", CONFIG_KEY_TEXT, AT(region), NULL,
     .help = "where it runs, \"eu-central-1\"; privacy.classes may ask for it"},
    {"certified", CONFIG_KEY_TEXTS, AT(certified), NULL, 0, 16,
     .help = "certificates and promises of its operator: [hipaa, no-retention]"},
    {"context_tokens", CONFIG_KEY_UINT, AT(context_tokens), "0", 0, 100000000,
     .help = "prompt and answer together; 0 = not known, not checked"},
    {"completions", CONFIG_KEY_BOOL, AT(completions), "false",
     .help = "the server also has /completions, for texts to go on with"},
    {"no_train", CONFIG_KEY_BOOL, AT(no_train), "false",
     .help = "the operator has its promise not to train on what it is sent"},
    {"no_retention", CONFIG_KEY_BOOL, AT(no_retention), "false",
     .help = "the operator has its promise not to keep what it is sent"},
    {"pseudonyms", CONFIG_KEY_BOOL, AT(pseudonyms), "true",
     .help = "may be sent surrogates of private values, where privacy.pseudonyms is on"},
    {"pad_bytes", CONFIG_KEY_UINT, AT(pad_bytes), "0", 0, 65536,
     .help = "requests are padded to a multiple of so many bytes, so that their length says little "
             "of the text; 0 = not"},
    {"price", CONFIG_KEY_SECTION, 0, NULL, .section = &price_section,
     .help = "what the tier charges"},
    {"timeouts", CONFIG_KEY_SECTION, 0, NULL, .section = &timeout_section,
     .help = "how long the tier may take"},
};
static const struct config_section tier_section = {tier_keys, COUNT(tier_keys),
                                                   sizeof(struct config_tier), AT(line)};
#undef AT

/* --- routes[] --- */

#define AT(member) offsetof(struct config_route, member)

#define THRESHOLDS_HELP "file of 'tandem router tune --gate', in the place of the fixed number"

static const struct config_key g0_keys[] = {
    {"tokens_over", CONFIG_KEY_UINT, AT(gates.g0_tokens_over), "0", 0, 100000000,
     .help = "a longer prompt starts on the next rung; 0 = off"},
    {"gain_over", CONFIG_KEY_NUMBER, AT(gates.g0_gain_over), "0", 0, 1,
     .help =
         "a prompt with a larger expected gain, P(next rung right) - P(local right), starts there; "
         "0 = off"},
    {"p_local_under", CONFIG_KEY_NUMBER, AT(gates.g0_p_local_under), "0", 0, 1,
     .help = "a prompt that the local tier answers rightly less often starts on the next rung; 0 = "
             "off"},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G0]), NULL, .help = THRESHOLDS_HELP},
};
static const struct config_section g0_section = {g0_keys, COUNT(g0_keys), 0, 0};

static const struct config_key g1_keys[] = {
    {"probe_min", CONFIG_KEY_NUMBER, AT(gates.g1_probe_min), "0", 0, 1,
     .help = "leave the tier at its first token when the model's probe expects a right answer with "
             "less; 0 = off"},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G1]), NULL, .help = THRESHOLDS_HELP},
};
static const struct config_section g1_section = {g1_keys, COUNT(g1_keys), 0, 0};

/* The defaults of the gates belong to the embedded model: its first token says "not mine" for
 * what it was not trained to do, so one token is enough for an early look, and a whole answer
 * below 0.55 is wrong more often than right on its validation set. 32 tokens hold every answer of
 * its tasks. */
static const struct config_key g2_keys[] = {
    {"tokens", CONFIG_KEY_UINT, AT(gates.g2_tokens), "1", 0, 4096,
     .help = "look at the first so many tokens; 0 = off"},
    {"confidence_min", CONFIG_KEY_NUMBER, AT(gates.g2_confidence_min), "0.35", 0, 1,
     .help = "leave the tier when the running confidence is below; 0 = off"},
    {"every", CONFIG_KEY_UINT, AT(gates.g2_every), "16", 1, 4096,
     .help = "look again after each so many tokens, for abandon_under"},
    {"abandon_under", CONFIG_KEY_NUMBER, AT(gates.g2_abandon_under), "0", 0, 1,
     .help = "give a running answer up when its confidence is below then; 0 = off"},
};
static const struct config_section g2_section = {g2_keys, COUNT(g2_keys), 0, 0};

static const struct config_key g3_keys[] = {
    {"confidence_min", CONFIG_KEY_NUMBER, AT(gates.g3_confidence_min), "0.55", 0, 1,
     .help = "leave the tier when the whole answer's confidence is below; 0 = off"},
    {"thresholds", CONFIG_KEY_TEXT, AT(thresholds[THRESHOLD_G3]), NULL, .help = THRESHOLDS_HELP},
};
static const struct config_section g3_section = {g3_keys, COUNT(g3_keys), 0, 0};

static const struct config_key gate_keys[] = {
    {"g0", CONFIG_KEY_SECTION, 0, NULL, .section = &g0_section, .help = "before inference"},
    {"g1", CONFIG_KEY_SECTION, 0, NULL, .section = &g1_section,
     .help = "when the local model has read the prompt"},
    {"g2", CONFIG_KEY_SECTION, 0, NULL, .section = &g2_section, .help = "while tokens come"},
    {"g3", CONFIG_KEY_SECTION, 0, NULL, .section = &g3_section, .help = "when the answer is whole"},
    {"hopeless_under", CONFIG_KEY_NUMBER, AT(gates.hopeless_under), "0", 0, 1,
     .help = "do not escalate when the classifier expects the next tier to be right with less; 0 = "
             "off"},
    {"human_under", CONFIG_KEY_NUMBER, AT(gates.human_under), "0", 0, 1,
     .help = "mark an answer with less confidence, from any tier, for a person's review; 0 = off"},
    {"commit_tokens", CONFIG_KEY_UINT_ALL, AT(gates.commit_tokens), "32", 0, 4294967294.0,
     .help = "text held back until so many tokens, or all; before it an escalation is invisible"},
};
static const struct config_section gate_section = {gate_keys, COUNT(gate_keys), 0, 0};

static const struct config_key route_shadow_keys[] = {
    {"edge_share", CONFIG_KEY_NUMBER, AT(shadow_edge_share), "0", 0, 1,
     .help = "of what a cloud answered, the share that the device answers in the background, too"},
    {"cloud_share", CONFIG_KEY_NUMBER, AT(shadow_cloud_share), "0", 0, 1,
     .help = "of what the device answered, the share that is sent to a cloud to compare, where it "
             "might have gone anyway; costs money"},
};
static const struct config_section route_shadow_section = {route_shadow_keys,
                                                           COUNT(route_shadow_keys), 0, 0};

static const struct config_key hedge_keys[] = {
    {"after_percentile", CONFIG_KEY_UINT, AT(hedge_percentile), "95", 50, 99,
     .help = "of the tier's own measured time to its first text; at most four times its median"},
    {"after_ms", CONFIG_KEY_UINT, AT(hedge_after_ms), "0", 0, MINUTES_MS(10),
     .help = "a fixed time in the place of the percentile; 0 = the percentile"},
    {"requests_share", CONFIG_KEY_NUMBER, AT(hedge_share), "0.1", 0.001, 1,
     .help = "hedges for each request of the route, so that an outage does not double the load"},
};
static const struct config_section hedge_section = {hedge_keys, COUNT(hedge_keys), 0, 0};

static const struct config_key ramp_keys[] = {
    {"to", CONFIG_KEY_TEXT, AT(ramp.to), NULL,
     .help = "tier that a growing share of the users starts on, while nothing is lost"},
    {"steps", CONFIG_KEY_TEXTS, AT(ramp.steps), NULL, 0, RAMP_STEPS_MAX,
     .help = "percent of the users; default [1, 5, 20, 50, 100]"},
    {"judged_min", CONFIG_KEY_UINT, AT(ramp.judged_min), "50", 1, 1000000,
     .help = "exchanges that are judged at a step before the next one, at least"},
    {"disagreement_max", CONFIG_KEY_NUMBER, AT(ramp.disagreement_max), "0.2", 0.01, 0.9,
     .help = "share of shadows that may give another answer; beyond it the ramp stops"},
    {"loss_margin", CONFIG_KEY_NUMBER, AT(ramp.loss_margin), "0.05", 0.01, 0.5,
     .help = "by which more of the exchanges may fail, be late or be disliked"},
    {"slo_ms", CONFIG_KEY_UINT, AT(ramp.slo_ms), "0", 0, MINUTES_MS(10),
     .help = "a later answer is lost; 0 = only where the request wishes for a time"},
};
static const struct config_section ramp_section = {ramp_keys, COUNT(ramp_keys), 0, 0};

static const struct config_key route_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "a request may ask for it as its model; the first route is also called auto"},
    {"kind", CONFIG_KEY_CHOICE, AT(kind), NULL, .choices = route_kinds, .required = true,
     .help = "what the route may ever do: a declaration that no other key can widen"},
    {"tiers", CONFIG_KEY_TEXTS, AT(tiers), NULL, 0, RUNGS_MAX, .required = true,
     .help = "the ladder: names of tiers, nearest and cheapest first"},
    {"start", CONFIG_KEY_TEXT, AT(start), NULL,
     .help = "tier to start on; default the first that is allowed"},
    {"data_class", CONFIG_KEY_CHOICE, AT(data_class), "public", .choices = names_classes,
     .help = "requests of this route are at least of this class"},
    {"region", CONFIG_KEY_TEXT, AT(region), NULL,
     .help = "only the device, the premises and tiers whose region begins so may answer: eu"},
    {"no_train", CONFIG_KEY_BOOL, AT(no_train), "false",
     .help = "only tiers with no_train may answer"},
    {"no_retention", CONFIG_KEY_BOOL, AT(no_retention), "false",
     .help = "only tiers with no_retention may answer"},
    {"consent", CONFIG_KEY_CHOICE, AT(consent), "none", .choices = consent_names,
     .help = "required: nothing leaves the device without a consent (POST /tandem/v1/consents)"},
    {"pseudonyms", CONFIG_KEY_BOOL, AT(pseudonyms), "true",
     .help = "private values may be replaced, where privacy.pseudonyms is on"},
    {"strict", CONFIG_KEY_BOOL, AT(strict), "false",
     .help = "replace likely names and unknown numbers as well, as privacy.pseudonyms.strict"},
    {"zero_retention", CONFIG_KEY_BOOL, AT(zero_retention), "false",
     .help = "of its exchanges nothing is stored but numbers, and nothing computed is kept"},
    {"mode", CONFIG_KEY_CHOICE, AT(mode), "auto", .choices = names_modes,
     .help = "for requests that say nothing"},
    {"gates", CONFIG_KEY_SECTION, 0, NULL, .section = &gate_section,
     .help = "when an exchange climbs to the next tier"},
    {"shadow", CONFIG_KEY_SECTION, 0, NULL, .section = &route_shadow_section,
     .help = "answers that are only compared"},
    {"ramp", CONFIG_KEY_SECTION, 0, NULL, .section = &ramp_section,
     .help = "moves users to another tier step by step, and back when too much is lost"},
    {"climb", CONFIG_KEY_CHOICE, AT(climb), "sequential", .choices = climb_names,
     .help = "hedged: the next tier is asked beside one that is slow; the first answer is given"},
    {"hedge", CONFIG_KEY_SECTION, 0, NULL, .section = &hedge_section,
     .help = "when a tier is slow, and how often another one may be asked for that"},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &config_route_weights_section,
     .help = "what counts, for requests that bring no weights"},
};
static const struct config_section route_section = {route_keys, COUNT(route_keys),
                                                    sizeof(struct config_route), AT(line)};
#undef AT

/* --- engine.adapters[] --- */

#define AT(member) offsetof(struct config_adapter, member)

static const struct config_key adapter_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "unique name; a request may ask for it as its model or in tandem.adapters"},
    {"file", CONFIG_KEY_TEXT, AT(file), NULL, .required = true,
     .help = "LoRA adapter of engine.model, GGUF; read again on SIGHUP when it changed"},
    {"scale", CONFIG_KEY_NUMBER, AT(scale), "1", -10000, 10000,
     .help = "where the request names none; 1 = as trained"},
    {"always", CONFIG_KEY_BOOL, AT(always), "false",
     .help = "also for requests that say nothing of adapters"},
};
static const struct config_section adapter_section = {adapter_keys, COUNT(adapter_keys),
                                                      sizeof(struct config_adapter), AT(line)};
#undef AT

/* --- privacy.patterns[], privacy.words[] --- */

#define AT(member) offsetof(struct config_pattern, member)

static const struct config_key pattern_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "what its findings are called: A-Z a-z 0-9 _ -"},
    {"regex", CONFIG_KEY_TEXT, AT(regex), NULL, .required = true,
     .help = "PCRE2; one that needs too many steps makes the text restricted"},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), "sensitive", .choices = names_classes,
     .help = "of its findings"},
    {"score", CONFIG_KEY_NUMBER, AT(score), "0.8", 0.01, 1, .help = "how sure a match is"},
};
static const struct config_section pattern_section = {pattern_keys, COUNT(pattern_keys),
                                                      sizeof(struct config_pattern), AT(line)};
#undef AT

#define AT(member) offsetof(struct config_words, member)

static const struct config_key words_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "what its findings are called: A-Z a-z 0-9 _ -"},
    {"file", CONFIG_KEY_TEXT, AT(file), NULL,
     .help = "a word or phrase a line; # begins a comment"},
    {"list", CONFIG_KEY_TEXTS, AT(list), NULL, .max = CONFIG_WORDS_MAX,
     .help = "words and phrases; case does not matter"},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), "sensitive", .choices = names_classes,
     .help = "of its findings"},
};
static const struct config_section words_section = {words_keys, COUNT(words_keys),
                                                    sizeof(struct config_words), AT(line)};
#undef AT

/* --- privacy.classes[] --- */

#define AT(member) offsetof(struct config_class, member)

static const struct config_key class_keys[] = {
    {"class", CONFIG_KEY_CHOICE, AT(data_class), NULL, .choices = names_classes, .required = true,
     .help = "the class that the rule is of"},
    {"places", CONFIG_KEY_TEXTS, AT(places), NULL, 0, 4,
     .help = "device, premises, region, cloud; default what the class has without a rule"},
    {"regions", CONFIG_KEY_TEXTS, AT(regions), NULL, 0, 16,
     .help = "of tiers at places region and cloud; eu also means eu-west-1"},
    {"tiers", CONFIG_KEY_TEXTS, AT(tiers), NULL, 0, CONFIG_TIERS_MAX,
     .help = "only these, by name"},
    {"certified", CONFIG_KEY_TEXTS, AT(certified), NULL, 0, 16,
     .help = "what tiers at places region and cloud must have, all of it"},
};
static const struct config_section class_section = {class_keys, COUNT(class_keys),
                                                    sizeof(struct config_class), AT(line)};
#undef AT

/* --- the root --- */

#define AT(member) offsetof(struct config, member)

static const struct config_key server_keys[] = {
    {"listen", CONFIG_KEY_TEXT, AT(server.listen), "127.0.0.1:8080",
     .help = "HOST:PORT; port 0 takes a free one. TANDEM_LISTEN overrides"},
    {"workers", CONFIG_KEY_UINT, AT(server.workers), "0", 0, 256,
     .help = "event loops; 0 = the smaller of 2 and the cores"},
    {"body_bytes_max", CONFIG_KEY_UINT, AT(server.body_bytes_max), "4194304", 1024, 268435456,
     .help = "larger request bodies get 413"},
    {"header_bytes_max", CONFIG_KEY_UINT, AT(server.header_bytes_max), "16384", 1024, 1048576,
     .help = "larger request headers are refused"},
    {"answer_bytes_max", CONFIG_KEY_UINT, AT(server.answer_bytes_max), "8388608", 65536, 268435456,
     .help = "largest answer that is sent whole"},
    {"pad_stream_bytes", CONFIG_KEY_UINT, AT(server.pad_stream_bytes), "0", 0, 16384,
     .help = "every event of a stream is padded to a multiple of so many bytes, so that its length "
             "says little of the text; 0 = only for clients that ask"},
    {"connections_max", CONFIG_KEY_UINT, AT(server.connections_max), "1024", 0, 1000000,
     .help = "open connections a worker, 503 above; 0 = no limit"},
    {"header_timeout_ms", CONFIG_KEY_UINT, AT(server.header_timeout_ms), "10000", 100,
     MINUTES_MS(10), .help = "a whole request must arrive within it"},
    {"idle_timeout_ms", CONFIG_KEY_UINT, AT(server.idle_timeout_ms), "75000", 100, MINUTES_MS(60),
     .help = "an idle keep-alive connection is closed after it"},
    {"deadline_ms", CONFIG_KEY_UINT, AT(server.deadline_ms), "300000", 0, MINUTES_MS(600),
     .help = "whole exchange with all its attempts; 0 = no limit"},
    {"shutdown_timeout_ms", CONFIG_KEY_UINT, AT(server.shutdown_timeout_ms), "10000", 0,
     MINUTES_MS(10), .help = "what runs at SIGTERM may finish within it"},
    {"cors_origins", CONFIG_KEY_TEXTS, AT(server.cors_origins), NULL, 0, CONFIG_ORIGINS_MAX,
     .help = "web pages that may use this server: https://host, or \"*\" for all"},
    {"api_keys_env", CONFIG_KEY_TEXT, AT(server.api_keys_env), NULL,
     .help = "environment variable with the keys that clients must send, comma-separated"},
    {"api_keys_file", CONFIG_KEY_TEXT, AT(server.api_keys_file), NULL,
     .help = "file with the keys that clients must send, one a line; read again on SIGHUP"},
    {"api_keys", CONFIG_KEY_REFUSED, 0, NULL,
     .help = "keys are never written into the configuration: use api_keys_env or api_keys_file"},
};
static const struct config_section server_section = {server_keys, COUNT(server_keys), 0, 0};

static const struct config_key engine_keys[] = {
    {"model", CONFIG_KEY_TEXT, AT(engine.model), NULL,
     .help = "GGUF file or pulled model; default the embedded one. TANDEM_MODEL overrides"},
    {"embedding_model", CONFIG_KEY_TEXT, AT(engine.embedding_model), NULL,
     .help = "GGUF file or pulled model for /v1/embeddings; default the local tier's"},
    {"cpu", CONFIG_KEY_CHOICE, AT(engine.cpu), "auto", .choices = names_cpus,
     .help = "kernel variant"},
    {"kv_type", CONFIG_KEY_CHOICE, AT(engine.kv_type), "f16", .choices = names_kv_types,
     .help = "of the KV cache; q8_0 takes 0.53 of f16's memory"},
    {"threads", CONFIG_KEY_UINT, AT(engine.threads), "0", 0, 1024,
     .help = "compute threads; 0 = one a fast core, within affinity and quota"},
    {"context_tokens", CONFIG_KEY_UINT, AT(engine.context_tokens), "0", 0, 1048576,
     .help = "of one sequence; 0 = the model's, at most 4096"},
    {"cache_tokens", CONFIG_KEY_UINT, AT(engine.cache_tokens), "0", 0, 268435456,
     .help =
         "of the KV cache that all sequences share; 0 = slots x context_tokens, at most half of "
         "the memory"},
    {"slots", CONFIG_KEY_UINT, AT(engine.slots), "8", 1, 256,
     .help = "most sequences that run at once"},
    {"queue", CONFIG_KEY_UINT, AT(engine.queue), "64", 1, 65536,
     .help = "requests that wait for a slot; 429 above"},
    {"speculation", CONFIG_KEY_CHOICE, AT(engine.speculation), "none", .choices = speculation_names,
     .help =
         "guess ahead: ngram what followed the same tokens before, draft what draft_model says, "
         "while at most two requests run; answers stay the same"},
    {"draft_model", CONFIG_KEY_TEXT, AT(engine.draft_model), NULL,
     .help = "GGUF file or pulled model, small and with the model's vocabulary, for draft"},
    {"draft_tokens", CONFIG_KEY_UINT, AT(engine.draft_tokens), "0", 0, 16,
     .help = "most guesses at a time; 0 = 8"},
    {"exit_threshold", CONFIG_KEY_NUMBER, AT(engine.exit_threshold), "0", 0, 1,
     .help = "least probability of a token taken from an early exit of the model; 0 = never"},
    {"adapters", CONFIG_KEY_SECTIONS, AT(engine.adapters), NULL, 0, CONFIG_ADAPTERS_MAX,
     .section = &adapter_section, .help = "LoRA adapters; a change needs no restart",
     .count_offset = AT(engine.adapter_count)},
};
static const struct config_section engine_section = {engine_keys, COUNT(engine_keys), 0, 0};

static const struct config_key models_keys[] = {
    {"dir", CONFIG_KEY_TEXT, AT(models.dir), NULL,
     .help = "where pulled models lie; default STATE_DIR/models. TANDEM_MODELS overrides"},
    {"mirror", CONFIG_KEY_TEXT, AT(models.mirror), NULL,
     .help = "https address in place of https://huggingface.co; HF_ENDPOINT overrides"},
    {"ca_file", CONFIG_KEY_TEXT, AT(models.ca_file), NULL,
     .help = "certificates to trust when pulling; default the system's"},
};
static const struct config_section models_section = {models_keys, COUNT(models_keys), 0, 0};

static const struct config_key names_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(privacy.names.on), "true",
     .help = "look for names of people, places and organisations"},
    {"file", CONFIG_KEY_TEXT, AT(privacy.names.file), NULL,
     .help = "another names file than the one that came with the program"},
    {"min_score", CONFIG_KEY_NUMBER, AT(privacy.names.min_score), "0.5", 0.01, 0.99,
     .help = "how likely a finding must be; less finds more, and more that is none"},
    {"class", CONFIG_KEY_CHOICE, AT(privacy.names.data_class), "public", .choices = names_classes,
     .help = "of found names; sensitive keeps every text with a name near"},
};
static const struct config_section names_section = {names_keys, COUNT(names_keys), 0, 0};

static const struct config_key router_keys[] = {
    {"classifier", CONFIG_KEY_TEXT, AT(router.classifier), NULL,
     .help =
         "file that 'tandem router train' wrote; default the one beside the program; none = off"},
    {"confidence", CONFIG_KEY_TEXT, AT(router.confidence), NULL,
     .help = "file that 'tandem router confidence' wrote for the local model"},
    {"consistency", CONFIG_KEY_SECTION, 0, NULL, .section = &config_consistency_section,
     .help = "the same user starts with similar questions, and within a conversation, on one tier"},
};
static const struct config_key watch_keys[] = {
    {"escalations_per_hour", CONFIG_KEY_UINT, AT(watch.escalations_per_hour), "0", 0, 1000000,
     .help = "of one caller; above it what it asks stays on the device; 0 = no cap"},
    {"escalation_share", CONFIG_KEY_NUMBER, AT(watch.escalation_share), "0", 0, 0.8,
     .help = "that is usual; 0 = that of the first 500 exchanges"},
};
static const struct config_section watch_section = {watch_keys, COUNT(watch_keys), 0, 0};

static const struct config_key shadow_keys[] = {
    {"running_max", CONFIG_KEY_UINT, AT(shadow.running_max), "1", 1, 64,
     .help = "shadows at once; what comes beside them is dropped; a change needs a restart"},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(shadow.usd_per_day), "1", 0, 1e6,
     .help = "for the shadows of all routes; those that a cloud would answer are dropped beyond"},
};
static const struct config_section shadow_section = {shadow_keys, COUNT(shadow_keys), 0, 0};

static const struct config_section router_section = {router_keys, COUNT(router_keys), 0, 0};

static const struct config_key vault_keys[] = {
    {"file", CONFIG_KEY_TEXT, AT(privacy.pseudonyms.vault_file), NULL,
     .help = "keeps the vaults over a restart, encrypted; default in memory only"},
    {"key_env", CONFIG_KEY_TEXT, AT(privacy.pseudonyms.vault_key_env), NULL,
     .help = "environment variable with the key, 64 hexadecimal digits"},
    {"key_file", CONFIG_KEY_TEXT, AT(privacy.pseudonyms.vault_key_file), NULL,
     .help = "file with the key"},
};
static const struct config_section vault_section = {vault_keys, COUNT(vault_keys), 0, 0};

static const struct config_key pseudonym_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(privacy.pseudonyms.on), "false",
     .help = "replace private values in what would not be allowed to leave, and restore answers"},
    {"classes", CONFIG_KEY_TEXTS, AT(privacy.pseudonyms.classes), NULL, 0, 8,
     .help = "of values that are replaced; default sensitive; what is of another class stays"},
    {"types", CONFIG_KEY_TEXTS, AT(privacy.pseudonyms.types), NULL, 0, 128,
     .help = "values that are replaced beside them whatever their class; default PERSON"},
    {"strict", CONFIG_KEY_BOOL, AT(privacy.pseudonyms.strict), "false",
     .help = "on every route: replace likely names wherever they stand, and unknown numbers"},
    {"ttl_s", CONFIG_KEY_UINT, AT(privacy.pseudonyms.ttl_s), "3600", 1, 2592000,
     .help = "a conversation's vault is wiped when it was not used for so long"},
    {"conversations_max", CONFIG_KEY_UINT, AT(privacy.pseudonyms.conversations_max), "1024", 1,
     100000, .help = "vaults in memory; the longest unused is wiped"},
    {"vault", CONFIG_KEY_SECTION, 0, NULL, .section = &vault_section,
     .help = "a file that outlives the server"},
};
static const struct config_section pseudonym_section = {pseudonym_keys, COUNT(pseudonym_keys), 0,
                                                        0};

static const struct config_key minimise_keys[] = {
    {"turns", CONFIG_KEY_UINT, AT(privacy.minimise.turns), "0", 0, 1000,
     .help = "remote tiers are sent system messages and the last so many turns; 0 = everything"},
    {"relevant", CONFIG_KEY_UINT, AT(privacy.minimise.relevant), "0", 0, 1000,
     .help = "and so many of the earlier turns that share words with the last message"},
};
static const struct config_section minimise_section = {minimise_keys, COUNT(minimise_keys), 0, 0};

static const struct config_key consents_keys[] = {
    {"in_requests", CONFIG_KEY_BOOL, AT(privacy.consents_in_requests), "false",
     .help = "a request's body may give a consent; otherwise only POST /tandem/v1/consents does"},
};
static const struct config_section consents_section = {consents_keys, COUNT(consents_keys), 0, 0};

static const struct config_key privacy_keys[] = {
    {"data_class", CONFIG_KEY_CHOICE, AT(privacy.data_class), "public", .choices = names_classes,
     .help = "every request is at least of this class"},
    {"conversations_max", CONFIG_KEY_UINT, AT(privacy.conversations_max), "4096", 16, 1000000,
     .help = "conversations whose highest class is remembered"},
    {"zero_retention", CONFIG_KEY_BOOL, AT(privacy.zero_retention), "false",
     .help =
         "nothing of a text outlives its exchange: not on disk, not in memory, not in a core file"},
    {"confine", CONFIG_KEY_BOOL, AT(privacy.confine), "true",
     .help =
         "restricted requests are answered by a process that can open neither sockets nor files"},
    {"patterns", CONFIG_KEY_SECTIONS, AT(privacy.patterns), NULL, 0, CONFIG_RULES_MAX,
     .section = &pattern_section, .help = "what else is private, by regular expressions",
     .count_offset = AT(privacy.pattern_count)},
    {"words", CONFIG_KEY_SECTIONS, AT(privacy.words), NULL, 0, CONFIG_RULES_MAX,
     .section = &words_section, .help = "what else is private, by lists of words",
     .count_offset = AT(privacy.words_count)},
    {"classes", CONFIG_KEY_SECTIONS, AT(privacy.classes), NULL, 0, 4, .section = &class_section,
     .help = "who may see data of a class", .count_offset = AT(privacy.class_count)},
    {"names", CONFIG_KEY_SECTION, 0, NULL, .section = &names_section,
     .help = "names of people, places and organisations"},
    {"minimise", CONFIG_KEY_SECTION, 0, NULL, .section = &minimise_section,
     .help = "what remote tiers are not sent of a conversation"},
    {"consents", CONFIG_KEY_SECTION, 0, NULL, .section = &consents_section,
     .help = "for routes that ask for one (routes[].consent)"},
    {"pseudonyms", CONFIG_KEY_SECTION, 0, NULL, .section = &pseudonym_section,
     .help = "reversible surrogates for private values"},
};
static const struct config_section privacy_section = {privacy_keys, COUNT(privacy_keys), 0, 0};

static const struct config_key ledger_keys[] = {
    {"enabled", CONFIG_KEY_BOOL, AT(ledger.enabled), "true", .help = "record every exchange"},
    {"path", CONFIG_KEY_TEXT, AT(ledger.path), NULL,
     .help = "SQLite file; default STATE_DIR/ledger.db"},
    {"store_prompts", CONFIG_KEY_BOOL, AT(ledger.store_prompts), "false",
     .help = "also store the texts of prompts and answers"},
    {"egress", CONFIG_KEY_TEXT, AT(ledger.egress), NULL,
     .help = "folder for the record of what left; default STATE_DIR/egress; none = no record"},
};
static const struct config_section ledger_section = {ledger_keys, COUNT(ledger_keys), 0, 0};

static const struct config_key log_keys[] = {
    {"level", CONFIG_KEY_CHOICE, AT(log.level), "info", .choices = log_level_names,
     .help = "the least important lines that are written"},
};
static const struct config_section log_section = {log_keys, COUNT(log_keys), 0, 0};

static const struct config_key root_keys[] = {
    {"state_dir", CONFIG_KEY_TEXT, AT(state_dir), NULL,
     .help = "where the ledger lives; default XDG_STATE_HOME/tandem. TANDEM_STATE_DIR overrides"},
    {"server", CONFIG_KEY_SECTION, 0, NULL, .section = &server_section, .help = "the HTTP server"},
    {"engine", CONFIG_KEY_SECTION, 0, NULL, .section = &engine_section,
     .help = "the local engine; a change of other keys than adapters needs a restart"},
    {"tiers", CONFIG_KEY_SECTIONS, AT(tiers), NULL, 0, CONFIG_TIERS_MAX, .section = &tier_section,
     .help = "where inference runs; default local and openai", .count_offset = AT(tier_count)},
    {"routes", CONFIG_KEY_SECTIONS, AT(routes), NULL, 0, CONFIG_ROUTES_MAX,
     .section = &route_section, .help = "rules by name; default one hybrid route over all tiers",
     .count_offset = AT(route_count)},
    {"rules", CONFIG_KEY_SECTIONS, AT(rules), NULL, 0, CONFIG_RULES_MAX,
     .section = &config_rule_section, .help = "tried from the top, the first that matches decides",
     .count_offset = AT(rule_count)},
    {"apps", CONFIG_KEY_SECTIONS, AT(apps), NULL, 0, CONFIG_APPS_MAX,
     .section = &config_app_section, .help = "who asks, told apart by API keys",
     .count_offset = AT(app_count)},
    {"budgets", CONFIG_KEY_SECTIONS, AT(budgets), NULL, 0, BUDGETS_MAX,
     .section = &config_budget_section, .help = "a day's money; when it is spent, only free tiers",
     .count_offset = AT(budget_count)},
    {"device", CONFIG_KEY_SECTION, 0, NULL, .section = &config_device_section,
     .help = "this machine's battery and network, for rules"},
    {"policy", CONFIG_KEY_SECTION, 0, NULL, .section = &config_policy_section,
     .help = "what decides beside routes and rules"},
    {"models", CONFIG_KEY_SECTION, 0, NULL, .section = &models_section,
     .help = "what 'tandem models pull' fetches"},
    {"router", CONFIG_KEY_SECTION, 0, NULL, .section = &router_section,
     .help = "what judges prompts before inference"},
    {"shadow", CONFIG_KEY_SECTION, 0, NULL, .section = &shadow_section,
     .help = "answers that are only compared (routes[].shadow)"},
    {"watch", CONFIG_KEY_SECTION, 0, NULL, .section = &watch_section,
     .help = "alarms on what is out of the ordinary (GET /tandem/v1/alarms)"},
    {"privacy", CONFIG_KEY_SECTION, 0, NULL, .section = &privacy_section,
     .help = "what may leave the device"},
    {"ledger", CONFIG_KEY_SECTION, 0, NULL, .section = &ledger_section,
     .help = "the record of every exchange"},
    {"log", CONFIG_KEY_SECTION, 0, NULL, .section = &log_section, .help = "log lines on stderr"},
};
const struct config_section config_root = {root_keys, COUNT(root_keys), 0, AT(line)};
#undef AT

/* --- help --- */

static void write_section(const struct config_section *section, const char *where, struct buf *out)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        char path[128];
        snprintf(path, sizeof path, "%s%s%s%s", where, *where ? "." : "", key->name,
                 key->type == CONFIG_KEY_SECTIONS ? "[]" : "");
        if (key->type == CONFIG_KEY_REFUSED)
            continue;
        if (key->type == CONFIG_KEY_SECTION || key->type == CONFIG_KEY_SECTIONS) {
            buf_printf(out, "\n# %s: %s\n", path, key->help);
            write_section(key->section, path, out);
            continue;
        }
        buf_printf(out, "%-34s ", path);
        if (key->otherwise)
            buf_printf(out, "%-16s ", key->otherwise);
        else
            buf_printf(out, "%-16s ", key->required ? "(obligatory)" : "-");
        buf_append_str(out, str_from(key->help));
        for (size_t c = 0; key->choices && key->choices[c]; c++)
            buf_printf(out, "%s%s", c ? ", " : " [", key->choices[c]);
        buf_append_str(out, key->choices ? STR("]\n") : STR("\n"));
    }
}

void config_write_help(struct buf *out)
{
    buf_append_str(out, STR("The configuration is one YAML file: tandem serve --config FILE, or "
                            "TANDEM_CONFIG.\nKey, default, meaning:\n\n"));
    write_section(&config_root, "", out);
}
