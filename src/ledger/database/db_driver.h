/* What a twin of the database interface implements. For db.c and the twins alone; the calls are
 * described in db.h. */
#ifndef LEDGER_DB_DRIVER_H
#define LEDGER_DB_DRIVER_H

#include "ledger/database/db.h"

struct db {
    const struct db_driver *driver; /* a twin's own struct begins with this one */
};
struct db_statement {
    const struct db_driver *driver; /* likewise */
};

struct db_driver {
    const char *scheme; /* "postgresql://" */
    enum db_dialect dialect;
    /* By a name with the scheme: opens the ledger, migrates it when it is opened to write. */
    enum td_status (*open)(const char *name, bool writes, struct db **out, struct td_error *err);
    void (*close)(struct db *db);
    enum td_status (*status)(struct db *db);
    const char *(*message)(struct db *db);
    bool (*exec)(struct db *db, const char *sql);
    bool (*begin)(struct db *db, bool writes);
    bool (*commit)(struct db *db, size_t *refused);
    void (*rollback)(struct db *db);
    struct db_statement *(*prepare)(struct db *db, const char *sql);
    void (*end)(struct db_statement *statement);
    void (*bind_null)(struct db_statement *statement, int index);
    void (*bind_int)(struct db_statement *statement, int index, int64_t value);
    void (*bind_double)(struct db_statement *statement, int index, double value);
    void (*bind_text)(struct db_statement *statement, int index, struct td_str text, bool copy);
    enum db_step (*step)(struct db_statement *statement);
    enum td_status (*run)(struct db_statement *statement, bool must_change);
    uint64_t (*changes)(struct db *db);
    bool (*is_null)(struct db_statement *row, int column);
    int64_t (*integer)(struct db_statement *row, int column);
    double (*number)(struct db_statement *row, int column);
    struct td_str (*str)(struct db_statement *row, int column);
    /* Of a database that may be away; NULL elsewhere. */
    bool (*catch_up)(struct db *db);
    bool (*is_away)(struct db *db, uint64_t *waiting);
    void (*hurry)(struct db *db, uint32_t answer_ms);
    void (*read_whole)(struct db *db);
    /* Of a file; NULL elsewhere. */
    int64_t (*last_row)(struct db *db);
    bool (*sync_commits)(struct db *db, bool sync);
    bool (*erase_deleted)(struct db *db);
    void (*checkpoint)(struct db *db);
    bool (*empty_log)(struct db *db);
    void (*keep_log)(struct db *db);
};

#endif
