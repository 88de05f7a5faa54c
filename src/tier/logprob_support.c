#include "tier/logprob_support.h"

#include "base/core/assertion.h"

enum { NOT_KNOWN = 0, GIVEN = 1 };

/* Servers are updated and models exchanged behind a name, so a server without log-probabilities is
 * asked again. At worst that is one more request an hour. */
#define ASK_AGAIN_MS (60 * 60 * UINT64_C(1000))

enum logprob_kind logprob_kind_of(const struct td_request *request)
{
    if (request->completion)
        return LOGPROB_COMPLETION;
    return request->tool_count > 0 || request->old_functions ? LOGPROB_TOOLS : LOGPROB_CHAT;
}

bool logprob_support_known(const struct logprob_support *support, enum logprob_kind kind)
{
    ASSERT(support && kind < LOGPROB_KIND_COUNT);
    return atomic_load(&support->state[kind]) != NOT_KNOWN;
}

bool logprob_support_ask(const struct logprob_support *support, enum logprob_kind kind,
                         uint64_t now_ms)
{
    ASSERT(support && kind < LOGPROB_KIND_COUNT);
    uint64_t state = atomic_load(&support->state[kind]);
    return state <= GIVEN || now_ms >= state;
}

void logprob_support_learn(struct logprob_support *support, enum logprob_kind kind, bool given,
                           uint64_t now_ms)
{
    ASSERT(support && kind < LOGPROB_KIND_COUNT);
    uint64_t state = given ? (uint64_t)GIVEN : now_ms + ASK_AGAIN_MS;
    if (atomic_load(&support->state[kind]) != state) /* each token tells the same */
        atomic_store(&support->state[kind], state);
}

int logprob_support_of_chats(const struct logprob_support *support)
{
    uint64_t state = atomic_load(&support->state[LOGPROB_CHAT]);
    return state == NOT_KNOWN ? 0 : state == GIVEN ? 1 : -1;
}

void logprob_support_copy(struct logprob_support *to, const struct logprob_support *from)
{
    for (int kind = 0; kind < LOGPROB_KIND_COUNT; kind++)
        atomic_store(&to->state[kind], atomic_load(&from->state[kind]));
}
