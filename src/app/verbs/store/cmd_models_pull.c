/* tandem models pull: gets a model, says how to use it, and offers to make it the default. */
#define HELP_OF 78
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/calibrate.h"
#include "app/setup/model/adapter_file.h"
#include "app/setup/model/model_default.h"
#include "app/store/pull.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static bool take_sha256(void *digest, const char *text)
{
    return download_sha256_parse(str_from(text), digest);
}

/* An adapter is no model: what it is worth is not known without the model that it changes. */
static enum td_status calibrate(const struct pull *pull, bool *printed, struct td_error *err)
{
    struct adapter_file adapter;
    const struct calibrate_options options = {.model = pull->path,
                                              .config = pull->config_path,
                                              .tokens_max = CALIBRATE_TOKENS,
                                              .seed = 1,
                                              .cpu = TD_CPU_AUTO,
                                              .json = pull->json,
                                              .cancel = &interrupted};
    if (adapter_file_read(pull->path, &adapter))
        return error_set(err, TD_INVALID, "%s is an adapter, which --calibrate cannot measure",
                         pull->path);
    return calibrate_run(&options, printed, err);
}

/* Only a person is asked, and only about what stands where models are looked for. */
static enum td_status offer_default(const struct pull *pull, struct td_error *err)
{
    struct adapter_file adapter;
    char answer[64] = "", now[MODEL_NAME_BYTES] = "", name[MODEL_NAME_BYTES];
    const char *dir = pull->config->models.dir;
    if (pull->json || pull->dir || adapter_file_read(pull->path, &adapter))
        return TD_OK;
    snprintf(name, sizeof name, "%.*s", (int)strlen(pull->source.name) - 5, pull->source.name);
    printf("Talk to it: tandem run %s\n", name);
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        (model_default_read(dir, now) && strcmp(now, name) == 0))
        return TD_OK;
    printf("Make it the default of chat, ask and serve? [y/N] ");
    fflush(stdout);
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
        return TD_OK;
    enum td_status status = model_default_write(dir, name, err);
    if (status == TD_OK)
        printf("%s is the default now; 'tandem models default none' undoes it.\n", name);
    return status;
}

static int cmd_models_pull(int argc, char **argv)
{
    struct pull pull = {.retries = PULL_RETRIES};
    bool calibrates = false;
    struct option_each sha256_option = {take_sha256, pull.digest, "64 hex digits"};
    const struct option options[] = {
        OPTION_ROW_CONFIG(pull.config_path),
        {"name", 0, OPTION_TEXT, &pull.name, "NAME",
         HELP_TEXT("name to give the model; default: the name of the file"), 0, 0},
        {"sha256", 0, OPTION_EACH, &sha256_option, "HEX",
         HELP_TEXT("the SHA-256 that the file must have"), 0, 0},
        {"dir", 'd', OPTION_TEXT, &pull.dir, "FOLDER",
         HELP_TEXT("the model folder; default: models.dir of the configuration, or TANDEM_MODELS"),
         0, 0},
        {"streams", 's', OPTION_UINT, &pull.streams, "N",
         HELP_TEXT("parallel connections; default 4"), 1, DOWNLOAD_STREAMS_MAX},
        {"retries", 0, OPTION_UINT, &pull.retries, "N",
         HELP_TEXT("failures in a row before it gives up; default 8"), 0, 1000},
        {"ca-file", 0, OPTION_TEXT, &pull.ca_file, "FILE", HELP_TEXT("certificates to trust"), 0,
         0},
        {"calibrate", 0, OPTION_FLAG, &calibrates, NULL,
         HELP_TEXT("then measure what its confidence is worth, as 'tandem calibrate' does"), 0, 0},
        {"force", 'f', OPTION_FLAG, &pull.force, NULL,
         HELP_TEXT("replace a model of the same name"), 0, 0},
        OPTION_ROW_JSON(pull.json),
    };
    const struct option_spec spec = {
        .verb = "models pull",
        .arguments = "SOURCE",
        .summary = HELP_TEXT(
            "Downloads a model into the model folder. SOURCE is a name that 'tandem models "
            "recommend' shows (names of Ollama's are understood where they are the same model), "
            "hf:ORG/REPO:Q4_K_M or hf:ORG/REPO:FILE.gguf (with @REVISION after it for another "
            "revision than main), an http(s) address, or a file. Of a model in several files "
            "(NAME-00001-of-00003.gguf) name any: all are fetched. An interrupted download "
            "continues where it stopped.\n"
            "The SHA-256 of the file is printed, and compared with --sha256, with the list or with "
            "what the server says. HF_ENDPOINT or models.mirror names another hub; HF_TOKEN "
            "gives access to gated models."),
        .json = HELP_TEXT("One event a line."),
        .example = HELP_TEXT("  tandem models pull qwen3-4b\n"
                             "  tandem models pull --name qwen --calibrate \\\n"
                             "    hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_0\n"
                             "  tandem chat -m qwen"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    const char *source[1] = {NULL};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, source, &count);
    if (count != 1)
        return options_misuse("models pull", "name what to download: a model of 'tandem models "
                                             "recommend', hf:ORG/REPO:FILE.gguf, an address or a "
                                             "file");
    interrupt_watch();
    signal(SIGPIPE, SIG_IGN);
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = pull_open(&pull, &err);
    if (status == TD_OK)
        status = pull_run(&pull, source[0], &printed, &err);
    if (status == TD_OK && printed && calibrates)
        status = calibrate(&pull, &printed, &err);
    if (status == TD_OK && printed)
        status = offer_default(&pull, &err);
    config_free(pull.config);
    return status == TD_OK ? !printed : command_fail("models pull", &err);
}

const struct verb verb_models_pull = {"pull", cmd_models_pull, HELP_TEXT("download a model")};
