/* A database as this program uses it: statements with values and rows, and transactions. Two twins
 * answer: SQLite (db_sqlite.c), which is always there, and whatever else the program has announced
 * at its start (db_announce), which is PostgreSQL. No type of theirs is seen here, and the library
 * needs no more than SQLite.
 *
 * Statements are written in what both know; a parameter is ?1, ?2, ... A connection is for one
 * thread at a time. */
#ifndef LEDGER_DB_H
#define LEDGER_DB_H

#include "tandem/types.h"

struct db;
struct db_statement;
struct db_driver; /* db_driver.h */

enum db_dialect { DB_SQLITE, DB_POSTGRESQL };
enum db_step { DB_FAILED, DB_ROW, DB_DONE };

/* Before the first database is opened: who serves names that begin with the driver's scheme. */
void db_announce(const struct db_driver *driver);
/* Who serves this name; NULL for a path, which is SQLite's. A scheme that nobody serves is served
 * by a driver that says so. */
const struct db_driver *db_driver_of(const char *name);

enum db_dialect db_dialect(const struct db *db);
/* Accepts NULL. All its statements are freed. */
void db_close(struct db *db);

/* The last failure. */
enum td_status db_status(struct db *db);
const char *db_message(struct db *db);
/* Sets err: "what: message". Returns the status. */
enum td_status db_error(struct db *db, const char *what, struct td_error *err);

/* Several statements without values or rows. False: db_error. */
TD_MUST_CHECK bool db_exec(struct db *db, const char *sql);
TD_MUST_CHECK bool db_begin(struct db *db);      /* to write: nobody else does until the end */
TD_MUST_CHECK bool db_begin_read(struct db *db); /* all that is read is of one moment */
/* *refused, if not NULL, is how many records of db_run were refused on the way. */
TD_MUST_CHECK bool db_commit(struct db *db, size_t *refused);
/* Takes everything since the beginning back; nothing where there was none. */
void db_rollback(struct db *db);

/* **returns new** (db_end); NULL: db_error. */
struct db_statement *db_prepare(struct db *db, const char *sql);
void db_end(struct db_statement *statement); /* accepts NULL */

/* Values stay until they are bound again; one that never was is NULL. */
void db_bind_null(struct db_statement *statement, int index);
void db_bind_int(struct db_statement *statement, int index, int64_t value);
void db_bind_double(struct db_statement *statement, int index, double value);
/* Copies; data NULL binds NULL. */
void db_bind_text(struct db_statement *statement, int index, struct td_str text);
/* **borrows** until the statement is run, bound again or freed; NULL binds NULL. */
void db_bind_borrowed(struct db_statement *statement, int index, const char *text);

enum db_step db_step(struct db_statement *statement);
/* The number of rows that the last statement changed. */
uint64_t db_changes(struct db *db);
/* The row that the last insert made. SQLite's alone. */
int64_t db_last_row(struct db *db);

/* Runs a statement of a record inside of a transaction, and makes it ready for the next. TD_OK:
 * done, or it is done with the others of the transaction (then db_commit counts what was refused).
 * TD_INVALID and TD_LIMIT: the database will never accept it, or it changed no row and must.
 * Anything else: db_error. */
TD_MUST_CHECK enum td_status db_run(struct db_statement *statement, bool must_change);

/* Of the current row. Texts are borrowed until the next step. NULL is 0 and a text without data. */
bool db_is_null(struct db_statement *row, int column);
int64_t db_int(struct db_statement *row, int column);
double db_double(struct db_statement *row, int column);
const char *db_text(struct db_statement *row, int column); /* NUL-terminated; NULL for NULL */
struct td_str db_str(struct db_statement *row, int column);

/* Works on what was committed and waits until the database is back. Whether there is more. */
bool db_catch_up(struct db *db);
/* Whether the database gave no answer to what was last committed. *waiting: statements that it has
 * not got yet. Any thread. */
bool db_is_away(struct db *db, uint64_t *waiting);
/* A database that needs longer for a statement is away. Nothing for a file. */
void db_hurry(struct db *db, uint32_t answer_ms);
/* Rows are few, and are read at once. Nothing for a file. */
void db_read_whole(struct db *db);

/* Of a file; nothing elsewhere. */
TD_MUST_CHECK bool db_sync_commits(struct db *db, bool sync); /* a commit waits for the disk */
TD_MUST_CHECK bool db_erase_deleted(struct db *db);           /* overwrites what is deleted */
void db_checkpoint(struct db *db); /* moves the log into the file, as far as readers let it */
TD_MUST_CHECK bool db_empty_log(struct db *db); /* wholly; TD_BUSY while somebody reads it */
void db_keep_log(struct db *db);                /* closing leaves the log as it is */

#endif
