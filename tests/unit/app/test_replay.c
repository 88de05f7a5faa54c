/* Recorded exchanges under another policy: what is left, kept in part, refused, and what that costs
 * and is worth. */
#include "api/evidence/replay.h"

#include "base/core/str.h"
#include "test.h"

#include <math.h>

enum { LOCAL, CLOUD, TIERS };

struct scene {
    struct tier_facts facts[TIERS];
    struct route route;
    struct policy policy;
    struct outcomes outcomes;
    struct replay replay;
};

static void scene_init(struct scene *s, double confidence_min)
{
    *s = (struct scene){
        .facts = {{.name = "local", .model = "", .place = TD_PLACE_DEVICE, .has_key = true},
                  {.name = "cloud",
                   .model = "",
                   .place = TD_PLACE_CLOUD,
                   .has_key = true,
                   .input_usd_per_mtok = 10,
                   .output_usd_per_mtok = 100}},
        .route = {.name = "auto",
                  .kind = ROUTE_HYBRID,
                  .tiers = {"local", "cloud"},
                  .tier_count = TIERS,
                  .gates = {.g3_on = true, .g3_confidence_min = confidence_min}},
    };
    s->policy = (struct policy){.version = "1", .routes = &s->route, .route_count = 1};
    s->replay = (struct replay){.policy = &s->policy, .facts = s->facts, .tier_count = TIERS};
}

#define PUBLIC \
    "{\"data_class\":\"public\",\"mode\":\"auto\",\"prompt_tokens\":{\"local\":100,\"cloud\":120}"

static const struct ledger_attempt answered_locally = {.tier = "local",
                                                       .place = "device",
                                                       .outcome = ATTEMPT_ANSWERED,
                                                       .confidence = 0.8,
                                                       .prompt_tokens = 100,
                                                       .completion_tokens = 10,
                                                       .total_ms = 20};
static const struct ledger_attempt answered_elsewhere = {.tier = "cloud",
                                                         .place = "cloud",
                                                         .outcome = ATTEMPT_ANSWERED,
                                                         .confidence = NAN,
                                                         .prompt_tokens = 120,
                                                         .completion_tokens = 30,
                                                         .total_ms = 500,
                                                         .cost_usd = 0.0042};

static struct ledger_history row_of(const struct ledger_attempt *attempt, const char *signals)
{
    return (struct ledger_history){.id = "ex_1",
                                   .requested_model = "auto",
                                   .tier = attempt->tier,
                                   .place = attempt->place,
                                   .status = ENDED_OK,
                                   .cost_usd = attempt->cost_usd,
                                   .total_ms = attempt->total_ms,
                                   .signals_json = signals,
                                   .score = NAN,
                                   .same = NAN,
                                   .attempts = attempt,
                                   .attempt_count = 1};
}

/* Both passes over the rows. */
static void run_all(struct scene *s, const struct ledger_history *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK(replay_learn(&s->replay, &rows[i], NULL) == TD_OK);
    replay_prepare(&s->replay);
    for (size_t i = 0; i < count; i++)
        CHECK(replay_add(&s->replay, &rows[i], NULL) == TD_OK);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_the_same_policy_changes_nothing(void)
{
    struct scene s;
    scene_init(&s, 0.6);
    const struct ledger_history row = row_of(&answered_locally, PUBLIC "}");
    run_all(&s, &row, 1);
    REQUIRE(s.replay.count == 1);
    const struct replay_row *got = &s.replay.rows[0];
    CHECK(near(got->local_before, 1) && near(got->local_after, 1));
    CHECK(near(got->cost_before, 0) && near(got->cost_after, 0));
    CHECK(near(got->ms_after, 20) && !got->start_changed && !got->refused);
    CHECK(isnan(got->right_before) && isnan(got->right_after)); /* nobody knows */
    replay_deinit(&s.replay);
}

static void test_a_higher_bar_leaves_the_device_at_the_clouds_price_and_time(void)
{
    struct scene s;
    scene_init(&s, 0.9);
    const struct ledger_history rows[] = {row_of(&answered_locally, PUBLIC "}"),
                                          row_of(&answered_elsewhere, PUBLIC "}")};
    run_all(&s, rows, 2);
    REQUIRE(s.replay.count == 2);
    const struct replay_row *got = &s.replay.rows[0];
    CHECK(near(got->local_after, 0));
    /* Its own prompt as the cloud counts it, and the answer's tokens: 120 at 10, 10 at 100. */
    CHECK(near(got->cost_after, (120 * 10 + 10 * 100) / 1e6));
    CHECK(near(got->ms_after, 20 + 500)); /* the try, then the mean of the cloud's answers */
    replay_deinit(&s.replay);
}

static void test_a_try_that_was_never_made_is_kept_by_the_share_of_recorded_confidences(void)
{
    struct scene s;
    scene_init(&s, 0.6);
    struct ledger_attempt unsure = answered_locally;
    unsure.confidence = 0.3;
    const struct ledger_history rows[] = {
        row_of(&answered_locally, PUBLIC "}"), row_of(&answered_locally, PUBLIC "}"),
        row_of(&answered_locally, PUBLIC "}"), row_of(&unsure, PUBLIC "}"),
        row_of(&answered_elsewhere, PUBLIC "}")};
    run_all(&s, rows, 5);
    REQUIRE(s.replay.count == 5);
    const struct replay_row *got = &s.replay.rows[4];
    CHECK(near(got->local_before, 0) && near(got->local_after, 0.75));
    CHECK(near(got->cost_after, 0.25 * 0.0042) && got->start_changed);
    CHECK(near(s.replay.rows[3].local_after, 0));
    replay_deinit(&s.replay);
}

static void test_what_was_not_the_models_task_and_hopeless_questions(void)
{
    struct scene s;
    scene_init(&s, 0.1);
    struct ledger_history row =
        row_of(&answered_locally, PUBLIC ",\"gain\":0,\"p_local\":0.1,\"p_strong\":0.1}");
    row.reasons_json = "[{\"code\":\"left_not_mine\"}]";
    run_all(&s, &row, 1);
    CHECK(near(s.replay.rows[0].local_after, 0));
    replay_deinit(&s.replay);
    scene_init(&s, 0.1);
    s.route.gates.hopeless_under = 0.3; /* no tier is right more often: it stays */
    run_all(&s, &row, 1);
    CHECK(near(s.replay.rows[0].local_after, 1));
    replay_deinit(&s.replay);
}

static void test_what_a_hedge_outran_tells_nothing_of_its_tier(void)
{
    struct scene s;
    struct ledger_attempt attempts[2] = {answered_locally, answered_elsewhere};
    attempts[0].outcome = ATTEMPT_CANCELLED; /* before its first token */
    attempts[0].completion_tokens = 0;
    attempts[0].total_ms = 5;
    attempts[0].confidence = NAN;
    struct ledger_history rows[2] = {row_of(&answered_locally, PUBLIC "}"),
                                     row_of(attempts, PUBLIC "}")};
    rows[1].id = "ex_2";
    rows[1].tier = "cloud";
    rows[1].place = "cloud";
    rows[1].attempt_count = 2;
    scene_init(&s, 0.5);
    run_all(&s, rows, 2);
    /* Like the other one, it would have been kept here, after 20 ms. */
    CHECK(near(s.replay.rows[1].local_after, 1) && near(s.replay.rows[1].ms_after, 20));
    replay_deinit(&s.replay);
}

static void test_quality_is_of_outcomes_else_feedback_else_the_classifier(void)
{
    struct scene s;
    struct ledger_history row =
        row_of(&answered_locally, PUBLIC ",\"gain\":0.5,\"p_local\":0.25,\"p_strong\":0.75}");
    scene_init(&s, 0.9);
    run_all(&s, &row, 1);
    CHECK(near(s.replay.rows[0].right_before, 0.25) && near(s.replay.rows[0].right_after, 0.75));
    replay_deinit(&s.replay);
    row.score = 1; /* somebody said so of the device's answer */
    scene_init(&s, 0.9);
    run_all(&s, &row, 1);
    CHECK(near(s.replay.rows[0].right_before, 1) && near(s.replay.rows[0].right_after, 0.75));
    replay_deinit(&s.replay);
    scene_init(&s, 0.9);
    REQUIRE(outcomes_read(STR("{\"id\":\"ex_0\",\"local\":{\"right\":0,\"cost_usd\":0,\"ms\":1},"
                              "\"cloud\":{\"right\":0,\"cost_usd\":0,\"ms\":1}}\n"
                              "{\"id\":\"ex_1\",\"local\":{\"right\":0.5,\"cost_usd\":0,\"ms\":1},"
                              "\"cloud\":{\"right\":0.875,\"cost_usd\":1,\"ms\":1}}\n"),
                          &s.outcomes, NULL) == TD_OK);
    replay_sort_outcomes(&s.outcomes);
    s.replay.outcomes = &s.outcomes;
    run_all(&s, &row, 1);
    CHECK(near(s.replay.rows[0].right_before, 0.5) && near(s.replay.rows[0].right_after, 0.875));
    outcomes_deinit(&s.outcomes);
    replay_deinit(&s.replay);
}

static void test_what_no_tier_may_answer_is_refused_and_what_cannot_be_read_skipped(void)
{
    struct scene s;
    scene_init(&s, 0.6);
    s.route.kind = ROUTE_CLOUD_ONLY;
    struct ledger_history rows[] = {
        row_of(&answered_locally, "{\"data_class\":\"restricted\",\"mode\":\"auto\"}"),
        row_of(&answered_locally, "{\"data_class\":"), row_of(&answered_locally, "{}"),
        row_of(&answered_locally, NULL), row_of(&answered_locally, PUBLIC "}")};
    rows[4].status = ENDED_FAILED;
    run_all(&s, rows, 5);
    CHECK(s.replay.count == 1 && s.replay.skipped == 4);
    const struct replay_row *got = &s.replay.rows[0];
    CHECK(got->refused && got->start_changed && near(got->right_after, 0));
    CHECK(near(got->cost_after, 0) && near(got->local_after, 0));
    replay_deinit(&s.replay);
}

int main(void)
{
    RUN(test_the_same_policy_changes_nothing);
    RUN(test_a_higher_bar_leaves_the_device_at_the_clouds_price_and_time);
    RUN(test_a_try_that_was_never_made_is_kept_by_the_share_of_recorded_confidences);
    RUN(test_what_was_not_the_models_task_and_hopeless_questions);
    RUN(test_what_a_hedge_outran_tells_nothing_of_its_tier);
    RUN(test_quality_is_of_outcomes_else_feedback_else_the_classifier);
    RUN(test_what_no_tier_may_answer_is_refused_and_what_cannot_be_read_skipped);
    return test_finish();
}
