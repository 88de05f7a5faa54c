/* What is under way is counted from the plan to the end, however the exchange ends, and a stand-in
 * for a busy tier is disclosed. */
#include "world.h"

#include <math.h>

static const struct script_step failing[] = {FAIL(TD_UNAVAILABLE, "gone")};

static void load_init(struct world *world)
{
    world_init(world);
    world->services.load = tier_load_new(3);
    CHECK(world->services.load != NULL);
}

static uint32_t counted(struct world *world, size_t tier)
{
    return tier_load_count(world->services.load, tier);
}

static void load_deinit(struct world *world)
{
    for (size_t i = 0; i < 3; i++)
        CHECK(counted(world, i) == 0);
    world_deinit(world);
    tier_load_free(world->services.load);
}

static void test_a_plan_counts_before_the_tier_is_asked(void)
{
    struct world world;
    struct td_error err = {0};
    load_init(&world);
    world_script(&world, LOCAL, sure);
    CHECK(world_start(&world, &err) == TD_OK);
    CHECK(counted(&world, LOCAL) == 1 && counted(&world, CLOUD) == 0);
    virtual_loop_run(&world.loop, 120000);
    CHECK(world.end_count == 1 && strcmp(world.tier, "local") == 0);
    load_deinit(&world);
}

static void test_every_end_is_counted_out(void)
{
    static const struct {
        const struct script_step *local, *cloud;
    } ends[] = {{unsure, cloudy}, {failing, cloudy}, {failing, failing}, {unsure_late, cloudy}};
    struct world world;
    load_init(&world);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        world_script(&world, LOCAL, ends[i].local);
        world_script(&world, CLOUD, ends[i].cloud);
        world_run(&world);
        for (size_t tier = 0; tier < 3; tier++)
            CHECK(counted(&world, tier) == 0);
    }
    load_deinit(&world);
}

static void test_a_client_that_leaves_is_counted_out(void)
{
    struct world world;
    struct td_error err = {0};
    load_init(&world);
    world_script(&world, LOCAL, sure);
    CHECK(world_start(&world, &err) == TD_OK);
    exchange_cancel(world.exchange); /* before the first step */
    CHECK(counted(&world, LOCAL) == 0);
    world.cancel_at_text = 1;
    CHECK(world_start(&world, &err) == TD_OK);
    virtual_loop_run(&world.loop, 120000);
    CHECK(world.exchange == NULL);
    load_deinit(&world);
}

static void test_a_stand_in_for_a_busy_tier_is_disclosed_unless_it_climbs(void)
{
    struct world world;
    load_init(&world);
    world.route.start = "openai";
    world.route.overflow_after_ms = 2000;
    for (uint32_t others = 0; others < 10; others++) {
        tier_load_learn(world.services.load, CLOUD, others, 500.0 * others);
        tier_load_begin(world.services.load, CLOUD);
    }
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(world.tier, "local") == 0 && world.degraded);
    CHECK(strstr(world.disclosure, "tier openai is busy (a wait of about 5.0 s)"));
    CHECK(world_has_reason(&world, REASON_OVERFLOW, "local"));
    world_script(&world, LOCAL, unsure);
    world_run(&world);
    CHECK(strcmp(world.tier, "openai") == 0 && !world.degraded);
    for (int i = 0; i < 10; i++)
        tier_load_end(world.services.load, CLOUD);
    world_run(&world);
    CHECK(strcmp(world.tier, "openai") == 0 && !world_has_reason(&world, REASON_OVERFLOW, "local"));
    load_deinit(&world);
}

int main(void)
{
    RUN(test_a_plan_counts_before_the_tier_is_asked);
    RUN(test_every_end_is_counted_out);
    RUN(test_a_client_that_leaves_is_counted_out);
    RUN(test_a_stand_in_for_a_busy_tier_is_disclosed_unless_it_climbs);
    return test_finish();
}
