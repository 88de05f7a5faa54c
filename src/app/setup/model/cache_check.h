/* Whether a model bears a KV cache of four bits. Some do not: a few channels of their keys are so
 * large that the others vanish beside them. So before such a cache is used the model reads a text
 * with it and with a cache in F16, and the predictions are compared. The result is kept in the
 * state folder, caches/DIGEST.json, DIGEST being that of what identifies the model. No state; any
 * thread. */
#ifndef APP_CACHE_CHECK_H
#define APP_CACHE_CHECK_H

#include "router/judge/confidence_model.h"
#include "tandem/engine.h"

/* Mean divergence in nats a token above which a cache is not used. Weights of four bits cost about
 * as much; a model that does not bear the cache has ten times more. */
#define CACHE_KLD_MAX 0.05
#define CACHE_DAY_BYTES 11 /* "2026-11-27" */

struct cache_verdict {
    enum td_kv_type used; /* instead of the one that is wanted, or that one */
    double kld;           /* of the wanted one, nats a token; NAN = an evaluation has decided */
    char day[CACHE_DAY_BYTES];
};

/* Has keys or values of four bits. */
bool cache_check_is_needed(enum td_kv_type wanted);

/* What is known of the model and the type; state_dir may be NULL. */
bool cache_check_find(const char *state_dir, const struct confidence_binding *identity,
                      enum td_kv_type wanted, struct cache_verdict *out);

/* An evaluation of this cache passed or was refused; its word stands until the next one. */
TD_MUST_CHECK enum td_status cache_check_decide(const char *state_dir,
                                                const struct confidence_binding *identity,
                                                enum td_kv_type wanted, bool passed,
                                                struct td_error *err);

/* The type to use: as it is known, or else measured and kept, which takes two passes over some
 * hundred tokens. The first of these that costs little: the wanted one, the same with keys in Q8_0,
 * and Q8_0 instead of all Q4_0. What is measured and what is not used is logged. */
enum td_kv_type cache_check_choose(const struct td_model *model,
                                   const struct confidence_binding *identity, const char *state_dir,
                                   enum td_kv_type wanted, uint32_t thread_count);

#endif
