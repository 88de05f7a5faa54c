#include "app/cli/device_words.h"

#include "device/device.h"

#include <stdio.h>

bool device_words_write(const char *root, char *out, size_t size)
{
    struct device_state state;
    char heat[96] = "no thermal zone", battery[48] = "no battery", memory[48] = "";
    struct device *device = device_new(root, NULL, 0, NULL);
    snprintf(out, size, "device.root is too long");
    if (!device)
        return false;
    device_read(device, &state);
    device_free(device);
    if (state.thermal.known)
        snprintf(heat, sizeof heat, "%s at %.1f of %.1f \u00b0C%s", state.thermal.zone,
                 state.thermal.temperature_c, state.thermal.wall_c,
                 state.thermal.throttled ? ", slowed" : "");
    if (state.battery >= 0)
        snprintf(battery, sizeof battery, "battery at %.0f %%%s", state.battery,
                 state.on_battery ? ", discharging" : "");
    if (state.memory.known)
        snprintf(memory, sizeof memory, ", %.0f MB are free",
                 (double)state.memory.free_bytes / 1e6);
    snprintf(out, size, "%s, %s%s%s%s", heat, battery, memory, *state.why ? "; " : "", state.why);
    return state.level == DEVICE_USUAL;
}
