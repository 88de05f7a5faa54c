/* What servers mean by refusing a request, and what of it goes on to the client. */
#include "test.h"

#include "base/core/str.h"
#include "tier/openai/openai_refusal.h"

#include <stdio.h>
#include <string.h>

static struct tier_refusal read_refusal(int http, const char *text)
{
    struct tier_refusal refusal;
    struct json *root = NULL;
    if (json_parse(str_from(text), &root, NULL) != TD_OK)
        root = NULL;
    openai_refusal_read(http, root, &refusal);
    json_free(root);
    return refusal;
}

static void test_codes_are_those_that_clients_know(void)
{
    static const struct {
        int http;
        const char *text, *code;
        int means;
        bool of_request;
    } cases[] = {
        {400, "{\"error\":{\"code\":\"context_length_exceeded\"}}", "context_length_exceeded", 400,
         false},
        {400, "{\"error\":{\"type\":\"exceed_context_size_error\"}}", "context_length_exceeded",
         400, false},
        {400, "{\"error\":{\"message\":\"the Context Length is 9\"}}", "context_length_exceeded",
         400, false},
        {429, "{\"error\":{\"code\":\"insufficient_quota\"}}", "insufficient_quota", 429, false},
        {429, "{}", "rate_limit_exceeded", 429, false},
        {400, "{\"error\":{\"code\":\"content_filter\"}}", "content_filter", 400, true},
        {403, "{\"error\":{\"code\":\"content_policy_violation\"}}", "content_policy_violation",
         403, true},
        {404, "{\"error\":{\"code\":\"model_not_found\"}}", NULL, 404, false},
        {400, "{\"error\":{\"code\":\"sk-secret\",\"message\":\"bad\"}}", NULL, 400, true},
        {400, "{\"error\":\"tools are not supported\"}", NULL, 400, false},
        {422, "{\"detail\":\"Extra inputs are not permitted\"}", NULL, 422, false},
        {400, "", NULL, 400, true},
        {400, "[]", NULL, 400, true},
        {500, "{\"error\":{\"code\":\"invalid_value\"}}", "invalid_value", 500, false},
        {0, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}", "rate_limit_exceeded", 429, false},
        {0, "{\"error\":{\"code\":502}}", NULL, 502, false},
        {0, "{\"error\":{\"code\":42}}", NULL, 500, false},
        {0, "{}", NULL, 500, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_refusal got = read_refusal(cases[i].http, cases[i].text);
        bool same = got.http == cases[i].means && got.of_request == cases[i].of_request &&
                    (cases[i].code ? got.code && strcmp(got.code, cases[i].code) == 0 : !got.code);
        CHECK(same);
        if (!same)
            fprintf(stderr, "%s: %d %s %d\n", cases[i].text, got.http, got.code ? got.code : "-",
                    got.of_request);
    }
}

static void test_a_member_is_told_where_it_is_one_of_a_request(void)
{
    static const struct {
        const char *param, *told;
    } cases[] = {
        {"temperature", "temperature"},
        {"messages[1].content[0].text", "messages[1].content[0].text"},
        {"messages.1.content", "messages.1.content"},
        {"tools[0].function.parameters", "tools[0].function.parameters"},
        {"metadata", "metadata"},
        {"service_tier", "service_tier"},
        {"model", ""},
        {"stream_options", ""},
        {"messages[1].10.0.0.7.host", ""},
        {"7", ""},
        {"messages[1234567]", ""},
        {"sk-secret", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        snprintf(text, sizeof text, "{\"error\":{\"param\":\"%s\"}}", cases[i].param);
        struct tier_refusal got = read_refusal(400, text);
        CHECK(strcmp(got.param, cases[i].told) == 0);
        if (strcmp(got.param, cases[i].told) != 0)
            fprintf(stderr, "%s: %s\n", cases[i].param, got.param);
    }
    char text[1000] = "{\"error\":{\"param\":\"messages";
    for (size_t i = 0; i < 100; i++)
        strcat(text, "[1]");
    strcat(text, "\"}}");
    CHECK(read_refusal(400, text).param[0] == '\0');
}

static void test_a_spent_quota_does_not_pass(void)
{
    struct tier_refusal none = {0}, spent = {.code = "insufficient_quota"};
    CHECK(openai_refusal_passes(&none, TD_BUSY) && openai_refusal_passes(&none, TD_UNAVAILABLE));
    CHECK(!openai_refusal_passes(&spent, TD_BUSY) && !openai_refusal_passes(&none, TD_DENIED));
    CHECK(openai_refusal_passes(&spent, TD_UNAVAILABLE));
}

int main(void)
{
    RUN(test_codes_are_those_that_clients_know);
    RUN(test_a_member_is_told_where_it_is_one_of_a_request);
    RUN(test_a_spent_quota_does_not_pass);
    return test_finish();
}
