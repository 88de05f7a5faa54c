/* Reads the log while it is being written. The heads and the length of the entries are taken under
 * the writers' lock, in a moment. What is then read is never written again, so a verification of
 * some seconds delays nobody. */
#include "ledger/egress/egress_read.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_pending.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (1u << 20)
#define HEADS_BYTES_MAX (16u << 20) /* a century of days has 12 MB */
#define LOCK_TRIES 5000

/* --- lines of a file --- */

static enum td_status read_error(const char *path, struct td_error *err)
{
    return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "%s: %s", path, strerror(errno));
}

/* Gives out the complete lines of block[len] and their number of bytes. */
static enum td_status give_lines(const char *block, size_t len, size_t *used, egress_line_fn *fn,
                                 void *ctx, struct td_error *err)
{
    enum td_status status = TD_OK;
    const char *at = block, *end;
    while (status == TD_OK && (end = memchr(at, '\n', len - (size_t)(at - block)))) {
        status = fn(ctx, (struct td_str){at, (size_t)(end - at)}, err);
        at = end + 1;
    }
    *used = (size_t)(at - block);
    return status;
}

struct stretch {
    uint64_t begin, end; /* bytes of a file, whole lines */
};

/* Gives out a stretch of a file, line by line. */
static enum td_status each_line(int fd, const char *path, struct stretch of, egress_line_fn *fn,
                                void *ctx, struct td_error *err)
{
    char *block = malloc(BLOCK_BYTES);
    if (!block)
        return error_set(err, TD_NO_MEMORY, "no memory to read %s", path);
    enum td_status status = TD_OK;
    size_t held = 0, used;
    for (uint64_t at = of.begin; status == TD_OK && at < of.end;) {
        size_t room = BLOCK_BYTES - held;
        ssize_t got =
            pread(fd, block + held, of.end - at < room ? (size_t)(of.end - at) : room, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = read_error(path, err);
        if (got <= 0)
            break;
        at += (uint64_t)got;
        held += (size_t)got;
        status = give_lines(block, held, &used, fn, ctx, err);
        memmove(block, block + used, held - used);
        held -= used;
        if (held == BLOCK_BYTES)
            status = error_set(err, TD_CORRUPT, "%s: a line of over %u bytes", path, BLOCK_BYTES);
    }
    if (status == TD_OK && held > 0)
        status = error_set(err, TD_CORRUPT, "%s: the last line has no end", path);
    free(block);
    return status;
}

/* --- a folder --- */

struct folder {
    const char *path;
    int entries_fd, heads_fd;
    uint64_t entries_bytes;
    struct buf heads; /* all lines */
    char key[EGRESS_KEY_HEX + 1];
    char token[EGRESS_TOKEN_HEX + 1]; /* of the last head; "": its line is written */
};

static int open_in(const struct folder *folder, const char *name)
{
    char path[PATH_MAX];
    if (path_join(path, sizeof path, folder->path, name, NULL) != TD_OK)
        return -1;
    int fd;
    return file_open_regular(path, 0, &fd, NULL, NULL) == TD_OK ? fd : -1;
}

static bool lock_shared(int fd)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_SH | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum td_status take_heads(void *ctx, struct td_str line, struct td_error *err)
{
    struct buf *heads = ctx;
    buf_append_str(heads, line);
    buf_append_char(heads, '\n');
    return heads->failed ? error_set(err, TD_LIMIT, "heads.jsonl is over %u bytes", HEADS_BYTES_MAX)
                         : TD_OK;
}

/* A token that no head names was left by a process that stopped before it announced anything. */
static void read_token(struct folder *folder)
{
    char hash[EGRESS_HASH_HEX + 1];
    int fd = open_in(folder, EGRESS_PENDING_FILE);
    struct td_str heads = buf_view(&folder->heads);
    size_t len = heads.len > 0 ? heads.len - 1 : 0;
    const char *before = len > 0 ? memrchr(heads.data, '\n', len) : NULL;
    size_t begin = before ? (size_t)(before - heads.data) + 1 : 0;
    egress_pending_read(fd, folder->token, hash);
    if (strcmp(hash, EGRESS_NO_HASH) == 0 ||
        str_find(str_slice(heads, begin, heads.len), str_from(hash), 0) == SIZE_MAX)
        folder->token[0] = '\0';
    if (fd >= 0)
        close(fd);
}

static enum td_status look_locked(struct folder *folder, struct td_error *err)
{
    struct stat entries, heads;
    if (fstat(folder->entries_fd, &entries) != 0 || fstat(folder->heads_fd, &heads) != 0)
        return read_error(folder->path, err);
    folder->entries_bytes = (uint64_t)entries.st_size;
    const struct stretch all = {0, (uint64_t)heads.st_size};
    enum td_status status =
        each_line(folder->heads_fd, EGRESS_HEADS_FILE, all, take_heads, &folder->heads, err);
    read_token(folder);
    return status;
}

static void read_public_key(struct folder *folder)
{
    int fd = open_in(folder, "key.pub");
    ssize_t got = fd < 0 ? -1 : pread(fd, folder->key, EGRESS_KEY_HEX, 0);
    folder->key[got == EGRESS_KEY_HEX ? EGRESS_KEY_HEX : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The writer makes all files at once. If some exist, the others were removed. */
static enum td_status open_file(const struct folder *folder, const char *name, int *fd,
                                struct td_error *err)
{
    static const char *const all[] = {EGRESS_ENTRIES_FILE, EGRESS_HEADS_FILE, "key.pub", "key"};
    *fd = open_in(folder, name);
    if (*fd >= 0 || errno != ENOENT)
        return *fd < 0 ? read_error(folder->path, err) : TD_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int other = open_in(folder, all[i]);
        if (other < 0)
            continue;
        close(other);
        return error_set(err, TD_CORRUPT, "%s has %s, but its %s was removed", folder->path, all[i],
                         name);
    }
    return error_set(err, TD_NOT_FOUND, "there is no egress ledger %s", folder->path);
}

static enum td_status folder_open(const char *path, struct folder *folder, struct td_error *err)
{
    *folder = (struct folder){.path = path, .entries_fd = -1, .heads_fd = -1};
    buf_init(&folder->heads, HEADS_BYTES_MAX);
    enum td_status status = open_file(folder, EGRESS_ENTRIES_FILE, &folder->entries_fd, err);
    if (status == TD_OK)
        status = open_file(folder, EGRESS_HEADS_FILE, &folder->heads_fd, err);
    if (status != TD_OK)
        return status;
    if (!lock_shared(folder->entries_fd))
        return error_set(err, TD_BUSY, "egress ledger %s is held by another process", path);
    status = look_locked(folder, err);
    flock(folder->entries_fd, LOCK_UN);
    read_public_key(folder);
    return status;
}

static void folder_close(struct folder *folder)
{
    if (folder->entries_fd >= 0)
        close(folder->entries_fd);
    if (folder->heads_fd >= 0)
        close(folder->heads_fd);
    buf_deinit(&folder->heads);
}

static enum td_status each_of_folder(const char *path, egress_line_fn *fn, void *ctx,
                                     struct td_error *err)
{
    struct folder folder;
    size_t used;
    char line[EGRESS_KEY_HEX + 32];
    enum td_status status = folder_open(path, &folder, err);
    if (status == TD_OK && folder.key[0]) {
        int len = snprintf(line, sizeof line, "{\"public_key\":\"%s\"}", folder.key);
        status = fn(ctx, (struct td_str){line, (size_t)len}, err);
    }
    if (status == TD_OK && folder.heads.len > 0)
        status = give_lines(folder.heads.data, folder.heads.len, &used, fn, ctx, err);
    if (status == TD_OK && folder.token[0]) {
        int len = snprintf(line, sizeof line, "{\"pending\":\"%s\"}", folder.token);
        status = fn(ctx, (struct td_str){line, (size_t)len}, err);
    }
    if (status == TD_OK)
        status = each_line(folder.entries_fd, EGRESS_ENTRIES_FILE,
                           (struct stretch){0, folder.entries_bytes}, fn, ctx, err);
    folder_close(&folder);
    return status;
}

static enum td_status each_of_file(const char *path, egress_line_fn *fn, void *ctx,
                                   struct td_error *err)
{
    int fd;
    uint64_t bytes;
    enum td_status status = file_open_regular(path, 0, &fd, &bytes, err);
    if (status != TD_OK)
        return status;
    status = each_line(fd, path, (struct stretch){0, bytes}, fn, ctx, err);
    close(fd);
    return status;
}

enum td_status egress_each_line(const char *path, egress_line_fn *fn, void *ctx,
                                struct td_error *err)
{
    ASSERT(path != NULL && fn != NULL);
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        return each_of_file(path, fn, ctx, err);
    return each_of_folder(path, fn, ctx, err);
}

/* --- a span of time --- */

#define ISO_BYTES 24
#define TIME ",\"time\":\""
/* Where halving ends: so much is read through. */
#define NEAR_BYTES 65536

/* The time of an entry, as it stands in the line; it begins the line's next 30 bytes or so. */
static struct td_str time_of(struct td_str line)
{
    size_t at = egress_is_entry(line) ? str_find(str_slice(line, 0, 64), STR(TIME), 0) : SIZE_MAX;
    size_t begin = at == SIZE_MAX ? line.len : at + sizeof TIME - 1;
    return str_slice(line, begin, begin + ISO_BYTES);
}

/* Whether the first entry that begins after `at` is earlier; *begin is where it stands. */
static bool is_earlier(const struct folder *folder, uint64_t at, const char *than, uint64_t *begin)
{
    char bytes[EGRESS_LINE_BYTES_MAX + 128];
    ssize_t got = pread(folder->entries_fd, bytes, sizeof bytes, (off_t)at);
    const char *end = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
    if (!end)
        return false;
    *begin = at + (uint64_t)(end + 1 - bytes);
    struct td_str time = time_of((struct td_str){end + 1, (size_t)(bytes + got - end - 1)});
    return time.len == ISO_BYTES && memcmp(time.data, than, ISO_BYTES) < 0;
}

/* An entry from which on none is missed. */
static uint64_t find_begin(const struct folder *folder, const char *time)
{
    uint64_t low = 0, high = folder->entries_bytes, begin = 0;
    while (high - low > NEAR_BYTES) {
        uint64_t middle = low + (high - low) / 2;
        if (is_earlier(folder, middle, time, &begin))
            low = begin < high ? begin : high;
        else
            high = middle;
    }
    return low;
}

struct between {
    char from[ISO_BYTES + 1], to[ISO_BYTES + 1];
    egress_line_fn *fn;
    void *ctx;
    bool over; /* an entry was later */
};

static enum td_status take_between(void *ctx, struct td_str line, struct td_error *err)
{
    struct between *between = ctx;
    struct td_str time = time_of(line);
    if (time.len < ISO_BYTES || memcmp(time.data, between->from, ISO_BYTES) < 0)
        return TD_OK;
    between->over = memcmp(time.data, between->to, ISO_BYTES) > 0;
    return between->over ? TD_CANCELLED : between->fn(between->ctx, line, err);
}

enum td_status egress_each_between(const char *path, const struct egress_span *span,
                                   egress_line_fn *fn, void *ctx, struct td_error *err)
{
    ASSERT(path != NULL && span != NULL && fn != NULL);
    struct between between = {.fn = fn, .ctx = ctx};
    struct folder folder;
    clock_format_iso8601(span->from_wall_ms, between.from);
    clock_format_iso8601(span->to_wall_ms, between.to);
    enum td_status status = folder_open(path, &folder, err);
    if (status == TD_OK) {
        uint64_t begin = find_begin(&folder, between.from), all = folder.entries_bytes - begin;
        struct stretch of = {begin, begin + (all < span->bytes_max ? all : span->bytes_max)};
        struct td_error own = {0};
        status =
            each_line(folder.entries_fd, EGRESS_ENTRIES_FILE, of, take_between, &between, &own);
        if (between.over)
            status = TD_OK;
        else if (all > span->bytes_max && (status == TD_OK || status == TD_CORRUPT))
            status = error_set(err, TD_LIMIT, "more left in that time than is looked through");
        else if (status != TD_OK)
            error_set(err, status, "%s", own.message);
    }
    folder_close(&folder);
    return status;
}

bool egress_is_entry(struct td_str line)
{
    return str_starts_with(line, STR("{\"seq\":"));
}

enum td_status egress_read_entry(struct td_str line, const char *since, struct json **out,
                                 struct td_error *err)
{
    *out = NULL;
    if (!egress_is_entry(line))
        return TD_OK;
    if (json_parse(line, out, NULL) != TD_OK)
        return error_set(err, TD_CORRUPT,
                         "a line of the record is damaged; 'tandem egress verify' says which");
    const char *time = json_cstr(json_get(*out, "time"));
    if (strcmp(time ? time : "", since) < 0) {
        json_free(*out);
        *out = NULL;
    }
    return TD_OK;
}

/* --- an exchange --- */

/* What left for an exchange is looked for in the record of its time, with this much before and
 * after it. A busy minute has a few megabytes. */
#define BEFORE_MS 1000
#define AFTER_MS 60000
#define SPAN_BYTES_MAX (16u << 20)
#define ENTRIES_MAX 256

struct search {
    char mark[64]; /* how an entry names the exchange */
    struct json *found;
    const char *const *hidden;
};

static enum td_status take_entry(void *ctx, struct td_str line, struct td_error *err)
{
    struct search *search = ctx;
    struct json *entry = NULL;
    if (str_find(line, str_from(search->mark), 0) == SIZE_MAX)
        return TD_OK;
    if (json_count(search->found) == ENTRIES_MAX)
        return error_set(err, TD_LIMIT, "an exchange has too many transfers to show");
    enum td_status status = json_parse(line, &entry, err);
    for (const char *const *name = search->hidden; name && *name; name++)
        json_remove(entry, *name);
    json_push(search->found, entry);
    return status;
}

void egress_add(const char *folder, const char *const *hidden, struct json *exchange)
{
    ASSERT(folder != NULL);
    struct search search = {.found = json_new_array(), .hidden = hidden};
    uint64_t end = (uint64_t)json_int(json_get(exchange, "wall_ms"), 0);
    uint64_t before = (uint64_t)json_number(json_get(exchange, "total_ms"), 0) + BEFORE_MS;
    const struct egress_span span = {.from_wall_ms = end > before ? end - before : 0,
                                     .to_wall_ms = end + AFTER_MS,
                                     .bytes_max = SPAN_BYTES_MAX};
    snprintf(search.mark, sizeof search.mark, "\"exchange\":\"%s\"",
             json_cstr(json_get(exchange, "id")));
    enum td_status status = egress_each_between(folder, &span, take_entry, &search, NULL);
    if (status == TD_NOT_FOUND) {
        json_free(search.found);
        return;
    }
    json_put(exchange, "egress", search.found);
    json_put(exchange, "egress_whole", json_new_bool(status == TD_OK));
}
