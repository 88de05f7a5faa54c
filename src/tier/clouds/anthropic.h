/* Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages) as a dialect of a
 * tier: the request that says what a chat says, and the events of its answer. The other direction,
 * for clients that speak it, is api/dialects/messages/. */
#ifndef TIER_ANTHROPIC_H
#define TIER_ANTHROPIC_H

#include "tier/clouds/cloud_parts.h"

/* As tier_dialect.write_body. */
enum td_status anthropic_write_body(const struct json *chat, const struct dialect_ask *ask,
                                    struct buf *out, struct td_error *err);

/* Where the reading of a stream stands. */
struct anthropic_reading {
    bool open; /* a content block, of that index */
    int64_t index;
    struct cloud_call call;
    int64_t prompt, cache_read, cache_written, answer; /* tokens, as told so far */
};
/* As tier_dialect.read; state is a struct anthropic_reading. */
void anthropic_read(void *state, struct td_str name, const struct json *event,
                    const struct dialect_out *out);

/* How a model of Anthropic's is told to think, for a chat's effort: `thinking` and `output_config`
 * into `to`. Gives the tokens that thinking may take, 0 where that is not said. */
int64_t anthropic_put_thinking(const struct json *chat, const struct dialect_ask *ask,
                               struct json *to);

#endif
