/* tandem egress verify: is the record complete and unchanged? */
#define HELP_OF 30
#include "api/evidence/egress_report.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/egress/egress_verify.h"

#include <stdio.h>
#include <string.h>

#define KEPT_BYTES_MAX (16 << 20)

static bool print_verdict(const struct egress_verdict *verdict, const char *path, bool json)
{
    if (json)
        return command_print_json(egress_proof_json(verdict));
    command_harmless_begin();
    if (!verdict->sound)
        printf("%s is not sound: %s\n", path, verdict->problem);
    else
        printf("%s is sound: %llu transfer%s in one chain, %llu signed head%s, key %s\n", path,
               (unsigned long long)verdict->entry_count, PLURAL(verdict->entry_count),
               (unsigned long long)verdict->head_count, PLURAL(verdict->head_count),
               verdict->key[0] ? verdict->key : "(none)");
    if (verdict->sound && verdict->unsigned_rows)
        printf("the last row is announced and not signed yet: it is of this moment, or the machine "
               "stopped in that transfer\n");
    if (verdict->sound && verdict->unwritten_rows)
        printf("one more row was announced but never written: the machine stopped before anything "
               "of that transfer left\n");
    return command_harmless_end(false);
}

static enum td_status read_kept_heads(const char *path, struct buf *out, struct td_error *err)
{
    enum td_status status = buf_read_file(out, path, err);
    return status == TD_OK && str_trim(buf_view(out)).len == 0
               ? error_set(err, TD_INVALID, "%s is empty: it holds no head", path)
               : status;
}

static int egress_verify_verb(int argc, char **argv)
{
    const char *config_path = NULL, *head = NULL, *path, *named[1] = {NULL};
    struct egress_kept kept = {0};
    bool json = false, printed = false;
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"key", 'k', OPTION_TEXT, &kept.key, "HEX",
         HELP_TEXT("the public key that must have signed, as you kept it elsewhere"), 0, 0},
        {"head", 'H', OPTION_TEXT, &head, "FILE",
         HELP_TEXT("file with heads that you kept elsewhere; the record must still contain them"),
         0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "egress verify",
        .arguments = "[FILE]",
        .summary = HELP_TEXT(
            "Checks that the record of what left is complete and unchanged. It finds a "
            "changed byte, a missing row, a cut end and a forged signature, and names the "
            "first bad row (exit code 1).\n"
            "FILE is what 'tandem egress export' wrote; without it the record of this "
            "machine is checked."),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &count);
    if (kept.key && strlen(kept.key) != EGRESS_KEY_HEX)
        return options_misuse("egress verify", "--key needs 64 hex digits");
    struct td_error err = {0};
    struct config *config = NULL;
    struct egress_verdict verdict;
    struct buf heads;
    buf_init(&heads, KEPT_BYTES_MAX);
    enum td_status status = egress_record_find(config_path, named[0], &config, &path, &err);
    if (status == TD_OK && head)
        status = read_kept_heads(head, &heads, &err);
    kept.heads = buf_view(&heads);
    if (status == TD_OK)
        status = egress_verify(path, &kept, &verdict, &err);
    if (status == TD_OK)
        printed = print_verdict(&verdict, path, json);
    buf_deinit(&heads);
    config_free(config);
    if (status != TD_OK)
        return command_fail("egress verify", &err);
    return !(printed && verdict.sound);
}

const struct verb verb_egress_verify = {"verify", egress_verify_verb,
                                        "check that nobody changed the record"};
