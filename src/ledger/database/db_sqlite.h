/* SQLite as a database of db.h. For database.c and the files that open one. */
#ifndef LEDGER_DB_SQLITE_H
#define LEDGER_DB_SQLITE_H

#include "ledger/database/db.h"

enum db_sqlite_mode { DB_SQLITE_READ, DB_SQLITE_WRITE };

/* SQLite takes no memory for pages and small values before it needs them: otherwise each connection
 * has 135 KiB at once, and writes into all of it. Before the first is opened, by a program that is
 * alone in its process, because it holds for every connection. */
void db_sqlite_take_memory_late(void);
/* Opens a file that is there. It waits 5 s for others that write. **returns new** (db_close). */
TD_MUST_CHECK enum td_status db_sqlite_open(const char *path, enum db_sqlite_mode mode,
                                            struct db **out, struct td_error *err);
/* Closing writes the log into the file again (as it does unless db_keep_log was called). */
void db_sqlite_merge_log_on_close(struct db *db);
/* Copies all pages. `copying` is told of them and may end it (TD_CANCELLED). Nobody else may have
 * `to` open. */
TD_MUST_CHECK enum td_status db_sqlite_copy(struct db *from, struct db *to,
                                            bool (*copying)(void *ctx, uint64_t done, uint64_t all),
                                            void *ctx, struct td_error *err);
/* SQLite's own connection, for tests that break it. **borrows** until db_close. */
struct sqlite3 *db_sqlite_handle(struct db *db);

#endif
