/* One attempt at a server, between the files that make its request (openai_prepare.c) and carry it
 * out (openai.c). */
#ifndef TIER_OPENAI_ATTEMPT_H
#define TIER_OPENAI_ATTEMPT_H

#include "tier/openai/openai.h"
#include "tier/openai/openai_extras.h"
#include "tier/openai/openai_wire.h"

enum pending { PENDING_NOTHING, PENDING_LOOK, PENDING_RETRY, PENDING_FINISH, PENDING_FREE };

struct tier_attempt {
    struct openai *tier;
    struct loop *loop;
    struct tier_sink sink;
    struct client_transfer *transfer;
    struct loop_timer *timer;
    enum pending pending;    /* what the timer does next */
    struct tier_facts facts; /* the tier's, with the model that is asked for */
    struct buf body;         /* while it is made */
    struct client_body
        *sent; /* the body, as it is sent; NULL before, and when it cannot be repeated */
    size_t body_bytes;
    struct buf chat; /* of another dialect: the chat that the body was made of */
    struct openai_stream stream;
    char *own_url; /* of a further model, where the address names the model; NULL = the tier's */
    struct buf refusal;  /* the first bytes of an error response */
    size_t key;          /* of the tier's keys, that it is sent with */
    uint64_t keys_tried; /* bit n: key n was refused for this request */
    int http_status;
    uint64_t retry_after_ms; /* UINT64_MAX = none from the peer */
    uint32_t retry_count, prompt_estimate;
    uint32_t limit; /* on completion tokens, that the server was told; 0 = none */
    uint64_t egress_bytes;
    double start_ms, first_ms, connect_ms; /* connect_ms: when connecting began */
    uint64_t connected_ms;
    enum tier_reach reach;
    struct td_error err;         /* the result for PENDING_FINISH */
    struct tier_refusal refused; /* what it means when the server refused the request */
    bool completion;             /* a completion of a text, not a chat */
    const struct td_str *stops;  /* [stop_count], of the request; borrowed */
    size_t stop_count;
    bool media; /* the prompt has images or files */
    enum logprob_kind kind;
    bool asks_logprobs;    /* for us; the client did not */
    bool refused_logprobs; /* it did, and the server would not answer that */
    unsigned extras;       /* of enum openai_extra, that the body has; without log-probabilities */
    unsigned extras_refused;
    bool connecting; /* health knows that it waits for a connection */
    bool passed_on;  /* the sink has a piece of the answer */
    bool captive;    /* what came is not the server's (portal.h), unless it can be read */
    bool too_large;  /* more came than is read of an answer */
    bool in_callback, dead;
};

/* The body goes back to where it can be changed. */
void openai_reopen_body(struct tier_attempt *attempt);
/* Makes the body and the address of a request. */
TD_MUST_CHECK enum td_status openai_prepare(struct tier_attempt *attempt,
                                            const struct td_request *request, struct td_error *err);
/* Not one of the tier's further models. */
bool openai_is_tiers_model(const struct tier_attempt *attempt);
/* Of enum openai_extra, those that the server has refused the request for; 0 = none. */
unsigned openai_prepare_refused(const struct tier_attempt *attempt);
/* Makes the request a step more what the client made it; false when it cannot be. */
bool openai_prepare_without(struct tier_attempt *attempt, unsigned extras);

#endif
