/* tandem egress key: the public key, with which others check the record. */
#define HELP_OF 27
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "ledger/egress/egress_read.h"

#include <stdio.h>

static enum td_status key_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct json *object = NULL, **key = ctx;
    (void)err;
    if (egress_is_entry(line) || json_parse(line, &object, NULL) != TD_OK ||
        json_kind_of(json_get(object, "public_key")) == JSON_KIND_ABSENT) {
        json_free(object);
        return TD_CANCELLED; /* it stands in the first line */
    }
    *key = object;
    return TD_CANCELLED;
}

static int egress_key(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    bool json = false;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        .verb = "egress key",
        .summary =
            HELP_TEXT("Prints the public key that signs the heads. Keep it elsewhere: with it, "
                      "'tandem egress verify --key' notices a record that was forged."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct json *key = NULL;
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = egress_each_line(path, key_line, &key, &err);
    if ((status == TD_OK || status == TD_CANCELLED) && !key)
        status = error_set(&err, TD_NOT_FOUND, "%s has no public key yet", path);
    config_free(config);
    if (!key)
        return command_fail("egress key", &err);
    if (json)
        return command_print_json(key) ? 0 : 1;
    command_print_harmless(stdout, json_text(json_get(key, "public_key")));
    json_free(key);
    return puts("") < 0;
}

const struct verb verb_egress_key = {"key", egress_key, "print the public key of this machine"};
