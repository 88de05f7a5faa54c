/* What a server says that an answer took. Money follows from it, so it is held against what can
 * have been: what was sent, what came and for how long, and what the request allowed. A usage that
 * cannot be true is refused with its reason, and an estimate takes its place. */
#ifndef TIER_OPENAI_USAGE_H
#define TIER_OPENAI_USAGE_H

#include "base/json/json.h"
#include "request/request.h"
#include "tier/tier.h"

/* Reads a `usage` that is there. Tokens of reasoning are part of the completion, also where a
 * server counts them beside it (its total then says so). */
struct tier_usage openai_usage_read(const struct json *usage);

/* The most tokens that a body for this tier allows the server to write; 0 = any number. */
uint32_t openai_usage_limit(const struct td_request *request, enum prefill prefill);

struct usage_evidence {
    uint64_t sent_bytes;            /* of the body */
    uint64_t text_bytes;            /* of the answer's text */
    uint64_t shown_bytes;           /* of all that came of it, calls and reasoning too */
    double took_ms;                 /* since it was asked */
    uint32_t limit, context_tokens; /* 0 = not known */
    bool media; /* the prompt has images or files, of which it may hold no more than an address */
};
/* Refuses a usage of which the evidence says that it cannot be true. */
void openai_usage_check(struct tier_usage *usage, const struct usage_evidence *evidence);

#endif
