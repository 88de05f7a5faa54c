/* The database file: creating it whole, refusing what is not ours, migrating. Internal to
 * ledger/. */
#ifndef LEDGER_FILE_H
#define LEDGER_FILE_H

#include "tandem/types.h"

#include <sqlite3.h>

/* Opens for writing; creates file (0600) and directory (0700) when absent. A file that is not a
 * ledger, is damaged, or was written by a newer version is refused and stays as it is. **returns
 * new** (sqlite3_close). */
TD_MUST_CHECK enum td_status file_open_writer(const char *path, sqlite3 **out,
                                              struct td_error *err);
/* Opens read-only beside a running writer. */
TD_MUST_CHECK enum td_status file_open_reader(const char *path, sqlite3 **out,
                                              struct td_error *err);

/* TD_LIMIT for a full disk, TD_CORRUPT, TD_IO, TD_BUSY, ... */
enum td_status file_status(int sqlite_code);

#endif
