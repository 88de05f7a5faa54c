/* Batteries, chargers and what the machine draws, from /sys/class/power_supply and, where it may be
 * read, the counter of energy in /sys/class/powercap (RAPL). One thread at a time. */
#ifndef DEVICE_POWER_H
#define DEVICE_POWER_H

#include "device/sysfs.h"

struct power {
    double battery;  /* percent, of the emptiest one; NAN = none or unknown */
    bool on_battery; /* a battery is discharging */
    bool charger;    /* a supply is connected */
    double watts; /* drawn now: of batteries that discharge, or of the processor; NAN = unknown */
    double energy_j; /* the counter of energy of the last look; NAN = it cannot be read */
    double read_s;
};

/* *power: what the last look left, {0} at first. now_s: of a monotonic clock. */
void power_read(struct sysfs *sysfs, double now_s, struct power *power);

#endif
