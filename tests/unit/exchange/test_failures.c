/* What an exchange does when tiers fail, are missing, or may not be asked. */
#include "scenes.h"

#include "base/crypto/rng.h"
#include "exchange/limits/hedge_allowance.h"
#include "wire_members.h"

static const struct script_step refused[] = {FAIL(TD_UNAVAILABLE, "connection refused")};
static const struct script_step stalls[] = {STALL};
static const struct script_step breaks[] = {TOKEN("It ", 0.9), FAIL(TD_NO_MEMORY, "out of memory")};
static const struct script_step dies[] = {FAIL(TD_INTERNAL, "engine fault")};
static const struct script_step dies_later[] = {TOKEN("x", 0.9), FAIL(TD_INTERNAL, "engine fault")};
static const struct script_step refuses_tool[] = {
    FAIL_HTTP(TD_INVALID, 400, "HTTP 400: no such tool")};
static const struct script_step cut_after_text[] = {TEXT("Clo"),
                                                    FAIL(TD_CORRUPT, "the answer was cut")};
static const struct script_step cut_before_text[] = {ROLE_ONLY,
                                                     FAIL(TD_CORRUPT, "the answer was cut")};
static const struct script_step weak[] = {TOKEN("C", 0.9), TOKEN("l", 0.9), TOKEN("o", 0.9),
                                          TOKEN("ud", 0.05), DONE};
static const struct script_step very_slow[] = {
    {.kind = SCRIPT_TOKEN, .delay_ms = 100000, .text = "late", .probability = 0.9}, DONE};

#define REDUCED "Answered by the small on-device model with reduced capability: "
#define CARD "is 4111 1111 1111 1111 a valid card"

/* --- one exchange each --- */

static void is_disclosed_before_its_text(const struct world *w)
{
    CHECK(strcmp(w->start_disclosure, w->disclosure) == 0);
}

static void is_reduced(const struct world *w)
{
    CHECK(w->reduced);
}

static void failed_in_the_ledger(const struct world *w)
{
    (void)w;
    CHECK(strcmp(ledger_seen.status, "failed") == 0);
}

/* The words of a tier's server may repeat the prompt: the client reads them, the ledger does
 * not. */
static void keeps_the_servers_words_from_the_ledger(const struct world *w)
{
    (void)w;
    CHECK(!strstr(ledger_seen.reasons, "no such tool") && strstr(ledger_seen.reasons, "HTTP 400"));
    CHECK(ledger_seen.attempts[0].outcome == ATTEMPT_FAILED);
}

static void busy_local(struct world *w)
{
    w->tiers[LOCAL].start_status = TD_BUSY;
}

static void long_for_both(struct world *w)
{
    w->tiers[LOCAL].prompt_tokens = 9000;
    w->tiers[CLOUD].prompt_tokens = 120000;
}

static void blames_the_messages(const struct world *w)
{
    CHECK(strcmp(w->param, "messages") == 0);
    CHECK(w->tier[0] == '\0' && w->summary.attempt_count == 0);
}

static void long_answer(struct world *w)
{
    w->tiers[LOCAL].prompt_tokens = 3500;
    w->request.tokens_max = 5000;
}

static void blames_max_tokens(const struct world *w)
{
    CHECK(strcmp(w->param, "max_tokens") == 0);
}

static void long_for_local(struct world *w)
{
    w->tiers[LOCAL].prompt_tokens = 9000;
}

static void restricted_by_the_caller(struct world *w)
{
    w->request.data_class = TD_CLASS_RESTRICTED;
}

static void half_a_second(struct world *w)
{
    w->services.deadline_ms = 500;
}

static void no_deadline(struct world *w)
{
    w->services.deadline_ms = 0;
}

static void stayed_restricted(const struct world *w)
{
    CHECK(w->tiers[CLOUD].start_count == 0 && w->tiers[OTHER].start_count == 0);
    CHECK(strcmp(ledger_seen.data_class, "restricted") == 0);
}

static const struct scene scenes[] = {
    {
        .behaviour = "the cloud is down: the local answer is given with a disclosure",
        .local = unsure_late,
        .cloud = refused,
        .events = "STD",
        .text = "Well, I guess",
        .tier = "local",
        .quality = DEGRADED,
        .disclosure = REDUCED "tier openai could not be reached (connection refused).",
        .outcomes = "local:answered openai:failed",
        .starts = "1 1 0",
        .reasons = {{"openai", REASON_LEFT_ERROR}},
        .also = is_disclosed_before_its_text,
    },
    {
        .behaviour = "a local answer that was left early is asked for again",
        .local = unsure,
        .cloud = refused,
        .text = "Perhaps so.",
        .quality = DEGRADED,
        .outcomes = "local:escalated openai:failed local:answered",
        .starts = "2 1 0",
    },
    {
        .behaviour = "a missing key is disclosed with the variable to set",
        .no_cloud_key = true,
        .local = unsure,
        .text = "Perhaps so.",
        .quality = DEGRADED,
        .disclosure = "I cannot answer this well: only nano on this device is running. Add a "
                      "larger model (tandem models recommend) or a cloud (set OPENAI_API_KEY).",
        .also = is_reduced,
    },
    {
        .behaviour = "a confident answer without a cloud is not degraded",
        .no_cloud_key = true,
        .local = sure,
        .quality = WHOLE,
        .disclosure = "",
        .also = is_reduced,
    },
    {
        .behaviour = "a missing start tier is disclosed however sure the stand-in is",
        .mode = TD_MODE_PREFER_CLOUD,
        .no_cloud_key = true,
        .local = sure,
        .text = "It is noon.",
        .quality = DEGRADED,
        .disclosure_has = "OPENAI_API_KEY",
    },
    {
        .behaviour = "prefer-cloud falls to the device when the cloud fails",
        .mode = TD_MODE_PREFER_CLOUD,
        .local = sure,
        .cloud = refused,
        .text = "It is noon.",
        .quality = DEGRADED,
        .disclosure_has = "could not be reached",
    },
    {
        .behaviour = "a local failure is taken over silently",
        .local = breaks,
        .cloud = cloudy,
        .text = "Cloud answer",
        .quality = WHOLE,
        .reasons = {{"local", REASON_LEFT_ERROR}},
    },
    {
        .behaviour = "a tier that refuses to start is left",
        .arrange = busy_local,
        .cloud = cloudy,
        .text = "Cloud answer",
    },
    {
        .behaviour = "when both are down both causes are named",
        .local = dies,
        .cloud = refused,
        .events = "F",
        .status = TD_UNAVAILABLE,
        .message = {"local: engine fault", "openai: connection refused"},
        .also = failed_in_the_ledger,
    },
    {
        .behaviour = "a single cause keeps its status",
        .mode = TD_MODE_ONLY_CLOUD,
        .cloud = refuses_tool,
        .status = TD_INVALID,
        .message = {"no such tool"},
        .also = keeps_the_servers_words_from_the_ledger,
    },
    {
        .behaviour = "a cloud that cuts after text is continued by the tier that was left",
        .local = unsure_late,
        .cloud = cut_after_text,
        .events = "STD",
        .text = "CloWell, I guess",
        .quality = DEGRADED,
        .disclosure_has = "Begun by tier openai and continued by tier local after 3 characters: ",
        .outcomes = "local:escalated openai:failed local:continued",
        .reasons = {{"local", REASON_CONTINUED}},
    },
    {
        .behaviour = "a cloud that cuts after text fails the exchange where no other may be asked",
        .mode = TD_MODE_ONLY_CLOUD,
        .cloud = cut_after_text,
        .events = "STF",
        .text = "Clo",
        .status = TD_CORRUPT,
        .message = {"broke off"},
    },
    {
        .behaviour = "a cloud that cuts before text is invisible",
        .local = unsure_late,
        .cloud = cut_before_text,
        .events = "STD",
        .text = "Well, I guess",
        .quality = DEGRADED,
    },
    {
        .behaviour = "the next cloud is tried before the kept answer",
        .three_rungs = true,
        .local = unsure_late,
        .cloud = refused,
        .other = cloudy,
        .text = "Cloud answer",
        .tier = "other",
        .quality = WHOLE,
    },
    {
        .behaviour = "of two low answers the stronger tier's is kept",
        .three_rungs = true,
        .local = unsure_late,
        .cloud = weak,
        .other = refused,
        .text = "Cloud",
        .tier = "openai",
        .quality = DEGRADED,
        .disclosure_has = "Answered by tier openai",
    },
    {
        .behaviour = "an empty ladder names each limit",
        .arrange = long_for_both,
        .events = "F",
        .status = TD_LIMIT,
        .message = {"prompt of 9000 tokens exceeds local's limit of 4096",
                    "prompt of 120000 tokens exceeds openai's limit of 100000"},
        .also = blames_the_messages,
    },
    {
        .behaviour = "too long an answer is the answer's fault",
        .mode = TD_MODE_ONLY_LOCAL,
        .arrange = long_answer,
        .status = TD_LIMIT,
        .also = blames_max_tokens,
    },
    {
        .behaviour = "too long for the device with no key is too long, not unavailable",
        .no_cloud_key = true,
        .arrange = long_for_local,
        .status = TD_LIMIT,
        .message = {"OPENAI_API_KEY"},
    },
    {
        .behaviour = "a forbidden request is denied",
        .mode = TD_MODE_ONLY_CLOUD,
        .arrange = restricted_by_the_caller,
        .status = TD_DENIED,
        .message = {"restricted data may not reach openai", "only-cloud"},
    },
    {
        .behaviour = "only-cloud without a key is unavailable",
        .mode = TD_MODE_ONLY_CLOUD,
        .no_cloud_key = true,
        .status = TD_UNAVAILABLE,
        .message = {"OPENAI_API_KEY"},
    },
    {
        .behaviour = "the deadline gives what was kept",
        .arrange = half_a_second,
        .local = unsure_late,
        .cloud = stalls,
        .text = "Well, I guess",
        .quality = DEGRADED,
        .disclosure_has = "deadline",
        .cancels = "0 1 0",
    },
    {
        .behaviour = "no deadline means none",
        .arrange = no_deadline,
        .local = very_slow,
        .text = "late",
    },
    {
        .behaviour = "restricted data never leaves on low confidence",
        .prompt = CARD,
        .local = unsure,
        .quality = DEGRADED,
        .disclosure_has = "restricted data may not reach openai",
        .also = stayed_restricted,
    },
    {
        .behaviour = "restricted data never leaves on a retry",
        .prompt = CARD,
        .local = dies_later,
        .events = "STF",
        .status = TD_INTERNAL,
        .message = {"engine fault"},
        .also = stayed_restricted,
    },
};

/* --- several, or in steps --- */

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
    world_run(&w);
    stayed_restricted(&w);
    w.messages[2].content = STR("and now something else"); /* the client cut the number out */
    world_run(&w);
    stayed_restricted(&w);
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
        world_run(&w);
        stayed_restricted(&w);
        wire_members_deinit(&wire);
        world_deinit(&w);
    }
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
        world_run(&w);
        stayed_restricted(&w);
        world_deinit(&w);
    }
}

/* Random plans, scripts, clients and classes: always one end, nothing left running, and never a
 * start of a tier that the class forbids. */
static void test_random_exchanges_always_end_once_and_lawfully(void)
{
    static const struct script_step faults[] = {TOKEN("It ", 0.9), FAIL(TD_INTERNAL, "fault")};
    static const struct script_step cut[] = {TEXT("Clo"), FAIL(TD_CORRUPT, "cut")};
    static const struct script_step empty[] = {DONE};
    static const struct script_step foreign[] = {NOT_MINE(0.9), TOKEN("no", 0.9), DONE};
    static const struct script_step *const scripts[] = {
        sure, unsure, unsure_late, cloudy, refused, stalls, faults, cut, empty, foreign};
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

/* Tiers of two jurisdictions that fail, stall and answer at random, with hedges and a route or a
 * tier that the request names: what must stay in the one never reaches the other. */
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
        w.services.hedge_allowance = hedge_allowance_new();
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
        hedge_allowance_free(w.services.hedge_allowance);
        world_deinit(&w);
    }
    CHECK(in_eu > 1000 && hedged > 100 && failed > 100);
}

/* --- when to ask again --- */

#define ASKS(ms)                                                                \
    {                                                                           \
        .kind = SCRIPT_FAIL, .delay_ms = 10, .status = TD_BUSY, .text = "wait", \
        .http_status = 429, .retry_after_ms = (ms)                              \
    }

static void test_the_first_tier_that_may_be_asked_again_is_waited_for(void)
{
    static const struct script_step minute[] = {ASKS(60000)}, bit[] = {ASKS(7001)};
    static const struct script_step passing[] = {FAIL(TD_UNAVAILABLE, "broken")};
    static const struct script_step wrong[] = {FAIL_HTTP(TD_INVALID, 400, "no such thing")};
    static const struct {
        const struct script_step *cloud, *other;
        uint32_t at_once, later; /* the tiers rest then, where they asked for it */
    } cases[] = {
        {minute, bit, 8, 7},     {bit, minute, 8, 7},     {minute, minute, 60, 60},
        {minute, wrong, 60, 60}, {passing, minute, 0, 0}, {wrong, wrong, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_init(&w);
        w.route.tiers[0] = "openai";
        w.route.tiers[1] = "other";
        world_script(&w, CLOUD, cases[i].cloud);
        world_script(&w, OTHER, cases[i].other);
        for (int later = 0; later < 2; later++) {
            struct td_error err = {0};
            CHECK(world_start(&w, &err) == TD_OK);
            virtual_loop_run(&w.loop, 500);
            uint32_t wanted = later ? cases[i].later : cases[i].at_once;
            CHECK(w.end_count == 1 + later && w.status != TD_OK && w.retry_after_s == wanted);
            if (w.retry_after_s != wanted)
                fprintf(stderr, "  case %zu, %d: %u\n", i, later, w.retry_after_s);
        }
        world_deinit(&w);
    }
}

int main(void)
{
    RUN(test_the_first_tier_that_may_be_asked_again_is_waited_for);
    RUN_SCENES(scenes);
    RUN(test_failures_in_a_row_rest_a_tier_and_spare_the_next_request);
    RUN(test_deadline_ends_the_exchange);
    RUN(test_a_conversation_stays_restricted);
    RUN(test_what_hides_in_the_body_is_found);
    RUN(test_restricted_data_never_leaves_by_mode_name_or_route);
    RUN(test_random_exchanges_always_end_once_and_lawfully);
    RUN(test_a_request_for_a_region_is_never_sent_out_of_it);
    return test_finish();
}
