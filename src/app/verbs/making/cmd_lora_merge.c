/* tandem lora merge: a model with its adapters inside. It is compared with the model that runs with
 * the adapters beside it, because rounding may lose what an adapter changes. */
#define HELP_OF 42
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/lora_options.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/measure/divergence.h"
#include "quant/measure/texts.h"
#include "quant/quantize/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CODE_REFUSED 3
#define TOKENS_MAX 1024

/* Where no --text is given. */
static const char text_of_ours[] =
    "The committee met on Tuesday to discuss the budget for the coming year. Please turn off the "
    "lights in the kitchen and play some music. def add(a, b):\n    return a + b\n\nThe capital of "
    "France is Paris, and 7 times 8 is 56. Whoever wants to travel by train should book early, "
    "because tickets are cheaper then. Dear Sir or Madam, I would like to return my order.";

struct values {
    const char *in, *out, *type, *text;
    struct lora_options lora;
    double kld_max; /* below 0: not asked */
    uint32_t threads;
    bool json;

    char path[4096];
    const struct mix *mix; /* NULL = types stay */
    struct td_model *model;
    struct quantize_plan plan;
    struct merge *merge;
    struct thread_pool *pool;
    struct encode_result written;
    struct divergence_result beside,
        before; /* merged, and the model without: both to the adapter's */
    size_t changed;
    struct progress progress;
};

static enum td_status prepare(struct values *values, struct td_error *err)
{
    struct merge_adapter adapters[TD_ADAPTERS_MAX];
    for (size_t i = 0; i < values->lora.count; i++)
        adapters[i] = (struct merge_adapter){values->lora.files[i], values->lora.scales[i]};
    if (values->type && !(values->mix = mix_find(str_from(values->type))))
        return error_set(err, TD_INVALID, "no type '%.40s'; there are %s", values->type,
                         mix_list());
    enum td_status status =
        model_file_find(values->in, NULL, values->path, sizeof values->path, err);
    const char *model = values->path;
    if (status == TD_OK)
        status = command_spare_inputs(values->out, &model, 1, err);
    if (status == TD_OK)
        status = command_spare_inputs(values->out, values->lora.files, values->lora.count, err);
    if (status == TD_OK)
        status = command_open_model(values->path, TD_CPU_AUTO, false, &values->model, err);
    if (status == TD_OK)
        status = model_require_decoder(values->model, err);
    if (status == TD_OK)
        status = quantize_plan_init(&values->plan, values->model->gguf, values->mix, NULL, err);
    if (status == TD_OK)
        status = merge_new(values->model, &values->plan, adapters, values->lora.count,
                           &values->merge, err);
    if (status != TD_OK)
        return status;
    values->changed = merge_settle(values->merge, &values->plan);
    values->pool = thread_pool_new(values->threads);
    return values->pool ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for threads");
}

static enum td_status write_merged(struct values *values, const char *path, struct td_error *err)
{
    struct buf pairs, names;
    buf_init(&pairs, GGUF_HEAD_BYTES_MAX);
    buf_init(&names, GGUF_HEAD_BYTES_MAX);
    for (size_t i = 0; i < values->lora.count; i++)
        buf_printf(&names, "%s%s*%g", i ? "," : "", values->lora.files[i],
                   (double)values->lora.scales[i]);
    gguf_put_string(&pairs, "tandem.merge.adapters", buf_view(&names));
    const struct quantize_options options = {.out = path,
                                             .cancel = &interrupted,
                                             .threads = values->pool,
                                             .edit = merge_edit,
                                             .edited = merge_edits,
                                             .edit_ctx = values->merge,
                                             .progress = progress_report,
                                             .progress_ctx = &values->progress,
                                             .pairs = &pairs,
                                             .pair_count = 1};
    progress_begin(&values->progress, "merging", values->json);
    enum td_status status = quantize_write(&values->plan, &options, &values->written, err);
    progress_end(&values->progress);
    buf_deinit(&names);
    buf_deinit(&pairs);
    return status;
}

static enum td_status compare(struct values *values, const char *path,
                              const struct td_adapter_use *uses, struct td_error *err)
{
    struct td_model *merged = NULL;
    struct divergence *divergence = NULL;
    struct texts texts = {0};
    enum td_status status = values->text
                                ? texts_add_file(&texts, values->model, values->text, err)
                                : texts_add(&texts, values->model, str_from(text_of_ours), err);
    const struct divergence_options options = {.tokens_max = TOKENS_MAX,
                                               .thread_count = values->threads,
                                               .reference = values->model,
                                               .adapters = uses,
                                               .adapter_count = values->lora.count,
                                               .cancel = &interrupted,
                                               .kv_type = TD_KV_F32,
                                               .texts = (const int32_t *const *)texts.ids,
                                               .counts = texts.counts,
                                               .text_count = texts.count};
    if (status == TD_OK)
        status = divergence_new(&options, &divergence, err);
    if (status == TD_OK)
        status = command_open_model(path, TD_CPU_AUTO, false, &merged, err);
    const struct divergence_subject of_merged = {.model = merged, .kv_type = TD_KV_F32},
                                    of_model = {.model = values->model, .kv_type = TD_KV_F32};
    if (status == TD_OK)
        status = divergence_measure(divergence, &of_merged, &values->beside, NULL, err);
    if (status == TD_OK)
        status = divergence_measure(divergence, &of_model, &values->before, NULL, err);
    divergence_free(divergence);
    td_model_close(merged);
    texts_deinit(&texts);
    return status;
}

/* The merged model beside the one that runs with the adapters. */
static enum td_status check(struct values *values, const char *path, struct td_error *err)
{
    struct td_adapter *adapters[TD_ADAPTERS_MAX] = {NULL};
    struct td_adapter_use uses[TD_ADAPTERS_MAX];
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < values->lora.count; i++) {
        status = td_adapter_load(values->model, values->lora.files[i], &adapters[i], err);
        uses[i] = (struct td_adapter_use){adapters[i], values->lora.scales[i]};
    }
    if (status == TD_OK)
        status = compare(values, path, uses, err);
    for (size_t i = 0; i < values->lora.count; i++)
        td_adapter_free(adapters[i]);
    return status;
}

static bool print_result(const struct values *values, bool refused)
{
    if (!values->json)
        return printf("%s: %zu matrices changed, %.1f MB\n"
                      "divergence from the model with its adapters: %.6f (the model without them: "
                      "%.6f), %.1f %% of the likeliest tokens the same, over %llu tokens%s\n",
                      values->out, values->changed, (double)values->written.file_bytes / 1e6,
                      values->beside.kld_mean, values->before.kld_mean,
                      100 * values->beside.same_top, (unsigned long long)values->beside.token_count,
                      refused ? "; REFUSED: above --max-kld, nothing is written" : "") > 0;
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(values->out));
    json_put(object, "matrices", json_new_int((int64_t)values->changed));
    json_put(object, "file_bytes", json_new_int((int64_t)values->written.file_bytes));
    json_put(object, "kld", json_new_double(values->beside.kld_mean));
    json_put(object, "kld_without", json_new_double(values->before.kld_mean));
    json_put(object, "same_top", json_new_double(values->beside.same_top));
    json_put(object, "tokens", json_new_int((int64_t)values->beside.token_count));
    json_put(object, "promoted", json_new_bool(!refused));
    return command_print_json(object);
}

static enum td_status run(struct values *values, int *code, struct td_error *err)
{
    char path[4200];
    enum td_status status = prepare(values, err);
    if (snprintf(path, sizeof path, "%s.try", values->out) >= (int)sizeof path)
        status = error_set(err, TD_INVALID, "the name of the file is too long");
    if (status == TD_OK)
        status = write_merged(values, path, err);
    if (status != TD_OK)
        return status;
    status = check(values, path, err);
    bool refused = values->kld_max >= 0 && values->beside.kld_mean > values->kld_max;
    if (status == TD_OK && !refused && rename(path, values->out) != 0)
        status = error_set(err, TD_IO, "%s: %s", values->out, strerror(errno));
    if (status != TD_OK || refused)
        unlink(path);
    if (status == TD_OK)
        *code = !print_result(values, refused) ? 1 : refused ? CODE_REFUSED : 0;
    return status;
}

static int cmd_lora_merge(int argc, char **argv)
{
    struct values values = {.kld_max = -1};
    const char *named[2] = {NULL};
    size_t count = 0;
    lora_options_init(&values.lora);
    const struct option options[] = {
        OPTION_ROW_LORA(values.lora),
        OPTION_ROW_LORA_SCALE(values.lora),
        {"type", 0, OPTION_TEXT, &values.type, "TYPE",
         HELP_TEXT(
             "a type of 'tandem quantize' for the result; default: each matrix keeps its own"),
         0, 0},
        {"text", 0, OPTION_TEXT, &values.text, "FILE",
         HELP_TEXT("a text to compare with; default: some sentences"), 0, 0},
        {"max-kld", 0, OPTION_NUMBER, &values.kld_max, "X",
         HELP_TEXT("write nothing, with exit code 3, when the result diverges more than this from "
                   "the model "
                   "with its adapters"),
         0, 100},
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "lora merge",
        .arguments = "MODEL OUT.gguf --lora FILE",
        .summary = HELP_TEXT(
            "Writes a model with its adapters inside: W + scale * alpha / rank * B A, "
            "rounded to each matrix's type. The result is compared with the model that runs "
            "with the adapters beside it, for rounding may lose what they change: a model in "
            "few bits should be merged in F16 and quantised afterwards."),
        .example = HELP_TEXT("  tandem lora merge model-f16.gguf desk-f16.gguf --lora desk.gguf"),
        .json =
            HELP_TEXT("{path, matrices, file_bytes, kld, kld_without, same_top, tokens, promoted}"),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &count);
    if (count != 2 || values.lora.count == 0)
        return options_misuse("lora merge",
                              "name the model, the file to write and an adapter with --lora FILE");
    values.in = named[0];
    values.out = named[1];
    interrupt_watch();
    struct td_error err = {0};
    int code = 0;
    enum td_status status = run(&values, &code, &err);
    thread_pool_free(values.pool);
    merge_free(values.merge);
    quantize_plan_deinit(&values.plan);
    td_model_close(values.model);
    return status == TD_OK ? code : command_fail_as("lora merge", &err, values.json);
}

const struct verb verb_lora_merge = {"merge", cmd_lora_merge,
                                     HELP_TEXT("write a model with adapters inside")};
