/* What each tier is sent of a request with something private in it, what the door is told of that,
 * and what the client sees of an answer that repeats it. */
#include "exchange/parts/shadow_pool.h"
#include "exchange/private/consents.h"
#include "privacy/pseudonym/vault_store.h"
#include "world.h"

#define ADDRESS "ann.smith@acme.com"
#define PRIVATE "Please write to " ADDRESS " today"

static const struct script_step echo[] = {ECHO_HALF, ECHO_REST, DONE};
static const struct script_step half_an_echo[] = {ECHO_HALF, FAIL(TD_UNAVAILABLE, "broken")};

/* The cloud starts, and what it says is shown when it is whole. */
static void masking(struct world *w, struct pseudonym_settings *settings)
{
    world_init(w);
    *settings = (struct pseudonym_settings){
        .vaults = vault_store_new(10, SIZE_MAX, 1000000),
        .rules = {.classes = {[TD_CLASS_SENSITIVE] = true}},
    };
    w->services.pseudonyms = settings;
    w->route.pseudonyms = true;
    w->route.start = "openai";
    for (size_t i = 0; i < 3; i++) {
        w->tiers[i].tier.facts.pseudonyms = true;
        world_script(w, i, echo);
    }
    world_set_prompt(w, PRIVATE);
}

static void masking_ends(struct world *w, struct pseudonym_settings *settings)
{
    conversation_classes_free(w->services.classes);
    w->services.classes = NULL;
    vault_store_free(settings->vaults);
    world_deinit(w);
}

static void no_settings(struct world *w)
{
    w->services.pseudonyms = NULL;
}

static void not_on_this_route(struct world *w)
{
    w->route.pseudonyms = false;
}

static void not_for_this_tier(struct world *w)
{
    w->tiers[CLOUD].tier.facts.pseudonyms = false;
}

static void only_on_the_device(struct world *w)
{
    w->request.mode = TD_MODE_ONLY_LOCAL;
}

static void declared_restricted(struct world *w)
{
    w->request.data_class = TD_CLASS_RESTRICTED;
}

static void declared_by_the_route(struct world *w)
{
    w->route.data_class = TD_CLASS_RESTRICTED;
}

static void nothing_private(struct world *w)
{
    world_set_prompt(w, "Please write to them today");
}

static void at_the_very_end(struct world *w)
{
    world_set_prompt(w, "Please write to " ADDRESS); /* so it is held back until the end */
}

static void another_class_is_replaced(struct world *w)
{
    static struct pseudonym_settings other;
    other = *w->services.pseudonyms;
    other.rules.classes[TD_CLASS_SENSITIVE] = false;
    other.rules.classes[TD_CLASS_RESTRICTED] = true;
    w->services.pseudonyms = &other;
}

static void test_a_value_leaves_only_behind_a_surrogate_and_comes_back(void)
{
    static const struct {
        void (*arrange)(struct world *w);
        const char *tier;
        size_t replaced;
        enum td_data_class data_class; /* of what was sent */
    } cases[] = {
        {NULL, "openai", 1, TD_CLASS_PUBLIC},
        {at_the_very_end, "openai", 1, TD_CLASS_PUBLIC},
        {no_settings, "local", 0, TD_CLASS_SENSITIVE},
        {not_on_this_route, "local", 0, TD_CLASS_SENSITIVE},
        {not_for_this_tier, "local", 0, TD_CLASS_SENSITIVE},
        {only_on_the_device, "local", 0, TD_CLASS_SENSITIVE},
        {declared_restricted, "local", 0, TD_CLASS_RESTRICTED},
        {declared_by_the_route, "local", 0, TD_CLASS_RESTRICTED},
        {another_class_is_replaced, "local", 0, TD_CLASS_SENSITIVE},
        {nothing_private, "openai", 0, TD_CLASS_PUBLIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct pseudonym_settings settings;
        masking(&w, &settings);
        if (cases[i].arrange)
            cases[i].arrange(&w);
        world_run(&w);
        const bool away = strcmp(cases[i].tier, "openai") == 0;
        const struct scripted_tier *asked = &w.tiers[away ? CLOUD : LOCAL];
        CHECK(strcmp(w.tier, cases[i].tier) == 0 && w.tiers[CLOUD].start_count == away);
        CHECK(!strstr(w.tiers[CLOUD].asked, ADDRESS) && !strstr(w.tiers[OTHER].asked, "write"));
        CHECK(asked->replaced_count == cases[i].replaced);
        CHECK(asked->data_class == cases[i].data_class);
        CHECK(strncmp(asked->asked, "Please write to ", 16) == 0);
        CHECK(str_equal(str_from(w.text), w.messages[0].content)); /* as it was written */
        CHECK(ledger_seen.attempts[0].egress_bytes == (away ? 77 : 0));
        CHECK(!strstr(ledger_seen.signals, "\"pseudonyms\"") == !cases[i].replaced);
        CHECK(!cases[i].replaced ||
              strstr(ledger_seen.signals, "\"pseudonyms\":{\"sent\":1,\"seen\":1,\"restored\":1}"));
        masking_ends(&w, &settings);
    }
}

/* Each attempt restores for itself: what one held back of a surrogate is not shown of the next. */
static void test_what_an_attempt_left_half_said_is_not_in_the_next_answer(void)
{
    static const struct {
        const struct script_step *local, *cloud, *other;
        const char *outcomes;
        uint64_t places; /* of surrogates, in the answer */
    } cases[] = {
        {echo, echo, echo, "openai:answered", 1},
        {echo, half_an_echo, echo, "openai:failed other:continued", 1},
        {echo, half_an_echo, half_an_echo, "openai:failed other:failed local:continued", 0},
        {half_an_echo, half_an_echo, echo, "openai:failed other:continued", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct pseudonym_settings settings;
        masking(&w, &settings);
        w.route.tiers[0] = "openai";
        w.route.tiers[1] = "other";
        w.route.tiers[2] = "local";
        w.route.tier_count = 3;
        world_script(&w, LOCAL, cases[i].local);
        world_script(&w, CLOUD, cases[i].cloud);
        world_script(&w, OTHER, cases[i].other);
        world_run(&w);
        CHECK(strcmp(ledger_seen.outcomes, cases[i].outcomes) == 0);
        CHECK(strcmp(w.text, PRIVATE) == 0);
        CHECK(w.summary.pseudonyms.sent == cases[i].places);
        CHECK(w.summary.pseudonyms.seen == cases[i].places);
        CHECK(w.summary.pseudonyms.restored == cases[i].places);
        CHECK(!strstr(w.tiers[CLOUD].asked, ADDRESS) && !strstr(w.tiers[OTHER].asked, ADDRESS));
        masking_ends(&w, &settings);
    }
}

/* What a tier says is read like what it was asked: it may bring in a class, and then that holds for
 * the tier that goes on. */
static void test_what_was_shown_raises_the_class_of_what_goes_on(void)
{
    static const struct script_step tells[] = {TEXT("Write to " ADDRESS " or"),
                                               FAIL(TD_UNAVAILABLE, "broken")};
    static const struct script_step tells_nothing[] = {TEXT("Write to them or"),
                                                       FAIL(TD_UNAVAILABLE, "broken")};
    static const struct script_step goes_on[] = {TEXT(" call."), DONE};
    static const struct {
        const struct script_step *cloud;
        bool masks;
        const char *outcomes, *data_class, *text;
        int other_asked;
        size_t replaced;
    } cases[] = {
        {tells_nothing, false, "openai:failed other:continued", "public", "Write to them or call.",
         1, 0},
        {tells, false, "openai:failed other:failed local:continued", "sensitive",
         "Write to " ADDRESS " or call.", 0, 0},
        {tells, true, "openai:failed other:continued", "sensitive", "Write to " ADDRESS " or call.",
         1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct pseudonym_settings settings;
        masking(&w, &settings);
        if (!cases[i].masks)
            w.services.pseudonyms = NULL;
        world_set_prompt(&w, "whom do I write to");
        w.route.tiers[0] = "openai";
        w.route.tiers[1] = "other";
        w.route.tiers[2] = "local";
        w.route.tier_count = 3;
        w.route.gates = (struct gate_settings){.commit_tokens = 1};
        for (size_t k = 0; k < 3; k++)
            w.tiers[k].tier.facts.prefill = PREFILL_MESSAGE;
        world_script(&w, CLOUD, cases[i].cloud);
        world_script(&w, OTHER, goes_on);
        world_script(&w, LOCAL, goes_on);
        world_run(&w);
        CHECK(strcmp(ledger_seen.outcomes, cases[i].outcomes) == 0);
        CHECK(strcmp(ledger_seen.data_class, cases[i].data_class) == 0);
        CHECK(strcmp(w.text, cases[i].text) == 0);
        CHECK(w.tiers[OTHER].start_count == cases[i].other_asked);
        CHECK(w.tiers[OTHER].replaced_count == cases[i].replaced);
        CHECK(w.tiers[OTHER].data_class == TD_CLASS_PUBLIC);
        masking_ends(&w, &settings);
    }
}

/* A shadow's request is not masked, so what could leave behind a surrogate alone has none. */
static void test_what_would_have_to_be_masked_has_no_shadow(void)
{
    static const struct {
        const char *prompt;
        enum td_data_class data_class; /* that the client declares */
        int shadows;
    } cases[] = {{PRIVATE, TD_CLASS_PUBLIC, 0},
                 {"Please write to them today", TD_CLASS_PUBLIC, 1},
                 {"Please write to them today", TD_CLASS_SENSITIVE, 0},
                 {PRIVATE, TD_CLASS_CONTRACTUAL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct pseudonym_settings settings;
        masking(&w, &settings);
        world_set_prompt(&w, cases[i].prompt);
        w.request.data_class = cases[i].data_class;
        w.route.start = "local";
        w.route.gates = (struct gate_settings){.commit_tokens = 1};
        w.services.shadow_pool = shadow_pool_new(1);
        w.route.shadow_cloud_share = w.route.shadow_edge_share = 1;
        w.services.shadow_usd_per_day = 1;
        world_run(&w);
        CHECK(strcmp(w.tier, "local") == 0);
        CHECK(w.tiers[CLOUD].start_count == cases[i].shadows);
        CHECK(w.tiers[OTHER].start_count == 0 && !strstr(w.tiers[CLOUD].asked, ADDRESS));
        CHECK(cases[i].shadows == 0 || w.tiers[CLOUD].data_class == TD_CLASS_PUBLIC);
        shadow_pool_free(w.services.shadow_pool);
        masking_ends(&w, &settings);
    }
}

/* A route that asks for a consent sends nothing without a valid one for it. A request may bring one
 * whole, but only where the operator allows that. */
static void test_a_route_that_asks_for_a_consent_sends_nothing_without_one(void)
{
    enum { NOW = 1700000000, HOUR = 3600, NO_STORE = 1, ALLOWED = 2, NOT_ASKED = 4 };
    static const struct {
        unsigned settings;
        const char *granted, *scope; /* of a consent that is there; NULL = there is none */
        int64_t granted_s;           /* from now, until it ends */
        const char *named;           /* by the request */
        const char *brought, *brought_scope;
        bool leaves;
    } cases[] = {
        {0, "given", "auto", HOUR, "given", NULL, NULL, true},
        {0, "given", "*", HOUR, "given", NULL, NULL, true},
        {0, NULL, NULL, 0, NULL, NULL, NULL, false},
        {0, "given", "auto", HOUR, NULL, NULL, NULL, false},
        {0, "given", "auto", HOUR, "another", NULL, NULL, false},
        {0, "given", "mail", HOUR, "given", NULL, NULL, false},
        {0, "given", "auto", 2, "given", NULL, NULL, false}, /* which has ended by then */
        {NO_STORE, NULL, NULL, 0, "given", NULL, NULL, false},
        {NOT_ASKED, NULL, NULL, 0, NULL, NULL, NULL, true},
        {ALLOWED, NULL, NULL, 0, "mine", "mine", "auto", true},
        {0, NULL, NULL, 0, "mine", "mine", "auto", false},
        {ALLOWED, NULL, NULL, 0, "mine", "mine", "mail", false},
        {ALLOWED, NULL, NULL, 0, "mine", "mine", NULL, false},
        {ALLOWED, NULL, NULL, 0, "mine", NULL, "auto", false},
        {ALLOWED, NULL, NULL, 0, NULL, "mine", "auto", false},
        {ALLOWED | NO_STORE, NULL, NULL, 0, "mine", "mine", "auto", false},
        {ALLOWED | NOT_ASKED, NULL, NULL, 0, "mine", "mine", "auto", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct consents *consents = NULL;
        char id[CONSENT_ID_BYTES_MAX + 1];
        world_init(&w);
        w.loop.now_ms = 10000;
        REQUIRE(consents_open(NULL, &consents, NULL) == TD_OK);
        if (cases[i].granted) {
            const struct consent given = {.id = cases[i].granted,
                                          .scope = cases[i].scope,
                                          .expires_ms =
                                              (NOW + (uint64_t)cases[i].granted_s) * 1000};
            REQUIRE(consents_grant(consents, &given, NOW * 1000ull, id, NULL) == TD_OK);
        }
        w.services.consents = cases[i].settings & NO_STORE ? NULL : consents;
        w.services.consents_in_requests = cases[i].settings & ALLOWED;
        w.request.consent = cases[i].named;
        w.request.brought = (struct request_consent){cases[i].brought, cases[i].brought_scope,
                                                     (NOW + (uint64_t)HOUR) * 1000};
        w.route.consent = !(cases[i].settings & NOT_ASKED);
        w.route.start = "openai";
        world_script(&w, LOCAL, sure);
        world_script(&w, CLOUD, cloudy);
        world_run(&w);
        if (w.tiers[CLOUD].start_count != cases[i].leaves)
            printf("row %zu: %s\n", i, w.tier);
        CHECK(w.tiers[CLOUD].start_count == cases[i].leaves);
        CHECK(strcmp(w.tier, cases[i].leaves ? "openai" : "local") == 0);
        world_deinit(&w);
        consents_close(consents);
    }
}

int main(void)
{
    RUN(test_a_value_leaves_only_behind_a_surrogate_and_comes_back);
    RUN(test_what_an_attempt_left_half_said_is_not_in_the_next_answer);
    RUN(test_what_was_shown_raises_the_class_of_what_goes_on);
    RUN(test_what_would_have_to_be_masked_has_no_shadow);
    RUN(test_a_route_that_asks_for_a_consent_sends_nothing_without_one);
    return test_finish();
}
