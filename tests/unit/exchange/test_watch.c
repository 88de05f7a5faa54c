/* The watch alone, and what an exchange tells it and is told by it. */
#include "base/time/log.h"
#include "exchange/limits/hedge_allowance.h"
#include "exchange/limits/watch.h"
#include "exchange/parts/shadow_pool.h"
#include "world.h"

static struct watch_alarm alarms[WATCH_ALARMS_MAX];

static uint64_t now_ms;

static uint64_t test_monotonic(void *ctx)
{
    (void)ctx;
    return now_ms * 1000000;
}

static uint64_t test_wall(void *ctx)
{
    (void)ctx;
    return 1000000 + now_ms;
}

static const struct clock test_clock = {test_monotonic, test_wall, NULL};

/* `count` exchanges of which every n-th escalates (0: none). */
static void feed(struct watch *watch, const char *caller, int count, int every)
{
    for (int i = 0; i < count; i++) {
        struct watch_exchange exchange = {.caller = caller,
                                          .escalated = every && i % every == 0,
                                          .could_stay = true,
                                          .confidence = (i % 10) / 10.0};
        watch_add(watch, &exchange);
        now_ms += 10;
    }
}

static void test_a_step_over_all_begins_and_ends_an_alarm(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    feed(watch, NULL, 500, 5); /* learns .20 */
    feed(watch, NULL, 2000, 5);
    CHECK(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 0);
    uint64_t began = test_wall(NULL);
    feed(watch, NULL, 400, 2);
    REQUIRE(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 1);
    CHECK(alarms[0].kind == WATCH_ESCALATION_SHARE && !*alarms[0].caller && alarms[0].number == 1);
    CHECK(alarms[0].begin_wall_ms > began && alarms[0].begin_wall_ms < began + 200 * 10);
    CHECK(alarms[0].end_wall_ms == 0 && fabs(alarms[0].usual - 0.2) < 1e-9 &&
          strstr(alarms[0].text, "20 %"));
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_ESCALATION_SHARE] == 1 && numbers.escalation_share > 0.3);
    feed(watch, NULL, 2000, 5);
    CHECK(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 1);
    CHECK(alarms[0].end_wall_ms > alarms[0].begin_wall_ms);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_ESCALATION_SHARE] == 0 &&
          numbers.begun[WATCH_ESCALATION_SHARE] == 1);
    watch_free(watch);
}

static void test_the_share_is_the_mean_of_all_while_there_are_few(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    watch_numbers(watch, &numbers);
    CHECK(isnan(numbers.escalation_share));
    feed(watch, NULL, 100, 4); /* the first one escalates */
    watch_numbers(watch, &numbers);
    CHECK(fabs(numbers.escalation_share - 0.25) < 1e-9);
    watch_free(watch);
}

static void test_an_alarm_goes_on_after_a_restart_or_ends(void)
{
    static struct watch_kept kept;
    struct watch *watch = watch_new(&test_clock);
    watch_budget_spent(watch, "team");
    watch_budget_spent(watch, "team");
    watch_tier_rests(watch, "cloud", true, 1000);
    now_ms += 1000;
    watch_tier_rests(watch, "cloud", true, 1000);
    feed(watch, NULL, 500, 5);
    feed(watch, NULL, 400, 2);
    REQUIRE(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 3);
    watch_set_told(watch, 1, WATCH_TOLD_BEGUN);
    watch_keep(watch, &kept);
    watch_free(watch);

    struct watch *again = watch_new(&test_clock);
    struct watch_numbers numbers;
    watch_restore(again, &kept);
    watch_budget_spent(again, "team");
    feed(again, NULL, 1, 1);
    watch_numbers(again, &numbers);
    CHECK(numbers.begun[WATCH_BUDGET_SPENT] == 1 && numbers.active[WATCH_ESCALATION_SHARE] == 1);
    CHECK(watch_alarms(again, alarms, WATCH_ALARMS_MAX) == 3 && alarms[2].told == WATCH_TOLD_BEGUN);
    now_ms += 3600000; /* nobody finds the tier resting again */
    watch_tick(again);
    watch_numbers(again, &numbers);
    CHECK(numbers.active[WATCH_TIER_RESTING] == 0 && numbers.active[WATCH_ESCALATION_SHARE] == 1);
    now_ms += 86400000;
    watch_tick(again);
    watch_numbers(again, &numbers);
    CHECK(numbers.active[WATCH_BUDGET_SPENT] == 0);
    watch_free(again);
}

/* The file keeps the usual share and the sum, and not what follows from them. */
static void test_the_usual_share_is_watched_after_a_restart_as_before(void)
{
    static struct watch_kept kept = {.usual = 0.01, .seen = 500};
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    watch_restore(watch, &kept);
    feed(watch, NULL, 50, 0);
    watch_numbers(watch, &numbers);
    CHECK(numbers.begun[WATCH_ESCALATION_SHARE] == 0);
    feed(watch, NULL, 50, 2);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_ESCALATION_SHARE] == 1);
    watch_keep(watch, &kept);
    watch_free(watch);

    struct watch *again = watch_new(&test_clock);
    const struct drift_share share = {.cusum = {.sum = kept.share.cusum.sum, .alarm = true}};
    kept.share = share;
    watch_restore(again, &kept);
    feed(again, NULL, 1, 1);
    watch_numbers(again, &numbers);
    CHECK(numbers.active[WATCH_ESCALATION_SHARE] == 1); /* it goes on */
    watch_free(again);
}

/* A budget's day ends at local midnight (limits/spending.h), and its alarm with it. */
static void test_the_alarm_of_a_spent_budget_ends_at_local_midnight(void)
{
    static const struct {
        const char *zone;
        int west_ms; /* of Greenwich */
    } cases[] = {{"UTC", 0}, {"IST-5:30", -19800000}, {"EST5", 5 * 3600000}};
    uint64_t before = now_ms;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct watch_numbers numbers;
        setenv("TZ", cases[i].zone, 1);
        tzset();
        now_ms = 20000ull * 86400000 + (uint64_t)cases[i].west_ms - 600000 -
                 1000000; /* which test_wall adds */
        struct watch *watch = watch_new(&test_clock);
        watch_budget_spent(watch, "team");
        now_ms += 600000 - 1;
        watch_tick(watch);
        watch_numbers(watch, &numbers);
        CHECK(numbers.active[WATCH_BUDGET_SPENT] == 1);
        now_ms += 1;
        watch_tick(watch);
        watch_numbers(watch, &numbers);
        CHECK(numbers.active[WATCH_BUDGET_SPENT] == 0 && numbers.begun[WATCH_BUDGET_SPENT] == 1);
        watch_budget_spent(watch, "team"); /* the new day has an alarm of its own */
        watch_tick(watch);
        watch_numbers(watch, &numbers);
        CHECK(numbers.active[WATCH_BUDGET_SPENT] == 1 && numbers.begun[WATCH_BUDGET_SPENT] == 2);
        watch_free(watch);
    }
    setenv("TZ", "UTC", 1);
    tzset();
    now_ms = before;
}

/* A tier that rests: an alarm after alarm_ms, an end when it has been up for a while. */
static void test_the_alarm_of_a_resting_tier_begins_and_ends_in_time(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    static const struct {
        uint64_t after_ms;
        bool rests;
        uint32_t active, begun;
    } looks[] = {
        {0, true, 0, 0},  {999, true, 0, 0},    {1, true, 1, 1},  {5000, true, 1, 1},
        {0, false, 1, 1}, {89999, false, 1, 1}, {0, true, 1, 1}, /* it rests again */
        {1, false, 1, 1}, {89999, false, 1, 1}, {1, false, 0, 1}, {0, false, 0, 1},
        {0, true, 0, 1},  {999, true, 0, 1},    {1, true, 1, 2},
    };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        now_ms += looks[i].after_ms;
        watch_tier_rests(watch, "cloud", looks[i].rests, 1000);
        watch_numbers(watch, &numbers);
        if (numbers.active[WATCH_TIER_RESTING] != looks[i].active)
            fprintf(stderr, "look %zu\n", i);
        CHECK(numbers.active[WATCH_TIER_RESTING] == looks[i].active);
        CHECK(numbers.begun[WATCH_TIER_RESTING] == looks[i].begun);
    }
    watch_tier_answered(watch, "other"); /* another tier's answer says nothing of it */
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_TIER_RESTING] == 1);
    watch_tier_answered(watch, "cloud");
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_TIER_RESTING] == 0);
    watch_free(watch);
}

/* The minutes that count, to the minute, and a minute that comes again an hour later. */
static void test_a_rate_counts_the_last_minutes_alone(void)
{
    static const struct {
        uint32_t age, minutes; /* of what was counted, and that are asked for */
        bool counts;
    } ages[] = {{0, 1, true},   {1, 1, false},   {4, 5, true},    {5, 5, false},
                {59, 60, true}, {60, 60, false}, {59, 59, false}, {120, 60, false}};
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        struct burn burn = {0};
        uint32_t missed = 7;
        uint64_t at = 1000 * 60000ull + 59999;
        burn_add(&burn, true, at);
        burn_add(&burn, false, at);
        burn_add(&burn, false, at);
        burn_add(&burn, false, at);
        double rate = burn_rate(&burn, ages[i].minutes, 0.75, at + ages[i].age * 60000ull, &missed);
        CHECK(ages[i].counts ? fabs(rate - 1) < 1e-9 && missed == 1 : isnan(rate) && missed == 0);
        CHECK(isnan(burn_rate(&burn, 60, 0.75, at - 60000, &missed)) && missed == 0);
    }
    struct burn burn = {0};
    uint32_t missed;
    for (uint64_t minute = 0; minute < 200; minute++) {
        burn_add(&burn, minute < 100, minute * 60000);
        burn_add(&burn, false, minute * 60000);
    }
    /* 140 to 199: nothing was missed; as of 120, the slots hold no older minute. */
    CHECK(burn_rate(&burn, 60, 0.5, 199 * 60000, &missed) == 0 && missed == 0);
    burn_add(&burn, true, 200 * 60000);
    CHECK(fabs(burn_rate(&burn, 60, 0, 200 * 60000, &missed) - 1 / 119.0) < 1e-9 && missed == 1);
    CHECK(burn_rate(&burn, 1, 0, 200 * 60000, &missed) == 1 && missed == 1);
}

static void test_late_answers_burn_and_chance_alone_does_not(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    for (int i = 0; i < 4; i++)
        watch_add_objective(watch, true);
    watch_numbers(watch, &numbers);
    CHECK(fabs(numbers.burn[0] - 100) < 1e-6 && numbers.active[WATCH_OBJECTIVE_BURN] == 0);
    watch_add_objective(watch, true);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_OBJECTIVE_BURN] == 1);
    now_ms += 6 * 60000;
    watch_tick(watch);
    watch_numbers(watch, &numbers);
    CHECK(isnan(numbers.burn[0]) && fabs(numbers.burn[1] - 100) < 1e-6);
    CHECK(numbers.active[WATCH_OBJECTIVE_BURN] == 0 && numbers.begun[WATCH_OBJECTIVE_BURN] == 1);
    watch_free(watch);
}

/* Half a day's worth of a month's misses in an hour, still going on, and not by a few alone. */
static void test_an_objective_burns_when_both_the_hour_and_the_last_minutes_do(void)
{
    static const struct {
        int hits_before, missed_before, hits_now, missed_now;
        bool burns;
    } cases[] = {
        {0, 0, 0, 4, false},      {0, 0, 0, 5, true},        {0, 0, 30, 5, false},
        {0, 0, 29, 5, true},      {1000, 0, 0, 50, false}, /* a moment of a good hour */
        {200, 0, 0, 50, true},    {0, 500, 100, 5, false}, /* it is over */
        {0, 500, 20, 5, true},    {0, 500, 0, 4, false},     {0, 500, 0, 0, false},
        {1000, 200, 10, 5, true}, {1000, 0, 1000, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct watch *watch = watch_new(&test_clock);
        struct watch_numbers numbers;
        for (int k = 0; k < cases[i].hits_before; k++)
            watch_add_objective(watch, false);
        for (int k = 0; k < cases[i].missed_before; k++)
            watch_add_objective(watch, true);
        now_ms += 20 * 60000;
        for (int k = 0; k < cases[i].hits_now; k++)
            watch_add_objective(watch, false);
        for (int k = 0; k < cases[i].missed_now; k++)
            watch_add_objective(watch, true);
        watch_tick(watch);
        watch_numbers(watch, &numbers);
        if (numbers.active[WATCH_OBJECTIVE_BURN] != cases[i].burns)
            printf("row %zu: %g in five minutes, %g in an hour\n", i, numbers.burn[0],
                   numbers.burn[1]);
        CHECK(numbers.active[WATCH_OBJECTIVE_BURN] == cases[i].burns);
        watch_free(watch);
    }
}

/* The oldest that has ended makes room; where all last, the oldest. */
static void test_of_a_full_list_an_alarm_that_ended_goes_first(void)
{
    for (size_t ended = 0; ended <= WATCH_ALARMS_MAX; ended++) { /* the last: none has */
        static struct alarms list;
        const struct watch_alarm alarm = {.kind = WATCH_TIER_RESTING, .begin_wall_ms = 1};
        list = (struct alarms){0};
        for (size_t i = 0; i < WATCH_ALARMS_MAX; i++)
            CHECK(alarms_begin(&list, &alarm) == i + 1);
        if (ended < WATCH_ALARMS_MAX)
            alarms_end(&list, ended + 1, 2);
        CHECK(alarms_begin(&list, &alarm) == WATCH_ALARMS_MAX + 1);
        CHECK(list.count == WATCH_ALARMS_MAX);
        uint64_t gone = ended < WATCH_ALARMS_MAX ? ended + 1 : 1, expected = 1;
        for (size_t i = 0; i < list.count; i++, expected++) {
            expected += expected == gone;
            CHECK(list.items[i].number == expected);
        }
    }
}

static void test_one_callers_rise_is_its_own_alarm(void)
{
    struct watch *watch = watch_new(&test_clock);
    watch_set_usual_share(watch, 0.2);
    feed(watch, "key-a", 300, 5);
    feed(watch, "key-b", 300, 5);
    for (int i = 0; i < 300; i++) { /* a among many: over all little changes */
        feed(watch, "key-a", 1, 1);
        feed(watch, "key-b", 10, 11);
    }
    size_t count = watch_alarms(watch, alarms, WATCH_ALARMS_MAX), own = 0;
    char caller[WATCH_CALLER_BYTES] = "";
    for (size_t i = 0; i < count; i++) {
        own += alarms[i].kind == WATCH_CALLER_SHARE;
        if (alarms[i].kind == WATCH_CALLER_SHARE)
            memcpy(caller, alarms[i].caller, sizeof caller);
        CHECK(alarms[i].kind != WATCH_ESCALATION_SHARE);
    }
    CHECK(own == 1 && strlen(caller) == 8 && !strstr(caller, "key"));
    watch_free(watch);
}

static void test_what_could_not_stay_says_nothing(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    watch_set_usual_share(watch, 0.2);
    for (int i = 0; i < 1000; i++) {
        struct watch_exchange exchange = {.escalated = true, .confidence = NAN};
        watch_add(watch, &exchange);
    }
    watch_numbers(watch, &numbers);
    CHECK(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 0 && isnan(numbers.escalation_share));
    watch_free(watch);
}

static void test_feedback_finds_confidences_that_are_off_and_sure_answers_that_are_wrong(void)
{
    struct watch *watch = watch_new(&test_clock);
    struct watch_numbers numbers;
    for (int i = 0; i < 1000; i++)
        watch_add_feedback(watch, 0.75, i % 4 != 0);
    CHECK(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 0);
    for (int i = 0; i < 300; i++)
        watch_add_feedback(watch, 0.75, i % 2);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_OVERCONFIDENT] == 1 && numbers.active[WATCH_UNDERCONFIDENT] == 0);
    CHECK(numbers.calibration_error > 0.1);
    for (int i = 0; i < 600; i++)
        watch_add_feedback(watch, 0.5, 1);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_OVERCONFIDENT] == 0 && numbers.active[WATCH_UNDERCONFIDENT] == 1);
    for (int i = 0; i < 200; i++)
        watch_add_feedback(watch, 0.95, i % 3 != 0);
    watch_numbers(watch, &numbers);
    CHECK(numbers.active[WATCH_SURE_WRONG] == 1);
    watch_add_feedback(watch, NAN, 1);
    watch_add_feedback(watch, 0.5, 2);
    watch_free(watch);
}

static void test_a_cap_is_a_bucket_that_fills_over_the_hour(void)
{
    struct watch *watch = watch_new(&test_clock);
    now_ms = 0;
    for (int i = 0; i < 10; i++)
        CHECK(watch_reserve(watch, "a", 10));
    CHECK(!watch_reserve(watch, "a", 10) && watch_reserve(watch, "b", 10));
    REQUIRE(watch_alarms(watch, alarms, WATCH_ALARMS_MAX) == 1);
    CHECK(alarms[0].kind == WATCH_CALLER_CAPPED && alarms[0].end_wall_ms == 0);
    watch_give_back(watch, "a", 10);
    CHECK(watch_reserve(watch, "a", 10) && !watch_reserve(watch, "a", 10));
    now_ms += 6 * 60000 + 1; /* a tenth of an hour: one of ten */
    CHECK(watch_reserve(watch, "a", 10) && !watch_reserve(watch, "a", 10));
    now_ms += 5 * 3600000; /* never more than the hour's */
    for (int i = 0; i < 10; i++)
        CHECK(watch_reserve(watch, "a", 10));
    CHECK(!watch_reserve(watch, "a", 10));
    CHECK(watch_reserve(watch, "a", 0) && watch_reserve(watch, NULL, 10)); /* no cap */
    watch_free(watch);
}

static void test_many_callers_and_alarms_stay_within_their_room(void)
{
    struct watch *watch = watch_new(&test_clock);
    char caller[16];
    for (int i = 0; i < 20000; i++) { /* each a cap of one, and a second try */
        snprintf(caller, sizeof caller, "c%d", i);
        CHECK(watch_reserve(watch, caller, 1) && !watch_reserve(watch, caller, 1));
    }
    size_t count = watch_alarms(watch, alarms, WATCH_ALARMS_MAX);
    CHECK(count == WATCH_ALARMS_MAX && alarms[0].number == 20000);
    watch_free(watch);
}

/* --- in exchanges --- */

static void test_an_exchange_tells_where_it_went(void)
{
    struct world w;
    struct watch_numbers numbers;
    world_init(&w);
    w.services.watch = watch_new(&w.loop.clock);
    w.request.caller = "key";
    world_script(&w, LOCAL, sure);
    world_run(&w);
    watch_numbers(w.services.watch, &numbers);
    CHECK(numbers.escalation_share == 0);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    watch_numbers(w.services.watch, &numbers);
    CHECK(numbers.escalation_share > 0);
    watch_free(w.services.watch);
    world_deinit(&w);
}

static void test_above_its_cap_a_caller_keeps_local_answers_and_is_told(void)
{
    struct world w;
    world_init(&w);
    w.services.watch = watch_new(&w.loop.clock);
    w.services.escalations_per_hour = 2;
    w.request.caller = "key";
    world_script(&w, CLOUD, cloudy);
    for (int i = 0; i < 5; i++) { /* what stays costs nothing */
        world_script(&w, LOCAL, sure);
        world_run(&w);
        CHECK(strcmp(w.tier, "local") == 0 && !w.degraded);
    }
    world_script(&w, LOCAL, unsure);
    for (int i = 0; i < 4; i++) {
        world_run(&w);
        CHECK(strcmp(w.tier, i < 2 ? "openai" : "local") == 0);
    }
    CHECK(w.tiers[CLOUD].start_count == 2 && w.degraded);
    CHECK(world_has_reason(&w, REASON_REMOVED_CAPPED, "openai") && strstr(w.disclosure, "2 times"));
    w.route.start = "openai"; /* a rule of the route is no way around it */
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && w.tiers[CLOUD].start_count == 2);
    for (int i = 0; i < 2; i++) { /* and neither are modes: what they need is not to be had */
        w.request.mode = i ? TD_MODE_ONLY_CLOUD : TD_MODE_PREFER_CLOUD;
        world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == 2);
    }
    CHECK(w.status == TD_BUSY && strstr(w.message, "2 escalations an hour"));
    w.request.mode = TD_MODE_AUTO;
    w.request.caller = "other";
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0);
    watch_free(w.services.watch);
    world_deinit(&w);
}

/* --- the ways off the device --- */

static const struct script_step late[] = {
    {.kind = SCRIPT_TOKEN, .delay_ms = 2000, .text = "Late.", .probability = 0.95}, DONE};
static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "broken")};
static const struct script_step breaks_off[] = {TOKEN("Half ", 0.95), TOKEN("of", 0.95),
                                                FAIL(TD_UNAVAILABLE, "broken")};
static const struct script_step goes_on[] = {TEXT("Half of it"), DONE};

/* Each leads a request of a caller without a cap to the cloud. */
static const struct way {
    const char *name;
    const struct script_step *local, *cloud;
    bool hedged, shadowed, shown;
    enum td_mode mode;
} ways[] = {
    {.name = "a gate", .local = unsure, .cloud = cloudy},
    {.name = "a hedge that wins", .local = late, .cloud = cloudy, .hedged = true},
    {.name = "a hedge that loses", .local = late, .cloud = late, .hedged = true},
    {.name = "a failure", .local = broken, .cloud = cloudy},
    {.name = "what broke off", .local = breaks_off, .cloud = goes_on, .shown = true},
    {.name = "a shadow", .local = sure, .cloud = cloudy, .shadowed = true},
    {.name = "a mode", .local = sure, .cloud = cloudy, .mode = TD_MODE_PREFER_CLOUD},
    {.name = "a mode in vain", .local = sure, .cloud = broken, .mode = TD_MODE_PREFER_CLOUD},
    {.name = "a gate in vain", .local = unsure, .cloud = broken},
};

static void way_begin(const struct way *way, struct world *w)
{
    world_init(w);
    w->services.watch = watch_new(&w->loop.clock);
    w->services.hedge_allowance = hedge_allowance_new();
    w->services.shadow_pool = shadow_pool_new(1);
    w->services.shadow_usd_per_day = 1;
    w->request.caller = "key";
    w->request.mode = way->mode;
    w->route.shadow_cloud_share = way->shadowed ? 1 : 0;
    w->route.hedge =
        (struct hedge_settings){.on = way->hedged, .percentile = 95, .after_ms = 100, .share = 1};
    if (way->shown)
        w->route.gates = (struct gate_settings){.commit_tokens = 1};
    world_script(w, LOCAL, way->local);
    world_script(w, CLOUD, way->cloud);
}

static void way_end(struct world *w)
{
    watch_free(w->services.watch);
    hedge_allowance_free(w->services.hedge_allowance);
    shadow_pool_free(w->services.shadow_pool);
    world_deinit(w);
}

static void test_above_its_cap_no_way_leads_a_caller_off_the_device(void)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct world w;
        way_begin(&ways[i], &w);
        world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == 1); /* the way is there */
        w.services.escalations_per_hour = 1;
        w.request.caller = "another"; /* shadows are the server's own doing: they use up nothing */
        world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == 2);
        if (ways[i].shadowed) {
            world_script(&w, LOCAL, unsure);
            world_run(&w);
            CHECK(w.tiers[CLOUD].start_count == 3);
            world_script(&w, LOCAL, sure);
        }
        int before = w.tiers[CLOUD].start_count;
        for (int n = 0; n < 3; n++)
            world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == before);
        CHECK(world_has_reason(&w, REASON_REMOVED_CAPPED, "openai"));
        if (w.tiers[CLOUD].start_count != before)
            fprintf(stderr, "  by %s\n", ways[i].name);
        way_end(&w);
    }
}

int main(void)
{
    log_set_level(LOG_LEVEL_OFF);
    RUN(test_a_step_over_all_begins_and_ends_an_alarm);
    RUN(test_the_share_is_the_mean_of_all_while_there_are_few);
    RUN(test_an_alarm_goes_on_after_a_restart_or_ends);
    RUN(test_the_usual_share_is_watched_after_a_restart_as_before);
    RUN(test_the_alarm_of_a_spent_budget_ends_at_local_midnight);
    RUN(test_the_alarm_of_a_resting_tier_begins_and_ends_in_time);
    RUN(test_a_rate_counts_the_last_minutes_alone);
    RUN(test_late_answers_burn_and_chance_alone_does_not);
    RUN(test_an_objective_burns_when_both_the_hour_and_the_last_minutes_do);
    RUN(test_of_a_full_list_an_alarm_that_ended_goes_first);
    RUN(test_one_callers_rise_is_its_own_alarm);
    RUN(test_what_could_not_stay_says_nothing);
    RUN(test_feedback_finds_confidences_that_are_off_and_sure_answers_that_are_wrong);
    RUN(test_a_cap_is_a_bucket_that_fills_over_the_hour);
    RUN(test_many_callers_and_alarms_stay_within_their_room);
    RUN(test_an_exchange_tells_where_it_went);
    RUN(test_above_its_cap_a_caller_keeps_local_answers_and_is_told);
    RUN(test_above_its_cap_no_way_leads_a_caller_off_the_device);
    return test_finish();
}
