/* tandem router train: a classifier of prompts from labelled lines (router/learn/train.h). */
#define HELP_OF 21
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "app/evidence/ledger_trial.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
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

/* What was asked and what came of it. */
struct call {
    const char *file, *out;
    struct ledger_lines_options ledger;
    uint64_t seed;
    bool json;
    struct ledger_lines lines;
    struct ledger_trial trial;
    struct train_report report;
};

static bool print_json(const struct call *call)
{
    const struct train_report *report = &call->report;
    struct json *object = json_new_object();
    json_put(object, "file", json_new_cstr(call->out));
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
    if (call->ledger.on) {
        json_put(object, "ledger", ledger_lines_json(&call->lines));
        json_put(object, "trial", ledger_trial_json(&call->trial));
    }
    return command_print_json(object);
}

static bool print_text(const struct call *call)
{
    const struct train_report *report = &call->report;
    printf("%s: trained on %zu lines (%zu with local_ok, %zu with strong_ok, %zu with task), %zu "
           "columns\n",
           call->out, report->lines, report->labelled[OUTCOME_LOCAL],
           report->labelled[OUTCOME_STRONG], report->with_task, report->columns);
    static const char *const names[OUTCOME_COUNT] = {"p_local", "p_strong"};
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (!isnan(report->error[o]))
            printf("  %-9s mean squared error %.4f on held-out lines, strength %g\n", names[o],
                   (double)report->error[o], (double)report->lambda[o]);
    if (report->with_task)
        printf("  %-9s %.1f %% right on held-out lines, strength %g\n", "task",
               100 * (double)report->task_accuracy, (double)report->task_lambda);
    if (call->ledger.on)
        ledger_trial_print(&call->trial);
    return fflush(stdout) == 0;
}

static enum td_status try_out(struct call *call, struct td_error *err)
{
    struct config *config = NULL;
    enum td_status status = config_load(call->ledger.config, &config, err);
    if (status == TD_OK)
        status = ledger_trial_run(&call->lines, call->seed, call->out, config->router.classifier,
                                  &call->trial, err);
    config_free(config);
    return status;
}

static enum td_status train(struct call *call, struct td_error *err)
{
    struct examples examples = {0};
    enum td_status status = examples_read(buf_view(&call->lines.text), &examples, err);
    error_prefix(err, "%s", ledger_lines_name(&call->ledger, call->file));
    if (status == TD_OK && call->ledger.on)
        status = try_out(call, err);
    if (status == TD_OK)
        status = train_classifier(&examples, &(struct train_options){.seed = call->seed}, call->out,
                                  &call->report, err);
    examples_deinit(&examples);
    return status;
}

static int run(struct call *call)
{
    struct td_error err = {0};
    bool done = false;
    enum td_status status = ledger_lines_read(&call->ledger, call->file, &call->lines, &err);
    if (status == TD_OK)
        status = ledger_lines_tell(&call->ledger, &call->lines, &done, &err);
    if (status == TD_OK && !done) {
        status = train(call, &err);
        done = status == TD_OK && (call->json ? print_json(call) : print_text(call));
    }
    ledger_lines_deinit(&call->lines);
    return status == TD_OK ? !done : command_fail("router train", &err);
}

static int router_train(int argc, char **argv)
{
    struct call call = {.seed = SEED_DEFAULT, .ledger.kind = LEDGER_LINES_TEXTS};
    since_option_init(&call.ledger.since, "30d");
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &call.out, "FILE",
         HELP_TEXT("the classifier to write; required"), 0, 0},
        LEDGER_LINES_ROWS(call.ledger),
        OPTION_ROW_CONFIG(call.ledger.config),
        {"seed", 0, OPTION_U64, &call.seed, "S",
         HELP_TEXT("seed of the division into parts; default 1"), 0, 0},
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "router train",
        .arguments = "[FILE.jsonl]",
        .summary = HELP_TEXT(
            "Trains a classifier from labelled prompts: {\"text\", \"local_ok\", "
            "\"strong_ok\", \"task\"} a line. A line may have any of the labels; they are "
            "true, false or a score from 0 to 1. The regularisation is chosen by "
            "cross-validation. '-' reads standard input.\n"
            "--from-ledger makes such lines of this machine's own traffic: of texts that "
            "are stored, with what feedback and shadows say of the answers."),
        .example = HELP_TEXT("  tandem router train --from-ledger --lines -"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &call.file, &count);
    if (!(count || call.ledger.on) || !(call.out || call.ledger.lines))
        return options_misuse("router train", "%s",
                              count || call.ledger.on
                                  ? "name the classifier to write with -o FILE"
                                  : "name a file of labelled prompts, or give --from-ledger");
    return run(&call);
}

const struct verb verb_router_train = {"train", router_train,
                                       "train a classifier from labelled prompts"};
