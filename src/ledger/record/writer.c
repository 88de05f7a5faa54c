/* Writes records into the database, one transaction per batch. A record that the database will
 * never accept is refused alone and counted, so that it cannot block the ones after it. Every other
 * failure leaves the batch unwritten, to be tried again. */
#include "ledger/record/writer.h"

#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "ledger/database/database.h"
#include "ledger/database/sealed_text.h"

#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#define EXCHANGE                                                                                 \
    "INSERT INTO exchange (id, wall_ms, \"user\", route, policy_version, requested_model, tier," \
    " model, place, data_class, status, finish, confidence, prompt_tokens, completion_tokens,"   \
    " ttft_ms, total_ms, cost_usd, all_cloud_cost_usd, degraded, streamed, disclosure, signals," \
    " reasons, prompt, answer, all_cloud_basis, standing, trace_id, span_id, parent_span_id,"    \
    " request_id, tenant"
#define VALUES_22 " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"
#define VALUES_9 ",?25,?26,?27,?28,?29,?30,?31,?32,?33"
/* Signals and reasons are the 23rd and the 24th value; in a file they are packed. */
#define EXCHANGE_IN_FILE EXCHANGE ", packed)" VALUES_22 ",NULL,NULL" VALUES_9 ", packed(?23, ?24))"
#define EXCHANGE_PLAIN EXCHANGE ")" VALUES_22 ",?,?" VALUES_9 ")"
#define ATTEMPT                                                                                \
    "INSERT INTO attempt (exchange, position, tier, model, place, outcome, error, confidence," \
    " prompt_tokens, completion_tokens, start_ms, first_ms, total_ms, cost_usd, egress_bytes," \
    " cached_tokens, exact, prompt_estimate, answer_bytes, estimated, span_id, model_version)"
/* Inserts no row for an unknown exchange. */
#define FEEDBACK                                               \
    "INSERT INTO feedback (exchange, wall_ms, score, comment)" \
    " SELECT seq, ?2, ?3, ?4 FROM exchange WHERE id = ?1"
#define SHADOW                                                                               \
    "INSERT INTO shadow (exchange, wall_ms, tier, agreement, same, kind, completion_tokens," \
    " total_ms, cost_usd, egress_bytes, place, model, model_version)"                        \
    " SELECT seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM exchange WHERE id = ?1"
#define REACTION                                     \
    "INSERT INTO reaction (exchange, wall_ms, kind)" \
    " SELECT seq, ?2, ?3 FROM exchange WHERE id = ?1"
/* Both tables are texts by their versions. */
#define VERSION(table)                                              \
    "INSERT INTO " table " (version, wall_ms, text) VALUES (?,?,?)" \
    " ON CONFLICT (version) DO NOTHING"
#define POLICY VERSION("policy")
#define MODEL_VERSION VERSION("model_version")

static const struct statements {
    const char *exchange, *attempt, *feedback, *shadow, *reaction, *policy, *model_version;
} statements[] = {
    [DB_SQLITE] = {EXCHANGE_IN_FILE,
                   ATTEMPT " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", FEEDBACK,
                   SHADOW, REACTION, POLICY, MODEL_VERSION},
    /* All go in one round trip, so an attempt finds its exchange by the id. Each may run twice,
     * because a commit may take place that was never answered. */
    [DB_POSTGRESQL] = {EXCHANGE_PLAIN " ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id"
                                      " WHERE exchange.wall_ms = EXCLUDED.wall_ms",
                       ATTEMPT " SELECT seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
                               " ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22 FROM exchange"
                               " WHERE id = ?1 AND wall_ms = ?23 ON CONFLICT DO NOTHING",
                       FEEDBACK " ON CONFLICT (exchange, wall_ms, score)"
                                " DO UPDATE SET wall_ms = EXCLUDED.wall_ms",
                       SHADOW " ON CONFLICT (exchange, wall_ms, tier)"
                              " DO UPDATE SET wall_ms = EXCLUDED.wall_ms",
                       REACTION " ON CONFLICT (exchange, wall_ms, kind)"
                                " DO UPDATE SET wall_ms = EXCLUDED.wall_ms",
                       POLICY, MODEL_VERSION},
};

enum td_status writer_open(const char *path, struct writer *writer, struct td_error *err)
{
    ASSERT(path != NULL && writer != NULL);
    *writer = (struct writer){0};
    enum td_status status = database_open_writer(path, &writer->db, err);
    if (status != TD_OK)
        return status;
    const struct statements *sql = &statements[db_dialect(writer->db)];
    const struct {
        struct db_statement **statement;
        const char *sql;
    } all[] = {
        {&writer->insert_exchange, sql->exchange},   {&writer->insert_attempt, sql->attempt},
        {&writer->insert_feedback, sql->feedback},   {&writer->insert_shadow, sql->shadow},
        {&writer->insert_reaction, sql->reaction},   {&writer->insert_policy, sql->policy},
        {&writer->insert_model, sql->model_version},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].statement = db_prepare(writer->db, all[i].sql);
        if (!*all[i].statement) {
            status = error_set(err, db_status(writer->db), "ledger %s: %s", path,
                               db_message(writer->db));
            writer_close(writer);
            return status;
        }
    }
    (void)writer_look(path, &writer->files);
    return TD_OK;
}

/* SQLite itself goes on with files that have lost their names, and does not say so. */
enum writer_place writer_look(const char *path, struct writer_files *files)
{
    static const char *const endings[WRITER_FILES] = {"", "-wal", "-shm"};
    static const enum writer_place gone[2] = {WRITER_REMOVED, WRITER_LOG_REMOVED};
    static const enum writer_place other[2] = {WRITER_REPLACED, WRITER_LOG_REMOVED};
    char name[PATH_MAX];
    if (db_driver_of(path))
        return WRITER_IN_PLACE;
    for (size_t i = 0; i < WRITER_FILES; i++) {
        struct stat info;
        if (path_format(name, sizeof name, NULL, "%s%s", path, endings[i]) != TD_OK)
            return WRITER_REMOVED;
        bool there = stat(name, &info) == 0;
        if (files->items[i].inode == 0 && there) {
            files->items[i].device = info.st_dev;
            files->items[i].inode = info.st_ino;
        } else if (files->items[i].inode && !there) {
            return gone[i > 0];
        } else if (there && (files->items[i].device != info.st_dev ||
                             files->items[i].inode != info.st_ino)) {
            return other[i > 0];
        }
    }
    return WRITER_IN_PLACE;
}

/* The old file is closed first: where only its log was removed, SQLite would take both for one.
 * Without a last checkpoint, because closing would then remove the log of that name, which may be
 * the new file's. */
enum td_status writer_open_again(const char *path, struct writer *writer, struct td_error *err)
{
    if (writer->db) {
        writer_checkpoint(writer);
        db_keep_log(writer->db);
        writer_close(writer);
    }
    return writer_open(path, writer, err);
}

enum td_status writer_make_durable(struct writer *writer, struct td_error *err)
{
    return db_sync_commits(writer->db, true) ? TD_OK : db_error(writer->db, "ledger", err);
}

void writer_close(struct writer *writer)
{
    db_end(writer->insert_exchange);
    db_end(writer->insert_attempt);
    db_end(writer->insert_feedback);
    db_end(writer->insert_shadow);
    db_end(writer->insert_reaction);
    db_end(writer->insert_policy);
    db_end(writer->insert_model);
    db_close(writer->db);
    buf_deinit(&writer->texts[0]);
    buf_deinit(&writer->texts[1]);
    *writer = (struct writer){0};
}

/* Binds the next parameter. Nothing is copied: the records live longer than the statement's
 * step. */
static void bind_text(struct db_statement *statement, int *next, const char *text)
{
    db_bind_borrowed(statement, (*next)++, text);
}

/* The same of a text that is stored encrypted. */
static enum td_status bind_sealed(struct db_statement *statement, int *next, const char *exchange,
                                  const char *text, struct buf *stored)
{
    buf_deinit(stored);
    buf_init(stored, SEALED_TEXT_BYTES_MAX);
    enum td_status status = text ? sealed_text_make(exchange, text, stored, NULL) : TD_OK;
    bind_text(statement, next, !text ? NULL : stored->data ? stored->data : "");
    return status;
}

static void bind_number(struct db_statement *statement, int *next, double value)
{
    if (isfinite(value))
        db_bind_double(statement, (*next)++, value);
    else
        db_bind_null(statement, (*next)++);
}

static void bind_integer(struct db_statement *statement, int *next, uint64_t value)
{
    db_bind_int(statement, (*next)++, (int64_t)(value > INT64_MAX ? INT64_MAX : value));
}

static enum td_status insert_exchange(struct writer *writer, const struct ledger_exchange *x)
{
    struct db_statement *s = writer->insert_exchange;
    int next = 1;
    bind_text(s, &next, x->id);
    bind_integer(s, &next, x->wall_ms);
    bind_text(s, &next, x->user);
    bind_text(s, &next, x->route);
    bind_text(s, &next, x->policy_version);
    bind_text(s, &next, x->requested_model);
    bind_text(s, &next, x->tier);
    bind_text(s, &next, x->model);
    bind_text(s, &next, x->place);
    bind_text(s, &next, x->data_class);
    bind_text(s, &next, x->status != ENDED_NOT ? names_end(x->status) : NULL);
    bind_text(s, &next, x->finish);
    bind_number(s, &next, x->confidence);
    bind_integer(s, &next, x->prompt_tokens);
    bind_integer(s, &next, x->completion_tokens);
    bind_number(s, &next, x->ttft_ms);
    bind_number(s, &next, x->total_ms);
    bind_number(s, &next, x->cost_usd);
    bind_number(s, &next, x->all_cloud_cost_usd);
    bind_integer(s, &next, x->degraded);
    bind_integer(s, &next, x->streamed);
    bind_text(s, &next, x->disclosure);
    bind_text(s, &next, x->signals_json);
    bind_text(s, &next, x->reasons_json);
    enum td_status status = bind_sealed(s, &next, x->id, x->prompt_text, &writer->texts[0]);
    if (status == TD_OK)
        status = bind_sealed(s, &next, x->id, x->answer_text, &writer->texts[1]);
    if (status != TD_OK)
        return status;
    bind_text(s, &next, names_basis(x->all_cloud_basis));
    bind_text(s, &next, names_standing(x->standing));
    bind_text(s, &next, x->trace_id);
    bind_text(s, &next, x->span_id);
    bind_text(s, &next, x->parent_span_id);
    bind_text(s, &next, x->request_id);
    bind_text(s, &next, x->tenant);
    return db_run(s, true);
}

/* seq: of its exchange in a file; elsewhere the id tells it. */
static enum td_status insert_attempt(struct writer *writer, const struct ledger_exchange *exchange,
                                     int64_t seq, size_t position)
{
    const struct ledger_attempt *a = &exchange->attempts[position];
    struct db_statement *s = writer->insert_attempt;
    bool by_id = db_dialect(writer->db) == DB_POSTGRESQL;
    int next = 1;
    if (by_id)
        bind_text(s, &next, exchange->id);
    else
        bind_integer(s, &next, (uint64_t)seq);
    bind_integer(s, &next, position);
    bind_text(s, &next, a->tier);
    bind_text(s, &next, a->model);
    bind_text(s, &next, a->place);
    bind_text(s, &next, a->outcome != ATTEMPT_OPEN ? names_outcome(a->outcome) : NULL);
    bind_text(s, &next, a->error);
    bind_number(s, &next, a->confidence);
    bind_integer(s, &next, a->prompt_tokens);
    bind_integer(s, &next, a->completion_tokens);
    bind_number(s, &next, a->start_ms);
    bind_number(s, &next, a->first_ms);
    bind_number(s, &next, a->total_ms);
    bind_number(s, &next, a->cost_usd);
    bind_integer(s, &next, a->egress_bytes);
    bind_integer(s, &next, a->cached_tokens);
    bind_integer(s, &next, a->exact);
    bind_integer(s, &next, a->prompt_estimate);
    bind_integer(s, &next, a->answer_bytes);
    bind_integer(s, &next, a->estimated);
    bind_text(s, &next, a->span_id);
    bind_text(s, &next, a->model_version);
    if (by_id)
        bind_integer(s, &next, exchange->wall_ms);
    return db_run(s, false);
}

static enum td_status insert_feedback(struct writer *writer, const struct ledger_feedback *f)
{
    struct db_statement *s = writer->insert_feedback;
    int next = 1;
    bind_text(s, &next, f->exchange);
    bind_integer(s, &next, f->wall_ms);
    bind_number(s, &next, f->score);
    enum td_status status = bind_sealed(s, &next, f->exchange, f->comment, writer->texts);
    return status == TD_OK ? db_run(s, true) : status;
}

static enum td_status insert_shadow(struct writer *writer, const struct ledger_shadow *x)
{
    struct db_statement *s = writer->insert_shadow;
    int next = 1;
    bind_text(s, &next, x->exchange);
    bind_integer(s, &next, x->wall_ms);
    bind_text(s, &next, x->tier);
    bind_number(s, &next, x->agreement);
    bind_integer(s, &next, x->same);
    bind_text(s, &next, x->kind);
    bind_integer(s, &next, x->completion_tokens);
    bind_number(s, &next, x->total_ms);
    bind_number(s, &next, x->cost_usd);
    bind_integer(s, &next, x->egress_bytes);
    bind_text(s, &next, x->place);
    bind_text(s, &next, x->model);
    bind_text(s, &next, x->model_version);
    return db_run(s, true);
}

static enum td_status insert_reaction(struct writer *writer, const struct ledger_reaction *r)
{
    struct db_statement *s = writer->insert_reaction;
    int next = 1;
    bind_text(s, &next, r->exchange);
    bind_integer(s, &next, r->wall_ms);
    bind_text(s, &next, names_reaction(r->kind));
    return db_run(s, true);
}

static enum td_status insert_policy(struct db_statement *s, const struct ledger_policy *policy)
{
    int next = 1;
    bind_text(s, &next, policy->version);
    bind_integer(s, &next, policy->wall_ms);
    bind_text(s, &next, policy->text);
    return db_run(s, false);
}

static enum td_status insert_record(struct writer *writer, const struct record *record)
{
    if (record->feedback.exchange)
        return insert_feedback(writer, &record->feedback);
    if (record->shadow.exchange)
        return insert_shadow(writer, &record->shadow);
    if (record->reaction.exchange)
        return insert_reaction(writer, &record->reaction);
    if (record->policy.version)
        return insert_policy(record->is_model ? writer->insert_model : writer->insert_policy,
                             &record->policy);
    enum td_status status = insert_exchange(writer, &record->exchange);
    bool has_seq = db_dialect(writer->db) == DB_SQLITE;
    int64_t seq = has_seq && status == TD_OK ? db_last_row(writer->db) : 0;
    for (size_t i = 0; status == TD_OK && i < record->exchange.attempt_count; i++)
        status = insert_attempt(writer, &record->exchange, seq, i);
    return status;
}

/* What a record that is no exchange belongs to; NULL for an exchange. */
static const char *owner_of(const struct record *record)
{
    return record->feedback.exchange   ? record->feedback.exchange
           : record->shadow.exchange   ? record->shadow.exchange
           : record->reaction.exchange ? record->reaction.exchange
                                       : record->policy.version;
}

enum td_status writer_commit(struct writer *writer, struct record *const *records, size_t count,
                             size_t *refused, struct td_error *err)
{
    ASSERT(records != NULL && refused != NULL);
    *refused = 0;
    bool going = db_begin(writer->db);
    enum td_status status = TD_OK;
    for (size_t i = 0; going && i < count; i++) {
        status = insert_record(writer, records[i]);
        going = status == TD_OK || status == TD_INVALID || status == TD_LIMIT;
        if (going && status != TD_OK) {
            /* Only the row of the exchange can be refused (ids repeat; sizes do not depend on an
             * attempt), so nothing of a refused record is left behind. */
            const char *on = owner_of(records[i]);
            log_event(LOG_LEVEL_ERROR, "ledger_refused", "exchange=%s reason=\"%s\"",
                      on ? on : records[i]->exchange.id,
                      on ? "feedback on, a shadow of, or a reaction to no exchange"
                         : db_message(writer->db));
            ++*refused;
        }
    }
    size_t late = 0;
    going = going && db_commit(writer->db, &late);
    *refused += late;
    if (going)
        return TD_OK;
    if (status == TD_OK || db_status(writer->db) != TD_OK)
        status = db_error(writer->db, "ledger", err);
    else
        status = error_set(err, status, "ledger: a text could not be encrypted");
    db_rollback(writer->db);
    return status;
}

bool writer_checkpoint(struct writer *writer)
{
    db_checkpoint(writer->db);
    return db_catch_up(writer->db);
}
