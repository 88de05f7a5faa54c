/* tandem egress: the record of what left this device, and the proof that it is complete. Each verb
 * has a file of its own; what they read is ledger/egress/egress_read.h's, the proof is
 * ledger/egress/egress_verify.h's. */
#define HELP_OF 24
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_egress_show, verb_egress_verify, verb_egress_export, verb_egress_head,
    verb_egress_key, verb_egress_report;

static int cmd_egress(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_egress_show,
                                               &verb_egress_report,
                                               &verb_egress_verify,
                                               &verb_egress_export,
                                               &verb_egress_head,
                                               &verb_egress_key,
                                               NULL};
    return verb_run(
        "egress",
        HELP_TEXT("Shows the record of what left this device, and proves that nobody changed "
                  "it. Each entry is chained to the one before, and a key of this machine signs "
                  "the newest entry: that signature is called a head."),
        verbs, argc, argv);
}

const struct verb verb_egress = {"egress", cmd_egress,
                                 HELP_TEXT("list what left this device, and prove it")};
