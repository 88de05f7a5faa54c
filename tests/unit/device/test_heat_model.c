/* What is learnt of a machine's heat, and forecasts made of it. */
#include "device/heat_model.h"

#include "test.h"

#include <math.h>

/* A phone: dT/dt = ((ambient + rise u) - T) / tau. */
struct phone {
    double ambient_c, rise_c, tau_s, temperature_c;
};

static void live(struct phone *phone, double heat, double dt_s)
{
    double end_c = phone->ambient_c + phone->rise_c * heat;
    phone->temperature_c = end_c + (phone->temperature_c - end_c) * exp(-dt_s / phone->tau_s);
}

/* It works for a minute and rests for half of one, and its sensor has steps of a tenth. */
static void teach(struct heat_model *model, struct phone *phone, int steps)
{
    for (int i = 0; i < steps; i++) {
        double before = round(phone->temperature_c * 10) / 10, heat = i % 15 < 10 ? 1 : 0.05;
        live(phone, heat, 6);
        heat_model_learn(model, before, round(phone->temperature_c * 10) / 10, 6, heat);
    }
}

static void test_the_constants_of_phones_are_learnt_within_minutes(void)
{
    static const struct phone phones[] = {{25, 30, 60, 25}, {25, 70, 55, 25}, {18, 40, 150, 20}};
    for (size_t i = 0; i < sizeof phones / sizeof *phones; i++) {
        struct phone phone = phones[i];
        struct heat_model model;
        heat_model_init(&model, phone.temperature_c, 45);
        teach(&model, &phone, 60);
        CHECK(fabs(heat_model_tau_s(&model) / phone.tau_s - 1) < 0.25);
        double end_c = phone.ambient_c + phone.rise_c;
        CHECK(fabs(heat_model_end_c(&model, 1) - end_c) < 0.1 * phone.rise_c);
        double wall_c = phone.ambient_c + 0.7 * phone.rise_c;
        double really = phone.tau_s * log(phone.rise_c / (0.3 * phone.rise_c));
        double expected = heat_model_wall_s(&model, phone.ambient_c, wall_c, 1);
        CHECK(fabs(expected / really - 1) < 0.25);
    }
}

static void test_a_new_machine_is_taken_to_keep_half_of_its_speed(void)
{
    struct heat_model model;
    heat_model_init(&model, 25, 45);
    CHECK(model.sustained == 0.5);
    struct heat_place place = {25, 45, 40, false};
    double short_s = heat_model_forecast_s(&model, &place, 20, 1);
    CHECK(fabs(short_s - 20) < 0.1); /* it ends before the wall */
    double long_s = heat_model_forecast_s(&model, &place, 3600, 1);
    CHECK(long_s > 1.7 * 3600 && long_s <= 2.01 * 3600);
    place.temperature_c = 46;
    place.throttled = true;
    CHECK(heat_model_forecast_s(&model, &place, 1, 1) > 1.9);
}

static void test_the_speed_at_the_wall_is_learnt(void)
{
    struct heat_model model;
    heat_model_init(&model, 25, 45);
    for (int i = 0; i < 40; i++)
        heat_model_learn_sustained(&model, 0.34);
    CHECK(fabs(model.sustained - 0.34) < 0.01);
    heat_model_learn_sustained(&model, (double)NAN);
    heat_model_learn_sustained(&model, -1);
    CHECK(fabs(model.sustained - 0.34) < 0.01);
}

static void test_nonsense_teaches_nothing(void)
{
    struct heat_model model;
    heat_model_init(&model, 25, 45);
    struct heat_model before = model;
    heat_model_learn(&model, (double)NAN, 30, 6, 1);
    heat_model_learn(&model, 25, (double)INFINITY, 6, 1);
    heat_model_learn(&model, 25, 30, 0, 1);
    heat_model_learn(&model, 25, 30, 6, -1);
    heat_model_learn(&model, 25, -4000, 6, 1); /* would be a machine that cools as it works */
    CHECK(memcmp(&model, &before, sizeof model) == 0);
    struct heat_place nowhere = {25, (double)INFINITY, 40, false};
    CHECK(heat_model_forecast_s(&model, &nowhere, 7, 1) == 7);
    CHECK(heat_model_forecast_s(&model, &nowhere, -1, 1) == 0);
}

static void test_a_machine_that_is_at_rest_for_a_day_forgets_little(void)
{
    struct phone phone = {25, 30, 60, 25};
    struct heat_model model;
    heat_model_init(&model, phone.temperature_c, 45);
    teach(&model, &phone, 60);
    for (int i = 0; i < 14400; i++)
        heat_model_learn(&model, 25, 25, 6, 0);
    CHECK(isfinite(heat_model_tau_s(&model)) && heat_model_tau_s(&model) > 20);
    CHECK(heat_model_end_c(&model, 1) > 45 && heat_model_end_c(&model, 1) < 70);
}

int main(void)
{
    RUN(test_the_constants_of_phones_are_learnt_within_minutes);
    RUN(test_a_new_machine_is_taken_to_keep_half_of_its_speed);
    RUN(test_the_speed_at_the_wall_is_learnt);
    RUN(test_nonsense_teaches_nothing);
    RUN(test_a_machine_that_is_at_rest_for_a_day_forgets_little);
    return test_finish();
}
