/* An interface that is up leads nowhere without a route, and of two that are up the kernel uses the
 * one of the default route. So links say whether there is a network at all, and routes which of
 * them count. Where routes cannot be read, links alone decide.
 *
 * Not asked: NetworkManager, whose D-Bus would need a library for the two facts that it adds (what
 * the user called metered, and captive portals). The first is the key `device.metered`. A portal is
 * noticed by the failing traffic (tier/health.h). */
#include "device/network.h"

#include "base/bytes/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUTES_BYTES 32768 /* some 200 routes; the default ones stand early */
#define DEFAULTS_MAX 8
#define ROUTE_UP 1u       /* RTF_UP */
#define ROUTE_REJECT 512u /* RTF_REJECT */

struct routes {
    bool known, any;
    char defaults[DEFAULTS_MAX][IF_NAMESIZE];
    size_t default_count;
};

/* What the interfaces say together. */
struct links {
    const char (*metered)[IF_NAMESIZE];
    struct routes routes;
    bool real, real_up, real_unmetered; /* of hardware: these lead outside */
    bool used, used_unmetered;          /* those of them that have a default route */
    bool other, other_up;               /* all that a container has */
};

/* --- routes --- */

static void note_route(struct routes *routes, const char *name, bool is_default, unsigned flags)
{
    if (!(flags & ROUTE_UP) || (flags & ROUTE_REJECT) || strcmp(name, "lo") == 0)
        return;
    routes->any = true;
    if (is_default && routes->default_count < DEFAULTS_MAX)
        snprintf(routes->defaults[routes->default_count++], IF_NAMESIZE, "%s", name);
}

/* Interface, destination, gateway, flags, three counts, mask. */
static void read_route_4(const char *line, struct routes *routes)
{
    char name[IF_NAMESIZE];
    unsigned destination, flags, mask;
    if (sscanf(line, "%15s %8x %*8s %4x %*s %*s %*s %8x", name, &destination, &flags, &mask) == 4)
        note_route(routes, name, destination == 0 && mask == 0, flags);
}

/* Destination, its length, source, its length, gateway, three numbers, flags, interface. Every link
 * has routes of its own addresses (fe80::, ff00::), which lead nowhere. */
static void read_route_6(const char *line, struct routes *routes)
{
    char name[IF_NAMESIZE], destination[33];
    unsigned bits, flags;
    if (sscanf(line, "%32s %2x %*32s %*2s %*32s %*8s %*8s %*8s %8x %15s", destination, &bits,
               &flags, name) == 4 &&
        strncmp(destination, "fe8", 3) != 0 && strncmp(destination, "ff", 2) != 0)
        note_route(routes, name, bits == 0, flags);
}

typedef void line_fn(const char *line, struct routes *routes);

/* The lines that are whole within the first bytes. */
static bool read_table(const struct sysfs *sysfs, const char *name, line_fn *fn,
                       struct routes *routes)
{
    char path[512];
    if (path_format(path, sizeof path, NULL, "%s/net/%s", sysfs->proc, name) != TD_OK)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    char *text = malloc(ROUTES_BYTES + 1), *at = text, *end;
    size_t len = 0;
    ssize_t got;
    while (text && len < ROUTES_BYTES && (got = read(fd, text + len, ROUTES_BYTES - len)) > 0)
        len += (size_t)got;
    close(fd);
    if (!text)
        return false;
    text[len] = '\0';
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = '\0';
        fn(at, routes);
    }
    free(text);
    return true;
}

static void read_routes(const struct sysfs *sysfs, struct routes *routes)
{
    if (!sysfs->has_proc)
        return;
    bool four = read_table(sysfs, "route", read_route_4, routes);
    bool six = read_table(sysfs, "ipv6_route", read_route_6, routes);
    routes->known = four || six;
}

static bool has_default(const struct routes *routes, const char *name)
{
    for (size_t i = 0; i < routes->default_count; i++)
        if (strcmp(routes->defaults[i], name) == 0)
            return true;
    return false;
}

/* --- links --- */

/* The last part of the link's target; "" when there is none. */
static void read_driver(const struct sysfs *sysfs, const char *name, char out[static 64])
{
    char path[512], target[512];
    out[0] = '\0';
    if (path_format(path, sizeof path, NULL, "%s/class/net/%s/device/driver", sysfs->sys, name) !=
        TD_OK)
        return;
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len <= 0)
        return;
    target[len] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(out, 64, "%.63s", slash ? slash + 1 : target);
}

/* A modem, a phone on the other end of a cable, or what the operator says. */
static bool is_metered(const struct sysfs *sysfs, const struct links *links, const char *name)
{
    static const char *const drivers[] = {"cdc_mbim", "qmi_wwan", "rndis_host", "ipheth", NULL};
    char driver[64];
    for (size_t i = 0; i < NETWORK_METERED_MAX && links->metered[i][0]; i++)
        if (strcmp(name, links->metered[i]) == 0)
            return true;
    read_driver(sysfs, name, driver);
    for (const char *const *one = drivers; *one; one++)
        if (strcmp(driver, *one) == 0)
            return true;
    return strncmp(name, "wwan", 4) == 0;
}

/* Drivers that do not tell their state ("unknown") tell whether there is a carrier. */
static bool is_up(struct sysfs *sysfs, const char *name, const char *state)
{
    char carrier[SYSFS_LINE_BYTES];
    if (strcmp(state, "unknown") != 0)
        return strcmp(state, "up") == 0;
    return !sysfs_line(sysfs, carrier, sysfs->sys, "class/net/%s/carrier", name) ||
           strcmp(carrier, "1") == 0;
}

static void read_interface(struct sysfs *sysfs, const char *name, void *ctx)
{
    struct links *links = ctx;
    char state[SYSFS_LINE_BYTES];
    if (strcmp(name, "lo") == 0 ||
        !sysfs_line(sysfs, state, sysfs->sys, "class/net/%s/operstate", name))
        return;
    bool up = is_up(sysfs, name, state);
    if (sysfs_has(sysfs, "net", name, "device")) {
        bool used = up && has_default(&links->routes, name);
        bool unmetered = up && !is_metered(sysfs, links, name);
        links->real = true;
        links->real_up |= up;
        links->real_unmetered |= unmetered;
        links->used |= used;
        links->used_unmetered |= used && unmetered;
    } else if (!sysfs_has(sysfs, "net", name, "bridge")) {
        links->other = true;
        links->other_up |= up;
    }
}

static enum td_network network_of(const struct links *links)
{
    bool up = links->real ? links->real_up : links->other_up;
    if (!links->real && !links->other)
        return TD_NETWORK_UNKNOWN;
    if (!up || (links->routes.known && !links->routes.any))
        return TD_NETWORK_OFFLINE;
    bool unmetered = links->used ? links->used_unmetered : links->real_unmetered;
    return unmetered || !links->real ? TD_NETWORK_ONLINE : TD_NETWORK_METERED;
}

enum td_network network_read(struct sysfs *sysfs, const char (*metered)[IF_NAMESIZE])
{
    struct links links = {.metered = metered};
    read_routes(sysfs, &links.routes);
    sysfs_each(sysfs, "net", read_interface, &links);
    return network_of(&links);
}
