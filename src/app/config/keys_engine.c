/* Keys of the local engine, its adapters and the folder of models. */
#define HELP_OF 1
#include "app/config/keys.h"

#include "base/text/names.h"

#define AT(member) offsetof(struct config_adapter, member)

static const struct config_key adapter_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("unique name; a request may name it as its model or in tandem.adapters")},
    {"file", CONFIG_KEY_TEXT, AT(file), NULL, .required = true,
     .help = HELP("LoRA adapter of engine.model, GGUF; SIGHUP reads it again when it changed")},
    {"scale", CONFIG_KEY_NUMBER, AT(scale), "1", -10000, 10000,
     .help = HELP("scale for requests that name none; 1 = as trained")},
    {"always", CONFIG_KEY_BOOL, AT(always), "false",
     .help = HELP("use it also for requests that name no adapter")},
};
static const struct config_section adapter_section = KEYS_LIST(adapter_keys, struct config_adapter);
#undef AT

#define AT(member) offsetof(struct config, member)

/* In the order of enum td_speculation: the index is the value. */
static const char *const speculation_names[] = {"none", "ngram", "draft", NULL};

static const struct config_key engine_keys[] = {
    {"model", CONFIG_KEY_TEXT, AT(engine.model), NULL,
     .help = HELP(
         "GGUF file or downloaded model; default: the embedded one. TANDEM_MODEL overrides it")},
    {"embedding_model", CONFIG_KEY_TEXT, AT(engine.embedding_model), NULL,
     .help = HELP("GGUF file or downloaded model for /v1/embeddings; default: engine.model")},
    {"embedding_aliases", CONFIG_KEY_TEXTS, AT(engine.embedding_aliases), NULL, 0, CONFIG_NAMES_MAX,
     .help = HELP(
         "names of other models that mean it too, * for any text: \"text-embedding-*\". Vectors "
         "of two models do not go into one index")},
    {"cpu", CONFIG_KEY_CHOICE, AT(engine.cpu), "auto", .choices = names_cpus,
     .help = HELP("variant of the compute kernels")},
    {"kv_type", CONFIG_KEY_CHOICE, AT(engine.kv_type), "f16", .choices = names_kv_types,
     .help = HELP(
         "number format of the KV cache, or of keys/values; q8_0 needs 0.53 of the memory of "
         "f16, q4_0 0.28. Four bits are measured at the first start, and not used with a model "
         "that they hurt")},
    {"threads", CONFIG_KEY_UINT, AT(engine.threads), "0", 0, 1024,
     .help = HELP("compute threads; 0 = one for each fast core that affinity and quota allow")},
    {"context_tokens", CONFIG_KEY_UINT, AT(engine.context_tokens), "0", 0, 1048576,
     .help = HELP("longest sequence, prompt and answer; 0 = what the model has, at most 4096")},
    {"cache_tokens", CONFIG_KEY_UINT, AT(engine.cache_tokens), "0", 0, 268435456,
     .help =
         HELP("size of the KV cache that all sequences share; 0 = slots x context_tokens, at most "
              "half of the memory")},
    {"slots", CONFIG_KEY_UINT, AT(engine.slots), "8", 1, 256,
     .help = HELP("most sequences that run at once")},
    {"queue", CONFIG_KEY_UINT, AT(engine.queue), "64", 1, 65536,
     .help = HELP("most requests that wait for a slot; above it 429")},
    {"speculation", CONFIG_KEY_CHOICE, AT(engine.speculation), "none", .choices = speculation_names,
     .help =
         HELP("guess several tokens ahead, from repeated text (ngram) or with draft_model (draft, "
              "while at most two requests run); answers stay the same")},
    {"draft_model", CONFIG_KEY_TEXT, AT(engine.draft_model), NULL,
     .help = HELP("for draft: a small GGUF file or downloaded model with the model's vocabulary")},
    {"draft_tokens", CONFIG_KEY_UINT, AT(engine.draft_tokens), "0", 0, 16,
     .help = HELP("most tokens to guess at a time; 0 = 8")},
    {"exit_threshold", CONFIG_KEY_NUMBER, AT(engine.exit_threshold), "0", 0, 1,
     .help =
         HELP("take a token from an early exit of the model when its probability is at least this; "
              "0 = never")},
    {"isolated", CONFIG_KEY_BOOL, AT(engine.isolated), "false",
     .help =
         HELP("answer all requests in the confined worker, a process of its own, so that its death "
              "ends no other request; it has its own memory for sequences; needs a restart")},
    {"adapters", CONFIG_KEY_SECTIONS, AT(engine.adapters), NULL, 0, CONFIG_ADAPTERS_MAX,
     .section = &adapter_section, .help = HELP("LoRA adapters; a change needs no restart"),
     .count_offset = AT(engine.adapter_count)},
};
const struct config_section keys_engine = KEYS_MAP(engine_keys);

/* In the order of enum model_ruling. */
static const char *const model_rulings[] = {"warn", "refuse", NULL};

/* In the order of enum skew_policy. */
static const char *const skew_policies[] = {"warn", "keep", "part", NULL};

static const struct config_key models_keys[] = {
    {"dir", CONFIG_KEY_TEXT, AT(models.dir), NULL,
     .help =
         HELP("folder of downloaded models; default: models in state_dir. TANDEM_MODELS overrides "
              "it")},
    {"mirror", CONFIG_KEY_TEXT, AT(models.mirror), NULL,
     .help =
         HELP("https address to use instead of https://huggingface.co. HF_ENDPOINT overrides it")},
    {"ca_file", CONFIG_KEY_TEXT, AT(models.ca_file), NULL,
     .help = HELP("certificates to trust for downloads; default: the system's")},
    {"catalog", CONFIG_KEY_TEXT, AT(models.catalog), NULL,
     .help = HELP(
         "file with the models that 'tandem models recommend' shows and 'models pull' knows by "
         "name; default: the one that came with the program")},
    {"file_mb_max", CONFIG_KEY_UINT, AT(models.file_mb_max), "1000000", 1, 4000000000.0,
     .help =
         HELP("largest file to download, in MB (1,000,000 bytes); a server that names no length is "
              "also stopped before the disk is full")},
    {"max_age_days", CONFIG_KEY_UINT, AT(models.max_age_days), "0", 0, 36500,
     .help = HELP("a local model that was made longer ago is too old; 0 = none is")},
    {"too_old", CONFIG_KEY_CHOICE, AT(models.too_old), "warn", .choices = model_rulings,
     .help = HELP("warn: doctor and the start say so; refuse: it is not used")},
    {"few_bits", CONFIG_KEY_CHOICE, AT(models.few_bits), "warn", .choices = model_rulings,
     .help =
         HELP("for a local model below 4 bits a weight and 3 billion parameters, or below 5 bits "
              "for routes, rules and tags of medicine and law, that no 'tandem quant-eval --gate' "
              "has passed. warn, or refuse: it is not used, or not for those")},
    {"max_skew", CONFIG_KEY_NUMBER, AT(models.max_skew), "0.5", 0, 1,
     .help = HELP(
         "two tiers are skewed whose models say something else in surely more than this share of "
         "the answers that shadows compared, until it is under 0.8 of it")},
    {"skewed", CONFIG_KEY_CHOICE, AT(models.skewed), "keep", .choices = skew_policies,
     .help = HELP("what follows. warn: it is said; keep: a conversation does not go back from the "
                  "upper of such two tiers to the lower; part: nor the other way, and "
                  "skewed_local_share")},
    {"skewed_local_share", CONFIG_KEY_NUMBER, AT(models.skewed_local_share), "0.5", 0, 1,
     .help =
         HELP("with skewed: part, the share of new conversations that still start on the device")},
};
const struct config_section keys_models = KEYS_MAP(models_keys);
