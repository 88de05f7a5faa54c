#include "api/http/key_text.h"

#include <string.h>

enum td_status key_text_make(char out[static KEY_TEXT_BYTES], struct td_error *err)
{
    uint8_t random[24];
    size_t prefix = strlen(KEY_TEXT_PREFIX);
    enum td_status status = crypto_random(random, sizeof random, err);
    if (status != TD_OK)
        return status;
    memcpy(out, KEY_TEXT_PREFIX, prefix);
    crypto_hex(random, sizeof random, out + prefix);
    crypto_wipe(random, sizeof random);
    return TD_OK;
}

void key_text_mark(const uint8_t secret[static KEYED_KEY_BYTES],
                   const uint8_t digest[static CRYPTO_SHA256_BYTES],
                   uint8_t mark[static CRYPTO_SHA256_BYTES])
{
    uint8_t both[KEYED_KEY_BYTES + CRYPTO_SHA256_BYTES];
    memcpy(both, secret, KEYED_KEY_BYTES);
    memcpy(both + KEYED_KEY_BYTES, digest, CRYPTO_SHA256_BYTES);
    crypto_sha256(both, sizeof both, mark);
    crypto_wipe(both, sizeof both);
}
