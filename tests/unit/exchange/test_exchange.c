/* What an exchange shows, in which order, and what it makes of confidence, commit point and
 * corrections. */
#include "world.h"

static const struct script_step not_mine[] = {NOT_MINE(0.9), TOKEN("Not ", 0.9),
                                              TOKEN("mine.", 0.9), DONE};

static void test_a_confident_local_answer_is_given(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "It is noon.") == 0);
    CHECK(strcmp(w.tier, "local") == 0 && w.summary.place == TD_PLACE_DEVICE);
    CHECK(!w.degraded && !w.disclosure[0] && !w.reduced);
    CHECK(w.summary.confidence > 0.89 && w.summary.confidence < 0.91);
    CHECK(w.tiers[CLOUD].start_count == 0);
    CHECK(world_has_reason(&w, REASON_CHOSEN_START, "local"));
    CHECK(world_has_reason(&w, REASON_KEPT_CONFIDENT, "local"));
    CHECK(strncmp(w.id, "ex_", 3) == 0 && strlen(w.id) == 27);
    world_deinit(&w);
}

static void test_escalation_before_commit_is_invisible(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Cloud answer") == 0);
    CHECK(strcmp(w.tier, "openai") == 0 && w.summary.place == TD_PLACE_CLOUD && !w.degraded);
    CHECK(world_has_reason(&w, REASON_LEFT_LOW_CONFIDENCE, "local"));
    CHECK(w.summary.attempt_count == 2 && isnan(w.summary.confidence));
    world_deinit(&w);
}

static void test_g2_leaves_and_cancels_at_the_nth_token(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(w.tiers[LOCAL].cancel_count == 1);
    CHECK(ledger_seen.attempts[0].completion_tokens == 3);
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated openai:answered") == 0);
    world_deinit(&w);
}

static void test_not_mine_leaves_after_the_first_token(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, not_mine);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0);
    CHECK(world_has_reason(&w, REASON_LEFT_NOT_MINE, "local"));
    CHECK(w.tiers[LOCAL].cancel_count == 1 && ledger_seen.attempts[0].completion_tokens == 1);
    world_deinit(&w);
}

static void test_g3_judges_the_whole_answer(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0);
    CHECK(w.tiers[LOCAL].cancel_count == 0); /* it had ended by itself */
    CHECK(world_has_reason(&w, REASON_LEFT_LOW_CONFIDENCE, "local"));
    world_deinit(&w);
}

static void test_without_gates_the_first_rung_answers(void)
{
    struct world w;
    world_init(&w);
    w.route.gates = (struct gate_settings){0};
    world_script(&w, LOCAL, not_mine);
    world_run(&w);
    CHECK(strcmp(w.text, "Not mine.") == 0 && !w.degraded && w.tiers[CLOUD].start_count == 0);
    world_deinit(&w);
}

static void test_g0_rule_leaves_no_edge_tokens(void)
{
    struct world w;
    world_init(&w);
    w.route.gates.g0_tokens_over = 99;
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && w.tiers[LOCAL].start_count == 0 && !w.degraded);
    CHECK(world_has_reason(&w, REASON_CHOSEN_RULE, "openai"));
    world_deinit(&w);
}

static void test_text_is_held_back_until_the_commit_point(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    w.route.gates.commit_tokens = 3;
    world_script(&w, LOCAL, sure);
    CHECK(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 25); /* two tokens */
    CHECK(w.text_count == 0);
    virtual_loop_run(&w.loop, 10); /* the third */
    CHECK(strcmp(w.text, "It is noon") == 0 && w.text_count == 3);
    virtual_loop_run(&w.loop, 1000);
    CHECK(strcmp(w.text, "It is noon.") == 0 && w.end_count == 1);
    CHECK(w.summary.ttft_ms == 30);
    world_deinit(&w);
}

static void test_the_last_rung_streams_at_once(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    w.request.mode = TD_MODE_ONLY_LOCAL;
    world_script(&w, LOCAL, sure);
    CHECK(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 15);
    CHECK(strcmp(w.text, "It ") == 0);
    virtual_loop_run(&w.loop, 1000);
    CHECK(w.end_count == 1);
    world_deinit(&w);
}

static void test_after_commit_a_plain_client_keeps_the_local_answer(void)
{
    struct world w;
    world_init(&w);
    w.route.gates.commit_tokens = 1;
    world_script(&w, LOCAL, unsure_late);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Well, I guess") == 0);
    CHECK(w.tiers[CLOUD].start_count == 0);
    CHECK(world_has_reason(&w, REASON_KEPT_LAST, "local"));
    CHECK(w.degraded && strstr(w.disclosure, "shown before its confidence was known"));
    world_deinit(&w);
}

static void test_after_commit_a_client_with_corrections_gets_one(void)
{
    struct world w;
    world_init(&w);
    w.route.gates.commit_tokens = 1;
    w.request.corrections = true;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.events, "STCTD") == 0 && strcmp(w.text, "Cloud answer") == 0);
    CHECK(strcmp(w.tier, "openai") == 0 && !w.degraded);
    world_deinit(&w);
}

static void test_a_correction_that_fails_before_its_text_is_never_announced(void)
{
    static const struct script_step refuses[] = {ROLE_ONLY,
                                                 FAIL(TD_UNAVAILABLE, "connection refused")};
    struct world w;
    world_init(&w);
    w.route.gates.commit_tokens = 1;
    w.request.corrections = true;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, refuses);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Well, I guess") == 0);
    CHECK(w.degraded && strstr(w.disclosure, "connection refused"));
    world_deinit(&w);
}

static void test_a_correction_that_breaks_off_is_corrected_back(void)
{
    static const struct script_step cut[] = {TEXT("Clo"), FAIL(TD_CORRUPT, "cut")};
    struct world w;
    world_init(&w);
    w.route.gates.commit_tokens = 1;
    w.request.corrections = true;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cut);
    world_run(&w);
    CHECK(strcmp(w.events, "STCTCTD") == 0 && strcmp(w.text, "Well, I guess") == 0);
    CHECK(strcmp(w.tier, "local") == 0 && w.degraded);
    world_deinit(&w);
}

static void test_low_confidence_with_nobody_else_is_disclosed(void)
{
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_LOCAL;
    world_script(&w, LOCAL, unsure);
    world_run(&w);
    CHECK(strcmp(w.text, "Perhaps so.") == 0 && w.degraded);
    CHECK(strcmp(w.disclosure,
                 "Answered by the small on-device model with reduced capability: mode "
                 "only-local allows no tier off the device.") == 0);
    world_deinit(&w);
}

static void test_an_empty_answer_below_the_bar_is_said_in_words(void)
{
    static const struct script_step silent[] = {NOT_MINE(0.9), DONE};
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_LOCAL;
    world_script(&w, LOCAL, silent);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && w.degraded);
    CHECK(strcmp(w.text, w.disclosure) == 0 && w.text[0]);
    world_deinit(&w);
}

static void test_a_named_tier_answers_alone(void)
{
    struct world w;
    world_init(&w);
    w.request.model = "gpt-y";
    world_script(&w, OTHER, cloudy);
    world_run(&w);
    CHECK(strcmp(w.tier, "other") == 0 && strcmp(w.text, "Cloud answer") == 0);
    world_deinit(&w);
}

static void test_an_unknown_model_is_refused_at_once(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    w.request.model = "gpt-zzz";
    CHECK(world_start(&w, &err) == TD_NOT_FOUND && strstr(err.message, "gpt-zzz"));
    virtual_loop_run(&w.loop, 1000);
    CHECK(w.end_count == 0);
    world_deinit(&w);
}

static void test_an_empty_message_list_is_refused_at_once(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    w.request.message_count = 0;
    CHECK(world_start(&w, &err) == TD_INVALID);
    world_deinit(&w);
}

static void test_every_attempt_costs_and_all_cloud_is_what_the_answer_would_have(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].tier.facts.input_usd_per_mtok = 0.1;
    w.tiers[LOCAL].tier.facts.output_usd_per_mtok = 0.2;
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    double local = (100 * 0.1 + 3 * 0.2) / 1e6, cloud = (100 * 1.0 + 2 * 10.0) / 1e6;
    CHECK(fabs(w.summary.cost_usd - (local + cloud)) < 1e-12);
    CHECK(fabs(w.summary.all_cloud_cost_usd - cloud) < 1e-12);
    CHECK(fabs(ledger_seen.attempts[0].cost_usd - local) < 1e-12);
    world_script(&w, LOCAL, sure);
    w.tiers[LOCAL].start_count = 0;
    world_run(&w);
    CHECK(fabs(w.summary.all_cloud_cost_usd - (100 * 1.0 + 4 * 10.0) / 1e6) < 1e-12);
    world_deinit(&w);
}

static void test_the_ledger_knows_signals_reasons_and_egress(void)
{
    struct world w;
    world_init(&w);
    world_set_prompt(&w, "what is 12 * 7? write to ann@example.com");
    w.route.tiers[0] = "local";
    w.request.slo_ttft_ms = 250;
    w.request.slo_ms = 4000;
    w.request.data_class = TD_CLASS_PUBLIC;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(ledger_seen.put_count == 1 && strcmp(ledger_seen.status, "ok") == 0);
    CHECK(strcmp(ledger_seen.data_class, "sensitive") == 0);
    CHECK(strstr(ledger_seen.signals, "\"maths\":true"));
    CHECK(strstr(ledger_seen.signals, "\"slo_ttft_ms\":250,\"slo_ms\":4000"));
    CHECK(strstr(ledger_seen.signals, "\"EMAIL_ADDRESS\":1"));
    CHECK(strstr(ledger_seen.reasons, "\"code\":\"removed_class\",\"tier\":\"openai\""));
    CHECK(!ledger_seen.has_prompt && ledger_seen.attempts[0].egress_bytes == 0);
    CHECK(!strstr(ledger_seen.signals, "ann@") && !strstr(ledger_seen.reasons, "ann@"));
    world_set_prompt(&w, "public now");
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(ledger_seen.attempts[1].egress_bytes == 77);
    world_deinit(&w);
}

static void test_what_the_local_probe_says_is_recorded(void)
{
    static const struct script_step probed[] = {
        {.kind = SCRIPT_TOKEN, .delay_ms = 10, .text = "a", .probability = 0.9, .probe = 0.25},
        TOKEN("b", 0.9),
        DONE};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, probed);
    world_run(&w);
    CHECK(strstr(ledger_seen.signals, "\"probe\":0.25"));
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(!strstr(ledger_seen.signals, "probe")); /* a model without one says nothing */
    world_deinit(&w);
}

static void test_prompts_are_stored_only_by_policy_and_never_restricted_ones(void)
{
    struct world w;
    world_init(&w);
    w.services.store_prompts = true;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(ledger_seen.prompt, "what is the weather") == 0);
    CHECK(strcmp(ledger_seen.answer, "It is noon.") == 0);
    world_set_prompt(&w, "my card is 4111 1111 1111 1111");
    world_run(&w);
    CHECK(!ledger_seen.has_prompt && strcmp(ledger_seen.data_class, "restricted") == 0);
    world_deinit(&w);
}

static void test_an_answer_that_the_tier_s_own_limit_cut_escalates(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].finish = TD_FINISH_LENGTH;
    w.request.tokens_max = 500;
    world_script(&w, LOCAL, sure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(world_has_reason(&w, REASON_LEFT_CUT, "local"));
    CHECK(strcmp(w.tier, "openai") == 0);
    world_deinit(&w);
}

static void test_an_answer_as_long_as_was_asked_for_is_whole(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].finish = TD_FINISH_LENGTH;
    w.request.tokens_max = 4;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && !w.degraded);
    world_deinit(&w);
}

static void test_cancel_stops_attempt(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    world_script(&w, LOCAL, sure);
    CHECK(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 15);
    exchange_cancel(w.exchange);
    CHECK(w.tiers[LOCAL].cancel_count == 1 && w.tiers[LOCAL].running == 0);
    CHECK(strcmp(ledger_seen.status, "cancelled") == 0);
    CHECK(strcmp(ledger_seen.outcomes, "local:cancelled") == 0);
    virtual_loop_run(&w.loop, 100000);
    CHECK(w.end_count == 0 && w.events[0] == '\0');
    world_deinit(&w);
}

static void test_what_a_cloud_had_sent_until_the_cancel_is_paid(void)
{
    static const struct script_step talks[] = {TEXT("Once upon a time "),
                                               TEXT("there was a stall."), STALL};
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    world_script(&w, CLOUD, talks);
    w.request.mode = TD_MODE_ONLY_CLOUD;
    CHECK(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 100);
    CHECK(strcmp(w.text, "Once upon a time there was a stall.") == 0);
    exchange_cancel(w.exchange);
    CHECK(strcmp(ledger_seen.outcomes, "openai:cancelled") == 0);
    CHECK(ledger_seen.attempts[0].prompt_tokens == 100);
    CHECK(ledger_seen.attempts[0].completion_tokens == 9); /* 35 bytes, four a token */
    CHECK(fabs(ledger_seen.record.cost_usd - (100 * 1 + 9 * 10) / 1e6) < 1e-12);
    world_deinit(&w);
}

static void test_cancel_before_the_first_step_starts_nothing(void)
{
    struct world w;
    world_init(&w);
    struct td_error err = {0};
    world_script(&w, LOCAL, sure);
    CHECK(world_start(&w, &err) == TD_OK);
    exchange_cancel(w.exchange);
    virtual_loop_run(&w.loop, 100000);
    CHECK(w.tiers[LOCAL].start_count == 0 && w.end_count == 0);
    world_deinit(&w);
}

static void test_cancel_from_inside_an_event_is_safe(void)
{
    for (size_t at = 1; at <= 4; at++) { /* in the middle of the replay, and of a stream */
        for (uint32_t commit = 0; commit <= 4; commit++) {
            struct world w;
            world_init(&w);
            struct td_error err = {0};
            w.route.gates.commit_tokens = commit;
            w.cancel_at_text = at;
            world_script(&w, LOCAL, sure);
            CHECK(world_start(&w, &err) == TD_OK);
            virtual_loop_run(&w.loop, 100000);
            CHECK(w.text_count == at && w.end_count == 0);
            CHECK(strcmp(ledger_seen.status, "cancelled") == 0);
            world_deinit(&w);
        }
    }
}

int main(void)
{
    RUN(test_a_confident_local_answer_is_given);
    RUN(test_escalation_before_commit_is_invisible);
    RUN(test_g2_leaves_and_cancels_at_the_nth_token);
    RUN(test_not_mine_leaves_after_the_first_token);
    RUN(test_g3_judges_the_whole_answer);
    RUN(test_without_gates_the_first_rung_answers);
    RUN(test_g0_rule_leaves_no_edge_tokens);
    RUN(test_text_is_held_back_until_the_commit_point);
    RUN(test_the_last_rung_streams_at_once);
    RUN(test_after_commit_a_plain_client_keeps_the_local_answer);
    RUN(test_after_commit_a_client_with_corrections_gets_one);
    RUN(test_a_correction_that_fails_before_its_text_is_never_announced);
    RUN(test_a_correction_that_breaks_off_is_corrected_back);
    RUN(test_low_confidence_with_nobody_else_is_disclosed);
    RUN(test_an_empty_answer_below_the_bar_is_said_in_words);
    RUN(test_a_named_tier_answers_alone);
    RUN(test_an_unknown_model_is_refused_at_once);
    RUN(test_an_empty_message_list_is_refused_at_once);
    RUN(test_every_attempt_costs_and_all_cloud_is_what_the_answer_would_have);
    RUN(test_the_ledger_knows_signals_reasons_and_egress);
    RUN(test_what_the_local_probe_says_is_recorded);
    RUN(test_prompts_are_stored_only_by_policy_and_never_restricted_ones);
    RUN(test_an_answer_that_the_tier_s_own_limit_cut_escalates);
    RUN(test_an_answer_as_long_as_was_asked_for_is_whole);
    RUN(test_cancel_stops_attempt);
    RUN(test_what_a_cloud_had_sent_until_the_cancel_is_paid);
    RUN(test_cancel_before_the_first_step_starts_nothing);
    RUN(test_cancel_from_inside_an_event_is_safe);
    return test_finish();
}
