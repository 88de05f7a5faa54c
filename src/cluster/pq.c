/* libpq blocks in most of its calls. Here everything is sent without blocking, and answers are
 * awaited with poll() until the deadline; what is late has failed, and its connection is given up,
 * because nobody can say what the server still does with it. */
#include "cluster/pq.h"

#include "base/core/error.h"
#include "base/time/clock.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statements that a connection has prepared. */
#define PREPARED_MAX 16
/* The kernel gives a silent peer up after so long, also where nobody waits for an answer. */
#define SILENCE_MS "3000"

struct pq {
    PGconn *connection;
    char *prepared[PREPARED_MAX]; /* texts; each has its place as its name */
    size_t prepared_count;
    char message[TD_ERROR_BYTES];
};
struct pq_rows {
    PGresult *result;
};

/* libpq's messages end with a line feed and may have several lines. */
static void note(struct pq *pq, const char *text)
{
    snprintf(pq->message, sizeof pq->message, "%s", text && *text ? text : "no answer in time");
    size_t len = strlen(pq->message);
    while (len > 0 && pq->message[len - 1] == '\n')
        pq->message[--len] = '\0';
    for (char *at = pq->message; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
}

const char *pq_message(const struct pq *pq)
{
    return pq ? pq->message : "not connected";
}

enum td_status pq_check_url(const char *url, struct td_error *err)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &why);
    enum td_status status = TD_OK;
    if (!options)
        status = error_set(err, TD_INVALID, "the database's URL cannot be read: %s",
                           why ? why : "no memory");
    for (PQconninfoOption *option = options; option && option->keyword; option++)
        if (strcmp(option->keyword, "password") == 0 && option->val)
            status = error_set(err, TD_INVALID,
                               "the database's URL has a password: take it out, and give it as "
                               "PGPASSWORD in the environment or in the file of PGPASSFILE");
    PQconninfoFree(options);
    PQfreemem(why);
    return status;
}

/* Waits until the socket can do it. False at the deadline. */
static bool wait_for(struct pq *pq, short events, double deadline_ms)
{
    for (;;) {
        double left = deadline_ms - clock_monotonic_ms(NULL);
        struct pollfd fd = {PQsocket(pq->connection), events, 0};
        if (left <= 0 || fd.fd < 0)
            return false;
        int ready = poll(&fd, 1, (int)left + 1);
        if (ready > 0)
            return true;
    }
}

static bool connected(struct pq *pq, double deadline_ms)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED || PQstatus(pq->connection) == CONNECTION_BAD)
            return false;
        if (!wait_for(pq, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms))
            return false;
        state = PQconnectPoll(pq->connection);
    }
    return PQsetnonblocking(pq->connection, 1) == 0;
}

/* A server that is about to be there says FATAL as well. */
static bool turned_away(const char *message)
{
    return strstr(message, "FATAL") && !strstr(message, "starting up") &&
           !strstr(message, "shutting down") && !strstr(message, "recovery") &&
           !strstr(message, "too many clients") && !strstr(message, "remaining connection slots");
}

enum td_status pq_open(const char *url, uint32_t timeout_ms, struct pq **out, struct td_error *err)
{
    static const char *const names[] = {"dbname", "tcp_user_timeout", "application_name",
                                        "client_encoding", NULL};
    const char *const values[] = {url, SILENCE_MS, "tandem", "UTF8", NULL};
    *out = NULL;
    struct pq *pq = calloc(1, sizeof *pq);
    if (!pq)
        return error_set(err, TD_NO_MEMORY, "no memory for a connection");
    pq->connection = PQconnectStartParams(names, values, 1);
    if (!pq->connection) {
        free(pq);
        return error_set(err, TD_NO_MEMORY, "no memory for a connection");
    }
    if (connected(pq, clock_monotonic_ms(NULL) + timeout_ms)) {
        *out = pq;
        return TD_OK;
    }
    note(pq, PQerrorMessage(pq->connection));
    enum td_status status = error_set(err, turned_away(pq->message) ? TD_INVALID : TD_UNAVAILABLE,
                                      "the database does not let us in: %s", pq->message);
    pq_close(pq);
    return status;
}

static void forget_prepared(struct pq *pq)
{
    while (pq->prepared_count > 0)
        free(pq->prepared[--pq->prepared_count]);
}

void pq_close(struct pq *pq)
{
    if (!pq)
        return;
    forget_prepared(pq);
    PQfinish(pq->connection);
    free(pq);
}

/* What lies in the socket of an idle connection is a farewell, or a notice. */
bool pq_is_open(struct pq *pq)
{
    struct pollfd fd = {PQsocket(pq->connection), POLLIN, 0};
    for (int i = 0; i < 3 && PQstatus(pq->connection) == CONNECTION_OK; i++) {
        if (poll(&fd, 1, 0) == 0)
            return true;
        if (!PQconsumeInput(pq->connection))
            return false;
    }
    return PQstatus(pq->connection) == CONNECTION_OK;
}

/* --- answers --- */

static enum pq_end end_of(struct pq *pq, const PGresult *result)
{
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_PIPELINE_SYNC:
        return PQ_DONE;
    case PGRES_PIPELINE_ABORTED:
        return PQ_FAILED;
    default:
        break;
    }
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    note(pq, PQresultErrorMessage(result));
    if (!state || strncmp(state, "57", 2) == 0 || strncmp(state, "08", 2) == 0)
        return PQ_AWAY; /* it is shutting down */
    /* 22 data, 23 constraints, 54 limits of the program: repeating them does not help. */
    return strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
                   strncmp(state, "54", 2) == 0
               ? PQ_REFUSED
               : PQ_FAILED;
}

static enum pq_end away(struct pq *pq)
{
    note(pq, PQerrorMessage(pq->connection));
    return PQ_AWAY;
}

/* Sends what is left, reading meanwhile: a server that cannot write stops to read. */
static bool flush(struct pq *pq, double deadline_ms)
{
    int left;
    while ((left = PQflush(pq->connection)) > 0) {
        if (!wait_for(pq, POLLIN | POLLOUT, deadline_ms) || !PQconsumeInput(pq->connection))
            return false;
    }
    return left == 0;
}

/* The next result; *none where the answer to a statement has no more. False: no answer. */
static bool next_result(struct pq *pq, double deadline_ms, PGresult **out)
{
    while (PQisBusy(pq->connection))
        if (!wait_for(pq, POLLIN, deadline_ms) || !PQconsumeInput(pq->connection))
            return false;
    *out = PQgetResult(pq->connection);
    return true;
}

/* All results of one statement; the last with rows is kept. */
static enum pq_end collect(struct pq *pq, double deadline_ms, PGresult **kept)
{
    enum pq_end end = PQ_DONE;
    PGresult *result;
    if (!flush(pq, deadline_ms))
        return away(pq);
    for (;;) {
        if (!next_result(pq, deadline_ms, &result))
            return away(pq);
        if (!result)
            return end;
        enum pq_end this = end_of(pq, result);
        end = end == PQ_DONE ? this : end;
        if (kept) {
            PQclear(*kept);
            *kept = result;
        } else {
            PQclear(result);
        }
    }
}

enum pq_end pq_script(struct pq *pq, const char *sql, uint32_t timeout_ms)
{
    return PQsendQuery(pq->connection, sql)
               ? collect(pq, clock_monotonic_ms(NULL) + timeout_ms, NULL)
               : away(pq);
}

enum pq_end pq_run(struct pq *pq, const struct pq_statement *statement, uint32_t timeout_ms,
                   struct pq_rows **rows)
{
    PGresult *result = NULL;
    if (rows)
        *rows = NULL;
    if (!PQsendQueryParams(pq->connection, statement->sql, statement->count, NULL,
                           statement->values, NULL, NULL, 0))
        return away(pq);
    enum pq_end end = collect(pq, clock_monotonic_ms(NULL) + timeout_ms, &result);
    if (end == PQ_DONE && rows && result) {
        *rows = calloc(1, sizeof **rows);
        if (*rows)
            (*rows)->result = result;
        else
            end = PQ_FAILED;
    }
    if (!rows || !*rows)
        PQclear(result);
    return end;
}

/* --- a transaction in one round trip --- */

/* The place of a statement; the first free one where it is not prepared. */
static size_t place_of(const struct pq *pq, const char *sql)
{
    size_t i = 0;
    while (i < pq->prepared_count && strcmp(pq->prepared[i], sql) != 0)
        i++;
    return i;
}

static bool send_plain(struct pq *pq, const char *sql)
{
    return PQsendQueryParams(pq->connection, sql, 0, NULL, NULL, NULL, NULL, 0);
}

/* Two messages where the statement is not known yet; *prepares says so. */
static bool send_one(struct pq *pq, const struct pq_statement *s, bool *prepares)
{
    char name[16];
    size_t place = place_of(pq, s->sql);
    *prepares = false;
    if (place == PREPARED_MAX)
        return PQsendQueryParams(pq->connection, s->sql, s->count, NULL, s->values, NULL, NULL, 0);
    snprintf(name, sizeof name, "p%zu", place);
    if (place == pq->prepared_count) {
        if (!(pq->prepared[place] = strdup(s->sql)))
            return false;
        pq->prepared_count++;
        *prepares = true;
        if (!PQsendPrepare(pq->connection, name, s->sql, 0, NULL))
            return false;
    }
    return PQsendQueryPrepared(pq->connection, name, s->count, s->values, NULL, NULL, 0);
}

/* The answer to one message of a pipeline, which a NULL ends. */
static enum pq_end take_one(struct pq *pq, double deadline_ms, uint64_t *changed)
{
    PGresult *result = NULL;
    enum pq_end end = PQ_DONE;
    do {
        if (!next_result(pq, deadline_ms, &result))
            return away(pq);
        if (!result)
            return end;
        enum pq_end this = end_of(pq, result);
        end = end == PQ_DONE ? this : end;
        if (changed)
            *changed = strtoull(PQcmdTuples(result), NULL, 10);
        bool sync = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
        if (sync)
            return end; /* no NULL comes after it */
    } while (true);
}

static enum pq_end take_all(struct pq *pq, const bool *prepares, size_t count, double deadline_ms,
                            uint64_t *changes, size_t *at)
{
    enum pq_end end = take_one(pq, deadline_ms, NULL); /* BEGIN */
    for (size_t i = 0; i < count && end != PQ_AWAY; i++) {
        enum pq_end this = prepares[i] ? take_one(pq, deadline_ms, NULL) : PQ_DONE;
        if (this != PQ_AWAY) {
            enum pq_end ran = take_one(pq, deadline_ms, &changes[i]);
            this = this == PQ_DONE ? ran : this;
        }
        if (end == PQ_DONE && this != PQ_DONE)
            *at = i;
        end = end == PQ_DONE || this == PQ_AWAY ? this : end;
    }
    for (int i = 0; i < 2 && end != PQ_AWAY; i++) { /* COMMIT, and the end of the pipeline */
        enum pq_end this = take_one(pq, deadline_ms, NULL);
        end = end == PQ_DONE || this == PQ_AWAY ? this : end;
    }
    return end;
}

enum pq_end pq_transaction(struct pq *pq, const struct pq_statement *statements, size_t count,
                           uint32_t timeout_ms, uint64_t *changes, size_t *at)
{
    double deadline_ms = clock_monotonic_ms(NULL) + timeout_ms;
    bool *prepares = calloc(count + 1, sizeof *prepares);
    *at = 0;
    if (!prepares) {
        note(pq, "no memory for a transaction");
        return PQ_FAILED;
    }
    bool sent = PQenterPipelineMode(pq->connection) && send_plain(pq, "BEGIN");
    for (size_t i = 0; i < count && sent; i++)
        sent = send_one(pq, &statements[i], &prepares[i]);
    sent = sent && send_plain(pq, "COMMIT") && PQpipelineSync(pq->connection) &&
           flush(pq, deadline_ms);
    enum pq_end end = sent ? take_all(pq, prepares, count, deadline_ms, changes, at) : away(pq);
    free(prepares);
    if (end == PQ_AWAY || !PQexitPipelineMode(pq->connection))
        return away(pq);
    if (end != PQ_DONE) {
        forget_prepared(pq); /* those of a transaction that failed may not be there */
        char why[sizeof pq->message];
        snprintf(why, sizeof why, "%s", pq->message);
        if (pq_script(pq, "ROLLBACK; DEALLOCATE ALL", timeout_ms) == PQ_AWAY)
            return PQ_AWAY;
        snprintf(pq->message, sizeof pq->message, "%s", why);
    }
    return end;
}

/* --- rows --- */

int pq_rows_count(const struct pq_rows *rows)
{
    return rows ? PQntuples(rows->result) : 0;
}

uint64_t pq_rows_changed(const struct pq_rows *rows)
{
    return rows ? strtoull(PQcmdTuples(rows->result), NULL, 10) : 0;
}

struct td_str pq_rows_value(const struct pq_rows *rows, int row, int column)
{
    if (!rows || row >= PQntuples(rows->result) || column >= PQnfields(rows->result) ||
        PQgetisnull(rows->result, row, column))
        return (struct td_str){NULL, 0};
    return (struct td_str){PQgetvalue(rows->result, row, column),
                           (size_t)PQgetlength(rows->result, row, column)};
}

void pq_rows_free(struct pq_rows *rows)
{
    if (!rows)
        return;
    PQclear(rows->result);
    free(rows);
}
