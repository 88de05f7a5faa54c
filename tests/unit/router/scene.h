/* One request before three tiers: the device, an office, a cloud. */
#ifndef TESTS_ROUTER_SCENE_H
#define TESTS_ROUTER_SCENE_H

#include "router/plan/policy.h"

#include <math.h>
#include <string.h>

#define COUNT 3

struct scene {
    struct tier_facts facts[COUNT];
    struct tier_state states[COUNT];
    struct route route;
    struct signals signals;
    struct routing_rule rule;
    struct plan plan;
};

/* All are there, and the route climbs from the first to the last under these gates. */
static inline void scene_init_with(struct scene *s, struct gate_settings gates)
{
    memset(s, 0, sizeof *s);
    s->facts[0] = (struct tier_facts){.name = "local", .place = TD_PLACE_DEVICE, .has_key = true};
    s->facts[1] = (struct tier_facts){.name = "office",
                                      .place = TD_PLACE_PREMISES,
                                      .has_key = true,
                                      .input_usd_per_mtok = 0.1,
                                      .output_usd_per_mtok = 0.4};
    s->facts[2] = (struct tier_facts){.name = "cloud",
                                      .place = TD_PLACE_CLOUD,
                                      .has_key = true,
                                      .input_usd_per_mtok = 1,
                                      .output_usd_per_mtok = 4};
    for (size_t i = 0; i < COUNT; i++)
        s->states[i] = (struct tier_state){.reachable = true, .prompt_tokens = 1000};
    s->route = (struct route){.name = "auto",
                              .kind = ROUTE_HYBRID,
                              .tiers = {"local", "office", "cloud"},
                              .tier_count = COUNT,
                              .gates = gates};
    s->signals.budget_used = (double)NAN;
}

/* The tier that an exchange begins on; SIZE_MAX = none. */
static inline size_t begin(struct scene *s)
{
    plan_make(&s->route, SIZE_MAX, &s->signals, s->facts, s->states, COUNT, &s->plan);
    return s->plan.rung_count ? s->plan.rungs[0] : SIZE_MAX;
}

#endif
