/* What a tier that goes on with another one's answer is allowed: tokens and money. */
#include "exchange/limits/spending.h"
#include "world.h"

/* The first tier says three tokens and breaks off; the client has seen them. */
static const struct script_step breaks_off[] = {TOKEN("Half ", 0.9), TOKEN("of ", 0.9),
                                                TOKEN("an", 0.9), FAIL(TD_UNAVAILABLE, "broken")};
static const struct script_step goes_on[] = {TEXT("Half of an answer"), DONE};
#define SAID 3

/* From one cloud to another of the same price, which are both shown from the first token on. */
static void clouds(struct world *w)
{
    world_init(w);
    w->route.tiers[0] = "openai";
    w->route.tiers[1] = "other";
    w->route.gates = (struct gate_settings){.commit_tokens = 1};
    w->tiers[OTHER].tier.facts.input_usd_per_mtok = w->tiers[CLOUD].tier.facts.input_usd_per_mtok;
    w->tiers[OTHER].tier.facts.output_usd_per_mtok = w->tiers[CLOUD].tier.facts.output_usd_per_mtok;
    world_script(w, CLOUD, breaks_off);
    world_script(w, OTHER, goes_on);
}

/* 0 is no limit, so whoever has used up all is allowed one token and not none. */
static void test_what_goes_on_is_allowed_what_is_left(void)
{
    static const struct {
        uint32_t asked, left;
    } cases[] = {{0, 0}, {1, 1}, {SAID - 1, 1}, {SAID, 1}, {SAID + 1, 1}, {SAID + 2, 2}, {100, 97}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        clouds(&w);
        w.request.tokens_max = cases[i].asked;
        world_run(&w);
        CHECK(strcmp(ledger_seen.outcomes, "openai:failed other:continued") == 0);
        CHECK(w.tiers[CLOUD].tokens_max == cases[i].asked);
        CHECK(w.tiers[OTHER].tokens_max == cases[i].left);
        world_deinit(&w);
    }
}

/* A third tier is allowed what both before it have left. */
static void test_what_goes_on_twice_is_allowed_what_both_have_left(void)
{
    static const struct script_step again[] = {TOKEN("Half of an", 0.9), TOKEN(" an", 0.9),
                                               FAIL(TD_UNAVAILABLE, "broken")};
    struct world w;
    clouds(&w);
    w.route.tiers[2] = "local";
    w.route.tier_count = 3;
    w.request.tokens_max = 10;
    world_script(&w, OTHER, again);
    world_script(&w, LOCAL, goes_on);
    world_run(&w);
    CHECK(strcmp(ledger_seen.outcomes, "openai:failed other:failed local:continued") == 0);
    CHECK(w.tiers[LOCAL].tokens_max == 10 - SAID - 2);
    world_deinit(&w);
}

/* What broke off has to be paid from the same budget. */
static void test_what_goes_on_must_have_room_beside_what_broke_off(void)
{
    const double answer = (100 * 1 + 1024 * 10) / 1e6, broken_off = (100 * 1 + SAID * 10) / 1e6;
    static const struct {
        double share; /* of what broke off, that the budget has beside a whole answer */
        bool goes_on;
    } cases[] = {{0.1, false}, {0.9, false}, {1.1, true}, {100, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        clouds(&w);
        const struct budget budget = {"day", BUDGET_PER_ALL, answer + cases[i].share * broken_off};
        w.policy.budgets = &budget;
        w.policy.budget_count = 1;
        w.services.spending = spending_new(NULL, 100);
        world_run(&w);
        CHECK(w.tiers[CLOUD].start_count == 1 && w.tiers[OTHER].start_count == cases[i].goes_on);
        CHECK(world_has_reason(&w, REASON_REMOVED_BUDGET, "other") == !cases[i].goes_on);
        spending_free(w.services.spending);
        world_deinit(&w);
    }
}

static void form(struct world *w)
{
    w->request.format = TD_FORMAT_JSON;
}

static void probabilities(struct world *w)
{
    w->request.logprobs = true;
}

static void beginning(struct world *w)
{
    w->messages[1] = (struct td_message){TD_ROLE_ASSISTANT, STR("It is")};
    w->request.message_count = 2;
}

static void an_earlier_answer(struct world *w)
{
    beginning(w);
    w->messages[2] = (struct td_message){TD_ROLE_USER, STR("and tomorrow")};
    w->request.message_count = 3;
}

static void complete(struct world *w, bool echo, const int32_t *ids)
{
    static struct td_completion completion;
    completion = (struct td_completion){
        .text = w->messages[0].content, .echo = echo, .ids = ids, .id_count = ids != NULL};
    w->request.completion = &completion;
}

static void completion(struct world *w)
{
    complete(w, false, NULL);
}

static void completion_with_echo(struct world *w)
{
    complete(w, true, NULL);
}

static void completion_of_ids(struct world *w)
{
    static const int32_t id = 7;
    complete(w, false, &id);
}

/* Two halves are joined only where the client can take them for one answer. What goes on is asked
 * what was asked before, and told what was shown. */
static void test_only_plain_text_of_one_form_goes_on(void)
{
    static const struct {
        void (*arrange)(struct world *w);
        bool goes_on;
        const char *why;      /* it does not */
        const char *first;    /* message that the second tier was sent */
        size_t message_count; /* that it was sent */
    } cases[] = {
        {NULL, true, NULL, "what is the weather", 2},
        {an_earlier_answer, true, NULL, "what is the weather", 4},
        {completion, true, NULL, "what is the weatherHalf of an", 1},
        {form, false, "a form that both halves must keep", "", 0},
        {probabilities, false, "log-probabilities", "", 0},
        {beginning, false, "begins with a text of the client", "", 0},
        {completion_with_echo, false, "begins with a text of the client", "", 0},
        {completion_of_ids, false, "begins with a text of the client", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        clouds(&w);
        if (cases[i].arrange)
            cases[i].arrange(&w);
        world_run(&w);
        CHECK(w.tiers[OTHER].start_count == cases[i].goes_on);
        CHECK(strcmp(w.tiers[OTHER].asked, cases[i].first) == 0);
        CHECK(!w.tiers[CLOUD].continues && w.tiers[OTHER].continues == cases[i].goes_on);
        CHECK(w.tiers[OTHER].message_count == cases[i].message_count);
        CHECK(cases[i].goes_on == (w.status == TD_OK));
        CHECK(strncmp(w.text, "Half of an", 10) == 0); /* what was shown stays */
        CHECK(!cases[i].why || strstr(w.message, cases[i].why));
        world_deinit(&w);
    }
}

/* The members of the request are what another server is sent: all but the text stay the same. */
static void test_what_goes_on_is_sent_every_member_of_the_request(void)
{
    static const char messages[] = "[{\"role\":\"user\",\"content\":\"what is the weather\"}]";
    static const struct {
        bool completion;
        const char *text; /* that is sent on */
    } cases[] = {
        {false, "[{\"role\":\"user\",\"content\":\"what is the weather\"},"
                "{\"role\":\"assistant\",\"content\":\"Half of an\"}]"},
        {true, "\"what is the weatherHalf of an\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct json *list = NULL, *other = json_new_int(7);
        if (cases[i].completion)
            list = json_new_cstr("what is the weather");
        else
            REQUIRE(json_parse(str_from(messages), &list, NULL) == TD_OK);
        const struct request_member members[] = {
            {"first", REQUEST_OTHER, other},
            {"text", cases[i].completion ? REQUEST_PROMPT : REQUEST_MESSAGES, list},
            {"tools", REQUEST_TOOLS, other}};
        clouds(&w);
        if (cases[i].completion)
            completion(&w);
        else
            w.messages[0].content = json_text(json_get(json_at(list, 0), "content"));
        w.request.members = members;
        w.request.member_count = 3;
        world_run(&w);
        CHECK(strcmp(ledger_seen.outcomes, "openai:failed other:continued") == 0);
        CHECK(strncmp(w.tiers[OTHER].members, "first=7 text=", 13) == 0);
        CHECK(strncmp(w.tiers[OTHER].members + 13, cases[i].text, strlen(cases[i].text)) == 0);
        CHECK(strcmp(w.tiers[OTHER].members + 13 + strlen(cases[i].text), " tools=7 ") == 0);
        world_deinit(&w);
        json_free(list);
        json_free(other);
    }
}

int main(void)
{
    RUN(test_what_goes_on_is_allowed_what_is_left);
    RUN(test_what_goes_on_twice_is_allowed_what_both_have_left);
    RUN(test_what_goes_on_must_have_room_beside_what_broke_off);
    RUN(test_only_plain_text_of_one_form_goes_on);
    RUN(test_what_goes_on_is_sent_every_member_of_the_request);
    return test_finish();
}
