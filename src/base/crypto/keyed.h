/* Cryptography with a key (OpenSSL and libsodium inside): HMAC-SHA-256, a short hash for tables in
 * memory, and AES-256-GCM for files on disk. Any thread. */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include "base/bytes/buf.h"

#define KEYED_KEY_BYTES 32
#define KEYED_MAC_BYTES 32

void keyed_mac(const uint8_t key[static KEYED_KEY_BYTES], const void *data, size_t len,
               uint8_t out[static KEYED_MAC_BYTES]);

/* The same under a key of any length, as signatures of requests need it. */
void keyed_mac_under(struct td_str key, const void *data, size_t len,
                     uint8_t out[static KEYED_MAC_BYTES]);

/* SipHash-2-4 of 128 bits (Aumasson, Bernstein 2012), for keys of tables whose entries others
 * choose: without the key, nobody makes two texts share a hash. A tenth of keyed_mac's time. */
#define KEYED_SHORT_KEY_BYTES 16
#define KEYED_SHORT_BYTES 16
void keyed_short(const uint8_t key[static KEYED_SHORT_KEY_BYTES], const void *data, size_t len,
                 uint8_t out[static KEYED_SHORT_BYTES]);

/* Reads 64 hexadecimal digits. The message of TD_INVALID does not quote them. */
TD_MUST_CHECK enum td_status
keyed_key_parse(struct td_str text, uint8_t key[static KEYED_KEY_BYTES], struct td_error *err);

/* Appends a random nonce (12 bytes), the cipher text (as long as the text) and the tag (16 bytes).
 * The label is not stored, but keyed_open must be given the same one. */
TD_MUST_CHECK enum td_status keyed_seal(const uint8_t key[static KEYED_KEY_BYTES],
                                        struct td_str label, struct td_str text, struct buf *out,
                                        struct td_error *err);
/* TD_DENIED when the key or the label differs or a bit was changed; *out is then empty. */
TD_MUST_CHECK enum td_status keyed_open(const uint8_t key[static KEYED_KEY_BYTES],
                                        struct td_str label, struct td_str sealed, struct buf *out,
                                        struct td_error *err);

/* The same in base64, for places that hold text. */
TD_MUST_CHECK enum td_status keyed_seal_text(const uint8_t key[static KEYED_KEY_BYTES],
                                             struct td_str label, struct td_str text,
                                             struct buf *out, struct td_error *err);
TD_MUST_CHECK enum td_status keyed_open_text(const uint8_t key[static KEYED_KEY_BYTES],
                                             struct td_str label, struct td_str sealed,
                                             struct buf *out, struct td_error *err);

#endif
