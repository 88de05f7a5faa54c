/* Random numbers from a seed: xoshiro256** (Blackman, Vigna 2018). Not for secrets: use crypto.h
 * there. One owner; not thread-safe. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "tandem/types.h"

struct rng {
    uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed);
/* A fresh seed from the kernel. TD_IO when there is none. */
TD_MUST_CHECK enum td_status rng_system_seed(uint64_t *seed, struct td_error *err);
uint64_t rng_u64(struct rng *rng);
double rng_double(struct rng *rng);                  /* [0, 1) */
uint64_t rng_below(struct rng *rng, uint64_t bound); /* [0, bound), unbiased; bound > 0 */

#endif
