/* tandem quant-eval: what compressed models cost beside their reference, and a gate that decides
 * which of them may be used. */
#define HELP_OF 45
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "app/quality/quality_report.h"
#include "app/setup/model/cache_check.h"
#include "app/setup/model/evaluation_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/policy/consistency_setup.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "engine/gguf/gguf.h"
#include "engine/model/model.h"
#include "quant/measure/clusters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 64
#define REPORT_BYTES_MAX (16u << 20)
#define CODE_REFUSED 3

struct values {
    struct quality_options options;
    const char *texts[TEXTS_MAX];
    const char *prompts, *gate, *svg;
    struct ledger_lines_options ledger;
    uint32_t prompts_max;
    bool no_speed, json;
    struct progress progress;
    const char *progress_what;
};

/* One line for each kind of work. */
static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    struct values *values = ctx;
    if (values->progress_what != what) {
        if (values->progress_what)
            progress_end(&values->progress);
        progress_begin(&values->progress, what, values->json);
        values->progress_what = what;
    }
    progress_show(&values->progress, done, total);
}

static bool take_text(void *ctx, const char *text)
{
    struct values *values = ctx;
    if (values->options.text_count == TEXTS_MAX)
        return false;
    values->texts[values->options.text_count++] = text;
    return true;
}

static enum td_status read_gate(const struct values *values, struct quality_gate *out,
                                struct td_error *err)
{
    const struct quality_gate_means means = {
        .texts = values->options.text_count > 0,
        .prompts = values->prompts || values->ledger.on,
        .speed = !values->no_speed,
    };
    struct buf text = {0};
    if (!values->gate)
        return TD_OK;
    enum td_status status = command_read_all(values->gate, &text, err);
    if (status == TD_OK)
        status = quality_gate_read(values->gate, buf_view(&text), &means, out, err);
    buf_deinit(&text);
    return status;
}

static enum td_status write_svg(const struct quality *quality, const char *path,
                                struct td_error *err)
{
    struct buf picture;
    buf_init(&picture, REPORT_BYTES_MAX);
    quality_svg_write(quality, &picture);
    enum td_status status = picture.failed ? error_set(err, TD_NO_MEMORY, "no memory for %s", path)
                                           : file_replace(path, buf_view(&picture), 0666, err);
    buf_deinit(&picture);
    return status;
}

static bool print_report(const struct values *values, const struct quality *quality,
                         const struct quality_verdict *verdicts)
{
    if (values->json)
        return command_print_json(quality_report_json(quality, verdicts));
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    quality_report_text(quality, verdicts, &text);
    bool printed = !text.failed && command_print(buf_view(&text)) && fflush(stdout) == 0;
    buf_deinit(&text);
    return printed;
}

/* What is kept of a result. Names of clusters are words of people's prompts, so they are not. */
static struct json *summary_json(const struct quality *quality, size_t number)
{
    const struct quality_model *model = &quality->models[number];
    struct json *object = json_new_object();
    json_put(object, "reference", json_new_cstr(quality->models[0].name));
    json_put(object, "text_tokens", json_new_int((int64_t)model->texts.token_count));
    json_put(object, "text_kld", json_new_double(model->texts.kld_mean));
    json_put(object, "prompts", json_new_int((int64_t)model->flips.count));
    json_put(object, "flips", json_new_int((int64_t)model->flips.flips));
    json_put(object, "answer_kld", json_new_double(model->answers.kld_mean));
    return object;
}

/* A verdict on a cache of four bits is not one on the model. */
static enum td_status keep_verdict(const struct config *config, const struct quality *quality,
                                   size_t number, enum td_kv_type kv_type,
                                   const struct quality_verdict *verdict, struct td_error *err)
{
    struct confidence_binding identity;
    struct td_model *model = NULL;
    enum td_status status =
        command_open_model(quality->models[number].path, TD_CPU_AUTO, false, &model, err);
    if (status == TD_OK)
        status = model_identity_read(model, gguf_path(model->gguf), &identity, err);
    if (status == TD_OK) {
        bool passed = verdict->reason_count == 0;
        struct json *result = summary_json(quality, number);
        status = cache_check_is_needed(kv_type)
                     ? cache_check_decide(config->state_dir, &identity, kv_type, passed, err)
                     : evaluation_file_write(config->state_dir, &identity,
                                             passed ? EVALUATION_PASSED : EVALUATION_REFUSED,
                                             result, err);
        json_free(result);
    }
    td_model_close(model);
    return status;
}

/* For doctor, which warns of models with few bits that nobody has measured. The result does not
 * depend on it. */
static void keep_verdicts(const struct values *values, const struct quality *quality,
                          const struct quality_verdict *verdicts)
{
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = config_load(values->ledger.config, &config, &err);
    for (size_t i = 1; status == TD_OK && config->state_dir && i < quality->model_count; i++)
        status = keep_verdict(config, quality, i, values->options.kv_type, &verdicts[i], &err);
    if (status != TD_OK)
        fprintf(stderr, "the verdict is not kept for 'tandem doctor': %s\n", err.message);
    config_free(config);
}

/* Judges, draws and prints. *code: of a run that did not fail. */
static enum td_status report(const struct values *values, const struct quality *quality,
                             const struct quality_gate *gate, int *code, struct td_error *err)
{
    struct quality_verdict *verdicts = NULL;
    enum td_status status = values->svg ? write_svg(quality, values->svg, err) : TD_OK;
    if (status == TD_OK && values->gate) {
        verdicts = calloc(quality->model_count, sizeof *verdicts);
        if (!verdicts)
            return error_set(err, TD_NO_MEMORY, "no memory for the verdicts");
        for (size_t i = 1; i < quality->model_count; i++) {
            quality_gate_judge(gate, quality, i, &verdicts[i]);
            if (verdicts[i].reason_count)
                *code = CODE_REFUSED;
        }
        if (quality_gate_is_about_answers(gate))
            keep_verdicts(values, quality, verdicts);
    }
    if (status == TD_OK && !print_report(values, quality, verdicts))
        *code = 1;
    free(verdicts);
    return status;
}

static enum td_status run(struct values *values, int *code, struct td_error *err)
{
    struct quality_options *options = &values->options;
    struct quality *quality = calloc(1, sizeof *quality);
    struct quality_gate gate = {.max_cluster_flips = (double)NAN};
    struct ledger_lines lines = {0};
    struct similarity *similarity = NULL;
    bool done = false;
    enum td_status status =
        quality ? read_gate(values, &gate, err) : error_set(err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK && (values->prompts || values->ledger.on)) {
        status = ledger_lines_read(&values->ledger, values->prompts, &lines, err);
        if (status == TD_OK)
            status = ledger_lines_tell(&values->ledger, &lines, &done, err);
        options->lines = buf_view(&lines.text);
        options->lines_name = ledger_lines_name(&values->ledger, values->prompts);
    }
    if (status == TD_OK && !done)
        status = similarity_setup_open(NULL, &similarity, err);
    options->similarity = similarity ? similarity : &similarity_plain;
    options->cluster_flips = gate.max_cluster_flips;
    if (status == TD_OK && !done) {
        status = quality_measure(options, quality, err);
        if (values->progress_what)
            progress_end(&values->progress);
        if (status == TD_OK)
            status = report(values, quality, &gate, code, err);
        quality_deinit(quality);
    }
    similarity_close(similarity);
    ledger_lines_deinit(&lines);
    free(quality);
    return status;
}

/* What is wrong with the options together, or NULL. */
static const char *misuse_of(const struct values *values, size_t named)
{
    if (named < 2 && !values->ledger.lines)
        return "name the reference and at least one candidate";
    if (!values->options.text_count && !values->prompts && !values->ledger.on)
        return "give something to measure with: --text FILE, --prompts FILE.jsonl or --traffic";
    if (values->ledger.lines && !values->ledger.on)
        return "--lines needs --traffic";
    if (values->svg && !values->prompts && !values->ledger.on)
        return "the picture shows flips of answers: --prompts FILE.jsonl or --traffic";
    return NULL;
}

static int cmd_quant_eval(int argc, char **argv)
{
    struct values values = {.options = {.cpu = TD_CPU_AUTO,
                                        .answer_tokens = 64,
                                        .context_tokens = 4096,
                                        .cancel = &interrupted,
                                        .progress = on_progress},
                            .prompts_max = 1000};
    struct quality_options *how = &values.options;
    const char *paths[QUALITY_MODELS_MAX + 1] = {NULL};
    struct option_each each_text = {take_text, &values, "at most 64 files"};
    values.ledger.kind = LEDGER_LINES_TRAFFIC;
    since_option_init(&values.ledger.since, "30d");
    const struct option options[] = {
        {"text", 'f', OPTION_EACH, &each_text, "FILE",
         HELP_TEXT("a text to predict; may be given several times"), 0, 0},
        {"prompts", 'p', OPTION_TEXT, &values.prompts, "FILE.jsonl", HELP_TEXT("prompts to answer"),
         0, 0},
        {"traffic", 0, OPTION_FLAG, &values.ledger.on, NULL,
         HELP_TEXT(
             "answer the prompts of this machine's own traffic, where the ledger stores them"),
         0, 0},
        {"gate", 0, OPTION_TEXT, &values.gate, "FILE.yaml",
         HELP_TEXT("limits that a candidate must keep; the exit code is 3 when one does not"), 0,
         0},
        {"output", 'o', OPTION_TEXT, &values.svg, "FILE.svg",
         HELP_TEXT("also draw the shares of flips into this file"), 0, 0},
        {"max-prompts", 0, OPTION_UINT, &values.prompts_max, "N",
         HELP_TEXT("of more prompts take N at equal distances; default 1000"), 1,
         CLUSTERS_TEXTS_MAX},
        {"tokens", 'n', OPTION_UINT, &how->answer_tokens, "N",
         HELP_TEXT("most tokens of an answer; default 64"), 1, 65536},
        {"context", 0, OPTION_UINT, &how->context_tokens, "N",
         HELP_TEXT("most tokens of a prompt with its answer; default 4096"), 2, 1048576},
        {"text-tokens", 0, OPTION_UINT, &how->text_tokens_max, "N",
         HELP_TEXT("most tokens of the texts to predict; default: all"), 1, 1e9},
        {"no-speed", 0, OPTION_FLAG, &values.no_speed, NULL, HELP_TEXT("do not measure speed"), 0,
         0},
        OPTION_ROW_KV_TYPE(how->kv_type),
        LEDGER_LINES_CHOICE_ROWS(values.ledger),
        OPTION_ROW_CONFIG(values.ledger.config),
        OPTION_ROW_THREADS(how->threads),
        OPTION_ROW_CPU(how->cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "quant-eval",
        .arguments = "REFERENCE CANDIDATE...",
        .summary = HELP_TEXT(
            "Measures what compressed models cost beside their reference: divergence and "
            "perplexity on texts; divergence and answers that flip on prompts, by task and "
            "by cluster of similar prompts, so that a small cluster that is lost is named; "
            "size, memory and speed.\n"
            "A line of FILE.jsonl is {\"prompt\": text} or {\"messages\": [...]}, and may "
            "have \"task\", \"labels\" to choose from, and what is right (\"answer\", "
            "\"check\"). --kv-type is the candidates' cache, so that a model compared with "
            "itself shows what a smaller cache costs."),
        .example = HELP_TEXT(
            "  tandem quant-eval model-f16.gguf model-q4.gguf --traffic --gate gate.yaml"),
        .json = HELP_TEXT(
            "{reference, candidates: [{path, file_bytes, memory_bytes, texts, answers: {kld, "
            "flips, share_low, share_high, groups, ...}, promoted, reasons, notes, ...}], "
            "lines, too_long, known}"),
        OPTION_TABLE(options),
        .positional_max = QUALITY_MODELS_MAX + 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, paths, &how->path_count);
    const char *misuse = misuse_of(&values, how->path_count);
    if (misuse)
        return options_misuse("quant-eval", "%s", misuse);
    how->paths = paths;
    how->texts = values.texts;
    how->cases_max = values.prompts_max;
    how->speed = !values.no_speed;
    how->progress_ctx = &values;
    interrupt_watch();
    struct td_error err = {0};
    int code = 0;
    enum td_status status = run(&values, &code, &err);
    return status == TD_OK ? code : command_fail_as("quant-eval", &err, values.json);
}

const struct verb verb_quant_eval = {"quant-eval", cmd_quant_eval,
                                     HELP_TEXT("measure what a compressed model costs")};
