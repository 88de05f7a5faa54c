/* The handlers of /v1/messages and /v1/responses: how their streams end, and refusals in the shape
 * that their clients read. */
#include "handler_fixture.h"

#define MESSAGES "/v1/messages"
#define RESPONSES "/v1/responses"

static void test_the_other_dialects_end_their_streams_as_they_do(void)
{
    static const struct {
        const char *path, *body, *done, *failed;
    } rows[] = {
        {MESSAGES, "{\"max_tokens\":9," USER ",\"stream\":true}", "event: message_stop\n",
         "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\""},
        {RESPONSES, "{\"input\":\"hi\",\"stream\":true}", "event: response.completed\n",
         "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":"},
    };
    static const enum course bad[] = {COURSE_FAIL_AFTER_TEXT, COURSE_HUGE};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scripted.course = COURSE_ANSWER;
        CHECK(ask("POST", rows[i].path, "", rows[i].body) == 200);
        CHECK(has("text/event-stream") && has("x-tandem-tier: cloud\r\n") && has(rows[i].done));
        CHECK(!has(rows[i].failed) && !has("[DONE]"));
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            scripted.course = bad[b];
            CHECK(ask("POST", rows[i].path, "", rows[i].body) == 200);
            CHECK(has("Hello") && has(rows[i].failed) && !has(rows[i].done) && !has("[DONE]"));
            clear_health();
        }
    }
    CHECK(becomes(&held, 0, 5000));
}

static void test_refusals_of_messages_have_anthropics_shape_before_any_handler_too(void)
{
    scripted.course = COURSE_ANSWER;
    CHECK(ask("POST", MESSAGES, "", "{" USER "}") == 400);
    CHECK(has("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\""));
    CHECK(has("\"param\":\"max_tokens\"") && has("\r\nrequest-id: req_"));
    CHECK(ask("GET", MESSAGES, "", "") == 405 && has("{\"type\":\"error\""));
    CHECK(ask("POST", MESSAGES "/batches", "", "{}") == 404 && has("\"not_found_error\""));
    host.auth = auth_with("secret");
    CHECK(ask("POST", MESSAGES, "", "{" USER "}") == 401 && has("\"authentication_error\""));
    CHECK(ask("POST", MESSAGES, "x-api-key: secret\r\n", "{\"max_tokens\":9," USER "}") == 200);
    CHECK(has("\"stop_reason\":\"end_turn\"") && has("\"text\":\"Hello, world\""));
    auth_free(host.auth);
    host.auth = NULL;
    CHECK(ask("POST", MESSAGES "/count_tokens", "", "{" USER "}") == 200);
    CHECK(has("\r\n\r\n{\"input_tokens\":4}"));
    CHECK(ask("POST", RESPONSES, "", "{}") == 400 && has("{\"error\":{\"message\":"));
    CHECK(becomes(&held, 0, 5000));
}

int main(void)
{
    if (!process_start())
        return 1;
    RUN(test_the_other_dialects_end_their_streams_as_they_do);
    RUN(test_refusals_of_messages_have_anthropics_shape_before_any_handler_too);
    process_stop();
    return test_finish();
}
