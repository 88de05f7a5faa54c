/* tandem ledger: what keeps the record of exchanges small, copied and sound. What is in it is shown
 * by 'tandem explain' and 'tandem report'. */
#define HELP_OF 33
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_ledger_prune, verb_ledger_export, verb_ledger_backup,
    verb_ledger_restore, verb_ledger_check;

static int cmd_ledger(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_ledger_prune,  &verb_ledger_export,
                                               &verb_ledger_backup, &verb_ledger_restore,
                                               &verb_ledger_check,  NULL};
    return verb_run(
        "ledger",
        HELP_TEXT("Keeps the record of exchanges small, copies it and checks it. 'tandem explain' "
                  "and 'tandem report' show what is in it."),
        verbs, argc, argv);
}

const struct verb verb_ledger = {"ledger", cmd_ledger,
                                 HELP_TEXT("prune, export, back up, restore and check the record")};
