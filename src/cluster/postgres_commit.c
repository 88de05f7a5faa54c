/* What a writer of the ledger commits: in one round trip, or into the file of what waits. */
#include "cluster/postgres_internal.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <stdlib.h>
#include <string.h>

/* A record is safe within a second of its answer. It may wait for the commit before its own, or for
 * what is sent of the file; then come 100 ms of the ledger's and its own commit, and what this
 * leaves is the disk's. */
#define COMMIT_MS 400
/* Some hundred thousand records without texts. */
#define WAITING_BYTES_MAX (1ull << 30)
#define DRAIN_LINES 512
#define DRAIN_MS 100 /* one transaction, or more where they are quick */

static const char *waiting_path;

void postgres_set_waiting(const char *path)
{
    waiting_path = path;
}

void postgres_drop_items(struct postgres *db)
{
    while (db->first) {
        struct item *item = db->first;
        db->first = item->next;
        free(item);
    }
    db->last = &db->first;
    db->item_count = 0;
}

void postgres_add_item(struct postgres *db, struct item *item)
{
    *db->last = item;
    db->last = &item->next;
    db->item_count++;
}

/* --- what waits --- */

static void note_away(struct postgres *db)
{
    if (!atomic_exchange(&db->away, true))
        log_event(LOG_LEVEL_WARN, "ledger_database_away", "reason=\"%s\"", db->message);
}

static void note_back(struct postgres *db)
{
    if (waiting_count(atomic_load(&db->waiting)) == 0 && atomic_exchange(&db->away, false))
        log_event(LOG_LEVEL_INFO, "ledger_database_back", "waiting=0");
}

/* What an earlier process has left waits as well. */
static bool open_waiting(struct postgres *db)
{
    struct td_error err = {0};
    struct waiting *waiting = atomic_load(&db->waiting);
    if (waiting)
        return true;
    if (!waiting_path)
        return postgres_fail(db, TD_UNAVAILABLE, "nothing can wait for the database on this disk");
    if (waiting_open(waiting_path, WAITING_BYTES_MAX, &waiting, &err) != TD_OK)
        return postgres_fail(db, err.status, err.message);
    atomic_store(&db->waiting, waiting);
    return true;
}

static bool keep_items(struct postgres *db)
{
    struct td_error err = {0};
    struct buf lines;
    buf_init(&lines, WAITING_BYTES_MAX);
    note_away(db);
    for (struct item *item = db->first; item; item = item->next) {
        buf_append_str(&lines, item->must_change ? STR("[true,") : STR("[false,"));
        json_write_text(str_from(item->sql), &lines);
        for (int i = 0; i < item->count; i++) {
            buf_append_char(&lines, ',');
            if (item->values[i])
                json_write_text(str_from(item->values[i]), &lines);
            else
                buf_append_str(&lines, STR("null"));
        }
        buf_append_str(&lines, STR("]\n"));
    }
    enum td_status status =
        lines.failed
            ? error_set(&err, TD_NO_MEMORY, "no memory for what waits for the database")
            : waiting_append(atomic_load(&db->waiting), buf_view(&lines), db->item_count, &err);
    buf_deinit(&lines);
    return status == TD_OK || postgres_fail(db, status, err.message);
}

static void tell_refused(const struct pq_statement *statement, const char *reason)
{
    log_event(LOG_LEVEL_ERROR, "ledger_refused", "exchange=%s reason=\"%s\"",
              statement->count && statement->values[0] ? statement->values[0] : "", reason);
}

/* Sends the statements; what the database will never accept is left out, told and counted. */
static enum pq_end send(struct postgres *db, struct pq_statement *statements,
                        const bool *must_change, size_t count, size_t *refused)
{
    uint64_t *changes = calloc(count + 1, sizeof *changes);
    size_t *which = calloc(count + 1, sizeof *which), left = 0, at;
    enum pq_end end = changes && which ? PQ_REFUSED : PQ_FAILED;
    for (size_t i = 0; which && i < count; i++)
        which[left++] = i;
    while (end == PQ_REFUSED) {
        end = pq_transaction(db->pq, statements, left, COMMIT_MS, changes, &at);
        if (end != PQ_REFUSED || at >= left)
            break;
        tell_refused(&statements[at], pq_message(db->pq));
        ++*refused;
        memmove(statements + at, statements + at + 1, (left - at - 1) * sizeof *statements);
        memmove(which + at, which + at + 1, (left - at - 1) * sizeof *which);
        left--;
    }
    for (size_t i = 0; end == PQ_DONE && i < left; i++)
        if (changes[i] == 0 && must_change[which[i]]) {
            tell_refused(&statements[i], "its id is taken, or it is about no exchange");
            ++*refused;
        }
    free(changes);
    free(which);
    return end;
}

/* A line of what waits as a statement. False: it is none. */
static bool statement_of(const struct json *line, struct pq_statement *out, bool *must_change)
{
    size_t count = json_count(line);
    *out = (struct pq_statement){.sql = json_cstr(json_at(line, 1)), .count = (int)count - 2};
    *must_change = json_bool(json_at(line, 0), false);
    if (!out->sql || count < 2 || count > PQ_VALUES_MAX + 2)
        return false;
    for (size_t i = 2; i < count; i++)
        out->values[i - 2] = json_cstr(json_at(line, i));
    return true;
}

/* Sends the oldest of what waits. False: not now. */
static bool drain_some(struct postgres *db, struct waiting *waiting, size_t *refused)
{
    struct json *lines[DRAIN_LINES];
    struct td_error err = {0};
    size_t count, used = 0;
    uint64_t bytes;
    struct pq_statement *statements = calloc(DRAIN_LINES, sizeof *statements);
    bool must_change[DRAIN_LINES], going = statements != NULL;
    if (waiting_read(waiting, lines, DRAIN_LINES, &count, &bytes, &err) != TD_OK)
        going = postgres_fail(db, err.status, err.message);
    for (size_t i = 0; going && i < count; i++)
        used += statement_of(lines[i], &statements[used], &must_change[used]);
    going = going && postgres_ended(db, send(db, statements, must_change, used, refused));
    if (going)
        waiting_sent(waiting, count, bytes);
    for (size_t i = 0; i < count; i++)
        json_free(lines[i]);
    free(statements);
    return going;
}

/* True when nothing waits any more. */
static bool drain(struct postgres *db, size_t *refused)
{
    struct waiting *waiting = atomic_load(&db->waiting);
    double until = clock_monotonic_ms(NULL) + DRAIN_MS;
    while (waiting_count(waiting) > 0) {
        if (clock_monotonic_ms(NULL) > until || !postgres_connected(db) ||
            !drain_some(db, waiting, refused))
            return false;
    }
    return true;
}

/* --- committing --- */

static bool send_items(struct postgres *db, size_t *refused)
{
    struct pq_statement *statements = calloc(db->item_count, sizeof *statements);
    bool *must_change = calloc(db->item_count, sizeof *must_change);
    size_t count = 0;
    bool going = statements && must_change;
    for (struct item *item = db->first; going && item; item = item->next) {
        statements[count] = (struct pq_statement){.sql = item->sql, .count = item->count};
        memcpy(statements[count].values, item->values, sizeof item->values);
        must_change[count++] = item->must_change;
    }
    going = going ? postgres_ended(db, send(db, statements, must_change, count, refused))
                  : postgres_fail(db, TD_NO_MEMORY, "no memory for a transaction");
    free(statements);
    free(must_change);
    return going;
}

/* Where something waits, these come after it: they are safe in the file at once, and not after as
 * much of it was sent as there is time for. */
static bool commit_items(struct postgres *db, size_t *refused)
{
    if (!open_waiting(db))
        return false;
    if (waiting_count(atomic_load(&db->waiting)) == 0 && postgres_connected(db) &&
        send_items(db, refused)) {
        note_back(db);
        return true;
    }
    if (!keep_items(db))
        return false;
    if (drain(db, refused))
        note_back(db);
    return true;
}

bool postgres_commit(struct db *base, size_t *refused)
{
    struct postgres *db = (struct postgres *)base;
    size_t ignored = 0;
    bool done = !db->broken;
    if (done && db->item_count > 0)
        done = commit_items(db, refused ? refused : &ignored);
    else if (done && db->begun)
        done = postgres_ended(db, pq_script(db->pq, "COMMIT", db->answer_ms));
    if (!done)
        return false;
    postgres_drop_items(db);
    db->begun = false;
    db->transaction = NONE;
    return true;
}

/* The ledger's thread asks from time to time, also when nothing is to be written. */
bool postgres_catch_up(struct db *base)
{
    struct postgres *db = (struct postgres *)base;
    size_t refused = 0;
    if (waiting_count(atomic_load(&db->waiting)) == 0)
        return false;
    if (drain(db, &refused))
        note_back(db);
    return waiting_count(atomic_load(&db->waiting)) > 0;
}

/* Any thread. */
bool postgres_is_away(struct db *base, uint64_t *waiting)
{
    struct postgres *db = (struct postgres *)base;
    *waiting = waiting_count(atomic_load(&db->waiting));
    return atomic_load(&db->away);
}
