/* tandem imatrix: which columns of a model's matrices matter, for 'tandem quantize --imatrix'. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "base/error.h"
#include "base/json.h"
#include "quant/collect.h"

#include <signal.h>
#include <stdio.h>

#define TEXTS_MAX 64

static atomic_bool interrupted;

struct values {
    const char *model, *out, *texts[TEXTS_MAX];
    size_t text_count;
    struct collect_options collect;
    enum td_cpu cpu;
    bool json;
    struct progress progress;
    double seconds;
};

static void on_signal(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    progress_show(ctx, done, total);
}

static bool print_result(const struct values *values, const struct imatrix *imatrix,
                         const struct collect_result *result)
{
    if (!values->json)
        return printf("%s: %zu matrices, from %llu tokens in %u chunks; perplexity %.3f; %.1f s\n",
                      values->out, imatrix_count(imatrix), (unsigned long long)result->token_count,
                      result->chunk_count, result->perplexity, values->seconds) > 0;
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(values->out));
    json_put(object, "matrices", json_new_int((int64_t)imatrix_count(imatrix)));
    json_put(object, "tokens", json_new_int((int64_t)result->token_count));
    json_put(object, "chunks", json_new_int(result->chunk_count));
    json_put(object, "chunk_tokens", json_new_int(result->chunk_size));
    json_put(object, "perplexity", json_new_double(result->perplexity));
    json_put(object, "seconds", json_new_double(values->seconds));
    return command_print_json(object);
}

static enum td_status run(struct values *values, bool *printed, struct td_error *err)
{
    struct td_model *model = NULL;
    struct imatrix *imatrix = NULL;
    struct texts texts = {0};
    struct collect_result result;
    enum td_status status = command_open_model(values->model, values->cpu, false, &model, err);
    for (size_t i = 0; status == TD_OK && i < values->text_count; i++)
        status = texts_add_file(&texts, model, values->texts[i], err);
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
                            .collect = {.cancel = &interrupted, .progress = on_progress}};
    values.collect.progress_ctx = &values.progress;
    const char *named[TEXTS_MAX + 1] = {NULL};
    size_t named_count = 0;
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &values.out, "FILE", "file to write; required", 0, 0},
        {"context", 0, OPTION_UINT, &values.collect.context_tokens, "N",
         "tokens that are read together; default 512", 2, 1048576},
        {"chunks", 0, OPTION_UINT, &values.collect.chunks_max, "N",
         "most chunks to read; default: the whole texts", 1, 1e9},
        OPTION_ROW_THREADS(values.collect.thread_count),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "imatrix",
        .arguments = "MODEL TEXTS...",
        .summary = "Runs texts through a model and gathers how large the inputs of each column of "
                   "its matrices are, for 'tandem quantize --imatrix'. Use texts like those that "
                   "the model will read: a few hundred kilobytes are enough. The file is "
                   "llama.cpp's importance matrix in GGUF. Run the model in F16 or Q8_0.",
        .example = "  tandem imatrix model-f16.gguf texts.txt -o imatrix.gguf",
        .json = "{path, matrices, tokens, chunks, chunk_tokens, perplexity, seconds}",
        OPTION_TABLE(options),
        .positional_max = TEXTS_MAX + 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    if (!values.out)
        return options_misuse("imatrix", "name the file to write with -o FILE");
    if (named_count < 2)
        return options_misuse("imatrix", "name the model and at least one text file");
    values.model = named[0];
    values.text_count = named_count - 1;
    for (size_t i = 0; i < values.text_count; i++)
        values.texts[i] = named[i + 1];
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = run(&values, &printed, &err);
    return status == TD_OK ? !printed : command_fail("imatrix", &err);
}

const struct verb verb_imatrix = {"imatrix", cmd_imatrix,
                                  "measure which columns of a model matter"};
