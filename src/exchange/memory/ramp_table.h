/* The ramps of all routes: who is taken, what was judged, and what it came to.
 *
 * When a ramp advances or stops is decided by router/watch/ramp_statistics.h. A user is taken by a
 * keyed hash of its name, tenant and route, and a caller without a user by how its conversation
 * begins. So each stays where it is until the share changes, also after a restart. The states lie
 * in one file, which is written after a step, a stop and some judgements, and at the end.
 *
 * One for the process, shared by all loops; any thread. */
#ifndef EXCHANGE_RAMP_TABLE_H
#define EXCHANGE_RAMP_TABLE_H

#include "base/crypto/keyed.h"
#include "base/time/clock.h"
#include "request/request.h"
#include "router/plan/policy.h"

#define RAMP_NAME_BYTES 65

struct ramp_table;
struct watch;

struct ramp_table_options {
    const char *path;             /* NULL: in memory alone */
    uint8_t key[KEYED_KEY_BYTES]; /* of the installation */
    const struct clock *clock;    /* NULL = the system's */
    struct watch *watch;          /* told of stops; or NULL; borrowed until ramp_table_close */
};

/* **returns new** (ramp_table_close, which writes what is not written). TD_CORRUPT: the file is
 * something else. */
TD_MUST_CHECK enum td_status ramp_table_open(const struct ramp_table_options *options,
                                             struct ramp_table **out, struct td_error *err);
void ramp_table_close(struct ramp_table *ramps);

/* The policy in force from now on. A ramp that is as it was goes on; one that is new or was changed
 * begins at its first step. */
void ramp_table_set_policy(struct ramp_table *ramps, const struct policy *policy);

/* Before the plan: may the candidate have it? Off when the route has no ramp, or one of another
 * policy than that in force. */
void ramp_table_read(struct ramp_table *ramps, const struct route *route,
                     const struct td_request *request, struct ramp_signal *out);
/* route: with the ramp that took the exchange or did not. What belongs to another policy than that
 * in force is not counted. */
void ramp_table_judge(struct ramp_table *ramps, const struct route *route,
                      enum ramp_evidence evidence, bool candidate, double loss);
/* Somebody judged an exchange of that route. It counts when the ramp still leads to that tier, and
 * had come to its step before the exchange. Of several judgements of one exchange the first counts,
 * so that nobody stops a ramp by repeating them; the latest RAMP_HEARD_MAX exchanges are known. */
#define RAMP_HEARD_MAX 256
struct ramp_judged {
    const char *exchange, *to; /* its id, and its ramp's candidate */
    uint64_t wall_ms;
    bool candidate; /* it was taken */
    double loss;
};
void ramp_table_judge_feedback(struct ramp_table *ramps, const struct policy *policy,
                               const char *route, const struct ramp_judged *judged);
/* From the first step again. TD_NOT_FOUND: no such ramp. TD_IO: done, but not written. */
TD_MUST_CHECK enum td_status ramp_table_restart(struct ramp_table *ramps, const char *route,
                                                struct td_error *err);

struct ramp_view {
    char route[RAMP_NAME_BYTES], to[RAMP_NAME_BYTES];
    double percent;
    uint32_t step, step_count;
    bool stopped;
    enum ramp_evidence cause; /* stopped: why */
    double cause_loss;
    uint64_t changed_wall_ms; /* when it came to this step, or stopped */
    struct {
        uint32_t judged; /* in this step */
        double loss;     /* mean; NAN before any */
    } evidence[RAMP_EVIDENCE_COUNT];
};
/* Returns how many there are; writes at most `capacity`. */
size_t ramp_table_list(struct ramp_table *ramps, struct ramp_view *out, size_t capacity);

#endif
