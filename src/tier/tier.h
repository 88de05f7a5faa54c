/* A tier is a place where inference runs: the engine in this process (local.c) or a server, with
 * one file a kind of server (servers.h). All have one interface.
 *
 * All loops share a tier. An attempt belongs to one loop, and its callbacks come from that loop. An
 * attempt ends with exactly one on_done, or with tier_cancel before it. In both cases the attempt
 * is gone afterwards. */
#ifndef TIER_TIER_H
#define TIER_TIER_H

#include "base/crypto/crypto.h"
#include "base/thread/loop.h"
#include "request/request.h"
#include "router/plan/facts.h"
#include "tandem/engine.h"
#include "tier/logprob_support.h"
#include "tier/openai/openai_extras.h"

struct egress_pass;
struct tier;
struct tier_attempt;

/* What became of an answer's place among those that are kept. */
enum tier_cache {
    TIER_CACHE_NONE,   /* nobody looked for one */
    TIER_CACHE_MISS,   /* there was none */
    TIER_CACHE_HIT,    /* this is one: nothing was asked for it */
    TIER_CACHE_SIMILAR /* the same, but it was given to a similar question */
};

static inline bool tier_cache_is_kept(enum tier_cache cache)
{
    return cache == TIER_CACHE_HIT || cache == TIER_CACHE_SIMILAR;
}

/* As answers, records and traces name it; NULL where nobody looked. */
static inline const char *tier_cache_name(enum tier_cache cache)
{
    static const char *const names[] = {NULL, "miss", "hit", "similar"};
    return names[cache];
}

/* What else is known of it. */
struct tier_cache_facts {
    uint32_t age_s;     /* of one that was kept */
    float similarity;   /* of the two questions, at most 1; 0 = they were not compared */
    const char *unlike; /* of a miss: in what a similar question differs; a literal, or NULL */
};

struct tier_piece {
    struct td_str text; /* final text, may be empty; complete UTF-8 */
    bool has_stats;
    struct td_token_stats stats; /* of one generated token */
    bool in_call;                /* local tier: that token belongs to a call of a tool */
    bool computed;               /* local tier: code has made the answer, not the model */
    uint64_t server_identity; /* of a server: which model and build it says it is; 0 = not said */
    struct td_str token_text; /* the bytes of that token, for logprobs */
    const struct td_top_logprob *top; /* local tier: with ids of `model` */
    size_t top_count;
    const struct td_model *model; /* spells `top`; lives as long as the tier. NULL without it */
    /* The choice object when it has more than plain text (tool calls, a refusal, logprobs), always
     * in the form of a stream's delta; else NULL. Read it by tier/openai/openai_delta.h. Its
     * logprobs are those of all tokens of `text`, and token_text is then empty. */
    const struct json *raw_delta;
    enum tier_cache cache;
    struct tier_cache_facts cache_facts;
    /* Of a request with labels, whose only piece this is: [label_count] log-probabilities, as
     * td_classify's. stats.not_mine is that of the answer's first token. */
    const float *label_scores;
    size_t label_count;
};

struct tier_usage {
    uint32_t prompt_tokens, completion_tokens, cached_tokens;
    uint32_t cache_written; /* of the prompt's, put into the server's cache: some ask more for it */
    bool exact;             /* false: the tier sent none, this is our estimate */
    const char *refused;    /* the tier sent one that cannot be true, because ...; else NULL */
    uint32_t most; /* completion tokens that the tier was told to write at most; 0 = any number */
};

enum tier_reach {
    TIER_REACHED,
    TIER_UNREACHED,  /* no connection to its server came about */
    TIER_NOT_AWAITED /* nor was it waited for: others had found none */
};

/* What a server's refusal means, in words that are ours: nothing in it is quoted. */
struct tier_refusal {
    int http; /* the status that it has, or would have had before a stream began; 0 = none */
    const char *code;  /* one that clients know, such as "context_length_exceeded"; or NULL */
    char param[64];    /* the request's member that the server names, of members that are known */
    uint64_t retry_ms; /* how long its text asks to wait; 0 = it does not */
    bool of_request; /* the request is wrong, wherever it is sent: another tier need not be asked */
};

struct tier_result {
    enum td_status status; /* TD_OK, or why it ended early */
    struct tier_refusal refusal;
    struct td_error err;
    int http_status; /* openai: the peer's code; 0 = none */
    enum td_finish finish;
    uint32_t stop_number; /* of the request's stop text that ended it, from 1; 0 = none is known */
    struct tier_usage usage;
    double first_ms, total_ms; /* since the start; first_ms is 0 when no text came */
    double waited_ms;          /* local: of these, in the queue for a slot */
    uint32_t retry_count;
    uint64_t egress_bytes; /* sent off the device, retries included */
    enum tier_reach reach;
    uint64_t retry_after_ms; /* how long the server wants to be left alone; 0 = it did not say */
    bool captive;            /* what answered is not the server: a network wants a sign-in */
    bool unbilled;           /* it never reached the server, or the server refused it */
    bool own_fault;          /* what came is this exchange's alone: it says nothing of the tier */
    /* People will answer later: what it says is a notice, or with another status nothing. */
    bool pending;
    uint32_t accepted; /* of people: the candidate that they took as it is, from 1; 0 = none */
};

/* What people are told of a question (tier/review/review.h). */
struct tier_question {
    struct td_str body;       /* a JSON text (exchange/private/review_case.h) */
    const char *owner, *user; /* tenant and user, or NULL */
};

struct tier_sink {
    void (*on_piece)(void *ctx, const struct tier_piece *piece);
    void (*on_done)(void *ctx, const struct tier_result *result);
    void *ctx;
    bool judged; /* token stats are wanted, for gates */
    /* What the attempt may send (tier/door.h), borrowed until it ends. NULL: nothing may leave the
     * device for this attempt. */
    const struct egress_pass *pass;
    uint32_t left_ms; /* the attempt is cancelled then; 0 = no limit */
    bool elsewhere;   /* another tier can be asked: no long waiting for a connection */
    bool once;        /* not repeated after a failure */
    const struct tier_question *question; /* of a tier of people; borrowed until `start` returns */
};

/* What a request would need of a tier. */
struct tier_ask {
    enum td_priority priority;
    enum td_data_class data_class;
    uint32_t prompt_tokens, tokens_max; /* tokens_max 0 = no limit */
};

struct tier_probe;
typedef void tier_probe_fn(void *ctx, bool reached);

struct tier_ops {
    enum td_status (*start)(struct tier *tier, struct loop *loop, const struct td_request *request,
                            const struct tier_sink *sink, struct tier_attempt **out,
                            struct td_error *err);
    void (*cancel)(struct tier_attempt *attempt);
    uint32_t (*count_prompt)(struct tier *tier, const struct td_request *request);
    void (*free)(struct tier *tier);
    /* Fills in what the tier itself knows of its state now; NULL = nothing. Any thread. */
    void (*look)(struct tier *tier, struct tier_state *out);
    /* Bytes sent so far, for an attempt that is about to be cancelled. NULL for a tier that sends
     * nothing. */
    uint64_t (*egress_bytes)(const struct tier_attempt *attempt);
    /* Asks whether the tier's server is there, without a user's data. on_done comes once, from the
     * loop, unless it is cancelled before. within_ms 0 = the usual time. NULL when it could not be
     * sent. No such function: a tier without a server. */
    struct tier_probe *(*probe)(struct tier *tier, struct loop *loop, uint32_t within_ms,
                                tier_probe_fn *on_done, void *ctx);
    void (*probe_cancel)(struct tier_probe *probe);
    /* Fills wait_ms, forecast_ttft_ms and forecast_total_ms of a request that would be asked now;
     * `coming` others are about to be. NULL for a tier whose queue nobody here can see. */
    void (*forecast)(struct tier *tier, const struct tier_ask *ask, uint32_t coming,
                     struct tier_state *out);
    /* tier_result.unbilled of an attempt that is about to be cancelled; NULL = false. */
    bool (*unbilled)(const struct tier_attempt *attempt);
    /* Whether it has the answer already, so that starting asks nobody; NULL = false. */
    bool (*has_answer)(struct tier *tier, const struct td_request *request,
                       const struct tier_sink *sink);
    bool estimates; /* count_prompt is the estimate */
};

struct tier {
    const struct tier_ops *ops;
    struct tier_facts facts;         /* borrows its strings until tier_free */
    struct logprob_support logprobs; /* of a server */
    struct extra_support extras;     /* the same */
};

static inline enum td_status tier_start(struct tier *tier, struct loop *loop,
                                        const struct td_request *request,
                                        const struct tier_sink *sink, struct tier_attempt **out,
                                        struct td_error *err)
{
    return tier->ops->start(tier, loop, request, sink, out, err);
}

static inline bool tier_has_answer(struct tier *tier, const struct td_request *request,
                                   const struct tier_sink *sink)
{
    return tier->ops->has_answer && tier->ops->has_answer(tier, request, sink);
}

/* Stops the attempt; no callback comes after it returns. `tier` is the attempt's own tier. Allowed
 * inside on_piece, but not inside on_done. */
void tier_cancel(struct tier *tier, struct tier_attempt *attempt);
uint64_t tier_egress_bytes(const struct tier *tier, const struct tier_attempt *attempt);
bool tier_is_unbilled(const struct tier *tier, const struct tier_attempt *attempt);
/* Tokens of the prompt, exact for the local tier; else the estimate. */
uint32_t tier_count_prompt(struct tier *tier, const struct td_request *request);
/* Bytes / 4 + 4 per message. */
uint32_t tier_estimate_prompt(const struct td_request *request);
void tier_free(struct tier *tier);

struct sandbox;
struct scheduler;
/* An adapter that requests may ask for. */
struct tier_adapter {
    const struct td_adapter *adapter;
    float scale; /* when the request gives none */
    bool always; /* also for requests that name no adapters */
};

struct tier_local_engine {
    const struct td_model *model;
    struct scheduler *scheduler;
};

struct tier_local_options {
    struct tier_local_engine main; /* model NULL: facts->model_fault says why; no attempt starts */
    struct tier_local_engine for_tools;  /* of requests that bring tools; model NULL: `main` is */
    const struct tier_adapter *adapters; /* [facts->adapter_count], in the order of its names */
    struct sandbox *sandbox; /* for data that must not leave; NULL = the engine here answers */
    bool isolated;           /* for all other data, too */
};

/* The engine in this process. Borrows what the options name until tier_free. A running answer keeps
 * its adapters. **returns new** (tier_free). */
TD_MUST_CHECK enum td_status tier_local_new(const struct tier_facts *facts,
                                            const struct tier_local_options *options,
                                            struct tier **out, struct td_error *err);
/* Within whom computed prompts are shared (td_request.caller; NULL = all who give none): a fast
 * first token must not tell a caller what another one has asked. */
void tier_local_scope(const char *caller, uint8_t scope[static CRYPTO_SHA256_BYTES]);

/* The model that runs in this process; NULL for other tiers, and where there is none. **borrows**
 * until tier_free. */
const struct td_model *tier_local_model(const struct tier *tier);

/* One of a tier's keys; its strings are borrowed until tier_free. */
struct tier_key {
    const char *name;
    const struct secret *secret;
    uint32_t weight; /* how often it is used, compared with the others; 0 counts as 1 */
};
#define TIER_KEYS_MAX 16

/* A header that an operator adds to each request of a tier; both borrowed until tier_free. */
struct tier_header {
    const char *name;
    const struct secret *value; /* NULL = it is not sent */
};
#define TIER_HEADERS_MAX 16

struct egress_log;
struct secret;
struct tier_health;
struct tier_server;
struct tier_server_options {
    const struct tier_server *server; /* its kind; NULL = OpenAI's */
    /* "https://api.example.com/v1"; http is for loopback, or any host with allow_http */
    const char *base_url;
    const struct secret *api_key; /* borrowed until tier_free; NULL = none */
    const struct tier_key *keys;  /* [key_count] in its place, TIER_KEYS_MAX at most */
    size_t key_count;
    const char *api_version;           /* of Azure; NULL = none */
    const struct tier_header *headers; /* [header_count], TIER_HEADERS_MAX at most */
    size_t header_count;
    bool allow_http;
    const char *ca_file;         /* NULL = the system's certificates */
    const char *pinned_key;      /* as in net/client/client.h; NULL = any key */
    uint32_t connect_timeout_ms; /* 5000 */
    uint32_t first_timeout_ms;   /* to the first byte of the answer: 600000 */
    uint32_t idle_timeout_ms;    /* between bytes: 300000 */
    uint32_t total_timeout_ms;   /* 0 = none */
    uint32_t pad_bytes;          /* bodies are padded to a multiple of it; 0 = not padded */
    struct egress_log *egress;   /* borrowed until tier_free; NULL = no record */
    struct tier_health *health;  /* the same; NULL = nobody tells it that it rests */
    size_t health_index;         /* of the tier in it */
};
/* A server with OpenAI's API. **returns new** (tier_free). */
TD_MUST_CHECK enum td_status tier_openai_new(const struct tier_facts *facts,
                                             const struct tier_server_options *options,
                                             struct tier **out, struct td_error *err);

/* How long the tiers took lately: to the first text, and to the end of the answer, without the time
 * that a request waited here for a slot. A measurement
 * counts half after five minutes. When fewer than five are left, nothing is known, so a tier that
 * nobody asks any more gets another chance. Thread-safe. now_ms is monotonic. */
struct tier_latency;
struct tier_latency *
tier_latency_new(size_t tier_count); /* **returns new** (tier_latency_free), or NULL */
void tier_latency_free(struct tier_latency *latency);
void tier_latency_add(struct tier_latency *latency, size_t tier_index, double ttft_ms,
                      double total_ms, uint64_t now_ms);
/* An attempt was given up before its first text, which would have taken at least waited_ms. */
void tier_latency_add_wait(struct tier_latency *latency, size_t tier_index, double waited_ms,
                           uint64_t now_ms);
/* An attempt was stopped after waited_ms, so its whole answer would have taken longer. ttft_ms: to
 * its first text; 0 = there was none, and it would have come later, too. */
void tier_latency_add_cut(struct tier_latency *latency, size_t tier_index, double ttft_ms,
                          double waited_ms, uint64_t now_ms);
/* The time to the first text that a share q of the measurements does not exceed; 0 = unknown. */
double tier_latency_ttft(struct tier_latency *latency, size_t tier_index, double q,
                         uint64_t now_ms);
/* Fills ttft_p95_ms, total_p50_ms and total_p95_ms; 0 = unknown. */
void tier_latency_read(struct tier_latency *latency, size_t tier_index, uint64_t now_ms,
                       struct tier_state *out);
/* Copies what is known of a tier of `from` to a tier of `to`, after a reload. */
void tier_latency_copy(struct tier_latency *from, size_t from_index, struct tier_latency *to,
                       size_t to_index);

/* What is under way at each tier, and how long a request would wait there. The queue of a server
 * cannot be seen, so it is learnt how its time to the first text grows with the requests that it
 * has already. Thread-safe. */
struct tier_load;
struct tier_load *tier_load_new(size_t tier_count); /* **returns new** (tier_load_free), or NULL */
void tier_load_free(struct tier_load *load);
/* A request is about to ask the tier (expect; drop when that is over), asks it (begin) and has its
 * answer or not (end). */
void tier_load_expect(struct tier_load *load, size_t tier_index);
void tier_load_drop(struct tier_load *load, size_t tier_index);
/* Gives the number of others that were under way. */
uint32_t tier_load_begin(struct tier_load *load, size_t tier_index);
void tier_load_end(struct tier_load *load, size_t tier_index);
/* Under way and expected. */
uint32_t tier_load_count(struct tier_load *load, size_t tier_index);
/* A request that began beside `others` had its first text after first_ms. */
void tier_load_learn(struct tier_load *load, size_t tier_index, uint32_t others, double first_ms);
/* Fills wait_ms, forecast_ttft_ms and forecast_total_ms; the measured times are there already. */
void tier_load_forecast(struct tier_load *load, size_t tier_index, struct tier *tier,
                        const struct tier_ask *ask, struct tier_state *state);
/* Copies what was learnt, after a reload; not what is under way. */
void tier_load_copy(struct tier_load *from, size_t from_index, struct tier_load *to,
                    size_t to_index);

#endif
