/* The headers that a server with OpenAI's API is sent, and its key. The headers hold the key:
 * initialise and wipe them around the call that copies them. */
#ifndef TIER_OPENAI_HEADERS_H
#define TIER_OPENAI_HEADERS_H

#include "base/buf.h"

struct egress_pass;
struct secret;

#define OPENAI_HEADERS_MAX 8
struct openai_headers {
    const char *list[OPENAI_HEADERS_MAX]; /* NULL-terminated */
    struct buf authorization, tracing;
};

/* For a body, or for a GET. key, pass: NULL = none. try_number tells repetitions apart. False
 * without memory; it is to be wiped then, too. */
bool openai_headers_init(struct openai_headers *headers, const struct secret *key, bool body,
                         const struct egress_pass *pass, uint32_t try_number);
void openai_headers_wipe(struct openai_headers *headers);

/* Whether a key can be sent in a header: with a line break it would add headers of its own. */
bool openai_key_is_clean(const struct secret *key);
/* Hides the key, or the server's own name, in a peer's message, which goes to the client: peers
 * repeat keys that they refuse. */
void openai_hide(struct td_str secret, char *message);

#endif
