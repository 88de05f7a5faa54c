/* The state of the machine's battery and network, from sysfs, read at most every two seconds.
 * Thread-safe. */
#ifndef BASE_DEVICE_H
#define BASE_DEVICE_H

#include "base/names.h"

struct device;
struct clock;

struct device_state {
    double battery;  /* percent, of the emptiest one; NAN = none or unknown */
    bool on_battery; /* a battery is discharging */
    /* Offline: the machine has interfaces other than the loopback, but none is up. Unknown: it has
     * no others (a container), or nothing can be read. Metered networks cannot be recognised
     * here. */
    enum td_network network;
};

/* root: the folder with `class/power_supply` and `class/net`, which is "/sys" on a real machine;
 * copied. clock NULL = the system's. **returns new** (device_free), or NULL. */
struct device *device_new(const char *root, const struct clock *clock);
void device_free(struct device *device);
void device_read(struct device *device, struct device_state *out);

#endif
