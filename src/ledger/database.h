/* The database file: creates it whole, refuses what is not ours, migrates. Internal to ledger/. Any
 * thread, one caller per connection. */
#ifndef LEDGER_DATABASE_H
#define LEDGER_DATABASE_H

#include "tandem/types.h"

#include <sqlite3.h>

/* Opens for writing; creates the file (0600) and its folders (0700) if needed. A file that is no
 * ledger, is damaged, or was written by a newer version is refused and left as it is. **returns
 * new** (sqlite3_close). */
TD_MUST_CHECK enum td_status database_open_writer(const char *path, sqlite3 **out,
                                                  struct td_error *err);
/* Opens read-only; another process may be writing. **returns new** (sqlite3_close). */
TD_MUST_CHECK enum td_status database_open_reader(const char *path, sqlite3 **out,
                                                  struct td_error *err);

/* The status for an SQLite code: TD_LIMIT for a full disk, TD_CORRUPT, TD_IO, TD_BUSY, ... */
enum td_status database_status(int sqlite_code);

#endif
