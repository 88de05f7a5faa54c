/* A machine whose files hold anything: what is read of it stays within what there can be. The input
 * is the files, one after another, each up to a zero byte. */
#include "device/device.h"

#include "base/time/clock.h"
#include "base/time/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "proc/net/route",
    "proc/net/ipv6_route",
    "proc/meminfo",
    "proc/pressure/memory",
    "proc/loadavg",
    "proc/self/cgroup",
    "sys/fs/cgroup/a/memory.max",
    "sys/fs/cgroup/a/memory.current",
    "sys/fs/cgroup/a/memory.pressure",
    "sys/class/thermal/thermal_zone0/type",
    "sys/class/thermal/thermal_zone0/temp",
    "sys/class/thermal/thermal_zone0/trip_point_0_type",
    "sys/class/thermal/thermal_zone0/trip_point_0_temp",
    "sys/class/thermal/thermal_zone0/trip_point_0_hyst",
    "sys/class/thermal/cooling_device0/type",
    "sys/class/thermal/cooling_device0/cur_state",
    "sys/class/power_supply/B/type",
    "sys/class/power_supply/B/status",
    "sys/class/power_supply/B/capacity",
    "sys/class/power_supply/B/power_now",
    "sys/class/powercap/intel-rapl:0/energy_uj",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj",
    "sys/class/net/eth0/operstate",
    "sys/class/net/eth0/carrier",
};
#define FILES (sizeof names / sizeof *names)

static char root[64];
static uint64_t now_ns;

static uint64_t hands(void *ctx)
{
    (void)ctx;
    return now_ns;
}

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0700);
            *at = '/';
        }
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    if (size > 0)
        fwrite(data, 1, size, file);
    fclose(file);
}

static void check(const struct device_state *state)
{
    bool level = state->level < DEVICE_LEVEL_COUNT && state->memory_level < DEVICE_LEVEL_COUNT;
    bool battery = isnan(state->battery) || (state->battery >= 0 && state->battery <= 100);
    bool heat = !state->thermal.known || (state->thermal.temperature_c <= 200 &&
                                          state->thermal.wall_c <= 150 && state->tau_s > 0);
    bool share = state->thread_share > 0 && state->thread_share <= 1;
    if (!level || !battery || !heat || !share)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct clock clock = {hands, hands, NULL};
    if (!root[0]) {
        log_set_level(LOG_LEVEL_OFF);
        snprintf(root, sizeof root, "/tmp/tandem-fuzz-device-%ld", (long)getpid());
        (void)mkdir(root, 0700);
    }
    for (size_t i = 0; i < FILES; i++) {
        const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
        size_t len = end ? (size_t)(end - data) : size;
        put(names[i], data, len);
        data += len + (end != NULL);
        size -= len + (end != NULL);
    }
    struct device *device = device_new(root, NULL, 0, &clock);
    struct device_work work = {.token_ms = 20, .threads = 4};
    struct device_state state;
    if (!device)
        abort();
    for (int i = 0; i < 8; i++) {
        now_ns += UINT64_C(2000000000);
        work.busy_s += 1.5;
        work.tokens += 60;
        device_sample(device, &work);
        device_read(device, &state);
        check(&state);
        if (!(device_forecast_ms(device, 1000) >= 0))
            abort();
    }
    device_free(device);
    return 0;
}
