/* Looking up a verb in a table, and the words for one that is not there. */
#include "app/cli/verb.h"

#include "app/cli/help.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

const struct verb *verb_find(const struct verb *const *verbs, const char *name)
{
    for (size_t i = 0; verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

int verb_refuse_unknown(const char *parent, const struct verb *const *verbs, const char *name)
{
    const char *names[VERBS_MAX];
    size_t count = 0;
    for (; verbs[count]; count++) {
        ASSERT(count < VERBS_MAX);
        names[count] = verbs[count]->name;
    }
    fprintf(stderr, "tandem%s%s: unknown subcommand '%.60s'%s\nTry 'tandem %s%s'.\n",
            parent ? " " : "", parent ? parent : "", name,
            error_suggest(str_from(name), names, count).text, parent ? parent : "help",
            parent ? " --help" : "");
    return 2;
}

bool verb_asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static void print_verbs(const char *parent, const char *summary, const struct verb *const *verbs,
                        FILE *out)
{
    fprintf(out, "Usage: tandem %s VERB [options]\n\n", parent);
    help_text(out, 0, summary);
    fprintf(out, "\nVerbs:\n");
    for (size_t i = 0; verbs[i]; i++)
        help_row(out, verbs[i]->name, HELP_VERB_COLUMN, verbs[i]->help);
    fprintf(out, "\n'tandem %s VERB --help' explains a verb.\n", parent);
}

int verb_run(const char *parent, const char *summary, const struct verb *const *verbs, int argc,
             char **argv)
{
    bool help = argc > 1 && verb_asks_for_help(argv[1]);
    if (help || argc < 2) {
        print_verbs(parent, summary, verbs, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    const struct verb *verb = verb_find(verbs, argv[1]);
    return verb ? verb->run(argc - 1, argv + 1) : verb_refuse_unknown(parent, verbs, argv[1]);
}
