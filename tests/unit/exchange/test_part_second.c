/* A second signal for an answer that is near the bound: when it is asked for, what it changes, what
 * stands in the record, and that nothing of it outlives the exchange. */
#include "world.h"

#include "router/judge/confidence_model.h"

static const struct script_step yes[] = {LABELS(0.9), DONE}, no[] = {LABELS(0.1), DONE};
static const struct script_step fails[] = {FAIL(TD_BUSY, "no place")}, stalls[] = {STALL};
static const struct script_step same[] = {TEXT("It is noon."), DONE};
static const struct script_step other[] = {TEXT("It is midnight."), DONE};

static struct confidence_model model;

/* The local answer has the confidence `first`; G3's bound is 0.6. */
static void doubtful(struct world *w, enum second_by by, double first,
                     const struct script_step *says)
{
    world_init(w);
    memset(&model, 0, sizeof model);
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++)
        model.whole.scale[i] = model.running.scale[i] = 1;
    model.whole.knot_count = model.running.knot_count = 1;
    model.whole.knot_y[0] = first;
    model.running.knot_y[0] = 0.9; /* G2 keeps it */
    model.second = (struct second_scale){.by = by, .bias = 0, .first = 1, .second = 1};
    w->tiers[LOCAL].tier.facts.confidence_model = &model;
    w->route.gates.second = by;
    w->route.gates.second_band = 0.2;
    w->route.gates.second_samples = 3;
    world_script(w, LOCAL, sure);
    for (size_t i = 1; i < SCRIPTED_STARTS_MAX; i++)
        w->tiers[LOCAL].scripts[i] = says;
    world_script(w, CLOUD, cloudy);
}

static void test_an_answer_that_the_model_calls_right_stays(void)
{
    struct world w;
    doubtful(&w, SECOND_P_TRUE, 0.5, yes);
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && strcmp(w.text, "It is noon.") == 0);
    CHECK(w.tiers[LOCAL].start_count == 2 && w.tiers[CLOUD].start_count == 0);
    /* It read the answer after the question, and was asked about it. */
    CHECK(strstr(w.tiers[LOCAL].all, "assistant:It is noon.|user:" SECOND_QUESTION) != NULL);
    CHECK(world_has_reason(&w, REASON_SECOND_SIGNAL, "local"));
    CHECK(strstr(ledger_seen.reasons, "p_true says 0.90, so confidence 0.50 becomes 0.90: it took "
                                      "20 ms, 100 tokens read") != NULL);
    CHECK(strstr(ledger_seen.signals, "\"second\":{\"by\":\"p_true\",\"tier\":\"local\"") != NULL);
    CHECK(fabs(ledger_seen.attempts[0].confidence - 0.9) < 1e-6);
    CHECK(strcmp(ledger_seen.outcomes, "local:answered") == 0);
    world_deinit(&w);
}

static void test_an_answer_that_the_model_calls_wrong_is_left(void)
{
    struct world w;
    doubtful(&w, SECOND_P_TRUE, 0.7, no);
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && strcmp(w.text, "Cloud answer") == 0);
    CHECK(world_has_reason(&w, REASON_LEFT_LOW_CONFIDENCE, "local"));
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated openai:answered") == 0);
    world_deinit(&w);
}

static void test_samples_that_agree_keep_an_answer_and_others_do_not(void)
{
    struct world w;
    doubtful(&w, SECOND_AGREEMENT, 0.5, same);
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && w.tiers[LOCAL].start_count == 4);
    CHECK(w.tiers[LOCAL].tokens_max == SECOND_TOKENS);
    CHECK(strstr(ledger_seen.reasons, "agreement says 0.88") != NULL); /* 3.5 of 4 */
    world_deinit(&w);
    doubtful(&w, SECOND_AGREEMENT, 0.7, same);
    w.tiers[LOCAL].scripts[2] = w.tiers[LOCAL].scripts[3] = other;
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0);
    CHECK(strstr(ledger_seen.reasons, "agreement says 0.38") != NULL);
    world_deinit(&w);
}

static int starts(struct world *w)
{
    world_run(w);
    int count = w->tiers[LOCAL].start_count;
    world_deinit(w);
    return count;
}

static void test_it_is_not_asked_for_where_it_changes_nothing(void)
{
    struct world w;
    doubtful(&w, SECOND_P_TRUE, 0.5, yes);
    CHECK(starts(&w) == 2);
    doubtful(&w, SECOND_P_TRUE, 0.39, yes); /* too far from the bound */
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.81, no);
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* nobody measured it */
    model.second.by = SECOND_AGREEMENT;
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* it was measured, and is worth nothing */
    model.second.second = 0;
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* nobody else can be asked */
    w.request.mode = TD_MODE_ONLY_LOCAL;
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* the client has read the answer */
    w.route.gates.commit_tokens = 1;
    w.route.gates.g2_tokens = 1;
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* a stronger tier looks at it anyway */
    w.route.verify = (struct verify_settings){
        .by = VERIFY_SCORE, .stakes = STAKES_HIGH, .high_class = -1, .deadline_ms = 5000};
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* the client began the answer */
    w.request.continues = true;
    CHECK(starts(&w) == 1);
    doubtful(&w, SECOND_P_TRUE, 0.5, yes); /* a server's model is not ours to ask */
    w.tiers[LOCAL].tier.facts.provider = "openai";
    CHECK(starts(&w) == 1);
}

static void test_one_that_does_not_come_leaves_the_verdict(void)
{
    static const struct script_step *const without[] = {fails, stalls, same /* no labels */};
    for (size_t i = 0; i < 3; i++) {
        struct world w;
        doubtful(&w, SECOND_P_TRUE, 0.7, without[i]);
        world_run(&w);
        CHECK(strcmp(w.tier, "local") == 0 && w.tiers[LOCAL].cancel_count == (i == 1));
        CHECK(strstr(ledger_seen.reasons, "no second signal (p_true) came") != NULL);
        world_deinit(&w);
        doubtful(&w, SECOND_P_TRUE, 0.5, without[i]);
        world_run(&w);
        CHECK(strcmp(w.tier, "openai") == 0);
        world_deinit(&w);
        doubtful(&w, SECOND_AGREEMENT, 0.5, i == 2 ? other : without[i]);
        world_run(&w);
        CHECK(strcmp(w.tier, "openai") == 0);
        world_deinit(&w);
    }
}

static void test_a_deadline_gives_the_answer_in_hand(void)
{
    struct world w;
    doubtful(&w, SECOND_P_TRUE, 0.5, stalls);
    w.request.slo_ms = 1000;
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && strcmp(w.text, "It is noon.") == 0);
    CHECK(w.tiers[LOCAL].cancel_count == 1 && w.tiers[CLOUD].start_count == 0);
    CHECK(w.summary.verification.state == VERIFICATION_NONE);
    world_deinit(&w);
}

static void test_it_ends_with_its_exchange(void)
{
    for (int by = SECOND_P_TRUE; by <= SECOND_AGREEMENT; by++) {
        struct world w;
        struct td_error err = {0};
        doubtful(&w, by, 0.5, stalls);
        CHECK(world_start(&w, &err) == TD_OK);
        virtual_loop_run(&w.loop, 500);
        int asked = by == SECOND_P_TRUE ? 1 : 3;
        CHECK(w.tiers[LOCAL].running == asked && w.end_count == 0);
        exchange_cancel(w.exchange);
        CHECK(w.tiers[LOCAL].running == 0 && w.tiers[LOCAL].cancel_count == asked);
        virtual_loop_run(&w.loop, 10000);
        world_deinit(&w);
    }
}

static void test_both_signals_count_as_they_were_measured(void)
{
    const struct second_scale even = {SECOND_P_TRUE, 0, 0.5, 0.5}, moved = {SECOND_P_TRUE, 1, 1, 0};
    const float labels[] = {-1, -1}, sure_of_yes[] = {0, -200};
    CHECK(fabs(second_combine(&even, 0.9, 0.1) - 0.5) < 1e-9);
    CHECK(fabs(second_combine(&moved, 0.5, 0.1) - 1 / (1 + exp(-1))) < 1e-9);
    CHECK(second_combine(&even, 0, 1) == 0); /* what cannot be right stays so */
    CHECK(second_combine(&even, 1, 1) <= 1 && second_combine(&even, 1, 1) > 0.999);
    CHECK(second_p_true(labels) == 0.5 && second_p_true(sure_of_yes) == 1);
    CHECK(second_agreement(0, 3) == 0.125 && second_agreement(3, 3) == 0.875);
}

int main(void)
{
    RUN(test_an_answer_that_the_model_calls_right_stays);
    RUN(test_an_answer_that_the_model_calls_wrong_is_left);
    RUN(test_samples_that_agree_keep_an_answer_and_others_do_not);
    RUN(test_it_is_not_asked_for_where_it_changes_nothing);
    RUN(test_one_that_does_not_come_leaves_the_verdict);
    RUN(test_a_deadline_gives_the_answer_in_hand);
    RUN(test_it_ends_with_its_exchange);
    RUN(test_both_signals_count_as_they_were_measured);
    return test_finish();
}
