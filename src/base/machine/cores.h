/* Which processors this process may use, which of them are fast, and how many computing threads
 * fit. Read once at the start; later changes of affinity and quotas are not noticed. Linux: /sys
 * and /proc below `root`, which is "" outside tests. Any thread. */
#ifndef BASE_CORES_H
#define BASE_CORES_H

#include <sched.h>

#include "tandem/types.h"

struct cores {
    uint32_t usable; /* processors in the affinity mask, at least 1 */
    uint32_t fast;   /* those of them that are not much slower than the fastest; at least 1 */
    cpu_set_t fast_set;
    double quota; /* processors that the control groups allow, in time; 0 = no limit */
};

/* allowed: the affinity mask; NULL = that of the calling thread. Never fails: a limit or difference
 * that cannot be read counts as none. */
void cores_read(const char *root, const cpu_set_t *allowed, struct cores *out);

/* The default number of computing threads: the fast cores, as far as the quota allows. */
uint32_t cores_thread_count(const struct cores *cores);

#endif
