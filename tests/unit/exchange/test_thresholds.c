/* What gates do with probes, tuned thresholds, doomed and hopeless answers. */
#include "router/learn/train.h"
#include "router/plan/thresholds.h"
#include "world.h"

#include <unistd.h>

static const struct script_step sure_but_unlikely[] = {
    {.kind = SCRIPT_TOKEN, .delay_ms = 10, .text = "It ", .probability = 0.95, .probe = 0.2},
    TOKEN("is ", 0.9),
    DONE};
/* Begins well, and is bad from its third token on. */
static const struct script_step doomed[] = {TOKEN("a ", 0.9), TOKEN("b ", 0.9), TOKEN("c ", 0.1),
                                            TOKEN("d ", 0.1), TOKEN("e ", 0.1), TOKEN("f ", 0.1),
                                            TOKEN("g ", 0.1), TOKEN("h ", 0.1), DONE};

static void test_a_low_probe_leaves_after_the_first_token_with_its_number(void)
{
    struct world w;
    world_init(&w);
    w.route.gates =
        (struct gate_settings){.g1_on = true, .g1_probe_min = 0.4, .commit_tokens = UINT32_MAX};
    world_script(&w, LOCAL, sure_but_unlikely);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && w.tiers[LOCAL].cancel_count == 1);
    CHECK(world_has_reason(&w, REASON_LEFT_PROBE, "local"));
    CHECK(strstr(ledger_seen.reasons, "0.20") && strstr(ledger_seen.reasons, "0.40"));
    CHECK(ledger_seen.attempts[0].completion_tokens == 1);
    w.route.gates.g1_probe_min = 0.1;
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0);
    world_deinit(&w);
}

static void test_a_tuned_threshold_goes_before_the_fixed_one(void)
{
    struct world w;
    struct thresholds thresholds = {.gate = THRESHOLD_G3, .risk = 0.05, .threshold = 0.3};
    world_init(&w);
    w.route.gates = (struct gate_settings){
        .g3_on = true, .g3_confidence_min = 0.99, .commit_tokens = UINT32_MAX};
    world_script(&w, LOCAL, sure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0);
    w.route.gates.thresholds[THRESHOLD_G3] = &thresholds;
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0);
    thresholds.threshold = INFINITY; /* the risk was not reachable: nothing is kept */
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && strstr(ledger_seen.reasons, "out of reach"));
    world_deinit(&w);
}

static void test_a_doomed_answer_is_given_up_before_its_end(void)
{
    struct world w;
    world_init(&w);
    w.route.gates =
        (struct gate_settings){.g2_every = 4, .g2_abandon_under = 0.3, .commit_tokens = UINT32_MAX};
    world_script(&w, LOCAL, doomed);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.text, "Cloud answer") == 0 && w.tiers[LOCAL].cancel_count == 1);
    CHECK(ledger_seen.attempts[0].completion_tokens == 4);
    CHECK(strstr(ledger_seen.reasons, "after 4 tokens"));
    w.route.gates.g2_abandon_under = 0.05; /* not so doomed */
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0);
    world_deinit(&w);
}

/* Strong tiers get riddles wrong and everything else right. */
static struct classifier *riddle_classifier(void)
{
    char path[] = "/tmp/tandem-riddles-XXXXXX";
    struct buf lines;
    struct examples examples = {0};
    struct train_report report;
    struct classifier *classifier = NULL;
    int fd = mkstemp(path);
    buf_init(&lines, 1u << 20);
    for (int i = 0; i < 200; i++)
        buf_printf(&lines, "{\"text\":\"%s number %d\",\"local_ok\":false,\"strong_ok\":%s}\n",
                   i % 2 ? "solve the unsolvable riddle" : "what is the weather", i,
                   i % 2 ? "false" : "true");
    if (fd < 0 || examples_read(buf_view(&lines), &examples, NULL) != TD_OK ||
        train_classifier(&examples, &(struct train_options){.seed = 1}, path, &report, NULL) !=
            TD_OK ||
        classifier_open(path, &classifier, NULL) != TD_OK)
        abort();
    unlink(path);
    close(fd);
    examples_deinit(&examples);
    buf_deinit(&lines);
    return classifier;
}

static void test_a_hopeless_question_is_not_escalated_and_marked_for_a_person(void)
{
    struct classifier *classifier = riddle_classifier();
    struct world w;
    world_init(&w);
    w.services.classifier = classifier;
    w.route.gates.hopeless_under = 0.3;
    world_script(&w, LOCAL, unsure);
    world_script(&w, CLOUD, cloudy);
    world_set_prompt(&w, "solve the unsolvable riddle number 7");
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && w.tiers[CLOUD].start_count == 0);
    CHECK(world_has_reason(&w, REASON_KEPT_HOPELESS, "local") && w.summary.review);
    CHECK(w.degraded && strstr(w.disclosure, "person"));
    world_set_prompt(&w, "what is the weather number 7");
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && !w.summary.review);
    w.services.classifier = NULL; /* nothing is known: nothing is hopeless */
    world_set_prompt(&w, "solve the unsolvable riddle number 7");
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0);
    world_deinit(&w);
    classifier_close(classifier);
}

static void test_an_answer_of_little_confidence_is_for_a_person(void)
{
    struct world w;
    world_init(&w);
    w.route.tier_count = 1; /* nobody else to ask */
    w.route.gates.human_under = 0.2;
    world_script(&w, LOCAL, unsure);
    world_run(&w);
    CHECK(w.summary.review && world_has_reason(&w, REASON_REVIEW, "local"));
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(!w.summary.review && !world_has_reason(&w, REASON_REVIEW, "local"));
    world_deinit(&w);
}

int main(void)
{
    RUN(test_a_low_probe_leaves_after_the_first_token_with_its_number);
    RUN(test_a_tuned_threshold_goes_before_the_fixed_one);
    RUN(test_a_doomed_answer_is_given_up_before_its_end);
    RUN(test_a_hopeless_question_is_not_escalated_and_marked_for_a_person);
    RUN(test_an_answer_of_little_confidence_is_for_a_person);
    return test_finish();
}
