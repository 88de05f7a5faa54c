/* tandem egress head: the newest signature, to be kept where nobody on this machine can change
 * it. */
#define HELP_OF 26
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
#include <time.h>

#define HEAD_BYTES_MAX (16 << 20)

/* A running server signs its last row when no transfer follows for 20 ms. */
static const struct timespec a_moment = {0, 60000000};

static enum td_status keep_head(void *ctx, struct td_str line, struct td_error *err)
{
    struct buf *last = ctx;
    if (egress_is_entry(line))
        return TD_CANCELLED; /* heads stand before */
    if (!str_starts_with(line, STR("{\"date\":")))
        return TD_OK;
    buf_clear(last);
    buf_append_str(last, line);
    return last->failed ? error_set(err, TD_LIMIT, "a head is over %d bytes", HEAD_BYTES_MAX)
                        : TD_OK;
}

/* The newest of a sound record: one that is not worth keeping is not printed. */
static enum td_status find_head(const char *path, struct buf *out, struct td_error *err)
{
    struct egress_verdict verdict;
    enum td_status status = egress_verify(path, NULL, &verdict, err);
    if (status == TD_OK && !verdict.sound)
        status = error_set(err, TD_CORRUPT, "%s is not sound: %s", path, verdict.problem);
    if (status == TD_OK && verdict.unsigned_rows)
        nanosleep(&a_moment, NULL);
    if (status == TD_OK && (status = egress_each_line(path, keep_head, out, err)) == TD_CANCELLED)
        status = TD_OK;
    return status == TD_OK && out->len == 0
               ? error_set(err, TD_NOT_FOUND, "%s has no signed head yet", path)
               : status;
}

static int egress_head(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path)};
    const struct option_spec spec = {
        .verb = "egress head",
        .summary =
            HELP_TEXT("Prints the newest signed head as one line. Keep it elsewhere: on another "
                      "machine, in a mail, on paper. With it, 'tandem egress verify --head FILE' "
                      "notices a record that was reset to an earlier state."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct buf head;
    buf_init(&head, HEAD_BYTES_MAX);
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = find_head(path, &head, &err);
    if (status == TD_OK)
        printf(STR_FMT "\n", STR_ARG(buf_view(&head)));
    buf_deinit(&head);
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress head", &err);
}

const struct verb verb_egress_head = {"head", egress_head,
                                      "print the newest signed head, to keep elsewhere"};
