/* The OpenAI tier: how its options, a request's limits and the tier's health shape an attempt. What
 * an attempt does with an answer is in test_openai.c. */
#include "openai_scene.h"
#include "tier/health.h"
#include "wire_members.h"

/* What is not the same in every attempt. */
struct setup {
    struct tier_server_options options;
    struct tier_facts facts;
    struct td_request request;
    struct tier_sink sink;
};

static struct setup usual(void)
{
    static const struct td_message message = {TD_ROLE_USER, {"twelve bytes", 12}};
    return (struct setup){
        .options = {.base_url = "https://api.example.com/v1"},
        .facts = facts,
        .request = {.messages = &message, .message_count = 1},
        .sink = {.pass = &pass},
    };
}

/* One more request of the scene's tier. */
static void ask(struct scene *s, const struct setup *setup)
{
    struct tier_sink sink = setup->sink;
    sink.on_piece = on_piece;
    sink.on_done = on_done;
    sink.ctx = s;
    s->done_count = net.start_count = 0;
    memset(&s->result, 0, sizeof s->result);
    REQUIRE(tier_start(s->tier, &s->loop.loop, &setup->request, &sink, &s->attempt, NULL) == TD_OK);
}

static void begin(struct scene *s, const struct setup *setup)
{
    memset(s, 0, sizeof *s);
    memset(&net, 0, sizeof net);
    virtual_loop_init(&s->loop);
    REQUIRE(tier_openai_new(&setup->facts, &setup->options, &s->tier, NULL) == TD_OK);
    ask(s, setup);
}

static void answer(const char *text)
{
    net_headers(200, NULL);
    net_body(text);
    net_done(TD_OK, NULL);
}

static void cancel(struct scene *s)
{
    tier_cancel(s->tier, s->attempt);
    CHECK(net.running == NULL && s->loop.timer_count == 0); /* at once, outside of a callback */
    scene_end(s);
}

/* --- options --- */

static void on_probed(void *ctx, bool reached)
{
    (void)ctx, (void)reached;
}

static void test_each_option_reaches_the_request_and_the_health_check(void)
{
    char ca[] = "/etc/ca.pem", pin[] = "sha256//pin", url[] = "http://10.0.0.1:9/v1//";
    struct setup setup = usual();
    setup.options = (struct tier_server_options){.base_url = url,
                                                 .allow_http = true,
                                                 .ca_file = ca,
                                                 .pinned_key = pin,
                                                 .connect_timeout_ms = 11,
                                                 .first_timeout_ms = 22,
                                                 .idle_timeout_ms = 33,
                                                 .total_timeout_ms = 44};
    struct scene s;
    memset(&s, 0, sizeof s);
    memset(&net, 0, sizeof net);
    virtual_loop_init(&s.loop);
    REQUIRE(tier_openai_new(&setup.facts, &setup.options, &s.tier, NULL) == TD_OK);
    memset(ca, 'x', 3); /* the tier has its own */
    memset(pin, 'x', 3);
    memset(url, 'x', 3);
    ask(&s, &setup);
    const struct client_request *request = &net.running->request;
    CHECK(request->connect_timeout_ms == 11 && request->first_timeout_ms == 22);
    CHECK(request->idle_timeout_ms == 33 && request->total_timeout_ms == 44);
    CHECK(strcmp(request->ca_file, "/etc/ca.pem") == 0 && request->allow_http);
    CHECK(strcmp(request->pinned_key, "sha256//pin") == 0);
    CHECK(strcmp(net.url, "http://10.0.0.1:9/v1/chat/completions") == 0);
    CHECK(s.tier->ops->estimates);
    tier_cancel(s.tier, s.attempt);
    for (uint32_t within_ms = 0; within_ms <= 7; within_ms += 7) {
        struct tier_probe *probe =
            s.tier->ops->probe(s.tier, &s.loop.loop, within_ms, on_probed, NULL);
        REQUIRE(probe != NULL);
        request = &net.running->request;
        CHECK(strcmp(net.url, "http://10.0.0.1:9/v1/models") == 0);
        CHECK(request->connect_timeout_ms == 11);
        CHECK(request->total_timeout_ms == (within_ms ? within_ms : 22));
        CHECK(strcmp(request->ca_file, "/etc/ca.pem") == 0);
        CHECK(strcmp(request->pinned_key, "sha256//pin") == 0);
        s.tier->ops->probe_cancel(probe);
    }
    scene_end(&s);
}

static void test_a_completion_of_a_text_goes_to_its_own_address(void)
{
    const struct td_completion completion = {.text = STR("Once")};
    struct setup setup = usual();
    struct wire_members wire;
    struct scene s;
    setup.request = (struct td_request){.completion = &completion};
    wire_members_init(&wire, "{\"prompt\":\"Once\",\"max_tokens\":9}", &setup.request);
    begin(&s, &setup);
    CHECK(strcmp(net.url, "https://api.example.com/v1/completions") == 0);
    answer("data: {\"choices\":[{\"text\":\" upon\",\"finish_reason\":\"length\"}]}\n\n");
    CHECK(s.result.status == TD_OK && s.result.finish == TD_FINISH_LENGTH);
    CHECK(strcmp(s.text, " upon") == 0);
    scene_end(&s);
    wire_members_deinit(&wire);
}

/* A trace goes on at the server, with an id for each try; half of one is none. */
static void test_a_trace_is_passed_on_whole_or_not_at_all(void)
{
    static const struct {
        const char *parent, *exchange, *state;
        bool sent;
    } cases[] = {{"00-ab-cd-01", "ex_1", NULL, true},
                 {"00-ab-cd-01", "ex_1", "a=b", true},
                 {NULL, "ex_1", "a=b", false},
                 {"00-ab-cd-01", NULL, "a=b", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct egress_pass traced = {.scanned = true,
                                           .exchange = cases[i].exchange,
                                           .traceparent = cases[i].parent,
                                           .tracestate = cases[i].state,
                                           .span = "cd"};
        struct setup setup = usual();
        struct scene s;
        setup.sink.pass = &traced;
        begin(&s, &setup);
        CHECK(!strstr(net.headers, "traceparent: 00-ab-cd-01\n") == !cases[i].sent);
        CHECK(!strstr(net.headers, "X-Request-Id: ex_1-cd-0\n") == !cases[i].sent);
        CHECK(!strstr(net.headers, "tracestate: a=b\n") == !(cases[i].sent && cases[i].state));
        net_done(TD_UNAVAILABLE, NULL);
        virtual_loop_run(&s.loop, 400);
        CHECK(!strstr(net.headers, "X-Request-Id: ex_1-cd-1\n") == !cases[i].sent);
        cancel(&s);
    }
}

/* --- second tries --- */

static void test_a_second_try_comes_within_the_deadline_or_not_at_all(void)
{
    static const struct {
        uint32_t left_ms;
        const char *retry_after; /* NULL: the connection failed */
        bool once, again;
    } cases[] = {
        {0, NULL, false, true},     {0, NULL, true, false},     {150, NULL, false, false},
        {60000, NULL, false, true}, {60000, NULL, true, false}, {60000, "1", false, true},
        {900, "1", false, false},   {900, "0", false, true},    {0, "2", false, true},
        {0, "3", false, false},     {60000, "3", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup setup = usual();
        struct scene s;
        setup.sink.left_ms = cases[i].left_ms;
        setup.sink.once = cases[i].once;
        begin(&s, &setup);
        if (cases[i].retry_after)
            net_headers(503, cases[i].retry_after);
        net_done(cases[i].retry_after ? TD_OK : TD_UNAVAILABLE, NULL);
        CHECK(s.done_count == !cases[i].again);
        virtual_loop_run(&s.loop, 2000);
        CHECK(net.start_count == 1 + cases[i].again);
        if (cases[i].again)
            cancel(&s);
        else
            scene_end(&s);
    }
}

static void test_the_backoff_is_between_200_and_400_ms(void)
{
    for (int i = 0; i < 60; i++) {
        struct scene s;
        scene_start(&s);
        net_done(TD_UNAVAILABLE, NULL);
        virtual_loop_run(&s.loop, 199);
        CHECK(net.start_count == 1);
        virtual_loop_run(&s.loop, 201);
        CHECK(net.start_count == 2);
        net_done(TD_UNAVAILABLE, NULL);
        CHECK(strcmp(s.result.err.message, "the connection failed") == 0);
        scene_end(&s);
    }
}

/* --- answers --- */

static void test_only_codes_from_200_to_299_bring_an_answer(void)
{
    static const struct {
        int code;
        enum td_status status;
    } cases[] = {{199, TD_CORRUPT}, {200, TD_OK}, {201, TD_OK}, {299, TD_OK}, {300, TD_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup setup = usual();
        struct scene s;
        begin(&s, &setup);
        net_headers(cases[i].code, NULL);
        net_body(SAY("Hi") STOP);
        net_done(TD_OK, NULL);
        CHECK(s.result.status == cases[i].status && s.result.http_status == cases[i].code);
        CHECK(s.piece_count == (cases[i].status == TD_OK));
        CHECK(s.result.unbilled == (cases[i].status != TD_OK));
        scene_end(&s);
    }
}

/* What follows the first 16 KiB of a refusal is not read, and does not cost what stands in them. */
static void test_a_long_refusal_is_read_to_its_limit(void)
{
    static const char head[] = "{\"error\":{\"message\":\"too long\"";
    enum { LIMIT = 16 * 1024 };
    static char body[LIMIT + 2];
    for (int over = 0; over < 2; over++)
        for (int cuts = 1; cuts <= 3; cuts++) {
            struct setup setup = usual();
            struct scene s;
            memset(body, ' ', sizeof body);
            memcpy(body, head, sizeof head - 1);
            memcpy(body + LIMIT - 2 + over, "}}", 3);
            size_t len = strlen(body), step = len / (size_t)cuts + 1;
            begin(&s, &setup);
            net_headers(400, NULL);
            for (size_t at = 0; at < len; at += step) {
                struct td_str part = str_slice(str_from(body), at, at + step);
                net.running->request.on_body(net.running->request.ctx, part);
            }
            net_done(TD_OK, NULL);
            CHECK(strcmp(s.result.err.message, over ? "HTTP 400" : "HTTP 400: too long") == 0);
            scene_end(&s);
        }
    memset(body, ' ', sizeof body - 1); /* spaces behind it, all in one piece */
    memcpy(body, "{\"message\":\"short\"}", 19);
    struct setup setup = usual();
    struct scene s;
    begin(&s, &setup);
    net_headers(400, NULL);
    net_body(body);
    net_body(body);
    net_done(TD_OK, NULL);
    CHECK(strcmp(s.result.err.message, "HTTP 400: short") == 0);
    scene_end(&s);
}

static void test_the_first_text_has_its_time_and_later_ones_change_nothing(void)
{
    struct setup setup = usual();
    struct scene s;
    begin(&s, &setup);
    answer(SAY("Hi") STOP);
    CHECK(s.result.first_ms > 0 && s.result.first_ms <= s.result.total_ms);
    scene_end(&s);
    begin(&s, &setup);
    answer(STOP);
    CHECK(s.result.status == TD_OK && s.result.first_ms == 0 && s.result.total_ms > 0);
    scene_end(&s);
}

#define COUNTED(prompt) \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" prompt ",\"completion_tokens\":1}}\n\n"

/* Pictures may be worth more tokens than they have bytes, a text may not. */
static void test_a_usage_is_measured_by_what_was_asked(void)
{
    for (int media = 0; media < 2; media++) {
        struct setup setup = usual();
        struct scene s;
        setup.request.media.kinds = media ? 1 : 0;
        setup.request.tokens_max = 70;
        begin(&s, &setup);
        answer(SAY("Hi") STOP COUNTED("100000"));
        CHECK(s.result.usage.exact == (media == 1) && !s.result.usage.refused == (media == 1));
        CHECK(media == 0 || s.result.usage.most == 70);
        scene_end(&s);
    }
    static const struct {
        const char *usage;
        bool exact;
    } cases[] = {{"{\"prompt_tokens\":5,\"completion_tokens\":86}", true}, /* 16 over the limit */
                 {"{\"prompt_tokens\":5,\"completion_tokens\":87}", false}};
    for (size_t i = 0; i < 2; i++) {
        struct setup setup = usual();
        struct scene s;
        char text[8192], longer[3000];
        setup.request.tokens_max = 70;
        memset(longer, 'x', sizeof longer - 1);
        longer[sizeof longer - 1] = '\0';
        snprintf(text, sizeof text,
                 "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n" STOP
                 "data: {\"choices\":[],\"usage\":%s}\n\n",
                 longer, cases[i].usage);
        begin(&s, &setup);
        answer(text);
        CHECK(s.result.usage.exact == cases[i].exact);
        CHECK(s.result.usage.completion_tokens == (cases[i].exact ? 86 : (2999 + 3) / 4));
        scene_end(&s);
    }
}

#define SURE                                                                          \
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"logprobs\":{\"content\":[" \
    "{\"logprob\":-1}]}}]}\n\n"
#define CALL                                                                              \
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\"" \
    ":\"f\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"

/* What an answer teaches of log-probabilities: 1 = given, -1 = not given, 0 = nothing. */
static void test_only_what_was_asked_for_us_teaches_whether_there_are_logprobs(void)
{
    static const struct {
        bool judged, client;
        const char *text;
        int learnt;
    } cases[] = {
        {true, false, SURE STOP, 1},  {true, false, SAY("Hi") STOP, -1},
        {true, false, CALL, 0},       {true, false, STOP, 0},
        {true, false, SAY("Hi"), 0}, /* it was cut */
        {false, false, SURE STOP, 0}, {false, false, SAY("Hi") STOP, 0},
        {true, true, SURE STOP, 0},   {true, true, SAY("Hi") STOP, 0},
        {false, true, SURE STOP, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup setup = usual();
        struct scene s;
        setup.sink.judged = cases[i].judged;
        setup.request.logprobs = cases[i].client;
        begin(&s, &setup);
        answer(cases[i].text);
        CHECK(logprob_support_of_chats(&s.tier->logprobs) == cases[i].learnt);
        if (logprob_support_of_chats(&s.tier->logprobs) != cases[i].learnt)
            fprintf(stderr, "  case %zu\n", i);
        scene_end(&s);
    }
}

/* --- health --- */

static void ring(void *ctx)
{
    (void)ctx;
}

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

static enum tier_rest rest_of(struct tier_health *health)
{
    struct tier_state state = {0};
    tier_health_look(health, 0, now_ms(), &state);
    return state.rest;
}

/* Another request finds that nobody is there. */
static void find_unreached(struct tier_health *health)
{
    struct tier_ticket ticket;
    struct tier_state why;
    const struct tier_result unreached = {.status = TD_TIMEOUT, .reach = TIER_UNREACHED};
    tier_health_enter(health, 0, &(struct tier_entry){0}, now_ms(), &ticket, &why);
    tier_health_leave(health, 0, &ticket, &unreached, now_ms());
}

/* A health check finds that it takes connections and does not answer. */
static void find_mute(struct tier_health *health)
{
    tier_health_is_mute(health, 0, 0, true, now_ms() + 60000);
    tier_health_probed(health, 0, false, now_ms());
    CHECK(rest_of(health) == REST_UNREACHED);
}

static struct setup with_health(struct tier_health **health)
{
    struct setup setup = usual();
    *health = tier_health_new(1, ring, NULL);
    if (!*health)
        abort();
    setup.options.health = *health;
    return setup;
}

static void test_one_that_connects_leaves_when_others_found_nobody_there(void)
{
    struct tier_health *health;
    struct setup setup = with_health(&health);
    struct scene s;
    setup.sink.elsewhere = true;
    begin(&s, &setup);
    virtual_loop_run(&s.loop, 500);
    CHECK(s.done_count == 0);
    find_unreached(health);
    virtual_loop_run(&s.loop, 25);
    CHECK(s.done_count == 1 && s.result.status == TD_UNAVAILABLE && net.cancel_count == 1);
    CHECK(s.result.reach == TIER_NOT_AWAITED && s.result.unbilled);
    scene_end(&s);
    tier_health_free(health);
}

static void test_a_connection_ends_the_rest_of_a_tier_that_was_not_reached(void)
{
    struct tier_health *health;
    struct setup setup = with_health(&health);
    struct scene s;
    begin(&s, &setup);
    find_unreached(health);
    CHECK(rest_of(health) == REST_UNREACHED);
    net_connected();
    CHECK(rest_of(health) == REST_NONE);
    cancel(&s);
    tier_health_free(health);
}

/* Each connection was quick, so the next one need not be waited for as long as is configured. */
static void test_the_time_that_connections_took_bounds_the_next(void)
{
    struct tier_health *health;
    struct setup setup = with_health(&health);
    for (int i = 0; i < 6; i++) {
        struct scene s;
        begin(&s, &setup);
        CHECK(net.running->request.connect_timeout_ms == (i < 5 ? 5000 : 1500));
        answer(SAY("Hi") STOP);
        CHECK(s.result.status == TD_OK);
        scene_end(&s);
    }
    tier_health_free(health);
}

/* Health counts who is waiting for a connection: whoever is not any more is not counted. */
static void test_those_that_ended_do_not_go_on_connecting(void)
{
    struct tier_health *health;
    struct setup setup = with_health(&health);
    for (int i = 0; i < 8; i++) {
        struct scene s;
        begin(&s, &setup);
        if (i % 2)
            cancel(&s);
        else {
            net.unconnected = true;
            net_done(TD_UNAVAILABLE, "refused");
            CHECK(s.done_count == 1);
            scene_end(&s);
        }
    }
    uint64_t now = now_ms();
    CHECK(!tier_health_gives_up(health, 0, now, true, now + 100000));
    struct scene s;
    begin(&s, &setup);
    for (int i = 0; i < 3; i++) /* these do, and it is a black hole to them and to it */
        tier_health_connecting(health, 0, now + 100000);
    CHECK(tier_health_gives_up(health, 0, now, true, now + 200000));
    cancel(&s);
    tier_health_free(health);
}

/* A server nearby may have a single thread, so its silence means nothing. */
static void test_silence_is_given_up_where_a_health_check_was_not_answered_either(void)
{
    static const struct {
        enum td_place place;
        bool elsewhere, ends;
    } cases[] = {{TD_PLACE_CLOUD, true, true},
                 {TD_PLACE_REGION, true, true},
                 {TD_PLACE_CLOUD, false, false},
                 {TD_PLACE_PREMISES, true, false},
                 {TD_PLACE_DEVICE, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_health *health;
        struct setup setup = with_health(&health);
        struct scene s;
        setup.options.base_url = "http://127.0.0.1:9/v1";
        setup.facts.place = cases[i].place;
        setup.sink.elsewhere = cases[i].elsewhere;
        begin(&s, &setup);
        net_connected();
        virtual_loop_run(&s.loop, 1000);
        CHECK(s.done_count == 0);
        find_mute(health);
        virtual_loop_run(&s.loop, 250);
        CHECK(s.done_count == cases[i].ends);
        if (cases[i].ends) {
            CHECK(s.result.status == TD_TIMEOUT && s.result.reach == TIER_REACHED);
            CHECK(!s.result.unbilled && net.cancel_count == 1);
            scene_end(&s);
        } else
            cancel(&s);
        tier_health_free(health);
    }
}

static void test_an_answer_that_began_ends_the_rest_and_is_not_given_up(void)
{
    struct tier_health *health;
    struct setup setup = with_health(&health);
    struct scene s;
    setup.sink.elsewhere = true;
    begin(&s, &setup);
    net_connected();
    find_mute(health);
    net_headers(200, NULL);
    CHECK(rest_of(health) == REST_NONE);
    find_mute(health); /* of another request */
    virtual_loop_run(&s.loop, 5000);
    CHECK(s.done_count == 0);
    net_body(SAY("Hi") STOP);
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_OK && strcmp(s.text, "Hi") == 0);
    scene_end(&s);
    tier_health_free(health);
}

int main(void)
{
    RUN(test_each_option_reaches_the_request_and_the_health_check);
    RUN(test_a_completion_of_a_text_goes_to_its_own_address);
    RUN(test_a_trace_is_passed_on_whole_or_not_at_all);
    RUN(test_a_second_try_comes_within_the_deadline_or_not_at_all);
    RUN(test_the_backoff_is_between_200_and_400_ms);
    RUN(test_only_codes_from_200_to_299_bring_an_answer);
    RUN(test_a_long_refusal_is_read_to_its_limit);
    RUN(test_the_first_text_has_its_time_and_later_ones_change_nothing);
    RUN(test_a_usage_is_measured_by_what_was_asked);
    RUN(test_only_what_was_asked_for_us_teaches_whether_there_are_logprobs);
    RUN(test_one_that_connects_leaves_when_others_found_nobody_there);
    RUN(test_a_connection_ends_the_rest_of_a_tier_that_was_not_reached);
    RUN(test_the_time_that_connections_took_bounds_the_next);
    RUN(test_those_that_ended_do_not_go_on_connecting);
    RUN(test_silence_is_given_up_where_a_health_check_was_not_answered_either);
    RUN(test_an_answer_that_began_ends_the_rest_and_is_not_given_up);
    return test_finish();
}
