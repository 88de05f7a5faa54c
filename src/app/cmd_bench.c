/* tandem bench engine: tokens a second of prefill and decode, each from an empty cache, as
 * llama-bench measures (pp and tg), so that the figures can be put side by side. */
#include "app/command.h"
#include "app/options.h"
#include "base/json.h"
#include "base/str.h"
#include "engine/bench.h"
#include "kernels/kernels.h"

#include <stdio.h>

static bool print_text(const struct td_model_info *info, const char *kernels,
                       const struct bench_options *options, const struct bench_result *result)
{
    return printf("%s %s, %s, %u threads: prefill %.1f tokens/s (%u tokens), decode %.1f tokens/s "
                  "(%u tokens)\n",
                  info->name, info->quantization, kernels, result->thread_count,
                  result->prefill_tokens_per_s, options->prompt_tokens, result->decode_tokens_per_s,
                  options->decode_tokens) > 0;
}

static bool print_json(const struct td_model_info *info, const char *kernels,
                       const struct bench_options *options, const struct bench_result *result)
{
    struct json *object = json_new_object();
    json_put(object, "model", json_new_cstr(info->name));
    json_put(object, "architecture", json_new_cstr(info->architecture));
    json_put(object, "quantization", json_new_cstr(info->quantization));
    json_put(object, "file_bytes", json_new_int((int64_t)info->file_bytes));
    json_put(object, "cpu", json_new_cstr(kernels));
    json_put(object, "threads", json_new_int(result->thread_count));
    json_put(object, "prompt_tokens", json_new_int(options->prompt_tokens));
    json_put(object, "decode_tokens", json_new_int(options->decode_tokens));
    json_put(object, "repeats", json_new_int(options->repetitions));
    json_put(object, "prefill_tokens_per_s", json_new_double(result->prefill_tokens_per_s));
    json_put(object, "decode_tokens_per_s", json_new_double(result->decode_tokens_per_s));
    return command_print_json(object);
}

int cmd_bench(int argc, char **argv)
{
    struct bench_options values = {
        .prompt_tokens = 512, .decode_tokens = 128, .thread_count = 0, .repetitions = 3};
    const char *model_path = NULL;
    enum td_cpu cpu = TD_CPU_AUTO;
    bool json = false;
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"prompt-tokens", 'p', OPTION_UINT, &values.prompt_tokens, "N", "0 = no prefill", 0, 1e6},
        {"decode-tokens", 'n', OPTION_UINT, &values.decode_tokens, "N", "0 = no decode", 0, 1e6},
        {"repeat", 'r', OPTION_UINT, &values.repetitions, "N", "median of so many", 1, 100},
        OPTION_ROW_THREADS(values.thread_count),
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        "bench",
        "engine",
        "Measures the engine: tokens a second of prefill and decode, each from an empty cache.",
        options,
        sizeof options / sizeof *options,
        1};
    const char *what[1] = {NULL};
    size_t what_count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, what, &what_count);
    if (what_count != 1 || strcmp(what[0], "engine") != 0) {
        fprintf(stderr, "tandem bench: say what to measure: tandem bench engine\n");
        return 2;
    }
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct bench_result result = {0};
    enum td_status status = command_open_model(model_path, cpu, false, &model, &err);
    if (status == TD_OK)
        status = bench_engine(model, &values, &result, &err);
    bool printed = true;
    if (status == TD_OK) {
        const struct kernels *kernels = kernels_get(cpu, NULL);
        const char *name = kernels ? kernels->name : "unknown";
        printed =
            (json ? print_json : print_text)(td_model_get_info(model), name, &values, &result);
    }
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("bench", &err);
}
