/* People on the last rung of an exchange: what becomes a ticket, what the client gets meanwhile,
 * and what is learnt. The tier and its queue are the real ones. */
#include "world.h"

#include "ledger/store/queue_store.h"
#include "tier/review/review.h"

#define PEOPLE OTHER

static char folder[64];
static struct queue_store *queue;
static struct tier *people;
static struct loop_timer *timer;

static void people_init(struct world *world, struct review_settings settings)
{
    char path[128];
    const struct tier_facts facts = {.name = "people",
                                     .model = "people",
                                     .place = TD_PLACE_PREMISES,
                                     .has_key = true,
                                     .people = true,
                                     .ruled = true,
                                     .sees = 15,
                                     .sla_s = 3600,
                                     .tickets_max = 10,
                                     .review_usd = 5};
    snprintf(folder, sizeof folder, "/tmp/tandem-review-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/queues.db", folder);
    CHECK(queue_store_open(path, &queue, NULL) == TD_OK);
    settings.open_max = 10;
    settings.expires_s = 1000;
    CHECK(tier_review_new(&facts, &settings, queue, &people, NULL) == TD_OK);
    world_init(world);
    shadow_seen.count = 0;
    world->tier_list[PEOPLE] = people;
    world->route.tiers[1] = "people";
    world->request.user = "ann";
    world_script(world, LOCAL, unsure_late);
}

static void people_deinit(struct world *world)
{
    char command[128];
    world_deinit(world);
    tier_free(people);
    queue_store_close(queue);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

struct seen {
    size_t count;
    char id[QUEUED_ID_BYTES], body[8192];
    enum queued_state state;
};

static bool see(void *ctx, const struct queued *row)
{
    struct seen *seen = ctx;
    seen->count++;
    seen->state = row->state;
    snprintf(seen->id, sizeof seen->id, "%s", row->id);
    snprintf(seen->body, sizeof seen->body, STR_FMT, STR_ARG(row->body));
    return true;
}

static struct seen tickets(void)
{
    struct seen seen = {.count = 0};
    CHECK(queue_store_each(queue, &(struct queue_filter){.limit = 100}, see, &seen, NULL) == TD_OK);
    return seen;
}

static void test_an_unsure_answer_is_interim_and_a_ticket_waits(void)
{
    struct world world;
    people_init(&world, (struct review_settings){.interim = REVIEW_BEST_CANDIDATE});
    world_run(&world);
    CHECK(strcmp(world.text, "Well, I guess") == 0 && strcmp(world.tier, "local") == 0);
    CHECK(world.summary.pending && world.summary.review && world.degraded);
    CHECK(strstr(world.disclosure, "Interim answer") && strstr(world.disclosure, world.id));
    CHECK(world_has_reason(&world, REASON_REVIEW_PENDING, "people"));
    CHECK(strcmp(ledger_seen.outcomes, "local:answered people:pending") == 0);
    CHECK(world.summary.cost_usd > 4.99 && world.summary.cost_usd < 5.01);
    struct seen seen = tickets();
    CHECK(seen.count == 1 && seen.state == QUEUED_OPEN);
    CHECK(strstr(seen.body, "what is the weather") && strstr(seen.body, "Well, I guess"));
    CHECK(shadow_seen.count == 0);
    people_deinit(&world);
}

static void test_without_an_answer_in_hand_there_is_a_notice(void)
{
    static const struct script_step failing[] = {FAIL(TD_UNAVAILABLE, "gone")};
    struct world world;
    people_init(&world, (struct review_settings){.interim = REVIEW_BEST_CANDIDATE});
    world_script(&world, LOCAL, failing);
    world_run(&world);
    CHECK(strcmp(world.tier, "people") == 0 && world.summary.pending);
    CHECK(strstr(world.text, REVIEW_ANSWER_PATH) && strstr(world.text, world.id));
    CHECK(tickets().count == 1);
    people_deinit(&world);
}

static const char *outcome, *result;

static void answer_it(void *ctx)
{
    (void)ctx;
    struct seen seen = tickets();
    CHECK(seen.count == 1);
    CHECK(queue_store_finish(queue, seen.id, "bob", outcome, str_from(result), NULL) == TD_OK);
}

static void run_held(struct world *world, const char *how, const char *with)
{
    people_init(world, (struct review_settings){.interim = REVIEW_NOTICE, .hold_ms = 50000});
    outcome = how;
    result = with;
    timer = loop_timer_new(&world->loop.loop, answer_it, NULL);
    loop_timer_start(&world->loop.loop, timer, 200);
    world_run(world);
    loop_timer_free(&world->loop.loop, timer);
}

static void test_a_held_request_gets_the_persons_answer_and_the_device_is_compared(void)
{
    struct world world;
    run_held(&world, "answered", "{\"text\":\"Rain.\",\"candidate\":null}");
    CHECK(strcmp(world.text, "Rain.") == 0 && strcmp(world.tier, "people") == 0);
    CHECK(!world.summary.pending && !world.degraded);
    CHECK(shadow_seen.count == 1 && !shadow_seen.last.same);
    CHECK(strcmp(shadow_seen.tier, "local") == 0);
    people_deinit(&world);
    run_held(&world, "accepted", "{\"text\":\"Well, I guess\",\"candidate\":0}");
    CHECK(shadow_seen.count == 1 && shadow_seen.last.same);
    people_deinit(&world);
    run_held(&world, "rejected", "{\"text\":\"\"}");
    CHECK(strcmp(world.tier, "local") == 0 && strstr(world.disclosure, "rejected"));
    CHECK(shadow_seen.count == 0);
    people_deinit(&world);
}

static void test_a_client_that_leaves_leaves_its_ticket(void)
{
    struct world world;
    struct td_error err = {0};
    people_init(&world, (struct review_settings){.interim = REVIEW_NOTICE, .hold_ms = 50000});
    CHECK(world_start(&world, &err) == TD_OK);
    virtual_loop_run(&world.loop, 1000);
    CHECK(world.exchange && tickets().count == 1);
    exchange_cancel(world.exchange);
    CHECK(tickets().state == QUEUED_OPEN);
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated people:cancelled") == 0);
    people_deinit(&world);
}

static void test_what_is_not_worth_a_review_stays(void)
{
    struct world world;
    people_init(&world, (struct review_settings){.interim = REVIEW_NOTICE});
    world.request.cost_of_error = 1; /* of at most one dollar, for five */
    world_run(&world);
    CHECK(strcmp(world.tier, "local") == 0 && !world.summary.pending && tickets().count == 0);
    CHECK(world_has_reason(&world, REASON_REMOVED_NOT_WORTH, "people"));
    world.request.cost_of_error = 1000000;
    world_script(&world, LOCAL, sure);
    world_run(&world);
    CHECK(world.summary.pending && tickets().count == 1);
    CHECK(world_has_reason(&world, REASON_LEFT_STAKES, "local"));
    people_deinit(&world);
}

int main(void)
{
    RUN(test_an_unsure_answer_is_interim_and_a_ticket_waits);
    RUN(test_without_an_answer_in_hand_there_is_a_notice);
    RUN(test_a_held_request_gets_the_persons_answer_and_the_device_is_compared);
    RUN(test_a_client_that_leaves_leaves_its_ticket);
    RUN(test_what_is_not_worth_a_review_stays);
    return test_finish();
}
