/* What the machine says of its battery and its network, from sysfs, read at most every few seconds. Thread-safe. */
#ifndef BASE_DEVICE_H
#define BASE_DEVICE_H

#include "base/names.h"

struct device;
struct clock;

struct device_state {
    double battery;  /* percent of the least charged one; NAN = none, or not known */
    bool on_battery; /* one is being emptied */
    /* Offline: there are interfaces beside the loopback and none is up. Unknown: there are none (a container), or
     * nothing can be read. Metered cannot be seen there. */
    enum td_network network;
};

/* root: the folder that holds `class/power_supply` and `class/net`, "/sys" on a real machine; copied. clock NULL = the system's.
 * **returns new** (device_free), or NULL. */
struct device *device_new(const char *root, const struct clock *clock);
void device_free(struct device *device);
void device_read(struct device *device, struct device_state *out);

#endif
