/* A value is EXPIRES.KEY_ID.CODE: seconds since 1970 in decimal, the key's name in records, and in
 * hexadecimal the HMAC-SHA-256 of "console session,EXPIRES.KEY_ID". The words before it keep the
 * code from being one of another use of the same key. */
#include "api/http/session.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#include <stdio.h>

#define CODE_DIGITS ((size_t)2 * KEYED_MAC_BYTES)

static void write_code(const uint8_t key[static KEYED_KEY_BYTES], struct td_str text,
                       char out[static 2 * KEYED_MAC_BYTES + 1])
{
    char whole[SESSION_TEXT_BYTES];
    uint8_t mac[KEYED_MAC_BYTES];
    int len = snprintf(whole, sizeof whole, "console session,%.*s", (int)text.len, text.data);
    keyed_mac(key, whole, (size_t)len, mac);
    crypto_hex(mac, sizeof mac, out);
}

void session_write(const uint8_t key[static KEYED_KEY_BYTES], const char *key_id, uint64_t now_s,
                   char out[static SESSION_TEXT_BYTES])
{
    char code[CODE_DIGITS + 1];
    int len = snprintf(out, SESSION_TEXT_BYTES, "%llu.%.16s",
                       (unsigned long long)now_s + SESSION_SECONDS, key_id);
    write_code(key, (struct td_str){out, (size_t)len}, code);
    snprintf(out + len, SESSION_TEXT_BYTES - (size_t)len, ".%s", code);
}

static bool read_one(const uint8_t key[static KEYED_KEY_BYTES], struct td_str text, uint64_t now_s,
                     char key_id[static SPENDING_KEY_ID_BYTES])
{
    char code[CODE_DIGITS + 1];
    struct td_str digits = {0}, id = {0}, rest = text;
    uint64_t expires_s;
    if (text.len >= SESSION_TEXT_BYTES || text.len <= CODE_DIGITS + 1)
        return false;
    size_t signed_len = text.len - CODE_DIGITS - 1;
    if (text.data[signed_len] != '.')
        return false;
    write_code(key, str_slice(text, 0, signed_len), code);
    if (!crypto_equal(code, text.data + signed_len + 1, CODE_DIGITS))
        return false;
    /* It is ours, so it has the form that we write. */
    if (!str_next(&rest, '.', &digits) || !str_next(&rest, '.', &id) ||
        !str_to_u64(digits, &expires_s) || expires_s <= now_s || id.len >= SPENDING_KEY_ID_BYTES)
        return false;
    snprintf(key_id, SPENDING_KEY_ID_BYTES, "%.*s", (int)id.len, id.data);
    return true;
}

bool session_read(const uint8_t key[static KEYED_KEY_BYTES], const char *header, uint64_t now_s,
                  char key_id[static SPENDING_KEY_ID_BYTES])
{
    const struct td_str name = STR(SESSION_COOKIE "=");
    struct td_str rest = str_from(header ? header : ""), pair;
    while (str_next(&rest, ';', &pair)) {
        pair = str_trim(pair);
        if (str_starts_with(pair, name) &&
            read_one(key, str_slice(pair, name.len, pair.len), now_s, key_id))
            return true;
    }
    return false;
}
