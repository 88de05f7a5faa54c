/* What an exchange does when tiers fail, are missing, or may not be asked. */
#include "world.h"

#include "base/rng.h"
#include "exchange/limits/hedging.h"
#include "wire_members.h"

static const struct script_step refused[] = {FAIL(TD_UNAVAILABLE, "connection refused")};
static const struct script_step stalls[] = {STALL};

static void test_cloud_down_gives_local_answer_with_disclosure(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, refused);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Well, I guess") == 0);
    CHECK(w.degraded && strcmp(w.tier, "local") == 0);
    CHECK(strcmp(w.disclosure,
                 "Answered by the small on-device model with reduced capability: tier "
                 "openai could not be reached (connection refused).") == 0);
    CHECK(strcmp(w.start_disclosure, w.disclosure) == 0); /* known before the first text */
    CHECK(w.tiers[LOCAL].start_count == 1);               /* what it had said was kept */
    CHECK(world_has_reason(&w, REASON_LEFT_ERROR, "openai"));
    CHECK(strcmp(ledger_seen.outcomes, "local:answered openai:failed") == 0);
    world_deinit(&w);
}

static void test_a_local_answer_left_early_is_asked_for_again(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, refused);
    world_run(&w);
    CHECK(strcmp(w.text, "Perhaps so.") == 0 && w.degraded);
    CHECK(w.tiers[LOCAL].start_count == 2);
    CHECK(strcmp(ledger_seen.outcomes, "local:escalated openai:failed local:answered") == 0);
    world_deinit(&w);
}

static void test_no_key_is_disclosed_with_the_variable_to_set(void)
{
    struct world w;
    world_init(&w);
    w.tiers[CLOUD].tier.facts.has_key = false;
    world_script(&w, LOCAL, unsure);
    world_run(&w);
    CHECK(w.degraded && w.reduced && strcmp(w.text, "Perhaps so.") == 0);
    CHECK(strcmp(w.disclosure,
                 "Answered by the small on-device model with reduced capability: no cloud "
                 "is configured (set OPENAI_API_KEY).") == 0);
    world_deinit(&w);
}

static void test_a_confident_answer_without_cloud_is_not_degraded(void)
{
    struct world w;
    world_init(&w);
    w.tiers[CLOUD].tier.facts.has_key = false;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(!w.degraded && w.reduced && !w.disclosure[0]);
    world_deinit(&w);
}

static void test_a_missing_start_tier_is_disclosed_however_sure_the_stand_in_is(void)
{
    struct world w;
    world_init(&w);
    w.tiers[CLOUD].tier.facts.has_key = false;
    w.request.mode = TD_MODE_PREFER_CLOUD;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(w.degraded && strstr(w.disclosure, "OPENAI_API_KEY") &&
          strcmp(w.text, "It is noon.") == 0);
    world_deinit(&w);
}

static void test_prefer_cloud_falls_to_local_when_the_cloud_fails(void)
{
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_PREFER_CLOUD;
    world_script(&w, CLOUD, refused);
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(w.text, "It is noon.") == 0 && w.degraded &&
          strstr(w.disclosure, "could not be reached"));
    world_deinit(&w);
}

static void test_a_local_failure_is_taken_over_silently(void)
{
    static const struct script_step breaks[] = {TOKEN("It ", 0.9),
                                                FAIL(TD_NO_MEMORY, "out of memory")};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, breaks);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && !w.degraded);
    CHECK(world_has_reason(&w, REASON_LEFT_ERROR, "local"));
    world_deinit(&w);
}

static void test_a_tier_that_refuses_to_start_is_left(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].start_status = TD_BUSY;
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0);
    world_deinit(&w);
}

static void test_both_down_names_both_causes(void)
{
    static const struct script_step dies[] = {FAIL(TD_INTERNAL, "engine fault")};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, dies);
    world_script(&w, CLOUD, refused);
    world_run(&w);
    CHECK(strcmp(w.events, "F") == 0 && w.status == TD_UNAVAILABLE);
    CHECK(strstr(w.message, "local: engine fault") &&
          strstr(w.message, "openai: connection refused"));
    CHECK(strcmp(ledger_seen.status, "failed") == 0);
    world_deinit(&w);
}

static void test_a_single_cause_keeps_its_status(void)
{
    static const struct script_step bad[] = {FAIL_HTTP(TD_INVALID, 400, "HTTP 400: no such tool")};
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&w, CLOUD, bad);
    world_run(&w);
    CHECK(w.status == TD_INVALID && strstr(w.message, "no such tool"));
    /* The peer's words may repeat the prompt: the client reads them, the ledger does not. */
    CHECK(!strstr(ledger_seen.reasons, "no such tool") && strstr(ledger_seen.reasons, "HTTP 400"));
    CHECK(strstr(ledger_seen.attempts[0].outcome, "failed"));
    world_deinit(&w);
}

static void test_a_cloud_that_cuts_after_text_fails_the_exchange(void)
{
    static const struct script_step cut[] = {TEXT("Clo"), FAIL(TD_CORRUPT, "the answer was cut")};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cut);
    world_run(&w);
    CHECK(strcmp(w.events, "STF") == 0 && w.status == TD_CORRUPT && strcmp(w.text, "Clo") == 0);
    CHECK(strstr(w.message, "broke off"));
    world_deinit(&w);
}

static void test_a_cloud_that_cuts_before_text_is_invisible(void)
{
    static const struct script_step cut[] = {ROLE_ONLY, FAIL(TD_CORRUPT, "the answer was cut")};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, cut);
    world_run(&w);
    CHECK(strcmp(w.events, "STD") == 0 && strcmp(w.text, "Well, I guess") == 0 && w.degraded);
    world_deinit(&w);
}

static void test_the_next_cloud_is_tried_before_the_kept_answer(void)
{
    struct world w;
    world_init(&w);
    w.route.tiers[2] = "other";
    w.route.tier_count = 3;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, refused);
    world_script(&w, OTHER, cloudy);
    world_run(&w);
    CHECK(strcmp(w.tier, "other") == 0 && !w.degraded && strcmp(w.text, "Cloud answer") == 0);
    world_deinit(&w);
}

static void test_two_low_answers_keep_the_stronger_tiers(void)
{
    struct world w;
    world_init(&w);
    w.route.tiers[2] = "other";
    w.route.tier_count = 3;
    world_script(&w, LOCAL, unsure_late);
    static const struct script_step weak[] = {TOKEN("C", 0.9), TOKEN("l", 0.9), TOKEN("o", 0.9),
                                              TOKEN("ud", 0.05), DONE};
    world_script(&w, CLOUD, weak);
    world_script(&w, OTHER, refused);
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && strcmp(w.text, "Cloud") == 0 && w.degraded);
    CHECK(strstr(w.disclosure, "Answered by tier openai"));
    world_deinit(&w);
}

static void test_failures_in_a_row_rest_a_tier_and_spare_the_next_request(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, refused);
    struct td_error err = {0};
    for (int i = 0; i < 4; i++) {
        CHECK(world_start(&w, &err) == TD_OK);
        virtual_loop_run(&w.loop, 100);
    }
    CHECK(w.end_count == 4 && w.tiers[CLOUD].start_count == 3);
    CHECK(world_has_reason(&w, REASON_REMOVED_OFFLINE, "openai"));
    CHECK(w.degraded && w.reduced && strstr(w.disclosure, "resting"));
    virtual_loop_run(&w.loop, 2000);
    world_run(&w);
    CHECK(w.tiers[CLOUD].start_count == 4); /* tried again after its rest */
    world_deinit(&w);
}

/* --- empty ladders --- */

static void test_empty_ladder_names_each_limit(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].prompt_tokens = 9000;
    w.tiers[CLOUD].prompt_tokens = 120000;
    world_run(&w);
    CHECK(strcmp(w.events, "F") == 0 && w.status == TD_LIMIT && strcmp(w.param, "messages") == 0);
    CHECK(strstr(w.message, "prompt of 9000 tokens exceeds local's limit of 4096"));
    CHECK(strstr(w.message, "prompt of 120000 tokens exceeds openai's limit of 100000"));
    CHECK(w.tier[0] == '\0' && w.summary.attempt_count == 0);
    world_deinit(&w);
}

static void test_too_long_an_answer_is_the_answers_fault(void)
{
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_LOCAL;
    w.tiers[LOCAL].prompt_tokens = 3500;
    w.request.tokens_max = 5000;
    world_run(&w);
    CHECK(w.status == TD_LIMIT && strcmp(w.param, "max_tokens") == 0);
    world_deinit(&w);
}

static void test_too_long_for_local_with_no_key_is_too_long_not_unavailable(void)
{
    struct world w;
    world_init(&w);
    w.tiers[LOCAL].prompt_tokens = 9000;
    w.tiers[CLOUD].tier.facts.has_key = false;
    world_run(&w);
    CHECK(w.status == TD_LIMIT && strstr(w.message, "OPENAI_API_KEY"));
    world_deinit(&w);
}

static void test_a_forbidden_request_is_denied(void)
{
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_CLOUD;
    w.request.data_class = TD_CLASS_RESTRICTED;
    world_run(&w);
    CHECK(w.status == TD_DENIED && strstr(w.message, "restricted data may not reach openai"));
    CHECK(strstr(w.message, "only-cloud"));
    world_deinit(&w);
}

static void test_only_cloud_without_key_is_unavailable(void)
{
    struct world w;
    world_init(&w);
    w.request.mode = TD_MODE_ONLY_CLOUD;
    w.tiers[CLOUD].tier.facts.has_key = false;
    world_run(&w);
    CHECK(w.status == TD_UNAVAILABLE && strstr(w.message, "OPENAI_API_KEY"));
    world_deinit(&w);
}

/* --- deadline --- */

static void test_deadline_ends_the_exchange(void)
{
    struct world w;
    world_init(&w);
    w.services.deadline_ms = 500;
    world_script(&w, LOCAL, stalls);
    struct td_error err = {0};
    CHECK(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 499);
    CHECK(w.end_count == 0);
    virtual_loop_run(&w.loop, 1);
    CHECK(w.end_count == 1 && strcmp(w.events, "F") == 0 && w.status == TD_TIMEOUT);
    CHECK(strstr(w.message, "500 ms") && w.tiers[LOCAL].cancel_count == 1);
    CHECK(world_has_reason(&w, REASON_LEFT_TIMEOUT, "local"));
    world_deinit(&w);
}

static void test_deadline_gives_what_was_kept(void)
{
    struct world w;
    world_init(&w);
    w.services.deadline_ms = 500;
    world_script(&w, LOCAL, unsure_late);
    world_script(&w, CLOUD, stalls);
    world_run(&w);
    CHECK(strcmp(w.text, "Well, I guess") == 0 && w.degraded && strstr(w.disclosure, "deadline"));
    CHECK(w.tiers[CLOUD].cancel_count == 1);
    world_deinit(&w);
}

static void test_no_deadline_means_none(void)
{
    struct world w;
    world_init(&w);
    w.services.deadline_ms = 0;
    static const struct script_step slow[] = {
        {.kind = SCRIPT_TOKEN, .delay_ms = 100000, .text = "late", .probability = 0.9}, DONE};
    world_script(&w, LOCAL, slow);
    world_run(&w);
    CHECK(strcmp(w.text, "late") == 0);
    world_deinit(&w);
}

/* --- restricted data --- */

static void run_restricted(struct world *w)
{
    world_run(w);
    CHECK(w->tiers[CLOUD].start_count == 0 && w->tiers[OTHER].start_count == 0);
    CHECK(strcmp(ledger_seen.data_class, "restricted") == 0);
}

static void test_restricted_data_never_leaves_on_low_confidence(void)
{
    struct world w;
    world_init(&w);
    world_set_prompt(&w, "is 4111 1111 1111 1111 a valid card");
    world_script(&w, LOCAL, unsure);
    run_restricted(&w);
    CHECK(w.degraded && strstr(w.disclosure, "restricted data may not reach openai"));
    world_deinit(&w);
}

static void test_restricted_data_never_leaves_on_retry(void)
{
    static const struct script_step dies[] = {TOKEN("x", 0.9), FAIL(TD_INTERNAL, "engine fault")};
    struct world w;
    world_init(&w);
    world_set_prompt(&w, "is 4111 1111 1111 1111 a valid card");
    world_script(&w, LOCAL, dies);
    run_restricted(&w);
    CHECK(strchr(w.events, 'F') && strstr(w.message, "engine fault"));
    world_deinit(&w);
}

static void test_restricted_data_never_leaves_by_mode_name_or_route(void)
{
    static const enum td_mode modes[] = {TD_MODE_PREFER_CLOUD, TD_MODE_ONLY_CLOUD, TD_MODE_AUTO};
    for (size_t i = 0; i < 3; i++) {
        struct world w;
        world_init(&w);
        world_set_prompt(&w, "4111 1111 1111 1111");
        w.request.mode = modes[i];
        w.request.model = i == 2 ? "openai" : NULL;
        w.route.start = "openai";
        world_script(&w, LOCAL, sure);
        run_restricted(&w);
        world_deinit(&w);
    }
}

static void test_a_conversation_stays_restricted(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    w.messages[0] = (struct td_message){TD_ROLE_USER, STR("hello")};
    w.messages[1] = (struct td_message){TD_ROLE_ASSISTANT, STR("hi")};
    w.messages[2] = (struct td_message){TD_ROLE_USER, STR("card 4111 1111 1111 1111")};
    w.request.messages = w.messages;
    w.request.message_count = 3;
    run_restricted(&w);
    w.messages[2].content = STR("and now something else"); /* the client cut the number out */
    run_restricted(&w);
    w.messages[0].content = STR("a new conversation");
    world_run(&w);
    CHECK(w.tiers[CLOUD].start_count == 1);
    world_deinit(&w);
}

static void test_what_hides_in_the_body_is_found(void)
{
    static const char *const bodies[] = {
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\",\"name\":\"4111 1111 1111 1111\"}]}",
        "{\"messages\":[],\"metadata\":{\"card\":\"4111111111111111\"}}",
        "{\"messages\":[],\"metadata\":{\"card\":4111111111111111}}",
        "{\"messages\":[],\"metadata\":{\"4111111111111111\":null}}",
        "{\"messages\":[],\"tools\":[{\"text\":\"uses 4111-1111-1111-1111\"}]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct world w;
        world_init(&w);
        struct wire_members wire;
        wire_members_init(&wire, bodies[i], &w.request);
        world_script(&w, LOCAL, unsure);
        run_restricted(&w);
        wire_members_deinit(&wire);
        world_deinit(&w);
    }
}

/* Random plans, scripts, clients and classes: always one end, nothing left running, and never a
 * start of a tier that the class forbids. */
static void test_random_exchanges_always_end_once_and_lawfully(void)
{
    static const struct script_step breaks[] = {TOKEN("It ", 0.9), FAIL(TD_INTERNAL, "fault")};
    static const struct script_step cut[] = {TEXT("Clo"), FAIL(TD_CORRUPT, "cut")};
    static const struct script_step empty[] = {DONE};
    static const struct script_step foreign[] = {NOT_MINE(0.9), TOKEN("no", 0.9), DONE};
    static const struct script_step *const scripts[] = {
        sure, unsure, unsure_late, cloudy, refused, stalls, breaks, cut, empty, foreign};
    static const char *const names[] = {"local", "openai", "other"};
    struct rng rng;
    rng_init(&rng, 7);
    int kinds[3] = {0};
    for (int round = 0; round < 5000; round++) {
        struct world w;
        world_init(&w);
        w.route.tier_count = 1 + rng_below(&rng, 3);
        size_t first = rng_below(&rng, 3);
        for (size_t i = 0; i < 3; i++) {
            w.route.tiers[i] = names[(first + i) % 3];
            for (size_t s = 0; s < SCRIPTED_STARTS_MAX; s++)
                w.tiers[i].scripts[s] = scripts[rng_below(&rng, 10)];
            w.tiers[i].start_status = rng_below(&rng, 10) ? TD_OK : TD_BUSY;
            w.tiers[i].tier.facts.has_key = rng_below(&rng, 8) != 0;
        }
        static const uint32_t commits[] = {0, 1, 3, UINT32_MAX};
        w.route.gates.commit_tokens = commits[rng_below(&rng, 4)];
        w.route.gates.g2_on = rng_below(&rng, 2);
        w.route.gates.g3_on = rng_below(&rng, 2);
        w.request.corrections = rng_below(&rng, 2);
        w.request.mode = (enum td_mode)rng_below(&rng, 5);
        w.request.data_class = (enum td_data_class)rng_below(&rng, 3);
        w.services.deadline_ms = 300;
        world_run(&w);
        size_t len = strlen(w.events);
        REQUIRE(len > 0 && strchr("DF", w.events[len - 1]));
        REQUIRE(w.request.corrections || !strchr(w.events, 'C'));
        REQUIRE(w.degraded == (w.disclosure[0] != '\0'));
        if (w.request.data_class != TD_CLASS_PUBLIC)
            REQUIRE(w.tiers[CLOUD].start_count + w.tiers[OTHER].start_count == 0);
        if (w.events[len - 1] == 'F')
            REQUIRE(w.message[0] != '\0' && w.status != TD_OK);
        REQUIRE(ledger_seen.put_count == 1);
        kinds[strchr(w.events, 'F') ? 0 : w.degraded ? 1 : 2]++;
        world_deinit(&w);
    }
    CHECK(kinds[0] > 100 && kinds[1] > 100 && kinds[2] > 100);
}

/* Tiers of two jurisdictions that fail, stall and answer at random, with hedges and a route or a tier that the request
 * names: what must stay in the one never reaches the other. */
static void test_a_request_for_a_region_is_never_sent_out_of_it(void)
{
    static const char *const eu[] = {"eu", NULL};
    static const struct script_step late[] = {
        {.kind = SCRIPT_TEXT, .delay_ms = 3000, .text = "late"}, DONE};
    static const struct script_step *const scripts[] = {cloudy, refused, stalls,
                                                        late,   unsure,  sure};
    struct rng rng;
    size_t in_eu = 0, hedged = 0, failed = 0;
    rng_init(&rng, 161);
    for (int round = 0; round < 10000; round++) {
        struct world w;
        world_init(&w);
        bool by_route = rng_below(&rng, 2);
        w.tiers[CLOUD].tier.facts.region = rng_below(&rng, 2) ? "us-east-1" : NULL;
        w.tiers[OTHER].tier.facts.region = "eu-central-1";
        w.route.tier_count = 3;
        for (size_t i = 0; i < 3; i++) {
            static const char *const names[] = {"local", "openai", "other"};
            w.route.tiers[i] = names[(i + (size_t)(round % 3)) % 3];
            w.tiers[i].start_status = rng_below(&rng, 5) ? TD_OK : TD_UNAVAILABLE;
            for (size_t n = 0; n < SCRIPTED_STARTS_MAX; n++)
                w.tiers[i].scripts[n] = scripts[rng_below(&rng, 6)];
        }
        w.services.hedging = hedging_new();
        w.route.hedge =
            (struct hedge_settings){.on = rng_below(&rng, 2), .after_ms = 5, .share = 1};
        w.request.mode = (enum td_mode)rng_below(&rng, 5);
        if (rng_below(&rng, 4) == 0)
            w.request.model = "openai";
        if (by_route)
            w.route.region = "eu";
        else
            memcpy(w.request.regions, eu, sizeof eu);
        struct td_error err = {0};
        if (world_start(&w, &err) == TD_OK)
            virtual_loop_run(&w.loop, 400000);
        REQUIRE(w.tiers[CLOUD].start_count == 0);
        in_eu += (size_t)w.tiers[OTHER].start_count;
        hedged += w.tiers[OTHER].purpose == EGRESS_HEDGE;
        failed += w.status != TD_OK;
        hedging_free(w.services.hedging);
        world_deinit(&w);
    }
    CHECK(in_eu > 1000 && hedged > 100 && failed > 100);
}

int main(void)
{
    RUN(test_cloud_down_gives_local_answer_with_disclosure);
    RUN(test_a_local_answer_left_early_is_asked_for_again);
    RUN(test_no_key_is_disclosed_with_the_variable_to_set);
    RUN(test_a_confident_answer_without_cloud_is_not_degraded);
    RUN(test_a_missing_start_tier_is_disclosed_however_sure_the_stand_in_is);
    RUN(test_prefer_cloud_falls_to_local_when_the_cloud_fails);
    RUN(test_a_local_failure_is_taken_over_silently);
    RUN(test_a_tier_that_refuses_to_start_is_left);
    RUN(test_both_down_names_both_causes);
    RUN(test_a_single_cause_keeps_its_status);
    RUN(test_a_cloud_that_cuts_after_text_fails_the_exchange);
    RUN(test_a_cloud_that_cuts_before_text_is_invisible);
    RUN(test_the_next_cloud_is_tried_before_the_kept_answer);
    RUN(test_two_low_answers_keep_the_stronger_tiers);
    RUN(test_failures_in_a_row_rest_a_tier_and_spare_the_next_request);
    RUN(test_empty_ladder_names_each_limit);
    RUN(test_too_long_an_answer_is_the_answers_fault);
    RUN(test_too_long_for_local_with_no_key_is_too_long_not_unavailable);
    RUN(test_a_forbidden_request_is_denied);
    RUN(test_only_cloud_without_key_is_unavailable);
    RUN(test_deadline_ends_the_exchange);
    RUN(test_deadline_gives_what_was_kept);
    RUN(test_no_deadline_means_none);
    RUN(test_restricted_data_never_leaves_on_low_confidence);
    RUN(test_restricted_data_never_leaves_on_retry);
    RUN(test_restricted_data_never_leaves_by_mode_name_or_route);
    RUN(test_a_conversation_stays_restricted);
    RUN(test_what_hides_in_the_body_is_found);
    RUN(test_random_exchanges_always_end_once_and_lawfully);
    RUN(test_a_request_for_a_region_is_never_sent_out_of_it);
    return test_finish();
}
