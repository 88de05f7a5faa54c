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
    world->messages[1] = (struct td_message){TD_ROLE_ASSISTANT, str_from("An answer.")};
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
    RUN(test_a_higher_class_and_a_tier_that_rests_come_before_the_conversation);
    RUN(test_a_similar_question_starts_where_the_earlier_one_did);
    RUN(test_the_days_cap_ends_keeping_a_dearer_tier);
    RUN(test_restricted_questions_leave_no_trace);
    return test_finish();
}
