/* tandem quantize: a model with fewer bits a weight. What can be known before the long work begins
 * is checked before: type, importance, the room on the disk. */
#define HELP_OF 46
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/quantity.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "quant/measure/collect.h"
#include "quant/quantize/allocate.h"
#include "quant/quantize/scaling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Predictions that are compared for each tensor: enough that their mean is known to a few
 * percent. */
#define TOKENS_DEFAULT 1024
/* How often a model is written again when it diverges more than was asked. */
#define ROUNDS_MAX 5

struct values {
    const char *in, *out, *type, *imatrix, *text;
    uint64_t size_max; /* 0 = not asked */
    double kld_max;    /* 0 = not asked */
    uint32_t threads, tokens;
    bool force, json, plan_only, scale;

    char path[4096];
    struct gguf *gguf;
    struct imatrix *importance;
    const struct mix *mix;
    struct quantize_plan plan;
    struct thread_pool *pool;
    struct progress progress;
    struct encode_result result;
    double seconds;

    /* with a text */
    struct td_model *model;
    struct texts texts;
    struct divergence *divergence;
    struct divergence_result measured;
    struct scaling *scaling;
    struct scaling_result scaled;
    struct allocation allocation;
    double expected_kld;
};

static bool chooses(const struct values *values)
{
    return values->size_max || values->kld_max > 0;
}

static bool take_size(void *ctx, const char *text)
{
    return quantity_read_size(str_from(text), ctx);
}

/* Opens the text and the model that reads it. */
static enum td_status prepare_text(struct values *values, struct td_error *err)
{
    enum td_status status =
        command_open_model(values->path, TD_CPU_AUTO, false, &values->model, err);
    if (status == TD_OK)
        status = texts_add_file(&values->texts, values->model, values->text, err);
    const struct collect_options collect = {.thread_count = values->threads,
                                            .cancel = &interrupted,
                                            .progress = progress_report,
                                            .progress_ctx = &values->progress};
    struct collect_result result;
    progress_begin(&values->progress, "reading the text", values->json);
    if (status == TD_OK && !values->importance)
        status = collect_importance(values->model, &values->texts, &collect, &values->importance,
                                    &result, err);
    progress_end(&values->progress);
    const struct divergence_options options = {.tokens_max = values->tokens,
                                               .thread_count = values->threads,
                                               .reference = values->model,
                                               .cancel = &interrupted,
                                               .kv_type = TD_KV_F32,
                                               .texts = (const int32_t *const *)values->texts.ids,
                                               .counts = values->texts.counts,
                                               .text_count = values->texts.count};
    if (status == TD_OK)
        status = divergence_new(&options, &values->divergence, err);
    return status;
}

static enum td_status choose_types(struct values *values, double kld_max, struct td_error *err)
{
    if (values->kld_max > 0)
        return allocate_by_kld(&values->allocation, &values->plan, kld_max, &values->expected_kld,
                               err);
    /* Metadata and directory stay, the map and the gaps between tensors come on top. */
    uint64_t tensors = 0;
    for (size_t i = 0; i < values->plan.item_count; i++)
        tensors += values->plan.items[i].tensor->bytes;
    uint64_t rest = gguf_file_bytes(values->gguf) - tensors + 96 * values->plan.item_count + 4096;
    if (values->size_max <= rest)
        return error_set(err, TD_LIMIT, "the metadata alone take %.1f MB", (double)rest / 1e6);
    return allocate_by_size(&values->allocation, &values->plan, values->size_max - rest,
                            &values->expected_kld, err);
}

/* Bit widths, where they were asked for. */
static enum td_status refine(struct values *values, struct td_error *err)
{
    if (!chooses(values))
        return TD_OK;
    progress_begin(&values->progress, "measuring tensors", values->json);
    enum td_status status =
        allocate_measure(&values->allocation, &values->plan, values->model, values->divergence,
                         &interrupted, progress_report, &values->progress, err);
    progress_end(&values->progress);
    return status == TD_OK ? choose_types(values, values->kld_max, err) : status;
}

static enum td_status prepare(struct values *values, struct td_error *err)
{
    values->mix = mix_find(str_from(values->type));
    if (values->mix == NULL)
        return error_set(err, TD_INVALID, "no type '%.40s'; there are %s", values->type,
                         mix_list());
    enum td_status status =
        model_file_find(values->in, NULL, values->path, sizeof values->path, err);
    if (status == TD_OK)
        status = command_spare_inputs(
            values->out, (const char *const[]){values->path, values->imatrix, values->text}, 3,
            err);
    if (status == TD_OK)
        status = gguf_open(values->path, false, &values->gguf, err);
    if (status == TD_OK && values->imatrix)
        status = imatrix_read(values->imatrix, &values->importance, err);
    if (status == TD_OK && values->text)
        status = prepare_text(values, err);
    if (status == TD_OK)
        status =
            quantize_plan_init(&values->plan, values->gguf, values->mix, values->importance, err);
    if (status != TD_OK)
        return status;
    values->pool = thread_pool_new(values->threads);
    return values->pool ? refine(values, err)
                        : error_set(err, TD_NO_MEMORY, "no memory for threads");
}

/* Tensors whose rows are no whole blocks of the type that they should have. */
static void tell_fallbacks(const struct quantize_plan *plan, uint32_t wanted)
{
    size_t count = 0;
    const struct quantize_item *first = NULL;
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].wanted == wanted && plan->items[i].type != wanted) {
            first = first ? first : &plan->items[i];
            count++;
        }
    if (count == 0)
        return;
    fprintf(stderr, "%zu tensors have rows that are no whole blocks of %s, such as %.*s", count,
            tensor_traits_get(wanted)->name, STR_ARG(first->tensor->name));
    fprintf(stderr, " (%llu, now %s)\n", (unsigned long long)first->tensor->dims[0],
            tensor_traits_get(first->type)->name);
}

/* What a user should know of a plan. */
static void tell_plan(const struct values *values)
{
    const struct quantize_plan *plan = &values->plan;
    if (values->json)
        return;
    for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++)
        tell_fallbacks(plan, type);
    if (plan->requantized != TENSOR_F32)
        fprintf(stderr,
                "%s is quantised already (%s): errors add up. Quantising the original, in F16 or "
                "F32, gives a better model.\n",
                values->path, tensor_traits_get(plan->requantized)->name);
    if (plan->unweighed)
        fprintf(stderr, "%zu tensors have no importance in %s and are rounded without\n",
                plan->unweighed, values->imatrix);
}

static enum td_status write_model(struct values *values, const char *path, struct td_error *err)
{
    struct quantize_options options = {.out = path,
                                       .force = values->force,
                                       .cancel = &interrupted,
                                       .threads = values->pool,
                                       .progress = progress_report,
                                       .progress_ctx = &values->progress};
    struct buf pairs, map;
    buf_init(&pairs, GGUF_HEAD_BYTES_MAX);
    buf_init(&map, GGUF_HEAD_BYTES_MAX);
    quantize_put_map(&values->plan, &map);
    gguf_put_string(&pairs, "tandem.quantize.map", buf_view(&map));
    options.pair_count = 1;
    if (values->imatrix) {
        gguf_put_string(&pairs, "tandem.quantize.imatrix", str_from(values->imatrix));
        options.pair_count++;
    }
    if (values->scaling) {
        gguf_put_u32(&pairs, "tandem.quantize.scaled_groups", values->scaled.scaled);
        options.pair_count++;
    }
    options.pairs = &pairs;
    progress_begin(&values->progress, "quantising", values->json);
    enum td_status status = quantize_write(&values->plan, &options, &values->result, err);
    values->seconds = progress_end(&values->progress);
    buf_deinit(&pairs);
    buf_deinit(&map);
    return status;
}

static enum td_status measure(struct values *values, const char *path, struct td_error *err)
{
    struct td_model *model = NULL;
    enum td_status status = command_open_model(path, TD_CPU_AUTO, false, &model, err);
    const struct divergence_subject subject = {.model = model, .kv_type = TD_KV_F32};
    if (status == TD_OK)
        status = divergence_measure(values->divergence, &subject, &values->measured, NULL, err);
    td_model_close(model);
    return status;
}

static enum td_status write_scaled(struct values *values, const char *path, struct td_error *err)
{
    scaling_clear(&values->plan);
    scaling_free(values->scaling);
    values->scaling = NULL;
    enum td_status status = write_model(values, path, err);
    if (status != TD_OK || !values->scale)
        return status;
    const struct scaling_options options = {.path = path,
                                            .divergence = values->divergence,
                                            .threads = values->pool,
                                            .progress = progress_report,
                                            .progress_ctx = &values->progress};
    progress_begin(&values->progress, "searching scales", values->json);
    status = scaling_search(&values->plan, &options, &values->scaling, &values->scaled, err);
    progress_end(&values->progress);
    return status == TD_OK ? write_model(values, path, err) : status;
}

/* Writes the model, measures it, and writes it with more bits while it diverges more than was
 * asked. It gets its name only when it is good. */
static enum td_status write_measured(struct values *values, struct td_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s.try", values->out) >= (int)sizeof path)
        return error_set(err, TD_INVALID, "the name of the file is too long");
    double wanted = values->kld_max;
    enum td_status status = TD_OK;
    for (int round = 0; status == TD_OK; round++) {
        status = write_scaled(values, path, err);
        if (status == TD_OK)
            status = measure(values, path, err);
        if (status != TD_OK || values->kld_max <= 0 || values->measured.kld_mean <= values->kld_max)
            break;
        wanted *= 0.9 * values->kld_max / values->measured.kld_mean;
        status = round + 1 < ROUNDS_MAX
                     ? choose_types(values, wanted, err)
                     : error_set(err, TD_LIMIT,
                                 "the best model found diverges by %.6f, more than "
                                 "%g",
                                 values->measured.kld_mean, values->kld_max);
    }
    if (status == TD_OK && rename(path, values->out) != 0)
        status = error_set(err, TD_IO, "%s: %s", values->out, strerror(errno));
    if (status != TD_OK)
        unlink(path);
    return status;
}

static struct json *map_to_json(const struct quantize_plan *plan)
{
    struct json *object = json_new_object();
    char name[80];
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct quantize_item *item = &plan->items[i];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(item->tensor->name));
        if (!mix_keeps(item->tensor->name, item->tensor->dims))
            json_put(object, name, json_new_cstr(tensor_traits_get(item->type)->name));
    }
    return object;
}

static double bits_a_weight(const struct values *values)
{
    uint64_t weights = 0;
    for (size_t i = 0; i < values->plan.item_count; i++) {
        const uint64_t *dims = values->plan.items[i].tensor->dims;
        weights += dims[0] * dims[1] * dims[2] * dims[3];
    }
    return weights ? 8.0 * (double)quantize_plan_bytes(&values->plan) / (double)weights : 0;
}

static bool print_result(const struct values *values)
{
    const struct quantize_plan *plan = &values->plan;
    double before = (double)gguf_file_bytes(values->gguf);
    double after = (double)values->result.file_bytes;
    if (values->json) {
        struct json *object = json_new_object();
        json_put(object, "path", json_new_cstr(values->out));
        json_put(object, "type", json_new_cstr(mix_name(plan->mix)));
        json_put(object, "source_bytes", json_new_int((int64_t)gguf_file_bytes(values->gguf)));
        json_put(object, "file_bytes", json_new_int((int64_t)values->result.file_bytes));
        json_put(object, "tensor_bytes", json_new_int((int64_t)quantize_plan_bytes(plan)));
        json_put(object, "bits_per_weight", json_new_double(bits_a_weight(values)));
        json_put(object, "requantized_from",
                 plan->requantized == TENSOR_F32
                     ? json_new_null()
                     : json_new_cstr(tensor_traits_get(plan->requantized)->name));
        json_put(object, "unweighed_tensors", json_new_int((int64_t)plan->unweighed));
        json_put(object, "mended_weights", json_new_int((int64_t)values->result.mended));
        json_put(object, "seconds", json_new_double(values->seconds));
        if (values->scaling) {
            json_put(object, "scaled_groups", json_new_int(values->scaled.scaled));
            json_put(object, "scaling_kld_plain", json_new_double(values->scaled.kld_plain));
            json_put(object, "scaling_kld", json_new_double(values->scaled.kld));
        }
        if (chooses(values))
            json_put(object, "kld_expected", json_new_double(values->expected_kld));
        if (values->measured.token_count) {
            json_put(object, "kld", json_new_double(values->measured.kld_mean));
            json_put(object, "kld_error", json_new_double(values->measured.kld_error));
            json_put(object, "kld_p99", json_new_double(values->measured.kld_p99));
            json_put(object, "same_top", json_new_double(values->measured.same_top));
        }
        json_put(object, "map", map_to_json(plan));
        return command_print_json(object);
    }
    if (values->plan_only || chooses(values))
        for (size_t i = 0; i < plan->item_count; i++)
            printf("%-40.*s %s\n", STR_ARG(plan->items[i].tensor->name),
                   tensor_traits_get(plan->items[i].type)->name);
    if (values->result.mended)
        printf("%llu weights were no numbers and were replaced\n",
               (unsigned long long)values->result.mended);
    if (values->scaling)
        printf("%u of %u groups of matrices scaled%s; divergence on tokens that chose no scale: "
               "%.6f, without scales %.6f\n",
               values->scaled.scaled, values->scaled.groups,
               values->scaled.refused ? ", for with scales the model got worse" : "",
               values->scaled.kld, values->scaled.kld_plain);
    if (values->plan_only)
        return printf("%.1f MB of tensors, %.2f bits a weight\n",
                      (double)quantize_plan_bytes(plan) / 1e6, bits_a_weight(values)) > 0;
    if (values->measured.token_count)
        printf("divergence from %s: %.6f +- %.6f (99 %% of tokens below %.4f), %.1f %% of the "
               "likeliest tokens the same, over %llu tokens\n",
               values->path, values->measured.kld_mean, values->measured.kld_error,
               values->measured.kld_p99, 100 * values->measured.same_top,
               (unsigned long long)values->measured.token_count);
    return printf("%s: %s, %.1f MB of %.1f MB (%.2f bits a weight), %.1f s\n", values->out,
                  mix_name(plan->mix), after / 1e6, before / 1e6, bits_a_weight(values),
                  values->seconds) > 0;
}

static int cmd_quantize(int argc, char **argv)
{
    struct values values = {.plan = {.items = NULL}, .tokens = TOKENS_DEFAULT};
    const char *named[3] = {NULL};
    size_t named_count = 0;
    struct option_each size = {take_size, &values.size_max, "a size such as 700M or 1.5G"};
    const struct option options[] = {
        {"imatrix", 0, OPTION_TEXT, &values.imatrix, "FILE",
         HELP_TEXT("importance of the columns, from 'tandem imatrix' or llama.cpp's"), 0, 0},
        {"text", 0, OPTION_TEXT, &values.text, "FILE",
         HELP_TEXT("a text like those that the model will read: for importance where no --imatrix "
                   "is given, "
                   "and to measure what is lost"),
         0, 0},
        {"scale", 0, OPTION_FLAG, &values.scale, NULL,
         HELP_TEXT("activation-aware scaling (AWQ), judged with the text; needs --text"), 0, 0},
        {"target-size", 0, OPTION_EACH, &size, "SIZE",
         HELP_TEXT("choose a type for each tensor so that the file is at most this large, as in "
                   "1.5G; needs "
                   "--text"),
         0, 0},
        {"max-kld", 0, OPTION_NUMBER, &values.kld_max, "X",
         HELP_TEXT(
             "choose a type for each tensor so that the model diverges at most this much; needs "
             "--text"),
         1e-7, 100},
        {"tokens", 0, OPTION_UINT, &values.tokens, "N",
         HELP_TEXT("predictions of the text to compare; default 1024"), 16, 1e8},
        {"force", 0, OPTION_FLAG, &values.force, NULL,
         HELP_TEXT("replace weights that are no numbers (NaN, infinite) instead of refusing them"),
         0, 0},
        {"plan", 0, OPTION_FLAG, &values.plan_only, NULL,
         HELP_TEXT("only print which type each tensor would get, and the size"), 0, 0},
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "quantize",
        .arguments = "IN.gguf OUT.gguf [TYPE]",
        .summary = HELP_TEXT(
            "Writes a model with fewer bits a weight. TYPE: Q8_0, Q6_K, Q5_K_M, Q4_K_M, "
            "IQ4_XS, Q3_K_M, Q2_K and others; a wrong one lists them. IN should be F16, "
            "BF16 or F32; a model that is quantised already loses more. With --target-size or "
            "--max-kld each tensor's type is chosen by how much the model's predictions "
            "change when that tensor is rounded; TYPE may then be left out."),
        .example = HELP_TEXT(
            "  tandem imatrix model-f16.gguf texts.txt -o imatrix.gguf\n"
            "  tandem quantize model-f16.gguf model-q4.gguf Q4_K_M --imatrix imatrix.gguf"),
        .json = HELP_TEXT(
            "{path, type, source_bytes, file_bytes, tensor_bytes, bits_per_weight, "
            "requantized_from, unweighed_tensors, mended_weights, seconds, scaled_groups, "
            "scaling_kld_plain, scaling_kld, kld_expected, kld, kld_error, kld_p99, same_top, "
            "map}"),
        OPTION_TABLE(options),
        .positional_max = 3,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    if (named_count != 3 && !(named_count == 2 && chooses(&values)))
        return options_misuse("quantize", "name the model, the file to write and a type");
    if (values.size_max && values.kld_max > 0)
        return options_misuse("quantize", "either --target-size or --max-kld");
    if (chooses(&values) && !values.text)
        return options_misuse("quantize", "a type for each tensor needs --text FILE to measure");
    if (values.scale && !values.text)
        return options_misuse("quantize", "--scale needs --text FILE to measure");
    values.in = named[0];
    values.out = named[1];
    values.type = named[2] ? named[2] : "Q4_K_M";
    interrupt_watch();
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = prepare(&values, &err);
    if (status == TD_OK) {
        tell_plan(&values);
        if (!values.plan_only)
            status = values.text ? write_measured(&values, &err)
                                 : write_model(&values, values.out, &err);
    }
    if (status == TD_OK)
        printed = print_result(&values);
    thread_pool_free(values.pool);
    quantize_plan_deinit(&values.plan);
    allocation_deinit(&values.allocation);
    scaling_free(values.scaling);
    divergence_free(values.divergence);
    texts_deinit(&values.texts);
    td_model_close(values.model);
    imatrix_free(values.importance);
    gguf_close(values.gguf);
    return status == TD_OK ? !printed : command_fail("quantize", &err);
}

const struct verb verb_quantize = {"quantize", cmd_quantize,
                                   HELP_TEXT("write a model with fewer bits a weight")};
