/* How a machine heats up and cools down, learnt while it runs, and how long a computation takes
 * when its kernel slows it at a wall of heat. Plain numbers in and out. One thread at a time. */
#ifndef DEVICE_HEAT_MODEL_H
#define DEVICE_HEAT_MODEL_H

#include "tandem/types.h"

/* dT/dt = c[0] + c[1] u - c[2] T: `u` is the heat that is made, as a share of that of the engine at
 * full speed. So the time constant is 1 / c[2], and at a constant u the temperature goes to
 * (c[0] + c[1] u) / c[2]. */
struct heat_model {
    double c[3], covariance[3][3];
    unsigned steps; /* that it learnt from */
    /* What is left of the full speed once the kernel slows the machine. */
    double sustained;
    unsigned sustained_steps;
};

/* Where the machine is. wall_c INFINITY = nothing slows it. */
struct heat_place {
    double temperature_c, wall_c, clear_c;
    bool throttled;
};

/* A machine of which nothing was measured: at full speed it reaches its wall within minutes, and
 * keeps half of its speed there. */
void heat_model_init(struct heat_model *model, double temperature_c, double wall_c);

/* From one temperature to another within dt_s, while `heat` was made on average. */
void heat_model_learn(struct heat_model *model, double before_c, double after_c, double dt_s,
                      double heat);
/* Slowed by the kernel, it works at that share of its full speed. */
void heat_model_learn_sustained(struct heat_model *model, double share);

double heat_model_tau_s(const struct heat_model *model);
/* Where the temperature goes when that heat is made for good. */
double heat_model_end_c(const struct heat_model *model, double heat);
/* How long until `wall_c` is reached; INFINITY = never, 0 = it is. */
double heat_model_wall_s(const struct heat_model *model, double from_c, double wall_c, double heat);
/* How long a computation takes that lasts work_s at full speed, and makes `heat` at it. */
double heat_model_forecast_s(const struct heat_model *model, const struct heat_place *place,
                             double work_s, double heat);

#endif
