/* The state of the device, for GET /metrics. What cannot be read is not written. */
#include "api/metrics/metric_writers.h"

#include "api/http/metrics.h"
#include "device/device.h"

#include <math.h>

void device_write_metrics(const struct api_host *host, const struct exchange_services *services,
                          struct buf *out)
{
    (void)host;
    if (!services->device)
        return;
    struct device_state state;
    device_read(services->device, &state);
    double heat = state.thermal.known ? state.thermal.temperature_c : (double)NAN;
    double wall = state.thermal.known ? state.thermal.wall_c : (double)NAN;
    double memory = state.memory.known ? (double)state.memory.free_bytes : (double)NAN;
    const struct {
        const char *name, *help;
        double value;
    } rows[] = {
        {"tandem_device_level", "What is done to spare the device: 0 as usual to 3", state.level},
        {"tandem_device_level_changes_total", "Changes of that level, for heat",
         (double)state.switches},
        {"tandem_device_thread_share", "Share of the engine's threads that compute",
         state.thread_share},
        {"tandem_device_temperature_celsius", "The zone that is nearest to its limit", heat},
        {"tandem_device_temperature_limit_celsius", "Where the kernel slows the machine", wall},
        {"tandem_device_battery_percent", "Charge of the emptiest battery", state.battery},
        {"tandem_device_power_watts", "Power that is drawn", state.watts},
        {"tandem_device_token_joules", "Energy of a token of the local engine", state.token_j},
        {"tandem_device_memory_free_bytes", "Memory that the process may still use", memory},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (isfinite(rows[i].value))
            metrics_write_value(out, rows[i].name, rows[i].help, rows[i].value);
}
