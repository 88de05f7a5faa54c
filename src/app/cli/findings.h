/* What `scan` and `redact` share: all findings of a text in memory, and their JSON form. */
#ifndef APP_FINDINGS_H
#define APP_FINDINGS_H

#include "base/names.h"
#include "privacy/scan/rules.h"

struct json;

struct findings {
    struct privacy_span *spans; /* in order, apart */
    size_t count;
    enum td_data_class data_class; /* the highest */
};

/* *out **returns new** (findings_deinit); also to be freed after a failure. */
TD_MUST_CHECK enum td_status findings_of(struct td_str text, bool strict, struct findings *out,
                                         struct td_error *err);
#define FINDINGS_NAME_BYTES PRIVACY_RULE_NAME_BYTES
/* The kind's name, or the operator's for a rule of theirs; answers out. */
const char *findings_name(const struct privacy_span *span, char out[static FINDINGS_NAME_BYTES]);

void findings_deinit(struct findings *findings);

/* {"class", "spans": [{"type", "score", "class", "start", "end", "char_start", "char_end"}]}: start and
 * end in bytes, char_* in code points. **returns new** (json_free). */
struct json *findings_json(struct td_str text, const struct findings *findings);

#endif
