/* tandem models build: a model by a recipe, from weights to a signed file. */
#define HELP_OF 43
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/recipe/recipe_build.h"
#include "base/json/json.h"

#include <signal.h>
#include <stdio.h>

extern const struct verb verb_convert, verb_imatrix, verb_quantize, verb_quant_eval,
    verb_models_mistakes, verb_calibrate;

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static bool print_end(const struct recipe_build *build, enum recipe_end end,
                      const struct td_error *err)
{
    struct json *object = json_new_object();
    json_put(object, "ok", json_new_bool(end == RECIPE_DONE));
    json_put(object, "output", json_new_cstr(build->output));
    json_put(object, "public_key", json_new_cstr(*build->key ? build->key : NULL));
    json_put(object, "changed", json_new_bool(!build->is_all_kept));
    json_put(object, "steps", build->steps ? json_clone(build->steps) : json_new_array());
    if (end != RECIPE_DONE)
        json_put(object, "error", json_new_cstr(err->message));
    return command_print_json(object);
}

static int report(const struct recipe_build *build, enum recipe_end end, const struct td_error *err)
{
    if (build->json)
        return print_end(build, end, err) ? (int)end : 1;
    if (end != RECIPE_DONE) {
        command_fail("models build", err);
        return (int)end;
    }
    return printf("%s is ready, signed by %s\n", build->output, build->key) > 0 ? 0 : 1;
}

static int cmd_models_build(int argc, char **argv)
{
    struct recipe_build build = {.interrupted = &interrupted,
                                 .verbs = {&verb_convert, &verb_imatrix, &verb_quantize,
                                           &verb_quant_eval, &verb_models_mistakes,
                                           &verb_calibrate}};
    const char *path = NULL;
    size_t count = 0;
    bool check_only = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(build.config_path),
        {"check", 0, OPTION_FLAG, &check_only, NULL,
         HELP_TEXT("only check the recipe and what it names, and do nothing"), 0, 0},
        OPTION_ROW_THREADS(build.threads),
        OPTION_ROW_JSON(build.json),
    };
    const struct option_spec spec = {
        .verb = "models build",
        .arguments = "RECIPE.yaml",
        .summary = HELP_TEXT(
            "Makes a model by a recipe: convert, imatrix, quantize, evaluate, mistakes, calibrate, "
            "sign. A "
            "step is not repeated while what it reads is the same, so an interrupted build goes "
            "on. The model gets its name when every gate has passed, with a signed manifest "
            "beside it (docs/quantize.md).\n"
            "Exit codes: 1 interrupted or refused by the system, 2 the recipe is wrong and nothing "
            "was begun, 3 the evaluation's gate refused the model; a step failed: 4 convert, 5 "
            "imatrix, 6 quantize, 7 evaluate, 8 calibrate, 9 sign, 11 mistakes; 10 it repeats "
            "known "
            "mistakes."),
        .example = HELP_TEXT("  tandem models build recipe.yaml"),
        .json = HELP_TEXT(
            "{ok, output, public_key, changed, steps: [{step, settings, seconds, result}], "
            "error}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &path, &count);
    if (count != 1)
        return options_misuse("models build", "name the recipe");
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct td_error err = {0};
    enum recipe_end end = RECIPE_WRONG;
    enum td_status status = recipe_check(&build, path, &err);
    if (status == TD_OK && check_only)
        end = RECIPE_DONE;
    else if (status == TD_OK)
        status = recipe_build_run(&build, &end, &err);
    int code = check_only && status == TD_OK && !build.json
                   ? !(printf("%s: nothing is missing\n", path) > 0)
                   : report(&build, end, &err);
    recipe_build_deinit(&build);
    return code;
}

const struct verb verb_models_build = {"build", cmd_models_build,
                                       HELP_TEXT("make a model by a recipe")};
