/* Whether a server gives the log-probabilities that gates judge by. No list of servers says it
 * rightly for long, so it is found out with the first answer that was asked for them, and kept for
 * the tier's model. Chats, chats with tools and completions are known apart: llama.cpp's server
 * gives log-probabilities to the first and refuses them to the second. Thread-safe. */
#ifndef TIER_LOGPROB_SUPPORT_H
#define TIER_LOGPROB_SUPPORT_H

#include "request/request.h"

#include <stdatomic.h>

enum logprob_kind { LOGPROB_CHAT, LOGPROB_TOOLS, LOGPROB_COMPLETION, LOGPROB_KIND_COUNT };

struct logprob_support {
    /* 0: not known; 1: given; else not asked for until then (ms, monotonic). */
    _Atomic uint64_t state[LOGPROB_KIND_COUNT];
};

enum logprob_kind logprob_kind_of(const struct td_request *request);
bool logprob_support_known(const struct logprob_support *support, enum logprob_kind kind);
/* Given, or not known yet. */
bool logprob_support_ask(const struct logprob_support *support, enum logprob_kind kind,
                         uint64_t now_ms);
/* An answer came that had been asked for them. */
void logprob_support_learn(struct logprob_support *support, enum logprob_kind kind, bool given,
                           uint64_t now_ms);
/* 1: given to the last chat that asked, -1: not given, 0: not known. */
int logprob_support_of_chats(const struct logprob_support *support);
void logprob_support_copy(struct logprob_support *to, const struct logprob_support *from);

#endif
