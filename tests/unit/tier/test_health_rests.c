/* Which code of a server leads to which rest, how rests follow each other, and the edges of what is
 * counted. test_health.c has the course of each kind of rest. */
#include "tier/health.h"

#include "test.h"
#include "tier/tier.h"
#include "tier/witness.h"

static const struct tier_result good = {.status = TD_OK};
static const struct tier_result failed = {.status = TD_UNAVAILABLE, .http_status = 500};
static const struct tier_result unreached = {.status = TD_TIMEOUT, .reach = TIER_UNREACHED};
static const struct tier_result refused = {.status = TD_DENIED, .http_status = 401};

static struct tier_result answer(enum td_status status, int http, uint64_t pause_ms)
{
    return (struct tier_result){.status = status, .http_status = http, .retry_after_ms = pause_ms};
}

static struct tier_state state_at(struct tier_health *health, uint64_t now_ms)
{
    struct tier_state state = {0};
    tier_health_look(health, 0, now_ms, &state);
    return state;
}

static enum tier_rest rest_of(struct tier_health *health, uint64_t now_ms)
{
    return state_at(health, now_ms).rest;
}

static struct tier_ticket enter(struct tier_health *health, uint32_t tokens, uint64_t now_ms)
{
    struct tier_ticket ticket;
    struct tier_state why;
    const struct tier_entry entry = {.prompt_tokens = tokens};
    tier_health_enter(health, 0, &entry, now_ms, &ticket, &why);
    return ticket;
}

/* A request that begins and ends now. Whether it was let in. */
static bool ask(struct tier_health *health, struct tier_result result, uint64_t now_ms)
{
    struct tier_ticket ticket = enter(health, 10, now_ms);
    bool inside = ticket.inside;
    tier_health_leave(health, 0, &ticket, &result, now_ms);
    return inside;
}

static struct tier_health *new_health(void)
{
    struct tier_health *health = tier_health_new(1, NULL, NULL);
    if (!health)
        abort();
    return health;
}

/* --- codes --- */

static void test_each_code_of_a_server_leads_to_its_rest(void)
{
    static const struct {
        enum td_status status;
        int http;
        uint64_t pause_ms;
        int times; /* so often; the rest is not there one time before */
        enum tier_rest rest;
    } cases[] = {
        {TD_BUSY, 429, 5000, 1, REST_ASKED},
        {TD_UNAVAILABLE, 503, 5000, 1, REST_ASKED},
        {TD_UNAVAILABLE, 529, 5000, 1, REST_ASKED},
        {TD_BUSY, 429, 1, 1, REST_ASKED},
        {TD_BUSY, 429, 0, 3, REST_FAILING},
        {TD_UNAVAILABLE, 503, 0, 3, REST_FAILING},
        {TD_UNAVAILABLE, 529, 0, 3, REST_FAILING},
        {TD_UNAVAILABLE, 500, 5000, 3, REST_FAILING}, /* it did not say that it is overloaded */
        {TD_UNAVAILABLE, 502, 5000, 3, REST_FAILING},
        {TD_DENIED, 401, 0, 2, REST_REFUSING},
        {TD_DENIED, 403, 0, 2, REST_REFUSING},
        {TD_NOT_FOUND, 404, 0, 2, REST_REFUSING},
        {TD_DENIED, 402, 0, 50, REST_NONE},
        {TD_INVALID, 400, 5000, 50, REST_NONE},
        {TD_INVALID, 405, 0, 50, REST_NONE},
        {TD_LIMIT, 413, 5000, 50, REST_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_health *health = new_health();
        for (int n = 0; n < cases[i].times; n++) {
            CHECK(rest_of(health, 1000) == REST_NONE);
            CHECK(ask(health, answer(cases[i].status, cases[i].http, cases[i].pause_ms), 1000));
        }
        struct tier_state state = state_at(health, 1000);
        CHECK(state.rest == cases[i].rest);
        CHECK(state.rest_http == (cases[i].rest ? cases[i].http : 0));
        if (state.rest != cases[i].rest)
            fprintf(stderr, "  HTTP %d: rest %d\n", cases[i].http, (int)state.rest);
        tier_health_free(health);
    }
}

/* Only the status of an attempt that reached nobody says so: not what was refused here, and not
 * what had been cancelled. */
static void test_only_a_failure_without_a_connection_is_one_to_reach_the_tier(void)
{
    for (int status = TD_OK; status <= TD_INTERNAL; status++) {
        struct tier_health *health = new_health();
        struct tier_result result = {.status = (enum td_status)status, .reach = TIER_UNREACHED};
        CHECK(ask(health, result, 1000));
        bool rests = status == TD_UNAVAILABLE || status == TD_TIMEOUT;
        CHECK(rest_of(health, 1000) == (rests ? REST_UNREACHED : REST_NONE));
        tier_health_free(health);
    }
}

static void test_the_code_of_a_rest_is_forgotten_with_it(void)
{
    struct tier_health *health = new_health();
    CHECK(ask(health, answer(TD_BUSY, 429, 1000), 0) && state_at(health, 10).rest_http == 429);
    CHECK(ask(health, unreached, 1000)); /* the trial after the pause reaches nobody */
    CHECK(rest_of(health, 1000) == REST_UNREACHED && state_at(health, 1000).rest_http == 0);
    CHECK(ask(health, good, 9000) && state_at(health, 9000).rest_http == 0);
    tier_health_free(health);
}

/* --- rests that follow each other --- */

static void test_a_pause_may_be_made_longer_and_not_shorter(void)
{
    static const struct {
        uint64_t second_ms, ends_ms;
    } cases[] = {{30000, 60000}, {49999, 60000}, {50000, 60000}, {50001, 60001}, {90000, 100000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_health *health = new_health();
        struct tier_ticket late = enter(health, 10, 0);
        CHECK(ask(health, answer(TD_BUSY, 429, 60000), 0));
        struct tier_result second = answer(TD_UNAVAILABLE, 503, cases[i].second_ms);
        tier_health_leave(health, 0, &late, &second, 10000);
        CHECK(rest_of(health, cases[i].ends_ms - 1) == REST_ASKED);
        CHECK(rest_of(health, cases[i].ends_ms) == REST_NONE);
        tier_health_free(health);
    }
}

/* Requests of before a pause that end in it: what they say does not end or replace it. */
static void test_what_began_before_a_pause_leaves_it_as_it_is(void)
{
    static const struct tier_result *const late[] = {&good, &failed, &refused};
    for (size_t i = 0; i < 3; i++) {
        struct tier_health *health = new_health();
        struct tier_ticket tickets[5];
        for (int n = 0; n < 5; n++)
            tickets[n] = enter(health, 10, 0);
        CHECK(ask(health, answer(TD_BUSY, 429, 60000), 0));
        for (int n = 0; n < 5; n++)
            tier_health_leave(health, 0, &tickets[n], late[i], 100);
        CHECK(rest_of(health, 59999) == REST_ASKED && state_at(health, 100).rest_http == 429);
        CHECK(rest_of(health, 60000) == REST_NONE);
        tier_health_free(health);
    }
}

static void test_refusals_rest_longer_each_time_up_to_ten_minutes(void)
{
    static const uint64_t rests_ms[] = {30000, 60000, 120000, 240000, 480000, 600000, 600000};
    struct tier_health *health = new_health();
    uint64_t now_ms = 0;
    CHECK(ask(health, refused, now_ms));
    for (size_t i = 0; i < sizeof rests_ms / sizeof *rests_ms; i++) {
        CHECK(ask(health, refused, now_ms));
        CHECK(rest_of(health, now_ms + rests_ms[i] - 1) == REST_REFUSING);
        now_ms += rests_ms[i];
        CHECK(rest_of(health, now_ms) == REST_NONE);
    }
    tier_health_free(health);
}

/* A failure in a trial is enough; so is one for the tier that is asked again after its rest. */
static void test_a_success_ends_both_rows_and_a_failure_only_its_own(void)
{
    struct tier_health *health = new_health();
    CHECK(ask(health, refused, 0) && ask(health, failed, 0) && ask(health, failed, 0));
    CHECK(ask(health, good, 0));
    CHECK(ask(health, refused, 0) && ask(health, failed, 0) && ask(health, failed, 0));
    CHECK(rest_of(health, 0) == REST_NONE);
    CHECK(ask(health, refused, 0) && rest_of(health, 0) == REST_REFUSING);
    tier_health_free(health);
}

/* --- counting --- */

/* Nine results are too few for a share, ten are enough, and a half is not more than a half. */
static void test_the_share_of_failures_needs_ten_results_and_more_than_half(void)
{
    static const char *const rows[] = {
        "ffgffgfg.",    /* 8 of which 5 failed: too few */
        "ffgffgffg.",   /* 9 of which 6 failed: too few */
        "gfgfgfgfgf.",  /* half of ten */
        "ffgffgffgf!",  /* 7 of 10 */
        "gfgfgfgfgff!", /* the sixth failure among eleven or twelve */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tier_health *health = new_health();
        const char *at = rows[i];
        for (; *at == 'f' || *at == 'g'; at++)
            CHECK(ask(health, *at == 'f' ? failed : good, 1000));
        CHECK((rest_of(health, 1000) == REST_FAILING) == (*at == '!'));
        if ((rest_of(health, 1000) == REST_FAILING) != (*at == '!'))
            fprintf(stderr, "  row %s\n", rows[i]);
        tier_health_free(health);
    }
}

/* Of forty results, half a minute ago, twenty count; after three minutes less than one does. */
static void test_what_was_counted_counts_half_after_half_a_minute(void)
{
    struct tier_health *health = new_health();
    for (int i = 0; i < 40; i++)
        CHECK(ask(health, good, 1000));
    int asked = 0;
    for (; asked < 100 && rest_of(health, 31000) == REST_NONE; asked++) {
        CHECK(ask(health, failed, 31000));
        if (asked % 2 == 1 && rest_of(health, 31000) == REST_NONE)
            CHECK(ask(health, good, 31000)); /* never three in a row */
    }
    CHECK(asked >= 38 && asked <= 44); /* 20 + asked / 2 good ones */
    tier_health_free(health);
}

static void test_tokens_are_counted_when_they_are_sent_and_when_they_come(void)
{
    struct tier_health *health = new_health();
    tier_health_set_limits(health, 0, (struct tier_limits){.tokens_per_minute = 100});
    struct tier_ticket ticket = enter(health, 99, 1000);
    CHECK(rest_of(health, 1000) == REST_NONE);
    struct tier_result one = {.status = TD_OK, .usage.completion_tokens = 1};
    tier_health_leave(health, 0, &ticket, &one, 2000);
    struct tier_state state = state_at(health, 2000);
    CHECK(state.rest == REST_TOKENS && state.rest_ms == 59000); /* until the 99 are forgotten */
    CHECK(rest_of(health, 60999) == REST_TOKENS && rest_of(health, 61000) == REST_NONE);
    ticket = enter(health, 98, 61000);
    CHECK(rest_of(health, 61000) == REST_NONE); /* 1 + 98 */
    tier_health_leave(health, 0, &ticket, NULL, 61000);
    CHECK(rest_of(health, 61000) == REST_NONE);
    ticket = enter(health, 1, 61000);
    CHECK(ticket.inside && rest_of(health, 61000) == REST_TOKENS);
    tier_health_leave(health, 0, &ticket, NULL, 61000);
    tier_health_free(health);
}

/* One that is not let in takes no place, no request and no token. */
static void test_one_that_was_not_let_in_is_not_counted(void)
{
    struct tier_health *health = new_health();
    tier_health_set_limits(
        health, 0,
        (struct tier_limits){.concurrent = 1, .requests_per_minute = 2, .tokens_per_minute = 50});
    struct tier_ticket first = enter(health, 10, 1000), out = enter(health, 100, 1000);
    CHECK(first.inside && !out.inside);
    tier_health_leave(health, 0, &out, &failed, 1000); /* leaves nothing, because it had nothing */
    CHECK(rest_of(health, 1000) == REST_CONCURRENT);
    tier_health_leave(health, 0, &first, &good, 1000);
    tier_health_leave(health, 0, &first, &good, 1000); /* a ticket is good for one time */
    CHECK(rest_of(health, 1000) == REST_NONE);
    first = enter(health, 10, 1000);
    CHECK(first.inside && rest_of(health, 1000) == REST_CONCURRENT);
    tier_health_leave(health, 0, &first, &good, 1000);
    CHECK(rest_of(health, 1000) == REST_REQUESTS);
    tier_health_free(health);
}

/* A second try takes a retry and a request of the minute, and keeps the place that it has. */
static void test_a_second_try_needs_a_tier_that_may_be_asked(void)
{
    struct tier_health *health = new_health();
    tier_health_set_limits(health, 0,
                           (struct tier_limits){.concurrent = 1, .requests_per_minute = 3});
    struct tier_ticket ticket = enter(health, 10, 1000);
    CHECK(tier_health_may_retry(health, 0, 1000) && rest_of(health, 1000) == REST_CONCURRENT);
    CHECK(!tier_health_may_retry(health, 0, 1000)); /* the budget is empty */
    tier_health_leave(health, 0, &ticket, &good, 1000);
    CHECK(rest_of(health, 1000) == REST_NONE); /* two were counted, not three */
    CHECK(ask(health, good, 1000) && rest_of(health, 1000) == REST_REQUESTS);
    tier_health_free(health);

    health = new_health(); /* one that rests is not asked again, and no retry is spent */
    ticket = enter(health, 10, 0);
    CHECK(ask(health, answer(TD_BUSY, 429, 1000), 0));
    CHECK(!tier_health_may_retry(health, 0, 999) && tier_health_may_retry(health, 0, 1000));
    tier_health_leave(health, 0, &ticket, NULL, 1000);
    tier_health_free(health);
}

/* After a 429 one at a time; each answer lets a part of one more in, until there is no bound. */
static void test_an_overloaded_tier_is_let_grow_again_step_by_step(void)
{
    static const struct {
        int answers; /* since the step before */
        int inside;
    } steps[] = {{0, 1}, {1, 2}, {2, 2}, {1, 3}, {56, 40}};
    struct tier_health *health = new_health();
    CHECK(ask(health, answer(TD_BUSY, 429, 0), 0));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct tier_ticket tickets[40];
        int inside = 0;
        for (int n = 0; n < steps[i].answers; n++)
            CHECK(ask(health, good, 0));
        while (inside < 40 && (tickets[inside] = enter(health, 1, 0)).inside)
            inside++;
        CHECK(inside == steps[i].inside);
        CHECK(inside == 40 || rest_of(health, 0) == REST_SLOWED);
        while (inside > 0)
            tier_health_leave(health, 0, &tickets[--inside], NULL, 0);
    }
    tier_health_free(health);
}

/* Else one stream that stalls would keep all others out until it ends. */
static void test_an_overloaded_tier_is_let_grow_again_while_old_answers_go_on(void)
{
    struct tier_health *health = new_health();
    struct tier_ticket stalled = enter(health, 1, 0);
    CHECK(ask(health, answer(TD_BUSY, 429, 0), 0));
    CHECK(rest_of(health, 0) == REST_SLOWED && rest_of(health, 999) == REST_SLOWED);
    CHECK(rest_of(health, 1000) == REST_NONE);
    struct tier_ticket second = enter(health, 2, 1000);
    CHECK(second.inside && rest_of(health, 1000) == REST_SLOWED);
    CHECK(rest_of(health, 2000) == REST_NONE);
    tier_health_leave(health, 0, &second, NULL, 2000);
    tier_health_leave(health, 0, &stalled, NULL, 2000);
    tier_health_free(health);
}

/* --- who else --- */

/* The one who tries a tier alone and fails makes the rest longer at once; one of before does not.
 */
static void test_a_trial_decides_alone(void)
{
    struct tier_health *health = new_health();
    struct tier_ticket old = enter(health, 10, 0);
    for (int i = 0; i < 3; i++)
        CHECK(ask(health, failed, 0));
    struct tier_ticket trial = enter(health, 10, 1000);
    CHECK(trial.alone && rest_of(health, 10999) == REST_TRIED);
    tier_health_leave(health, 0, &old, &refused, 1001); /* says nothing about its end */
    CHECK(rest_of(health, 1001) == REST_TRIED);
    tier_health_leave(health, 0, &trial, &failed, 1100);
    CHECK(rest_of(health, 3099) == REST_FAILING && rest_of(health, 3100) == REST_NONE);
    tier_health_free(health);
}

static void test_a_trial_that_was_answered_bars_nobody_after_the_next_rest(void)
{
    struct tier_health *health = new_health();
    for (int i = 0; i < 3; i++)
        CHECK(ask(health, failed, 0));
    struct tier_ticket trial = enter(health, 10, 1000);
    struct tier_state tried = {.rest_ms = 77}, none = {.rest_ms = 77};
    tier_health_look(health, 0, 1050, &tried);
    CHECK(trial.alone && tried.rest == REST_TRIED && tried.rest_ms == 0);
    tier_health_answered(health, 0, &trial, 1100); /* and it goes on for long */
    tier_health_look(health, 0, 1100, &none);
    CHECK(none.reachable && none.rest_ms == 0 && none.rest_http == 0);
    for (int i = 0; i < 3; i++)
        CHECK(ask(health, failed, 1200));
    CHECK(rest_of(health, 2199) == REST_FAILING && rest_of(health, 2200) == REST_NONE);
    tier_health_leave(health, 0, &trial, NULL, 2300);
    tier_health_free(health);
}

/* An answer's first words end the rest only when it is over: a later pause of the server stays. */
static void test_the_first_words_of_a_trial_do_not_end_a_later_pause(void)
{
    struct tier_health *health = new_health();
    struct tier_ticket other = enter(health, 10, 0);
    for (int i = 0; i < 3; i++)
        CHECK(ask(health, failed, 0));
    struct tier_ticket trial = enter(health, 10, 1000);
    struct tier_result pause = answer(TD_BUSY, 429, 60000);
    tier_health_leave(health, 0, &other, &pause, 1500);
    tier_health_answered(health, 0, &trial, 1600);
    CHECK(rest_of(health, 61499) == REST_ASKED);
    tier_health_leave(health, 0, &trial, NULL, 1700);
    CHECK(rest_of(health, 61499) == REST_ASKED && rest_of(health, 61500) == REST_NONE);
    tier_health_free(health);
}

/* --- health checks --- */

struct bell {
    int rung;
};

static void ring(void *ctx)
{
    ((struct bell *)ctx)->rung++;
}

static void test_the_prober_is_woken_with_what_it_gave_and_looks_soon(void)
{
    struct bell bell = {0};
    struct tier_health *health = tier_health_new(1, ring, &bell);
    struct tier_probe_wish wish;
    REQUIRE(health);
    CHECK(ask(health, unreached, 1000) && bell.rung == 1);
    tier_health_probe_due(health, 0, 1000, &wish);
    CHECK(!wish.due && wish.wait_ms >= 400 && wish.wait_ms <= 600);
    uint64_t due_ms = 1000 + wish.wait_ms;
    tier_health_probe_due(health, 0, due_ms - 1, &wish);
    CHECK(!wish.due && wish.wait_ms == 1);
    tier_health_probe_due(health, 0, due_ms, &wish);
    CHECK(wish.due && wish.within_ms == 0);
    tier_health_probed(health, 0, false, due_ms);
    tier_health_probe_due(health, 0, due_ms, &wish); /* twice as long */
    CHECK(!wish.due && wish.wait_ms >= 800 && wish.wait_ms <= 1200);
    tier_health_probed(health, 0, true, due_ms);
    CHECK(rest_of(health, due_ms) == REST_NONE);
    CHECK(ask(health, unreached, due_ms) && bell.rung == 2);
    tier_health_free(health);
}

/* Two that found the same are one rest, and one message to the prober. */
static void test_a_rest_that_is_found_twice_is_one(void)
{
    struct bell bell = {0};
    struct tier_health *health = tier_health_new(1, ring, &bell);
    REQUIRE(health);
    struct tier_ticket first = enter(health, 10, 0), second = enter(health, 10, 0);
    struct tier_probe_wish wish;
    tier_health_leave(health, 0, &first, &unreached, 5000);
    tier_health_leave(health, 0, &second, &unreached, 5300);
    tier_health_probe_due(health, 0, 5300, &wish);
    CHECK(bell.rung == 1 && wish.wait_ms <= 300); /* of the first one's 400 to 600 */
    tier_health_free(health);
}

static void test_the_first_word_about_the_network_is_no_change_of_it(void)
{
    struct bell bell = {0};
    struct tier_health *health = tier_health_new(1, ring, &bell);
    REQUIRE(health);
    CHECK(ask(health, unreached, 0) && bell.rung == 1);
    tier_health_note_network(health, TD_NETWORK_ONLINE, 100);
    CHECK(bell.rung == 1);
    tier_health_note_network(health, TD_NETWORK_OFFLINE, 200);
    CHECK(bell.rung == 2);
    tier_health_free(health);
}

/* Without a prober a change of the network ends the rest, and no other rest. */
static void test_a_change_of_the_network_ends_only_the_rest_of_what_was_not_reached(void)
{
    static const struct tier_result *const results[] = {&unreached, &failed};
    for (int i = 0; i < 2; i++) {
        struct tier_health *health = new_health();
        tier_health_note_network(health, TD_NETWORK_OFFLINE, 0);
        for (int n = 0; n < (i ? 3 : 1); n++)
            CHECK(ask(health, *results[i], 0));
        tier_health_note_network(health, TD_NETWORK_ONLINE, 100);
        CHECK(rest_of(health, 100) == (i ? REST_FAILING : REST_NONE));
        tier_health_free(health);
    }
}

/* A connection came about after this one began to wait: its own time-out says nothing. The same
 * moment is before it. */
static void test_a_time_out_counts_when_nobody_connected_since_it_began(void)
{
    for (uint64_t contact_ms = 999; contact_ms <= 1001; contact_ms++) {
        struct tier_health *health = new_health();
        tier_health_connecting(health, 0, 900);
        struct tier_ticket ticket = enter(health, 10, 1000);
        tier_health_connected(health, 0, true, 10, contact_ms);
        tier_health_leave(health, 0, &ticket, &unreached, 6000);
        CHECK(tier_health_usable(health, 0, 6000) == (contact_ms > 1000));
        tier_health_free(health);
    }
}

/* A rest that a health check began is forgotten whole: a connection ends the next one. */
static void test_a_server_that_was_mute_is_not_mute_for_good(void)
{
    struct bell bell = {0};
    struct tier_health *health = tier_health_new(1, ring, &bell);
    REQUIRE(health);
    CHECK(!tier_health_is_mute(health, 0, 0, true, 1501) && bell.rung == 1);
    tier_health_probed(health, 0, false, 2000);
    tier_health_heard(health, 0, 2100);
    CHECK(rest_of(health, 2100) == REST_NONE);
    CHECK(ask(health, unreached, 3000) && rest_of(health, 3000) == REST_UNREACHED);
    tier_health_connecting(health, 0, 3000);
    tier_health_connected(health, 0, true, 10, 3100);
    CHECK(rest_of(health, 3100) == REST_NONE);
    tier_health_free(health);
}

/* A quarter of a second for each, as much for the others, and three quarters of what one may. */
static void test_those_that_connect_together_give_up_at_the_edge(void)
{
    static const struct {
        uint32_t limit_ms, count;
        uint64_t at_ms;
    } cases[] = {{5000, 3, 1250}, {5000, 1, 5000}, {400, 2, 250}, {400, 9, 250}, {5000, 15, 250}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t early = 0; early < 2; early++) {
            struct bell bell = {0};
            struct tier_health *health = tier_health_new(1, ring, &bell);
            REQUIRE(health);
            CHECK(tier_health_connect_ms(health, 0, cases[i].limit_ms) == cases[i].limit_ms);
            for (uint32_t n = 0; n < cases[i].count; n++)
                tier_health_connecting(health, 0, 0);
            bool up = tier_health_gives_up(health, 0, 0, true, cases[i].at_ms - early);
            CHECK(up == (!early && cases[i].count > 1)); /* alone: as long as is configured */
            tier_health_free(health);
        }
    CHECK(!tier_health_gives_up(NULL, 0, 0, true, 9000));
    CHECK(!tier_health_is_mute(NULL, 0, 0, true, 9000));
}

/* Several slow handshakes are no black hole to one that has nowhere else to go. */
static void test_slow_connections_alone_send_nobody_away_who_has_nowhere_to_go(void)
{
    struct bell bell = {0};
    struct tier_health *health = tier_health_new(1, ring, &bell);
    REQUIRE(health);
    CHECK(tier_health_connect_ms(health, 0, 1000) == 1000);
    for (int i = 0; i < 3; i++)
        tier_health_connecting(health, 0, 0);
    for (uint64_t now_ms = 4000; now_ms <= 8000; now_ms += 4000) {
        tier_health_connected(health, 0, false, now_ms, now_ms);
        CHECK(rest_of(health, now_ms) == REST_UNREACHED);
        CHECK(tier_health_gives_up(health, 0, 0, true, now_ms));
        CHECK(!tier_health_gives_up(health, 0, 0, false, now_ms));
    }
    tier_health_free(health);
}

/* The five that are known are connections, not attempts; and the slowest of late counts, a tenth
 * less with each. */
static void test_the_usual_time_of_a_connection_is_that_of_the_slowest_of_late(void)
{
    struct tier_health *health = new_health();
    for (int i = 0; i < 20; i++) {
        tier_health_connecting(health, 0, 0);
        tier_health_connected(health, 0, false, 100, 0);
    }
    for (int i = 0; i < 4; i++) {
        tier_health_connecting(health, 0, 0);
        tier_health_connected(health, 0, true, 250, 0);
        CHECK(tier_health_connect_ms(health, 0, 5000) == 5000);
    }
    tier_health_connecting(health, 0, 0);
    tier_health_connected(health, 0, true, 500, 0);
    CHECK(tier_health_connect_ms(health, 0, 5000) == 4000);
    tier_health_connecting(health, 0, 0);
    tier_health_connected(health, 0, true, 1, 0);
    CHECK(tier_health_connect_ms(health, 0, 5000) == 3600);
    tier_health_free(health);
}

static void test_a_share_with_a_set_that_has_no_such_tier_changes_nothing(void)
{
    struct tier_health *from = new_health(), *to = tier_health_new(2, NULL, NULL);
    REQUIRE(to);
    for (int i = 0; i < 3; i++)
        CHECK(ask(from, failed, 0));
    tier_health_share(from, 0, to, 2);
    tier_health_share(from, 1, to, 0);
    CHECK(tier_health_usable(to, 0, 0) && tier_health_usable(to, 1, 0));
    tier_health_share(from, 0, to, 1);
    CHECK(tier_health_usable(to, 0, 0) && !tier_health_usable(to, 1, 0));
    tier_health_free(from);
    tier_health_free(to);
}

int main(void)
{
    RUN(test_each_code_of_a_server_leads_to_its_rest);
    RUN(test_only_a_failure_without_a_connection_is_one_to_reach_the_tier);
    RUN(test_the_code_of_a_rest_is_forgotten_with_it);
    RUN(test_a_pause_may_be_made_longer_and_not_shorter);
    RUN(test_what_began_before_a_pause_leaves_it_as_it_is);
    RUN(test_refusals_rest_longer_each_time_up_to_ten_minutes);
    RUN(test_a_success_ends_both_rows_and_a_failure_only_its_own);
    RUN(test_the_share_of_failures_needs_ten_results_and_more_than_half);
    RUN(test_what_was_counted_counts_half_after_half_a_minute);
    RUN(test_tokens_are_counted_when_they_are_sent_and_when_they_come);
    RUN(test_one_that_was_not_let_in_is_not_counted);
    RUN(test_a_second_try_needs_a_tier_that_may_be_asked);
    RUN(test_an_overloaded_tier_is_let_grow_again_step_by_step);
    RUN(test_an_overloaded_tier_is_let_grow_again_while_old_answers_go_on);
    RUN(test_a_trial_decides_alone);
    RUN(test_a_trial_that_was_answered_bars_nobody_after_the_next_rest);
    RUN(test_the_first_words_of_a_trial_do_not_end_a_later_pause);
    RUN(test_the_prober_is_woken_with_what_it_gave_and_looks_soon);
    RUN(test_a_rest_that_is_found_twice_is_one);
    RUN(test_the_first_word_about_the_network_is_no_change_of_it);
    RUN(test_a_change_of_the_network_ends_only_the_rest_of_what_was_not_reached);
    RUN(test_a_time_out_counts_when_nobody_connected_since_it_began);
    RUN(test_a_server_that_was_mute_is_not_mute_for_good);
    RUN(test_those_that_connect_together_give_up_at_the_edge);
    RUN(test_slow_connections_alone_send_nobody_away_who_has_nowhere_to_go);
    RUN(test_the_usual_time_of_a_connection_is_that_of_the_slowest_of_late);
    RUN(test_a_share_with_a_set_that_has_no_such_tier_changes_nothing);
    return test_finish();
}
