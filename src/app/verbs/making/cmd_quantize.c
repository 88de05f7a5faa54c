/* tandem quantize: a model with fewer bits a weight. What can be known before the long work begins
 * is checked before: type, importance, the room on the disk. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/setup/model/model_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "quant/quantize.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool interrupted;

struct values {
    const char *in, *out, *type, *imatrix;
    uint32_t threads;
    bool force, json, plan_only;

    char path[4096];
    struct gguf *gguf;
    struct imatrix *importance;
    const struct mix *mix;
    struct quantize_plan plan;
    struct thread_pool *pool;
    struct progress progress;
    struct encode_result result;
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

static enum td_status check_names(const struct values *values, struct td_error *err)
{
    char *from = realpath(values->path, NULL), *to = realpath(values->out, NULL);
    bool same = from && to && strcmp(from, to) == 0;
    free(from);
    free(to);
    return same ? error_set(err, TD_INVALID, "%s is the model itself: name another file",
                            values->out)
                : TD_OK;
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
        status = check_names(values, err);
    if (status == TD_OK)
        status = gguf_open(values->path, false, &values->gguf, err);
    if (status == TD_OK && values->imatrix)
        status = imatrix_read(values->imatrix, &values->importance, err);
    if (status == TD_OK)
        status =
            quantize_plan_init(&values->plan, values->gguf, values->mix, values->importance, err);
    if (status != TD_OK)
        return status;
    values->pool = thread_pool_new(values->threads);
    return values->pool ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for threads");
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

static enum td_status write_model(struct values *values, struct td_error *err)
{
    struct quantize_options options = {.out = values->out,
                                       .force = values->force,
                                       .cancel = &interrupted,
                                       .threads = values->pool,
                                       .progress = on_progress,
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
    options.pairs = &pairs;
    progress_begin(&values->progress, "quantising", values->json);
    enum td_status status = quantize_write(&values->plan, &options, &values->result, err);
    values->seconds = progress_end(&values->progress);
    buf_deinit(&pairs);
    buf_deinit(&map);
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
        json_put(object, "map", map_to_json(plan));
        return command_print_json(object);
    }
    if (values->plan_only)
        for (size_t i = 0; i < plan->item_count; i++)
            printf("%-40.*s %s\n", STR_ARG(plan->items[i].tensor->name),
                   tensor_traits_get(plan->items[i].type)->name);
    if (values->result.mended)
        printf("%llu weights were no numbers and were replaced\n",
               (unsigned long long)values->result.mended);
    if (values->plan_only)
        return printf("%.1f MB of tensors, %.2f bits a weight\n",
                      (double)quantize_plan_bytes(plan) / 1e6, bits_a_weight(values)) > 0;
    return printf("%s: %s, %.1f MB of %.1f MB (%.2f bits a weight), %.1f s\n", values->out,
                  mix_name(plan->mix), after / 1e6, before / 1e6, bits_a_weight(values),
                  values->seconds) > 0;
}

static int cmd_quantize(int argc, char **argv)
{
    struct values values = {.plan = {.items = NULL}};
    const char *named[3] = {NULL};
    size_t named_count = 0;
    const struct option options[] = {
        {"imatrix", 0, OPTION_TEXT, &values.imatrix, "FILE",
         "importance of the columns, from 'tandem imatrix' or llama.cpp's", 0, 0},
        {"force", 0, OPTION_FLAG, &values.force, NULL,
         "replace weights that are no numbers (NaN, infinite) instead of refusing them", 0, 0},
        {"plan", 0, OPTION_FLAG, &values.plan_only, NULL,
         "only print which type each tensor would get, and the size", 0, 0},
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "quantize",
        .arguments = "IN.gguf OUT.gguf TYPE",
        .summary = "Writes a model with fewer bits a weight. TYPE: Q8_0, Q6_K, Q5_K_M, Q4_K_M, "
                   "IQ4_XS, Q3_K_M, Q2_K and others; a wrong one lists them. IN should be F16, "
                   "BF16 or F32; a model that is quantised already loses more.",
        .example = "  tandem imatrix model-f16.gguf texts.txt -o imatrix.gguf\n"
                   "  tandem quantize model-f16.gguf model-q4.gguf Q4_K_M --imatrix imatrix.gguf",
        .json = "{path, type, source_bytes, file_bytes, tensor_bytes, bits_per_weight, "
                "requantized_from, unweighed_tensors, mended_weights, seconds, map}",
        OPTION_TABLE(options),
        .positional_max = 3,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    if (named_count != 3)
        return options_misuse("quantize", "name the model, the file to write and a type");
    values.in = named[0];
    values.out = named[1];
    values.type = named[2];
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = prepare(&values, &err);
    if (status == TD_OK) {
        tell_plan(&values);
        if (!values.plan_only)
            status = write_model(&values, &err);
    }
    if (status == TD_OK)
        printed = print_result(&values);
    thread_pool_free(values.pool);
    quantize_plan_deinit(&values.plan);
    imatrix_free(values.importance);
    gguf_close(values.gguf);
    return status == TD_OK ? !printed : command_fail("quantize", &err);
}

const struct verb verb_quantize = {"quantize", cmd_quantize,
                                   "write a model with fewer bits a weight"};
