/* The database file: creates it whole, refuses what is not ours, migrates. Internal to ledger/. Any
 * thread, one caller per connection. */
#ifndef LEDGER_DATABASE_H
#define LEDGER_DATABASE_H

#include "ledger/database/db.h"

/* Opens for writing; creates the file (0600) and its folders (0700) if needed. A file that is no
 * ledger, is damaged, or was written by a newer version is refused and left as it is. **returns
 * new** (db_close). */
TD_MUST_CHECK enum td_status database_open_writer(const char *path, struct db **out,
                                                  struct td_error *err);
/* Opens read-only; another process may be writing. **returns new** (db_close). */
TD_MUST_CHECK enum td_status database_open_reader(const char *path, struct db **out,
                                                  struct td_error *err);
/* The same for a file of this or an older version, whose rows are as that version wrote them.
 * db_close also after a failure, where *out is one. */
TD_MUST_CHECK enum td_status database_open_any(const char *path, struct db **out, int *version,
                                               struct td_error *err);

/* Waits until nothing of what was overwritten stands in the file's log. TD_BUSY: a reader holds
 * it. */
TD_MUST_CHECK enum td_status database_empty_log(struct db *db, const char *path,
                                                struct td_error *err);

#endif
