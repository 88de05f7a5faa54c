/* What a classifier of the ledger's lines is worth: it learns from the older ones and judges the
 * newest fifth, beside the classifier of today. */
#ifndef APP_LEDGER_TRIAL_H
#define APP_LEDGER_TRIAL_H

#include "app/evidence/ledger_lines.h"

struct json;

/* Of p_local. NAN: nobody trained for it, or one outcome is missing. */
struct ledger_trial_figures {
    double auroc, error; /* error: mean squared */
};

struct ledger_trial {
    size_t count; /* lines with local_ok that were held out; 0 = too few to hold any */
    struct ledger_trial_figures learnt, today;
};

/* path: the classifier that is to be; what is tried lies beside it for a moment. today: as
 * router.classifier has it (NULL = the default one). */
TD_MUST_CHECK enum td_status ledger_trial_run(const struct ledger_lines *lines, uint64_t seed,
                                              const char *path, const char *today,
                                              struct ledger_trial *out, struct td_error *err);
void ledger_trial_print(const struct ledger_trial *trial);
struct json *ledger_trial_json(const struct ledger_trial *trial); /* **returns new** */

#endif
