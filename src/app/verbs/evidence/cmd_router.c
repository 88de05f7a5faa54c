#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/setup/policy/classifier_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "router/learn/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED_DEFAULT 1

static struct json *outcomes_json(const float values[OUTCOME_COUNT])
{
    struct json *object = json_new_object();
    json_put(object, "p_local", json_new_double((double)values[OUTCOME_LOCAL]));
    json_put(object, "p_strong", json_new_double((double)values[OUTCOME_STRONG]));
    return object;
}

static bool print_training(const struct train_report *report, const char *path, bool as_json)
{
    if (as_json) {
        struct json *object = json_new_object();
        json_put(object, "file", json_new_cstr(path));
        json_put(object, "lines", json_new_int((int64_t)report->lines));
        json_put(object, "with_local_ok", json_new_int((int64_t)report->labelled[OUTCOME_LOCAL]));
        json_put(object, "with_strong_ok", json_new_int((int64_t)report->labelled[OUTCOME_STRONG]));
        json_put(object, "with_task", json_new_int((int64_t)report->with_task));
        json_put(object, "columns", json_new_int((int64_t)report->columns));
        json_put(object, "bucket_bits", json_new_int(report->bits));
        json_put(object, "strength", outcomes_json(report->lambda));
        json_put(object, "held_out_error", outcomes_json(report->error));
        json_put(object, "task_strength", json_new_double((double)report->task_lambda));
        json_put(object, "held_out_task_accuracy", json_new_double((double)report->task_accuracy));
        return command_print_json(object);
    }
    printf("%s: trained on %zu lines (%zu with local_ok, %zu with strong_ok, %zu with task), %zu "
           "columns\n",
           path, report->lines, report->labelled[OUTCOME_LOCAL], report->labelled[OUTCOME_STRONG],
           report->with_task, report->columns);
    static const char *const names[OUTCOME_COUNT] = {"p_local", "p_strong"};
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (!isnan(report->error[o]))
            printf("  %-9s mean squared error %.4f on held-out lines, strength %g\n", names[o],
                   (double)report->error[o], (double)report->lambda[o]);
    if (report->with_task)
        printf("  %-9s %.1f %% right on held-out lines, strength %g\n", "task",
               100 * (double)report->task_accuracy, (double)report->task_lambda);
    return true;
}

static int router_train(int argc, char **argv)
{
    const char *file = NULL, *out = NULL;
    uint64_t seed = SEED_DEFAULT;
    bool json = false;
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &out, "FILE", "the classifier to write", 0, 0},
        {"seed", 0, OPTION_U64, &seed, "S", "of the division into parts; default 1", 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {"router train",
                                     "FILE.jsonl",
                                     "Trains a classifier from labelled lines: {\"text\", "
                                     "\"local_ok\", \"strong_ok\", \"task\"}, any subset\n"
                                     "of the labels; true, false or a score from 0 to 1. Strengths "
                                     "are cross-validated. '-' reads\n"
                                     "standard input.",
                                     options,
                                     sizeof options / sizeof *options,
                                     1};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    if (count != 1 || !out) {
        fprintf(stderr, "tandem router train: %s\nTry 'tandem router train --help'.\n",
                count != 1 ? "a file of labelled lines is needed" : "-o FILE is needed");
        return 2;
    }
    struct td_error err = {0};
    struct buf text = {0};
    struct examples examples = {0};
    struct train_report report;
    enum td_status status = command_read_all(file, &text, &err);
    if (status == TD_OK) {
        status = examples_read(buf_view(&text), &examples, &err);
        error_prefix(&err, "%s", file);
    }
    if (status == TD_OK)
        status =
            train_classifier(&examples, &(struct train_options){.seed = seed}, out, &report, &err);
    examples_deinit(&examples);
    buf_deinit(&text);
    if (status != TD_OK)
        return command_fail("router train", &err);
    return print_training(&report, out, json) ? 0 : 1;
}

/* --- score --- */

struct scorer {
    const struct classifier *classifier;
    struct utterance utterance;
    struct features features;
    struct classifier_work work;
    struct verdict verdict;
    bool probabilities, show_features;
};

static struct json *verdict_json(const struct scorer *scorer)
{
    const struct classifier *classifier = scorer->classifier;
    const struct verdict *verdict = &scorer->verdict;
    struct json *object = json_new_object();
    json_put(object, "gain", json_new_double((double)verdict->gain));
    if (verdict->gain < verdict->gain_whole)
        json_put(object, "gain_whole", json_new_double((double)verdict->gain_whole));
    json_put(object, "p_local", json_new_double((double)verdict->p_local));
    json_put(object, "p_strong", json_new_double((double)verdict->p_strong));
    json_put(object, "task",
             json_new_cstr(verdict->task == SIZE_MAX
                               ? NULL
                               : classifier_task_name(classifier, verdict->task)));
    json_put(object, "task_p", json_new_double((double)verdict->task_p));
    if (scorer->probabilities) {
        struct json *tasks = json_new_object();
        for (size_t t = 0; t < classifier_task_count(classifier); t++)
            json_put(tasks, classifier_task_name(classifier, t),
                     json_new_double((double)verdict->task_probability[t]));
        json_put(object, "tasks", tasks);
    }
    if (scorer->show_features) {
        struct json *features = json_new_object();
        for (size_t i = 0; i < FEATURE_COUNT; i++)
            json_put(features, feature_name(i), json_new_double((double)scorer->features.value[i]));
        json_put(object, "features", features);
    }
    return object;
}

static void judge(struct scorer *scorer, struct td_str text)
{
    utterance_read_text(text, &scorer->utterance);
    features_read(&scorer->utterance, &scorer->features);
    classifier_judge(scorer->classifier, &scorer->utterance, &scorer->features, &scorer->work,
                     &scorer->verdict);
}

static bool print_verdict(struct scorer *scorer, struct td_str text, bool as_json)
{
    judge(scorer, text);
    const struct verdict *verdict = &scorer->verdict;
    if (as_json)
        return command_print_json(verdict_json(scorer));
    const char *task =
        verdict->task == SIZE_MAX ? "-" : classifier_task_name(scorer->classifier, verdict->task);
    return printf("gain %+.3f  p_local %.3f  p_strong %.3f  task %s (%.2f)\n",
                  (double)verdict->gain, (double)verdict->p_local, (double)verdict->p_strong, task,
                  (double)verdict->task_p) > 0;
}

static enum td_status score_lines(struct scorer *scorer, struct td_str lines, struct td_error *err)
{
    struct td_str line;
    for (size_t number = 1; str_next(&lines, '\n', &line); number++) {
        struct json *value = NULL;
        struct td_error broken = {0};
        if (str_trim(line).len == 0)
            continue;
        if (json_parse(line, &value, &broken) != TD_OK)
            return error_set(err, TD_INVALID, "line %zu: %s", number, broken.message);
        const struct json *text = json_get(value, "text");
        bool is_text = json_kind_of(text) == JSON_KIND_TEXT;
        bool printed = is_text && print_verdict(scorer, json_text(text), true);
        json_free(value);
        if (!is_text)
            return error_set(err, TD_INVALID, "line %zu: no \"text\"", number);
        if (!printed)
            return error_set(err, TD_IO, "standard output broke");
    }
    return TD_OK;
}

static int router_score(int argc, char **argv)
{
    const char *model = NULL, *file = NULL, *text = NULL;
    bool jsonl = false, json = false, probabilities = false, show_features = false;
    const struct option options[] = {
        {"model", 'm', OPTION_TEXT, &model, "FILE", "classifier that 'router train' wrote", 0, 0},
        {"jsonl", 0, OPTION_FLAG, &jsonl, NULL, "read {\"text\"} a line, write a verdict a line", 0,
         0},
        {"file", 'f', OPTION_TEXT, &file, "FILE", "read it instead of standard input", 0, 0},
        {"tasks", 0, OPTION_FLAG, &probabilities, NULL, "with the probability of each task", 0, 0},
        {"features", 0, OPTION_FLAG, &show_features, NULL, "with the dense features", 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {"router score",
                                     "[TEXT]",
                                     "Prints what a classifier says of a text: the gain (P(strong "
                                     "right) - P(local right)), p_local,\n"
                                     "p_strong and the kind of task.",
                                     options,
                                     sizeof options / sizeof *options,
                                     1};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &text, &count);
    struct td_error err = {0};
    struct buf input = {0};
    struct classifier *classifier = NULL;
    struct scorer *scorer = calloc(1, sizeof *scorer);
    enum td_status status = scorer ? TD_OK : error_set(&err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK)
        status = classifier_file_open(model, &classifier, &err);
    if (status == TD_OK && !text)
        status = command_read_all(file, &input, &err);
    if (status == TD_OK) {
        scorer->classifier = classifier;
        scorer->probabilities = probabilities;
        scorer->show_features = show_features;
        struct td_str given = text ? str_from(text) : buf_view(&input);
        if (jsonl)
            status = score_lines(scorer, given, &err);
        else if (!print_verdict(scorer, given, json || probabilities || show_features))
            status = error_set(&err, TD_IO, "standard output broke");
    }
    classifier_close(classifier);
    buf_deinit(&input);
    free(scorer);
    return status == TD_OK ? 0 : command_fail("router score", &err);
}

int cmd_router(int argc, char **argv)
{
    static const struct command_verb verbs[] = {
        {"train", router_train, "make a classifier from labelled lines"},
        {"score", router_score, "what a classifier says of texts"},
        {"audit", cmd_router_audit, "what of a cloud's traffic a device could answer"},
        {"confidence", cmd_router_confidence, "how likely a model's own answer is right"},
        {"tune", cmd_router_tune, "thresholds that hold an asked risk"},
    };
    return command_run_verb("router", verbs, sizeof verbs / sizeof *verbs, argc, argv);
}
