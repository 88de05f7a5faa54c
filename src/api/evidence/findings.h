/* What `tandem scan`, `tandem redact` and POST /tandem/v1/privacy/check share: all findings of a
 * text in memory, and their JSON form. */
#ifndef API_FINDINGS_H
#define API_FINDINGS_H

#include "base/text/names.h"
#include "privacy/scan/privacy.h"

struct json;

/* How to look for them. */
struct findings_options {
    const struct privacy_scanner *scanner;
    bool strict; /* recall first: privacy_scan_strict */
};

struct findings {
    struct privacy_span *spans; /* in order, apart */
    size_t count;
    enum td_data_class data_class; /* the highest */
};

/* *out **returns new** (findings_deinit); also to be freed after a failure. */
TD_MUST_CHECK enum td_status findings_of(struct td_str text, const struct findings_options *options,
                                         struct findings *out, struct td_error *err);
void findings_deinit(struct findings *findings);

/* {"class", "spans": [{"type", "score", "class", "start", "end", "char_start", "char_end"}]}:
 * start and end in bytes, char_* in code points. **returns new** (json_free). */
struct json *findings_json(struct td_str text, const struct findings *findings);

#endif
