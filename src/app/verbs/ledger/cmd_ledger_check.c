/* tandem ledger check: reads the whole ledger, and the signed record of what left beside it. */
#define HELP_OF 34
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/policy/consistency_setup.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/egress/egress_verify.h"
#include "ledger/record/upkeep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_ledger(const char *path, const struct ledger_sound *ledger)
{
    printf("ledger %s: %s", path, ledger->sound ? "sound" : "damaged: ");
    command_print_harmless(stdout, str_from(ledger->problem));
    if (ledger->sound)
        printf("; %llu exchange%s, %llu attempt%s", (unsigned long long)ledger->exchanges,
               PLURAL(ledger->exchanges), (unsigned long long)ledger->attempts,
               PLURAL(ledger->attempts));
    if (ledger->bytes)
        printf(", %.1f MB", (double)ledger->bytes / 1e6);
    printf("\n");
    if (!ledger->sound)
        printf("  'tandem ledger restore FILE --replace' puts a backup in its place\n");
}

static void print_texts(const struct sealed_texts *texts, uint64_t encrypted_now)
{
    if (texts->sealed + texts->plain == 0)
        return;
    printf("texts: %llu encrypted", (unsigned long long)texts->sealed);
    if (encrypted_now)
        printf(" (%llu of them just now)", (unsigned long long)encrypted_now);
    if (texts->plain)
        printf(", %llu not: 'tandem ledger check --encrypt' encrypts them",
               (unsigned long long)texts->plain);
    printf("\n");
    if (texts->closed)
        printf("  %llu do not open: put the installation.key back under which they were written\n",
               (unsigned long long)texts->closed);
}

/* egress NULL: there is no such folder. */
static void print_egress(const char *path, const struct egress_verdict *egress)
{
    if (!egress) {
        printf("record of what left %s: there is none\n", path);
        return;
    }
    printf("record of what left %s: %s", path, egress->sound ? "sound" : "damaged: ");
    command_print_harmless(stdout, str_from(egress->problem));
    if (egress->sound)
        printf("; %llu transfer%s, %llu signed head%s", (unsigned long long)egress->entry_count,
               PLURAL(egress->entry_count), (unsigned long long)egress->head_count,
               PLURAL(egress->head_count));
    printf("\n");
}

static struct json *as_json(const struct ledger_sound *ledger, const struct egress_verdict *egress)
{
    struct json *json = json_new_object(), *of;
    json_put(json, "sound", json_new_bool(ledger->sound && (!egress || egress->sound)));
    json_put(json, "ledger", of = json_new_object());
    json_put(of, "sound", json_new_bool(ledger->sound));
    json_put(of, "problem", *ledger->problem ? json_new_cstr(ledger->problem) : json_new_null());
    json_put(of, "schema_version", json_new_int(ledger->version));
    json_put(of, "exchanges", json_new_int((int64_t)ledger->exchanges));
    json_put(of, "attempts", json_new_int((int64_t)ledger->attempts));
    json_put(of, "bytes", json_new_int((int64_t)ledger->bytes));
    json_put(of, "texts_encrypted", json_new_int((int64_t)ledger->texts.sealed));
    json_put(of, "texts_plain", json_new_int((int64_t)ledger->texts.plain));
    json_put(of, "texts_closed", json_new_int((int64_t)ledger->texts.closed));
    json_put(json, "egress", of = egress ? json_new_object() : json_new_null());
    if (!egress)
        return json;
    json_put(of, "sound", json_new_bool(egress->sound));
    json_put(of, "problem", *egress->problem ? json_new_cstr(egress->problem) : json_new_null());
    json_put(of, "transfers", json_new_int((int64_t)egress->entry_count));
    json_put(of, "heads", json_new_int((int64_t)egress->head_count));
    return json;
}

static int cmd_check(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false, encrypt = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"encrypt", 0, OPTION_FLAG, &encrypt, NULL,
         HELP_TEXT("first encrypt the texts that an older version stored as they were"), 0, 0},
        OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "ledger check",
        .summary = HELP_TEXT(
            "Reads every page, reference and packed text of the ledger, and every hash and "
            "signature of the record of what left. A server may run meanwhile. Exit code 1: "
            "something is damaged."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct ledger_sound ledger = {0};
    struct egress_verdict egress = {.sound = true};
    enum td_status status = config_load(config_path, &config, &err);
    uint64_t encrypted = 0;
    if (status == TD_OK)
        status = installation_key_for_texts(config, encrypt, &err);
    if (status == TD_OK && encrypt)
        status = sealed_texts_encrypt(config->ledger.path, &encrypted, &err);
    if (status == TD_OK)
        status = ledger_inspect(config->ledger.path, &ledger, &err);
    const char *folder = status == TD_OK ? config->ledger.egress : "none";
    bool kept = strcmp(folder, "none") != 0;
    if (kept && access(folder, R_OK | X_OK) != 0) {
        kept = false;
        if (errno != ENOENT)
            status = error_set(&err, TD_IO, "%s: %s", folder, strerror(errno));
    }
    if (kept)
        status = egress_verify(folder, NULL, &egress, &err);
    bool sound = ledger.sound && egress.sound;
    if (status == TD_OK && json) {
        sound = command_print_json(as_json(&ledger, kept ? &egress : NULL)) && sound;
    } else if (status == TD_OK) {
        print_ledger(config->ledger.path, &ledger);
        print_texts(&ledger.texts, encrypted);
        if (strcmp(folder, "none") != 0)
            print_egress(folder, kept ? &egress : NULL);
    }
    config_free(config);
    return status == TD_OK ? !sound : command_fail_as("ledger check", &err, json);
}

const struct verb verb_ledger_check = {
    "check", cmd_check, HELP_TEXT("read the ledger and the signed record, and say what is wrong")};
