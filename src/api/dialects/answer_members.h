/* Members of a chat's answer in other dialects. Reasoning has a form in each. What has none stands
 * beside the answer under the chat's names:
 *
 *   "chat": {"message": {...}, "choice": {...}, "answer": {...}}
 *
 * The same whether the answer is streamed: then it comes with the last event. No thread state. */
#ifndef API_ANSWER_MEMBERS_H
#define API_ANSWER_MEMBERS_H

#include "api/wire/openai_response.h"

/* The reasoning in a message or a delta, whatever its server calls it; "" = none. **borrows** */
struct td_str answer_members_reasoning(const struct json *message);
/* That of a whole answer. NULL without it. **returns new** (json_free) */
struct json *answer_members_reasoning_whole(const struct response_answer *answer);
/* What the dialect shows in forms of its own. */
struct answer_shown {
    bool reasoning, annotations, service_tier;
    bool thoughts; /* reasoning_details */
};
/* Appends `chat` after a comma, or nothing. */
void answer_members_write(const struct response_answer *answer, const struct answer_shown *shown,
                          struct buf *out);
/* Appends to a usage in the dialect's form what else is told of it, each after a comma. */
void answer_members_write_usage(const struct response_answer *answer,
                                const struct tier_usage *usage, struct buf *out);

#endif
