/* tandem router confidence: a confidence model (router/judge/confidence_model.h) from a model's own
 * answers to judged prompts. */
#define HELP_OF 19
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/confidence_answers.h"
#include "app/evidence/ledger_lines.h"
#include "app/evidence/tier_answers.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/confidence_file.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "router/plan/facts.h"

#include <stdio.h>

struct call {
    const char *model, *out;
    const char *tier, *config; /* a server's model instead */
    const char *file;
    struct ledger_lines_options ledger;
    struct confidence_answers_options answers;
    uint64_t seed;
    enum td_cpu cpu;
    bool json;
};

struct reports {
    struct confidence_fit_report whole, running;
    double seconds;
};

static struct json *fit_json(const struct confidence_fit_report *report)
{
    struct json *object = json_new_object();
    json_put(object, "auroc", json_new_double(report->auroc));
    json_put(object, "auroc_mean_logprob", json_new_double(report->auroc_plain));
    json_put(object, "brier", json_new_double(report->brier));
    json_put(object, "calibration_error", json_new_double(report->calibration_error));
    return object;
}

static void print_fit(const char *name, const struct confidence_fit_report *report)
{
    printf("  %-8s AUROC %.3f (mean log-probability alone %.3f), Brier %.4f, calibration error "
           "%.4f on answers not seen (%d folds)\n",
           name, report->auroc, report->auroc_plain, report->brier, report->calibration_error,
           CONFIDENCE_FOLDS);
}

static bool print_result(const struct call *call, const struct confidence_answers *answers,
                         const struct confidence_model *model, const struct reports *reports)
{
    if (!call->json) {
        if (answers->other_count)
            printf("%zu lines left out: the model says something else today than what was judged\n",
                   answers->other_count);
        printf("%zu answers, %zu right, %llu tokens; %s for %s %s in %.1f s\n",
               answers->whole_count, answers->right_count, (unsigned long long)answers->token_count,
               call->out, model->binding.model, model->binding.quantization, reports->seconds);
        print_fit("whole", &reports->whole);
        print_fit("running", &reports->running);
        return fflush(stdout) == 0;
    }
    struct json *object = json_new_object();
    json_put(object, "answers", json_new_int((int64_t)answers->whole_count));
    json_put(object, "right", json_new_int((int64_t)answers->right_count));
    json_put(object, "left_out", json_new_int((int64_t)answers->other_count));
    json_put(object, "tokens", json_new_int((int64_t)answers->token_count));
    json_put(object, "whole", fit_json(&reports->whole));
    json_put(object, "running", fit_json(&reports->running));
    json_put(object, "folds", json_new_int(CONFIDENCE_FOLDS));
    json_put(object, "model", json_new_cstr(model->binding.model));
    json_put(object, "quantization", json_new_cstr(model->binding.quantization));
    json_put(object, "output", json_new_cstr(call->out));
    json_put(object, "seconds", json_new_double(reports->seconds));
    return command_print_json(object);
}

/* Who answers, and what identifies it. A server is known by its answers. */
static enum td_status open_source(const struct call *call, struct confidence_source *source,
                                  struct confidence_binding *binding, struct td_error *err)
{
    char path[4096];
    struct td_model *model = NULL;
    struct td_model_options options = {.cpu = call->cpu};
    if (call->tier)
        return tier_answers_open(call->config, call->tier, NULL, &source->server, err);
    enum td_status status = model_file_find(call->model, NULL, path, sizeof path, err);
    if (status == TD_OK)
        status = td_model_open(path, &options, &model, err);
    source->model = model;
    return status == TD_OK ? model_identity_read(model, path, binding, err) : status;
}

static void close_source(struct confidence_source *source)
{
    td_model_close((struct td_model *)(uintptr_t)source->model);
    tier_answers_close(source->server);
}

/* What the model is to answer. *done: the lines were only to be written. */
static enum td_status read_lines(struct call *call, const struct confidence_source *source,
                                 struct ledger_lines *lines, bool *done, struct td_error *err)
{
    call->ledger.kind = LEDGER_LINES_ANSWERS;
    call->ledger.config = call->config;
    call->ledger.tier = call->tier;
    call->ledger.model = source->model ? td_model_get_info(source->model)->name : NULL;
    enum td_status status = ledger_lines_read(&call->ledger, call->file, lines, err);
    call->answers.path = ledger_lines_name(&call->ledger, call->file);
    call->answers.text = buf_view(&lines->text);
    return status == TD_OK ? ledger_lines_tell(&call->ledger, lines, done, err) : status;
}

static int train(struct call *call)
{
    struct td_error err = {0};
    struct ledger_lines lines = {0};
    bool done = false;
    struct confidence_source source = {0};
    struct confidence_answers answers = {0};
    struct confidence_model fitted = {0};
    struct reports reports = {0};
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = open_source(call, &source, &fitted.binding, &err);
    if (status == TD_OK)
        status = read_lines(call, &source, &lines, &done, &err);
    if (status == TD_OK && done)
        goto out;
    if (status == TD_OK)
        status = confidence_answers_read(&source, &call->answers, &answers, &err);
    if (status == TD_OK && source.server)
        model_identity_of_server(tier_answers_facts(source.server)->model,
                                 tier_answers_identity(source.server), &fitted.binding);
    if (status == TD_OK)
        status = confidence_fit(answers.whole, answers.whole_count, call->seed, &fitted.whole,
                                &reports.whole, NULL, &err);
    if (status == TD_OK)
        status = confidence_fit(answers.running, answers.running_count, call->seed, &fitted.running,
                                &reports.running, NULL, &err);
    fitted.samples = (uint32_t)answers.whole_count;
    if (status == TD_OK)
        status = confidence_file_write(call->out, &fitted, 0666, &err);
    reports.seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000;
    done = status == TD_OK && print_result(call, &answers, &fitted, &reports);
out:
    confidence_answers_deinit(&answers);
    ledger_lines_deinit(&lines);
    close_source(&source);
    return status == TD_OK ? !done : command_fail("router confidence", &err);
}

static int cmd_router_confidence(int argc, char **argv)
{
    struct call call = {.answers.tokens_max = 256, .seed = 1, .cpu = TD_CPU_AUTO};
    since_option_init(&call.ledger.since, "30d");
    const struct option options[] = {
        OPTION_ROW_MODEL(call.model),
        {"tier", 't', OPTION_TEXT, &call.tier, "NAME",
         HELP_TEXT("let the server of this tier answer, instead of a model file"), 0, 0},
        LEDGER_LINES_ROWS(call.ledger),
        OPTION_ROW_CONFIG(call.config),
        {"output", 'o', OPTION_TEXT, &call.out, "FILE",
         HELP_TEXT("file to write, for router.confidence or a tier's confidence; required"), 0, 0},
        {"tokens", 'n', OPTION_UINT, &call.answers.tokens_max, "N",
         HELP_TEXT("most tokens of an answer; default 256"), 1, 65536},
        {"seed", 0, OPTION_U64, &call.seed, "S",
         HELP_TEXT("seed of the division into folds; default 1"), 0, 0},
        OPTION_ROW_THREADS(call.answers.threads),
        OPTION_ROW_CPU(call.cpu),
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "router confidence",
        .arguments = "[FILE.jsonl]",
        .summary = HELP_TEXT(
            "Lets a model answer prompts whose right answers are known, and fits how "
            "likely an answer with given token probabilities is right.\n"
            "A line of FILE.jsonl: {\"prompt\" or \"messages\"} with \"right\": true or "
            "false for this model's answer, or with \"answer\": the text, or a list of "
            "texts, that is right. With \"said\", \"right\" is about that answer only. "
            "--from-ledger makes such lines of the answers that people and shadows have "
            "judged. It needs at least 50 lines; some hundreds give useful "
            "results.\n"
            "The file that it writes is valid for this model, quantisation, template and "
            "tokenizer only; with --tier for the tier's model and what the server says that "
            "it is."),
        .json = HELP_TEXT(
            "{answers, right, left_out, tokens, whole, running, folds, model, quantization, "
            "output, "
            "seconds}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &call.file, &count);
    if (!(count || call.ledger.on) || !(call.out || call.ledger.lines))
        return options_misuse("router confidence", "give a file of prompts with known answers or "
                                                   "--from-ledger, and -o FILE");
    return train(&call);
}

const struct verb verb_router_confidence = {
    "confidence", cmd_router_confidence,
    HELP_TEXT("calibrate a model's confidence in its own answers")};
