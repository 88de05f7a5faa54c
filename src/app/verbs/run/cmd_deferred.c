/* tandem deferred: questions that wait for a connection, and their answers, as a running server has
 * them. */
#define HELP_OF 67
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/remote.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <time.h>

#define ANSWER_BYTES_MAX (64u << 20)
#define TIMEOUT_MS 30000
#define PATH_BYTES 256

struct deferred_command {
    const char *config, *url;
    bool as_json;
};

#define ROWS(command)                                                                 \
    OPTION_ROW_CONFIG((command).config),                                              \
        {"url",       'u',                                                            \
         OPTION_TEXT, &(command).url,                                                 \
         "URL",       "the server to ask; default: the address in the configuration", \
         0,           0},                                                             \
        OPTION_ROW_JSON((command).as_json)

static enum td_status call(const struct deferred_command *command, const char *method,
                           const char *path, struct json **out, struct td_error *err)
{
    char base[300];
    struct config *config = NULL;
    enum td_status status = config_load(command->config, &config, err);
    if (status == TD_OK)
        remote_write_base(config, base, sizeof base);
    struct remote_request request = {.base = command->url ? command->url : base,
                                     .path = path,
                                     .method = method,
                                     .timeout_ms = TIMEOUT_MS};
    if (status == TD_OK)
        status = remote_ask(&request, NULL, ANSWER_BYTES_MAX, out, err);
    config_free(config);
    return status;
}

static void write_time(const struct json *value, char out[static 20])
{
    time_t at = (time_t)json_int(value, 0);
    struct tm local;
    snprintf(out, 20, "-");
    if (at && localtime_r(&at, &local))
        strftime(out, 20, "%Y-%m-%d %H:%M:%S", &local);
}

static const char *text_of(const struct json *object, const char *name)
{
    const char *text = json_cstr(json_get(object, name));
    return text ? text : "-";
}

static void print_row(const struct json *row)
{
    char created[20], expires[20];
    write_time(json_get(row, "created_at"), created);
    write_time(json_get(row, "expires_at"), expires);
    printf("%-36s  %-9s  %-19s  %-19s  %5lld  %s\n", text_of(row, "id"), text_of(row, "status"),
           created, expires, (long long)json_int(json_get(row, "tries"), 0),
           text_of(row, "reason"));
}

static void print_list(const struct json *list)
{
    const struct json *data = json_get(list, "data");
    if (json_count(data) == 0) {
        printf("no questions wait\n");
        return;
    }
    printf("%-36s  %-9s  %-19s  %-19s  %5s  %s\n", "id", "status", "asked", "expires", "tries",
           "why");
    for (size_t i = 0; i < json_count(data); i++)
        print_row(json_at(data, i));
    if (json_bool(json_get(list, "has_more"), false))
        printf("there are more: --after %s\n", text_of(list, "last_id"));
}

static int cmd_deferred_list(int argc, char **argv)
{
    struct deferred_command command = {NULL, NULL, false};
    const char *status_name = NULL, *after = NULL;
    const struct option options[] = {
        ROWS(command),
        {"status", 0, OPTION_TEXT, &status_name, "STATUS",
         HELP_TEXT("only those: waiting, running, answered, failed, expired or cancelled"), 0, 0},
        {"after", 0, OPTION_TEXT, &after, "ID", HELP_TEXT("those that come after this one"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "deferred list",
        .summary = HELP_TEXT(
            "Prints the newest hundred questions that wait for a connection, or have been "
            "answered since."),
        .json = HELP_TEXT("what GET /tandem/v1/deferred answers"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    char path[PATH_BYTES];
    struct json *list = NULL;
    struct td_error err = {0};
    snprintf(path, sizeof path, "/tandem/v1/deferred?limit=100&status=%.20s&after=%.60s",
             status_name ? status_name : "", after ? after : "");
    if (call(&command, "GET", path, &list, &err) != TD_OK)
        return command_fail_as("deferred list", &err, command.as_json);
    if (command.as_json)
        return !command_print_json(list);
    command_harmless_begin();
    print_list(list);
    json_free(list);
    return !command_harmless_end(false);
}

static void print_one(const struct json *row)
{
    const struct json *body = json_get(json_get(row, "response"), "body");
    const struct json *choice = json_at(json_get(body, "choices"), 0);
    const char *text = json_cstr(json_get(json_get(choice, "message"), "content"));
    print_row(row);
    if (json_absent(body))
        return;
    printf("\n");
    if (text)
        printf("%s\n", text);
    else
        (void)!command_print_json(json_clone(body));
}

/* `show` and `cancel`: of one question. */
static int run_one(int argc, char **argv, const struct option_spec *spec, const char *method,
                   struct deferred_command *command)
{
    const char *id[1] = {NULL};
    size_t count = 0;
    OPTIONS_PARSE_OR_RETURN(spec, argc, argv, id, &count);
    if (count == 0 || strlen(id[0]) > 100 || strpbrk(id[0], "/?#% "))
        return options_misuse(spec->verb, "name a question: 'tandem deferred list' has their ids");
    char path[PATH_BYTES];
    struct json *row = NULL;
    struct td_error err = {0};
    snprintf(path, sizeof path, "/tandem/v1/deferred/%s", id[0]);
    if (call(command, method, path, &row, &err) != TD_OK)
        return command_fail_as(spec->verb, &err, command->as_json);
    if (command->as_json)
        return !command_print_json(row);
    command_harmless_begin();
    print_one(row);
    json_free(row);
    return !command_harmless_end(false);
}

static int cmd_deferred_show(int argc, char **argv)
{
    struct deferred_command command = {NULL, NULL, false};
    const struct option options[] = {ROWS(command)};
    const struct option_spec spec = {
        .verb = "deferred show",
        .arguments = "ID",
        .summary = HELP_TEXT(
            "Prints one deferred question: how it stands, and its answer once there is one."),
        .json = HELP_TEXT("what GET /tandem/v1/deferred/ID answers"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    return run_one(argc, argv, &spec, "GET", &command);
}

static int cmd_deferred_cancel(int argc, char **argv)
{
    struct deferred_command command = {NULL, NULL, false};
    const struct option options[] = {ROWS(command)};
    const struct option_spec spec = {
        .verb = "deferred cancel",
        .arguments = "ID",
        .summary = HELP_TEXT(
            "Cancels a question that waits or is being asked. One that has ended is removed "
            "with its answer."),
        .json = HELP_TEXT("what DELETE /tandem/v1/deferred/ID answers"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    return run_one(argc, argv, &spec, "DELETE", &command);
}

static const struct verb verb_deferred_list = {"list", cmd_deferred_list,
                                               HELP_TEXT("show what waits")};
static const struct verb verb_deferred_show = {"show", cmd_deferred_show,
                                               HELP_TEXT("show one question and its answer")};
static const struct verb verb_deferred_cancel = {
    "cancel", cmd_deferred_cancel, HELP_TEXT("cancel a question, or remove its answer")};

static int cmd_deferred(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_deferred_list, &verb_deferred_show,
                                               &verb_deferred_cancel, NULL};
    return verb_run(
        "deferred",
        HELP_TEXT("Questions that wait for a connection instead of getting a poor answer, and "
                  "their answers. A running server has them."),
        verbs, argc, argv);
}

const struct verb verb_deferred = {
    "deferred", cmd_deferred, HELP_TEXT("questions that wait for a connection, and their answers")};
