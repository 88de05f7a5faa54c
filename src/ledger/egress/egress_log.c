/* Appends to the egress log under a file lock, so that processes can share a folder. Each transfer
 * looks at the files first: if another process wrote, the end of the chain is read again; if a file
 * was removed or replaced, the transfer is refused. After a failed write the files are put back as
 * they were, so that the log never claims what did not happen.
 *
 * A signature costs as much as the rest of a transfer's record several times over. So the head that
 * announces a line is also the one that signs the line before it, and only the last line before a
 * pause needs a head of its own. That one is made by a thread, CLOSE_MS after the last transfer: it
 * is off the way of requests, and is not needed while transfers follow each other.
 *
 * Rejected: lines that are signed in batches after they were sent. A process that is killed would
 * leave lines that nobody announced, and those cannot be told from forged ones. */
#include "ledger/egress/egress_log.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/egress/egress_key.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_mark.h"
#include "ledger/egress/egress_pending.h"
#include "ledger/egress/egress_verify.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* In ms: one that was stopped between the two writes of a line, with the lock, is waited for. */
#define LOCK_TRIES 50
#define HEAD_BYTES_MAX 1024
/* How long the last line may stand without a head that signs it. Long enough that a server under
 * load signs once a transfer; short, because until then a cut of this line looks like a machine
 * that stopped before it was written. */
#define CLOSE_MS 20
#define MEND EGRESS_MEND

struct announcement {
    char next[EGRESS_HASH_HEX + 1], pending[EGRESS_HASH_HEX + 1];
};

struct file_place {
    dev_t device;
    ino_t inode;
};

struct egress_log {
    pthread_mutex_t mutex;
    char *folder;
    int entries_fd, heads_fd, pending_fd;
    struct file_place entries, heads; /* as they were opened */
    struct crypto_signer *signer;
    /* The state at our last look, under both locks. */
    struct egress_chain chain;
    off_t entries_bytes, heads_bytes;
    struct egress_head head; /* the last head; an empty date: none yet */
    off_t head_at;           /* where its line begins */
    bool opened;
    /* The thread that signs the last line before a pause. */
    pthread_t closer;
    pthread_cond_t closer_wakes;
    bool closer_runs, closer_busy, ending;
    uint64_t marked; /* transfers in the last mark; UINT64_MAX = there is none of this boot */
    struct td_error failure; /* of the last transfer's record; status TD_OK = it was written */
};

static enum td_status io_error(const struct egress_log *log, const char *what, struct td_error *err)
{
    return error_set(err, TD_IO, "egress ledger %s: cannot %s: %s", log->folder, what,
                     strerror(errno));
}

/* --- looking at the files, under both locks --- */

static bool lock_files(struct egress_log *log)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(log->entries_fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Reads the last line of a file of `bytes`, without its line break, into block[capacity]. *at is
 * where it begins. False when there is none that fits. */
static bool last_line(int fd, off_t bytes, char *block, size_t capacity, struct td_str *line,
                      off_t *at)
{
    size_t len = (off_t)capacity < bytes ? capacity : (size_t)bytes;
    off_t from = bytes - (off_t)len;
    if (len < 2 || pread(fd, block, len, from) != (ssize_t)len || block[len - 1] != '\n')
        return false;
    const char *before = memrchr(block, '\n', len - 1);
    if (!before && from > 0)
        return false;
    size_t begin = before ? (size_t)(before - block) + 1 : 0;
    *line = (struct td_str){block + begin, len - 1 - begin};
    *at = from + (off_t)begin;
    return true;
}

/* Counts the bytes of the complete lines: a machine that stopped may leave half a line at the
 * end. */
static enum td_status find_whole_lines(const struct egress_log *log, off_t bytes, off_t *whole,
                                       struct td_error *err)
{
    char block[EGRESS_LINE_BYTES_MAX];
    size_t len = (off_t)sizeof block < bytes ? sizeof block : (size_t)bytes;
    if (len > 0 && pread(log->entries_fd, block, len, bytes - (off_t)len) != (ssize_t)len)
        return io_error(log, "read", err);
    const char *end = len > 0 ? memrchr(block, '\n', len) : NULL;
    if (!end && bytes > (off_t)len)
        return error_set(err, TD_CORRUPT, "egress ledger %s is damaged; " MEND, log->folder);
    *whole = end ? bytes - (off_t)len + (end - block) + 1 : 0;
    return TD_OK;
}

static enum td_status read_last_entry(struct egress_log *log, struct td_error *err)
{
    char block[EGRESS_LINE_BYTES_MAX];
    struct td_str line;
    off_t at;
    log->chain = (struct egress_chain){0, EGRESS_NO_HASH};
    if (log->entries_bytes == 0)
        return TD_OK;
    if (!last_line(log->entries_fd, log->entries_bytes, block, sizeof block, &line, &at) ||
        !egress_line_read(line, &log->chain))
        return error_set(err, TD_CORRUPT,
                         "egress ledger %s: its last line is damaged; see tandem egress verify, "
                         "then " MEND,
                         log->folder);
    return TD_OK;
}

static enum td_status read_last_head(struct egress_log *log, struct td_error *err)
{
    char block[HEAD_BYTES_MAX], key[sizeof log->head.key];
    struct td_str line;
    struct td_error cause = {0};
    memcpy(key, log->head.key, sizeof key);
    log->head.date[0] = '\0';
    log->head.chain = (struct egress_chain){0, EGRESS_NO_HASH};
    memcpy(log->head.next, EGRESS_NO_HASH, sizeof log->head.next);
    log->head_at = log->heads_bytes;
    if (log->heads_bytes == 0)
        return TD_OK;
    enum td_status status = TD_OK;
    if (!last_line(log->heads_fd, log->heads_bytes, block, sizeof block, &line, &log->head_at))
        status = error_set(&cause, TD_CORRUPT, "the last head is damaged");
    else
        status = egress_head_read(line, &log->head, &cause);
    if (status == TD_OK && strcmp(log->head.key, key) != 0)
        status = error_set(&cause, TD_CORRUPT, "the last head was signed with another key");
    memcpy(log->head.key, key, sizeof key);
    return status == TD_OK
               ? TD_OK
               : error_set(err, status, "egress ledger %s: %s; " MEND, log->folder, cause.message);
}

/* Compares the last head with the entries, which have `bytes`. Half a line at the end may be
 * dropped if it was announced: nobody was told that it had been written. */
static enum td_status compare_head(struct egress_log *log, off_t bytes, struct td_error *err)
{
    char token[EGRESS_TOKEN_HEX + 1], pending[EGRESS_HASH_HEX + 1];
    egress_pending_read(log->pending_fd, token, pending);
    enum egress_end end = egress_head_compare(&log->head, &log->chain, pending);
    if (end == EGRESS_END_CUT)
        return error_set(err, TD_CORRUPT,
                         "egress ledger %s was cut: its head counts %llu transfers, %llu are "
                         "there; " MEND,
                         log->folder, (unsigned long long)egress_head_rows(&log->head),
                         (unsigned long long)log->chain.count);
    if (end == EGRESS_END_FORGED)
        return error_set(err, TD_CORRUPT,
                         "egress ledger %s does not end as its head says; see tandem egress "
                         "verify, then " MEND,
                         log->folder);
    if (bytes == log->entries_bytes)
        return TD_OK;
    if (end != EGRESS_END_UNWRITTEN)
        return error_set(err, TD_CORRUPT,
                         "egress ledger %s ends in half a line that no head announces; " MEND,
                         log->folder);
    if (ftruncate(log->entries_fd, log->entries_bytes) != 0)
        return io_error(log, "write", err);
    log_event(LOG_LEVEL_WARN, "egress_half_line_dropped", "folder=%s bytes=%lld", log->folder,
              (long long)(bytes - log->entries_bytes));
    return TD_OK;
}

/* Checks that the name still leads to the open file: bytes written to a removed or replaced file
 * would be on no record. */
static enum td_status stat_in_place(const struct egress_log *log, const char *name,
                                    const struct file_place *opened, struct stat *out,
                                    struct td_error *err)
{
    char path[PATH_MAX];
    if (path_join(path, sizeof path, log->folder, name, NULL) != TD_OK)
        return io_error(log, "look at its files", err);
    if (lstat(path, out) == 0 && out->st_dev == opened->device && out->st_ino == opened->inode)
        return TD_OK;
    return error_set(err, TD_CORRUPT,
                     "egress ledger %s: %s was removed or replaced since it was opened; put it "
                     "back, or " MEND,
                     log->folder, name);
}

/* Reads the end of the files again if another process has written. */
static enum td_status look(struct egress_log *log, bool again, struct td_error *err)
{
    struct stat entries, heads;
    enum td_status status = stat_in_place(log, EGRESS_ENTRIES_FILE, &log->entries, &entries, err);
    if (status == TD_OK)
        status = stat_in_place(log, EGRESS_HEADS_FILE, &log->heads, &heads, err);
    if (status != TD_OK)
        return status;
    if (!again && entries.st_size == log->entries_bytes && heads.st_size == log->heads_bytes)
        return TD_OK;
    log->heads_bytes = heads.st_size;
    status = find_whole_lines(log, entries.st_size, &log->entries_bytes, err);
    if (status == TD_OK)
        status = read_last_entry(log, err);
    if (status == TD_OK)
        status = read_last_head(log, err);
    if (status == TD_OK)
        status = compare_head(log, entries.st_size, err);
    if (status != TD_OK)
        log->entries_bytes = -1; /* read again next time */
    return status;
}

/* --- opening --- */

static int open_file(const struct egress_log *log, const char *name)
{
    char path[PATH_MAX];
    if (path_join(path, sizeof path, log->folder, name, NULL) != TD_OK)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Without the locks: what other processes append meanwhile, `look` has compared. */
static enum td_status verify_whole(const struct egress_log *log, struct td_error *err)
{
    struct egress_verdict verdict;
    const struct egress_kept kept = {.key = log->head.key};
    enum td_status status = egress_verify(log->folder, &kept, &verdict, err);
    if (status != TD_OK || verdict.sound)
        return status;
    return error_set(err, TD_CORRUPT, "egress ledger %s is not sound: %s; " MEND, log->folder,
                     verdict.problem);
}

static enum td_status append_locked(struct egress_log *log, const struct egress_entry *entry,
                                    struct td_error *err);
static enum td_status write_head(struct egress_log *log, const struct egress_chain *chain,
                                 const struct announcement *announced, uint64_t wall_ms,
                                 struct td_error *err);

/* Cuts off what power took: heads that count further than the entries go, and entries that do not
 * follow. The last head is signed anew, and a line tells it. */
static enum td_status mend_locked(struct egress_log *log, const struct egress_head *mark,
                                  struct td_error *err)
{
    struct stat entries, heads;
    const uint64_t now_ms = clock_wall_ms(NULL);
    const struct egress_entry told = {.wall_ms = now_ms,
                                      .purpose = "power_loss",
                                      .tier = "-",
                                      .place = "device",
                                      .host = "-",
                                      .data_class = "public"};
    if (!egress_mark_follow(log->folder, mark, &log->chain, &log->entries_bytes) ||
        !egress_mark_heads(log->folder, mark->key, log->chain.count, &log->head, &log->head_at,
                           &log->heads_bytes))
        return TD_CORRUPT;
    if (fstat(log->entries_fd, &entries) != 0 || fstat(log->heads_fd, &heads) != 0 ||
        ftruncate(log->entries_fd, log->entries_bytes) != 0 ||
        ftruncate(log->heads_fd, log->heads_bytes) != 0)
        return io_error(log, "write", err);
    log_event(LOG_LEVEL_WARN, "egress_power_loss",
              "folder=%s kept=%llu on_disk_for_sure=%llu cut_bytes=%lld", log->folder,
              (unsigned long long)log->chain.count, (unsigned long long)mark->chain.count,
              (long long)(entries.st_size - log->entries_bytes));
    enum td_status status = write_head(log, &log->chain, NULL, now_ms, err);
    return status == TD_OK ? append_locked(log, &told, err) : status;
}

/* Puts a log in order that a loss of power has torn. err keeps what was wrong with it, if that is
 * not what happened. */
static enum td_status recover(struct egress_log *log, struct td_error *err)
{
    struct egress_head mark;
    struct td_error cause = {0};
    bool same_boot;
    if (!egress_mark_read(log->folder, log->head.key, &mark, &same_boot) || same_boot)
        return TD_CORRUPT;
    if (!lock_files(log))
        return TD_CORRUPT;
    enum td_status status = mend_locked(log, &mark, &cause);
    flock(log->entries_fd, LOCK_UN);
    if (status == TD_OK && (status = verify_whole(log, &cause)) == TD_OK)
        *err = (struct td_error){0};
    return status;
}

/* Of an earlier boot the mark says nothing any more. */
static enum td_status mark_this_boot(struct egress_log *log, struct td_error *err)
{
    struct egress_head mark;
    bool same_boot;
    log->marked = UINT64_MAX;
    if (egress_mark_read(log->folder, log->head.key, &mark, &same_boot) && same_boot)
        log->marked = mark.chain.count;
    return egress_log_mark(log, err);
}

/* Notes which files are open, and opens the key. */
static enum td_status open_places(struct egress_log *log, struct td_error *err)
{
    struct stat entries, heads;
    if (fstat(log->entries_fd, &entries) != 0 || fstat(log->heads_fd, &heads) != 0)
        return io_error(log, "look at its files", err);
    log->entries = (struct file_place){entries.st_dev, entries.st_ino};
    log->heads = (struct file_place){heads.st_dev, heads.st_ino};
    return egress_key_open(log->folder, entries.st_size == 0, &log->signer, log->head.key, err);
}

static enum td_status open_files(struct egress_log *log, struct td_error *err)
{
    if (mkdir(log->folder, 0700) == 0)
        file_sync_folder(log->folder);
    else if (errno != EEXIST)
        return io_error(log, "make the folder", err);
    else if (!egress_key_has_record(log->folder, err))
        return TD_CORRUPT;
    log->entries_fd = open_file(log, EGRESS_ENTRIES_FILE);
    log->heads_fd = open_file(log, EGRESS_HEADS_FILE);
    log->pending_fd = open_file(log, EGRESS_PENDING_FILE);
    if (log->entries_fd < 0 || log->heads_fd < 0 || log->pending_fd < 0)
        return io_error(log, "open its files", err);
    if (!lock_files(log))
        return error_set(err, TD_BUSY, "egress ledger %s is held by another process", log->folder);
    enum td_status status = open_places(log, err);
    if (status == TD_OK)
        status = look(log, true, err);
    flock(log->entries_fd, LOCK_UN);
    if (status == TD_OK)
        status = verify_whole(log, err);
    if (status == TD_CORRUPT)
        status = recover(log, err);
    return status == TD_OK ? mark_this_boot(log, err) : status;
}

/* --- the last line before a pause --- */

/* Whether the last head announces a line, which is there or not. */
static bool announces(const struct egress_log *log)
{
    return log->head.date[0] && strcmp(log->head.next, EGRESS_NO_HASH) != 0;
}

/* Whether the last line is announced and not signed. */
static bool is_announced(const struct egress_log *log)
{
    return announces(log) && strcmp(log->head.next, log->chain.hash) == 0;
}

/* Signs the last line, if it is only announced. Another process may have done so, or have written
 * more. A head of an earlier day stays that day's. */
static enum td_status close_head_locked(struct egress_log *log, struct td_error *err)
{
    if (!lock_files(log))
        return error_set(err, TD_BUSY, "egress ledger %s is held by another process", log->folder);
    enum td_status status = look(log, false, err);
    if (status == TD_OK && is_announced(log))
        status = write_head(log, &log->chain, NULL, 0, err);
    flock(log->entries_fd, LOCK_UN);
    return status;
}

/* What cannot be signed now is signed with the next transfer, or found at the next start. */
static void close_head(struct egress_log *log)
{
    struct td_error err = {0};
    if (close_head_locked(log, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "egress_not_signed", "error=\"%s\"", err.message);
}

static void *closer_thread(void *ctx)
{
    struct egress_log *log = ctx;
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        while (!log->closer_busy && !log->ending)
            pthread_cond_wait(&log->closer_wakes, &log->mutex);
        if (!log->closer_busy)
            break;
        uint64_t seen = UINT64_MAX;
        while (seen != log->chain.count && !log->ending) {
            struct timespec until = clock_deadline(CLOSE_MS);
            seen = log->chain.count;
            while (!log->ending &&
                   pthread_cond_timedwait(&log->closer_wakes, &log->mutex, &until) == 0)
                continue;
        }
        close_head(log);
        log->closer_busy = false;
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

enum td_status egress_log_open(const char *folder, struct egress_log **out, struct td_error *err)
{
    ASSERT(folder != NULL && out != NULL);
    *out = NULL;
    struct egress_log *log = calloc(1, sizeof *log);
    if (!log || !(log->folder = strdup(folder))) {
        free(log);
        return error_set(err, TD_NO_MEMORY, "no memory for the egress ledger");
    }
    log->entries_fd = log->heads_fd = log->pending_fd = -1;
    pthread_mutex_init(&log->mutex, NULL);
    clock_cond_init(&log->closer_wakes);
    enum td_status status = open_files(log, err);
    if (status == TD_OK) {
        log->closer_busy = is_announced(log);
        int code = pthread_create(&log->closer, NULL, closer_thread, log);
        log->closer_runs = code == 0;
        if (code != 0)
            status = error_set(err, TD_IO, "cannot start the egress ledger's thread: %s",
                               strerror(code));
    }
    log->opened = status == TD_OK;
    if (status == TD_OK)
        *out = log;
    else
        egress_log_close(log);
    return status;
}

static void end_closer(struct egress_log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->ending = true;
    pthread_cond_signal(&log->closer_wakes);
    pthread_mutex_unlock(&log->mutex);
    if (log->closer_runs)
        pthread_join(log->closer, NULL);
}

void egress_log_close(struct egress_log *log)
{
    struct td_error err = {0};
    if (!log)
        return;
    end_closer(log);
    if (log->opened && egress_log_mark(log, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "egress_not_synced", "error=\"%s\"", err.message);
    if (log->entries_fd >= 0)
        close(log->entries_fd);
    if (log->heads_fd >= 0)
        close(log->heads_fd);
    if (log->pending_fd >= 0)
        close(log->pending_fd);
    crypto_signer_free(log->signer);
    pthread_cond_destroy(&log->closer_wakes);
    pthread_mutex_destroy(&log->mutex);
    free(log->folder);
    free(log);
}

/* --- a transfer --- */

/* Writes a head over `chain`; announced: the line that follows, or NULL. A new day begins a new
 * line; a clock that was put back, or none (0), does not. */
static enum td_status write_head(struct egress_log *log, const struct egress_chain *chain,
                                 const struct announcement *announced, uint64_t wall_ms,
                                 struct td_error *err)
{
    char time[25];
    struct buf line;
    struct egress_head head = log->head;
    off_t at = log->head_at;
    clock_format_iso8601(wall_ms, time);
    time[EGRESS_DATE_BYTES] = '\0';
    if (strcmp(time, head.date) > 0) {
        memcpy(head.date, time, sizeof head.date);
        at = log->heads_bytes;
    }
    head.chain = *chain;
    snprintf(head.next, sizeof head.next, "%s", announced ? announced->next : EGRESS_NO_HASH);
    snprintf(head.pending, sizeof head.pending, "%s",
             announced ? announced->pending : EGRESS_NO_HASH);
    buf_init(&line, HEAD_BYTES_MAX);
    enum td_status status = egress_head_sign(&head, log->signer, &line, err);
    /* The line is not shorter than the one it replaces, because counts only grow. */
    if (status == TD_OK && !file_write_at(log->heads_fd, buf_view(&line), at))
        status = io_error(log, "write", err);
    if (status == TD_OK) {
        log->head = head;
        log->head_at = at;
        log->heads_bytes = at + (off_t)line.len;
    }
    buf_deinit(&line);
    return status;
}

static bool is_new_day(const struct egress_log *log, uint64_t wall_ms)
{
    char time[25];
    clock_format_iso8601(wall_ms, time);
    time[EGRESS_DATE_BYTES] = '\0';
    return strcmp(time, log->head.date) > 0;
}

/* Announces the line with this hash. The head of a day that has ended is kept, so it signs that
 * day's last line first. So does one whose line a dead process has not written: the token that says
 * so is overwritten now. */
static enum td_status announce(struct egress_log *log, const char *next, uint64_t wall_ms,
                               struct td_error *err)
{
    struct announcement announced;
    enum td_status status = TD_OK;
    if (announces(log) && (is_new_day(log, wall_ms) || !is_announced(log)))
        status = write_head(log, &log->chain, NULL, 0, err);
    if (status == TD_OK)
        status = egress_pending_write(log->pending_fd, announced.pending, err);
    memcpy(announced.next, next, sizeof announced.next);
    return status == TD_OK ? write_head(log, &log->chain, &announced, wall_ms, err) : status;
}

/* Announces the entry, which signs the one before, and writes it. */
static enum td_status write_entry(struct egress_log *log, struct td_str line,
                                  const struct egress_chain *chain, uint64_t wall_ms,
                                  struct td_error *err)
{
    enum td_status status = announce(log, chain->hash, wall_ms, err);
    if (status == TD_OK && (!file_write_at(log->entries_fd, line, log->entries_bytes) ||
                            !egress_pending_erase(log->pending_fd)))
        status = io_error(log, "write", err);
    return status;
}

static void wake_closer(struct egress_log *log)
{
    if (log->closer_busy)
        return;
    log->closer_busy = true;
    pthread_cond_signal(&log->closer_wakes);
}

/* Puts the files back after a failed or partial write. The entries come first: if the process ends
 * here, an announced line is left, which is a valid state. */
static void restore(struct egress_log *log, const struct egress_head *head, off_t head_at,
                    off_t heads_bytes)
{
    struct buf line;
    buf_init(&line, HEAD_BYTES_MAX);
    bool ok = ftruncate(log->entries_fd, log->entries_bytes) == 0 &&
              ftruncate(log->heads_fd, heads_bytes) == 0;
    if (ok && head->date[0])
        ok = egress_head_sign(head, log->signer, &line, NULL) == TD_OK &&
             file_write_at(log->heads_fd, buf_view(&line), head_at);
    log->head = *head;
    log->head_at = head_at;
    log->heads_bytes = heads_bytes;
    if (!ok)
        log->entries_bytes = -1; /* the next transfer reads the end again */
    buf_deinit(&line);
}

static enum td_status append_locked(struct egress_log *log, const struct egress_entry *entry,
                                    struct td_error *err)
{
    struct buf line;
    enum td_status status = look(log, false, err);
    if (status != TD_OK)
        return status;
    const struct egress_head head = log->head;
    const off_t head_at = log->head_at, heads_bytes = log->heads_bytes;
    struct egress_chain chain = log->chain;
    buf_init(&line, EGRESS_LINE_BYTES_MAX);
    status = egress_line_write(entry, &chain, &line, err);
    if (status == TD_OK) {
        status = write_entry(log, buf_view(&line), &chain, entry->wall_ms, err);
        if (status != TD_OK)
            restore(log, &head, head_at, heads_bytes);
    }
    if (status == TD_OK) {
        log->chain = chain;
        log->entries_bytes += (off_t)line.len;
        wake_closer(log);
    }
    buf_deinit(&line);
    return status;
}

/* What another process holds for a moment is no fault of the record. */
static void note_locked(struct egress_log *log, enum td_status status, const struct td_error *err)
{
    log->failure = (struct td_error){0};
    if (status != TD_OK && status != TD_BUSY)
        error_set(&log->failure, status, "%s", err ? err->message : "it could not be written");
}

enum td_status egress_log_append(struct egress_log *log, const struct egress_entry *entry,
                                 struct td_error *err)
{
    ASSERT(log != NULL && entry != NULL);
    ASSERT(entry->purpose != NULL && entry->tier != NULL && entry->data_class != NULL);
    pthread_mutex_lock(&log->mutex);
    enum td_status status;
    if (lock_files(log)) {
        status = append_locked(log, entry, err);
        flock(log->entries_fd, LOCK_UN);
    } else {
        status =
            error_set(err, TD_BUSY, "egress ledger %s is held by another process", log->folder);
    }
    note_locked(log, status, err);
    pthread_mutex_unlock(&log->mutex);
    return status;
}

enum td_status egress_log_sync(struct egress_log *log, struct td_error *err)
{
    return fdatasync(log->entries_fd) == 0 ? TD_OK : io_error(log, "flush", err);
}

enum td_status egress_log_mark(struct egress_log *log, struct td_error *err)
{
    pthread_mutex_lock(&log->mutex);
    struct egress_head head = log->head;
    head.chain = log->chain;
    bool due = log->chain.count != log->marked && log->entries_bytes >= 0;
    pthread_mutex_unlock(&log->mutex);
    if (!due)
        return TD_OK;
    enum td_status status = egress_log_sync(log, err);
    if (status == TD_OK && fsync(log->heads_fd) != 0)
        status = io_error(log, "flush", err);
    if (status == TD_OK)
        status = egress_mark_write(log->folder, &head, log->signer, err);
    if (status != TD_OK)
        return status;
    pthread_mutex_lock(&log->mutex);
    log->marked = head.chain.count;
    pthread_mutex_unlock(&log->mutex);
    return TD_OK;
}

/* Whether there is room again, without a trace in the file. Where the file system cannot tell, the
 * next transfer will. */
static bool has_room(const struct egress_log *log)
{
    return fallocate(log->entries_fd, FALLOC_FL_KEEP_SIZE, log->entries_bytes,
                     EGRESS_LINE_BYTES_MAX) == 0 ||
           errno == EOPNOTSUPP;
}

enum td_status egress_log_check(struct egress_log *log, struct td_error *err)
{
    enum td_status status = TD_OK;
    pthread_mutex_lock(&log->mutex);
    if (lock_files(log)) { /* else another process writes just now, so it can be written */
        status = look(log, false, err);
        if (log->failure.status != TD_OK && status == TD_OK && has_room(log))
            log->failure = (struct td_error){0};
        flock(log->entries_fd, LOCK_UN);
    }
    if (status == TD_OK && log->failure.status != TD_OK)
        status = error_set(err, log->failure.status, "%s", log->failure.message);
    pthread_mutex_unlock(&log->mutex);
    return status;
}
