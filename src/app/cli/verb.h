/* A verb: a subcommand of `tandem`, or of another verb (`tandem policy check`).
 *
 * Each verb has a file under app/verbs/, which defines its struct verb. The table in main.c
 * lists the verbs of `tandem` in groups; a verb with verbs of its own has a table in its own
 * file. So a new verb touches three files: its own, the table, and meson.build. */
#ifndef APP_VERB_H
#define APP_VERB_H

#include <stdbool.h>
#include <stddef.h>

#define VERBS_MAX 64 /* in a table */

struct verb {
    const char *name;
    /* Gets argv from the verb's name on, prints results to standard output and complaints to
     * standard error, and returns the exit code: 0 done, 1 failed, 2 used wrongly. */
    int (*run)(int argc, char **argv);
    const char *help; /* what it does, in a few words: for the list of verbs */
};

/* The verb of that name in a table that ends with NULL; NULL when there is none. */
const struct verb *verb_find(const struct verb *const *verbs, const char *name);

/* Says on standard error that there is no such verb, with the nearest name. `parent` is NULL for a
 * verb of `tandem` itself. Returns the exit code. */
int verb_refuse_unknown(const char *parent, const struct verb *const *verbs, const char *name);

/* Runs the verb that argv[1] names; with --help, or without a name, prints what verbs there are.
 * `summary` says what they are for. Returns the exit code. */
int verb_run(const char *parent, const char *summary, const struct verb *const *verbs, int argc,
             char **argv);

bool verb_asks_for_help(const char *argument);

#endif
