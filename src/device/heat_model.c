/* A phone in a hand is one heat capacity behind one thermal resistance: tau dT/dt = Ta + R P - T.
 * That is linear in what is not known, so recursive least squares learns it (Ljung, System
 * Identification, 11.2): with each step the estimate moves by the gain times the error of what it
 * expected. Old steps are forgotten, because a phone is put into a pocket. Temperatures are in
 * degrees around 40 within the algorithm, so that the numbers are of one size.
 *
 * The machine's heat is in proportion to its speed, so the slowed machine cools, and the kernel
 * lets it go again at a lower temperature: a forecast steps through that. More than one capacity
 * (chip, case) would fit minutes better; it has twice the constants, which a few minutes of use
 * cannot tell apart. */
#include "device/heat_model.h"

#include "base/core/assertion.h"

#include <math.h>
#include <string.h>

/* The middle of what is published of phones (sustained at 0.42 to 0.72 of the peak, within one to
 * two minutes), a little to the careful side. */
#define PRIOR_TAU_S 60.0
#define PRIOR_BEYOND_C 14.0 /* the temperature at full speed is so far beyond the wall */
#define PRIOR_SUSTAINED 0.5
/* Standard deviations of the first guess, as shares of it. */
#define PRIOR_DOUBT 1.0
/* Of a step's slope, in degrees a second: a sensor of a tenth of a degree over ten seconds. */
#define NOISE_C_S 0.015
#define FORGET 0.995 /* the last 200 steps count */
#define MIDDLE_C 40.0
#define SUSTAINED_WEIGHT 0.1
#define SUSTAINED_MIN 0.05
/* What a time constant of a machine may be, for an estimate that has gone astray. */
#define TAU_MIN_S 4.0
#define TAU_MAX_S 3600.0
#define FORECAST_STEPS 2000

void heat_model_init(struct heat_model *model, double temperature_c, double wall_c)
{
    double rate = 1 / PRIOR_TAU_S;
    double ambient = fmin(temperature_c, wall_c - 5);
    double rise = wall_c + PRIOR_BEYOND_C - ambient;
    const double guess[3] = {(ambient - MIDDLE_C) * rate, rise * rate, rate};
    const double doubt[3] = {20 * rate, PRIOR_DOUBT * rise * rate, PRIOR_DOUBT * rate};
    *model = (struct heat_model){.sustained = PRIOR_SUSTAINED};
    memcpy(model->c, guess, sizeof guess);
    for (int i = 0; i < 3; i++)
        model->covariance[i][i] = doubt[i] * doubt[i];
}

static bool is_sound(const struct heat_model *model)
{
    return isfinite(model->c[0]) && model->c[1] > 0 && model->c[2] > 1 / TAU_MAX_S &&
           model->c[2] < 1 / TAU_MIN_S;
}

void heat_model_learn(struct heat_model *model, double before_c, double after_c, double dt_s,
                      double heat)
{
    ASSERT(model != NULL);
    if (!(dt_s > 0) || !isfinite(before_c) || !isfinite(after_c) || !(heat >= 0))
        return;
    const struct heat_model old = *model;
    const double x[3] = {1, heat, -((before_c + after_c) / 2 - MIDDLE_C)};
    double slope = (after_c - before_c) / dt_s, px[3] = {0}, expected = 0, spread = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            px[i] += old.covariance[i][j] * x[j];
        expected += old.c[i] * x[i];
        spread += x[i] * px[i];
    }
    double scale = FORGET * NOISE_C_S * NOISE_C_S + spread;
    for (int i = 0; i < 3; i++) {
        model->c[i] += px[i] / scale * (slope - expected);
        for (int j = 0; j < 3; j++)
            model->covariance[i][j] =
                fmin((old.covariance[i][j] - px[i] * px[j] / scale) / FORGET, 1e3);
    }
    model->steps++;
    if (!is_sound(model)) /* a step that no machine makes teaches nothing */
        *model = old;
}

void heat_model_learn_sustained(struct heat_model *model, double share)
{
    ASSERT(model != NULL);
    if (!(share > 0))
        return;
    model->sustained_steps++;
    double weight = fmax(SUSTAINED_WEIGHT, 1.0 / (1 + model->sustained_steps));
    share = fmin(fmax(share, SUSTAINED_MIN), 1);
    model->sustained += weight * (share - model->sustained);
}

double heat_model_tau_s(const struct heat_model *model)
{
    return 1 / model->c[2];
}

double heat_model_end_c(const struct heat_model *model, double heat)
{
    return MIDDLE_C + (model->c[0] + model->c[1] * heat) / model->c[2];
}

double heat_model_wall_s(const struct heat_model *model, double from_c, double wall_c, double heat)
{
    double end_c = heat_model_end_c(model, heat);
    if (from_c >= wall_c)
        return 0;
    if (!(end_c > wall_c)) /* a wall at infinity, too */
        return (double)INFINITY;
    return heat_model_tau_s(model) * log((end_c - from_c) / (end_c - wall_c));
}

double heat_model_forecast_s(const struct heat_model *model, const struct heat_place *place,
                             double work_s, double heat)
{
    ASSERT(model != NULL && place != NULL);
    struct heat_place at = *place;
    if (!(work_s > 0) || !isfinite(at.wall_c) || !isfinite(at.temperature_c))
        return fmax(work_s, 0);
    double tau_s = heat_model_tau_s(model), passed_s = 0;
    double step_s = fmax(tau_s / 60, work_s / (FORECAST_STEPS / 20.0));
    for (int i = 0; i < FORECAST_STEPS && work_s > 0; i++) {
        at.throttled =
            at.temperature_c >= at.wall_c || (at.throttled && at.temperature_c > at.clear_c);
        double speed = at.throttled ? model->sustained : 1;
        double dt_s = fmin(step_s, work_s / speed);
        double end_c = heat_model_end_c(model, heat * speed);
        at.temperature_c = end_c + (at.temperature_c - end_c) * exp(-dt_s / tau_s);
        work_s -= dt_s * speed;
        passed_s += dt_s;
    }
    return passed_s + work_s / model->sustained; /* what a very slow one has left */
}
