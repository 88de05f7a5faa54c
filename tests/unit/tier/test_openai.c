/* The OpenAI tier: what is sent, repeated, given up, cancelled. */
#include "openai_scene.h"

static void test_a_request_goes_out_as_openai_expects(void)
{
    struct scene s;
    scene_start(&s);
    CHECK(strcmp(net.url, "https://api.example.com/v1/chat/completions") == 0);
    CHECK(strstr(net.headers, "Authorization: Bearer sk-secret\n"));
    CHECK(strstr(net.headers, "Content-Type: application/json\n"));
    CHECK(strstr(net.body, "\"stream\":true") && strstr(net.body, "\"model\":\"gpt-x\""));
    CHECK(!strstr(net.body, "sk-secret"));
    const struct client_request *request = &net.running->request;
    CHECK(request->connect_timeout_ms == 5000 && request->first_timeout_ms == 600000 &&
          request->idle_timeout_ms == 300000 && request->response_bytes_max > 0);
    CHECK(request->discreet && request->notes_progress);
    tier_cancel(s.tier, s.attempt);
    CHECK(net.cancel_count == 1);
    scene_end(&s);
}

static void test_a_padded_body_is_a_multiple_with_spaces_behind_it(void)
{
    static const uint32_t multiples[] = {0, 1, 7, 256, 1024};
    char plain[sizeof net.body] = "";
    for (size_t i = 0; i < sizeof multiples / sizeof *multiples; i++) {
        struct scene s;
        pad_bytes = multiples[i];
        scene_start(&s);
        struct td_str body = net.running->request.body;
        if (i == 0)
            snprintf(plain, sizeof plain, "%s", net.body);
        size_t len = strlen(plain);
        CHECK(strncmp(net.body, plain, len) == 0 && plain[len - 1] == '}');
        CHECK(strspn(net.body + len, " ") == body.len - len);
        CHECK(multiples[i] == 0 || (body.len % multiples[i] == 0 && body.len < len + multiples[i]));
        uint64_t sent = body.len;
        CHECK(tier_egress_bytes(s.tier, s.attempt) == sent); /* what was sent is counted */
        tier_cancel(s.tier, s.attempt);
        scene_end(&s);
    }
    pad_bytes = 0;
}

static void test_an_answer_streams_and_ends(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hel"));
    CHECK(strcmp(s.text, "Hel") == 0);
    net_body(SAY("lo") STOP
             "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n"
             "data: [DONE]\n\n");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_OK && strcmp(s.text, "Hello") == 0);
    CHECK(s.result.usage.exact && s.result.usage.prompt_tokens == 5 && s.result.http_status == 200);
    CHECK(s.result.egress_bytes == strlen(net.body) && s.result.retry_count == 0);
    scene_end(&s);
}

static void test_a_peer_that_does_not_close_after_done_is_not_waited_for(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hi") STOP "data: [DONE]\n\n");
    CHECK(s.done_count == 0);
    virtual_loop_run(&s.loop, 100);
    CHECK(s.done_count == 1 && s.result.status == TD_OK && net.cancel_count == 1);
    scene_end(&s);
}

static void test_usage_is_estimated_and_said_so(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("12345678") STOP);
    net_done(TD_OK, NULL);
    CHECK(!s.result.usage.exact && s.result.usage.prompt_tokens == 12 / 4 + 4);
    CHECK(s.result.usage.completion_tokens == 2);
    scene_end(&s);
}

static void test_a_whole_answer_may_come_instead_of_a_stream(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body("{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}");
    CHECK(s.piece_count == 0);
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_OK && strcmp(s.text, "whole") == 0);
    scene_end(&s);
}

static void test_one_retry_after_a_backoff(void)
{
    struct scene s;
    scene_start(&s);
    net_done(TD_UNAVAILABLE, "connection refused");
    CHECK(s.done_count == 0 && net.running == NULL);
    virtual_loop_run(&s.loop, 199);
    CHECK(net.start_count == 1);
    virtual_loop_run(&s.loop, 202);
    CHECK(net.start_count == 2);
    net_headers(503, NULL);
    net_body("{\"error\":{\"message\":\"starting up\"}}");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_UNAVAILABLE && s.result.retry_count == 1);
    CHECK(s.result.http_status == 503 && strstr(s.result.err.message, "starting up"));
    CHECK(s.result.egress_bytes == 2 * strlen(net.body));
    scene_end(&s);
}

static void test_a_server_that_is_not_there_is_not_asked_again(void)
{
    struct scene s;
    scene_start(&s);
    net.unconnected = true;
    net_done(TD_UNAVAILABLE, "connection refused");
    CHECK(s.done_count == 1 && s.result.retry_count == 0 && net.start_count == 1);
    CHECK(s.result.reach == TIER_UNREACHED);
    scene_end(&s);
}

static void test_a_hedge_is_not_repeated(void)
{
    static const struct egress_pass hedge = {
        .purpose = EGRESS_HEDGE, .scanned = true, .exchange = "ex_1"};
    struct scene s;
    scene_start_with(&s, &hedge);
    net_done(TD_UNAVAILABLE, "connection refused");
    CHECK(s.done_count == 1 && s.result.retry_count == 0 && net.start_count == 1);
    scene_end(&s);
}

static void test_a_retry_can_mend(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(500, NULL);
    net_body("oops");
    net_done(TD_OK, NULL);
    virtual_loop_run(&s.loop, 500);
    net_headers(200, NULL);
    net_body(SAY("ok") STOP);
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_OK && strcmp(s.text, "ok") == 0);
    scene_end(&s);
}

/* Whatever the first try ended with, the result is the second one's: nothing of the first is left
 * in it. */
static void test_what_a_second_try_ends_with_is_its_own(void)
{
    static const struct ending {
        int http; /* 0: no answer comes */
        const char *retry_after, *body, *lost;
        enum td_status ends, status;
        uint64_t retry_after_ms;
        const char *says;
    } endings[] = {
        {503, "1", "{\"error\":{\"message\":\"loading\"}}", NULL, TD_OK, TD_UNAVAILABLE, 1000,
         "HTTP 503: loading"},
        {429, "2", "{\"error\":{\"message\":\"slower\"}}", NULL, TD_OK, TD_BUSY, 2000,
         "HTTP 429: slower"},
        {500, NULL, "no JSON", NULL, TD_OK, TD_UNAVAILABLE, 0, "HTTP 500"},
        {0, NULL, NULL, "connection reset", TD_UNAVAILABLE, TD_UNAVAILABLE, 0, "connection reset"},
        {0, NULL, NULL, "no answer", TD_TIMEOUT, TD_TIMEOUT, 0, "no answer"},
        {400, NULL, "{\"error\":\"wrong\"}", NULL, TD_OK, TD_INVALID, 0, "HTTP 400: wrong"},
        {200, NULL, SAY("fine") STOP, NULL, TD_OK, TD_OK, 0, ""},
    };
    enum { ENDINGS = sizeof endings / sizeof *endings, RETRIED = 4 };
    for (int first = 0; first < RETRIED; first++)
        for (int second = 0; second < ENDINGS; second++) {
            const struct ending *tries[] = {&endings[first], &endings[second]};
            struct scene s;
            scene_start(&s);
            for (int t = 0; t < 2; t++) {
                REQUIRE(net.running != NULL);
                if (tries[t]->http)
                    net_headers(tries[t]->http, tries[t]->retry_after);
                if (tries[t]->body)
                    net_body(tries[t]->body);
                net_done(tries[t]->ends, tries[t]->lost);
                virtual_loop_run(&s.loop, t == 0 ? 2000 : 0);
            }
            const struct ending *last = tries[1];
            CHECK(s.done_count == 1 && s.result.retry_count == 1);
            CHECK(s.result.status == last->status && s.result.http_status == last->http);
            CHECK(s.result.retry_after_ms == last->retry_after_ms);
            CHECK(strcmp(s.result.err.message, last->says) == 0);
            scene_end(&s);
        }
}

static void test_retry_after_is_honoured_up_to_two_seconds(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(429, "2");
    net_done(TD_OK, NULL);
    virtual_loop_run(&s.loop, 1999);
    CHECK(net.start_count == 1);
    virtual_loop_run(&s.loop, 1);
    CHECK(net.start_count == 2);
    net_headers(429, NULL);
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_BUSY);
    scene_end(&s);

    scene_start(&s);
    net_headers(429, "3");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_BUSY && s.result.retry_count == 0);
    scene_end(&s);
}

static void test_refusals_that_a_retry_cannot_mend_are_not_retried(void)
{
    static const struct {
        int code;
        enum td_status status;
    } cases[] = {{400, TD_INVALID}, {401, TD_DENIED}, {404, TD_NOT_FOUND}, {408, TD_TIMEOUT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_start(&s);
        net_headers(cases[i].code, NULL);
        net_done(TD_OK, NULL);
        CHECK(s.done_count == 1 && s.result.status == cases[i].status && net.start_count == 1);
        scene_end(&s);
    }
    struct scene s;
    scene_start(&s);
    net_done(TD_TIMEOUT, "no first byte within 20000 ms");
    CHECK(s.done_count == 1 && s.result.status == TD_TIMEOUT && net.start_count == 1);
    scene_end(&s);
}

#define PROBABLE(text)                                    \
    "data: {\"choices\":[{\"delta\":{\"content\":\"" text \
    "\"},\"logprobs\":{\"content\":[{\"logprob\":-1}]}}]}\n\n"

/* One more request of the same tier. */
static void scene_again(struct scene *scene)
{
    static const struct td_message message = {TD_ROLE_USER, {"twelve bytes", 12}};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = scene, .judged = judged, .pass = &pass};
    memset(&scene->result, 0, sizeof scene->result);
    scene->done_count = net.start_count = 0;
    CHECK(tier_start(scene->tier, &scene->loop.loop, &request, &sink, &scene->attempt, NULL) ==
          TD_OK);
}

static void refuse_once(struct scene *scene, int code, const char *body)
{
    CHECK(strstr(net.body, "\"logprobs\":true"));
    net_headers(code, NULL);
    net_body(body);
    net_done(TD_OK, NULL);
    virtual_loop_run(&scene->loop, 0);
}

static void test_a_server_that_refuses_logprobs_is_asked_without_them_and_remembered(void)
{
    static const struct {
        int code;
        const char *body;
    } cases[] = {{400, "{\"error\":{\"message\":\"no logprobs here\"}}"},
                 {500, "Logprobs with tools"},
                 {422, "{}"}};
    judged = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_start(&s);
        refuse_once(&s, cases[i].code, cases[i].body);
        CHECK(s.done_count == 0 && net.start_count == 2 && !strstr(net.body, "logprobs"));
        net_headers(200, NULL);
        net_body(SAY("Hi") STOP);
        net_done(TD_OK, NULL);
        CHECK(s.result.status == TD_OK && s.result.retry_count == 1);
        scene_again(&s);
        CHECK(!strstr(net.body, "logprobs") && logprob_support_of_chats(&s.tier->logprobs) == -1);
        tier_cancel(s.tier, s.attempt);
        scene_end(&s);
    }
    judged = false;
}

static void test_a_refusal_that_stays_teaches_nothing(void)
{
    struct scene s;
    judged = true;
    scene_start(&s);
    refuse_once(&s, 400, "{}");
    net_headers(400, NULL);
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_INVALID && s.result.retry_count == 1);
    scene_again(&s);
    CHECK(strstr(net.body, "logprobs"));
    net_headers(200, NULL);
    net_body(PROBABLE("Hi"));
    tier_cancel(s.tier, s.attempt); /* a gate has seen enough */
    CHECK(logprob_support_of_chats(&s.tier->logprobs) == 1);
    scene_again(&s);
    net_headers(400, NULL);
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && net.start_count == 1); /* it gives them: something else is wrong */
    scene_end(&s);
    judged = false;
}

static void test_an_error_in_the_stream_may_be_the_refusal(void)
{
    struct scene s;
    judged = true;
    scene_start(&s);
    net_headers(200, NULL);
    net_body("data: {\"error\":{\"message\":\"logprobs not built\",\"code\":400}}\n\n");
    virtual_loop_run(&s.loop, 0);
    CHECK(s.done_count == 0 && net.start_count == 2 && !strstr(net.body, "logprobs"));
    net_headers(200, NULL);
    net_body(SAY("Hi") STOP);
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_OK && strcmp(s.text, "Hi") == 0);
    scene_end(&s);
    judged = false;
}

static void test_a_server_without_logprobs_is_asked_again_after_an_hour(void)
{
    struct logprob_support support = {0}, copy = {0};
    const uint64_t hour = 3600 * 1000;
    CHECK(logprob_support_ask(&support, LOGPROB_CHAT, 5) && !logprob_support_of_chats(&support));
    logprob_support_learn(&support, LOGPROB_CHAT, false, 5);
    CHECK(!logprob_support_ask(&support, LOGPROB_CHAT, 4 + hour));
    CHECK(logprob_support_ask(&support, LOGPROB_TOOLS, 5));
    logprob_support_copy(&copy, &support);
    CHECK(!logprob_support_ask(&copy, LOGPROB_CHAT, 4 + hour));
    CHECK(logprob_support_ask(&support, LOGPROB_CHAT, 5 + hour));
    logprob_support_learn(&support, LOGPROB_CHAT, true, 0);
    CHECK(logprob_support_known(&support, LOGPROB_CHAT) && logprob_support_of_chats(&support) == 1);
}

static void test_a_key_that_the_peer_repeats_is_hidden(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(401, NULL);
    net_body("{\"error\":{\"message\":\"no key sk-secret! (Bearer sk-secret)\"}}");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_DENIED);
    CHECK(strcmp(s.result.err.message, "HTTP 401: no key *********! (Bearer *********)") == 0);
    scene_end(&s);

    char body[512]; /* the message is cut after 239 bytes, inside the key */
    snprintf(body, sizeof body, "{\"error\":{\"message\":\"%231ssk-secret\"}}", "");
    scene_start(&s);
    net_headers(401, NULL);
    net_body(body);
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && strstr(s.result.err.message, "sk-") == NULL);
    scene_end(&s);
}

static void test_what_never_came_or_was_refused_is_not_billed(void)
{
    static const struct {
        int code;
        enum td_status status;
        bool unconnected, unbilled;
    } cases[] = {
        {0, TD_TIMEOUT, true, true},   /* no connection */
        {0, TD_TIMEOUT, false, false}, /* it may have been working on it */
        {400, TD_OK, false, true},       {401, TD_OK, false, true},
        {200, TD_TIMEOUT, false, false}, /* the answer stopped */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_start(&s);
        net.unconnected = cases[i].unconnected;
        net_connected();
        CHECK(tier_is_unbilled(s.tier, s.attempt) == cases[i].unconnected);
        if (cases[i].code)
            net_headers(cases[i].code, NULL);
        net_done(cases[i].status, "late");
        CHECK(s.done_count == 1 && s.result.unbilled == cases[i].unbilled);
        CHECK((s.result.usage.prompt_tokens == 0) == cases[i].unbilled && !s.result.usage.exact);
        net.unconnected = false;
        scene_end(&s);
    }
}

static void test_a_text_of_no_tokens_is_estimated(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hello you") STOP "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,"
                                   "\"completion_tokens\":0}}\n\n");
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_OK && !s.result.usage.exact && s.result.usage.refused);
    CHECK(s.result.usage.completion_tokens == 3);
    scene_end(&s);
}

static void test_comments_are_no_progress_and_refusals_are_none_either(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(": still here\n\n");
    net_body("data: {\"choices\":[]}\n\n");
    CHECK(net.progress_count == 0);
    net_body(SAY("Hello"));
    net_body(": still here\n\n");
    CHECK(net.progress_count == 1);
    net_body(STOP);
    CHECK(net.progress_count == 2);
    net_done(TD_OK, NULL);
    scene_end(&s);
    scene_start(&s);
    net_headers(400, NULL);
    net_body("{\"error\":");
    CHECK(net.progress_count == 0);
    net_done(TD_OK, NULL);
    scene_end(&s);
}

static void test_an_answer_that_is_too_large_says_nothing_of_the_tier(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_done(TD_LIMIT, "the answer is larger");
    CHECK(s.result.status == TD_CORRUPT && s.result.own_fault);
    scene_end(&s);
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("a\\u0000"));
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_CORRUPT && s.result.own_fault);
    scene_end(&s);
    scene_start(&s);
    net_headers(200, NULL);
    net_body("data: <html>\n\n");
    net_done(TD_OK, NULL);
    CHECK(s.result.status == TD_CORRUPT && !s.result.own_fault);
    scene_end(&s);
}

static void test_the_servers_name_is_hidden_in_its_message(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(400, NULL);
    net_body("{\"error\":{\"message\":\"ask https://api.example.com/help of example.com\"}}");
    net_done(TD_OK, NULL);
    CHECK(strcmp(s.result.err.message,
                 "HTTP 400: ask https://***************/help of example.com") == 0);
    scene_end(&s);
}

static void test_nothing_is_repeated_once_text_was_passed_on(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hel"));
    net_done(TD_UNAVAILABLE, "connection reset");
    CHECK(s.done_count == 1 && s.result.status == TD_UNAVAILABLE && net.start_count == 1);
    CHECK(s.result.usage.prompt_tokens > 0); /* the peer will charge for it */
    scene_end(&s);
}

static void test_a_cut_stream_is_corrupt_and_a_cut_after_the_end_is_not(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hel"));
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 1 && s.result.status == TD_CORRUPT &&
          strstr(s.result.err.message, "cut"));
    scene_end(&s);
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hel") STOP);
    net_done(TD_UNAVAILABLE, "connection reset");
    CHECK(s.done_count == 1 && s.result.status == TD_OK);
    scene_end(&s);
}

static void test_garbage_ends_the_attempt_and_the_transfer(void)
{
    struct scene s;
    scene_start(&s);
    net_headers(200, NULL);
    net_body(SAY("Hel") "data: {garbage\n\n");
    net_body(SAY("ignored"));
    CHECK(s.done_count == 0); /* not inside the client's callback */
    virtual_loop_run(&s.loop, 1);
    CHECK(s.done_count == 1 && s.result.status == TD_CORRUPT && net.cancel_count == 1);
    CHECK(strcmp(s.text, "Hel") == 0);
    scene_end(&s);
}

static void test_cancel_from_inside_a_piece_is_silent_and_safe(void)
{
    struct scene s;
    scene_start(&s);
    s.cancel_at_piece = 1;
    net_headers(200, NULL);
    net_body(SAY("a") SAY("b") SAY("c")); /* more in the same packet */
    net_body(SAY("d"));
    CHECK(s.piece_count == 1);
    virtual_loop_run(&s.loop, 1);
    CHECK(net.cancel_count == 1 && s.done_count == 0);
    scene_end(&s);

    scene_start(&s); /* the transfer ends before the loop's next turn */
    s.cancel_at_piece = 1;
    net_headers(200, NULL);
    net_body(SAY("a") STOP "data: [DONE]\n\n");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 0);
    scene_end(&s);

    scene_start(&s); /* an answer that is not streamed */
    s.cancel_at_piece = 1;
    net_headers(200, NULL);
    net_body("{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}");
    net_done(TD_OK, NULL);
    CHECK(s.done_count == 0 && s.piece_count == 1);
    scene_end(&s);
}

static void test_cancel_while_waiting_to_retry(void)
{
    struct scene s;
    scene_start(&s);
    net_done(TD_UNAVAILABLE, "connection refused");
    CHECK(tier_egress_bytes(s.tier, s.attempt) == strlen(net.body));
    tier_cancel(s.tier, s.attempt);
    virtual_loop_run(&s.loop, 5000);
    CHECK(net.start_count == 1 && s.done_count == 0);
    scene_end(&s);
}

static void test_a_start_that_fails_leaves_nothing_behind(void)
{
    struct scene s;
    scene_start(&s);
    tier_cancel(s.tier, s.attempt);
    net.refuse = true;
    static const struct td_message message = {TD_ROLE_USER, {"hi", 2}};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = &s, .pass = &pass};
    CHECK(tier_start(s.tier, &s.loop.loop, &request, &sink, &s.attempt, NULL) == TD_NO_MEMORY);
    scene_end(&s);
}

static void test_a_key_is_optional_and_may_not_write_headers(void)
{
    struct tier *tier = NULL;
    struct td_error err = {0};
    struct secret *bad = secret_new(STR("sk\r\nX-Evil: 1"));
    struct tier_server_options options = {.base_url = "http://127.0.0.1:9/v1", .api_key = bad};
    CHECK(tier_openai_new(&facts, &options, &tier, &err) == TD_INVALID &&
          !strstr(err.message, "Evil"));
    secret_free(bad);
    options.api_key = NULL;
    REQUIRE(tier_openai_new(&facts, &options, &tier, NULL) == TD_OK);
    struct scene s;
    memset(&s, 0, sizeof s);
    memset(&net, 0, sizeof net);
    virtual_loop_init(&s.loop);
    static const struct td_message message = {TD_ROLE_USER, {"hi", 2}};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = &s, .pass = &pass};
    CHECK(tier_start(tier, &s.loop.loop, &request, &sink, &s.attempt, NULL) == TD_OK);
    CHECK(!strstr(net.headers, "Authorization"));
    tier_cancel(tier, s.attempt);
    tier_free(tier);
    options.base_url = "http://example.com/v1";
    CHECK(tier_openai_new(&facts, &options, &tier, NULL) == TD_INVALID);
}

int main(void)
{
    RUN(test_a_request_goes_out_as_openai_expects);
    RUN(test_a_padded_body_is_a_multiple_with_spaces_behind_it);
    RUN(test_an_answer_streams_and_ends);
    RUN(test_a_peer_that_does_not_close_after_done_is_not_waited_for);
    RUN(test_usage_is_estimated_and_said_so);
    RUN(test_a_whole_answer_may_come_instead_of_a_stream);
    RUN(test_one_retry_after_a_backoff);
    RUN(test_a_server_that_is_not_there_is_not_asked_again);
    RUN(test_a_hedge_is_not_repeated);
    RUN(test_a_retry_can_mend);
    RUN(test_what_a_second_try_ends_with_is_its_own);
    RUN(test_retry_after_is_honoured_up_to_two_seconds);
    RUN(test_refusals_that_a_retry_cannot_mend_are_not_retried);
    RUN(test_a_server_that_refuses_logprobs_is_asked_without_them_and_remembered);
    RUN(test_a_refusal_that_stays_teaches_nothing);
    RUN(test_an_error_in_the_stream_may_be_the_refusal);
    RUN(test_a_server_without_logprobs_is_asked_again_after_an_hour);
    RUN(test_a_key_that_the_peer_repeats_is_hidden);
    RUN(test_what_never_came_or_was_refused_is_not_billed);
    RUN(test_a_text_of_no_tokens_is_estimated);
    RUN(test_comments_are_no_progress_and_refusals_are_none_either);
    RUN(test_an_answer_that_is_too_large_says_nothing_of_the_tier);
    RUN(test_the_servers_name_is_hidden_in_its_message);
    RUN(test_nothing_is_repeated_once_text_was_passed_on);
    RUN(test_a_cut_stream_is_corrupt_and_a_cut_after_the_end_is_not);
    RUN(test_garbage_ends_the_attempt_and_the_transfer);
    RUN(test_cancel_from_inside_a_piece_is_silent_and_safe);
    RUN(test_cancel_while_waiting_to_retry);
    RUN(test_a_start_that_fails_leaves_nothing_behind);
    RUN(test_a_key_is_optional_and_may_not_write_headers);
    return test_finish();
}
