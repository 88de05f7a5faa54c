/* Another tier answers in an exchange's shadow: nobody sees it, it is compared and recorded, and it
 * never goes where the exchange itself might not have gone. */
#include "world.h"

#include "exchange/limits/spending.h"
#include "exchange/memory/ramp_table.h"
#include "exchange/parts/shadow_pool.h"
#include "tier/door.h"
#include "wire_members.h"

static struct shadow_pool *attach(struct world *world, double edge, double cloud)
{
    struct shadow_pool *shadows = shadow_pool_new(1);
    CHECK(shadows != NULL);
    world->services.shadow_pool = shadows;
    world->route.shadow_edge_share = edge;
    world->route.shadow_cloud_share = cloud;
    world->services.shadow_usd_per_day = 1;
    memset(&shadow_seen, 0, sizeof shadow_seen);
    return shadows;
}

static void end(struct world *world, struct shadow_pool *shadows)
{
    struct shadow_numbers numbers;
    shadow_pool_numbers(shadows, &numbers);
    CHECK(numbers.running == 0);
    shadow_pool_free(shadows);
    world_deinit(world);
}

static const struct script_step same[] = {TOKEN("cloud ", 0.9), TOKEN("ANSWER!", 0.9), DONE};

static void test_the_device_answers_what_a_cloud_answered_and_nobody_sees_it(void)
{
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, same);
    world_run(&world);
    CHECK(strcmp(world.text, "Cloud answer") == 0 && strcmp(world.tier, "openai") == 0);
    CHECK(strcmp(ledger_seen.outcomes, "openai:answered") == 0); /* no attempt of the exchange */
    CHECK(world.tiers[LOCAL].start_count == 1);
    CHECK(shadow_seen.count == 1 && strcmp(shadow_seen.tier, "local") == 0);
    CHECK(shadow_seen.last.agreement >= 1 && shadow_seen.last.same);
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(shadow_seen.count == 2 && shadow_seen.last.agreement <= 0 && !shadow_seen.last.same);
    struct shadow_numbers numbers;
    shadow_pool_numbers(shadows, &numbers);
    const struct shadow_count *here = &numbers.of[SHADOW_ON_DEVICE];
    CHECK(here->compared == 2 && here->same == 1 && here->failed == 0 && here->dropped == 0);
    CHECK(numbers.of[SHADOW_ELSEWHERE].compared == 0);
    end(&world, shadows);
}

static void test_a_cloud_is_only_asked_where_the_exchange_might_have_gone(void)
{
    static const struct {
        double share;
        enum td_mode mode;
        enum td_data_class data_class;
        int asked;
    } cases[] = {
        {1, TD_MODE_AUTO, TD_CLASS_PUBLIC, 1},       {0, TD_MODE_AUTO, TD_CLASS_PUBLIC, 0},
        {1, TD_MODE_ONLY_LOCAL, TD_CLASS_PUBLIC, 0}, {1, TD_MODE_AUTO, TD_CLASS_SENSITIVE, 0},
        {1, TD_MODE_AUTO, TD_CLASS_RESTRICTED, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 0, cases[i].share);
        world.request.mode = cases[i].mode;
        world.request.data_class = cases[i].data_class;
        world_script(&world, LOCAL, sure);
        world_script(&world, CLOUD, cloudy);
        world_run(&world);
        CHECK(strcmp(world.tier, "local") == 0);
        CHECK(world.tiers[CLOUD].start_count == cases[i].asked);
        CHECK(shadow_seen.count == cases[i].asked);
        if (cases[i].asked)
            CHECK(shadow_seen.last.cost_usd >= 0);
        end(&world, shadows);
    }
}

static void test_no_class_mode_or_consent_that_bars_a_cloud_lets_a_shadow_through(void)
{
    for (int data_class = TD_CLASS_PUBLIC; data_class <= TD_CLASS_RESTRICTED; data_class++) {
        for (int variant = 0; variant < 4; variant++) {
            struct world world;
            world_init(&world);
            struct shadow_pool *shadows = attach(&world, 1, 1);
            world.request.data_class = (enum td_data_class)data_class;
            world.route.consent = variant == 1;
            world.request.mode = variant == 2 ? TD_MODE_ONLY_LOCAL : TD_MODE_AUTO;
            world.route.kind = variant == 3 ? ROUTE_LOCAL_ONLY : ROUTE_HYBRID;
            world_script(&world, LOCAL, sure);
            world_script(&world, CLOUD, cloudy);
            world_run(&world);
            bool may = variant == 0 && egress_allowed((enum td_data_class)data_class,
                                                      &world.tiers[CLOUD].tier.facts);
            CHECK(strcmp(world.tier, "local") == 0);
            CHECK(world.tiers[CLOUD].start_count == (may ? 1 : 0));
            if (may)
                CHECK(world.tiers[CLOUD].purpose == EGRESS_SHADOW);
            end(&world, shadows);
        }
    }
}

static void test_the_tier_is_asked_after_the_last_word(void)
{
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(world.local_starts_at_end == 0);
    CHECK(world.tiers[LOCAL].start_count == 1 && shadow_seen.count == 1);
    CHECK(world.tiers[LOCAL].priority == TD_PRIORITY_SPARE);
    end(&world, shadows);
}

static void test_a_shadow_has_money_of_its_own_and_draws_on_the_budgets(void)
{
    static const struct budget budgets[] = {{"day", BUDGET_PER_ALL, 10}};
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 0, 1);
    struct spending *spending = spending_new(NULL, 64);
    REQUIRE(spending != NULL);
    world.services.spending = spending;
    world.policy.budgets = budgets;
    world.policy.budget_count = 1;
    world.tiers[CLOUD].tier.facts.input_usd_per_mtok = 1;
    world.tiers[CLOUD].tier.facts.output_usd_per_mtok = 1000;
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, cloudy);
    world.services.shadow_usd_per_day = 0.2; /* one may come to 0.26 */
    world_run(&world);
    struct shadow_numbers numbers;
    shadow_pool_numbers(shadows, &numbers);
    CHECK(shadow_seen.count == 0 && numbers.of[SHADOW_ELSEWHERE].dropped == 1);
    world.services.shadow_usd_per_day = 1;
    world_run(&world);
    shadow_pool_numbers(shadows, &numbers);
    CHECK(shadow_seen.count == 1 && shadow_seen.last.cost_usd > 0);
    CHECK(fabs(numbers.of[SHADOW_ELSEWHERE].cost_usd - shadow_seen.last.cost_usd) < 1e-12);
    double spent = spending_today(spending, spending_key("day", NULL, ""));
    CHECK(fabs(spent - shadow_seen.last.cost_usd) < 1e-12);
    spending_free(spending);
    end(&world, shadows);
}

/* A cloud bills what it was sent and said, whether or not somebody waited for the end. */
static void test_a_shadow_that_is_left_has_cost_what_came_of_it(void)
{
    static const struct script_step stalls[] = {TEXT("Cloud ans"), STALL};
    static const struct script_step silent[] = {TEXT(""), DONE};
    struct world world;
    struct td_error err = {0};
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 0, 1);
    struct spending *spending = spending_new(NULL, 64);
    REQUIRE(spending != NULL);
    world.services.spending = spending;
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, stalls);
    const double once = (100 * 1 + 3 * 10) / 1e6; /* a prompt of 100 tokens, an answer of 9 bytes */
    world_run(&world);
    CHECK(shadow_seen.count == 1 && isnan(shadow_seen.last.agreement));
    CHECK(fabs(shadow_seen.last.cost_usd - once) < 1e-12);
    CHECK(fabs(spending_today(spending, shadow_pool_budget_key()) - once) < 1e-12);
    CHECK(world_start(&world, &err) == TD_OK);
    virtual_loop_run(&world.loop, 1000);
    shadow_pool_cancel(shadows, &world.loop.loop);
    CHECK(shadow_seen.count == 2); /* the loop ends: there is nothing to compare, but it is spent */
    CHECK(strcmp(shadow_seen.last.kind, LEDGER_SHADOW_DROPPED) == 0);
    CHECK(fabs(shadow_seen.last.cost_usd - once) < 1e-12);
    CHECK(fabs(spending_today(spending, shadow_pool_budget_key()) - 2 * once) < 1e-12);
    world_script(&world, CLOUD, silent);
    world.tiers[CLOUD].finish = TD_FINISH_LENGTH;
    world_run(&world); /* what says nothing of the answers has its price, too */
    CHECK(shadow_seen.count == 3 && isnan(shadow_seen.last.agreement));
    CHECK(shadow_seen.last.cost_usd > 0 &&
          strcmp(shadow_seen.last.kind, LEDGER_SHADOW_DROPPED) == 0);
    spending_free(spending);
    end(&world, shadows);
}

static void test_a_budget_without_room_for_a_shadow_has_none(void)
{
    static const struct budget budgets[] = {{"day", BUDGET_PER_ALL, 0.5}};
    struct world world;
    struct shadow_numbers numbers;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 0, 1);
    struct spending *spending = spending_new(NULL, 64);
    REQUIRE(spending != NULL);
    world.services.spending = spending;
    world.policy.budgets = budgets;
    world.policy.budget_count = 1;
    world.tiers[CLOUD].tier.facts.output_usd_per_mtok = 1000; /* one may come to 0.26 */
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, cloudy);
    spending_settle(spending, spending_key("day", NULL, ""), 0, 0.3);
    world_run(&world);
    shadow_pool_numbers(shadows, &numbers);
    CHECK(world.tiers[CLOUD].start_count == 0 && numbers.of[SHADOW_ELSEWHERE].dropped == 1);
    spending_settle(spending, spending_key("day", NULL, ""), 0, -0.1);
    world_run(&world);
    CHECK(world.tiers[CLOUD].start_count == 1);
    spending_free(spending);
    end(&world, shadows);
}

static void test_what_may_not_be_kept_or_needs_more_than_words_has_no_shadow(void)
{
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 1);
    world_script(&world, LOCAL, sure);
    world.services.zero_retention = true;
    world_run(&world);
    world.services.zero_retention = false;
    world.request.no_train = true; /* a promise that the tier beside it may not give */
    world_run(&world);
    CHECK(shadow_seen.count == 0 && world.tiers[CLOUD].start_count == 0);
    end(&world, shadows);
}

static void test_a_shadow_that_fails_or_stalls_is_recorded_and_ends(void)
{
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "down")};
    static const struct script_step stalls[] = {STALL};
    struct world world;
    struct shadow_numbers numbers;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, broken);
    world_run(&world);
    CHECK(shadow_seen.count == 1 && isnan(shadow_seen.last.agreement));
    world_script(&world, LOCAL, stalls);
    world_run(&world); /* its deadline passes: it never found the time */
    CHECK(shadow_seen.count == 1);
    CHECK(world.tiers[LOCAL].cancel_count == 1);
    world.tiers[LOCAL].start_status = TD_BUSY;
    world_run(&world); /* nor does a device that has no place for it say anything of its answers */
    shadow_pool_numbers(shadows, &numbers);
    CHECK(shadow_seen.count == 1 && numbers.of[SHADOW_ON_DEVICE].dropped == 2);
    CHECK(numbers.of[SHADOW_ON_DEVICE].failed == 1);
    end(&world, shadows);
}

/* Its finish is a limit's before it said a word: neither the same answer nor a failure. */
static void test_a_shadow_that_a_limit_ended_before_its_first_word_is_dropped(void)
{
    static const struct script_step silent[] = {TEXT(""), DONE};
    struct world world;
    struct shadow_numbers numbers;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, silent);
    world.tiers[LOCAL].finish = TD_FINISH_LENGTH;
    world_run(&world);
    shadow_pool_numbers(shadows, &numbers);
    const struct shadow_count *here = &numbers.of[SHADOW_ON_DEVICE];
    CHECK(here->compared == 0 && here->failed == 0 && here->dropped == 1);
    CHECK(shadow_seen.count == 0);
    world.request.tokens_max = 2; /* the client would have got nothing */
    world_run(&world);
    world.request.tokens_max = 0;
    world.tiers[LOCAL].finish = TD_FINISH_STOP; /* nothing is what it had to say */
    world_run(&world);
    shadow_pool_numbers(shadows, &numbers);
    CHECK(here->compared == 2 && here->same == 0 && here->dropped == 1);
    end(&world, shadows);
}

static void test_a_tier_that_refuses_what_was_made_of_the_request_says_nothing(void)
{
    static const struct script_step refused[] = {FAIL_HTTP(TD_INVALID, 400, "no temperature")};
    struct world world;
    struct shadow_numbers numbers;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 0, 1);
    world_script(&world, LOCAL, sure);
    world_script(&world, CLOUD, refused);
    world_run(&world);
    shadow_pool_numbers(shadows, &numbers);
    CHECK(world.tiers[CLOUD].start_count == 1);
    CHECK(numbers.of[SHADOW_ELSEWHERE].dropped == 1 && numbers.of[SHADOW_ELSEWHERE].failed == 0);
    CHECK(shadow_seen.count == 0);
    end(&world, shadows);
}

static void test_a_shadow_has_what_the_request_says_of_sampling(void)
{
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    struct wire_members wire;
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, same);
    wire_members_init(&wire, "{\"metadata\":{\"a\":\"b\"}}", &world.request);
    world.request.left_to_model = SETTING_TEMPERATURE | SETTING_TOP_K;
    world.request.ignore_eos = true;
    world_run(&world);
    const struct scripted_tier *local = &world.tiers[LOCAL];
    CHECK(local->left_to_model == (SETTING_TEMPERATURE | SETTING_TOP_K) && local->ignore_eos);
    CHECK(local->member_count == 0); /* the words alone */
    world.request.left_to_model = 0; /* a program's: it means each of its settings */
    world.request.ignore_eos = false;
    world_run(&world);
    CHECK(shadow_seen.count == 2 && local->left_to_model == 0 && !local->ignore_eos);
    wire_members_deinit(&wire);
    end(&world, shadows);
}

static void test_a_conversation_with_calls_of_tools_has_no_shadow(void)
{
    struct world world;
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, same);
    world.messages[1] = (struct td_message){TD_ROLE_ASSISTANT, STR("")};
    world.messages[2] = (struct td_message){TD_ROLE_USER, STR("so?")};
    world.request.message_count = 3;
    world_run(&world);
    CHECK(shadow_seen.count == 1); /* the words alone */
    world.request.has_calls = true;
    world_run(&world);
    CHECK(shadow_seen.count == 1);
    world.request.has_calls = false;
    world.messages[1].role = TD_ROLE_TOOL;
    world_run(&world);
    CHECK(shadow_seen.count == 1 && world.end_count == 3);
    end(&world, shadows);
}

static void test_no_more_than_allowed_run_and_a_loop_that_ends_takes_its_shadows_along(void)
{
    static const struct script_step stalls[] = {STALL};
    struct world world;
    struct td_error err = {0};
    world_init(&world);
    struct shadow_pool *shadows = attach(&world, 1, 0);
    struct shadow_numbers numbers;
    world.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&world, CLOUD, cloudy);
    world_script(&world, LOCAL, stalls);
    for (int i = 0; i < 2; i++) {
        CHECK(world_start(&world, &err) == TD_OK);
        virtual_loop_run(&world.loop, 1000);
    }
    shadow_pool_numbers(shadows, &numbers);
    CHECK(numbers.running == 1 && numbers.of[SHADOW_ON_DEVICE].dropped == 1 &&
          world.tiers[LOCAL].running == 1);
    shadow_pool_cancel(shadows, &world.loop.loop);
    CHECK(world.tiers[LOCAL].running == 0 && shadow_seen.count == 0);
    end(&world, shadows);
}

/* Not even on the device: what is bound to somebody is computed once, where it must be. */
static void test_from_contractual_on_no_class_has_a_shadow_on_either_side(void)
{
    for (int data_class = TD_CLASS_PUBLIC; data_class <= TD_CLASS_RESTRICTED; data_class++) {
        for (int on_device = 0; on_device < 2; on_device++) {
            struct world world;
            world_init(&world);
            struct shadow_pool *shadows = attach(&world, 1, 1);
            if (on_device)
                world.request.mode = TD_MODE_ONLY_CLOUD;
            world.tiers[CLOUD].tier.facts.place = on_device ? TD_PLACE_PREMISES : TD_PLACE_CLOUD;
            world.request.data_class = (enum td_data_class)data_class;
            world_script(&world, LOCAL, sure);
            world_script(&world, CLOUD, cloudy);
            world_run(&world);
            if (data_class >= TD_CLASS_CONTRACTUAL)
                CHECK(shadow_seen.count == 0);
            else if (on_device && world.status == TD_OK)
                CHECK(shadow_seen.count == 1 && world.tiers[LOCAL].start_count == 1);
            end(&world, shadows);
        }
    }
}

/* The prompt and the longest answer of a shadow must fit, with a token to spare. */
static void test_a_tier_whose_context_is_too_short_is_no_shadow(void)
{
    static const struct {
        uint32_t context, prompt;
        bool fits;
    } cases[] = {{0, 1000000, true},
                 {100 + SHADOW_TOKENS_MAX, 100, false},
                 {101 + SHADOW_TOKENS_MAX, 100, true},
                 {100, 100, false},
                 {99, 100, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 1, 0);
        world.request.mode = TD_MODE_ONLY_CLOUD;
        world.tiers[LOCAL].tier.facts.context_tokens = cases[i].context;
        world.tiers[LOCAL].prompt_tokens = cases[i].prompt;
        world.tiers[CLOUD].tier.facts.context_tokens = 0;
        world_script(&world, CLOUD, cloudy);
        world_script(&world, LOCAL, same);
        world_run(&world);
        CHECK(shadow_seen.count == cases[i].fits);
        end(&world, shadows);
    }
}

/* A metered network carries no spare bytes; what stays on the device needs none. */
static void test_over_a_metered_network_no_shadow_is_sent(void)
{
    for (int on_device = 0; on_device < 2; on_device++) {
        struct world world;
        struct shadow_numbers numbers;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 1, 1);
        world.request.network = TD_NETWORK_METERED;
        world.request.mode = on_device ? TD_MODE_ONLY_CLOUD : TD_MODE_AUTO;
        world_script(&world, LOCAL, sure);
        world_script(&world, CLOUD, cloudy);
        world_run(&world);
        shadow_pool_numbers(shadows, &numbers);
        CHECK(world.tiers[CLOUD].start_count == on_device);
        CHECK(shadow_seen.count == on_device && numbers.of[SHADOW_ELSEWHERE].dropped == !on_device);
        end(&world, shadows);
    }
}

static int held;

static void hold_services(struct exchange_services *services)
{
    (void)services;
    held++;
}

static void release_services(struct exchange_services *services)
{
    (void)services;
    held--;
}

/* While it runs, it holds the services and what it may come to cost; afterwards neither. */
static void test_what_a_running_shadow_holds_is_given_back_at_every_end(void)
{
    static const struct script_step stalls[] = {STALL};
    /* 100 tokens at 1 and 256 at 10 USD a million */
    const double most = (100 * 1 + SHADOW_TOKENS_MAX * 10) / 1e6;
    enum { NOT_BEGUN, ASKED, BY_ITSELF, ENDS };
    for (int how = NOT_BEGUN; how < ENDS; how++) {
        struct world world;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 0, 1);
        struct spending *spending = spending_new(NULL, 64);
        REQUIRE(spending != NULL);
        static const struct budget budgets[] = {{"other", BUDGET_PER_APP, 20},
                                                {"day", BUDGET_PER_ALL, 10}};
        const uint64_t keys[] = {shadow_pool_budget_key(), spending_key("day", NULL, ""),
                                 spending_key("other", NULL, "")};
        world.policy.budgets = budgets;
        world.policy.budget_count = 2;
        world.services.spending = spending;
        world.services.hold = hold_services;
        world.services.release = release_services;
        world_script(&world, LOCAL, sure);
        world_script(&world, CLOUD, how == BY_ITSELF ? cloudy : stalls);
        held = 0;
        CHECK(world_start(&world, NULL) == TD_OK);
        while (world.end_count == 0 && virtual_loop_step(&world.loop, UINT64_MAX))
            continue; /* the shadow begins in the next turn */
        if (how == ASKED)
            virtual_loop_run(&world.loop, 1000);
        CHECK(world.tiers[CLOUD].start_count == (how == ASKED));
        if (how != BY_ITSELF) {
            CHECK(held == 1);
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                CHECK(fabs(spending_today(spending, keys[i]) - most) < 1e-12);
                CHECK(fabs(spending_spent(spending, keys[i])) < 1e-12);
            }
        }
        if (how == BY_ITSELF)
            virtual_loop_run(&world.loop, 120000);
        else
            shadow_pool_cancel(shadows, &world.loop.loop);
        CHECK(held == 0 && world.end_count == 1);
        CHECK(shadow_seen.count == (how != NOT_BEGUN));
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            double spent = spending_spent(spending, keys[i]);
            CHECK(fabs(spending_today(spending, keys[i]) - spent) < 1e-12);
            CHECK(fabs(spent - (shadow_seen.count > 0 ? shadow_seen.last.cost_usd : 0)) < 1e-12);
        }
        spending_free(spending);
        end(&world, shadows);
    }
}

/* Words, stops and limit are those of the request; no shadow says more than it may. */
static void test_a_shadow_is_asked_what_the_request_asked(void)
{
    static const struct {
        uint32_t wanted, asked;
    } cases[] = {{0, SHADOW_TOKENS_MAX},
                 {1, 1},
                 {SHADOW_TOKENS_MAX, SHADOW_TOKENS_MAX},
                 {SHADOW_TOKENS_MAX + 1, SHADOW_TOKENS_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 0, 1);
        world_script(&world, LOCAL, sure);
        world_script(&world, CLOUD, cloudy);
        world.messages[0] = (struct td_message){TD_ROLE_SYSTEM, STR("be brief")};
        world.messages[1] = (struct td_message){TD_ROLE_USER, STR("what is the weather")};
        world.messages[2] = (struct td_message){TD_ROLE_ASSISTANT, STR("")};
        world.messages[3] = (struct td_message){TD_ROLE_USER, STR("why")};
        world.request.message_count = 4;
        const struct td_str stops[] = {STR("END"), STR(""), STR("\n\n")};
        world.request.stops = stops;
        world.request.stop_count = 3;
        world.request.tokens_max = cases[i].wanted;
        world_run(&world);
        const struct scripted_tier *cloud = &world.tiers[CLOUD];
        CHECK(shadow_seen.count == 1 && cloud->tokens_max == cases[i].asked);
        CHECK(strcmp(cloud->all, "system:be brief|user:what is the weather|assistant:|user:why|"
                                 "END|"
                                 "|"
                                 "\n\n|") == 0);
        CHECK(cloud->purpose == EGRESS_SHADOW && cloud->data_class == TD_CLASS_PUBLIC);
        CHECK(strcmp(cloud->caller, "a shadow") == 0);
        end(&world, shadows);
    }
}

/* A server's word in a shadow is a word on the tier. That spare work had to wait is none. */
static void test_what_a_server_says_to_a_shadow_tells_of_its_health(void)
{
    static const struct script_step error[] = {FAIL_HTTP(TD_UNAVAILABLE, 500, "broken")};
    static const struct script_step waited[] = {FAIL(TD_TIMEOUT, "not awaited")};
    enum { EXCHANGES = 5, FAILURES_TO_REST = 3 };
    static const struct {
        const struct script_step *script;
        bool on_device;
        int asked;
    } cases[] = {{error, false, FAILURES_TO_REST},
                 {waited, false, EXCHANGES},
                 {cloudy, false, EXCHANGES},
                 {error, true, FAILURES_TO_REST},
                 {waited, true, EXCHANGES}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 1, 1);
        world.request.mode = cases[i].on_device ? TD_MODE_ONLY_CLOUD : TD_MODE_AUTO;
        world_script(&world, LOCAL, cases[i].on_device ? cases[i].script : sure);
        world_script(&world, CLOUD, cases[i].on_device ? cloudy : cases[i].script);
        for (int k = 0; k < EXCHANGES; k++) {
            CHECK(world_start(&world, NULL) == TD_OK);
            virtual_loop_run(&world.loop, 100); /* a rest is longer */
            CHECK(world.end_count == k + 1 && world.status == TD_OK);
        }
        CHECK(world.tiers[cases[i].on_device ? LOCAL : CLOUD].start_count == cases[i].asked);
        end(&world, shadows);
    }
}

/* A user whom the ramp takes, or one whom it does not. */
static void find_user(struct ramp_table *ramps, struct world *world, bool taken, char user[16])
{
    struct ramp_signal signal = {.taken = !taken};
    for (int i = 0; i < 1000 && signal.taken != taken; i++) {
        snprintf(user, 16, "user%d", i);
        world->request.user = user;
        ramp_table_read(ramps, &world->route, &world->request, &signal);
    }
    CHECK(signal.on && signal.taken == taken);
}

/* The ramp learns from shadows how often its two tiers differ. A candidate that gives no answer
 * differs, too; that the tier of before gives none says nothing of the candidate. */
static void test_a_ramp_learns_from_shadows_how_often_its_tiers_differ(void)
{
    static const struct script_step broken[] = {FAIL_HTTP(TD_UNAVAILABLE, 500, "broken")};
    static const struct script_step waited[] = {FAIL(TD_TIMEOUT, "not awaited")};
    static const struct {
        bool taken; /* the candidate, the device, answers the client */
        const struct script_step *local, *cloud;
        uint32_t judged;
        double loss;
    } cases[] = {
        {false, same, cloudy, 1, 0},   {false, sure, cloudy, 1, 1}, {false, broken, cloudy, 1, 1},
        {false, waited, cloudy, 0, 0}, {true, same, cloudy, 1, 0},  {true, sure, cloudy, 1, 1},
        {true, same, broken, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        struct ramp_table *ramps = NULL;
        struct ramp_view view = {.step = 9};
        char user[16];
        const struct ramp_table_options options = {.key = {7}};
        REQUIRE(ramp_table_open(&options, &ramps, NULL) == TD_OK);
        world_init(&world);
        struct shadow_pool *shadows = attach(&world, 1, 1);
        world.route.start = "openai";
        world.route.ramp_to = "local";
        world.route.ramp = (struct ramp_plan){.steps = {50, 100},
                                              .step_count = 2,
                                              .judged_min = 20,
                                              .disagreement_max = 0.2,
                                              .loss_margin = 0.1};
        world.route.gates = (struct gate_settings){.commit_tokens = UINT32_MAX};
        ramp_table_set_policy(ramps, &world.policy);
        world.services.ramp_table = ramps;
        find_user(ramps, &world, cases[i].taken, user);
        world_script(&world, LOCAL, cases[i].local);
        world_script(&world, CLOUD, cases[i].cloud);
        world_run(&world);
        CHECK(strcmp(world.tier, cases[i].taken ? "local" : "openai") == 0);
        CHECK(world.tiers[LOCAL].start_count == 1 && world.tiers[CLOUD].start_count == 1);
        CHECK(ramp_table_list(ramps, &view, 1) == 1);
        CHECK(view.evidence[RAMP_AGREEMENT].judged == cases[i].judged);
        CHECK(cases[i].judged == 0 ||
              fabs(view.evidence[RAMP_AGREEMENT].loss - cases[i].loss) < 1e-9);
        CHECK(view.evidence[RAMP_OUTCOMES].judged == 0);
        ramp_table_close(ramps);
        end(&world, shadows);
    }
}

int main(void)
{
    RUN(test_the_device_answers_what_a_cloud_answered_and_nobody_sees_it);
    RUN(test_a_cloud_is_only_asked_where_the_exchange_might_have_gone);
    RUN(test_no_class_mode_or_consent_that_bars_a_cloud_lets_a_shadow_through);
    RUN(test_the_tier_is_asked_after_the_last_word);
    RUN(test_a_shadow_has_money_of_its_own_and_draws_on_the_budgets);
    RUN(test_a_shadow_that_is_left_has_cost_what_came_of_it);
    RUN(test_a_budget_without_room_for_a_shadow_has_none);
    RUN(test_what_may_not_be_kept_or_needs_more_than_words_has_no_shadow);
    RUN(test_a_shadow_that_fails_or_stalls_is_recorded_and_ends);
    RUN(test_a_shadow_that_a_limit_ended_before_its_first_word_is_dropped);
    RUN(test_a_tier_that_refuses_what_was_made_of_the_request_says_nothing);
    RUN(test_a_shadow_has_what_the_request_says_of_sampling);
    RUN(test_a_conversation_with_calls_of_tools_has_no_shadow);
    RUN(test_no_more_than_allowed_run_and_a_loop_that_ends_takes_its_shadows_along);
    RUN(test_from_contractual_on_no_class_has_a_shadow_on_either_side);
    RUN(test_a_tier_whose_context_is_too_short_is_no_shadow);
    RUN(test_over_a_metered_network_no_shadow_is_sent);
    RUN(test_what_a_running_shadow_holds_is_given_back_at_every_end);
    RUN(test_a_shadow_is_asked_what_the_request_asked);
    RUN(test_what_a_server_says_to_a_shadow_tells_of_its_health);
    RUN(test_a_ramp_learns_from_shadows_how_often_its_tiers_differ);
    return test_finish();
}
