/* Which exchanges are reactions to earlier ones, and which may be recorded. */
#include "exchange/memory/reactions.h"
#include "world.h"

static void begin(struct world *world)
{
    world_init(world);
    world->services.reactions = reactions_new(&world->loop.clock);
    world_script(world, LOCAL, sure);
    memset(&reaction_seen, 0, sizeof reaction_seen);
}

static void end(struct world *world)
{
    reactions_free(world->services.reactions);
    world_deinit(world);
}

/* The same question once more is said of the answer before it, and of no other. */
static void test_a_question_that_is_asked_again_is_recorded_with_the_answer_before(void)
{
    struct world world;
    char first[64];
    begin(&world);
    world_run(&world);
    CHECK(reaction_seen.count == 0);
    memcpy(first, world.id, sizeof first);
    world.loop.now_ms += REACTIONS_REPEAT_MS;
    world_run(&world);
    CHECK(reaction_seen.count == 1 && reaction_seen.kind == REACTION_REGENERATED);
    CHECK(strcmp(reaction_seen.exchange, first) == 0);
    memcpy(first, world.id, sizeof first);
    world.messages[1] = (struct td_message){TD_ROLE_ASSISTANT, STR("It is noon.")};
    world.messages[2] = (struct td_message){TD_ROLE_USER, STR("and tomorrow?")};
    world.request.message_count = 3;
    world_run(&world);
    CHECK(reaction_seen.count == 2 && reaction_seen.kind == REACTION_CONTINUED);
    CHECK(strcmp(reaction_seen.exchange, first) == 0);
    world_set_prompt(&world, "something else");
    world_run(&world);
    CHECK(reaction_seen.count == 2);
    end(&world);
}

/* Where nothing is kept, nothing is looked at and nothing remembered. */
static void test_of_what_is_not_kept_there_are_no_reactions(void)
{
    enum { FIRST_IS_NOT_KEPT = 1, SECOND_IS_NOT_KEPT = 2 };
    for (int variant = 0; variant < 4; variant++) {
        struct world world;
        begin(&world);
        world.request.keep_nothing = variant & FIRST_IS_NOT_KEPT;
        world_run(&world);
        world.request.keep_nothing = variant & SECOND_IS_NOT_KEPT;
        world.loop.now_ms += REACTIONS_REPEAT_MS;
        world_run(&world);
        CHECK(reaction_seen.count == (variant == 0));
        end(&world);
    }
}

/* What failed was no answer, so asking again says nothing of one. */
static void test_what_failed_is_not_reacted_to(void)
{
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "down")};
    struct world world;
    begin(&world);
    world.route.tier_count = 1;
    world_script(&world, LOCAL, broken);
    world_run(&world);
    CHECK(world.status != TD_OK);
    world.loop.now_ms += REACTIONS_REPEAT_MS;
    world_script(&world, LOCAL, sure);
    world.loop.now_ms += 60000; /* the tier has rested */
    world_run(&world);
    CHECK(world.status == TD_OK && reaction_seen.count == 0);
    end(&world);
}

/* Who leaves while he reads says something, who leaves before or without a stream does not. */
static void test_only_a_client_that_leaves_its_stream_has_abandoned_the_answer(void)
{
    static const struct {
        bool streamed, has_text, keep_nothing;
        int count;
    } cases[] = {
        {true, true, false, 1},   {true, false, false, 0}, {false, true, false, 0},
        {false, false, false, 0}, {true, true, true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        begin(&world);
        world.route.gates.commit_tokens = 1;
        world.request.streamed = cases[i].streamed;
        world.request.keep_nothing = cases[i].keep_nothing;
        CHECK(world_start(&world, NULL) == TD_OK);
        virtual_loop_run(&world.loop, cases[i].has_text ? 25 : 5);
        if (cases[i].streamed)
            CHECK((world.text_count > 0) == cases[i].has_text);
        char id[64];
        snprintf(id, sizeof id, "%s", exchange_id(world.exchange));
        exchange_cancel(world.exchange);
        virtual_loop_run(&world.loop, 1000);
        CHECK(reaction_seen.count == cases[i].count);
        CHECK(!cases[i].count || (reaction_seen.kind == REACTION_ABANDONED &&
                                  strcmp(reaction_seen.exchange, id) == 0));
        world.exchange = NULL;
        world.request.streamed = true; /* nor is it remembered: asking again is no repetition */
        reaction_seen.count = 0;
        world.loop.now_ms += REACTIONS_REPEAT_MS;
        world_run(&world);
        CHECK(reaction_seen.count == 0);
        end(&world);
    }
}

int main(void)
{
    RUN(test_a_question_that_is_asked_again_is_recorded_with_the_answer_before);
    RUN(test_of_what_is_not_kept_there_are_no_reactions);
    RUN(test_what_failed_is_not_reacted_to);
    RUN(test_only_a_client_that_leaves_its_stream_has_abandoned_the_answer);
    return test_finish();
}
