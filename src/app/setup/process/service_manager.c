/* Datagrams to a socket of the manager's. A lost one is not worth an error: the manager notices. */
#include "app/setup/process/service_manager.h"

#include "base/core/str.h"
#include "base/time/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SIGNS_A_PERIOD 3 /* so that one that comes late kills nobody */

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

/* The path of a socket, or of an abstract one after an @. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return -1;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The period is for the process that WATCHDOG_PID names, if it names one. */
static uint64_t watchdog_ms(void)
{
    const char *period = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    uint64_t us = 0, meant = 0;
    if (!period || !str_to_u64(str_from(period), &us))
        return 0;
    if (pid && (!str_to_u64(str_from(pid), &meant) || meant != (uint64_t)getpid()))
        return 0;
    return us / 1000;
}

struct service_manager service_manager_find(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct service_manager manager = {.fd = path ? connect_to(path) : -1};
    if (manager.fd >= 0)
        manager.watchdog_ms = watchdog_ms();
    manager.next_ms = now_ms();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return manager;
}

void service_manager_close(struct service_manager *manager)
{
    if (manager->fd >= 0)
        close(manager->fd);
    manager->fd = -1;
}

static void tell(const struct service_manager *manager, const char *text)
{
    if (manager->fd >= 0)
        (void)!send(manager->fd, text, strlen(text), MSG_NOSIGNAL);
}

void service_manager_tell_ready(const struct service_manager *manager)
{
    tell(manager, "READY=1");
}

void service_manager_tell_reloading(const struct service_manager *manager)
{
    char text[64];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu",
             (unsigned long long)(clock_monotonic_ns(NULL) / 1000));
    tell(manager, text);
}

void service_manager_tell_stopping(const struct service_manager *manager)
{
    tell(manager, "STOPPING=1");
}

uint64_t service_manager_tend(struct service_manager *manager, bool (*is_alive)(void *ctx),
                              void *ctx)
{
    uint64_t now = now_ms(), period = manager->watchdog_ms / SIGNS_A_PERIOD + 1;
    if (!manager->watchdog_ms)
        return UINT64_MAX;
    if (now < manager->next_ms)
        return manager->next_ms - now;
    if (is_alive(ctx))
        tell(manager, "WATCHDOG=1");
    manager->next_ms = now + period;
    return period;
}
