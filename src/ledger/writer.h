/* Writes records into the database, one batch per transaction. One thread. Internal to ledger/. */
#ifndef LEDGER_WRITER_H
#define LEDGER_WRITER_H

#include "ledger/record.h"

#include <sqlite3.h>

struct writer {
    sqlite3 *db;
    sqlite3_stmt *insert_exchange, *insert_attempt, *insert_feedback, *insert_shadow,
        *insert_reaction, *insert_policy;
};

TD_MUST_CHECK enum td_status writer_open(const char *path, struct writer *writer,
                                         struct td_error *err);
void writer_close(struct writer *writer);

/* Commits the records together. TD_OK: done; *refused of them were refused, because the database
 * will never accept them (a repeated id, a text that is too large), and are logged. Anything else:
 * nothing was written, and trying again later may help. */
TD_MUST_CHECK enum td_status writer_commit(struct writer *writer, struct record *const *records,
                                           size_t count, size_t *refused, struct td_error *err);
/* Moves what is committed into the main file and onto the disk (fsync). */
void writer_checkpoint(struct writer *writer);

#endif
