/* An exchange starts where an earlier one of the same user did, and what an operator reads of
 * it. */
#include "world.h"

#include "exchange/memory/consistency.h"
#include "router/judge/classifier.h"

#define LOCAL_NAME "local"
#define CLOUD_NAME "openai"

static struct consistency *attach(struct world *world)
{
    struct consistency *consistency = NULL;
    struct consistency_options options = {
        .entries_max = 64, .ttl_s = 86400, .clock = &world->loop.clock};
    CHECK(consistency_open(&options, &consistency, NULL) == TD_OK);
    world->services.consistency = consistency;
    world->services.similarity = &similarity_plain;
    world->services.consistency_limits =
        (struct consistency_limits){.margin = 0.1, .loss_max = 0.02, .usd_per_day = 1};
    world->request.user = "ann";
    return consistency;
}

/* Turn after turn of one conversation: [user, assistant, user]. */
static void continue_with(struct world *world, const char *text)
{
    static char answer[sizeof world->text];
    memcpy(answer, world->text, sizeof answer);
    world->messages[1] = (struct td_message){TD_ROLE_ASSISTANT, str_from(answer)};
    world->messages[2] = (struct td_message){TD_ROLE_USER, str_from(text)};
    world->request.message_count = 3;
}

static void test_a_conversation_that_climbed_stays_where_it_was_answered(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world_script(&world, LOCAL, unsure);
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(world.tier, CLOUD_NAME) == 0 &&
          strcmp(ledger_seen.outcomes, "local:escalated "
                                       "openai:answered") == 0);
    continue_with(&world, "and tomorrow");
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(ledger_seen.outcomes, "openai:answered") ==
          0); /* the device was not asked again */
    CHECK(world_has_reason(&world, REASON_KEPT_CONVERSATION, CLOUD_NAME));
    CHECK(strstr(ledger_seen.signals, "\"earlier\":{") && strstr(ledger_seen.signals, "\"kept\""));
    struct consistency_numbers numbers;
    consistency_numbers(consistency, &numbers);
    CHECK(numbers.conversation[CONSISTENCY_KEPT] == 1 && numbers.usd > 0);
    world.request.user = "bob"; /* the same words, another user */
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0);
    consistency_close(consistency);
    world_deinit(&world);
}

static void test_a_conversation_does_not_start_where_another_one_did_that_opened_alike(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world_script(&world, LOCAL, unsure);
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(world.tier, CLOUD_NAME) == 0);
    continue_with(&world, "and tomorrow");
    world.messages[1].content = STR("another answer");
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0);
    consistency_close(consistency);
    world_deinit(&world);
}

static void test_a_higher_class_and_a_tier_that_rests_come_before_the_conversation(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world_script(&world, LOCAL, unsure);
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    continue_with(&world, "and this is sensitive");
    world.request.data_class = TD_CLASS_SENSITIVE;
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0 &&
          strcmp(ledger_seen.outcomes, "local:answered") == 0);
    struct consistency_numbers numbers;
    consistency_numbers(consistency, &numbers);
    CHECK(numbers.conversation[CONSISTENCY_BARRED] == 1);
    consistency_close(consistency);
    world_deinit(&world);
}

/* A tier that was started by weights is remembered for the question, and kept when the weights turn
 * a little. */
static void test_a_similar_question_starts_where_the_earlier_one_did(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world.services.consistency_limits.margin = 1;
    world.policy.worth = (struct worth){.second_usd = 0.001, .exposure_usd = 0.01};
    world.request.weights = (struct td_weights){.cost = 1, .set = true};
    world.tiers[LOCAL].tier.facts.input_usd_per_mtok = 0.9; /* cheaper than the cloud by little */
    world.tiers[LOCAL].tier.facts.output_usd_per_mtok = 9;
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0);
    world.tiers[LOCAL].tier.facts.input_usd_per_mtok = 1.1; /* and now dearer */
    world.tiers[LOCAL].tier.facts.output_usd_per_mtok = 11;
    world_set_prompt(&world, "weather: what is the");
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0);
    CHECK(world_has_reason(&world, REASON_KEPT_SIMILAR, LOCAL_NAME));
    world_set_prompt(&world, "translate this poem into french");
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(world.tier, CLOUD_NAME) == 0); /* another question has no memory */
    world.request.data_class = TD_CLASS_PUBLIC;
    world.services.zero_retention = true; /* nothing is looked up */
    world_set_prompt(&world, "what is the weather");
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    CHECK(strcmp(world.tier, CLOUD_NAME) == 0);
    consistency_close(consistency);
    world_deinit(&world);
}

static void test_the_days_cap_ends_keeping_a_dearer_tier(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world_script(&world, LOCAL, unsure);
    world_script(&world, CLOUD, cloudy);
    world_run(&world);
    world.services.consistency_limits.usd_per_day = 0;
    continue_with(&world, "and tomorrow");
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(strcmp(world.tier, LOCAL_NAME) == 0 &&
          world_has_reason(&world, REASON_MOVED, LOCAL_NAME));
    consistency_close(consistency);
    world_deinit(&world);
}

/* What is remembered is where the router was free to begin, of what may be kept. */
static void test_only_a_free_choice_of_what_may_be_kept_is_remembered(void)
{
    enum { PLAIN, KEEP_NOTHING, NAMED, CONTRACTUAL, SENSITIVE, ONE_TIER, ONLY_CLOUD, FAILS };
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "down")};
    static const struct {
        int variant;
        uint32_t entries; /* the question's and the conversation's */
    } cases[] = {{PLAIN, 2},     {KEEP_NOTHING, 0}, {NAMED, 0},      {CONTRACTUAL, 0},
                 {SENSITIVE, 0}, {ONE_TIER, 0},     {ONLY_CLOUD, 0}, {FAILS, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int variant = cases[i].variant;
        struct world world;
        struct consistency_numbers numbers;
        world_init(&world);
        struct consistency *consistency = attach(&world);
        world.request.keep_nothing = variant == KEEP_NOTHING;
        world.request.model = variant == NAMED ? "local" : NULL;
        world.request.data_class = variant == CONTRACTUAL ? TD_CLASS_CONTRACTUAL
                                   : variant == SENSITIVE ? TD_CLASS_SENSITIVE
                                                          : TD_CLASS_PUBLIC;
        if (variant == ONE_TIER)
            world.route.tier_count = 1;
        world.request.mode = variant == ONLY_CLOUD ? TD_MODE_ONLY_CLOUD : TD_MODE_AUTO;
        world_script(&world, LOCAL, variant == FAILS ? broken : sure);
        world_script(&world, CLOUD, variant == FAILS ? broken : cloudy);
        world_run(&world);
        consistency_numbers(consistency, &numbers);
        if (numbers.entries != cases[i].entries)
            fprintf(stderr, "variant %d has %u entries\n", variant, numbers.entries);
        CHECK(numbers.entries == cases[i].entries);
        consistency_close(consistency);
        world_deinit(&world);
    }
}

static void test_restricted_questions_leave_no_trace(void)
{
    struct world world;
    world_init(&world);
    struct consistency *consistency = attach(&world);
    world.request.data_class = TD_CLASS_RESTRICTED;
    world_script(&world, LOCAL, sure);
    world_run(&world);
    struct consistency_numbers numbers;
    consistency_numbers(consistency, &numbers);
    CHECK(numbers.entries == 0);
    consistency_close(consistency);
    world_deinit(&world);
}

int main(void)
{
    RUN(test_a_conversation_that_climbed_stays_where_it_was_answered);
    RUN(test_a_conversation_does_not_start_where_another_one_did_that_opened_alike);
    RUN(test_a_higher_class_and_a_tier_that_rests_come_before_the_conversation);
    RUN(test_a_similar_question_starts_where_the_earlier_one_did);
    RUN(test_the_days_cap_ends_keeping_a_dearer_tier);
    RUN(test_only_a_free_choice_of_what_may_be_kept_is_remembered);
    RUN(test_restricted_questions_leave_no_trace);
    return test_finish();
}
