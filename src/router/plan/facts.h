/* Typed facts about a tier, plain data in for the router. */
#ifndef ROUTER_FACTS_H
#define ROUTER_FACTS_H

#include "base/text/names.h"

/* What a request may ask for beyond text in, text out. A tier that lacks one is no candidate for
 * it: an answer that ignores the tools would pass as a whole one. */
enum capability {
    CAPABILITY_TOOLS = 1,
    CAPABILITY_SCHEMA = 2,          /* JSON, or JSON of a schema that the engine can follow */
    CAPABILITY_WHOLE_SCHEMA = 4,    /* a schema with keywords that no grammar promises */
    CAPABILITY_GRAMMAR = 8,         /* GBNF: no cloud reads it */
    CAPABILITY_ADAPTERS = 16,       /* LoRA adapters: files beside the local model */
    CAPABILITY_FOREIGN_TOOLS = 32,  /* forms of tools and choices that only servers know */
    CAPABILITY_COMPLETION = 64,     /* a text to go on with: many clouds only chat */
    CAPABILITY_PROMPT_IDS = 128,    /* the same as token ids, which are the local model's */
    CAPABILITY_NO_TRAIN = 256,      /* promises not to train on what it is sent */
    CAPABILITY_NO_RETENTION = 512,  /* promises not to keep it */
    CAPABILITY_SAMPLING = 1024,     /* settings of sampling that the engine here has not got */
    CAPABILITY_IMAGE = 2048,        /* pictures in messages */
    CAPABILITY_AUDIO = 4096,        /* recordings in messages */
    CAPABILITY_FILE = 8192,         /* documents in messages */
    CAPABILITY_WHOLE_TOOLS = 16384, /* tools whose arguments no grammar promises */
    CAPABILITY_INFILL = 32768,      /* a completion with text after the gap */
    CAPABILITY_MEDIA = CAPABILITY_IMAGE | CAPABILITY_AUDIO | CAPABILITY_FILE,
    CAPABILITY_FORMATS = CAPABILITY_SCHEMA | CAPABILITY_WHOLE_SCHEMA | CAPABILITY_GRAMMAR
};

#define MODEL_FAULT_BYTES 128

/* How a tier is handed the beginning of an answer to go on with. */
enum prefill {
    PREFILL_NONE,    /* it cannot be: a message asks it to go on */
    PREFILL_MESSAGE, /* as a last message of the assistant's (llama-server, Ollama) */
    PREFILL_PREFIX,  /* the same with "prefix": true (Mistral, DeepSeek) */
    PREFILL_FINAL    /* the same with "continue_final_message": true (vLLM, SGLang) */
};

/* Shares of all questions that may stay and be wrong, for which a calibration has thresholds: 2, 5
 * and 10 %. */
enum risk_level { RISK_LEVEL_2, RISK_LEVEL_5, RISK_LEVEL_10, RISK_LEVEL_COUNT };

struct confidence_model;

/* What makes a confidence a probability (docs/heads.md); temperature 0: nothing is known. */
struct confidence_scale {
    double temperature, bias;
};

/* Why a local tier does not run the model that its configuration names. The texts name files
 * without their folders, because clients read them. */
struct model_fault {
    const char *code; /* "missing", "corrupt", "unsupported", "too_large", "failed", "loading" */
    char text[MODEL_FAULT_BYTES]; /* a sentence without its full stop */
    bool stands_in;               /* another model answers; else the tier cannot */
    bool is_loading;              /* the model is being loaded, nothing has failed */
};

/* A further model of a tier's server, for requests that name it. */
struct tier_model {
    const char *name;
    uint32_t context_tokens; /* as in tier_facts, and so are the prices */
    double input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok;
    unsigned lacks; /* of CAPABILITY_MEDIA */
};

struct tier_facts {
    const char *name;                /* "local", "openai", ... unique */
    const char *model;               /* model id at that tier */
    const char *model_version;       /* of a model here, 16 hex digits; NULL = of a server */
    const char *provider;            /* kind of its server, "openai"; NULL = the engine here */
    bool model_assumed;              /* no configuration names it */
    const struct tier_model *models; /* [model_count] further ones (model_names.h) */
    size_t model_count;
    enum td_place place;
    uint32_t context_tokens;       /* prompt + completion; 0 = unknown, not checked */
    uint32_t tools_context_tokens; /* the same of requests that may call tools; 0 = no other */
    double input_usd_per_mtok;
    double output_usd_per_mtok;
    double cached_input_usd_per_mtok; /* of prompt tokens in the server's cache */
    double
        cache_write_factor; /* what a token that is put there costs, of the input's; 0 = as much */
    bool has_key;           /* false: configured without credentials -> not usable */
    const char *region;     /* "eu-central-1"; NULL = not said */
    const char *const *certified; /* "hipaa", "no-retention"; NULL-terminated, NULL = none */
    bool ruled;                   /* `sees` holds; else its place decides (reach.h) */
    unsigned sees;                /* bit n: enum td_data_class n */
    bool pseudonyms;              /* may be sent surrogates of what it may not be sent */
    unsigned lacks;               /* of enum capability */
    bool loopback;                /* its server is on this machine: no network is needed */
    enum prefill prefill;
    bool streams_as_asked;       /* its server streams only what the client wants streamed */
    const char *key_hint;        /* what gives the key, "OPENAI_API_KEY"; NULL = nothing to name */
    const char *const *adapters; /* [adapter_count] names, in the order of their numbers */
    size_t adapter_count;
    bool adapts_always; /* one of them is on for requests that name none */
    /* A model here of which nobody measured what its confidence is worth: neither its file nor a
     * confidence model says so. */
    bool uncalibrated;
    /* Thresholds of its own confidence for whole answers; INFINITY: nothing may be kept. */
    bool has_thresholds;
    double threshold[RISK_LEVEL_COUNT];
    /* What makes its confidences probabilities; temperature 0: nothing is known. */
    double confidence_temperature, confidence_bias;
    struct confidence_scale confidence_call, confidence_label; /* of these kinds of answers */
    const struct confidence_model *confidence_model;           /* bound to this model; or NULL */
    uint64_t server_identity;   /* that it is bound to (tier/tier.h); 0 = no server */
    uint64_t model_bytes;       /* of a model here: heat and charge follow it; 0 = unknown */
    const char *infill_missing; /* the key without which its model fills no gaps */
    const struct model_fault *model_fault; /* NULL = runs the model that was named */
    /* Why its model may not be used for medicine and law (critical_use.h); NULL = it may. */
    const char *unproven;
    /* People answer here, by tickets (tier/review/review.h). They are asked last, and never to save
     * time: not beside another tier, nor to go on with its answer. */
    bool people;
    uint32_t sla_s;       /* within which they answer */
    uint32_t tickets_max; /* that may wait for them */
    double review_usd;    /* what a review costs; 0 = not said */
    double cost_of_error; /* and a wrong answer, in USD; 0 = not weighed */
};

/* Whether it may answer at all, as far as the configuration and its model go. */
static inline bool tier_facts_usable(const struct tier_facts *facts)
{
    return facts->has_key && !(facts->model_fault && !facts->model_fault->stands_in);
}

/* Why a tier is not asked although it is configured (tier/health.h). */
enum tier_rest {
    REST_NONE,
    REST_UNREACHED,  /* no connection to it comes about */
    REST_FAILING,    /* it failed in a row, or too often */
    REST_ASKED,      /* it asked to be left alone for a time */
    REST_REFUSING,   /* it knows neither our key nor the model */
    REST_TRIED,      /* it rested, and another request tries it now */
    REST_SLOWED,     /* it was overloaded: fewer requests go to it at a time */
    REST_CONCURRENT, /* these three: the operator's limits are used up */
    REST_REQUESTS,
    REST_TOKENS,
    REST_SHARED, /* its last free places are kept for other keys, which were served less */
    REST_COUNT
};

/* What changes from moment to moment. */
struct tier_state {
    bool reachable;         /* false while it rests */
    enum tier_rest rest;    /* why; REST_NONE where nothing is known of it */
    uint32_t rest_ms;       /* that are left; 0 = not known */
    int rest_http;          /* the status that it answered with; 0 = none */
    bool captive;           /* something else answers in its place (tier/openai/portal.h) */
    bool unproven;          /* it rested, and has not answered since */
    uint32_t prompt_tokens; /* of this request, by this tier's own count (or an estimate) */
    /* Measured lately, in ms: to the first text and to the whole answer; 0 = not known. */
    double ttft_p95_ms, total_p50_ms, total_p95_ms;
    bool unloaded;    /* its model comes into memory with the next request */
    uint32_t load_ms; /* how long that took the last time; 0 = not known */
    /* Of this request, if it is asked now: until its turn comes. */
    double wait_ms;
    /* And with that to the first text and to the whole answer; cautious. 0 = not known. Compared
     * with its deadlines (plan.c). */
    double forecast_ttft_ms, forecast_total_ms;
    uint32_t tickets; /* that wait for people */
};

#endif
