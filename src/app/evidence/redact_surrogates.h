/* tandem redact --surrogates: a text with surrogates, and back. */
#ifndef APP_REDACT_SURROGATES_H
#define APP_REDACT_SURROGATES_H

#include "base/json/json.h"
#include "base/text/names.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/pseudonym/restore.h"

/* Appends the text with surrogates for what the rules name, and a row {"surrogate", "type"} for
 * each pair that it used. */
TD_MUST_CHECK enum td_status redact_surrogates(struct td_str text, const struct mask_rules *rules,
                                               struct vault *vault, struct buf *out,
                                               struct json *rows, struct td_error *err);
/* Appends the text with the vault's values. */
TD_MUST_CHECK enum td_status redact_surrogates_restore(struct td_str text,
                                                       const struct vault *vault, struct buf *out,
                                                       struct restore_counts *counts,
                                                       struct td_error *err);

#endif
