/* tandem probe train: a copy of a model with a probe (docs/heads.md) that was fitted to prompts and
 * whether their answers were right. */
#define HELP_OF 55
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "app/evidence/probe_fit.h"
#include "app/evidence/probe_lines.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/gguf/gguf_copy.h"
#include "engine/model/heads.h"

#include <stdio.h>

#define LAST_LAYER UINT32_MAX
#define PAIRS_BYTES_MAX ((size_t)256 << 20)

struct probe_options {
    const char *model, *file, *out, *input;
    struct ledger_lines_options ledger;
    uint32_t layer, hidden, threads;
    uint64_t seed;
    enum td_cpu cpu;
    bool json;
};

static enum td_status read_input(const struct probe_options *options, const struct td_model *model,
                                 struct probe_input *input, struct td_error *err)
{
    uint32_t layers = td_model_get_info(model)->layer_count;
    struct td_str name = str_from(options->input);
    *input = (struct probe_input){
        .layer = options->layer == LAST_LAYER ? layers : options->layer,
        .last = str_equal(name, STR("last")) || str_equal(name, STR("last+mean")),
        .mean = str_equal(name, STR("mean")) || str_equal(name, STR("last+mean")),
    };
    if (!input->last && !input->mean)
        return error_set(err, TD_INVALID, "--input is last, mean or last+mean, not '%.40s'",
                         options->input);
    if (input->layer > layers)
        return error_set(err, TD_INVALID, "the model has %u layers, not %u", layers, input->layer);
    return TD_OK;
}

static uint64_t put_probe(struct buf *pairs, const struct probe_options *options,
                          const struct probe_input *input, const struct probe_lines *lines,
                          const struct probe_fit *fit)
{
    uint32_t rows = options->hidden ? options->hidden : 1;
    gguf_put_u32(pairs, "tandem.probe.layer", input->layer);
    gguf_put_string(pairs, "tandem.probe.input", str_from(options->input));
    gguf_put_floats(pairs, "tandem.probe.0.weight", fit->weights[0], rows * lines->width);
    gguf_put_floats(pairs, "tandem.probe.0.bias", fit->biases[0], rows);
    if (options->hidden == 0)
        return 4;
    gguf_put_floats(pairs, "tandem.probe.1.weight", fit->weights[1], rows);
    gguf_put_floats(pairs, "tandem.probe.1.bias", fit->biases[1], 1);
    return 6;
}

static enum td_status write_model(const struct probe_options *options, const struct td_model *model,
                                  const struct probe_input *input, const struct probe_lines *lines,
                                  const struct probe_fit *fit, struct td_error *err)
{
    struct buf pairs;
    buf_init(&pairs, PAIRS_BYTES_MAX);
    uint64_t count = put_probe(&pairs, options, input, lines, fit);
    enum td_status status =
        gguf_copy(model->gguf, "tandem.probe.", &pairs, count, options->out, err);
    buf_deinit(&pairs);
    return status;
}

static bool print_result(const struct probe_options *options, const struct probe_input *input,
                         const struct probe_lines *lines, const struct probe_fit *fit,
                         double seconds)
{
    if (!options->json)
        return printf("%zu lines, %zu right; AUROC %.3f on lines not seen (%d folds); %s in %.1f "
                      "s\n",
                      lines->count, lines->right_count, fit->auroc, PROBE_FOLDS, options->out,
                      seconds) > 0;
    struct json *object = json_new_object();
    json_put(object, "lines", json_new_int((int64_t)lines->count));
    json_put(object, "right", json_new_int((int64_t)lines->right_count));
    json_put(object, "auroc", json_new_double(fit->auroc));
    json_put(object, "folds", json_new_int(PROBE_FOLDS));
    json_put(object, "layer", json_new_int(input->layer));
    json_put(object, "input", json_new_cstr(options->input));
    json_put(object, "hidden", json_new_int(options->hidden));
    json_put(object, "output", json_new_cstr(options->out));
    json_put(object, "seconds", json_new_double(seconds));
    return command_print_json(object);
}

static int train(struct probe_options *options)
{
    struct td_error err = {0};
    struct ledger_lines from = {0};
    bool done = false;
    struct td_model *model = NULL;
    struct probe_input input;
    struct probe_lines lines = {0};
    struct probe_fit fit = {0};
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = command_open_model(options->model, options->cpu, false, &model, &err);
    options->ledger.model = status == TD_OK ? td_model_get_info(model)->name : NULL;
    if (status == TD_OK)
        status = read_input(options, model, &input, &err);
    if (status == TD_OK)
        status = ledger_lines_read(&options->ledger, options->file, &from, &err);
    if (status == TD_OK)
        status = ledger_lines_tell(&options->ledger, &from, &done, &err);
    if (status == TD_OK && done)
        goto out;
    const struct probe_lines_options reading = {ledger_lines_name(&options->ledger, options->file),
                                                buf_view(&from.text), options->threads};
    if (status == TD_OK)
        status = probe_lines_read(model, &reading, &input, &lines, &err);
    const struct probe_data data = {lines.states, lines.right, lines.count, lines.width};
    const struct probe_fit_options how = {options->hidden, options->seed};
    if (status == TD_OK)
        status = probe_fit(&data, &how, &fit, &err);
    if (status == TD_OK)
        status = write_model(options, model, &input, &lines, &fit, &err);
    if (status == TD_OK)
        done = print_result(options, &input, &lines, &fit,
                            (clock_monotonic_ms(NULL) - begin_ms) / 1000);
out:
    probe_fit_free(&fit);
    probe_lines_deinit(&lines);
    ledger_lines_deinit(&from);
    td_model_close(model);
    return status == TD_OK ? !done : command_fail("probe", &err);
}

static int cmd_probe(int argc, char **argv)
{
    struct probe_options values = {
        .layer = LAST_LAYER, .input = "last+mean", .hidden = 16, .seed = 1, .cpu = TD_CPU_AUTO};
    values.ledger.kind = LEDGER_LINES_PROMPTS;
    since_option_init(&values.ledger.since, "30d");
    const struct option options[] = {
        OPTION_ROW_MODEL(values.model),
        {"output", 'o', OPTION_TEXT, &values.out, "OUT.gguf",
         HELP_TEXT("where to write the copy of the model"), 0, 0},
        {"layer", 0, OPTION_UINT, &values.layer, "N",
         HELP_TEXT("read the model after this many layers; default: all"), 0, 1024},
        {"input", 0, OPTION_TEXT, &values.input, "INPUT",
         HELP_TEXT("what the probe reads: last (the last token), mean (of all tokens) or last+mean "
                   "(default)"),
         0, 0},
        {"hidden", 0, OPTION_UINT, &values.hidden, "N",
         HELP_TEXT("width of the hidden layer; 0 = logistic regression; default 16"), 0,
         PROBE_WIDTH_MAX},
        {"seed", 0, OPTION_U64, &values.seed, "N",
         HELP_TEXT("seed of the first weights and of the order; default 1"), 0, 0},
        LEDGER_LINES_ROWS(values.ledger),
        OPTION_ROW_CONFIG(values.ledger.config),
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "probe",
        .arguments = "train [FILE.jsonl]",
        .summary = HELP_TEXT(
            "Trains a probe, which estimates before the first token how likely the answer "
            "will be right, and writes a copy of the model that contains it.\n"
            "Each line of FILE.jsonl is {\"prompt\": text, \"right\": true or false}; "
            "\"messages\", as in a chat request, may replace \"prompt\". --from-ledger "
            "makes such lines of the answers that people and shadows have judged."),
        .json = HELP_TEXT("{lines, right, auroc, folds, layer, input, hidden, output, seconds}"),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    const char *arguments[2] = {NULL};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, arguments, &count);
    if (count == 0 || !str_equal(str_from(arguments[0]), STR("train")) ||
        !(arguments[1] || values.ledger.on) || !(values.out || values.ledger.lines))
        return options_misuse("probe", "give 'train', a file of lines or --from-ledger, and -o "
                                       "OUT.gguf");
    values.file = arguments[1];
    return train(&values);
}

const struct verb verb_probe = {
    "probe", cmd_probe, HELP_TEXT("train a probe, which predicts if an answer will be right")};
