/* Which processors this process may use, which of them are the fast ones, and how many threads of
 * computing fit. Read once at a start: affinity and quotas that change later are not noticed.
 * Linux: /sys and /proc below `root`, which is "" outside tests. */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>

#include "tandem/types.h"

struct cores {
    uint32_t usable; /* processors in the affinity mask, at least 1 */
    uint32_t fast;   /* of them, those that are not much slower than the fastest; at least 1 */
    cpu_set_t fast_set;
    double quota; /* processors' worth of time that the control groups allow; 0 = no limit */
};

/* allowed: the affinity mask; NULL = the calling thread's. Never fails: what cannot be read is no
 * limit and no difference. */
void cores_read(const char *root, const cpu_set_t *allowed, struct cores *out);

/* The threads to compute with when nobody said how many: the fast cores, as far as the quota
 * goes. */
uint32_t cores_thread_count(const struct cores *cores);

#endif
