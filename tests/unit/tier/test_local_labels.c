/* A request for labels at the local tier, over an engine that the test plays. */
#include "tier/tier.h"

#include "played_engine.h"
#include "virtual_loop.h"

struct scene {
    struct tier *tier;
    struct tier_attempt *attempt;
    float scores[2];
    size_t score_count;
    struct td_token_stats stats;
    bool cancels;
    int done_count;
    struct tier_result result;
};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct scene *scene = ctx;
    REQUIRE(piece->label_count == 2 && piece->has_stats);
    memcpy(scene->scores, piece->label_scores, sizeof scene->scores);
    scene->score_count += 2;
    scene->stats = piece->stats;
    if (scene->cancels)
        tier_cancel(scene->tier, scene->attempt);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct scene *scene = ctx;
    scene->done_count++;
    scene->result = *result;
}

static void test_labels_come_as_one_piece_with_their_scores(void)
{
    struct scene s = {0};
    struct td_error err = {0};
    struct virtual_loop loop;
    virtual_loop_init(&loop);
    engine.prompt_count = 10;
    const struct td_message message = {TD_ROLE_USER, STR("hello")};
    const struct tier_facts facts = {.name = "local", .has_key = true};
    const struct tier_local_options options = {
        .main = {.model = (const void *)&engine,
                 .scheduler = (void *)&engine}}; /* not looked into */
    REQUIRE(tier_local_new(&facts, &options, &s.tier, NULL) == TD_OK);
    const struct td_str texts[] = {STR("yes"), STR("no")};
    const struct td_labels labels = {.texts = texts, .count = 2};
    const struct td_request request = {
        .messages = &message, .message_count = 1, .labels = &labels, .keep_nothing = true};
    const struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = &s};
    for (int cancels = 0; cancels < 3; cancels++) {
        s.cancels = cancels == 1;
        CHECK(tier_start(s.tier, &loop.loop, &request, &sink, &s.attempt, &err) == TD_OK &&
              engine.first_id == 42);
        CHECK(engine.label_job.keep_nothing && engine.label_job.id_count == 10);
        CHECK(engine.classifier_count == 0 && engine.plan_count == 1);
        if (cancels == 2) {
            tier_cancel(s.tier, s.attempt);
            continue;
        }
        const double scores[] = {-0.5, -3};
        const struct label_result result = {.scores = scores, .not_mine = 0.25, .cached_tokens = 4};
        engine.labels.on_done(engine.labels.ctx, TD_OK, &result, &err);
        CHECK(s.score_count == 2 * ((size_t)cancels + 1) && s.scores[1] == -3.0f);
        CHECK(s.stats.not_mine == 0.25f);
        CHECK(s.done_count == 1); /* the first, and not one that was cancelled */
    }
    CHECK(s.result.usage.exact && s.result.status == TD_OK);
    CHECK(s.result.usage.prompt_tokens == 10 && s.result.usage.cached_tokens == 4);
    CHECK(engine.plan_count == 0 && engine.cancel_count == 1);
    engine.submit_status = TD_BUSY;
    CHECK(tier_start(s.tier, &loop.loop, &request, &sink, &s.attempt, &err) == TD_BUSY &&
          engine.plan_count == 0);
    CHECK(tier_local_model(s.tier) == (const struct td_model *)&engine);
    tier_free(s.tier);
}

int main(void)
{
    RUN(test_labels_come_as_one_piece_with_their_scores);
    return test_finish();
}
