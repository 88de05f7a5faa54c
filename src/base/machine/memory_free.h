/* How much memory this process may still use. Linux: /proc and /sys below `root`, which is ""
 * outside tests. No state; any thread. */
#ifndef BASE_MEMORY_FREE_H
#define BASE_MEMORY_FREE_H

#include "tandem/types.h"

struct memory_free {
    /* Of main memory: what the machine has available, or what the control groups leave if that is
     * less. What only caches files counts as free. */
    uint64_t ram_bytes;
    const char *bound;    /* which of the two, for messages; static */
    uint64_t space_bytes; /* of address space (RLIMIT_AS); UINT64_MAX = no limit */
};

/* Never fails: a limit that cannot be read counts as none, and without any the machine's whole
 * memory is free. */
void memory_free_read(const char *root, struct memory_free *out);

#endif
