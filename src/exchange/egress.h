/* What leaves the device, and what kind of data a request holds. */
#ifndef EXCHANGE_EGRESS_H
#define EXCHANGE_EGRESS_H

#include "privacy/privacy.h"

/* The door that every byte for a tier passes: may data of this class go to this place? Fails
 * closed: a class or place outside its enum is refused, but for the device itself. */
bool egress_allowed(enum td_data_class data_class, enum td_place place);

/* The highest class that detectors find in anything of the request that a tier may be sent: the
 * messages, and every key, string and number of the body. counts: findings by kind, added to. */
enum td_data_class egress_classify(const struct td_request *request,
                                   uint32_t counts[static PRIVACY_KIND_COUNT]);

/* Names the conversation that a request continues: who asks (caller and user), and how it
 * began. */
uint64_t egress_conversation_key(const struct td_request *request);

#endif
