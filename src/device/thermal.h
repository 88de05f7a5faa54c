/* How hot the machine is and where its kernel begins to slow it, from /sys/class/thermal and
 * /sys/devices/system/cpu. No state; one thread at a time. */
#ifndef DEVICE_THERMAL_H
#define DEVICE_THERMAL_H

#include "device/sysfs.h"

struct thermal {
    bool known;    /* there is a zone with a temperature and a trip point */
    char zone[32]; /* type of the one that has the least left, "x86_pkg_temp" */
    double temperature_c;
    double wall_c;  /* where the kernel slows the machine */
    double clear_c; /* where it no longer does */
    bool throttled; /* it does so now */
    /* The lowest of the processors' limits of frequency, as a share of their highest one; 1 = none.
     * For people: an operator may have set it. */
    double frequency_share;
};

void thermal_read(struct sysfs *sysfs, struct thermal *out);

#endif
