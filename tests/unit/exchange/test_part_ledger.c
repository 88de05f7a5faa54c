/* What of an exchange is kept: in the ledger, in the account, and of how servers count tokens. */
#include "exchange/limits/account.h"
#include "exchange/limits/token_counts.h"
#include "world.h"

/* Text of a class that is bound to somebody stays where it came from, whatever the policy says. */
static void test_a_text_is_stored_where_policy_class_and_request_allow_it(void)
{
    for (int i = 0; i < 2 * 2 * 2 * (TD_CLASS_RESTRICTED + 1); i++) {
        bool policy = i & 1, nothing = i & 2, by_route = i & 4;
        enum td_data_class data_class = (enum td_data_class)(i / 8);
        bool stored = policy && !nothing && data_class < TD_CLASS_CONTRACTUAL;
        struct world w;
        world_init(&w);
        w.services.store_prompts = policy;
        w.request.keep_nothing = nothing;
        w.request.user = "anna";
        if (by_route)
            w.route.data_class = data_class;
        else
            w.request.data_class = data_class;
        world_script(&w, LOCAL, sure);
        world_run(&w);
        CHECK(strcmp(ledger_seen.data_class, names_class(data_class)) == 0);
        CHECK(strcmp(ledger_seen.prompt, stored ? "what is the weather" : "") == 0);
        CHECK(strcmp(ledger_seen.answer, stored ? "It is noon." : "") == 0);
        CHECK((strstr(ledger_seen.signals, "\"turns\"") != NULL) == stored);
        CHECK(ledger_seen.has_prompt == stored);
        CHECK((ledger_seen.record.user != NULL) == !nothing);
        CHECK((ledger_seen.record.trace_id != NULL) == !nothing);
        CHECK((ledger_seen.record.span_id != NULL) == !nothing);
        CHECK((ledger_seen.attempts[0].span_id != NULL) == !nothing);
        world_deinit(&w);
    }
}

/* How an exchange ended, and why an attempt was left, are in its record and nowhere else. */
static void test_only_what_ended_well_has_a_finish_and_only_what_failed_an_error(void)
{
    static const struct script_step broken[] = {FAIL(TD_UNAVAILABLE, "wires cut"), DONE};
    for (int fails = 0; fails < 2; fails++) {
        struct world w;
        world_init(&w);
        world_script(&w, LOCAL, fails ? broken : sure);
        w.route.tier_count = 1;
        world_run(&w);
        CHECK((ledger_seen.record.finish != NULL) == !fails);
        CHECK(ledger_seen.record.attempt_count == 1);
        CHECK((ledger_seen.attempts[0].error != NULL) == fails);
        CHECK((ledger_seen.record.tier != NULL) == !fails);
        CHECK((ledger_seen.record.place != NULL) == !fails);
        CHECK(strcmp(ledger_seen.status, fails ? "failed" : "ok") == 0);
        world_deinit(&w);
    }
}

static void test_the_messages_of_a_stored_prompt_stand_on_lines_of_their_own(void)
{
    struct world w;
    world_init(&w);
    w.services.store_prompts = true;
    w.messages[0] = (struct td_message){TD_ROLE_SYSTEM, STR("be brief")};
    w.messages[1] = (struct td_message){TD_ROLE_USER, STR("what is the weather")};
    w.request.message_count = 2;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(ledger_seen.prompt, "be brief\nwhat is the weather") == 0);
    CHECK(strstr(ledger_seen.signals, "\"turns\":[[\"system\",8],[\"user\",19]]"));
    world_deinit(&w);
}

/* Of how a server counts, only a whole answer of text with its own usage tells something. */
static void test_a_servers_own_count_is_learnt_from_whole_answers_of_text(void)
{
    static const struct script_step broken[] = {TEXT("Cloud "), FAIL(TD_UNAVAILABLE, "x"), DONE};
    static const struct script_step silent[] = {ROLE_ONLY, DONE};
    static const struct {
        const struct script_step *script;
        bool estimates, media, learnt;
    } cases[] = {
        {cloudy, true, false, true},  {cloudy, false, false, false}, {cloudy, true, true, false},
        {broken, true, false, false}, {silent, true, false, false},
    };
    struct tier_ops ops = scripted_ops;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct token_ratio ratio;
        world_init(&w);
        ops.estimates = cases[i].estimates;
        w.tiers[CLOUD].tier.ops = &ops;
        w.services.token_counts = token_counts_new();
        w.request.mode = TD_MODE_ONLY_CLOUD;
        w.request.media.kinds = cases[i].media;
        world_script(&w, CLOUD, cases[i].script);
        for (int k = 0; k < TOKEN_COUNTS_MIN; k++) {
            token_counts_read(w.services.token_counts, &w.tiers[CLOUD].tier.facts, &ratio);
            CHECK(!ratio.learnt);
            world_run(&w);
            CHECK(cases[i].script != cloudy || ledger_seen.attempts[0].exact);
        }
        token_counts_read(w.services.token_counts, &w.tiers[CLOUD].tier.facts, &ratio);
        CHECK(ratio.learnt == cases[i].learnt);
        token_counts_free(w.services.token_counts);
        world_deinit(&w);
    }
}

/* The account has what the ledger has, by the tier that answered. */
static void test_the_account_is_told_what_each_exchange_came_to(void)
{
    struct world w;
    struct account_numbers numbers;
    world_init(&w);
    w.services.account = account_new();
    w.request.mode = TD_MODE_ONLY_CLOUD;
    world_script(&w, CLOUD, cloudy);
    world_run(&w); /* 100 tokens at 1 and two at 10 USD a million */
    w.request.mode = TD_MODE_AUTO;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    account_read(w.services.account, &numbers);
    REQUIRE(numbers.tier_count == 2);
    CHECK(strcmp(numbers.tiers[0].name, "openai") == 0);
    CHECK(fabs(numbers.tiers[0].cost_usd - 120e-6) < 1e-12);
    CHECK(strcmp(numbers.tiers[1].name, "local") == 0 && numbers.tiers[1].cost_usd == 0);
    CHECK(numbers.all_cloud_usd > 120e-6 && numbers.estimated_usd == 0);
    /* One that is cancelled has no usage: what came is estimated. */
    w.request.mode = TD_MODE_ONLY_CLOUD;
    w.cancel_at_text = w.text_count + 1;
    CHECK(world_start(&w, NULL) == TD_OK);
    virtual_loop_run(&w.loop, 120000);
    account_read(w.services.account, &numbers);
    CHECK(numbers.estimated_usd > 0);
    CHECK(fabs(numbers.tiers[0].cost_usd - 120e-6 - numbers.estimated_usd) < 1e-12);
    account_free(w.services.account);
    world_deinit(&w);
}

/* What was known and decided is in the record, each under its own name. */
static void test_the_record_says_what_was_known_and_why_the_request_went_where(void)
{
    static const char *const signals[] = {
        "\"data_class\":\"sensitive\"",
        "\"mode\":\"prefer-local\"",
        "\"prompt_bytes\":44",
        "\"prompt_tokens\":{\"local\":11,\"openai\":22,\"other\":33}",
        "\"message_count\":2",
        "\"tokens_max\":50",
        "\"slo_ttft_ms\":700",
        "\"slo_ms\":2000",
        "\"first_deadline_ms\":600", /* the client's patience is shorter */
        "\"deadline_ms\":2000",
        "\"question\":true",
        "\"key_id\":\"k1\"",
        "\"network\":\"metered\"",
        "\"findings\":{\"EMAIL_ADDRESS\":1}",
        "\"consent\":\"",
        "\"start\":\"local\"",
    };
    struct world w;
    struct json *reasons = NULL;
    world_init(&w);
    w.messages[0] = (struct td_message){TD_ROLE_SYSTEM, STR("be brief")};
    w.messages[1] = (struct td_message){TD_ROLE_USER, STR("may I write to ann@acme.com already?")};
    w.request.message_count = 2;
    w.request.mode = TD_MODE_PREFER_LOCAL;
    w.request.tokens_max = 50;
    w.request.slo_ttft_ms = 700;
    w.request.slo_ms = 2000;
    w.request.client_timeout_ms = 650;
    w.request.key_id = "k1";
    w.request.network = TD_NETWORK_METERED;
    w.route.consent = true;
    w.tiers[LOCAL].prompt_tokens = 11;
    w.tiers[CLOUD].prompt_tokens = 22;
    w.tiers[OTHER].prompt_tokens = 33;
    world_script(&w, LOCAL, sure);
    world_run(&w);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (!strstr(ledger_seen.signals, signals[i]))
            printf("%s is not in %s\n", signals[i], ledger_seen.signals);
        CHECK(strstr(ledger_seen.signals, signals[i]));
    }
    REQUIRE(json_parse(str_from(ledger_seen.reasons), &reasons, NULL) == TD_OK);
    CHECK(w.reason_count > 0 && json_count(reasons) == w.reason_count);
    for (size_t i = 0; i < w.reason_count; i++) {
        const struct json *reason = json_at(reasons, i);
        const char *code = json_cstr(json_get(reason, "code"));
        const char *tier = json_cstr(json_get(reason, "tier"));
        const char *text = json_cstr(json_get(reason, "text"));
        CHECK(code && strcmp(code, reason_code_name(w.reasons[i].code)) == 0);
        CHECK(tier && strcmp(tier, w.reasons[i].tier) == 0);
        CHECK(text && strcmp(text, w.reasons[i].text) == 0);
    }
    json_free(reasons);
    world_deinit(&w);
}

int main(void)
{
    RUN(test_a_text_is_stored_where_policy_class_and_request_allow_it);
    RUN(test_only_what_ended_well_has_a_finish_and_only_what_failed_an_error);
    RUN(test_the_messages_of_a_stored_prompt_stand_on_lines_of_their_own);
    RUN(test_a_servers_own_count_is_learnt_from_whole_answers_of_text);
    RUN(test_the_account_is_told_what_each_exchange_came_to);
    RUN(test_the_record_says_what_was_known_and_why_the_request_went_where);
    return test_finish();
}
