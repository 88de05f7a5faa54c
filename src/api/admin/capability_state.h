/* What a server can do at this moment, what it cannot although it is configured for it, and why.
 * One loop's thread. */
#ifndef API_CAPABILITY_STATE_H
#define API_CAPABILITY_STATE_H

#include "api/http/api_internal.h"
#include "exchange/machine/exchange.h"

struct json;

#define CAPABILITY_FEATURES_MAX 16

/* Bit n of `available`: the feature of that number is there now; of `configured`: some tier brings
 * it. tiers: bit n: tier n is up. */
struct capability_state {
    uint32_t configured, available, tiers;
    enum td_network network;
};

void capability_state_read(const struct exchange_services *services, struct capability_state *out);
/* Puts "network", "complete", "features" and "missing" into the object. */
void capability_state_put(const struct exchange_services *services,
                          const struct capability_state *state, struct json *object);
/* **returns new** list of the names of the features in the bits. */
struct json *capability_names(uint32_t bits);
/* **returns new**: the device as the last look saw it; docs/device.md. */
struct json *capability_device(struct device *device);

#endif
