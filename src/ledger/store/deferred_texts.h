/* The texts of questions that wait, and of their answers, sealed under the installation's key. For
 * deferred_store.c alone. Pure; any thread. */
#ifndef LEDGER_DEFERRED_TEXTS_H
#define LEDGER_DEFERRED_TEXTS_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"

#define DEFERRED_MARK_BYTES (2 * KEYED_MAC_BYTES + 1)

struct deferred_seal {
    const uint8_t *key; /* KEYED_KEY_BYTES of it */
    const char *id;     /* of the question: a text of one row is no other's */
    bool hex;           /* the database takes texts of UTF-8 alone */
};

/* column: no text of another column. *out is initialised; **returns new** (buf_deinit), also after
 * a failure. */
TD_MUST_CHECK enum td_status deferred_seal(const struct deferred_seal *seal, const char *column,
                                           struct td_str text, struct buf *out,
                                           struct td_error *err);
/* Appends the text; nothing of an empty one. TD_CORRUPT: of another key, or damaged. */
TD_MUST_CHECK enum td_status deferred_open(const struct deferred_seal *seal, const char *column,
                                           struct td_str sealed, struct buf *out,
                                           struct td_error *err);

/* Users are found by a mark, not by their name. user NULL: "". */
void deferred_mark_user(const uint8_t key[static KEYED_KEY_BYTES], const char *user,
                        char out[static DEFERRED_MARK_BYTES]);

#endif
