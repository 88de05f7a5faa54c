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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A battery changes by a percent in minutes; an unplugged cable is noticed within this time. */
#define FRESH_MS 2000.0
#define ENTRIES_MAX 64

struct device {
    pthread_mutex_t lock;
    const struct clock *clock;
    char root[256];
    double read_ms; /* when `state` was read */
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

typedef void entry_fn(const struct device *device, const char *name, struct device_state *state);

static void each_entry(const struct device *device, const char *kind, entry_fn *fn,
                       struct device_state *state)
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
        fn(device, entry->d_name, state);
        count++;
    }
    if (folder)
        closedir(folder);
}

static void read_supply(const struct device *device, const char *name, struct device_state *state)
{
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

static void read_interface(const struct device *device, const char *name,
                           struct device_state *state)
{
    char text[64];
    if (strcmp(name, "lo") == 0 || !read_line(device, "net", name, "operstate", text))
        return;
    if (strcmp(text, "up") == 0 || strcmp(text, "unknown") == 0) /* tunnels say "unknown" */
        state->network = TD_NETWORK_ONLINE;
    else if (state->network == TD_NETWORK_UNKNOWN)
        state->network = TD_NETWORK_OFFLINE;
}

struct device *device_new(const char *root, const struct clock *clock)
{
    assert(root != NULL);
    struct device *device = calloc(1, sizeof *device);
    if (!device || strlen(root) >= sizeof device->root) {
        free(device);
        return NULL;
    }
    pthread_mutex_init(&device->lock, NULL);
    device->clock = clock;
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
        struct device_state state = {.battery = (double)NAN, .network = TD_NETWORK_UNKNOWN};
        each_entry(device, "power_supply", read_supply, &state);
        each_entry(device, "net", read_interface, &state);
        device->state = state;
        device->read_ms = now_ms;
        device->known = true;
    }
    *out = device->state;
    pthread_mutex_unlock(&device->lock);
}
