/* The file is INI: [profile] lines, name = value lines, # and ; begin comments. */
#include "app/setup/credentials/aws_credentials.h"

#include "app/setup/files/secret_source.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "tier/clouds/aws_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PACKED_BYTES_MAX (16 * 1024) /* a session token is 1 to 2 KB */

static struct secret *pack(struct td_str id, struct td_str secret, struct td_str token)
{
    struct buf packed;
    struct secret *out = NULL;
    if (id.len == 0 || secret.len == 0)
        return NULL;
    buf_init(&packed, PACKED_BYTES_MAX);
    aws_credentials_pack(id, secret, token, &packed);
    if (!packed.failed)
        out = secret_new(buf_view(&packed));
    if (packed.data)
        crypto_wipe(packed.data, packed.len);
    buf_deinit(&packed);
    return out;
}

static void take(struct td_str line, const char *name, struct td_str *out)
{
    size_t at = str_find(line, STR("="), 0);
    if (at != SIZE_MAX && str_equal(str_trim(str_slice(line, 0, at)), str_from(name)))
        *out = str_trim(str_slice(line, at + 1, line.len));
}

/* NULL: the text has no profile of that name, or one without a secret. */
static struct secret *find_profile(struct td_str text, const char *profile)
{
    struct td_str rest = text, line, id = STR(""), secret = STR(""), token = STR("");
    bool inside = false;
    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        if (line.len == 0 || line.data[0] == '#' || line.data[0] == ';')
            continue;
        if (line.data[0] == '[') {
            size_t end = str_find(line, STR("]"), 0);
            inside =
                end != SIZE_MAX && str_equal(str_trim(str_slice(line, 1, end)), str_from(profile));
            continue;
        }
        if (!inside)
            continue;
        take(line, "aws_access_key_id", &id);
        take(line, "aws_secret_access_key", &secret);
        take(line, "aws_session_token", &token);
    }
    return pack(id, secret, token);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static enum td_status read_profile(const char *path, struct secret **out, struct td_error *err)
{
    const char *profile = environment("AWS_PROFILE");
    struct secret *whole = NULL;
    enum td_status status = secret_source_read(NULL, path, &whole, err);
    if (status != TD_OK)
        return status;
    *out = find_profile(secret_reveal(whole), profile ? profile : "default");
    secret_free(whole);
    return *out ? TD_OK
                : error_set(err, TD_INVALID, "%s has no credentials of the profile '%.60s'", path,
                            profile ? profile : "default");
}

enum td_status aws_credentials_read(const char *file, struct secret **out, struct td_error *err)
{
    const char *token = environment("AWS_SESSION_TOKEN"), *home = environment("HOME");
    const char *shared = environment("AWS_SHARED_CREDENTIALS_FILE");
    char path[4096];
    *out = NULL;
    if (file)
        return read_profile(file, out, err);
    if (environment("AWS_BEARER_TOKEN_BEDROCK"))
        return secret_source_read("AWS_BEARER_TOKEN_BEDROCK", NULL, out, err);
    if (environment("AWS_ACCESS_KEY_ID")) {
        *out = pack(str_trim(str_from(getenv("AWS_ACCESS_KEY_ID"))),
                    str_trim(str_from(environment("AWS_SECRET_ACCESS_KEY"))),
                    str_trim(str_from(token)));
        return *out ? TD_OK
                    : error_set(err, TD_INVALID,
                                "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not");
    }
    if (!shared && home) {
        snprintf(path, sizeof path, "%s/.aws/credentials", home);
        shared = path;
    }
    return shared && access(shared, R_OK) == 0 ? read_profile(shared, out, err) : TD_OK;
}
