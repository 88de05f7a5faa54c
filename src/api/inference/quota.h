/* The limits of a key and its tenant, before a model is asked: requests and tokens a minute, and
 * budgets (exchange/limits/meter.h). One loop's thread. */
#ifndef API_QUOTA_H
#define API_QUOTA_H

#include "api/http/access.h"
#include "exchange/limits/meter.h"

/* Tokens of `bytes` of a request, before anybody has counted them. */
uint32_t quota_guess_tokens(size_t bytes);

/* Lets a request of api->who in, with headers that say what is left of its limits; false with the
 * fault. The hold is to be settled (meters_leave). */
bool quota_enter(struct api *api, struct http_request *http, uint32_t prompt_tokens,
                 uint32_t answer_tokens, struct meter_hold *hold, struct fault *fault);
/* The same for a chat or completion: td gets who asks and from where, what its key may do, and the
 * hold. count: as many answers at once. */
bool quota_enter_request(struct api *api, struct http_request *http, uint32_t count,
                         struct arena *arena, struct td_request *td, struct fault *fault);
/* Whether the key of api->who may ask for what has this name; false with the fault. */
bool quota_may_name(struct api *api, const char *model, struct fault *fault);

/* Whether the terms of that key let this tier see data of this class; false with the fault. For
 * what is answered without a plan, which looks at them itself. */
bool quota_may_use(struct api *api, const char *tier, enum td_data_class data_class,
                   struct fault *fault);

#endif
