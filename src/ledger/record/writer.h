/* Writes records into the database, one batch per transaction. One thread. Internal to ledger/. */
#ifndef LEDGER_WRITER_H
#define LEDGER_WRITER_H

#include "ledger/record/record.h"

#include "base/bytes/buf.h"
#include "ledger/database/db.h"

/* The file, its log and the log's index, as they were when they were opened. */
#define WRITER_FILES 3
struct writer_files {
    struct {
        uint64_t device, inode; /* 0 = not seen yet */
    } items[WRITER_FILES];
};

struct writer {
    struct db *db;
    struct writer_files files;
    struct db_statement *insert_exchange, *insert_attempt, *insert_feedback, *insert_shadow,
        *insert_reaction, *insert_policy, *insert_model;
    struct buf texts[2]; /* of the record that is being written, as they are stored */
};

TD_MUST_CHECK enum td_status writer_open(const char *path, struct writer *writer,
                                         struct td_error *err);
void writer_close(struct writer *writer);
/* Whether these files still have their names. What had not been seen yet is taken down. Any
 * thread. */
enum writer_place { WRITER_IN_PLACE, WRITER_REPLACED, WRITER_REMOVED, WRITER_LOG_REMOVED };
enum writer_place writer_look(const char *path, struct writer_files *files);
/* Closes the file, with what its log holds, and opens what has the name now; makes it where there
 * is none. After a failure it is closed (db NULL). */
TD_MUST_CHECK enum td_status writer_open_again(const char *path, struct writer *writer,
                                               struct td_error *err);
/* From now on a commit is on the disk when it returns, and costs an fsync. */
TD_MUST_CHECK enum td_status writer_make_durable(struct writer *writer, struct td_error *err);

/* Commits the records together. TD_OK: done; *refused of them were refused, because the database
 * will never accept them (a repeated id, a text that is too large), and are logged. Anything else:
 * nothing was written, and trying again later may help. */
TD_MUST_CHECK enum td_status writer_commit(struct writer *writer, struct record *const *records,
                                           size_t count, size_t *refused, struct td_error *err);
/* Moves what is committed to where it belongs: into the main file and onto the disk (fsync), or to
 * a database that was away. Whether there is more to move. */
bool writer_checkpoint(struct writer *writer);

#endif
