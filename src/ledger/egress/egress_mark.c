#include "ledger/egress/egress_mark.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define MARK_BYTES_MAX 1024

/* EGRESS_NO_HASH where the kernel does not tell: then every boot is the same one. */
static void boot_hash(char out[static EGRESS_HASH_HEX + 1])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    struct buf id;
    buf_init(&id, MARK_BYTES_MAX);
    memcpy(out, EGRESS_NO_HASH, EGRESS_HASH_HEX + 1);
    if (buf_read_file(&id, BOOT_ID, NULL) == TD_OK && id.len > 0) {
        crypto_sha256(id.data, id.len, digest);
        crypto_hex(digest, sizeof digest, out);
    }
    buf_deinit(&id);
}

enum td_status egress_mark_write(const char *folder, const struct egress_head *head,
                                 const struct crypto_signer *signer, struct td_error *err)
{
    char path[PATH_MAX];
    struct egress_head mark = *head;
    struct buf line;
    boot_hash(mark.next);
    if (!mark.date[0])
        memcpy(mark.date, "0000-00-00", sizeof mark.date);
    buf_init(&line, MARK_BYTES_MAX);
    enum td_status status = egress_head_sign(&mark, signer, &line, err);
    if (status == TD_OK)
        status = path_join(path, sizeof path, folder, EGRESS_MARK_FILE, err);
    if (status == TD_OK)
        status = file_replace(path, buf_view(&line), 0600, err);
    buf_deinit(&line);
    return status;
}

bool egress_mark_read(const char *folder, const char *key, struct egress_head *out, bool *same_boot)
{
    char path[PATH_MAX], boot[EGRESS_HASH_HEX + 1];
    struct buf line;
    buf_init(&line, MARK_BYTES_MAX);
    bool good = path_join(path, sizeof path, folder, EGRESS_MARK_FILE, NULL) == TD_OK &&
                buf_read_file(&line, path, NULL) == TD_OK &&
                egress_head_read(str_trim(buf_view(&line)), out, NULL) == TD_OK &&
                strcmp(out->key, key) == 0;
    buf_deinit(&line);
    boot_hash(boot);
    *same_boot = !good || strcmp(out->next, boot) == 0 || strcmp(boot, EGRESS_NO_HASH) == 0;
    return good;
}

/* --- what is left --- */

/* Takes one line; false: it and all that follow are not to be kept. */
typedef bool take_fn(void *ctx, struct td_str line, off_t at);

/* Gives the whole lines of a file; *bytes: of those that were taken. */
static bool each_line(const char *folder, const char *name, take_fn *take, void *ctx, off_t *bytes)
{
    char path[PATH_MAX];
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    *bytes = 0;
    if (path_join(path, sizeof path, folder, name, NULL) != TD_OK)
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while ((len = getline(&line, &capacity, file)) > 0 && line[len - 1] == '\n' &&
           take(ctx, (struct td_str){line, (size_t)len - 1}, *bytes))
        *bytes += len;
    bool read = !ferror(file);
    free(line);
    fclose(file);
    return read;
}

struct follower {
    const struct egress_head *mark;
    struct egress_chain *chain;
    bool marked; /* the line of the mark was met */
};

static bool take_entry(void *ctx, struct td_str line, off_t at)
{
    struct follower *follower = ctx;
    struct egress_chain next = *follower->chain;
    (void)at;
    if (egress_line_follow(line, &next, NULL) != TD_OK)
        return false;
    *follower->chain = next;
    follower->marked = follower->marked || (next.count == follower->mark->chain.count &&
                                            strcmp(next.hash, follower->mark->chain.hash) == 0);
    return true;
}

bool egress_mark_follow(const char *folder, const struct egress_head *mark,
                        struct egress_chain *chain, off_t *bytes)
{
    struct follower follower = {mark, chain, mark->chain.count == 0};
    *chain = (struct egress_chain){0, EGRESS_NO_HASH};
    return each_line(folder, EGRESS_ENTRIES_FILE, take_entry, &follower, bytes) && follower.marked;
}

struct head_taker {
    const char *key;
    uint64_t count;
    struct egress_head *last;
    off_t *last_at;
};

static bool take_head(void *ctx, struct td_str line, off_t at)
{
    struct head_taker *taker = ctx;
    struct egress_head head;
    if (egress_head_read(line, &head, NULL) != TD_OK || strcmp(head.key, taker->key) != 0 ||
        head.chain.count > taker->count)
        return false;
    *taker->last = head;
    *taker->last_at = at;
    return true;
}

bool egress_mark_heads(const char *folder, const char *key, uint64_t count,
                       struct egress_head *last, off_t *last_at, off_t *bytes)
{
    struct head_taker taker = {key, count, last, last_at};
    *last = (struct egress_head){.chain = {0, EGRESS_NO_HASH}, .next = EGRESS_NO_HASH};
    memcpy(last->key, key, sizeof last->key);
    *last_at = 0;
    return each_line(folder, EGRESS_HEADS_FILE, take_head, &taker, bytes);
}
