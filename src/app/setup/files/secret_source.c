/* A key is copied as few times as possible: the file is read without a buffer of stdio, and the
 * copy is wiped. */
#include "app/setup/files/secret_source.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A key is some hundred bytes; a list of 4096 keys (AUTH_KEYS_MAX) fits as well. */
#define KEY_FILE_BYTES_MAX (1u << 20)

static enum td_status read_key_file(const char *path, struct secret **out, struct td_error *err)
{
    int fd;
    enum td_status status = file_open_regular(path, 0, &fd, NULL, err);
    if (status != TD_OK)
        return error_prefix(err, "key file"), status;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return error_set(err, TD_NO_MEMORY, "key file %s: %s", path, strerror(errno));
    }
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the key in a stdio buffer */
    char *text = malloc(KEY_FILE_BYTES_MAX);
    size_t len = text ? fread(text, 1, KEY_FILE_BYTES_MAX, file) : 0;
    bool broken = ferror(file) != 0 || len == KEY_FILE_BYTES_MAX;
    fclose(file);
    struct td_str key = str_trim((struct td_str){text, len});
    if (text && !broken && key.len)
        *out = secret_new(key);
    if (text)
        crypto_wipe(text, len);
    free(text);
    if (!*out)
        return error_set(err, TD_INVALID, "key file %s is empty, too large or unreadable", path);
    return TD_OK;
}

enum td_status secret_source_read(const char *env_name, const char *file, struct secret **out,
                                  struct td_error *err)
{
    *out = NULL;
    if (file)
        return read_key_file(file, out, err);
    const char *value = env_name ? getenv(env_name) : NULL;
    struct td_str key = str_trim(str_from(value));
    if (key.len && !(*out = secret_new(key)))
        return error_set(err, TD_NO_MEMORY, "no memory for a key");
    return TD_OK;
}
