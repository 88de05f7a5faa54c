/* Reads the state of the battery and the network from sysfs, for policies such as "on battery,
 * prefer the cloud". The state is read at most every two seconds, because every exchange asks for
 * it and sysfs is slow. Folders and files that are missing or malformed mean "unknown", never an
 * error. */
#include "base/device.h"

#include "base/clock.h"
#include "base/path.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A battery changes by a percent in minutes; an unplugged cable is noticed within this time. */
#define FRESH_MS 2000.0
#define ENTRIES_MAX 64
#define METERED_MAX 16
/* A percent of charge comes and goes, and so does a link that is being set up. */
#define BATTERY_LOW_ENDS 15.0
#define LINK_LASTS_MS 5000.0

/* What the interfaces say together. */
struct links {
    bool real, real_up, real_unmetered; /* of hardware: these lead outside */
    bool other, other_up;               /* all that a container has */
};

/* What is read in one look. */
struct look {
    struct device_state state;
    struct links links;
};

struct device {
    pthread_mutex_t lock;
    const struct clock *clock;
    char root[256];
    char metered[METERED_MAX][IF_NAMESIZE]; /* "" = no more */
    double read_ms;                         /* when `state` was read */
    double linked_ms; /* since when there is a link again; NAN = there is none, or it never went */
    bool known;
    struct device_state state;
};

/* Reads the first line of root/class/KIND/NAME/FILE; false when there is none. */
static bool read_line(const struct device *device, const char *kind, const char *name,
                      const char *file, char out[static 64])
{
    char path[512];
    if (path_format(path, sizeof path, NULL, "%s/class/%s/%s/%s", device->root, kind, name, file) !=
        TD_OK)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, out, 63);
    close(fd);
    if (len <= 0)
        return false;
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

typedef void entry_fn(const struct device *device, const char *name, struct look *look);

static void each_entry(const struct device *device, const char *kind, entry_fn *fn,
                       struct look *look)
{
    char path[512];
    if (path_format(path, sizeof path, NULL, "%s/class/%s", device->root, kind) != TD_OK)
        return;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int count = 0;
    while (folder && count < ENTRIES_MAX && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        fn(device, entry->d_name, look);
        count++;
    }
    if (folder)
        closedir(folder);
}

static void read_supply(const struct device *device, const char *name, struct look *look)
{
    struct device_state *state = &look->state;
    char text[64], *end;
    if (!read_line(device, "power_supply", name, "type", text) || strcmp(text, "Battery") != 0)
        return;
    /* The battery of a mouse says nothing about the machine. */
    if (read_line(device, "power_supply", name, "scope", text) && strcmp(text, "Device") == 0)
        return;
    if (read_line(device, "power_supply", name, "capacity", text)) {
        double percent = strtod(text, &end);
        if (end != text && percent >= 0 && percent <= 100 && !(state->battery <= percent))
            state->battery = percent;
    }
    if (read_line(device, "power_supply", name, "status", text) && strcmp(text, "Discharging") == 0)
        state->on_battery = true;
}

static bool has_entry(const struct device *device, const char *name, const char *entry)
{
    char path[512];
    return path_format(path, sizeof path, NULL, "%s/class/net/%s/%s", device->root, name, entry) ==
               TD_OK &&
           access(path, F_OK) == 0;
}

/* The last part of the link's target; "" when there is none. */
static void read_driver(const struct device *device, const char *name, char out[static 64])
{
    char path[512], target[512];
    out[0] = '\0';
    if (path_format(path, sizeof path, NULL, "%s/class/net/%s/device/driver", device->root, name) !=
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
static bool is_metered(const struct device *device, const char *name)
{
    static const char *const drivers[] = {"cdc_mbim", "qmi_wwan", "rndis_host", "ipheth", NULL};
    char driver[64];
    for (size_t i = 0; i < METERED_MAX && device->metered[i][0]; i++)
        if (strcmp(name, device->metered[i]) == 0)
            return true;
    read_driver(device, name, driver);
    for (const char *const *one = drivers; *one; one++)
        if (strcmp(driver, *one) == 0)
            return true;
    return strncmp(name, "wwan", 4) == 0;
}

/* Drivers that do not tell their state ("unknown") tell whether there is a carrier. */
static bool is_up(const struct device *device, const char *name, const char *state)
{
    char carrier[64];
    if (strcmp(state, "unknown") != 0)
        return strcmp(state, "up") == 0;
    return !read_line(device, "net", name, "carrier", carrier) || strcmp(carrier, "1") == 0;
}

static void read_interface(const struct device *device, const char *name, struct look *look)
{
    struct links *links = &look->links;
    char state[64];
    if (strcmp(name, "lo") == 0 || !read_line(device, "net", name, "operstate", state))
        return;
    bool up = is_up(device, name, state);
    if (has_entry(device, name, "device")) {
        links->real = true;
        links->real_up |= up;
        links->real_unmetered |= up && !is_metered(device, name);
    } else if (!has_entry(device, name, "bridge")) {
        links->other = true;
        links->other_up |= up;
    }
}

static enum td_network network_of(const struct links *links)
{
    if (links->real)
        return !links->real_up         ? TD_NETWORK_OFFLINE
               : links->real_unmetered ? TD_NETWORK_ONLINE
                                       : TD_NETWORK_METERED;
    if (links->other)
        return links->other_up ? TD_NETWORK_ONLINE : TD_NETWORK_OFFLINE;
    return TD_NETWORK_UNKNOWN;
}

/* Holds what has just come back, so that a link or a battery at its limit does not move every
 * second request. */
static void hold_back(struct device *device, struct device_state *now, double now_ms)
{
    const struct device_state *before = &device->state;
    double bound = before->battery_low ? BATTERY_LOW_ENDS : DEVICE_BATTERY_LOW;
    now->battery_low = now->on_battery && now->battery <= bound;
    bool linked = now->network != TD_NETWORK_OFFLINE;
    bool old = now_ms - device->read_ms >= LINK_LASTS_MS; /* nobody has looked for as long */
    if (!linked || !device->known || old || before->network != TD_NETWORK_OFFLINE) {
        device->linked_ms = (double)NAN;
        return;
    }
    if (isnan(device->linked_ms))
        device->linked_ms = now_ms;
    if (now_ms - device->linked_ms < LINK_LASTS_MS)
        now->network = TD_NETWORK_OFFLINE;
}

struct device *device_new(const char *root, const char *const *metered, size_t metered_count,
                          const struct clock *clock)
{
    assert(root != NULL);
    struct device *device = calloc(1, sizeof *device);
    if (!device || strlen(root) >= sizeof device->root) {
        free(device);
        return NULL;
    }
    pthread_mutex_init(&device->lock, NULL);
    device->clock = clock;
    for (size_t i = 0; i < metered_count && i < METERED_MAX; i++)
        snprintf(device->metered[i], IF_NAMESIZE, "%s", metered[i]);
    device->linked_ms = (double)NAN;
    memcpy(device->root, root, strlen(root) + 1);
    return device;
}

void device_free(struct device *device)
{
    if (!device)
        return;
    pthread_mutex_destroy(&device->lock);
    free(device);
}

void device_read(struct device *device, struct device_state *out)
{
    assert(device != NULL && out != NULL);
    double now_ms = clock_monotonic_ms(device->clock);
    pthread_mutex_lock(&device->lock);
    if (!device->known || now_ms - device->read_ms >= FRESH_MS) {
        struct look look = {.state.battery = (double)NAN};
        each_entry(device, "power_supply", read_supply, &look);
        each_entry(device, "net", read_interface, &look);
        look.state.network = network_of(&look.links);
        hold_back(device, &look.state, now_ms);
        device->state = look.state;
        device->read_ms = now_ms;
        device->known = true;
    }
    *out = device->state;
    pthread_mutex_unlock(&device->lock);
}
