/* One HTTP request whose answer is waited for: for credentials, which a tier cannot do without, and
 * for a hub's lists of models. Not for data of users: it does not pass the door (tier/door.h). Any
 * thread; it blocks. */
#ifndef APP_FETCH_H
#define APP_FETCH_H

#include "base/bytes/buf.h"

#include <stdatomic.h>

struct fetch_ask {
    const char *method, *url;
    const char *const *headers; /* NULL-terminated; NULL = none */
    struct td_str body;
    bool direct;         /* a server of this machine or of its network: without a proxy, and http */
    const char *ca_file; /* NULL = the system's certificates */
    uint32_t connect_ms, total_ms;
    const atomic_bool *cancel; /* then TD_CANCELLED; NULL = not cancellable */
};

/* Appends the answer's body. *code: its status. TD_OK for any complete answer. */
TD_MUST_CHECK enum td_status fetch_now(const struct fetch_ask *ask, struct buf *answer, int *code,
                                       struct td_error *err);

#endif
