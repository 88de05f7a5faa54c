/* What a server refuses of what nobody asked it for is left out, and that is kept for an hour. */
#include "test.h"

#include "base/core/str.h"
#include "tier/openai/openai_extras.h"

#define ALL (EXTRA_LOGPROBS | EXTRA_USAGE | EXTRA_STREAM | EXTRA_HINTS)
#define HOUR_MS (60 * 60 * UINT64_C(1000))

static void test_refusals_name_one_extra_the_smaller_loss_first(void)
{
    static const struct {
        unsigned extras;
        int http;
        const char *text;
        unsigned refused;
    } cases[] = {
        {ALL, 400, "Unknown parameter: 'stream_options'", EXTRA_USAGE},
        {ALL, 422, "INCLUDE_USAGE is not known", EXTRA_USAGE},
        {EXTRA_STREAM, 400, "stream_options", EXTRA_STREAM},
        {ALL, 403, "must be verified to stream this model", EXTRA_STREAM},
        {ALL, 400, "Unsupported parameter: 'reasoning_effort'", EXTRA_HINTS},
        {ALL, 422, "extra_forbidden", EXTRA_HINTS},
        {EXTRA_USAGE | EXTRA_STREAM, 400, "Unsupported parameter: 'reasoning_effort'", 0},
        {EXTRAS_OF_MODEL, 400,
         "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default "
         "(1) value is supported.",
         EXTRA_SAMPLING},
        {EXTRAS_OF_MODEL, 400,
         "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.",
         EXTRA_LIMIT},
        {EXTRAS_OF_MODEL, 400,
         "Invalid 'temperature': decimal above maximum value. Expected a value <= 2", 0},
        {ALL, 400, "logprobs are not supported", 0},
        {ALL, 400, "the prompt is too long", 0},
        {ALL, 400, "", 0},
        {ALL, 429, "stream", 0},
        {ALL, 500, "stream", 0},
        {0, 400, "stream", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(openai_extras_refused(cases[i].extras, cases[i].http, str_from(cases[i].text)) ==
              cases[i].refused);
    CHECK(openai_names_logprobs(STR("no LogProbs here")) && !openai_names_logprobs(STR("no")));
}

static void test_a_refusal_is_kept_for_an_hour(void)
{
    struct extra_support support = {0}, copy = {0};
    CHECK(extra_support_refused(&support, ALL, 5) == 0);
    extra_support_learn(&support, EXTRA_USAGE | EXTRA_HINTS, 5);
    extra_support_copy(&copy, &support);
    CHECK(extra_support_refused(&copy, ALL, 5) == (EXTRA_USAGE | EXTRA_HINTS));
    CHECK(extra_support_refused(&copy, EXTRA_HINTS, 4 + HOUR_MS) == EXTRA_HINTS);
    CHECK(extra_support_refused(&copy, ALL, 5 + HOUR_MS) == 0);
}

static void test_extras_are_taken_out_of_a_body(void)
{
    static const struct {
        unsigned extras;
        const char *wanted;
    } cases[] = {
        {0, "{\"stream\":true,\"stream_options\":{},\"verbosity\":\"low\",\"x\":1}"},
        {EXTRA_USAGE, "{\"stream\":true,\"verbosity\":\"low\",\"x\":1}"},
        {EXTRA_STREAM, "{\"verbosity\":\"low\",\"x\":1}"},
        {EXTRA_HINTS, "{\"stream\":true,\"stream_options\":{},\"x\":1}"},
        {ALL, "{\"x\":1}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf body;
        struct td_error err = {0};
        buf_init(&body, 1000);
        buf_append_str(&body, str_from(cases[0].wanted));
        CHECK(openai_drop_extras(&body, cases[i].extras, &err) == TD_OK);
        CHECK(str_equal(buf_view(&body), str_from(cases[i].wanted)));
        buf_deinit(&body);
    }
}

static void test_the_limit_gets_its_new_name(void)
{
    struct buf body;
    struct td_error err = {0};
    buf_init(&body, 1000);
    buf_append_str(&body, STR("{\"max_tokens\":7,\"temperature\":0.2,\"top_p\":0.5,\"x\":1}"));
    CHECK(openai_drop_extras(&body, EXTRAS_OF_MODEL, &err) == TD_OK);
    CHECK(str_equal(buf_view(&body), STR("{\"x\":1,\"max_completion_tokens\":7}")));
    buf_deinit(&body);
}

int main(void)
{
    RUN(test_refusals_name_one_extra_the_smaller_loss_first);
    RUN(test_a_refusal_is_kept_for_an_hour);
    RUN(test_extras_are_taken_out_of_a_body);
    RUN(test_the_limit_gets_its_new_name);
    return test_finish();
}
