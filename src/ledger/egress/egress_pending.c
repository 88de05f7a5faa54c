#include "ledger/egress/egress_pending.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char erased[] = EGRESS_NO_HASH "\n";

bool egress_pending_hash(struct td_str token, char hash[static EGRESS_HASH_HEX + 1])
{
    uint8_t bytes[EGRESS_TOKEN_HEX / 2], digest[CRYPTO_SHA256_BYTES];
    if (token.len != EGRESS_TOKEN_HEX || !crypto_unhex(token, bytes, sizeof bytes))
        return false;
    crypto_sha256(token.data, token.len, digest);
    crypto_hex(digest, sizeof digest, hash);
    return true;
}

enum td_status egress_pending_write(int fd, char hash[static EGRESS_HASH_HEX + 1],
                                    struct td_error *err)
{
    uint8_t bytes[EGRESS_TOKEN_HEX / 2];
    char line[EGRESS_TOKEN_HEX + 2];
    enum td_status status = crypto_random(bytes, sizeof bytes, err);
    if (status != TD_OK)
        return status;
    crypto_hex(bytes, sizeof bytes, line);
    egress_pending_hash((struct td_str){line, EGRESS_TOKEN_HEX}, hash);
    line[EGRESS_TOKEN_HEX] = '\n';
    if (file_write_at(fd, (struct td_str){line, EGRESS_TOKEN_HEX + 1}, 0))
        return TD_OK;
    return error_set(err, TD_IO, "cannot write " EGRESS_PENDING_FILE ": %s", strerror(errno));
}

bool egress_pending_erase(int fd)
{
    return file_write_at(fd, (struct td_str){erased, sizeof erased - 1}, 0);
}

void egress_pending_read(int fd, char token[static EGRESS_TOKEN_HEX + 1],
                         char hash[static EGRESS_HASH_HEX + 1])
{
    ssize_t got = fd < 0 ? -1 : pread(fd, token, EGRESS_TOKEN_HEX, 0);
    token[got < 0 ? 0 : got] = '\0';
    if (strcmp(token, EGRESS_NO_HASH) == 0 || !egress_pending_hash(str_from(token), hash))
        memcpy(hash, EGRESS_NO_HASH, EGRESS_HASH_HEX + 1);
}
