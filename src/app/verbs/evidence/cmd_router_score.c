/* tandem router score: what a classifier expects of a prompt, or of each line of a file. */
#define HELP_OF 20
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/policy/classifier_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static void print_number(const char *name, const char *format, double value)
{
    printf("%s ", name);
    if (isnan(value))
        printf("-  "); /* nobody trained for it */
    else
        printf(format, value);
}

static bool print_verdict(struct scorer *scorer, struct td_str text, bool as_json)
{
    judge(scorer, text);
    const struct verdict *verdict = &scorer->verdict;
    if (as_json)
        return command_print_json(verdict_json(scorer));
    const char *task =
        verdict->task == SIZE_MAX ? "-" : classifier_task_name(scorer->classifier, verdict->task);
    print_number("gain", "%+.3f  ", (double)verdict->gain);
    print_number("p_local", "%.3f  ", (double)verdict->p_local);
    print_number("p_strong", "%.3f  ", (double)verdict->p_strong);
    return printf("task %s (%.2f)\n", task, (double)verdict->task_p) > 0;
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
            return error_set(err, TD_INVALID, "line %zu: the line must have \"text\": a string",
                             number);
        if (!printed)
            return error_set(err, TD_IO, "cannot write to standard output");
    }
    return TD_OK;
}

static int router_score(int argc, char **argv)
{
    const char *model = NULL, *file = NULL, *text = NULL;
    bool jsonl = false, json = false, probabilities = false, show_features = false;
    const struct option options[] = {
        {"model", 'm', OPTION_TEXT, &model, "FILE",
         HELP_TEXT(
             "classifier that 'tandem router train' wrote; default: the one beside the program"),
         0, 0},
        {"jsonl", 0, OPTION_FLAG, &jsonl, NULL,
         HELP_TEXT("read {\"text\"} on each line, and print a result a line"), 0, 0},
        {"file", 'f', OPTION_TEXT, &file, "FILE",
         HELP_TEXT("file to read; default: standard input"), 0, 0},
        {"tasks", 0, OPTION_FLAG, &probabilities, NULL,
         HELP_TEXT("also print the probability of each task"), 0, 0},
        {"features", 0, OPTION_FLAG, &show_features, NULL,
         HELP_TEXT("also print the features that the classifier reads"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "router score",
        .arguments = "[TEXT]",
        .summary =
            HELP_TEXT("Prints what a classifier expects of a prompt: how likely the local tier is "
                      "right (p_local), how likely the next tier is right (p_strong), their "
                      "difference (gain), and the kind of task."),
        .example =
            HELP_TEXT("  tandem router score \"Prove that the square root of 2 is irrational\""),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
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
            status = error_set(&err, TD_IO, "cannot write to standard output");
    }
    classifier_close(classifier);
    buf_deinit(&input);
    free(scorer);
    return status == TD_OK ? 0 : command_fail("router score", &err);
}

const struct verb verb_router_score = {"score", router_score,
                                       "show what a classifier expects of a prompt"};
