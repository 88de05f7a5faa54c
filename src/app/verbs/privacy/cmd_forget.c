/* tandem forget USER: asks the running server to erase what it holds of a user, in files and in
 * memory. Where no server runs it erases in the files. */
#define HELP_OF 59
#include "api/admin/forgotten.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/remote.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/privacy/stored_forget.h"
#include "app/setup/process/storage.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define REPLY_BYTES_MAX 65536
#define TIMEOUT_MS 60000

/* *code 0: no server answers there. */
static enum td_status ask_server(const char *base, const char *user, struct json **out, int *code,
                                 struct td_error *err)
{
    struct json *body = json_new_object();
    json_put(body, "user", json_new_cstr(user));
    struct remote_request request = {
        .base = base, .path = "/tandem/v1/forget", .timeout_ms = TIMEOUT_MS, .code = code};
    enum td_status status = remote_ask(&request, body, REPLY_BYTES_MAX, out, err);
    json_free(body);
    return status;
}

static enum td_status erase_in_files(const struct config *config, const char *user,
                                     struct json **out, struct td_error *err)
{
    const struct stored_forget whom = {.config = config, .user = user};
    struct api_stored erased = {0};
    enum td_status status = stored_forget(&whom, &erased, err);
    if (status == TD_OK)
        *out = forgotten_object(&erased);
    return status;
}

static long long count_of(const struct json *result, const char *name)
{
    return (long long)json_int(json_get(result, name), 0);
}

/* What is erased, by its member of the result. */
static const struct {
    const char *member, *name;
    bool of_server;
} erased[] = {{"exchanges", "names in the ledger's exchanges", false},
              {"texts", "stored texts", false},
              {"comments", "comments", false},
              {"consents", "consents", false},
              {"similar", "memories of where questions started", false},
              {"vaults", "vaults of pseudonyms", false},
              {"files", "files of batches", false},
              {"deferred", "deferred questions", false},
              {"tickets", "tickets for people", false},
              {"answers", "answers kept for the same request", true},
              {"responses", "kept responses and conversations", false}};

static void print_result(const struct json *result, const char *user, bool by_server)
{
    printf("Erased of ");
    command_print_harmless(stdout, str_from(user));
    printf(":\n");
    for (size_t i = 0; i < sizeof erased / sizeof *erased; i++)
        if (by_server || !erased[i].of_server)
            printf("  %-35s %8lld\n", erased[i].name, count_of(result, erased[i].member));
    if (by_server)
        printf("Cached prompts and the memory of the confined worker were dropped.\n");
    else
        printf("No server runs here, so only files were erased; ask a server elsewhere with "
               "--url.\n");
    printf("The egress ledger keeps its entries, which hold hashes and no user.\n");
}

/* Asks the server at `url`, or at the configuration's address. Where none answers there, erases
 * in the files. *by_server says which it was. */
static enum td_status forget(const struct config *config, const char *url, const char *user,
                             struct json **out, bool *by_server, struct td_error *err)
{
    char base[300];
    int code = 0;
    remote_write_base(config, base, sizeof base);
    enum td_status status = ask_server(url ? url : base, user, out, &code, err);
    *by_server = status == TD_OK;
    if (status == TD_OK || code != 0 || url)
        return status;
    struct td_error held = {0};
    struct storage *storage = NULL;
    *err = (struct td_error){0};
    status = storage_open(config, 0, &storage, &held);
    if (status == TD_OK) {
        status = erase_in_files(config, user, out, &held);
        storage_close(storage);
    }
    if (status == TD_BUSY)
        return error_set(err, TD_BUSY,
                         "a server is running but does not answer at %s: name its address with "
                         "--url, or stop it first (%s)",
                         base, held.message);
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", held.message);
}

static int cmd_forget(int argc, char **argv)
{
    const char *config_path = NULL, *url = NULL, *user[1] = {NULL};
    bool json = false;
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"url", 'u', OPTION_TEXT, &url, "URL",
         HELP_TEXT("the server to ask; default: the address in the configuration"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "forget",
        .arguments = "USER",
        .summary =
            HELP_TEXT("Erases what is stored about a user (the `user` member of requests): texts, "
                      "comments, consents, the name in the ledger, pseudonyms and cached prompts. "
                      "Totals stay, and so do the hashes in the egress ledger.\n"
                      "It asks the running server. If no server runs, it erases in the files."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, user, &count);
    if (count == 0)
        return options_misuse("forget", "name the user whose data is to be erased");
    struct td_error err = {0};
    struct config *config = NULL;
    struct json *result = NULL;
    bool by_server = false;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = forget(config, url, user[0], &result, &by_server, &err);
    config_free(config);
    if (status != TD_OK)
        return command_fail("forget", &err);
    json_put(result, "server", json_new_bool(by_server));
    if (json)
        return command_print_json(result) ? 0 : 1;
    print_result(result, user[0], by_server);
    json_free(result);
    return 0;
}

const struct verb verb_forget = {"forget", cmd_forget,
                                 HELP_TEXT("erase what is stored about a user")};
