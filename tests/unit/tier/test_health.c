/* When a tier rests, who may ask it then, and what ends it. Time is passed in. */
#include "tier/health.h"

#include "test.h"
#include "tier/tier.h"
#include "tier/witness.h"

static const struct tier_result good = {.status = TD_OK};
static const struct tier_result failed = {.status = TD_UNAVAILABLE, .http_status = 500};
static const struct tier_result unreached = {.status = TD_TIMEOUT, .reach = TIER_UNREACHED};
static const struct tier_result not_awaited = {.status = TD_UNAVAILABLE, .reach = TIER_NOT_AWAITED};
static const struct tier_result refused = {.status = TD_DENIED, .http_status = 401};

static struct tier_result asks_to_wait(uint64_t pause_ms)
{
    return (struct tier_result){.status = TD_BUSY, .http_status = 429, .retry_after_ms = pause_ms};
}

static enum tier_rest rest_of(struct tier_health *health, uint64_t now_ms)
{
    struct tier_state state = {0};
    tier_health_look(health, 0, now_ms, &state);
    return state.rest;
}

static uint64_t caller; /* of those who enter */

static struct tier_ticket enter(struct tier_health *health, uint64_t now_ms)
{
    struct tier_ticket ticket;
    struct tier_state why;
    const struct tier_entry entry = {.caller = caller, .prompt_tokens = 10};
    tier_health_enter(health, 0, &entry, now_ms, &ticket, &why);
    return ticket;
}

/* A request that begins and ends now. Whether it was let in. */
static bool ask(struct tier_health *health, const struct tier_result *result, uint64_t now_ms)
{
    struct tier_ticket ticket = enter(health, now_ms);
    bool inside = ticket.inside;
    tier_health_leave(health, 0, &ticket, result, now_ms);
    return inside;
}

static void ask_times(struct tier_health *health, const struct tier_result *result, int times,
                      uint64_t now_ms)
{
    for (int i = 0; i < times; i++)
        CHECK(ask(health, result, now_ms));
}

/* --- errors --- */

static void test_three_failures_in_a_row_rest_a_tier_for_a_second(void)
{
    struct tier_health *health = tier_health_new(2, NULL, NULL);
    REQUIRE(health);
    ask_times(health, &failed, 2, 1000);
    CHECK(tier_health_usable(health, 0, 1000));
    ask_times(health, &failed, 1, 1000);
    struct tier_state state = {0};
    tier_health_look(health, 0, 1400, &state);
    CHECK(!state.reachable && state.rest == REST_FAILING && state.rest_ms == 600);
    CHECK(state.rest_http == 500 && tier_health_usable(health, 1, 1000));
    CHECK(!tier_health_usable(health, 0, 1999) && tier_health_usable(health, 0, 2000));
    tier_health_free(health);
}

/* Every status of a result, with and without a word of the server's: which of them rest a tier. */
static void test_which_results_are_failures_of_the_tier(void)
{
    for (int status = TD_OK; status <= TD_INTERNAL; status++)
        for (int own = 0; own < 2; own++) {
            struct tier_health *health = tier_health_new(1, NULL, NULL);
            REQUIRE(health);
            const struct tier_result result = {.status = (enum td_status)status,
                                               .own_fault = own == 1};
            ask_times(health, &result, 3, 1000);
            bool fails = status == TD_UNAVAILABLE || status == TD_TIMEOUT || status == TD_CORRUPT;
            CHECK(tier_health_usable(health, 0, 1000) == (own || !fails));
            tier_health_free(health);
        }
}

static void test_a_success_between_failures_clears(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    ask_times(health, &failed, 2, 0);
    ask_times(health, &good, 1, 0);
    ask_times(health, &failed, 2, 0);
    CHECK(tier_health_usable(health, 0, 0));
    tier_health_free(health);
}

static void test_more_than_half_of_the_answers_failing_rests_a_tier(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    int asked = 0;
    for (; asked < 100 && tier_health_usable(health, 0, 1000); asked++)
        ask(health, asked % 3 ? &failed : &good, 1000); /* never three in a row */
    CHECK(asked >= 10 && asked < 14);
    tier_health_free(health);
    health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    for (int i = 0; i < 100; i++)
        ask_times(health, i % 3 ? &good : &failed, 1, 1000);
    CHECK(tier_health_usable(health, 0, 1000));
    tier_health_free(health);
}

static void test_rests_double_to_thirty_seconds_and_start_over_after_a_success(void)
{
    static const uint64_t rests_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    uint64_t now_ms = 5000;
    ask_times(health, &failed, 2, now_ms);
    for (size_t i = 0; i < sizeof rests_ms / sizeof *rests_ms; i++) {
        CHECK(ask(health, &failed, now_ms));
        CHECK(!tier_health_usable(health, 0, now_ms + rests_ms[i] - 1));
        now_ms += rests_ms[i];
    }
    CHECK(ask(health, &good, now_ms));
    now_ms += 600000; /* what was counted has faded */
    ask_times(health, &failed, 3, now_ms);
    CHECK(!tier_health_usable(health, 0, now_ms) && tier_health_usable(health, 0, now_ms + 1000));
    tier_health_free(health);
}

/* --- one caller and the others --- */

static bool ask_as(struct tier_health *health, uint64_t who, const struct tier_result *result,
                   uint64_t now_ms)
{
    caller = who;
    bool inside = ask(health, result, now_ms);
    caller = 0;
    return inside;
}

static void test_the_failures_of_one_caller_count_where_nobody_else_is_answered(void)
{
    static const struct tier_result *const results[] = {&failed, &refused};
    for (size_t i = 0; i < 2; i++) {
        struct tier_health *health = tier_health_new(1, NULL, NULL);
        REQUIRE(health);
        CHECK(ask_as(health, 2, &good, 1000));
        for (int n = 0; n < 50; n++) /* another has been answered lately */
            CHECK(ask_as(health, 1, results[i], 2000));
        CHECK(ask_as(health, 2, &good, 3000));
        for (int n = 0; n < 50; n++)
            CHECK(ask_as(health, 1, results[i], 33000));
        for (int n = 0; n < 2 - (int)i; n++) /* that was too long ago */
            CHECK(ask_as(health, 1, results[i], 33001));
        CHECK(tier_health_usable(health, 0, 33001));
        CHECK(ask_as(health, 1, results[i], 33001) && !tier_health_usable(health, 0, 33001));
        tier_health_free(health);
    }
}

static void test_failures_of_most_callers_count(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    for (uint64_t who = 1; who <= 7; who++)
        CHECK(ask_as(health, who, &good, 1000));
    int asked = 0;
    for (; asked < 100 && tier_health_usable(health, 0, 1100); asked++)
        ask_as(health, 1 + (uint64_t)asked % 7, &failed, 1100);
    CHECK(asked >= 4 && asked <= 7);
    tier_health_free(health);
}

static void test_of_many_callers_the_newest_are_known(void)
{
    struct witnesses seen = {0};
    uint64_t who = 1;
    for (; who <= WITNESSES_MAX; who++)
        witnesses_add(&seen, who, true, 1000 + who);
    for (int answered = 1; answered <= WITNESSES_MAX; answered++, who++) {
        witnesses_add(&seen, who, false, 2000 + who);
        CHECK(witnesses_contradict(&seen, 0, 3000) == (answered > WITNESSES_MAX / 2));
    }
    for (uint64_t again = WITNESSES_MAX + 1; again < who; again++) {
        witnesses_add(&seen, again, true, 3000); /* those that are known stay where they are */
        CHECK(witnesses_contradict(&seen, 0, 3000) == (again - WITNESSES_MAX < WITNESSES_MAX / 2));
    }
}

static void test_one_callers_many_failures_are_no_share_of_the_answers(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    for (int i = 0; i < 400; i++)
        CHECK(ask_as(health, i % 8 ? 1 : 2, i % 8 ? &failed : &good, 1000 + (uint64_t)i));
    tier_health_free(health);
}

static void test_a_trial_that_one_caller_alone_fails_does_not_lengthen_the_rest(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    for (uint64_t who = 1; who <= 3; who++)
        CHECK(ask_as(health, who, &failed, 1000));
    CHECK(!tier_health_usable(health, 0, 1999));
    CHECK(ask_as(health, 1, &good, 2000) && ask_as(health, 2, &good, 2000));
    for (uint64_t now_ms = 2000; now_ms < 2100; now_ms++)
        CHECK(ask_as(health, 3, &failed, now_ms) && tier_health_usable(health, 0, now_ms));
    tier_health_free(health);
}

static void test_late_failures_of_before_the_rest_do_not_lengthen_it(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    struct tier_ticket tickets[10];
    for (int i = 0; i < 10; i++)
        tickets[i] = enter(health, 0);
    for (int i = 0; i < 10; i++)
        tier_health_leave(health, 0, &tickets[i], &failed, 100);
    CHECK(tier_health_usable(health, 0, 1100) && !tier_health_usable(health, 0, 1099));
    tier_health_free(health);
}

/* --- half-open --- */

static void test_after_a_rest_one_tries_alone_and_is_not_repeated(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    ask_times(health, &failed, 3, 0);
    struct tier_ticket first = enter(health, 1000), second = enter(health, 1000);
    CHECK(first.inside && first.alone && !second.inside);
    CHECK(rest_of(health, 1500) == REST_TRIED);
    tier_health_leave(health, 0, &first, &good, 1600);
    CHECK(rest_of(health, 1600) == REST_NONE);
    second = enter(health, 1600);
    CHECK(second.inside && !second.alone);
    tier_health_leave(health, 0, &second, &good, 1600);
    tier_health_free(health);
}

static void test_one_that_tries_alone_bars_nobody_once_it_is_answered_left_or_silent(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    ask_times(health, &failed, 3, 0);
    struct tier_ticket ticket = enter(health, 1000);
    tier_health_leave(health, 0, &ticket, NULL, 1100); /* its client has left */
    CHECK(rest_of(health, 1100) == REST_NONE);
    struct tier_ticket silent = enter(health, 1100);
    CHECK(silent.alone && rest_of(health, 2000) == REST_TRIED);
    CHECK(rest_of(health, 11100) == REST_NONE); /* the next one tries it, alone */
    struct tier_ticket next = enter(health, 11100);
    CHECK(next.inside && next.alone);
    tier_health_answered(health, 0, &next, 11200);
    CHECK(rest_of(health, 11200) == REST_NONE && !enter(health, 11200).alone);
    tier_health_leave(health, 0, &silent, NULL, 11300);
    tier_health_leave(health, 0, &next, &good, 11400);
    tier_health_free(health);
}

/* --- asked to wait, refused --- */

static void test_a_pause_holds_for_everyone_and_is_bounded(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    struct tier_ticket before = enter(health, 0);
    struct tier_result pause = asks_to_wait(60000);
    CHECK(ask(health, &pause, 0));
    CHECK(!ask(health, &good, 1) && rest_of(health, 59999) == REST_ASKED);
    tier_health_leave(health, 0, &before, &good, 100); /* it says nothing about the pause */
    CHECK(rest_of(health, 59999) == REST_ASKED);
    struct tier_ticket trial = enter(health, 60000);
    CHECK(trial.inside && trial.alone);
    pause = asks_to_wait(UINT64_MAX);
    tier_health_leave(health, 0, &trial, &pause, 60000);
    CHECK(!tier_health_usable(health, 0, 60000 + 3599999));
    CHECK(tier_health_usable(health, 0, 60000 + 3600000));
    tier_health_free(health);
}

static void test_an_overloaded_tier_is_asked_less_at_a_time_until_it_answers(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    struct tier_ticket tickets[8];
    const struct tier_result overloaded = asks_to_wait(0);
    for (int i = 0; i < 8; i++)
        tickets[i] = enter(health, 0);
    tier_health_leave(health, 0, &tickets[7], &overloaded, 10);
    CHECK(rest_of(health, 10) == REST_SLOWED); /* 7 are inside, 4 may be */
    for (int i = 0; i < 4; i++)
        tier_health_leave(health, 0, &tickets[i], NULL, 20);
    CHECK(rest_of(health, 20) == REST_NONE);
    for (int i = 4; i < 7; i++)
        tier_health_leave(health, 0, &tickets[i], NULL, 30);
    ask_times(health, &good, 100, 40);
    for (int i = 0; i < 8; i++)
        CHECK((tickets[i] = enter(health, 50)).inside);
    for (int i = 0; i < 8; i++)
        tier_health_leave(health, 0, &tickets[i], NULL, 60);
    tier_health_free(health);
}

static void test_a_refused_key_is_tried_again_now_and_then(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    ask_times(health, &refused, 2, 0);
    CHECK(rest_of(health, 29999) == REST_REFUSING && rest_of(health, 30000) == REST_NONE);
    CHECK(ask(health, &refused, 30000) && rest_of(health, 89999) == REST_REFUSING);
    CHECK(ask(health, &good, 90000) && ask(health, &refused, 90001));
    CHECK(rest_of(health, 90001) == REST_NONE);
    tier_health_free(health);
}

static void test_what_says_nothing_about_the_tier_is_ignored(void)
{
    static const struct tier_result silent[] = {
        {.status = TD_INVALID, .http_status = 400},
        {.status = TD_CANCELLED},
        {.status = TD_LIMIT, .http_status = 413},
        {.status = TD_BUSY},
        {.status = TD_UNAVAILABLE, .reach = TIER_NOT_AWAITED},
        {.status = TD_IO}, /* this machine could not record what would have left */
        {.status = TD_CORRUPT, .http_status = 200, .own_fault = true},
    };
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        ask_times(health, &silent[i], 20, i);
    CHECK(tier_health_usable(health, 0, 10));
    tier_health_free(health);
}

/* --- limits --- */

static void test_limits_refuse_with_their_name(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    tier_health_set_limits(health, 0, (struct tier_limits){.concurrent = 2});
    struct tier_ticket a = enter(health, 0), b = enter(health, 0), c = enter(health, 0);
    CHECK(a.inside && b.inside && !c.inside && rest_of(health, 0) == REST_CONCURRENT);
    CHECK(tier_health_may_retry(health, 0, 0)); /* it has its place already */
    tier_health_leave(health, 0, &a, &good, 1);
    tier_health_leave(health, 0, &b, &good, 1);
    CHECK(rest_of(health, 1) == REST_NONE);
    tier_health_set_limits(health, 0, (struct tier_limits){.requests_per_minute = 5});
    ask_times(health, &good, 2, 2); /* after two and a retry */
    CHECK(rest_of(health, 3) == REST_REQUESTS && rest_of(health, 60000) == REST_NONE);
    tier_health_set_limits(health, 0, (struct tier_limits){.tokens_per_minute = 100});
    const struct tier_result long_answer = {.status = TD_OK, .usage.completion_tokens = 95};
    CHECK(ask(health, &long_answer, 120000) && rest_of(health, 120000) == REST_TOKENS);
    CHECK(rest_of(health, 180000) == REST_NONE);
    tier_health_free(health);
}

/* --- connections and health checks --- */

static int wakes;

/* Whether a health check is due; *wait_ms: else when to ask again. */
static bool is_due(struct tier_health *health, uint64_t now_ms, uint64_t *wait_ms)
{
    struct tier_probe_wish wish;
    tier_health_probe_due(health, 0, now_ms, &wish);
    *wait_ms = wish.wait_ms;
    return wish.due;
}

static void on_wake(void *ctx)
{
    (void)ctx;
    wakes++;
}

static struct tier_health *probed_health(void)
{
    wakes = 0;
    return tier_health_new(1, on_wake, NULL);
}

static void test_one_that_is_not_reached_rests_until_a_health_check_reaches_it(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t wait_ms, now_ms = 1000, checks = 0;
    CHECK(!is_due(health, now_ms, &wait_ms) && wait_ms == UINT64_MAX);
    CHECK(ask(health, &unreached, now_ms) && wakes == 1);
    CHECK(rest_of(health, now_ms + 100000) == REST_UNREACHED);
    for (uint64_t longest_ms = 0; checks < 12; checks++) {
        while (!is_due(health, now_ms, &wait_ms)) {
            REQUIRE(wait_ms > 0 && wait_ms <= 6000);
            now_ms += wait_ms;
            longest_ms = wait_ms > longest_ms ? wait_ms : longest_ms;
            tier_health_want(health, 0, NULL, now_ms);
        }
        CHECK(!is_due(health, now_ms, &wait_ms)); /* one at a time */
        tier_health_probed(health, 0, false, now_ms);
        CHECK(checks < 11 || longest_ms >= 4000);
    }
    CHECK(rest_of(health, now_ms) == REST_UNREACHED);
    CHECK(now_ms < 61000);
    while (!is_due(health, now_ms, &wait_ms))
        now_ms += wait_ms;
    tier_health_probed(health, 0, true, now_ms);
    CHECK(rest_of(health, now_ms) == REST_NONE && !enter(health, now_ms).alone);
    tier_health_free(health);
}

static void test_health_checks_end_when_nobody_asks_for_the_tier(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t wait_ms, now_ms = 0;
    CHECK(ask(health, &unreached, now_ms));
    int checks = 0;
    while (is_due(health, now_ms, &wait_ms) || wait_ms != UINT64_MAX) {
        if (wait_ms == UINT64_MAX) {
            checks++;
            tier_health_probed(health, 0, false, now_ms);
        } else {
            now_ms += wait_ms;
        }
        REQUIRE(checks < 1000);
    }
    CHECK(now_ms >= 300000 && now_ms < 310000 && checks < 100);
    struct tier_ticket ticket = enter(health, now_ms + 1);
    CHECK(ticket.inside && ticket.alone); /* the next request, alone */
    tier_health_leave(health, 0, &ticket, &unreached, now_ms + 5000);
    CHECK(rest_of(health, now_ms + 5000) == REST_UNREACHED && wakes == 2);
    tier_health_free(health);
}

static void test_without_a_prober_the_rest_of_an_unreached_tier_has_an_end(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    REQUIRE(health);
    CHECK(ask(health, &unreached, 0) && rest_of(health, 999) == REST_UNREACHED);
    struct tier_ticket ticket = enter(health, 1000);
    CHECK(ticket.inside && ticket.alone);
    tier_health_leave(health, 0, &ticket, &unreached, 1000);
    CHECK(rest_of(health, 2999) == REST_UNREACHED && rest_of(health, 3000) == REST_NONE);
    tier_health_free(health);
}

static void test_requests_that_connect_together_wait_no_longer_than_one_may(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t now_ms = 1000;
    CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
    struct tier_ticket tickets[16];
    for (int i = 0; i < 16; i++) {
        tickets[i] = enter(health, now_ms);
        tier_health_connecting(health, 0, now_ms);
    }
    while (!tier_health_gives_up(health, 0, 1000, true, now_ms))
        now_ms += 5;
    CHECK(now_ms - 1000 >= 250 && 16 * (now_ms - 1000) <= 5000);
    CHECK(wakes == 1 && rest_of(health, now_ms) == REST_UNREACHED);
    CHECK(!tier_health_gives_up(health, 0, 1000, false, now_ms)); /* has nowhere else to go */
    for (int i = 0; i < 15; i++) {
        CHECK(tier_health_gives_up(health, 0, 1000, true, now_ms));
        tier_health_connected(health, 0, false, now_ms - 1000, now_ms);
        tier_health_leave(health, 0, &tickets[i], &not_awaited, now_ms);
    }
    tier_health_connected(health, 0, true, now_ms - 1000, now_ms + 200); /* a slow handshake */
    CHECK(rest_of(health, now_ms + 200) == REST_NONE);
    tier_health_leave(health, 0, &tickets[15], &good, now_ms + 300);
    tier_health_free(health);
}

static void test_a_found_black_hole_releases_all_that_are_connecting(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    struct tier_ticket first = enter(health, 0), second = enter(health, 4000);
    tier_health_connecting(health, 0, 0);
    tier_health_connecting(health, 0, 4000);
    CHECK(!tier_health_gives_up(health, 0, 4000, false, 4990));
    tier_health_connected(health, 0, false, 5000, 5000);
    tier_health_leave(health, 0, &first, &unreached, 5000);
    CHECK(tier_health_gives_up(health, 0, 4000, false, 5010));
    tier_health_connected(health, 0, false, 1010, 5010);
    tier_health_leave(health, 0, &second, &not_awaited, 5010);
    tier_health_free(health);
}

static void test_a_lone_request_waits_as_long_as_is_configured(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
    tier_health_connecting(health, 0, 0);
    for (uint64_t now_ms = 0; now_ms < 5000; now_ms += 25)
        CHECK(!tier_health_gives_up(health, 0, 0, true, now_ms));
    tier_health_connected(health, 0, true, 4999, 4999);
    tier_health_free(health);
}

static void test_deadlines_shorter_than_a_connect_time_out_find_a_black_hole_together(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t now_ms = 0;
    int asked = 0;
    for (; asked < 100 && tier_health_usable(health, 0, now_ms); asked++) {
        struct tier_ticket ticket = enter(health, now_ms);
        CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
        tier_health_connecting(health, 0, now_ms);
        now_ms += 1000;
        tier_health_connected(health, 0, false, 1000, now_ms);
        tier_health_leave(health, 0, &ticket, NULL, now_ms);
    }
    CHECK(asked == 5 && rest_of(health, now_ms) == REST_UNREACHED);
    tier_health_free(health);
}

static void test_connecting_is_bounded_by_what_is_usual(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    for (int i = 0; i < 5; i++) {
        CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
        tier_health_connecting(health, 0, 0);
        tier_health_connected(health, 0, true, 300, 0);
    }
    CHECK(tier_health_connect_ms(health, 0, 5000) == 2400);
    CHECK(tier_health_connect_ms(health, 0, 1000) == 1000);
    for (int i = 0; i < 50; i++) {
        tier_health_connecting(health, 0, 0);
        tier_health_connected(health, 0, true, 2, 0);
    }
    CHECK(tier_health_connect_ms(health, 0, 5000) == 1500); /* one lost packet is no black hole */
    tier_health_free(health);
}

static void test_a_time_out_while_others_connect_is_no_fact_about_the_tier(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    struct tier_ticket ticket = enter(health, 0);
    CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
    tier_health_connecting(health, 0, 0);
    tier_health_connecting(health, 0, 3000);
    tier_health_connected(health, 0, true, 20, 3020);
    tier_health_connected(health, 0, false, 5000, 5000);
    tier_health_leave(health, 0, &ticket, &unreached, 5000);
    CHECK(tier_health_usable(health, 0, 5000));
    tier_health_free(health);
}

static void test_a_change_of_the_network_is_a_reason_to_look_at_once(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t wait_ms;
    tier_health_note_network(health, TD_NETWORK_OFFLINE, 0);
    CHECK(ask(health, &unreached, 0) && wakes == 1);
    CHECK(!is_due(health, 100, &wait_ms) && wait_ms > 0);
    tier_health_note_network(health, TD_NETWORK_OFFLINE, 100); /* no news */
    CHECK(wakes == 1);
    tier_health_note_network(health, TD_NETWORK_ONLINE, 100);
    CHECK(wakes == 2 && is_due(health, 100, &wait_ms));
    tier_health_free(health);
}

static void test_silence_is_checked_and_ends_for_those_who_have_another_tier(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    struct tier_probe_wish wish;
    struct tier_ticket ticket = enter(health, 0);
    CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
    CHECK(!tier_health_is_mute(health, 0, 0, true, 1500) && wakes == 0);
    CHECK(!tier_health_is_mute(health, 0, 0, true, 1501) && wakes == 1);
    CHECK(!tier_health_is_mute(health, 0, 0, true, 1700) && wakes == 1);
    tier_health_probe_due(health, 0, 1701, &wish);
    CHECK(wish.due && wish.within_ms == 2500 && rest_of(health, 1701) == REST_NONE);
    tier_health_probed(health, 0, false, 4201);
    CHECK(rest_of(health, 4201) == REST_UNREACHED);
    CHECK(tier_health_is_mute(health, 0, 0, true, 4250));
    CHECK(!tier_health_is_mute(health, 0, 0, false, 4250)); /* waits on: there is nobody else */
    tier_health_connected(health, 0, true, 10, 4300);       /* it takes connections, as before */
    CHECK(rest_of(health, 4300) == REST_UNREACHED);
    tier_health_heard(health, 0, 4400);
    CHECK(rest_of(health, 4400) == REST_NONE);
    tier_health_leave(health, 0, &ticket, &good, 4500);
    tier_health_free(health);
}

static void test_a_server_that_thinks_is_checked_now_and_then_and_does_not_rest(void)
{
    struct tier_health *health = probed_health();
    REQUIRE(health);
    uint64_t wait_ms, checks = 0;
    for (uint64_t now_ms = 0; now_ms < 60000; now_ms += 250) {
        CHECK(!tier_health_is_mute(health, 0, 0, true, now_ms));
        if (is_due(health, now_ms, &wait_ms)) {
            checks++;
            tier_health_probed(health, 0, true, now_ms);
        }
    }
    CHECK(checks == 6 && rest_of(health, 60000) == REST_NONE);
    /* Others hear something: there is nothing to check. */
    tier_health_heard(health, 0, 80000);
    CHECK(!tier_health_is_mute(health, 0, 0, true, 81000) && !is_due(health, 81000, &wait_ms));
    tier_health_free(health);
}

/* --- reloads --- */

static void test_a_shared_record_is_one_for_both_sets(void)
{
    struct tier_health *before = tier_health_new(1, NULL, NULL);
    struct tier_health *after = tier_health_new(3, NULL, NULL);
    REQUIRE(before && after);
    struct tier_ticket running = enter(before, 0);
    tier_health_share(before, 0, after, 0);
    tier_health_share(before, 1, after, 1); /* no such tier */
    const struct tier_result pause = asks_to_wait(60000);
    tier_health_leave(before, 0, &running, &pause, 10); /* an exchange of before the reload */
    CHECK(!tier_health_usable(after, 0, 59000) && tier_health_usable(after, 1, 59000));
    tier_health_free(before);
    CHECK(rest_of(after, 59000) == REST_ASKED);
    tier_health_free(after);
}

static void test_an_index_out_of_range_is_never_usable_and_does_no_harm(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    struct tier_ticket ticket = {0};
    REQUIRE(health);
    CHECK(!tier_health_usable(health, 1, 0) && !tier_health_usable(NULL, 0, 0));
    tier_health_leave(health, 1, &ticket, &good, 0);
    tier_health_connecting(NULL, 0, 0);
    tier_health_connected(health, 7, true, 0, 0);
    CHECK(tier_health_connect_ms(NULL, 0, 77) == 77 && tier_health_may_retry(NULL, 0, 0));
    tier_health_free(health);
    tier_health_free(NULL);
}

int main(void)
{
    RUN(test_three_failures_in_a_row_rest_a_tier_for_a_second);
    RUN(test_which_results_are_failures_of_the_tier);
    RUN(test_a_success_between_failures_clears);
    RUN(test_more_than_half_of_the_answers_failing_rests_a_tier);
    RUN(test_rests_double_to_thirty_seconds_and_start_over_after_a_success);
    RUN(test_the_failures_of_one_caller_count_where_nobody_else_is_answered);
    RUN(test_failures_of_most_callers_count);
    RUN(test_of_many_callers_the_newest_are_known);
    RUN(test_one_callers_many_failures_are_no_share_of_the_answers);
    RUN(test_a_trial_that_one_caller_alone_fails_does_not_lengthen_the_rest);
    RUN(test_late_failures_of_before_the_rest_do_not_lengthen_it);
    RUN(test_after_a_rest_one_tries_alone_and_is_not_repeated);
    RUN(test_one_that_tries_alone_bars_nobody_once_it_is_answered_left_or_silent);
    RUN(test_a_pause_holds_for_everyone_and_is_bounded);
    RUN(test_an_overloaded_tier_is_asked_less_at_a_time_until_it_answers);
    RUN(test_a_refused_key_is_tried_again_now_and_then);
    RUN(test_what_says_nothing_about_the_tier_is_ignored);
    RUN(test_limits_refuse_with_their_name);
    RUN(test_one_that_is_not_reached_rests_until_a_health_check_reaches_it);
    RUN(test_health_checks_end_when_nobody_asks_for_the_tier);
    RUN(test_without_a_prober_the_rest_of_an_unreached_tier_has_an_end);
    RUN(test_requests_that_connect_together_wait_no_longer_than_one_may);
    RUN(test_a_found_black_hole_releases_all_that_are_connecting);
    RUN(test_a_lone_request_waits_as_long_as_is_configured);
    RUN(test_deadlines_shorter_than_a_connect_time_out_find_a_black_hole_together);
    RUN(test_connecting_is_bounded_by_what_is_usual);
    RUN(test_a_time_out_while_others_connect_is_no_fact_about_the_tier);
    RUN(test_a_change_of_the_network_is_a_reason_to_look_at_once);
    RUN(test_silence_is_checked_and_ends_for_those_who_have_another_tier);
    RUN(test_a_server_that_thinks_is_checked_now_and_then_and_does_not_rest);
    RUN(test_a_shared_record_is_one_for_both_sets);
    RUN(test_an_index_out_of_range_is_never_usable_and_does_no_harm);
    return test_finish();
}
