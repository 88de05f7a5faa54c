/* Classification: the probabilities are those that separate forward passes give, in a session and
 * through the scheduler, however long the labels are and whatever they share. */
#include "engine/session/classifier.h"

#include "engine/session/label_run.h"
#include "scheduler_client.h"

#include <math.h>
#include <sched.h>

#define LABELS_MAX 64

struct labels {
    int32_t ids[LABELS_MAX][8];
    struct td_label list[LABELS_MAX];
    size_t count;
};

/* "card", "card_lost", and what else may be hard. */
static const struct labels few = {
    .ids = {{70}, {70, 90}, {70, 90, 91}, {71, 72, 73, 74}, {71, 72, 73, 75}, {5}, {71}},
    .list = {{few.ids[0], 1},
             {few.ids[1], 2},
             {few.ids[2], 3},
             {few.ids[3], 4},
             {few.ids[4], 4},
             {few.ids[5], 1},
             {few.ids[6], 1}},
    .count = 7,
};

/* Random labels of up to eight tokens of a small alphabet, so that many begin alike. */
static void draw_labels(struct labels *out, size_t count, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    out->count = 0;
    while (out->count < count) {
        int32_t *ids = out->ids[out->count];
        size_t length = 1 + rng_below(&rng, 8);
        bool known = false;
        for (size_t i = 0; i < length; i++)
            ids[i] = 100 + (int32_t)rng_below(&rng, 3);
        for (size_t i = 0; i < out->count; i++)
            known |= out->list[i].count == length &&
                     memcmp(out->list[i].ids, ids, length * sizeof *ids) == 0;
        if (!known)
            out->list[out->count++] = (struct td_label){ids, length};
    }
}

static struct td_session *open_session(void)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    const struct td_session_options options = {.context_tokens = TINY_CONTEXT, .thread_count = 1};
    CHECK(td_session_new(model, &options, &session, &err) == TD_OK);
    return session;
}

static bool is_continued(const struct labels *labels, size_t label)
{
    const struct td_label *one = &labels->list[label];
    for (size_t i = 0; i < labels->count; i++)
        if (labels->list[i].count > one->count &&
            memcmp(labels->list[i].ids, one->ids, one->count * sizeof *one->ids) == 0)
            return true;
    return false;
}

/* The log-probability of one label, every token in a pass of its own; an end where another label
 * goes on. */
static double brute_force(struct td_session *session, const int32_t *prompt, size_t prompt_count,
                          const struct labels *labels, size_t label)
{
    static float logits[TINY_VOCAB];
    struct td_error err = {0};
    const struct td_label *one = &labels->list[label];
    double total = 0;
    td_session_truncate(session, 0);
    CHECK(td_session_forward(session, prompt, prompt_count, logits, 1, &err) == TD_OK);
    for (size_t i = 0; i < one->count + is_continued(labels, label); i++) {
        double sum = 0;
        for (int id = 0; id < TINY_VOCAB; id++)
            sum += exp((double)logits[id]);
        total += (double)logits[i < one->count ? one->ids[i] : 2] - log(sum); /* </s> */
        if (i < one->count)
            CHECK(td_session_forward(session, &one->ids[i], 1, logits, 1, &err) == TD_OK);
    }
    return total;
}

static struct label_plan *plan_of(const struct labels *labels)
{
    struct label_plan *plan = NULL;
    struct td_error err = {0};
    CHECK(label_plan_new(model, labels->list, labels->count, LABEL_ENDS_SHARED, &plan, &err) ==
          TD_OK);
    return plan;
}

struct run_client {
    struct label_run *run;
    bool done;
    enum td_status status;
    double scores[LABELS_MAX], not_mine;
    size_t count;
    uint32_t prompt_tokens;
};

static void on_scores(void *ctx, enum td_status status, const struct label_result *result,
                      const struct td_error *err)
{
    struct run_client *client = ctx;
    (void)err;
    CHECK(!client->done);
    client->done = true;
    client->status = status;
    if (status != TD_OK)
        return;
    memcpy(client->scores, result->scores, client->count * sizeof *client->scores);
    client->not_mine = result->not_mine;
    client->prompt_tokens = result->prompt_tokens;
}

static enum td_status start_run(struct scheduler *scheduler, struct run_client *client,
                                const int32_t *prompt, size_t prompt_count, struct label_plan *plan,
                                bool keep_nothing)
{
    struct td_error err = {0};
    const struct job_request job = {
        .ids = prompt, .id_count = prompt_count, .keep_nothing = keep_nothing, .loop = &loop.loop};
    const struct label_request request = {
        .job = &job, .labels = plan, .on_done = on_scores, .ctx = client};
    *client = (struct run_client){.count = label_plan_count(plan)};
    return label_run_start(scheduler, &request, &client->run, &err);
}

static void wait_for(struct run_client *clients, size_t count)
{
    for (size_t i = 0; i < count; i++)
        while (!clients[i].done)
            REQUIRE(test_loop_run_one(&loop, WAIT_MS));
}

static void expect_scores(const double *scores, const int32_t *prompt, size_t prompt_count,
                          const struct labels *labels)
{
    struct td_session *session = open_session();
    for (size_t i = 0; i < labels->count; i++)
        CHECK(fabs(scores[i] - brute_force(session, prompt, prompt_count, labels, i)) < 1e-4);
    td_session_free(session);
}

static void test_the_scheduler_scores_labels_as_lone_passes_do(void)
{
    enum { RUNS = 5 };
    struct scheduler *scheduler = open_scheduler(4, 40);
    static struct labels drawn[RUNS];
    struct run_client clients[RUNS];
    int32_t prompts[RUNS][120];
    for (size_t i = 0; i < RUNS; i++) {
        drawn[i] = few;
        if (i > 0)
            draw_labels(&drawn[i], 12 * i, i);
        else
            for (size_t l = 0; l < few.count; l++)
                drawn[i].list[l].ids = drawn[i].ids[l];
        fill_prompt(prompts[i], 120, 40 + i / 2);
        struct label_plan *plan = plan_of(&drawn[i]);
        CHECK(start_run(scheduler, &clients[i], prompts[i], 90 + i, plan, i == 2) == TD_OK);
        label_plan_release(plan); /* the run has its own reference */
    }
    wait_for(clients, RUNS);
    for (size_t i = 0; i < RUNS; i++) {
        CHECK(clients[i].status == TD_OK && clients[i].prompt_tokens == 90 + i);
        expect_scores(clients[i].scores, prompts[i], 90 + i, &drawn[i]);
    }
    scheduler_free(scheduler);
}

static void test_scoring_leaves_the_prompt_to_later_jobs_and_the_forecasts_alone(void)
{
    struct scheduler *scheduler = open_scheduler(4, 16);
    static struct labels drawn;
    struct run_client run;
    struct client client = {0};
    struct td_error err;
    struct td_generate_options options = plain_options(10);
    int32_t prompt[100];
    fill_prompt(prompt, 100, 3);
    draw_labels(&drawn, 40, 9);
    struct label_plan *plan = plan_of(&drawn);
    for (int round = 0; round < 3; round++) {
        CHECK(start_run(scheduler, &run, prompt, 100, plan, false) == TD_OK);
        wait_for(&run, 1);
    }
    CHECK(submit(scheduler, &client, prompt, 100, &options, &err) == TD_OK);
    run_until_done(&client, 1);
    CHECK(client.result.cached_tokens == 99);
    expect_text(prompt, 100, &options, &client.text);
    buf_deinit(&client.text);
    struct scheduler_forecast forecast;
    scheduler_forecast(scheduler, TD_PRIORITY_INTERACTIVE, 0, 100, &forecast);
    CHECK(forecast.answer_mean == 10); /* labels say nothing of the length of answers */
    label_plan_release(plan);
    scheduler_free(scheduler);
}

static void test_a_run_can_be_cancelled_at_any_moment(void)
{
    struct scheduler *scheduler = open_scheduler(2, 16);
    static struct labels drawn;
    int32_t prompt[100];
    fill_prompt(prompt, 100, 4);
    draw_labels(&drawn, 60, 10);
    struct label_plan *plan = plan_of(&drawn);
    for (int events = 0; events < 6; events++) {
        struct run_client run;
        CHECK(start_run(scheduler, &run, prompt, 20 + 10 * (size_t)events, plan, false) == TD_OK);
        for (int i = 0; i < events && !run.done; i++)
            CHECK(test_loop_run_one(&loop, WAIT_MS));
        if (!run.done)
            label_run_cancel(run.run);
        run.done = true; /* a callback would be noticed */
    }
    struct run_client last;
    CHECK(start_run(scheduler, &last, prompt, 100, plan, false) == TD_OK);
    wait_for(&last, 1);
    expect_scores(last.scores, prompt, 100, &drawn);
    label_plan_release(plan);
    scheduler_free(scheduler);
}

static void test_a_full_queue_is_busy_and_a_full_context_a_limit(void)
{
    struct scheduler *scheduler = open_scheduler(1, 0);
    struct run_client runs[2];
    int32_t prompt[TINY_CONTEXT];
    fill_prompt(prompt, TINY_CONTEXT, 6);
    struct label_plan *plan = plan_of(&few);
    CHECK(start_run(scheduler, &runs[0], prompt, 50, plan, false) == TD_OK);
    CHECK(start_run(scheduler, &runs[1], prompt, 50, plan, false) == TD_BUSY);
    wait_for(runs, 1);
    CHECK(runs[0].status == TD_OK);
    expect_scores(runs[0].scores, prompt, 50, &few);
    enum td_status status; /* a job's place is free a moment after it has ended */
    while ((status = start_run(scheduler, &runs[0], prompt, TINY_CONTEXT - 1, plan, false)) ==
           TD_BUSY)
        sched_yield();
    CHECK(status == TD_OK);
    wait_for(runs, 1);
    CHECK(runs[0].status == TD_LIMIT);
    label_plan_release(plan);
    scheduler_free(scheduler);
}

static void test_probabilities_add_up_to_one_and_say_how_much_was_theirs(void)
{
    struct td_session *session = open_session();
    struct td_classifier *classifier = NULL;
    struct td_error err = {0};
    const struct td_str texts[] = {STR("card"), STR("card_lost"), STR("w271"), STR("w"),
                                   STR("a label of several words")};
    const struct td_classifier_options options = {.labels = texts, .label_count = 5};
    REQUIRE(td_classifier_new(model, &options, &classifier, &err) == TD_OK);
    CHECK(td_classifier_count(classifier) == 5);
    CHECK(str_equal(td_classifier_label(classifier, 1), texts[1]));
    float probabilities[5];
    for (int round = 0; round < 2; round++) {
        struct td_classification said;
        struct td_message messages[CLASSIFIER_MESSAGES_MAX];
        struct buf content;
        int32_t *ids = NULL;
        size_t id_count = 0;
        struct td_str text = round ? STR("the other") : STR("my card is gone");
        REQUIRE(td_classify(session, classifier, text, probabilities, &said, &err) == TD_OK);
        buf_init(&content, 4096);
        CHECK(classifier_messages(classifier, text, &content, messages) == 1);
        CHECK(str_equal(str_slice(buf_view(&content), 0, 33),
                        STR("Classify the text. Labels: card, ")));
        CHECK(str_ends_with(buf_view(&content), text));
        REQUIRE(td_chat_tokenize(model, messages, 1, &ids, &id_count, &err) == TD_OK);
        CHECK(said.token_count == id_count);
        struct td_session *alone = open_session();
        double sum = 0, exact = 0;
        static float logits[TINY_VOCAB];
        REQUIRE(td_session_forward(alone, ids, id_count, logits, 1, &err) == TD_OK);
        for (int id = 0; id < TINY_VOCAB; id++)
            exact += exp((double)logits[id]);
        CHECK(fabs((double)said.not_mine - exp((double)logits[TINY_NOT_MINE]) / exact) < 1e-6);
        for (int i = 0; i < 5; i++)
            sum += (double)probabilities[i];
        CHECK(fabs(sum - 1) < 1e-5 && said.mass > 0 && said.mass < 1);
        td_session_free(alone);
        free(ids);
        buf_deinit(&content);
    }
    td_classifier_free(classifier);
    td_session_free(session);
}

static void test_labels_that_cannot_be_told_apart_are_refused(void)
{
    struct td_classifier *classifier = NULL;
    struct td_error err = {0};
    static char wide[400];
    memset(wide, 'x', sizeof wide);
    const struct td_str twice[] = {STR("ab"), STR("w271"), STR("ab")},
                        empty[] = {STR("ab"), STR("")}, far[] = {{wide, sizeof wide}};
    const struct {
        const struct td_str *labels;
        size_t count;
        const char *says;
    } bad[] = {{twice, 3, "labels 0 and 2"},
               {empty, 2, "label 1 is empty"},
               {far, 1, "tokens"},
               {twice, 0, "0 labels"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct td_classifier_options options = {.labels = bad[i].labels,
                                                      .label_count = bad[i].count};
        err = (struct td_error){0};
        CHECK(td_classifier_new(model, &options, &classifier, &err) == TD_INVALID);
        CHECK(classifier == NULL && strstr(err.message, bad[i].says) != NULL);
    }
    const struct td_classifier_options unknown = {.set = "intents"};
    err = (struct td_error){0};
    CHECK(td_classifier_new(model, &unknown, &classifier, &err) == TD_NOT_FOUND);
    CHECK(td_label_set(model, 0).len == 0);
}

/* --- sets of labels in the file --- */

static struct td_model *open_with_sets(const char *prompt, uint64_t label_count)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    builder_init(&builder);
    tiny_vocabulary(&builder);
    tiny_hyperparameters(&builder);
    builder_array(&builder, "tandem.labels.sets", GGUF_STRING, 2);
    builder_put_string(&builder.pairs, STR("moods"));
    builder_put_string(&builder.pairs, STR("ghost"));
    builder_array(&builder, "tandem.labels.moods", GGUF_STRING, label_count);
    static const char *const moods[] = {"good", "bad", "w299"};
    for (uint64_t i = 0; i < label_count; i++)
        builder_put_string(&builder.pairs, str_from(moods[i]));
    if (prompt)
        builder_string(&builder, "tandem.labels.moods.prompt", prompt);
    tiny_tensors(&builder, 1);
    builder_finish(&builder, &file);
    struct td_model *opened = tiny_open(&file, NULL, &err);
    buf_deinit(&file);
    builder_deinit(&builder);
    return opened;
}

static void test_a_model_brings_its_own_sets_with_their_words(void)
{
    struct td_error err = {0};
    struct td_classifier *classifier = NULL;
    struct td_model *own = open_with_sets("Mood of '{text}'?", 3);
    REQUIRE(own != NULL);
    CHECK(str_equal(td_label_set(own, 0), STR("moods")) && td_label_set(own, 2).len == 0);
    const struct td_classifier_options moods = {.set = "moods", .instruction = STR("be kind")};
    REQUIRE(td_classifier_new(own, &moods, &classifier, &err) == TD_OK);
    CHECK(td_classifier_count(classifier) == 3);
    CHECK(str_equal(td_classifier_label(classifier, 2), STR("w299")));
    struct td_message messages[CLASSIFIER_MESSAGES_MAX];
    struct buf content;
    buf_init(&content, 4096);
    REQUIRE(classifier_messages(classifier, STR("{text} {labels}"), &content, messages) == 2);
    CHECK(messages[0].role == TD_ROLE_SYSTEM && str_equal(messages[0].content, STR("be kind")));
    CHECK(str_equal(messages[1].content, STR("Mood of '{text} {labels}'?")));
    buf_deinit(&content);
    td_classifier_free(classifier);
    classifier = NULL;
    const struct td_classifier_options other = {.set = "mood"}, ghost = {.set = "ghost"};
    CHECK(td_classifier_new(own, &other, &classifier, &err) == TD_NOT_FOUND);
    CHECK(strstr(err.message, "moods, ghost") != NULL);
    err = (struct td_error){0};
    CHECK(td_classifier_new(own, &ghost, &classifier, &err) == TD_CORRUPT);
    td_model_close(own);
    own = open_with_sets("Mood?", 3);
    REQUIRE(own != NULL);
    err = (struct td_error){0};
    CHECK(td_classifier_new(own, &moods, &classifier, &err) == TD_CORRUPT);
    td_model_close(own);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_the_scheduler_scores_labels_as_lone_passes_do);
    RUN(test_scoring_leaves_the_prompt_to_later_jobs_and_the_forecasts_alone);
    RUN(test_a_run_can_be_cancelled_at_any_moment);
    RUN(test_a_full_queue_is_busy_and_a_full_context_a_limit);
    RUN(test_probabilities_add_up_to_one_and_say_how_much_was_theirs);
    RUN(test_labels_that_cannot_be_told_apart_are_refused);
    RUN(test_a_model_brings_its_own_sets_with_their_words);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
