/* A sealed text is a text, too, so that both databases keep it in the column that they have: a
 * character that no prompt, answer or comment begins with, a word for the format, and base64. The
 * id of its exchange is the label, so a text that is moved to another row does not open.
 *
 * The key belongs to the process and not to a connection, as the databases themselves do (db.h):
 * a dozen places open the ledger, and one forgotten key would be a text in the clear. */
#include "ledger/database/sealed_text.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "ledger/database/database.h"
#include "ledger/database/db_driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "\x01sealed1:"
#define MARK_LEN (sizeof MARK - 1)
#define ROWS 64

static struct {
    pthread_mutex_t lock;
    bool on;
    uint8_t key[KEYED_KEY_BYTES];
} used = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sealed_text_use(const uint8_t installation_key[static KEYED_KEY_BYTES])
{
    static const char what[] = "texts of the ledger";
    pthread_mutex_lock(&used.lock);
    keyed_mac(installation_key, what, sizeof what - 1, used.key);
    used.on = true;
    pthread_mutex_unlock(&used.lock);
}

void sealed_text_use_none(void)
{
    pthread_mutex_lock(&used.lock);
    crypto_wipe(used.key, sizeof used.key);
    used.on = false;
    pthread_mutex_unlock(&used.lock);
}

static bool copy_key(uint8_t key[static KEYED_KEY_BYTES])
{
    pthread_mutex_lock(&used.lock);
    bool on = used.on;
    memcpy(key, used.key, KEYED_KEY_BYTES);
    pthread_mutex_unlock(&used.lock);
    return on;
}

bool sealed_text_is(const char *stored)
{
    return stored && strncmp(stored, MARK, MARK_LEN) == 0;
}

enum td_status sealed_text_make(const char *exchange, const char *text, struct buf *out,
                                struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    enum td_status status = TD_OK;
    if (copy_key(key)) {
        buf_append(out, MARK, MARK_LEN);
        status = keyed_seal_text(key, str_from(exchange), str_from(text), out, err);
    } else {
        buf_append_str(out, str_from(text));
    }
    crypto_wipe(key, sizeof key);
    return status == TD_OK && out->failed
               ? error_set(err, TD_NO_MEMORY, "no memory to encrypt a text of %zu bytes",
                           strlen(text))
               : status;
}

enum td_status sealed_text_open(const char *exchange, struct td_str stored, struct buf *out,
                                struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    struct td_error why = {0};
    if (!sealed_text_is(stored.data)) {
        buf_append_str(out, stored);
        return out->failed
                   ? error_set(err, TD_NO_MEMORY, "no memory for a text of %zu bytes", stored.len)
                   : TD_OK;
    }
    bool on = copy_key(key);
    enum td_status status = on ? keyed_open_text(key, str_from(exchange),
                                                 str_slice(stored, MARK_LEN, stored.len), out, &why)
                               : TD_DENIED;
    crypto_wipe(key, sizeof key);
    if (status == TD_NO_MEMORY || status == TD_OK)
        return status == TD_OK ? TD_OK : error_set(err, status, "%s", why.message);
    return error_set(err, TD_DENIED,
                     "a text of exchange %s is encrypted under %s: put the installation.key (or "
                     "the key of cluster.key_env, cluster.key_file) back under which it was "
                     "written; nothing is lost",
                     exchange, on ? "another key" : "a key that is not here");
}

/* --- all texts of a ledger --- */

/* Every place of a text. The first two parameters of `find` are the row to begin behind and the
 * mark; how many rows is the third. */
#define FIND(table, column, from, id)                                                             \
    "SELECT " table ".seq, " id ", " column " FROM " from " WHERE " table ".seq > ?1 AND " column \
    " IS NOT NULL AND (CAST(?2 AS TEXT) IS NULL OR substr(" column                                \
    ", 1, 9) <> ?2) ORDER BY " table ".seq LIMIT ?3"
static const struct {
    const char *find, *replace;
} places[] = {
    {FIND("exchange", "prompt", "exchange", "id"),
     "UPDATE exchange SET prompt = ?2 WHERE seq = ?1 AND prompt IS NOT NULL"},
    {FIND("exchange", "answer", "exchange", "id"),
     "UPDATE exchange SET answer = ?2 WHERE seq = ?1 AND answer IS NOT NULL"},
    {FIND("feedback", "comment", "feedback JOIN exchange ON exchange.seq = feedback.exchange",
          "exchange.id"),
     "UPDATE feedback SET comment = ?2 WHERE seq = ?1 AND comment IS NOT NULL"},
};
#define PLACES (sizeof places / sizeof *places)
_Static_assert(MARK_LEN == 9, "the number in FIND");

static struct db_statement *find_behind(struct db *db, size_t place, int64_t seq, const char *mark,
                                        int64_t rows)
{
    struct db_statement *row = db_prepare(db, places[place].find);
    if (!row)
        return NULL;
    db_bind_int(row, 1, seq);
    db_bind_borrowed(row, 2, mark);
    db_bind_int(row, 3, rows);
    return row;
}

bool sealed_texts_count(struct db *db, struct sealed_texts *out)
{
    struct buf text;
    enum db_step step = DB_DONE;
    *out = (struct sealed_texts){0};
    buf_init(&text, SEALED_TEXT_BYTES_MAX);
    for (size_t i = 0; i < PLACES && step == DB_DONE; i++) {
        struct db_statement *row = find_behind(db, i, 0, NULL, INT64_MAX);
        while ((step = row ? db_step(row) : DB_FAILED) == DB_ROW) {
            bool sealed = sealed_text_is(db_text(row, 2));
            buf_clear(&text);
            out->sealed += sealed;
            out->plain += !sealed;
            out->closed +=
                sealed && sealed_text_open(db_text(row, 1), db_str(row, 2), &text, NULL) != TD_OK;
        }
        db_end(row);
    }
    buf_deinit(&text);
    return step == DB_DONE;
}

/* Rows of one place that are plain, with what is to stand there. */
struct some {
    size_t count;
    int64_t seqs[ROWS];
    struct buf texts[ROWS];
};

static enum td_status read_some(struct db *db, const char *path, size_t place, int64_t behind,
                                struct some *some, struct td_error *err)
{
    struct db_statement *row = find_behind(db, place, behind, MARK, ROWS);
    enum td_status status = TD_OK;
    enum db_step step = DB_FAILED;
    while (status == TD_OK && (step = row ? db_step(row) : DB_FAILED) == DB_ROW) {
        struct buf *text = &some->texts[some->count];
        buf_init(text, SEALED_TEXT_BYTES_MAX);
        some->seqs[some->count++] = db_int(row, 0);
        status = sealed_text_make(db_text(row, 1), db_text(row, 2), text, err);
    }
    if (status == TD_OK && step == DB_FAILED)
        status = db_error(db, path, err);
    db_end(row);
    return status;
}

/* A text that was forgotten meanwhile stays forgotten. */
static enum td_status replace_some(struct db *db, const char *path, size_t place,
                                   const struct some *some, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; i < some->count && status == TD_OK; i++) {
        struct db_statement *statement = db_prepare(db, places[place].replace);
        if (statement) {
            db_bind_int(statement, 1, some->seqs[i]);
            db_bind_text(statement, 2, buf_view(&some->texts[i]));
        }
        if (!statement || db_step(statement) != DB_DONE)
            status = db_error(db, path, err);
        db_end(statement);
    }
    return status;
}

static enum td_status encrypt_place(struct db *db, const char *path, size_t place, uint64_t *count,
                                    struct td_error *err)
{
    struct some *some = calloc(1, sizeof *some);
    int64_t behind = 0;
    if (!some)
        return error_set(err, TD_NO_MEMORY, "no memory to encrypt texts");
    enum td_status status = TD_OK;
    do {
        some->count = 0;
        status =
            db_begin(db) ? read_some(db, path, place, behind, some, err) : db_error(db, path, err);
        if (status == TD_OK)
            status = replace_some(db, path, place, some, err);
        if (status == TD_OK && !db_commit(db, NULL))
            status = db_error(db, path, err);
        db_rollback(db);
        *count += status == TD_OK ? some->count : 0;
        behind = some->count ? some->seqs[some->count - 1] : behind;
        for (size_t i = 0; i < some->count; i++)
            buf_deinit(&some->texts[i]);
    } while (status == TD_OK && some->count > 0);
    free(some);
    return status;
}

enum td_status sealed_texts_encrypt(const char *path, uint64_t *count, struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    struct db *db = NULL;
    *count = 0;
    bool on = copy_key(key);
    crypto_wipe(key, sizeof key);
    if (!on)
        return error_set(err, TD_DENIED,
                         "there is no key to encrypt texts with: set state_dir or "
                         "TANDEM_STATE_DIR");
    enum td_status status = database_open_writer(path, &db, err);
    if (status != TD_OK)
        return status;
    db_read_whole(db);
    if (!db_erase_deleted(db))
        status = db_error(db, path, err);
    for (size_t i = 0; i < PLACES && status == TD_OK; i++)
        status = encrypt_place(db, path, i, count, err);
    if (status == TD_OK && *count > 0)
        status = database_empty_log(db, path, err);
    db_close(db);
    return status;
}
