/* People as the last rung: what removes them, and where nobody starts with them. */
#include "router/plan/plan_internal.h"
#include "router/plan/reach.h"
#include "scene.h"
#include "test.h"

#define PEOPLE 2

static struct scene scene;

static struct scene *with_people(void)
{
    scene_init_with(&scene, (struct gate_settings){.g3_on = true, .g3_confidence_min = 0.5});
    scene.facts[PEOPLE] = (struct tier_facts){.name = "people",
                                              .place = TD_PLACE_PREMISES,
                                              .has_key = true,
                                              .people = true,
                                              .loopback = true,
                                              .ruled = true,
                                              .sees = 15,
                                              .sla_s = 3600,
                                              .tickets_max = 10};
    scene.route.tiers[PEOPLE] = "people";
    return &scene;
}

static bool has_people(struct scene *s)
{
    begin(s);
    bool found = false;
    for (size_t i = 0; i < s->plan.rung_count; i++)
        found = found || s->plan.rungs[i] == PEOPLE;
    return found;
}

static bool was_removed(struct scene *s, enum reason_code code)
{
    bool has = has_people(s), said = false;
    for (size_t i = 0; i < s->plan.reason_count; i++)
        said = said ||
               (s->plan.reasons[i].code == code && strcmp(s->plan.reasons[i].tier, "people") == 0);
    plan_deinit(&s->plan);
    return !has && said;
}

static void test_people_are_asked_last_and_of_every_class(void)
{
    for (int c = TD_CLASS_PUBLIC; c <= TD_CLASS_RESTRICTED; c++) {
        struct scene *s = with_people();
        s->signals.data_class = (enum td_data_class)c;
        CHECK(has_people(s) && s->plan.rungs[s->plan.rung_count - 1] == PEOPLE);
        plan_deinit(&s->plan);
    }
    struct scene *s = with_people();
    s->facts[PEOPLE].sees = 7; /* a queue that nodes share */
    s->signals.data_class = TD_CLASS_RESTRICTED;
    CHECK(was_removed(s, REASON_REMOVED_CLASS));
    s->facts[PEOPLE].ruled = false;
    CHECK(!reach_allowed(&s->facts[PEOPLE], TD_CLASS_PUBLIC));
}

static void test_who_wants_an_answer_sooner_than_people_give_it_is_not_sent_to_them(void)
{
    struct scene *s = with_people();
    s->signals.slo_ms = 3600 * 1000 - 1;
    CHECK(was_removed(s, REASON_REMOVED_TOO_SLOW));
    CHECK(!s->plan.reduced);
    s = with_people();
    s->signals.slo_ms = 3600 * 1000;
    s->signals.deadline_ms = 1000; /* the server's own limit: the answer may come later */
    CHECK(has_people(s));
    plan_deinit(&s->plan);
}

static void test_a_full_queue_and_what_may_not_be_kept_remove_people(void)
{
    struct scene *s = with_people();
    s->states[PEOPLE].tickets = 10;
    CHECK(was_removed(s, REASON_REMOVED_FULL) && s->plan.reduced);
    s = with_people();
    s->states[PEOPLE].tickets = 9;
    CHECK(has_people(s));
    plan_deinit(&s->plan);
    s->signals.keep_nothing = true;
    CHECK(was_removed(s, REASON_REMOVED_CAPABILITY));
}

static void test_nobody_starts_with_people_who_did_not_ask_for_them(void)
{
    struct scene *s = with_people();
    s->route.tiers[1] = "people"; /* beside the device alone */
    s->route.tier_count = 2;
    s->signals.mode = TD_MODE_PREFER_CLOUD;
    CHECK(begin(s) == 0);
    plan_deinit(&s->plan);
    s->signals.mode = TD_MODE_AUTO;
    s->signals.weights = (struct td_weights){.privacy = 1, .set = true};
    CHECK(begin(s) == 0);
    plan_deinit(&s->plan);
    s->signals.weights.set = false;
    s->route.gates.g0_tokens_over = 1;
    CHECK(begin(s) == 0);
    plan_deinit(&s->plan);
    s->route.start = "people";
    CHECK(begin(s) == PEOPLE);
    plan_deinit(&s->plan);
}

int main(void)
{
    RUN(test_people_are_asked_last_and_of_every_class);
    RUN(test_who_wants_an_answer_sooner_than_people_give_it_is_not_sent_to_them);
    RUN(test_a_full_queue_and_what_may_not_be_kept_remove_people);
    RUN(test_nobody_starts_with_people_who_did_not_ask_for_them);
    return test_finish();
}
