/* tandem ledger backup, and restore. */
#define HELP_OF 35
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/files/state_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/process/storage.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/record/upkeep.h"

#include <stdio.h>
#include <unistd.h>

struct copy_options {
    const char *config, *file;
    bool json, other_state, replace;
};

/* What names the state folder in a backup: a hash under its key, "" where it has none yet. */
static enum td_status name_state(const struct config *config, char out[static LEDGER_STATE_BYTES],
                                 struct td_error *err)
{
    static const char what[] = "a backup of the ledger";
    uint8_t key[KEYED_KEY_BYTES], mac[KEYED_MAC_BYTES];
    bool known;
    out[0] = '\0';
    enum td_status status = installation_key_known(config, key, &known, err);
    if (status == TD_OK && known) {
        keyed_mac(key, what, sizeof what - 1, mac);
        crypto_hex(mac, LEDGER_STATE_BYTES / 2, out);
    }
    crypto_wipe(key, sizeof key);
    return status;
}

static bool show(void *ctx, uint64_t done, uint64_t all)
{
    progress_show(ctx, done, all);
    return !interrupted;
}

static void print_result(const struct ledger_copied *copied, const char *what, const char *aside)
{
    char iso[25];
    clock_format_iso8601(copied->last_wall_ms, iso);
    printf("%s: %llu exchange%s, the newest of %s, %.1f MB; read whole, and sound\n", what,
           (unsigned long long)copied->exchanges, PLURAL(copied->exchanges),
           copied->last_wall_ms ? iso : "never", (double)copied->bytes / 1e6);
    if (*aside)
        printf("what was there is %s\n", aside);
}

static int end(const struct copy_options *options, const struct ledger_copied *copied,
               const char *what, const char *aside)
{
    if (!options->json) {
        print_result(copied, what, aside);
        return 0;
    }
    struct json *json = json_new_object();
    json_put(json, "file", json_new_cstr(what));
    json_put(json, "exchanges", json_new_int((int64_t)copied->exchanges));
    json_put(json, "bytes", json_new_int((int64_t)copied->bytes));
    json_put(json, "last_wall_ms", json_new_int((int64_t)copied->last_wall_ms));
    json_put(json, "state", json_new_cstr(copied->state));
    if (*aside)
        json_put(json, "aside", json_new_cstr(aside));
    return command_print_json(json) ? 0 : 1;
}

static int cmd_backup(int argc, char **argv)
{
    struct copy_options o = {0};
    size_t count = 0;
    const struct option options[] = {OPTION_ROW_CONFIG(o.config), OPTION_ROW_JSON(o.json)};
    const struct option_spec spec = {
        .verb = "ledger backup",
        .arguments = "FILE",
        .summary = HELP_TEXT(
            "Copies the ledger, as it is at this moment, to a file that is not there yet, "
            "and reads the copy whole. A server may run and write meanwhile. Keep it as "
            "private as the ledger; 'tandem forget' does not reach it."),
        .example = HELP_TEXT("  tandem ledger backup /backup/ledger-2026-11-28.db"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &o.file, &count);
    if (count == 0)
        return options_misuse("ledger backup", "name the file that is to be made");
    struct td_error err = {0};
    struct config *config = NULL;
    struct ledger_copied copied = {0};
    struct progress progress;
    char state[LEDGER_STATE_BYTES];
    enum td_status status = config_load(o.config, &config, &err);
    if (status == TD_OK)
        status = name_state(config, state, &err);
    interrupt_watch();
    progress_begin(&progress, "copying", o.json);
    if (status == TD_OK)
        status = ledger_backup(&(struct ledger_backup_options){.path = config->ledger.path,
                                                               .file = o.file,
                                                               .state = state,
                                                               .copying = show,
                                                               .ctx = &progress},
                               &copied, &err);
    progress_end(&progress);
    config_free(config);
    return status == TD_OK ? end(&o, &copied, o.file, "")
                           : command_fail_as("ledger backup", &err, o.json);
}

static enum td_status restore(const struct copy_options *o, const struct config *config,
                              struct ledger_copied *copied, char aside[static STATE_PATH_BYTES],
                              struct td_error *err)
{
    char state[LEDGER_STATE_BYTES];
    struct storage *storage = NULL;
    struct progress progress;
    enum td_status status = name_state(config, state, err);
    if (status == TD_OK) /* a server that runs has it */
        status = storage_open(config, 0, &storage, err);
    interrupt_watch();
    progress_begin(&progress, "copying", o->json);
    if (status == TD_OK)
        status = ledger_restore(&(struct ledger_restore_options){.file = o->file,
                                                                 .path = config->ledger.path,
                                                                 .state = state,
                                                                 .other_state = o->other_state,
                                                                 .replace = o->replace,
                                                                 .copying = show,
                                                                 .ctx = &progress},
                                copied, aside, STATE_PATH_BYTES, err);
    progress_end(&progress);
    storage_close(storage);
    return status;
}

static int cmd_restore(int argc, char **argv)
{
    struct copy_options o = {0};
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(o.config),
        {"replace", 0, OPTION_FLAG, &o.replace, NULL,
         HELP_TEXT("also where the ledger has newer exchanges than the backup, or is damaged"), 0,
         0},
        {"other-state", 0, OPTION_FLAG, &o.other_state, NULL,
         HELP_TEXT(
             "also a backup of another state folder; names of tenants in it mean nothing here"),
         0, 0},
        OPTION_ROW_JSON(o.json),
    };
    const struct option_spec spec = {
        .verb = "ledger restore",
        .arguments = "FILE",
        .summary =
            HELP_TEXT("Puts a backup in the place of the ledger: after the backup was read whole, "
                      "while no server runs, and only where nothing newer would give way. What was "
                      "there stays beside it under another name. Afterwards forget again whom "
                      "'tandem forget' has erased since the backup."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &o.file, &count);
    if (count == 0)
        return options_misuse("ledger restore", "name the backup");
    struct td_error err = {0};
    struct config *config = NULL;
    struct ledger_copied copied = {0};
    char aside[STATE_PATH_BYTES] = "";
    enum td_status status = config_load(o.config, &config, &err);
    if (status == TD_OK)
        status = restore(&o, config, &copied, aside, &err);
    int code = status == TD_OK ? end(&o, &copied, config->ledger.path, aside)
                               : command_fail_as("ledger restore", &err, o.json);
    config_free(config);
    return code;
}

const struct verb verb_ledger_backup = {"backup", cmd_backup,
                                        HELP_TEXT("copy the ledger while it is in use")};
const struct verb verb_ledger_restore = {"restore", cmd_restore,
                                         HELP_TEXT("put a backup in its place")};
