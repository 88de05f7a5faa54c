/* xoshiro256** as its authors published it (prng.di.unimi.it). Fast and seedable: a seed gives the
 * same numbers on every machine, which answers with a fixed seed depend on. */
#include "base/crypto/rng.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"

#include <sys/random.h>

/* Fills the state by splitmix64, as the authors of xoshiro advise: no seed gives the all-zero
 * state, which is invalid. */
void rng_init(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        rng->state[i] = hash_mix64(seed);
    }
}

enum td_status rng_system_seed(uint64_t *seed, struct td_error *err)
{
    if (getrandom(seed, sizeof *seed, 0) != (ssize_t)sizeof *seed)
        return error_set(err, TD_IO, "the system gives no random numbers");
    return TD_OK;
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_double(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    ASSERT(bound > 0);
    uint64_t skip = (0 - bound) % bound,
             x; /* the first 2^64 mod bound values would come more often: draw again */
    do
        x = rng_u64(rng);
    while (x < skip);
    return x % bound;
}
