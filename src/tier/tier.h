/* A tier: where inference runs. One interface, one file a kind (local.c, openai.c).
 *
 * A tier is shared by all loops; an attempt belongs to one loop and calls back there. Exactly one
 * on_done ends an attempt unless tier_cancel came first. Either way the attempt is gone
 * afterwards. */
#ifndef TIER_TIER_H
#define TIER_TIER_H

#include "base/loop.h"
#include "request/request.h"
#include "router/plan/facts.h"
#include "tandem/engine.h"

struct egress_pass;
struct tier;
struct tier_attempt;

struct tier_piece {
    struct td_str text; /* certain text, may be empty; complete UTF-8 */
    bool has_stats;
    struct td_token_stats stats;      /* of one generated token */
    struct td_str token_text;         /* bytes of that token (for logprobs) */
    const struct td_top_logprob *top; /* local tier: ids of its model */
    size_t top_count;
    /* openai tier: the choice object, when it holds more than plain text (tool calls, refusal, ...,
     * logprobs: then those of all tokens of `text`, and token_text is empty). Always in the form of
     * a stream's delta. Else NULL. */
    const struct json *raw_delta;
};

struct tier_usage {
    uint32_t prompt_tokens, completion_tokens, cached_tokens;
    bool exact; /* false: our own estimate because the tier sent none */
};

struct tier_result {
    enum td_status status; /* TD_OK, or why it ended early */
    struct td_error err;
    int http_status; /* openai: of the peer; 0 = none */
    enum td_finish finish;
    struct tier_usage usage;
    double first_ms, total_ms; /* since start; first_ms 0 when nothing came */
    uint32_t retry_count;
    uint64_t egress_bytes; /* sent off the device, retries included */
};

struct tier_sink {
    void (*on_piece)(void *ctx, const struct tier_piece *piece);
    void (*on_done)(void *ctx, const struct tier_result *result);
    void *ctx;
    /* What the attempt may send (tier/door.h), borrowed until it ends. NULL: nothing leaves the
     * device for it. */
    const struct egress_pass *pass;
};

struct tier_ops {
    enum td_status (*start)(struct tier *tier, struct loop *loop, const struct td_request *request,
                            const struct tier_sink *sink, struct tier_attempt **out,
                            struct td_error *err);
    void (*cancel)(struct tier_attempt *attempt);
    uint32_t (*count_prompt)(struct tier *tier, const struct td_request *request);
    void (*free)(struct tier *tier);
    /* Sent so far, for an attempt that is about to be cancelled. NULL = a tier that sends
     * nothing. */
    uint64_t (*egress_bytes)(const struct tier_attempt *attempt);
};

struct tier {
    const struct tier_ops *ops;
    struct tier_facts facts; /* its strings are borrowed until tier_free */
};

static inline enum td_status tier_start(struct tier *tier, struct loop *loop,
                                        const struct td_request *request,
                                        const struct tier_sink *sink, struct tier_attempt **out,
                                        struct td_error *err)
{
    return tier->ops->start(tier, loop, request, sink, out, err);
}

/* After it returns no callback comes; upstream work stops. Attempts know their tier. May be called
 * from inside on_piece, not from inside on_done. */
void tier_cancel(struct tier *tier, struct tier_attempt *attempt);
uint64_t tier_egress_bytes(const struct tier *tier, const struct tier_attempt *attempt);
/* Prompt tokens as this tier counts them (local: exact; openai: bytes / 4 + 4 a message). */
uint32_t tier_count_prompt(struct tier *tier, const struct td_request *request);
void tier_free(struct tier *tier);

struct sandbox;
struct scheduler;
/* An adapter that requests may ask for. */
struct tier_adapter {
    const struct td_adapter *adapter;
    float scale; /* where the request names none */
    bool always; /* also for requests that say nothing of adapters */
};

struct tier_local_options {
    const struct td_model *model;
    struct scheduler *scheduler;
    const struct tier_adapter *adapters; /* [facts->adapter_count], named there */
    struct sandbox *sandbox; /* answers what is restricted; NULL = the engine here does */
};

/* The engine in this process. Borrows what the options name until tier_free; answers under way keep
 * their adapters. **returns new** (tier_free). */
TD_MUST_CHECK enum td_status tier_local_new(const struct tier_facts *facts,
                                            const struct tier_local_options *options,
                                            struct tier **out, struct td_error *err);

struct egress_log;
struct secret;
struct tier_openai_options {
    /* "https://api.example.com/v1"; plain http only to loopback unless allow_http */
    const char *base_url;
    const struct secret *api_key; /* borrowed until tier_free; NULL = none */
    bool allow_http;
    const char *ca_file;         /* NULL = the system's */
    const char *pinned_key;      /* NULL = any; as in net/client.h */
    uint32_t connect_timeout_ms; /* 5000 */
    uint32_t first_timeout_ms;   /* to the first byte of the answer: 20000 */
    uint32_t idle_timeout_ms;    /* between bytes: 15000 */
    uint32_t total_timeout_ms;   /* 0 = none */
    uint32_t pad_bytes;          /* bodies are padded to a multiple of it; 0 = not */
    struct egress_log *egress;   /* borrowed until tier_free; NULL = no record */
};
TD_MUST_CHECK enum td_status tier_openai_new(const struct tier_facts *facts,
                                             const struct tier_openai_options *options,
                                             struct tier **out, struct td_error *err);

/* Passive health: after 3 failures in a row a tier rests for 1 s, doubling to 30 s; a success
 * clears. Thread-safe. now_ms is monotonic. */
struct tier_health;
struct tier_health *tier_health_new(size_t tier_count);
void tier_health_free(struct tier_health *health);
bool tier_health_usable(struct tier_health *health, size_t tier_index, uint64_t now_ms);
void tier_health_report(struct tier_health *health, size_t tier_index, bool ok, uint64_t now_ms);

/* How long the tiers took lately: to the first text and to the whole answer. A measurement counts half after five minutes; with
 * fewer than five left nothing is known, so that a tier that nobody asks any more gets another chance. Thread-safe. now_ms is
 * monotonic. */
struct tier_latency;
struct tier_latency *
tier_latency_new(size_t tier_count); /* **returns new** (tier_latency_free), or NULL */
void tier_latency_free(struct tier_latency *latency);
void tier_latency_add(struct tier_latency *latency, size_t tier_index, double ttft_ms,
                      double total_ms, uint64_t now_ms);
/* Of an attempt that was given up before its first text: it would have taken so long at least. */
void tier_latency_add_wait(struct tier_latency *latency, size_t tier_index, double waited_ms,
                           uint64_t now_ms);
/* A time to the first text that a share q of the measured ones does not exceed; 0 = not known. */
double tier_latency_ttft(struct tier_latency *latency, size_t tier_index, double q,
                         uint64_t now_ms);
/* Fills ttft_p95_ms, total_p50_ms and total_p95_ms; 0 = not known. */
void tier_latency_read(struct tier_latency *latency, size_t tier_index, uint64_t now_ms,
                       struct tier_state *out);
/* What is known of one tier becomes known of another one of `to`. */
void tier_latency_copy(struct tier_latency *from, size_t from_index, struct tier_latency *to,
                       size_t to_index);

#endif
