/* How much memory is left for this process, and how hard it presses: from /proc/meminfo, PSI
 * (/proc/pressure/memory) and the control groups in which the process is. One thread at a time. */
#ifndef DEVICE_MEMORY_STATE_H
#define DEVICE_MEMORY_STATE_H

#include "device/sysfs.h"

struct memory_state {
    bool known;
    uint64_t total_bytes; /* of the machine, or the control group's limit where that is less */
    uint64_t free_bytes;  /* what this process may still use (base/machine/memory_free.h) */
    /* Percent of the last ten seconds in which some, or all, tasks stood still for memory: of the
     * control group, and of the machine where it is the narrower one. NAN = unknown. */
    double some, full;
    double
        load; /* tasks that want a processor, of everybody: the mean of a minute; NAN = unknown */
};

void memory_state_read(struct sysfs *sysfs, struct memory_state *out);

#endif
