#include "router/plan/thresholds.h"

#include "base/core/str.h"
#include "router/learn/judged_answers.h"
#include "test.h"

#include <math.h>

static const char good[] =
    "{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.05,\"samples\":1200,\"threshold\":0.62,"
    "\"confidence\":\"0123456789abcdef\",\"tasks\":[{\"task\":\"maths\",\"samples\":210,"
    "\"threshold\":null},{\"task\":\"chat\",\"samples\":300,\"threshold\":0.25}]}";

static bool refused(const char *text, const char *word)
{
    struct thresholds thresholds;
    struct td_error err = {0};
    bool ok = thresholds_read(str_from(text), &thresholds, &err) == TD_OK;
    if (!ok && !strstr(err.message, word))
        fprintf(stderr, "  says: %s\n", err.message);
    return !ok && strstr(err.message, word);
}

static void test_what_is_written_is_read_again(void)
{
    struct thresholds one, two;
    struct td_error err = {0};
    struct buf text;
    REQUIRE(thresholds_read(STR(good), &one, &err) == TD_OK);
    CHECK(one.gate == THRESHOLD_G3 && one.risk == 0.05 && one.samples == 1200);
    CHECK(one.threshold == 0.62 && one.task_count == 2 &&
          strcmp(one.confidence, "0123456789abcdef") == 0);
    buf_init(&text, 1u << 16);
    thresholds_write(&one, &text);
    REQUIRE(!text.failed && thresholds_read(buf_view(&text), &two, &err) == TD_OK);
    CHECK(memcmp(&one, &two, sizeof one) == 0);
    buf_deinit(&text);
}

static void test_a_task_has_its_own_threshold_and_null_keeps_nothing(void)
{
    struct thresholds thresholds;
    struct td_error err = {0};
    REQUIRE(thresholds_read(STR(good), &thresholds, &err) == TD_OK);
    CHECK(thresholds_find(&thresholds, "chat") == 0.25);
    CHECK(isinf(thresholds_find(&thresholds, "maths")));
    CHECK(thresholds_find(&thresholds, "") == 0.62);
    struct gate_settings gates = {.g2_on = true, .g3_confidence_min = 0.9};
    gates.thresholds[THRESHOLD_G3] = &thresholds;
    thresholds_apply(&gates, "chat");
    CHECK(gates.g3_on && gates.g3_confidence_min == 0.25 && !gates.g1_on);
    thresholds_apply(&gates, "maths");
    CHECK(isinf(gates.g3_confidence_min));
    struct gate_settings fixed = {.g3_on = true, .g3_confidence_min = 0.9, .g1_probe_min = 0.1};
    thresholds_apply(&fixed, "chat");
    CHECK(fixed.g3_confidence_min == 0.9 && fixed.g1_probe_min == 0.1 && !fixed.g1_on);
}

static void test_broken_files_are_refused_with_the_member(void)
{
    CHECK(refused("", "") && refused("[]", "tandem_thresholds") && refused("{}", "tune"));
    CHECK(refused("{\"tandem_thresholds\":2}", "version 2"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g2\"}", "gate"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":1}", "risk"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":-1}",
                  "samples"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1}",
                  "threshold"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1,"
                  "\"threshold\":1.5}",
                  "threshold"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1,"
                  "\"threshold\":0.5,\"confidence\":\"ab\"}",
                  "confidence"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1,"
                  "\"threshold\":0.5,\"tasks\":{}}",
                  "tasks"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1,"
                  "\"threshold\":0.5,\"tasks\":[{\"task\":\"a\",\"threshold\":1,\"samples\":1},"
                  "{\"task\":\"a\",\"threshold\":1,\"samples\":1}]}",
                  "second"));
    CHECK(refused("{\"tandem_thresholds\":1,\"gate\":\"g3\",\"risk\":0.1,\"samples\":1,"
                  "\"threshold\":0.5,\"tasks\":[{\"task\":\"a name that is far too long for "
                  "one\",\"threshold\":1,\"samples\":1}]}",
                  "tasks[0].task"));
}

static bool line_refused(const char *text, const char *place, const char *word)
{
    struct judged_answers labelled;
    struct td_error err = {0};
    bool ok = judged_answers_read(str_from(text), THRESHOLD_G3, &labelled, &err) == TD_OK;
    judged_answers_deinit(&labelled);
    return !ok && strstr(err.message, place) && strstr(err.message, word);
}

static void test_judged_answers_are_read_by_the_gates_score(void)
{
    struct judged_answers labelled;
    struct td_error err = {0};
    struct td_str text = STR("{\"confidence\":0.5,\"probe\":0.25,\"right\":true,\"task\":\"a\"}\n\n"
                             "{\"confidence\":1,\"probe\":0,\"right\":0.25,\"task\":null}\n");
    REQUIRE(judged_answers_read(text, THRESHOLD_G3, &labelled, &err) == TD_OK);
    CHECK(labelled.count == 2 && labelled.task_count == 1);
    CHECK(labelled.items[0].score == 0.5 && labelled.items[0].loss == 0 &&
          labelled.items[0].task == 0);
    CHECK(labelled.items[1].loss == 0.75 && labelled.items[1].task == -1);
    judged_answers_deinit(&labelled);
    REQUIRE(judged_answers_read(text, THRESHOLD_G1, &labelled, &err) == TD_OK);
    CHECK(labelled.items[0].score == 0.25);
    judged_answers_deinit(&labelled);
}

static void test_broken_lines_are_refused_with_their_number(void)
{
    CHECK(line_refused("", "", "no judged answers"));
    CHECK(line_refused("{\"confidence\":0.5,\"right\":true}\n{", "line 2", ""));
    CHECK(line_refused("[]", "line 1", "object"));
    CHECK(line_refused("{\"right\":true}", "line 1", "confidence"));
    CHECK(line_refused("{\"confidence\":true,\"right\":true}", "line 1", "confidence"));
    CHECK(line_refused("{\"confidence\":1.5,\"right\":true}", "line 1", "from 0 to 1"));
    CHECK(line_refused("{\"confidence\":0.5}", "line 1", "right"));
    CHECK(line_refused("{\"confidence\":0.5,\"right\":2}", "line 1", "from 0 to 1"));
    CHECK(line_refused("{\"confidence\":0.5,\"right\":1,\"task\":7}", "line 1", "task"));
}

int main(void)
{
    RUN(test_what_is_written_is_read_again);
    RUN(test_a_task_has_its_own_threshold_and_null_keeps_nothing);
    RUN(test_broken_files_are_refused_with_the_member);
    RUN(test_judged_answers_are_read_by_the_gates_score);
    RUN(test_broken_lines_are_refused_with_their_number);
    return test_finish();
}
