/* tandem bench engine: tokens a second of prefill and decode. They are measured as llama-bench does
 * (pp and tg, depth -d), so that the figures can be compared. It also prints what the machine
 * allows and what the engine's parts should come to. */
#define HELP_OF 47
#include "app/cli/command.h"
#include "app/cli/machine_load.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/machine/cores.h"
#include "base/text/names.h"
#include "engine/measure/bench.h"
#include "engine/measure/roofline.h"
#include "kernels/kernels.h"

#include <stdio.h>

struct bench {
    const char *model_path;
    enum td_cpu cpu;
    bool json, no_roofline;
    struct bench_options options;

    const struct td_model_info *info;
    const char *kernels;
    struct bench_result result;
    struct machine_load load; /* beside the measurement */
    struct roofline roofline;
};

static const char *peak_name(const struct roofline *roofline)
{
    return roofline->peak_is_float ? "float" : "int8";
}

/* Of the peak, what the prompt's products made use of. */
static double peak_fraction(const struct bench *bench)
{
    const struct roofline *roofline = &bench->roofline;
    return bench->result.prefill_tokens_per_s * roofline->ops_per_token / roofline->peak_ops_per_s;
}

static double read_fraction(const struct bench *bench)
{
    const struct roofline *roofline = &bench->roofline;
    return bench->result.decode_tokens_per_s * roofline->bytes_per_token /
           roofline->read_bytes_per_s;
}

/* What bounds a phase; a figure far behind the sum of the parts has another cause than they. */
static const char *bottleneck(const struct roofline_phase *phase, double measured)
{
    return measured < 0.7 * phase->predicted_tokens_per_s ? "overhead" : phase->bottleneck;
}

static const char *reason(const struct roofline_phase *phase, double measured)
{
    return measured < 0.7 * phase->predicted_tokens_per_s
               ? "slower than the sum of its parts: other programs run, or there are too many "
                 "threads"
               : phase->reason;
}

static void print_phase(const char *name, const struct roofline_phase *phase, double measured,
                        double fraction, const char *of)
{
    if (measured > 0)
        printf(
            "  %-7s %9.1f tokens/s; predicted %.1f (%.0f %% of it), limit %.1f; %.0f %% of the %s; "
            "%s: %s\n",
            name, measured, phase->predicted_tokens_per_s,
            100 * measured / phase->predicted_tokens_per_s, phase->limit_tokens_per_s,
            100 * fraction, of, bottleneck(phase, measured), reason(phase, measured));
}

static bool print_text(const struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    const struct bench_result *result = &bench->result;
    const struct roofline *roofline = &bench->roofline;
    printf("%s %s, %s, %u threads: prefill %.1f tokens/s (%u tokens), decode %.1f tokens/s "
           "(%u tokens)",
           bench->info->name, bench->info->quantization, bench->kernels, result->thread_count,
           result->prefill_tokens_per_s, options->prompt_tokens, result->decode_tokens_per_s,
           options->decode_tokens);
    if (options->depth)
        printf(", after %u tokens", options->depth);
    if (bench->no_roofline)
        return puts("") >= 0;
    printf("\n  this machine: %.1f GB/s read, %.0f G%s/s %s; a token takes %.1f MB and %.2f G "
           "operations\n",
           roofline->read_bytes_per_s / 1e9, roofline->peak_ops_per_s / 1e9,
           roofline->peak_is_float ? "FLOP" : "OP", peak_name(roofline),
           roofline->bytes_per_token / 1e6, roofline->ops_per_token / 1e9);
    print_phase("prefill", &roofline->prefill, result->prefill_tokens_per_s, peak_fraction(bench),
                "multiply-add peak");
    print_phase("decode", &roofline->decode, result->decode_tokens_per_s, read_fraction(bench),
                "read bandwidth");
    return fflush(stdout) == 0;
}

static struct json *phase_to_json(const struct roofline_phase *phase, double measured,
                                  double fraction)
{
    struct json *object = json_new_object();
    json_put(object, "limit_tokens_per_s", json_new_double(phase->limit_tokens_per_s));
    json_put(object, "predicted_tokens_per_s", json_new_double(phase->predicted_tokens_per_s));
    json_put(object, "measured_tokens_per_s", json_new_double(measured));
    json_put(object, "of_predicted", json_new_double(measured / phase->predicted_tokens_per_s));
    json_put(object, "of_machine", json_new_double(fraction));
    json_put(object, "bottleneck", json_new_cstr(bottleneck(phase, measured)));
    return object;
}

static struct json *roofline_to_json(const struct bench *bench)
{
    const struct roofline *roofline = &bench->roofline;
    const struct bench_result *result = &bench->result;
    struct json *object = json_new_object();
    json_put(object, "read_bytes_per_s", json_new_double(roofline->read_bytes_per_s));
    json_put(object, "peak_ops_per_s", json_new_double(roofline->peak_ops_per_s));
    json_put(object, "peak", json_new_cstr(peak_name(roofline)));
    json_put(object, "bytes_per_token", json_new_double(roofline->bytes_per_token));
    json_put(object, "ops_per_token", json_new_double(roofline->ops_per_token));
    if (result->prefill_tokens_per_s > 0)
        json_put(
            object, "prefill",
            phase_to_json(&roofline->prefill, result->prefill_tokens_per_s, peak_fraction(bench)));
    if (result->decode_tokens_per_s > 0)
        json_put(
            object, "decode",
            phase_to_json(&roofline->decode, result->decode_tokens_per_s, read_fraction(bench)));
    return object;
}

static bool print_json(const struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    struct json *object = json_new_object();
    json_put(object, "model", json_new_cstr(bench->info->name));
    json_put(object, "architecture", json_new_cstr(bench->info->architecture));
    json_put(object, "quantization", json_new_cstr(bench->info->quantization));
    json_put(object, "file_bytes", json_new_int((int64_t)bench->info->file_bytes));
    json_put(object, "cpu", json_new_cstr(bench->kernels));
    json_put(object, "kv_type", json_new_cstr(names_kv_type(bench->options.kv_type)));
    json_put(object, "threads", json_new_int(bench->result.thread_count));
    json_put(object, "prompt_tokens", json_new_int(options->prompt_tokens));
    json_put(object, "decode_tokens", json_new_int(options->decode_tokens));
    json_put(object, "depth", json_new_int(options->depth));
    json_put(object, "repeats", json_new_int(options->repetitions));
    json_put(object, "prefill_tokens_per_s", json_new_double(bench->result.prefill_tokens_per_s));
    json_put(object, "decode_tokens_per_s", json_new_double(bench->result.decode_tokens_per_s));
    json_put(object, "machine_load", machine_load_to_json(&bench->load));
    if (!bench->no_roofline)
        json_put(object, "roofline", roofline_to_json(bench));
    return command_print_json(object);
}

static void warn_when_disturbed(const struct machine_load *load)
{
    if (load->disturbs)
        fprintf(stderr,
                "tandem bench: the machine was busy: other programs used %.2f processors and the "
                "hypervisor took %.2f; the figures are too low, so measure again when the machine "
                "is idle\n",
                load->foreign_cpus, load->stolen_cpus);
}

static enum td_status run_once(struct bench *bench, const struct td_model *model,
                               uint32_t thread_count, bool *printed, struct td_error *err)
{
    struct bench_options options = bench->options;
    options.thread_count = thread_count;
    struct machine_counters begin, end;
    bool counted = machine_counters_read(NULL, &begin);
    enum td_status status = bench_engine(model, &options, &bench->result, err);
    bench->load = (struct machine_load){0};
    if (counted && machine_counters_read(NULL, &end))
        bench->load = machine_load_between(&begin, &end);
    struct roofline_options roofline = {.prompt_tokens = options.prompt_tokens,
                                        .decode_tokens = options.decode_tokens,
                                        .depth = options.depth,
                                        .thread_count = thread_count};
    if (status == TD_OK && !bench->no_roofline)
        status = roofline_measure(model, &roofline, &bench->roofline, err);
    if (status == TD_OK)
        *printed &= (bench->json ? print_json : print_text)(bench);
    if (status == TD_OK)
        warn_when_disturbed(&bench->load);
    return status;
}

static enum td_status run(struct bench *bench, bool *printed, struct td_error *err)
{
    struct td_model *model = NULL;
    enum td_status status = command_open_model(bench->model_path, bench->cpu, false, &model, err);
    if (status != TD_OK)
        return status;
    const struct kernels *kernels = kernels_get(bench->cpu, NULL);
    bench->kernels = kernels ? kernels->name : "unknown";
    bench->info = td_model_get_info(model);
    uint32_t asked = bench->options.thread_count;
    struct cores cores;
    cores_read("", NULL, &cores);
    /* Without a number: one, and as many as there are cores for. */
    if (asked == 0 && cores_thread_count(&cores) > 1)
        status = run_once(bench, model, 1, printed, err);
    if (status == TD_OK)
        status = run_once(bench, model, asked, printed, err);
    td_model_close(model);
    return status;
}

static int cmd_bench(int argc, char **argv)
{
    struct bench bench = {
        .options = {.prompt_tokens = 512, .decode_tokens = 128, .repetitions = 3}};
    struct bench_options *values = &bench.options;
    const struct option options[] = {
        OPTION_ROW_MODEL(bench.model_path),
        {"prompt-tokens", 'p', OPTION_UINT, &values->prompt_tokens, "N",
         HELP_TEXT("tokens of the prompt; 0 = do not measure prefill; default 512"), 0, 1e6},
        {"decode-tokens", 'n', OPTION_UINT, &values->decode_tokens, "N",
         HELP_TEXT("tokens of the answer; 0 = do not measure decode; default 128"), 0, 1e6},
        {"depth", 'd', OPTION_UINT, &values->depth, "N",
         HELP_TEXT("tokens that are already in the cache"), 0, 1e6},
        {"repeat", 'r', OPTION_UINT, &values->repetitions, "N",
         HELP_TEXT("measure N times and take the median; default 3"), 1, 64},
        {"threads", 't', OPTION_UINT, &values->thread_count, "N",
         HELP_TEXT("compute threads; default: first one, then one for each core"), 0, 1024},
        {"no-roofline", 0, OPTION_FLAG, &bench.no_roofline, NULL,
         HELP_TEXT("only measure; do not compare with what the machine allows"), 0, 0},
        OPTION_ROW_CPU(bench.cpu),
        OPTION_ROW_KV_TYPE(values->kv_type),
        OPTION_ROW_JSON(bench.json),
    };
    const struct option_spec spec = {
        .verb = "bench",
        .arguments = "engine",
        .summary = HELP_TEXT(
            "Measures how many tokens a second the engine reads (prefill) and writes "
            "(decode). Beside that it prints what the memory bandwidth and the arithmetic "
            "of this machine allow, and what limits the speed."),
        .json = HELP_TEXT("One object for each number of threads, one a line."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    const char *what[1] = {NULL};
    size_t what_count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, what, &what_count);
    if (what_count != 1 || strcmp(what[0], "engine") != 0)
        return options_misuse("bench", "name what to measure: tandem bench engine");
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = run(&bench, &printed, &err);
    return status == TD_OK ? !printed : command_fail("bench", &err);
}

const struct verb verb_bench = {"bench", cmd_bench, HELP_TEXT("measure the speed of the engine")};
