/* tandem imatrix: which columns of a model's matrices matter, for 'tandem quantize --imatrix'. */
#define HELP_OF 39
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/prompt_line.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "quant/measure/collect.h"

#include <stdio.h>

#define TEXTS_MAX 64

struct values {
    const char *model, *out, *texts[TEXTS_MAX];
    size_t text_count;
    struct ledger_lines_options ledger;
    size_t prompt_count; /* of the ledger */
    struct collect_options collect;
    enum td_cpu cpu;
    bool json;
    struct progress progress;
    double seconds;
};

static bool print_result(const struct values *values, const struct imatrix *imatrix,
                         const struct collect_result *result)
{
    if (!values->json)
        return printf("%s: %zu matrices, from %zu texts and %zu prompts of the ledger: %llu tokens "
                      "in %u chunks; perplexity %.3f; %.1f s\n",
                      values->out, imatrix_count(imatrix), values->text_count, values->prompt_count,
                      (unsigned long long)result->token_count, result->chunk_count,
                      result->perplexity, values->seconds) > 0;
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(values->out));
    json_put(object, "matrices", json_new_int((int64_t)imatrix_count(imatrix)));
    json_put(object, "texts", json_new_int((int64_t)values->text_count));
    json_put(object, "prompts", json_new_int((int64_t)values->prompt_count));
    json_put(object, "tokens", json_new_int((int64_t)result->token_count));
    json_put(object, "chunks", json_new_int(result->chunk_count));
    json_put(object, "chunk_tokens", json_new_int(result->chunk_size));
    json_put(object, "perplexity", json_new_double(result->perplexity));
    json_put(object, "seconds", json_new_double(values->seconds));
    return command_print_json(object);
}

/* What people asked, as the model's template has it. */
static enum td_status add_prompts(struct values *values, const struct ledger_lines *lines,
                                  const struct td_model *model, struct texts *texts,
                                  struct td_error *err)
{
    struct td_str rest = buf_view(&lines->text), line;
    enum td_status status = TD_OK;
    while (status == TD_OK && str_next(&rest, '\n', &line)) {
        struct json *object = NULL;
        int32_t *ids = NULL;
        size_t count = 0;
        status = prompt_line_read(model, line, &object, &ids, &count, err);
        if (status == TD_OK)
            status = texts_take(texts, ids, count, err);
        json_free(object);
        values->prompt_count += status == TD_OK;
    }
    return status;
}

/* Of the ledger, before the model is opened. *done: only the lines were asked for. */
static enum td_status read_ledger(struct values *values, struct ledger_lines *lines, bool *done,
                                  struct td_error *err)
{
    if (!values->ledger.on)
        return TD_OK;
    enum td_status status = ledger_lines_read(&values->ledger, NULL, lines, err);
    return status == TD_OK ? ledger_lines_tell(&values->ledger, lines, done, err) : status;
}

static enum td_status run(struct values *values, bool *printed, struct td_error *err)
{
    struct td_model *model = NULL;
    struct imatrix *imatrix = NULL;
    struct texts texts = {0};
    struct collect_result result;
    struct ledger_lines lines = {0};
    bool done = false;
    enum td_status status = read_ledger(values, &lines, &done, err);
    if (status != TD_OK || done) {
        ledger_lines_deinit(&lines);
        return status;
    }
    status = command_spare_inputs(values->out, &values->model, 1, err);
    if (status == TD_OK)
        status = command_spare_inputs(values->out, values->texts, values->text_count, err);
    if (status == TD_OK)
        status = command_open_model(values->model, values->cpu, false, &model, err);
    for (size_t i = 0; status == TD_OK && i < values->text_count; i++)
        status = texts_add_file(&texts, model, values->texts[i], err);
    if (status == TD_OK)
        status = add_prompts(values, &lines, model, &texts, err);
    ledger_lines_deinit(&lines);
    progress_begin(&values->progress, "reading", values->json);
    if (status == TD_OK)
        status = collect_importance(model, &texts, &values->collect, &imatrix, &result, err);
    values->seconds = progress_end(&values->progress);
    const struct imatrix_origin origin = {values->texts, values->text_count, result.chunk_count,
                                          result.chunk_size};
    if (status == TD_OK)
        status = imatrix_write(imatrix, &origin, values->out, err);
    if (status == TD_OK)
        *printed = print_result(values, imatrix, &result);
    imatrix_free(imatrix);
    texts_deinit(&texts);
    td_model_close(model);
    return status;
}

static int cmd_imatrix(int argc, char **argv)
{
    struct values values = {.cpu = TD_CPU_AUTO,
                            .collect = {.cancel = &interrupted, .progress = progress_report}};
    values.collect.progress_ctx = &values.progress;
    values.ledger.kind = LEDGER_LINES_TRAFFIC;
    since_option_init(&values.ledger.since, "30d");
    const char *named[TEXTS_MAX + 1] = {NULL};
    size_t named_count = 0;
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &values.out, "FILE", HELP_TEXT("file to write; required"), 0,
         0},
        {"context", 0, OPTION_UINT, &values.collect.context_tokens, "N",
         HELP_TEXT("tokens that are read together; default 512"), 2, 1048576},
        {"chunks", 0, OPTION_UINT, &values.collect.chunks_max, "N",
         HELP_TEXT("most chunks to read; default: the whole texts"), 1, 1e9},
        {"traffic", 0, OPTION_FLAG, &values.ledger.on, NULL,
         HELP_TEXT("read the prompts of this machine's own traffic, where the ledger stores them"),
         0, 0},
        LEDGER_LINES_CHOICE_ROWS(values.ledger),
        OPTION_ROW_CONFIG(values.ledger.config),
        OPTION_ROW_THREADS(values.collect.thread_count),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "imatrix",
        .arguments = "MODEL [TEXTS...]",
        .summary = HELP_TEXT(
            "Runs texts through a model and gathers how large the inputs of each column of "
            "its matrices are, for 'tandem quantize --imatrix'. Use texts like those that "
            "the model will read: a few hundred kilobytes are enough. With --traffic they "
            "are what people asked here. The file is llama.cpp's importance matrix in GGUF. "
            "Run the model in F16 or Q8_0."),
        .example = HELP_TEXT("  tandem imatrix model-f16.gguf texts.txt -o imatrix.gguf"),
        .json = HELP_TEXT(
            "{path, matrices, texts, prompts, tokens, chunks, chunk_tokens, perplexity, seconds}"),
        OPTION_TABLE(options),
        .positional_max = TEXTS_MAX + 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    if (values.ledger.lines && !values.ledger.on)
        return options_misuse("imatrix", "--lines needs --traffic");
    if (!values.out && !values.ledger.lines)
        return options_misuse("imatrix", "name the file to write with -o FILE");
    if (named_count < (values.ledger.lines ? 0 : values.ledger.on ? 1 : 2))
        return options_misuse("imatrix", "name the model and at least one text file, or --traffic");
    values.model = named[0];
    values.text_count = named_count ? named_count - 1 : 0;
    for (size_t i = 0; i < values.text_count; i++)
        values.texts[i] = named[i + 1];
    interrupt_watch();
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = run(&values, &printed, &err);
    return status == TD_OK ? !printed : command_fail("imatrix", &err);
}

const struct verb verb_imatrix = {"imatrix", cmd_imatrix,
                                  HELP_TEXT("measure which columns of a model matter")};
