/* A zone has up to some ten trip points (Documentation/driver-api/thermal/sysfs-api.rst). At a
 * "passive" one the kernel slows processors; "active" ones start fans and are no wall. Where there
 * is no passive one, "hot" is the wall, or a little below "critical", at which the machine is
 * switched off. Values are in thousandths of a degree Celsius. Of several zones the one counts that
 * has the least degrees left.
 *
 * A cooling device is a processor's when its type says so; a fan that runs slows nothing. */
#include "device/thermal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIPS_MAX 12
#define BELOW_CRITICAL_C 10.0
#define HYSTERESIS_C 5.0 /* where the zone names none */
#define POLICIES_MAX 16

static const struct sysfs_range temperatures = {-40000, 200000};
/* What drivers give for "none" is 0, or below absolute zero. */
static const struct sysfs_range trip_points = {20000, 150000};
static const struct sysfs_range hystereses = {1, 60000};
static const struct sysfs_range states = {0, 1e6};
static const struct sysfs_range frequencies = {1, 1e9}; /* kHz */

/* How much better a kind of trip point says where the wall is; 0 = it does not. */
static int rank_of(const char *type)
{
    return strcmp(type, "passive") == 0    ? 3
           : strcmp(type, "hot") == 0      ? 2
           : strcmp(type, "critical") == 0 ? 1
                                           : 0;
}

/* The lowest trip point of the best kind; false when there is none. */
static bool read_wall(struct sysfs *sysfs, const char *zone, struct thermal *out)
{
    int best = 0;
    for (int i = 0; i < TRIPS_MAX; i++) {
        char type[SYSFS_LINE_BYTES];
        double trip, hysteresis = HYSTERESIS_C * 1000;
        if (!sysfs_line(sysfs, type, sysfs->sys, "class/thermal/%s/trip_point_%d_type", zone, i))
            break;
        int rank = rank_of(type);
        if (rank == 0 || rank < best ||
            !sysfs_number(sysfs, &trip, trip_points, sysfs->sys,
                          "class/thermal/%s/trip_point_%d_temp", zone, i))
            continue;
        double wall_c = trip / 1000 - (rank == 1 ? BELOW_CRITICAL_C : 0);
        if (rank == best && wall_c >= out->wall_c)
            continue;
        best = rank;
        (void)sysfs_number(sysfs, &hysteresis, hystereses, sysfs->sys,
                           "class/thermal/%s/trip_point_%d_hyst", zone, i);
        out->wall_c = wall_c;
        out->clear_c = wall_c - hysteresis / 1000;
    }
    return best > 0;
}

static void read_zone(struct sysfs *sysfs, const char *name, struct thermal *best)
{
    struct thermal zone = {.known = true};
    char type[SYSFS_LINE_BYTES];
    double temperature;
    if (!sysfs_number(sysfs, &temperature, temperatures, sysfs->sys, "class/thermal/%s/temp",
                      name) ||
        !read_wall(sysfs, name, &zone))
        return;
    zone.temperature_c = temperature / 1000;
    bool named = sysfs_line(sysfs, type, sysfs->sys, "class/thermal/%s/type", name);
    snprintf(zone.zone, sizeof zone.zone, "%.31s", named ? type : name);
    double left = zone.wall_c - zone.temperature_c;
    if (best->known && left >= best->wall_c - best->temperature_c)
        return;
    zone.throttled = best->throttled;
    zone.frequency_share = best->frequency_share;
    *best = zone;
}

/* Does it slow a processor now? */
static bool slows(struct sysfs *sysfs, const char *name)
{
    static const char *const kinds[] = {"cpufreq",         "thermal-cpufreq", "cpuidle",
                                        "thermal-cpuidle", "Processor",       NULL};
    char type[SYSFS_LINE_BYTES];
    double state;
    bool processor = false;
    if (!sysfs_line(sysfs, type, sysfs->sys, "class/thermal/%s/type", name))
        return false;
    for (const char *const *kind = kinds; *kind; kind++)
        processor = processor || strncmp(type, *kind, strlen(*kind)) == 0;
    return processor &&
           sysfs_number(sysfs, &state, states, sysfs->sys, "class/thermal/%s/cur_state", name) &&
           state > 0;
}

static void read_entry(struct sysfs *sysfs, const char *name, void *ctx)
{
    struct thermal *out = ctx;
    if (strncmp(name, "thermal_zone", 12) == 0)
        read_zone(sysfs, name, out);
    else if (strncmp(name, "cooling_device", 14) == 0)
        out->throttled |= slows(sysfs, name);
}

static double read_frequency_share(struct sysfs *sysfs)
{
    double share = 1;
    for (int i = 0; i < POLICIES_MAX; i++) {
        double limit, highest;
        if (sysfs_number(sysfs, &limit, frequencies, sysfs->sys,
                         "devices/system/cpu/cpufreq/policy%d/scaling_max_freq", i) &&
            sysfs_number(sysfs, &highest, frequencies, sysfs->sys,
                         "devices/system/cpu/cpufreq/policy%d/cpuinfo_max_freq", i))
            share = fmin(share, limit / highest);
    }
    return share;
}

void thermal_read(struct sysfs *sysfs, struct thermal *out)
{
    *out = (struct thermal){.frequency_share = read_frequency_share(sysfs)};
    sysfs_each(sysfs, "thermal", read_entry, out);
    out->throttled |= out->known && out->temperature_c >= out->wall_c;
}
