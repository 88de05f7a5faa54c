/* The confined worker as the server sees it: a process of the same program that has the local
 * engine and no way to the network (base/machine/confine.h). It answers requests whose data must
 * not leave the machine.
 *
 * The worker is started with the first request that needs it, and again after it has ended. One
 * socket pair leads to it. Each request is handed over as two open files: a sealed memory file with
 * the request, and a pipe for the answer. So requests wait for nothing but the worker's engine, and
 * closing the pipe cancels a request. The answer is a sequence of frames in the pipe, which are
 * checked as if an enemy had sent them (sandbox_wire.h).
 *
 * Rejected: a process per request (each would open the model), and one stream for all requests (it
 * needs a lock, a queue and two more threads). */
#ifndef TIER_SANDBOX_H
#define TIER_SANDBOX_H

#include "engine/embedding/embedding_service.h"
#include "request/request.h"
#include "tier/tier.h"

struct sandbox;
struct sandbox_call;

/* arguments: argv[1] and on of the program, NULL-terminated; config: what the worker finds at
 * SANDBOX_CONFIG_PATH; both copied. **returns new** (sandbox_free); NULL without memory. */
struct sandbox *sandbox_new(const char *const *arguments, struct td_str config);
/* Ends the worker. No call may be running any more. Accepts NULL. */
void sandbox_free(struct sandbox *sandbox);
/* After this, the next request gets a new worker, and the old one ends after its last answer. Any
 * thread. */
void sandbox_renew(struct sandbox *sandbox);
/* The same with other arguments, as in sandbox_new. TD_NO_MEMORY: nothing has changed. */
TD_MUST_CHECK enum td_status sandbox_replace(struct sandbox *sandbox, const char *const *arguments,
                                             struct td_str config, struct td_error *err);

/* Lets the worker's tier of that name answer. Any loop; the callbacks come from that loop, as for
 * tier_start. TD_UNAVAILABLE with the reason when no worker can be had. The caller must then
 * refuse: no other tier may answer in its place. */
TD_MUST_CHECK enum td_status sandbox_start(struct sandbox *sandbox, const char *tier,
                                           struct loop *loop, const struct td_request *request,
                                           const struct tier_sink *sink, struct sandbox_call **out,
                                           struct td_error *err);
/* Lets the worker compute vectors of `vector_size` numbers; on_done comes from request->loop. */
TD_MUST_CHECK enum td_status sandbox_embed(struct sandbox *sandbox,
                                           const struct embedding_request *request,
                                           size_t vector_size, struct sandbox_call **out,
                                           struct td_error *err);
/* Whether only the worker may read data of this class: contractual and restricted data, and any
 * class outside the enum. */
bool sandbox_is_for(enum td_data_class data_class);
/* Allowed inside on_piece and from the loop, but not inside on_done. */
void sandbox_cancel(struct sandbox_call *call);

/* The worker's side: takes the two files of the next request from the control socket. False when
 * there is none yet; *ended: there will be none. */
bool sandbox_receive(int control, int *request_fd, int *answer_fd, bool *ended);

/* The descriptor of the control socket in the worker. */
#define SANDBOX_CONTROL_FD 3
/* The configuration in force, in a file of memory: the one on disk may be half written by now. */
#define SANDBOX_CONFIG_FD 4
#define SANDBOX_CONFIG_PATH "/proc/self/fd/4"

#endif
