/* Whether the machine has a way out, and whether it is paid for by volume: from /sys/class/net and
 * the kernel's tables of routes. No state; one thread at a time. */
#ifndef DEVICE_NETWORK_H
#define DEVICE_NETWORK_H

#include "base/text/names.h"
#include "device/sysfs.h"

#include <net/if.h>

#define NETWORK_METERED_MAX 16

/* metered[NETWORK_METERED_MAX]: interfaces that the operator calls metered; "" = no more. */
enum td_network network_read(struct sysfs *sysfs, const char (*metered)[IF_NAMESIZE]);

#endif
