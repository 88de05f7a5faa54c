/* tandem run: from nothing to a chat with a real model in one command. It pulls what is not there,
 * and then is `tandem chat -m NAME --mode only-local`. */
#define HELP_OF 85
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_default.h"
#include "app/setup/model/model_store.h"
#include "app/store/pull.h"
#include "app/store/shortlist.h"
#include "base/core/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct verb verb_chat;

/* Nothing was named: the default, or what fits this machine, if the user likes it. */
static enum td_status choose(struct pull *pull, bool yes, char name[static MODEL_NAME_BYTES],
                             struct td_error *err)
{
    struct catalog *catalog = NULL;
    struct shortlist list = {0};
    char answer[64] = "y";
    if (model_default_read(pull->config->models.dir, name))
        return TD_OK;
    enum td_status status = catalog_open(pull->config, &catalog, err);
    if (status != TD_OK)
        return status;
    shortlist_make(pull->config, catalog, &list);
    if (!list.best) {
        status = error_set(err, TD_LIMIT,
                           "no model of the list fits this machine ('tandem models recommend' says "
                           "why); 'tandem chat' has the built-in one");
    } else if (!yes && !isatty(STDIN_FILENO)) {
        status = error_set(err, TD_INVALID,
                           "name a model, as in 'tandem run %s', or take that one with --yes",
                           list.best->name);
    } else {
        snprintf(name, MODEL_NAME_BYTES, "%s", list.best->name);
        fprintf(stderr, "%s fits this machine: %s, about %.0f tokens a second.\n", name,
                list.best->good_at, shortlist_speed(&list, list.best));
        if (!yes &&
            !model_store_find(pull->config->models.dir, name, pull->path, sizeof pull->path)) {
            fprintf(stderr, "Download %.1f GB (licence %s)? [Y/n] ", (double)list.best->bytes / 1e9,
                    list.best->licence);
            if (!fgets(answer, sizeof answer, stdin) || answer[0] == 'n' || answer[0] == 'N')
                status = error_set(err, TD_CANCELLED, "nothing was downloaded");
        }
    }
    catalog_free(catalog);
    return status;
}

/* A model that is there is not looked for anywhere else. */
static enum td_status get(struct pull *pull, const char *asked, struct td_error *err)
{
    bool printed;
    const char *colon = strrchr(asked, ':');
    char name[MODEL_NAME_BYTES];
    snprintf(name, sizeof name, "%.*s",
             colon && strcmp(colon, ":latest") == 0 ? (int)(colon - asked) : (int)strlen(asked),
             asked);
    if (model_store_find(pull->config->models.dir, name, pull->path, sizeof pull->path))
        return TD_OK;
    if (access(asked, R_OK) == 0) {
        snprintf(pull->path, sizeof pull->path, "%s", asked);
        return TD_OK;
    }
    interrupt_watch();
    return pull_run(pull, asked, &printed, err);
}

static int talk(const struct pull *pull, const char *text)
{
    char chat[] = "chat", model[] = "-m", mode[] = "--mode=only-local", config[] = "-c",
         end[] = "--", path[sizeof pull->path], config_path[4096], words[16384];
    char *arguments[9] = {chat, mode, model, path};
    int count = 4;
    snprintf(path, sizeof path, "%s", pull->path);
    if (pull->config_path) {
        snprintf(config_path, sizeof config_path, "%s", pull->config_path);
        arguments[count++] = config;
        arguments[count++] = config_path;
    }
    if (text) {
        snprintf(words, sizeof words, "%s", text);
        arguments[count++] = end;
        arguments[count++] = words;
    }
    return verb_chat.run(count, arguments);
}

static int cmd_run(int argc, char **argv)
{
    struct pull pull = {.retries = PULL_RETRIES, .quiet = true};
    const char *words[2] = {NULL};
    char name[MODEL_NAME_BYTES];
    size_t count = 0;
    bool yes = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(pull.config_path),
        {"yes", 'y', OPTION_FLAG, &yes, NULL, HELP_TEXT("download without asking"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "run",
        .arguments = "[MODEL] [TEXT]",
        .summary = HELP_TEXT(
            "Talks to a model: what 'tandem models pull MODEL' would download is downloaded "
            "first where it is not there. Without MODEL it is the default, or one that fits "
            "this machine. Nothing that you type leaves the device; 'tandem chat -m MODEL' "
            "is a chat that may also ask clouds. With TEXT only that is asked."),
        .example = HELP_TEXT("  tandem run qwen3-4b\n"
                             "  tandem run hf:Qwen/Qwen3-0.6B-GGUF:Q8_0 \"Why is the sky blue?\""),
        OPTION_TABLE(options),
        .positional_max = 2,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, words, &count);
    signal(SIGPIPE, SIG_IGN);
    struct td_error err = {0};
    enum td_status status = pull_open(&pull, &err);
    if (status == TD_OK && !words[0])
        status = choose(&pull, yes, name, &err);
    if (status == TD_OK)
        status = get(&pull, words[0] ? words[0] : name, &err);
    config_free(pull.config);
    return status == TD_OK ? talk(&pull, words[1]) : command_fail("run", &err);
}

const struct verb verb_run_model = {"run", cmd_run,
                                    HELP_TEXT("talk to a model, which is downloaded first")};
