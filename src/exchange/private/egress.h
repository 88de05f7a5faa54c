/* What kind of data a request holds, before any of it leaves (tier/door.h). */
#ifndef EXCHANGE_EGRESS_H
#define EXCHANGE_EGRESS_H

#include "base/crypto.h"
#include "privacy/scan/tally.h"
#include "privacy/text/reading.h"
#include "request/request.h"

/* Everything of the request that a tier may be sent, as one reading: the conversation, and every
 * other key, string and number of its members with the member's name before it. The parts' sources
 * are the texts of the messages and members. Appends; without memory, or nested too deeply: it has
 * failed. */
void egress_read(const struct td_request *request, struct reading *reading);

struct privacy_scanner;
/* The highest class that the scanner finds in that; restricted without one. found: findings, added to. */
enum td_data_class egress_classify(const struct privacy_scanner *scanner,
                                   const struct td_request *request, struct privacy_tally *found);

/* Names the conversation that a request continues, for its class: the caller, and the first text of a user
 * less its white space. What a client may add or leave out later (a system message, a user's name, parts) does
 * not make it another. */
uint64_t egress_conversation_key(const struct td_request *request);
/* Names it for its values: by the user and the first system message too; a digest, which nobody can aim at. And
 * whose conversation it is. */
void egress_conversation_digest(const struct td_request *request,
                                uint8_t key[static CRYPTO_SHA256_BYTES],
                                uint8_t owner[static CRYPTO_SHA256_BYTES]);
/* Of a user, as egress_conversation_digest writes it. */
void egress_owner_digest(const char *user, uint8_t owner[static CRYPTO_SHA256_BYTES]);

#endif
