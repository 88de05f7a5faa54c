/* Seedable random numbers: xoshiro256** (Blackman, Vigna 2018). Not for secrets (crypto.h is). */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "tandem/types.h"

struct rng {
    uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed);
/* A seed that nobody has used before, from the kernel. TD_IO when it gives none. */
TD_MUST_CHECK enum td_status rng_system_seed(uint64_t *seed, struct td_error *err);
uint64_t rng_u64(struct rng *rng);
double rng_double(struct rng *rng);                  /* [0, 1) */
uint64_t rng_below(struct rng *rng, uint64_t bound); /* [0, bound), unbiased; bound > 0 */

#endif
