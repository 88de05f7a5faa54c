/* A battery that discharges tells what the whole machine draws: `power_now` in millionths of a
 * watt, or `current_now` times `voltage_now`. Elsewhere the processor's package counts its energy
 * in `energy_uj`, which on most systems only root may read, and which wraps at
 * `max_energy_range_uj` (Documentation/power/powercap/powercap.rst). */
#include "device/power.h"

#include <math.h>
#include <string.h>

static const struct sysfs_range percents = {0, 100};
static const struct sysfs_range flags = {0, 1};
static const struct sysfs_range micro = {-1e9, 1e9}; /* some drivers give what leaves a sign */
static const struct sysfs_range joules = {0, 9e18};

static double read_watts(struct sysfs *sysfs, const char *name)
{
    double power, current, voltage;
    if (sysfs_number(sysfs, &power, micro, sysfs->sys, "class/power_supply/%s/power_now", name))
        return fabs(power) / 1e6;
    if (sysfs_number(sysfs, &current, micro, sysfs->sys, "class/power_supply/%s/current_now",
                     name) &&
        sysfs_number(sysfs, &voltage, micro, sysfs->sys, "class/power_supply/%s/voltage_now", name))
        return fabs(current) / 1e6 * fabs(voltage) / 1e6;
    return (double)NAN;
}

static void read_battery(struct sysfs *sysfs, const char *name, struct power *power)
{
    char text[SYSFS_LINE_BYTES];
    double percent;
    /* The battery of a mouse says nothing about the machine. */
    if (sysfs_line(sysfs, text, sysfs->sys, "class/power_supply/%s/scope", name) &&
        strcmp(text, "Device") == 0)
        return;
    if (sysfs_number(sysfs, &percent, percents, sysfs->sys, "class/power_supply/%s/capacity",
                     name) &&
        !(power->battery <= percent))
        power->battery = percent;
    if (!sysfs_line(sysfs, text, sysfs->sys, "class/power_supply/%s/status", name) ||
        strcmp(text, "Discharging") != 0)
        return;
    power->on_battery = true;
    double watts = read_watts(sysfs, name);
    if (isfinite(watts))
        power->watts = isfinite(power->watts) ? power->watts + watts : watts;
}

static void read_supply(struct sysfs *sysfs, const char *name, void *ctx)
{
    struct power *power = ctx;
    char type[SYSFS_LINE_BYTES];
    double online;
    if (!sysfs_line(sysfs, type, sysfs->sys, "class/power_supply/%s/type", name))
        return;
    if (strcmp(type, "Battery") == 0)
        read_battery(sysfs, name, power);
    else if (sysfs_number(sysfs, &online, flags, sysfs->sys, "class/power_supply/%s/online", name))
        power->charger |= online > 0;
}

/* Watts since the last look; NAN at the first. */
static double read_counter(struct sysfs *sysfs, double now_s, struct power *power)
{
    double energy, range = 0, before = power->energy_j, passed_s = now_s - power->read_s;
    static const char package[] = "class/powercap/intel-rapl:0";
    power->energy_j = (double)NAN;
    if (!sysfs_number(sysfs, &energy, joules, sysfs->sys, "%s/energy_uj", package))
        return (double)NAN;
    power->energy_j = energy / 1e6;
    (void)sysfs_number(sysfs, &range, joules, sysfs->sys, "%s/max_energy_range_uj", package);
    double used = power->energy_j - before + (power->energy_j < before ? range / 1e6 : 0);
    return power->read_s > 0 && passed_s > 0 && used >= 0 ? used / passed_s : (double)NAN;
}

void power_read(struct sysfs *sysfs, double now_s, struct power *power)
{
    power->battery = power->watts = (double)NAN;
    power->on_battery = power->charger = false;
    sysfs_each(sysfs, "power_supply", read_supply, power);
    double watts = read_counter(sysfs, now_s, power);
    if (!isfinite(power->watts))
        power->watts = watts;
    power->read_s = now_s;
}
