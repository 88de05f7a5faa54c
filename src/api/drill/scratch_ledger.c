#include "api/drill/scratch_ledger.h"

#include "base/core/error.h"
#include "ledger/database/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_MS 10000
#define FOLDER_BYTES 4000

struct scratch_ledger {
    struct ledger *ledger;
    struct db *locker;
    char folder[FOLDER_BYTES], path[FOLDER_BYTES + 16];
};

enum td_status scratch_ledger_open(const char *beside, struct scratch_ledger **out,
                                   struct td_error *err)
{
    struct scratch_ledger *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return error_set(err, TD_NO_MEMORY, "no memory for a ledger");
    bool file = beside && ledger_is_file(beside);
    int len = snprintf(scratch->folder, sizeof scratch->folder, "%s.drill-XXXXXX",
                       file ? beside : "/tmp/tandem");
    enum td_status status = TD_OK;
    if (len >= FOLDER_BYTES || !mkdtemp(scratch->folder)) {
        status = error_set(err, TD_IO, "%s cannot be made: %s", scratch->folder, strerror(errno));
        scratch->folder[0] = '\0';
    } else {
        snprintf(scratch->path, sizeof scratch->path, "%s/ledger.db", scratch->folder);
        status = ledger_open(scratch->path, &scratch->ledger, err);
    }
    if (status == TD_OK)
        status = database_open_writer(scratch->path, &scratch->locker, err);
    if (status == TD_OK && !db_begin(scratch->locker))
        status = db_error(scratch->locker, scratch->path, err);
    if (status == TD_OK)
        *out = scratch;
    else
        scratch_ledger_free(scratch);
    return status;
}

struct ledger *scratch_ledger_of(struct scratch_ledger *scratch)
{
    return scratch->ledger;
}

enum td_status scratch_ledger_unlock(struct scratch_ledger *scratch, int64_t *written,
                                     struct td_error *err)
{
    *written = 0;
    db_rollback(scratch->locker);
    enum td_status status = ledger_flush(scratch->ledger, FLUSH_MS, err);
    if (status != TD_OK)
        return status;
    struct db_statement *count = db_prepare(scratch->locker, "SELECT count(*) FROM exchange");
    if (count && db_step(count) == DB_ROW)
        *written = db_int(count, 0);
    else
        status = db_error(scratch->locker, scratch->path, err);
    db_end(count);
    return status;
}

void scratch_ledger_free(struct scratch_ledger *scratch)
{
    static const char *const files[] = {"", "-wal", "-shm", "-journal"};
    char path[sizeof scratch->path + 16];
    if (!scratch)
        return;
    db_close(scratch->locker);
    if (scratch->ledger)
        ledger_close(scratch->ledger);
    for (size_t i = 0; scratch->path[0] && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s%s", scratch->path, files[i]);
        unlink(path);
    }
    if (scratch->folder[0])
        rmdir(scratch->folder);
    free(scratch);
}
