/* tandem router: the classifier of prompts, the confidence of answers, and the thresholds of gates.
 * Each is made and asked by a verb with a file of its own. */
#define HELP_OF 17
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_router_train, verb_router_score, verb_router_audit,
    verb_router_confidence, verb_router_tune;

static int cmd_router(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_router_train, &verb_router_score,
                                               &verb_router_audit, &verb_router_confidence,
                                               &verb_router_tune,  NULL};
    return verb_run(
        "router",
        HELP_TEXT("Works with what the router learns from data: the classifier, which expects "
                  "from a prompt how likely each tier answers it right, and the numbers that "
                  "the gates compare."),
        verbs, argc, argv);
}

const struct verb verb_router = {"router", cmd_router,
                                 HELP_TEXT("train, query and tune the classifier of prompts")};
