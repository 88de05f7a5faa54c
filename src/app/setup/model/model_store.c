/* A download lies in PATH.part with a lock; its name is given last, after the hash and the
 * contents were checked and the bytes are on the disk. So a model that can be named is always
 * whole. The lock goes from who wrote the bytes to who checks and names them, so that nobody
 * puts other bytes in their place. */
#include "app/setup/model/model_store.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "engine/gguf/gguf_split.h"
#include "net/download/download_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PATH_BYTES 4400
#define BLOCK_BYTES ((size_t)1 << 20)

bool model_name_is_plain(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > 200 || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!ascii_is_alnum(c) && c != '.' && c != '_' && c != '+' && c != '-')
            return false;
    }
    return true;
}

bool model_store_find(const char *dir, const char *name, char *out, size_t size)
{
    static const char *const endings[] = {"", ".gguf"};
    struct stat file;
    for (size_t i = 0; i < 2; i++) {
        bool named = i == 1 || str_ends_with(str_from(name), STR(".gguf"));
        if (named && model_name_is_plain(name) &&
            path_format(out, size, NULL, "%s/%s%s", dir, name, endings[i]) == TD_OK &&
            stat(out, &file) == 0 && S_ISREG(file.st_mode))
            return true;
    }
    return false;
}

enum td_status model_store_make(const char *dir, struct td_error *err)
{
    char path[PATH_BYTES];
    if (!*dir)
        return error_set(err, TD_INVALID, "the model folder has an empty name");
    enum td_status status = path_format(path, sizeof path, err, "%s", dir);
    if (status != TD_OK)
        return status;
    for (char *at = path + 1;; at++) {
        char c = *at;
        if (c != '/' && c != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return error_set(err, TD_IO, "cannot make the folder %s: %s", path, strerror(errno));
        *at = c;
        if (c == '\0')
            break;
    }
    struct stat folder;
    if (stat(dir, &folder) != 0 || !S_ISDIR(folder.st_mode))
        return error_set(err, TD_IO, "%s is not a folder", dir);
    return TD_OK;
}

static bool with_suffix(char out[static PATH_BYTES], const char *path, const char *suffix)
{
    return path_format(out, PATH_BYTES, NULL, "%s%s", path, suffix) == TD_OK;
}

static bool cancelled(const atomic_bool *cancel)
{
    return cancel && atomic_load(cancel);
}

/* --- checking and naming --- */

static enum td_status hash_open(const struct model_check *check, int fd, char *sha256,
                                struct td_error *err)
{
    struct stat file;
    uint8_t digest[CRYPTO_SHA256_BYTES];
    uint64_t done = 0;
    ssize_t count = 0;
    enum td_status status = TD_OK;
    char *block = malloc(BLOCK_BYTES);
    struct crypto_sha256 *hash = crypto_sha256_begin();
    if (!block || !hash)
        status = error_set(err, TD_NO_MEMORY, "no memory to check a file");
    else if (fstat(fd, &file) != 0)
        status = error_set(err, TD_IO, "%s: %s", check->path, strerror(errno));
    while (status == TD_OK && (count = pread(fd, block, BLOCK_BYTES, (off_t)done)) > 0) {
        crypto_sha256_feed(hash, block, (size_t)count);
        done += (uint64_t)count;
        if (check->on_progress)
            check->on_progress(check->ctx, done, (uint64_t)file.st_size);
        if (cancelled(check->cancel))
            status =
                error_set(err, TD_CANCELLED, "interrupted; the same command takes it up again");
    }
    if (status == TD_OK && count < 0)
        status = error_set(err, TD_IO, "%s: %s", check->path, strerror(errno));
    if (hash)
        crypto_sha256_end(hash, digest);
    if (status == TD_OK)
        crypto_hex(digest, sizeof digest, sha256);
    free(block);
    return status;
}

enum td_status model_store_hash(const struct model_check *check, char *sha256, struct td_error *err)
{
    int fd = open(check->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, TD_IO, "%s: %s", check->path, strerror(errno));
    enum td_status status = hash_open(check, fd, sha256, err);
    close(fd);
    return status;
}

/* Both by who holds the part's lock, before the lock or the name is given away. */
static void remove_state(const char *path)
{
    char state[PATH_BYTES];
    if (with_suffix(state, path, ".part.json"))
        unlink(state);
    if (with_suffix(state, path, ".part.json.new"))
        unlink(state);
}

static void remove_part(const char *path)
{
    char part[PATH_BYTES];
    remove_state(path);
    if (with_suffix(part, path, ".part"))
        unlink(part);
}

/* False with errno: EEXIST when there is a model that must stay. A file system that cannot look and
 * rename at once does the two after each other. */
static bool rename_part(const char *part, const char *path, bool replace)
{
    if (replace)
        return rename(part, path) == 0;
    if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    errno = EEXIST;
    return access(path, F_OK) != 0 && rename(part, path) == 0;
}

/* The name last: after the bytes are on the disk, and with the folder's entry too. In between there
 * is no record: that of the model before must not stand beside this one. */
static enum td_status give_name(const struct model_check *check, const char *part,
                                struct td_error *err)
{
    char dir[PATH_BYTES];
    const char *path = check->path;
    if (fsync(check->part_fd) != 0)
        return error_set(err, TD_IO, "%s: %s", part, strerror(errno));
    if (check->replace && with_suffix(dir, path, ".json"))
        unlink(dir);
    if (!rename_part(part, path, check->replace))
        return errno == EEXIST
                   ? error_set(err, TD_BUSY, "%s was pulled by another process meanwhile", path)
                   : error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    snprintf(dir, sizeof dir, "%s", path);
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    int folder = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)fsync(folder);
        close(folder);
    }
    return TD_OK;
}

static enum td_status check_contents(const struct model_check *check, const char *part,
                                     const char *sha256, uint64_t *bytes, struct td_error *err)
{
    struct td_error cause = {0};
    struct gguf *gguf = NULL;
    if (*check->sha256_wanted && strcmp(check->sha256_wanted, sha256) != 0)
        return error_set(
            err, TD_CORRUPT,
            "the file's SHA-256 is %s, but %s says %s; the file was removed, download it again",
            sha256, check->sha256_from, check->sha256_wanted);
    enum td_status status = gguf_open_file(part, false, &gguf, &cause);
    if (status == TD_UNSUPPORTED)
        return error_set(err, status, "%s (kept as .part)", cause.message);
    if (status == TD_CORRUPT || status == TD_LIMIT || status == TD_INVALID)
        return error_set(err, TD_CORRUPT,
                         "the download is not a GGUF model and was removed: %.300s", cause.message);
    if (status != TD_OK)
        return error_set(err, status, "%s", cause.message);
    *bytes = gguf_file_bytes(gguf);
    gguf_close(gguf);
    return TD_OK;
}

enum td_status model_store_install(const struct model_check *check, struct model_origin *origin,
                                   struct td_error *err)
{
    ASSERT(check->path && check->sha256_wanted && check->part_fd >= 0);
    char part[PATH_BYTES];
    uint64_t bytes = 0;
    if (!with_suffix(part, check->path, ".part"))
        return error_set(err, TD_INVALID, "the model's path is too long");
    enum td_status status = hash_open(check, check->part_fd, origin->sha256, err);
    if (status == TD_OK)
        status = check_contents(check, part, origin->sha256, &bytes, err);
    if (status == TD_CORRUPT)
        remove_part(check->path);
    if (status == TD_OK) {
        remove_state(check->path);
        status = give_name(check, part, err);
    }
    if (status == TD_BUSY)
        remove_part(check->path);
    if (status != TD_OK)
        return status;
    origin->bytes = (int64_t)bytes;
    return model_origin_write(check->path, origin, err);
}

/* --- copying --- */

static enum td_status copy_bytes(int from, int to, const atomic_bool *cancel, struct td_error *err)
{
    for (;;) {
        ssize_t count = copy_file_range(from, NULL, to, NULL, 16 * BLOCK_BYTES, 0);
        if (count == 0)
            return TD_OK;
        if (count < 0 && errno != EINTR)
            return error_set(err, TD_IO, "cannot copy the model: %s", strerror(errno));
        if (cancelled(cancel))
            return error_set(err, TD_CANCELLED, "interrupted");
    }
}

enum td_status model_store_copy(const char *from, const char *path, const atomic_bool *cancel,
                                int *part_fd, struct td_error *err)
{
    char part[PATH_BYTES];
    uint64_t file_bytes;
    struct statvfs system;
    enum td_status status = TD_OK;
    *part_fd = -1;
    if (!with_suffix(part, path, ".part"))
        return error_set(err, TD_INVALID, "the model's path is too long");
    int in, out;
    status = file_open_regular(from, 0, &in, &file_bytes, err);
    if (status != TD_OK)
        return status;
    status = download_part_lock(part, true, &out, err);
    if (status == TD_OK && ftruncate(out, 0) != 0)
        status = error_set(err, TD_IO, "%s: %s", part, strerror(errno));
    if (status == TD_OK && fstatvfs(out, &system) == 0 &&
        file_bytes / (system.f_frsize ? system.f_frsize : 1) >= system.f_bavail)
        status = error_set(
            err, TD_LIMIT, "%s needs %.1f MB, but the file system has only %.1f MB free", part,
            (double)file_bytes / 1e6, (double)system.f_bavail * (double)system.f_frsize / 1e6);
    if (status == TD_OK)
        status = copy_bytes(in, out, cancel, err);
    close(in);
    if (status != TD_OK && out >= 0) {
        remove_part(path);
        close(out);
        out = -1;
    }
    *part_fd = out;
    return status;
}

/* --- the folder --- */

static enum td_status remove_one(const char *dir, const char *name, uint64_t *bytes,
                                 struct td_error *err)
{
    /* The part first: while somebody is writing it, nothing is removed. */
    static const char *const endings[] = {
        ".part",      ".part.json",      "",      ".json",      ".manifest.json",
        ".gguf.part", ".gguf.part.json", ".gguf", ".gguf.json", ".gguf.manifest.json"};
    char path[PATH_BYTES];
    bool found = false;
    if (!model_name_is_plain(name))
        return error_set(err, TD_INVALID, "'%.100s' is not a model's name", name);
    bool whole_name = str_ends_with(str_from(name), STR(".gguf"));
    for (size_t i = whole_name ? 0 : 5; i < (whole_name ? 5 : 10); i++) {
        struct stat file;
        if (path_format(path, sizeof path, NULL, "%s/%s%s", dir, name, endings[i]) != TD_OK ||
            lstat(path, &file) != 0)
            continue;
        bool part = S_ISREG(file.st_mode) && str_ends_with(str_from(endings[i]), STR(".part"));
        int fd = -1;
        enum td_status status = part ? download_part_lock(path, false, &fd, err) : TD_OK;
        if (status == TD_OK && unlink(path) != 0)
            status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        if (status != TD_OK)
            return status;
        found = true;
        *bytes += (uint64_t)file.st_blocks * 512;
    }
    if (!found)
        return error_set(err, TD_NOT_FOUND,
                         "there is no model '%.100s' in %.300s; 'tandem models list' shows them",
                         name, dir);
    return TD_OK;
}

enum td_status model_store_remove(const char *dir, const char *name, uint64_t *bytes,
                                  struct td_error *err)
{
    char file[MODEL_NAME_BYTES], other[MODEL_NAME_BYTES];
    struct gguf_part_name part;
    bool whole_name = str_ends_with(str_from(name), STR(".gguf"));
    *bytes = 0;
    enum td_status status = remove_one(dir, name, bytes, err);
    int len = snprintf(file, sizeof file, "%s%s", name, whole_name ? "" : ".gguf");
    if (status != TD_OK || len < 0 || (size_t)len >= sizeof file || !gguf_part_parse(file, &part))
        return status;
    for (uint32_t i = 1; status == TD_OK && i <= part.count; i++) {
        struct td_error absent = {0};
        if (i == part.number || !gguf_part_format(other, sizeof other, file, &part, i))
            continue;
        status = remove_one(dir, other, bytes, &absent);
        if (status == TD_NOT_FOUND)
            status = TD_OK;
        else if (status != TD_OK)
            status = error_set(err, status, "%s", absent.message);
    }
    return status;
}

enum td_status model_store_walk(const char *dir, model_store_fn *visit, void *ctx,
                                struct td_error *err)
{
    struct dirent **entries = NULL;
    char path[PATH_BYTES];
    int count = scandir(dir, &entries, NULL, alphasort);
    if (count < 0 && errno == ENOENT)
        return TD_OK; /* nothing was pulled yet */
    if (count < 0)
        return error_set(err, TD_IO, "%s: %s", dir, strerror(errno));
    bool going = true;
    for (int i = 0; i < count; i++) {
        char *name = entries[i]->d_name;
        bool part = str_ends_with(str_from(name), STR(".gguf.part"));
        bool fits = path_join(path, sizeof path, dir, name, NULL) == TD_OK;
        if (part)
            name[strlen(name) - 5] = '\0';
        if (going && fits && (part || str_ends_with(str_from(name), STR(".gguf"))) &&
            model_name_is_plain(name))
            going = visit(ctx, name, path, part);
        free(entries[i]);
    }
    free(entries);
    return TD_OK;
}
