/* A text that several nodes have together, in the database: a small state that is read and written
 * whole. Whoever changes it has it alone meanwhile. One caller at a time. */
#ifndef LEDGER_SHARED_TEXT_H
#define LEDGER_SHARED_TEXT_H

#include "base/bytes/buf.h"

struct shared_text;

/* url: of the database, which may be away. name: of a row that the schema has made. **returns new**
 * (shared_text_close). */
TD_MUST_CHECK enum td_status shared_text_open(const char *url, const char *name,
                                              struct shared_text **out, struct td_error *err);
void shared_text_close(struct shared_text *text); /* accepts NULL */
/* Another number after each change; -1: it cannot be read now. */
int64_t shared_text_version(struct shared_text *text);
/* Appends it to *out. */
TD_MUST_CHECK enum td_status shared_text_read(struct shared_text *text, struct buf *out,
                                              int64_t *version, struct td_error *err);
/* The same, and nobody else changes it until shared_text_end. */
TD_MUST_CHECK enum td_status shared_text_begin(struct shared_text *text, struct buf *out,
                                               int64_t *version, struct td_error *err);
/* Replaces it; with.data NULL: it stays. *version: of then. After a failure it may be either. */
TD_MUST_CHECK enum td_status shared_text_end(struct shared_text *text, struct td_str with,
                                             int64_t *version, struct td_error *err);

#endif
