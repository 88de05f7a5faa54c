#include "ledger/store/deferred_texts.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <stdio.h>
#include <string.h>

/* A text of one row is no other row's, nor another column's. */
static struct td_str label_of(const char *id, const char *column, char out[static 80])
{
    snprintf(out, 80, "deferred %s %s", column, id);
    return str_from(out);
}

/* The texts of a shared database are of UTF-8, so there the bytes stand in hexadecimal. */
#define HEX_STEP 512

static enum td_status write_hex(struct buf *sealed)
{
    struct buf hex;
    char digits[2 * HEX_STEP + 1];
    buf_init(&hex, 2 * sealed->len + 1);
    for (size_t at = 0, len; at < sealed->len; at += len) {
        len = sealed->len - at < HEX_STEP ? sealed->len - at : HEX_STEP;
        crypto_hex((const uint8_t *)sealed->data + at, len, digits);
        buf_append(&hex, digits, 2 * len);
    }
    buf_deinit(sealed);
    *sealed = hex;
    return hex.failed ? TD_NO_MEMORY : TD_OK;
}

static enum td_status read_hex(struct td_str hex, struct buf *out)
{
    uint8_t bytes[HEX_STEP];
    buf_init(out, hex.len / 2 + 1);
    for (size_t at = 0, len; at < hex.len; at += 2 * len) {
        len = hex.len - at < 2 * HEX_STEP ? (hex.len - at) / 2 : HEX_STEP;
        if (len == 0 || !crypto_unhex(str_slice(hex, at, at + 2 * len), bytes, len))
            return TD_CORRUPT;
        buf_append(out, bytes, len);
    }
    return out->failed ? TD_NO_MEMORY : TD_OK;
}

enum td_status deferred_seal(const struct deferred_seal *seal, const char *column,
                             struct td_str text, struct buf *out, struct td_error *err)
{
    char label[80];
    buf_init(out, text.len + 64);
    enum td_status status =
        keyed_seal(seal->key, label_of(seal->id, column, label), text, out, err);
    return status == TD_OK && seal->hex ? write_hex(out) : status;
}

enum td_status deferred_open(const struct deferred_seal *seal, const char *column,
                             struct td_str sealed, struct buf *out, struct td_error *err)
{
    char label[80];
    struct buf bytes = {0}, text;
    if (sealed.len == 0)
        return TD_OK;
    enum td_status status = seal->hex ? read_hex(sealed, &bytes) : TD_OK;
    if (seal->hex)
        sealed = buf_view(&bytes);
    buf_init(&text, sealed.len);
    if (status == TD_OK)
        status = keyed_open(seal->key, label_of(seal->id, column, label), sealed, &text, err);
    if (status == TD_OK)
        buf_append_str(out, buf_view(&text));
    if (text.data)
        crypto_wipe(text.data, text.len);
    buf_deinit(&text);
    buf_deinit(&bytes);
    return status == TD_OK && out->failed ? TD_NO_MEMORY : status;
}

void deferred_mark_user(const uint8_t key[static KEYED_KEY_BYTES], const char *user,
                        char out[static DEFERRED_MARK_BYTES])
{
    uint8_t mac[KEYED_MAC_BYTES];
    out[0] = '\0';
    if (!user)
        return;
    keyed_mac(key, user, strlen(user), mac);
    crypto_hex(mac, sizeof mac, out);
}
