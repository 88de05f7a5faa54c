/* Hedged climbing: who is asked beside a slow tier, whose answer is given, and what becomes of the
 * other. */
#include "world.h"

#include "base/crypto/rng.h"
#include "exchange/limits/hedge_allowance.h"
#include "exchange/limits/spending.h"

#define AFTER_MS 100
#define TEXT_AFTER(ms, t)                                  \
    {                                                      \
        .kind = SCRIPT_TEXT, .delay_ms = (ms), .text = (t) \
    }
#define TOKEN_AFTER(ms, t, p)                                                   \
    {                                                                           \
        .kind = SCRIPT_TOKEN, .delay_ms = (ms), .text = (t), .probability = (p) \
    }
#define ROLE_AFTER(ms)                         \
    {                                          \
        .kind = SCRIPT_EMPTY, .delay_ms = (ms) \
    }
#define FAIL_AFTER(ms, s, m)                                              \
    {                                                                     \
        .kind = SCRIPT_FAIL, .delay_ms = (ms), .status = (s), .text = (m) \
    }

static const struct script_step slow[] = {TEXT_AFTER(2000, "Slow "), TEXT("answer"), DONE};
static const struct script_step slow_local[] = {TOKEN_AFTER(2000, "It ", 0.95), TOKEN("is.", 0.95),
                                                DONE};
static const struct script_step quick[] = {TEXT_AFTER(50, "Quick "), TEXT("answer"), DONE};
static const struct script_step stalls[] = {STALL};
static const struct script_step refused[] = {FAIL(TD_UNAVAILABLE, "connection refused")};

/* Two clouds; the first is slow. */
static void hedged(struct world *w)
{
    world_init(w);
    w->route.tiers[0] = "openai";
    w->route.tiers[1] = "other";
    w->route.hedge =
        (struct hedge_settings){.on = true, .percentile = 95, .after_ms = AFTER_MS, .share = 1};
    w->services.hedge_allowance = hedge_allowance_new();
    world_script(w, CLOUD, slow);
    world_script(w, OTHER, quick);
}

/* The device first, then a cloud. */
static void hedged_edge(struct world *w)
{
    hedged(w);
    w->route.tiers[0] = "local";
    w->route.tiers[1] = "openai";
    world_script(w, LOCAL, slow_local);
    world_script(w, CLOUD, quick);
}

static void done(struct world *w)
{
    struct hedge_numbers n;
    hedge_allowance_numbers(w->services.hedge_allowance, &n);
    CHECK(n.started == n.ended[HEDGE_WON] + n.ended[HEDGE_LOST] + n.ended[HEDGE_FAILED]);
    hedge_allowance_free(w->services.hedge_allowance);
    tier_latency_free(w->services.latency);
    world_deinit(w);
}

static struct hedge_numbers numbers(const struct world *w)
{
    struct hedge_numbers n;
    hedge_allowance_numbers(w->services.hedge_allowance, &n);
    return n;
}

static void begin(struct world *w)
{
    struct td_error err = {0};
    CHECK(world_start(w, &err) == TD_OK);
}

/* --- who answers --- */

static void test_a_slow_tier_is_hedged_and_the_quick_one_answers(void)
{
    struct world w;
    hedged(&w);
    begin(&w);
    virtual_loop_run(&w.loop, AFTER_MS);
    CHECK(w.tiers[OTHER].start_count == 1 && w.tiers[OTHER].purpose == EGRESS_HEDGE);
    CHECK(w.tiers[CLOUD].running == 1 && w.tiers[CLOUD].purpose == EGRESS_ATTEMPT);
    virtual_loop_run(&w.loop, 50);
    CHECK(strcmp(w.text, "Quick ") == 0);
    CHECK(w.tiers[CLOUD].running == 0 && w.tiers[CLOUD].cancel_count == 1); /* at once */
    virtual_loop_run(&w.loop, 100000);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Quick answer") == 0);
    CHECK(strcmp(w.tier, "other") == 0 && !w.degraded);
    CHECK(strcmp(ledger_seen.outcomes, "openai:cancelled other:answered") == 0);
    CHECK(world_has_reason(&w, REASON_HEDGED, "other"));
    CHECK(world_has_reason(&w, REASON_HEDGE_WON, "other"));
    CHECK(numbers(&w).started == 1 && numbers(&w).ended[HEDGE_WON] == 1);
    done(&w);
}

static void test_what_the_loser_cost_is_paid_and_recorded(void)
{
    struct world w;
    hedged(&w);
    world_run(&w);
    /* It had read the prompt: 100 tokens at a dollar a million. */
    CHECK(ledger_seen.attempts[0].prompt_tokens == 100 &&
          ledger_seen.attempts[0].completion_tokens == 0);
    CHECK(fabs(ledger_seen.attempts[0].cost_usd - 100e-6) < 1e-12);
    CHECK(ledger_seen.attempts[0].egress_bytes == 77 && ledger_seen.attempts[1].egress_bytes == 77);
    CHECK(fabs(w.summary.cost_usd - 100e-6) < 1e-12); /* the other one is free */
    CHECK(fabs(numbers(&w).spent_usd - 100e-6) < 1e-12);
    CHECK(ledger_seen.attempts[0].total_ms == AFTER_MS + 50);
    done(&w);
}

static void test_a_quick_tier_is_not_hedged(void)
{
    struct world w;
    hedged(&w);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && w.tiers[OTHER].start_count == 0);
    CHECK(numbers(&w).requests == 1 && numbers(&w).started == 0 && numbers(&w).refused == 0);
    done(&w);
}

static void test_a_role_without_text_is_not_yet_an_answer(void)
{
    static const struct script_step role_first[] = {ROLE_ONLY, TEXT_AFTER(2000, "Slow"), DONE};
    static const struct script_step role_too[] = {ROLE_ONLY, TEXT_AFTER(300, "Quick"), DONE};
    struct world w;
    hedged(&w);
    world_script(&w, CLOUD, role_first);
    world_script(&w, OTHER, role_too);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick") == 0 && w.summary.ttft_ms == AFTER_MS + 310);
    done(&w);
}

static void test_the_slow_one_may_answer_first_after_all(void)
{
    static const struct script_step almost[] = {TEXT_AFTER(AFTER_MS + 20, "Almost"), DONE};
    struct world w;
    hedged(&w);
    world_script(&w, CLOUD, almost);
    world_run(&w);
    CHECK(strcmp(w.text, "Almost") == 0 && strcmp(w.tier, "openai") == 0 && !w.degraded);
    CHECK(strcmp(ledger_seen.outcomes, "openai:answered other:cancelled") == 0);
    CHECK(world_has_reason(&w, REASON_HEDGE_LOST, "other"));
    CHECK(w.tiers[OTHER].cancel_count == 1 && numbers(&w).ended[HEDGE_LOST] == 1);
    done(&w);
}

static void test_of_two_answers_in_one_turn_one_is_given(void)
{
    /* The same millisecond: the loop calls the one first that was armed first, then the other is no
     * more. */
    static const struct script_step first[] = {TEXT_AFTER(AFTER_MS + 50, "Slow"),
                                               TEXT_AFTER(0, "!"), DONE};
    static const struct script_step second[] = {ROLE_AFTER(0), TEXT_AFTER(50, "Quick"),
                                                TEXT_AFTER(0, "?"), DONE};
    static const struct script_step whole[] = {TEXT_AFTER(50, "Quick"), {.kind = SCRIPT_DONE}};
    for (int i = 0; i < 3; i++) {
        struct world w;
        hedged(&w);
        world_script(&w, CLOUD, first);
        world_script(&w, OTHER, i == 0 ? second : i == 1 ? quick : whole);
        world_run(&w);
        CHECK(strcmp(w.text, "Slow!") == 0 || strcmp(w.text, i == 0   ? "Quick?"
                                                             : i == 1 ? "Quick answer"
                                                                      : "Quick") == 0);
        CHECK(w.tiers[CLOUD].cancel_count + w.tiers[OTHER].cancel_count == 1);
        done(&w);
    }
}

/* --- failures --- */

static void test_a_hedge_that_fails_does_no_harm(void)
{
    struct world w;
    hedged(&w);
    world_script(&w, OTHER, refused);
    world_run(&w);
    CHECK(strcmp(w.text, "Slow answer") == 0 && strcmp(w.events, "STD") == 0 && !w.degraded);
    CHECK(strcmp(ledger_seen.outcomes, "openai:answered other:failed") == 0);
    CHECK(numbers(&w).ended[HEDGE_FAILED] == 1);
    done(&w);
    hedged(&w);
    w.tiers[OTHER].start_status = TD_BUSY; /* at once */
    world_run(&w);
    CHECK(strcmp(w.text, "Slow answer") == 0 && numbers(&w).ended[HEDGE_FAILED] == 1);
    done(&w);
}

static void test_a_hedge_goes_on_when_the_slow_one_fails(void)
{
    static const struct script_step dies[] = {FAIL_AFTER(AFTER_MS + 10, TD_UNAVAILABLE, "reset")};
    struct world w;
    hedged(&w);
    world_script(&w, CLOUD, dies);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0 && w.tiers[OTHER].start_count == 1);
    CHECK(strcmp(ledger_seen.outcomes, "openai:failed other:answered") == 0);
    CHECK(numbers(&w).ended[HEDGE_WON] == 1);
    done(&w);
}

static void test_when_both_fail_both_are_named(void)
{
    static const struct script_step dies[] = {FAIL_AFTER(AFTER_MS + 100, TD_IO, "reset")};
    static const struct script_step cut[] = {ROLE_AFTER(60), FAIL_AFTER(60, TD_CORRUPT, "cut")};
    for (int i = 0; i < 2; i++) { /* either may be the last */
        struct world w;
        hedged(&w);
        world_script(&w, CLOUD, dies);
        world_script(&w, OTHER, i ? refused : cut);
        world_run(&w);
        CHECK(strcmp(w.events, "F") == 0 && w.status == TD_UNAVAILABLE);
        CHECK(strstr(w.message, "openai: reset") &&
              strstr(w.message, i ? "other: connection refused" : "other: cut"));
        done(&w);
    }
}

static void test_a_hedge_that_breaks_off_after_its_text_is_continued_by_the_slow_tier(void)
{
    static const struct script_step cut[] = {TEXT("Qui"), FAIL(TD_CORRUPT, "cut")};
    struct world w;
    hedged(&w);
    world_script(&w, OTHER, cut);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "QuiSlow answer") == 0);
    CHECK(w.summary.seam_count == 1);
    w.request.corrections = true; /* who takes corrections gets the slow one's answer after all */
    world_run(&w);
    CHECK(strcmp(w.text, "Slow answer") == 0 && w.tiers[CLOUD].start_count == 4);
    done(&w);
}

static void test_the_deadline_ends_both(void)
{
    struct world w;
    hedged(&w);
    world_script(&w, CLOUD, stalls);
    world_script(&w, OTHER, stalls);
    w.services.deadline_ms = 500;
    world_run(&w);
    CHECK(strcmp(w.events, "F") == 0 && w.status == TD_TIMEOUT);
    CHECK(w.tiers[CLOUD].cancel_count == 1 && w.tiers[OTHER].cancel_count == 1);
    CHECK(strcmp(ledger_seen.outcomes, "openai:failed other:failed") == 0);
    done(&w);
}

static void test_a_client_that_leaves_cancels_both(void)
{
    struct world w;
    hedged(&w);
    begin(&w);
    virtual_loop_run(&w.loop, AFTER_MS + 10);
    CHECK(w.tiers[CLOUD].running == 1 && w.tiers[OTHER].running == 1);
    exchange_cancel(w.exchange);
    CHECK(w.tiers[CLOUD].cancel_count == 1 && w.tiers[OTHER].cancel_count == 1);
    CHECK(strcmp(ledger_seen.outcomes, "openai:cancelled other:cancelled") == 0);
    virtual_loop_run(&w.loop, 100000);
    CHECK(w.end_count == 0 && w.events[0] == '\0');
    done(&w);
    hedged(&w); /* from inside its first text */
    w.cancel_at_text = 1;
    begin(&w);
    virtual_loop_run(&w.loop, 100000);
    CHECK(w.end_count == 0 && strcmp(w.text, "Quick ") == 0);
    done(&w);
}

/* --- gates --- */

static void test_a_cloud_takes_over_from_a_slow_device(void)
{
    struct world w;
    hedged_edge(&w);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0 && strcmp(w.tier, "openai") == 0 && !w.degraded);
    CHECK(strcmp(ledger_seen.outcomes, "local:cancelled openai:answered") == 0);
    done(&w);
}

static void test_the_device_s_answer_must_pass_its_gates_to_be_first(void)
{
    static const struct script_step late[] = {TEXT_AFTER(3000, "Cloud"), DONE};
    static const struct script_step low[] = {TOKEN_AFTER(150, "Per", 0.2), TOKEN("haps", 0.2),
                                             TOKEN(".", 0.2), DONE};
    static const struct script_step good[] = {TOKEN_AFTER(150, "It ", 0.9), TOKEN("is.", 0.9),
                                              DONE};
    struct world w;
    hedged_edge(&w);
    world_script(&w, LOCAL, low);
    world_script(&w, CLOUD, late);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud") == 0 && w.tiers[CLOUD].start_count == 1);
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated openai:answered") == 0);
    world_script(&w, LOCAL, good);
    w.tiers[LOCAL].start_count = w.tiers[CLOUD].start_count = 0;
    world_run(&w);
    CHECK(strcmp(w.text, "It is.") == 0 && strcmp(w.tier, "local") == 0 && !w.degraded);
    CHECK(strcmp(ledger_seen.outcomes, "local:answered openai:cancelled") == 0);
    done(&w);
}

static void test_the_device_takes_over_from_a_slow_cloud(void)
{
    struct world w;
    hedged_edge(&w);
    w.request.mode = TD_MODE_PREFER_CLOUD;
    world_script(&w, CLOUD, slow);
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(w.text, "It is noon.") == 0 && strcmp(w.tier, "local") == 0 && w.degraded);
    CHECK(strstr(w.disclosure, "tier openai had not answered after 150 ms"));
    CHECK(strcmp(w.start_disclosure, w.disclosure) == 0);
    done(&w);
}

static void test_a_device_that_is_not_sure_waits_for_the_slow_cloud(void)
{
    static const struct script_step dies[] = {FAIL_AFTER(2000, TD_UNAVAILABLE, "reset")};
    struct world w;
    hedged_edge(&w);
    w.request.mode = TD_MODE_PREFER_CLOUD;
    world_script(&w, CLOUD, slow);
    world_script(&w, LOCAL, unsure_late);
    world_run(&w);
    CHECK(strcmp(w.text, "Slow answer") == 0 && strcmp(w.tier, "openai") == 0 && !w.degraded);
    world_script(&w, CLOUD, dies); /* then it is better than nothing, and not asked again */
    w.tiers[LOCAL].start_count = 0;
    world_run(&w);
    CHECK(strcmp(w.text, "Well, I guess") == 0 && w.degraded && w.tiers[LOCAL].start_count == 1);
    done(&w);
}

/* Its start is in the middle. */
static void test_a_rung_below_is_not_hedged_to_where_the_start_has_answered(void)
{
    static const struct script_step low[] = {TOKEN("C", 0.9), TOKEN("l", 0.9), TOKEN("o", 0.9),
                                             TOKEN("ud", 0.05), DONE};
    static const struct script_step dies[] = {FAIL_AFTER(2000, TD_UNAVAILABLE, "reset")};
    const struct {
        const struct script_step *start, *above;
        const char *text;
        int starts;
    } cases[] = {
        {low, slow, "Slow answer", 1},
        {low, dies, "Cloud", 1},          /* kept */
        {unsure, dies, "Perhaps so.", 2}, /* left before its end */
    };
    struct routing_rule rule = {.name = "middle", .start = CLOUD, .data_class = -1};
    for (size_t c = 0; c < RULE_CHOICE_COUNT; c++)
        rule.any[c] = RULE_WHATEVER;
    const struct routing_rules rules = {.rules = &rule, .count = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        hedged(&w);
        w.route.tiers[0] = "local";
        w.route.tiers[1] = "openai";
        w.route.tiers[2] = "other";
        w.route.tier_count = 3;
        w.policy.rules = &rules;
        world_script(&w, LOCAL, sure);
        world_script(&w, CLOUD, cases[i].start);
        world_script(&w, OTHER, cases[i].above);
        world_run(&w);
        CHECK(strcmp(w.text, cases[i].text) == 0 && w.tiers[LOCAL].start_count == 0);
        CHECK(w.tiers[CLOUD].start_count == cases[i].starts && w.tiers[OTHER].start_count == 1);
        done(&w);
    }
}

static void test_a_rung_whose_hedge_lost_can_still_be_climbed_to(void)
{
    /* Shown at its first token; found wanting as a whole. */
    static const struct script_step low[] = {TOKEN_AFTER(120, "Per", 0.9), TOKEN("haps", 0.9),
                                             TOKEN(" so", 0.9), TOKEN(".", 0.05), DONE};
    struct world w;
    hedged_edge(&w);
    w.route.gates.commit_tokens = 1;
    w.request.corrections = true;
    world_script(&w, LOCAL, low);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0 && strchr(w.events, 'C'));
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated openai:cancelled openai:answered") == 0);
    done(&w);
}

/* --- how often, and where not --- */

static void test_hedges_have_a_share_of_the_requests(void)
{
    struct world w;
    hedged(&w);
    w.route.hedge.share = 0.05;
    for (int i = 0; i < 41; i++) {
        w.tiers[CLOUD].start_count = w.tiers[OTHER].start_count = 0;
        world_run(&w);
        bool asked = w.tiers[OTHER].start_count == 1;
        CHECK(asked == (i == 0 || i % 20 == 19)); /* one was there at the beginning */
        CHECK(world_has_reason(&w, asked ? REASON_HEDGED : REASON_HEDGE_REFUSED, "other"));
        CHECK(strcmp(w.text, asked ? "Quick answer" : "Slow answer") == 0);
    }
    CHECK(numbers(&w).started == 3 && numbers(&w).refused == 38 && numbers(&w).requests == 41);
    done(&w);
}

static void test_the_delay_is_what_the_tier_usually_needs(void)
{
    static const struct script_step slower[] = {TEXT_AFTER(4000, "Slower"), DONE};
    struct world w;
    hedged(&w);
    w.route.hedge.after_ms = 0;
    world_run(&w); /* nobody has measured: nothing is hedged */
    CHECK(strcmp(w.text, "Slow answer") == 0 && w.tiers[OTHER].start_count == 0);
    w.services.latency = tier_latency_new(3);
    for (int i = 0; i < 100; i++)
        tier_latency_add(w.services.latency, CLOUD, i < 96 ? 300 : 2000, 2000, w.loop.now_ms);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0);
    /* 300 ms lie in a bucket that ends at 304.4. */
    CHECK(w.summary.ttft_ms == 305 + 50);
    for (int i = 0; i < 100; i++) /* the percentile itself is a spike now */
        tier_latency_add(w.services.latency, CLOUD, i < 80 ? 300 : 4000, 4000, w.loop.now_ms);
    world_script(&w, CLOUD, slower);
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0 && w.summary.ttft_ms == 1218 + 50);
    done(&w);
}

static void test_a_tier_that_was_outrun_is_known_to_be_slow(void)
{
    struct world w;
    hedged(&w);
    w.services.latency = tier_latency_new(3);
    for (int i = 0; i < 6; i++) {
        begin(&w);
        virtual_loop_run(&w.loop, 1000);
    }
    /* Never its answer: but it took 150 ms at least. */
    CHECK(tier_latency_ttft(w.services.latency, CLOUD, 0.5, w.loop.now_ms) >= 150);
    CHECK(tier_latency_ttft(w.services.latency, OTHER, 0.5, w.loop.now_ms) < 100);
    done(&w);
}

static void test_never_more_than_one_hedge_at_a_time(void)
{
    struct world w;
    hedged(&w);
    w.route.tiers[0] = "local";
    w.route.tiers[1] = "openai";
    w.route.tiers[2] = "other";
    w.route.tier_count = 3;
    for (size_t i = 0; i < 3; i++)
        world_script(&w, i, stalls);
    begin(&w);
    virtual_loop_run(&w.loop, 10000);
    CHECK(w.tiers[LOCAL].running + w.tiers[CLOUD].running == 2 && w.tiers[OTHER].start_count == 0);
    exchange_cancel(w.exchange);
    done(&w);
}

static void expect_no_hedge(struct world *w)
{
    world_run(w);
    CHECK(w->tiers[OTHER].start_count == 0 && w->end_count > 0);
    CHECK(numbers(w).started == 0);
    done(w);
}

static void test_what_nobody_waits_for_is_not_hedged(void)
{
    struct world w;
    hedged(&w);
    w.request.priority = TD_PRIORITY_BATCH;
    expect_no_hedge(&w);
}

static void test_a_route_without_hedges_has_none(void)
{
    struct world w;
    hedged(&w);
    w.route.hedge.on = false;
    expect_no_hedge(&w);
}

static void test_a_tier_that_rests_is_not_hedged_to(void)
{
    struct world w;
    hedged(&w);
    begin(&w);
    virtual_loop_run(&w.loop, 50); /* the plan has it; then others see it fail */
    const struct tier_result nobody = {.status = TD_UNAVAILABLE, .reach = TIER_UNREACHED};
    struct tier_ticket ticket;
    struct tier_state why;
    CHECK(tier_health_enter(w.services.health, OTHER, &(struct tier_entry){0}, w.loop.now_ms,
                            &ticket, &why));
    tier_health_leave(w.services.health, OTHER, &ticket, &nobody, w.loop.now_ms);
    virtual_loop_run(&w.loop, 100000);
    CHECK(w.tiers[OTHER].start_count == 0 && strcmp(w.text, "Slow answer") == 0);
    done(&w);
}

static void test_a_class_that_may_not_leave_is_not_hedged_to_a_cloud(void)
{
    struct world w;
    hedged_edge(&w);
    world_set_prompt(&w, "my card is 4111 1111 1111 1111");
    world_run(&w);
    CHECK(strcmp(w.text, "It is.") == 0 && w.tiers[CLOUD].start_count == 0);
    done(&w);
}

static void test_a_rule_against_escalation_is_one_against_hedges(void)
{
    struct world w;
    hedged_edge(&w);
    struct routing_rule rule = {
        .name = "here", .start = RULE_START_NONE, .stays = true, .data_class = -1};
    for (size_t c = 0; c < RULE_CHOICE_COUNT; c++)
        rule.any[c] = RULE_WHATEVER;
    const struct routing_rules rules = {.rules = &rule, .count = 1};
    w.policy.rules = &rules;
    world_run(&w);
    CHECK(strcmp(w.text, "It is.") == 0 && w.tiers[CLOUD].start_count == 0);
    done(&w);
}

static void test_a_budget_without_room_for_two_answers_has_no_hedge(void)
{
    static const struct budget budgets[] = {{"all", BUDGET_PER_ALL, 0.02}};
    struct world w;
    hedged_edge(&w);
    w.policy.budgets = budgets;
    w.policy.budget_count = 1;
    w.services.spending = spending_new(&w.loop.clock, 16);
    world_run(&w); /* one answer of 1024 tokens: 0.0103 USD are promised; two would be 0.0207 */
    CHECK(strcmp(w.text, "It is.") == 0 && w.tiers[CLOUD].start_count == 0);
    CHECK(world_has_reason(&w, REASON_HEDGE_REFUSED, "openai"));
    w.request.tokens_max = 100;
    world_run(&w);
    CHECK(strcmp(w.text, "Quick answer") == 0);
    uint64_t key = spending_key("all", NULL, "");
    CHECK(fabs(spending_today(w.services.spending, key) - w.summary.cost_usd) < 1e-12);
    spending_free(w.services.spending);
    done(&w);
}

/* --- everything at random --- */

static int started_beside(const struct world *w)
{
    return w->tiers[LOCAL].running + w->tiers[CLOUD].running + w->tiers[OTHER].running;
}

/* Each tier speaks in letters of its own, so that a mixed answer would be seen. */
static void random_script(struct rng *rng, size_t tier, struct script_step out[6])
{
    static const char *const letters[3] = {"l", "c", "o"};
    size_t count = rng_below(rng, 4);
    for (size_t i = 0; i <= count; i++) {
        out[i] = (struct script_step){.kind = tier == LOCAL ? SCRIPT_TOKEN : SCRIPT_TEXT,
                                      .delay_ms = rng_below(rng, 5) * 50,
                                      .text = letters[tier],
                                      .probability = rng_below(rng, 2) ? 0.95 : 0.2};
        if (rng_below(rng, 5) == 0)
            out[i].kind = SCRIPT_EMPTY, out[i].text = "";
    }
    static const enum script_kind ends[] = {SCRIPT_DONE, SCRIPT_DONE, SCRIPT_FAIL, SCRIPT_STALL};
    out[count + 1] = (struct script_step){.kind = ends[rng_below(rng, 4)],
                                          .delay_ms = rng_below(rng, 3) * 50,
                                          .text = "broken",
                                          .status = TD_UNAVAILABLE};
}

static bool is_of_one_tier(const char *text)
{
    return strspn(text, text[0] ? (char[2]){text[0], 0} : "") == strlen(text);
}

static void test_random_hedges_end_once_and_never_mix_answers(void)
{
    struct rng rng;
    rng_init(&rng, 11);
    uint64_t started = 0, won = 0, lost = 0, failed = 0;
    for (int round = 0; round < 6000; round++) {
        static const char *const names[] = {"local", "openai", "other"};
        static const uint32_t commits[] = {0, 1, 3, UINT32_MAX};
        struct script_step scripts[3][6];
        struct world w;
        hedged(&w);
        w.route.tier_count = 2 + rng_below(&rng, 2);
        size_t first = rng_below(&rng, 3);
        for (size_t i = 0; i < 3; i++) {
            random_script(&rng, i, scripts[i]);
            world_script(&w, i, scripts[i]);
            w.route.tiers[i] = names[(first + i) % 3];
            w.tiers[i].start_status = rng_below(&rng, 10) ? TD_OK : TD_BUSY;
        }
        w.route.gates.commit_tokens = commits[rng_below(&rng, 4)];
        w.request.corrections = rng_below(&rng, 2);
        w.request.mode = (enum td_mode)rng_below(&rng, 5);
        w.services.deadline_ms = 300 + 100 * (uint32_t)rng_below(&rng, 4);
        w.cancel_at_text = rng_below(&rng, 8) == 0 ? 1 + rng_below(&rng, 3) : 0;
        begin(&w);
        for (int i = 0; i < 120; i++) {
            virtual_loop_run(&w.loop, 10);
            REQUIRE(started_beside(&w) <= 2);
            REQUIRE(!w.request.corrections || is_of_one_tier(w.text) ||
                    strstr(w.text, "Answered by"));
        }
        REQUIRE(is_of_one_tier(w.text) || strstr(w.text, "Answered by") || w.end_count == 0 ||
                w.summary.seam_count > 0);
        REQUIRE(w.end_count <= 1 && ledger_seen.put_count == 1);
        REQUIRE(w.end_count == 1 || w.cancel_at_text > 0);
        REQUIRE(w.request.corrections || !strchr(w.events, 'C'));
        REQUIRE(w.end_count == 0 || w.degraded == (w.disclosure[0] != '\0'));
        started += numbers(&w).started;
        won += numbers(&w).ended[HEDGE_WON];
        lost += numbers(&w).ended[HEDGE_LOST];
        failed += numbers(&w).ended[HEDGE_FAILED];
        done(&w);
    }
    CHECK(started > 500 && won > 100 && lost > 100 && failed > 100);
}

int main(void)
{
    RUN(test_a_slow_tier_is_hedged_and_the_quick_one_answers);
    RUN(test_what_the_loser_cost_is_paid_and_recorded);
    RUN(test_a_quick_tier_is_not_hedged);
    RUN(test_a_role_without_text_is_not_yet_an_answer);
    RUN(test_the_slow_one_may_answer_first_after_all);
    RUN(test_of_two_answers_in_one_turn_one_is_given);
    RUN(test_a_hedge_that_fails_does_no_harm);
    RUN(test_a_hedge_goes_on_when_the_slow_one_fails);
    RUN(test_when_both_fail_both_are_named);
    RUN(test_a_hedge_that_breaks_off_after_its_text_is_continued_by_the_slow_tier);
    RUN(test_the_deadline_ends_both);
    RUN(test_a_client_that_leaves_cancels_both);
    RUN(test_a_cloud_takes_over_from_a_slow_device);
    RUN(test_the_device_s_answer_must_pass_its_gates_to_be_first);
    RUN(test_the_device_takes_over_from_a_slow_cloud);
    RUN(test_a_device_that_is_not_sure_waits_for_the_slow_cloud);
    RUN(test_a_rung_below_is_not_hedged_to_where_the_start_has_answered);
    RUN(test_a_rung_whose_hedge_lost_can_still_be_climbed_to);
    RUN(test_hedges_have_a_share_of_the_requests);
    RUN(test_the_delay_is_what_the_tier_usually_needs);
    RUN(test_a_tier_that_was_outrun_is_known_to_be_slow);
    RUN(test_never_more_than_one_hedge_at_a_time);
    RUN(test_what_nobody_waits_for_is_not_hedged);
    RUN(test_a_route_without_hedges_has_none);
    RUN(test_a_tier_that_rests_is_not_hedged_to);
    RUN(test_a_class_that_may_not_leave_is_not_hedged_to_a_cloud);
    RUN(test_a_rule_against_escalation_is_one_against_hedges);
    RUN(test_a_budget_without_room_for_two_answers_has_no_hedge);
    RUN(test_random_hedges_end_once_and_never_mix_answers);
    return test_finish();
}
