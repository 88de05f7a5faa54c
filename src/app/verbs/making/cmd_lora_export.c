/* tandem lora export: an adapter in the other form: GGUF, or a folder of Hugging Face's PEFT. */
#define HELP_OF 41
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"
#include "quant/convert/lora_peft.h"

#include <stdio.h>
#include <sys/stat.h>

static int cmd_lora_export(int argc, char **argv)
{
    const char *model_path = NULL, *named[2] = {NULL};
    size_t count = 0;
    bool json = false;
    const struct option options[] = {OPTION_ROW_MODEL(model_path), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "lora export",
        .arguments = "ADAPTER OUT -m MODEL",
        .summary = HELP_TEXT(
            "Writes an adapter in the other form. ADAPTER is a GGUF file, and OUT the "
            "folder of Hugging Face's PEFT to write (adapter_config.json, "
            "adapter_model.safetensors); or ADAPTER is such a folder, and OUT the GGUF file "
            "for --lora. MODEL is the GGUF model that the adapter belongs to."),
        .example = HELP_TEXT("  tandem lora export my-adapter desk.gguf -m model.gguf"),
        .json = HELP_TEXT("{path, matrices, rank, alpha}"),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &count);
    if (count != 2)
        return options_misuse("lora export", "name the adapter and what to write");
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct lora_peft_result result = {0};
    struct stat what;
    bool printed = true, is_folder = stat(named[0], &what) == 0 && S_ISDIR(what.st_mode);
    enum td_status status = command_spare_inputs(named[1], &model_path, 1, &err);
    if (status == TD_OK && is_folder)
        status = command_spare_folder(named[1], named[0], &err);
    if (status == TD_OK)
        status = command_open_model(model_path, TD_CPU_AUTO, false, &model, &err);
    if (status == TD_OK)
        status =
            (is_folder ? lora_from_peft : lora_to_peft)(model, named[0], named[1], &result, &err);
    if (status == TD_OK && json) {
        struct json *object = json_new_object();
        json_put(object, "path", json_new_cstr(named[1]));
        json_put(object, "matrices", json_new_int((int64_t)result.matrices));
        json_put(object, "rank", json_new_int(result.rank_max));
        json_put(object, "alpha", json_new_double((double)result.alpha));
        printed = command_print_json(object);
    } else if (status == TD_OK) {
        printed = printf("%s: %zu matrices, rank %u, alpha %g\n", named[1], result.matrices,
                         result.rank_max, (double)result.alpha) > 0;
    }
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail_as("lora export", &err, json);
}

const struct verb verb_lora_export = {"export", cmd_lora_export,
                                      HELP_TEXT("write an adapter in another form")};
