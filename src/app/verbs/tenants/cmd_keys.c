/* tandem keys: API keys of the state folder. A running server notices every change within a
 * second. */
#define HELP_OF 86
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_keys_add, verb_keys_limit, verb_keys_list, verb_keys_revoke,
    verb_keys_rotate;

static const struct verb *const verbs[] = {&verb_keys_add,    &verb_keys_list,   &verb_keys_limit,
                                           &verb_keys_rotate, &verb_keys_revoke, NULL};

static int cmd_keys(int argc, char **argv)
{
    return verb_run(
        "keys",
        HELP_TEXT("Makes and changes API keys, which are kept in the state folder. A server that "
                  "runs on it takes a change within a second. As soon as there is a key, a "
                  "server needs one."),
        verbs, argc, argv);
}

const struct verb verb_keys = {"keys", cmd_keys,
                               HELP_TEXT("make, list, limit and revoke clients' API keys")};
