/* Tells addresses of the operator's about events, signed as Standard Webhooks says
 * (https://www.standardwebhooks.com): the headers webhook-id, webhook-timestamp and
 * webhook-signature, "v1," and the HMAC-SHA-256 of "ID.TIMESTAMP.BODY" in base64.
 *
 * A thread with a loop of its own sends. A receiver that hangs or is away holds nobody up: an event
 * is tried five times within some 90 seconds and then dropped and counted. Nothing is kept over a
 * restart, so whatever is told here must be readable elsewhere, too. A message says what happened
 * and to which id; texts of users do not belong into it. No redirect is followed, no proxy is
 * asked, and an address that is not public is refused when it is connected to, whatever its name
 * is. Any thread may call webhook_send and webhooks_read. */
#ifndef NET_WEBHOOK_H
#define NET_WEBHOOK_H

#include "base/crypto/secret.h"
#include "tandem/types.h"

#define WEBHOOKS_MAX 8
#define WEBHOOK_DATA_BYTES_MAX (32 * 1024)

struct webhooks;

struct webhook_target {
    const char *name;
    const char *url;             /* https; http only with allow_private */
    const struct secret *secret; /* "whsec_BASE64", or any text that is itself the key */
    /* Names of events, or "review.*"; [event_count]. None = all. */
    const char *const *events;
    size_t event_count;
    bool allow_private; /* it may lie on this machine or in a network of its own */
};

struct webhook_counts {
    uint64_t sent, dropped; /* events times receivers */
    uint64_t failures;      /* of transfers, also those that were repeated */
};

/* Whether the address names this machine, or says in numbers that it lies in a network of
 * somebody's own: that can be known before anything runs. What a name leads to is known when it
 * is connected to. */
bool webhook_is_private(const char *url);

/* TD_INVALID: an address or a secret that is none. For configurations, before anything runs. */
TD_MUST_CHECK enum td_status webhook_check_url(const char *url, bool allow_private,
                                               struct td_error *err);

/* Whether the name of an event, or a beginning of names with a star after it, means the event. */
bool webhook_takes(const char *pattern, const char *event);

/* Copies the targets, at most WEBHOOKS_MAX. **returns new** (webhooks_free). */
TD_MUST_CHECK enum td_status webhooks_new(const struct webhook_target *targets, size_t count,
                                          struct webhooks **out, struct td_error *err);
/* Sends what is there, for two seconds at most. Accepts NULL. */
void webhooks_free(struct webhooks *webhooks);

/* Queues {"type": event, "timestamp": now, "data": data} for each target that takes the event.
 * data: a JSON object, at most WEBHOOK_DATA_BYTES_MAX; copied. False: it was dropped, because there
 * is no room. Accepts NULL, as nobody who would have to be told. */
bool webhook_send(struct webhooks *webhooks, const char *event, struct td_str data);

void webhooks_read(struct webhooks *webhooks, struct webhook_counts *out);

/* The value of webhook-signature. TD_INVALID: no key can be made of the secret. */
#define WEBHOOK_SIGNATURE_BYTES 52
TD_MUST_CHECK enum td_status webhook_sign(struct td_str secret, struct td_str signed_text,
                                          char out[static WEBHOOK_SIGNATURE_BYTES],
                                          struct td_error *err);

#endif
