/* tandem router tune: finds thresholds that keep the given risk, from judged answers
 * (router/learn/risk.h). */
#define HELP_OF 22
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_answers.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/calibration_file.h"
#include "app/setup/policy/confidence_file.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/learn/tune.h"
#include "tandem/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer is "no": neither a mistake in the call (2) nor a failure (1). */
#define EXIT_NOT_REACHABLE 3

struct tune_call {
    const char *file, *out, *config, *gate, *confidence;
    double risk;
    struct since_option since;
    bool per_cluster, json;
    /* read */
    enum threshold_gate threshold_gate;
    char made_by[CONFIDENCE_DIGEST_BYTES]; /* "" = the rule */
    struct ledger_answers ledger;          /* its answers are used also where a file was given */
    struct tune_result *result;
};

static const char *outcome_name(enum risk_outcome outcome)
{
    static const char *const names[] = {"reached", "too_few_samples", "signal_too_weak"};
    return names[outcome];
}

static double share(size_t part, size_t of)
{
    return of ? (double)part / (double)of : 0;
}

static struct json *bar_json(const struct risk_bar *bar, const char *task)
{
    struct json *object = json_new_object();
    json_put(object, "task", json_new_cstr(task));
    json_put(object, "outcome", json_new_cstr(outcome_name(bar->outcome)));
    json_put(object, "threshold", json_new_double(bar->threshold));
    json_put(object, "samples", json_new_int((int64_t)bar->count));
    json_put(object, "samples_min", json_new_int((int64_t)bar->count_min));
    json_put(object, "share_local", json_new_double(share(bar->kept, bar->count)));
    json_put(object, "risk_seen", json_new_double(bar->loss_kept));
    json_put(object, "wrong", json_new_double(bar->loss_all));
    return object;
}

static bool print_json(const struct tune_call *call)
{
    const struct tune_result *result = call->result;
    struct json *object = json_new_object(), *bars = json_new_array();
    json_put(object, "gate", json_new_cstr(thresholds_gate_name(call->threshold_gate)));
    json_put(object, "risk", json_new_double(call->risk));
    json_put(object, "reachable", json_new_bool(result->reached));
    json_put(object, "samples", json_new_int((int64_t)result->count));
    json_put(object, "share_local", json_new_double(share(result->kept, result->count)));
    json_put(object, "risk_seen", json_new_double(result->loss_kept));
    json_put(object, "file", json_new_cstr(result->reached ? call->out : NULL));
    json_push(bars, bar_json(&result->rest, NULL));
    for (size_t i = 0; i < result->thresholds.task_count; i++)
        json_push(bars, bar_json(&result->tasks[i], result->thresholds.tasks[i].task));
    json_put(object, "thresholds", bars);
    if (!call->file) {
        json_put(object, "answers_kept", json_new_int((int64_t)call->ledger.kept));
        json_put(object, "answers_judged", json_new_int((int64_t)call->ledger.judged));
        json_put(object, "questions_left", json_new_int((int64_t)call->ledger.left));
    }
    return command_print_json(object);
}

static void print_bar(const struct tune_call *call, const struct risk_bar *bar, const char *task)
{
    const char *score = thresholds_score_name(call->threshold_gate);
    printf("  %-20s ", task);
    switch (bar->outcome) {
    case RISK_REACHED:
        printf("%s >= %.4f: %.1f %% stay local, %.2f %% stay local and are wrong (%zu samples, "
               "%.1f %% would be wrong if all stayed)\n",
               score, bar->threshold, 100 * share(bar->kept, bar->count), 100 * bar->loss_kept,
               bar->count, 100 * bar->loss_all);
        return;
    case RISK_TOO_FEW:
        printf("not reachable with %zu samples: a risk of %.3g %% needs at least %zu, and %zu if "
               "half of the risk is already used\n",
               bar->count, 100 * call->risk, bar->count_min,
               risk_count_min(call->risk, call->risk / 2));
        return;
    case RISK_TOO_WEAK:
        printf("not reachable with %zu samples at %.3g %%: even the answers with the highest %s "
               "are wrong too often\n",
               bar->count, 100 * call->risk, score);
        return;
    }
}

static bool print_text(const struct tune_call *call)
{
    const struct tune_result *result = call->result;
    printf("gate %s, risk: at most %.3g %% of all questions stay local and are wrong\n",
           thresholds_gate_name(call->threshold_gate), 100 * call->risk);
    if (!call->file)
        printf("ledger: %zu answers of the local tier, %zu of them judged; %zu questions left it\n",
               call->ledger.kept, call->ledger.judged, call->ledger.left);
    for (size_t i = 0; i < result->thresholds.task_count; i++)
        print_bar(call, &result->tasks[i], result->thresholds.tasks[i].task);
    print_bar(call, &result->rest, result->thresholds.task_count ? "(everything else)" : "(all)");
    if (result->thresholds.task_count)
        printf("together: %.1f %% stay local, %.2f %% stay local and are wrong\n",
               100 * share(result->kept, result->count), 100 * result->loss_kept);
    if (call->out && result->reached)
        printf("%s is written; use it with gates: {%s: {thresholds: %s}}\n", call->out,
               thresholds_gate_name(call->threshold_gate), call->out);
    return fflush(stdout) == 0;
}

/* Thresholds on confidences belong to what made those. */
static enum td_status read_confidence(struct tune_call *call, const char *path,
                                      struct td_error *err)
{
    struct confidence_model *model = NULL;
    if (!path || call->threshold_gate != THRESHOLD_G3)
        return TD_OK;
    enum td_status status = confidence_file_read(path, &model, err);
    if (status == TD_OK)
        memcpy(call->made_by, model->digest, sizeof call->made_by);
    free(model);
    return status;
}

static enum td_status read_file(struct tune_call *call, struct td_error *err)
{
    struct buf text = {0};
    enum td_status status = read_confidence(call, call->confidence, err);
    if (status == TD_OK)
        status = command_read_all(call->file, &text, err);
    if (status == TD_OK) {
        status =
            judged_answers_read(buf_view(&text), call->threshold_gate, &call->ledger.answers, err);
        error_prefix(err, "%s", call->file);
    }
    buf_deinit(&text);
    return status;
}

/* Where the configuration names no confidence model, answers may have been judged by a calibration
 * of the model that a server would run. Without such a model there is none. */
static enum td_status read_calibration(struct tune_call *call, const struct config *config,
                                       struct td_error *err)
{
    char path[4096];
    struct td_model *model = NULL;
    struct confidence_binding identity;
    struct confidence_model *calibration = NULL;
    if (call->threshold_gate != THRESHOLD_G3 ||
        model_file_find(config->engine.model, config->models.dir, path, sizeof path, NULL) !=
            TD_OK ||
        td_model_open(path, NULL, &model, NULL) != TD_OK)
        return TD_OK;
    enum td_status status = model_identity_read(model, path, &identity, err);
    if (status == TD_OK)
        status = calibration_file_find(config->state_dir, &identity, &calibration, err);
    if (calibration)
        memcpy(call->made_by, calibration->digest, sizeof call->made_by);
    free(calibration);
    td_model_close(model);
    return status;
}

static enum td_status read_ledger(struct tune_call *call, struct td_error *err)
{
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    enum td_status status = config_load(call->config, &config, err);
    if (status == TD_OK)
        status = read_confidence(
            call, call->confidence ? call->confidence : config->router.confidence, err);
    if (status == TD_OK && !call->confidence && !config->router.confidence)
        status = read_calibration(call, config, err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, err);
    const struct ledger_answers_options options = {call->since.wall_ms, call->threshold_gate,
                                                   call->made_by};
    if (status == TD_OK)
        status = ledger_answers_read(reader, &options, &call->ledger, err);
    if (status == TD_OK && call->ledger.judged == 0)
        status = error_set(err, TD_NOT_FOUND,
                           "none of the %zu answers of the local tier has feedback "
                           "(POST /tandem/v1/feedback); give a file of judged answers instead",
                           call->ledger.kept);
    ledger_reader_close(reader);
    config_free(config);
    return status;
}

static enum td_status write_thresholds(const struct tune_call *call, struct td_error *err)
{
    struct buf text;
    buf_init(&text, 1u << 20);
    thresholds_write(&call->result->thresholds, &text);
    enum td_status status = text.failed
                                ? error_set(err, TD_NO_MEMORY, "no memory for %s", call->out)
                                : file_replace(call->out, buf_view(&text), 0666, err);
    buf_deinit(&text);
    return status;
}

static int run(struct tune_call *call)
{
    struct td_error err = {0};
    const struct tune_options options = {call->threshold_gate, call->risk, call->per_cluster};
    call->result = calloc(1, sizeof *call->result);
    enum td_status status =
        call->result ? TD_OK : error_set(&err, TD_NO_MEMORY, "no memory for thresholds");
    if (status == TD_OK)
        status = call->file ? read_file(call, &err) : read_ledger(call, &err);
    if (status == TD_OK)
        status = tune(&call->ledger.answers, &options, call->result, &err);
    if (status == TD_OK)
        memcpy(call->result->thresholds.confidence, call->made_by, sizeof call->made_by);
    if (status == TD_OK && call->out && call->result->reached)
        status = write_thresholds(call, &err);
    int code = 1;
    if (status != TD_OK)
        code = command_fail("router tune", &err);
    else if (call->json ? print_json(call) : print_text(call))
        code = call->result->reached ? 0 : EXIT_NOT_REACHABLE;
    ledger_answers_deinit(&call->ledger);
    free(call->result);
    return code;
}

static int cmd_router_tune(int argc, char **argv)
{
    struct tune_call call = {.gate = "g3"};
    since_option_init(&call.since, "30d");
    const struct option options[] = {
        {"risk", 'r', OPTION_NUMBER, &call.risk, "R",
         HELP_TEXT(
             "the risk: largest share of all questions that may stay local and be wrong, as 5%; "
             "required"),
         0.0001, 0.9999},
        {"gate", 'g', OPTION_TEXT, &call.gate, "GATE",
         HELP_TEXT("the gate: g0 (by p_local), g1 (by probe) or g3 (by confidence; default)"), 0,
         0},
        {"per-cluster", 0, OPTION_FLAG, &call.per_cluster, NULL,
         HELP_TEXT("a threshold of its own for each task with enough samples"), 0, 0},
        {"output", 'o', OPTION_TEXT, &call.out, "FILE",
         HELP_TEXT("file to write, for the thresholds key of a gate"), 0, 0},
        {"confidence", 0, OPTION_TEXT, &call.confidence, "FILE",
         HELP_TEXT("file of 'tandem router confidence' that gave the scores; default: the "
                   "configuration's"),
         0, 0},
        OPTION_ROW_CONFIG(call.config),
        OPTION_ROW_SINCE(call.since, "30d"),
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "router tune",
        .arguments = "[FILE.jsonl]",
        .summary = HELP_TEXT(
            "Finds the lowest threshold of a gate at which the share of questions that "
            "stay local and are wrong is at most the risk that you give (conformal risk "
            "control). Exit code 3 means that no threshold reaches the risk.\n"
            "A line of FILE.jsonl: {\"confidence\", \"right\", \"task\"}; \"probe\" for "
            "gate g1 and \"p_local\" for gate g0 replace \"confidence\". Without a file it "
            "uses the answers in the ledger that have feedback."),
        .example = HELP_TEXT("  tandem router tune --risk 0.05 -o thresholds.json answers.jsonl"),
        .json =
            HELP_TEXT("{gate, risk, reachable, samples, share_local, risk_seen, file, thresholds}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &call.file, NULL);
    const char *wrong = NULL;
    if (!(call.risk > 0))
        wrong = "give the risk, as in --risk 0.05";
    else if (!thresholds_gate_find(call.gate, &call.threshold_gate))
        wrong = "--gate is g0, g1 or g3";
    if (wrong)
        return options_misuse("router tune", "%s", wrong);
    return run(&call);
}

const struct verb verb_router_tune = {
    "tune", cmd_router_tune,
    HELP_TEXT("find the threshold that keeps wrong answers below a given share")};
