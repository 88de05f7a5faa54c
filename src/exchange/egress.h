/* What kind of data a request holds, before any of it leaves (tier/door.h). */
#ifndef EXCHANGE_EGRESS_H
#define EXCHANGE_EGRESS_H

#include "privacy/privacy.h"

/* The highest class that detectors find in anything of the request that a tier may be sent: the
 * messages, and every key, string and number of the body. counts: findings by kind, added to. */
enum td_data_class egress_classify(const struct td_request *request,
                                   uint32_t counts[static PRIVACY_KIND_COUNT]);

/* Names the conversation that a request continues: who asks (caller and user), and how it
 * began. */
uint64_t egress_conversation_key(const struct td_request *request);

#endif
