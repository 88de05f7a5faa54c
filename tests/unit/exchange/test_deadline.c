/* Deadlines of an exchange in virtual time: what is passed over, what is cut, what the client's
 * patience counts for, and when the device is asked beside a tier that is silent. */
#include "world.h"

static const struct script_step slow_cloud[] = {
    {.kind = SCRIPT_TEXT, .delay_ms = 20000, .text = "late"}, DONE};
static const struct script_step dripping[] = {{.kind = SCRIPT_TEXT, .delay_ms = 300, .text = "a"},
                                              {.kind = SCRIPT_TEXT, .delay_ms = 300, .text = "b"},
                                              {.kind = SCRIPT_TEXT, .delay_ms = 300, .text = "c"},
                                              {.kind = SCRIPT_TEXT, .delay_ms = 300, .text = "d"},
                                              DONE};
static const struct script_step brooding[] = {
    TOKEN("Yes", 0.99),
    {.kind = SCRIPT_TOKEN, .delay_ms = 900, .text = ".", .probability = 0.99},
    DONE};

/* The cloud starts; the device stands below it. */
static void world_cloud_first(struct world *w)
{
    world_init(w);
    w->route.start = "openai";
    world_script(w, LOCAL, sure);
    world_script(w, CLOUD, slow_cloud);
}

static double ended_after_ms(struct world *w)
{
    double began = clock_monotonic_ms(&w->loop.clock);
    struct td_error err = {0};
    int ends = w->end_count;
    CHECK(world_start(w, &err) == TD_OK);
    while (w->end_count == ends)
        virtual_loop_run(&w->loop, 1);
    return clock_monotonic_ms(&w->loop.clock) - began;
}

static void test_the_device_is_asked_in_time_beside_a_silent_cloud(void)
{
    struct world w;
    world_cloud_first(&w);
    w.request.slo_ms = 1000;
    double ms = ended_after_ms(&w);
    CHECK(ms >= 500 && ms < 1000 && strcmp(w.tier, "local") == 0 && w.degraded);
    CHECK(w.tiers[CLOUD].cancel_count == 1 && world_has_reason(&w, REASON_HEDGED, "local"));
    CHECK(strstr(w.disclosure, "openai had not answered"));
    world_deinit(&w);
}

static void test_a_device_that_left_for_the_cloud_keeps_its_answer_until_the_deadline(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, slow_cloud);
    w.request.slo_ms = 1000;
    double ms = ended_after_ms(&w);
    CHECK(ms >= 1000 && ms < 1010 && strcmp(w.tier, "local") == 0 && w.degraded);
    CHECK(w.tiers[LOCAL].start_count == 2 && strcmp(w.text, "Perhaps so.") == 0);
    CHECK(strstr(w.disclosure, "1000 ms"));
    world_deinit(&w);
}

static void test_a_cloud_that_comes_in_time_is_preferred_to_an_unsure_device(void)
{
    static const struct script_step in_time[] = {
        {.kind = SCRIPT_TEXT, .delay_ms = 900, .text = "cloud"}, DONE};
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, in_time);
    w.request.slo_ms = 1000;
    CHECK(ended_after_ms(&w) < 1000 && strcmp(w.tier, "openai") == 0 && !w.degraded);
    world_deinit(&w);
}

static void test_what_has_come_at_the_deadline_is_the_answer(void)
{
    struct world w;
    world_cloud_first(&w);
    world_script(&w, CLOUD, dripping);
    w.request.slo_ms = 1000;
    double ms = ended_after_ms(&w);
    CHECK(ms >= 1000 && ms < 1010 && strcmp(w.text, "abc") == 0 && w.degraded);
    CHECK(strstr(w.disclosure, "cut off at the deadline of 1000 ms"));
    CHECK(w.tiers[LOCAL].start_count == 0);
    world_deinit(&w);
}

static void test_the_first_text_is_shown_at_its_deadline_to_a_client_that_streams(void)
{
    struct world w;
    world_init(&w);
    world_script(&w, LOCAL, brooding);
    w.request.slo_ttft_ms = 200;
    w.request.streamed = true;
    struct td_error err = {0};
    REQUIRE(world_start(&w, &err) == TD_OK);
    virtual_loop_run(&w.loop, 199);
    CHECK(w.text[0] == '\0'); /* held back for the gates */
    virtual_loop_run(&w.loop, 2);
    CHECK(strcmp(w.text, "Yes") == 0);
    while (w.end_count == 0)
        virtual_loop_run(&w.loop, 1);
    CHECK(strcmp(w.text, "Yes.") == 0 && !w.degraded);
    world_deinit(&w);
}

static void test_a_clients_patience_is_a_deadline_less_a_margin(void)
{
    static const struct {
        uint32_t patience_ms, deadline_ms;
    } cases[] = {{1, 1},      {80, 40},      {101, 51},      {120, 70},
                 {1000, 950}, {10000, 9500}, {50000, 49000}, {86400000, 60000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_init(&w);
        w.request.mode = TD_MODE_ONLY_LOCAL;
        static const struct script_step silent[] = {STALL};
        world_script(&w, LOCAL, silent);
        w.request.client_timeout_ms = cases[i].patience_ms;
        double ms = ended_after_ms(&w);
        CHECK(ms >= cases[i].deadline_ms && ms < cases[i].deadline_ms + 2);
        CHECK(w.status == TD_TIMEOUT);
        world_deinit(&w);
    }
}

/* Who streams waits so long for the first text; who does not, for all of it. */
static void test_patience_is_for_the_first_text_of_a_stream_and_else_for_the_whole(void)
{
    static const struct {
        bool streamed;
        uint32_t patience_ms;
        double ends_ms;
        const char *text;
    } cases[] = {{true, 1000, 1210, "abcd"},
                 {true, 400, 1210, "abcd"},
                 {false, 1000, 950, "abc"},
                 {false, 800, 750, "ab"},
                 {false, 5000, 1210, "abcd"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_init(&w);
        w.request.mode = TD_MODE_ONLY_LOCAL;
        world_script(&w, LOCAL, dripping);
        w.request.streamed = cases[i].streamed;
        w.request.client_timeout_ms = cases[i].patience_ms;
        double ms = ended_after_ms(&w);
        if (!(ms >= cases[i].ends_ms && ms < cases[i].ends_ms + 10))
            printf("row %zu: %g ms, %s\n", i, ms, w.text);
        CHECK(ms >= cases[i].ends_ms && ms < cases[i].ends_ms + 10);
        CHECK(strcmp(w.text, cases[i].text) == 0);
        world_deinit(&w);
    }
}

/* A first text in time moves nothing: the whole still ends at its own deadline. */
static void test_the_whole_ends_at_its_deadline_however_early_the_first_text_came(void)
{
    static const struct {
        uint32_t ttft_ms, total_ms;
        double ends_ms;
        const char *text;
    } cases[] = {{0, 1000, 1000, "abc"},   {310, 1000, 1000, "abc"},  {400, 1000, 1000, "abc"},
                 {900, 1000, 1000, "abc"}, {1000, 1000, 1000, "abc"}, {1500, 1000, 1000, "abc"},
                 {310, 700, 700, "ab"},    {400, 401, 401, "a"},      {400, 1220, 1210, "abcd"},
                 {400, 0, 1210, "abcd"},   {400, 90000, 1210, "abcd"}};
    for (int streamed = 0; streamed < 2; streamed++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct world w;
            world_init(&w);
            w.request.mode = TD_MODE_ONLY_LOCAL;
            world_script(&w, LOCAL, dripping);
            w.request.streamed = streamed;
            w.request.slo_ttft_ms = cases[i].ttft_ms;
            w.request.slo_ms = cases[i].total_ms;
            double ms = ended_after_ms(&w);
            if (!(ms >= cases[i].ends_ms && ms < cases[i].ends_ms + 2))
                printf("row %zu, %d: %g ms, %s\n", i, streamed, ms, w.text);
            CHECK(ms >= cases[i].ends_ms && ms < cases[i].ends_ms + 2);
            CHECK(strcmp(w.text, cases[i].text) == 0);
            CHECK(w.degraded == (strlen(cases[i].text) < 4));
            world_deinit(&w);
        }
}

/* Each objective: what was asked, when the first text and the end came, and how it ended. */
static void test_who_leaves_before_the_time_is_up_says_nothing_of_it(void)
{
    static const struct {
        bool streamed;
        uint32_t ttft_ms, total_ms, leaves_ms; /* leaves_ms 0: stays to the end, at 1210 ms */
        enum objective_result ttft, total;
    } cases[] = {
        {true, 0, 0, 0, OBJECTIVE_NONE, OBJECTIVE_NONE},
        {true, 310, 1300, 0, OBJECTIVE_HIT, OBJECTIVE_HIT},
        {true, 200, 0, 0, OBJECTIVE_MISSED, OBJECTIVE_NONE},
        {true, 500, 2000, 100, OBJECTIVE_NONE, OBJECTIVE_NONE},
        {true, 500, 2000, 400, OBJECTIVE_HIT, OBJECTIVE_NONE},
        {true, 0, 2000, 1100, OBJECTIVE_NONE, OBJECTIVE_NONE},
        {true, 0, 0, 1100, OBJECTIVE_NONE, OBJECTIVE_NONE},
        /* Text is held back, and the client leaves before it sees any. */
        {false, 200, 2000, 150, OBJECTIVE_NONE, OBJECTIVE_NONE},
        {false, 200, 2000, 700, OBJECTIVE_MISSED, OBJECTIVE_NONE},
        {false, 200, 0, 700, OBJECTIVE_MISSED, OBJECTIVE_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct td_error err = {0};
        world_init(&w);
        w.request.mode = cases[i].streamed ? TD_MODE_ONLY_LOCAL : TD_MODE_AUTO;
        if (cases[i].streamed)
            world_script(&w, LOCAL, dripping);
        else
            world_script(&w, LOCAL, brooding);
        w.request.streamed = cases[i].streamed;
        w.request.slo_ttft_ms = cases[i].ttft_ms;
        w.request.slo_ms = cases[i].total_ms;
        REQUIRE(world_start(&w, &err) == TD_OK);
        virtual_loop_run(&w.loop, cases[i].leaves_ms ? cases[i].leaves_ms : 1300);
        if (cases[i].leaves_ms)
            exchange_cancel(w.exchange);
        if (w.summary.objective_ttft != cases[i].ttft ||
            w.summary.objective_total != cases[i].total)
            printf("row %zu: %d %d\n", i, (int)w.summary.objective_ttft,
                   (int)w.summary.objective_total);
        CHECK(w.summary.objective_ttft == cases[i].ttft);
        CHECK(w.summary.objective_total == cases[i].total);
        world_deinit(&w);
    }
}

static void test_a_rung_that_would_come_too_late_is_passed_over(void)
{
    struct world w;
    world_init(&w);
    w.services.latency = tier_latency_new(3);
    for (int i = 0; i < 6; i++)
        tier_latency_add(w.services.latency, CLOUD, 700, 800, 0);
    static const struct script_step unsure_and_slow[] = {
        {.kind = SCRIPT_TOKEN, .delay_ms = 300, .text = "Perhaps", .probability = 0.55},
        {.kind = SCRIPT_TOKEN, .delay_ms = 100, .text = ".", .probability = 0.55},
        DONE};
    world_script(&w, LOCAL, unsure_and_slow);
    world_script(&w, CLOUD, cloudy);
    w.request.slo_ms = 1000;
    CHECK(ended_after_ms(&w) < 500 && strcmp(w.tier, "local") == 0 && w.degraded);
    CHECK(world_has_reason(&w, REASON_REMOVED_TOO_SLOW, "openai"));
    CHECK(w.tiers[CLOUD].start_count == 0 && strstr(w.disclosure, "are left"));
    w.request.slo_ms = 0;
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && !w.degraded);
    tier_latency_free(w.services.latency);
    w.services.latency = NULL;
    world_deinit(&w);
}

/* Once the client has text, there is no first one to wait for. */
static void test_after_the_first_text_its_deadline_removes_no_rung(void)
{
    static const struct script_step unsure_after_a_while[] = {
        TOKEN("Well", 0.9),
        {.kind = SCRIPT_TOKEN, .delay_ms = 150, .text = " no", .probability = 0.05},
        DONE};
    for (int shown = 0; shown < 2; shown++) {
        struct world w;
        world_init(&w);
        w.services.latency = tier_latency_new(3);
        for (int i = 0; i < 6; i++)
            tier_latency_add(w.services.latency, CLOUD, 150, 150, 0);
        w.route.gates.g2_on = false;
        w.route.gates.commit_tokens = shown ? 1 : UINT32_MAX;
        w.request.corrections = true;
        w.request.slo_ttft_ms = 250; /* the cloud has time for it at first, and not later */
        world_script(&w, LOCAL, unsure_after_a_while);
        world_script(&w, CLOUD, cloudy);
        world_run(&w);
        CHECK(strcmp(w.tier, shown ? "openai" : "local") == 0);
        CHECK(world_has_reason(&w, REASON_REMOVED_TOO_SLOW, "openai") == !shown);
        tier_latency_free(w.services.latency);
        w.services.latency = NULL;
        world_deinit(&w);
    }
}

/* What is too slow for the time that is left is asked only where there is nothing else. */
static void test_of_rungs_that_are_too_slow_the_first_is_asked_when_nothing_else_is_left(void)
{
    static const struct script_step broken[] = {
        {.kind = SCRIPT_FAIL, .delay_ms = 400, .status = TD_UNAVAILABLE, .text = "broken"}};
    static const struct script_step unsure_at_400[] = {
        {.kind = SCRIPT_TOKEN, .delay_ms = 390, .text = "Perhaps", .probability = 0.55}, DONE};
    static const struct {
        bool in_hand; /* an answer of the device, if an unsure one */
        bool cloud_late, other_late;
        const char *tier, *outcomes;
        bool cloud_passed_over;
    } cases[] = {
        {true, false, false, "openai", "local:escalated openai:answered", false},
        {true, false, true, "openai", "local:escalated openai:answered", false},
        {true, true, false, "other", "local:escalated other:answered", true},
        {true, true, true, "local", "local:answered", true},
        {false, false, false, "openai", "local:failed openai:answered", false},
        {false, false, true, "openai", "local:failed openai:answered", false},
        {false, true, false, "other", "local:failed other:answered", true},
        {false, true, true, "openai", "local:failed openai:answered", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_init(&w);
        w.route.tiers[2] = "other";
        w.route.tier_count = 3;
        w.services.latency = tier_latency_new(3);
        for (int k = 0; k < 6; k++) {
            tier_latency_add(w.services.latency, CLOUD, 10, cases[i].cloud_late ? 800 : 100, 0);
            tier_latency_add(w.services.latency, OTHER, 10, cases[i].other_late ? 800 : 100, 0);
        }
        if (cases[i].in_hand)
            world_script(&w, LOCAL, unsure_at_400);
        else
            world_script(&w, LOCAL, broken);
        world_script(&w, CLOUD, cloudy);
        world_script(&w, OTHER, cloudy);
        w.request.slo_ms = 1000;
        world_run(&w);
        CHECK(strcmp(w.tier, cases[i].tier) == 0);
        CHECK(strcmp(ledger_seen.outcomes, cases[i].outcomes) == 0);
        CHECK(world_has_reason(&w, REASON_REMOVED_TOO_SLOW, "openai") ==
              cases[i].cloud_passed_over);
        tier_latency_free(w.services.latency);
        w.services.latency = NULL;
        world_deinit(&w);
    }
}

/* A silent cloud is waited for as long as the device can still answer, half as much again as it
 * usually takes; at least for half of the time. */
static void test_the_device_is_asked_the_later_the_faster_it_is(void)
{
    static const struct {
        double ttft_ms, total_ms; /* of the device; 0 = not known */
        uint32_t slo_ttft_ms, slo_ms;
        double asked_ms;
    } cases[] = {{0, 0, 0, 1000, 500},    {1, 100, 0, 1000, 850},     {1, 300, 0, 1000, 550},
                 {1, 400, 0, 1000, 500},  {1, 900, 0, 1000, 500},     {100, 100, 600, 0, 450},
                 {250, 250, 600, 0, 300}, {100, 400, 600, 1000, 450}, {100, 100, 900, 800, 650},
                 {0, 0, 600, 1000, 300}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct td_error err = {0};
        struct tier_state state = {0};
        world_cloud_first(&w);
        w.services.latency = tier_latency_new(3);
        for (int k = 0; k < 6 && cases[i].total_ms > 0; k++)
            tier_latency_add(w.services.latency, LOCAL, cases[i].ttft_ms, cases[i].total_ms, 0);
        tier_latency_read(w.services.latency, LOCAL, 0, &state);
        w.request.slo_ttft_ms = cases[i].slo_ttft_ms;
        w.request.slo_ms = cases[i].slo_ms;
        REQUIRE(world_start(&w, &err) == TD_OK);
        double asked_ms = 0;
        while (w.tiers[LOCAL].start_count == 0 && asked_ms < 5000)
            virtual_loop_run(&w.loop, 1), asked_ms++;
        /* What is measured is kept in steps of some percent. */
        if (fabs(asked_ms - cases[i].asked_ms) > 2 + 0.15 * cases[i].total_ms)
            printf("row %zu: %g (%g %g)\n", i, asked_ms, state.ttft_p95_ms, state.total_p95_ms);
        CHECK(fabs(asked_ms - cases[i].asked_ms) <= 2 + 0.15 * cases[i].total_ms);
        while (w.end_count == 0)
            virtual_loop_run(&w.loop, 1);
        CHECK(strcmp(w.tier, "local") == 0);
        tier_latency_free(w.services.latency);
        w.services.latency = NULL;
        world_deinit(&w);
    }
}

/* Two tiers have begun to answer when the time is up. What was shown stays, whosever it is. */
static void test_of_two_answers_that_are_cut_the_one_that_was_shown_stays(void)
{
    static const struct {
        bool streamed;
        uint32_t commit_tokens;
        uint64_t cloud_ms, local_ms; /* until the first text; the device is asked at 500 ms */
        const char *tier, *text;
    } cases[] = {
        {true, 1, 600, 200, "openai", "cloud"},
        {true, 1, 650, 100, "local", "device"},
        {true, 1, 900, 100, "local", "device"},
        {true, 1, 1100, 100, "local", "device"},
        {true, 1, 600, 1000, "openai", "cloud"},
        {false, 1, 600, 200, "openai", "cloud"},
        {false, 1, 650, 100, "local", "device"},
        {false, 1, 1100, 100, "local", "device"},
        {true, UINT32_MAX, 600, 200, "openai", "cloud"},
        {true, UINT32_MAX, 650, 100, "openai", "cloud"},
        {false, UINT32_MAX, 600, 200, "openai", "cloud"},
        {false, UINT32_MAX, 650, 100, "openai", "cloud"},
        {false, UINT32_MAX, 1100, 100, "local", "device"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct script_step cloud[] = {
            {.kind = SCRIPT_TEXT, .delay_ms = cases[i].cloud_ms, .text = "cloud"}, STALL};
        const struct script_step local[] = {{.kind = SCRIPT_TOKEN,
                                             .delay_ms = cases[i].local_ms,
                                             .text = "device",
                                             .probability = 0.99},
                                            STALL};
        struct world w;
        world_cloud_first(&w);
        world_script(&w, CLOUD, cloud);
        world_script(&w, LOCAL, local);
        w.route.gates.commit_tokens = cases[i].commit_tokens;
        w.request.streamed = cases[i].streamed;
        w.request.slo_ms = 1000;
        double ms = ended_after_ms(&w);
        CHECK(ms >= 1000 && ms < 1002);
        CHECK(strcmp(w.tier, cases[i].tier) == 0 && strcmp(w.text, cases[i].text) == 0);
        CHECK(strchr(w.events, 'C') == NULL && w.degraded);
        world_deinit(&w);
    }
}

static void test_an_attempt_that_was_cut_counts_as_longer_than_it_was_waited_for(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    struct tier_state state = {0};
    for (uint32_t waited = 1; waited < 1u << 20; waited = waited * 3 / 2 + 1) {
        tier_latency_free(latency);
        latency = tier_latency_new(1);
        for (int i = 0; i < 5; i++)
            tier_latency_add_cut(latency, 0, 0, waited, 0);
        tier_latency_read(latency, 0, 0, &state);
        CHECK(state.ttft_p95_ms > waited && state.total_p95_ms > waited);
        CHECK(state.total_p95_ms < 1.5 * waited + 1);
    }
    tier_latency_free(latency);
}

int main(void)
{
    RUN(test_the_device_is_asked_in_time_beside_a_silent_cloud);
    RUN(test_a_device_that_left_for_the_cloud_keeps_its_answer_until_the_deadline);
    RUN(test_a_cloud_that_comes_in_time_is_preferred_to_an_unsure_device);
    RUN(test_what_has_come_at_the_deadline_is_the_answer);
    RUN(test_the_first_text_is_shown_at_its_deadline_to_a_client_that_streams);
    RUN(test_a_clients_patience_is_a_deadline_less_a_margin);
    RUN(test_patience_is_for_the_first_text_of_a_stream_and_else_for_the_whole);
    RUN(test_the_whole_ends_at_its_deadline_however_early_the_first_text_came);
    RUN(test_who_leaves_before_the_time_is_up_says_nothing_of_it);
    RUN(test_a_rung_that_would_come_too_late_is_passed_over);
    RUN(test_after_the_first_text_its_deadline_removes_no_rung);
    RUN(test_of_rungs_that_are_too_slow_the_first_is_asked_when_nothing_else_is_left);
    RUN(test_the_device_is_asked_the_later_the_faster_it_is);
    RUN(test_of_two_answers_that_are_cut_the_one_that_was_shown_stays);
    RUN(test_an_attempt_that_was_cut_counts_as_longer_than_it_was_waited_for);
    return test_finish();
}
