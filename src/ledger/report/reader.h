/* What the files that read the ledger share (reader.c, report.c, shadow_report.c, spent.c,
 * judged.c, history.c). Internal to ledger/. */
#ifndef LEDGER_READER_H
#define LEDGER_READER_H

#include "ledger/record/ledger.h"

#include "ledger/database/db.h"
#include <pthread.h>

struct ledger_reader {
    struct db *db;
    pthread_mutex_t mutex; /* held for each query: a report is one transaction */
};

/* Sets err from the connection. The caller holds the mutex. */
enum td_status reader_error_locked(struct ledger_reader *reader, struct td_error *err);
/* A prepared statement with ?1 bound to a number (a time or a seq); NULL after an error. */
struct db_statement *reader_prepare_locked(struct ledger_reader *reader, const char *sql,
                                           uint64_t first, struct td_error *err);
/* The number in a column of the current row; NAN for NULL. */
double reader_number(struct db_statement *row, int column);
/* The rows of a statement as a list, with the lock (policies.c). **returns new**. */
enum td_status reader_list(struct ledger_reader *reader, const char *sql, uint64_t first,
                           struct json *(*make)(struct db_statement *row), struct json **out,
                           struct td_error *err);
/* Of several feedbacks on an answer of exchange x the newest counts. */
#define NEWEST_SCORE \
    "(SELECT f.score FROM feedback f WHERE f.exchange = x.seq ORDER BY f.seq DESC LIMIT 1)"

/* ledger_reader_shadows inside a transaction of the caller. */
enum td_status shadows_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                              struct json **out, struct td_error *err);

/* The report's `reactions` (reaction_report.c). */
enum td_status reactions_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                struct json **out, struct td_error *err);

/* And its `keys` (key_report.c). */
enum td_status keys_locked(struct ledger_reader *reader, uint64_t since_wall_ms, struct json **out,
                           struct td_error *err);

/* The same for the members about money (money_report.c), and for token_counts (tokens.c). */
enum td_status money_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                            struct json *report, struct td_error *err);
enum td_status token_counts_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                   struct json *report, struct td_error *err);

#endif
