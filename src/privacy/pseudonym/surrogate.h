/* A surrogate is a text that replaces a private value: of the same kind and shape, but it says
 * nothing about the value. It is drawn from the conversation's random key (draw.h), so that nobody
 * without the key can find the value by trying values out.
 *
 * A surrogate cannot harm anybody else. Numbers with check digits get wrong ones. Addresses of
 * machines come from the ranges for documentation (RFC 2606, 3849, 5737, 7042). Telephone numbers
 * come from the ranges for fiction where a country has some. Pure functions; any thread. */
#ifndef PRIVACY_SURROGATE_H
#define PRIVACY_SURROGATE_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"
#include "privacy/kind/kind.h"

/* In which other spellings an answer may write the surrogate and still mean it. */
enum surrogate_form {
    SURROGATE_WORD,  /* a word of a name: other case, endings; no kind has it as a whole */
    SURROGATE_LOOSE, /* letters and digits count, separators do not */
    SURROGATE_STRICT /* separators count, too */
};

enum surrogate_form surrogate_form_of(enum privacy_kind kind);
/* Names, places, organisations and addresses: vault.c replaces them word by word. */
bool surrogate_is_worded(enum privacy_kind kind);

/* Appends what all spellings of the value have in common. LOOSE: letters and digits without case.
 * Addresses of mail and machines: the text without case. Others: the text itself. */
void surrogate_canonical(enum privacy_kind kind, struct td_str value, struct buf *out);

/* **borrows** all. */
struct surrogate_request {
    enum privacy_kind kind; /* not a worded one */
    struct td_str value;
    struct td_str canonical; /* surrogate_canonical of the value */
    const uint8_t *key;      /* [KEYED_KEY_BYTES] of the conversation */
    uint32_t salt;           /* another number gives another surrogate */
};

/* Appends a surrogate. A value that does not have the form of its kind (a detector saw through an
 * encoding) gets one of the same shape. */
void surrogate_write(const struct surrogate_request *request, struct buf *out);

#endif
