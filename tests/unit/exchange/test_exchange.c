/* What an exchange shows, in which order, and what it makes of confidence, commit point and
 * corrections. */
#include "exchange/limits/hold.h"
#include "exchange/limits/spending.h"
#include "scenes.h"

static const struct script_step not_mine[] = {NOT_MINE(0.9), TOKEN("Not ", 0.9),
                                              TOKEN("mine.", 0.9), DONE};
static const struct script_step refuses[] = {ROLE_ONLY, FAIL(TD_UNAVAILABLE, "connection refused")};
static const struct script_step cut[] = {TEXT("Clo"), FAIL(TD_CORRUPT, "cut")};
static const struct script_step silent[] = {NOT_MINE(0.9), DONE};

/* --- one exchange each --- */

static void is_a_confident_answer(const struct world *w)
{
    CHECK(w->summary.place == TD_PLACE_DEVICE && !w->reduced);
    CHECK(w->summary.confidence > 0.89 && w->summary.confidence < 0.91);
    CHECK(strncmp(w->id, "ex_", 3) == 0 && strlen(w->id) == 27);
}

static void has_two_attempts_and_no_confidence(const struct world *w)
{
    CHECK(w->summary.place == TD_PLACE_CLOUD);
    CHECK(w->summary.attempt_count == 2 && isnan(w->summary.confidence));
}

static void was_left_after_three_tokens(const struct world *w)
{
    (void)w;
    CHECK(ledger_seen.attempts[0].completion_tokens == 3);
}

static void was_left_after_one_token(const struct world *w)
{
    (void)w;
    CHECK(ledger_seen.attempts[0].completion_tokens == 1);
}

static void without_gates(struct world *w)
{
    w->route.gates = (struct gate_settings){0};
}

static void with_long_prompts_to_the_cloud(struct world *w)
{
    w->route.gates.g0_tokens_over = 99;
}

static void says_its_disclosure(const struct world *w)
{
    CHECK(strcmp(w->text, w->disclosure) == 0 && w->text[0]);
}

static void cut_by_the_tier(struct world *w)
{
    w->tiers[LOCAL].finish = TD_FINISH_LENGTH;
    w->request.tokens_max = 500;
}

static void cut_as_asked(struct world *w)
{
    w->tiers[LOCAL].finish = TD_FINISH_LENGTH;
    w->request.tokens_max = 4;
}

static const struct scene scenes[] = {
    {
        .behaviour = "a confident local answer is given",
        .local = sure,
        .events = "STD",
        .text = "It is noon.",
        .tier = "local",
        .quality = WHOLE,
        .starts = "1 0 0",
        .reasons = {{"local", REASON_CHOSEN_START}, {"local", REASON_KEPT_CONFIDENT}},
        .also = is_a_confident_answer,
    },
    {
        .behaviour = "escalation before the commit point is invisible",
        .local = unsure,
        .cloud = cloudy,
        .events = "STD",
        .text = "Cloud answer",
        .tier = "openai",
        .quality = WHOLE,
        .reasons = {{"local", REASON_LEFT_LOW_CONFIDENCE}},
        .also = has_two_attempts_and_no_confidence,
    },
    {
        .behaviour = "G2 leaves and cancels at the nth token",
        .local = unsure,
        .cloud = cloudy,
        .cancels = "1 0 0",
        .outcomes = "local:escalated openai:answered",
        .also = was_left_after_three_tokens,
    },
    {
        .behaviour = "'not mine' leaves after the first token",
        .local = not_mine,
        .cloud = cloudy,
        .text = "Cloud answer",
        .cancels = "1 0 0",
        .reasons = {{"local", REASON_LEFT_NOT_MINE}},
        .also = was_left_after_one_token,
    },
    {
        .behaviour = "G3 judges the whole answer",
        .local = unsure_late,
        .cloud = cloudy,
        .text = "Cloud answer",
        .cancels = "0 0 0", /* it had ended by itself */
        .reasons = {{"local", REASON_LEFT_LOW_CONFIDENCE}},
    },
    {
        .behaviour = "without gates the first rung answers",
        .arrange = without_gates,
        .local = not_mine,
        .text = "Not mine.",
        .quality = WHOLE,
        .starts = "1 0 0",
    },
    {
        .behaviour = "a G0 rule leaves no tokens of the device",
        .arrange = with_long_prompts_to_the_cloud,
        .cloud = cloudy,
        .text = "Cloud answer",
        .quality = WHOLE,
        .starts = "0 1 0",
        .reasons = {{"openai", REASON_CHOSEN_RULE}},
    },
    {
        .behaviour = "after the commit point a plain client keeps the local answer",
        .commit_tokens = 1,
        .local = unsure_late,
        .events = "STD",
        .text = "Well, I guess",
        .starts = "1 0 0",
        .reasons = {{"local", REASON_KEPT_LAST}},
        .quality = DEGRADED,
        .disclosure_has = "shown before its confidence was known",
    },
    {
        .behaviour = "after the commit point a client with corrections gets one",
        .commit_tokens = 1,
        .corrections = true,
        .local = unsure_late,
        .cloud = cloudy,
        .events = "STCTD",
        .text = "Cloud answer",
        .tier = "openai",
        .quality = WHOLE,
    },
    {
        .behaviour = "a correction that fails before its text is never announced",
        .commit_tokens = 1,
        .corrections = true,
        .local = unsure_late,
        .cloud = refuses,
        .events = "STD",
        .text = "Well, I guess",
        .quality = DEGRADED,
        .disclosure_has = "connection refused",
    },
    {
        .behaviour = "a correction that breaks off is corrected back",
        .commit_tokens = 1,
        .corrections = true,
        .local = unsure_late,
        .cloud = cut,
        .events = "STCTCTD",
        .text = "Well, I guess",
        .tier = "local",
        .quality = DEGRADED,
    },
    {
        .behaviour = "low confidence with nobody else to ask is disclosed",
        .mode = TD_MODE_ONLY_LOCAL,
        .local = unsure,
        .text = "Perhaps so.",
        .quality = DEGRADED,
        .disclosure = "Answered by the small on-device model with reduced capability: mode "
                      "only-local allows no tier off the device.",
    },
    {
        .behaviour = "an empty answer below the bar is said in words",
        .mode = TD_MODE_ONLY_LOCAL,
        .local = silent,
        .events = "STD",
        .quality = DEGRADED,
        .also = says_its_disclosure,
    },
    {
        .behaviour = "a named tier answers alone",
        .model = "gpt-y",
        .other = cloudy,
        .tier = "other",
        .text = "Cloud answer",
    },
    {
        .behaviour = "an answer that the tier's own limit cut escalates",
        .arrange = cut_by_the_tier,
        .local = sure,
        .cloud = cloudy,
        .tier = "openai",
        .reasons = {{"local", REASON_LEFT_CUT}},
    },
    {
        .behaviour = "an answer as long as was asked for is whole",
        .arrange = cut_as_asked,
        .local = sure,
        .tier = "local",
        .quality = WHOLE,
    },
};

/* --- in steps --- */

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

/* The first four tokens are sure enough to be shown to a client that streams. */
static void test_an_answer_that_is_not_streamed_is_judged_to_its_end(void)
{
    struct world w;
    world_init(&w);
    w.request.streamed = false;
    w.route.gates.commit_tokens = 1;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && strcmp(w.tier, "openai") == 0);
    CHECK(!w.degraded && strcmp(w.events, "STCTD") == 0);
    world_deinit(&w);
}

/* Only what ended by itself is a label, and has a label's calibration. */
static void test_an_answer_that_was_cut_is_judged_as_no_label(void)
{
    static const struct script_step two_tokens[] = {TOKEN("No", 0.5), TOKEN("pe", 0.5), DONE};
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        struct world w;
        world_init(&w);
        w.tiers[LOCAL].tier.facts.confidence_label =
            (struct confidence_scale){.temperature = 1, .bias = 3};
        w.tiers[LOCAL].finish = is_cut ? TD_FINISH_LENGTH : TD_FINISH_STOP;
        w.request.tokens_max = 2; /* it is the client's limit that cuts */
        w.route.gates.g2_on = false;
        world_script(&w, LOCAL, two_tokens);
        world_script(&w, CLOUD, cloudy);
        world_run(&w);
        CHECK(strcmp(w.tier, is_cut ? "openai" : "local") == 0);
        world_deinit(&w);
    }
}

/* Nothing was seen of what broke off, so the kept answer is given, and the record has only that. */
static void test_a_half_answer_that_is_not_streamed_was_never_shown(void)
{
    static const struct script_step broken[] = {TEXT("Half"), FAIL(TD_UNAVAILABLE, "cut")};
    for (int kept = 0; kept < 2; kept++) {
        struct world w;
        world_init(&w);
        w.request.streamed = false;
        w.services.store_prompts = true;
        w.route.gates.commit_tokens = 1;
        world_script(&w, LOCAL, unsure_late);
        world_script(&w, CLOUD, broken);
        if (!kept)
            w.request.mode = TD_MODE_ONLY_CLOUD;
        world_run(&w);
        CHECK(kept || strncmp(w.message, "no tier could answer: openai: cut", 33) == 0);
        CHECK(strcmp(w.tier, kept ? "local" : "") == 0);
        CHECK(strcmp(ledger_seen.answer, kept ? "Well, I guess" : "") == 0);
        CHECK(strstr(w.disclosure, "shown") == NULL);
        world_deinit(&w);
    }
}

/* Its pieces cannot be kept for later, so the tier is asked again when the next one fails. */
static void test_an_answer_larger_than_the_hold_is_whole_when_it_is_not_streamed(void)
{
    static char large[HOLD_BYTES_MAX + 2];
    memset(large, 'x', HOLD_BYTES_MAX + 1);
    const struct script_step long_answer[] = {TOKEN("Well", 0.9), TOKEN(large, 0.9),
                                              TOKEN(" end", 0.01), DONE};
    static const struct script_step broken[] = {TEXT("Half"), FAIL(TD_UNAVAILABLE, "cut")};
    struct world w;
    world_init(&w);
    w.request.streamed = false;
    w.route.gates.commit_tokens = 1;
    world_script(&w, LOCAL, long_answer);
    world_script(&w, CLOUD, broken);
    world_run(&w);
    CHECK(strcmp(w.events, "STCTCTD") == 0 && strcmp(w.tier, "local") == 0);
    CHECK(strncmp(w.text, "Wellxx", 6) == 0 && w.tiers[LOCAL].start_count == 2);
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
    /* Nothing was learnt of the cloud's tokens: four bytes are one. */
    double prompt = tier_estimate_prompt(&w.request), answer = (double)strlen(w.text) / 4;
    CHECK(fabs(w.summary.all_cloud_cost_usd - (prompt * 1.0 + answer * 10.0) / 1e6) < 1e-12);
    CHECK(w.summary.all_cloud_basis == BASIS_PRIOR && w.summary.standing == ANSWER_FULL);
    world_deinit(&w);
}

static void test_the_ledger_knows_signals_reasons_and_egress(void)
{
    struct world w;
    world_init(&w);
    world_set_prompt(&w, "what is 12 * 7? write to ann@acmeltd.com");
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

/* With a durable ledger; the record is in the hands of the test. */
static void answer_until_the_record_is_due(struct world *w)
{
    world_init(w);
    ledger_durable = true;
    struct td_error err = {0};
    world_script(w, LOCAL, sure);
    CHECK(world_start(w, &err) == TD_OK);
    virtual_loop_run(&w->loop, 120000);
    ledger_durable = false;
    CHECK(w->end_count == 0 && ledger_seen.put_count == 1);
    REQUIRE(ledger_seen.record.recorded != NULL);
}

static void test_with_a_durable_ledger_the_end_waits_for_the_record(void)
{
    struct world w;
    answer_until_the_record_is_due(&w);
    ledger_seen.record.recorded(ledger_seen.record.recorded_ctx, TD_OK);
    CHECK(w.end_count == 0); /* from the loop, not from inside of it */
    virtual_loop_run(&w.loop, 1);
    CHECK(w.end_count == 1 && w.status == TD_OK && w.summary.end == ENDED_OK);
    world_deinit(&w);
}

static void test_without_its_record_an_exchange_fails(void)
{
    struct world w;
    answer_until_the_record_is_due(&w);
    ledger_seen.record.recorded(ledger_seen.record.recorded_ctx, TD_IO);
    virtual_loop_run(&w.loop, 1);
    CHECK(w.end_count == 1 && w.status == TD_UNAVAILABLE && w.summary.end == ENDED_FAILED);
    CHECK(strstr(w.message, "could not be recorded"));
    world_deinit(&w);
}

static void test_a_client_may_leave_before_and_after_its_record_is_written(void)
{
    for (int told_first = 0; told_first < 2; told_first++) {
        struct world w;
        answer_until_the_record_is_due(&w);
        if (told_first)
            ledger_seen.record.recorded(ledger_seen.record.recorded_ctx, TD_OK);
        exchange_cancel(w.exchange);
        w.exchange = NULL;
        CHECK(w.end_count == 0 && w.summary.end == ENDED_OK);
        if (!told_first)
            ledger_seen.record.recorded(ledger_seen.record.recorded_ctx, TD_OK);
        virtual_loop_run(&w.loop, 1000);
        CHECK(w.end_count == 0);
        world_deinit(&w);
    }
}

static void test_an_answer_that_is_rejected_is_recorded_as_failed(void)
{
    struct world w;
    world_init(&w);
    w.rejects = true;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(w.end_count == 1 && w.summary.end == ENDED_FAILED && w.status == TD_UNSUPPORTED);
    CHECK(strcmp(ledger_seen.status, "failed") == 0);
    CHECK(strcmp(ledger_seen.outcomes, "local:answered") == 0);
    CHECK(strstr(ledger_seen.reasons, "not given: too long"));
    CHECK(ledger_seen.record.standing == ANSWER_NONE);
    world_deinit(&w);
}

/* The fullest budget and the room in the tightest, whatever their order. */
static void test_of_several_budgets_the_tightest_counts(void)
{
    static const struct budget orders[][3] = {
        {{"a", BUDGET_PER_ALL, 5}, {"b", BUDGET_PER_ALL, 1}, {"c", BUDGET_PER_ALL, 9}},
        {{"b", BUDGET_PER_ALL, 1}, {"c", BUDGET_PER_ALL, 9}, {"a", BUDGET_PER_ALL, 5}},
        {{"c", BUDGET_PER_ALL, 9}, {"a", BUDGET_PER_ALL, 5}, {"b", BUDGET_PER_ALL, 1}},
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct world w;
        world_init(&w);
        world_script(&w, LOCAL, sure);
        w.services.spending = spending_new(NULL, 100);
        w.policy.budgets = orders[i];
        w.policy.budget_count = 3;
        for (size_t k = 0; k < 3; k++) { /* half a dollar of each */
            uint64_t whose = spending_key(orders[i][k].name, NULL, "");
            spending_promise(w.services.spending, whose, 0.5);
        }
        world_run(&w);
        CHECK(strstr(ledger_seen.signals, "\"budget\":\"b\",\"budget_left_usd\":0.5"));
        spending_free(w.services.spending);
        world_deinit(&w);
    }
}

int main(void)
{
    RUN_SCENES(scenes);
    RUN(test_text_is_held_back_until_the_commit_point);
    RUN(test_an_answer_that_is_not_streamed_is_judged_to_its_end);
    RUN(test_a_half_answer_that_is_not_streamed_was_never_shown);
    RUN(test_an_answer_larger_than_the_hold_is_whole_when_it_is_not_streamed);
    RUN(test_an_answer_that_was_cut_is_judged_as_no_label);
    RUN(test_the_last_rung_streams_at_once);
    RUN(test_an_unknown_model_is_refused_at_once);
    RUN(test_an_empty_message_list_is_refused_at_once);
    RUN(test_every_attempt_costs_and_all_cloud_is_what_the_answer_would_have);
    RUN(test_the_ledger_knows_signals_reasons_and_egress);
    RUN(test_what_the_local_probe_says_is_recorded);
    RUN(test_prompts_are_stored_only_by_policy_and_never_restricted_ones);
    RUN(test_cancel_stops_attempt);
    RUN(test_what_a_cloud_had_sent_until_the_cancel_is_paid);
    RUN(test_cancel_before_the_first_step_starts_nothing);
    RUN(test_cancel_from_inside_an_event_is_safe);
    RUN(test_with_a_durable_ledger_the_end_waits_for_the_record);
    RUN(test_without_its_record_an_exchange_fails);
    RUN(test_a_client_may_leave_before_and_after_its_record_is_written);
    RUN(test_an_answer_that_is_rejected_is_recorded_as_failed);
    RUN(test_of_several_budgets_the_tightest_counts);
    return test_finish();
}
