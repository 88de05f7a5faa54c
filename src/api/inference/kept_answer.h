/* An answer that is kept (history/history.h): put when it is whole, or when it begins in the
 * background, and then ended or cancelled. It belongs to one chat; one loop's thread. */
#ifndef API_KEPT_ANSWER_H
#define API_KEPT_ANSWER_H

#include "api/dialects/dialect.h"
#include "base/thread/loop.h"

struct kept_answer {
    struct history *history; /* NULL = nothing is kept */
    const struct dialect *dialect;
    const struct dialect_reply *reply;
    size_t bytes_max; /* of an answer */
};

/* Puts a response that is not complete, for clients to ask for; its body is appended to `body`,
 * too. False with the fault. */
bool kept_answer_begin(const struct kept_answer *kept, struct buf *body, struct fault *fault);
/* The answer of a running one as it stands: whole, but not final. */
void kept_answer_update(const struct kept_answer *kept, const struct exchange_summary *summary);
/* Puts the answer, and adds it to its conversation; fault: why there is none. */
void kept_answer_end(const struct kept_answer *kept, const struct exchange_summary *summary,
                     const struct fault *fault);
/* Until what was put is found on all nodes (history_wait). */
struct history_wait *kept_answer_wait(const struct kept_answer *kept, struct loop *loop,
                                      void (*fn)(void *ctx), void *ctx);
/* Whether one in the background is still wanted. */
bool kept_answer_is_wanted(const struct kept_answer *kept);

#endif
