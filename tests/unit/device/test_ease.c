/* When the device goes easy, and when it works as usual again. */
#include "device/ease.h"

#include "test.h"

#include <math.h>

static struct heat_model model_of(double tau_s, double ambient_c, double rise_c)
{
    struct heat_model model;
    heat_model_init(&model, ambient_c, ambient_c + rise_c);
    model.c[2] = 1 / tau_s;
    model.c[1] = rise_c / tau_s;
    model.c[0] = (ambient_c - 40) / tau_s;
    return model;
}

static void test_a_device_whose_end_is_below_its_wall_never_changes(void)
{
    const struct heat_model model = model_of(60, 25, 30);
    struct ease ease;
    ease_init(&ease);
    for (int s = 0; s < 3600; s += 2) {
        const struct heat_place place = {54, 60, 55, false};
        CHECK(ease_choose(&ease, &model, &place, 1, s) == DEVICE_USUAL);
    }
    CHECK(ease.switches == 0);
}

static void test_a_level_is_left_before_the_wall_and_lasts_a_minute(void)
{
    const struct heat_model model = model_of(60, 25, 30);
    struct heat_place place = {25, 41.4, 36, false};
    struct ease ease;
    double last_s = -1000;
    ease_init(&ease);
    enum device_level level = DEVICE_USUAL;
    for (int s = 0; s < 1200; s++) {
        static const double heat[] = {1, 0.75, 0, 0};
        double end_c = 25 + 30 * heat[level];
        place.temperature_c = end_c + (place.temperature_c - end_c) * exp(-1 / 60.0);
        enum device_level next = ease_choose(&ease, &model, &place, 1, s);
        CHECK(place.temperature_c < place.wall_c);
        if (next == level)
            continue;
        CHECK(s - last_s >= DEVICE_DWELL_S);
        last_s = s;
        level = next;
    }
    CHECK(ease.switches > 4 && ease.switches <= 20);
}

static void test_at_the_wall_the_device_answers_only_what_nobody_else_may(void)
{
    const struct heat_model model = model_of(60, 25, 30);
    const struct heat_place place = {42, 41.4, 36, true};
    struct ease ease;
    ease_init(&ease);
    CHECK(ease_choose(&ease, &model, &place, 1, 0) == DEVICE_WALL);
    CHECK(ease_choose(&ease, &model, &place, 1, 59) == DEVICE_WALL);
}

static void test_an_idle_device_that_has_cooled_works_as_usual(void)
{
    const struct heat_model model = model_of(60, 25, 30);
    struct heat_place place = {42, 41.4, 36, true};
    struct ease ease;
    ease_init(&ease);
    CHECK(ease_choose(&ease, &model, &place, 0.9, 0) == DEVICE_WALL);
    place = (struct heat_place){26, 41.4, 36, false};
    for (int s = 60; s < 400; s += 2)
        (void)ease_choose(&ease, &model, &place, 0.01, s);
    CHECK(ease.level == DEVICE_USUAL);
}

static void test_levels_leave_less_and_less(void)
{
    for (int i = DEVICE_WARM; i < DEVICE_LEVEL_COUNT; i++) {
        enum device_level level = (enum device_level)i, before = (enum device_level)(i - 1);
        CHECK(device_level_threads(level) <= device_level_threads(before));
        CHECK(device_level_tokens(level) > 0);
        CHECK(device_level_exits(level) < 1 && device_level_exits(level) > 0.5);
        CHECK(before == DEVICE_USUAL || device_level_tokens(level) < device_level_tokens(before));
    }
    CHECK(device_level_threads(DEVICE_USUAL) >= 1 && device_level_tokens(DEVICE_USUAL) == 0);
}

int main(void)
{
    RUN(test_a_device_whose_end_is_below_its_wall_never_changes);
    RUN(test_a_level_is_left_before_the_wall_and_lasts_a_minute);
    RUN(test_at_the_wall_the_device_answers_only_what_nobody_else_may);
    RUN(test_an_idle_device_that_has_cooled_works_as_usual);
    RUN(test_levels_leave_less_and_less);
    return test_finish();
}
