/* tandem egress export: the whole record as one file that others can check. */
#define HELP_OF 25
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/core/error.h"
#include "ledger/egress/egress_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum td_status export_line(void *ctx, struct td_str line, struct td_error *err)
{
    FILE *out = ctx;
    if (fwrite(line.data, 1, line.len, out) != line.len || fputc('\n', out) == EOF)
        return error_set(err, TD_IO, "cannot write: %s", strerror(errno));
    return TD_OK;
}

static int egress_export(int argc, char **argv)
{
    const char *config_path = NULL, *output = NULL, *path;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"output", 'o', OPTION_TEXT, &output, "FILE",
         HELP_TEXT("file to write; default: standard output"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "egress export",
        .summary =
            HELP_TEXT("Writes the public key, the signed heads and all transfers as JSON lines. "
                      "Whoever has the file can check it with 'tandem egress verify FILE', or "
                      "without this program with tools/verify_egress.py."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    FILE *out = stdout;
    if (status == TD_OK && output && !(out = fopen(output, "wbe")))
        status = error_set(&err, TD_IO, "%s: %s", output, strerror(errno));
    if (status == TD_OK)
        status = egress_each_line(path, export_line, out, &err);
    if (out && (out == stdout ? fflush(out) : fclose(out)) != 0 && status == TD_OK)
        status = error_set(&err, TD_IO, "cannot write: %s", strerror(errno));
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress export", &err);
}

const struct verb verb_egress_export = {"export", egress_export,
                                        "write the record to one file that others can check"};
