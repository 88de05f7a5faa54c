#include "test.h"

#include "api/admin/feedback.h"
#include "base/core/str.h"
#include "base/json/json.h"

static bool reads(const char *text, struct feedback *out, struct fault *fault)
{
    struct json *body = NULL;
    memset(fault, 0, sizeof *fault);
    if (json_parse(str_from(text), &body, NULL) != TD_OK)
        return false;
    bool ok = feedback_read(body, out, fault);
    json_free(body);
    return ok;
}

static bool refused(const char *text, const char *param)
{
    struct feedback feedback;
    struct fault fault;
    bool ok = reads(text, &feedback, &fault);
    return !ok && fault.code == 400 && strcmp(fault.param, param) == 0 && *fault.message;
}

static void test_a_yes_a_no_and_a_score_are_taken(void)
{
    struct feedback feedback;
    struct fault fault;
    CHECK(reads("{\"id\":\"ex_1\",\"ok\":true}", &feedback, &fault));
    CHECK(strcmp(feedback.id, "ex_1") == 0 && feedback.score == 1 && !*feedback.comment);
    CHECK(reads("{\"id\":\"ex_1\",\"ok\":false,\"comment\":\"late\"}", &feedback, &fault));
    CHECK(feedback.score == 0 && strcmp(feedback.comment, "late") == 0);
    CHECK(reads("{\"id\":\"ex_1\",\"score\":0.25,\"comment\":null}", &feedback, &fault));
    CHECK(feedback.score == 0.25);
    CHECK(reads("{\"id\":\"ex_1\",\"score\":1}", &feedback, &fault) && feedback.score == 1);
}

static void test_what_is_wrong_is_named(void)
{
    char longest[4096];
    CHECK(refused("[]", "") && refused("{}", "id") && refused("{\"id\":7,\"ok\":true}", "id"));
    CHECK(refused("{\"id\":\"\",\"ok\":true}", "id"));
    CHECK(refused("{\"id\":\"ex_1\"}", "ok"));
    CHECK(refused("{\"id\":\"ex_1\",\"ok\":true,\"score\":1}", "ok"));
    CHECK(refused("{\"id\":\"ex_1\",\"ok\":1}", "ok"));
    CHECK(refused("{\"id\":\"ex_1\",\"score\":true}", "score"));
    CHECK(refused("{\"id\":\"ex_1\",\"score\":1.01}", "score"));
    CHECK(refused("{\"id\":\"ex_1\",\"score\":-0.1}", "score"));
    CHECK(refused("{\"id\":\"ex_1\",\"ok\":true,\"comment\":[]}", "comment"));
    snprintf(longest, sizeof longest, "{\"id\":\"ex_1\",\"ok\":true,\"comment\":\"%02048d\"}", 1);
    CHECK(refused(longest, "comment"));
    snprintf(longest, sizeof longest, "{\"id\":\"%064d\",\"ok\":true}", 1);
    CHECK(refused(longest, "id"));
}

int main(void)
{
    RUN(test_a_yes_a_no_and_a_score_are_taken);
    RUN(test_what_is_wrong_is_named);
    return test_finish();
}
