/* The ramps of a process: who is taken stays taken, over restarts and larger shares; what stopped
 * stays stopped until somebody restarts it; and an exchange says what it came to. */
#include "world.h"

#include "base/time/log.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/ramp_file.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/parts/shadow_pool.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tandem-ramps-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const struct ramp_plan plan = {.steps = {10, 50, 100},
                                      .step_count = 3,
                                      .judged_min = 20,
                                      .disagreement_max = 0.2,
                                      .loss_margin = 0.1};

static struct ramp_table *open_ramps(const char *path, struct watch *watch)
{
    struct ramp_table *ramps = NULL;
    struct td_error err = {0};
    const struct ramp_table_options options = {.path = path, .key = {7}, .watch = watch};
    if (ramp_table_open(&options, &ramps, &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    CHECK(ramps != NULL);
    return ramps;
}

static void set_route(struct world *world)
{
    world->route.start = "openai";
    world->route.ramp_to = "local";
    world->route.ramp = plan;
    world->route.gates = (struct gate_settings){.commit_tokens = UINT32_MAX};
}

static struct ramp_view view_of(struct ramp_table *ramps)
{
    struct ramp_view view = {.percent = -1};
    CHECK(ramp_table_list(ramps, &view, 1) == 1);
    return view;
}

static bool takes_of(struct ramp_table *ramps, const struct route *route, const char *tenant,
                     const char *user)
{
    struct ramp_signal signal;
    const struct td_request request = {.tenant = tenant, .user = user};
    ramp_table_read(ramps, route, &request, &signal);
    CHECK(signal.on);
    return signal.taken;
}

static bool takes(struct ramp_table *ramps, const struct route *route, const char *user)
{
    return takes_of(ramps, route, NULL, user);
}

static void judge_pairs(struct ramp_table *ramps, const struct route *route, double taken_loss,
                        int pairs)
{
    for (int i = 0; i < pairs; i++) {
        ramp_table_judge(ramps, route, RAMP_OUTCOMES, true, taken_loss);
        ramp_table_judge(ramps, route, RAMP_OUTCOMES, false, 0);
    }
}

static void test_a_user_stays_where_he_is_over_restarts_and_larger_shares(void)
{
    struct world world;
    bool before[400];
    char user[16];
    int taken = 0;
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(path_of("users.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    for (int i = 0; i < 400; i++) {
        snprintf(user, sizeof user, "user%d", i);
        before[i] = takes(ramps, &world.route, user);
        taken += before[i];
    }
    CHECK(taken > 15 && taken < 75); /* about 10 % */
    while (view_of(ramps).step == 0)
        judge_pairs(ramps, &world.route, 0, 1);
    CHECK(view_of(ramps).percent == 50);
    ramp_table_close(ramps);
    ramps = open_ramps(path_of("users.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(view_of(ramps).percent == 50); /* a step survives */
    for (int i = 0; i < 400; i++) {
        snprintf(user, sizeof user, "user%d", i);
        CHECK(!before[i] || takes(ramps, &world.route, user));
    }
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void test_users_of_one_name_with_two_tenants_are_drawn_apart(void)
{
    struct world world;
    char user[16];
    int both = 0, first = 0;
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    for (int i = 0; i < 2000; i++) {
        snprintf(user, sizeof user, "user%d", i);
        bool a = takes_of(ramps, &world.route, "a", user);
        first += a;
        both += a && takes_of(ramps, &world.route, "b", user);
    }
    CHECK(first > 100 && both < first / 2); /* about 200, and 20 */
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void test_what_stopped_stays_stopped_until_it_is_restarted_and_alarms_meanwhile(void)
{
    struct world world;
    struct td_error err = {0};
    struct watch_numbers numbers;
    struct watch *watch = watch_new(NULL);
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(path_of("stops.json"), watch);
    ramp_table_set_policy(ramps, &world.policy);
    judge_pairs(ramps, &world.route, 1, 40);
    struct ramp_view view = view_of(ramps);
    CHECK(view.stopped && view.percent <= 0 && view.cause == RAMP_OUTCOMES &&
          view.cause_loss > 0.9);
    CHECK(!takes(ramps, &world.route, "anybody"));
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_RAMP_STOPPED] == 1);
    ramp_table_close(ramps);
    ramps = open_ramps(path_of("stops.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(view_of(ramps).stopped);
    CHECK(ramp_table_restart(ramps, "none", &err) == TD_NOT_FOUND);
    CHECK(ramp_table_restart(ramps, "auto", &err) == TD_OK);
    CHECK(!view_of(ramps).stopped && view_of(ramps).percent == 10);
    judge_pairs(ramps, &world.route, 1, 40);
    CHECK(view_of(ramps).stopped);
    world.route.ramp.loss_margin = 0.2; /* another ramp */
    ramp_table_judge(ramps, &world.route, RAMP_OUTCOMES, true, 0);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(!view_of(ramps).stopped && view_of(ramps).evidence[RAMP_OUTCOMES].judged == 0);
    world.route.ramp.step_count = 0;
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(ramp_table_list(ramps, &view, 1) == 0);
    ramp_table_close(ramps);
    watch_free(watch);
    world_deinit(&world);
}

static void test_a_stop_that_could_not_be_written_is_written_later(void)
{
    struct world world;
    char away[160], kept[160];
    world_init(&world);
    set_route(&world);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    snprintf(away, sizeof away, "%s/away", folder);
    CHECK(mkdir(kept, 0700) == 0);
    struct ramp_table *ramps = open_ramps(path_of("kept/late.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(rename(kept, away) == 0);
    log_set_level(LOG_LEVEL_ERROR);
    judge_pairs(ramps, &world.route, 1, 40);
    log_set_level(LOG_LEVEL_WARN);
    CHECK(view_of(ramps).stopped);
    CHECK(rename(away, kept) == 0);
    ramp_table_close(ramps);
    ramps = open_ramps(path_of("kept/late.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(view_of(ramps).stopped);
    ramp_table_close(ramps);
    unlink(path_of("kept/late.json"));
    CHECK(rmdir(kept) == 0);
    world_deinit(&world);
}

static void test_somebody_who_repeats_himself_is_heard_once(void)
{
    struct world world;
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    const struct ramp_judged bad = {"ex_bad", "local", UINT64_MAX, true, 1};
    for (int i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%d", i);
        ramp_table_judge_feedback(ramps, &world.policy, "auto", &bad);
        ramp_table_judge_feedback(ramps, &world.policy, "auto",
                                  &(struct ramp_judged){id, "local", UINT64_MAX, false, 0});
    }
    CHECK(view_of(ramps).evidence[RAMP_FEEDBACK].judged == 1 && !view_of(ramps).stopped);
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void test_feedback_on_another_ramp_or_of_an_earlier_step_is_not_heard(void)
{
    struct world world;
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    uint64_t begun = view_of(ramps).changed_wall_ms;
    CHECK(begun > 0);
    const struct ramp_judged cases[] = {
        {"ex_1", "openai", begun, true, 1},    {"ex_2", "openai", begun, false, 0},
        {"ex_3", "local", begun - 1, true, 1}, {"ex_4", "local", begun - 1, false, 0},
        {"ex_5", "local", begun, true, 1},     {"ex_6", "local", begun + 5, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ramp_table_judge_feedback(ramps, &world.policy, "auto", &cases[i]);
    CHECK(view_of(ramps).evidence[RAMP_FEEDBACK].judged == 1); /* the last two, a pair */
    ramp_table_judge_feedback(ramps, &world.policy, "none", &cases[4]);
    world.route.ramp_slo_ms = 500; /* what is late is lost: another ramp */
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(view_of(ramps).evidence[RAMP_FEEDBACK].judged == 0);
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void test_files_that_are_something_else_are_refused_or_not_believed(void)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[1]",
        "[{\"route\":\"auto\"}]",
        "[{\"route\":\"auto\",\"plan\":\"xyz\",\"step\":0}]",
    };
    struct world world;
    struct ramp_saved *saved = NULL;
    struct td_error err = {0};
    size_t count;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err = (struct td_error){0};
        CHECK(ramp_file_parse(str_from(texts[i]), &saved, &count, &err) != TD_OK);
        CHECK(err.message[0] && saved == NULL);
    }
    /* a state that no judgement leads to: a step ahead with what was won for nothing */
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(path_of("forged.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    ramp_table_close(ramps);
    REQUIRE(ramp_file_read(path_of("forged.json"), &saved, &count, &err) == TD_OK && count == 1);
    saved[0].state.step = 2;
    saved[0].state.bets[RAMP_OUTCOMES].under[0] = 100;
    CHECK(ramp_file_write(path_of("forged.json"), saved, count, &err) == TD_OK);
    free(saved);
    ramps = open_ramps(path_of("forged.json"), NULL);
    ramp_table_set_policy(ramps, &world.policy);
    CHECK(view_of(ramps).step == 0);
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void change_tier(struct route *route)
{
    route->ramp_to = "backup";
}

static void change_start(struct route *route)
{
    route->start = "backup";
}

static void change_first_step(struct route *route)
{
    route->ramp.steps[0] = 5;
}

static void change_last_step(struct route *route)
{
    route->ramp.steps[2] = 90;
}

static void change_step_count(struct route *route)
{
    route->ramp.step_count = 2;
}

static void change_judged(struct route *route)
{
    route->ramp.judged_min++;
}

static void change_disagreement(struct route *route)
{
    route->ramp.disagreement_max = 0.3;
}

static void change_margin(struct route *route)
{
    route->ramp.loss_margin = 0.2;
}

static void change_objective(struct route *route)
{
    route->ramp_slo_ms = 900;
}

static void change_agreement(struct route *route)
{
    route->ramp.needs_agreement = true;
}

/* What was judged under another plan says nothing about this one, by file as by reload. */
static void test_a_plan_that_changed_in_anything_begins_anew(void)
{
    static void (*const changes[])(struct route *) = {NULL,
                                                      change_tier,
                                                      change_start,
                                                      change_first_step,
                                                      change_last_step,
                                                      change_judged,
                                                      change_disagreement,
                                                      change_margin,
                                                      change_objective,
                                                      change_agreement,
                                                      change_step_count};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (int restart = 0; restart < 2; restart++) {
            struct world world;
            char name[32];
            world_init(&world);
            set_route(&world);
            snprintf(name, sizeof name, "changed%zu-%d.json", i, restart);
            struct ramp_table *ramps = open_ramps(path_of(name), NULL);
            ramp_table_set_policy(ramps, &world.policy);
            while (view_of(ramps).step == 0)
                judge_pairs(ramps, &world.route, 0, 1);
            if (restart) {
                ramp_table_close(ramps);
                ramps = open_ramps(path_of(name), NULL);
            }
            if (changes[i])
                changes[i](&world.route);
            ramp_table_set_policy(ramps, &world.policy);
            bool anew = view_of(ramps).step == 0;
            if (anew != (changes[i] != NULL))
                printf("change %zu, restart %d\n", i, restart);
            CHECK(anew == (changes[i] != NULL));
            (void)takes(ramps, &world.route, "user1"); /* it is on */
            ramp_table_close(ramps);
            world_deinit(&world);
        }
}

/* Users until one is (not) taken. */
static const char *user_who(struct ramp_table *ramps, const struct route *route, bool taken)
{
    static char user[2][16];
    for (int i = 0;; i++) {
        snprintf(user[taken], sizeof user[taken], "user%d", i);
        if (takes(ramps, route, user[taken]) == taken)
            return user[taken];
    }
}

static void test_an_exchange_is_taken_says_so_and_is_judged(void)
{
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "down")};
    struct world world;
    world_init(&world);
    set_route(&world);
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    world.services.ramp_table = ramps;
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, cloudy);
    world.request.user = user_who(ramps, &world.route, true);
    world_run(&world);
    CHECK(strcmp(world.tier, "local") == 0 &&
          world_has_reason(&world, REASON_CHOSEN_RAMP, "local"));
    CHECK(strstr(ledger_seen.signals, "\"by\":\"ramp\"") &&
          strstr(ledger_seen.signals, "\"taken\":true"));
    world.request.user = user_who(ramps, &world.route, false);
    world_run(&world);
    CHECK(strcmp(world.tier, "openai") == 0);
    CHECK(world_has_reason(&world, REASON_RAMP_NOT_TAKEN, "local"));
    CHECK(strstr(ledger_seen.signals, "\"taken\":false"));
    CHECK(view_of(ramps).evidence[RAMP_OUTCOMES].judged == 1);
    CHECK(fabs(view_of(ramps).evidence[RAMP_OUTCOMES].loss) < 1e-12);
    world_script(&world, LOCAL, broken); /* it falls back, which is a loss */
    for (int i = 0; i < 60 && !view_of(ramps).stopped; i++) {
        world.request.user = i % 2 ? "user0" : NULL;
        world.request.user = user_who(ramps, &world.route, i % 2 == 0);
        world.loop.now_ms += 60000; /* the tier has rested */
        world_run(&world);
        CHECK(strcmp(world.tier, "openai") == 0);
    }
    CHECK(view_of(ramps).stopped && view_of(ramps).cause == RAMP_OUTCOMES);
    world.request.user = "user0";
    world_run(&world);
    CHECK(strcmp(world.tier, "openai") == 0 &&
          world_has_reason(&world, REASON_RAMP_NOT_TAKEN, "local"));
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void give_up_after(struct world *world, uint64_t ms)
{
    struct td_error err = {0};
    CHECK(world_start(world, &err) == TD_OK);
    virtual_loop_run(&world->loop, ms);
    exchange_cancel(world->exchange);
    virtual_loop_run(&world->loop, 1000);
}

static void test_giving_up_is_a_loss_once_the_wait_was_too_long(void)
{
    static const struct script_step silent[] = {STALL};
    struct world world;
    world_init(&world);
    set_route(&world);
    world.route.ramp_slo_ms = 3000;
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    world.services.ramp_table = ramps;
    world_script(&world, LOCAL, silent);
    world_script(&world, CLOUD, cloudy);
    world.request.user = user_who(ramps, &world.route, false);
    world_run(&world);
    CHECK(strcmp(world.tier, "openai") == 0);
    world.request.user = user_who(ramps, &world.route, true);
    give_up_after(&world, 1000); /* says nothing */
    CHECK(view_of(ramps).evidence[RAMP_OUTCOMES].judged == 0);
    give_up_after(&world, 4000);
    CHECK(view_of(ramps).evidence[RAMP_OUTCOMES].judged == 1);
    CHECK(view_of(ramps).evidence[RAMP_OUTCOMES].loss > 0.5);
    ramp_table_close(ramps);
    world_deinit(&world);
}

/* The ramp's own time or the request's, whichever is the shorter one. */
static void test_who_gives_up_has_waited_for_too_long_after_the_shorter_time(void)
{
    static const struct script_step silent[] = {STALL};
    static const struct {
        uint32_t ramp_ms, request_ms, gave_up_ms;
        bool lost;
    } cases[] = {
        {0, 0, 30000, false},      {1001, 0, 1000, false},    {1000, 0, 1000, false},
        {999, 0, 1000, true},      {0, 2000, 1000, false},    {500, 2000, 1000, true},
        {1500, 2000, 1000, false}, {2000, 1500, 1000, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_init(&world);
        set_route(&world);
        world.route.ramp_slo_ms = cases[i].ramp_ms;
        world.request.slo_ms = cases[i].request_ms;
        struct ramp_table *ramps = open_ramps(NULL, NULL);
        ramp_table_set_policy(ramps, &world.policy);
        world.services.ramp_table = ramps;
        world_script(&world, LOCAL, silent);
        world_script(&world, CLOUD, cloudy);
        world.request.user = user_who(ramps, &world.route, false); /* to hold it against */
        world_run(&world);
        world.request.user = user_who(ramps, &world.route, true);
        give_up_after(&world, cases[i].gave_up_ms);
        if ((view_of(ramps).evidence[RAMP_OUTCOMES].judged == 1) != cases[i].lost)
            fprintf(stderr, "row %zu\n", i);
        CHECK(view_of(ramps).evidence[RAMP_OUTCOMES].judged == cases[i].lost);
        ramp_table_close(ramps);
        world_deinit(&world);
    }
}

/* Modes, names and classes come before it, and what they decide is no evidence. */
static void test_constraints_and_wishes_by_name_come_before_the_ramp(void)
{
    struct world world;
    world_init(&world);
    set_route(&world);
    world.route.start = "local";
    world.route.ramp_to = "openai";
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    ramp_table_set_policy(ramps, &world.policy);
    world.services.ramp_table = ramps;
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, cloudy);
    world.request.user = user_who(ramps, &world.route, true);
    static const struct {
        enum td_mode mode;
        enum td_data_class data_class;
        const char *model, *tier;
        bool judged;
    } cases[] = {
        {TD_MODE_AUTO, TD_CLASS_PUBLIC, NULL, "openai", true},
        {TD_MODE_ONLY_LOCAL, TD_CLASS_PUBLIC, NULL, "local", false},
        {TD_MODE_PREFER_LOCAL, TD_CLASS_PUBLIC, NULL, "local", false},
        {TD_MODE_AUTO, TD_CLASS_SENSITIVE, NULL, "local", false},
        {TD_MODE_AUTO, TD_CLASS_RESTRICTED, NULL, "local", false},
        {TD_MODE_AUTO, TD_CLASS_PUBLIC, "local", "local", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world.request.mode = cases[i].mode;
        world.request.data_class = cases[i].data_class;
        world.request.model = cases[i].model;
        char text[32]; /* classes stay with a conversation */
        snprintf(text, sizeof text, "question %zu", i);
        world_set_prompt(&world, text);
        world_run(&world);
        CHECK(strcmp(world.tier, cases[i].tier) == 0);
        CHECK((strstr(ledger_seen.signals, "\"ramp\":") != NULL) == cases[i].judged);
    }
    ramp_table_close(ramps);
    world_deinit(&world);
}

static void test_shadows_tell_the_ramp_whether_its_two_tiers_agree(void)
{
    static const struct script_step same[] = {TOKEN("cloud ", 0.9), TOKEN("answer", 0.9), DONE};
    struct world world;
    world_init(&world);
    set_route(&world);
    world.route.ramp.needs_agreement = true;
    world.route.shadow_edge_share = 1;
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    struct shadow_pool *shadows = shadow_pool_new(1);
    ramp_table_set_policy(ramps, &world.policy);
    world.services.ramp_table = ramps;
    world.services.shadow_pool = shadows;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, same);
    world.request.user = user_who(ramps, &world.route, false);
    world_run(&world);
    CHECK(view_of(ramps).evidence[RAMP_AGREEMENT].judged == 1);
    CHECK(view_of(ramps).evidence[RAMP_AGREEMENT].loss <= 0);
    world_script(&world, LOCAL, sure);
    for (int i = 0; i < 40 && !view_of(ramps).stopped; i++)
        world_run(&world);
    CHECK(view_of(ramps).stopped && view_of(ramps).cause == RAMP_AGREEMENT);
    shadow_pool_free(shadows);
    ramp_table_close(ramps);
    world_deinit(&world);
}

/* Beside the ramp's two tiers the route has a third one: it does not stand in for the ramp's. */
static void test_only_the_two_tiers_of_a_ramp_are_held_against_each_other(void)
{
    static const char *const ladders[][3] = {{"local", "openai", "other"},
                                             {"local", "other", "openai"}};
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        world_init(&world);
        set_route(&world);
        memcpy(world.route.tiers, ladders[i], sizeof ladders[i]);
        world.route.tier_count = 3;
        world.route.start = "local";
        world.route.ramp_to = "other";
        world.route.ramp.needs_agreement = true;
        world.route.shadow_cloud_share = 1;
        world.services.shadow_usd_per_day = 1;
        struct ramp_table *ramps = open_ramps(NULL, NULL);
        struct shadow_pool *shadows = shadow_pool_new(1);
        ramp_table_set_policy(ramps, &world.policy);
        world.services.ramp_table = ramps;
        world.services.shadow_pool = shadows;
        world_script(&world, LOCAL, sure);
        world_script(&world, CLOUD, cloudy);
        world_script(&world, OTHER, cloudy);
        world.request.user = user_who(ramps, &world.route, false);
        world_run(&world);
        CHECK(strcmp(world.tier, "local") == 0);
        CHECK(world.tiers[OTHER].start_count == 1 && world.tiers[CLOUD].start_count == 0);
        CHECK(view_of(ramps).evidence[RAMP_AGREEMENT].judged == 1);
        shadow_pool_free(shadows);
        ramp_table_close(ramps);
        world_deinit(&world);
    }
}

static void test_an_answer_of_a_third_tier_is_no_evidence(void)
{
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "down")};
    struct world world;
    world_init(&world);
    set_route(&world);
    world.route.tiers[2] = "other";
    world.route.tier_count = 3;
    world.route.ramp.needs_agreement = true;
    world.route.shadow_edge_share = 1;
    struct ramp_table *ramps = open_ramps(NULL, NULL);
    struct shadow_pool *shadows = shadow_pool_new(1);
    ramp_table_set_policy(ramps, &world.policy);
    world.services.ramp_table = ramps;
    world.services.shadow_pool = shadows;
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, broken);
    world_script(&world, OTHER, cloudy);
    world.request.user = user_who(ramps, &world.route, false);
    world_run(&world);
    CHECK(strcmp(world.tier, "other") == 0 && world.tiers[LOCAL].start_count == 1);
    CHECK(view_of(ramps).evidence[RAMP_AGREEMENT].judged == 0);
    shadow_pool_free(shadows);
    ramp_table_close(ramps);
    world_deinit(&world);
}

#define THREADS 4
#define ROUNDS 3000

struct crowd {
    struct ramp_table *ramps;
    const struct policy *policy;
};

static void *judge_much(void *ctx)
{
    const struct crowd *crowd = ctx;
    const struct route *route = crowd->policy->routes;
    struct ramp_view view;
    for (int i = 0; i < ROUNDS; i++) {
        struct ramp_signal signal;
        const struct td_request request = {.user = "ann"};
        ramp_table_read(crowd->ramps, route, &request, &signal);
        ramp_table_judge(crowd->ramps, route, RAMP_AGREEMENT, false, 0);
        if (i % 16 == 0)
            ramp_table_list(crowd->ramps, &view, 1);
        if (i % 64 == 0)
            ramp_table_set_policy(crowd->ramps, crowd->policy); /* a reload without a change */
    }
    return NULL;
}

static void test_nothing_is_lost_between_loops_and_reloads(void)
{
    struct world world;
    pthread_t threads[THREADS];
    world_init(&world);
    set_route(&world);
    struct crowd crowd = {open_ramps(NULL, NULL), &world.policy};
    ramp_table_set_policy(crowd.ramps, &world.policy);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, judge_much, &crowd) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(view_of(crowd.ramps).evidence[RAMP_AGREEMENT].judged == THREADS * ROUNDS);
    CHECK(!view_of(crowd.ramps).stopped && view_of(crowd.ramps).step == 0);
    ramp_table_close(crowd.ramps);
    world_deinit(&world);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    log_set_level(LOG_LEVEL_ERROR);
    RUN(test_a_user_stays_where_he_is_over_restarts_and_larger_shares);
    RUN(test_users_of_one_name_with_two_tenants_are_drawn_apart);
    RUN(test_what_stopped_stays_stopped_until_it_is_restarted_and_alarms_meanwhile);
    RUN(test_a_stop_that_could_not_be_written_is_written_later);
    RUN(test_somebody_who_repeats_himself_is_heard_once);
    RUN(test_feedback_on_another_ramp_or_of_an_earlier_step_is_not_heard);
    RUN(test_files_that_are_something_else_are_refused_or_not_believed);
    RUN(test_a_plan_that_changed_in_anything_begins_anew);
    RUN(test_an_exchange_is_taken_says_so_and_is_judged);
    RUN(test_giving_up_is_a_loss_once_the_wait_was_too_long);
    RUN(test_who_gives_up_has_waited_for_too_long_after_the_shorter_time);
    RUN(test_constraints_and_wishes_by_name_come_before_the_ramp);
    RUN(test_shadows_tell_the_ramp_whether_its_two_tiers_agree);
    RUN(test_only_the_two_tiers_of_a_ramp_are_held_against_each_other);
    RUN(test_an_answer_of_a_third_tier_is_no_evidence);
    RUN(test_nothing_is_lost_between_loops_and_reloads);
    static const char *const files[] = {"users.json", "stops.json", "forged.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(path_of(files[i]));
    rmdir(folder);
    return test_finish();
}
