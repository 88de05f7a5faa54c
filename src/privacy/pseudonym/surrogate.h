/* A surrogate: a text of the same kind and shape as a private value that says nothing of it. Drawn from
 * a conversation's random key, not from the value alone, so that nobody who does not have the key can
 * try values out (HMAC-SHA-256). Numbers with check digits have wrong ones, addresses of machines are
 * of the ranges for documentation (RFC 2606, 3849, 5737, 7042), telephone numbers of those reserved for
 * fiction where a country has some. Pure functions; any thread. */
#ifndef PRIVACY_SURROGATE_H
#define PRIVACY_SURROGATE_H

#include "base/buf.h"
#include "base/keyed.h"
#include "privacy/scan/privacy.h"

/* How an answer may spell it otherwise and still mean it. */
enum surrogate_form {
    SURROGATE_WORD,  /* a name's word: other case, endings */
    SURROGATE_LOOSE, /* letters and digits count, what stands between them does not */
    SURROGATE_STRICT /* separators belong to it */
};

/* Random bytes that depend on a key, a label and a text, always the same. */
struct draw {
    uint8_t key[KEYED_KEY_BYTES];
    uint8_t block[KEYED_MAC_BYTES];
    uint32_t block_count, used;
};
void draw_init(struct draw *draw, const uint8_t key[static KEYED_KEY_BYTES], const char *label,
               struct td_str text, uint32_t salt);
uint64_t draw_u64(struct draw *draw);
uint32_t draw_below(struct draw *draw, uint32_t bound); /* bound > 0 */

enum surrogate_form surrogate_form_of(enum privacy_kind kind);
/* Kinds of words, which vault.c replaces word by word. */
bool surrogate_is_worded(enum privacy_kind kind);

/* What values have in common that are spelled otherwise: letters and digits without case (LOOSE), the
 * text without case (addresses of mail and machines), the text itself (keys). */
void surrogate_canonical(enum privacy_kind kind, struct td_str value, struct buf *out);

/* Appends a surrogate for a value of a kind that is not worded. salt: another try. A value that has not
 * the form of its kind (a detector saw through an encoding) keeps its shape. */
void surrogate_write(enum privacy_kind kind, struct td_str value,
                     const uint8_t key[static KEYED_KEY_BYTES], struct td_str canonical,
                     uint32_t salt, struct buf *out);

/* The parts of surrogate_write that have files of their own. Each appends, or answers false and leaves
 * *out as it was when the value has another form. */
bool surrogate_write_phone(struct td_str value, struct draw *draw, struct buf *out);
bool surrogate_write_email(struct td_str value, struct draw *draw, struct buf *out);
bool surrogate_write_ip(struct td_str value, struct draw *draw, struct buf *out);
bool surrogate_write_mac(struct td_str value, struct draw *draw, struct buf *out);
bool surrogate_write_domain(struct td_str value, struct draw *draw, struct buf *out);
bool surrogate_write_date(struct td_str value, const uint8_t key[static KEYED_KEY_BYTES],
                          uint32_t salt, struct buf *out);
/* A digit for each digit, a letter of the same case for each letter, everything else as it is. */
void surrogate_write_shape(struct td_str value, struct draw *draw, struct buf *out);

#endif
