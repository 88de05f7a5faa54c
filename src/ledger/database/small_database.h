/* A database beside the ledger, for clients' files, keys and responses: opens or creates it and
 * runs statements. It is a file, or the tables of those names in the database that nodes share.
 * For ledger/ and api/history/ alone. Any thread, one caller per connection. */
#ifndef LEDGER_SMALL_DATABASE_H
#define LEDGER_SMALL_DATABASE_H

#include "ledger/database/db.h"

/* path: of a file, or a database's URL; then `schema` and `version` are not looked at, because
 * src/cluster/schema/ has the tables. Creates the file (0600) and, where its version is 0, what the
 * schema says, which sets `version`. Another version is TD_UNSUPPORTED. **returns new** (db_close),
 * also after a failure, or NULL. */
TD_MUST_CHECK enum td_status small_database_open(const char *path, const char *schema, int version,
                                                 struct db **out, struct td_error *err);
/* A statement with its values, one for each letter of types: t a text (NULL = NULL), i an int64_t,
 * s a struct td_str, d a double. NULL when it could not be made. **returns new** (db_end). */
struct db_statement *small_database_prepare(struct db *db, const char *sql, const char *types, ...);
/* Runs one without rows, and frees it. NULL fails with what the database says. path: for the
 * message, here and below. */
TD_MUST_CHECK enum td_status small_database_run(struct db *db, const char *path,
                                                struct db_statement *statement,
                                                struct td_error *err);
TD_MUST_CHECK enum td_status small_database_begin(struct db *db, const char *path,
                                                  struct td_error *err);
/* The first column of its first row; `otherwise` without one. Frees the statement. */
int64_t small_database_number(struct db_statement *statement, int64_t otherwise);
/* Commits where status is TD_OK, and otherwise takes everything since the beginning back. */
TD_MUST_CHECK enum td_status small_database_end(struct db *db, const char *path,
                                                enum td_status status, struct td_error *err);

#endif
