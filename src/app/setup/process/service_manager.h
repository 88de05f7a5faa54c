/* Tells systemd, or whoever speaks its protocol, that the server is ready, that it reads its
 * configuration again, that it ends, and that it is alive (sd_notify(3), which says that programs
 * may do this without its library). Without a service manager nothing happens. Main thread. */
#ifndef APP_SERVICE_MANAGER_H
#define APP_SERVICE_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

struct service_manager {
    int fd;               /* -1 = there is none */
    uint64_t watchdog_ms; /* how often it wants a sign of life; 0 = never */
    uint64_t next_ms;     /* when the next one is due, by the monotonic clock */
};

/* Reads NOTIFY_SOCKET and WATCHDOG_USEC, and takes them out of the environment. */
struct service_manager service_manager_find(void);
void service_manager_close(struct service_manager *manager);

void service_manager_tell_ready(const struct service_manager *manager);
void service_manager_tell_reloading(const struct service_manager *manager);
void service_manager_tell_stopping(const struct service_manager *manager);

/* Says that the server is alive when that is due and `is_alive` agrees. Returns how long until it
 * is due again: UINT64_MAX for never. */
uint64_t service_manager_tend(struct service_manager *manager, bool (*is_alive)(void *ctx),
                              void *ctx);

#endif
