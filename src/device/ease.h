/* What the device does to stay below its wall of heat, and to spare a battery or memory: a level
 * with hysteresis and dwell times, from what was measured and learnt. Plain numbers in and out. One
 * thread at a time. */
#ifndef DEVICE_EASE_H
#define DEVICE_EASE_H

#include "device/heat_model.h"

/* From "as usual" to "somebody else answers, if anybody can". Each includes the ones before. */
enum device_level {
    DEVICE_USUAL,
    DEVICE_WARM, /* fewer threads, shorter answers */
    DEVICE_HOT,  /* and requests start elsewhere where they may */
    DEVICE_WALL, /* and the device answers only what nobody else may */
    DEVICE_LEVEL_COUNT
};
extern const char *const device_level_names[]; /* "usual", "warm", "hot", "wall" */

enum device_cause {
    DEVICE_CAUSE_NONE,
    DEVICE_CAUSE_HEAT,
    DEVICE_CAUSE_BATTERY,
    DEVICE_CAUSE_MEMORY
};
extern const char *const device_cause_names[]; /* "none", "heat", "battery", "memory" */

#define DEVICE_DWELL_S 60.0 /* a level of heat lasts at least so long */

/* The share of the threads that a level leaves. */
double device_level_threads(enum device_level level);
/* The share of an exit's threshold that a level leaves: tokens leave the model earlier. */
double device_level_exits(enum device_level level);
/* The longest answer to a request that sets no length, in tokens; 0 = as usual. */
uint32_t device_level_tokens(enum device_level level);

struct ease {
    enum device_level level;
    double since_s; /* when it began; at first long ago */
    uint64_t switches;
};

void ease_init(struct ease *ease);
/* The level for the next seconds. use: the heat that requests would make at the usual level. */
enum device_level ease_choose(struct ease *ease, const struct heat_model *model,
                              const struct heat_place *place, double use, double now_s);

#endif
