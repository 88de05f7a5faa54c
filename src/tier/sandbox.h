/* The confined worker as the server sees it: a process of the same program that has the local engine,
 * and no way to the network (base/confine.h). What must not leave is answered there.
 *
 * It is started with the first request that needs it, and again when it has ended. One socket pair
 * leads to it, over which each request is handed as two open files: a sealed memory file with the
 * request, and a pipe for the answer. So requests wait for nothing but the worker's engine, and a
 * request is cancelled by closing its pipe. Nothing comes back but frames in that pipe, checked as if
 * an enemy sent them (sandbox_wire.h).
 *
 * Rejected: a process a request (each would open the model), one stream for all requests (a lock, a
 * queue and two threads more). */
#ifndef TIER_SANDBOX_H
#define TIER_SANDBOX_H

#include "engine/embedding/embedding_service.h"
#include "request/request.h"
#include "tier/tier.h"

struct sandbox;
struct sandbox_call;

/* arguments: of the program (argv[1] on, NULL-terminated), copied. **returns new** (sandbox_free), NULL
 * without memory. */
struct sandbox *sandbox_new(const char *const *arguments);
/* Ends the worker; no call runs any more. Accepts NULL. */
void sandbox_free(struct sandbox *sandbox);
/* The next request gets a new worker (which reads the configuration anew); the one there is ends when
 * its requests have. Any thread. */
void sandbox_renew(struct sandbox *sandbox);

/* Has the worker's tier of that name answer. Any loop; callbacks as tier_start's, from that loop.
 * TD_UNAVAILABLE: there is no worker to be had, with the reason: nothing is answered in its place. */
TD_MUST_CHECK enum td_status sandbox_start(struct sandbox *sandbox, const char *tier,
                                           struct loop *loop, const struct td_request *request,
                                           const struct tier_sink *sink, struct sandbox_call **out,
                                           struct td_error *err);
/* Has the worker make the vectors of `vector_size` numbers; on_done comes from request->loop. */
TD_MUST_CHECK enum td_status sandbox_embed(struct sandbox *sandbox,
                                           const struct embedding_request *request,
                                           size_t vector_size, struct sandbox_call **out,
                                           struct td_error *err);
/* May data of this class be read by nothing but the worker? Contractual and restricted data, and what is
 * outside the enum. */
bool sandbox_is_for(enum td_data_class data_class);
/* From inside on_piece or from the loop, not from inside on_done. */
void sandbox_cancel(struct sandbox_call *call);

/* The worker's end: takes the two files of the next request from the control socket. False: there is
 * none yet. *ended: there will be none. */
bool sandbox_receive(int control, int *request_fd, int *answer_fd, bool *ended);

/* The descriptor of the control socket in the worker. */
#define SANDBOX_CONTROL_FD 3

#endif
