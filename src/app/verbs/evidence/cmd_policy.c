/* tandem policy: is the policy sound, does it decide as its operator believes, and which thresholds
 * are worth their cost? Each question is a verb with a file of its own. */
#define HELP_OF 11
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_policy_check, verb_policy_test, verb_policy_pareto, verb_policy_show;

static int cmd_policy(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_policy_check, &verb_policy_test,
                                               &verb_policy_pareto, &verb_policy_show, NULL};
    return verb_run(
        "policy",
        HELP_TEXT("Works with the policy, which is the part of the configuration that decides "
                  "where a request is answered: tiers, routes, rules and gates."),
        verbs, argc, argv);
}

const struct verb verb_policy = {
    "policy", cmd_policy, HELP_TEXT("check, test and show a policy, and compare thresholds")};
