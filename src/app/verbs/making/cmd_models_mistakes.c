/* tandem models mistakes: collects answers that were wrong though the model was sure, and asks a
 * model whether it makes them again. */
#define HELP_OF 44
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "app/quality/mistakes.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/json/json.h"

#include <stdio.h>

#define CODE_REFUSED 3
#define CONFIDENCE_FROM 0.8

struct values {
    struct ledger_lines_options ledger;
    struct mistakes_options how;
    const char *model, *file, *out;
    double max_share; /* below 0: not asked */
    enum td_cpu cpu;
    bool json;
    struct progress progress;
};

/* --- collecting --- */

static bool print_collected(const struct values *values, const struct ledger_lines *lines)
{
    if (!values->json)
        return printf("%s: %zu of %zu wrong answers, those with a confidence of at least %g\n",
                      values->out, lines->count, lines->mistakes, values->ledger.mistakes_from) > 0;
    struct json *object = ledger_lines_json(lines);
    json_put(object, "path", json_new_cstr(values->out));
    json_put(object, "wrong", json_new_int((int64_t)lines->mistakes));
    return command_print_json(object);
}

static enum td_status collect(struct values *values, int *code, struct td_error *err)
{
    struct ledger_lines lines = {0};
    enum td_status status = ledger_lines_read(&values->ledger, NULL, &lines, err);
    if (status == TD_OK && lines.count == 0)
        status = error_set(err, TD_NOT_FOUND,
                           "%zu answers were wrong, and none of them had a confidence of at least "
                           "%g: nothing is written",
                           lines.mistakes, values->ledger.mistakes_from);
    if (status == TD_OK)
        status = file_replace(values->out, buf_view(&lines.text), 0600, err);
    if (status == TD_OK)
        *code = !print_collected(values, &lines);
    ledger_lines_deinit(&lines);
    return status;
}

/* --- asking --- */

static bool print_asked(const struct values *values, const struct mistakes_result *result,
                        double share, bool refused)
{
    char reason[160];
    snprintf(reason, sizeof reason,
             "%zu of %zu known mistakes are made again (%.1f %%), max-share is %g",
             result->repeated, result->count, 100 * share, values->max_share);
    if (!values->json && refused)
        return printf("REFUSED: %s\n", reason) > 0;
    if (!values->json)
        return printf("%zu of %zu known mistakes are made again (%.1f %%)%s\n", result->repeated,
                      result->count, 100 * share, values->max_share >= 0 ? ": promoted" : "") > 0;
    struct json *object = json_new_object(), *reasons = json_new_array();
    json_put(object, "prompts", json_new_int((int64_t)result->count));
    json_put(object, "repeated", json_new_int((int64_t)result->repeated));
    json_put(object, "too_long", json_new_int((int64_t)result->too_long));
    json_put(object, "share", json_new_double(share));
    if (values->max_share >= 0)
        json_put(object, "promoted", json_new_bool(!refused));
    if (refused)
        json_push(reasons, json_new_cstr(reason));
    json_put(object, "reasons", reasons);
    return command_print_json(object);
}

static enum td_status ask(struct values *values, int *code, struct td_error *err)
{
    struct td_model *model = NULL;
    struct mistakes_result result = {0};
    struct buf text = {0};
    enum td_status status = command_read_all(values->file, &text, err);
    values->how.lines = buf_view(&text);
    values->how.name = values->file;
    if (status == TD_OK)
        status = command_open_model(values->model, values->cpu, false, &model, err);
    progress_begin(&values->progress, "answering", values->json);
    if (status == TD_OK)
        status = mistakes_ask(model, &values->how, &result, err);
    progress_end(&values->progress);
    if (status == TD_OK) {
        double share = (double)result.repeated / (double)result.count;
        bool refused = values->max_share >= 0 && share > values->max_share;
        bool printed = print_asked(values, &result, share, refused);
        *code = !printed ? 1 : refused ? CODE_REFUSED : 0;
    }
    td_model_close(model);
    buf_deinit(&text);
    return status;
}

static int cmd_models_mistakes(int argc, char **argv)
{
    struct values values = {
        .ledger = {.on = true, .kind = LEDGER_LINES_ANSWERS, .mistakes_from = CONFIDENCE_FROM},
        .how = {.tokens_max = MISTAKES_TOKENS, .cancel = &interrupted, .progress = progress_report},
        .max_share = -1,
        .cpu = TD_CPU_AUTO};
    const char *named[2] = {NULL};
    size_t count = 0;
    values.how.progress_ctx = &values.progress;
    since_option_init(&values.ledger.since, "30d");
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &values.out, "FILE.jsonl",
         HELP_TEXT("collect: write the mistakes into this file"), 0, 0},
        {"confidence", 0, OPTION_NUMBER, &values.ledger.mistakes_from, "P",
         HELP_TEXT("collect: how sure the model must have been; default 0.8"), 1e-6, 1},
        {"only-model", 0, OPTION_TEXT, &values.ledger.model, "NAME",
         HELP_TEXT("collect: only what a model of that name answered"), 0, 0},
        LEDGER_LINES_CHOICE_ROWS(values.ledger),
        {"max-share", 0, OPTION_NUMBER, &values.max_share, "X",
         HELP_TEXT("ask: the exit code is 3 when a larger share is repeated"), 0, 1},
        {"tokens", 'n', OPTION_UINT, &values.how.tokens_max, "N",
         HELP_TEXT("ask: most tokens of an answer; default 64"), 1, 65536},
        OPTION_ROW_CONFIG(values.ledger.config),
        OPTION_ROW_THREADS(values.how.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "models mistakes",
        .arguments = "[MODEL FILE.jsonl]",
        .summary = HELP_TEXT(
            "With -o, collects answers of this machine's models that were wrong though the "
            "model was sure: by feedback, or because another tier said something else. It "
            "takes what the ledger stores, and nothing contractual or restricted.\n"
            "With MODEL and FILE.jsonl, asks the model the same and counts how many of the "
            "mistakes it makes again. A line may have \"answer\", what is right, with "
            "\"check\" as for 'tandem calibrate'."),
        .example = HELP_TEXT("  tandem models mistakes -o mistakes.jsonl\n"
                             "  tandem models mistakes new.gguf mistakes.jsonl --max-share 0.1"),
        .json =
            HELP_TEXT("{path, lines, wrong, ...} or {prompts, repeated, too_long, share, promoted, "
                      "reasons}"),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &count);
    if (count != (values.out ? 0 : 2))
        return options_misuse("models mistakes", "either -o FILE, or a model and a file");
    values.model = named[0];
    values.file = named[1];
    interrupt_watch();
    struct td_error err = {0};
    int code = 0;
    enum td_status status = values.out ? collect(&values, &code, &err) : ask(&values, &code, &err);
    return status == TD_OK ? code : command_fail_as("models mistakes", &err, values.json);
}

const struct verb verb_models_mistakes = {
    "mistakes", cmd_models_mistakes, HELP_TEXT("collect answers that were wrong, and ask again")};
