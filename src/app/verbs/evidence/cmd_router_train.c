/* tandem router train: a classifier of prompts from labelled lines (router/learn/train.h). */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "router/learn/train.h"

#include <math.h>
#include <stdio.h>

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
        {"output", 'o', OPTION_TEXT, &out, "FILE", "the classifier to write; required", 0, 0},
        {"seed", 0, OPTION_U64, &seed, "S", "seed of the division into parts; default 1", 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "router train",
        .arguments = "FILE.jsonl",
        .summary = "Trains a classifier from labelled prompts: {\"text\", \"local_ok\", "
                   "\"strong_ok\", \"task\"} a line. A line may have any of the labels; they are "
                   "true, false or a score from 0 to 1. The regularisation is chosen by "
                   "cross-validation. '-' reads standard input.",
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    if (count != 1 || !out)
        return options_misuse("router train", "%s",
                              count != 1 ? "name a file of labelled prompts"
                                         : "name the classifier to write with -o FILE");
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

const struct verb verb_router_train = {"train", router_train,
                                       "train a classifier from labelled prompts"};
