/* The deadline of a call that is no exchange: the sooner of the server's limit, the request's own
 * headers, and the moment when the client hangs up. One loop's thread. */
#ifndef API_CALL_DEADLINE_H
#define API_CALL_DEADLINE_H

#include "api/http/api_internal.h"
#include "api/http/fault.h"
#include "base/thread/loop.h"

struct call_deadline {
    struct loop_timer *timer; /* NULL = there is none */
    uint32_t ms;              /* since it was started; 0 = none */
};

/* server_ms: the server's limit, 0 = none. on_passed may end the call. False with the fault. */
bool call_deadline_start(struct call_deadline *deadline, struct api *api, struct http_request *http,
                         uint32_t server_ms, void (*on_passed)(void *ctx), void *ctx,
                         struct fault *fault);
/* TD_TIMEOUT and its words. */
enum td_status call_deadline_passed(const struct call_deadline *deadline, struct td_error *err);
void call_deadline_stop(struct call_deadline *deadline, struct api *api);

#endif
