/* The headers that a server is sent, and its key. They hold the key: initialise and wipe them
 * around the call that copies them. */
#ifndef TIER_OPENAI_HEADERS_H
#define TIER_OPENAI_HEADERS_H

#include "base/bytes/buf.h"
#include "tier/tier.h"

struct egress_pass;
struct secret;
struct tier_server;

/* Ours, those of tracing, of the kind and of a signature, the key and the end. */
#define OPENAI_HEADERS_MAX (16 + TIER_HEADERS_MAX)
struct openai_headers {
    const char *list[OPENAI_HEADERS_MAX]; /* NULL-terminated */
    size_t count;
    struct buf text; /* those that are made here, with a zero byte after each */
};

struct openai_header_source {
    const struct tier_server *server;
    const struct secret *key;          /* NULL = none */
    const char *method, *url, *region; /* of a kind that signs; region NULL = the address says it */
    struct td_str body;
    const struct tier_header *extra; /* [extra_count] */
    size_t extra_count;
};

/* For a body, or for a GET. pass: NULL = none. try_number tells repetitions apart. False without
 * memory; it is to be wiped then, too. */
bool openai_headers_init(struct openai_headers *headers, const struct openai_header_source *source,
                         bool body, const struct egress_pass *pass, uint32_t try_number);
void openai_headers_wipe(struct openai_headers *headers);

/* Whether a key can be sent in a header: with a line break it would add headers of its own. lines:
 * it is several texts, a line each, of which none is sent with its break. */
bool openai_key_is_clean(const struct secret *key, bool lines);
/* The same of any header's value, which may have spaces. */
bool openai_header_is_clean(const struct secret *value);
/* Whether an operator may set a header of that name. What the connection, the body and the key
 * need is set here. */
bool openai_header_may_be_set(const char *name);
/* Hides the key's lines. */
void openai_hide_key(const struct secret *key, char *message);
/* Hides the key, or the server's own name, in a peer's message, which goes to the client: peers
 * repeat keys that they refuse. */
void openai_hide(struct td_str secret, char *message);

#endif
