/* tandem init: five questions become a configuration with comments. What a user does not say keeps
 * its default, so the file stays short enough to be read. */
#define HELP_OF 70
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/keys.h"
#include "app/config/packed_help.h"
#include "app/terminal/line_reader.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "tier/servers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (64u << 10)
#define ANSWER_BYTES 512

struct answers {
    const char *model, *cloud, *base_url, *listen, *risk, *usd_per_day;
};

struct interview {
    struct line_reader *reader;
    struct buf line;
    char kept[6][ANSWER_BYTES];
    size_t kept_count;
    bool ended;
};

static const struct tier_server *find_cloud(const char *name)
{
    for (size_t i = 0; tier_servers[i]; i++)
        if (strcmp(tier_servers[i]->name, name) == 0)
            return tier_servers[i];
    return NULL;
}

/* The first kind whose key is there, otherwise none. */
static const char *likely_cloud(void)
{
    for (size_t i = 0; tier_servers[i]; i++) {
        const char *key = tier_servers[i]->key_env ? getenv(tier_servers[i]->key_env) : NULL;
        if (key && *key)
            return tier_servers[i]->name;
    }
    return "none";
}

/* Asks until `check` (NULL = anything) takes the answer. An empty one is `otherwise`. **borrows**
 * the interview. */
static const char *ask(struct interview *interview, const char *question, const char *otherwise,
                       bool (*check)(const char *answer))
{
    char prompt[ANSWER_BYTES];
    snprintf(prompt, sizeof prompt, "%s [%s]: ", question, *otherwise ? otherwise : "none");
    while (!interview->ended) {
        enum line_outcome outcome = line_reader_next(interview->reader, prompt, &interview->line);
        struct td_str text = str_trim(buf_view(&interview->line));
        if (outcome != LINE_TEXT) {
            interview->ended = true;
            break;
        }
        if (text.len == 0)
            return otherwise;
        char *kept = interview->kept[interview->kept_count];
        if (text.len < ANSWER_BYTES) {
            memcpy(kept, text.data, text.len);
            kept[text.len] = '\0';
            if (!memchr(kept, 0, text.len) && (!check || check(kept))) {
                interview->kept_count++;
                return kept;
            }
        }
        fprintf(stderr, "   Not understood. An answer would be: %s\n",
                *otherwise ? otherwise : "http://127.0.0.1:8000/v1");
    }
    return otherwise;
}

static bool is_cloud(const char *answer)
{
    return strcmp(answer, "none") == 0 || find_cloud(answer);
}

static bool is_reach(const char *answer)
{
    return strcmp(answer, "machine") == 0 || strcmp(answer, "network") == 0;
}

/* As the configuration has it: "5%" of "0.05", too; NULL: there is no such risk. */
static const char *risk_of(const char *answer)
{
    double risk;
    bool is = str_to_share(str_from(answer), &risk);
    for (size_t i = 0; is && config_risks[i]; i++)
        if (fabs(100 * risk - strtod(config_risks[i], NULL)) < 1e-7)
            return config_risks[i];
    return NULL;
}

static bool is_risk(const char *answer)
{
    return risk_of(answer) != NULL;
}

static bool is_amount(const char *answer)
{
    double number;
    return strcmp(answer, "none") == 0 ||
           (str_to_double(str_from(answer), &number) && number > 0 && number < 1e9);
}

static bool needs_address(const char *cloud)
{
    const struct tier_server *server = find_cloud(cloud);
    return server && !server->base_url && !server->by_region;
}

static void interview_run(struct interview *interview, struct answers *out)
{
    out->model =
        ask(interview, "1. Local model: a GGUF file, or a name that 'tandem models list' shows",
            out->model ? out->model : "built-in", NULL);
    fprintf(stderr, "   Clouds:");
    for (size_t i = 0; tier_servers[i]; i++)
        fprintf(stderr, "%s%s", i ? ", " : " ", tier_servers[i]->name);
    fprintf(stderr, "\n");
    out->cloud = ask(interview, "2. Where harder questions go", out->cloud, is_cloud);
    if (needs_address(out->cloud) && !out->base_url)
        out->base_url = ask(interview, "   Its address, with /v1 at its end", "", NULL);
    out->risk = ask(interview, "3. How many answers may be local and wrong", out->risk, is_risk);
    out->usd_per_day =
        ask(interview, "4. US dollars that clouds may cost in a day", out->usd_per_day, is_amount);
    out->listen =
        ask(interview, "5. Who may connect: this machine alone (machine), or others too (network)",
            "machine", is_reach);
}

/* --- the file --- */

/* In double quotes, as YAML reads it. */
static void write_quoted(struct buf *out, const char *text)
{
    buf_append_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_append_char(out, '\\');
        buf_append_char(out, *text);
    }
    buf_append_char(out, '"');
}

static void write_engine(const struct answers *answers, struct buf *out)
{
    buf_append_str(out, STR("\nengine:\n"
                            "  # A GGUF file, or a model from 'tandem models pull'. Without it the "
                            "small built-in one\n"
                            "  # answers.\n"));
    if (strcmp(answers->model, "built-in") == 0) {
        buf_append_str(out, STR("  # model: qwen2.5-0.5b\n"));
        return;
    }
    buf_append_str(out, STR("  model: "));
    write_quoted(out, answers->model);
    buf_append_char(out, '\n');
}

static void write_tiers(const struct answers *answers, struct buf *out)
{
    const struct tier_server *cloud = find_cloud(answers->cloud);
    buf_append_str(out, STR("\ntiers:                 # nearest and cheapest first\n"
                            "  - name: local        # the engine in this process\n"
                            "    kind: local\n"));
    if (!cloud) {
        buf_append_str(out, STR("  # - name: cloud      # docs/providers.md lists the kinds\n"
                                "  #   kind: openai\n"
                                "  #   api_key_env: OPENAI_API_KEY\n"));
        return;
    }
    buf_printf(out, "  - name: cloud\n    kind: %s\n", cloud->name);
    if (answers->base_url && *answers->base_url) {
        buf_append_str(out, STR("    base_url: "));
        write_quoted(out, answers->base_url);
        buf_append_char(out, '\n');
    }
    if (cloud->key_env && !cloud->of_ones_own)
        buf_printf(out, "    api_key_env: %s  # the name of the variable, never the key itself\n",
                   cloud->key_env);
    if (cloud->model)
        buf_printf(out, "    model: %s\n", cloud->model);
    else
        buf_append_str(out, STR("    model: default     # as that server calls it\n"));
}

static void write_routes(const struct answers *answers, struct buf *out)
{
    bool cloud = find_cloud(answers->cloud) != NULL;
    buf_printf(out,
               "\nroutes:\n"
               "  - name: auto         # what clients ask for as their model\n"
               "    kind: %s\n"
               "    tiers: [local%s]\n",
               cloud ? "hybrid" : "local-only", cloud ? ", cloud" : "");
    if (cloud)
        buf_printf(out,
                   "    gates:\n"
                   "      # At most so many of all questions are answered here and wrongly. "
                   "'tandem calibrate'\n"
                   "      # measures it for your model and your questions.\n"
                   "      risk: %s\n",
                   risk_of(answers->risk));
    if (cloud && strcmp(answers->usd_per_day, "none") != 0)
        buf_printf(out,
                   "\nbudgets:\n"
                   "  - name: all          # when it is spent, only free tiers answer\n"
                   "    usd_per_day: %s\n",
                   answers->usd_per_day);
}

static void write_file(const struct answers *answers, struct buf *out)
{
    bool network = strcmp(answers->listen, "network") == 0;
    buf_append_str(out, STR("# Written by 'tandem init'. Every key: tandem help config. In force: "
                            "tandem config show FILE\n\nserver:\n"));
    buf_printf(out, "  listen: %s\n", network ? "0.0.0.0:8080" : "127.0.0.1:8080");
    if (network)
        buf_append_str(out, STR("  # Others can reach it, so it does not start before it has keys: "
                                "'tandem keys add'.\n"));
    write_engine(answers, out);
    write_tiers(answers, out);
    write_routes(answers, out);
    buf_append_str(out, STR("\nprivacy:\n"
                            "  # Detectors raise the class of each request: sensitive stays near, "
                            "or goes out with\n"
                            "  # made-up values in place of the private ones; restricted never "
                            "leaves the device.\n"
                            "  data_class: public\n"
                            "\nledger:\n"
                            "  store_prompts: false # texts are not recorded; reasons, tokens and "
                            "costs are\n"));
}

/* --- the verb --- */

static enum td_status take_answers(struct answers *answers, bool asks, struct interview *interview,
                                   struct td_error *err)
{
    struct terminal terminal;
    if (!asks)
        return TD_OK;
    terminal_look(&terminal);
    enum td_status status = line_reader_new(&terminal, NULL, NULL, &interview->reader, err);
    if (status != TD_OK)
        return status;
    buf_init(&interview->line, LINE_BYTES_MAX);
    interview_run(interview, answers);
    buf_deinit(&interview->line);
    line_reader_free(interview->reader);
    return interview->ended ? error_set(err, TD_CANCELLED, "nothing was written") : TD_OK;
}

static enum td_status check_answers(const struct answers *answers, struct td_error *err)
{
    if (!is_cloud(answers->cloud))
        return error_set(err, TD_INVALID,
                         "there is no cloud '%.60s'; see 'tandem help config tiers'",
                         answers->cloud);
    if (needs_address(answers->cloud) && (!answers->base_url || !*answers->base_url))
        return error_set(err, TD_INVALID, "a cloud of kind %s needs an address: --base-url",
                         answers->cloud);
    if (!is_risk(answers->risk))
        return error_set(err, TD_INVALID, "--risk must be 2%%, 5%% or 10%%");
    if (!is_amount(answers->usd_per_day))
        return error_set(err, TD_INVALID, "--usd-per-day must be an amount, or none");
    return TD_OK;
}

static int refuse_existing(const char *file)
{
    struct td_error err = {0};
    error_set(&err, TD_BUSY, "%s exists already; name another file, or remove it", file);
    return command_fail("init", &err);
}

/* What a server would not take is not written. */
static enum td_status write_checked(const char *file, struct td_str text, struct td_error *err)
{
    struct config *config;
    enum td_status status = config_parse(file, text, NULL, NULL, &config, err);
    if (status == TD_OK)
        status = file_create(file, text, 0644, err);
    config_free(config);
    return status;
}

static void say_what_next(const char *file, const struct answers *answers)
{
    const struct tier_server *cloud = find_cloud(answers->cloud);
    const char *key = cloud && !cloud->of_ones_own ? cloud->key_env : NULL;
    const char *value = key ? getenv(key) : NULL;
    printf("Wrote %s. Next:\n", file);
    if (key && (!value || !*value))
        printf("  export %s=...\n", key);
    if (strcmp(answers->listen, "network") == 0)
        printf("  tandem keys add --operator NAME --config %s\n", file);
    printf("  tandem doctor --config %s\n  tandem serve --config %s\n", file, file);
}

static int cmd_init(int argc, char **argv)
{
    struct answers answers = {.cloud = likely_cloud(), .risk = "5%", .usd_per_day = "5"};
    const char *file = "tandem.yaml";
    bool yes = false, network = false;
    size_t count = 0;
    const struct option options[] = {
        {"model", 'm', OPTION_TEXT, &answers.model, "MODEL",
         HELP_TEXT("local model; default: the built-in one"), 0, 0},
        {"cloud", 0, OPTION_TEXT, &answers.cloud, "KIND",
         HELP_TEXT("where harder questions go, or none; default: the kind whose key is set"), 0, 0},
        {"base-url", 0, OPTION_TEXT, &answers.base_url, "URL", HELP_TEXT("its address"), 0, 0},
        {"risk", 0, OPTION_TEXT, &answers.risk, "SHARE",
         HELP_TEXT("of all answers, how many may be local and wrong; default 5%"), 0, 0},
        {"usd-per-day", 0, OPTION_TEXT, &answers.usd_per_day, "USD",
         HELP_TEXT("what clouds may cost, or none; default 5"), 0, 0},
        {"network", 0, OPTION_FLAG, &network, NULL,
         HELP_TEXT("other machines may connect, with keys"), 0, 0},
        {"yes", 'y', OPTION_FLAG, &yes, NULL, HELP_TEXT("ask nothing"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "init",
        .arguments = "[FILE]",
        .summary = HELP_TEXT(
            "Asks five questions and writes a configuration with comments, by default "
            "tandem.yaml. A file that exists is left as it is. Nothing is asked with --yes, "
            "or when the input is not a terminal."),
        .example = HELP_TEXT("  tandem init --cloud anthropic --usd-per-day 2 --yes"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, &count);
    struct td_error err = {0};
    struct interview interview = {0};
    if (access(file, F_OK) == 0)
        return refuse_existing(file);
    enum td_status status = take_answers(&answers, !yes && isatty(STDIN_FILENO), &interview, &err);
    if (!answers.model)
        answers.model = "built-in";
    if (!answers.listen)
        answers.listen = network ? "network" : "machine";
    if (status == TD_OK)
        status = check_answers(&answers, &err);
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    if (status == TD_OK)
        write_file(&answers, &text);
    if (status == TD_OK && text.failed)
        status = error_set(&err, TD_NO_MEMORY, "no memory for the file");
    if (status == TD_OK)
        status = write_checked(file, buf_view(&text), &err);
    buf_deinit(&text);
    if (status == TD_BUSY)
        return refuse_existing(file);
    if (status != TD_OK)
        return command_fail("init", &err);
    say_what_next(file, &answers);
    return 0;
}

const struct verb verb_init = {"init", cmd_init,
                               HELP_TEXT("write a configuration by asking five questions")};
