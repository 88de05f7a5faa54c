/* What is said of a configuration that was opened: what in it is suspicious, and which decisions
 * its tests did not expect. For `tandem policy` and for the console's editor. One thread. */
#ifndef APP_POLICY_REPORT_H
#define APP_POLICY_REPORT_H

#include "app/evidence/policy_cases.h"
#include "app/evidence/policy_opened.h"

struct json;

/* A list of texts "file:line: what". */
struct json *policy_report_warnings(const struct config *config);

struct policy_tally {
    const char *label; /* of the file of tests */
    size_t passed, failed;
    /* [{"name", "line", "ok", "tier", "rule", "by", "denied"}], of one that failed also "mismatch"
     * and "because" [{"text", "code"}]. Made by the caller. */
    struct json *results;
};

/* Decides each case. After a failure the tally has those before it. */
TD_MUST_CHECK enum td_status policy_report_cases(const struct policy_opened *opened,
                                                 const struct policy_cases *cases,
                                                 struct policy_tally *tally, struct td_error *err);

#endif
