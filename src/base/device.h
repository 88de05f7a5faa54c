/* The state of the machine's battery and network, from sysfs, read at most every two seconds.
 * Thread-safe. */
#ifndef BASE_DEVICE_H
#define BASE_DEVICE_H

#include "base/names.h"

struct device;
struct clock;

#define DEVICE_BATTERY_LOW 10.0 /* percent */

struct device_state {
    double battery;   /* percent, of the emptiest one; NAN = none or unknown */
    bool on_battery;  /* a battery is discharging */
    bool battery_low; /* and nearly empty: from 10 % down, until it is charged or above 15 % */
    /* Offline: the machine has interfaces, but none that leads outside has a link. A bridge or a
     * tunnel leads outside through another one. Metered: all that have a link are modems, phones or
     * named by the operator. Unknown: there are none, or nothing can be read. A link that comes
     * back counts when it has lasted for five seconds; one that goes counts at once. */
    enum td_network network;
};

/* root: the folder with `class/power_supply` and `class/net`, which is "/sys" on a real machine;
 * copied. metered[metered_count]: names of interfaces that are metered, at most 16;
 * copied. clock NULL = the system's. **returns new** (device_free), or NULL. */
struct device *device_new(const char *root, const char *const *metered, size_t metered_count,
                          const struct clock *clock);
void device_free(struct device *device);
void device_read(struct device *device, struct device_state *out);

#endif
