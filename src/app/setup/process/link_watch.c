/* What the messages say is not read: the interfaces' own state is, which device.c judges. So a
 * message can be lost or malformed without harm. Several that come together (an interface goes with
 * its addresses and routes) are one look.
 *
 * A link that comes back counts when it has lasted (device.h), so while the machine is offline it
 * is looked at each second, too. */
#include "app/setup/process/link_watch.h"

#include "api/deferral/deferral.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "device/device.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define SETTLE_MS 50
#define AGAIN_MS 1000
#define READS_MAX 64 /* of one wake-up */

struct link_watch {
    struct loop *loop;
    const struct api_host *host;
    struct loop_watch *readable;
    struct loop_timer *timer;
    int fd; /* -1 = the kernel cannot be asked */
    enum td_network network;
};

static int open_socket(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR |
                                               RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                                               RTMGRP_IPV6_ROUTE};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void tell(struct link_watch *watch, enum td_network network)
{
    enum td_network before = watch->network;
    watch->network = network;
    if (before == network || (before == TD_NETWORK_UNKNOWN && network != TD_NETWORK_OFFLINE))
        return;
    log_event(LOG_LEVEL_INFO, network == TD_NETWORK_OFFLINE ? "network_lost" : "network_restored",
              "network=%s before=%s", names_table_name(names_networks, network),
              names_table_name(names_networks, before));
    deferral_wake(watch->host->deferral);
}

static void look(void *ctx)
{
    struct link_watch *watch = ctx;
    struct exchange_services *services = watch->host->acquire(watch->host->ctx);
    enum td_network network = TD_NETWORK_UNKNOWN;
    bool has_device = services->device != NULL, real = false;
    if (has_device) {
        real = device_is_real(services->device);
        network = device_read_network(services->device);
        tier_health_note_network(services->health, network, clock_monotonic_ns(NULL) / 1000000);
    }
    watch->host->release(watch->host->ctx, services);
    tell(watch, network);
    if (has_device && (watch->fd < 0 || !real || network == TD_NETWORK_OFFLINE))
        loop_timer_start(watch->loop, watch->timer, AGAIN_MS);
}

static void on_readable(void *ctx)
{
    struct link_watch *watch = ctx;
    char bytes[8192];
    for (int i = 0; i < READS_MAX && recv(watch->fd, bytes, sizeof bytes, MSG_TRUNC) > 0; i++)
        ;
    loop_timer_start(watch->loop, watch->timer, SETTLE_MS);
}

struct link_watch *link_watch_new(struct loop *loop, const struct api_host *host)
{
    struct link_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    *watch = (struct link_watch){.loop = loop, .host = host, .fd = open_socket()};
    watch->timer = loop_timer_new(loop, look, watch);
    if (watch->fd >= 0)
        watch->readable = loop_watch_new(loop, watch->fd, on_readable, watch);
    if (!watch->timer || (watch->fd >= 0 && !watch->readable)) {
        link_watch_free(watch);
        return NULL;
    }
    loop_timer_start(loop, watch->timer, 0);
    return watch;
}

void link_watch_free(struct link_watch *watch)
{
    if (!watch)
        return;
    loop_watch_free(watch->loop, watch->readable);
    loop_timer_free(watch->loop, watch->timer);
    if (watch->fd >= 0)
        close(watch->fd);
    free(watch);
}
