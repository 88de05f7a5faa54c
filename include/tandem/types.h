/* Types that every part of Tandem shares: statuses, errors, requests.
 *
 * Plain data, no functions but the error helpers. Everything here is borrowed unless a comment says
 * otherwise: whoever fills a struct keeps what its pointers point to alive until the call (or, for
 * a request, the exchange) has ended. */
#ifndef TANDEM_TYPES_H
#define TANDEM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TD_MUST_CHECK __attribute__((warn_unused_result))
#define TD_PUBLIC __attribute__((visibility("default")))
#define TD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TD_MUST_CHECK
#define TD_PUBLIC
#define TD_PRINTF(fmt, args)
#endif

/* What the caller should do about it. The words of td_error say where it went wrong. */
enum td_status {
    TD_OK = 0,
    TD_INVALID,     /* the caller's input is wrong: correct it, do not retry */
    TD_NOT_FOUND,   /* no such file, id or name */
    TD_UNSUPPORTED, /* well-formed, but not something this build can do */
    TD_CORRUPT,     /* a file or a peer sent something malformed */
    TD_LIMIT,       /* over a configured limit; the message names it */
    TD_BUSY,        /* a queue is full: retry later */
    TD_NO_MEMORY,   /* allocation refused */
    TD_IO,          /* a system call failed; the message has strerror */
    TD_UNAVAILABLE, /* a peer cannot be reached or refused to serve */
    TD_TIMEOUT,     /* a deadline passed */
    TD_CANCELLED,   /* the caller asked to stop */
    TD_DENIED,      /* policy or credentials forbid it */
    TD_INTERNAL     /* our own bug */
};

#define TD_ERROR_BYTES 512

/* Words for a failure. Caller-owned; start with `struct td_error err = {0}`. The first failure is
 * the cause, so a later one does not change the words. */
struct td_error {
    enum td_status status;
    char message[TD_ERROR_BYTES];
};

/* Stable lower-case name of a status ("ok", "invalid", ...). Never NULL. */
TD_PUBLIC const char *td_status_name(enum td_status status);

/* A string view: `len` bytes, not necessarily NUL-terminated. data may be NULL only if len is 0. */
struct td_str {
    const char *data;
    size_t len;
};

enum td_role { TD_ROLE_SYSTEM, TD_ROLE_DEVELOPER, TD_ROLE_USER, TD_ROLE_ASSISTANT, TD_ROLE_TOOL };

struct td_message {
    enum td_role role;
    struct td_str content; /* UTF-8; the parts of a multi-part content joined by newlines */
};

/* How far data travels to reach a tier, in order: data that may reach a place may also reach nearer
 * ones. */
enum td_place { TD_PLACE_DEVICE, TD_PLACE_PREMISES, TD_PLACE_REGION, TD_PLACE_CLOUD };

/* Ordered from free to most protected. Within a conversation the class only rises.
 * TD_CLASS_RESTRICTED never leaves the device. */
enum td_data_class {
    TD_CLASS_PUBLIC,
    TD_CLASS_SENSITIVE,
    TD_CLASS_CONTRACTUAL, /* goes only where a contract or a certificate allows it */
    TD_CLASS_RESTRICTED
};

enum td_mode {
    TD_MODE_AUTO,
    TD_MODE_ONLY_LOCAL,
    TD_MODE_PREFER_LOCAL,
    TD_MODE_PREFER_CLOUD,
    TD_MODE_ONLY_CLOUD
};

/* Whose work the local engine does first when there is more than it can do at once. */
enum td_priority {
    TD_PRIORITY_INTERACTIVE, /* somebody waits */
    TD_PRIORITY_BATCH,       /* gets what the others leave, and a turn after a long wait */
    TD_PRIORITY_SPARE /* only while nobody else runs; ended (TD_BUSY) when its place is needed */
};

/* How keys and values are stored. Q8_0: int8 in blocks of 32, 0.53 of the memory of F16. */
enum td_kv_type { TD_KV_F16, TD_KV_F32, TD_KV_Q8_0 };

enum td_finish { TD_FINISH_STOP, TD_FINISH_LENGTH, TD_FINISH_TOOL_CALLS, TD_FINISH_CONTENT_FILTER };

/* Added to the logit of one token before everything else. The id is one of the answering model. */
struct td_logit_bias {
    int32_t id;
    float bias;
};

#define TD_LOGIT_BIASES_MAX 1024

/* Sampling settings; td_sampling_default() gives OpenAI's defaults. */
struct td_sampling {
    float temperature;        /* 0 = greedy */
    uint32_t top_k;           /* 0 = off */
    float top_p;              /* 1 = off */
    float min_p;              /* 0 = off */
    float repetition_penalty; /* 1 = off; CTRL paper, section 4.1 (divides positive logits) */
    uint64_t seed;            /* used when seed_set; otherwise drawn from the system */
    bool seed_set;
    float typical_p;           /* locally typical sampling; 0 and 1 = off */
    float presence_penalty;    /* subtracted once if the token is in the answer; -2..2 */
    float frequency_penalty;   /* subtracted for each time that it is there; -2..2 */
    float mirostat_tau;        /* bits of surprise to aim at; 0 = off. Replaces the other filters */
    float mirostat_eta;        /* how fast mirostat corrects itself; 0 = 0.1 */
    uint32_t mirostat_version; /* 1 or 2; 0 = 2 */
    /* How many tokens repetition_penalty looks back; 0 = 64, at most 4096. */
    uint32_t repetition_window;
    float top_n_sigma;   /* keep logits within so many standard deviations of the best; 0 = off */
    float dynamic_range; /* the temperature moves by up to this with the entropy; 0 = off */
    float dynamic_exponent; /* 0 = 1 */
    float xtc_probability;  /* how often the likeliest are excluded; 0 = off */
    float xtc_threshold;    /* of tokens at or above it only the least likely stays; 0 = 0.1 */
    float dry_multiplier;   /* penalty for going on with a repetition; 0 = off */
    float dry_base;         /* growth of that penalty with each repeated token; 0 = 1.75 */
    uint32_t dry_allowed;   /* longest repetition without a penalty; 0 = 2 */
    const struct td_logit_bias *biases; /* [bias_count], borrowed; at most TD_LOGIT_BIASES_MAX */
    size_t bias_count;
};

/* LoRA adapters that one sequence may run with. */
#define TD_ADAPTERS_MAX 8

/* One adapter that a request asks for, by its name or number (from 0) in the configuration. */
struct td_adapter_choice {
    const char *name; /* NULL = by number */
    uint32_t number;
    float scale;
    bool has_scale; /* false: the configuration's */
};

/* A point in the triangle of latency, privacy and cost: how much each counts, 0 to 1. */
struct td_weights {
    double latency, privacy, cost;
    bool set; /* false: nothing is weighed */
};

enum td_network { TD_NETWORK_UNKNOWN, TD_NETWORK_ONLINE, TD_NETWORK_METERED, TD_NETWORK_OFFLINE };

/* Tags: words that a caller puts on a request, for the operator's rules. */
#define TD_TAGS_MAX 8
#define TD_REGIONS_MAX 2 /* one from the body and one from a header */

#define TD_STOPS_MAX 16
#define TD_TOP_LOGPROBS_MAX 20

struct json;       /* base/json.h; opaque here */
struct td_grammar; /* engine.h */

/* What the answer has to look like. */
enum td_format {
    TD_FORMAT_TEXT,
    TD_FORMAT_JSON,    /* an object, or what a schema says */
    TD_FORMAT_GRAMMAR, /* GBNF: only the engine in this process can promise it */
};

/* A text to go on with instead of a chat. */
struct td_completion {
    struct td_str text;
    const int32_t *ids; /* [id_count] the text as ids of the local model; NULL = tokenize it */
    size_t id_count;
    bool echo;        /* the answer and its log-probabilities begin with the text */
    bool prompt_only; /* nothing is generated */
};

/* One request, whatever wire format it came in. Everything is borrowed. */
struct td_request {
    const struct td_message *messages;
    size_t message_count;
    /* NULL = a chat. Otherwise `messages` holds the same text as one user message, for code that
     * reads or counts texts. */
    const struct td_completion *completion;
    const char *model;   /* "auto", a route's, a tier's or a model's name; NULL = "auto" */
    uint32_t tokens_max; /* most tokens to generate; 0 = the tier's default */
    struct td_sampling sampling;
    struct td_str stops[TD_STOPS_MAX];
    size_t stop_count;
    bool logprobs;
    uint8_t top_logprobs; /* 0..TD_TOP_LOGPROBS_MAX */
    enum td_format format;
    /* What the local engine enforces. NULL with a format other than text: it cannot promise that
     * format. */
    struct td_grammar *grammar;
    /* Adapters of the local model. names_adapters: the request chose its adapters (perhaps none),
     * so those that the configuration always turns on are off. */
    struct td_adapter_choice adapters[TD_ADAPTERS_MAX];
    size_t adapter_count;
    bool names_adapters;

    enum td_mode mode;
    enum td_data_class data_class; /* at least this; detectors and routes may raise it */
    enum td_priority priority;     /* in the local engine; no cloud reads it */
    uint32_t slo_ttft_ms;          /* time to the first text; 0 = none */
    uint32_t slo_ms;               /* time to the whole answer; 0 = none */
    struct td_weights weights;     /* go before those of the application, a rule and the policy */
    const char *tags[TD_TAGS_MAX];
    size_t tag_count;
    enum td_network network; /* as the caller reports it */
    const char *user;        /* stable user key, or NULL */
    /* Stable identity of the sender, such as the digest of an API key or the peer's address; NULL =
     * none. It keeps callers' conversations apart. It is never sent, logged or stored; alarms show
     * 8 digits of a hash of it. */
    const char *caller;
    bool no_train, no_retention; /* only tiers that promise this */
    /* Jurisdictions ("eu"), NULL-terminated: a tier elsewhere must lie in all of them. */
    const char *regions[TD_REGIONS_MAX + 1];
    bool keep_nothing;   /* only numbers are recorded here, and nothing computed is kept */
    const char *consent; /* id of the consent that the request names, or NULL */
    bool corrections;    /* the client understands correction chunks */

    /* The client's JSON body, or NULL. An OpenAI-compatible tier forwards members that Tandem does
     * not understand untouched. */
    const struct json *body;
};

#endif
