/* tandem convert: a Hugging Face folder as a GGUF file. */
#define HELP_OF 38
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "quant/convert/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool print_result(const struct convert_options *options, const struct convert_result *result,
                         double seconds, bool json)
{
    if (!json && result->packed)
        printf("the folder was quantised by %s and was read as floats: errors add up when it is "
               "quantised again\n",
               result->packed);
    if (!json && result->file.mended)
        printf("%llu weights were no numbers and were replaced\n",
               (unsigned long long)result->file.mended);
    if (!json)
        return printf("%s: %s, %s, %zu tensors, %.1f M weights, %.1f MB, %.1f s\n", options->out,
                      result->architecture, mix_name(options->mix), result->tensor_count,
                      (double)result->file.weights / 1e6, (double)result->file.file_bytes / 1e6,
                      seconds) > 0;
    struct json *object = json_new_object();
    json_put(object, "path", json_new_cstr(options->out));
    json_put(object, "architecture", json_new_cstr(result->architecture));
    json_put(object, "type", json_new_cstr(mix_name(options->mix)));
    json_put(object, "tensors", json_new_int((int64_t)result->tensor_count));
    json_put(object, "weights", json_new_int((int64_t)result->file.weights));
    json_put(object, "file_bytes", json_new_int((int64_t)result->file.file_bytes));
    json_put(object, "dequantized_from", json_new_cstr(result->packed));
    json_put(object, "mended_weights", json_new_int((int64_t)result->file.mended));
    json_put(object, "seconds", json_new_double(seconds));
    return command_print_json(object);
}

static int cmd_convert(int argc, char **argv)
{
    struct convert_options values = {.cancel = &interrupted, .progress = progress_report};
    const char *named[2] = {NULL}, *type = "F16";
    size_t named_count = 0;
    uint32_t threads = 0;
    bool json = false;
    const struct option options[] = {
        {"type", 0, OPTION_TEXT, &type, "TYPE",
         HELP_TEXT("F16 (default), F32, BF16, or a type of 'tandem quantize'"), 0, 0},
        {"name", 0, OPTION_TEXT, &values.name, "NAME",
         HELP_TEXT("the model's name; default: that of the folder"), 0, 0},
        {"license", 0, OPTION_TEXT, &values.license, "TEXT",
         HELP_TEXT("its licence, for the metadata"), 0, 0},
        {"teacher", 0, OPTION_TEXT, &values.teacher, "TEXT",
         HELP_TEXT("the model that it learned from, for the metadata"), 0, 0},
        {"method", 0, OPTION_TEXT, &values.method, "TEXT",
         HELP_TEXT("how it was made, for the metadata"), 0, 0},
        {"force", 0, OPTION_FLAG, &values.force, NULL,
         HELP_TEXT("replace weights that are no numbers (NaN, infinite) instead of refusing them"),
         0, 0},
        OPTION_ROW_THREADS(threads),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "convert",
        .arguments = "FOLDER OUT.gguf",
        .summary = HELP_TEXT(
            "Makes a GGUF file of a Hugging Face folder: safetensors, config.json, "
            "tokenizer.json and tokenizer_config.json. Checkpoints of GPTQ and AWQ are read "
            "as the weights that they stand for. The hashes of the sources are in the "
            "file's metadata, which 'tandem models info' shows."),
        .example = HELP_TEXT("  tandem convert Qwen3-0.6B qwen3-f16.gguf --license apache-2.0\n"
                             "  tandem quantize qwen3-f16.gguf qwen3-q4.gguf Q4_K_M"),
        .json =
            HELP_TEXT("{path, architecture, type, tensors, weights, file_bytes, dequantized_from, "
                      "mended_weights, seconds}"),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &named_count);
    if (named_count != 2)
        return options_misuse("convert", "name the folder and the file to write");
    values.folder = named[0];
    values.out = named[1];
    interrupt_watch();
    struct td_error err = {0};
    struct progress progress;
    struct convert_result result;
    bool printed = true;
    enum td_status status = TD_OK;
    values.mix = mix_find(str_from(type));
    values.threads = thread_pool_new(threads);
    values.progress_ctx = &progress;
    if (values.mix == NULL)
        status = error_set(&err, TD_INVALID, "no type '%.40s'; there are %s", type, mix_list());
    else if (values.threads == NULL)
        status = error_set(&err, TD_NO_MEMORY, "no memory for threads");
    else
        status = command_spare_folder(values.out, values.folder, &err);
    progress_begin(&progress, "converting", json);
    if (status == TD_OK)
        status = convert_folder(&values, &result, &err);
    double seconds = progress_end(&progress);
    if (status == TD_OK)
        printed = print_result(&values, &result, seconds, json);
    thread_pool_free(values.threads);
    return status == TD_OK ? !printed : command_fail("convert", &err);
}

const struct verb verb_convert = {"convert", cmd_convert,
                                  HELP_TEXT("make a GGUF file of a Hugging Face folder")};
