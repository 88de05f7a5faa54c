#include "base/crypto/sign_key.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum td_status io_error(const struct sign_key_place *place, const char *what,
                               struct td_error *err)
{
    return error_set(err, TD_IO, "%s %s: cannot %s: %s", place->what, place->folder, what,
                     strerror(errno));
}

static enum td_status write_key(const struct sign_key_place *place, const char *path,
                                struct td_error *err)
{
    char draft[PATH_MAX], hex[2 * CRYPTO_SIGN_KEY_BYTES + 2];
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES];
    enum td_status status =
        path_format(draft, sizeof draft, err, "%s.new-%ld", path, (long)getpid());
    if (status == TD_OK)
        status = crypto_random(seed, sizeof seed, err);
    if (status != TD_OK)
        return status;
    crypto_hex(seed, sizeof seed, hex);
    hex[2 * sizeof seed] = '\n';
    unlink(draft); /* left by a dead process with our id */
    int fd = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_write_at(fd, (struct td_str){hex, 2 * sizeof seed + 1}, 0) &&
              fsync(fd) == 0 && (link(draft, path) == 0 || errno == EEXIST);
    if (!ok)
        status = io_error(place, "write its key", err);
    if (fd >= 0)
        close(fd);
    unlink(draft);
    crypto_wipe(seed, sizeof seed);
    crypto_wipe(hex, sizeof hex);
    return status;
}

/* TD_NOT_FOUND when there is no key. */
static enum td_status read_key(const struct sign_key_place *place, const char *path,
                               uint8_t seed[static CRYPTO_SIGN_KEY_BYTES], struct td_error *err)
{
    char hex[2 * CRYPTO_SIGN_KEY_BYTES + 1];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return TD_NOT_FOUND;
    if (fd < 0)
        return io_error(place, "open its key", err);
    enum td_status status = TD_OK;
    ssize_t got = pread(fd, hex, sizeof hex, 0);
    if (fstat(fd, &info) != 0 || (info.st_mode & 077) != 0)
        status = error_set(err, TD_DENIED, "others may read the key %s: chmod 600 it, or %s", path,
                           place->mend);
    else if (got < (ssize_t)sizeof hex - 1 ||
             !crypto_unhex((struct td_str){hex, sizeof hex - 1}, seed, CRYPTO_SIGN_KEY_BYTES))
        status =
            error_set(err, TD_CORRUPT, "%s is not a key (64 hex digits); %s", path, place->mend);
    close(fd);
    crypto_wipe(hex, sizeof hex);
    return status;
}

/* Writes the public key, which other programs read, if it is missing. */
static enum td_status publish_key(const struct sign_key_place *place,
                                  const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                                  char key[static SIGN_KEY_DIGITS + 1], struct td_error *err)
{
    char path[PATH_MAX], hex[2 * CRYPTO_SIGN_KEY_BYTES + 2];
    uint8_t public_key[CRYPTO_SIGN_KEY_BYTES];
    enum td_status status = crypto_sign_public(seed, public_key, err);
    if (status != TD_OK)
        return status;
    crypto_hex(public_key, sizeof public_key, hex);
    memcpy(key, hex, SIGN_KEY_DIGITS + 1);
    hex[2 * sizeof public_key] = '\n';
    status = path_join(path, sizeof path, place->folder, "key.pub", err);
    if (status != TD_OK)
        return status;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool ok = fd >= 0 && file_write_at(fd, (struct td_str){hex, 2 * sizeof public_key + 1}, 0);
    if (!ok)
        status = io_error(place, "write key.pub", err);
    if (fd >= 0)
        close(fd);
    return status;
}

/* Reads the key, or makes one. */
static enum td_status find_key(const struct sign_key_place *place, const char *path, bool may_make,
                               uint8_t seed[static CRYPTO_SIGN_KEY_BYTES], struct td_error *err)
{
    enum td_status status = read_key(place, path, seed, err);
    if (status != TD_NOT_FOUND)
        return status;
    if (!may_make)
        return error_set(err, TD_CORRUPT, "%s %s has lost its key; %s", place->what, place->folder,
                         place->mend);
    status = write_key(place, path, err);
    if (status == TD_OK && (status = read_key(place, path, seed, err)) == TD_NOT_FOUND)
        status = error_set(err, TD_IO, "%s %s: its key is gone again", place->what, place->folder);
    return status;
}

enum td_status sign_key_open(const struct sign_key_place *place, bool may_make,
                             struct crypto_signer **out, char key[static SIGN_KEY_DIGITS + 1],
                             struct td_error *err)
{
    char path[PATH_MAX];
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {0};
    enum td_status status = path_join(path, sizeof path, place->folder, "key", err);
    if (status == TD_OK)
        status = find_key(place, path, may_make, seed, err);
    if (status == TD_OK)
        status = publish_key(place, seed, key, err);
    if (status == TD_OK)
        status = crypto_signer_new(seed, out, err);
    crypto_wipe(seed, sizeof seed);
    return status;
}
