/* The state of this machine: heat, battery, memory and network, what was learnt of it, and what is
 * done about it. Read from files of the kernel below a root that may stand for another machine.
 *
 * A server has it sampled every two seconds beside the requests (device_sample), and a request
 * reads what the last sample left. Without that, as in a command, device_read looks itself at most
 * every two seconds. Thread-safe. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "base/text/names.h"
#include "device/ease.h"
#include "device/memory_state.h"
#include "device/thermal.h"

struct device;
struct clock;

#define DEVICE_BATTERY_LOW 10.0 /* percent */
#define DEVICE_SAMPLE_MS 2000
#define DEVICE_WHY_BYTES 112

struct device_state {
    double battery;   /* percent, of the emptiest one; NAN = none or unknown */
    bool on_battery;  /* a battery is discharging */
    bool charger;     /* a supply is connected */
    bool battery_low; /* and nearly empty: from 10 % down, until it is charged or above 15 % */
    /* Offline: the machine has interfaces, but none that leads outside has a link, or there is no
     * route. A bridge or a tunnel leads outside through another one. Metered: all that have a
     * default route are modems, phones or named by the operator; without one, all that have a link.
     * Unknown: there are none, or nothing can be read. A link that comes back counts when it has
     * lasted for five seconds; one that goes counts at once. */
    enum td_network network;
    struct thermal thermal;
    struct memory_state memory;
    /* What is done: the strongest of the causes' levels. */
    enum device_level level;
    enum device_cause cause;
    char why[DEVICE_WHY_BYTES];     /* of the cause, "the device is at 40.1 °C ..."; "" = none */
    enum device_level memory_level; /* of memory alone */
    double thread_share;            /* of the engine's threads that may compute */
    uint64_t switches;              /* of the level, for heat */
    double tau_s, end_c;            /* learnt: its time constant, where full speed leads to */
    double sustained;               /* learnt or assumed: speed at the wall, of the full one */
    double wall_s;                  /* at full speed, until the wall; INFINITY = never */
    bool learnt;                    /* the last four are of this machine, not assumed */
    double watts;                   /* drawn now; NAN = unknown */
    double token_j;                 /* energy of a token of the engine's; NAN = unknown */
    bool token_j_measured;          /* else it is estimated */
};

/* root: a folder like /sys, or like / when it has a folder sys; copied. metered[metered_count]:
 * names of interfaces that are metered, at most 16; copied. clock NULL = the system's.
 * **returns new** (device_free), or NULL. */
struct device *device_new(const char *root, const char *const *metered, size_t metered_count,
                          const struct clock *clock);
void device_free(struct device *device);

/* What is acted upon; at first everything. Forecasts know of heat in any case. */
struct device_acts {
    bool heat, battery, memory;
};
void device_set_acts(struct device *device, struct device_acts acts);

/* What the engine has done since it began, and how fast it is. */
struct device_work {
    double busy_s;   /* in forward passes */
    double tokens;   /* of answers */
    double token_ms; /* for a token, of late; 0 = not known */
    uint32_t threads;
};
/* Looks, learns and decides. From the first call on, device_read does not look. */
void device_sample(struct device *device, const struct device_work *work);

void device_read(struct device *device, struct device_state *out);
/* Looks at the network now: something has changed there. */
enum td_network device_read_network(struct device *device);
/* Whether it reads this machine's files: of what changes there the kernel tells. */
bool device_is_real(const struct device *device);

/* How long a computation takes from now on that takes `ms` at the speed that was measured of late:
 * longer where the kernel will slow the machine meanwhile. Never looks. */
double device_forecast_ms(struct device *device, double ms);

#endif
