/* What makes two requests the same, and which may be kept at all. Pure functions; any thread. */
#ifndef API_CACHE_KEY_H
#define API_CACHE_KEY_H

#include "base/crypto/crypto.h"
#include "tier/door.h"
#include "tier/tier.h"

/* Which answers are kept, in the order of the configuration's names. */
enum cache_answers {
    CACHE_ANSWERS_NONE,
    CACHE_ANSWERS_DETERMINISTIC, /* to requests whose sampling is not random, or that ask for it */
    CACHE_ANSWERS_ALL
};

/* What one attempt asks, and of whom. */
struct cache_question {
    const struct td_request *request; /* as sent: surrogates stand in the place of private values */
    const struct egress_pass *pass;
    const struct tier_facts *facts;
    const char *identity; /* policy, address and weights */
    bool judged;          /* numbers of the tokens are wanted */
};

/* Whether an answer to it may be looked for and kept. */
bool cache_key_may(const struct cache_question *question, enum cache_answers which);
/* False without memory, or when the request is nested too deeply. */
bool cache_key_of(const struct cache_question *question, uint8_t out[static CRYPTO_SHA256_BYTES]);

/* The question alone of a request: the text of its last message, in which a similar request may
 * differ. False: its answer is for nobody else. That is so where the message is not a plain text of
 * the user's, where anything was called, and where the form of the answer is fixed. */
bool cache_key_question(const struct td_request *request, struct td_str *out);
/* The key of all the rest of it. with: the model that compares the questions. */
bool cache_key_scope(const struct cache_question *question, const char *with,
                     uint8_t out[static CRYPTO_SHA256_BYTES]);

#endif
