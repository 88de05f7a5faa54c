/* One request as the product understands it, whatever wire format it came in.
 *
 * api/wire reads a client's JSON once and fills this struct. It has three layers:
 *
 *   1. Typed members, by which router and tiers decide: mode, sampling, tool_choice, format, ...
 *   2. What is said: the texts of the messages. Privacy and the router read them as running text.
 *   3. `members`: what a server elsewhere is sent, in the client's order. A member is a name, its
 *      kind (what it is to us), and a value of JSON that nobody interprets. A member that we do not
 *      understand travels in this list like any other.
 *
 * Privacy reads 2 and walks 3, whatever the names are, so it sees every byte that may be sent. A
 * masked or a smaller request is the same list with other values. Only api/wire, which makes the
 * list, and tier/openai_wire, which writes it, know what its names mean. A program without a wire
 * format leaves the list empty; then the tier writes layers 1 and 2.
 *
 * Plain data, borrowed throughout: the caller keeps what it points to until the exchange has ended.
 * Nobody changes it after that hand-over; any thread may read it. */
#ifndef REQUEST_REQUEST_H
#define REQUEST_REQUEST_H

#include "base/crypto/hash.h"
#include "base/json/json.h"
#include "base/key_terms.h"
#include "base/text/names.h"
#include "base/time/trace.h"

#include <string.h>

struct meter; /* exchange/limits/meter.h */
struct td_classifier;
struct td_grammar; /* tandem/engine.h */

/* --- what is sent elsewhere --- */

enum request_kind {
    REQUEST_OTHER,       /* sent as it is, or masked; nobody here asks for it */
    REQUEST_MESSAGES,    /* the list of messages with calls and results, one for each message */
    REQUEST_PROMPT,      /* the text of a completion */
    REQUEST_TOOLS,       /* the list of functions that the model may call */
    REQUEST_CALLER_NAME, /* a text by which the client tells its own users apart */
};

struct request_member {
    const char *name;
    enum request_kind kind;
    const struct json *value;
};

/* A message's texts, when its content came in several parts. */
struct request_parts {
    const struct td_str *texts;
    size_t count; /* 0: the content is one text */
};

/* Images, audio and files that stand in the messages. */
enum request_media_kind { REQUEST_IMAGE = 1, REQUEST_AUDIO = 2, REQUEST_FILE = 4 };

#define REQUEST_MEDIA_MAX 100         /* in one request */
#define REQUEST_PAYLOAD_BYTES_MIN 256 /* a shorter one may as well be a text */

struct request_media {
    unsigned kinds;  /* of enum request_media_kind */
    uint32_t tokens; /* that a model may make of all of it: a rough constant each */
    /* [payload_count] texts among the members that are content in base64. No detector can read
     * them, so they have the class that the policy gives to media, and they are never masked. */
    const struct td_str *payloads;
    size_t payload_count;
};

/* --- what somebody decides by --- */

/* What the answer has to look like. */
enum td_format {
    TD_FORMAT_TEXT,
    TD_FORMAT_JSON,    /* an object, or what a schema says */
    TD_FORMAT_GRAMMAR, /* GBNF: only the engine in this process can promise it */
};

enum request_tool_choice {
    TOOL_CHOICE_FREE,   /* the model decides */
    TOOL_CHOICE_NONE,   /* the tools are offered, but none may be called */
    TOOL_CHOICE_FORCED, /* one must be called, or a certain one */
};

/* Settings of sampling that a model's file may recommend. */
enum request_setting {
    SETTING_TEMPERATURE = 1 << 0,
    SETTING_TOP_K = 1 << 1,
    SETTING_TOP_P = 1 << 2,
    SETTING_MIN_P = 1 << 3,
    SETTING_REPETITION_PENALTY = 1 << 4,
    SETTING_REPETITION_WINDOW = 1 << 5,
    SETTING_XTC_PROBABILITY = 1 << 6,
    SETTING_XTC_THRESHOLD = 1 << 7,
    SETTING_MIROSTAT = 1 << 8, /* tau, eta and version */
    SETTINGS_ALL = (1 << 9) - 1,
};

/* Whether an answer that an earlier request got will do, and whether this one's is kept. Of two
 * declarations the later one in this list holds. */
enum td_cache_use {
    CACHE_UNSAID,  /* as the configuration has it */
    CACHE_USE,     /* also where sampling is random */
    CACHE_REFRESH, /* asked anew, and kept */
    CACHE_OFF,     /* asked anew, and not kept */
};

/* Whether the question may wait for a connection instead of getting a poor answer now. */
enum td_defer {
    DEFER_UNSAID, /* as the configuration has it */
    DEFER_NEVER,
    DEFER_ALLOW, /* where no tier elsewhere can be reached and the answer would be poor or none */
    DEFER_ONLY,  /* in any case: nobody waits for the answer */
    DEFER_AGAIN, /* what the queue itself asks: not yet, when the answer would be poor again */
};

/* A text to go on with instead of a chat. */
struct td_completion {
    struct td_str text, after; /* after: what stands after the gap; empty = there is none */
    const int32_t *ids; /* [id_count] the text as ids of the local model; NULL = tokenize it */
    size_t id_count;
    bool echo;        /* the answer and its log-probabilities begin with the text */
    bool prompt_only; /* nothing is generated */
};

/* The labels of which one is asked for. Instead of an answer come their log-probabilities; only the
 * engine in this process can tell them. */
struct td_labels {
    const struct td_str *texts; /* [count] */
    size_t count;
    const struct td_classifier *classifier; /* made of them; NULL = the tier makes its own */
};

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

/* A consent that a request brings whole, to be granted under the client's own id. */
struct request_consent {
    const char *id, *scope; /* scope NULL: the request brings none */
    uint64_t expires_ms;    /* since 1970; 0 = not said */
};

/* What its key and its tenant hold for it, until it is known what it used. */
#define METERS_OF_REQUEST 2
struct meter_hold {
    struct meter *of[METERS_OF_REQUEST]; /* NULL = nobody counts */
    uint32_t tokens;                     /* that were reserved */
    uint32_t counted[METERS_OF_REQUEST]; /* of these, what stands in each meter's minute */
    uint64_t since_ms;                   /* monotonic */
};

/* Tags: words that a caller puts on a request, for the operator's rules. */
#define TD_TAGS_MAX 8
#define TD_REGIONS_MAX 2 /* one from the body and one from a header */

/* How much a wrong answer would harm: what is checked of it follows (router/plan/verify.h). */
enum td_stakes { STAKES_UNSAID, STAKES_LOW, STAKES_HIGH };

struct td_request {
    const struct td_message *messages;
    size_t message_count;
    const struct request_parts *parts; /* [message_count]; NULL: each content is one text */
    /* NULL = a chat. Otherwise `messages` holds the same text as one user message, for code that
     * reads or counts texts. */
    const struct td_completion *completion;
    const struct td_labels *labels;       /* NULL = an answer is wanted */
    const struct request_member *members; /* [member_count] */
    size_t member_count;
    struct request_media media;
    /* [signature_count] texts among the members that a server made for itself in an earlier answer
     * to this caller (exchange/private/signatures.h). They are not scanned and never masked. */
    const struct td_str *signatures;
    size_t signature_count;

    const char *model;   /* "auto", a route's, a tier's or a model's name; NULL = "auto" */
    uint32_t tokens_max; /* most tokens to generate; 0 = the tier's default */
    /* Of the local tiers' default: a hot device answers in fewer words; 0 = their own. */
    uint32_t tokens_eased;
    bool streamed;   /* the client reads the answer as it comes */
    bool translated; /* of another dialect: a server may go without what it only hints at */
    /* The last message, an assistant's, is the beginning of the answer: a tier goes on after it. A
     * completion's text ends with that beginning. */
    bool continues;
    const struct td_str *stops; /* [stop_count], at most TD_STOPS_MAX; live as long as its texts */
    size_t stop_count;
    bool logprobs;
    uint8_t top_logprobs; /* 0..TD_TOP_LOGPROBS_MAX */

    struct td_sampling sampling;
    unsigned left_to_model; /* enum request_setting: not named, so that the model's file decides */
    struct td_str dry_breakers; /* a zero byte after each; empty = the engine's own */
    uint32_t dry_window;        /* tokens that DRY looks back; 0 = as many as there are */
    bool ignore_eos;
    const char *infill_member;    /* that has the text after a completion's gap, or NULL */
    const char *foreign_sampling; /* a member about sampling that our engine lacks, or NULL */

    /* The tools are the member REQUEST_TOOLS. */
    size_t tool_count;
    bool old_functions; /* offers tools as OpenAI did before 2023-11; only servers know that form */
    bool foreign_tools; /* tools or a choice in another form that only servers know */
    enum request_tool_choice tool_choice;
    struct td_str tool_named; /* of TOOL_CHOICE_FORCED: the tool that must be called; "" = any */
    bool one_call;            /* at most one call in an answer */
    bool has_calls;           /* messages hold calls of tools or answers to them */

    enum td_format format;
    const char *format_member; /* where the client says it; a literal; NULL = nowhere */
    /* Found in the prompt: the local tier keeps it where it can. No server is held to it. */
    bool format_is_guessed;
    const struct json *schema;    /* of TD_FORMAT_JSON; NULL = any object */
    struct td_str grammar_source; /* of TD_FORMAT_GRAMMAR */
    /* What the local engine enforces. NULL with a format other than text: it cannot promise that
     * format. */
    struct td_grammar *grammar;
    /* The same for calls of the tools (tier/call_grammar.h). NULL with tools: no tier was asked to
     * hold calls to them, or none can, because of call_fault. */
    struct td_grammar *call_grammar;
    const char *call_fault;

    /* Adapters of the local model. names_adapters: the request chose its adapters (perhaps none),
     * so those that the configuration always turns on are off. */
    struct td_adapter_choice adapters[TD_ADAPTERS_MAX];
    size_t adapter_count;
    bool names_adapters;

    enum td_mode mode;
    enum td_data_class data_class;   /* at least this; detectors and routes may raise it */
    enum td_data_class class_before; /* that its conversation had, where whoever sends it knows */
    enum td_priority priority;       /* in the local engine; no cloud reads it */
    uint32_t slo_ttft_ms;            /* deadline of the first text; 0 = none */
    uint32_t slo_ms;                 /* deadline of the whole answer; 0 = none */
    uint32_t client_timeout_ms;      /* the client hangs up then; 0 = it does not say */
    double cost_of_error;            /* what a wrong answer would cost, in USD; 0 = not said */
    struct td_weights weights;       /* go before those of the application, a rule and the policy */
    const char *tags[TD_TAGS_MAX];
    size_t tag_count;
    enum td_network network; /* as the caller reports it */
    const char *user;        /* stable user key, or NULL */
    /* Stable identity of the sender: the digest of its tenant, or the peer's address where no keys
     * are required; NULL = none. It keeps callers' conversations apart. It is never sent, logged or
     * stored; alarms show 8 digits of a hash of it. */
    const char *caller;
    const char *key;    /* digest of the API key that it came with; NULL = none is required */
    const char *key_id; /* of that key, as records show it; NULL = likewise */
    const char *tenant; /* what records call the tenant (api/http/auth.h); NULL likewise */
    const struct key_terms *terms; /* what the key may do; NULL = all */
    struct meter_hold meters;      /* the exchange settles it; empty = nothing is held */
    const struct trace *trace;     /* NULL = a new one begins */
    const char *trace_state;       /* W3C's tracestate, for tiers of the house; or NULL */
    const char *request_id;        /* as the client or this server named it; or NULL. Never sent */
    bool no_train, no_retention;   /* only tiers that promise this */
    /* Jurisdictions ("eu"), NULL-terminated: a tier elsewhere must lie in all of them. */
    const char *regions[TD_REGIONS_MAX + 1];
    enum td_defer defer;
    enum td_cache_use cache;  /* of answers that were kept (tier_piece.cache) */
    uint32_t cache_age_max_s; /* an older one will not do; 0 = any age will */
    bool keep_nothing;        /* only numbers are recorded here, and nothing computed is kept */
    const char *consent;      /* id of the consent that the request names, or NULL */
    struct request_consent brought; /* the consent itself, where the body has it */
    bool corrections;               /* the client understands correction chunks */
    enum td_stakes stakes;          /* what a wrong answer would do; as the client says */
};

static inline bool request_lists(const struct td_str *list, size_t count, struct td_str text)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].len == text.len &&
            (list[i].data == text.data || memcmp(list[i].data, text.data, text.len) == 0))
            return true;
    return false;
}

/* Whether a text is a payload or a signature, in which nothing can be read. By what it says and not
 * by where it stands, so that it holds for copies of the members, too. */
static inline bool request_is_opaque(const struct td_request *request, struct td_str text)
{
    return request_lists(request->media.payloads, request->media.payload_count, text) ||
           request_lists(request->signatures, request->signature_count, text);
}

/* Calls of tools, media and continued texts are more than words, and words are what answers are
 * compared by. */
static inline bool request_is_words_alone(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_TOOL)
            return false;
    return !request->has_calls && !request->completion && request->tool_count == 0 &&
           request->media.kinds == 0;
}

/* Whose request it is where many share something by their weights (base/thread/fair.h): the key's;
 * 0 = nobody's, as where no keys are required. */
static inline uint64_t request_sharer(const struct td_request *request)
{
    const char *id = request->key_id;
    return id ? hash_fnv1a64(id, strlen(id), HASH_FNV1A64_BASIS) | 1 : 0;
}

static inline uint32_t request_weight(const struct td_request *request)
{
    return request->terms ? request->terms->weight : 1;
}

/* **borrows** the value of the member of that kind; NULL without such a member. */
static inline const struct json *request_value(const struct td_request *request,
                                               enum request_kind kind)
{
    for (size_t i = 0; i < request->member_count; i++)
        if (request->members[i].kind == kind)
            return request->members[i].value;
    return NULL;
}

#endif
